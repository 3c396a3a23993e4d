//! Fuses: what stops a task, an account or the whole run, and what waits when one blows.

use super::Gateway;
use super::action::{Effects, Failure, Outcome, StopReason};
use super::decision::{Decision, FuseKind};
use super::input::Request;
use super::live::Phase;
use super::policy::{Fuse, FuseScope, Payer, Task};
use super::status::{FuseState, Status};
use crate::policy::fuse::{Blown, CountFuse, News, Repeat, RepeatFuse};
use crate::policy::ledger::{AccountId, Amount, Ledger};
use crate::policy::taxonomy::Class;
use crate::units::{CredentialId, ProjectId, RequestId, TaskId, Timestamp};

/// The fuses, and the accounts of open tasks.
#[derive(Debug)]
pub(super) struct Stops {
    policy: Fuse,
    run: CountFuse,
    tasks: Vec<Option<OpenTask>>,
    /// The first terminal fault, if such a fault stops the run.
    terminal: Option<Failure>,
    /// For each project the first terminal fault: it closed it.
    accounts: Vec<Option<Failure>>,
}

#[derive(Debug)]
pub(super) struct OpenTask {
    pub(super) task: Task,
    pub(super) account: AccountId,
    fuse: CountFuse,
    repeats: RepeatFuse,
}

impl Stops {
    pub(super) const fn new(policy: Fuse) -> Stops {
        let run = CountFuse::new(policy.calls_per_run);
        Stops { policy, run, tasks: Vec::new(), terminal: None, accounts: Vec::new() }
    }

    /// The account of a task; opened by its first request.
    pub(super) fn account(&mut self, task: Task, caps: &[Amount], ledger: &mut Ledger) -> AccountId {
        let at = task.id.index();
        if self.tasks.len() <= at {
            self.tasks.resize_with(at + 1, || None);
        }
        let (limit, repeats) = (self.policy.calls_per_task, self.policy.repeats);
        let open = || OpenTask {
            task,
            account: ledger.open(caps[usize::from(task.kind)], None),
            fuse: CountFuse::new(limit),
            repeats: RepeatFuse::new(repeats),
        };
        self.tasks[at].get_or_insert_with(open).account
    }

    /// No request of the task will come any more.
    pub(super) fn end_task(&mut self, task: TaskId, ledger: &mut Ledger) {
        if let Some(open) = self.tasks.get_mut(task.index()).and_then(Option::take) {
            ledger.close(open.account);
        }
    }

    /// What stops a request of this payer, whatever route it would take.
    pub(super) fn reason(&self, payer: &Payer) -> Option<StopReason> {
        if let Some(failure) = self.terminal {
            return Some(StopReason::Terminal(failure));
        }
        if self.run.is_blown() {
            return Some(StopReason::CallsPerRun);
        }
        let task = self.task(payer)?;
        if task.fuse.is_blown() {
            return Some(StopReason::CallsPerTask);
        }
        task.repeats.blown().map(repeated)
    }

    /// Whether no fuse stops another call for this request, and it would blow none.
    pub(super) fn permits(&self, request: &Request) -> bool {
        self.terminal.is_none() && self.counts_permit(request)
    }

    /// The same for the fuses that count.
    pub(super) fn counts_permit(&self, request: &Request) -> bool {
        let is_free = |task: &OpenTask| task.fuse.permits() && task.repeats.permits(request.content);
        self.run.permits() && self.task(&request.payer).is_none_or(is_free)
    }

    /// A call of a task was answered, or it failed.
    pub(super) fn ended(&mut self, payer: &Payer, failure: Option<Failure>) {
        let task = payer.task.and_then(|task| self.tasks.get_mut(task.id.index())?.as_mut());
        match (task, failure) {
            (None, _) => {}
            (Some(task), None) => task.repeats.answered(),
            (Some(task), Some(_)) => task.repeats.failed(),
        }
    }

    /// The terminal fault that stopped the run.
    pub(super) const fn run_fault(&self) -> Option<Failure> {
        self.terminal
    }

    /// The terminal fault that closed the account of a project.
    pub(super) fn closed(&self, project: ProjectId) -> Option<Failure> {
        self.accounts.get(project.index()).copied().flatten()
    }

    /// Whether no account is closed.
    pub(super) const fn is_clear(&self) -> bool {
        self.accounts.is_empty()
    }

    /// Tasks that are open, by their slots.
    pub(super) fn open_tasks(&self) -> impl Iterator<Item = &OpenTask> {
        self.tasks.iter().flatten()
    }

    /// The fuses of the run and the accounts that are not at rest.
    pub(super) fn status(&self, tell: &mut impl FnMut(Status)) {
        let blown = self.run.is_blown();
        show(FuseKind::CallsPerRun, None, (self.policy.calls_per_run, self.run.calls(), blown), tell);
        if let Some(failure) = self.terminal {
            tell(Status::Stopped { project: None, failure });
        }
        for (at, failure) in self.accounts.iter().enumerate() {
            if let Some(failure) = *failure {
                tell(Status::Stopped { project: Some(ProjectId(at as u16)), failure });
            }
        }
    }

    fn task(&self, payer: &Payer) -> Option<&OpenTask> {
        self.tasks.get(payer.task?.id.index())?.as_ref()
    }

    /// A terminal fault was met on a project. What blew stays blown, by the fault that blew it: calls that were in
    /// flight may meet others.
    fn latch(&mut self, project: ProjectId, failure: Failure) -> News {
        let fuse = match self.policy.terminal {
            FuseScope::Request => return News::Old,
            FuseScope::Account => {
                if self.accounts.len() <= project.index() {
                    self.accounts.resize(project.index() + 1, None);
                }
                &mut self.accounts[project.index()]
            }
            FuseScope::Run => &mut self.terminal,
        };
        if fuse.is_some() {
            return News::Old;
        }
        *fuse = Some(failure);
        News::JustBlown
    }

    /// Counts a call that is about to be made, on every fuse or on none.
    #[inline]
    pub(super) fn tick(&mut self, request: &Request) -> Result<(), (StopReason, Blown)> {
        let mut task = request.payer.task.and_then(|task| self.tasks.get_mut(task.id.index())?.as_mut());
        if let Some(task) = &mut task {
            task.repeats.ask(request.content).map_err(|(repeat, blown)| (repeated(repeat), blown))?;
            task.fuse.ask().map_err(|blown| (StopReason::CallsPerTask, blown))?;
        }
        self.run.ask().map_err(|blown| (StopReason::CallsPerRun, blown))?;
        if let Some(task) = task {
            task.repeats.count(request.content);
            task.fuse.count();
        }
        self.run.count();
        Ok(())
    }
}

impl OpenTask {
    /// Its fuses that have counted.
    pub(super) fn fuses(&self, policy: &Fuse, tell: &mut impl FnMut(Status)) {
        let (task, blown) = (Some(self.task), self.repeats.blown());
        let (identical, failing) = self.repeats.rows();
        let calls = (policy.calls_per_task, self.fuse.calls(), self.fuse.is_blown());
        let identical = (policy.repeats.identical, identical, blown == Some(Repeat::Identical));
        let failing = (policy.repeats.failing, failing, blown == Some(Repeat::Failing));
        show(FuseKind::CallsPerTask, task, calls, tell);
        show(FuseKind::IdenticalPerTask, task, identical, tell);
        show(FuseKind::FailingPerTask, task, failing, tell);
    }
}

/// Shows a fuse that there is and that has counted: its limit, what it has counted, and whether it is blown.
fn show(
    fuse: FuseKind,
    task: Option<Task>,
    (limit, calls, is_blown): (Option<u64>, u64, bool),
    tell: &mut impl FnMut(Status),
) {
    if limit.is_some() && (calls > 0 || is_blown) {
        tell(Status::Fuse { fuse, task, calls, state: FuseState::of(is_blown) });
    }
}

impl Gateway {
    /// A count fuse refuses a call that a request is about to make: the request is stopped, and with it all that wait
    /// in the fuse's scope.
    #[inline(never)]
    pub(super) fn refuse_by_count(
        &mut self,
        now: Timestamp,
        id: RequestId,
        (reason, blown): (StopReason, Blown),
        out: &mut Effects,
    ) {
        if blown.news == News::JustBlown {
            out.decide(Decision::Blew { fuse: reason.fuse(), request: id, calls: blown.calls });
        }
        self.stop_request(now, id, reason, out);
        if blown.news == News::JustBlown {
            self.stop_waiting(now, None, out);
        }
    }

    /// A terminal fault was met: it may be more than this request's affair.
    pub(super) fn blow(
        &mut self,
        now: Timestamp,
        id: RequestId,
        key: CredentialId,
        failure: Failure,
        out: &mut Effects,
    ) {
        if !failure.class.is_terminal() {
            return;
        }
        if self.stops.latch(self.registry.credentials[key.index()], failure) == News::JustBlown {
            let calls = self.stops.run.calls();
            out.decide(Decision::Blew { fuse: FuseKind::Terminal, request: id, calls });
            self.stop_waiting(now, Some(id), out);
        }
    }

    /// Stops every request that waits for its next call and may not make it any more; but not the one that has just
    /// met the fault: it is answered by the fault's own name. Who may go on as approved waits on.
    fn stop_waiting(&mut self, now: Timestamp, but: Option<RequestId>, out: &mut Effects) {
        for at in 0..self.requests.slots() {
            let id = RequestId(at as u32);
            let Some(live) = self.requests.find(id) else { continue };
            let has_begun = live.phase == Phase::Open && live.attempts + live.seeks > 0;
            let is_waiting = has_begun && self.flying(id) == 0 && but != Some(id);
            let reason = self.stops.reason(&live.request.payer).filter(|_| is_waiting);
            if let Some(reason) = reason.filter(|reason| !self.is_approved(*reason)) {
                self.stop_request(now, id, reason, out);
            }
        }
    }

    pub(super) fn stop_request(
        &mut self,
        now: Timestamp,
        id: RequestId,
        reason: StopReason,
        out: &mut Effects,
    ) {
        let last = self.requests.get(id).last;
        self.reply(now, id, Outcome::Stopped { reason, last }, Class::Cancelled, out);
    }
}

/// How a fuse that blows at repetition is told.
const fn repeated(repeat: Repeat) -> StopReason {
    match repeat {
        Repeat::Identical => StopReason::IdenticalPerTask,
        Repeat::Failing => StopReason::FailingPerTask,
    }
}
