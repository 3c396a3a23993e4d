//! A gateway that is asked how things stand, and does not say: each lie is convicted by the law about it.

use crate::lying_gateway::{Lie, check};
use faultlab::gateway::{Decision, FuseState, Status};
use faultlab::judge::Law;
use faultlab::policy::breaker::State;
use faultlab::sim::What;
use faultlab::units::{Duration, Timestamp};

/// Tells another status in the place of each, or none.
fn shows(what: &What<'_>, tell: &mut dyn FnMut(What<'_>), other: impl Fn(Status) -> Option<Status>) {
    if let What::Decided(Decision::Shown(status)) = what {
        if let Some(status) = other(*status) {
            tell(What::Decided(&Decision::Shown(status)));
        }
    } else {
        tell(*what);
    }
}

#[test]
fn a_breaker_that_is_not_shown() {
    let lie: Lie = |_, what, tell| {
        shows(what, tell, |status| (!matches!(status, Status::Breaker { .. })).then_some(status));
    };
    check("operator-reset", "all", lie, Law::StatusIsTrue, "is not how things stand");
}

#[test]
fn nothing_is_shown_at_all() {
    let lie: Lie = |_, what, tell| shows(what, tell, |_| None);
    check(
        "operator-reset",
        "all",
        lie,
        Law::StatusIsTrue,
        "3 of the things that are not at rest are not shown",
    );
    check(
        "operator-reset",
        "fuse",
        lie,
        Law::StatusIsTrue,
        "1 of the things that are not at rest are not shown",
    );
}

#[test]
fn a_breaker_that_is_said_to_open_sooner() {
    let lie: Lie = |_, what, tell| {
        shows(what, tell, |status| {
            let Status::Breaker { breaker, state, .. } = status else { return Some(status) };
            let retry_at = Some(Timestamp::ZERO.after(Duration::from_secs(40)));
            Some(Status::Breaker { breaker, state, retry_at })
        });
    };
    check("operator-reset", "all", lie, Law::StatusIsTrue, "is not how things stand");
}

#[test]
fn a_fuse_that_is_said_to_be_whole_or_to_have_counted_less() {
    let whole: Lie = |_, what, tell| {
        shows(what, tell, |status| {
            let Status::Fuse { fuse, task, calls, .. } = status else { return Some(status) };
            Some(Status::Fuse { fuse, task, calls, state: FuseState::Whole })
        });
    };
    check("operator-reset", "fuse", whole, Law::StatusIsTrue, "is not how things stand");
    let less: Lie = |_, what, tell| {
        shows(what, tell, |status| {
            let Status::Fuse { fuse, task, calls, state } = status else { return Some(status) };
            Some(Status::Fuse { fuse, task, calls: calls - 1, state })
        });
    };
    check("repeated-call", "after", less, Law::StatusIsTrue, "is not how things stand");
}

#[test]
fn a_budget_on_which_less_is_said_to_stand() {
    let lie: Lie = |_, what, tell| {
        shows(what, tell, |status| {
            let Status::Budget { of, held, .. } = status else { return Some(status) };
            Some(Status::Budget { of, settled: held, held })
        });
    };
    check("growing-history", "after", lie, Law::StatusIsTrue, "is not how things stand");
}

#[test]
fn something_is_shown_that_is_at_rest() {
    let lie: Lie = |_, what, tell| {
        shows(what, tell, |status| {
            let Status::Breaker { breaker, retry_at, .. } = status else { return Some(status) };
            Some(Status::Breaker { breaker, state: State::Closed, retry_at })
        });
    };
    check("operator-reset", "all", lie, Law::StatusIsTrue, "is not how things stand");
}
