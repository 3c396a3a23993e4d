//! What the requests of one tenant amount to.

use super::Metric;
use crate::policy::ledger::Amount;
use crate::units::{Duration, Histogram, Total};

/// What the requests of one tenant amounted to.
#[derive(Clone, Debug, Default)]
pub(super) struct Share {
    pub(super) requests: u64,
    /// Those that came to the gateway that calls upstreams: the same, unless there are layers above it.
    pub(super) reached: u64,
    pub(super) answered: u64,
    pub(super) attempts: u64,
    pub(super) retries: u64,
    pub(super) fell_back: u64,
    pub(super) terminal_stops: u64,
    pub(super) control_successes: u64,
    pub(super) budget_denials: u64,
    pub(super) routes_excluded: u64,
    pub(super) waits: u64,
    pub(super) cancelled: u64,
    pub(super) hedges: u64,
    pub(super) hedges_skipped: u64,
    pub(super) hedge_waste: Total,
    pub(super) hedge_waste_tokens: u64,
    pub(super) hedge_waste_time: Duration,
    pub(super) hedge_winner_tokens: u64,
    /// What calls were billed that we stopped.
    pub(super) stopped: Total,
    pub(super) stopped_tokens: u64,
    pub(super) probes_good: u64,
    pub(super) probes_failed: u64,
    pub(super) queued: u64,
    pub(super) no_candidate: u64,
    pub(super) fuse_stops: u64,
    /// The cost of calls whose answer was used.
    pub(super) useful: Total,
    pub(super) cost: Total,
    pub(super) paid_without_answer: Total,
    pub(super) overbilled: Total,
    pub(super) latency: Histogram,
    pub(super) first_visible: Histogram,
}

impl Share {
    /// A leg lost.
    pub(super) fn waste(&mut self, billed: Amount, length: Duration) {
        self.hedge_waste.add(billed.money);
        self.hedge_waste_tokens += billed.tokens;
        self.hedge_waste_time = self.hedge_waste_time.plus(length);
    }

    /// What callers asked and got here, and what upstreams did for it there.
    pub(super) fn over(&self, upstreams: &Share) -> Share {
        Share {
            requests: self.requests,
            answered: self.answered,
            terminal_stops: self.terminal_stops,
            control_successes: self.control_successes,
            no_candidate: self.no_candidate,
            fuse_stops: self.fuse_stops,
            latency: self.latency.clone(),
            first_visible: self.first_visible.clone(),
            ..upstreams.clone()
        }
    }

    pub(super) fn merge(&mut self, other: &Share) {
        self.requests += other.requests;
        self.reached += other.reached;
        self.answered += other.answered;
        self.attempts += other.attempts;
        self.retries += other.retries;
        self.fell_back += other.fell_back;
        self.terminal_stops += other.terminal_stops;
        self.control_successes += other.control_successes;
        self.budget_denials += other.budget_denials;
        self.routes_excluded += other.routes_excluded;
        self.waits += other.waits;
        self.cancelled += other.cancelled;
        self.hedges += other.hedges;
        self.hedges_skipped += other.hedges_skipped;
        self.hedge_waste = self.hedge_waste.plus(other.hedge_waste);
        self.hedge_waste_tokens += other.hedge_waste_tokens;
        self.hedge_waste_time = self.hedge_waste_time.plus(other.hedge_waste_time);
        self.hedge_winner_tokens += other.hedge_winner_tokens;
        self.stopped = self.stopped.plus(other.stopped);
        self.stopped_tokens += other.stopped_tokens;
        self.probes_good += other.probes_good;
        self.probes_failed += other.probes_failed;
        self.queued += other.queued;
        self.no_candidate += other.no_candidate;
        self.fuse_stops += other.fuse_stops;
        self.useful = self.useful.plus(other.useful);
        self.cost = self.cost.plus(other.cost);
        self.paid_without_answer = self.paid_without_answer.plus(other.paid_without_answer);
        self.overbilled = self.overbilled.plus(other.overbilled);
        self.latency.merge(&other.latency);
        self.first_visible.merge(&other.first_visible);
    }

    pub(super) fn value(&self, metric: Metric) -> Option<u128> {
        let count = |n: u64| Some(u128::from(n));
        let thousandths = |part: u64, whole: u64| {
            Some((u128::from(part) * 1000).checked_div(u128::from(whole)).unwrap_or_default())
        };
        let quantile = |histogram: &Histogram, per_mille| histogram.quantile(per_mille).map(u128::from);
        let max = |histogram: &Histogram| Some(u128::from(histogram.max())).filter(|_| histogram.total() > 0);
        match metric {
            Metric::Requests => count(self.requests),
            Metric::Answered => count(self.answered),
            Metric::SuccessRatio => thousandths(self.answered, self.requests),
            Metric::Attempts => count(self.attempts),
            Metric::Amplification => thousandths(self.attempts, self.requests),
            Metric::Retries => count(self.retries),
            Metric::FallbackRate => thousandths(self.fell_back, self.reached),
            Metric::TerminalStops => count(self.terminal_stops),
            Metric::TerminalStopRate => thousandths(self.terminal_stops, self.requests),
            Metric::ControlSuccesses => count(self.control_successes),
            Metric::Availability => thousandths(self.answered + self.control_successes, self.requests),
            Metric::BudgetDenials => count(self.budget_denials),
            Metric::RoutesExcluded => count(self.routes_excluded),
            Metric::Waits => count(self.waits),
            Metric::Cancelled => count(self.cancelled),
            Metric::Hedges => count(self.hedges),
            Metric::HedgesSkipped => count(self.hedges_skipped),
            Metric::HedgeWaste => Some(self.hedge_waste.picos()),
            Metric::HedgeWasteTokens => count(self.hedge_waste_tokens),
            Metric::HedgeWasteTime => count(self.hedge_waste_time.nanos()),
            Metric::HedgeWinnerTokens => count(self.hedge_winner_tokens),
            Metric::StoppedTokens => count(self.stopped_tokens),
            Metric::StoppedCost => Some(self.stopped.picos()),
            Metric::ProbesGood => count(self.probes_good),
            Metric::ProbesFailed => count(self.probes_failed),
            Metric::Queued => count(self.queued),
            Metric::NoCandidate => count(self.no_candidate),
            Metric::FuseStops => count(self.fuse_stops),
            Metric::CostMultiplier => {
                let picos = self.cost.picos().saturating_mul(1000);
                Some(picos.checked_div(self.useful.picos()).unwrap_or_default())
            }
            Metric::Cost => Some(self.cost.picos()),
            Metric::CostPerSuccess => Some(self.cost.per(self.answered).unwrap_or_default().picos()),
            Metric::PaidWithoutAnswer => Some(self.paid_without_answer.picos()),
            Metric::Overbilled => Some(self.overbilled.picos()),
            Metric::LatencyP50 => quantile(&self.latency, 500),
            Metric::LatencyP95 => quantile(&self.latency, 950),
            Metric::LatencyP99 => quantile(&self.latency, 990),
            Metric::LatencyMax => max(&self.latency),
            Metric::FirstVisibleP50 => quantile(&self.first_visible, 500),
            Metric::FirstVisibleP95 => quantile(&self.first_visible, 950),
            Metric::FirstVisibleP99 => quantile(&self.first_visible, 990),
            Metric::FirstVisibleMax => max(&self.first_visible),
            Metric::BreakerOpen
            | Metric::Tasks
            | Metric::TasksAnswered
            | Metric::TasksFailedInARowMax
            | Metric::CostPerTask
            | Metric::CallP50
            | Metric::CallP95
            | Metric::CallP99
            | Metric::CallsPerRequestMax
            | Metric::CallsForNobody
            | Metric::CostForNobody => None,
        }
    }
}
