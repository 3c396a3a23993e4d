//! A second leg beside a slow one. It is optional: at the limit of money, slots, fuses or attempts it is skipped,
//! and the first leg lives on.

use super::Gateway;
use super::action::{Effects, Gate, Role};
use super::decision::{Decision, HedgeSkip};
use super::input::SideEffect;
use super::live::Phase;
use super::seek::{Field, Record, Refusal};
use super::waits::Wait;
use crate::policy::hedge;
use crate::units::{RequestId, RouteId, Timestamp};

impl Gateway {
    /// A leg began: when patience with it ends, if there may be another.
    pub(super) fn expect(&mut self, now: Timestamp, id: RequestId, route: RouteId) {
        let Some(policy) = self.policy.hedge else { return };
        let live = self.requests.get(id);
        let may_be_hedged = live.request.effect == SideEffect::None && live.led.is_none();
        if !may_be_hedged || self.flying(id) >= policy.legs_max as usize {
            return;
        }
        let deadline = live.request.deadline;
        let p95 = self.fleet.p95(&self.policy.ranking, route, &self.registry.routes[route.index()]);
        let due = now.after(hedge::delay(&policy, p95));
        if due < deadline {
            self.waits.set(Wait::Hedge(id), due);
        }
    }

    /// Patience is over: another leg, if nothing speaks against it.
    pub(super) fn hedge(&mut self, now: Timestamp, id: RequestId, out: &mut Effects) {
        let live = self.requests.get(id);
        let legs = self.flying(id);
        let most = self.policy.hedge.map_or(0, |policy| policy.legs_max as usize);
        if live.phase != Phase::Open || legs == 0 || legs >= most {
            return;
        }
        let skip = if live.attempts >= self.policy.retry.attempts_max {
            HedgeSkip::Attempts
        } else if !self.stops.permits(&live.request) {
            HedgeSkip::Fuse
        } else {
            match self.look(now, id, Field::Beside, Record::Trace(out)) {
                Ok(pick) => {
                    return self.call(now, id, pick, Role::Hedge, out);
                }
                Err(Refusal::Unaffordable { .. }) => HedgeSkip::Money,
                Err(Refusal::Gated { gate: Gate::Concurrency, .. }) => HedgeSkip::Slot,
                Err(Refusal::Gated { .. } | Refusal::Ineligible | Refusal::Spent) => HedgeSkip::Route,
            }
        };
        out.decide(Decision::HedgeSkipped { request: id, why: skip });
    }
}
