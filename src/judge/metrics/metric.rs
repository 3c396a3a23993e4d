//! The names of metrics, and how their values read.

use crate::units::{Duration, Money, Total};

macro_rules! metrics {
    ($(#[doc = $doc:literal] $metric:ident $label:literal $unit:ident)+) => {
        /// A number that a run amounts to.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Metric { $(#[doc = $doc] $metric),+ }

        impl Metric {
            /// Every metric, in the order in which they are told.
            pub const ALL: &[Metric] = &[$(Metric::$metric),+];

            /// The stable word in scenario files and summaries.
            pub const fn label(self) -> &'static str {
                match self { $(Metric::$metric => $label),+ }
            }

            /// What it says.
            pub const fn sentence(self) -> &'static str {
                match self { $(Metric::$metric => $doc.trim_ascii()),+ }
            }

            /// What it is counted in.
            pub const fn unit(self) -> Unit {
                match self { $(Metric::$metric => Unit::$unit),+ }
            }
        }
    };
}

metrics! {
    /// Requests that arrived.
    Requests "requests" Count
    /// Requests that were answered.
    Answered "answered" Count
    /// Answered requests of all.
    SuccessRatio "success_ratio" Ratio
    /// Calls to upstreams.
    Attempts "attempts" Count
    /// Calls a request.
    Amplification "amplification" Ratio
    /// Calls after the first of their request that began beside no other.
    Retries "retries" Count
    /// Requests that were called on more than one route, of all.
    FallbackRate "fallback_rate" Ratio
    /// Requests that ended with a terminal fault.
    TerminalStops "terminal_stops" Count
    /// Requests that ended with a terminal fault, of all.
    TerminalStopRate "terminal_stop_rate" Ratio
    /// Refusals that were right by the facts: apart from availability.
    ControlSuccesses "control_successes" Count
    /// Requests that were answered or rightly refused, of all: a refusal that is right is no failure.
    Availability "availability" Ratio
    /// Calls that a cap refused.
    BudgetDenials "budget_denials" Count
    /// Ineligible routes that were rightly filtered, at the first look of each request.
    RoutesExcluded "routes_excluded" Count
    /// Backoffs that were slept.
    Waits "waits" Count
    /// Calls that were cancelled.
    Cancelled "cancelled" Count
    /// Calls that began beside another of their request.
    Hedges "hedges" Count
    /// Hedges that a limit forbade.
    HedgesSkipped "hedges_skipped" Count
    /// What legs were billed that lost.
    HedgeWaste "hedge_waste_usd" Money
    /// Tokens of legs that lost.
    HedgeWasteTokens "hedge_waste_tokens" Count
    /// Tokens of legs that won: of requests with several, the answer's.
    HedgeWinnerTokens "hedge_winner_tokens" Count
    /// How long legs were in flight that lost, until they ended or were cancelled.
    HedgeWasteTime "hedge_waste_ns" Time
    /// Tokens that calls were billed for after we stopped them.
    StoppedTokens "stopped_tokens" Count
    /// What calls were billed after we stopped them.
    StoppedCost "stopped_usd" Money
    /// What all calls were billed, for each dollar of the calls whose answer was used.
    CostMultiplier "cost_multiplier" Ratio
    /// Requests that waited for a slot, as often as they did.
    Queued "queued" Count
    /// Requests that ended for want of a healthy route.
    NoCandidate "no_candidate" Count
    /// Requests that a blown fuse stopped.
    FuseStops "fuse_stops" Count
    /// Jobs that began: tasks of several steps.
    Tasks "tasks" Count
    /// Jobs of which every step was answered.
    TasksAnswered "tasks_answered" Count
    /// The most jobs that failed one after the other, in the order of their ends.
    TasksFailedInARowMax "tasks_failed_in_a_row_max" Count
    /// What all calls were billed; the worst case where nobody says.
    Cost "cost_usd" Money
    /// The cost of all calls, shared by the answered requests.
    CostPerSuccess "cost_per_success_usd" Money
    /// The cost of all calls, shared by the jobs of which every step was answered.
    CostPerTask "cost_per_task_usd" Money
    /// What calls were billed that gave no answer.
    PaidWithoutAnswer "paid_without_answer_usd" Money
    /// What was billed above the worst case.
    Overbilled "overbilled_usd" Money
    /// From arrival to reply, whatever the reply: the median.
    LatencyP50 "latency_p50_ns" Time
    /// From arrival to reply: the 95th percentile.
    LatencyP95 "latency_p95_ns" Time
    /// From arrival to reply: the 99th percentile.
    LatencyP99 "latency_p99_ns" Time
    /// From arrival to reply: the longest.
    LatencyMax "latency_max_ns" Time
    /// From arrival to the first visible output: the median.
    FirstVisibleP50 "first_visible_p50_ns" Time
    /// From arrival to the first visible output: the 95th percentile.
    FirstVisibleP95 "first_visible_p95_ns" Time
    /// From arrival to the first visible output: the 99th percentile.
    FirstVisibleP99 "first_visible_p99_ns" Time
    /// From arrival to the first visible output: the longest.
    FirstVisibleMax "first_visible_max_ns" Time
    /// From a call to its end, whatever came of it, if it ended by itself: the median.
    CallP50 "call_p50_ns" Time
    /// From a call to its end: the 95th percentile.
    CallP95 "call_p95_ns" Time
    /// From a call to its end: the 99th percentile.
    CallP99 "call_p99_ns" Time
    /// Probes of half-open breakers that were answered.
    ProbesGood "probes_good" Count
    /// Probes of half-open breakers that failed.
    ProbesFailed "probes_failed" Count
    /// Time that breakers were open, all together.
    BreakerOpen "breaker_open_ns" Time
    /// The most calls to upstreams that one request of a caller led to, through all layers; only if there are several.
    CallsPerRequestMax "calls_per_request_max" Count
    /// Calls to upstreams for which some layer above no longer waited when they began; only if there are several layers.
    CallsForNobody "calls_for_nobody" Count
    /// What calls to upstreams were billed that went on when some layer above no longer waited.
    CostForNobody "cost_for_nobody_usd" Money
}

/// What a metric is counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Whole numbers.
    Count,
    /// Thousandths, rounded down.
    Ratio,
    /// Pico-USD.
    Money,
    /// Nanoseconds.
    Time,
}

impl Metric {
    /// Whether it belongs to no tenant.
    pub fn is_of_the_run(self) -> bool {
        let whole = [
            Metric::BreakerOpen,
            Metric::Tasks,
            Metric::TasksAnswered,
            Metric::TasksFailedInARowMax,
            Metric::CostPerTask,
            Metric::CallP50,
            Metric::CallP95,
            Metric::CallP99,
        ];
        whole.contains(&self) || self.is_of_a_stack()
    }

    /// Whether it is only told of several layers.
    pub fn is_of_a_stack(self) -> bool {
        [Metric::CallsPerRequestMax, Metric::CallsForNobody, Metric::CostForNobody].contains(&self)
    }

    /// Whether it is told of each route.
    pub fn is_of_a_route(self) -> bool {
        [Metric::Attempts, Metric::Cost, Metric::CallP50, Metric::CallP95, Metric::CallP99].contains(&self)
    }

    /// The metric of this name.
    pub fn named(label: &str) -> Option<Metric> {
        Metric::ALL.iter().copied().find(|metric| metric.label() == label)
    }
}

impl Unit {
    /// A value as a decimal text: `2`, `2.900`, `0.050`, `630000000`.
    pub fn decimal(self, value: u128) -> String {
        match self {
            Unit::Count | Unit::Time => value.to_string(),
            Unit::Ratio => format!("{}.{:03}", value / 1000, value % 1000),
            Unit::Money => Total::from_picos(value).to_string(),
        }
    }

    /// A value, or a difference of values, for a reader: `2`, `2.900`, `$0.050`, `630 ms`.
    pub fn words(self, value: i128) -> String {
        let (sign, size) = (if value < 0 { "-" } else { "" }, value.unsigned_abs());
        let short = u64::try_from(size).unwrap_or(u64::MAX);
        match self {
            Unit::Count | Unit::Ratio => format!("{sign}{}", self.decimal(size)),
            Unit::Money => format!("{sign}${}", Money::from_picos(short)),
            Unit::Time => format!("{sign}{}", Duration::from_nanos(short)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_found_by_its_name() {
        for metric in Metric::ALL {
            assert_eq!(Metric::named(metric.label()), Some(*metric));
        }
        assert_eq!(Metric::named("turns"), None);
    }

    #[test]
    fn a_value_reads_in_its_unit() {
        assert_eq!(Unit::Ratio.decimal(2_905), "2.905");
        assert_eq!(Unit::Money.decimal(16_000_000_000), "0.016");
        assert_eq!(Unit::Money.words(-16_000_000_000), "-$0.016");
        assert_eq!(Unit::Time.words(630_000_000), "630 ms");
    }
}
