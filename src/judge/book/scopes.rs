//! What is counted for more than one request: calls and legs of a task and of the run, legs on a route and for a
//! tenant, and what a true terminal fault closes.

use super::{Account, Book, CallPhase, Fault, Place, RequestPage};
use crate::gateway::{FuseKind, FuseScope, Payer};
use crate::policy::fuse::Repeats;
use crate::policy::ledger::Amount;
use crate::sim::{Catalog, Limits, TaskName, TenantFact};
use crate::units::{CallId, CredentialId, ProjectId, RequestId, RouteId, TaskId, Timestamp};

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
    content: Option<u64>,
    /// How many asked that.
    pub identical: u64,
    /// How many failed, with no answer since.
    pub failing: u64,
}

impl Row {
    /// How many ask the same with one more call that asks this.
    pub fn with(&self, content: Option<u64>) -> u64 {
        if content.is_some() && content == self.content { self.identical + 1 } else { 1 }
    }
}

/// Whether a fuse is blown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fuse {
    /// It is not.
    #[default]
    Whole,
    /// It is, and stays so.
    Blown,
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

/// The whole run.
#[derive(Clone, Debug)]
pub struct RunPage {
    /// Calls begun.
    pub calls: u64,
    /// Requests that wait for a slot.
    pub waiting: u32,
    /// Its fuse, as the gateway says.
    pub fuse: Fuse,
    /// The first true terminal fault, if such a fault stops the run: what is blown stays so, by its name.
    pub terminal: Option<Fault>,
    /// For each project the first, if such a fault stops the account.
    accounts: Vec<Option<Fault>>,
    /// Slots taken on each route.
    routes: Vec<u32>,
}

/// Whether requests stop each other by nothing but money.
pub(super) fn are_apart(limits: &Limits) -> bool {
    let slots = limits.route_legs_max.min(limits.task_legs_max).min(limits.tenant_legs_max);
    let is_fused = limits.calls_per_task.is_some() || limits.calls_per_run.is_some();
    slots == u32::MAX
        && !is_fused
        && limits.repeats == Repeats::default()
        && limits.terminal_scope == FuseScope::Request
}

impl TaskPage {
    fn new(facts: &Catalog, serial: u32, name: TaskName) -> TaskPage {
        let cap = facts.tasks.get(usize::from(name.kind)).map(|kind| kind.cap).unwrap_or_default();
        let account = Account::new(cap, None);
        TaskPage { serial, name, account, calls: 0, legs: 0, row: Row::default(), blown: None, is_open: true }
    }

    /// Tasks that only group listed requests: one of each kind.
    pub(super) fn groups(facts: &Catalog) -> Vec<TaskPage> {
        let kinds = 0..facts.tasks.len() as u16;
        kinds.map(|kind| TaskPage::new(facts, 0, TaskName { kind, ordinal: None })).collect()
    }
}

impl TenantPage {
    /// One a tenant.
    pub(super) fn all(facts: &Catalog) -> Vec<TenantPage> {
        let page =
            |tenant: &TenantFact| TenantPage { account: Account::new(tenant.cap, tenant.window), legs: 0 };
        facts.tenants.iter().map(page).collect()
    }
}

impl RunPage {
    pub(super) fn new(facts: &Catalog) -> RunPage {
        RunPage {
            calls: 0,
            waiting: 0,
            fuse: Fuse::Whole,
            terminal: None,
            accounts: vec![None; facts.projects.len()],
            routes: vec![0; facts.routes.len()],
        }
    }
}

impl Book<'_> {
    /// A task began.
    pub(in crate::judge) fn begin_task(&mut self, task: TaskId, name: TaskName) {
        let fresh = TaskPage::new(self.facts, 0, name);
        while self.tasks.len() <= task.index() {
            self.tasks.push(fresh);
        }
        let serial = self.tasks[task.index()].serial + 1;
        self.tasks[task.index()] = TaskPage { serial, ..fresh };
    }

    /// A task is over.
    pub(in crate::judge) fn end_task(&mut self, task: TaskId) {
        if let Some(page) = self.tasks.get_mut(task.index()) {
            page.is_open = false;
        }
    }

    /// Tasks that are open, by their slots.
    pub(super) fn open_tasks(&self) -> impl Iterator<Item = (TaskId, &TaskPage)> {
        let slots = self.tasks.iter().enumerate().map(|(at, page)| (TaskId(at as u32), page));
        slots.filter(|(_, page)| page.is_open)
    }

    /// The task of a payer.
    pub fn task(&self, payer: &Payer) -> Option<&TaskPage> {
        self.tasks.get(payer.task?.id.index())
    }

    pub(super) fn task_mut(&mut self, payer: &Payer) -> Option<&mut TaskPage> {
        self.tasks.get_mut(payer.task?.id.index())
    }

    /// The tenant of a payer.
    pub fn tenant(&self, payer: &Payer) -> Option<&TenantPage> {
        self.tenants.get(payer.tenant?.index())
    }

    /// Slots taken on a route.
    pub fn legs_on(&self, route: RouteId) -> u32 {
        self.run.routes.get(route.index()).copied().unwrap_or(0)
    }

    /// Slots taken for the tenant of a payer.
    pub fn legs_for_tenant(&self, payer: &Payer) -> u32 {
        self.tenant(payer).map_or(0, |tenant| tenant.legs)
    }

    /// Whether no slot is free for another call of this payer, whatever the route.
    pub fn is_full_for(&self, payer: &Payer) -> bool {
        let limits = &self.facts.limits;
        self.task(payer).is_some_and(|task| task.legs >= limits.task_legs_max)
            || self.legs_for_tenant(payer) >= limits.tenant_legs_max
    }

    /// Whether no slot is free on a route.
    pub fn is_full(&self, route: RouteId) -> bool {
        self.legs_on(route) >= self.facts.limits.route_legs_max
    }

    /// A request waits for a slot.
    pub(in crate::judge) fn queue(&mut self, request: RequestId) {
        if let Some(page) = self.requests.get_mut(request.index())
            && page.place == Place::Nowhere
        {
            page.place = Place::InTheQueue;
            self.run.waiting += 1;
        }
    }

    /// It does not, or no longer: it looks again, or is answered.
    #[inline]
    pub(super) fn quit(&mut self, request: RequestId) {
        if let Some(page) = self.requests.get_mut(request.index())
            && page.place == Place::InTheQueue
        {
            page.place = Place::Nowhere;
            self.run.waiting -= 1;
        }
    }

    /// A call of this payer that asks this takes its slots, is counted, and stands against the accounts of several at its
    /// worst. Tells which user of its slot the task is, and the tenant's window.
    pub(super) fn count(
        &mut self,
        payer: &Payer,
        content: Option<u64>,
        (route, worst_case, at): (RouteId, Amount, Timestamp),
    ) -> (u32, u64) {
        self.run.calls += 1;
        if let Some(legs) = self.run.routes.get_mut(route.index()) {
            *legs += 1;
        }
        let mut window = 0;
        if let Some(tenant) = payer.tenant.and_then(|tenant| self.tenants.get_mut(tenant.index())) {
            tenant.legs += 1;
            window = tenant.account.hold(worst_case, at);
        }
        let Some(task) = payer.task.and_then(|task| self.tasks.get_mut(task.id.index())) else {
            return (0, window);
        };
        task.account.hold(worst_case, at);
        task.calls += 1;
        task.legs += 1;
        (task.row.identical, task.row.content) = (task.row.with(content), content);
        (task.serial, window)
    }

    /// A call that was still wanted was answered, or it failed: the gateway is told.
    #[inline]
    pub(super) fn mark(&mut self, payer: &Payer, serial: u32, result: Mark) {
        if let Some(task) = self.task_mut(payer).filter(|task| task.serial == serial) {
            task.row.failing = match result {
                Mark::Answered => 0,
                Mark::Failed => task.row.failing + 1,
            };
        }
    }

    /// A call takes no slot any more.
    pub(super) fn vacate(&mut self, call: CallId) {
        let Some(page) = self.calls.get_mut(call.index()).filter(|page| page.slot == Slot::Taken) else {
            return;
        };
        page.slot = Slot::Free;
        let (payer, route, serial) = (page.payer, page.route, page.task_serial);
        if let Some(legs) = self.run.routes.get_mut(route.index()) {
            *legs -= 1;
        }
        if let Some(tenant) = payer.tenant.and_then(|tenant| self.tenants.get_mut(tenant.index())) {
            tenant.legs -= 1;
        }
        if let Some(task) = self.task_mut(&payer).filter(|task| task.serial == serial) {
            task.legs -= 1;
        }
    }

    /// A fuse blew, as the gateway says.
    pub(in crate::judge) fn blow(&mut self, fuse: FuseKind, payer: &Payer) {
        match fuse {
            FuseKind::CallsPerTask | FuseKind::IdenticalPerTask | FuseKind::FailingPerTask => {
                if let Some(task) = self.task_mut(payer) {
                    task.blown.get_or_insert(fuse);
                }
            }
            FuseKind::CallsPerRun => self.run.fuse = Fuse::Blown,
            FuseKind::Terminal => {}
        }
    }

    /// A true terminal fault closes what the policy promises to stop.
    #[cold]
    pub(super) fn close_scope(&mut self, key: CredentialId, fault: Fault) {
        match self.facts.limits.terminal_scope {
            FuseScope::Request => {}
            FuseScope::Account => {
                let project = self.facts.credentials.get(key.index()).map(|key| key.project);
                let account = project.and_then(|project| self.run.accounts.get_mut(project.index()));
                if let Some(account) = account {
                    account.get_or_insert(fault);
                }
            }
            FuseScope::Run => {
                self.run.terminal.get_or_insert(fault);
            }
        }
    }

    /// The terminal fault that closed the account of a credential.
    pub fn closed(&self, key: CredentialId) -> Option<Fault> {
        let project = self.facts.credentials.get(key.index())?.project;
        self.run.accounts.get(project.index()).copied().flatten()
    }

    /// The terminal fault that closed the first account with which a route can be called, if the others are, too.
    pub fn all_closed(&self, route: RouteId) -> Option<Fault> {
        let pool = &self.route(route)?.pool;
        let first = pool.first().and_then(|key| self.closed(*key))?;
        pool.iter().all(|key| self.closed(*key).is_some()).then_some(first)
    }

    /// Projects whose account a terminal fault closed, and the fault.
    pub(super) fn closed_accounts(&self) -> impl Iterator<Item = (ProjectId, Fault)> {
        let accounts = self.run.accounts.iter().enumerate();
        accounts.filter_map(|(at, fault)| Some((ProjectId(at as u16), (*fault)?)))
    }

    /// Any account that a terminal fault closed.
    pub fn any_closed(&self) -> impl Iterator<Item = Fault> {
        self.run.accounts.iter().copied().flatten()
    }

    /// Whether a call of this request is in flight on a route, and wanted.
    pub fn is_on(&self, request: &RequestPage, route: RouteId) -> bool {
        self.calls.iter().any(|call| {
            call.phase == CallPhase::Flying
                && call.is_wanted()
                && call.serial == request.serial
                && call.route == route
        })
    }

    /// The name of a task, for a reader.
    pub fn task_name(&self, name: TaskName) -> String {
        crate::trace::Text::Task(self.facts, name).to_string()
    }
}
