//! The judge over real runs: a gateway that does its work breaks no law, and each wrong knob breaks its own.

mod layers;
mod machines;

use super::play::{MS, catalog};
use super::*;
use crate::gateway::{Delivery, Payer, Policy, Registry, Route, SideEffect};
use crate::policy::backoff::{Backoff, Growth, Jitter};
use crate::policy::breaker;
use crate::policy::eligibility::{Reason, Reasons};
use crate::policy::hedge::{After, Hedge};
use crate::policy::ledger::Reserve;
use crate::policy::ranking::{Key, Order};
use crate::policy::signal::Signal;
use crate::policy::taxonomy::{Class, Diagnosis, Hint, Remedy, Resend, Scope};
use crate::sim::{
    Billed, CancelBill, FailedReply, Fault, Latency, Machines, OnCancel, Pace, Reply, Setup, Source,
    Template, Then, Upstream, Used, run,
};
use crate::units::{Duration, Money, ProjectId, Ratio, TenantId, Timestamp};

fn reply(class: Option<Class>, after: u64, hint: Hint) -> Reply {
    let diagnosis = |class| {
        let (scope, resend) = (Scope::Model, Resend::Same);
        let name = crate::units::Name::nth(0);
        let health = None;
        FailedReply::told_truly(Diagnosis { class, scope, resend, hint, health, rule: name, code: name })
    };
    Reply {
        after: Latency::Fixed(MS(after)),
        first_byte: class
            .is_none_or(|class| class == Class::InvalidAnswer)
            .then(|| Latency::Fixed(MS(after / 2))),
        progress: None,
        failure: class.map(diagnosis),
        usage: Used::AsEstimated,
        bill: if class.is_some() {
            Billed::Exactly(Money::from_picos(1_000_000_000))
        } else {
            Billed::ByUsage
        },
    }
}

/// Bad weather on two routes that may be used and one that may not: 40 requests, 30 ms apart.
fn storm(seed: u64) -> Setup {
    let mut catalog = catalog();
    catalog.limits.attempts_max = 3;
    let mut registry = Registry { breakers: 3, healths: 3, ..Registry::default() };
    let mut upstreams = Vec::new();
    for (at, fact) in catalog.routes.iter().enumerate() {
        registry.credentials.push(ProjectId(at as u16));
        registry.routes.push(Route {
            offer: fact.offer,
            provider: fact.provider,
            model: fact.model,
            pool: fact.pool.clone(),
            breaker: fact.breaker,
            health: fact.health,
            latency_p95: fact.merits.latency_p95,
            quality: 0,
            weight: 0,
            draw: catalog.names.hash(fact.name),
            profile: fact.profile,
        });
        let classes = [
            (Class::RateLimit, Hint::After(MS(300))),
            (Class::Overload, Hint::Absent),
            (Class::Auth, Hint::Absent),
            (Class::InvalidAnswer, Hint::Absent),
            (Class::QuotaExhausted, Hint::After(MS(900))),
        ];
        let mut faults: Vec<Fault> = classes
            .into_iter()
            .enumerate()
            .map(|(nth, (class, hint))| Fault {
                from: Timestamp::ZERO.after(MS(200 * nth as u64)),
                to: Timestamp::ZERO.after(MS(600 + 200 * nth as u64)),
                rate: Ratio::percent(if class == Class::Auth { 2 } else { 25 }),
                reply: reply(Some(class), 60, hint),
            })
            .collect();
        let hang = Reply { after: Latency::Never, first_byte: None, ..reply(None, 1, Hint::Absent) };
        faults.push(Fault {
            from: Timestamp::ZERO,
            to: Timestamp::MAX,
            rate: Ratio::percent(15),
            reply: hang,
        });
        upstreams.push(Upstream {
            script: vec![Reply {
                after: Latency::Uniform(MS(50), MS(500)),
                ..reply(None, 100, Hint::Absent)
            }],
            then: Then::Repeat,
            faults,
            capacity: None,
            on_cancel: OnCancel {
                receipt: [Some(MS(40)), Some(MS(4_000)), None][at],
                bill: [CancelBill::Elapsed, CancelBill::Unknown, CancelBill::Nothing][at],
            },
        });
    }
    let template = Template {
        payer: Payer { task: None, tenant: Some(TenantId(0)) },
        envelope: super::play::envelope(),
        deadline: MS(1_200),
        delivery: Delivery::Stream,
        effect: SideEffect::None,
        priority: 0,
        hangs_up: None,
    };
    catalog.tenants[0].cap.money = Money::from_picos(600_000_000_000);
    registry.tenants = vec![(catalog.tenants[0].cap, catalog.tenants[0].window)];
    let gap = Latency::Fixed(MS(30));
    let source = Source {
        template,
        first: Timestamp::ZERO,
        pace: Pace::Open(gap),
        count: 40,
        growth: crate::policy::prices::Usage::default(),
    };
    let mut policy = Policy { breaker: Some(breaker::Config::default()), ..Policy::default() };
    policy.retry.backoff =
        Backoff { base: MS(100), growth: Growth::Fixed, cap: MS(100), jitter: Jitter::Full };
    policy.timeouts.attempt = Some(MS(400));
    policy.timeouts.first_byte = Some(MS(300));
    policy.budget.receipt_max = MS(2_000);
    Setup {
        seed,
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

/// A judge that is shown one by one what others are shown in a row.
struct OneByOne<'a>(Judge<'a>);

impl Observer for OneByOne<'_> {
    fn entry(&mut self, entry: &Entry<'_>) {
        self.0.entry(entry);
    }
}

/// Plays 50 seeds of the storm, changed, as one variant: in a row and one by one, which is the same.
fn weather(change: impl Fn(&mut Setup), breaks: &[Law]) -> VariantVerdict {
    let mut verdict = VariantVerdict::new(0, "storm".to_owned(), breaks.to_vec());
    for seed in 1..=50 {
        let mut setup = storm(seed);
        change(&mut setup);
        setup.catalog.machines = Machines::of(&setup.policy, &setup.registry);
        let (limits, policy) = (&mut setup.catalog.limits, &setup.policy);
        (limits.cooldown, limits.timeouts) = (policy.cooldown, policy.timeouts);
        limits.receipt_max = policy.budget.receipt_max;
        limits.backoff = Some(policy.retry.backoff);
        limits.hedge = policy.hedge.map(|hedge| hedge.after);
        let mut judge = Judge::new(&setup.catalog, &[], 0, seed);
        let ending = run(&setup, &mut judge);
        let seen = judge.finish(&ending);
        let mut slow = OneByOne(Judge::new(&setup.catalog, &[], 0, seed));
        run(&setup, &mut slow);
        assert_eq!(format!("{seen:?}"), format!("{:?}", slow.0.finish(&ending)));
        verdict.merge(&seen);
    }
    verdict
}

fn failures(verdict: &VariantVerdict) -> Vec<String> {
    let verdict = conclude(&[], std::slice::from_ref(verdict));
    verdict.failed().flat_map(|check| check.details.iter().map(|d| format!("{}: {d}", check.name))).collect()
}

#[test]
fn in_a_storm_the_right_policy_breaks_no_law() {
    let verdict = weather(|_| (), &[]);
    assert_eq!(failures(&verdict), Vec::<String>::new());
}

/// A wrong knob breaks these laws.
fn wrong(change: impl Fn(&mut Setup), laws: &[Law]) {
    let verdict = weather(change, &[]);
    for law in laws {
        assert_eq!(verdict.law(*law), Word::Broken, "{}: {:?}", law.name(), failures(&verdict));
    }
}

#[test]
fn every_wrong_knob_is_caught_by_its_law() {
    wrong(|s| s.catalog.limits.attempts_max = 2, &[Law::AttemptsWithinBudget]);
    wrong(|s| s.policy.taxonomy.remedy[Class::Auth as usize] = Remedy::FallbackNow, &[Law::TerminalStops]);
    wrong(|s| s.policy.taxonomy.signal[Class::RateLimit as usize] = Signal::Bad, &[Law::NeutralMovesNothing]);
    wrong(
        |s| s.policy.eligibility.enforced = Reasons::ALL.without(Reason::MissingCapability),
        &[Law::TrueReasons],
    );
    let open = |s: &mut Setup| {
        s.policy.eligibility.enforced = Reasons::NONE;
        s.sources[0].template.envelope.cost_max = Money::from_picos(1_000_000_000_000);
    };
    wrong(open, &[Law::TrueReasons, Law::EligibleOnly]);
    let poor = |s: &mut Setup, reserve| {
        s.policy.budget.reserve = reserve;
        s.catalog.tenants[0].cap.money = Money::from_picos(100_000_000_000);
        s.registry.tenants[0].0 = s.catalog.tenants[0].cap;
    };
    wrong(|s| poor(s, Reserve::CheckOnly), &[Law::MoneyWithinCaps]);
    wrong(|s| poor(s, Reserve::After), &[Law::MoneyWithinCaps]);
    let honest = weather(|s| poor(s, Reserve::Reserve), &[]);
    assert_eq!(failures(&honest), Vec::<String>::new());
    assert!(honest.metrics.value(Metric::BudgetDenials, None) > Some(0));
    let cheap = |s: &mut Setup| {
        for route in &mut s.registry.routes {
            route.offer.prices = crate::policy::prices::Prices::default();
        }
    };
    wrong(cheap, &[Law::WorstCaseIsReserved]);
    wrong(|s| s.policy.ranking.order = Order::new(&[Key::QueueDepth]), &[Law::BestIsChosen]);
    wrong(|s| s.policy.ranking.latency_samples_min = 1, &[Law::BestIsChosen]);
    wrong(|s| s.registry.routes[0].latency_p95 = MS(5_000), &[Law::BestIsChosen]);
    let hurried = |s: &mut Setup| {
        s.policy.hedge = Some(Hedge { after: After::P95 { least: MS(20) }, legs_max: 2 });
        s.catalog.limits.legs_max = 2;
        s.registry.routes[0].latency_p95 = MS(40);
    };
    wrong(hurried, &[Law::Caused, Law::BestIsChosen]);
    let misled = |s: &mut Setup| {
        let faults = s.upstreams.iter_mut().flat_map(|upstream| &mut upstream.faults);
        faults
            .filter_map(|fault| fault.reply.failure.as_mut()?.told.as_mut())
            .for_each(|told| told.class = Class::Overload);
    };
    wrong(misled, &[Law::NeutralMovesNothing, Law::TerminalStops, Law::OutcomeIsTrue]);
}

#[test]
fn a_late_receipt_corrects_the_books_of_a_request_that_is_still_open() {
    let late = |s: &mut Setup| {
        s.policy.budget.receipt_max = MS(20);
        for upstream in &mut s.upstreams {
            upstream.on_cancel = OnCancel { receipt: Some(MS(100)), bill: CancelBill::Nothing };
        }
    };
    assert_eq!(failures(&weather(late, &[])), Vec::<String>::new());
}

#[test]
fn whatever_the_knobs_the_right_policy_breaks_no_law() {
    let whole = |s: &mut Setup| s.sources[0].template.delivery = Delivery::Whole;
    let waits = |s: &mut Setup| {
        s.policy.retry.hint_max = MS(200);
        s.catalog.limits.hint_max = MS(200);
    };
    let calm = |s: &mut Setup| s.policy.breaker = None;
    let impatient = |s: &mut Setup| {
        s.sources[0].template.hangs_up = Some(MS(350));
        s.policy.breaker = None;
    };
    let now = |s: &mut Setup| {
        s.policy.taxonomy.remedy[Class::Overload as usize] = Remedy::FallbackNow;
        s.policy.taxonomy.remedy[Class::RateLimit as usize] = Remedy::Fallback;
        s.policy.breaker = None;
    };
    for change in [&whole as &dyn Fn(&mut Setup), &waits, &calm, &impatient, &now] {
        assert_eq!(failures(&weather(change, &[])), Vec::<String>::new());
    }
}
