//! The other end of a request: who asked, and what the world remembers of it.

use super::catalog::RequestName;
use super::jobs::Part;
use super::setup::{Pace, Setup, Source, Template};
use crate::gateway::{Delivery, Request};
use crate::policy::prices::Usage;
use crate::units::{Draws, Duration, Key, Purpose, RouteId};
use std::num::NonZeroU64;

/// Where requests come from, and how many have.
pub(super) struct Flow<'s> {
    pub(super) template: &'s Template,
    /// By how much each is larger than the one before, if it is.
    pub(super) growth: Option<&'s Usage>,
    pace: &'s Pace,
    count: u32,
    /// The hash of its name.
    pub(super) hash: u64,
    /// What all its requests ask, as a hash.
    pub(super) content: Option<NonZeroU64>,
    /// The draw of the gap before a request, begun with its name.
    gap: Key,
    arrived: u32,
    /// How many more it was asked for after a reply, if it has clients.
    asked: u32,
}

impl<'s> Flow<'s> {
    pub(super) fn new(setup: &'s Setup, source: usize, draws: &Draws) -> Flow<'s> {
        let (catalog, fact) = (&setup.catalog, &setup.catalog.sources[source]);
        let hash = catalog.names.hash(fact.name);
        let Source { template, pace, count, growth, first: _ } = &setup.sources[source];
        Flow {
            template,
            growth: Some(growth).filter(|growth| **growth != Usage::ZERO),
            pace,
            count: *count,
            hash,
            content: fact.content.and_then(|content| NonZeroU64::new(catalog.names.hash(content))),
            gap: draws.of(Purpose::Arrival).and(hash),
            arrived: 0,
            asked: 0,
        }
    }

    /// The next request arrives: its number, and the time to the one after it, if that comes whatever becomes of it.
    pub(super) fn arrive(&mut self) -> (u32, Option<Duration>) {
        let ordinal = self.arrived;
        self.arrived += 1;
        let gap = match self.pace {
            Pace::Open(gap) if self.arrived < self.count => {
                gap.drawn(|| self.gap.and(u64::from(self.arrived)).bits())
            }
            Pace::Open(_) | Pace::Closed { .. } => None,
        };
        (ordinal, gap)
    }

    /// A request has its reply: the time until its client asks again, if it has one that does.
    pub(super) fn replied(&mut self) -> Option<Duration> {
        let Pace::Closed { clients, think } = self.pace else { return None };
        if self.asked + clients >= self.count {
            return None;
        }
        self.asked += 1;
        let ordinal = self.asked + clients - 1;
        think.drawn(|| self.gap.and(u64::from(ordinal)).bits())
    }
}

/// What the world knows of a request.
pub(super) struct Caller {
    pub(super) estimate: Usage,
    pub(super) delivery: Delivery,
    pub(super) name: RequestName,
    stamp: u64,
    pub(super) answered: bool,
    /// The step that it is of a job.
    pub(super) part: Option<Part>,
    /// The route of every call made.
    pub(super) called: Vec<RouteId>,
    /// The entry of its arrival.
    pub(super) arrival: u64,
    /// The entry of its last planned retry.
    pub(super) retry: u64,
    /// The entry of its last call: patience with it may end.
    pub(super) hedge: u64,
}

impl Caller {
    pub(super) fn new(
        request: &Request,
        name: RequestName,
        stamp: u64,
        arrival: u64,
        part: Option<Part>,
    ) -> Caller {
        Caller {
            estimate: request.envelope.estimate,
            delivery: request.delivery,
            name,
            stamp,
            answered: false,
            part,
            called: Vec::new(),
            arrival,
            retry: arrival,
            hedge: arrival,
        }
    }

    /// Begins anew in a used slot and keeps its memory.
    pub(super) fn begin(
        &mut self,
        request: &Request,
        name: RequestName,
        stamp: u64,
        arrival: u64,
        part: Option<Part>,
    ) {
        let mut called = std::mem::take(&mut self.called);
        called.clear();
        *self = Caller { called, ..Caller::new(request, name, stamp, arrival, part) };
    }

    pub(super) const fn is_waiting(&self, stamp: u64) -> bool {
        self.stamp == stamp && !self.answered
    }
}
