//! How what a gateway shows of itself reads.

use super::{Sink, Teller};
use crate::gateway::{FuseKind, Purse, Status, Task};
use crate::policy::ledger::Amount;
use crate::trace::field::Field;
use crate::units::Money;

impl<S: Sink> Teller<'_, S> {
    pub(super) fn status(&mut self, status: &Status) {
        match *status {
            Status::Breaker { breaker, state, retry_at } => {
                self.word(Field::Of, "breaker");
                self.name(Field::Breaker, self.catalog.breakers[breaker.index()]);
                self.word(Field::State, state.label());
                self.time_if(Field::RetryAt, retry_at);
            }
            Status::Health { health, state, until } => {
                self.word(Field::Of, "health");
                self.name(Field::Health, self.catalog.healths[health.index()]);
                self.word(Field::State, state.label());
                self.time_if(Field::Until, until);
            }
            Status::Bench { what, until } => {
                self.word(Field::Of, "bench");
                self.bench(what);
                self.time_if(Field::Until, until);
            }
            Status::Fuse { fuse, task, calls, state } => {
                self.word(Field::Of, "fuse");
                self.word(Field::Fuse, fuse.label());
                self.task_if(task);
                self.word(Field::State, state.label());
                self.count(Field::Calls, calls);
                self.limit_of(fuse);
            }
            Status::Stopped { project, failure } => {
                self.word(Field::Of, "stop");
                self.name_if(Field::Project, project.map(|id| self.catalog.projects[id.index()]));
                self.failure(failure);
            }
            Status::Budget { of, settled, held } => {
                self.word(Field::Of, "budget");
                let cap = self.purse(of);
                self.money_if(Field::Settled, settled.money, cap.money);
                self.money_if(Field::Held, held.money, cap.money);
                self.money_if(Field::Cap, cap.money, cap.money);
                if cap.tokens < u64::MAX {
                    self.count(Field::SettledTokens, settled.tokens);
                    self.count(Field::HeldTokens, held.tokens);
                    self.count(Field::CapTokens, cap.tokens);
                }
            }
        }
    }

    /// How much a fuse allows.
    fn limit_of(&mut self, fuse: FuseKind) {
        let limits = &self.catalog.limits;
        let (field, limit) = match fuse {
            FuseKind::CallsPerTask => (Field::CallsPerTask, limits.calls_per_task),
            FuseKind::CallsPerRun => (Field::CallsPerRun, limits.calls_per_run),
            FuseKind::IdenticalPerTask => (Field::IdenticalPerTask, limits.repeats.identical),
            FuseKind::FailingPerTask => (Field::FailingPerTask, limits.repeats.failing),
            FuseKind::Terminal => return,
        };
        if let Some(limit) = limit {
            self.count(field, limit);
        }
    }

    /// Whose money it is, and its cap.
    fn purse(&mut self, of: Purse) -> Amount {
        match of {
            Purse::Task(task) => {
                self.task_if(Some(task));
                self.catalog.tasks[usize::from(task.kind)].cap
            }
            Purse::Tenant(id) => {
                let tenant = self.catalog.tenants[id.index()];
                self.name(Field::Tenant, tenant.name);
                tenant.cap
            }
            Purse::Approval(at) => {
                let approval = self.catalog.approvals[usize::from(at)];
                self.route(approval.route);
                Amount { money: approval.cost_max, tokens: u64::MAX }
            }
        }
    }

    fn task_if(&mut self, task: Option<Task>) {
        if let Some(task) = task {
            self.task(self.roll.task(task));
        }
    }

    /// Money, where there is a cap of money.
    fn money_if(&mut self, field: Field, money: Money, cap: Money) {
        if cap < Money::MAX {
            self.money(field, money);
        }
    }
}
