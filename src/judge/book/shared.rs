//! What several requests share: tasks, tenants, what is approved, and the slots on routes.

use super::{Account, CallPage, approvals};
use crate::gateway::{FuseKind, Payer};
use crate::policy::ledger::Amount;
use crate::sim::{Catalog, TaskName, TenantFact};
use crate::units::{RouteId, Timestamp};
use std::num::NonZeroU64;

/// What several requests share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) tasks: Vec<TaskPage>,
    pub(super) tenants: Vec<TenantPage>,
    /// What calls cost that were approved after a terminal fault.
    pub(super) approvals: Vec<Account>,
    /// Slots taken on each route.
    pub(super) legs: Vec<u32>,
}

/// A task.
#[derive(Clone, Copy, Debug)]
pub struct TaskPage {
    /// Tells the users of one slot apart.
    pub serial: u32,
    /// Its name.
    pub name: TaskName,
    /// Its account.
    pub account: Account,
    /// Calls begun.
    pub calls: u64,
    /// Slots that its calls take.
    pub legs: u32,
    /// What its calls repeat.
    pub row: Row,
    /// Which of its fuses blew, as the gateway says.
    pub blown: Option<FuseKind>,
    /// Whether requests of it may come.
    pub is_open: bool,
}

/// A tenant.
#[derive(Clone, Copy, Debug)]
pub struct TenantPage {
    /// Its account.
    pub account: Account,
    /// Slots that its calls take.
    pub legs: u32,
}

/// Calls of a task in a row.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row {
    /// What the last one asked, if it said so.
    content: Option<NonZeroU64>,
    /// How many asked that.
    pub identical: u64,
    /// How many failed, with no answer since.
    pub failing: u64,
}

impl Row {
    /// How many ask the same with one more call that asks this.
    pub fn with(&self, content: Option<NonZeroU64>) -> u64 {
        if content.is_some() && content == self.content { self.identical + 1 } else { 1 }
    }
}

/// How a call ended for its task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mark {
    Answered,
    Failed,
}

/// Whether a call takes a slot: from its beginning until its receipt is in or given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// It does.
    Taken,
    /// It does not, or no longer.
    Free,
}

impl Shared {
    /// Nothing is spent and no slot taken.
    pub(super) fn new(facts: &Catalog) -> Shared {
        Shared {
            tasks: TaskPage::groups(facts),
            tenants: TenantPage::all(facts),
            approvals: approvals::accounts(facts),
            legs: vec![0; facts.routes.len()],
        }
    }

    pub(super) fn task_mut(&mut self, payer: &Payer) -> Option<&mut TaskPage> {
        self.tasks.get_mut(payer.task?.id.index())
    }

    /// The task of a call, if it is still in its slot.
    fn task_of(&mut self, call: &CallPage) -> Option<&mut TaskPage> {
        self.task_mut(&call.payer).filter(|task| task.serial == call.task_serial)
    }

    fn tenant_mut(&mut self, payer: &Payer) -> Option<&mut TenantPage> {
        self.tenants.get_mut(payer.tenant?.index())
    }

    /// A call of this payer that asks this takes its slots, is counted, and stands against the accounts at its worst.
    /// Tells which user of its slot the task is, and the tenant's window.
    #[inline]
    pub(super) fn begin(
        &mut self,
        payer: &Payer,
        content: Option<NonZeroU64>,
        (route, worst_case, at): (RouteId, Amount, Timestamp),
    ) -> (u32, u64) {
        if let Some(legs) = self.legs.get_mut(route.index()) {
            *legs += 1;
        }
        let mut window = 0;
        if let Some(tenant) = self.tenant_mut(payer) {
            tenant.legs += 1;
            window = tenant.account.hold(worst_case, at);
        }
        let Some(task) = self.task_mut(payer) else { return (0, window) };
        task.account.hold(worst_case, at);
        task.calls += 1;
        task.legs += 1;
        (task.row.identical, task.row.content) = (task.row.with(content), content);
        (task.serial, window)
    }

    /// A call takes no slot any more.
    #[inline]
    pub(super) fn vacate(&mut self, call: &mut CallPage) {
        if std::mem::replace(&mut call.slot, Slot::Free) == Slot::Free {
            return;
        }
        if let Some(legs) = self.legs.get_mut(call.route.index()) {
            *legs -= 1;
        }
        if let Some(tenant) = self.tenant_mut(&call.payer) {
            tenant.legs -= 1;
        }
        if let Some(task) = self.task_of(call) {
            task.legs -= 1;
        }
    }

    /// A call is charged to every account that still counts it.
    #[inline(always)]
    pub(super) fn charge(&mut self, call: &CallPage, billed: Amount) {
        if let Some(task) = self.task_of(call) {
            task.account.settle(0, call.worst_case, billed);
        }
        if let Some(at) = call.approval {
            self.approvals[usize::from(at)].settle(0, call.worst_case, billed);
        }
        if let Some(tenant) = self.tenant_mut(&call.payer) {
            tenant.account.settle(call.window, call.worst_case, billed);
        }
    }

    /// A call that was still wanted was answered, or it failed: the gateway is told.
    #[inline]
    pub(super) fn mark(&mut self, call: &CallPage, result: Mark) {
        if let Some(task) = self.task_of(call) {
            task.row.failing = match result {
                Mark::Answered => 0,
                Mark::Failed => task.row.failing + 1,
            };
        }
    }
}

impl TaskPage {
    pub(super) fn new(facts: &Catalog, serial: u32, name: TaskName) -> TaskPage {
        let cap = facts.tasks.get(usize::from(name.kind)).map(|kind| kind.cap).unwrap_or_default();
        let account = Account::new(cap, None);
        TaskPage { serial, name, account, calls: 0, legs: 0, row: Row::default(), blown: None, is_open: true }
    }

    /// Tasks that only group listed requests: one of each kind.
    fn groups(facts: &Catalog) -> Vec<TaskPage> {
        let kinds = 0..facts.tasks.len() as u16;
        kinds.map(|kind| TaskPage::new(facts, 0, TaskName { kind, ordinal: None })).collect()
    }
}

impl TenantPage {
    /// One a tenant.
    fn all(facts: &Catalog) -> Vec<TenantPage> {
        let page =
            |tenant: &TenantFact| TenantPage { account: Account::new(tenant.cap, tenant.window), legs: 0 };
        facts.tenants.iter().map(page).collect()
    }
}
