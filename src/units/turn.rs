//! Whose turn it is: at one instant by rank, then in the order in which they came.

use super::Timestamp;
use std::cmp::Ordering;

/// Something that happens at an instant. The greatest is the first to happen, so that a heap gives it out first.
#[derive(Clone, Copy, Debug)]
pub struct Turn<T> {
    /// From the top: 64 bits of time, 4 of rank, 60 of the number in which it came. One number is compared without a
    /// branch, and most of what a heap does is to compare.
    order: u128,
    /// What happens.
    pub what: T,
}

const RANK_AT: u32 = 60;

impl<T> Turn<T> {
    /// `rank` is below 16, `number` below 2⁶⁰.
    pub fn new(at: Timestamp, rank: u64, number: u64, what: T) -> Turn<T> {
        Turn { order: u128::from(at.nanos()) << 64 | u128::from(rank << RANK_AT | number), what }
    }

    /// When it happens.
    pub const fn at(&self) -> Timestamp {
        Timestamp::from_nanos((self.order >> 64) as u64)
    }

    /// The number in which it came.
    pub const fn number(&self) -> u64 {
        self.order as u64 & ((1 << RANK_AT) - 1)
    }

    /// Whether it happens before another.
    pub const fn is_before(&self, other: &Turn<T>) -> bool {
        self.order < other.order
    }
}

impl<T> Ord for Turn<T> {
    #[inline]
    fn cmp(&self, other: &Turn<T>) -> Ordering {
        other.order.cmp(&self.order)
    }
}

impl<T> PartialOrd for Turn<T> {
    #[inline]
    fn partial_cmp(&self, other: &Turn<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Eq for Turn<T> {}

impl<T> PartialEq for Turn<T> {
    fn eq(&self, other: &Turn<T>) -> bool {
        self.order == other.order
    }
}
