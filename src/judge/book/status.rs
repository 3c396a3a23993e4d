//! What a gateway has to show of itself when it is asked, worked out from the facts and the declared policy.

use super::{Account, Book, Fuse, TaskPage};
use crate::gateway::{FuseKind, FuseState, Purse, Status, Task};
use crate::policy::health;
use crate::policy::ledger::{Amount, Reserve};
use crate::units::{BreakerId, HealthId, TenantId, Timestamp};

impl Book<'_> {
    /// The gateway is asked: this must be shown, the last first.
    #[cold]
    pub(in crate::judge) fn expect_status(&mut self, at: Timestamp) {
        let mut all = Vec::new();
        self.machines_at(at, &mut all);
        self.benches_at(at, &mut all);
        let (run, limits) = (&self.run, &self.facts.limits);
        show(
            FuseKind::CallsPerRun,
            None,
            (limits.calls_per_run, run.calls, run.fuse == Fuse::Blown),
            &mut all,
        );
        all.extend(run.terminal.map(|fault| Status::Stopped { project: None, failure: fault.failure() }));
        for (project, fault) in self.closed_accounts() {
            all.push(Status::Stopped { project: Some(project), failure: fault.failure() });
        }
        for (at_slot, page) in self.open_tasks() {
            let task = Task { id: at_slot, kind: page.name.kind };
            self.fuses_of(task, page, &mut all);
            self.purse_at(at, Purse::Task(task), &page.account, &mut all);
        }
        for (tenant, page) in self.shared.tenants.iter().enumerate() {
            self.purse_at(at, Purse::Tenant(TenantId(tenant as u16)), &page.account, &mut all);
        }
        for (approval, account) in self.shared.approvals.iter().enumerate() {
            self.purse_at(at, Purse::Approval(approval as u16), account, &mut all);
        }
        all.reverse();
        self.to_show = all;
    }

    fn machines_at(&self, at: Timestamp, all: &mut Vec<Status>) {
        for breaker in (0..self.facts.breakers.len()).map(|at| BreakerId(at as u16)) {
            if let Some(machine) = self.machines.breaker(breaker).filter(|machine| !machine.is_closed()) {
                let seen = machine.status(at);
                let retry_at = Some(seen.retry_at).filter(|at| *at != Timestamp::MAX);
                all.push(Status::Breaker { breaker, state: seen.state, retry_at });
            }
        }
        for health in (0..self.facts.healths.len()).map(|at| HealthId(at as u16)) {
            let machine = self.machines.health(health).filter(|one| one.state() != health::State::Healthy);
            all.extend(machine.map(|one| Status::Health { health, state: one.state(), until: one.until() }));
        }
    }

    fn benches_at(&self, at: Timestamp, all: &mut Vec<Status>) {
        let each = self.facts.benches().map(|what| (what, self.benches.until(what)));
        let until = each.filter(|(_, until)| *until > at);
        all.extend(until.map(|(what, until)| Status::Bench { what, until }));
    }

    fn fuses_of(&self, task: Task, page: &TaskPage, all: &mut Vec<Status>) {
        let limits = &self.facts.limits;
        let fuses = [
            (FuseKind::CallsPerTask, limits.calls_per_task, page.calls),
            (FuseKind::IdenticalPerTask, limits.repeats.identical, page.row.identical),
            (FuseKind::FailingPerTask, limits.repeats.failing, page.row.failing),
        ];
        for (fuse, limit, calls) in fuses {
            show(fuse, Some(task), (limit, calls, page.blown == Some(fuse)), all);
        }
    }

    fn purse_at(&self, at: Timestamp, of: Purse, account: &Account, all: &mut Vec<Status>) {
        let (settled, held) = account.parts(at);
        if account.cap != Amount::MAX && settled.plus(held) != Amount::ZERO {
            all.push(Status::Budget { of, settled, held });
        }
    }

    /// Takes the next thing that must be shown, if this is it. A bill that is assumed is settled for the gateway, and
    /// still held for who knows that it may come: together they are the same. Who does not reserve holds nothing.
    pub(in crate::judge) fn is_to_be_shown(&mut self, shown: &Status) -> bool {
        let next = self.to_show.pop();
        match (next, *shown) {
            (
                Some(Status::Budget { of, settled, held }),
                Status::Budget { of: purse, settled: theirs, held: holds },
            ) => {
                let is_reserved = self.facts.limits.reserve == Reserve::Reserve;
                of == purse && (!is_reserved || settled.plus(held) == theirs.plus(holds))
            }
            (next, shown) => next == Some(shown),
        }
    }
}

fn show(
    fuse: FuseKind,
    task: Option<Task>,
    (limit, calls, is_blown): (Option<u64>, u64, bool),
    all: &mut Vec<Status>,
) {
    if limit.is_some() && (calls > 0 || is_blown) {
        let state = if is_blown { FuseState::Blown } else { FuseState::Whole };
        all.push(Status::Fuse { fuse, task, calls, state });
    }
}
