//! A ratio of two whole numbers, compared by cross-multiplication: no float, no rounding.

use std::fmt;

/// `numerator / denominator`; the denominator is never zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ratio {
    numerator: u64,
    denominator: u64,
}

impl Ratio {
    /// None of it.
    pub const ZERO: Ratio = Ratio { numerator: 0, denominator: 1 };
    /// All of it.
    pub const ONE: Ratio = Ratio { numerator: 1, denominator: 1 };

    /// The ratio, or `None` if `denominator` is zero.
    pub const fn new(numerator: u64, denominator: u64) -> Option<Ratio> {
        if denominator == 0 { None } else { Some(Ratio { numerator, denominator }) }
    }

    /// `n` hundredths.
    pub const fn percent(n: u64) -> Ratio {
        Ratio { numerator: n, denominator: 100 }
    }

    /// The number above the line.
    pub const fn numerator(self) -> u64 {
        self.numerator
    }

    /// The number below the line; never zero.
    pub const fn denominator(self) -> u64 {
        self.denominator
    }

    /// Whether `part` of `whole` is at least this ratio, exactly; nothing is at least a share of nothing
    /// unless the ratio is zero.
    pub const fn reached_by(self, part: u64, whole: u64) -> bool {
        part as u128 * self.denominator as u128 >= self.numerator as u128 * whole as u128
            && (whole > 0 || self.numerator == 0)
    }

    /// This share of `n`, rounded down; saturates.
    pub const fn of(self, n: u64) -> u64 {
        let share = n as u128 * self.numerator as u128 / self.denominator as u128;
        if share > u64::MAX as u128 { u64::MAX } else { share as u64 }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ninety_nine_of_a_hundred_and_ninety_nine_is_not_a_half() {
        let half = Ratio::percent(50);
        assert!(!half.reached_by(99, 199));
        assert!(half.reached_by(100, 200));
    }

    #[test]
    fn nothing_of_nothing_reaches_no_share() {
        assert!(!Ratio::percent(1).reached_by(0, 0));
        assert!(Ratio::ZERO.reached_by(0, 0));
    }
}
