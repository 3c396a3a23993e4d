//! The other end of a request: who asked, and what the world remembers of it.

use super::catalog::RequestName;
use super::jobs::Part;
use crate::gateway::{Delivery, Request};
use crate::policy::prices::Usage;
use crate::units::RouteId;

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
