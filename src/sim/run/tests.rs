//! Whole small runs, set up by hand.

use super::*;
use crate::gateway::{Delivery, Payer, Policy, Profile, Registry, Route, SideEffect};
use crate::policy::backoff::{Backoff, Growth, Jitter};
use crate::policy::eligibility::{Envelope, Offer};
use crate::policy::prices::{Prices, Tier, Usage};
use crate::policy::taxonomy::{Class, Diagnosis, Hint, Remedy, Resend, Scope};
use crate::sim::{
    Catalog, CredentialFact, Entry, FailedReply, Latency, Merits, OnCancel, Pace, Reply, RouteFact, Source,
    SourceFact, SourceKind, Template, Then, Upstream, Used,
};
use crate::units::{
    BreakerId, CredentialId, Duration, HealthId, ModelId, Money, Price, ProjectId, ProviderId, Set64,
};

const MS: fn(u64) -> Duration = Duration::from_millis;

/// Two equal routes; what the first and the second reply; one request with this deadline.
fn two_routes(replies: [fn(&mut Catalog) -> Reply; 2], deadline: Duration) -> Setup {
    let mut catalog = Catalog::default();
    let price = |dollars: u64| Price::from_picos_per_token(dollars * 1_000_000);
    let offer = Offer {
        capabilities: Set64::EMPTY,
        region: Set64::of(0),
        deployment: Set64::of(0),
        class_max: 0,
        task_types: Set64::ALL,
        protocol: None,
        contract: None,
        context_max: u64::MAX,
        output_max: u32::MAX,
        prices: Prices { base: Tier { input: price(1), output: price(8), ..Tier::default() }, long: None },
    };
    let mut registry = Registry { breakers: 2, healths: 2, ..Registry::default() };
    let mut upstreams = Vec::new();
    for (at, reply) in replies.iter().enumerate() {
        let id = at as u16;
        let name = catalog.names.intern(["primary", "fallback"][at]);
        let pool = vec![CredentialId(id)];
        let (provider, model) = (ProviderId(id), ModelId(0));
        registry.routes.push(Route {
            offer,
            provider,
            model,
            pool: pool.clone(),
            breaker: BreakerId(id),
            health: HealthId(id),
            latency_p95: Duration::ZERO,
            quality: 0,
            weight: 0,
            draw: catalog.names.hash(name),
            profile: Profile::default(),
        });
        registry.credentials.push(ProjectId(id));
        catalog.credentials.push(CredentialFact { name, project: ProjectId(id) });
        let (breaker, health) = (BreakerId(id), HealthId(id));
        catalog.routes.push(RouteFact {
            name,
            provider,
            model,
            pool,
            offer,
            breaker,
            health,
            profile: Profile::default(),
            merits: Merits::default(),
        });
        catalog.breakers.push(name);
        catalog.healths.push(name);
        let script = vec![reply(&mut catalog)];
        upstreams.push(Upstream {
            script,
            then: Then::Repeat,
            faults: vec![],
            capacity: None,
            on_cancel: OnCancel::default(),
        });
    }
    let name = catalog.names.intern("req");
    catalog.sources.push(SourceFact { name, kind: SourceKind::Listed, content: None });
    let envelope = Envelope {
        capabilities: Set64::EMPTY,
        regions: Set64::ALL,
        deployments: Set64::ALL,
        class: 0,
        task_type: None,
        protocol: None,
        contract: None,
        estimate: Usage { input: 8_000, output: 1_000, ..Usage::default() },
        cost_max: Money::from_picos(30_000_000_000),
        tokens_max: u64::MAX,
    };
    let template = Template {
        payer: Payer::default(),
        envelope,
        deadline,
        delivery: Delivery::Whole,
        effect: SideEffect::None,
        priority: 0,
        hangs_up: None,
    };
    let source = Source {
        template,
        first: Timestamp::ZERO,
        pace: Pace::Open(Latency::Never),
        count: 1,
        growth: Usage::default(),
    };
    let mut policy = Policy::default();
    policy.retry.attempts_max = 2;
    policy.retry.backoff =
        Backoff { base: MS(100), growth: Growth::Fixed, cap: MS(100), jitter: Jitter::None };
    policy.taxonomy.remedy[Class::RateLimit as usize] = Remedy::Fallback;
    Setup {
        seed: 1,
        catalog,
        policy,
        registry,
        upstreams,
        sources: vec![source],
        jobs: vec![],
        quotas: vec![],
        operator: vec![],
        above: vec![],
    }
}

fn limited(catalog: &mut Catalog) -> Reply {
    let rule = catalog.names.intern("rate_limited");
    let diagnosis = Diagnosis {
        class: Class::RateLimit,
        scope: Scope::Model,
        resend: Resend::Same,
        hint: Hint::Absent,
        health: None,
        rule,
        code: rule,
    };
    Reply {
        failure: Some(FailedReply::told_truly(diagnosis)),
        usage: Used::Exactly(Usage::default()),
        ..Reply::answer(MS(80))
    }
}

/// Keeps what was replied and closed, and when.
#[derive(Default)]
struct Ends(Vec<(u64, Action)>);

impl Observer for Ends {
    fn entry(&mut self, entry: &Entry<'_>) {
        if let What::Acted(action @ (Action::Reply { .. } | Action::Close { .. })) = entry.what {
            self.0.push((entry.at.nanos() / 1_000_000, *action));
        }
    }
}

fn ends(setup: &Setup) -> Vec<(u64, Action)> {
    let mut ends = Ends::default();
    assert_eq!(run(setup, &mut ends).rest, Rest::Quiescent);
    ends.0
}

#[test]
fn one_limit_and_one_fallback_are_answered_at_630_ms_for_16_tenths_of_a_cent() {
    let setup = two_routes([limited, |_| Reply::answer(MS(450))], MS(1200));
    let request = crate::units::RequestId(0);
    let outcome = Outcome::Answered { route: RouteId(1) };
    let reply = Action::Reply { request, outcome, attempts: 2, left: MS(570) };
    let close = Action::Close { request, spent: Money::from_picos(16_000_000_000) };
    assert_eq!(ends(&setup), [(630, reply), (630, close)]);
}

#[test]
fn an_answer_at_exactly_the_deadline_is_in_time() {
    for (deadline, label) in [(630, "answered"), (629, "deadline_exceeded")] {
        let setup = two_routes([limited, |_| Reply::answer(MS(450))], MS(deadline));
        let (at, Action::Reply { outcome, .. }) = ends(&setup)[0] else { panic!("a reply comes first") };
        assert_eq!((at, outcome.label()), (deadline, label));
    }
}

#[test]
fn each_reply_is_billed_for_what_it_uses_whatever_came_before_it() {
    let mut setup = two_routes([|_| Reply::answer(MS(80)), |_| Reply::answer(MS(80))], MS(1_200));
    let uses = |output| {
        let usage = Used::Exactly(Usage { output, ..Usage::default() });
        Reply { usage, ..Reply::answer(MS(80)) }
    };
    setup.upstreams[0].script = vec![uses(100), uses(500), Reply::answer(MS(80)), uses(500)];
    setup.sources[0].count = 5;
    setup.sources[0].pace = Pace::Open(Latency::Fixed(Duration::from_secs(1)));
    let bills: Vec<u64> = ends(&setup)
        .iter()
        .filter_map(|(_, action)| if let Action::Close { spent, .. } = action { Some(*spent) } else { None })
        .map(|spent| spent.picos() / 1_000_000)
        .collect();
    // $8 a million tokens of output, $1 of input.
    assert_eq!(bills, [800, 4_000, 16_000, 4_000, 4_000]);
}

#[test]
fn an_instant_that_is_over_asks_for_no_wait() {
    let ill = |catalog: &mut Catalog| {
        let reply = Reply { after: Latency::Fixed(MS(700)), ..limited(catalog) };
        let failure = reply.failure.map(|failure| {
            let told = failure.told.map(|told| Diagnosis {
                class: Class::Overload,
                hint: Hint::At(Timestamp::from_nanos(10_000_000)),
                ..told
            });
            FailedReply { told, truth: Class::Overload, ..failure }
        });
        Reply { failure, ..reply }
    };
    let mut setup = two_routes([ill, |_| Reply::answer(MS(450))], MS(1400));
    setup.upstreams[0].script.push(Reply::answer(MS(100)));
    setup.policy.taxonomy.remedy[Class::Overload as usize] = Remedy::WaitSameThenFallback;
    let (at, Action::Reply { outcome, .. }) = ends(&setup)[0] else { panic!("a reply comes first") };
    assert_eq!(
        (at, outcome),
        (900, Outcome::Answered { route: RouteId(0) }),
        "after the backoff, on the same route"
    );
}

/// Counts the entries, whose numbers have no gap.
struct Count(u64);

impl Observer for Count {
    fn entry(&mut self, entry: &Entry<'_>) {
        assert_eq!(entry.seq, self.0);
        self.0 += 1;
    }
}

#[test]
fn a_run_in_which_time_stands_still_is_stopped_and_shown_to_its_last_entry() {
    let at_once = |_: &mut Catalog| Reply::answer(Duration::ZERO);
    let mut setup = two_routes([at_once, at_once], MS(1200));
    (setup.sources[0].pace, setup.sources[0].count) = (Pace::Open(Latency::Fixed(Duration::ZERO)), u32::MAX);
    let mut shown = Count(0);
    let ending = run(&setup, &mut shown);
    assert_eq!((ending.rest, ending.entries), (Rest::Runaway, shown.0));
    assert!(shown.0 > STEPS_AT_ONE_INSTANT_MAX);
}
