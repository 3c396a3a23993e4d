//! The other side of every call: what upstreams reply, when, and what they bill.

use super::agenda::{Agenda, Event};
use super::caller::Caller;
use super::capacity::Places;
use super::catalog::RequestName;
use super::entry::Scripted;
use super::jobs::{Jobs, Part};
use super::quota::Meter;
use super::setup::{Pace, Setup};
use super::stack::Stack;
use super::upstream::{Billed, CancelBill, Latency, Reply, Then, Used};
use crate::gateway::{Answer, Bill, Call, Delivery, Gateway, Receipt, Request};
use crate::policy::prices::Usage;
use crate::policy::signal::Signal;
use crate::policy::taxonomy::Class;
use crate::units::draw::below;
use crate::units::{
    CallId, Draws, Duration, Key, Money, Name, Purpose, Ratio, RequestId, RouteId, Timestamp,
};

/// The world around a gateway.
pub(super) struct World<'s> {
    pub(super) setup: &'s Setup,
    pub(super) draws: Draws,
    pub(super) gateway: Gateway,
    pub(super) agenda: Agenda,
    /// How many requests of each source have come.
    pub(super) arrived: Vec<u32>,
    /// How many more each source with clients was asked for after a reply.
    asked: Vec<u32>,
    pub(super) requests: Vec<Caller>,
    free: Vec<u32>,
    pub(super) calls: Vec<Served>,
    /// How many calls each upstream has taken.
    taken: Vec<u32>,
    /// The places of each upstream.
    places: Vec<Places>,
    /// The draws of each upstream, begun.
    weather: Vec<Weather>,
    /// The entry of the last move of each health state.
    pub(super) health_moves: Vec<u64>,
    pub(super) jobs: Jobs,
    pub(super) stack: Stack<'s>,
    meters: Vec<Meter>,
    stamps: u64,
}

/// What is drawn for an upstream, each begun with its name.
struct Weather {
    latency: Key,
    fault: Key,
}

/// What a draw for a call is keyed by beside its upstream: the names of the request's source and of the request
/// there, and how often it has called the upstream.
#[derive(Clone, Copy)]
struct Occasion {
    source: u64,
    ordinal: u64,
    nth: u64,
}

/// What the world knows of a call.
#[derive(Clone, Copy)]
pub(super) struct Served {
    stamp: u64,
    /// For whom, if there are layers.
    pub(super) by: Option<(RequestId, u64)>,
    route: RouteId,
    source: Source,
    begun: Timestamp,
    /// When it is worked on.
    served: Timestamp,
    /// How long it is worked on; `None` if it never ends by itself.
    work: Option<Duration>,
    estimate: Usage,
    cancelled_at: Option<Timestamp>,
    /// The entry that its end is caused by: its beginning, or its cancel.
    pub(super) origin: u64,
    /// The entry of its last sign of life.
    pub(super) sign: u64,
}

/// Where a reply comes from.
#[derive(Clone, Copy)]
enum Source {
    /// A position in the upstream's script.
    Script(u32),
    /// A position in the upstream's faults.
    Fault(u32),
    /// The refusal of a quota, by position, for an answer that would be delivered so.
    Quota(u32, Delivery),
    /// The refusal of an upstream that is full.
    Full,
}

/// How a call is taken.
struct Taken {
    source: Source,
    scripted: Scripted,
    /// When it is worked on.
    served: Timestamp,
}

impl Taken {
    const fn refused(source: Source, now: Timestamp) -> Taken {
        Taken { source, scripted: Scripted::Foreseen, served: now }
    }
}

impl<'s> World<'s> {
    pub(super) fn new(setup: &'s Setup) -> World<'s> {
        let mut agenda = Agenda::default();
        for (at, command) in setup.operator.iter().enumerate() {
            agenda.add(command.0, Event::Operate(at as u32));
        }
        for (at, source) in setup.sources.iter().enumerate() {
            let at_once = match source.pace {
                Pace::Open(_) => 1,
                Pace::Closed { clients, .. } => clients,
            };
            for _ in 0..at_once.min(source.count) {
                agenda.add(source.first, Event::Arrive(at as u16));
            }
        }
        for (at, job) in setup.jobs.iter().enumerate().filter(|(_, job)| job.count > 0) {
            agenda.add(job.first, Event::BeginJob(at as u16));
        }
        let draws = Draws::new(setup.seed);
        let weather = setup.catalog.routes.iter().map(|route| {
            let name = setup.catalog.names.hash(route.name);
            let begun = |purpose| draws.of(purpose).and(name);
            Weather { latency: begun(Purpose::Latency), fault: begun(Purpose::Fault) }
        });
        World {
            setup,
            draws,
            gateway: Gateway::new(setup.policy.clone(), setup.registry.clone(), setup.seed),
            agenda,
            arrived: vec![0; setup.sources.len()],
            asked: vec![0; setup.sources.len()],
            requests: Vec::new(),
            free: Vec::new(),
            calls: Vec::new(),
            taken: vec![0; setup.upstreams.len()],
            places: setup.upstreams.iter().map(|upstream| Places::new(upstream.capacity.as_ref())).collect(),
            weather: weather.collect(),
            health_moves: vec![0; setup.catalog.healths.len()],
            jobs: Jobs::new(setup.jobs.len(), setup.catalog.tasks.len()),
            stack: Stack::new(setup),
            meters: setup.quotas.iter().map(Meter::new).collect(),
            stamps: 0,
        }
    }

    /// The slot of the next request.
    pub(super) fn slot(&mut self) -> RequestId {
        RequestId(self.free.pop().unwrap_or(self.requests.len() as u32))
    }

    /// Puts a request into the slot that [`World::slot`] gave.
    pub(super) fn admit(
        &mut self,
        request: &Request,
        name: RequestName,
        stamp: u64,
        arrival: u64,
        part: Option<Part>,
    ) {
        match self.requests.get_mut(request.id.index()) {
            Some(slot) => slot.begin(request, name, stamp, arrival, part),
            None => self.requests.push(Caller::new(request, name, stamp, arrival, part)),
        }
    }

    pub(super) fn free(&mut self, request: RequestId) {
        self.free.push(request.0);
    }

    /// A number that no other call or request has.
    pub(super) fn stamp(&mut self) -> u64 {
        self.stamps += 1;
        self.stamps
    }

    pub(super) fn source_hash(&self, source: u16) -> u64 {
        let catalog = &self.setup.catalog;
        catalog.names.hash(catalog.sources[usize::from(source)].name)
    }

    /// What all requests of a source ask, as a hash.
    pub(super) fn content(&self, source: u16) -> Option<u64> {
        let catalog = &self.setup.catalog;
        catalog.sources[usize::from(source)].content.map(|content| catalog.names.hash(content))
    }

    /// The draw for the gap before a request of a source.
    pub(super) fn gap_draw(&self, source: u16, ordinal: u32) -> u64 {
        self.draws.of(Purpose::Arrival).and(self.source_hash(source)).and(u64::from(ordinal)).bits()
    }

    /// The draw for the gap before a job of a kind.
    pub(super) fn job_draw(&self, kind: u16, ordinal: u32) -> u64 {
        let catalog = &self.setup.catalog;
        let hash = catalog.names.hash(catalog.tasks[usize::from(kind)].name);
        self.draws.of(Purpose::Arrival).and(hash).and(u64::from(ordinal)).bits()
    }

    /// A caller has its reply: a job may go on, a client may think about its next request.
    pub(super) fn replied(&mut self, now: Timestamp, request: RequestId, answered: bool) {
        let caller = &mut self.requests[request.index()];
        caller.answered = true;
        let source = caller.name.source;
        if let Some(part) = caller.part {
            self.jobs.replied(part, answered);
            let job = &self.setup.jobs[usize::from(self.jobs.get(part.task).job)];
            self.jobs.advance(now, part.task, job, &mut self.agenda);
        }
        let from = &self.setup.sources[usize::from(source)];
        if let Pace::Closed { clients, think } = &from.pace {
            let asked = &mut self.asked[usize::from(source)];
            if *asked + clients < from.count {
                *asked += 1;
                let ordinal = *asked + clients - 1;
                if let Some(pause) = think.at(self.gap_draw(source, ordinal)) {
                    self.agenda.add(now.after(pause), Event::Arrive(source));
                }
            }
        }
    }

    /// Whether an event of the agenda still concerns this call.
    pub(super) fn is_current(&self, call: CallId, stamp: u64) -> bool {
        self.calls[call.index()].stamp == stamp
    }

    /// An upstream takes a call: everything it will do goes on the agenda.
    pub(super) fn begin(&mut self, now: Timestamp, call: &Call) -> Scripted {
        let caller = &mut self.requests[call.request.index()];
        let called = self.stack.routes(call.request).unwrap_or(&mut caller.called);
        let nth = called.iter().filter(|route| **route == call.route).count() as u64;
        called.push(call.route);
        let by = self.stack.called(call.request);
        let (estimate, delivery, name) = (caller.estimate, caller.delivery, caller.name);
        let occasion =
            Occasion { source: self.source_hash(name.source), ordinal: u64::from(name.ordinal), nth };
        let Taken { source, scripted, served } = match self.over_quota(now, call, estimate.total()) {
            Some(quota) => Taken::refused(Source::Quota(quota, delivery), now),
            None => self.take(now, call.route, occasion),
        };
        let reply = source.reply(self.setup, call.route);
        let work = self.length(&reply.after, call.route, occasion, 0);
        if matches!(source, Source::Script(_) | Source::Fault(_)) {
            self.places[call.route.index()].take(now, served, work);
        }
        // From a door that never opens nothing ever comes.
        let wait = Some(served.since(now)).filter(|_| served < Timestamp::MAX);
        let length = wait.zip(work).map(|(wait, work)| wait.plus(work));
        let stamp = self.stamp();
        if let Some(length) = length {
            self.agenda.add(now.after(length), Event::End { call: call.call, stamp });
        }
        if let (Delivery::Stream, Some(first)) = (delivery, &reply.first_byte)
            && let Some(first) =
                self.length(first, call.route, occasion, 1).filter(|f| work.is_none_or(|work| *f < work))
            && let Some(wait) = wait
        {
            self.agenda.add(now.after(wait).after(first), Event::Visible { call: call.call, stamp });
        }
        let served = Served {
            stamp,
            by,
            route: call.route,
            source,
            begun: now,
            served,
            work,
            estimate,
            cancelled_at: None,
            origin: 0,
            sign: 0,
        };
        match self.calls.get_mut(call.call.index()) {
            Some(slot) => *slot = served,
            None => {
                assert_eq!(self.calls.len(), call.call.index(), "slots of calls are taken in order");
                self.calls.push(served);
            }
        }
        scripted
    }

    /// Counts a call against every true quota that it concerns; the first that is used up refuses it.
    fn over_quota(&mut self, now: Timestamp, call: &Call, tokens: u64) -> Option<u32> {
        if self.meters.is_empty() {
            return None;
        }
        let catalog = &self.setup.catalog;
        let project = catalog.credentials[call.credential.index()].project;
        let model = catalog.routes[call.route.index()].model;
        let mut refused = None;
        for (at, (quota, meter)) in self.setup.quotas.iter().zip(&mut self.meters).enumerate() {
            if quota.concerns(project, model) && !meter.count(quota, now, tokens) {
                refused = refused.or(Some(at as u32));
            }
        }
        refused
    }

    /// An upstream takes a call in, now or when it has a place; or it is full.
    fn take(&mut self, now: Timestamp, route: RouteId, occasion: Occasion) -> Taken {
        let capacity = self.setup.upstreams[route.index()].capacity.as_ref();
        match self.places[route.index()].served_at(now, capacity) {
            None => Taken::refused(Source::Full, now),
            Some(served) => {
                let (source, scripted) = self.reply_for(now, route, occasion);
                Taken { source, scripted, served }
            }
        }
    }

    /// The reply to a call: that of the first fault that strikes, else the next of the script. What strikes is
    /// drawn by the names of the upstream and the request, and how often it has called there.
    fn reply_for(&mut self, now: Timestamp, route: RouteId, occasion: Occasion) -> (Source, Scripted) {
        let taken = self.taken[route.index()];
        self.taken[route.index()] += 1;
        let upstream = &self.setup.upstreams[route.index()];
        if !upstream.faults.is_empty() {
            let key = occasion.draw(self.weather[route.index()].fault);
            for (at, fault) in upstream.faults.iter().enumerate() {
                if fault.from <= now && now < fault.to && strikes(fault.rate, key.and(at as u64)) {
                    return (Source::Fault(at as u32), Scripted::Foreseen);
                }
            }
        }
        let last = upstream.script.len() as u32 - 1;
        let scripted = if taken > last && upstream.then == Then::Fail {
            Scripted::Forbidden
        } else {
            Scripted::Foreseen
        };
        (Source::Script(taken.min(last)), scripted)
    }

    fn length(&self, latency: &Latency, route: RouteId, occasion: Occasion, which: u64) -> Option<Duration> {
        let key = self.weather[route.index()].latency;
        latency.at(if latency.is_drawn() { occasion.draw(key).and(which).bits() } else { 0 })
    }

    /// A stream showed a sign of life, told in this entry; the next one goes on the agenda.
    pub(super) fn show_life(&mut self, now: Timestamp, call: CallId, entry: u64) {
        let served = &mut self.calls[call.index()];
        served.sign = entry;
        let stamp = served.stamp;
        let reply = served.source.reply(self.setup, served.route);
        if let Some(every) = reply.progress {
            self.agenda.add(now.after(every), Event::Progress { call, stamp });
        }
    }

    /// The gateway stops a call. Whether a receipt will come.
    pub(super) fn cancel(&mut self, now: Timestamp, call: CallId, entry: u64) -> bool {
        let stamp = self.stamp();
        let served = &mut self.calls[call.index()];
        (served.stamp, served.origin, served.cancelled_at) = (stamp, entry, Some(now));
        let receipt = self.setup.upstreams[served.route.index()].on_cancel.receipt;
        if let Some(after) = receipt {
            self.agenda.add(now.after(after), Event::End { call, stamp });
        }
        receipt.is_some()
    }

    /// The end of a call.
    pub(super) fn end(&mut self, call: CallId) -> End {
        let stamp = self.stamp();
        let served = &mut self.calls[call.index()];
        served.stamp = stamp;
        let served = *served;
        let upstream = &self.setup.upstreams[served.route.index()];
        let reply = served.source.reply(self.setup, served.route);
        let full = self.full(&served, reply);
        if let Some(cancelled) = served.cancelled_at {
            let receipt = served.cut_short(upstream.on_cancel.bill, full, cancelled);
            let truth = Some(Class::Cancelled);
            return End { receipt, truth, health: None, code: None, status: None, origin: served.origin };
        }
        let (usage, money) = full;
        let failure = match served.source {
            Source::Quota(at, delivery) => self.setup.quotas[at as usize].failure(served.begun, delivery),
            Source::Script(_) | Source::Fault(_) | Source::Full => reply.failure,
        };
        let result = failure.and_then(|failure| failure.told).map_or(Answer::Answered, Answer::Failed);
        End {
            receipt: Receipt { result, usage, bill: Bill::Exact(money) },
            truth: failure.map(|failure| failure.truth),
            health: failure.and_then(|failure| failure.health),
            code: failure.map(|failure| failure.code),
            status: failure.map_or(Some(ANSWERED), |failure| failure.status),
            origin: served.origin,
        }
    }

    /// What a call uses and is billed if it runs to its end.
    fn full(&self, served: &Served, reply: &Reply) -> (Usage, Money) {
        let usage = match reply.usage {
            Used::AsEstimated => served.estimate,
            Used::Exactly(usage) => usage,
        };
        let money = match reply.bill {
            Billed::ByUsage => self.setup.catalog.routes[served.route.index()].offer.prices.cost(&usage),
            Billed::Exactly(money) => money,
        };
        (usage, money)
    }
}

/// The HTTP status of an answer.
const ANSWERED: u16 = 200;

/// The end of a call.
#[derive(Clone, Copy)]
pub(super) struct End {
    /// What the gateway is told.
    pub(super) receipt: Receipt,
    /// What its failure truly means.
    pub(super) truth: Option<Class>,
    /// What it truly says about health, where that is not what its class says.
    pub(super) health: Option<Signal>,
    /// The name of the failure.
    pub(super) code: Option<Name>,
    /// The HTTP status; `None` if no HTTP response was taken in.
    pub(super) status: Option<u16>,
    /// The entry that caused it.
    pub(super) origin: u64,
}

impl Occasion {
    /// A draw that an upstream has begun, with these names mixed in.
    const fn draw(self, begun: Key) -> Key {
        begun.and(self.source).and(self.ordinal).and(self.nth)
    }
}

fn strikes(rate: Ratio, draw: Key) -> bool {
    rate == Ratio::ONE || below(draw.bits(), rate.denominator()) < rate.numerator()
}

impl Served {
    /// The receipt of a call that was cancelled at this instant.
    fn cut_short(&self, bill: CancelBill, (usage, money): (Usage, Money), cancelled: Timestamp) -> Receipt {
        let passed = cancelled.since(self.served.min(cancelled));
        let share = match bill {
            CancelBill::Nothing => Ratio::ZERO,
            CancelBill::Everything | CancelBill::Unknown => Ratio::ONE,
            // Nothing is done for whoever waits at the door.
            CancelBill::Elapsed if cancelled < self.served => Ratio::ZERO,
            CancelBill::Elapsed => self
                .work
                .and_then(|work| Ratio::new(passed.nanos().min(work.nanos()), work.nanos()))
                .unwrap_or(Ratio::ONE),
        };
        let tokens = |n: u32| share.of(u64::from(n)) as u32;
        let usage = Usage {
            input: tokens(usage.input),
            cache_read: tokens(usage.cache_read),
            cache_write: tokens(usage.cache_write),
            image: tokens(usage.image),
            audio: tokens(usage.audio),
            output: tokens(usage.output),
        };
        let bill = match bill {
            CancelBill::Unknown => Bill::Unknown,
            CancelBill::Nothing | CancelBill::Everything | CancelBill::Elapsed => {
                Bill::Exact(Money::from_picos(share.of(money.picos())))
            }
        };
        Receipt { result: Answer::Cancelled, usage, bill }
    }
}

impl Source {
    fn reply(self, setup: &Setup, route: RouteId) -> &Reply {
        let upstream = &setup.upstreams[route.index()];
        match self {
            Source::Script(at) => &upstream.script[at as usize],
            Source::Fault(at) => &upstream.faults[at as usize].reply,
            Source::Quota(at, delivery) => setup.quotas[at as usize].refusal(delivery),
            Source::Full => &upstream.capacity.as_ref().expect("what is full is finite").refusal,
        }
    }
}
