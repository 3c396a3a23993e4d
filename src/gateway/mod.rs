//! Floor 2: the gateway. It composes the machines of floor 1 and is the only owner of a live request. It does
//! not know whether the world around it is simulated.
//!
//! A shell drives it with two calls: [`Gateway::handle`] for everything that happens, and
//! [`Gateway::next_wake`] for when to come back if nothing does. What it does and says is pushed into
//! [`Effects`], complete and in causal order when `handle` returns.
//!
//! ```text
//! Arrived ─▶ seek ─▶ Call ─▶ Ended ─┬─ answered ──────────────▶ Reply ─▶ … last bill … ─▶ Close
//!              ▲                    └─ failed ─▶ plan ─┬─ stop ─▶ Reply
//!              └──────────── Woke(retry) ◀── wait ─────┘
//! ```

mod action;
mod approved;
mod call;
mod decision;
mod ended;
mod finish;
mod fleet;
mod hedge;
mod input;
mod live;
mod policy;
mod profile;
mod queue;
mod retry;
mod seek;
mod status;
mod stops;
mod view;
mod waits;

pub use action::*;
pub use approved::Approval;
pub use decision::*;
pub use input::*;
pub use policy::*;
pub use profile::Profile;
pub use status::*;
pub use waits::Wait;

use crate::policy::ledger::{AccountId, Amount, Ledger, Scopes};
use crate::policy::taxonomy::Class;
use crate::units::{Draws, Duration, RequestId, Timestamp};
use fleet::Fleet;
use live::{Calls, Phase, Requests};
use queue::Queue;
use seek::{Field, Record, Refusal};
use stops::Stops;
use waits::Waits;

/// An LLM gateway, as pure state: no clock, no socket, no thread.
#[derive(Debug)]
pub struct Gateway {
    policy: Policy,
    registry: Registry,
    draws: Draws,
    fleet: Fleet,
    ledger: Ledger,
    tenants: Vec<AccountId>,
    /// The account of each approval.
    approvals: Vec<AccountId>,
    stops: Stops,
    queue: Queue,
    requests: Requests,
    calls: Calls,
    waits: Waits,
    /// Reused by every look at the routes.
    found: seek::Found,
    screening: seek::Screening,
}

impl Gateway {
    /// A gateway at rest. Its draws (jitter, weights) are keyed by `seed`.
    ///
    /// # Panics
    /// If an id in the registry is not a position in it, or a route has no credential.
    pub fn new(policy: Policy, registry: Registry, seed: u64) -> Gateway {
        registry.assert_consistent();
        let mut ledger = Ledger::new(policy.budget.reserve, policy.budget.attempt_max);
        let open = |(cap, window): &(Amount, Option<Duration>)| ledger.open(*cap, *window);
        let tenants = registry.tenants.iter().map(open).collect();
        let budget = |approval: &Approval| Amount { money: approval.cost_max, tokens: u64::MAX };
        let approvals = registry.approvals.iter().map(|one| ledger.open(budget(one), None)).collect();
        Gateway {
            fleet: Fleet::new(&policy, &registry),
            stops: Stops::new(policy.fuse),
            queue: Queue::new(&policy.concurrency),
            draws: Draws::new(seed),
            requests: Requests::default(),
            calls: Calls::default(),
            waits: Waits::default(),
            found: seek::Found::default(),
            screening: seek::Screening::default(),
            policy,
            registry,
            ledger,
            tenants,
            approvals,
        }
    }

    /// Takes in what happened at `now` and pushes what follows from it. Time never falls from one call to
    /// the next. [`Input::Woke`] handles one timer, so that every effect has one cause; early, it does nothing.
    pub fn handle(&mut self, now: Timestamp, input: Input<'_>, out: &mut Effects) {
        match input {
            Input::Arrived(request) => self.arrived(now, request, out),
            Input::Abandoned(request) => {
                self.give_up(now, request, Outcome::Abandoned, Class::Abandoned, out)
            }
            Input::Visible(call) => self.visible(now, call, out),
            Input::Progress(call) => self.alive(now, call),
            Input::Ended(call, receipt) => self.ended(now, call, receipt, out),
            Input::TaskEnded(task) => self.stops.end_task(task, &mut self.ledger),
            Input::Operator(Command::Show) => self.show(now, out),
            Input::Operator(command) => self.fleet.operate(now, command, &mut self.waits, out),
            Input::Woke => {
                if let Some(wait) = self.waits.take_due(now) {
                    self.woke(now, wait, out);
                }
            }
        }
        self.serve_queue(now, out);
    }

    /// When to send [`Input::Woke`] if nothing happens before, and what for. Timers that were cleared meanwhile are put
    /// out of the way now.
    pub fn next_wake(&mut self) -> Option<(Timestamp, Wait)> {
        self.next_wake_by(Timestamp::MAX)
    }

    /// The same, if it is not after `until`: timers that lie ahead are not looked at.
    #[inline]
    pub fn next_wake_by(&mut self, until: Timestamp) -> Option<(Timestamp, Wait)> {
        self.waits.first_by(until)
    }

    /// Whether no request is open and nothing is waited for.
    pub fn is_quiescent(&self) -> bool {
        self.requests.is_empty() && self.waits.is_empty()
    }

    fn arrived(&mut self, now: Timestamp, request: &Request, out: &mut Effects) {
        let cap = Amount { money: request.envelope.cost_max, tokens: request.envelope.tokens_max };
        let scopes = Scopes {
            request: self.ledger.open(cap, None),
            task: request
                .payer
                .task
                .map(|task| self.stops.account(task, &self.registry.tasks, &mut self.ledger)),
            approval: None,
            tenant: request.payer.tenant.map(|tenant| self.tenants[tenant.index()]),
        };
        self.requests.open(request, scopes);
        if request.deadline <= now {
            let outcome = Outcome::DeadlineExceeded { last: None };
            return self.reply(now, request.id, outcome, Class::Deadline, out);
        }
        if request.deadline != Timestamp::MAX {
            self.waits.set(Wait::Deadline(request.id), request.deadline);
        }
        self.seek(now, request.id, out);
    }

    fn woke(&mut self, now: Timestamp, wait: Wait, out: &mut Effects) {
        match wait {
            Wait::Deadline(request) => {
                let last = self.requests.get(request).last;
                let outcome = Outcome::DeadlineExceeded { last };
                self.give_up(now, request, outcome, Class::Deadline, out);
            }
            Wait::Attempt(call) => self.timed_out(now, call, Class::AttemptTimeout, out),
            Wait::FirstByte(call) => self.timed_out(now, call, Class::FirstByteTimeout, out),
            Wait::Idle(call) => self.timed_out(now, call, Class::IdleTimeout, out),
            Wait::Receipt(call) => self.assume(call, out),
            Wait::Health(health) => self.fleet.cool(now, health, out),
            Wait::Hedge(request) => self.hedge(now, request, out),
            Wait::Retry(request) => self.seek(now, request, out),
        }
    }

    /// Something was freed: those that wait for it seek again, in their order.
    fn serve_queue(&mut self, now: Timestamp, out: &mut Effects) {
        while self.queue.is_due() {
            let mut at = 0;
            while let Some(request) = self.queue.nth(at) {
                match self.look(now, request, Field::Any, Record::Glance) {
                    Err(Refusal::Gated { gate: Gate::Concurrency, .. }) => at += 1,
                    Ok(_) | Err(_) => {
                        self.queue.quit(request);
                        self.seek(now, request, out);
                    }
                }
            }
        }
    }

    /// Legs of a request that are still wanted.
    fn flying(&self, request: RequestId) -> usize {
        let legs = self.requests.find(request).map_or(&[][..], |live| &live.legs);
        legs.iter().filter(|leg| self.calls.is_flying(**leg)).count()
    }

    /// Whether the caller still waits for an answer.
    fn is_unanswered(&self, request: RequestId) -> bool {
        self.requests.find(request).is_some_and(|live| live.phase != Phase::Replied)
    }
}
