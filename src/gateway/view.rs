//! How one look at the routes sees the world: who can be called now, and who of them is best.

use super::action::{Candidate, Gate, Verdict};
use super::fleet::{Closed, Fleet, is_limited};
use super::live::{Calls, Live};
use super::policy::{Policy, Registry};
use super::seek::{Field, Found, Pick, Refusal, Screening};
use super::stops::Stops;
use crate::policy::ledger::{Amount, Ledger};
use crate::policy::ranking::{Contest, Key, Round};
use crate::units::{CredentialId, Draws, RouteId, Timestamp};

/// How one look sees the world.
pub(super) struct View<'g> {
    pub(super) policy: &'g Policy,
    pub(super) registry: &'g Registry,
    pub(super) fleet: &'g Fleet,
    pub(super) ledger: &'g Ledger,
    pub(super) stops: &'g Stops,
    pub(super) calls: &'g Calls,
    pub(super) draws: &'g Draws,
    pub(super) screening: &'g Screening,
    pub(super) at: Timestamp,
    pub(super) live: &'g Live,
    pub(super) field: Field,
    /// Whether the dearest eligible route is affordable: then all are.
    pub(super) is_affordable: bool,
    /// The most tokens that a call may use.
    pub(super) tokens: u64,
    pub(super) slots: ByNow,
    /// Whether nothing is benched and no account is closed.
    pub(super) is_unbenched: bool,
    /// Whether an unhealthy route is closed.
    pub(super) is_health_a_gate: bool,
}

/// What is known of slots at the instant of a look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ByNow {
    /// Nothing: it lies ahead.
    Unknown,
    /// Those of the task and the tenant are free; the routes' are looked up.
    Known,
    /// The task or the tenant has none.
    AllTaken,
}

impl View<'_> {
    /// Whether every eligible route can be called: nothing is closed, no call was made too often, and there is money
    /// for the dearest. Told at a glance, and rather no than yes.
    #[inline]
    pub(super) fn is_calm(&self) -> bool {
        let has_slots = match self.slots {
            ByNow::Unknown => true,
            ByNow::Known => self.policy.concurrency.route_max == u32::MAX,
            ByNow::AllTaken => false,
        };
        let is_any = match self.field {
            Field::Any | Field::Prefer(_) => true,
            Field::Only(_)
            | Field::Except(_)
            | Field::Beside
            | Field::OtherQuota
            | Field::OtherKey(_)
            | Field::Approved(_) => false,
        };
        is_any
            && has_slots
            && self.is_unbenched
            && !self.is_health_a_gate
            && self.fleet.are_closed()
            && self.live.tried.len() < self.screening.calls_least as usize
            && self.is_affordable
    }

    /// An eligible route: one that can be called is found callable; or why it cannot be called.
    pub(super) fn weigh(&self, id: RouteId, found: &mut Found) -> Option<Verdict> {
        let (live, profile) = (self.live, &self.registry.routes[id.index()].profile);
        if live.tries(id) >= profile.calls_per_route_max(self.policy) || !self.field.has(id) {
            return Some(self.field.left_out(id));
        }
        if self.field == Field::Beside && self.is_taken(live, id) {
            return Some(Verdict::Taken);
        }
        if !self.is_affordable
            && let Err(denied) = self.ledger.quote(self.at, &live.scopes, self.wanted(id))
        {
            found.unaffordable.enter(id);
            return Some(Verdict::Unaffordable { level: denied.level });
        }
        if let Err(closed) = self.gate(id) {
            return Some(found.gate(closed));
        }
        if self.field.is_of_another_quota() && self.is_limited(id) {
            return Some(Verdict::Spent);
        }
        found.callable.enter(id);
        None
    }

    /// The best of some routes, and by what it is. The others are marked as outranked where they are told.
    #[inline]
    pub(super) fn best(
        &self,
        contest: &mut Contest,
        told: &mut [Candidate],
    ) -> Option<(RouteId, Option<Key>)> {
        let order = &self.policy.ranking.order;
        let keys = match self.field {
            Field::Prefer(_) => order.keys(),
            Field::Any
            | Field::Only(_)
            | Field::Except(_)
            | Field::Beside
            | Field::OtherQuota
            | Field::OtherKey(_)
            | Field::Approved(_) => order.keys_unplanned(!self.live.tried.is_empty()),
        };
        let compare = |key, round: Round<'_>| self.compare(key, round);
        contest.decide(keys, compare, |route, by| {
            if let Some(candidate) = told.get_mut(route.index()) {
                candidate.verdict = Verdict::Outranked { by };
            }
        })
    }

    /// Holds routes against each other by a key.
    fn compare(&self, key: Key, round: Round<'_>) -> usize {
        let (ranking, declared) = (&self.policy.ranking, |id: RouteId| &self.registry.routes[id.index()]);
        match key {
            Key::Plan => round.by(|id| u64::from(self.field != Field::Prefer(id))),
            Key::Tries => round.by(|id| u64::from(self.live.tries(id))),
            Key::Health if self.fleet.are_well() => round.tie(),
            Key::Health => round.by(|id| self.fleet.sickness(declared(id))),
            Key::LatencyP95 => round.by(|id| {
                self.fleet.p95(ranking, id, declared(id)).nanos() / ranking.latency_step.nanos().max(1)
            }),
            Key::QueueDepth => round.by(|id| u64::from(self.fleet.in_flight(id))),
            Key::Price => round.by(|id| self.screening.rows[id.index()].worst_case.picos()),
            Key::Quality => round.by(|id| u64::from(u32::MAX - declared(id).quality)),
            Key::Weight => round.by(|id| self.fleet.race(self.draws, self.live, declared(id))),
            Key::Order => round.first(),
        }
    }

    /// A route that can be called.
    #[inline]
    pub(super) fn pick(&self, route: RouteId) -> Pick {
        Pick { route, credential: self.credential(route), worst_case: self.wanted(route) }
    }

    /// Why no route can be called. One that is closed for now but affordable says more than one that is not affordable.
    #[cold]
    pub(super) fn refusal(&self, found: &mut Found) -> Refusal {
        if let Some((gate, retry_at)) = found.gated {
            return Refusal::Gated { gate, retry_at };
        }
        if let Some((route, _)) = self.best(&mut found.unaffordable, &mut []) {
            let denied = self.ledger.quote(self.at, &self.live.scopes, self.wanted(route));
            return Refusal::Unaffordable {
                route,
                denied: denied.expect_err("it was not affordable just now"),
            };
        }
        if self.screening.eligible.is_empty() { Refusal::Ineligible } else { Refusal::Spent }
    }

    /// The worst case of a call.
    fn wanted(&self, id: RouteId) -> Amount {
        Amount { money: self.screening.rows[id.index()].worst_case, tokens: self.tokens }
    }

    /// Whether a leg of the request is on this route.
    #[cold]
    fn is_taken(&self, live: &Live, id: RouteId) -> bool {
        live.legs.iter().any(|leg| self.calls.is_flying(*leg) && self.calls.route(*leg) == Some(id))
    }

    /// Whether the quota that a call to this route would draw on has limited the request.
    #[cold]
    fn is_limited(&self, id: RouteId) -> bool {
        is_limited(&self.live.limited, self.registry, id, self.credential(id))
    }

    /// Whether a route is open; or what closes it and until when.
    #[inline]
    fn gate(&self, id: RouteId) -> Result<(), Closed> {
        let route = &self.registry.routes[id.index()];
        if !(self.is_unbenched && self.fleet.is_closed(route)) {
            self.fleet.gate(self.at, self.registry, self.stops, &self.live.limited, id)?;
        }
        if self.is_health_a_gate
            && let Some(until) = self.fleet.unhealthy_until(self.at, route)
        {
            return Err(Closed { gate: Gate::Health, retry_at: Some(until) });
        }
        let is_full = match self.slots {
            ByNow::Unknown => false,
            ByNow::Known => self.fleet.is_full(id),
            ByNow::AllTaken => true,
        };
        if is_full { Err(Closed { gate: Gate::Concurrency, retry_at: None }) } else { Ok(()) }
    }

    /// The credential that a call to a route that can be called would use.
    #[inline]
    fn credential(&self, id: RouteId) -> CredentialId {
        if self.is_unbenched && self.live.limited.is_empty() {
            return self.registry.routes[id.index()].pool[0];
        }
        let open = self.fleet.gate(self.at, self.registry, self.stops, &self.live.limited, id);
        open.expect("a route that can be called has a credential")
    }
}
