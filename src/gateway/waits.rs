//! Everything that a gateway waits for. A timer is state: cancelling one is forgetting it.

use crate::units::{CallId, HealthId, Place, RequestId, Timestamp, Turn};
use std::collections::BinaryHeap;

/// A timer of the gateway, in the order in which those of one instant are due.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Wait {
    /// The deadline of a request.
    Deadline(RequestId),
    /// The end of an attempt's time.
    Attempt(CallId),
    /// The end of the time to the first byte.
    FirstByte(CallId),
    /// The end of a silence.
    Idle(CallId),
    /// The end of the time for a receipt.
    Receipt(CallId),
    /// The end of a health state's cooldown.
    Health(HealthId),
    /// The end of the patience with a slow leg.
    Hedge(RequestId),
    /// The end of a backoff.
    Retry(RequestId),
}

/// A timer of a slot.
#[derive(Clone, Copy, Debug)]
struct Timer {
    /// When it is due; never, if nothing is waited for.
    due: Place,
    /// What stands for it in the heap; never later than it is due.
    queued: Place,
}

/// All timers, by whose they are.
#[derive(Debug, Default)]
struct Timers {
    requests: Vec<[Timer; 4]>,
    calls: Vec<[Timer; 4]>,
    /// Of four timers these have one.
    healths: Vec<[Timer; 4]>,
}

/// All timers, by when they are due. Those of one instant are due by kind, then in the order in which they
/// were set.
///
/// Nearly all are cleared long before they are due, and set again, for later, by who has the slot next. The heap is
/// told neither: what stands there for a timer stays, and is put right when its turn comes.
#[derive(Debug, Default)]
pub(super) struct Waits {
    heap: BinaryHeap<Turn<Wait>>,
    timers: Timers,
    settings: u64,
    /// How many in the heap were replaced by an earlier one.
    replaced: usize,
}

impl Waits {
    /// Waits for `wait` until `at`, and no longer for what was set before. Inlined: who sets a timer knows which.
    #[inline(always)]
    pub(super) fn set(&mut self, wait: Wait, at: Timestamp) {
        self.settings += 1;
        let due = Place::new(at, wait.rank(), self.settings);
        let timer = self.timers.open(wait);
        timer.due = due;
        if due < timer.queued {
            let before = std::mem::replace(&mut timer.queued, due);
            self.queue(Turn { place: due, what: wait }, before);
        }
    }

    /// Puts a timer into the heap that does not stand there, or only for later.
    #[inline(never)]
    fn queue(&mut self, turn: Turn<Wait>, before: Place) {
        self.heap.push(turn);
        self.replaced += usize::from(before != Place::NEVER);
        if self.heap.len() > 64 && self.replaced > self.heap.len() / 2 {
            let timers = &mut self.timers;
            self.heap.retain(|turn| timers.open(turn.what).queued == turn.place);
            self.replaced = 0;
        }
    }

    /// Waits for `wait` no longer.
    pub(super) fn clear(&mut self, wait: Wait) {
        if let Some(timer) = self.timers.find(wait) {
            timer.due = Place::NEVER;
        }
    }

    /// Waits for nothing more of a request.
    pub(super) fn forget_request(&mut self, request: RequestId) {
        forget(&mut self.timers.requests, request.index());
    }

    /// Waits for nothing more of a call.
    pub(super) fn forget_call(&mut self, call: CallId) {
        forget(&mut self.timers.calls, call.index());
    }

    /// The timer that is due first, if it is due by then.
    #[inline]
    pub(super) fn first_by(&mut self, until: Timestamp) -> Option<(Timestamp, Wait)> {
        if self.heap.peek()?.at() > until { None } else { self.settle(until) }
    }

    /// Puts right what seems to be due, until something is.
    #[inline(never)]
    fn settle(&mut self, until: Timestamp) -> Option<(Timestamp, Wait)> {
        while let Some(first) = self.heap.peek().copied().filter(|first| first.at() <= until) {
            let timer = self.timers.open(first.what);
            if timer.due == first.place {
                return Some((first.at(), first.what));
            }
            self.heap.pop();
            if timer.queued != first.place {
                self.replaced -= 1;
                continue;
            }
            timer.queued = timer.due;
            if timer.due != Place::NEVER {
                self.heap.push(Turn { place: timer.due, what: first.what });
            }
        }
        None
    }

    /// Takes the first timer, if it is due at `now`.
    pub(super) fn take_due(&mut self, now: Timestamp) -> Option<Wait> {
        let (_, wait) = self.first_by(now)?;
        self.clear(wait);
        Some(wait)
    }

    /// Whether nothing is waited for.
    pub(super) fn is_empty(&self) -> bool {
        let Timers { requests, calls, healths } = &self.timers;
        requests.iter().chain(calls).chain(healths).flatten().all(|timer| timer.due == Place::NEVER)
    }
}

impl Timers {
    #[inline]
    fn table(&mut self, wait: Wait) -> &mut Vec<[Timer; 4]> {
        match wait {
            Wait::Deadline(_) | Wait::Hedge(_) | Wait::Retry(_) => &mut self.requests,
            Wait::Attempt(_) | Wait::FirstByte(_) | Wait::Idle(_) | Wait::Receipt(_) => &mut self.calls,
            Wait::Health(_) => &mut self.healths,
        }
    }

    /// The timer, if one of its owner was ever set.
    fn find(&mut self, wait: Wait) -> Option<&mut Timer> {
        let (slot, nth) = wait.place();
        self.table(wait).get_mut(slot).map(|timers| &mut timers[nth])
    }

    #[inline]
    fn open(&mut self, wait: Wait) -> &mut Timer {
        let (slot, nth) = wait.place();
        let table = self.table(wait);
        if table.len() <= slot {
            grow(table, slot);
        }
        &mut table[slot][nth]
    }
}

#[cold]
fn grow(table: &mut Vec<[Timer; 4]>, slot: usize) {
    table.resize(slot + 1, [Timer { due: Place::NEVER, queued: Place::NEVER }; 4]);
}

/// Nothing in this slot is due any more.
fn forget(table: &mut [[Timer; 4]], slot: usize) {
    if let Some(timers) = table.get_mut(slot) {
        timers.iter_mut().for_each(|timer| timer.due = Place::NEVER);
    }
}

impl Wait {
    /// Who goes first at one instant.
    const fn rank(self) -> u64 {
        match self {
            Wait::Deadline(_) => 0,
            Wait::Attempt(_) => 1,
            Wait::FirstByte(_) => 2,
            Wait::Idle(_) => 3,
            Wait::Receipt(_) => 4,
            Wait::Health(_) => 5,
            Wait::Hedge(_) => 6,
            Wait::Retry(_) => 7,
        }
    }

    /// Its slot, and its place among the timers there.
    const fn place(self) -> (usize, usize) {
        match self {
            Wait::Deadline(request) => (request.index(), 0),
            Wait::Hedge(request) => (request.index(), 1),
            Wait::Retry(request) => (request.index(), 2),
            Wait::Attempt(call) => (call.index(), 0),
            Wait::FirstByte(call) => (call.index(), 1),
            Wait::Idle(call) => (call.index(), 2),
            Wait::Receipt(call) => (call.index(), 3),
            Wait::Health(health) => (health.index(), 0),
        }
    }

    /// The word in events.
    pub const fn label(self) -> &'static str {
        match self {
            Wait::Deadline(_) => "deadline",
            Wait::Attempt(_) => "attempt_timeout",
            Wait::FirstByte(_) => "first_byte_timeout",
            Wait::Idle(_) => "idle_timeout",
            Wait::Receipt(_) => "receipt",
            Wait::Health(_) => "health",
            Wait::Hedge(_) => "hedge",
            Wait::Retry(_) => "retry",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> Timestamp {
        Timestamp::from_nanos(ns)
    }

    fn drain(waits: &mut Waits) -> Vec<(u64, Wait)> {
        let mut out = Vec::new();
        loop {
            let Some((due, wait)) = waits.first_by(Timestamp::MAX) else { return out };
            assert_eq!(waits.take_due(due), Some(wait));
            out.push((due.nanos(), wait));
        }
    }

    #[test]
    fn timers_of_one_instant_are_due_by_kind_then_in_the_order_of_setting() {
        let mut waits = Waits::default();
        let (a, b) = (RequestId(5), RequestId(1));
        waits.set(Wait::Retry(a), at(7));
        waits.set(Wait::Deadline(a), at(7));
        waits.set(Wait::Deadline(b), at(7));
        waits.set(Wait::Attempt(CallId(0)), at(7));
        let order = [Wait::Deadline(a), Wait::Deadline(b), Wait::Attempt(CallId(0)), Wait::Retry(a)];
        assert_eq!(drain(&mut waits), order.map(|wait| (7, wait)));
    }

    #[test]
    fn a_timer_set_again_is_due_once_and_a_cleared_one_never() {
        let mut waits = Waits::default();
        let (idle, retry) = (Wait::Idle(CallId(3)), Wait::Retry(RequestId(3)));
        waits.set(idle, at(5));
        waits.set(idle, at(9));
        waits.set(retry, at(6));
        waits.clear(retry);
        assert_eq!(drain(&mut waits), [(9, idle)]);
        assert!(waits.is_empty());
    }

    #[test]
    fn whatever_is_set_and_cleared_the_first_is_the_first_of_those_that_are_left() {
        use proptest::prelude::*;
        let waits_of = |slot: u32| {
            [Wait::Deadline(RequestId(slot)), Wait::Idle(CallId(slot)), Wait::Retry(RequestId(slot))]
        };
        proptest!(|(steps in proptest::collection::vec((0u32..6, 0usize..3, 0u64..9, 0u64..30), 1..400))| {
            let (mut waits, mut known) = (Waits::default(), Vec::<(u64, Wait, usize)>::new());
            for (at, (slot, kind, due, until)) in steps.into_iter().enumerate() {
                let wait = waits_of(slot)[kind];
                known.retain(|(_, other, _)| *other != wait);
                if due == 0 {
                    waits.clear(wait);
                } else {
                    waits.set(wait, Timestamp::from_nanos(due));
                    known.push((due, wait, at));
                }
                let first = known.iter().min_by_key(|(due, wait, at)| (*due, wait.rank(), *at));
                let first = first.map(|(due, wait, _)| (Timestamp::from_nanos(*due), *wait));
                let until = Timestamp::from_nanos(until);
                prop_assert_eq!(waits.first_by(until), first.filter(|first| first.0 <= until));
                prop_assert_eq!(waits.is_empty(), known.is_empty());
            }
        });
    }

    #[test]
    fn cleared_timers_do_not_pile_up() {
        for due in [|k| 1_000_000 + k, |k| 1_000_000 - k] {
            let mut waits = Waits::default();
            for k in 0..10_000 {
                waits.set(Wait::Deadline(RequestId(k % 10)), at(due(u64::from(k))));
                assert!(waits.heap.len() <= 65);
            }
        }
    }
}
