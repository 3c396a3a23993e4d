//! What a run amounts to: counts, money and times, merged over seeds in seed order. Everything is counted from
//! facts where a fact exists; ratios are whole thousandths, and zero of nothing.

mod metric;
mod share;
mod tasks;

pub use metric::{Metric, Unit};

use super::book::{Book, CallPage, Invoice, Truth, Ways, Worth};
use super::laws::{Begun, Fit, Reply, Weighed, is_stopped};
use crate::gateway::{Candidate, Outcome, Verdict};
use crate::policy::breaker;
use crate::sim::TaskEnd;
use crate::units::{BreakerId, CallId, Duration, RequestId, TenantId, Timestamp};
use share::Share;
use tasks::Tasks;

/// What one run, or many, amounted to.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// One a tenant, and one for requests without a tenant, last.
    shares: Vec<Share>,
    /// Time that breakers were OPEN, all together.
    breaker_open: Duration,
    tasks: Tasks,
}

impl Metrics {
    /// Nothing yet, for this many tenants.
    pub fn new(tenants: usize) -> Metrics {
        Metrics { shares: vec![Share::default(); tenants + 1], ..Metrics::default() }
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
        self.tasks.merge(&other.tasks);
    }

    /// The value of a metric in its [`Unit`], for one tenant or for all; `None` if there is nothing to tell:
    /// a quantile of nothing, or what belongs to no tenant for one.
    pub fn value(&self, metric: Metric, tenant: Option<TenantId>) -> Option<u128> {
        match tenant {
            Some(tenant) if metric.is_of_the_run() || tenant.index() + 1 >= self.shares.len() => None,
            Some(tenant) => self.shares[tenant.index()].value(metric),
            None if metric == Metric::BreakerOpen => Some(u128::from(self.breaker_open.nanos())),
            None if metric.is_of_the_run() => self.tasks.value(metric),
            None => {
                let mut all = Share::default();
                self.shares.iter().for_each(|share| all.merge(share));
                all.value(metric)
            }
        }
    }

    /// A task began.
    pub(super) fn task_began(&mut self) {
        self.tasks.begin();
    }

    /// A task is over.
    pub(super) fn task_ended(&mut self, end: TaskEnd) {
        self.tasks.end(end);
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
        share.retries += u64::from(page.attempts > 0 && page.legs == 0);
        share.hedges += u64::from(page.legs > 0);
        share.fell_back += u64::from(leaves);
    }

    /// The first output of a call left the upstream.
    pub(super) fn visible(&mut self, book: &Book<'_>, at: Timestamp, call: CallId) {
        let request = book.call(call).and_then(|page| book.request_of(page));
        let Some(page) = request.filter(|page| page.visible.is_none()) else { return };
        self.share(page.payer.tenant).first_visible.record(at.since(page.arrived).nanos());
    }

    /// A call is over and billed.
    pub(super) fn billed(&mut self, page: &CallPage, invoice: &Invoice, now: Timestamp) {
        let billed = invoice.billed.money;
        let share = self.share(page.payer.tenant);
        share.cost.add(billed);
        share.overbilled.add(billed.minus(page.worst_case.money));
        share.paid_without_answer.add(invoice.wasted());
        match invoice.worth {
            Worth::Used => share.useful.add(billed),
            Worth::Lost => share.waste(invoice.billed, page.length(now)),
            Worth::Wasted => {}
        }
    }

    /// A cancelled call will never be billed.
    pub(super) fn lost(&mut self, book: &Book<'_>, call: CallId, now: Timestamp) {
        let Some(page) = book.call(call) else { return };
        let share = self.share(page.payer.tenant);
        share.cost.add(page.worst_case.money);
        share.paid_without_answer.add(page.worst_case.money);
        match page.worth() {
            Worth::Lost => share.waste(page.worst_case, page.length(now)),
            Worth::Used | Worth::Wasted => {}
        }
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
            Outcome::NoCandidate { .. } => share.no_candidate += 1,
            Outcome::Stopped { .. } => share.fuse_stops += 1,
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

    /// No other leg was started beside a slow one.
    pub(super) fn hedge_skipped(&mut self, book: &Book<'_>, request: RequestId) {
        self.share(tenant(book, request)).hedges_skipped += 1;
    }

    /// A request waits for a slot.
    pub(super) fn queued(&mut self, book: &Book<'_>, request: RequestId) {
        self.share(tenant(book, request)).queued += 1;
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
        Outcome::Stopped { reason, .. } => is_stopped(book, request, reason),
        Outcome::NoEligibleRoute => !book.routes().any(|route| is_eligible(book.truth(request, route))),
        Outcome::BudgetExceeded { .. } => book.routes().any(|route| {
            let wanted = book.worst_case(request, route);
            is_eligible(book.truth(request, route)) && book.refusal(request, wanted, reply.at).is_some()
        }),
        Outcome::Answered { .. }
        | Outcome::Truncated { .. }
        | Outcome::Exhausted { .. }
        | Outcome::AllGated { .. }
        | Outcome::NoCandidate { .. }
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
    use crate::sim::{TaskName, What};
    use crate::units::TaskId;

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

    /// Three legs at $0.036 each: the second answers at 700 ms, the others are cancelled then and billed in full
    /// 300 ms later.
    fn hedged(play: &mut Play<'_>) {
        play.arrive(Delivery::Whole);
        let slow = play.call(R, A);
        let quick = play.at(200).call(R, B);
        let third = play.at(400).call(R, A);
        play.at(700).end(quick, None, 36).reply(R, Outcome::Answered { route: B });
        play.cancel(slow).cancel(third);
        let cancelled = Some(Class::Cancelled);
        play.at(1_000).end(slow, cancelled, 36).end(third, cancelled, 36).close(R);
    }

    #[test]
    fn a_hedge_shows_its_cost_and_what_the_losers_took() {
        let expected = [
            (Metric::Attempts, "3"),
            (Metric::Hedges, "2"),
            (Metric::Retries, "0"),
            (Metric::Cancelled, "2"),
            (Metric::Cost, "0.108"),
            (Metric::CostMultiplier, "3.000"),
            (Metric::HedgeWaste, "0.072"),
            (Metric::HedgeWasteTokens, "18000"),
            (Metric::HedgeWasteTime, "1000000000"),
            (Metric::PaidWithoutAnswer, "0.072"),
        ];
        check(&played(hedged).metrics, &expected);
    }

    #[test]
    fn the_longest_row_of_failed_tasks_is_counted_in_the_order_of_their_ends() {
        let turns = |ends: &'static [TaskEnd]| {
            played(|play| {
                for end in ends {
                    let (task, name) = (TaskId(0), TaskName { kind: 0, ordinal: Some(0) });
                    play.say(What::TaskBegan { task, name }).say(What::TaskEnded { task, end: *end });
                }
            })
            .metrics
        };
        use TaskEnd::{Answered, Failed};
        let mut sum = turns(&[Failed, Answered, Failed, Failed, Failed, Answered, Failed]);
        let expected =
            [(Metric::Tasks, "7"), (Metric::TasksAnswered, "2"), (Metric::TasksFailedInARowMax, "3")];
        check(&sum, &expected);
        sum.merge(&turns(&[Failed, Failed, Failed]));
        check(&sum, &[(Metric::Tasks, "10"), (Metric::TasksFailedInARowMax, "3")]);
        assert_eq!(sum.value(Metric::Tasks, Some(TenantId(0))), None, "tasks belong to no tenant");
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
