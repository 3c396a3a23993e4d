//! How long to wait before the next attempt. A function of the policy, the number of the failure and a drawn
//! number: it never draws.

use crate::units::draw::below;
use crate::units::{Duration, Ratio};

/// How the wait grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Growth {
    /// Always the base.
    Fixed,
    /// The base times the number of the failure.
    Linear,
    /// The base, multiplied by the factor after each failure.
    Exponential(Ratio),
}

/// How the wait is spread, so that thousands of clients do not wake together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Jitter {
    /// Not at all.
    None,
    /// Anywhere from zero to the wait.
    Full,
    /// Anywhere from half of the wait to the wait.
    Equal,
    /// Anywhere within this share of the wait below or above it.
    PlusMinus(Ratio),
}

/// A backoff policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backoff {
    /// The wait after the first failure, before jitter.
    pub base: Duration,
    /// How it grows.
    pub growth: Growth,
    /// The longest wait, before and after jitter.
    pub cap: Duration,
    /// How it is spread.
    pub jitter: Jitter,
}

impl Default for Backoff {
    /// 500 ms, doubling to at most 8 s, full jitter.
    fn default() -> Backoff {
        Backoff {
            base: Duration::from_millis(500),
            growth: Growth::Exponential(Ratio::percent(200)),
            cap: Duration::from_secs(8),
            jitter: Jitter::Full,
        }
    }
}

/// The wait after the `nth` failure (from one), spread by a uniform `draw`. Never above the cap.
pub fn delay(backoff: &Backoff, nth: u32, draw: u64) -> Duration {
    let (least, most) = ends(backoff, nth);
    let wait = match backoff.jitter {
        Jitter::None => most,
        Jitter::Full | Jitter::Equal | Jitter::PlusMinus(_) => {
            least.saturating_add(below(draw, (most - least).saturating_add(1)))
        }
    };
    Duration::from_nanos(wait.min(backoff.cap.nanos()))
}

/// The shortest and the longest wait after the `nth` failure (from one).
pub fn bounds(backoff: &Backoff, nth: u32) -> (Duration, Duration) {
    let (least, most) = ends(backoff, nth);
    let capped = |wait: u64| Duration::from_nanos(wait.min(backoff.cap.nanos()));
    (capped(least), capped(most))
}

/// Between which waits the jitter spreads, before the cap is looked at again.
fn ends(backoff: &Backoff, nth: u32) -> (u64, u64) {
    let cap = backoff.cap.nanos();
    let base = backoff.base.nanos();
    let grown = match backoff.growth {
        Growth::Fixed => base,
        Growth::Linear => base.saturating_mul(u64::from(nth.max(1))),
        Growth::Exponential(factor) => grow(base, factor, nth.saturating_sub(1), cap),
    }
    .min(cap);
    match backoff.jitter {
        Jitter::None => (grown, grown),
        Jitter::Full => (0, grown),
        Jitter::Equal => (grown / 2, grown),
        Jitter::PlusMinus(share) => {
            let half = share.of(grown);
            let least = grown.saturating_sub(half);
            (least, least.saturating_add(half.saturating_mul(2)))
        }
    }
}

/// `base · factorⁿ`, rounded down after each step as the libraries do; stops at the cap.
fn grow(base: u64, factor: Ratio, steps: u32, cap: u64) -> u64 {
    let mut wait = base;
    for _ in 0..steps {
        let next = factor.of(wait);
        if next >= cap || next == wait {
            return next;
        }
        wait = next;
    }
    wait
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(growth: Growth, nths: std::ops::RangeInclusive<u32>) -> Vec<u64> {
        let backoff = Backoff {
            base: Duration::from_millis(500),
            growth,
            cap: Duration::from_secs(8),
            jitter: Jitter::None,
        };
        nths.map(|nth| delay(&backoff, nth, 0).nanos() / 1_000_000).collect()
    }

    #[test]
    fn it_doubles_up_to_the_cap_and_stays_there() {
        let doubled = millis(Growth::Exponential(Ratio::percent(200)), 1..=6);
        assert_eq!(doubled, [500, 1000, 2000, 4000, 8000, 8000]);
        assert_eq!(millis(Growth::Linear, 1..=3), [500, 1000, 1500]);
        assert_eq!(millis(Growth::Fixed, 1..=3), [500, 500, 500]);
    }

    #[test]
    fn a_million_failures_are_no_overflow() {
        assert_eq!(millis(Growth::Exponential(Ratio::percent(200)), 1_000_000..=1_000_000), [8000]);
        assert_eq!(millis(Growth::Linear, u32::MAX..=u32::MAX), [8000]);
    }

    #[test]
    fn jitter_reaches_both_ends_of_its_range_and_never_leaves_it() {
        let with = |jitter, draw| {
            let base = Duration::from_millis(100);
            delay(&Backoff { base, growth: Growth::Fixed, cap: Duration::from_secs(1), jitter }, 1, draw)
        };
        let ms = Duration::from_millis;
        assert_eq!((with(Jitter::Full, 0), with(Jitter::Full, u64::MAX)), (ms(0), ms(100)));
        assert_eq!((with(Jitter::Equal, 0), with(Jitter::Equal, u64::MAX)), (ms(50), ms(100)));
        let quarter = Jitter::PlusMinus(Ratio::percent(25));
        assert_eq!((with(quarter, 0), with(quarter, u64::MAX)), (ms(75), ms(125)));
    }

    #[test]
    fn the_bounds_are_the_shortest_and_the_longest_wait_that_can_be_drawn() {
        let jitters = [Jitter::None, Jitter::Full, Jitter::Equal, Jitter::PlusMinus(Ratio::percent(30))];
        for (jitter, nth) in jitters.into_iter().flat_map(|jitter| (1..8).map(move |nth| (jitter, nth))) {
            let backoff = Backoff { jitter, ..Backoff::default() };
            let drawn = (delay(&backoff, nth, 0), delay(&backoff, nth, u64::MAX));
            assert_eq!(bounds(&backoff, nth), drawn, "{jitter:?}, {nth}");
        }
    }
}
