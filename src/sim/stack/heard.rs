//! As what the failed reply of a layer comes to the one above it.

use crate::gateway::{Failure, Outcome, StopReason};
use crate::sim::setup::Hears;
use crate::sim::upstream::FailedReply;

/// The failure that the reply names, the last one or the one that stopped it, or what says best why there was none; or
/// always the same, and then it is no more than it says.
pub(super) fn heard(hears: &Hears, outcome: &Outcome, met: [Option<FailedReply>; 2]) -> FailedReply {
    let as_it_was = match cause(outcome) {
        Cause::Met(named) => {
            let is_named = |met: &&FailedReply| met.told.is_some_and(|told| told.class == named.class);
            met.iter().flatten().find(is_named).copied().unwrap_or(hears.refused)
        }
        Cause::Refused => hears.refused,
        Cause::Late => hears.late,
        Cause::Closed => hears.closed,
    };
    hears.always.unwrap_or(as_it_was)
}

/// Why there is no answer.
enum Cause {
    /// This failure was met.
    Met(Failure),
    /// It took too long.
    Late,
    /// Everything is closed for now.
    Closed,
    /// It may not be tried, or not again.
    Refused,
}

fn cause(outcome: &Outcome) -> Cause {
    let of = |last: &Failure| if last.code.is_some() { Cause::Met(*last) } else { Cause::Late };
    match outcome {
        Outcome::Truncated { last, .. } | Outcome::Terminal { last } | Outcome::Exhausted { last, .. } => {
            of(last)
        }
        Outcome::DeadlineExceeded { last } => last.as_ref().map_or(Cause::Late, of),
        Outcome::AllGated { last, .. } | Outcome::NoCandidate { last, .. } => {
            last.as_ref().map_or(Cause::Closed, of)
        }
        Outcome::Stopped { reason: StopReason::Terminal(last), .. } => of(last),
        Outcome::Stopped { .. }
        | Outcome::BudgetExceeded { .. }
        | Outcome::NoEligibleRoute
        | Outcome::Abandoned
        | Outcome::Answered { .. } => Cause::Refused,
    }
}
