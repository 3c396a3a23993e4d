//! How long an open breaker stays open.

use crate::units::{Duration, Ratio};

/// The length of OPEN, by how many times in a row the breaker has opened without closing in between.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cooldown {
    /// Always the same.
    Fixed(Duration),
    /// `first · factorⁿ⁻¹` at the n-th opening, each rounded down to a nanosecond, at most `max`.
    Geometric {
        /// At the first opening.
        first: Duration,
        /// From one opening to the next.
        factor: Ratio,
        /// The longest.
        max: Duration,
    },
    /// `step · n` at the n-th opening, at most `max`.
    Linear {
        /// At the first opening.
        step: Duration,
        /// The longest.
        max: Duration,
    },
    /// One after the other; the last is repeated, and an empty list is no cooldown at all.
    Listed(Box<[Duration]>),
}

impl Cooldown {
    /// The length of the `nth` opening in a row; the first is 1, and 0 is read as 1. Saturates.
    pub fn length(&self, nth: u32) -> Duration {
        let nth = nth.max(1);
        match self {
            Cooldown::Fixed(length) => *length,
            Cooldown::Geometric { first, factor, max } => geometric(*first, *factor, *max, nth),
            Cooldown::Linear { step, max } => {
                Duration::from_nanos(step.nanos().saturating_mul(u64::from(nth))).min(*max)
            }
            Cooldown::Listed(lengths) => {
                let last = lengths.len().saturating_sub(1);
                lengths.get(last.min(nth as usize - 1)).copied().unwrap_or(Duration::ZERO)
            }
        }
    }
}

/// Stops as soon as nothing changes any more, so a breaker that opened a million times costs no more.
fn geometric(first: Duration, factor: Ratio, max: Duration, nth: u32) -> Duration {
    let mut length = first.min(max);
    for _ in 1..nth {
        let next = Duration::from_nanos(factor.of(length.nanos())).min(max);
        if next == length {
            break;
        }
        length = next;
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cooldown: &Cooldown, milliseconds: &[u64]) {
        for (nth, &ms) in (1..).zip(milliseconds) {
            assert_eq!(cooldown.length(nth), Duration::from_millis(ms), "{cooldown:?}, opening {nth}");
        }
    }

    #[test]
    fn a_cooldown_grows_with_each_opening_up_to_its_longest() {
        let ms = Duration::from_millis;
        check(&Cooldown::Fixed(ms(70)), &[70, 70, 70]);
        let factor = Ratio::new(3, 2).unwrap();
        check(
            &Cooldown::Geometric { first: ms(5000), factor, max: ms(12_000) },
            &[5000, 7500, 11_250, 12_000],
        );
        check(&Cooldown::Linear { step: ms(30), max: ms(80) }, &[30, 60, 80, 80]);
        check(&Cooldown::Listed([ms(1), ms(9)].into()), &[1, 9, 9]);
        check(&Cooldown::Listed([].into()), &[0, 0]);
    }

    #[test]
    fn a_cooldown_saturates() {
        let double =
            Cooldown::Geometric { first: Duration::MAX, factor: Ratio::percent(200), max: Duration::MAX };
        assert_eq!(double.length(u32::MAX), Duration::MAX);
    }
}
