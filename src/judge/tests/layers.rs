//! Gateways above the gateway in the storm: an agent above an SDK, each with a policy of its own.

use super::*;
use crate::gateway::{Action, Answer, Bill, Profile, Receipt, Request};
use crate::policy::eligibility::Offer;
use crate::policy::prices::{Prices, Usage};
use crate::sim::{
    Above, Catalog, CredentialFact, Entry, Handed, Hears, LayerFact, Limits, Merits, Observer, RouteFact,
    Told, What,
};
use crate::units::{BreakerId, CredentialId, HealthId, LayerId, ModelId, Name, ProviderId, Set64};

/// The world declares what the gateway of each layer does.
fn limits(policy: &Policy) -> Limits {
    Limits {
        attempts_max: policy.retry.attempts_max,
        calls_per_route_max: policy.retry.calls_per_route_max,
        seeks_max: policy.retry.seeks_max,
        hint_max: policy.retry.hint_max,
        backoff: Some(policy.retry.backoff),
        timeouts: policy.timeouts,
        receipt_max: policy.budget.receipt_max,
        cooldown: policy.cooldown,
        queue_max: policy.concurrency.queue_max,
        probes_max: policy.breaker.as_ref().map_or(u32::MAX, |breaker| breaker.probes.most()),
        probe_timeout: policy.breaker.as_ref().and_then(|breaker| breaker.probe_timeout),
        ..Limits::default()
    }
}

/// The patient one below, the impatient one above.
fn policies() -> [Policy; 2] {
    let mut sdk = Policy { breaker: None, ..Policy::default() };
    (sdk.retry.attempts_max, sdk.retry.calls_per_route_max) = (3, 3);
    sdk.retry.backoff = Backoff { base: MS(50), growth: Growth::Fixed, cap: MS(50), jitter: Jitter::Full };
    let mut agent = sdk.clone();
    (agent.retry.attempts_max, agent.timeouts.attempt) = (2, Some(MS(500)));
    [sdk, agent]
}

/// An agent above an SDK above the gateway.
pub(super) fn stacked(s: &mut Setup) {
    let mut name = |text: &str| s.catalog.names.intern(text);
    let names = ["gateway", "sdk", "agent"].map(&mut name);
    s.catalog.stack.names = names.to_vec();
    s.catalog.stack.calls_max = u32::MAX;
    let base = s.catalog.clone();
    for (policy, below) in policies().into_iter().zip(names) {
        let (catalog, registry) = door(&base, s, below, &policy);
        let fact = LayerFact { catalog, deadline: Handed::Down, cancel: Told::AtOnce, hears: None };
        s.catalog.stack.above.push(fact);
        let bare = |status| {
            let failure = reply(Some(Class::Overload), 0, Hint::Absent).failure.expect("a failure");
            FailedReply { status: Some(status), ..failure }
        };
        let hears = Hears { always: None, late: bare(504), closed: bare(503), refused: bare(400) };
        s.above.push(Above { policy, registry, hears });
    }
}

/// What is declared, and believed, of a layer that asks the one of this name.
fn door(base: &Catalog, s: &Setup, below: Name, policy: &Policy) -> (Catalog, Registry) {
    let offer = Offer {
        capabilities: Set64::ALL,
        region: Set64::EMPTY,
        deployment: Set64::EMPTY,
        class_max: u8::MAX,
        task_types: Set64::ALL,
        protocol: None,
        contract: None,
        context_max: u64::MAX,
        output_max: u32::MAX,
        prices: Prices::default(),
    };
    let (provider, model, breaker, health) = (ProviderId(0), ModelId(0), BreakerId(0), HealthId(0));
    let pool = vec![CredentialId(0)];
    let fact = RouteFact {
        name: below,
        provider,
        model,
        pool: pool.clone(),
        offer,
        breaker,
        health,
        profile: Profile::default(),
        merits: Merits::default(),
    };
    let catalog = Catalog {
        routes: vec![fact],
        providers: vec![below],
        models: vec![below],
        projects: vec![below],
        credentials: vec![CredentialFact { name: below, project: ProjectId(0) }],
        breakers: vec![below],
        healths: vec![below],
        limits: limits(policy),
        machines: Machines::of(policy, &Registry::default()),
        ..base.clone()
    };
    let (latency_p95, quality, weight, draw) = (Duration::ZERO, 0, 0, base.names.hash(below));
    let route = Route {
        offer,
        provider,
        model,
        pool,
        breaker,
        health,
        latency_p95,
        quality,
        weight,
        draw,
        profile: Profile::default(),
    };
    let registry = Registry {
        routes: vec![route],
        credentials: vec![ProjectId(0)],
        breakers: 1,
        healths: 1,
        ..s.registry.clone()
    };
    (catalog, registry)
}

fn no_law_is_broken(change: impl Fn(&mut Setup)) -> VariantVerdict {
    let verdict = weather(change, &[]);
    assert_eq!(failures(&verdict), Vec::<String>::new());
    verdict
}

#[test]
fn three_gateways_on_top_of_each_other_break_no_law() {
    let verdict = no_law_is_broken(stacked);
    for law in [Law::StackWithinBudget, Law::NoCallForNobody, Law::PassedOnAsDeclared] {
        assert_eq!(verdict.law(law), Word::Held, "{}", law.name());
    }
    assert!(verdict.metrics.value(Metric::CallsPerRequestMax, None) > Some(3));
    assert_eq!(verdict.metrics.value(Metric::CallsForNobody, None), Some(0));
    assert_eq!(verdict.metrics.value(Metric::Requests, None), Some(50 * 40), "callers ask the outermost");
    no_law_is_broken(|s| {
        stacked(s);
        s.sources[0].template.delivery = Delivery::Whole;
        s.sources[0].template.hangs_up = Some(MS(350));
    });
    no_law_is_broken(|s| {
        stacked(s);
        s.catalog.stack.above[1].deadline = Handed::Not(Some(MS(700)));
    });
}

#[test]
fn one_gateway_has_no_word_of_a_stack() {
    let verdict = weather(|_| (), &[]);
    for metric in [Metric::CallsPerRequestMax, Metric::CallsForNobody, Metric::CostForNobody] {
        assert_eq!(verdict.metrics.value(metric, None), None, "{}", metric.label());
    }
    assert!(Law::ALL.iter().filter(|law| law.is_of_a_stack()).count() == 3);
}

#[test]
fn every_wrong_knob_of_a_stack_is_caught_by_its_law() {
    let few = |s: &mut Setup| {
        stacked(s);
        s.catalog.stack.calls_max = 3;
    };
    wrong(few, &[Law::StackWithinBudget]);
    let persistent = |s: &mut Setup| {
        stacked(s);
        s.catalog.stack.above[0].catalog.limits.attempts_max = 2;
    };
    wrong(persistent, &[Law::AttemptsWithinBudget]);
    let deaf = |s: &mut Setup| {
        stacked(s);
        (s.catalog.stack.above[1].cancel, s.catalog.stack.above[1].deadline) =
            (Told::Never, Handed::Not(None));
    };
    wrong(deaf, &[Law::NoCallForNobody]);
    let late = weather(deaf, &[]);
    assert!(late.metrics.value(Metric::CostForNobody, None) > Some(0));
    let washed = |s: &mut Setup| {
        stacked(s);
        let bare = s.above[0].hears.late;
        s.above[0].hears.always = Some(bare);
    };
    wrong(washed, &[Law::TerminalStops, Law::TerminalKeepsItsName]);
    let own = weather(washed, &[]);
    let excused = [Law::NeutralMovesNothing, Law::OneAlertPerAuthFault, Law::OutcomeIsTrue];
    for law in excused {
        assert_eq!(own.law(law), Word::Held, "who reads a 503 as one is right: {}", law.name());
    }
}

/// What a world that lies passes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Forgery {
    /// A deadline that is a little later than declared.
    Deadline,
    /// The bills of the calls below, twice.
    Bill,
    /// The same bills, and no tokens.
    Usage,
    /// Every answer of the layer below as a failure.
    Answer,
    /// Every failure of the layer below as another one.
    Failure,
    /// Every failure with another status.
    Status,
    /// No reply of the layer below.
    Silence,
    /// Nothing; but every failure was to come as a bare 500.
    Heard,
}

impl Forgery {
    /// What comes back of a call.
    fn of(self, receipt: Receipt) -> Receipt {
        let other =
            reply(Some(Class::InvalidAnswer), 0, Hint::Absent).failure.and_then(|failure| failure.told);
        match (self, receipt.result, receipt.bill, other) {
            (Forgery::Bill, _, Bill::Exact(money), _) => {
                Receipt { bill: Bill::Exact(money.plus(money)), ..receipt }
            }
            (Forgery::Usage, ..) => Receipt { usage: Usage::ZERO, ..receipt },
            (Forgery::Answer, Answer::Answered, _, Some(other))
            | (Forgery::Failure, Answer::Failed(_), _, Some(other)) => {
                Receipt { result: Answer::Failed(other), ..receipt }
            }
            (Forgery::Deadline | Forgery::Bill | Forgery::Answer | Forgery::Failure, ..)
            | (Forgery::Status | Forgery::Silence | Forgery::Heard, ..) => receipt,
        }
    }
}

struct Forger<'a> {
    judge: Judge<'a>,
    forgery: Forgery,
}

impl Observer for Forger<'_> {
    fn entry(&mut self, entry: &Entry<'_>) {
        if let (Forgery::Deadline, What::Arrived { request, name, by: Some(by) }) = (self.forgery, entry.what)
        {
            let later = Request { deadline: request.deadline.after(MS(1)), ..*request };
            let what = What::Arrived { request: &later, name, by: Some(by) };
            return self.judge.entry(&Entry { what, ..*entry });
        }
        if let (Forgery::Silence, What::Acted(Action::Reply { .. })) = (self.forgery, entry.what) {
            return;
        }
        if let What::CallEnded { call, truth, health, code, status, receipt } = entry.what
            && entry.layer == LayerId(1)
        {
            let receipt = &self.forgery.of(*receipt);
            let status = if self.forgery == Forgery::Status { Some(502) } else { status };
            let what = What::CallEnded { call, truth, health, code, status, receipt };
            return self.judge.entry(&Entry { what, ..*entry });
        }
        self.judge.entry(entry);
    }
}

#[test]
fn what_is_passed_on_otherwise_than_declared_is_caught() {
    let says = [
        (Forgery::Deadline, "req/1/sdk/1 gets the deadline 1201 ms, it is to be 1200 ms"),
        (Forgery::Bill, "a call of sdk is billed $0.032, its calls below were billed $0.016"),
        (Forgery::Usage, "a call of sdk used 0 tokens, its calls below used 9000"),
        (Forgery::Answer, "a call of sdk comes back as invalid_answer, the reply below is answered"),
        (
            Forgery::Failure,
            "a call of sdk comes back as invalid_answer, the reply below names quota_exhausted",
        ),
        (
            Forgery::Status,
            "a call of sdk comes back as overload, the reply below is all_gated, which is to be heard as a bare 503",
        ),
        (Forgery::Silence, "a call of sdk comes back as overload, the reply below does not come"),
        (
            Forgery::Heard,
            "a call of sdk comes back as overload, the reply below is all_gated, which is to be heard as a bare 500",
        ),
    ];
    for (forgery, sentence) in says {
        let mut setup = storm(1);
        stacked(&mut setup);
        setup.catalog.stack.above[0].hears = (forgery == Forgery::Heard).then_some(500);
        setup.catalog.machines = Machines::of(&setup.policy, &setup.registry);
        let mut forger = Forger { judge: Judge::new(&setup.catalog, &[], 0, 1), forgery };
        let ending = run(&setup, &mut forger);
        let verdict = forger.judge.finish(&ending);
        let tally = verdict.laws.tally(Law::PassedOnAsDeclared);
        let told: Vec<&str> = tally.first.iter().map(|breach| breach.sentence.as_str()).collect();
        assert!(told.contains(&sentence), "{told:?}");
    }
}
