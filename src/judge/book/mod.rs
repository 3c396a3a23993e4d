//! What the judge knows: the world's facts, and the gateway's claims beside them, by slot. It is brought up to
//! date once an entry, *after* the laws have looked at it, so a law sees how things stood when the entry came.
//! Tables only; in steady state nothing is allocated.

mod alerts;
mod approvals;
mod benches;
mod calm;
mod claims;
mod constraints;
mod cooldowns;
mod gates;
mod machines;
mod merits;
mod money;
mod moved;
mod names;
mod pages;
mod scopes;
mod shared;
mod status;
mod update;
mod waiting;

pub use alerts::Alerts;
pub use benches::Benches;
pub use cooldowns::DueBench;
pub use gates::{Access, Opening, Passage, Shut};
pub use machines::{Entrance, Machines, Reckoned};
pub use money::{Account, Refusal};
pub use moved::{BreakerPage, HealthPage};
pub use pages::*;
pub use scopes::*;
use shared::Shared;
pub use shared::{Row, Slot, TaskPage, TenantPage};
pub use waiting::{InVain, Place, Setback};

use crate::gateway::{Payer, Status};
use crate::policy::breaker;
use crate::policy::eligibility::{Envelope, Reasons};
use crate::policy::ledger::{Amount, Level, Reserve};
use crate::sim::{Catalog, Entry, RequestName, RouteFact};
use crate::units::{BreakerId, CallId, CredentialId, Money, RequestId, RouteId, Timestamp};

/// What the judge knows.
#[derive(Debug)]
pub struct Book<'a> {
    /// What is declared.
    pub facts: &'a Catalog,
    requests: Vec<RequestPage>,
    /// What each request demands, beside its page: a slot mostly sees the same demands again.
    demands: Vec<Demand>,
    calls: Vec<CallPage>,
    /// What each request did on each route: a row a request slot.
    tries: Vec<Tries>,
    /// What is true of each route for each request: a row a request slot.
    truths: Vec<Truth>,
    shared: Shared,
    /// The whole run.
    pub run: RunPage,
    breakers: Vec<BreakerPage>,
    /// How many of them may refuse a call.
    ajar: u32,
    healths: Vec<HealthPage>,
    /// Breakers and health states as they must stand.
    pub machines: Machines,
    /// What the gateway says is benched.
    pub benches: Benches,
    /// The bench that must be told next.
    pub bench_due: Option<DueBench>,
    /// What responses asked to be left alone, and until when.
    pub told: Benches,
    /// The number of the entry that is due.
    pub due: u64,
    /// The time of the entry before.
    pub now: Timestamp,
    /// The fact that the gateway is answering to.
    pub stimulus: Stimulus,
    /// The result that was told last, if it came too late to count.
    pub late: Option<Late>,
    /// What the gateway must show next of itself, the last first.
    pub to_show: Vec<Status>,
    /// Whether anything may be owed of all that must be told: if so, that is looked at before the next entry.
    pub(in crate::judge) may_be_owed: bool,
    /// Alerts that were raised, and the one that is due.
    pub alerts: Alerts,
    arrivals: u64,
    merit: merits::Merit,
    /// So many calls a request may have made for a look to be told calm at a glance.
    calm_calls: u32,
    /// The request whose last look has found money for whatever it may call, and when; until an account moves.
    afforded: Option<(RequestId, Timestamp)>,
    /// Whether requests stop each other by no fuse, no slot and no terminal fault.
    are_apart: bool,
}

/// Which entry is looked at, and when it was.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Its number.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
}

impl Moment {
    /// Of this entry.
    #[inline]
    pub const fn of(entry: &Entry<'_>) -> Moment {
        Moment { seq: entry.seq, at: entry.at }
    }
}

/// What the request in a slot demands.
#[derive(Clone, Copy, Debug)]
struct Demand {
    envelope: Envelope,
    /// How many routes it excludes.
    ineligible: u32,
    /// The dearest worst case on the others.
    dearest: Money,
    /// The most tokens that one call may use.
    estimate: u64,
    /// Whether that fits, as a first call, what an attempt and what the request may cost and use.
    is_modest: bool,
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
    /// Until when a response without a wider scope asked it to leave the route alone.
    pub hint: Timestamp,
}

/// The fact that the gateway is answering to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stimulus {
    /// The end of this call, which truly says nothing about any upstream's health.
    NeutralResult(CallId),
    /// Anything else.
    Other,
}

/// A result that came too late to count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Late {
    /// The call.
    pub call: CallId,
    /// The entry that tells it.
    pub seq: u64,
    /// For whom it came too late.
    pub age: Age,
}

/// Of which time a result is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Age {
    /// Of now.
    Fresh,
    /// Of before its breaker's last move.
    OfOldBreaker,
    /// Of before its health state last became unhealthy or ceased to be.
    OfOldHealth,
}

impl<'a> Book<'a> {
    /// An empty book, of the run of this seed.
    pub fn new(facts: &'a Catalog, seed: u64) -> Book<'a> {
        Book {
            facts,
            requests: Vec::new(),
            demands: Vec::new(),
            calls: Vec::new(),
            tries: Vec::new(),
            truths: Vec::new(),
            shared: Shared::new(facts),
            run: RunPage::new(facts),
            breakers: vec![BreakerPage::default(); facts.breakers.len()],
            ajar: 0,
            healths: vec![HealthPage::default(); facts.healths.len()],
            machines: Machines::new(facts),
            benches: Benches::new(facts),
            bench_due: None,
            told: Benches::new(facts),
            due: 0,
            now: Timestamp::ZERO,
            stimulus: Stimulus::Other,
            late: None,
            to_show: Vec::new(),
            may_be_owed: false,
            alerts: Alerts::new(facts),
            arrivals: 0,
            merit: merits::Merit::new(facts, seed),
            calm_calls: calm::calls(facts),
            afforded: None,
            are_apart: calm::are_apart(&facts.limits),
        }
    }

    /// The request in this slot, or that was there last; `None` if there never was one.
    pub fn request(&self, id: RequestId) -> Option<&RequestPage> {
        self.requests.get(id.index())
    }

    /// The entry before the one that is looked at: its number and its time.
    pub fn last(&self) -> (u64, Timestamp) {
        (self.due.saturating_sub(1), self.now)
    }

    /// The call in this slot, or that was there last; `None` if there never was one.
    pub fn call(&self, id: CallId) -> Option<&CallPage> {
        let page = self.calls.get(id.index())?;
        if page.phase == CallPhase::Vacant { None } else { Some(page) }
    }

    /// The request for which a call is made, if it is still in its slot.
    pub fn request_of(&self, call: &CallPage) -> Option<&RequestPage> {
        let page = self.request(call.request)?;
        if page.serial == call.serial { Some(page) } else { None }
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
    pub fn breaker(&self, id: BreakerId) -> Option<&BreakerPage> {
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

    /// What is true of every route for the request in this slot, in file order; `None` if there never was one.
    pub(in crate::judge) fn truths(&self, id: RequestId) -> Option<&[Truth]> {
        let each = self.facts.routes.len();
        let first = id.index() * each;
        self.truths.get(first..first + each)
    }

    /// How many routes may not be used for the request in this slot.
    pub fn ineligible(&self, id: RequestId) -> u32 {
        self.demands.get(id.index()).map_or(0, |demand| demand.ineligible)
    }

    /// What the request in this slot did on a route.
    #[inline]
    pub fn tried(&self, id: RequestId, route: RouteId) -> Tries {
        let at = id.index() * self.facts.routes.len() + route.index();
        self.tries.get(at).copied().unwrap_or_default()
    }

    /// The worst case of a call.
    pub fn worst_case(&self, id: RequestId, route: RouteId) -> Amount {
        let tokens = self.request(id).map_or(0, |page| page.estimate);
        Amount { money: self.truth(id, route).worst_case, tokens }
    }

    /// The cap that does not allow `wanted` more for this request at `at`, counting what was truly billed, and
    /// what is in flight at its worst case.
    pub fn refusal(&self, id: RequestId, wanted: Amount, at: Timestamp) -> Option<Refusal> {
        if self.affords(self.request(id), wanted, at) { None } else { self.first_refusal(id, wanted, at) }
    }

    #[cold]
    fn first_refusal(&self, id: RequestId, wanted: Amount, at: Timestamp) -> Option<Refusal> {
        let attempt = Account::new(self.facts.limits.attempt_max, None);
        let of_call = attempt.refusal(Level::Attempt, wanted, at);
        of_call
            .or_else(|| self.each_account(id).find_map(|(level, account)| account.refusal(level, wanted, at)))
    }

    /// Whether every cap allows `wanted` more for this request, as [`Book::refusal`] counts: nearly always it
    /// does.
    #[inline]
    pub fn affords(&self, page: Option<&RequestPage>, wanted: Amount, at: Timestamp) -> bool {
        let limit = self.facts.limits.attempt_max;
        if wanted.money > limit.money || wanted.tokens > limit.tokens {
            return false;
        }
        let Some(page) = page else { return true };
        page.account.admits(wanted, at)
            && self.payers_admit(page, wanted, at)
            && self.approval_of(page).is_none_or(|account| account.admits(wanted, at))
    }

    /// Whether those who pay for this request besides allow `wanted` more.
    #[inline(always)]
    fn payers_admit(&self, page: &RequestPage, wanted: Amount, at: Timestamp) -> bool {
        self.task(&page.payer).is_none_or(|task| task.account.admits(wanted, at))
            && self.tenant(&page.payer).is_none_or(|tenant| tenant.account.admits(wanted, at))
    }

    /// What stands against the cap of a level at `at`, and the cap; `None` if the request has no such account.
    pub fn standing(&self, level: Level, id: RequestId, at: Timestamp) -> Option<(Amount, Amount)> {
        if level == Level::Attempt {
            return Some((Amount::ZERO, self.facts.limits.attempt_max));
        }
        let found = self.each_account(id).find(|(of, _)| *of == level);
        found.map(|(_, account)| (account.standing(at), account.cap))
    }

    /// The number of the tenant's window at `at`, zero without a tenant.
    pub fn window(&self, payer: &Payer, at: Timestamp) -> u64 {
        self.tenant(payer).map_or(0, |tenant| tenant.account.window(at))
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
        let payer = page.map(|page| page.payer).unwrap_or_default();
        [
            page.map(|page| (Level::Request, &page.account)),
            self.task(&payer).map(|task| (Level::Task, &task.account)),
            page.and_then(|page| self.approval_of(page)).map(|account| (Level::Approval, account)),
            self.tenant(&payer).map(|tenant| (Level::Tenant, &tenant.account)),
        ]
        .into_iter()
        .flatten()
    }

    /// Whether the request in this slot may make another call on a route, as far as their number goes.
    pub fn is_unspent(&self, id: RequestId, route: RouteId) -> bool {
        self.tried(id, route).begun < self.facts.calls_per_route_max(route)
    }

    /// Whether a route could have been called for a request at `at`: eligible, ungated, affordable, with a slot
    /// free, and not called too often. Its health is a preference, and does not count.
    pub fn is_usable(&self, id: RequestId, route: RouteId, at: Timestamp) -> bool {
        self.truth(id, route).reasons.is_empty()
            && self.is_unspent(id, route)
            && self.access(route, at) == Access::Free
            && !self.is_full(route)
            && self.request(id).is_none_or(|page| !self.is_full_for(&page.payer))
            && self.refusal(id, self.worst_case(id, route), at).is_none()
    }

    /// What closes an eligible route to a request at `at`, if anything surely does.
    pub fn closed_to(&self, id: RequestId, route: RouteId, at: Timestamp) -> Option<String> {
        let page = self.request(id)?;
        if self.approved(id).is_some_and(|approval| approval.route != route) {
            return Some("another one is approved".to_owned());
        }
        if !self.is_unspent(id, route) {
            return Some("it was called often enough".to_owned());
        }
        match self.access(route, at) {
            Access::Free | Access::Doubtful => {}
            Access::Broken => return Some("its breaker lets nothing through".to_owned()),
            Access::Benched => return Some("it is benched".to_owned()),
        }
        if page.legs > 0 && self.is_on(page, route) {
            return Some("another leg is on it".to_owned());
        }
        if self.is_full(route) || self.is_full_for(&page.payer) {
            return Some("there is no slot for it".to_owned());
        }
        match self.facts.limits.reserve {
            Reserve::Reserve => {
                let refusal = self.refusal(id, self.worst_case(id, route), at);
                refusal.map(|refusal| refusal.sentence())
            }
            Reserve::CheckOnly | Reserve::After => None,
        }
    }

    /// Every route's number.
    pub fn routes(&self) -> impl Iterator<Item = RouteId> + use<> {
        (0..self.facts.routes.len() as u16).map(RouteId)
    }

    /// The facts of a route.
    pub fn route(&self, id: RouteId) -> Option<&RouteFact> {
        self.facts.routes.get(id.index())
    }
}
