//! What is approved after a terminal fault, and what such calls have cost: recomputed from facts.

use super::{Account, Book, RequestPage};
use crate::gateway::Approval;
use crate::policy::ledger::Amount;
use crate::policy::taxonomy::Class;
use crate::sim::Catalog;
use crate::units::{RequestId, RouteId};

/// The accounts of what is approved, none of it spent.
pub(super) fn accounts(facts: &Catalog) -> Vec<Account> {
    let cap = |approval: &Approval| Amount { money: approval.cost_max, tokens: u64::MAX };
    facts.approvals.iter().map(|approval| Account::new(cap(approval), None)).collect()
}

impl Book<'_> {
    /// What is approved for the request in this slot, which has met a terminal fault, or whose run has.
    pub fn approved(&self, id: RequestId) -> Option<&Approval> {
        let at = self.approval_at(self.request(id)?)?;
        self.facts.approvals.get(at)
    }

    /// The account of what is approved.
    pub fn approval_account(&self, approval: &Approval) -> Option<&Account> {
        self.shared.approvals.get(self.approval_for(approval.on)?)
    }

    /// The account that a call of this request would be charged to besides, because it needs an approval.
    #[inline]
    pub(super) fn approval_of(&self, page: &RequestPage) -> Option<&Account> {
        if self.shared.approvals.is_empty() {
            None
        } else {
            self.shared.approvals.get(self.approval_at(page)?)
        }
    }

    /// The approval for a call on this route, by position.
    #[inline]
    pub(super) fn approving(&self, id: RequestId, route: RouteId) -> Option<u16> {
        let page = self.request(id).filter(|_| !self.shared.approvals.is_empty())?;
        let at = self.approval_at(page).filter(|at| self.facts.approvals[*at].route == route)?;
        Some(at as u16)
    }

    /// The approval for a request, by position: for the fault of its own that ends it, or else for that of the run. What
    /// an optional leg met ends it if it was the last.
    fn approval_at(&self, page: &RequestPage) -> Option<usize> {
        let fault = match page.terminal {
            Some(met) => page.stop.or(Some(met).filter(|_| page.legs == 0 && page.barred.is_none()))?,
            None => self.run.terminal?,
        };
        // A run that a fault of another class stopped goes on for that one's approval alone.
        let is_stopped = self.run.terminal.is_some_and(|other| other.class != fault.class);
        if is_stopped { None } else { self.approval_for(fault.class) }
    }

    /// Whether something is approved after faults of this class.
    pub(in crate::judge) fn is_approved_for(&self, class: Class) -> bool {
        self.approval_for(class).is_some()
    }

    fn approval_for(&self, class: Class) -> Option<usize> {
        self.facts.approvals.iter().position(|approval| approval.on == class)
    }
}
