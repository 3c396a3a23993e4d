//! One page a breaker and a health state, as the gateway says they moved.

use crate::policy::{breaker, health};
use crate::units::Timestamp;

/// A breaker, as the gateway says it moved.
#[derive(Clone, Copy, Debug)]
pub struct BreakerPage {
    /// Its state.
    pub state: breaker::State,
    /// When it may be probed; `None` while it is OPEN is never.
    pub until: Option<Timestamp>,
    /// Since when.
    pub since: Timestamp,
    /// Its failures, after the last result that it was told; `None` after a move.
    pub failures: Option<u32>,
    /// Probes in flight since its last move, by the facts.
    pub probes: u32,
    /// How often it moved.
    pub moves: u32,
}

impl Default for BreakerPage {
    fn default() -> BreakerPage {
        BreakerPage {
            state: breaker::State::Closed,
            until: None,
            since: Timestamp::ZERO,
            failures: Some(0),
            probes: 0,
            moves: 0,
        }
    }
}

impl BreakerPage {
    /// Whether it lets nothing through at `at`.
    pub fn is_open_at(&self, at: Timestamp) -> bool {
        match self.state {
            breaker::State::Open => self.until.is_none_or(|until| until > at),
            breaker::State::ForcedOpen => true,
            breaker::State::Closed
            | breaker::State::HalfOpen
            | breaker::State::Disabled
            | breaker::State::MetricsOnly => false,
        }
    }
}

/// A health state, as the gateway says it moved.
#[derive(Clone, Copy, Debug)]
pub struct HealthPage {
    /// Its state.
    pub state: health::State,
    /// Bad results in a row, after the last one that it was told.
    pub failures: u32,
    /// When it last became unhealthy or ceased to be: what began before is of another time.
    pub since: Timestamp,
}

impl Default for HealthPage {
    fn default() -> HealthPage {
        HealthPage { state: health::State::Healthy, failures: 0, since: Timestamp::ZERO }
    }
}
