//! As what the failed reply of a layer comes to the one above it.

use crate::gateway::{Failure, Outcome, StopReason};
use crate::sim::setup::Hears;
use crate::sim::upstream::FailedReply;

/// The last true failure, or what says best why there was none; or always the same, and then it is no more than it
/// says.
pub(super) fn heard(hears: &Hears, outcome: &Outcome, last: Option<FailedReply>) -> FailedReply {
    let met = last.filter(|last| last.told.is_some());
    let as_it_was = match (cause(outcome), met) {
        (Cause::Met, Some(met)) => met,
        (Cause::Met | Cause::Refused, _) => hears.refused,
        (Cause::Late, _) => hears.late,
        (Cause::Closed, _) => hears.closed,
    };
    hears.always.unwrap_or(as_it_was)
}

/// Why there is no answer.
enum Cause {
    /// A failure was met.
    Met,
    /// It took too long.
    Late,
    /// Everything is closed for now.
    Closed,
    /// It may not be tried, or not again.
    Refused,
}

fn cause(outcome: &Outcome) -> Cause {
    let of = |last: &Failure| if last.code.is_some() { Cause::Met } else { Cause::Late };
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
