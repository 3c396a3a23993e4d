//! One page a request, a call, a breaker and a health state.

use crate::gateway::{Outcome, Payer, Request, Role};
use crate::policy::breaker;
use crate::policy::health;
use crate::policy::ledger::Amount;
use crate::policy::taxonomy::Class;
use crate::sim::RequestName;
use crate::units::{BreakerId, CallId, CredentialId, RequestId, RouteId, Timestamp};

use super::Account;

/// How far a request has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// It waits for its answer.
    Open,
    /// It has its answer.
    Replied,
    /// Its last bill is in, or given up.
    Closed,
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct RequestPage {
    /// How many requests arrived before it: tells the users of one slot apart.
    pub serial: u64,
    /// How far it has come.
    pub phase: Phase,
    /// Its name.
    pub name: RequestName,
    /// What arrived.
    pub request: Request,
    /// When.
    pub arrived: Timestamp,
    /// Calls begun.
    pub attempts: u32,
    /// Calls in flight that nobody cancelled.
    pub legs: u32,
    /// Calls whose receipt is neither in nor given up.
    pub unsettled: u32,
    /// Its own account.
    pub account: Account,
    /// The first *true* terminal fault.
    pub terminal: Option<Fault>,
    /// The last true failure that was not a cancel, a hang-up or the deadline.
    pub last: Option<Fault>,
    /// The route of its first call.
    pub first_route: Option<RouteId>,
    /// Whether a route other than the first was called.
    pub ways: Ways,
    /// When its first output left an upstream.
    pub visible: Option<Timestamp>,
    /// The call whose bytes the caller sees.
    pub committed: Option<(CallId, RouteId)>,
    /// When its caller hung up.
    pub abandoned: Option<Timestamp>,
    /// What was set aside and not yet called.
    pub reserved: Option<(RouteId, Amount)>,
    /// When a response without a wider scope asked to be tried again, on which route.
    pub hint: Option<(RouteId, Timestamp)>,
    /// The last planned attempt: when, and where.
    pub planned: Option<(Timestamp, RouteId)>,
    /// When it last refused to wait.
    pub wait_refused: Option<Timestamp>,
    /// Looks at the routes.
    pub looks: u32,
    /// How it was answered.
    pub outcome: Option<Outcome>,
}

/// Whether a request stayed on its first route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ways {
    /// It did, so far.
    One,
    /// It was called on others.
    Several,
}

/// A true failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// What it truly means.
    pub class: Class,
    /// On which route.
    pub route: RouteId,
    /// The entry that says so.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
}

/// How far a call has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallPhase {
    /// The slot was never used.
    Vacant,
    /// The gateway asked for it; no upstream has it yet.
    Asked,
    /// An upstream has it.
    Flying,
    /// Its receipt is in.
    Ended,
    /// Its receipt will never come.
    Lost,
}

/// A call.
#[derive(Clone, Copy, Debug)]
pub struct CallPage {
    /// How far it has come.
    pub phase: CallPhase,
    /// For whom.
    pub request: RequestId,
    /// Which user of that slot.
    pub serial: u64,
    /// That request's name.
    pub name: RequestName,
    /// Who pays for it.
    pub payer: Payer,
    /// To which route.
    pub route: RouteId,
    /// With which credential.
    pub credential: CredentialId,
    /// The gateway's reason for it.
    pub role: Role,
    /// When an upstream took it.
    pub begun: Timestamp,
    /// When its first output left the upstream.
    pub visible: Option<Timestamp>,
    /// What its failure truly means.
    pub truth: Option<Class>,
    /// The most it can cost and use, from the true prices and the estimate.
    pub worst_case: Amount,
    /// The tenant's window that it is charged to.
    pub window: u64,
    /// What the gateway set aside for it.
    pub reserved: Option<Amount>,
    /// What the gateway charged for it so far.
    pub charged: Option<Amount>,
    /// What it was billed by the facts: the worst case if nobody says.
    pub billed: Option<Amount>,
    /// The timer that was due for it, as the class of failure it stands for.
    pub fired: Option<Class>,
    /// Why it was cancelled, by the facts: the timer, the hang-up, the deadline, or else our own choice.
    pub stopped: Option<Class>,
    /// The breaker of which it is a probe, still in flight and wanted, and that breaker's moves before it.
    pub probe: Option<(BreakerId, u32)>,
}

impl CallPage {
    /// A slot that was never used.
    pub(super) const VACANT: CallPage = CallPage {
        phase: CallPhase::Vacant,
        request: RequestId(0),
        serial: 0,
        name: RequestName { source: 0, ordinal: 0 },
        payer: Payer { task: None, tenant: None },
        route: RouteId(0),
        credential: CredentialId(0),
        role: Role::Primary,
        begun: Timestamp::ZERO,
        visible: None,
        truth: None,
        worst_case: Amount::ZERO,
        window: 0,
        reserved: None,
        charged: None,
        billed: None,
        fired: None,
        stopped: None,
        probe: None,
    };

    /// Whether it is in flight and nobody cancelled it.
    pub const fn is_wanted(&self) -> bool {
        matches!(self.phase, CallPhase::Flying) && self.stopped.is_none()
    }
}

/// A breaker, as the gateway says it moved.
#[derive(Clone, Copy, Debug)]
pub struct BreakerPage {
    /// Its state.
    pub state: breaker::State,
    /// When it may be probed; `None` while it is OPEN is never.
    pub until: Option<Timestamp>,
    /// Since when.
    pub since: Timestamp,
    /// Its failures, after the last result that it was told; `None` after a move.
    pub failures: Option<u32>,
    /// Probes in flight since its last move, by the facts.
    pub probes: u32,
    /// How often it moved.
    pub moves: u32,
}

impl Default for BreakerPage {
    fn default() -> BreakerPage {
        BreakerPage {
            state: breaker::State::Closed,
            until: None,
            since: Timestamp::ZERO,
            failures: Some(0),
            probes: 0,
            moves: 0,
        }
    }
}

impl BreakerPage {
    /// Whether it lets nothing through at `at`.
    pub fn is_open_at(&self, at: Timestamp) -> bool {
        match self.state {
            breaker::State::Open => self.until.is_none_or(|until| until > at),
            breaker::State::ForcedOpen => true,
            breaker::State::Closed
            | breaker::State::HalfOpen
            | breaker::State::Disabled
            | breaker::State::MetricsOnly => false,
        }
    }
}

/// A health state, as the gateway says it moved.
#[derive(Clone, Copy, Debug)]
pub struct HealthPage {
    /// Its state.
    pub state: health::State,
    /// Bad results in a row, after the last one that it was told.
    pub failures: u32,
}

impl Default for HealthPage {
    fn default() -> HealthPage {
        HealthPage { state: health::State::Healthy, failures: 0 }
    }
}
