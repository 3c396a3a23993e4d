//! What the judge knows: the world's facts, and the gateway's claims beside them, by slot. It is brought up to
//! date once an entry, *after* the laws have looked at it, so a law sees how things stood when the entry came.
//! Tables only; in steady state nothing is allocated.

mod benches;
mod claims;
mod money;
mod pages;
mod update;

pub use benches::Benches;
pub use money::{Account, Refusal};
pub use pages::*;

use crate::policy::breaker;
use crate::policy::eligibility::{Reason, Reasons};
use crate::policy::ledger::{Amount, Level};
use crate::policy::taxonomy::Class;
use crate::sim::{Catalog, RequestName, RouteFact, SourceKind};
use crate::units::{CallId, CredentialId, Money, RequestId, RouteId, Timestamp};

/// What the judge knows.
#[derive(Debug)]
pub struct Book<'a> {
    /// What is declared.
    pub facts: &'a Catalog,
    requests: Vec<RequestPage>,
    calls: Vec<CallPage>,
    /// What each request did on each route: a row a request slot.
    tries: Vec<Tries>,
    /// What is true of each route for each request: a row a request slot.
    truths: Vec<Truth>,
    tasks: Vec<Account>,
    tenants: Vec<Account>,
    breakers: Vec<BreakerPage>,
    healths: Vec<HealthPage>,
    /// What the gateway says is benched.
    pub benches: Benches,
    /// What responses asked to be left alone, and until when.
    pub told: Benches,
    /// The number and time of the entry before.
    pub last: Option<(u64, Timestamp)>,
    /// The fact that the gateway is answering to.
    pub stimulus: Stimulus,
    arrivals: u64,
}

/// What is true of a route for a request, whatever the gateway says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Truth {
    /// Why it may not be used.
    pub reasons: Reasons,
    /// The most that one call can cost.
    pub worst_case: Money,
    /// The first capability that it lacks.
    pub missing: Option<u8>,
}

/// What a request did on a route.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tries {
    /// Calls begun.
    pub begun: u32,
    /// Calls that ended with a valid answer.
    pub answered: u32,
}

/// The fact that the gateway is answering to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stimulus {
    /// The end of this call, which truly says nothing about any upstream's health.
    NeutralResult(CallId),
    /// Anything else.
    Other,
}

/// Whether a route can be called, as far as its gates go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Nothing closes it.
    Free,
    /// Its breaker is half-open: only the breaker knows.
    Doubtful,
    /// Its breaker is OPEN.
    Broken,
    /// It is benched, or all its credentials are.
    Benched,
}

impl<'a> Book<'a> {
    /// An empty book.
    pub fn new(facts: &'a Catalog) -> Book<'a> {
        let tenants = facts.tenants.iter().map(|tenant| Account::new(tenant.cap, tenant.window));
        Book {
            facts,
            requests: Vec::new(),
            calls: Vec::new(),
            tries: Vec::new(),
            truths: Vec::new(),
            tasks: facts.tasks.iter().map(|task| Account::new(task.cap, None)).collect(),
            tenants: tenants.collect(),
            breakers: vec![BreakerPage::default(); facts.breakers.len()],
            healths: vec![HealthPage::default(); facts.healths.len()],
            benches: Benches::new(facts),
            told: Benches::new(facts),
            last: None,
            stimulus: Stimulus::Other,
            arrivals: 0,
        }
    }

    /// The request in this slot, or that was there last; `None` if there never was one.
    pub fn request(&self, id: RequestId) -> Option<&RequestPage> {
        self.requests.get(id.index())
    }

    /// The call in this slot, or that was there last; `None` if there never was one.
    pub fn call(&self, id: CallId) -> Option<&CallPage> {
        self.calls.get(id.index()).filter(|page| page.phase != CallPhase::Vacant)
    }

    /// The request for which a call is made, if it is still in its slot.
    pub fn request_of(&self, call: &CallPage) -> Option<&RequestPage> {
        self.request(call.request).filter(|page| page.serial == call.serial)
    }

    /// Every request slot that was used.
    pub fn requests(&self) -> &[RequestPage] {
        &self.requests
    }

    /// Every call slot that was used.
    pub fn calls(&self) -> &[CallPage] {
        &self.calls
    }

    /// A breaker.
    pub fn breaker(&self, id: crate::units::BreakerId) -> Option<&BreakerPage> {
        self.breakers.get(id.index())
    }

    /// All breakers.
    pub fn breakers(&self) -> &[BreakerPage] {
        &self.breakers
    }

    /// A health state.
    pub fn health(&self, id: crate::units::HealthId) -> Option<&HealthPage> {
        self.healths.get(id.index())
    }

    /// What is true of a route for the request in this slot.
    pub fn truth(&self, id: RequestId, route: RouteId) -> Truth {
        let at = id.index() * self.facts.routes.len() + route.index();
        self.truths.get(at).copied().unwrap_or_default()
    }

    /// What is true of every route for the request in this slot, in file order.
    pub fn truths(&self, id: RequestId) -> &[Truth] {
        let each = self.facts.routes.len();
        self.truths.get(id.index() * each..(id.index() + 1) * each).unwrap_or_default()
    }

    /// What the request in this slot did on a route.
    pub fn tried(&self, id: RequestId, route: RouteId) -> Tries {
        let at = id.index() * self.facts.routes.len() + route.index();
        self.tries.get(at).copied().unwrap_or_default()
    }

    /// What forbids one call on this route: everything that excludes it, and a worst case above the request's
    /// cap.
    pub fn forbidding(&self, id: RequestId, route: RouteId) -> Reasons {
        let truth = self.truth(id, route);
        let fits = self.request(id).is_some_and(|page| truth.worst_case <= page.request.envelope.cost_max);
        if fits { truth.reasons.without(Reason::RequestBudget) } else { truth.reasons }
    }

    /// The worst case of a call.
    pub fn worst_case(&self, id: RequestId, route: RouteId) -> Amount {
        let tokens = self.request(id).map_or(0, |page| page.request.envelope.estimate.total());
        Amount { money: self.truth(id, route).worst_case, tokens }
    }

    /// The cap that does not allow `wanted` more for this request at `at`, counting what was truly billed, and
    /// what is in flight at its worst case.
    pub fn refusal(&self, id: RequestId, wanted: Amount, at: Timestamp) -> Option<Refusal> {
        let attempt = Account::new(self.facts.limits.attempt_max, None);
        let of_call = attempt.refusal(Level::Attempt, wanted, at);
        of_call
            .or_else(|| self.each_account(id).find_map(|(level, account)| account.refusal(level, wanted, at)))
    }

    /// As [`Book::refusal`], but with nothing counted above its worst case.
    pub fn breach(&self, id: RequestId, wanted: Amount, at: Timestamp) -> Option<Refusal> {
        let attempt = Account::new(self.facts.limits.attempt_max, None);
        let of_call = attempt.breach(Level::Attempt, wanted, at);
        of_call
            .or_else(|| self.each_account(id).find_map(|(level, account)| account.breach(level, wanted, at)))
    }

    fn each_account(&self, id: RequestId) -> impl Iterator<Item = (Level, &Account)> {
        let page = self.request(id);
        let payer = page.map(|page| page.request.payer).unwrap_or_default();
        [
            page.map(|page| (Level::Request, &page.account)),
            payer.task.and_then(|task| self.tasks.get(task.index())).map(|account| (Level::Task, account)),
            payer.tenant.and_then(|tenant| self.tenants.get(tenant.index())).map(|a| (Level::Tenant, a)),
        ]
        .into_iter()
        .flatten()
    }

    /// Whether a route can be called at `at`, as far as its breaker and the benches go.
    pub fn access(&self, route: RouteId, at: Timestamp) -> Access {
        let Some(fact) = self.facts.routes.get(route.index()) else { return Access::Free };
        let breaker = self.breakers.get(fact.breaker.index()).copied().unwrap_or_default();
        if breaker.is_open_at(at) {
            return Access::Broken;
        }
        if self.benches.route_until(self.facts, route) > at {
            return Access::Benched;
        }
        match breaker.state {
            breaker::State::Closed | breaker::State::Disabled | breaker::State::MetricsOnly => Access::Free,
            breaker::State::Open | breaker::State::HalfOpen | breaker::State::ForcedOpen => Access::Doubtful,
        }
    }

    /// Whether a route could have been called for a request at `at`: eligible, ungated, affordable, and not
    /// called too often.
    pub fn is_usable(&self, id: RequestId, route: RouteId, at: Timestamp) -> bool {
        self.truth(id, route).reasons.is_empty()
            && self.tried(id, route).begun < self.facts.limits.calls_per_route_max
            && self.access(route, at) == Access::Free
            && self.refusal(id, self.worst_case(id, route), at).is_none()
    }

    /// What a result of this call truly means; `None` is a valid answer. For a call that we stop ourselves the
    /// timer that was due says why, and nobody else's word counts.
    pub fn meaning(&self, call: &CallPage) -> Option<Class> {
        let is_over = matches!(call.phase, CallPhase::Ended);
        call.truth.or(call.fired).or(call.stopped).or(if is_over { None } else { Some(Class::Cancelled) })
    }

    /// Every route's number.
    pub fn routes(&self) -> impl Iterator<Item = RouteId> + use<> {
        (0..self.facts.routes.len() as u16).map(RouteId)
    }

    /// The facts of a route.
    pub fn route(&self, id: RouteId) -> Option<&RouteFact> {
        self.facts.routes.get(id.index())
    }

    /// The name of a route, for a reader.
    pub fn route_name(&self, id: RouteId) -> &str {
        self.route(id).map_or("an undeclared route", |fact| self.facts.names.text(fact.name))
    }

    /// The name of a credential, for a reader.
    pub fn credential_name(&self, id: CredentialId) -> &str {
        let fact = self.facts.credentials.get(id.index());
        fact.map_or("an undeclared credential", |fact| self.facts.names.text(fact.name))
    }

    /// The name of the request in a slot, for a reader.
    pub fn request_name(&self, id: RequestId) -> String {
        self.request(id)
            .map_or_else(|| "a request that never arrived".to_owned(), |page| self.name(page.name))
    }

    /// The name of a request, for a reader.
    pub fn name(&self, name: RequestName) -> String {
        let Some(source) = self.facts.sources.get(usize::from(name.source)) else {
            return "an undeclared request".to_owned();
        };
        let text = self.facts.names.text(source.name);
        match source.kind {
            SourceKind::Listed => text.to_owned(),
            SourceKind::Stream => format!("{text}/{}", u64::from(name.ordinal) + 1),
        }
    }
}
