//! What is counted for more than one request: calls and legs of a task and of the run, legs on a route and for a
//! tenant, and what a true terminal fault closes.

use super::{Book, CallPhase, Fault, Place, RequestPage, TaskPage, TenantPage};
use crate::gateway::{FuseKind, FuseScope, Payer};
use crate::sim::{Catalog, TaskName};
use crate::units::{CredentialId, ProjectId, RequestId, RouteId, TaskId};

/// Whether a fuse is blown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fuse {
    /// It is not.
    #[default]
    Whole,
    /// It is, and stays so.
    Blown,
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
}

impl RunPage {
    pub(super) fn new(facts: &Catalog) -> RunPage {
        RunPage {
            calls: 0,
            waiting: 0,
            fuse: Fuse::Whole,
            terminal: None,
            accounts: vec![None; facts.projects.len()],
        }
    }
}

impl Book<'_> {
    /// A task began.
    pub(in crate::judge) fn begin_task(&mut self, task: TaskId, name: TaskName) {
        self.afforded = None;
        let fresh = TaskPage::new(self.facts, 0, name);
        while self.shared.tasks.len() <= task.index() {
            self.shared.tasks.push(fresh);
        }
        let serial = self.shared.tasks[task.index()].serial + 1;
        self.shared.tasks[task.index()] = TaskPage { serial, ..fresh };
    }

    /// A task is over.
    pub(in crate::judge) fn end_task(&mut self, task: TaskId) {
        if let Some(page) = self.shared.tasks.get_mut(task.index()) {
            page.is_open = false;
        }
    }

    /// Tasks that are open, by their slots.
    pub(super) fn open_tasks(&self) -> impl Iterator<Item = (TaskId, &TaskPage)> {
        let slots = self.shared.tasks.iter().enumerate().map(|(at, page)| (TaskId(at as u32), page));
        slots.filter(|(_, page)| page.is_open)
    }

    /// The task of a payer.
    pub fn task(&self, payer: &Payer) -> Option<&TaskPage> {
        self.shared.tasks.get(payer.task?.id.index())
    }

    /// The tenant of a payer.
    pub fn tenant(&self, payer: &Payer) -> Option<&TenantPage> {
        self.shared.tenants.get(payer.tenant?.index())
    }

    /// Slots taken on each route.
    pub(in crate::judge) fn legs(&self) -> &[u32] {
        &self.shared.legs
    }

    /// Slots taken on a route.
    pub fn legs_on(&self, route: RouteId) -> u32 {
        self.shared.legs.get(route.index()).copied().unwrap_or(0)
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

    /// A fuse blew, as the gateway says.
    pub(in crate::judge) fn blow(&mut self, fuse: FuseKind, payer: &Payer) {
        match fuse {
            FuseKind::CallsPerTask | FuseKind::IdenticalPerTask | FuseKind::FailingPerTask => {
                if let Some(task) = self.shared.task_mut(payer) {
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
