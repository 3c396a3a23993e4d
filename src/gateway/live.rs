//! What is in flight: requests from arrival to last bill, calls from beginning to receipt. Both live in slots
//! that are used again, so memory grows with what is in flight only.

use super::action::{Call, Failure, Role};
use super::approved::Led;
use super::input::Request;
use crate::policy::breaker::Permit;
use crate::policy::cooldown::Bench;
use crate::policy::ledger::{Assumed, Hold, Scopes};
use crate::units::{CallId, Money, RequestId, RouteId, Timestamp};

/// Requests by slot. A closed slot keeps its memory.
#[derive(Debug, Default)]
pub(super) struct Requests {
    slots: Vec<Live>,
    open: usize,
}

/// A request between its arrival and its last bill.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) request: Request,
    pub(super) scopes: Scopes,
    pub(super) phase: Phase,
    pub(super) attempts: u32,
    pub(super) seeks: u32,
    /// The route of every call made.
    pub(super) tried: Vec<RouteId>,
    /// Whose quotas limited it.
    pub(super) limited: Vec<Bench>,
    /// Calls whose cost is not final.
    pub(super) legs: Vec<CallId>,
    /// The route that the next look prefers, if it was waited for.
    pub(super) awaited: Option<RouteId>,
    pub(super) spent: Money,
    pub(super) last: Option<Failure>,
    /// What an optional leg met that stops: the others may go on, but nothing new is called.
    pub(super) barred: Option<Failure>,
    /// The fault that led it to an approved route, once one was looked at.
    pub(super) led: Option<Led>,
}

/// How far a request has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// No output is visible.
    Open,
    /// This call's output is visible.
    Committed(CallId),
    /// The caller has its answer; bills may be missing.
    Replied,
    /// It is over: the slot is free.
    Closed,
}

/// Calls by slot.
#[derive(Debug, Default)]
pub(super) struct Calls {
    slots: Vec<Leg>,
    free: Vec<u32>,
}

/// A call between its beginning and its receipt.
#[derive(Debug)]
pub(super) struct Leg {
    pub(super) call: Call,
    pub(super) begun: Timestamp,
    pub(super) flight: Flight,
}

/// Whether a call is still wanted, and what is set aside for it.
#[derive(Debug)]
pub(super) enum Flight {
    /// It is; the permit is settled at its end.
    Flying(Hold, Option<Permit>),
    /// We stopped it; only its receipt is missing.
    Stopped(Hold),
    /// Its receipt did not come in time and its worst case is charged; a late receipt corrects it.
    GivenUp(Assumed),
    /// Its receipt is in: the slot is free.
    Over,
}

impl Requests {
    pub(super) fn open(&mut self, request: &Request, scopes: Scopes) {
        let at = request.id.index();
        if let Some(live) = self.slots.get_mut(at) {
            assert!(live.phase == Phase::Closed, "a request's slot is not in use by another open request");
            live.begin(request, scopes);
        } else {
            self.slots.resize_with(at, || Live::new(request, scopes, Phase::Closed));
            self.slots.push(Live::new(request, scopes, Phase::Open));
        }
        self.open += 1;
    }

    /// The request in the slot, if it is open.
    #[inline]
    pub(super) fn find(&self, id: RequestId) -> Option<&Live> {
        let live = self.slots.get(id.index())?;
        (live.phase != Phase::Closed).then_some(live)
    }

    #[inline]
    pub(super) fn find_mut(&mut self, id: RequestId) -> Option<&mut Live> {
        let live = self.slots.get_mut(id.index())?;
        (live.phase != Phase::Closed).then_some(live)
    }

    pub(super) fn get(&self, id: RequestId) -> &Live {
        self.find(id).expect("an open request")
    }

    pub(super) fn get_mut(&mut self, id: RequestId) -> &mut Live {
        self.find_mut(id).expect("an open request")
    }

    /// Closes a request; how it stood.
    pub(super) fn close(&mut self, id: RequestId) -> &Live {
        let live = self.slots.get_mut(id.index()).filter(|live| live.phase != Phase::Closed);
        let live = live.expect("an open request");
        live.phase = Phase::Closed;
        self.open -= 1;
        live
    }

    /// How many slots there are, open or not.
    pub(super) const fn slots(&self) -> usize {
        self.slots.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.open == 0
    }
}

impl Live {
    fn new(request: &Request, scopes: Scopes, phase: Phase) -> Live {
        Live {
            request: *request,
            scopes,
            phase,
            attempts: 0,
            seeks: 0,
            tried: Vec::new(),
            limited: Vec::new(),
            legs: Vec::new(),
            awaited: None,
            spent: Money::ZERO,
            last: None,
            barred: None,
            led: None,
        }
    }

    /// Begins anew and keeps the memory.
    fn begin(&mut self, request: &Request, scopes: Scopes) {
        self.request = *request;
        self.scopes = scopes;
        self.phase = Phase::Open;
        self.attempts = 0;
        self.seeks = 0;
        self.tried.clear();
        self.limited.clear();
        self.legs.clear();
        self.awaited = None;
        self.spent = Money::ZERO;
        self.last = None;
        self.barred = None;
        self.led = None;
    }

    /// An optional leg met what stops. The first is kept, but identity, funds and compliance go before our own fault.
    pub(super) fn bar(&mut self, failure: Failure) {
        let is_graver = |known: Failure| failure.class.is_terminal() && !known.class.is_terminal();
        if self.barred.is_none_or(is_graver) {
            self.barred = Some(failure);
        }
    }

    /// The role of a call in turn to `route`.
    pub(super) fn role_in_turn(&self, route: RouteId) -> Role {
        match (self.tried.is_empty(), self.tries(route)) {
            (true, _) => Role::Primary,
            (false, 0) => Role::Fallback,
            (false, _) => Role::Retry,
        }
    }

    /// Calls made on `route`.
    pub(super) fn tries(&self, route: RouteId) -> u32 {
        self.tried.iter().filter(|tried| **tried == route).count() as u32
    }
}

impl Calls {
    /// The slot of the next call.
    pub(super) fn next(&mut self) -> CallId {
        let slot = self.free.pop();
        CallId(slot.unwrap_or_else(|| {
            u32::try_from(self.slots.len()).expect("fewer than 4 billion calls in flight")
        }))
    }

    /// Puts a call into the slot that [`Calls::next`] gave.
    pub(super) fn begin(&mut self, leg: Leg) {
        match self.slots.get_mut(leg.call.call.index()) {
            Some(slot) => *slot = leg,
            None => self.slots.push(leg),
        }
    }

    pub(super) fn is_flying(&self, id: CallId) -> bool {
        matches!(self.slots.get(id.index()), Some(Leg { flight: Flight::Flying(..), .. }))
    }

    /// The route of a call in flight.
    pub(super) fn route(&self, id: CallId) -> Option<RouteId> {
        let leg = self.slots.get(id.index())?;
        (!leg.flight.is_over()).then_some(leg.call.route)
    }

    pub(super) fn find_mut(&mut self, id: CallId) -> Option<&mut Leg> {
        let leg = self.slots.get_mut(id.index())?;
        (!leg.flight.is_over()).then_some(leg)
    }

    pub(super) fn get_mut(&mut self, id: CallId) -> &mut Leg {
        self.find_mut(id).expect("a call in flight")
    }

    /// The receipt of a call is in, if it was missing: its slot is free. What it was, when it began, and how it stood.
    pub(super) fn end(&mut self, id: CallId) -> Option<(Call, Timestamp, Flight)> {
        let leg = self.find_mut(id)?;
        let ended = (leg.call, leg.begun, std::mem::replace(&mut leg.flight, Flight::Over));
        self.free.push(id.0);
        Some(ended)
    }
}

impl Flight {
    const fn is_over(&self) -> bool {
        matches!(self, Flight::Over)
    }
}
