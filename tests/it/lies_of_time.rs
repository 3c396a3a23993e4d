//! Lies about instants: when something opens, how long is waited and for what, which timer fires.

use crate::lying_gateway::{Lie, check, unasked_call, with_action, with_candidates, with_decision};
use faultlab::gateway::{Action, Decision, Outcome, Verdict, Wait, WaitRefusal};
use faultlab::judge::Law;
use faultlab::policy::taxonomy::Class;
use faultlab::sim::What;
use faultlab::units::{Duration, RouteId, Timestamp};

fn later(at: Timestamp) -> Timestamp {
    at.after(Duration::from_nanos(1))
}

#[test]
fn a_gate_that_is_said_to_open_at_another_instant() {
    let lie: Lie = |_, what, tell| {
        with_candidates(what, tell, |candidates| {
            for candidate in candidates {
                if let Verdict::Gated { retry_at, .. } = &mut candidate.verdict {
                    *retry_at = retry_at.map(later);
                }
            }
        });
    };
    check("circuit", "base", lie, Law::TrueReasons, "primary is said to open at");
    check("all-cooling", "base", lie, Law::TrueReasons, "is said to open at");
    let never: Lie = |_, what, tell| {
        with_candidates(what, tell, |candidates| {
            for candidate in candidates {
                if let Verdict::Gated { retry_at, .. } = &mut candidate.verdict {
                    *retry_at = None;
                }
            }
        });
    };
    check("circuit", "base", never, Law::TrueReasons, "only by an operator or a free slot");
}

#[test]
fn a_reply_that_says_another_instant_at_which_something_opens() {
    let lie: Lie = |_, what, tell| {
        with_action(what, tell, |action| {
            if let Action::Reply { outcome: Outcome::AllGated { retry_at, .. }, .. } = action {
                *retry_at = retry_at.map(later);
            }
        });
    };
    check("circuit", "base", lie, Law::OutcomeIsTrue, "the first route opens at");
    check("bounded-429", "retry_after_nowhere_to_go", lie, Law::OutcomeIsTrue, "the first route opens at");
    let never: Lie = |_, what, tell| {
        with_action(what, tell, |action| {
            if let Action::Reply { outcome: Outcome::AllGated { retry_at, .. }, .. } = action {
                *retry_at = None;
            }
        });
    };
    check("circuit", "base", never, Law::OutcomeIsTrue, "the first route opens at");
    check("bounded-429", "retry_after_nowhere_to_go", never, Law::OutcomeIsTrue, "the first route opens at");
}

#[test]
fn a_wait_that_is_longer_or_shorter_than_the_backoff() {
    let longer: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::RetryScheduled { at, delay, .. } = decision {
                (*at, *delay) = (later(*at), delay.plus(Duration::from_nanos(1)));
            }
        });
    };
    check("bounded-429", "base", longer, Law::SleepsHaveAQuote, "which is not its backoff of 100 ms");
    check("bounded-429", "retry_after_fits", longer, Law::SleepsHaveAQuote, "which is not its backoff");
    let shorter: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::RetryScheduled { at, delay, .. } = decision {
                *at = Timestamp::from_nanos(at.nanos() - 1);
                *delay = Duration::from_nanos(delay.nanos() - 1);
            }
        });
    };
    check("bounded-429", "base", shorter, Law::SleepsHaveAQuote, "which is not its backoff of 100 ms");
    let far: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::RetryScheduled { at, delay, .. } = decision {
                let more = Duration::from_millis(200);
                (*at, *delay) = (at.after(more), delay.plus(more));
            }
        });
    };
    check("bounded-429", "full_jitter", far, Law::SleepsHaveAQuote, "which is not its backoff of 0 ms to");
}

#[test]
fn a_hint_that_nobody_gave() {
    let lie: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::RetryScheduled { hint, .. } = decision {
                *hint = hint.plus(Duration::from_nanos(1));
            }
        });
    };
    check("bounded-429", "base", lie, Law::SleepsHaveAQuote, "its response asked for 0 ms");
    check("bounded-429", "retry_after_fits", lie, Law::SleepsHaveAQuote, "its response asked for");
}

#[test]
fn a_timer_that_was_not_due() {
    let other: Lie = |_, what, tell| {
        if let What::Woke { wait: Wait::FirstByte(call) } = *what {
            tell(What::Woke { wait: Wait::Idle(call) });
        } else {
            tell(*what);
        }
    };
    check("bounded-429", "first_byte_timeout", other, Law::Caused, "idle_timeout of primary");
    let early: Lie = |_, what, tell| {
        if let What::Acted(Action::Reply { request, .. }) = *what {
            tell(What::Woke { wait: Wait::Deadline(*request) });
        }
        tell(*what);
    };
    check("bounded-429", "base", early, Law::Caused, "the deadline of req-demo-002 is due at 1200 ms");
    let retry: Lie = |_, what, tell| {
        if let What::Acted(Action::Reply { request, .. }) = *what {
            tell(What::Woke { wait: Wait::Retry(*request) });
        }
        tell(*what);
    };
    check("bounded-429", "base", retry, Law::Caused, "the retry of req-demo-002");
    let attempt: Lie = |_, what, tell| {
        if let What::CallEnded { call, .. } = *what {
            tell(What::Woke { wait: Wait::Attempt(call) });
        }
        tell(*what);
    };
    check("bounded-429", "base", attempt, Law::Caused, "attempt_timeout of primary");
    let hedge: Lie = |_, what, tell| {
        if let What::CallEnded { .. } = *what {
            tell(What::Woke { wait: Wait::Hedge(faultlab::units::RequestId(0)) });
        }
        tell(*what);
    };
    check("hedging", "base", hedge, Law::Caused, "the hedge of req-hedged");
}

#[test]
fn a_timeout_that_no_timer_gave() {
    let lie: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::TimedOut { class, .. } = decision {
                *class = Class::AttemptTimeout;
            }
        });
    };
    check("bounded-429", "first_byte_timeout", lie, Law::Caused, "by attempt_timeout, which was not due");
}

#[test]
fn a_timeout_that_did_not_come() {
    let lie: Lie = |_, what, tell| match *what {
        What::Woke { wait: Wait::Attempt(_) }
        | What::Decided(Decision::TimedOut { .. })
        | What::Acted(Action::Cancel { .. }) => {}
        What::Declared(_)
        | What::Arrived { .. }
        | What::TaskBegan { .. }
        | What::TaskEnded { .. }
        | What::Abandoned { .. }
        | What::Woke { .. }
        | What::RunEnded
        | What::Operated { .. }
        | What::CallBegun { .. }
        | What::CallVisible { .. }
        | What::CallEnded { .. }
        | What::CallLost { .. }
        | What::Considered { .. }
        | What::Acted(_)
        | What::Decided(_) => tell(*what),
    };
    check("bounded-429", "attempt_timeout", lie, Law::Caused, "was to be stopped at");
}

#[test]
fn a_breaker_of_which_nothing_is_told() {
    let lie: Lie = |_, what, tell| {
        if let What::Decided(Decision::BreakerMoved { .. }) = what {
            return;
        }
        if let What::Acted(Action::Reply { request, outcome: Outcome::AllGated { .. }, .. }) = what {
            tell(unasked_call(*request, RouteId(0)));
        }
        tell(*what);
    };
    check("circuit", "base", lie, Law::BreakerRespected, "primary while its breaker is OPEN");
}

#[test]
fn a_wait_that_is_not_too_long() {
    let lie: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::WaitRefused { wait, why: WaitRefusal::Deadline, .. } = decision {
                *wait = wait.plus(Duration::from_nanos(1));
            }
        });
    };
    check("bounded-429", "retry_after_nowhere_to_go", lie, Law::TrueReasons, "refuses to wait");
}

#[test]
fn a_queue_that_was_longer() {
    let lie: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::Queued { waiting, .. } = decision {
                *waiting += 1;
            }
        });
    };
    check(
        "quota-cascade",
        "five_slots",
        lie,
        Law::TrueReasons,
        "is said to be number 2 of those that wait for a slot",
    );
}
