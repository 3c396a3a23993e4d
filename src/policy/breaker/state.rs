//! The states of a breaker, and what can be told about them.

use super::tally::Tally;
use crate::units::{Duration, Timestamp};

/// Where a breaker is. The last three only an operator reaches, and only an operator leaves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum State {
    /// Calls pass and are counted.
    Closed,
    /// Calls are refused until the cooldown is over.
    Open,
    /// A few calls pass as probes.
    HalfOpen,
    /// Calls are refused, whatever the time; results count nothing.
    ForcedOpen,
    /// Calls pass and count nothing.
    Disabled,
    /// Calls pass and are counted, and nothing follows from it.
    MetricsOnly,
}

impl State {
    /// The word in events and reports.
    pub const fn label(self) -> &'static str {
        match self {
            State::Closed => "CLOSED",
            State::Open => "OPEN",
            State::HalfOpen => "HALF_OPEN",
            State::ForcedOpen => "FORCED_OPEN",
            State::Disabled => "DISABLED",
            State::MetricsOnly => "METRICS_ONLY",
        }
    }
}

/// One move of a breaker. If time and a result moved it in one step, this is the way from where it was to
/// where it is; an operator who opens an open breaker moves it from `Open` to `Open`.
#[must_use = "a move belongs into the trace"]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transition {
    /// Where it was.
    pub from: State,
    /// Where it is.
    pub to: State,
    /// The generation that begins; every permit of an earlier one is now stale.
    pub generation: u32,
    /// When the new state ends, if nothing is reported; `None` if it then does not.
    pub until: Option<Timestamp>,
}

/// What an operator can order, beside [`Breaker::reset`].
///
/// [`Breaker::reset`]: super::Breaker::reset
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Open for one cooldown, as if it had tripped; an open breaker begins another.
    Open,
    /// Open for so long; the cooldown does not grow by it.
    OpenFor(Duration),
    /// Admit probes at once.
    HalfOpen,
    /// Refuse everything.
    ForceOpen,
    /// Admit everything, count nothing.
    Disable,
    /// Admit everything, count it.
    MetricsOnly,
}

/// Everything there is to see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status {
    /// The state since the last touch: a cooldown that is over shows when a call is admitted.
    pub state: State,
    /// The present generation.
    pub generation: u32,
    /// When the state began.
    pub since: Timestamp,
    /// When the state ends, if nothing is reported; `None` if it then does not.
    pub until: Option<Timestamp>,
    /// When a call can pass, if nothing is reported before; [`Timestamp::MAX`] for never.
    pub retry_at: Timestamp,
    /// How often it has opened since it was last closed.
    pub opens: u32,
    /// Bad results that count against the route now: the run of a window of runs, else those in the window.
    pub failures: u32,
    /// Calls refused since the counts began.
    pub refused: u64,
    /// Probes that have neither reported nor lost their slot.
    pub probes_in_flight: u32,
    /// The counts: of the trial in HALF_OPEN, else of the window; in OPEN, those that opened it.
    pub tally: Tally,
}
