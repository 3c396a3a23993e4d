//! Everything that a gateway waits for. A timer is state: cancelling one is forgetting it.

use crate::units::{CallId, HealthId, RequestId, Timestamp, Turn};
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

const KINDS: usize = 8;

/// All timers, by when they are due. Those of one instant are due by kind, then in the order in which they
/// were set.
#[derive(Debug, Default)]
pub(super) struct Waits {
    heap: BinaryHeap<Turn<Wait>>,
    /// For each kind and slot the number of the setting that counts; zero is none.
    armed: [Vec<u64>; KINDS],
    settings: u64,
    live: usize,
}

fn is_armed(timer: &Turn<Wait>, armed: &[Vec<u64>; KINDS]) -> bool {
    let (kind, slot) = timer.what.place();
    armed[kind][slot] == timer.number()
}

impl Waits {
    /// Waits for `wait` until `at`, and no longer for what was set before.
    pub(super) fn set(&mut self, wait: Wait, at: Timestamp) {
        self.clear(wait);
        self.settings += 1;
        let setting = self.settings;
        let (kind, slot) = wait.place();
        let table = &mut self.armed[kind];
        if table.len() <= slot {
            table.resize(slot + 1, 0);
        }
        table[slot] = setting;
        self.live += 1;
        self.heap.push(Turn::new(at, kind as u64, setting, wait));
        if self.heap.len() > 64 && self.heap.len() / 4 > self.live {
            self.rebuild();
        }
    }

    /// Waits for `wait` no longer.
    pub(super) fn clear(&mut self, wait: Wait) {
        let (kind, slot) = wait.place();
        if let Some(armed) = self.armed[kind].get_mut(slot).filter(|setting| **setting != 0) {
            let setting = std::mem::replace(armed, 0);
            self.live -= 1;
            if self.heap.peek().is_some_and(|first| first.number() == setting) {
                self.tidy();
            }
        }
    }

    /// The timer that is due first.
    pub(super) fn first(&self) -> Option<(Timestamp, Wait)> {
        self.heap.peek().map(|timer| (timer.at(), timer.what))
    }

    /// Takes the first timer, if it is due at `now`.
    pub(super) fn take_due(&mut self, now: Timestamp) -> Option<Wait> {
        let (_, wait) = self.first().filter(|(at, _)| *at <= now)?;
        self.clear(wait);
        Some(wait)
    }

    /// The first timer was cleared: drops it, and those behind it that were cleared before.
    #[inline(never)]
    fn tidy(&mut self) {
        while self.heap.peek().is_some_and(|timer| !is_armed(timer, &self.armed)) {
            self.heap.pop();
        }
    }

    /// Drops all timers that were cleared: they are most by far.
    #[inline(never)]
    fn rebuild(&mut self) {
        let armed = &self.armed;
        self.heap.retain(|timer| is_armed(timer, armed));
    }

    /// Whether nothing is waited for.
    pub(super) const fn is_empty(&self) -> bool {
        self.live == 0
    }
}

impl Wait {
    const fn place(self) -> (usize, usize) {
        match self {
            Wait::Deadline(request) => (0, request.index()),
            Wait::Attempt(call) => (1, call.index()),
            Wait::FirstByte(call) => (2, call.index()),
            Wait::Idle(call) => (3, call.index()),
            Wait::Receipt(call) => (4, call.index()),
            Wait::Health(health) => (5, health.index()),
            Wait::Hedge(request) => (6, request.index()),
            Wait::Retry(request) => (7, request.index()),
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
            let Some((due, wait)) = waits.first() else { return out };
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
        proptest!(|(steps in proptest::collection::vec((0u32..6, 0usize..3, 0u64..9), 1..400))| {
            let (mut waits, mut known) = (Waits::default(), Vec::<(u64, Wait, usize)>::new());
            for (at, (slot, kind, due)) in steps.into_iter().enumerate() {
                let wait = waits_of(slot)[kind];
                known.retain(|(_, other, _)| *other != wait);
                if due == 0 {
                    waits.clear(wait);
                } else {
                    waits.set(wait, Timestamp::from_nanos(due));
                    known.push((due, wait, at));
                }
                let first = known.iter().min_by_key(|(due, wait, at)| (*due, wait.place().0, *at));
                let first = first.map(|(due, wait, _)| (Timestamp::from_nanos(*due), *wait));
                prop_assert_eq!(waits.first(), first);
                prop_assert_eq!(waits.is_empty(), known.is_empty());
            }
        });
    }

    #[test]
    fn cleared_timers_do_not_pile_up() {
        let mut waits = Waits::default();
        for k in 0..10_000 {
            waits.set(Wait::Deadline(RequestId(k % 10)), at(1_000_000 + u64::from(k)));
            assert!(waits.heap.len() <= 65);
        }
    }
}
