//! What can happen to a gateway.

use super::policy::Payer;
use crate::policy::cooldown::Bench;
use crate::policy::eligibility::Envelope;
use crate::policy::prices::Usage;
use crate::policy::taxonomy::Diagnosis;
use crate::units::{BreakerId, CallId, HealthId, Money, RequestId, TaskId, Timestamp};
use std::num::NonZeroU64;

/// What can happen to a gateway.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// A request came in.
    Arrived(&'a Request),
    /// Its caller hung up.
    Abandoned(RequestId),
    /// The first output of a stream is there.
    Visible(CallId),
    /// A stream is alive.
    Progress(CallId),
    /// A call is over and billed.
    Ended(CallId, &'a Receipt),
    /// No request of this task will come any more.
    TaskEnded(TaskId),
    /// An operator intervened.
    Operator(Command),
    /// The earliest timer is due.
    Woke,
}

/// A request as it arrives.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Request {
    /// Its slot: not in use by another open request. The gateway keeps a table by it.
    pub id: RequestId,
    /// Who else pays.
    pub payer: Payer,
    /// Its immutable constraints.
    pub envelope: Envelope,
    /// The last instant at which an answer is in time.
    pub deadline: Timestamp,
    /// How the answer is delivered.
    pub delivery: Delivery,
    /// Whether sending it twice does something twice.
    pub effect: SideEffect,
    /// Who goes first when requests wait for a slot: higher before lower.
    pub priority: u8,
    /// What it asks, as a hash: requests with the same are identical. `None` is like no other.
    pub content: Option<NonZeroU64>,
    /// The key of its draws.
    pub draw: u64,
}

/// How an answer is delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delivery {
    /// At once, when it is complete.
    Whole,
    /// As it is written. The first visible output commits the request to its route.
    Stream,
}

/// Whether sending a request twice does something twice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SideEffect {
    /// It does not: it may be hedged.
    None,
    /// It does: it is never hedged.
    Some,
}

/// How a call ended, and what it is billed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Receipt {
    /// The result.
    pub result: Answer,
    /// The tokens used.
    pub usage: Usage,
    /// The money.
    pub bill: Bill,
}

/// The result of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// A valid answer.
    Answered,
    /// A failure.
    Failed(Diagnosis),
    /// It was cancelled before it ended by itself.
    Cancelled,
}

/// What a call is billed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bill {
    /// This much.
    Exact(Money),
    /// Nobody says: taken at the worst case.
    Unknown,
}

/// What an operator can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    /// Free a bench.
    ResetBench(Bench),
    /// Close a breaker.
    ResetBreaker(BreakerId),
    /// Declare an upstream healthy.
    ResetHealth(HealthId),
    /// Show whatever is not at rest.
    Show,
}
