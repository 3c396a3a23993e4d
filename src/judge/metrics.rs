//! What a run amounts to: counts, money and times, merged over seeds in seed order. Everything is counted from
//! facts where a fact exists; ratios are whole thousandths, and zero of nothing.

mod metric;

pub use metric::{Metric, Unit};

use super::book::{Book, CallPage, Truth, Ways};
use crate::gateway::{Action, Answer, Bill, Decision, Outcome, Receipt, Verdict};
use crate::policy::breaker;
use crate::policy::taxonomy::Class;
use crate::sim::{Entry, What};
use crate::units::{BreakerId, Duration, Histogram, RequestId, TenantId, Timestamp, Total};

/// What one run, or many, amounted to.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// One a tenant, and one for requests without a tenant, last.
    shares: Vec<Share>,
    /// Time that breakers were OPEN, all together.
    breaker_open: Duration,
}

/// What the requests of one tenant amounted to.
#[derive(Clone, Debug, Default)]
struct Share {
    requests: u64,
    answered: u64,
    attempts: u64,
    retries: u64,
    fell_back: u64,
    terminal_stops: u64,
    control_successes: u64,
    budget_denials: u64,
    routes_excluded: u64,
    waits: u64,
    cancelled: u64,
    cost: Total,
    paid_without_answer: Total,
    overbilled: Total,
    latency: Histogram,
    first_visible: Histogram,
}

impl Metrics {
    /// Nothing yet, for this many tenants.
    pub fn new(tenants: usize) -> Metrics {
        Metrics { shares: vec![Share::default(); tenants + 1], breaker_open: Duration::ZERO }
    }

    /// Adds what another run amounted to.
    pub fn merge(&mut self, other: &Metrics) {
        if self.shares.len() < other.shares.len() {
            self.shares.resize(other.shares.len(), Share::default());
        }
        for (mine, theirs) in self.shares.iter_mut().zip(&other.shares) {
            mine.merge(theirs);
        }
        self.breaker_open = self.breaker_open.plus(other.breaker_open);
    }

    /// The value of a metric in its [`Unit`], for one tenant or for all; `None` if there is nothing to tell:
    /// a quantile of nothing, or the breakers of one tenant.
    pub fn value(&self, metric: Metric, tenant: Option<TenantId>) -> Option<u128> {
        match tenant {
            Some(tenant) if metric == Metric::BreakerOpen || tenant.index() + 1 >= self.shares.len() => None,
            Some(tenant) => self.shares[tenant.index()].value(metric),
            None if metric == Metric::BreakerOpen => Some(u128::from(self.breaker_open.nanos())),
            None => {
                let mut all = Share::default();
                self.shares.iter().for_each(|share| all.merge(share));
                all.value(metric)
            }
        }
    }

    /// Looks at an entry, before the book takes it in.
    pub(super) fn look(&mut self, book: &Book<'_>, entry: &Entry<'_>) {
        match entry.what {
            What::Arrived { request, .. } => self.share(request.payer.tenant).requests += 1,
            What::CallBegun { request, route, .. } => {
                let Some(page) = book.request(request) else { return };
                let is_first = page.attempts == 0;
                let leaves = page.ways == Ways::One && page.first_route.is_some_and(|first| first != route);
                let share = self.share(page.request.payer.tenant);
                share.attempts += 1;
                share.retries += u64::from(!is_first);
                share.fell_back += u64::from(leaves);
            }
            What::CallVisible { call } => {
                let request = book.call(call).and_then(|page| book.request_of(page));
                let Some(page) = request.filter(|page| page.visible.is_none()) else { return };
                self.share(page.request.payer.tenant)
                    .first_visible
                    .record(entry.at.since(page.arrived).nanos());
            }
            What::CallEnded { call, truth, receipt, .. } => {
                if let Some(page) = book.call(call) {
                    self.bill(page, truth, receipt);
                }
            }
            What::CallLost { call } => {
                let Some(page) = book.call(call) else { return };
                let share = self.share(page.payer.tenant);
                share.cost.add(page.worst_case.money);
                share.paid_without_answer.add(page.worst_case.money);
            }
            What::Considered { request, candidates } => {
                let Some(page) = book.request(request).filter(|page| page.looks == 0) else { return };
                let is_out = |verdict| matches!(verdict, Verdict::Excluded { .. });
                let filtered = candidates.iter().filter(|candidate| {
                    is_out(candidate.verdict) && !book.truth(request, candidate.route).reasons.is_empty()
                });
                self.share(page.request.payer.tenant).routes_excluded += filtered.count() as u64;
            }
            What::Acted(action) => self.look_at_action(book, entry.at, action),
            What::Decided(decision) => self.look_at_decision(book, entry.at, decision),
            What::Declared(_) | What::Abandoned { .. } | What::Woke { .. } | What::Operated { .. } => {}
        }
    }

    fn bill(&mut self, page: &CallPage, truth: Option<Class>, receipt: &Receipt) {
        let billed = match receipt.bill {
            Bill::Exact(money) => money,
            Bill::Unknown => page.worst_case.money,
        };
        let is_answer = page.is_wanted() && truth.is_none() && receipt.result == Answer::Answered;
        let share = self.share(page.payer.tenant);
        share.cost.add(billed);
        share.overbilled.add(billed.minus(page.worst_case.money));
        if !is_answer {
            share.paid_without_answer.add(billed);
        }
    }

    fn look_at_action(&mut self, book: &Book<'_>, at: Timestamp, action: &Action) {
        match action {
            Action::Cancel { call, .. } => {
                if let Some(page) = book.call(*call) {
                    self.share(page.payer.tenant).cancelled += 1;
                }
            }
            Action::Reply { request, outcome, .. } => {
                let Some(page) = book.request(*request) else { return };
                let is_control = is_control_success(book, *request, outcome, at);
                let share = self.share(page.request.payer.tenant);
                share.latency.record(at.since(page.arrived).nanos());
                share.control_successes += u64::from(is_control);
                share.answered += u64::from(matches!(outcome, Outcome::Answered { .. }));
                share.terminal_stops += u64::from(matches!(outcome, Outcome::Terminal { .. }));
            }
            Action::Call(_) | Action::Commit { .. } | Action::Close { .. } => {}
        }
    }

    fn look_at_decision(&mut self, book: &Book<'_>, at: Timestamp, decision: &Decision) {
        let tenant = |request: RequestId| book.request(request).and_then(|page| page.request.payer.tenant);
        match decision {
            Decision::Denied { request, .. } => self.share(tenant(*request)).budget_denials += 1,
            Decision::RetryScheduled { request, .. } => self.share(tenant(*request)).waits += 1,
            Decision::BreakerMoved { breaker, .. } => self.close_breaker(book, *breaker, at),
            Decision::Reserved { .. }
            | Decision::Classified { .. }
            | Decision::Signalled { .. }
            | Decision::HealthMoved { .. }
            | Decision::Benched { .. }
            | Decision::Freed { .. }
            | Decision::Alerted { .. }
            | Decision::Settled { .. }
            | Decision::WaitRefused { .. }
            | Decision::TimedOut { .. } => {}
        }
    }

    /// The run is over: breakers that are still OPEN were so until the last entry.
    pub(super) fn end(&mut self, book: &Book<'_>) {
        let (_, at) = book.last.unwrap_or_default();
        (0..book.breakers().len() as u16).for_each(|id| self.close_breaker(book, BreakerId(id), at));
    }

    fn close_breaker(&mut self, book: &Book<'_>, id: BreakerId, at: Timestamp) {
        if let Some(page) = book.breaker(id).filter(|page| page.state == breaker::State::Open) {
            self.breaker_open = self.breaker_open.plus(at.since(page.since));
        }
    }

    fn share(&mut self, tenant: Option<TenantId>) -> &mut Share {
        let nobody = self.shares.len() - 1;
        let at = tenant.map_or(nobody, |tenant| tenant.index().min(nobody));
        &mut self.shares[at]
    }
}

impl Share {
    fn merge(&mut self, other: &Share) {
        self.requests += other.requests;
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
        self.cost = self.cost.plus(other.cost);
        self.paid_without_answer = self.paid_without_answer.plus(other.paid_without_answer);
        self.overbilled = self.overbilled.plus(other.overbilled);
        self.latency.merge(&other.latency);
        self.first_visible.merge(&other.first_visible);
    }

    fn value(&self, metric: Metric) -> Option<u128> {
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
            Metric::FallbackRate => thousandths(self.fell_back, self.requests),
            Metric::TerminalStops => count(self.terminal_stops),
            Metric::ControlSuccesses => count(self.control_successes),
            Metric::BudgetDenials => count(self.budget_denials),
            Metric::RoutesExcluded => count(self.routes_excluded),
            Metric::Waits => count(self.waits),
            Metric::Cancelled => count(self.cancelled),
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
            Metric::BreakerOpen => None,
        }
    }
}

/// Whether a refusal was right, by the facts: a terminal fault that is one, no route that may be used, a cap that
/// does not allow the call. Such a stop is the control at work, not a lack of availability.
fn is_control_success(book: &Book<'_>, request: RequestId, outcome: &Outcome, at: Timestamp) -> bool {
    let is_eligible = |truth: Truth| truth.reasons.is_empty();
    match outcome {
        Outcome::Terminal { .. } => book.request(request).is_some_and(|page| page.terminal.is_some()),
        Outcome::NoEligibleRoute => !book.routes().any(|route| is_eligible(book.truth(request, route))),
        Outcome::BudgetExceeded { .. } => book.routes().any(|route| {
            let wanted = book.worst_case(request, route);
            is_eligible(book.truth(request, route)) && book.refusal(request, wanted, at).is_some()
        }),
        Outcome::Answered { .. }
        | Outcome::Truncated { .. }
        | Outcome::Exhausted { .. }
        | Outcome::AllGated { .. }
        | Outcome::DeadlineExceeded { .. }
        | Outcome::Abandoned => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::Delivery;
    use crate::judge::play::*;

    fn check(metrics: &Metrics, expected: &[(Metric, &str)]) {
        for (metric, text) in expected {
            let value = metrics.value(*metric, None).map(|value| metric.unit().decimal(value));
            assert_eq!(value.as_deref(), Some(*text), "{}", metric.label());
        }
    }

    /// A fallback that is answered at 630 ms, after a failure that was billed.
    fn fell_back(play: &mut Play<'_>) {
        play.arrive(Delivery::Whole).consider(|_| ());
        let call = play.call(R, A);
        play.at(80).end(call, Some(Class::Overload), 20);
        let call = play.at(180).call(R, B);
        play.at(630).end(call, None, 16).reply(R, Outcome::Answered { route: B }).close(R);
    }

    #[test]
    fn a_run_is_counted_from_its_facts() {
        let expected = [
            (Metric::Requests, "1"),
            (Metric::Answered, "1"),
            (Metric::SuccessRatio, "1.000"),
            (Metric::Attempts, "2"),
            (Metric::Amplification, "2.000"),
            (Metric::Retries, "1"),
            (Metric::FallbackRate, "1.000"),
            (Metric::Cost, "0.036"),
            (Metric::CostPerSuccess, "0.036"),
            (Metric::PaidWithoutAnswer, "0.020"),
            (Metric::Overbilled, "0.004"),
            (Metric::RoutesExcluded, "1"),
            (Metric::LatencyP50, "630000000"),
            (Metric::LatencyMax, "630000000"),
            (Metric::BreakerOpen, "0"),
        ];
        check(&played(fell_back).metrics, &expected);
    }

    #[test]
    fn nothing_has_ratios_of_zero_and_no_quantile() {
        let metrics = played(|_| ()).metrics;
        check(&metrics, &[(Metric::SuccessRatio, "0.000"), (Metric::Amplification, "0.000")]);
        check(&metrics, &[(Metric::CostPerSuccess, "0.000"), (Metric::FallbackRate, "0.000")]);
        assert_eq!(metrics.value(Metric::LatencyP95, None), None);
    }

    #[test]
    fn runs_add_up() {
        let mut sum = played(fell_back).metrics;
        sum.merge(&played(answered).metrics);
        let expected = [
            (Metric::Requests, "2"),
            (Metric::Amplification, "1.500"),
            (Metric::FallbackRate, "0.500"),
            (Metric::Cost, "0.052"),
            (Metric::CostPerSuccess, "0.026"),
        ];
        check(&sum, &expected);
        assert_eq!(sum.value(Metric::Requests, Some(TenantId(0))), Some(2));
        assert_eq!(sum.value(Metric::Requests, Some(TenantId(1))), None, "there is no such tenant");
        assert_eq!(sum.value(Metric::BreakerOpen, Some(TenantId(0))), None);
    }

    #[test]
    fn a_right_refusal_is_control_and_a_wrong_one_is_not() {
        let refused = |truth: Option<Class>, outcome: Outcome| {
            played(move |play| {
                play.arrive(Delivery::Whole);
                let call = play.call(R, A);
                play.at(80).end(call, truth, 0).reply(R, outcome).close(R);
            })
            .metrics
        };
        let terminal = Outcome::Terminal { last: failure(Class::Auth) };
        check(&refused(Some(Class::Auth), terminal), &[(Metric::ControlSuccesses, "1")]);
        check(&refused(Some(Class::Overload), terminal), &[(Metric::ControlSuccesses, "0")]);
        check(&refused(None, Outcome::NoEligibleRoute), &[(Metric::ControlSuccesses, "0")]);
    }

    #[test]
    fn a_breaker_is_open_until_it_moves_or_the_run_ends() {
        let moved = |from, to| Decision::BreakerMoved {
            breaker: BreakerId(0),
            transition: breaker::Transition { from, to, generation: 1, until: Some(at(5_000)) },
        };
        let metrics = played(|play| {
            play.at(100).decide(moved(breaker::State::Closed, breaker::State::Open));
            play.at(5_100).decide(moved(breaker::State::Open, breaker::State::HalfOpen));
            play.at(5_200).decide(moved(breaker::State::HalfOpen, breaker::State::Open));
            play.at(6_000).arrive(Delivery::Whole);
        })
        .metrics;
        check(&metrics, &[(Metric::BreakerOpen, "5800000000")]);
    }
}
