//! What a gateway shows of itself when it is asked: whatever is not at rest. It changes nothing.

use super::Gateway;
use super::action::{Effects, Failure};
use super::decision::{Decision, FuseKind};
use super::policy::Task;
use crate::policy::cooldown::Bench;
use crate::policy::ledger::{AccountId, Amount};
use crate::policy::{breaker, health};
use crate::units::{BreakerId, HealthId, ProjectId, TenantId, Timestamp};

/// One thing that is not at rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// A breaker that is not closed.
    Breaker {
        /// Which.
        breaker: BreakerId,
        /// Its state.
        state: breaker::State,
        /// When it lets the next call through; `None` is when an operator says so.
        retry_at: Option<Timestamp>,
    },
    /// An upstream that is not healthy.
    Health {
        /// Which.
        health: HealthId,
        /// Its state.
        state: health::State,
        /// Until when it is unhealthy by itself.
        until: Option<Timestamp>,
    },
    /// A bench in force.
    Bench {
        /// What is benched.
        what: Bench,
        /// Until when; [`Timestamp::MAX`] is until an operator frees it.
        until: Timestamp,
    },
    /// A count fuse that has counted.
    Fuse {
        /// Which.
        fuse: FuseKind,
        /// Whose; `None` is the run's.
        task: Option<Task>,
        /// What it has counted.
        calls: u64,
        /// Whether it is blown.
        state: FuseState,
    },
    /// What a terminal fault has stopped.
    Stopped {
        /// The account; `None` is the run.
        project: Option<ProjectId>,
        /// The fault.
        failure: Failure,
    },
    /// A capped account on which something stands.
    Budget {
        /// Whose.
        of: Purse,
        /// What is settled in its current window.
        settled: Amount,
        /// What calls in flight may cost.
        held: Amount,
    },
}

/// Whether a fuse is blown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FuseState {
    /// It is not.
    Whole,
    /// It is, and stays so.
    Blown,
}

/// Whose money it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purse {
    /// A task's.
    Task(Task),
    /// A tenant's.
    Tenant(TenantId),
    /// What is approved after a terminal fault, by position.
    Approval(u16),
}

impl FuseState {
    pub(super) const fn of(is_blown: bool) -> FuseState {
        if is_blown { FuseState::Blown } else { FuseState::Whole }
    }
}

impl Gateway {
    /// Whatever is not at rest at `now`: breakers, health, benches, fuses of the run, stopped accounts, then fuses and
    /// budget of each open task, then budgets of tenants and approvals; each by its id.
    pub fn status(&self, now: Timestamp, mut tell: impl FnMut(Status)) {
        self.fleet.status(now, &mut tell);
        self.stops.status(&mut tell);
        for open in self.stops.open_tasks() {
            open.fuses(&self.policy.fuse, &mut tell);
            self.purse(now, Purse::Task(open.task), open.account, &mut tell);
        }
        for (at, account) in self.tenants.iter().enumerate() {
            self.purse(now, Purse::Tenant(TenantId(at as u16)), *account, &mut tell);
        }
        for (at, account) in self.approvals.iter().enumerate() {
            self.purse(now, Purse::Approval(at as u16), *account, &mut tell);
        }
    }

    fn purse(&self, now: Timestamp, of: Purse, account: AccountId, tell: &mut impl FnMut(Status)) {
        if let Some(standing) = self.ledger.standing(now, account)
            && standing.cap != Amount::MAX
            && standing.settled.plus(standing.held) != Amount::ZERO
        {
            tell(Status::Budget { of, settled: standing.settled, held: standing.held });
        }
    }

    pub(super) fn show(&self, now: Timestamp, out: &mut Effects) {
        self.status(now, |status| out.decide(Decision::Shown(status)));
    }
}
