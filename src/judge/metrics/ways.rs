//! What the calls to one route amount to.

use super::Metric;
use crate::units::{Duration, Histogram, Money, Total};

/// What the calls to one route amounted to.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    pub(super) calls: u64,
    cost: Total,
    /// How long calls took that ended by themselves, whatever came of them.
    length: Histogram,
}

impl Way {
    /// A call is billed; how long it took, if it ended by itself.
    #[inline(always)]
    pub(super) fn billed(&mut self, money: Money, length: Option<Duration>) {
        self.cost.add(money);
        if let Some(length) = length {
            self.length.record(length.nanos());
        }
    }

    pub(super) fn merge(&mut self, other: &Way) {
        self.calls += other.calls;
        self.cost = self.cost.plus(other.cost);
        self.length.merge(&other.length);
    }

    /// `None` of what is not told of a route, or if nothing was measured.
    pub(super) fn value(&self, metric: Metric) -> Option<u128> {
        let counted = [(Metric::Attempts, u128::from(self.calls)), (Metric::Cost, self.cost.picos())];
        let quantiles = [(Metric::CallP50, 500), (Metric::CallP95, 950), (Metric::CallP99, 990)];
        let counted = counted.into_iter().find(|(named, _)| *named == metric).map(|(_, n)| n);
        let quantile = quantiles.into_iter().find(|(named, _)| *named == metric);
        counted.or_else(|| quantile.and_then(|(_, part)| self.length.quantile(part)).map(u128::from))
    }
}
