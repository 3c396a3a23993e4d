//! The gateways above the innermost, and what passes between one and the next: a call of a layer arrives below as a
//! request, its reply comes back as the end of the call, a cancel as a caller who hangs up. What passes does so at
//! one instant, in the order in which it was sent, and before anything else happens.

mod back;
mod heard;
mod reach;

use super::catalog::{Catalog, Handed, LayerFact, Told, Within};
use super::jobs::Part;
use super::setup::{Above, Hears, Setup};
use super::upstream::FailedReply;
use crate::gateway::{Call, Gateway, Request, Wait};
use crate::policy::prices::Usage;
use crate::units::draw::mix;
use crate::units::{CallId, LayerId, Money, RequestId, RouteId, Timestamp};
use std::collections::VecDeque;
use std::num::NonZeroU32;

/// The gateways above the innermost, the lowest first, and what is between them. Empty if there is but one gateway.
pub(super) struct Stack<'s> {
    setup: &'s Setup,
    pub(super) layers: Vec<Layer>,
    relays: VecDeque<Relay>,
    /// When what is to be relayed was sent: all of it at one instant.
    at: Timestamp,
    /// By the slots of requests.
    asked: Vec<Option<Asked>>,
    questions: Vec<Question>,
    free: Vec<u32>,
}

/// A gateway whose calls go to the layer below.
pub(super) struct Layer {
    pub(super) gateway: Gateway,
    pub(super) calls: Vec<Relayed>,
    /// The entry of the last move of each health state.
    pub(super) health_moves: Vec<u64>,
}

/// What passes from one layer to the next.
#[derive(Clone, Copy)]
pub(super) enum Relay {
    /// A call of this layer arrives below.
    Arrive(Leg),
    /// The layer above stopped waiting for this request, told in this entry.
    Abandon { request: RequestId, stamp: u64, cause: u64 },
    /// What a call of this layer was for is answered, or closed, in this entry.
    End { leg: Leg, cause: u64 },
    /// The first output of a stream, told in this entry.
    Visible { leg: Leg, cause: u64 },
    /// A stream is alive, told in this entry.
    Progress { leg: Leg, cause: u64 },
}

/// A call of a layer above the innermost.
#[derive(Clone, Copy)]
pub(super) struct Leg {
    pub(super) layer: LayerId,
    pub(super) call: CallId,
    stamp: u64,
}

/// What the world knows of such a call.
#[derive(Clone, Copy)]
pub(super) struct Relayed {
    stamp: u64,
    /// For whom, and what tells it from others in its slot.
    by: (RequestId, u64),
    nth: u32,
    /// What it is in the layer below, once it has arrived.
    child: Option<(RequestId, u64)>,
    state: State,
    result: Option<Returned>,
    bill: Billed,
    /// The entry that its end is caused by, as long as nobody below has answered.
    pub(super) origin: u64,
    /// The entry of its last sign of life.
    pub(super) sign: u64,
}

/// How a call of a layer stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Awaited,
    Cancelled,
    Ended,
}

/// How a request of the layer below ended.
#[derive(Clone, Copy)]
enum Returned {
    /// With an answer; with this failure, if it is none and nobody below has seen it.
    Answered(Option<FailedReply>),
    Failed(FailedReply),
}

/// What a request of a layer was billed so far.
#[derive(Clone, Copy)]
struct Billed {
    money: Money,
    usage: Usage,
    /// Calls whose bill is not in.
    missing: u32,
    closed: Closed,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Closed {
    NotYet,
    Yes,
}

/// What the world knows of a request beside what it knows of every caller.
struct Asked {
    stamp: u64,
    layer: LayerId,
    request: Request,
    /// The call of the layer above that it is.
    by: Option<Leg>,
    question: u32,
    billed: Billed,
    /// How its last call ended, if that was no true answer.
    last: Option<FailedReply>,
    /// The first failure that was taken for a terminal one.
    grave: Option<FailedReply>,
}

/// A request of a caller, with all that it leads to.
struct Question {
    part: Option<Part>,
    /// Requests in all layers that are not closed.
    open: u32,
    /// How many requests each layer was asked for it.
    asked: Vec<u32>,
    /// The route of every call to an upstream.
    called: Vec<RouteId>,
}

impl Question {
    /// Begins anew and keeps its memory.
    fn begin(&mut self, part: Option<Part>) {
        (self.part, self.open) = (part, 1);
        self.asked.fill(0);
        self.called.clear();
    }
}

/// A request that is about to arrive in a layer.
pub(super) struct Descent {
    pub(super) layer: LayerId,
    pub(super) request: Request,
    pub(super) within: Option<Within>,
    /// The request of the layer above.
    pub(super) by: RequestId,
    pub(super) leg: Leg,
    /// The entry of the call.
    pub(super) cause: u64,
    question: u32,
}

const NOTHING: Billed = Billed { money: Money::ZERO, usage: Usage::ZERO, missing: 0, closed: Closed::NotYet };

impl<'s> Stack<'s> {
    pub(super) fn new(setup: &'s Setup) -> Stack<'s> {
        let facts = &setup.catalog.stack.above;
        assert_eq!(setup.above.len(), facts.len(), "every layer is declared");
        let layer = |(above, fact): (&Above, &LayerFact)| Layer {
            gateway: Gateway::new(above.policy.clone(), above.registry.clone(), setup.seed),
            calls: Vec::new(),
            health_moves: vec![0; fact.catalog.healths.len()],
        };
        Stack {
            setup,
            layers: setup.above.iter().zip(facts).map(layer).collect(),
            relays: VecDeque::new(),
            at: Timestamp::ZERO,
            asked: Vec::new(),
            questions: Vec::new(),
            free: Vec::new(),
        }
    }

    fn catalog(&self) -> &'s Catalog {
        &self.setup.catalog
    }

    /// How a layer above the innermost stands to the one below.
    fn fact(&self, layer: LayerId) -> &'s LayerFact {
        let below = layer.below().expect("a layer above the innermost");
        &self.catalog().stack.above[below.index()]
    }

    /// Such a layer.
    pub(super) fn layer(&mut self, layer: LayerId) -> &mut Layer {
        let below = layer.below().expect("a layer above the innermost");
        &mut self.layers[below.index()]
    }

    /// As what failures of the layer below come to it.
    fn hears(&self, layer: LayerId) -> &'s Hears {
        let below = layer.below().expect("a layer above the innermost");
        &self.setup.above[below.index()].hears
    }

    fn relayed(&mut self, layer: LayerId, call: CallId) -> &mut Relayed {
        &mut self.layer(layer).calls[call.index()]
    }

    /// The earliest of this timer and those of the layers here by then; at one instant the outermost goes first.
    #[inline]
    pub(super) fn next_wake(
        &mut self,
        own: Option<(Timestamp, LayerId, Wait)>,
        until: Timestamp,
    ) -> Option<(Timestamp, LayerId, Wait)> {
        (1..).zip(&mut self.layers).fold(own, |first, (at, layer)| match layer.gateway.next_wake_by(until) {
            Some((due, wait)) if first.is_none_or(|first| due <= first.0) => Some((due, LayerId(at), wait)),
            Some(_) | None => first,
        })
    }

    /// When the next thing passes from one layer to another.
    #[inline]
    pub(super) fn due(&self) -> Option<Timestamp> {
        if self.relays.is_empty() { None } else { Some(self.at) }
    }

    /// Takes it.
    pub(super) fn take(&mut self) -> Relay {
        self.relays.pop_front().expect("something is to be relayed")
    }

    fn send(&mut self, now: Timestamp, relay: Relay) {
        self.at = now;
        self.relays.push_back(relay);
    }

    /// What a request looks like to the outermost layer. Which protocol and contract a route must have is asked
    /// where the routes are.
    #[inline]
    pub(super) fn admit(&self, request: &mut Request) {
        if !self.layers.is_empty() {
            (request.envelope.protocol, request.envelope.contract) = (None, None);
        }
    }

    /// A caller's request came in.
    #[inline]
    pub(super) fn ask(&mut self, request: &Request, stamp: u64, part: Option<Part>) {
        if !self.layers.is_empty() {
            self.begin(request, stamp, part);
        }
    }

    fn begin(&mut self, request: &Request, stamp: u64, part: Option<Part>) {
        let at = self.free.pop().unwrap_or_else(|| {
            let asked = vec![0; self.layers.len()];
            self.questions.push(Question { part: None, open: 0, asked, called: Vec::new() });
            self.questions.len() as u32 - 1
        });
        self.questions[at as usize].begin(part);
        let layer = self.catalog().outermost();
        self.note(stamp, layer, request, None, at);
    }

    fn note(&mut self, stamp: u64, layer: LayerId, request: &Request, by: Option<Leg>, question: u32) {
        let at = request.id.index();
        if self.asked.len() <= at {
            self.asked.resize_with(at + 1, || None);
        }
        let request = *request;
        self.asked[at] =
            Some(Asked { stamp, layer, request, by, question, billed: NOTHING, last: None, grave: None });
    }

    /// A layer calls the one below, told in this entry.
    #[inline(never)]
    pub(super) fn call(&mut self, now: Timestamp, layer: LayerId, call: &Call, stamp: u64, begun: u64) {
        let Call { call: id, request, nth, .. } = *call;
        let by = self.called(request).expect("a request that has arrived");
        let relayed = Relayed {
            stamp,
            by,
            nth,
            child: None,
            state: State::Awaited,
            result: None,
            bill: NOTHING,
            origin: begun,
            sign: begun,
        };
        let calls = &mut self.layer(layer).calls;
        match calls.get_mut(id.index()) {
            Some(slot) => *slot = relayed,
            None => calls.push(relayed),
        }
        let question = self.asker(request).question;
        self.questions[question as usize].open += 1;
        self.send(now, Relay::Arrive(Leg { layer, call: id, stamp }));
    }

    /// A request makes a call, and a bill is to come. What tells it from others in its slot, if there are layers.
    #[inline]
    pub(super) fn called(&mut self, request: RequestId) -> Option<(RequestId, u64)> {
        let asked = self.asked.get_mut(request.index())?.as_mut()?;
        asked.billed.missing += 1;
        Some((request, asked.stamp))
    }

    fn asker(&self, request: RequestId) -> &Asked {
        self.asked[request.index()].as_ref().expect("a request that has arrived")
    }

    /// The routes that were called for a question, if there are layers.
    #[inline]
    pub(super) fn routes(&mut self, request: RequestId) -> Option<&mut Vec<RouteId>> {
        let question = self.asked.get(request.index())?.as_ref()?.question;
        Some(&mut self.questions[question as usize].called)
    }

    /// A call of a layer comes to the one below: the request that it is there; `None` if nobody waits for it any
    /// more and that was told before it arrived.
    pub(super) fn descend(&mut self, now: Timestamp, leg: Leg, id: RequestId) -> Option<Descent> {
        let Relayed { by, nth, state, origin, .. } = *self.relayed(leg.layer, leg.call);
        let fact = self.fact(leg.layer);
        let Asked { request: parent, question, .. } = self.asker(by.0);
        let (parent, question) = (*parent, *question);
        if state == State::Cancelled && fact.cancel == Told::AtOnce {
            self.relayed(leg.layer, leg.call).bill.closed = Closed::Yes;
            self.questions[question as usize].open -= 1;
            self.send(now, Relay::End { leg, cause: origin });
            return None;
        }
        let layer = leg.layer.below().expect("a layer above the innermost");
        let asked = &mut self.questions[question as usize].asked[layer.index()];
        *asked += 1;
        let within = NonZeroU32::new(*asked).map(|nth| Within { layer, nth });
        let deadline = match fact.deadline {
            Handed::Down => parent.deadline,
            Handed::Not(None) => Timestamp::MAX,
            Handed::Not(Some(length)) => now.after(length),
        };
        let draw = mix(parent.draw ^ mix(u64::from(nth)));
        let request = Request { id, deadline, draw, ..parent };
        Some(Descent { layer, request, within, by: by.0, leg, cause: origin, question })
    }

    /// It has arrived.
    pub(super) fn arrive(&mut self, descent: &Descent, stamp: u64) {
        let Descent { layer, request, leg, question, .. } = descent;
        self.note(stamp, *layer, request, Some(*leg), *question);
        self.relayed(leg.layer, leg.call).child = Some((request.id, stamp));
    }

    /// A layer stops waiting for a call of its own, told in this entry.
    #[inline(never)]
    pub(super) fn cancel(&mut self, now: Timestamp, layer: LayerId, call: CallId, entry: u64) {
        let told = self.fact(layer).cancel;
        let relayed = self.relayed(layer, call);
        (relayed.state, relayed.origin) = (State::Cancelled, entry);
        if let (Some((request, stamp)), Told::AtOnce) = (relayed.child, told) {
            self.send(now, Relay::Abandon { request, stamp, cause: entry });
        }
    }

    /// Whether a request that the layer above stopped waiting for is still open, and where.
    pub(super) fn open(&self, request: RequestId, stamp: u64) -> Option<LayerId> {
        let asked = self.asked[request.index()].as_ref()?;
        (asked.stamp == stamp).then_some(asked.layer)
    }
}

/// Who hears a reply.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hearer {
    Caller,
    Layer,
}

/// Which sign of life of a stream.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    First,
    Again,
}
