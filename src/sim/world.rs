//! The world around a gateway: who asks, what is in flight, what happens next.

use super::agenda::{Agenda, Event};
use super::caller::{Caller, Flow};
use super::catalog::RequestName;
use super::door::{Door, Occasion, Source, Taken};
use super::entry::Scripted;
use super::jobs::{Jobs, Part};
use super::quota::{Meter, Quota};
use super::served::{End, Served};
use super::setup::{Pace, Setup};
use super::stack::Stack;
use crate::gateway::{Call, Delivery, Gateway, Request};
use crate::policy::prices::Usage;
use crate::units::{CallId, Draws, Purpose, RequestId, Timestamp};

/// The world around a gateway.
pub(super) struct World<'s> {
    pub(super) setup: &'s Setup,
    pub(super) draws: Draws,
    pub(super) gateway: Gateway,
    pub(super) agenda: Agenda,
    /// By source.
    pub(super) flows: Vec<Flow<'s>>,
    pub(super) requests: Vec<Caller>,
    free: Vec<u32>,
    pub(super) calls: Vec<Served<'s>>,
    /// By route.
    doors: Vec<Door<'s>>,
    /// The entry of the last move of each health state.
    pub(super) health_moves: Vec<u64>,
    pub(super) jobs: Jobs,
    pub(super) stack: Stack<'s>,
    meters: Vec<Meter>,
    stamps: Stamps,
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
        let flows = (0..setup.sources.len()).map(|at| Flow::new(setup, at, &draws));
        let doors = (0..setup.upstreams.len()).map(|at| Door::new(setup, at, &draws));
        World {
            setup,
            draws,
            gateway: Gateway::new(setup.policy.clone(), setup.registry.clone(), setup.seed),
            agenda,
            flows: flows.collect(),
            requests: Vec::new(),
            free: Vec::new(),
            calls: Vec::new(),
            doors: doors.collect(),
            health_moves: vec![0; setup.catalog.healths.len()],
            jobs: Jobs::new(setup.jobs.len(), setup.catalog.tasks.len()),
            stack: Stack::new(setup),
            meters: setup.quotas.iter().map(Meter::new).collect(),
            stamps: Stamps::default(),
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
    pub(super) const fn stamp(&mut self) -> u64 {
        self.stamps.next()
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
        if let Some(pause) = self.flows[usize::from(source)].replied() {
            self.agenda.add(now.after(pause), Event::Arrive(source));
        }
    }

    /// Whether an event of the agenda still concerns this call.
    pub(super) fn is_current(&self, call: CallId, stamp: u64) -> bool {
        self.calls[call.index()].stamp == stamp
    }

    /// An upstream takes a call, told in this entry: everything it will do goes on the agenda.
    pub(super) fn begin(&mut self, now: Timestamp, call: &Call, entry: u64) -> Scripted {
        let Call { call: id, request, route, .. } = *call;
        let caller = &mut self.requests[request.index()];
        let called = self.stack.routes(request).unwrap_or(&mut caller.called);
        let nth = called.iter().filter(|other| **other == route).count() as u64;
        called.push(route);
        caller.hedge = entry;
        let by = self.stack.called(request);
        let Caller { estimate, delivery, name, .. } = &*caller;
        let source = self.flows[usize::from(name.source)].hash;
        let occasion = Occasion { source, ordinal: u64::from(name.ordinal), nth };
        let quota = over_quota(self.setup, &mut self.meters, now, call, estimate);
        let door = &mut self.doors[route.index()];
        let Taken { source, scripted, served, work } = match quota {
            Some(quota) => door.turn_away(now, occasion, Source::Quota(quota, *delivery)),
            None => door.take(now, occasion),
        };
        let reply = source.reply();
        let stamp = self.stamps.next();
        // From a door that never opens nothing ever comes.
        if served < Timestamp::MAX {
            if let Some(work) = work {
                self.agenda.add(served.after(work), Event::End { call: id, stamp });
            }
            if let (Delivery::Stream, Some(first)) = (*delivery, &reply.first_byte)
                && let Some(first) =
                    door.length(first, occasion, 1).filter(|f| work.is_none_or(|work| *f < work))
            {
                self.agenda.add(served.after(first), Event::Visible { call: id, stamp });
            }
        }
        let served = Served {
            stamp,
            by,
            route,
            source,
            begun: now,
            served,
            work,
            estimate: *estimate,
            cancelled_at: None,
            origin: entry,
            sign: entry,
        };
        match self.calls.get_mut(id.index()) {
            Some(slot) => *slot = served,
            None => {
                assert_eq!(self.calls.len(), id.index(), "slots of calls are taken in order");
                self.calls.push(served);
            }
        }
        scripted
    }

    /// A stream showed a sign of life, told in this entry; the next one goes on the agenda.
    pub(super) fn show_life(&mut self, now: Timestamp, call: CallId, entry: u64) {
        let served = &mut self.calls[call.index()];
        served.sign = entry;
        let stamp = served.stamp;
        if let Some(every) = served.source.reply().progress {
            self.agenda.add(now.after(every), Event::Progress { call, stamp });
        }
    }

    /// The gateway stops a call. Whether a receipt will come.
    pub(super) fn cancel(&mut self, now: Timestamp, call: CallId, entry: u64) -> bool {
        let stamp = self.stamp();
        let served = &mut self.calls[call.index()];
        (served.stamp, served.origin, served.cancelled_at) = (stamp, entry, Some(now));
        let receipt = self.doors[served.route.index()].on_cancel().receipt;
        if let Some(after) = receipt {
            self.agenda.add(now.after(after), Event::End { call, stamp });
        }
        receipt.is_some()
    }

    /// The end of a call.
    pub(super) fn end(&mut self, call: CallId) -> End {
        let served = &mut self.calls[call.index()];
        served.stamp = OVER;
        let end = served.end(&mut self.doors[served.route.index()]);
        self.stack.settle(served.by, &end);
        end
    }
}

/// Counts a call against every true quota that it concerns; the first that is used up refuses it.
fn over_quota<'s>(
    setup: &'s Setup,
    meters: &mut [Meter],
    now: Timestamp,
    call: &Call,
    estimate: &Usage,
) -> Option<&'s Quota> {
    if meters.is_empty() {
        return None;
    }
    let catalog = &setup.catalog;
    let project = catalog.credentials[call.credential.index()].project;
    let model = catalog.routes[call.route.index()].model;
    let tokens = estimate.total();
    let mut refused = None;
    for (quota, meter) in setup.quotas.iter().zip(meters) {
        if quota.concerns(project, model) && !meter.count(quota, now, tokens) {
            refused = refused.or(Some(quota));
        }
    }
    refused
}

/// Numbers the calls and requests.
#[derive(Default)]
struct Stamps(u64);

impl Stamps {
    const fn next(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }
}

/// The stamp of a call that nothing on the agenda concerns any more.
const OVER: u64 = 0;
