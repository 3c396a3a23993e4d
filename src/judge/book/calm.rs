//! When nothing is out of the ordinary.

use super::{Book, RequestPage};
use crate::gateway::FuseScope;
use crate::policy::fuse::Repeats;
use crate::policy::ledger::{Amount, Reserve};
use crate::sim::{Catalog, Limits};
use crate::units::{RequestId, Timestamp};

impl Book<'_> {
    /// Whether nothing speaks against any eligible route for a request at `at`: every upstream is healthy, no gate is
    /// closed, no call was made too often, and there is money for the dearest. Told at a glance, and rather no than yes.
    #[inline]
    pub(in crate::judge) fn is_calm(&self, id: RequestId, page: &RequestPage, at: Timestamp) -> bool {
        let Some(demand) = self.demands.get(id.index()) else { return false };
        let wanted = Amount { money: demand.dearest, tokens: page.estimate };
        demand.is_modest
            && page.attempts < self.calm_calls
            && page.legs == 0
            && self.is_every_gate_open(at)
            && self.machines.are_well()
            && (page.attempts == 0 || page.account.admits(wanted, at))
            && self.payers_admit(page, wanted, at)
    }

    /// Whether a look at this very instant has found money for any call that the request may make.
    #[inline]
    pub(in crate::judge) fn is_afforded(&self, id: RequestId, at: Timestamp) -> bool {
        self.afforded == Some((id, at))
    }

    /// Whether nothing that happened to others stops a call at `at`: every breaker is closed, nothing is benched or asked
    /// to be left alone, and requests stop each other by no fuse, slot or terminal fault.
    #[inline]
    pub(in crate::judge) fn is_undisturbed(&self, at: Timestamp) -> bool {
        self.are_apart && self.is_every_gate_open(at) && !self.told.is_any(at)
    }

    #[inline]
    fn is_every_gate_open(&self, at: Timestamp) -> bool {
        self.ajar == 0 && self.machines.are_closed() && !self.benches.is_any(at)
    }
}

/// Whether requests stop each other by no fuse, no slot and no terminal fault.
pub(super) fn are_apart(limits: &Limits) -> bool {
    let is_fused = limits.calls_per_task.is_some() || limits.calls_per_run.is_some();
    has_slots(limits)
        && !is_fused
        && limits.repeats == Repeats::default()
        && limits.terminal_scope == FuseScope::Request
}

/// Fewer calls than these spend no route. Where slots or accounts are counted, something is approved, or nothing is
/// reserved, no look is calm.
pub(super) fn calls(facts: &Catalog) -> u32 {
    let limits = &facts.limits;
    let is_plain = has_slots(limits)
        && facts.approvals.is_empty()
        && limits.terminal_scope != FuseScope::Account
        && limits.reserve == Reserve::Reserve;
    if is_plain { facts.calls_per_route_least() } else { 0 }
}

/// Whether there are slots enough for everybody.
fn has_slots(limits: &Limits) -> bool {
    limits.route_legs_max.min(limits.task_legs_max).min(limits.tenant_legs_max) == u32::MAX
}
