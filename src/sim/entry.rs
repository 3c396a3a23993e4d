//! The trace. It has two authors: the *world* writes facts, the *gateway* writes claims.

use super::catalog::{RequestName, TaskName};
use crate::gateway::{Action, Candidate, Command, Decision, Effect, Receipt, Request, Wait};
use crate::policy::signal::Signal;
use crate::policy::taxonomy::Class;
use crate::units::{
    BreakerId, CallId, CredentialId, LayerId, Name, RequestId, RouteId, TaskId, TenantId, Timestamp,
};

/// One line of the trace.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its number, from zero.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// The entry that caused it; `None` for what nothing in the trace caused.
    pub cause: Option<u64>,
    /// Whose: of which gateway of the stack.
    pub layer: LayerId,
    /// What.
    pub what: What<'a>,
}

/// What an entry says.
#[derive(Clone, Copy, Debug)]
pub enum What<'a> {
    // Facts: written by the world.
    /// Preamble: what is declared.
    Declared(Declared),
    /// A request came in.
    Arrived {
        /// The request.
        request: &'a Request,
        /// Its name.
        name: RequestName,
        /// The call of the layer above that it is, if it is one.
        by: Option<CallId>,
    },
    /// A job began.
    TaskBegan {
        /// Its slot.
        task: TaskId,
        /// Its name.
        name: TaskName,
    },
    /// A job is over: no request of it is open, and none will come.
    TaskEnded {
        /// Its slot.
        task: TaskId,
        /// How it went.
        end: TaskEnd,
    },
    /// Its caller hung up.
    Abandoned {
        /// The request.
        request: RequestId,
    },
    /// A timer of the gateway was due.
    Woke {
        /// Which.
        wait: Wait,
    },
    /// An operator intervened.
    Operated {
        /// How.
        command: Command,
    },
    /// The run has come to rest, or nothing will ever happen in it: the gateway is asked how things stand.
    RunEnded,
    /// An upstream took a call.
    CallBegun {
        /// The call.
        call: CallId,
        /// For whom.
        request: RequestId,
        /// The route called.
        route: RouteId,
        /// With which credential.
        credential: CredentialId,
        /// Whether the scenario's script foresaw it.
        scripted: Scripted,
    },
    /// The first output of a stream left the upstream.
    CallVisible {
        /// The call.
        call: CallId,
    },
    /// A call is over and billed.
    CallEnded {
        /// The call.
        call: CallId,
        /// What its failure truly means; `None` if it did not fail.
        truth: Option<Class>,
        /// What it truly says about health, where that is not what its class says.
        health: Option<Signal>,
        /// The name of the failure.
        code: Option<Name>,
        /// The HTTP status; `None` if no HTTP response was taken in.
        status: Option<u16>,
        /// What the gateway is told.
        receipt: &'a Receipt,
    },
    /// A cancelled call will never be billed.
    CallLost {
        /// The call.
        call: CallId,
    },
    // Claims: written by the gateway.
    /// It weighed these routes.
    Considered {
        /// For which request.
        request: RequestId,
        /// Every route, in file order.
        candidates: &'a [Candidate],
    },
    /// It did this.
    Acted(&'a Action),
    /// It says this.
    Decided(&'a Decision),
}

/// What a preamble entry declares: read it up in the catalogue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Declared {
    /// How a layer above stands to the one below it.
    Layer,
    /// The limits and versions.
    Limits,
    /// A fault domain whose breaker is not as the limits say.
    Breaker(BreakerId),
    /// A tenant and its cap.
    Tenant(TenantId),
    /// A kind of task and its cap: a position in the catalogue.
    Task(u16),
    /// A true quota: a position in the catalogue.
    Quota(u16),
    /// A route that may be called after a terminal fault: a position in the catalogue.
    Approval(u16),
    /// A route and what it truly offers.
    Route(RouteId),
}

/// How a job went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskEnd {
    /// Every step was answered.
    Answered,
    /// A step was not.
    Failed,
}

/// Whether the script of an upstream foresaw a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scripted {
    /// It did.
    Foreseen,
    /// The script is over and forbids more calls.
    Forbidden,
}

/// What a gateway did and said in answer to one entry, in a row: as many entries, which differ in nothing but number.
#[derive(Clone, Copy, Debug)]
pub struct Claims<'a> {
    /// The number of the first.
    pub first: u64,
    /// When.
    pub at: Timestamp,
    /// The entry that caused them.
    pub cause: Option<u64>,
    /// Whose they are.
    pub layer: LayerId,
    /// What they say.
    pub effects: &'a [Effect],
    /// What the effects speak of.
    pub candidates: &'a [Candidate],
}

impl Claims<'_> {
    /// The routes that an [`Effect::Consider`] speaks of.
    #[inline(always)]
    pub fn candidates(&self, first: u32, count: u32) -> &[Candidate] {
        &self.candidates[first as usize..(first + count) as usize]
    }

    /// One of them as an entry.
    pub fn entry(&self, nth: usize) -> Entry<'_> {
        let Claims { first, at, cause, layer, effects, candidates: _ } = *self;
        let what = match &effects[nth] {
            Effect::Consider { request, first, count } => {
                What::Considered { request: *request, candidates: self.candidates(*first, *count) }
            }
            Effect::Decide(decision) => What::Decided(decision),
            Effect::Act(action) => What::Acted(action),
        };
        Entry { seq: first + nth as u64, at, cause, layer, what }
    }

    /// Each as an entry.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..self.effects.len()).map(|nth| self.entry(nth))
    }

    /// Shows each as an entry. Inlined, and so is where an observer begins: each place that shows knows what it shows,
    /// and need not have it asked of the entry.
    #[inline(always)]
    pub fn show(&self, observer: &mut impl Observer) {
        let Claims { first, at, cause, layer, effects, candidates: _ } = *self;
        for (seq, effect) in (first..).zip(effects) {
            match effect {
                Effect::Consider { request, first, count } => {
                    let candidates = self.candidates(*first, *count);
                    let what = What::Considered { request: *request, candidates };
                    observer.entry(&Entry { seq, at, cause, layer, what });
                }
                Effect::Decide(decision) => {
                    observer.entry(&Entry { seq, at, cause, layer, what: What::Decided(decision) });
                }
                Effect::Act(action) => {
                    observer.entry(&Entry { seq, at, cause, layer, what: What::Acted(action) });
                }
            }
        }
    }
}

/// Sees every entry, in order. Several are shown together, after all of them are written.
pub trait Observer: Sized {
    /// Takes in one entry.
    fn entry(&mut self, entry: &Entry<'_>);

    /// Takes in several in a row; by default one by one, as [`Observer::entry`] does.
    #[inline(always)]
    fn claims(&mut self, claims: &Claims<'_>) {
        claims.show(self);
    }
}

/// Sees nothing.
impl Observer for () {
    fn entry(&mut self, _: &Entry<'_>) {}

    fn claims(&mut self, _: &Claims<'_>) {}
}

/// Two observers, the first first: of several in a row it sees all before the second does.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn entry(&mut self, entry: &Entry<'_>) {
        self.0.entry(entry);
        self.1.entry(entry);
    }

    fn claims(&mut self, claims: &Claims<'_>) {
        self.0.claims(claims);
        self.1.claims(claims);
    }
}

impl<O: Observer> Observer for &mut O {
    fn entry(&mut self, entry: &Entry<'_>) {
        (**self).entry(entry);
    }

    fn claims(&mut self, claims: &Claims<'_>) {
        (**self).claims(claims);
    }
}

impl<O: Observer> Observer for Option<O> {
    fn entry(&mut self, entry: &Entry<'_>) {
        if let Some(observer) = self {
            observer.entry(entry);
        }
    }

    fn claims(&mut self, claims: &Claims<'_>) {
        if let Some(observer) = self {
            observer.claims(claims);
        }
    }
}
