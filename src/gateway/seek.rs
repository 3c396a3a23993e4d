//! Choosing a route: first who may, then who can now, then who is best.

use super::Gateway;
use super::action::{Candidate, Effect, Effects, Gate, Verdict};
use super::live::Live;
use super::policy::{Eligibility, Route};
use crate::policy::eligibility::{Envelope, Reason, exclusions};
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
    /// All whose quota has not limited the request.
    OtherQuota,
}

/// Where a look is written down.
pub(super) enum Record<'a> {
    /// Nowhere: it is only a quote.
    Quote,
    /// In the trace.
    Trace(&'a mut Effects),
}

/// A route that can be called.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usable {
    pick: Pick,
    standing: Standing,
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
            self.rows.push(Candidate { route: id, verdict, worst_case });
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
        let room = self.ledger.room(at, &live.scopes);
        let first = match &mut record {
            Record::Quote => 0,
            Record::Trace(out) => {
                out.candidates.extend_from_slice(&self.screening.rows);
                out.candidates.len() - self.screening.rows.len()
            }
        };
        for (route, worst_case) in &self.screening.eligible {
            let verdict = self.weigh(at, live, *route, *worst_case, room, field, &mut usable, &mut shut);
            if let Record::Trace(out) = &mut record {
                out.candidates[first + route.index()].verdict = verdict;
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
    #[expect(clippy::too_many_arguments, reason = "the loop of `look`, cut out to be read")]
    fn weigh(
        &self,
        at: Timestamp,
        live: &Live,
        route: RouteId,
        worst_case: Money,
        room: Amount,
        field: Field,
        usable: &mut Vec<Usable>,
        shut: &mut Shut,
    ) -> Verdict {
        shut.eligible += 1;
        if live.tries(route) >= self.policy.retry.calls_per_route_max || !field.has(route) {
            return Verdict::Spent;
        }
        let wanted = Amount { money: worst_case, tokens: live.request.envelope.estimate.total() };
        if !wanted.fits(room)
            && let Err(denied) = self.ledger.quote(at, &live.scopes, wanted)
        {
            let standing = self.standing(live, route, worst_case, field);
            shut.deny(&self.policy.ranking.order, route, denied, standing);
            return Verdict::Unaffordable { level: denied.level };
        }
        let credential = match self.fleet.gate(at, &self.registry, &live.limited, route) {
            Ok(credential) => credential,
            Err((gate, retry_at)) => {
                shut.gate(gate, retry_at);
                return Verdict::Gated { gate, retry_at };
            }
        };
        if field == Field::OtherQuota && live.limited.contains(&self.registry.quota(route, credential)) {
            return Verdict::Spent;
        }
        let pick = Pick { route, credential, worst_case: wanted };
        usable.push(Usable { pick, standing: self.standing(live, route, worst_case, field) });
        Verdict::Outranked { by: Key::Order }
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
            Field::Only(only) => route == only,
            Field::Except(other) => route != other,
            Field::Any | Field::Prefer(_) | Field::OtherQuota => true,
        }
    }
}

impl Shut {
    fn gate(&mut self, gate: Gate, retry_at: Option<Timestamp>) {
        let sooner = match (&self.gated, retry_at) {
            (None, _) | (Some((_, None)), _) => true,
            (Some((_, Some(known))), Some(new)) => new < *known,
            (Some((_, Some(_))), None) => false,
        };
        if sooner {
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
