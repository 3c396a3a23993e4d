//! Whose turn it is: at one instant by rank, then in the order in which they came.

use super::Timestamp;
use std::cmp::Ordering;

/// A place in the order of everything that happens.
///
/// From the top: 64 bits of time, 4 of rank, 60 of the number in which it came. One number is compared without a
/// branch, and most of what a heap does is to compare.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place(u128);

/// Something that happens at an instant. The greatest is the first to happen, so that a heap gives it out first.
#[derive(Clone, Copy, Debug)]
pub struct Turn<T> {
    /// Its place.
    pub place: Place,
    /// What happens.
    pub what: T,
}

const RANK_AT: u32 = 60;

impl Place {
    /// After everything that happens.
    pub const NEVER: Place = Place(u128::MAX);

    /// `rank` is below 16, `number` below 2⁶⁰.
    pub const fn new(at: Timestamp, rank: u64, number: u64) -> Place {
        Place((at.nanos() as u128) << 64 | (rank << RANK_AT | number) as u128)
    }

    /// When it happens.
    pub const fn at(self) -> Timestamp {
        Timestamp::from_nanos((self.0 >> 64) as u64)
    }
}

impl<T> Turn<T> {
    /// `rank` is below 16, `number` below 2⁶⁰.
    pub const fn new(at: Timestamp, rank: u64, number: u64, what: T) -> Turn<T> {
        Turn { place: Place::new(at, rank, number), what }
    }

    /// When it happens.
    pub const fn at(&self) -> Timestamp {
        self.place.at()
    }

    /// Whether it happens before whatever has this rank at an instant.
    pub const fn is_before_all(&self, at: Timestamp, rank: u64) -> bool {
        self.place.0 < Place::new(at, rank, 0).0
    }
}

impl<T> Ord for Turn<T> {
    #[inline]
    fn cmp(&self, other: &Turn<T>) -> Ordering {
        other.place.cmp(&self.place)
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
        self.place == other.place
    }
}
