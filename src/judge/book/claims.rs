//! What the gateway says and does, written into the book beside the facts.

use super::*;
use crate::gateway::{Action, Basis, Call, Decision};
use crate::sim::Entry;
use crate::units::BreakerId;

impl Book<'_> {
    pub(super) fn act(&mut self, entry: &Entry<'_>, action: &Action) {
        match action {
            Action::Call(call) => self.ask(call),
            Action::Commit { request, call } => {
                let route = self.call(*call).map(|page| page.route);
                if let (Some(page), Some(route)) = (self.requests.get_mut(request.index()), route) {
                    page.committed.get_or_insert((*call, route));
                }
            }
            Action::Cancel { call, why: _ } => self.cancel(entry, *call),
            Action::Reply { request, outcome, .. } => {
                if let Some(page) = self.requests.get_mut(request.index()) {
                    page.phase = Phase::Replied;
                    page.outcome = Some(*outcome);
                }
            }
            Action::Close { request, .. } => {
                if let Some(page) = self.requests.get_mut(request.index()) {
                    page.phase = Phase::Closed;
                }
            }
        }
    }

    fn ask(&mut self, call: &Call) {
        let Some(page) = self.requests.get_mut(call.request.index()) else { return };
        let reserved = page.reserved.take().map(|(_, amount)| amount);
        let (serial, name, payer) = (page.serial, page.name, page.request.payer);
        let slot = self.call_slot(call.call);
        if slot.phase == CallPhase::Flying {
            return;
        }
        *slot = CallPage {
            phase: CallPhase::Asked,
            request: call.request,
            serial,
            name,
            payer,
            route: call.route,
            credential: call.credential,
            role: call.role,
            reserved,
            ..CallPage::VACANT
        };
    }

    fn cancel(&mut self, entry: &Entry<'_>, call: CallId) {
        let Some(page) = self.calls.get(call.index()).filter(|page| page.is_wanted()).copied() else {
            return;
        };
        let request = self.request_of(&page);
        let hung_up = request.is_some_and(|request| request.abandoned.is_some());
        let is_late = request.is_some_and(|request| request.request.deadline <= entry.at);
        let ours = if hung_up {
            Class::Abandoned
        } else if is_late {
            Class::Deadline
        } else {
            Class::Cancelled
        };
        self.free(call);
        if self.request_of(&page).is_some() {
            self.requests[page.request.index()].legs -= 1;
        }
        self.calls[call.index()].stopped = Some(page.fired.unwrap_or(ours));
    }

    pub(super) fn decide(&mut self, entry: &Entry<'_>, decision: &Decision) {
        match decision {
            Decision::Reserved { request, route, amount, window: _ } => {
                if let Some(page) = self.requests.get_mut(request.index()) {
                    page.reserved = Some((*route, *amount));
                }
            }
            Decision::Signalled { breaker, health, breaker_failures, health_failures, .. } => {
                if let Some(page) = self.breakers.get_mut(breaker.index()) {
                    page.failures = Some(*breaker_failures);
                }
                if let Some(page) = self.healths.get_mut(health.index()) {
                    page.failures = *health_failures;
                }
            }
            Decision::BreakerMoved { breaker, transition } => {
                self.move_breaker(entry, *breaker, transition.to, transition.until);
            }
            Decision::HealthMoved { health, moved } => {
                if let Some(page) = self.healths.get_mut(health.index()) {
                    page.state = moved.to;
                }
            }
            Decision::Benched { what, until, class: _ } => self.benches.set(*what, *until),
            Decision::Settled { call, settlement, basis } => self.book_in(*call, settlement.actual, *basis),
            Decision::RetryScheduled { request, at, route, .. } => {
                if let Some(page) = self.requests.get_mut(request.index()) {
                    page.planned = Some((*at, *route));
                }
            }
            Decision::WaitRefused { request, .. } => {
                if let Some(page) = self.requests.get_mut(request.index()) {
                    page.wait_refused = Some(entry.at);
                }
            }
            Decision::Denied { .. }
            | Decision::Classified { .. }
            | Decision::Freed { .. }
            | Decision::Alerted { .. }
            | Decision::TimedOut { .. } => {}
        }
    }

    /// The gateway's books have an amount for a call. Without a receipt the call is given up for its request.
    fn book_in(&mut self, call: CallId, actual: Amount, basis: Basis) {
        let Some(page) = self.calls.get_mut(call.index()) else { return };
        page.charged = Some(actual);
        let page = *page;
        let is_given_up = match basis {
            Basis::Assumed => true,
            Basis::Receipt | Basis::Corrected => false,
        };
        if is_given_up && self.request_of(&page).is_some() {
            let request = &mut self.requests[page.request.index()];
            request.unsettled = request.unsettled.saturating_sub(1);
        }
    }

    pub(super) fn move_breaker(
        &mut self,
        entry: &Entry<'_>,
        id: BreakerId,
        state: breaker::State,
        until: Option<Timestamp>,
    ) {
        if let Some(page) = self.breakers.get_mut(id.index()) {
            let moves = page.moves + 1;
            *page = BreakerPage { state, until, since: entry.at, failures: None, probes: 0, moves };
        }
    }
}
