//! Choosing a route: first who may, then who can now, then who is best.

use super::Gateway;
use super::action::{Candidate, Effect, Effects, Gate, Verdict};
use super::fleet::is_limited;
use super::live::Live;
use super::policy::{AllUnhealthy, Eligibility, Route};
use crate::policy::eligibility::{Envelope, Reason, exclusions};
use crate::policy::health;
use crate::policy::ledger::{Amount, Denied};
use crate::policy::ranking::{Key, Order, Standing};
use crate::units::{CredentialId, Money, RequestId, RouteId, Timestamp};
use std::cmp::Ordering;

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

/// A route that can be called.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usable {
    pick: Pick,
    standing: Standing,
}

/// How one look sees the world.
struct View<'l> {
    at: Timestamp,
    live: &'l Live,
    field: Field,
    /// What surely fits every cap; `None` if some cap is exceeded.
    room: Option<Amount>,
    /// What a call may use of them.
    tokens: u64,
    slots: ByNow,
    /// Routes that may be used at all.
    eligible: usize,
}

/// What is known of slots at the instant of a look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ByNow {
    /// Nothing: it lies ahead.
    Unknown,
    /// Those of the task and the tenant are free; the routes' are looked up.
    Known,
    /// The task or the tenant has none.
    AllTaken,
}

/// What is known of the routes that cannot be called.
#[derive(Default)]
struct Shut {
    eligible: u32,
    gated: Option<(Gate, Option<Timestamp>)>,
    denied: Option<(RouteId, Denied, Standing)>,
}

/// What the hard constraints say of every route: about the last envelope that was asked about. It is immutable,
/// so the second look of a request, and the first of one like it, need not ask again.
#[derive(Debug, Default)]
pub(super) struct Screening {
    envelope: Option<Envelope>,
    /// Every route: excluded, or with a verdict to be filled in.
    rows: Vec<Candidate>,
    /// Routes that may be used, with their worst cases.
    eligible: Vec<(RouteId, Money)>,
}

impl Screening {
    fn screen(&mut self, envelope: &Envelope, policy: &Eligibility, routes: &[Route]) {
        if self.envelope.as_ref() == Some(envelope) {
            return;
        }
        self.envelope = Some(*envelope);
        self.rows.clear();
        self.eligible.clear();
        let calls_reserved = policy.reserve_retries.saturating_add(1);
        for (at, route) in routes.iter().enumerate() {
            let id = RouteId(at as u16);
            let (reasons, worst_case) = exclusions(envelope, &route.offer, calls_reserved);
            let reasons = reasons.and(policy.enforced);
            let lacking = route.offer.capabilities.lacking(envelope.capabilities).first();
            let missing = lacking.filter(|_| reasons.has(Reason::MissingCapability));
            let verdict = if reasons.is_empty() {
                self.eligible.push((id, worst_case));
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
        self.screening.screen(&live.request.envelope, &self.policy.eligibility, &self.registry.routes);
        let (mut usable, mut shut) = (std::mem::take(&mut self.usable), Shut::default());
        usable.clear();
        let view = View {
            at,
            live,
            field,
            room: self.ledger.room(at, &live.scopes),
            tokens: live.request.envelope.estimate.total(),
            slots: match record {
                Record::Quote => ByNow::Unknown,
                Record::Glance | Record::Trace(_) if self.queue.is_full_for(&live.request.payer) => {
                    ByNow::AllTaken
                }
                Record::Glance | Record::Trace(_) => ByNow::Known,
            },
            eligible: self.screening.eligible.len(),
        };
        let first = match &mut record {
            Record::Quote | Record::Glance => 0,
            Record::Trace(out) => {
                out.candidates.extend_from_slice(&self.screening.rows);
                out.candidates.len() - self.screening.rows.len()
            }
        };
        for (route, worst_case) in &self.screening.eligible {
            let verdict = self.weigh(&view, *route, *worst_case, &mut usable, &mut shut);
            if let Record::Trace(out) = &mut record {
                let candidate = &mut out.candidates[first + route.index()];
                candidate.verdict = verdict;
                candidate.health = self.fleet.health(&self.registry, *route);
            }
        }
        let best = best(&self.policy.ranking.order, &usable, None);
        if let Record::Trace(out) = record {
            let count = out.candidates.len() - first;
            if let Some(best) = best {
                self.tell_verdicts(&usable, best, &mut out.candidates[first..]);
            }
            out.list.push(Effect::Consider { request: id, first: first as u32, count: count as u32 });
        }
        let pick = best.map(|best| usable[best].pick);
        self.usable = usable;
        pick.ok_or_else(|| shut.refusal())
    }

    /// An eligible route: whether it can be called, and how it stands if so.
    fn weigh(
        &self,
        view: &View<'_>,
        route: RouteId,
        worst_case: Money,
        usable: &mut Vec<Usable>,
        shut: &mut Shut,
    ) -> Verdict {
        let View { at, live, field, .. } = *view;
        shut.eligible += 1;
        if live.tries(route) >= self.policy.retry.calls_per_route_max || !field.has(route) {
            return Verdict::Spent;
        }
        if field == Field::Beside
            && live.legs.iter().any(|leg| self.calls.is_flying(*leg) && self.calls.route(*leg) == Some(route))
        {
            return Verdict::Taken;
        }
        let wanted = Amount { money: worst_case, tokens: view.tokens };
        if !view.room.is_some_and(|room| wanted.fits(room))
            && let Err(denied) = self.ledger.quote(at, &live.scopes, wanted)
        {
            let standing = self.standing(live, route, worst_case, field);
            shut.deny(&self.policy.ranking.order, route, denied, standing);
            return Verdict::Unaffordable { level: denied.level };
        }
        let credential = match self.gate(view, route) {
            Ok(credential) => credential,
            Err((gate, retry_at)) => {
                shut.gate(gate, retry_at);
                return Verdict::Gated { gate, retry_at };
            }
        };
        if field.is_of_another_quota() && is_limited(&live.limited, &self.registry, route, credential) {
            return Verdict::Spent;
        }
        let pick = Pick { route, credential, worst_case: wanted };
        usable.push(Usable { pick, standing: self.standing(live, route, worst_case, field) });
        Verdict::Outranked { by: Key::Order }
    }

    /// The credential for a call, or what closes the route and until when.
    fn gate(&self, view: &View<'_>, route: RouteId) -> Result<CredentialId, (Gate, Option<Timestamp>)> {
        let credential = self.fleet.gate(view.at, &self.registry, &self.stops, &view.live.limited, route)?;
        let is_gate = match self.policy.all_unhealthy {
            AllUnhealthy::LeastBad => false,
            AllUnhealthy::Error => true,
            AllUnhealthy::LastRemaining => view.eligible > 1,
        };
        if is_gate && let Some(until) = self.fleet.unhealthy_until(view.at, &self.registry, route) {
            return Err((Gate::Health, Some(until)));
        }
        let is_full = match view.slots {
            ByNow::Unknown => false,
            ByNow::Known => self.fleet.is_full(route),
            ByNow::AllTaken => true,
        };
        if is_full { Err((Gate::Concurrency, None)) } else { Ok(credential) }
    }

    fn standing(&self, live: &Live, route: RouteId, price: Money, field: Field) -> Standing {
        let plan = u64::from(matches!(field, Field::Prefer(planned) if planned != route));
        let (ranking, registry) = (&self.policy.ranking, &self.registry);
        self.fleet.standing(ranking, registry, &self.draws, live, route, price).with(Key::Plan, plan)
    }

    /// Fills in by what the best was chosen and the others lost.
    fn tell_verdicts(&self, usable: &[Usable], best_at: usize, candidates: &mut [Candidate]) {
        let order = &self.policy.ranking.order;
        let chosen = &usable[best_at];
        for loser in usable {
            let by = order.compare(&chosen.standing, &loser.standing).1;
            candidates[loser.pick.route.index()].verdict = Verdict::Outranked { by };
        }
        let second = best(order, usable, Some(best_at));
        let by = second.map(|second| order.compare(&chosen.standing, &usable[second].standing).1);
        candidates[chosen.pick.route.index()].verdict = Verdict::Chosen { by };
    }
}

/// The position of the best, leaving one out.
fn best(order: &Order, usable: &[Usable], without: Option<usize>) -> Option<usize> {
    (0..usable.len())
        .filter(|at| Some(*at) != without)
        .min_by(|a, b| order.compare(&usable[*a].standing, &usable[*b].standing).0)
}

impl Field {
    fn has(self, route: RouteId) -> bool {
        match self {
            Field::Only(only) | Field::OtherKey(only) => route == only,
            Field::Except(other) => route != other,
            Field::Any | Field::Prefer(_) | Field::OtherQuota | Field::Beside => true,
        }
    }

    /// Whether what has limited the request is left out.
    fn is_of_another_quota(self) -> bool {
        match self {
            Field::OtherQuota | Field::OtherKey(_) => true,
            Field::Any | Field::Prefer(_) | Field::Only(_) | Field::Except(_) | Field::Beside => false,
        }
    }
}

impl Shut {
    /// The first that opens is told; but a slot can be waited for, whatever else is closed.
    fn gate(&mut self, gate: Gate, retry_at: Option<Timestamp>) {
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
    }

    fn deny(&mut self, order: &Order, route: RouteId, denied: Denied, standing: Standing) {
        let better = self.denied.as_ref().is_none_or(|d| order.compare(&standing, &d.2).0 == Ordering::Less);
        if better {
            self.denied = Some((route, denied, standing));
        }
    }

    /// A route that is closed for now but affordable says more than one that is not affordable.
    fn refusal(self) -> Refusal {
        if let Some((gate, retry_at)) = self.gated {
            return Refusal::Gated { gate, retry_at };
        }
        if let Some((route, denied, _)) = self.denied {
            return Refusal::Unaffordable { route, denied };
        }
        if self.eligible > 0 { Refusal::Spent } else { Refusal::Ineligible }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    /// The gate that is told of these, and when it opens, in seconds.
    fn told(gates: &[(Gate, Option<u64>)]) -> (Gate, Option<u64>) {
        let mut shut = Shut::default();
        for (gate, secs) in gates {
            shut.gate(*gate, secs.map(|secs| Timestamp::ZERO.after(Duration::from_secs(secs))));
        }
        let Refusal::Gated { gate, retry_at } = shut.refusal() else { panic!("something is closed") };
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
