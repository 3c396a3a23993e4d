//! Making a call, and stopping one.

use super::Gateway;
use super::action::{Action, Call, Effects, Gate, Limit, Outcome, Role};
use super::decision::Decision;
use super::fleet::Heard;
use super::input::Delivery;
use super::live::{Flight, Leg, Phase};
use super::retry::Held;
use super::seek::{Field, Pick, Record, Refusal};
use super::waits::Wait;
use crate::policy::taxonomy::Class;
use crate::units::{CallId, Duration, RequestId, Timestamp};

impl Gateway {
    /// Looks for a route and calls it, lets the request wait for a slot, or ends it with the reason why not.
    pub(super) fn seek(&mut self, now: Timestamp, id: RequestId, out: &mut Effects) {
        let live = self.requests.get_mut(id);
        live.seeks += 1;
        let field = live.awaited.take().map_or(Field::Any, Field::Prefer);
        if let Some(reason) = self.stops.reason(&live.request.payer) {
            return self.stop_or_go_on(now, id, reason, out);
        }
        if live.seeks > self.policy.retry.seeks_max
            && let Some(last) = live.last
        {
            let outcome = Outcome::Exhausted { limit: Limit::Seeks, last };
            return self.reply(now, id, outcome, Class::Cancelled, out);
        }
        match self.look(now, id, field, Record::Trace(out)) {
            Ok(pick) => {
                let role = self.requests.get(id).role_in_turn(pick.route);
                self.call(now, id, pick, role, out);
            }
            Err(refusal) => self.hold(now, id, refusal, out),
        }
    }

    /// No route can be called now: the request waits, if there is something to wait for, or ends with the reason.
    fn hold(&mut self, now: Timestamp, id: RequestId, refusal: Refusal, out: &mut Effects) {
        let held = match refusal {
            Refusal::Gated { gate: Gate::Concurrency, .. } => {
                match self.queue.join(id, self.requests.get(id).request.priority) {
                    Some(waiting) => {
                        out.decide(Decision::Queued { request: id, waiting });
                        Held::Waits
                    }
                    None => Held::Not,
                }
            }
            Refusal::Gated { gate, retry_at: Some(until) } if self.outwaits(gate, id) => {
                self.wait_on(now, id, until, out)
            }
            Refusal::Gated { .. } | Refusal::Ineligible | Refusal::Spent | Refusal::Unaffordable { .. } => {
                Held::Not
            }
        };
        match held {
            Held::Waits => {}
            Held::Not => self.refuse(now, id, refusal, out),
        }
    }

    /// Makes a call that was looked for in this very instant, unless a fuse that counts refuses it.
    pub(super) fn call(&mut self, now: Timestamp, id: RequestId, pick: Pick, role: Role, out: &mut Effects) {
        let route = &self.registry.routes[pick.route.index()];
        let live = self.requests.get_mut(id);
        if let Err(refused) = self.stops.tick(&live.request) {
            return self.refuse_by_count(now, id, refused, out);
        }
        // It was affordable in this very instant: nobody is asked again.
        let hold = self.ledger.hold(now, &live.scopes, pick.worst_case);
        let window = hold.window();
        out.decide(Decision::Reserved { request: id, route: pick.route, amount: pick.worst_case, window });
        let permit = self.fleet.admit(now, route, pick.route, out);
        self.queue.take(&live.request.payer);
        live.attempts += 1;
        let call = Call {
            call: self.calls.next(),
            request: id,
            route: pick.route,
            credential: pick.credential,
            nth: live.attempts,
            role,
            breaker: route.breaker,
            generation: permit.as_ref().map_or(0, |permit| permit.generation()),
        };
        live.tried.push(pick.route);
        live.legs.push(call.call);
        let (deadline, delivery) = (live.request.deadline, live.request.delivery);
        self.calls.begin(Leg { call, begun: now, flight: Flight::Flying(hold, permit) });
        let timeouts = route.profile.timeouts(&self.policy);
        if let Some(due) = ends_by(deadline, now, timeouts.attempt) {
            self.waits.set(Wait::Attempt(call.call), due);
        }
        if delivery == Delivery::Stream
            && let Some(due) = ends_by(deadline, now, timeouts.first_byte)
        {
            self.waits.set(Wait::FirstByte(call.call), due);
        }
        out.act(Action::Call(call));
        self.expect(now, id, pick.route);
    }

    /// The first output of a stream: from here on only this call's bytes.
    pub(super) fn visible(&mut self, now: Timestamp, call: CallId, out: &mut Effects) {
        let Some(Leg { call: Call { request, .. }, flight: Flight::Flying(..), .. }) =
            self.calls.find_mut(call)
        else {
            return;
        };
        let request = *request;
        self.waits.clear(Wait::FirstByte(call));
        let live = self.requests.get_mut(request);
        if live.phase == Phase::Open {
            live.phase = Phase::Committed(call);
            self.waits.clear(Wait::Hedge(request));
            out.act(Action::Commit { request, call });
            for at in 0..self.requests.get(request).legs.len() {
                let leg = self.requests.get(request).legs[at];
                if leg != call {
                    self.stop(now, leg, Class::Cancelled, out);
                }
            }
        }
        self.alive(now, call);
    }

    /// A stream showed a sign of life.
    pub(super) fn alive(&mut self, now: Timestamp, call: CallId) {
        if let Some(Leg { call: Call { request, route, .. }, flight: Flight::Flying(..), .. }) =
            self.calls.find_mut(call)
        {
            let deadline = self.requests.get(*request).request.deadline;
            let idle = self.registry.routes[route.index()].profile.timeouts(&self.policy).idle;
            match ends_by(deadline, now, idle) {
                Some(due) => self.waits.set(Wait::Idle(call), due),
                None => self.waits.clear(Wait::Idle(call)),
            }
        }
    }

    /// Stops a call for this reason. It is over only at its receipt, for which we wait a while.
    pub(super) fn stop(&mut self, now: Timestamp, call: CallId, why: Class, out: &mut Effects) {
        let Some(leg) = self.calls.find_mut(call) else { return };
        let (info, begun) = (leg.call, leg.begun);
        let (hold, permit) = match std::mem::replace(&mut leg.flight, Flight::Over) {
            Flight::Flying(hold, permit) => (hold, permit),
            as_it_was @ (Flight::Stopped(_) | Flight::GivenUp(_) | Flight::Over) => {
                leg.flight = as_it_was;
                return;
            }
        };
        leg.flight = Flight::Stopped(hold);
        let heard = Heard {
            call,
            begun,
            route: info.route,
            class: Some(why),
            signal: self.policy.taxonomy.signal(why),
            elapsed: now.since(begun),
        };
        let route = &self.registry.routes[info.route.index()];
        self.fleet.record(now, route, permit, &heard, &mut self.waits, out);
        self.waits.forget_call(call);
        self.waits.set(Wait::Receipt(call), now.after(self.policy.budget.receipt_max));
        out.act(Action::Cancel { call, why });
    }
}

/// When a timeout that begins now is over, unless the deadline comes first anyway.
#[inline]
fn ends_by(deadline: Timestamp, now: Timestamp, timeout: Option<Duration>) -> Option<Timestamp> {
    timeout.map(|timeout| now.after(timeout)).filter(|due| *due < deadline)
}
