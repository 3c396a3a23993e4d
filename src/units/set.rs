//! A set of at most 64 small numbers, as one word.

/// A set of numbers below 64.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Set64(u64);

impl Set64 {
    /// Holds nothing.
    pub const EMPTY: Set64 = Set64(0);
    /// Holds every number below 64: "no constraint".
    pub const ALL: Set64 = Set64(u64::MAX);

    /// The set of one number.
    ///
    /// # Panics
    /// If `n` is 64 or more.
    pub const fn of(n: u8) -> Set64 {
        assert!(n < 64, "a set holds numbers below 64");
        Set64(1 << n)
    }

    /// The set of the numbers whose bits are set.
    pub const fn of_bits(bits: u64) -> Set64 {
        Set64(bits)
    }

    /// Both sets together.
    pub const fn with(self, other: Set64) -> Set64 {
        Set64(self.0 | other.0)
    }

    /// Whether every member of `other` is in this set.
    pub const fn contains(self, other: Set64) -> bool {
        self.0 & other.0 == other.0
    }

    /// What `other` has and this set lacks.
    pub const fn lacking(self, other: Set64) -> Set64 {
        Set64(other.0 & !self.0)
    }

    /// The smallest member.
    pub const fn first(self) -> Option<u8> {
        if self.0 == 0 { None } else { Some(self.0.trailing_zeros() as u8) }
    }

    /// Whether it has no member.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members, smallest first.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let first = rest.first()?;
            rest.0 &= rest.0 - 1;
            Some(first)
        })
    }
}
