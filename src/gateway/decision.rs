//! Evidence: what a gateway says about why. It changes nothing.

use super::action::Failure;
use super::status::Status;
use crate::policy::cooldown::Bench;
use crate::policy::ledger::{Amount, Denied, Settlement};
use crate::policy::signal::Signal;
use crate::policy::taxonomy::{Class, Diagnosis};
use crate::policy::{breaker, health};
use crate::units::{
    BreakerId, CallId, CredentialId, Duration, HealthId, Money, RequestId, RouteId, Timestamp,
};

/// Evidence: why something was done. Changes nothing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Decision {
    /// The worst case of a call is set aside.
    Reserved {
        /// For which request.
        request: RequestId,
        /// For which route.
        route: RouteId,
        /// How much.
        amount: Amount,
        /// The tenant's window.
        window: u64,
    },
    /// The best affordable-looking route is not affordable; no call is made.
    Denied {
        /// The request.
        request: RequestId,
        /// The route.
        route: RouteId,
        /// The cap, and what stands against it.
        denied: Denied,
    },
    /// What a failure means.
    Classified {
        /// The call.
        call: CallId,
        /// The meaning.
        diagnosis: Diagnosis,
    },
    /// What a result said about health, and the counters after it.
    Signalled {
        /// The call.
        call: CallId,
        /// The breaker that was told.
        breaker: BreakerId,
        /// The health state that was told.
        health: HealthId,
        /// The class, if it failed.
        class: Option<Class>,
        /// What it said.
        signal: Signal,
        /// Whether the result counted.
        standing: Freshness,
        /// The breaker's failures after it.
        breaker_failures: u32,
        /// The health state's bad results in a row after it.
        health_failures: u32,
    },
    /// A breaker moved.
    BreakerMoved {
        /// The breaker.
        breaker: BreakerId,
        /// How.
        transition: breaker::Transition,
    },
    /// A health state moved.
    HealthMoved {
        /// The health state.
        health: HealthId,
        /// How.
        moved: health::Move,
    },
    /// Something is benched.
    Benched {
        /// What.
        what: Bench,
        /// Until when; [`Timestamp::MAX`] is until an operator frees it.
        until: Timestamp,
        /// For which class of failure.
        class: Class,
    },
    /// An operator freed it.
    Freed {
        /// What.
        what: Bench,
    },
    /// Somebody must look at this.
    Alerted {
        /// The credential concerned.
        credential: CredentialId,
        /// The failure.
        failure: Failure,
    },
    /// A call's cost is final, or assumed.
    Settled {
        /// The call.
        call: CallId,
        /// On what grounds.
        basis: Basis,
        /// Reserved, used, and the tenant's window.
        settlement: Settlement,
    },
    /// Another attempt is planned.
    RetryScheduled {
        /// The request.
        request: RequestId,
        /// When.
        at: Timestamp,
        /// How long from now.
        delay: Duration,
        /// How much of that the response asked for.
        hint: Duration,
        /// The route that would be called at that instant.
        route: RouteId,
        /// Its worst case.
        amount: Money,
    },
    /// A wait was not slept: it fits no budget.
    WaitRefused {
        /// The request.
        request: RequestId,
        /// The wait.
        wait: Duration,
        /// The time left.
        left: Duration,
        /// Why.
        why: WaitRefusal,
    },
    /// No other leg was started beside a slow one: an optional leg never harms the first.
    HedgeSkipped {
        /// The request.
        request: RequestId,
        /// Why.
        why: HedgeSkip,
    },
    /// The request waits for a slot.
    Queued {
        /// The request.
        request: RequestId,
        /// Requests that wait, this one included.
        waiting: u32,
    },
    /// A fuse blew.
    Blew {
        /// Which.
        fuse: FuseKind,
        /// The request whose call was refused, or whose fault blew it.
        request: RequestId,
        /// Calls that it counted.
        calls: u64,
    },
    /// Something that is not at rest, shown on demand.
    Shown(Status),
    /// We stopped a call that took too long.
    TimedOut {
        /// The call.
        call: CallId,
        /// Which timeout.
        class: Class,
    },
}

/// Why no other leg was started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HedgeSkip {
    /// The request has made its calls.
    Attempts,
    /// What is left does not pay for one.
    Money,
    /// No slot is free.
    Slot,
    /// A fuse would blow.
    Fuse,
    /// No other route can be called.
    Route,
}

/// A fuse.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FuseKind {
    /// Calls of a task.
    CallsPerTask,
    /// Calls of the run.
    CallsPerRun,
    /// Calls of a task in a row that ask the same.
    IdenticalPerTask,
    /// Calls of a task in a row that fail.
    FailingPerTask,
    /// A terminal fault.
    Terminal,
}

/// Whether a result counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Freshness {
    /// It did.
    Fresh,
    /// Its call began before the breaker's last move: it changes nothing.
    Stale,
}

/// On what grounds a call's cost is settled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Basis {
    /// Its receipt.
    Receipt,
    /// No receipt came in time: the worst case.
    Assumed,
    /// A late receipt replaced the assumed worst case.
    Corrected,
}

/// Why a wait was not slept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitRefusal {
    /// It would end after the deadline.
    Deadline,
    /// The response, a bench, or a breaker asks for more than the policy waits.
    TooLong,
}
