//! Choosing a route: first who may, then who can now, then who is best.

use super::Gateway;
use super::action::{Candidate, Effect, Effects, Gate, Verdict};
use super::fleet::{Closed, is_limited};
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

/// Routes that can be called, held against each other as they are found: only how the best stands is kept.
#[derive(Debug, Default)]
pub(super) struct Contest {
    best: Option<Pick>,
    standing: Standing,
    /// The others, each with the place of the key by which it lost to the best.
    lost: Vec<(RouteId, usize)>,
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
    /// Whether nothing is benched, no account is closed and no quota has limited the request.
    is_unlimited: bool,
    /// Whether an unhealthy route is closed.
    is_health_a_gate: bool,
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
    #[inline]
    fn is_of(&self, envelope: &Envelope) -> bool {
        self.envelope.as_ref() == Some(envelope)
    }

    #[cold]
    fn screen(&mut self, envelope: &Envelope, policy: &Eligibility, routes: &[Route]) {
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
        if !self.screening.is_of(&live.request.envelope) {
            let policy = &self.policy.eligibility;
            self.screening.screen(&live.request.envelope, policy, &self.registry.routes);
        }
        let (mut contest, mut shut) = (std::mem::take(&mut self.contest), Shut::default());
        contest.clear();
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
            is_unlimited: self.fleet.is_unbenched() && live.limited.is_empty() && self.stops.is_clear(),
            is_health_a_gate: match self.policy.all_unhealthy {
                AllUnhealthy::LeastBad => false,
                AllUnhealthy::Error => true,
                AllUnhealthy::LastRemaining => self.screening.eligible.len() > 1,
            },
        };
        let first = match &mut record {
            Record::Quote | Record::Glance => 0,
            Record::Trace(out) => {
                out.candidates.extend_from_slice(&self.screening.rows);
                out.candidates.len() - self.screening.rows.len()
            }
        };
        for (route, worst_case) in &self.screening.eligible {
            let verdict = self.weigh(&view, *route, *worst_case, &mut contest, &mut shut);
            if let Record::Trace(out) = &mut record {
                let candidate = &mut out.candidates[first + route.index()];
                candidate.health = self.fleet.health(&self.registry, *route);
                if let Some(verdict) = verdict {
                    candidate.verdict = verdict;
                }
            }
        }
        if let Record::Trace(out) = record {
            let count = out.candidates.len() - first;
            contest.tell_verdicts(&self.policy.ranking.order, &mut out.candidates[first..]);
            out.list.push(Effect::Consider { request: id, first: first as u32, count: count as u32 });
        }
        let pick = contest.best;
        self.contest = contest;
        pick.ok_or_else(|| shut.refusal(self.screening.eligible.len()))
    }

    /// An eligible route: one that can be called enters the contest; or why it cannot be called.
    #[inline(always)]
    fn weigh(
        &self,
        view: &View<'_>,
        id: RouteId,
        worst_case: Money,
        contest: &mut Contest,
        shut: &mut Shut,
    ) -> Option<Verdict> {
        let (live, route) = (view.live, &self.registry.routes[id.index()]);
        let tries = live.tries(id);
        if tries >= route.profile.calls_per_route_max(&self.policy) || !view.field.has(id) {
            return Some(view.field.left_out(id));
        }
        if view.field == Field::Beside && self.is_taken(live, id) {
            return Some(Verdict::Taken);
        }
        let wanted = Amount { money: worst_case, tokens: view.tokens };
        if !view.room.is_some_and(|room| wanted.fits(room))
            && let Some(verdict) = self.unaffordable(view, id, tries, wanted, shut)
        {
            return Some(verdict);
        }
        let credential = match self.gate(view, id, route) {
            Ok(credential) => credential,
            Err(closed) => return Some(shut.gate(closed)),
        };
        if view.field.is_of_another_quota() && is_limited(&live.limited, &self.registry, id, credential) {
            return Some(Verdict::Spent);
        }
        let pick = Pick { route: id, credential, worst_case: wanted };
        let standing = self.standing(view, (id, route), tries, worst_case);
        contest.enter(pick, &self.policy.ranking.order, &standing);
        None
    }

    /// Whether a leg of the request is on this route.
    #[cold]
    fn is_taken(&self, live: &Live, id: RouteId) -> bool {
        live.legs.iter().any(|leg| self.calls.is_flying(*leg) && self.calls.route(*leg) == Some(id))
    }

    #[cold]
    fn unaffordable(
        &self,
        view: &View<'_>,
        id: RouteId,
        tries: u32,
        wanted: Amount,
        shut: &mut Shut,
    ) -> Option<Verdict> {
        let denied = self.ledger.quote(view.at, &view.live.scopes, wanted).err()?;
        let route = &self.registry.routes[id.index()];
        let standing = self.standing(view, (id, route), tries, wanted.money);
        shut.deny(&self.policy.ranking.order, id, denied, standing);
        Some(Verdict::Unaffordable { level: denied.level })
    }

    /// The credential for a call, or what closes the route and until when.
    #[inline]
    fn gate(&self, view: &View<'_>, id: RouteId, route: &Route) -> Result<CredentialId, Closed> {
        let credential = if view.is_unlimited && self.fleet.is_closed(route) {
            route.pool[0]
        } else {
            let limited = &view.live.limited;
            self.fleet.gate(view.at, &self.registry, &self.stops, limited, id)?
        };
        if view.is_health_a_gate
            && let Some(until) = self.fleet.unhealthy_until(view.at, route)
        {
            return Err(Closed { gate: Gate::Health, retry_at: Some(until) });
        }
        let is_full = match view.slots {
            ByNow::Unknown => false,
            ByNow::Known => self.fleet.is_full(id),
            ByNow::AllTaken => true,
        };
        if is_full { Err(Closed { gate: Gate::Concurrency, retry_at: None }) } else { Ok(credential) }
    }

    #[inline(always)]
    fn standing(
        &self,
        view: &View<'_>,
        (id, route): (RouteId, &Route),
        tries: u32,
        worst_case: Money,
    ) -> Standing {
        let plan = u64::from(matches!(view.field, Field::Prefer(planned) if planned != id));
        let mut standing = Standing::default();
        standing.set(Key::Plan, plan);
        standing.set(Key::Tries, u64::from(tries));
        standing.set(Key::Price, worst_case.picos());
        standing.set(Key::Order, u64::from(id.0));
        self.fleet.fill(&mut standing, &self.policy.ranking, id, route);
        if route.weight > 0 && self.policy.ranking.order.compares(Key::Weight) {
            standing.set(Key::Weight, self.fleet.race(&self.draws, view.live, route));
        }
        standing
    }
}

impl Contest {
    fn clear(&mut self) {
        self.best = None;
        self.lost.clear();
    }

    /// One more route that can be called, and how it stands.
    #[inline(always)]
    fn enter(&mut self, pick: Pick, order: &Order, standing: &Standing) {
        if let Some(best) = &self.best {
            let place = order
                .difference(&self.standing, standing)
                .expect("two routes differ at least by their order in the file");
            let key = order.key(place);
            if standing.get(key) > self.standing.get(key) {
                self.lost.push((pick.route, place));
                return;
            }
            // Who lost to the old best before this key loses to the new one there too; who lost later, here.
            for (_, lost_at) in &mut self.lost {
                *lost_at = place.min(*lost_at);
            }
            self.lost.push((best.route, place));
        }
        (self.best, self.standing) = (Some(pick), *standing);
    }

    /// Fills in by what the best was chosen and the others lost. The runner-up is the one that lost last: by the
    /// key that is compared last.
    #[inline(never)]
    fn tell_verdicts(&self, order: &Order, candidates: &mut [Candidate]) {
        let Some(best) = self.best else { return };
        for (route, lost_at) in &self.lost {
            candidates[route.index()].verdict = Verdict::Outranked { by: order.key(*lost_at) };
        }
        let by = self.lost.iter().map(|(_, lost_at)| *lost_at).max().map(|place| order.key(place));
        candidates[best.route.index()].verdict = Verdict::Chosen { by };
    }
}

impl Field {
    fn has(self, route: RouteId) -> bool {
        match self {
            Field::Only(only) | Field::OtherKey(only) | Field::Approved(only) => route == only,
            Field::Except(other) => route != other,
            Field::Any | Field::Prefer(_) | Field::OtherQuota | Field::Beside => true,
        }
    }

    /// What becomes of a route that is left out, or was called often enough.
    #[cold]
    fn left_out(self, route: RouteId) -> Verdict {
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
    fn is_of_another_quota(self) -> bool {
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

impl Shut {
    /// The first that opens is told; but a slot can be waited for, whatever else is closed.
    fn gate(&mut self, Closed { gate, retry_at }: Closed) -> Verdict {
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

    fn deny(&mut self, order: &Order, route: RouteId, denied: Denied, standing: Standing) {
        let better = self.denied.as_ref().is_none_or(|d| order.compare(&standing, &d.2).0 == Ordering::Less);
        if better {
            self.denied = Some((route, denied, standing));
        }
    }

    /// A route that is closed for now but affordable says more than one that is not affordable.
    fn refusal(self, eligible: usize) -> Refusal {
        if let Some((gate, retry_at)) = self.gated {
            return Refusal::Gated { gate, retry_at };
        }
        if let Some((route, denied, _)) = self.denied {
            return Refusal::Unaffordable { route, denied };
        }
        if eligible > 0 { Refusal::Spent } else { Refusal::Ineligible }
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
            let retry_at = secs.map(|secs| Timestamp::ZERO.after(Duration::from_secs(secs)));
            shut.gate(Closed { gate: *gate, retry_at });
        }
        let Refusal::Gated { gate, retry_at } = shut.refusal(1) else { panic!("something is closed") };
        (gate, retry_at.map(|at| at.nanos() / 1_000_000_000))
    }

    #[test]
    fn the_first_that_opens_is_told() {
        let gates = [(Gate::Breaker, Some(9)), (Gate::Cooldown, Some(5)), (Gate::Health, Some(7))];
        assert_eq!(told(&gates), (Gate::Cooldown, Some(5)));
        assert_eq!(told(&[(Gate::Cooldown, None), (Gate::Breaker, Some(9))]), (Gate::Breaker, Some(9)));
    }

    #[test]
    fn each_loser_knows_where_it_lost_to_the_best_whoever_was_best_before() {
        use proptest::prelude::*;
        let keys = [Key::Health, Key::QueueDepth, Key::Price];
        let order = Order::new(&keys);
        proptest!(|(values in proptest::collection::vec([0u64..3, 0u64..3, 0u64..3], 1..7))| {
            let mut contest = Contest::default();
            let standings = values.iter().enumerate().map(|(at, values)| {
                let mut standing = Standing::default().with(Key::Order, at as u64);
                keys.iter().zip(values).for_each(|(key, value)| standing.set(*key, *value));
                standing
            });
            let standings: Vec<Standing> = standings.collect();
            for (at, standing) in standings.iter().enumerate() {
                let (route, credential) = (RouteId(at as u16), CredentialId(0));
                contest.enter(Pick { route, credential, worst_case: Amount::ZERO }, &order, standing);
            }
            let best = contest.best.unwrap().route;
            prop_assert_eq!(contest.lost.len() + 1, standings.len());
            for (route, lost_at) in &contest.lost {
                let expected = (Ordering::Less, order.key(*lost_at));
                prop_assert_eq!(order.compare(&standings[best.index()], &standings[route.index()]), expected);
            }
        });
    }

    #[test]
    fn a_slot_can_be_waited_for_whatever_else_is_closed() {
        let slot = (Gate::Concurrency, None);
        assert_eq!(told(&[(Gate::Cooldown, Some(5)), slot]), slot);
        assert_eq!(told(&[slot, (Gate::Cooldown, Some(5))]), slot);
    }
}
