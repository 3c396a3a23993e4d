//! Stand-in of the breaker until it is merged.
use super::signal::Signal;
use crate::units::{Duration, Timestamp};
#[derive(Clone, Debug)]
/// Knobs.
pub struct Config {
    /// Failures in a row that open it.
    pub failures: u32,
    /// How long it stays open.
    pub open_for: Duration,
}
impl Default for Config {
    fn default() -> Config {
        Config { failures: 3, open_for: Duration::from_secs(5) }
    }
}
/// The state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Calls pass.
    Closed,
    /// No call passes.
    Open,
    /// Probes pass.
    HalfOpen,
}
/// A change of state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transition {
    /// Before.
    pub from: State,
    /// After.
    pub to: State,
    /// The generation after.
    pub generation: u32,
    /// When it may be probed.
    pub until: Option<crate::units::Timestamp>,
}
/// A permit.
#[derive(Debug)]
#[must_use = "settle it"]
pub struct Permit {
    generation: u32,
}
/// Admission.
#[derive(Debug)]
pub enum Admission {
    /// Yes.
    Admitted(Permit),
    /// No.
    Refused {
        /// When.
        retry_at: Timestamp,
    },
}
/// A result.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// What.
    pub signal: Signal,
    /// How long.
    pub elapsed: Duration,
}
/// Status.
#[derive(Clone, Copy, Debug)]
pub struct Status {
    /// State.
    pub state: State,
    /// Generation.
    pub generation: u32,
    /// Failures.
    pub failures: u32,
    /// Retry.
    pub retry_at: Option<Timestamp>,
}
/// The breaker.
#[derive(Debug, Clone)]
pub struct Breaker {
    config: Config,
    state: State,
    generation: u32,
    failures: u32,
    until: Timestamp,
    probe: bool,
}
impl Permit {
    /// gen
    pub fn generation(&self) -> u32 {
        self.generation
    }
}
impl Breaker {
    /// New.
    pub fn new(config: &Config, _now: Timestamp) -> Breaker {
        Breaker {
            config: config.clone(),
            state: State::Closed,
            generation: 0,
            failures: 0,
            until: Timestamp::ZERO,
            probe: false,
        }
    }
    /// Permits.
    pub fn permits(&self, now: Timestamp) -> bool {
        match self.state {
            State::Closed => true,
            State::Open => now >= self.until,
            State::HalfOpen => !self.probe,
        }
    }
    /// Admit.
    pub fn admit(&mut self, now: Timestamp) -> (Admission, Option<Transition>) {
        if !self.permits(now) {
            return (Admission::Refused { retry_at: self.until }, None);
        }
        let mut t = None;
        if self.state == State::Open {
            t = Some(self.go(State::HalfOpen, None));
        }
        if self.state == State::HalfOpen {
            self.probe = true;
        }
        (Admission::Admitted(Permit { generation: self.generation }), t)
    }
    fn go(&mut self, to: State, until: Option<Timestamp>) -> Transition {
        let from = self.state;
        self.state = to;
        self.generation += 1;
        self.failures = 0;
        self.probe = false;
        if let Some(u) = until {
            self.until = u
        }
        Transition { from, to, generation: self.generation, until }
    }
    /// Settle.
    pub fn settle(&mut self, now: Timestamp, permit: Permit, sample: Sample) -> Option<Transition> {
        if permit.generation != self.generation {
            return None;
        }
        let half = self.state == State::HalfOpen;
        self.probe = false;
        match sample.signal {
            Signal::Neutral => None,
            Signal::Good => {
                self.failures = 0;
                half.then(|| self.go(State::Closed, None))
            }
            Signal::Bad => {
                self.failures += 1;
                (half || self.failures >= self.config.failures)
                    .then(|| self.go(State::Open, Some(now.after(self.config.open_for))))
            }
        }
    }
    /// Reset.
    pub fn reset(&mut self, _now: Timestamp) -> Option<Transition> {
        (self.state != State::Closed).then(|| self.go(State::Closed, None))
    }
    /// Status.
    pub fn status(&self, _now: Timestamp) -> Status {
        Status {
            state: self.state,
            generation: self.generation,
            failures: self.failures,
            retry_at: (self.state != State::Closed).then_some(self.until),
        }
    }
}

impl State {
    /// The word in events.
    pub const fn label(self) -> &'static str {
        match self {
            State::Closed => "CLOSED",
            State::Open => "OPEN",
            State::HalfOpen => "HALF_OPEN",
        }
    }
}
