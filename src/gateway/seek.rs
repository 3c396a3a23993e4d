//! Choosing a route: first who may, then who can now, then who is best.

use super::Gateway;
use super::action::{Candidate, Effect, Effects, Gate, Verdict};
use super::live::Live;
use crate::policy::eligibility::{Reason, exclusions};
use crate::policy::ledger::{Amount, Denied};
use crate::policy::ranking::{Key, Standing};
use crate::units::{CredentialId, RequestId, RouteId, Timestamp};
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
    /// All whose quota is another than that of this route with this credential.
    OtherQuota(RouteId, CredentialId),
}

/// Where a look is written down.
pub(super) enum Record<'a> {
    /// Nowhere: it is only a quote.
    Quote,
    /// In the trace.
    Trace(&'a mut Effects),
}

/// The looks of one search, best first as far as they are known.
struct Search {
    best: Option<(Pick, Standing)>,
    /// How the best beat the runner-up, and the runner-up.
    second: Option<(Standing, Key)>,
    eligible: u32,
    gated: Option<(Gate, Option<Timestamp>)>,
    denied: Option<(RouteId, Denied, Standing)>,
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
        let mut search = Search { best: None, second: None, eligible: 0, gated: None, denied: None };
        let mut standings = std::mem::take(&mut self.standings);
        standings.clear();
        let first = match &record {
            Record::Trace(out) => out.candidates.len(),
            Record::Quote => 0,
        };
        for at_route in 0..self.registry.routes.len() {
            let route = RouteId(at_route as u16);
            let (candidate, standing) = self.weigh(at, live, route, field, &mut search);
            if let Record::Trace(out) = &mut record {
                out.candidates.push(candidate);
                standings.push(standing);
            }
        }
        if let Record::Trace(out) = record {
            self.tell_verdicts(&search, &standings, &mut out.candidates[first..]);
            let count = (out.candidates.len() - first) as u32;
            out.list.push(Effect::Consider { request: id, first: first as u32, count });
        }
        self.standings = standings;
        search.result()
    }

    /// One route: its verdict if it is out, its standing if it is in.
    fn weigh(
        &self,
        at: Timestamp,
        live: &Live,
        id: RouteId,
        field: Field,
        search: &mut Search,
    ) -> (Candidate, Standing) {
        let (route, policy) = (&self.registry.routes[id.index()], &self.policy);
        let envelope = &live.request.envelope;
        let (reasons, worst_case) =
            exclusions(envelope, &route.offer, policy.eligibility.reserve_retries.saturating_add(1));
        let reasons = reasons.and(policy.eligibility.enforced);
        let out = |verdict| (Candidate { route: id, verdict, worst_case }, Standing::default());
        if !reasons.is_empty() {
            let lacking = route.offer.capabilities.lacking(envelope.capabilities).first();
            let missing = lacking.filter(|_| reasons.has(Reason::MissingCapability));
            return out(Verdict::Excluded { reasons, missing });
        }
        search.eligible += 1;
        if live.tries(id) >= policy.retry.calls_per_route_max || !field.has(id) {
            return out(Verdict::Spent);
        }
        let plan = u64::from(matches!(field, Field::Prefer(planned) if planned != id));
        let standing = self
            .fleet
            .standing(&policy.ranking, &self.registry, &self.draws, live, id, worst_case)
            .with(Key::Plan, plan);
        let wanted = Amount { money: worst_case, tokens: envelope.estimate.total() };
        if let Err(denied) = self.ledger.quote(at, &live.scopes, wanted) {
            search.deny(&policy.ranking.order, id, denied, standing);
            return out(Verdict::Unaffordable { level: denied.level });
        }
        let credential = match self.fleet.gate(at, &self.registry, id) {
            Ok(credential) => credential,
            Err((gate, retry_at)) => {
                search.gate(gate, retry_at);
                return out(Verdict::Gated { gate, retry_at });
            }
        };
        if let Field::OtherQuota(other, key) = field
            && self.quota(other, key) == self.quota(id, credential)
        {
            return out(Verdict::Spent);
        }
        search.enter(&policy.ranking.order, Pick { route: id, credential, worst_case: wanted }, standing);
        (Candidate { route: id, verdict: Verdict::Outranked { by: Key::Order }, worst_case }, standing)
    }

    /// Fills in who was chosen and what the others lost by.
    fn tell_verdicts(&self, search: &Search, standings: &[Standing], candidates: &mut [Candidate]) {
        let Some((pick, best)) = &search.best else { return };
        for (candidate, standing) in candidates.iter_mut().zip(standings) {
            if candidate.route == pick.route {
                candidate.verdict = Verdict::Chosen { by: search.second.as_ref().map(|second| second.1) };
            } else if let Verdict::Outranked { by } = &mut candidate.verdict {
                *by = self.policy.ranking.order.compare(best, standing).1;
            }
        }
    }

    /// What shares one quota, as the gateway believes: a model in a project.
    fn quota(&self, route: RouteId, credential: CredentialId) -> (u16, u16) {
        let model = self.registry.routes[route.index()].model;
        (self.registry.credentials[credential.index()].0, model.0)
    }
}

impl Field {
    fn has(self, route: RouteId) -> bool {
        match self {
            Field::Only(only) => route == only,
            Field::Except(other) => route != other,
            Field::Any | Field::Prefer(_) | Field::OtherQuota(..) => true,
        }
    }
}

impl Search {
    fn enter(&mut self, order: &crate::policy::ranking::Order, pick: Pick, standing: Standing) {
        let Some((_, best)) = &self.best else {
            self.best = Some((pick, standing));
            return;
        };
        let (ordering, key) = order.compare(&standing, best);
        if ordering == Ordering::Less {
            self.second = Some((*best, key));
            self.best = Some((pick, standing));
        } else if self.second.as_ref().is_none_or(|s| order.compare(&standing, &s.0).0 == Ordering::Less) {
            self.second = Some((standing, key));
        }
    }

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

    fn deny(
        &mut self,
        order: &crate::policy::ranking::Order,
        route: RouteId,
        denied: Denied,
        standing: Standing,
    ) {
        let better = self.denied.as_ref().is_none_or(|d| order.compare(&standing, &d.2).0 == Ordering::Less);
        if better {
            self.denied = Some((route, denied, standing));
        }
    }

    /// A route that is closed for now but affordable says more than one that is not affordable.
    fn result(self) -> Result<Pick, Refusal> {
        if let Some((pick, _)) = self.best {
            return Ok(pick);
        }
        if let Some((gate, retry_at)) = self.gated {
            return Err(Refusal::Gated { gate, retry_at });
        }
        if let Some((route, denied, _)) = self.denied {
            return Err(Refusal::Unaffordable { route, denied });
        }
        Err(if self.eligible > 0 { Refusal::Spent } else { Refusal::Ineligible })
    }
}
