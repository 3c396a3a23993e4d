//! What a route has of its own, where the policy has something else for all.

use super::policy::{Policy, Timeouts};
use crate::policy::backoff::Backoff;

/// What the policy is for one route, field by field; what is `None` is as in [`Policy`]. A route gets it once, by its
/// provider and model; what its breaker has of its own belongs to its fault domain, [`Registry::own_breakers`].
///
/// [`Registry::own_breakers`]: super::Registry::own_breakers
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Profile {
    /// Calls that a request may make on the route, the first included.
    pub calls_per_route_max: Option<u32>,
    /// The wait after a failure on the route.
    pub backoff: Option<Backoff>,
    /// When we stop a call to the route.
    pub timeouts: Option<Timeouts>,
}

impl Profile {
    /// Calls that a request may make on the route under this policy.
    pub fn calls_per_route_max(&self, policy: &Policy) -> u32 {
        self.calls_per_route_max.unwrap_or(policy.retry.calls_per_route_max)
    }

    /// The wait after a failure on the route under this policy.
    pub fn backoff<'p>(&'p self, policy: &'p Policy) -> &'p Backoff {
        self.backoff.as_ref().unwrap_or(&policy.retry.backoff)
    }

    /// When a call to the route is stopped under this policy.
    pub fn timeouts<'p>(&'p self, policy: &'p Policy) -> &'p Timeouts {
        self.timeouts.as_ref().unwrap_or(&policy.timeouts)
    }
}
