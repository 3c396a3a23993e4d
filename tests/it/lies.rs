//! More lies: what a gateway tells of its choices, its reasons, its counters and its books is recomputed, and a word
//! of it that is not true convicts it.

use crate::lying_gateway::{Lie, check, with_action, with_candidates, with_decision};
use faultlab::gateway::{Action, Decision, Failure, Limit, Outcome, Role, Verdict};
use faultlab::judge::Law;
use faultlab::policy::breaker;
use faultlab::policy::cooldown::Bench;
use faultlab::policy::health;
use faultlab::policy::ledger::Level;
use faultlab::policy::ranking::Key;
use faultlab::policy::signal::Signal;
use faultlab::policy::taxonomy::Class;
use faultlab::sim::What;
use faultlab::units::{BreakerId, HealthId, Money, Name, RouteId, Timestamp};

#[test]
fn tokens_that_were_not_used() {
    let lie: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::Settled { settlement, .. } = decision {
                settlement.actual.tokens -= 1;
            }
        });
    };
    check("routing", "base", lie, Law::BooksBalance, "12000 tokens");
    check(
        "budget-audit",
        "receipt_never_comes",
        lie,
        Law::BooksBalance,
        "and 11999 tokens, not its worst case",
    );
}

#[test]
fn a_cost_in_another_window() {
    let settled: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::Settled { settlement, .. } = decision {
                settlement.window += 1;
            }
        });
    };
    check(
        "budget-audit",
        "tenant_level",
        settled,
        Law::BooksBalance,
        "settled in window 1, it was called in window 0",
    );
    let reserved: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::Reserved { window, .. } = decision {
                *window += 1;
            }
        });
    };
    let says = "in window 1, which can take $0.032 and 12000 tokens in window 0";
    check("budget-audit", "tenant_level", reserved, Law::WorstCaseIsReserved, says);
}

#[test]
fn a_worst_case_that_is_made_large_or_set_aside_for_another_route() {
    let large: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::Reserved { amount, .. } = decision {
                amount.tokens += 1;
            }
        });
    };
    check("routing", "base", large, Law::WorstCaseIsReserved, "12001 tokens aside for route-fit");
    let elsewhere: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::Reserved { route, .. } = decision {
                route.0 -= 1;
            }
        });
    };
    check(
        "routing",
        "base",
        elsewhere,
        Law::WorstCaseIsReserved,
        "req-demo-001 sets $0.000 and 0 tokens aside",
    );
}

#[test]
fn a_worst_case_in_a_look_that_is_not_the_route_s() {
    let lie: Lie = |_, what, tell| {
        with_candidates(what, tell, |candidates| candidates[0].worst_case = Money::ZERO);
    };
    check("routing", "base", lie, Law::TrueReasons, "route-fast is told to cost at most $0.000");
}

#[test]
fn a_look_that_is_silent_or_chose_another_route() {
    let silent: Lie = |_, what, tell| {
        if let What::Considered { .. } = what {
        } else {
            tell(*what);
        }
    };
    check("bounded-429", "base", silent, Law::EveryCallIsAnnounced, "no look has chosen a route");
    let swapped: Lie = |_, what, tell| {
        with_candidates(what, tell, |candidates| {
            let verdict = candidates[0].verdict;
            candidates[0].verdict = candidates[1].verdict;
            candidates[1].verdict = verdict;
        });
    };
    check(
        "bounded-429",
        "base",
        swapped,
        Law::EveryCallIsAnnounced,
        "calls primary, its look has chosen fallback",
    );
}

#[test]
fn a_look_that_chose_two_routes_or_none_of_those_that_can_be_called() {
    let two: Lie = |_, what, tell| {
        with_candidates(what, tell, |candidates| {
            candidates.iter_mut().for_each(|candidate| candidate.verdict = Verdict::Chosen { by: None });
        });
    };
    check("bounded-429", "base", two, Law::TrueReasons, "2 routes are chosen and 0 outranked");
    let none: Lie = |_, what, tell| {
        with_candidates(what, tell, |candidates| {
            candidates.iter_mut().for_each(|one| one.verdict = Verdict::Outranked { by: Key::Order });
        });
    };
    check("bounded-429", "base", none, Law::TrueReasons, "0 routes are chosen and 2 outranked");
}

#[test]
fn a_route_that_is_said_to_be_open_and_is_not() {
    let lie: Lie = |_, what, tell| {
        with_candidates(what, tell, |candidates| {
            for candidate in candidates {
                if let Verdict::Gated { .. } | Verdict::Unaffordable { .. } = candidate.verdict {
                    candidate.verdict = Verdict::Outranked { by: Key::Order };
                }
            }
        });
    };
    check("circuit", "fallback_used", lie, Law::TrueReasons, "primary can be called, although its breaker");
    check(
        "bounded-429",
        "retry_after_too_long",
        lie,
        Law::TrueReasons,
        "can be called, although it is benched",
    );
    check("budget-audit", "task_level", lie, Law::TrueReasons, "although the task would stand at");
}

#[test]
fn a_fallback_that_is_called_a_retry() {
    let lie: Lie = |_, what, tell| {
        with_action(what, tell, |action| {
            if let Action::Call(call) = action
                && call.role == Role::Fallback
            {
                call.role = Role::Retry;
            }
        });
    };
    check(
        "bounded-429",
        "base",
        lie,
        Law::EveryCallIsAnnounced,
        "calls fallback as retry, it is its fallback",
    );
}

#[test]
fn a_limit_that_was_not_reached() {
    let limited = |limit: Limit| -> Lie {
        match limit {
            Limit::Routes => |_, what, tell| with_limit(what, tell, Limit::Routes),
            Limit::Time => |_, what, tell| with_limit(what, tell, Limit::Time),
            Limit::Seeks => |_, what, tell| with_limit(what, tell, Limit::Seeks),
            Limit::Attempts => |_, what, tell| with_limit(what, tell, Limit::Attempts),
        }
    };
    let check = |at, variant, limit, says| check(at, variant, limited(limit), Law::OutcomeIsTrue, says);
    check("circuit", "base", Limit::Routes, "exhausted on every route, primary is left");
    check("circuit", "base", Limit::Time, "exhausted by the time, and it refused no wait");
    check("circuit", "base", Limit::Seeks, "exhausted after 1 looks of 16");
    check("bounded-429", "retry_after_nowhere_to_go", Limit::Attempts, "exhausted after 1 of 2 calls");
}

fn with_limit(what: &What<'_>, tell: &mut dyn FnMut(What<'_>), told: Limit) {
    with_action(what, tell, |action| {
        if let Action::Reply { outcome, .. } = action
            && let Outcome::Exhausted { last, .. } | Outcome::AllGated { last: Some(last), .. } = *outcome
        {
            *outcome = Outcome::Exhausted { limit: told, last };
        }
    });
}

fn with_last(what: &What<'_>, tell: &mut dyn FnMut(What<'_>), change: impl Fn(&mut Failure)) {
    with_action(what, tell, |action| {
        if let Action::Reply { outcome, .. } = action
            && let Outcome::Terminal { last }
            | Outcome::Exhausted { last, .. }
            | Outcome::BudgetExceeded { last: Some(last), .. } = outcome
        {
            change(last);
        }
    });
}

#[test]
fn a_failure_that_had_another_name() {
    let renamed: Lie = |_, what, tell| with_last(what, tell, |last| last.code = Some(Name::nth(0)));
    check("terminal-errors", "base", renamed, Law::OutcomeIsTrue, "its last call met invalid_auth");
    check("bounded-429", "fallback_limited_too", renamed, Law::OutcomeIsTrue, "its last call met rate_limit");
    check("budget-audit", "base", renamed, Law::OutcomeIsTrue, "its last call met unavailable");
    let nameless: Lie = |_, what, tell| with_last(what, tell, |last| last.code = None);
    check(
        "terminal-errors",
        "base",
        nameless,
        Law::OutcomeIsTrue,
        "with no code, its last call met invalid_auth",
    );
    let worse: Lie = |_, what, tell| with_last(what, tell, |last| last.class = Class::Funds);
    check("terminal-errors", "base", worse, Law::OutcomeIsTrue, "with funds, its last call met auth");
}

#[test]
fn an_end_that_the_policy_does_not_know() {
    let hasty: Lie = |_, what, tell| {
        with_action(what, tell, |action| {
            if let Action::Reply { outcome, .. } = action
                && let Outcome::Exhausted { last, .. } = *outcome
            {
                *outcome = Outcome::Terminal { last };
            }
        });
    };
    let says = "terminal with rate_limit, after which the policy goes on";
    check("bounded-429", "fallback_limited_too", hasty, Law::OutcomeIsTrue, says);
}

#[test]
fn a_denial_by_a_cap_that_is_not_there() {
    let lie: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::Denied { denied, .. } = decision {
                denied.cap -= 1;
            }
        });
    };
    check("budget-audit", "base", lie, Law::TrueReasons, "for the request, of $0.049999999999; true is");
    let standing: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::Denied { denied, .. } = decision {
                denied.settled += 1;
            }
        });
    };
    check("budget-audit", "task_level", standing, Law::TrueReasons, "is denied");
    let level: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::Denied { denied, .. } = decision {
                denied.level = Level::Tenant;
            }
        });
    };
    check("budget-audit", "task_level", level, Law::TrueReasons, "for the tenant");
}

fn with_signal(
    what: &What<'_>,
    tell: &mut dyn FnMut(What<'_>),
    change: impl Fn(&mut Signal, &mut u32, &mut u32),
) {
    with_decision(what, tell, |decision| {
        if let Decision::Signalled { signal, breaker_failures, health_failures, .. } = decision {
            change(signal, breaker_failures, health_failures);
        }
    });
}

#[test]
fn a_counter_that_a_neutral_result_moved() {
    let law = Law::ResultsAreToldAsTheyWere;
    let breaker: Lie = |_, what, tell| with_signal(what, tell, |_, breaker, _| *breaker += 1);
    check("bounded-429", "base", breaker, law, "as rate_limit, neutral, fresh, failures at the breaker 1");
    check("bounded-429", "base", breaker, Law::NeutralMovesNothing, "rate_limit");
    let health: Lie = |_, what, tell| with_signal(what, tell, |_, _, health| *health += 1);
    check("bounded-429", "base", health, law, "for the health 1; true is");
}

#[test]
fn a_counter_that_a_bad_result_did_not_move() {
    let law = Law::ResultsAreToldAsTheyWere;
    let kept: Lie = |_, what, tell| with_signal(what, tell, |_, breaker, _| *breaker = 0);
    check("circuit", "base", kept, law, "failures at the breaker 0, for the health 1; true is");
    let washed: Lie = |_, what, tell| with_signal(what, tell, |signal, _, _| *signal = Signal::Good);
    check("circuit", "base", washed, law, "as overload, good, fresh");
    let silent: Lie = |_, what, tell| {
        if let What::Decided(Decision::Signalled { .. }) = what {
        } else {
            tell(*what);
        }
    };
    check("circuit", "base", silent, law, "req-1 closes, and of 1 results nobody says what they mean");
    let twice: Lie = |_, what, tell| {
        tell(*what);
        if let What::Decided(Decision::Signalled { .. }) = what {
            tell(*what);
        }
    };
    check("circuit", "base", twice, law, "there is none that was not told before");
}

#[test]
fn a_move_of_a_breaker_that_is_not_told_or_made_up() {
    let law = Law::ResultsAreToldAsTheyWere;
    let silent: Lie = |_, what, tell| {
        if let What::Decided(Decision::BreakerMoved { .. }) = what {
        } else {
            tell(*what);
        }
    };
    check("circuit", "base", silent, law, "moves to OPEN, and nobody says so");
    check("circuit", "base", silent, law, "moves its breaker to HALF_OPEN, and nobody says so");
    let longer: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::BreakerMoved { transition, .. } = decision {
                transition.until = transition.until.map(|until| Timestamp::from_nanos(until.nanos() + 1));
            }
        });
    };
    check("circuit", "base", longer, law, "a breaker is said to move to OPEN, which is not due");
    let made_up: Lie = |_, what, tell| {
        if let What::Acted(Action::Reply { .. }) = what {
            let (from, to) = (breaker::State::Closed, breaker::State::Open);
            let transition = breaker::Transition { from, to, generation: 1, until: None };
            tell(What::Decided(&Decision::BreakerMoved { breaker: BreakerId(0), transition }));
        }
        tell(*what);
    };
    check("bounded-429", "base", made_up, law, "is said to move to OPEN, and nothing moves it");
}

#[test]
fn a_move_of_health_that_is_not_told_or_made_up() {
    let law = Law::ResultsAreToldAsTheyWere;
    let silent: Lie = |_, what, tell| {
        if let What::Decided(Decision::HealthMoved { .. }) = what {
        } else {
            tell(*what);
        }
    };
    check("circuit", "base", silent, law, "moves to DEGRADED, and nobody says so");
    let made_up: Lie = |_, what, tell| {
        if let What::Acted(Action::Reply { .. }) = what {
            let (from, to) = (health::State::Healthy, health::State::Unhealthy);
            let moved = health::Move { from, to, until: None };
            tell(What::Decided(&Decision::HealthMoved { health: HealthId(0), moved }));
        }
        tell(*what);
    };
    check(
        "bounded-429",
        "base",
        made_up,
        law,
        "a health state is said to move to UNHEALTHY, which is not due",
    );
}

#[test]
fn a_call_of_another_generation_of_its_breaker() {
    let lie: Lie = |_, what, tell| {
        with_action(what, tell, |action| {
            if let Action::Call(call) = action {
                call.generation += 1;
            }
        });
    };
    let says = "is told by generation 1 of its breaker, it is of generation 0";
    check("circuit", "base", lie, Law::ResultsAreToldAsTheyWere, says);
}

#[test]
fn a_response_that_said_something_else() {
    let lie: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::Classified { diagnosis, .. } = decision {
                diagnosis.class = Class::Overload;
            }
        });
    };
    let says = "overload is read in the response of primary to req-demo-002, which says rate_limit";
    check("bounded-429", "base", lie, Law::ResultsAreToldAsTheyWere, says);
}

#[test]
fn a_bench_that_no_response_asked_for_or_that_is_not_told() {
    let law = Law::ResultsAreToldAsTheyWere;
    let longer: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::Benched { until, .. } = decision {
                *until = Timestamp::from_nanos(until.nanos() + 1);
            }
        });
    };
    let says = "something is left alone until 30400.000001 ms, by its response until 30400 ms";
    check("bounded-429", "retry_after_too_long", longer, law, says);
    let silent: Lie = |_, what, tell| {
        if let What::Decided(Decision::Benched { .. }) = what {
        } else {
            tell(*what);
        }
    };
    let says = "something is to be left alone until 30400 ms, and nobody says so";
    check("bounded-429", "retry_after_too_long", silent, law, says);
    let made_up: Lie = |_, what, tell| {
        if let What::Acted(Action::Reply { .. }) = what {
            let (what, until) = (Bench::Route(RouteId(0)), Timestamp::MAX);
            tell(What::Decided(&Decision::Benched { what, until, class: Class::RateLimit }));
        }
        tell(*what);
    };
    check("routing", "base", made_up, law, "something is left alone for which no response asks");
}
