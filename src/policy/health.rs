//! The health of an upstream: a preference, never a gate.
//!
//! ```text
//!           degraded_after bad              unhealthy_after bad
//! HEALTHY ─────────────────────▶ DEGRADED ─────────────────────▶ UNHEALTHY
//!    ▲ ◀──────── good ───────────┘   ▲ ◀──── cooldown is over ────┘ │
//!    └──────────────────────────── good ────────────────────────────┘
//! ```

use super::signal::Signal;
use crate::units::{Duration, Timestamp};

/// How healthy an upstream is. Better is smaller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum State {
    /// Works.
    Healthy,
    /// Fails at times, or is back from being unhealthy.
    Degraded,
    /// Fails again and again.
    Unhealthy,
}

/// When an upstream's state moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Bad results in a row that make it degraded.
    pub degraded_after: u32,
    /// Bad results in a row that make it unhealthy.
    pub unhealthy_after: u32,
    /// How long it stays unhealthy without a good result.
    pub cooldown: Duration,
}

/// The health of one upstream.
#[derive(Clone, Debug)]
pub struct Health {
    state: State,
    failures: u32,
    until: Option<Timestamp>,
    last: Timestamp,
    /// When it last became unhealthy or ceased to be: results of calls begun before are stale.
    since: Timestamp,
}

/// A change of state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// The state before.
    pub from: State,
    /// The state after.
    pub to: State,
    /// When the cooldown ends, if it is unhealthy now.
    pub until: Option<Timestamp>,
}

impl State {
    /// The word in events.
    pub const fn label(self) -> &'static str {
        match self {
            State::Healthy => "HEALTHY",
            State::Degraded => "DEGRADED",
            State::Unhealthy => "UNHEALTHY",
        }
    }
}

impl Default for Config {
    /// Degraded after 3 bad results in a row, unhealthy after 5, for 60 s.
    fn default() -> Config {
        Config { degraded_after: 3, unhealthy_after: 5, cooldown: Duration::from_secs(60) }
    }
}

impl Default for Health {
    fn default() -> Health {
        Health {
            state: State::Healthy,
            failures: 0,
            until: None,
            last: Timestamp::ZERO,
            since: Timestamp::ZERO,
        }
    }
}

impl Health {
    /// The state now.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Bad results in a row.
    pub const fn failures(&self) -> u32 {
        self.failures
    }

    /// The last result that counted; the older, the staler what is known.
    pub const fn last(&self) -> Timestamp {
        self.last
    }

    /// When an unhealthy upstream becomes degraded by itself.
    pub const fn until(&self) -> Option<Timestamp> {
        self.until
    }

    /// Whether the result of a call that began at `began` is of an earlier time: it changes nothing.
    pub fn is_stale(&self, began: Timestamp) -> bool {
        began < self.since
    }

    /// Takes in the result of a call that began at `began`.
    pub fn record(
        &mut self,
        now: Timestamp,
        began: Timestamp,
        config: &Config,
        signal: Signal,
    ) -> Option<Move> {
        if self.is_stale(began) {
            return None;
        }
        match signal {
            Signal::Neutral => return None,
            Signal::Good => self.failures = 0,
            Signal::Bad => self.failures = self.failures.saturating_add(1),
        }
        self.last = now;
        let to = if self.failures == 0 {
            State::Healthy
        } else if self.failures >= config.unhealthy_after {
            State::Unhealthy
        } else if self.failures >= config.degraded_after {
            self.state.max(State::Degraded)
        } else {
            self.state
        };
        self.go(now, to, Some(now.after(config.cooldown)))
    }

    /// Lets the cooldown end, if it is over at `now`. One more bad result makes it unhealthy again.
    pub fn wake(&mut self, now: Timestamp) -> Option<Move> {
        if self.until.is_some_and(|until| until <= now) { self.go(now, State::Degraded, None) } else { None }
    }

    /// An operator declares it healthy.
    pub fn reset(&mut self, now: Timestamp) -> Option<Move> {
        self.failures = 0;
        self.go(now, State::Healthy, None)
    }

    fn go(&mut self, now: Timestamp, to: State, until: Option<Timestamp>) -> Option<Move> {
        if to == self.state {
            return None;
        }
        let from = std::mem::replace(&mut self.state, to);
        self.until = until.filter(|_| to == State::Unhealthy);
        if from == State::Unhealthy || to == State::Unhealthy {
            self.since = now;
        }
        Some(Move { from, to, until: self.until })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> Timestamp {
        Timestamp::ZERO.after(Duration::from_secs(secs))
    }

    fn after(signals: &[Signal]) -> Health {
        let mut health = Health::default();
        for signal in signals {
            health.record(at(0), at(0), &Config::default(), *signal);
        }
        health
    }

    #[test]
    fn five_bad_results_in_a_row_make_it_unhealthy() {
        assert_eq!(after(&[Signal::Bad; 2]).state(), State::Healthy);
        assert_eq!(after(&[Signal::Bad; 4]).state(), State::Degraded);
        assert_eq!(after(&[Signal::Bad; 5]).state(), State::Unhealthy);
    }

    #[test]
    fn a_rate_limit_between_two_failures_neither_counts_nor_resets() {
        let mut health = after(&[Signal::Bad; 4]);
        assert_eq!(health.record(at(1), at(1), &Config::default(), Signal::Neutral), None);
        assert_eq!(health.failures(), 4);
        health.record(at(1), at(1), &Config::default(), Signal::Bad);
        assert_eq!(health.state(), State::Unhealthy);
    }

    #[test]
    fn at_exactly_sixty_seconds_it_is_degraded_and_one_success_heals_it() {
        let mut health = after(&[Signal::Bad; 5]);
        assert_eq!(health.wake(Timestamp::from_nanos(at(60).nanos() - 1)), None);
        let back = health.wake(at(60)).unwrap();
        assert_eq!((back.from, back.to), (State::Unhealthy, State::Degraded));
        assert_eq!(
            health.record(at(61), at(60), &Config::default(), Signal::Good).unwrap().to,
            State::Healthy
        );
    }

    #[test]
    fn one_more_failure_after_the_cooldown_is_enough() {
        let mut health = after(&[Signal::Bad; 5]);
        health.wake(at(60));
        let moved = health.record(at(61), at(60), &Config::default(), Signal::Bad).unwrap();
        assert_eq!((moved.to, moved.until), (State::Unhealthy, Some(at(121))));
    }

    #[test]
    fn a_late_result_of_before_the_move_changes_nothing() {
        let mut health = after(&[Signal::Bad; 5]);
        health.wake(at(60));
        let late = |health: &mut Health, signal| health.record(at(61), at(59), &Config::default(), signal);
        assert_eq!(late(&mut health, Signal::Good), None);
        assert_eq!(late(&mut health, Signal::Bad), None);
        assert_eq!((health.state(), health.failures()), (State::Degraded, 5));
    }
}
