//! What a run amounts to: counts, money and times, merged over seeds in seed order. Everything is counted from
//! facts where a fact exists; ratios are whole thousandths, and zero of nothing.

mod metric;
mod share;
mod tasks;
mod together;
mod ways;

pub use metric::{Metric, Unit};

use super::book::{Book, CallPage, Ended, Invoice, RequestPage, Truth, Ways, Worth};
use super::laws::{Reply, is_stopped};
use crate::gateway::Outcome;
use crate::policy::breaker;
use crate::sim::TaskEnd;
use crate::units::{BreakerId, CallId, Duration, RequestId, RouteId, TenantId, Timestamp};
use share::Share;
use tasks::Tasks;
pub(super) use together::Together;
use ways::Way;

/// A part of a run that is measured by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The requests of a tenant.
    Tenant(TenantId),
    /// The calls to a route.
    Route(RouteId),
}

/// What one run, or many, amounted to.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// One a tenant, and one for requests without a tenant, last.
    shares: Vec<Share>,
    /// One a route.
    ways: Vec<Way>,
    /// Time that breakers were OPEN, all together.
    breaker_open: Duration,
    tasks: Tasks,
    /// Of all layers together, if there are several.
    together: Option<Together>,
}

impl Metrics {
    /// Nothing yet, for this many tenants and routes.
    pub fn new(tenants: usize, routes: usize) -> Metrics {
        let (shares, ways) = (vec![Share::default(); tenants + 1], vec![Way::default(); routes]);
        Metrics { shares, ways, ..Metrics::default() }
    }

    /// Those of a stack: what callers asked and got is counted in the outermost layer, what upstreams were called and
    /// billed in the innermost.
    pub(super) fn stacked(outermost: &Metrics, innermost: &Metrics, together: Together) -> Metrics {
        let shares = outermost.shares.iter().zip(&innermost.shares);
        Metrics {
            shares: shares.map(|(callers, upstreams)| callers.over(upstreams)).collect(),
            ways: innermost.ways.clone(),
            breaker_open: innermost.breaker_open,
            tasks: outermost.tasks,
            together: Some(together),
        }
    }

    /// Adds what another run amounted to.
    pub fn merge(&mut self, other: &Metrics) {
        add_rows(&mut self.shares, &other.shares, Share::merge);
        add_rows(&mut self.ways, &other.ways, Way::merge);
        self.breaker_open = self.breaker_open.plus(other.breaker_open);
        self.tasks.merge(&other.tasks);
        if let Some(theirs) = &other.together {
            self.together.get_or_insert_default().merge(theirs);
        }
    }

    /// The value of a metric in its [`Unit`], of one part or of all; `None` if there is nothing to tell: a quantile of
    /// nothing, or what belongs to no tenant for one.
    pub fn value(&self, metric: Metric, of: Option<Part>) -> Option<u128> {
        let tenant = match of {
            Some(Part::Route(route)) => return self.ways.get(route.index())?.value(metric),
            Some(Part::Tenant(tenant)) => Some(tenant),
            None => None,
        };
        match tenant {
            Some(tenant) if metric.is_of_the_run() || tenant.index() + 1 >= self.shares.len() => None,
            Some(tenant) => self.shares[tenant.index()].value(metric),
            None if metric == Metric::BreakerOpen => Some(u128::from(self.breaker_open.nanos())),
            None if metric.is_of_a_stack() => self.together.as_ref()?.value(metric),
            None if metric == Metric::CostPerTask => {
                let cost = self.all().value(Metric::Cost)?;
                Some(cost.checked_div(u128::from(self.tasks.answered())).unwrap_or_default())
            }
            None if metric.is_of_a_route() && metric.is_of_the_run() => {
                let mut all = Way::default();
                self.ways.iter().for_each(|way| all.merge(way));
                all.value(metric)
            }
            None if metric.is_of_the_run() => self.tasks.value(metric),
            None => self.all().value(metric),
        }
    }

    fn all(&self) -> Share {
        let mut all = Share::default();
        self.shares.iter().for_each(|share| all.merge(share));
        all
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
        let share = self.share(tenant);
        share.requests += 1;
        share.reached += 1;
    }

    /// An upstream took a call.
    #[inline]
    pub(super) fn begun(&mut self, book: &Book<'_>, request: RequestId, route: RouteId) {
        let Some(page) = book.request(request) else { return };
        if let Some(way) = self.ways.get_mut(route.index()) {
            way.calls += 1;
        }
        let share = self.share(page.payer.tenant);
        share.attempts += 1;
        if page.attempts > 0 {
            let leaves = page.ways == Ways::One && page.first_route != Some(route);
            share.retries += u64::from(page.legs == 0);
            share.hedges += u64::from(page.legs > 0);
            share.fell_back += u64::from(leaves);
        }
    }

    /// The first output of a call left the upstream.
    pub(super) fn visible(&mut self, book: &Book<'_>, at: Timestamp, call: CallId) {
        let request = book.call(call).and_then(|page| book.request_of(page));
        let Some(page) = request.filter(|page| page.visible.is_none()) else { return };
        self.share(page.payer.tenant).first_visible.record(at.since(page.arrived).nanos());
    }

    /// A call is over and billed.
    pub(super) fn billed(
        &mut self,
        book: &Book<'_>,
        page: &CallPage,
        ended: &Ended,
        invoice: &Invoice,
        now: Timestamp,
    ) {
        let billed = invoice.billed.money;
        let is_stopped = page.stopped.is_some();
        if let Some(way) = self.ways.get_mut(page.route.index()) {
            way.billed(billed, if is_stopped { None } else { Some(page.length(now)) });
        }
        let share = self.share(page.payer.tenant);
        if is_stopped {
            share.stopped.add(billed);
            share.stopped_tokens += invoice.billed.tokens;
        }
        if page.probe.is_some() {
            share.probes_good += u64::from(ended.truth.is_none());
            share.probes_failed += u64::from(ended.truth.is_some());
        }
        share.cost.add(billed);
        share.overbilled.add(billed.minus(page.worst_case.money));
        share.paid_without_answer.add(invoice.wasted());
        match invoice.worth {
            Worth::Used => {
                share.useful.add(billed);
                if book.request_of(page).is_some_and(|request| request.hedges > 0) {
                    share.hedge_winner_tokens += invoice.billed.tokens;
                }
            }
            Worth::Lost => share.waste(invoice.billed, page.length(now)),
            Worth::Wasted => {}
        }
    }

    /// A cancelled call will never be billed.
    pub(super) fn lost(&mut self, book: &Book<'_>, call: CallId, now: Timestamp) {
        let Some(page) = book.call(call) else { return };
        if let Some(way) = self.ways.get_mut(page.route.index()) {
            way.billed(page.worst_case.money, None);
        }
        let share = self.share(page.payer.tenant);
        share.stopped.add(page.worst_case.money);
        share.stopped_tokens += page.worst_case.tokens;
        share.cost.add(page.worst_case.money);
        share.paid_without_answer.add(page.worst_case.money);
        match page.worth() {
            Worth::Lost => share.waste(page.worst_case, page.length(now)),
            Worth::Used | Worth::Wasted => {}
        }
    }

    /// The gateway weighed the routes, and excluded so many that it had to. Only the first look of a request counts.
    pub(super) fn considered(&mut self, page: Option<&RequestPage>, excluded: u32) {
        if let Some(page) = page.filter(|page| page.looks == 0) {
            self.share(page.payer.tenant).routes_excluded += u64::from(excluded);
        }
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
            Outcome::Answered { .. } => {
                share.answered += 1;
                return;
            }
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

/// Adds every row of `theirs`, also of those that are not there yet.
fn add_rows<T: Clone + Default>(mine: &mut Vec<T>, theirs: &[T], add: impl Fn(&mut T, &T)) {
    if mine.len() < theirs.len() {
        mine.resize(theirs.len(), T::default());
    }
    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| add(mine, theirs));
}

fn tenant(book: &Book<'_>, request: RequestId) -> Option<TenantId> {
    book.request(request).and_then(|page| page.payer.tenant)
}

/// Whether a refusal was right, by the facts: a terminal fault that is one, no route that may be used, a cap that
/// does not allow the call. Such a stop is the control at work, not a lack of availability.
#[cold]
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
mod tests;
