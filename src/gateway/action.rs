//! What a gateway does.

use super::decision::{Basis, Decision, Freshness, FuseKind, HedgeSkip, WaitRefusal};
use super::policy::FuseScope;
use super::status::FuseState;
use crate::policy::eligibility::Reasons;
use crate::policy::ledger::Level;
use crate::policy::taxonomy::Class;
use crate::policy::{health, ranking};
use crate::units::{BreakerId, CallId, CredentialId, Duration, Money, Name, RequestId, RouteId, Timestamp};

/// What the world must carry out. Its tag stands in a byte of its own.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(u8)]
pub enum Action {
    /// Call an upstream.
    Call(Call),
    /// From here on the caller sees this call's bytes, and no other's.
    Commit {
        /// The request.
        request: RequestId,
        /// The call whose output is visible.
        call: CallId,
    },
    /// Stop a call. It is over only at its receipt.
    Cancel {
        /// The call.
        call: CallId,
        /// Why.
        why: Class,
    },
    /// Answer the caller. Once a request.
    Reply {
        /// The request.
        request: RequestId,
        /// The answer.
        outcome: Outcome,
        /// Calls made.
        attempts: u32,
        /// Time left until the deadline.
        left: Duration,
    },
    /// The last bill is in (or given up). Once a request, after the reply.
    Close {
        /// The request.
        request: RequestId,
        /// What it cost in all.
        spent: Money,
    },
}

/// One call to an upstream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Call {
    /// The call.
    pub call: CallId,
    /// For whom.
    pub request: RequestId,
    /// To which route.
    pub route: RouteId,
    /// With which credential.
    pub credential: CredentialId,
    /// Its number within the request, from one.
    pub nth: u32,
    /// Why it is made.
    pub role: Role,
    /// The breaker that admitted it.
    pub breaker: BreakerId,
    /// That breaker's generation; zero without a breaker.
    pub generation: u32,
}

/// Why a call is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The first of its request.
    Primary,
    /// Again on a route that failed.
    Retry,
    /// On another route.
    Fallback,
    /// On another route, while earlier ones are still awaited.
    Hedge,
    /// On the route that is approved after a terminal fault.
    Approved,
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Answered by this route.
    Answered {
        /// The route.
        route: RouteId,
    },
    /// The stream died after its first visible output.
    Truncated {
        /// The route.
        route: RouteId,
        /// Why.
        last: Failure,
    },
    /// A failure that must not be repeated elsewhere.
    Terminal {
        /// Its own name.
        last: Failure,
    },
    /// A limit ended the attempts.
    Exhausted {
        /// The limit.
        limit: Limit,
        /// The last real failure.
        last: Failure,
    },
    /// No affordable call is left.
    BudgetExceeded {
        /// The level whose cap refused.
        level: Level,
        /// The last real failure, if there was one.
        last: Option<Failure>,
    },
    /// Every route that may be used is closed for now.
    AllGated {
        /// When the first opens; `None` if only an operator can tell.
        retry_at: Option<Timestamp>,
        /// The last real failure, if there was one.
        last: Option<Failure>,
    },
    /// Routes may be used, but each is unhealthy and the policy never calls unhealthy routes.
    NoCandidate {
        /// When the first is no longer unhealthy.
        retry_at: Option<Timestamp>,
        /// The last real failure, if there was one.
        last: Option<Failure>,
    },
    /// No route may be used for this request.
    NoEligibleRoute,
    /// The deadline came.
    DeadlineExceeded {
        /// The last real failure, if there was one.
        last: Option<Failure>,
    },
    /// A fuse is blown.
    Stopped {
        /// Which.
        reason: StopReason,
        /// The last real failure, if there was one.
        last: Option<Failure>,
    },
    /// The caller hung up.
    Abandoned,
}

/// Which fuse stops a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopReason {
    /// The task has made its calls.
    CallsPerTask,
    /// The run has made its calls.
    CallsPerRun,
    /// The task has asked the same too often in a row.
    IdenticalPerTask,
    /// Too many calls of the task have failed in a row.
    FailingPerTask,
    /// A terminal fault of an earlier call.
    Terminal(Failure),
}

impl StopReason {
    /// The terminal fault, if it is one; else calls were counted.
    pub const fn fault(self) -> Option<Failure> {
        match self {
            StopReason::Terminal(failure) => Some(failure),
            StopReason::CallsPerTask
            | StopReason::CallsPerRun
            | StopReason::IdenticalPerTask
            | StopReason::FailingPerTask => None,
        }
    }

    /// The fuse that it tells of.
    pub const fn fuse(self) -> FuseKind {
        match self {
            StopReason::CallsPerTask => FuseKind::CallsPerTask,
            StopReason::CallsPerRun => FuseKind::CallsPerRun,
            StopReason::IdenticalPerTask => FuseKind::IdenticalPerTask,
            StopReason::FailingPerTask => FuseKind::FailingPerTask,
            StopReason::Terminal(_) => FuseKind::Terminal,
        }
    }
}

/// The name of a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failure {
    /// What it means.
    pub class: Class,
    /// The provider's code, or the status in words; `None` if we stopped the call ourselves.
    pub code: Option<Name>,
}

/// A limit that ended the attempts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The attempt budget.
    Attempts,
    /// Calls on each route that may be used.
    Routes,
    /// The wait before the next attempt does not fit the deadline.
    Time,
    /// How often a request may look for a route.
    Seeks,
}

/// One route, considered for a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// The route.
    pub route: RouteId,
    /// What became of it.
    pub verdict: Verdict,
    /// The most that a call on it can cost.
    pub worst_case: Money,
    /// The health of a route that may be used: one that is not healthy is named when it is chosen. For the
    /// others nobody looks.
    pub health: health::State,
}

/// What became of a considered route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The best: it beat the runner-up by this key; `None` if it was the only one.
    Chosen {
        /// The deciding key.
        by: Option<ranking::Key>,
    },
    /// Usable, but another beat it.
    Outranked {
        /// The deciding key.
        by: ranking::Key,
    },
    /// May not be used.
    Excluded {
        /// Why.
        reasons: Reasons,
        /// The first capability that it lacks, as a position in the catalogue.
        missing: Option<u8>,
    },
    /// Closed for now.
    Gated {
        /// Why.
        gate: Gate,
        /// When it opens; `None` if only an operator can tell.
        retry_at: Option<Timestamp>,
    },
    /// Called often enough by this request.
    Spent,
    /// Another leg of this request is on it.
    Taken,
    /// After a terminal fault another route is approved.
    Unapproved,
    /// Its worst case does not fit what is left.
    Unaffordable {
        /// The level whose cap refuses.
        level: Level,
    },
}

/// What closes a route for a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gate {
    /// Its breaker.
    Breaker,
    /// A bench of it, or of all its credentials.
    Cooldown,
    /// No slot is free: on the route, for the task or for the tenant.
    Concurrency,
    /// It is unhealthy, and the policy never calls unhealthy routes.
    Health,
    /// A terminal fault of its account.
    Fuse(Failure),
}

impl Gate {
    /// The word in events.
    pub const fn label(self) -> &'static str {
        match self {
            Gate::Breaker => "breaker",
            Gate::Cooldown => "cooldown",
            Gate::Concurrency => "concurrency",
            Gate::Health => "health",
            Gate::Fuse(_) => "fuse",
        }
    }
}

/// One thing that a gateway did or said. Which it is stands in a byte of its own: everybody asks that first.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(u8)]
pub enum Effect {
    /// It did.
    Act(Action),
    /// It said.
    Decide(Decision),
    /// It weighed these candidates (a range of [`Effects::candidates`]).
    Consider {
        /// For which request.
        request: RequestId,
        /// The first candidate.
        first: u32,
        /// How many.
        count: u32,
    },
}

/// What one input caused, in causal order. Reused: it allocates only while it grows.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// The effects.
    pub list: Vec<Effect>,
    /// The candidates of all [`Effect::Consider`]s.
    pub candidates: Vec<Candidate>,
}

impl Effects {
    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        self.list.clear();
        self.candidates.clear();
    }

    pub(super) fn act(&mut self, action: Action) {
        self.list.push(Effect::Act(action));
    }

    /// It weighs these candidates: they are here, to be told what became of them.
    pub(super) fn consider(&mut self, request: RequestId, rows: &[Candidate]) -> &mut [Candidate] {
        let first = self.candidates.len();
        self.candidates.extend_from_slice(rows);
        self.list.push(Effect::Consider { request, first: first as u32, count: rows.len() as u32 });
        &mut self.candidates[first..]
    }

    pub(super) fn decide(&mut self, decision: Decision) {
        self.list.push(Effect::Decide(decision));
    }
}

impl Outcome {
    /// The word in events.
    pub const fn label(&self) -> &'static str {
        match self {
            Outcome::Answered { .. } => "answered",
            Outcome::Truncated { .. } => "truncated",
            Outcome::Terminal { .. } => "terminal",
            Outcome::Exhausted { .. } => "exhausted",
            Outcome::BudgetExceeded { .. } => "BUDGET_EXCEEDED",
            Outcome::AllGated { .. } => "all_gated",
            Outcome::NoCandidate { .. } => "no_candidate",
            Outcome::NoEligibleRoute => "no_eligible_route",
            Outcome::DeadlineExceeded { .. } => "deadline_exceeded",
            Outcome::Stopped { reason, .. } => match reason.fault() {
                None => "CALL_BUDGET_EXCEEDED",
                Some(_) => "stopped",
            },
            Outcome::Abandoned => "abandoned",
        }
    }
}

/// The words of small enums in events.
macro_rules! labels {
    ($($kind:ident { $($variant:ident => $word:literal),+ $(,)? })+) => { $(
        impl $kind {
            /// The word in events.
            pub const fn label(self) -> &'static str {
                match self { $($kind::$variant => $word),+ }
            }
        }
    )+ };
}

labels! {
    Role { Primary => "primary", Retry => "retry", Fallback => "fallback", Hedge => "hedge", Approved => "approved" }
    Limit {
        Attempts => "attempts", Routes => "routes", Time => "time", Seeks => "seeks",
    }
    HedgeSkip {
        Attempts => "attempts", Money => "money", Slot => "slot", Fuse => "fuse", Route => "route",
    }
    FuseKind {
        CallsPerTask => "calls_per_task", CallsPerRun => "calls_per_run",
        IdenticalPerTask => "identical_per_task", FailingPerTask => "failing_per_task", Terminal => "terminal",
    }
    FuseState { Whole => "whole", Blown => "BLOWN" }
    FuseScope { Request => "request", Account => "account", Run => "run" }
    Freshness { Fresh => "fresh", Stale => "stale" }
    Basis { Receipt => "receipt", Assumed => "assumed", Corrected => "corrected" }
    WaitRefusal { Deadline => "deadline", TooLong => "too_long" }
}
