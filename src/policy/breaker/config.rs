//! The knobs of a breaker. [`Config::default`] is our contract; every other value belongs to a library that
//! differs from it, and the doc of the value says which.

use super::cooldown::Cooldown;
use super::window::WindowModel;
use crate::units::{Duration, Ratio};

/// All knobs of one breaker.
///
/// | knob | our default |
/// |---|---|
/// | `window` | the present run |
/// | `trip` | 3 bad results in a row |
/// | `minimum`, `clamp` | 1, lowered to what the window can hold |
/// | `judged_on` | bad results only |
/// | `slow` | no limit |
/// | `cooldown` | 30 s, never growing |
/// | `boundary` | inclusive: a probe is admitted at exactly opened + cooldown |
/// | `half_open_by` | the call that becomes the probe |
/// | `probes` | one in flight |
/// | `probe_timeout` | 30 s, then a lost probe's slot is free again |
/// | `half_open_for` | as long as it takes |
/// | `verdict` | one good probe closes, any bad one reopens |
/// | `late` | a result of an earlier generation is stale |
/// | `neutral` | gives its slot back and counts nothing |
/// | `while_open` | the counts that opened the breaker stay to be seen |
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// What CLOSED remembers.
    pub window: WindowModel,
    /// What opens CLOSED.
    pub trip: Trip,
    /// Results a window must hold before a share of them means anything; runs and counts ignore it.
    pub minimum: u32,
    /// What to do with a minimum that the window can never hold.
    pub clamp: Clamp,
    /// Which results are an occasion to trip.
    pub judged_on: JudgedOn,
    /// The share of slow calls that also opens; `None`: slowness is no matter.
    pub slow: Option<Slow>,
    /// How long OPEN lasts.
    pub cooldown: Cooldown,
    /// Whether OPEN is over at exactly its end.
    pub boundary: Boundary,
    /// Who turns OPEN into HALF_OPEN.
    pub half_open_by: HalfOpenBy,
    /// How many calls HALF_OPEN admits.
    pub probes: ProbeLimit,
    /// How long a probe may keep its slot without a result; `None`: for ever, as in every library read.
    pub probe_timeout: Option<Duration>,
    /// How long HALF_OPEN may last.
    pub half_open_for: HalfOpenFor,
    /// What ends HALF_OPEN.
    pub verdict: Verdict,
    /// What a result of an earlier generation is worth.
    pub late: Late,
    /// What a neutral result is worth.
    pub neutral: Neutral,
    /// What becomes of the counts while OPEN.
    pub while_open: WhileOpen,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            window: WindowModel::Run,
            trip: Trip::Run { bad: 3 },
            minimum: 1,
            clamp: Clamp::ToWindow,
            judged_on: JudgedOn::Bad,
            slow: None,
            cooldown: Cooldown::Fixed(Duration::from_secs(30)),
            boundary: Boundary::Inclusive,
            half_open_by: HalfOpenBy::Admission,
            probes: ProbeLimit::InFlight(1),
            probe_timeout: Some(Duration::from_secs(30)),
            half_open_for: HalfOpenFor::Ever,
            verdict: Verdict::AnyBadReopens { good: 1 },
            late: Late::Stale,
            neutral: Neutral::Nothing,
            while_open: WhileOpen::Frozen,
        }
    }
}

/// What opens a CLOSED breaker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trip {
    /// So many bad results in a row. **Our default, 3.** gobreaker trips on `> 5`, which is 6 here.
    Run {
        /// How many.
        bad: u32,
    },
    /// So many bad results in the window (failsafe-go).
    Count {
        /// How many.
        bad: u32,
    },
    /// Such a share of bad results, reached or exceeded, once there are [`Config::minimum`].
    Rate {
        /// The share.
        bad: Ratio,
        /// What it is a share of.
        of: RateOf,
        /// How it is compared.
        rounding: Rounding,
    },
    /// A weighted share of good results below this, once there are [`Config::minimum`] (Finagle).
    Average {
        /// The share of good results that is required.
        good: Ratio,
    },
}

/// What a share of bad results is a share of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RateOf {
    /// Good and bad results.
    Results,
    /// Calls begun that were not neutral, those in flight too (gobreaker's *valid requests*).
    Begun,
}

/// How a share is compared with its threshold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// Exactly, in whole numbers: 99 of 199 is not a half.
    Exact,
    /// After rounding to two decimals, halves up (failsafe-go): 99 of 199 is 0.50, a half.
    TwoDecimals,
}

/// What to do with a minimum above the size of a counting window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clamp {
    /// Lower it to the size (resilience4j). A window over time has no size.
    ToWindow,
    /// Keep it: the breaker can never trip on a share.
    Never,
}

/// Which results are an occasion to trip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JudgedOn {
    /// A bad one.
    Bad,
    /// Any good or bad one: a success that completes the minimum can trip (resilience4j, failsafe-go).
    Any,
}

/// When slow calls open a breaker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slow {
    /// A call is slow if it took *longer* than this.
    pub over: Duration,
    /// The share of slow calls that opens, reached or exceeded, once there are [`Config::minimum`].
    pub share: Ratio,
}

/// Whether an interval is over at exactly its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Boundary {
    /// It is (Polly, failsafe-go).
    Inclusive,
    /// One nanosecond later (resilience4j, gobreaker).
    Exclusive,
}

/// Who turns OPEN into HALF_OPEN when the cooldown is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HalfOpenBy {
    /// The call that asks to be admitted and becomes the probe.
    Admission,
    /// Time itself: whatever touches the breaker first (gobreaker; resilience4j's automatic transition).
    Clock,
}

/// How many calls HALF_OPEN admits; 0 is read as 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProbeLimit {
    /// So many at a time; each result gives its slot back (failsafe-go).
    InFlight(u32),
    /// So many in all; only a neutral result gives its slot back (resilience4j, gobreaker, Polly with 1).
    Total(u32),
}

impl ProbeLimit {
    /// The most probes that can be in flight at once.
    pub const fn most(self) -> u32 {
        match self {
            ProbeLimit::InFlight(most) | ProbeLimit::Total(most) => most,
        }
    }
}

/// How long HALF_OPEN may last without a verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HalfOpenFor {
    /// As long as it takes. Without a probe timeout, lost probes then hold it for ever (resilience4j's default).
    Ever,
    /// As long as it takes, but a refused call is told to return after one more cooldown (Polly).
    EverButPromised,
    /// So long; then it opens again (resilience4j's maximum wait).
    ThenOpen(Duration),
    /// So long; then it closes (resilience4j's maximum wait, towards CLOSED).
    ThenClosed(Duration),
}

/// What ends HALF_OPEN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// So many good results in a row close; any bad one reopens (ours, gobreaker, Polly, Finagle).
    AnyBadReopens {
        /// How many.
        good: u32,
    },
    /// After `results`, or the minimum if that is less, CLOSED's own thresholds decide (resilience4j).
    Thresholds {
        /// How many results.
        results: u32,
    },
    /// Closes at `good` of `of`; reopens as soon as that is out of reach (failsafe-go).
    Quorum {
        /// How many good results close.
        good: u32,
        /// Of how many.
        of: u32,
    },
}

/// What a result is worth whose call began in an earlier generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Late {
    /// Nothing: it is stale (ours, gobreaker).
    Stale,
    /// As much as any other, in whatever state it arrives: a call from before the outage decides the probe,
    /// and gives back a slot it never had (resilience4j, failsafe-go, Polly).
    Counts,
}

/// What a neutral result is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Neutral {
    /// Nothing; a probe gives its slot back.
    Nothing,
    /// A success: a cancelled probe closes the breaker (Polly, failsafe-go).
    Success,
}

/// What becomes of the counts while OPEN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhileOpen {
    /// They stay as they were when the breaker opened.
    Frozen,
    /// They are emptied when it opens (gobreaker).
    Cleared,
    /// Results that arrive move them, never the state (resilience4j, failsafe-go).
    Counted,
}
