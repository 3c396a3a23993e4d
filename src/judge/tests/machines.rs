//! Hedges, slots, fuses, tasks and quotas in the storm.

use super::*;
use crate::gateway::{AllUnhealthy, FuseScope};
use crate::policy::breaker::{Cooldown, Trip};
use crate::policy::fuse::Repeats;
use crate::policy::hedge::{After, Hedge};
use crate::policy::ledger::Amount;
use crate::sim::{
    Counted, Job, Quota, QuotaFact, Refused, SaysWhen, SourceFact, SourceKind, Step, TaskFact, Window,
};
use crate::units::ModelId;

fn hedged(s: &mut Setup) {
    s.policy.hedge = Some(Hedge { after: After::Fixed(MS(120)), legs_max: 2 });
    s.policy.retry.attempts_max = 3;
    s.catalog.limits.legs_max = 2;
}

/// Every second request does something when it is sent.
fn with_side_effects(s: &mut Setup) {
    let mut other = s.sources[0].clone();
    s.sources[0].count = 20;
    (other.template.effect, other.count) = (SideEffect::Some, 20);
    s.sources.push(other);
    let name = s.catalog.names.intern("write");
    s.catalog.sources.push(SourceFact { name, kind: SourceKind::Stream, content: None });
}

/// Few slots on a route and for the tenant.
fn crowded(s: &mut Setup) {
    (s.policy.concurrency.route_max, s.catalog.limits.route_legs_max) = (2, 2);
    (s.policy.concurrency.tenant_max, s.catalog.limits.tenant_legs_max) = (3, 3);
}

fn fused(s: &mut Setup) {
    (s.policy.fuse.calls_per_run, s.catalog.limits.calls_per_run) = (Some(30), Some(30));
}

fn stops_all(s: &mut Setup, scope: FuseScope) {
    (s.policy.fuse.terminal, s.catalog.limits.terminal_scope) = (scope, scope);
}

/// Eight turns of a plan, then three acts at once, then a reply.
fn in_turns(s: &mut Setup) {
    let cap = Amount { money: Money::from_picos(200_000_000_000), tokens: u64::MAX };
    let name = s.catalog.names.intern("turn");
    s.catalog.tasks = vec![TaskFact { name, cap }];
    s.registry.tasks = vec![cap];
    let steps = [("plan", 1, vec![]), ("act", 3, vec![0]), ("reply", 1, vec![1])];
    let template = s.sources[0].clone();
    s.sources[0].count = 10;
    let mut job =
        Job { kind: 0, first: Timestamp::ZERO, gap: Latency::Fixed(MS(700)), count: 8, steps: vec![] };
    for (name, times, after) in steps {
        let name = s.catalog.names.intern(name);
        let source = s.sources.len() as u16;
        s.catalog.sources.push(SourceFact { name, kind: SourceKind::Step { job: 0, times }, content: None });
        s.sources.push(Source { count: 0, ..template.clone() });
        job.steps.push(Step { source, times, after, think: MS(20) });
    }
    s.jobs.push(job);
    (s.policy.concurrency.task_max, s.catalog.limits.task_legs_max) = (2, 2);
    (s.policy.fuse.calls_per_task, s.catalog.limits.calls_per_task) = (Some(7), Some(7));
}

/// Turns whose three acts ask the same, and few of them may.
fn repetitive(s: &mut Setup) {
    in_turns(s);
    let same = s.catalog.names.intern("the same");
    s.catalog.sources.iter_mut().for_each(|source| source.content = Some(same));
    let repeats = Repeats { identical: Some(3), failing: Some(2) };
    (s.policy.fuse.repeats, s.catalog.limits.repeats) = (repeats, repeats);
    (s.policy.fuse.calls_per_task, s.catalog.limits.calls_per_task) = (None, None);
}

/// A quota for each project that is used up now and then.
fn rationed(s: &mut Setup) {
    for project in 0..2 {
        let (project, model, limit, used) = (ProjectId(project), Some(ModelId(project)), 6, 2);
        s.catalog.quotas.push(QuotaFact { project, model, limit, used });
        let refusal = reply(Some(Class::QuotaExhausted), 10, Hint::Absent);
        s.quotas.push(Quota {
            project,
            model,
            counts: Counted::Requests,
            limit,
            used,
            refused: Refused::IsFree,
            window: Window::Every(MS(500)),
            refusal,
            refusal_streamed: None,
            says_when: SaysWhen::Yes,
        });
    }
}

/// One of each kind in one weather.
fn everything(s: &mut Setup) {
    hedged(s);
    with_side_effects(s);
    crowded(s);
    in_turns(s);
    rationed(s);
    stops_all(s, FuseScope::Account);
    (s.policy.fuse.calls_per_run, s.catalog.limits.calls_per_run) = (Some(40), Some(40));
}

fn no_law_is_broken(name: &str, change: impl Fn(&mut Setup)) {
    assert_eq!(failures(&weather(change, &[])), Vec::<String>::new(), "{name}");
}

#[test]
fn whatever_the_machines_the_right_policy_breaks_no_law() {
    no_law_is_broken("hedged", hedged);
    no_law_is_broken("side effects", |s| {
        hedged(s);
        with_side_effects(s);
    });
    no_law_is_broken("crowded", crowded);
    no_law_is_broken("fused", fused);
    no_law_is_broken("account", |s| stops_all(s, FuseScope::Account));
    no_law_is_broken("run", |s| stops_all(s, FuseScope::Run));
    no_law_is_broken("turns", in_turns);
    no_law_is_broken("repetitive", repetitive);
    no_law_is_broken("rationed", rationed);
    no_law_is_broken("everything", everything);
}

#[test]
fn every_law_is_put_to_the_test() {
    let all =
        [weather(|_| (), &[]), weather(everything, &[]), weather(hedged, &[]), weather(layers::stacked, &[])];
    let is_idle = |law: &Law| all.iter().all(|verdict| verdict.law(*law) == Word::NotExercised);
    let idle: Vec<&str> = Law::ALL.into_iter().filter(is_idle).map(Law::name).collect();
    assert_eq!(idle, Vec::<&str>::new());
}

/// What is told of a wrong key, and what it truly means.
fn auth_faults(s: &mut Setup) -> impl Iterator<Item = &mut FailedReply> {
    let faults = s.upstreams.iter_mut().flat_map(|upstream| &mut upstream.faults);
    faults.filter_map(|fault| fault.reply.failure.as_mut()).filter(|failure| failure.truth == Class::Auth)
}

#[test]
fn every_wrong_knob_of_a_machine_is_caught_by_its_law() {
    let three_legs = |s: &mut Setup| {
        hedged(s);
        s.catalog.limits.legs_max = 1;
    };
    wrong(three_legs, &[Law::LegsWithinLimit]);
    wrong(|s| s.catalog.limits.route_legs_max = 2, &[Law::LegsWithinLimit]);
    wrong(|s| s.catalog.limits.tenant_legs_max = 2, &[Law::LegsWithinLimit]);
    let busy = |s: &mut Setup| {
        in_turns(s);
        s.policy.concurrency.task_max = 3;
    };
    wrong(busy, &[Law::LegsWithinLimit]);
    wrong(|s| s.catalog.limits.calls_per_run = Some(30), &[Law::CallsWithinFuse]);
    let unfused = |s: &mut Setup| {
        in_turns(s);
        (s.policy.fuse.calls_per_task, s.catalog.limits.calls_per_task) = (None, Some(5));
    };
    wrong(unfused, &[Law::CallsWithinFuse]);
    let repeats = |of_policy: Repeats, declared: Repeats| {
        move |s: &mut Setup| {
            repetitive(s);
            (s.policy.fuse.repeats, s.catalog.limits.repeats) = (of_policy, declared);
        }
    };
    let of = |identical, failing| Repeats { identical, failing };
    // Not at all, one too late, and one too soon.
    for identical in [None, Some(4), Some(2)] {
        wrong(repeats(of(identical, None), of(Some(3), None)), &[Law::CallsWithinFuse]);
    }
    for failing in [None, Some(3), Some(1)] {
        wrong(repeats(of(None, failing), of(None, Some(2))), &[Law::CallsWithinFuse]);
    }
    let unfunded = |s: &mut Setup| {
        s.catalog.limits.terminal_scope = FuseScope::Account;
        auth_faults(s).for_each(|failure| {
            failure.truth = Class::Funds;
            failure.told.iter_mut().for_each(|told| told.class = Class::Funds);
        });
    };
    wrong(unfunded, &[Law::TerminalFuseHolds]);
    wrong(|s| s.catalog.limits.terminal_scope = FuseScope::Run, &[Law::TerminalFuseHolds]);
    let gated_by_health = |s: &mut Setup| {
        s.policy.all_unhealthy = AllUnhealthy::Error;
        s.policy.breaker = None;
        (s.policy.health.degraded_after, s.policy.health.unhealthy_after) = (1, 2);
    };
    wrong(gated_by_health, &[Law::NoFalseNoCandidate]);
    let starved = weather(gated_by_health, &[]);
    assert!(starved.metrics.value(Metric::NoCandidate, None) > Some(0));
    let late = |s: &mut Setup| {
        let breaker = s.policy.breaker.as_mut().expect("the storm has breakers");
        breaker.late = breaker::Late::Counts;
        breaker.cooldown = Cooldown::Fixed(MS(50));
        breaker.trip = Trip::Run { bad: 2 };
    };
    wrong(late, &[Law::StaleChangesNothing]);
    let unseen = |s: &mut Setup| {
        auth_faults(s).filter_map(|failure| failure.told.as_mut()).for_each(|told| told.class = Class::Funds)
    };
    wrong(unseen, &[Law::OneAlertPerAuthFault]);
}

#[test]
fn hedges_and_queues_are_counted() {
    let verdict = weather(everything, &[]);
    for metric in [
        Metric::Hedges,
        Metric::HedgesSkipped,
        Metric::HedgeWaste,
        Metric::HedgeWasteTokens,
        Metric::HedgeWasteTime,
        Metric::Queued,
        Metric::FuseStops,
        Metric::Tasks,
        Metric::TasksAnswered,
        Metric::TasksFailedInARowMax,
    ] {
        assert!(verdict.metrics.value(metric, None) > Some(0), "{}", metric.label());
    }
    assert!(verdict.metrics.value(Metric::CostMultiplier, None) > Some(1_000));
    assert_eq!(verdict.metrics.value(Metric::Tasks, None), Some(400));
}
