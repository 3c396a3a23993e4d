//! What happens next in the world, in a total order.

use crate::units::{CallId, RequestId, TaskId, Timestamp, Turn};
use std::collections::BinaryHeap;

/// Something that will happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    /// A stream shows its first output.
    Visible { call: CallId, stamp: u64 },
    /// A stream shows a sign of life.
    Progress { call: CallId, stamp: u64 },
    /// A call ends, or its receipt after a cancel comes.
    End { call: CallId, stamp: u64 },
    /// An operator does this (a position in the setup).
    Operate(u32),
    /// A caller hangs up.
    HangUp { request: RequestId, stamp: u64 },
    /// A request of this source arrives.
    Arrive(u16),
    /// A job of this kind (a position in the setup) begins.
    BeginJob(u16),
    /// A step of a job begins.
    BeginStep { task: TaskId, step: u16 },
    /// A job is over.
    EndJob(TaskId),
}

/// Who goes first among the events of one instant. Part of the event format: what an upstream did, then the
/// gateway's timers, then an operator, then a caller who hangs up, then arrivals; within a rank the order in
/// which they were put on the agenda.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Rank {
    Outcome,
    Timer,
    Operator,
    HangUp,
    Arrival,
}

/// Everything that will happen.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    /// Arrivals: they need not go through the heap of all that is in flight.
    arrivals: BinaryHeap<Turn<Event>>,
    others: BinaryHeap<Turn<Event>>,
    added: u64,
}

impl Event {
    const fn rank(self) -> Rank {
        match self {
            Event::Visible { .. } | Event::Progress { .. } | Event::End { .. } => Rank::Outcome,
            Event::Operate(_) => Rank::Operator,
            Event::HangUp { .. } => Rank::HangUp,
            Event::Arrive(_) | Event::BeginJob(_) | Event::BeginStep { .. } | Event::EndJob(_) => {
                Rank::Arrival
            }
        }
    }
}

impl Agenda {
    pub(super) fn add(&mut self, at: Timestamp, event: Event) {
        self.added += 1;
        let rank = event.rank();
        let heap = if rank == Rank::Arrival { &mut self.arrivals } else { &mut self.others };
        heap.push(Turn::new(at, rank as u64, self.added, event));
    }

    /// When the next event happens; never, if none does.
    pub(super) fn first(&self) -> Timestamp {
        let at = |heap: &BinaryHeap<Turn<Event>>| heap.peek().map_or(Timestamp::MAX, Turn::at);
        at(&self.arrivals).min(at(&self.others))
    }

    /// Takes the next event, if it goes before a timer that is due at this instant.
    pub(super) fn take_before(&mut self, timer: Option<Timestamp>) -> Option<(Timestamp, Event)> {
        // The greatest is the first, and what is not there is less than whatever is.
        let heap =
            if self.arrivals.peek() > self.others.peek() { &mut self.arrivals } else { &mut self.others };
        let first = heap.peek()?;
        match timer {
            Some(due) if !first.is_before_all(due, Rank::Timer as u64) => None,
            Some(_) | None => heap.pop().map(|item| (item.at(), item.what)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_one_instant_happen_by_rank_then_in_the_order_of_adding() {
        let mut agenda = Agenda::default();
        let (at, stamp) = (Timestamp::from_nanos(5), 1);
        let end = |n| Event::End { call: CallId(n), stamp };
        let hang_up = Event::HangUp { request: RequestId(0), stamp };
        for event in [Event::Arrive(1), hang_up, Event::Operate(0), Event::Arrive(0), end(9), end(2)] {
            agenda.add(at, event);
        }
        agenda.add(Timestamp::ZERO, Event::Arrive(7));
        let order: Vec<Event> =
            std::iter::from_fn(|| agenda.take_before(None)).map(|taken| taken.1).collect();
        let expected = [
            Event::Arrive(7),
            end(9),
            end(2),
            Event::Operate(0),
            hang_up,
            Event::Arrive(1),
            Event::Arrive(0),
        ];
        assert_eq!(order, expected);
    }

    #[test]
    fn a_timer_goes_after_what_an_upstream_does_at_its_instant_and_before_who_arrives() {
        let mut agenda = Agenda::default();
        let at = Timestamp::from_nanos;
        let end = Event::End { call: CallId(0), stamp: 1 };
        agenda.add(at(5), Event::Arrive(0));
        agenda.add(at(5), end);
        assert_eq!(agenda.take_before(Some(at(4))), None);
        assert_eq!(agenda.take_before(Some(at(5))), Some((at(5), end)));
        assert_eq!(agenda.take_before(Some(at(5))), None);
        assert_eq!(agenda.take_before(Some(at(6))), Some((at(5), Event::Arrive(0))));
        assert_eq!(agenda.take_before(None), None);
    }
}
