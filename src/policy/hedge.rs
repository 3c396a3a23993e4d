//! When to start a second leg beside one that takes long.

use crate::units::Duration;

/// When to start another leg, and how many there may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hedge {
    /// From a leg's beginning to the next one's.
    pub after: After,
    /// Legs at once, the first included.
    pub legs_max: u32,
}

/// How long a leg is waited for before another is started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum After {
    /// So long.
    Fixed(Duration),
    /// As long as 95 % of the route's calls take, and at least this: a leg is hedged when it is slow for its
    /// route.
    P95 {
        /// At least.
        least: Duration,
    },
}

/// How long a leg on a route with this P95 latency is waited for.
pub fn delay(hedge: &Hedge, p95: Duration) -> Duration {
    match hedge.after {
        After::Fixed(length) => length,
        After::P95 { least } => p95.max(least),
    }
}
