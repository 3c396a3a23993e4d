//! Synthetic upstreams: the truth behind a route, which no policy code can see.

use super::capacity::Capacity;
use crate::policy::prices::Usage;
use crate::policy::signal::Signal;
use crate::policy::taxonomy::{Class, Diagnosis};
use crate::units::real::Knots;
use crate::units::{Duration, Money, Name, Ratio, Timestamp};

/// What stands behind a route.
#[derive(Clone, Debug)]
pub struct Upstream {
    /// Replies, one a call, in order.
    pub script: Vec<Reply>,
    /// What comes after the script.
    pub then: Then,
    /// Faults laid over the script; the first that strikes replaces the reply.
    pub faults: Vec<Fault>,
    /// How much it can do; `None` for any amount.
    pub capacity: Option<Capacity>,
    /// What a cancel does.
    pub on_cancel: OnCancel,
}

/// What comes after the last reply of a script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Then {
    /// The last reply again.
    Repeat,
    /// No call is foreseen: one that comes gets the last reply and is a broken law.
    Fail,
}

/// One reply.
#[derive(Clone, Debug)]
pub struct Reply {
    /// From the call to its end.
    pub after: Latency,
    /// From the call to its first visible output, if it is a stream that gets so far.
    pub first_byte: Option<Latency>,
    /// From one sign of life of a stream to the next; without it there is none between the first output and
    /// the end.
    pub progress: Option<Duration>,
    /// The failure, if it is one.
    pub failure: Option<FailedReply>,
    /// Tokens used.
    pub usage: Used,
    /// What is billed.
    pub bill: Billed,
}

impl Reply {
    /// An answer after this long, whole, of all the tokens that the request may use.
    pub const fn answer(after: Duration) -> Reply {
        Reply {
            after: Latency::Fixed(after),
            first_byte: None,
            progress: None,
            failure: None,
            usage: Used::AsEstimated,
            bill: Billed::ByUsage,
        }
    }
}

/// A failure: what the gateway is told, and what it truly means.
#[derive(Clone, Copy, Debug)]
pub struct FailedReply {
    /// What the gateway is told; `None` if it takes the failure for an answer.
    pub told: Option<Diagnosis>,
    /// What it truly means.
    pub truth: Class,
    /// What it truly says about health, where that is not what its class says.
    pub health: Option<Signal>,
    /// Its name.
    pub code: Name,
    /// The HTTP status; `None` if there was no HTTP response.
    pub status: Option<u16>,
}

impl FailedReply {
    /// A failure that means what the gateway is told, without an HTTP response.
    pub const fn told_truly(diagnosis: Diagnosis) -> FailedReply {
        let Diagnosis { class, health, code, .. } = diagnosis;
        FailedReply { told: Some(diagnosis), truth: class, health, code, status: None }
    }
}

/// Tokens that a reply uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Used {
    /// All that the request may use.
    AsEstimated,
    /// These.
    Exactly(Usage),
}

/// What a reply is billed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Billed {
    /// Its tokens at the route's prices.
    ByUsage,
    /// This much.
    Exactly(Money),
}

/// A fault laid over an upstream.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The first instant at which it can strike.
    pub from: Timestamp,
    /// The first instant at which it cannot any more.
    pub to: Timestamp,
    /// How often it strikes.
    pub rate: Ratio,
    /// What is replied instead.
    pub reply: Reply,
}

/// What a cancel does.
#[derive(Clone, Copy, Debug)]
pub struct OnCancel {
    /// From the cancel to the receipt; `None` if none ever comes.
    pub receipt: Option<Duration>,
    /// What is billed.
    pub bill: CancelBill,
}

/// What a cancelled call is billed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CancelBill {
    /// Nothing.
    Nothing,
    /// The share of the full bill that had passed of its time.
    Elapsed,
    /// The full bill.
    Everything,
    /// The receipt does not say.
    Unknown,
}

impl Default for OnCancel {
    /// A receipt at once, for the full bill: the pessimistic case.
    fn default() -> OnCancel {
        OnCancel { receipt: Some(Duration::ZERO), bill: CancelBill::Everything }
    }
}

/// A time that may be drawn.
#[derive(Clone, Debug)]
pub enum Latency {
    /// It never comes.
    Never,
    /// Always this.
    Fixed(Duration),
    /// Anything from the first to the second, both included.
    Uniform(Duration, Duration),
    /// From a table.
    Table(Knots),
}

impl Latency {
    /// The time for a uniform `draw`; `None` if it never comes.
    pub fn at(&self, draw: u64) -> Option<Duration> {
        self.drawn(|| draw)
    }

    /// The same, of a number that is drawn only if it is needed.
    pub(super) fn drawn(&self, draw: impl FnOnce() -> u64) -> Option<Duration> {
        match self {
            Latency::Never => None,
            Latency::Fixed(d) => Some(*d),
            Latency::Uniform(low, high) => {
                let width = (high.nanos() - low.nanos()).saturating_add(1);
                Some(Duration::from_nanos(low.nanos() + crate::units::draw::below(draw(), width)))
            }
            Latency::Table(knots) => Some(Duration::from_nanos(knots.at((draw() >> 32) as u32))),
        }
    }

    /// The longest time that it can be; of what never comes, none at all.
    pub fn longest(&self) -> Duration {
        match self {
            Latency::Never => Duration::ZERO,
            Latency::Fixed(length) | Latency::Uniform(_, length) => *length,
            Latency::Table(knots) => Duration::from_nanos(knots.at(u32::MAX)),
        }
    }
}
