//! Approved failover: after a terminal fault, which else stops, one call to the route that somebody approved by name for
//! faults of that class, out of a budget of its own. A request has one such call: if that fails too, it ends by its
//! name if it is terminal, and else by that of the fault that led there.

use super::Gateway;
use super::action::{Effects, Failure, Outcome, Role, StopReason};
use super::decision::Decision;
use super::seek::{Field, Record, Refusal};
use super::waits::Wait;
use crate::policy::taxonomy::Class;
use crate::units::{Money, RequestId, RouteId, Timestamp};

/// What somebody approved beforehand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Approval {
    /// After faults of this class: funds or auth. A refusal of policy cannot be approved away.
    pub on: Class,
    /// The route that may be called then.
    pub route: RouteId,
    /// The most that all calls made on it may cost, in the whole run.
    pub cost_max: Money,
}

/// Which fault led a request to an approved route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Led {
    /// Its own.
    Itself(Failure),
    /// Another's, which stopped the run.
    TheRun(Failure),
}

impl Gateway {
    /// Whether a request goes on where it would stop for this fault: the approved route is called, if there is one, its
    /// budget lasts, and it may and can be called as any other.
    pub(super) fn fails_over(&mut self, now: Timestamp, id: RequestId, led: Led, out: &mut Effects) -> bool {
        let fault = led.failure();
        let Some(at) = self.approval_for(fault) else { return false };
        // A run that a fault of another class stopped goes on for that one's approval alone.
        let is_stopped = self.stops.run_fault().is_some_and(|other| other.class != fault.class);
        let live = self.requests.get_mut(id);
        let has_calls =
            live.attempts < self.policy.retry.attempts_max && self.stops.counts_permit(&live.request);
        if is_stopped || !has_calls || live.led.is_some() {
            return false;
        }
        live.led = Some(led);
        live.scopes.approval = Some(self.approvals[at]);
        self.waits.clear(Wait::Hedge(id));
        let approved = Field::Approved(self.registry.approvals[at].route);
        match self.look(now, id, approved, Record::Trace(out)) {
            Ok(pick) => {
                self.call(now, id, pick, Role::Approved, out);
                true
            }
            Err(Refusal::Unaffordable { route, denied }) => {
                out.decide(Decision::Denied { request: id, route, denied });
                false
            }
            Err(Refusal::Gated { .. } | Refusal::Ineligible | Refusal::Spent) => false,
        }
    }

    /// A fuse stops a request; but that of the run stops none that goes on as approved.
    pub(super) fn stop_or_go_on(
        &mut self,
        now: Timestamp,
        id: RequestId,
        reason: StopReason,
        out: &mut Effects,
    ) {
        let fault = reason.fault();
        if !fault.is_some_and(|fault| self.fails_over(now, id, Led::TheRun(fault), out)) {
            self.stop_request(now, id, reason, out);
        }
    }

    /// Whether something is approved where a fuse stops.
    pub(super) fn is_approved(&self, reason: StopReason) -> bool {
        reason.fault().is_some_and(|fault| self.approval_for(fault).is_some())
    }

    /// The approval for a fault, by position.
    fn approval_for(&self, fault: Failure) -> Option<usize> {
        self.registry.approvals.iter().position(|approval| approval.on == fault.class)
    }

    /// The approved call failed too: nothing else is approved.
    pub(super) fn end_approved(
        &mut self,
        now: Timestamp,
        id: RequestId,
        led: Led,
        last: Failure,
        out: &mut Effects,
    ) {
        let outcome = match led {
            Led::Itself(_) | Led::TheRun(_) if last.class.is_terminal() => Outcome::Terminal { last },
            Led::Itself(fault) => Outcome::Terminal { last: fault },
            Led::TheRun(fault) => Outcome::Stopped { reason: StopReason::Terminal(fault), last: Some(last) },
        };
        self.reply(now, id, outcome, Class::Cancelled, out);
    }
}

impl Led {
    const fn failure(self) -> Failure {
        match self {
            Led::Itself(failure) | Led::TheRun(failure) => failure,
        }
    }
}
