//! The two ends of a request: the reply (the caller's answer) and the close (the last bill is in).

use super::Gateway;
use super::action::{Action, Effects, Failure, Gate, Limit, Outcome, StopReason};
use super::decision::Decision;
use super::live::Phase;
use super::seek::Refusal;
use crate::policy::taxonomy::Class;
use crate::units::{RequestId, Timestamp};

impl Gateway {
    /// Answers the caller, once; calls that are still in flight are stopped for the reason `why`.
    pub(super) fn reply(
        &mut self,
        now: Timestamp,
        id: RequestId,
        outcome: Outcome,
        why: Class,
        out: &mut Effects,
    ) {
        let live = self.requests.get_mut(id);
        assert!(live.phase != Phase::Replied, "a request is answered once");
        live.phase = Phase::Replied;
        let (left, legs) = (live.request.deadline.since(now), live.legs.len());
        out.act(Action::Reply { request: id, outcome, attempts: live.attempts, left });
        self.waits.forget_request(id);
        self.queue.quit(id);
        if legs == 0 {
            return self.close(id, out);
        }
        for at in 0..legs {
            let leg = self.requests.get(id).legs[at];
            self.stop(now, leg, why, out);
        }
    }

    /// Ends a request that cannot or need not go on; a stream that has begun is truncated.
    pub(super) fn give_up(
        &mut self,
        now: Timestamp,
        id: RequestId,
        outcome: Outcome,
        why: Class,
        out: &mut Effects,
    ) {
        if !self.is_unanswered(id) {
            return;
        }
        let outcome = match self.requests.get(id).phase {
            Phase::Committed(call) if why == Class::Deadline => {
                let route = self.calls.get_mut(call).call.route;
                let last = Failure { class: why, code: None };
                Outcome::Truncated { route, last }
            }
            Phase::Committed(_) | Phase::Open | Phase::Replied | Phase::Closed => outcome,
        };
        self.reply(now, id, outcome, why, out);
    }

    /// Ends a request for which no route can be called, with the true reason.
    pub(super) fn refuse(&mut self, now: Timestamp, id: RequestId, refusal: Refusal, out: &mut Effects) {
        let last = self.requests.get(id).last;
        let outcome = match (refusal, last) {
            (Refusal::Unaffordable { route, denied }, _) => {
                out.decide(Decision::Denied { request: id, route, denied });
                Outcome::BudgetExceeded { level: denied.level, last }
            }
            (Refusal::Gated { gate: Gate::Health, retry_at }, _) => Outcome::NoCandidate { retry_at, last },
            (Refusal::Gated { gate: Gate::Fuse(failure), .. }, _) => {
                Outcome::Stopped { reason: StopReason::Terminal(failure), last }
            }
            (Refusal::Gated { retry_at, .. }, _) => Outcome::AllGated { retry_at, last },
            (Refusal::Spent, Some(last)) => Outcome::Exhausted { limit: Limit::Routes, last },
            (Refusal::Ineligible | Refusal::Spent, _) => Outcome::NoEligibleRoute,
        };
        self.reply(now, id, outcome, Class::Cancelled, out);
    }

    /// The last bill of an answered request is in.
    #[inline]
    pub(super) fn close(&mut self, id: RequestId, out: &mut Effects) {
        let live = self.requests.close(id);
        let spent = live.spent;
        self.ledger.close(live.scopes.request);
        out.act(Action::Close { request: id, spent });
    }
}
