//! The last so many results, whenever they came.

use super::tally::{Mark, Tally};
use crate::policy::signal::Signal;

/// A ring of results; the newest takes the place of the oldest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ring {
    size: usize,
    /// Where the next result goes once the ring is full.
    next: usize,
    marks: Vec<Mark>,
    sum: Tally,
}

impl Ring {
    /// A ring of `size` results; 0 is read as 1.
    pub(super) fn new(size: u32) -> Ring {
        let size = size.max(1) as usize;
        Ring { size, next: 0, marks: Vec::with_capacity(size), sum: Tally::default() }
    }

    pub(super) fn clear(&mut self) {
        self.next = 0;
        self.marks.clear();
        self.sum = Tally::default();
    }

    /// Counts a good or bad result; a neutral one takes nobody's place.
    pub(super) fn record(&mut self, mark: Mark) {
        match mark.signal {
            Signal::Good | Signal::Bad => {}
            Signal::Neutral => return,
        }
        if self.marks.len() < self.size {
            self.marks.push(mark);
        } else {
            self.sum.drop_result(self.marks[self.next]);
            self.marks[self.next] = mark;
            self.next = if self.next + 1 == self.size { 0 } else { self.next + 1 };
        }
        self.sum.add(mark);
    }

    pub(super) fn sum(&self) -> &Tally {
        &self.sum
    }
}
