//! What a stack of gateways amounts to as a whole.

use super::Metric;
use crate::units::{Money, Total};

/// What calls to upstreams amounted to, through all layers.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::judge) struct Together {
    calls_max: u32,
    for_nobody: u64,
    for_nobody_cost: Total,
}

impl Together {
    /// An upstream is called, for this time for one request of a caller.
    pub(in crate::judge) fn called(&mut self, calls: u32) {
        self.calls_max = self.calls_max.max(calls);
    }

    /// It is called for nobody.
    pub(in crate::judge) fn called_for_nobody(&mut self) {
        self.for_nobody += 1;
    }

    /// A call is billed for which nobody waits any more.
    pub(in crate::judge) fn pay_for_nobody(&mut self, billed: Money) {
        self.for_nobody_cost.add(billed);
    }

    pub(super) fn merge(&mut self, other: &Together) {
        self.calls_max = self.calls_max.max(other.calls_max);
        self.for_nobody += other.for_nobody;
        self.for_nobody_cost = self.for_nobody_cost.plus(other.for_nobody_cost);
    }

    pub(super) fn value(&self, metric: Metric) -> Option<u128> {
        let counted = [
            (Metric::CallsPerRequestMax, u128::from(self.calls_max)),
            (Metric::CallsForNobody, u128::from(self.for_nobody)),
            (Metric::CostForNobody, self.for_nobody_cost.picos()),
        ];
        counted.into_iter().find(|(named, _)| *named == metric).map(|(_, value)| value)
    }
}
