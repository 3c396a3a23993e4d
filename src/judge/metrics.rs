//! What a run amounts to: counts, money and times, merged over seeds in seed order. Everything is counted from
//! facts where a fact exists; ratios are whole thousandths, and zero of nothing.

mod metric;

pub use metric::{Metric, Unit};

use super::book::{Book, CallPage, Invoice, Truth, Ways};
use super::laws::{Begun, Fit, Reply, Weighed};
use crate::gateway::{Candidate, Outcome, Verdict};
use crate::policy::breaker;
use crate::units::{BreakerId, CallId, Duration, Histogram, RequestId, TenantId, Timestamp, Total};

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

    /// A request came in.
    pub(super) fn arrived(&mut self, tenant: Option<TenantId>) {
        self.share(tenant).requests += 1;
    }

    /// An upstream took a call.
    pub(super) fn begun(&mut self, begun: &Begun<'_>) {
        let Some(page) = begun.page else { return };
        let leaves = page.ways == Ways::One && page.first_route.is_some_and(|first| first != begun.route);
        let share = self.share(page.payer.tenant);
        share.attempts += 1;
        share.retries += u64::from(page.attempts > 0);
        share.fell_back += u64::from(leaves);
    }

    /// The first output of a call left the upstream.
    pub(super) fn visible(&mut self, book: &Book<'_>, at: Timestamp, call: CallId) {
        let request = book.call(call).and_then(|page| book.request_of(page));
        let Some(page) = request.filter(|page| page.visible.is_none()) else { return };
        self.share(page.payer.tenant).first_visible.record(at.since(page.arrived).nanos());
    }

    /// A call is over and billed.
    pub(super) fn billed(&mut self, page: &CallPage, invoice: &Invoice) {
        let billed = invoice.billed.money;
        let share = self.share(page.payer.tenant);
        share.cost.add(billed);
        share.overbilled.add(billed.minus(page.worst_case.money));
        share.paid_without_answer.add(invoice.wasted);
    }

    /// A cancelled call will never be billed.
    pub(super) fn lost(&mut self, book: &Book<'_>, call: CallId) {
        let Some(page) = book.call(call) else { return };
        let share = self.share(page.payer.tenant);
        share.cost.add(page.worst_case.money);
        share.paid_without_answer.add(page.worst_case.money);
    }

    /// The gateway weighed the routes. Only the first look of a request counts.
    pub(super) fn considered(&mut self, book: &Book<'_>, weighed: &Weighed<'_>) {
        let Some(page) = book.request(weighed.request).filter(|page| page.looks == 0) else { return };
        let filtered = match weighed.fit {
            Fit::Exact => book.ineligible(weighed.request),
            Fit::Unclear => rightly_filtered(weighed),
        };
        self.share(page.payer.tenant).routes_excluded += u64::from(filtered);
    }

    /// A call was stopped.
    pub(super) fn cancelled(&mut self, book: &Book<'_>, call: CallId) {
        if let Some(page) = book.call(call) {
            self.share(page.payer.tenant).cancelled += 1;
        }
    }

    /// A request was answered.
    pub(super) fn replied(&mut self, book: &Book<'_>, reply: &Reply) {
        let Some(page) = book.request(reply.request) else { return };
        let share = self.share(page.payer.tenant);
        share.latency.record(reply.at.since(page.arrived).nanos());
        match reply.outcome {
            Outcome::Answered { .. } => share.answered += 1,
            Outcome::Terminal { .. } => share.terminal_stops += 1,
            Outcome::Truncated { .. }
            | Outcome::Exhausted { .. }
            | Outcome::BudgetExceeded { .. }
            | Outcome::AllGated { .. }
            | Outcome::NoEligibleRoute
            | Outcome::DeadlineExceeded { .. }
            | Outcome::Abandoned => {}
        }
        share.control_successes += u64::from(is_control_success(book, reply));
    }

    /// A cap refused a call.
    pub(super) fn denied(&mut self, book: &Book<'_>, request: RequestId) {
        self.share(tenant(book, request)).budget_denials += 1;
    }

    /// Another attempt is planned.
    pub(super) fn waits(&mut self, book: &Book<'_>, request: RequestId) {
        self.share(tenant(book, request)).waits += 1;
    }

    /// A breaker moved.
    pub(super) fn breaker_moved(&mut self, book: &Book<'_>, breaker: BreakerId, at: Timestamp) {
        self.close_breaker(book, breaker, at);
    }

    /// The run is over: breakers that are still OPEN were so until the last entry.
    pub(super) fn end(&mut self, book: &Book<'_>) {
        let (_, at) = book.last();
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

/// How many routes were excluded and had to be.
#[cold]
fn rightly_filtered(weighed: &Weighed<'_>) -> u32 {
    let is_rightly_out = |candidate: &&Candidate| {
        matches!(candidate.verdict, Verdict::Excluded { .. })
            && weighed.truths.get(candidate.route.index()).is_some_and(|truth| !truth.reasons.is_empty())
    };
    weighed.candidates.iter().filter(is_rightly_out).count() as u32
}

fn tenant(book: &Book<'_>, request: RequestId) -> Option<TenantId> {
    book.request(request).and_then(|page| page.payer.tenant)
}

/// Whether a refusal was right, by the facts: a terminal fault that is one, no route that may be used, a cap that
/// does not allow the call. Such a stop is the control at work, not a lack of availability.
fn is_control_success(book: &Book<'_>, reply: &Reply) -> bool {
    let request = reply.request;
    let is_eligible = |truth: Truth| truth.reasons.is_empty();
    match reply.outcome {
        Outcome::Terminal { .. } => book.request(request).is_some_and(|page| page.terminal.is_some()),
        Outcome::NoEligibleRoute => !book.routes().any(|route| is_eligible(book.truth(request, route))),
        Outcome::BudgetExceeded { .. } => book.routes().any(|route| {
            let wanted = book.worst_case(request, route);
            is_eligible(book.truth(request, route)) && book.refusal(request, wanted, reply.at).is_some()
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
    use crate::gateway::{Decision, Delivery};
    use crate::judge::play::*;
    use crate::policy::taxonomy::Class;

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
