//! What passes between a breaker and its caller.

use crate::policy::signal::Signal;
use crate::units::{Duration, Timestamp};

/// When a call began, and in which generation of the breaker: what its result is judged by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Era {
    pub(super) generation: u32,
    pub(super) began: Timestamp,
}

impl Era {
    /// Of a call that began then, in this generation of its breaker.
    pub const fn of(generation: u32, began: Timestamp) -> Era {
        Era { generation, began }
    }

    /// The breaker's generation when the call began; each move of its state begins another.
    pub const fn generation(self) -> u32 {
        self.generation
    }

    /// When the call began.
    pub const fn began(self) -> Timestamp {
        self.began
    }
}

/// Leave to make one call. It is handed back exactly once, to [`Breaker::settle`] with the result or to
/// [`Breaker::release`] if the call was never made; one that is lost costs its slot until the probe timeout.
///
/// [`Breaker::settle`]: super::Breaker::settle
/// [`Breaker::release`]: super::Breaker::release
#[must_use = "a permit is settled with a result or released"]
#[derive(PartialEq, Eq, Debug)]
pub struct Permit {
    pub(super) era: Era,
    pub(super) role: Role,
}

/// Why a call was admitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The breaker was not in the way.
    Regular,
    /// The breaker is HALF_OPEN and wants to know.
    Probe,
}

impl Permit {
    /// When the call was admitted, and in which generation.
    pub const fn era(&self) -> Era {
        self.era
    }

    /// The generation in which the call was admitted.
    pub const fn generation(&self) -> u32 {
        self.era.generation
    }

    /// Why the call was admitted.
    pub const fn role(&self) -> Role {
        self.role
    }
}

/// The answer to a call that wants to pass.
#[derive(PartialEq, Eq, Debug)]
pub enum Admission {
    /// It may.
    Admitted(Permit),
    /// It may not, and this costs nothing.
    Refused {
        /// The first instant at which asking again can help if nothing is reported before;
        /// [`Timestamp::MAX`] if only a report or an operator can help.
        retry_at: Timestamp,
    },
}

/// How one call went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// What the result says about the route.
    pub signal: Signal,
    /// How long the call took.
    pub elapsed: Duration,
}
