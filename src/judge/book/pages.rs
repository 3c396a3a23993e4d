//! One page a request and a call.

use crate::gateway::{Answer, Bill, Delivery, Failure, Payer, Receipt, Request, SideEffect};
use crate::policy::ledger::Amount;
use crate::policy::signal::Signal;
use crate::policy::taxonomy::Class;
use crate::sim::RequestName;
use crate::units::{BreakerId, CallId, CredentialId, Duration, Money, Name, RequestId, RouteId, Timestamp};
use std::num::NonZeroU64;

use super::{Account, InVain, Place, Setback, Slot};

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
    /// Who pays besides.
    pub payer: Payer,
    /// When it arrived.
    pub arrived: Timestamp,
    /// The last instant at which an answer is in time.
    pub deadline: Timestamp,
    /// How the answer is delivered.
    pub delivery: Delivery,
    /// Whether sending it twice does something twice.
    pub effect: SideEffect,
    /// The most tokens that one call may use.
    pub estimate: u64,
    /// What it asks, if it says so.
    pub content: Option<NonZeroU64>,
    /// Calls begun.
    pub attempts: u32,
    /// Calls in flight that nobody cancelled.
    pub legs: u32,
    /// Calls that began while another was in flight.
    pub hedges: u32,
    /// Its first valid answer.
    pub answer: Option<Winner>,
    /// Calls whose receipt is neither in nor given up.
    pub unsettled: u32,
    /// Calls of which nobody said what they say about health.
    pub untold: u32,
    /// Its own account.
    pub account: Account,
    /// The first *true* terminal fault.
    pub terminal: Option<Fault>,
    /// The first that ends the request, whatever other legs do: of a needed call, or a policy refusal.
    pub stop: Option<Fault>,
    /// The first true failure that an optional leg met while another was in flight, and for which the policy stops: the
    /// others go on, but nothing new is called, and the reply names it. Identity, funds and compliance go first.
    pub barred: Option<Fault>,
    /// The route that it called by approval, after a terminal fault.
    pub approved: Option<RouteId>,
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
    /// What was set aside and not yet called, and for which route.
    pub reserved: Option<(RouteId, Amount)>,
    /// The route that its last look chose and that was not called yet, and when.
    pub choice: Option<(RouteId, Timestamp)>,
    /// Its last look, if that chose none, and no call of it has failed since.
    pub in_vain: Option<InVain>,
    /// The last failure of a call that was wanted, as the gateway was told of it.
    pub setback: Option<Setback>,
    /// The key of its draws.
    pub draw: u64,
    /// When its last call began.
    pub last_begun: Timestamp,
    /// When the patience with that ends, if another may begin beside it.
    pub patience_ends: Option<Timestamp>,
    /// Until when it sleeps.
    pub sleeps_until: Option<Timestamp>,
    /// Whether it waits for a slot.
    pub place: Place,
    /// When it last refused to wait.
    pub wait_refused: Option<Timestamp>,
    /// Looks at the routes.
    pub looks: u32,
}

impl RequestPage {
    /// A request that has not arrived: it stands closed.
    pub(super) fn vacant(request: &Request) -> RequestPage {
        let envelope = &request.envelope;
        let cap = Amount { money: envelope.cost_max, tokens: envelope.tokens_max };
        RequestPage {
            serial: 0,
            phase: Phase::Closed,
            name: RequestName::of(0, 0),
            payer: request.payer,
            arrived: Timestamp::ZERO,
            deadline: request.deadline,
            delivery: request.delivery,
            effect: request.effect,
            estimate: envelope.estimate.total(),
            content: request.content,
            attempts: 0,
            legs: 0,
            hedges: 0,
            answer: None,
            unsettled: 0,
            untold: 0,
            account: Account::new(cap, None),
            terminal: None,
            stop: None,
            barred: None,
            approved: None,
            last: None,
            first_route: None,
            ways: Ways::One,
            visible: None,
            committed: None,
            abandoned: None,
            reserved: None,
            choice: None,
            in_vain: None,
            setback: None,
            draw: request.draw,
            last_begun: Timestamp::ZERO,
            patience_ends: None,
            sleeps_until: None,
            place: Place::Nowhere,
            wait_refused: None,
            looks: 0,
        }
    }

    /// A call of it begins, which can cost and use so much. Another may begin beside it when the patience with it ends.
    /// Tells whether the request needs it.
    #[inline]
    pub(super) fn begin(
        &mut self,
        route: RouteId,
        worst_case: Amount,
        (at, patience_ends): (Timestamp, Option<Timestamp>),
    ) -> Leg {
        let leg = if self.legs > 0 { Leg::Optional } else { Leg::Needed };
        if leg == Leg::Optional {
            self.hedges += 1;
        }
        self.attempts += 1;
        (self.last_begun, self.patience_ends) = (at, patience_ends);
        self.legs += 1;
        self.unsettled += 1;
        self.untold += 1;
        self.account.hold(worst_case, at);
        if *self.first_route.get_or_insert(route) != route {
            self.ways = Ways::Several;
        }
        leg
    }
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
    /// Its name; `None` if we stopped the call ourselves.
    pub code: Option<Name>,
    /// On which route.
    pub route: RouteId,
    /// Whether the request needed that call.
    pub leg: Leg,
    /// The entry that says so.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
}

impl Fault {
    /// Its name.
    pub const fn failure(&self) -> Failure {
        Failure { class: self.class, code: self.code }
    }

    /// Whether this is its name.
    pub fn is_named(&self, failure: Failure) -> bool {
        self.failure() == failure
    }
}

/// Whether a request needs a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leg {
    /// It does: no other was in flight when it began.
    Needed,
    /// It does not: it began beside another.
    Optional,
}

/// The first valid answer to a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Winner {
    /// The call.
    pub call: CallId,
    /// Its route.
    pub route: RouteId,
    /// When it came.
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

/// Whether the gateway's books have an amount for a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Charge {
    /// Not yet.
    Open,
    /// They do.
    Booked,
}

/// How a call truly ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ended {
    /// What its failure truly means.
    pub truth: Option<Class>,
    /// What it truly says about health, where that is not what its class says.
    pub health: Option<Signal>,
    /// The name of the failure.
    pub code: Option<Name>,
}

/// What the gateway was told of the result of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Heard {
    /// What it was told of a failure.
    pub class: Option<Class>,
    /// The name of the failure.
    pub code: Option<Name>,
    /// What the policy makes of it.
    pub signal: Signal,
    /// Whether the gateway said what it makes of it.
    pub told: Telling,
}

/// Whether the gateway said what a result says about health.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Telling {
    /// It did not.
    NotYet,
    /// It did.
    Once,
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
    /// Whether its request needed it.
    pub leg: Leg,
    /// When it began.
    pub begun: Timestamp,
    /// How often its breaker had moved when it began.
    pub breaker_moves: u32,
    /// Whether it takes a slot.
    pub slot: Slot,
    /// Which user of its slot its task is.
    pub task_serial: u32,
    /// When its first output left the upstream.
    pub visible: Option<Timestamp>,
    /// In which generation of its breaker it began.
    pub began_in: u32,
    /// The one by which it was announced.
    pub generation: u32,
    /// What the gateway was told of its result, and what the policy makes of that.
    pub heard: Heard,
    /// What its failure truly means.
    pub truth: Option<Class>,
    /// What it truly says about health, where that is not what its class says.
    pub health: Option<Signal>,
    /// The most it can cost and use, from the true prices and the estimate.
    pub worst_case: Amount,
    /// The tenant's window that it is charged to.
    pub window: u64,
    /// The approval that it is charged to, by position.
    pub approval: Option<u16>,
    /// What the gateway set aside for it.
    pub reserved: Option<Amount>,
    /// Whether the gateway's books have an amount for it.
    pub charge: Charge,
    /// What it was billed by the facts: the worst case if nobody says.
    pub billed: Option<Amount>,
    /// The timer that was due for it, as the class of failure it stands for.
    pub fired: Option<Class>,
    /// Why it was cancelled, by the facts: the timer, the hang-up, the deadline, or else our own choice.
    pub stopped: Option<Class>,
    /// When.
    pub stopped_at: Timestamp,
    /// The breaker of which it is a probe, still in flight and wanted, and that breaker's moves before it.
    pub probe: Option<(BreakerId, u32)>,
}

impl CallPage {
    /// A slot that was never used.
    pub(super) const VACANT: CallPage = CallPage {
        phase: CallPhase::Vacant,
        request: RequestId(0),
        serial: 0,
        name: RequestName::of(0, 0),
        payer: Payer { task: None, tenant: None },
        route: RouteId(0),
        credential: CredentialId(0),
        leg: Leg::Needed,
        begun: Timestamp::ZERO,
        breaker_moves: 0,
        slot: Slot::Free,
        task_serial: 0,
        visible: None,
        began_in: 0,
        generation: 0,
        heard: Heard { class: None, code: None, signal: Signal::Neutral, told: Telling::NotYet },
        truth: None,
        health: None,
        worst_case: Amount::ZERO,
        window: 0,
        approval: None,
        reserved: None,
        charge: Charge::Open,
        billed: None,
        fired: None,
        stopped: None,
        stopped_at: Timestamp::ZERO,
        probe: None,
    };

    /// Whether it is in flight and nobody cancelled it.
    pub const fn is_wanted(&self) -> bool {
        matches!(self.phase, CallPhase::Flying) && self.stopped.is_none()
    }

    /// What its result truly means; `None` is a valid answer. For a call that we stop ourselves the timer that
    /// was due says why, and nobody else's word counts.
    pub fn meaning(&self) -> Option<Class> {
        let is_over = matches!(self.phase, CallPhase::Ended);
        self.truth.or(self.fired).or(self.stopped).or(if is_over { None } else { Some(Class::Cancelled) })
    }

    /// What its result truly means, if that says nothing about health.
    pub fn neutral(&self) -> Option<Class> {
        let says = |class: &Class| self.health.unwrap_or(class.meaning());
        self.meaning().filter(|class| says(class) == Signal::Neutral)
    }

    /// What a receipt says of it, before it is over.
    pub fn read(&self, truth: Option<Class>, receipt: &Receipt) -> Invoice {
        let billed = match receipt.bill {
            Bill::Exact(money) => Amount { money, tokens: receipt.usage.total() },
            Bill::Unknown => self.worst_case,
        };
        let is_answer = self.is_wanted() && truth.is_none() && receipt.result == Answer::Answered;
        Invoice { billed, worth: if is_answer { Worth::Used } else { self.worth() } }
    }

    /// What a call is worth that gives no answer.
    pub fn worth(&self) -> Worth {
        if self.leg == Leg::Optional || self.stopped == Some(Class::Cancelled) {
            Worth::Lost
        } else {
            Worth::Wasted
        }
    }

    /// How long it was waited for, if it is over at `now`.
    pub fn length(&self, now: Timestamp) -> Duration {
        let end = if self.stopped.is_some() { self.stopped_at } else { now };
        end.since(self.begun)
    }
}

/// What a receipt says, by the facts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Invoice {
    /// What is billed: the worst case if nobody says.
    pub billed: Amount,
    /// What became of it.
    pub worth: Worth,
}

/// What a call is worth to its request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Worth {
    /// It is the answer.
    Used,
    /// It is a leg that lost: another answered, or it was optional and came to nothing.
    Lost,
    /// It was needed and gave no answer.
    Wasted,
}

impl Invoice {
    /// How much of it gave no answer.
    pub fn wasted(&self) -> Money {
        match self.worth {
            Worth::Used => Money::ZERO,
            Worth::Lost | Worth::Wasted => self.billed.money,
        }
    }
}
