//! What runs of a few entries amount to.

use super::*;
use crate::gateway::{Decision, Delivery};
use crate::judge::play::*;
use crate::policy::taxonomy::Class;
use crate::sim::{TaskName, What};
use crate::units::TaskId;

fn check(metrics: &Metrics, expected: &[(Metric, &str)]) {
    for (metric, text) in expected {
        let value = metrics.value(*metric, None).map(|value| metric.unit().decimal(value));
        assert_eq!(value.as_deref(), Some(*text), "{}", metric.label());
    }
}

/// A fallback that is answered at 630 ms, after a failure that was billed.
fn fell_back(play: &mut Play<'_>) {
    play.arrive(Delivery::Whole).consider(|_| ());
    let call = play.call(R, A);
    play.at(80).end(call, Some(Class::Overload), 20);
    let call = play.at(180).call(R, B);
    play.at(630).end(call, None, 16).reply(R, Outcome::Answered { route: B }).close(R);
}

#[test]
fn a_run_is_counted_from_its_facts() {
    let expected = [
        (Metric::Requests, "1"),
        (Metric::Answered, "1"),
        (Metric::SuccessRatio, "1.000"),
        (Metric::Attempts, "2"),
        (Metric::Amplification, "2.000"),
        (Metric::Retries, "1"),
        (Metric::FallbackRate, "1.000"),
        (Metric::Cost, "0.036"),
        (Metric::CostPerSuccess, "0.036"),
        (Metric::PaidWithoutAnswer, "0.020"),
        (Metric::Overbilled, "0.004"),
        (Metric::RoutesExcluded, "1"),
        (Metric::LatencyP50, "630000000"),
        (Metric::LatencyMax, "630000000"),
        (Metric::BreakerOpen, "0"),
    ];
    check(&played(fell_back).metrics, &expected);
}

/// Three legs at $0.036 each: the second answers at 700 ms, the others are cancelled then and billed in full
/// 300 ms later.
fn hedged(play: &mut Play<'_>) {
    play.arrive(Delivery::Whole);
    let slow = play.call(R, A);
    let quick = play.at(200).call(R, B);
    let third = play.at(400).call(R, A);
    play.at(700).end(quick, None, 36).reply(R, Outcome::Answered { route: B });
    play.cancel(slow).cancel(third);
    let cancelled = Some(Class::Cancelled);
    play.at(1_000).end(slow, cancelled, 36).end(third, cancelled, 36).close(R);
}

#[test]
fn a_hedge_shows_its_cost_and_what_the_losers_took() {
    let expected = [
        (Metric::Attempts, "3"),
        (Metric::Hedges, "2"),
        (Metric::Retries, "0"),
        (Metric::Cancelled, "2"),
        (Metric::Cost, "0.108"),
        (Metric::CostMultiplier, "3.000"),
        (Metric::HedgeWaste, "0.072"),
        (Metric::HedgeWasteTokens, "18000"),
        (Metric::HedgeWinnerTokens, "9000"),
        (Metric::StoppedTokens, "18000"),
        (Metric::StoppedCost, "0.072"),
        (Metric::CallP50, "500000000"),
        (Metric::HedgeWasteTime, "1000000000"),
        (Metric::PaidWithoutAnswer, "0.072"),
    ];
    check(&played(hedged).metrics, &expected);
}

#[test]
fn a_route_has_its_own_calls_times_and_cost() {
    let metrics = played(fell_back).metrics;
    let of = |metric: Metric, route: RouteId| {
        metrics.value(metric, Some(Part::Route(route))).map(|value| metric.unit().decimal(value))
    };
    let told = |route| [Metric::Attempts, Metric::Cost, Metric::CallP95].map(|metric| of(metric, route));
    assert_eq!(told(A), ["1", "0.020", "80000000"].map(|text| Some(text.to_owned())));
    assert_eq!(told(B), ["1", "0.016", "450000000"].map(|text| Some(text.to_owned())));
    assert_eq!(of(Metric::Answered, A), None, "requests belong to no route");
    assert_eq!(metrics.value(Metric::CallP99, None), Some(450_000_000), "of all routes");
}

#[test]
fn what_all_calls_cost_is_shared_by_the_tasks_that_were_answered() {
    let metrics = played(|play| {
        for (at, end) in [TaskEnd::Answered, TaskEnd::Failed, TaskEnd::Answered].into_iter().enumerate() {
            let (task, name) = (TaskId(0), TaskName { kind: 0, ordinal: Some(at as u32) });
            play.say(What::TaskBegan { task, name });
            answered(play);
            play.say(What::TaskEnded { task, end });
        }
    });
    check(&metrics.metrics, &[(Metric::Cost, "0.048"), (Metric::CostPerTask, "0.024")]);
}

#[test]
fn the_longest_row_of_failed_tasks_is_counted_in_the_order_of_their_ends() {
    let turns = |ends: &'static [TaskEnd]| {
        played(|play| {
            for end in ends {
                let (task, name) = (TaskId(0), TaskName { kind: 0, ordinal: Some(0) });
                play.say(What::TaskBegan { task, name }).say(What::TaskEnded { task, end: *end });
            }
        })
        .metrics
    };
    use TaskEnd::{Answered, Failed};
    let mut sum = turns(&[Failed, Answered, Failed, Failed, Failed, Answered, Failed]);
    let expected = [(Metric::Tasks, "7"), (Metric::TasksAnswered, "2"), (Metric::TasksFailedInARowMax, "3")];
    check(&sum, &expected);
    sum.merge(&turns(&[Failed, Failed, Failed]));
    check(&sum, &[(Metric::Tasks, "10"), (Metric::TasksFailedInARowMax, "3")]);
    assert_eq!(sum.value(Metric::Tasks, Some(Part::Tenant(TenantId(0)))), None, "tasks belong to no tenant");
}

#[test]
fn nothing_has_ratios_of_zero_and_no_quantile() {
    let metrics = played(|_| ()).metrics;
    check(&metrics, &[(Metric::SuccessRatio, "0.000"), (Metric::Amplification, "0.000")]);
    check(&metrics, &[(Metric::CostPerSuccess, "0.000"), (Metric::FallbackRate, "0.000")]);
    assert_eq!(metrics.value(Metric::LatencyP95, None), None);
}

#[test]
fn runs_add_up() {
    let mut sum = played(fell_back).metrics;
    sum.merge(&played(answered).metrics);
    let expected = [
        (Metric::Requests, "2"),
        (Metric::Amplification, "1.500"),
        (Metric::FallbackRate, "0.500"),
        (Metric::Cost, "0.052"),
        (Metric::CostPerSuccess, "0.026"),
    ];
    check(&sum, &expected);
    assert_eq!(sum.value(Metric::Requests, Some(Part::Tenant(TenantId(0)))), Some(2));
    assert_eq!(sum.value(Metric::Requests, Some(Part::Tenant(TenantId(1)))), None, "there is no such tenant");
    assert_eq!(sum.value(Metric::BreakerOpen, Some(Part::Tenant(TenantId(0)))), None);
}

#[test]
fn a_right_refusal_is_control_and_a_wrong_one_is_not() {
    let refused = |truth: Option<Class>, outcome: Outcome| {
        played(move |play| {
            play.arrive(Delivery::Whole);
            let call = play.call(R, A);
            play.at(80).end(call, truth, 0).reply(R, outcome).close(R);
        })
        .metrics
    };
    let terminal = Outcome::Terminal { last: failure(Class::Auth) };
    check(&refused(Some(Class::Auth), terminal), &[(Metric::ControlSuccesses, "1")]);
    check(&refused(Some(Class::Overload), terminal), &[(Metric::ControlSuccesses, "0")]);
    check(&refused(None, Outcome::NoEligibleRoute), &[(Metric::ControlSuccesses, "0")]);
}

#[test]
fn a_breaker_is_open_until_it_moves_or_the_run_ends() {
    let moved = |from, to| Decision::BreakerMoved {
        breaker: BreakerId(0),
        transition: breaker::Transition { from, to, generation: 1, until: Some(at(5_000)) },
    };
    let metrics = played(|play| {
        play.at(100).decide(moved(breaker::State::Closed, breaker::State::Open));
        play.at(5_100).decide(moved(breaker::State::Open, breaker::State::HalfOpen));
        play.at(5_200).decide(moved(breaker::State::HalfOpen, breaker::State::Open));
        play.at(6_000).arrive(Delivery::Whole);
    })
    .metrics;
    check(&metrics, &[(Metric::BreakerOpen, "5800000000")]);
}
