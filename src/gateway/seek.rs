//! Choosing a route: first who may, then who can now, then who is best.

use super::Gateway;
use super::action::{Candidate, Effects, Gate, Verdict};
use super::fleet::Closed;
use super::policy::{AllUnhealthy, Policy, Route};
use super::view::{ByNow, View};
use crate::policy::eligibility::{Envelope, Reason, exclusions};
use crate::policy::health;
use crate::policy::ledger::{Amount, Denied};
use crate::policy::ranking::Contest;
use crate::units::{CredentialId, Money, RequestId, RouteId, Timestamp};

/// Why a look at the routes gave none.
#[derive(Clone, Copy, Debug)]
pub(super) enum Refusal {
    /// None may be used at all.
    Ineligible,
    /// Each that may be used was called often enough.
    Spent,
    /// Some are closed for now; the first opens then.
    Gated { gate: Gate, retry_at: Option<Timestamp> },
    /// None is affordable; this is the refusal of the best.
    Unaffordable { route: RouteId, denied: Denied },
}

/// A chosen route.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pick {
    pub(super) route: RouteId,
    pub(super) credential: CredentialId,
    pub(super) worst_case: Amount,
}

/// Which routes are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Field {
    /// All.
    Any,
    /// All, this one before the others.
    Prefer(RouteId),
    /// Only this one.
    Only(RouteId),
    /// All but this one.
    Except(RouteId),
    /// All on which no leg of the request is: for another leg.
    Beside,
    /// All whose quota has not limited the request.
    OtherQuota,
    /// Only this one, if it has a credential whose quota has not.
    OtherKey(RouteId),
    /// Only this one: it is approved after a terminal fault.
    Approved(RouteId),
}

/// Where a look is written down.
pub(super) enum Record<'a> {
    /// Nowhere: it is only a quote, for an instant at which slots may be free or not.
    Quote,
    /// Nowhere: could it be called right now?
    Glance,
    /// In the trace.
    Trace(&'a mut Effects),
}

/// What a look finds. Kept to be used again: in steady state nothing is allocated.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Routes that can be called.
    pub(super) callable: Contest,
    /// Routes whose worst case does not fit.
    pub(super) unaffordable: Contest,
    /// Of those that are closed for now: what is told, and when it opens.
    pub(super) gated: Option<(Gate, Option<Timestamp>)>,
}

/// What the hard constraints say of every route: about the last envelope that was asked about. It is immutable,
/// so the second look of a request, and the first of one like it, need not ask again.
#[derive(Debug, Default)]
pub(super) struct Screening {
    envelope: Option<Envelope>,
    /// Every route: excluded, or with a verdict to be filled in.
    pub(super) rows: Vec<Candidate>,
    /// Routes that may be used.
    pub(super) eligible: Vec<RouteId>,
    /// The dearest worst case of these.
    pub(super) dearest: Money,
    /// The fewest calls that a request may make to one of these.
    pub(super) calls_least: u32,
}

impl Screening {
    #[inline]
    fn is_of(&self, envelope: &Envelope) -> bool {
        self.envelope.as_ref() == Some(envelope)
    }

    #[cold]
    fn screen(&mut self, envelope: &Envelope, policy: &Policy, routes: &[Route]) {
        self.envelope = Some(*envelope);
        self.rows.clear();
        self.eligible.clear();
        (self.dearest, self.calls_least) = (Money::ZERO, u32::MAX);
        let calls_reserved = policy.eligibility.reserve_retries.saturating_add(1);
        for (at, route) in routes.iter().enumerate() {
            let id = RouteId(at as u16);
            let (reasons, worst_case) = exclusions(envelope, &route.offer, calls_reserved);
            let reasons = reasons.and(policy.eligibility.enforced);
            let lacking = route.offer.capabilities.lacking(envelope.capabilities).first();
            let missing = lacking.filter(|_| reasons.has(Reason::MissingCapability));
            let verdict = if reasons.is_empty() {
                self.eligible.push(id);
                self.dearest = self.dearest.max(worst_case);
                self.calls_least = self.calls_least.min(route.profile.calls_per_route_max(policy));
                Verdict::Spent
            } else {
                Verdict::Excluded { reasons, missing }
            };
            let health = health::State::Healthy; // filled in for those that may be used
            self.rows.push(Candidate { route: id, verdict, worst_case, health });
        }
    }
}

impl Gateway {
    /// Looks for the best route for a request as things stand at `at`.
    pub(super) fn look(
        &mut self,
        at: Timestamp,
        id: RequestId,
        field: Field,
        mut record: Record<'_>,
    ) -> Result<Pick, Refusal> {
        let live = self.requests.get(id);
        let (policy, registry, envelope) = (&self.policy, &self.registry, &live.request.envelope);
        if !self.screening.is_of(envelope) {
            self.screening.screen(envelope, policy, &registry.routes);
        }
        let screening = &self.screening;
        let dearest = Amount { money: screening.dearest, tokens: envelope.estimate.total() };
        let view = View {
            policy,
            registry,
            fleet: &self.fleet,
            ledger: &self.ledger,
            stops: &self.stops,
            calls: &self.calls,
            draws: &self.draws,
            screening,
            at,
            live,
            field,
            is_affordable: self.ledger.affords(at, &live.scopes, dearest),
            tokens: dearest.tokens,
            slots: match record {
                Record::Quote => ByNow::Unknown,
                Record::Glance | Record::Trace(_) if self.queue.is_full_for(&live.request.payer) => {
                    ByNow::AllTaken
                }
                Record::Glance | Record::Trace(_) => ByNow::Known,
            },
            is_unbenched: self.fleet.is_unbenched(at) && self.stops.is_clear(),
            is_health_a_gate: match policy.all_unhealthy {
                AllUnhealthy::LeastBad => false,
                AllUnhealthy::Error => true,
                AllUnhealthy::LastRemaining => screening.eligible.len() > 1,
            },
        };
        let found = &mut self.found;
        found.clear();
        let candidates = match &mut record {
            Record::Quote | Record::Glance => &mut [][..],
            Record::Trace(out) => out.consider(id, &screening.rows),
        };
        if view.is_calm() {
            found.callable.enter_all(&screening.eligible);
        } else {
            for route in &screening.eligible {
                if let Some(verdict) = view.weigh(*route, found)
                    && let Some(candidate) = candidates.get_mut(route.index())
                {
                    candidate.verdict = verdict;
                }
            }
        }
        if !view.fleet.are_well() {
            for route in &screening.eligible {
                if let Some(candidate) = candidates.get_mut(route.index()) {
                    candidate.health = view.fleet.health(registry, *route);
                }
            }
        }
        let Some((route, by)) = view.best(&mut found.callable, candidates) else {
            return Err(view.refusal(found));
        };
        if let Some(candidate) = candidates.get_mut(route.index()) {
            candidate.verdict = Verdict::Chosen { by };
        }
        Ok(view.pick(route))
    }
}

impl Field {
    pub(super) fn has(self, route: RouteId) -> bool {
        match self {
            Field::Only(only) | Field::OtherKey(only) | Field::Approved(only) => route == only,
            Field::Except(other) => route != other,
            Field::Any | Field::Prefer(_) | Field::OtherQuota | Field::Beside => true,
        }
    }

    /// What becomes of a route that is left out, or was called often enough.
    #[cold]
    pub(super) fn left_out(self, route: RouteId) -> Verdict {
        match self {
            Field::Approved(only) if route != only => Verdict::Unapproved,
            Field::Any
            | Field::Prefer(_)
            | Field::Only(_)
            | Field::Except(_)
            | Field::Beside
            | Field::OtherQuota
            | Field::OtherKey(_)
            | Field::Approved(_) => Verdict::Spent,
        }
    }

    /// Whether what has limited the request is left out.
    pub(super) fn is_of_another_quota(self) -> bool {
        match self {
            Field::OtherQuota | Field::OtherKey(_) => true,
            Field::Any
            | Field::Prefer(_)
            | Field::Only(_)
            | Field::Except(_)
            | Field::Beside
            | Field::Approved(_) => false,
        }
    }
}

impl Found {
    fn clear(&mut self) {
        self.callable.clear();
        self.unaffordable.clear();
        self.gated = None;
    }

    /// The first that opens is told; but a slot can be waited for, whatever else is closed.
    pub(super) fn gate(&mut self, Closed { gate, retry_at }: Closed) -> Verdict {
        let says_more = match (self.gated, gate) {
            (None, _) | (Some(_), Gate::Concurrency) => true,
            (Some((Gate::Concurrency, _)), _) => false,
            (Some((_, known)), _) => match (known, retry_at) {
                (None, _) => true,
                (Some(known), Some(new)) => new < known,
                (Some(_), None) => false,
            },
        };
        if says_more {
            self.gated = Some((gate, retry_at));
        }
        Verdict::Gated { gate, retry_at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    /// The gate that is told of these, and when it opens, in seconds.
    fn told(gates: &[(Gate, Option<u64>)]) -> (Gate, Option<u64>) {
        let mut found = Found::default();
        for (gate, secs) in gates {
            let retry_at = secs.map(|secs| Timestamp::ZERO.after(Duration::from_secs(secs)));
            found.gate(Closed { gate: *gate, retry_at });
        }
        let (gate, retry_at) = found.gated.unwrap();
        (gate, retry_at.map(|at| at.nanos() / 1_000_000_000))
    }

    #[test]
    fn the_first_that_opens_is_told() {
        let gates = [(Gate::Breaker, Some(9)), (Gate::Cooldown, Some(5)), (Gate::Health, Some(7))];
        assert_eq!(told(&gates), (Gate::Cooldown, Some(5)));
        assert_eq!(told(&[(Gate::Cooldown, None), (Gate::Breaker, Some(9))]), (Gate::Breaker, Some(9)));
    }

    #[test]
    fn a_slot_can_be_waited_for_whatever_else_is_closed() {
        let slot = (Gate::Concurrency, None);
        assert_eq!(told(&[(Gate::Cooldown, Some(5)), slot]), slot);
        assert_eq!(told(&[slot, (Gate::Cooldown, Some(5))]), slot);
    }
}
