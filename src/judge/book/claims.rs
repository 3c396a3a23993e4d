//! What the gateway says and does, written into the book beside the facts.

use super::update::slot_in;
use super::*;
use crate::gateway::{Basis, Call};
use crate::policy::cooldown::Bench;
use crate::policy::health;
use crate::policy::taxonomy::Class;
use crate::units::{BreakerId, HealthId};

impl Book<'_> {
    /// The gateway asks for a call.
    pub(in crate::judge) fn ask(&mut self, call: &Call) {
        let Some(page) = self.requests.get_mut(call.request.index()) else { return };
        page.choice = None;
        let reserved =
            page.reserved.take().filter(|(route, _)| *route == call.route).map(|(_, amount)| amount);
        let slot = slot_in(&mut self.calls, call.call);
        if slot.phase == CallPhase::Flying {
            return;
        }
        *slot = CallPage {
            phase: CallPhase::Asked,
            request: call.request,
            serial: page.serial,
            name: page.name,
            payer: page.payer,
            route: call.route,
            credential: call.credential,
            generation: call.generation,
            reserved,
            ..CallPage::VACANT
        };
    }

    /// The caller sees this call's bytes from here on.
    pub(in crate::judge) fn commit(&mut self, request: RequestId, call: CallId) {
        let route = self.call(call).map(|page| page.route);
        if let (Some(page), Some(route)) = (self.requests.get_mut(request.index()), route) {
            page.committed.get_or_insert((call, route));
        }
    }

    /// The gateway stops a call. By the facts: for a timer, a hang-up, the deadline, or else by its own choice.
    pub(in crate::judge) fn cancel(&mut self, entry: Moment, call: CallId) {
        let Some(page) = self.calls.get(call.index()).filter(|page| page.is_wanted()) else { return };
        let (id, serial, fired) = (page.request, page.serial, page.fired);
        self.free(call);
        let request = self.requests.get_mut(id.index()).filter(|request| request.serial == serial);
        let ours = request.map_or(Class::Cancelled, |request| {
            request.legs -= 1;
            if request.abandoned.is_some() {
                Class::Abandoned
            } else if request.deadline <= entry.at {
                Class::Deadline
            } else {
                Class::Cancelled
            }
        });
        let page = &mut self.calls[call.index()];
        (page.stopped, page.stopped_at) = (Some(fired.unwrap_or(ours)), entry.at);
    }

    /// The gateway answers a request, or closes it.
    pub(in crate::judge) fn go_to(&mut self, request: RequestId, phase: Phase) {
        self.quit(request);
        if let Some(page) = self.requests.get_mut(request.index()) {
            page.phase = phase;
        }
    }

    /// The gateway sets an amount aside for the next call of a request.
    pub(in crate::judge) fn reserve(&mut self, request: RequestId, route: RouteId, amount: Amount) {
        if let Some(page) = self.requests.get_mut(request.index()) {
            page.reserved = Some((route, amount));
        }
    }

    /// The gateway told its counters about a result: so they stand.
    pub(in crate::judge) fn count_failures(
        &mut self,
        breaker: BreakerId,
        at_breaker: u32,
        health: HealthId,
        at_health: u32,
    ) {
        if let Some(page) = self.breakers.get_mut(breaker.index()) {
            page.failures = Some(at_breaker);
        }
        if let Some(page) = self.healths.get_mut(health.index()) {
            page.failures = at_health;
        }
    }

    /// The gateway says what a result says about health: how it must say so. `None` if there is no such result.
    /// Of a call that it stops for no timer only its class is believed, if it can be.
    pub(in crate::judge) fn reckon(
        &mut self,
        entry: Moment,
        call: CallId,
        said: Option<Class>,
    ) -> Option<Reckoned> {
        let page = self.calls.get_mut(call.index()).filter(|page| page.heard.told == Telling::NotYet)?;
        let request = self.requests.get_mut(page.request.index()).filter(|r| r.serial == page.serial);
        if page.stopped.is_some() {
            return None;
        }
        let (class, signal) = match page.phase {
            CallPhase::Ended => (page.heard.class, page.heard.signal),
            CallPhase::Flying => {
                let ours = ours(page, request.as_deref(), entry.at, said);
                (Some(ours), self.facts.machines.taxonomy.signal(ours))
            }
            CallPhase::Vacant | CallPhase::Asked | CallPhase::Lost => return None,
        };
        page.heard.told = Telling::Once;
        if let Some(request) = request {
            request.untold = request.untold.saturating_sub(1);
        }
        if class.is_none() {
            self.merit.measure(page.route, entry.at.since(page.begun));
        }
        let fact = self.facts.routes.get(page.route.index())?;
        let (breaker, health) = ((fact.breaker, page.began_in), (fact.health, page.begun));
        Some(self.machines.reckon(self.facts, entry.at, breaker, health, (class, signal)))
    }

    /// A health state moved.
    pub(in crate::judge) fn move_health(&mut self, entry: Moment, health: HealthId, to: health::State) {
        if let Some(page) = self.healths.get_mut(health.index()) {
            let was = std::mem::replace(&mut page.state, to);
            if was == health::State::Unhealthy || to == health::State::Unhealthy {
                page.since = entry.at;
            }
        }
    }

    /// The gateway leaves something alone for a time.
    pub(in crate::judge) fn bench(&mut self, what: Bench, until: Timestamp) {
        self.benches.set(what, until);
    }

    /// A request sleeps.
    pub(in crate::judge) fn sleep(&mut self, request: RequestId, until: Timestamp) {
        if let Some(page) = self.requests.get_mut(request.index()) {
            page.sleeps_until = Some(until);
        }
    }

    /// A request refuses to wait.
    pub(in crate::judge) fn refuse_wait(&mut self, entry: Moment, request: RequestId) {
        if let Some(page) = self.requests.get_mut(request.index()) {
            page.wait_refused = Some(entry.at);
        }
    }

    /// Of which time a result of a call is.
    pub fn age(&self, call: &CallPage) -> Age {
        let Some(fact) = self.route(call.route) else { return Age::Fresh };
        let moves = self.breaker(fact.breaker).map_or(0, |page| page.moves);
        let since = self.health(fact.health).map_or(Timestamp::ZERO, |page| page.since);
        if call.breaker_moves != moves {
            Age::OfOldBreaker
        } else if call.begun < since {
            Age::OfOldHealth
        } else {
            Age::Fresh
        }
    }

    /// The gateway told a result of this age: whether it came too late to count.
    pub(in crate::judge) fn date(&mut self, entry: Moment, call: CallId, age: Age) {
        self.late = match age {
            Age::Fresh => None,
            Age::OfOldBreaker | Age::OfOldHealth => Some(Late { call, seq: entry.seq, age }),
        };
    }

    /// The gateway's books have an amount for a call. Without a receipt the call is given up for its request.
    pub(in crate::judge) fn book_in(&mut self, call: CallId, basis: Basis) {
        let Some(page) = self.calls.get_mut(call.index()) else { return };
        page.charge = Charge::Booked;
        match basis {
            Basis::Receipt | Basis::Corrected => {}
            Basis::Assumed => {
                let request = self.requests.get_mut(page.request.index());
                if let Some(request) = request.filter(|request| request.serial == page.serial) {
                    request.unsettled = request.unsettled.saturating_sub(1);
                }
                if page.stopped.is_some() {
                    self.shared.vacate(page);
                }
            }
        }
    }

    /// A breaker moved.
    pub(in crate::judge) fn move_breaker(
        &mut self,
        entry: Moment,
        id: BreakerId,
        state: breaker::State,
        until: Option<Timestamp>,
    ) {
        if let Some(page) = self.breakers.get_mut(id.index()) {
            self.ajar = self.ajar + u32::from(is_ajar(state)) - u32::from(is_ajar(page.state));
            let moves = page.moves + 1;
            *page = BreakerPage { state, until, since: entry.at, failures: None, probes: 0, moves };
        }
    }
}

/// Why the gateway stops a call that is in flight: its timer, the deadline, the hang-up, or else its own choice. What is
/// said of it is believed if it can be.
#[cold]
fn ours(page: &CallPage, request: Option<&RequestPage>, at: Timestamp, said: Option<Class>) -> Class {
    let is_late = request.is_some_and(|request| request.deadline <= at);
    let is_abandoned = request.is_some_and(|request| request.abandoned.is_some());
    let may_be =
        |said: &Class| (*said == Class::Deadline && is_late) || (*said == Class::Abandoned && is_abandoned);
    page.fired.or(said.filter(may_be)).unwrap_or(Class::Cancelled)
}

/// Whether a breaker in this state may refuse a call.
const fn is_ajar(state: breaker::State) -> bool {
    match state {
        breaker::State::Open | breaker::State::HalfOpen | breaker::State::ForcedOpen => true,
        breaker::State::Closed | breaker::State::Disabled | breaker::State::MetricsOnly => false,
    }
}
