//! The kinds of events: who writes each, and with which fields.

use super::buffer::Padded;
use super::field::Field;
use crate::gateway::{Action, Decision};
use crate::sim::{Declared, What};

/// Who wrote an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Author {
    /// The world: a fact.
    World,
    /// The gateway: a claim.
    Gateway,
}

/// Room for every event.
pub(crate) const EVENT: usize = 32;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $label:literal $author:ident [$($field:ident)*])+) => {
        /// A kind of event.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        #[repr(u8)]
        pub enum Kind { $($(#[$doc])* $kind),+ }

        impl Kind {
            /// Every kind.
            pub const ALL: &[Kind] = &[$(Kind::$kind),+];

            /// The word under `event` in `events.jsonl`.
            pub const fn label(self) -> &'static str {
                match self { $(Kind::$kind => $label),+ }
            }

            /// Who writes it.
            pub const fn author(self) -> Author {
                match self { $(Kind::$kind => Author::$author),+ }
            }

            /// The fields that it can have, in the order in which they are written.
            pub const fn fields(self) -> &'static [Field] {
                match self { $(Kind::$kind => &[$(Field::$field),*]),+ }
            }
        }

        const EVENTS: &[Padded<EVENT>] = &[$(Padded::new(concat!(",\"event\":\"", $label, "\""))),+];
    };
}

kinds! {
    // Facts.
    /// How a layer above the innermost stands to the one below it.
    DeclaredLayer "declared_layer" World [
        Below StackCallsMax DeadlineBelow DeadlineBelowAfter CancelBelow HearsStatus
    ]
    /// The limits that the policy promises to keep, and the versions.
    DeclaredLimits "declared_limits" World [
        AttemptsMax CallsPerRouteMax SeeksMax LegsMax AttemptCostMax AttemptTokensMax ReserveRetries Reserve
        HintMax Backoff BackoffBase BackoffTimes BackoffTimesOf BackoffMax Jitter JitterShare JitterShareOf
        HedgeAfter HedgeAfterLeast AttemptTimeout FirstByteTimeout IdleTimeout ReceiptMax RateLimitCooldown
        QuotaCooldown RouteLegsMax TaskLegsMax TenantLegsMax
        QueueMax CallsPerTask CallsPerRun IdenticalPerTask FailingPerTask TerminalScope PreferredBy LatencyStep
        LatencySamplesMin StopClasses BadClasses GoodClasses DegradedAfter
        UnhealthyAfter HealthCooldown OpensOn OpensAfter OpensOf BreakerWindow BreakerWindowSize
        BreakerWindowLength BreakerMinimum SlowAbove SlowCalls SlowOf OpenFor ProbesMax ProbeTimeout CloseAfter
        LateResults NeutralResults Boundary WhenOpen PolicyVersion PricesVersion RegistryVersion
    ]
    /// A breaker that does not move as the limits say for all.
    DeclaredBreaker "declared_breaker" World [
        Breaker OpensOn OpensAfter OpensOf BreakerWindow BreakerWindowSize BreakerWindowLength BreakerMinimum
        SlowAbove SlowCalls SlowOf OpenFor ProbesMax ProbeTimeout CloseAfter LateResults NeutralResults Boundary
    ]
    /// A tenant and its cap.
    DeclaredTenant "declared_tenant" World [Tenant Cap CapTokens WindowLength]
    /// A task and its cap.
    DeclaredTask "declared_task" World [Task Cap CapTokens]
    /// A true quota.
    DeclaredQuota "declared_quota" World [Project Model QuotaLimit QuotaUsed]
    /// A route and what it truly offers.
    DeclaredRoute "declared_route" World [
        Route Provider Model Region Deployment DataClassMax Capabilities TaskTypes Protocol Contract ContextMax
        OutputMax InputPrice OutputPrice CacheReadPrice CacheWritePrice ImagePrice AudioPrice LongAbove
        LongInputPrice LongOutputPrice LongCacheReadPrice LongCacheWritePrice LongImagePrice LongAudioPrice
        Credentials CallsPerRouteMax Backoff BackoffBase BackoffTimes BackoffTimesOf BackoffMax Jitter JitterShare
        JitterShareOf AttemptTimeout FirstByteTimeout IdleTimeout LatencyP95 Quality Weight
    ]
    /// A route that may be called after a terminal fault, and the most that all such calls may cost.
    DeclaredApproval "declared_approval" World [Route Class Cap]
    /// A request came in.
    Arrived "arrived" World [
        Request Call Task Tenant Content Capabilities Regions Deployments DataClass TaskType Protocol Contract InputTokens
        CacheReadTokens CacheWriteTokens ImageTokens AudioTokens OutputMax Deadline CostMax TokensMax Delivery
        Effect Priority
    ]
    /// A task of several steps began.
    TaskBegan "task_began" World [Task]
    /// It is over: no request of it is open, and none will come.
    TaskEnded "task_ended" World [Task Elapsed Result]
    /// The caller of a request hung up.
    Abandoned "abandoned" World [Request]
    /// A timer of the gateway was due.
    Woke "woke" World [Wait Request Call Route Health]
    /// An operator intervened.
    Operated "operated" World [Command Scope Credential Project Model Provider Route Breaker Health]
    /// The run has come to rest: the gateway is asked how things stand.
    RunEnded "run_ended" World []
    /// An upstream took a call.
    CallBegun "call_begun" World [Request Call Route Credential Scripted]
    /// The first output of a stream left the upstream.
    CallVisible "call_visible" World [Request Call Route]
    /// A call is over and billed.
    CallEnded "call_ended" World [
        Request Call Route Elapsed Result HttpStatus Truth Signal Code InputTokens CacheReadTokens CacheWriteTokens ImageTokens
        AudioTokens OutputTokens Bill
    ]
    /// A cancelled call will never be billed.
    CallLost "call_lost" World [Request Call Route]
    // Claims.
    /// The gateway weighed the routes.
    Considered "considered" Gateway [Request Chosen Candidates]
    /// It called an upstream.
    Called "called" Gateway [Request Call Route Credential Attempt Role Breaker Generation]
    /// From here on the caller sees this call's bytes, and no other's.
    Committed "committed" Gateway [Request Call Route]
    /// It stopped a call.
    Cancelled "cancelled" Gateway [Request Call Route Class]
    /// It answered the caller.
    Replied "replied" Gateway [
        Request Outcome Route Limit Level Fuse Class Code LastClass LastCode RetryAt Attempts Elapsed Left
    ]
    /// The last bill of a request is in.
    Closed "closed" Gateway [Request Spent]
    /// It set the worst case of a call aside.
    Reserved "reserved" Gateway [Request Route Reserved ReservedTokens Window]
    /// A route is not affordable; no call is made.
    Denied "denied" Gateway [
        Request Route Level Counted Settled Held Wanted Projected Cap SettledTokens HeldTokens WantedTokens
        ProjectedTokens CapTokens
    ]
    /// What a failure means.
    Classified "classified" Gateway [
        Request Call Route Class Code Rule Scope Resend Hint HintAt Signal
    ]
    /// What a result said about health.
    Signalled "signalled" Gateway [
        Request Call Route Signal Class Standing Breaker BreakerFailures Health HealthFailures
    ]
    /// A breaker moved.
    BreakerMoved "breaker_moved" Gateway [Breaker From To Generation Until]
    /// A health state moved.
    HealthMoved "health_moved" Gateway [Health From To Until]
    /// Something is left alone for a time.
    Benched "benched" Gateway [Scope Credential Project Model Provider Route Until Class]
    /// An operator freed it.
    Freed "freed" Gateway [Scope Credential Project Model Provider Route]
    /// Somebody must look at a credential.
    Alerted "alerted" Gateway [Credential Class Code]
    /// A call's cost is final, or assumed.
    Settled "settled" Gateway [
        Request Call Route Basis Reserved Billed Released Overrun ReservedTokens BilledTokens Window
    ]
    /// Another attempt is planned.
    RetryScheduled "retry_scheduled" Gateway [Request Route Delay At Hint Quoted]
    /// A wait was not slept: it fits no budget.
    WaitRefused "wait_refused" Gateway [Request WaitLength Left Why]
    /// No other leg was started beside a slow one.
    HedgeSkipped "hedge_skipped" Gateway [Request Why]
    /// A request waits for a slot.
    Queued "queued" Gateway [Request Waiting]
    /// A fuse blew.
    FuseBlew "fuse_blew" Gateway [Request Task Fuse Calls]
    /// Something that is not at rest, shown on demand and at the end.
    Status "status" Gateway [
        Of Breaker Health Scope Credential Project Model Provider Route Fuse Task Tenant State RetryAt Until Class
        Code Calls CallsPerTask CallsPerRun IdenticalPerTask FailingPerTask Settled Held Cap SettledTokens HeldTokens
        CapTokens
    ]
    /// The gateway stopped a call that took too long.
    TimedOut "timed_out" Gateway [Request Call Route Class]
}

/// The fields that every event can have, before its own: absent unless there is a stack of gateways.
pub const COMMON: &[Field] = &[Field::Layer];

/// The fields of one object in the list of [`Field::Candidates`], in the order in which they are written.
pub const CANDIDATE: &[Field] = &[
    Field::Route,
    Field::Verdict,
    Field::By,
    Field::Reasons,
    Field::Gate,
    Field::Class,
    Field::Code,
    Field::RetryAt,
    Field::Level,
    Field::HealthState,
    Field::WorstCase,
];

impl Kind {
    /// The kind of what an entry says.
    #[inline]
    pub const fn of(what: &What<'_>) -> Kind {
        match what {
            What::Declared(Declared::Layer) => Kind::DeclaredLayer,
            What::Declared(Declared::Limits) => Kind::DeclaredLimits,
            What::Declared(Declared::Breaker(_)) => Kind::DeclaredBreaker,
            What::Declared(Declared::Tenant(_)) => Kind::DeclaredTenant,
            What::Declared(Declared::Task(_)) => Kind::DeclaredTask,
            What::Declared(Declared::Quota(_)) => Kind::DeclaredQuota,
            What::Declared(Declared::Route(_)) => Kind::DeclaredRoute,
            What::Declared(Declared::Approval(_)) => Kind::DeclaredApproval,
            What::Arrived { .. } => Kind::Arrived,
            What::TaskBegan { .. } => Kind::TaskBegan,
            What::TaskEnded { .. } => Kind::TaskEnded,
            What::Abandoned { .. } => Kind::Abandoned,
            What::Woke { .. } => Kind::Woke,
            What::Operated { .. } => Kind::Operated,
            What::RunEnded => Kind::RunEnded,
            What::CallBegun { .. } => Kind::CallBegun,
            What::CallVisible { .. } => Kind::CallVisible,
            What::CallEnded { .. } => Kind::CallEnded,
            What::CallLost { .. } => Kind::CallLost,
            What::Considered { .. } => Kind::Considered,
            What::Acted(action) => Kind::of_action(action),
            What::Decided(decision) => Kind::of_decision(decision),
        }
    }

    const fn of_action(action: &Action) -> Kind {
        match action {
            Action::Call(_) => Kind::Called,
            Action::Commit { .. } => Kind::Committed,
            Action::Cancel { .. } => Kind::Cancelled,
            Action::Reply { .. } => Kind::Replied,
            Action::Close { .. } => Kind::Closed,
        }
    }

    const fn of_decision(decision: &Decision) -> Kind {
        match decision {
            Decision::Reserved { .. } => Kind::Reserved,
            Decision::Denied { .. } => Kind::Denied,
            Decision::Classified { .. } => Kind::Classified,
            Decision::Signalled { .. } => Kind::Signalled,
            Decision::BreakerMoved { .. } => Kind::BreakerMoved,
            Decision::HealthMoved { .. } => Kind::HealthMoved,
            Decision::Benched { .. } => Kind::Benched,
            Decision::Freed { .. } => Kind::Freed,
            Decision::Alerted { .. } => Kind::Alerted,
            Decision::Settled { .. } => Kind::Settled,
            Decision::RetryScheduled { .. } => Kind::RetryScheduled,
            Decision::WaitRefused { .. } => Kind::WaitRefused,
            Decision::HedgeSkipped { .. } => Kind::HedgeSkipped,
            Decision::Queued { .. } => Kind::Queued,
            Decision::Blew { .. } => Kind::FuseBlew,
            Decision::Shown(_) => Kind::Status,
            Decision::TimedOut { .. } => Kind::TimedOut,
        }
    }

    /// The event as JSON, with the comma before it.
    pub(crate) fn json(self) -> &'static Padded<EVENT> {
        &EVENTS[self as usize]
    }

    /// The kind with this label, if there is one.
    pub fn named(label: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|kind| kind.label() == label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_found_by_its_label_and_no_label_is_used_twice() {
        for kind in Kind::ALL {
            assert_eq!(Kind::named(kind.label()), Some(*kind));
        }
        assert_eq!(Kind::named("answered"), None);
    }

    #[test]
    fn no_kind_has_a_field_twice() {
        for kind in Kind::ALL {
            for (at, field) in kind.fields().iter().enumerate() {
                assert!(!kind.fields()[..at].contains(field), "{} has {}", kind.label(), field.label());
            }
        }
    }
}
