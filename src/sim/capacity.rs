//! A finite upstream. So many calls at once; the others wait at its door, in the order in which they came, and above
//! that they are refused. A call that nobody waits for any more is worked on to its end all the same: overload feeds
//! itself.

use super::upstream::Reply;
use crate::units::{Duration, Timestamp};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// How much an upstream can do.
#[derive(Clone, Debug)]
pub struct Capacity {
    /// Calls that it works on at once; at least one.
    pub at_once: u32,
    /// Calls that may wait; `None` for any number.
    pub waiting_max: Option<u32>,
    /// What a call gets that may not even wait.
    pub refusal: Reply,
}

/// The places of a finite upstream. Who is served when is known when a call comes: first in, first out.
pub(super) struct Places {
    /// When each place is free again, the first on top.
    free_at: BinaryHeap<Reverse<Timestamp>>,
    /// When those who wait will be served.
    waiting: VecDeque<Timestamp>,
}

impl Places {
    pub(super) fn new(capacity: &Capacity) -> Places {
        let free_at = (0..capacity.at_once).map(|_| Reverse(Timestamp::ZERO)).collect();
        Places { free_at, waiting: VecDeque::new() }
    }

    /// When a call that comes now is served; `None` if it is refused.
    pub(super) fn served_at(&mut self, now: Timestamp, capacity: &Capacity) -> Option<Timestamp> {
        let Reverse(free) = self.free_at.peek().expect("a finite upstream has a place");
        if *free <= now {
            return Some(now);
        }
        while self.waiting.front().is_some_and(|served| *served <= now) {
            self.waiting.pop_front();
        }
        let is_full = capacity.waiting_max.is_some_and(|most| self.waiting.len() >= most as usize);
        if is_full { None } else { Some(*free) }
    }

    /// Takes the place that is free first, from `served` for this long; for ever if it never ends.
    pub(super) fn take(&mut self, now: Timestamp, served: Timestamp, length: Option<Duration>) {
        self.free_at.pop().expect("a finite upstream has a place");
        self.free_at.push(Reverse(length.map_or(Timestamp::MAX, |length| served.after(length))));
        if served > now {
            self.waiting.push_back(served);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// When calls at these seconds are served, each for a second, in seconds; `None` if refused.
    fn check(at_once: u32, waiting_max: Option<u32>, calls: &[u64], served: &[Option<u64>]) {
        let refusal = Reply::answer(Duration::ZERO);
        let capacity = Capacity { at_once, waiting_max, refusal };
        let mut places = Places::new(&capacity);
        let got: Vec<Option<u64>> = calls
            .iter()
            .map(|second| {
                let now = Timestamp::from_nanos(second * SECOND.nanos());
                let at = places.served_at(now, &capacity)?;
                places.take(now, at, Some(SECOND));
                Some(at.nanos() / SECOND.nanos())
            })
            .collect();
        assert_eq!(got, served, "{at_once} at once, {waiting_max:?} may wait, calls at {calls:?}");
    }

    #[test]
    fn whoever_finds_no_place_waits_for_the_first_that_is_free() {
        check(1, None, &[0, 0, 0], &[Some(0), Some(1), Some(2)]);
        check(2, None, &[0, 0, 0, 0, 1], &[Some(0), Some(0), Some(1), Some(1), Some(2)]);
        check(2, None, &[0, 5], &[Some(0), Some(5)]);
    }

    #[test]
    fn whoever_may_not_wait_is_refused() {
        check(1, Some(0), &[0, 0, 1], &[Some(0), None, Some(1)]);
        check(1, Some(1), &[0, 0, 0, 1, 1], &[Some(0), Some(1), None, Some(2), None]);
    }

    #[test]
    fn a_call_that_never_ends_keeps_its_place() {
        let mut places = Places { free_at: [Reverse(Timestamp::ZERO)].into(), waiting: VecDeque::new() };
        places.take(Timestamp::ZERO, Timestamp::ZERO, None);
        assert_eq!(places.free_at.peek(), Some(&Reverse(Timestamp::MAX)));
    }
}
