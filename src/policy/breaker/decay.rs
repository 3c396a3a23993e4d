//! An exponentially weighted average of successes, in integers.

use super::tally::{Mark, Tally};
use crate::policy::signal::Signal;
use crate::units::{Duration, Ratio, Timestamp};

/// Binary places behind the point of every fixed-point number here.
const PLACES: u32 = 60;
const ONE: u128 = 1 << PLACES;
/// ln 2 with [`PLACES`] binary places, rounded to nearest.
const LN_2: u128 = 799_144_290_325_165_979;

/// What an average fades with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fade {
    /// With each result: after this many, an old one weighs 1/e. 0 is read as 1.
    Results(u32),
    /// With time: after this long, an old one weighs 1/e. Results at one instant weigh nothing after the
    /// first of them, as in Finagle.
    Time(Duration),
}

/// A share of successes between none and all, with sixty binary places.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Share(u64);

impl Share {
    /// Whether this share is less than `ratio`.
    pub fn is_below(self, ratio: Ratio) -> bool {
        // A numerator of up to 64 bits moves up by 60: it fits in 128.
        u128::from(self.0) * u128::from(ratio.denominator()) < u128::from(ratio.numerator()) << PLACES
    }
}

/// The average itself, beside plain counts of everything since the last clearing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decaying {
    fade: Fade,
    /// The weight of the past at the next result, if it fades with results.
    step: u128,
    value: Option<Share>,
    last: Timestamp,
    tally: Tally,
}

impl Decaying {
    pub(super) fn new(fade: Fade) -> Decaying {
        let step = match fade {
            Fade::Results(n) => fading(1, u64::from(n)),
            Fade::Time(_) => ONE,
        };
        Decaying { fade, step, value: None, last: Timestamp::ZERO, tally: Tally::default() }
    }

    pub(super) fn clear(&mut self) {
        self.value = None;
        self.tally = Tally::default();
    }

    /// Folds one result in. The first one is the whole average; a neutral one is none.
    pub(super) fn record(&mut self, now: Timestamp, mark: Mark) {
        self.tally.add(mark);
        let sample = match mark.signal {
            Signal::Good => ONE,
            Signal::Bad => 0,
            Signal::Neutral => return,
        };
        let past = match self.fade {
            Fade::Results(_) => self.step,
            Fade::Time(over) => fading(now.since(self.last).nanos(), over.nanos()),
        };
        self.last = now;
        let average = match self.value {
            None => sample,
            Some(Share(value)) => (u128::from(value) * past + sample * (ONE - past)) >> PLACES,
        };
        self.value = Some(Share(average as u64)); // at most one
    }

    pub(super) fn sum(&self) -> &Tally {
        &self.tally
    }

    pub(super) fn share(&self) -> Option<Share> {
        self.value
    }
}

/// e^(−part/whole), rounded down; a whole of 0 is read as 1.
fn fading(part: u64, whole: u64) -> u128 {
    let x = (u128::from(part) << PLACES) / u128::from(whole.max(1));
    // e^−x = 2^−halvings · e^−rest, with rest below ln 2, where the series converges quickly.
    let (halvings, rest) = (x / LN_2, x % LN_2);
    if halvings >= u128::from(PLACES) {
        return 0;
    }
    let (mut even, mut odd, mut term) = (ONE, 0, ONE);
    for n in 1..=24u128 {
        term = ((term * rest) >> PLACES) / n;
        if n % 2 == 0 { even += term } else { odd += term }
    }
    (even - odd) >> halvings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weight_of_the_past_is_exact_to_seventeen_digits() {
        let digits = |part, whole| (fading(part, whole) * 100_000_000_000_000_000) >> PLACES;
        let near = |got: u128, want: u128| assert!(got.abs_diff(want) <= 2, "{got} is not {want}");
        near(digits(1, 1), 36_787_944_117_144_233);
        near(digits(1, 100), 99_004_983_374_916_805);
        near(digits(20, 1), 206_115_362);
        assert_eq!(fading(0, 5), ONE);
        assert_eq!(fading(u64::MAX, 1), 0);
    }

    #[test]
    fn all_failures_bring_the_average_of_a_hundred_below_a_half_at_the_seventieth() {
        use crate::policy::breaker::tally::Pace;
        let mark = |signal| Mark { signal, pace: Pace::Usual, elapsed: Duration::ZERO };
        let mut average = Decaying::new(Fade::Results(100));
        for _ in 0..100 {
            average.record(Timestamp::ZERO, mark(Signal::Good));
        }
        let below = |average: &Decaying| average.share().unwrap().is_below(Ratio::percent(50));
        for _ in 0..69 {
            average.record(Timestamp::ZERO, mark(Signal::Bad));
            assert!(!below(&average));
        }
        average.record(Timestamp::ZERO, mark(Signal::Bad));
        assert!(below(&average));
    }
}
