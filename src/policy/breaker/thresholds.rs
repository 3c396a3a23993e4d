//! Whether counts are enough to open, reopen or close: arithmetic on a [`Config`], without state or time.

use super::config::{Clamp, Config, RateOf, Rounding, Trip, Verdict};
use super::decay::Share;
use super::tally::Tally;
use super::window::WindowModel;
use crate::units::Ratio;

/// What HALF_OPEN does after a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Decision {
    Close,
    Reopen,
    Wait,
}

impl Config {
    /// Whether a CLOSED breaker opens on these counts. `average` is the weighted share of good results, for
    /// [`Trip::Average`].
    #[inline]
    pub fn trips(&self, tally: &Tally, average: Option<Share>) -> bool {
        self.exceeds(tally, average, self.minimum_reached_at())
    }

    /// The least results on which a share means anything: the minimum, clamped.
    pub fn minimum_reached_at(&self) -> u64 {
        let minimum = u64::from(self.minimum);
        match (self.clamp, self.window) {
            (Clamp::ToWindow, WindowModel::Count { size }) => minimum.min(u64::from(size.max(1))),
            (
                Clamp::ToWindow,
                WindowModel::Run
                | WindowModel::Lifetime
                | WindowModel::Aligned { .. }
                | WindowModel::Anchored { .. }
                | WindowModel::Rolling { .. }
                | WindowModel::Tumbling { .. }
                | WindowModel::Decaying(_),
            )
            | (Clamp::Never, _) => minimum,
        }
    }

    /// What HALF_OPEN does on these counts.
    pub(super) fn decide(&self, tally: &Tally, average: Option<Share>) -> Decision {
        match self.verdict {
            Verdict::AnyBadReopens { good } => decision(tally.good_run >= u64::from(good), tally.bad > 0),
            Verdict::Quorum { good, of } => {
                decision(tally.good >= u64::from(good), tally.bad > u64::from(of.saturating_sub(good)))
            }
            Verdict::Thresholds { results } => {
                let enough = self.minimum_reached_at().min(u64::from(results));
                if tally.results() < enough {
                    return Decision::Wait;
                }
                decision(self.passes(tally, average), self.exceeds(tally, average, enough))
            }
        }
    }

    #[inline]
    fn exceeds(&self, tally: &Tally, average: Option<Share>, minimum: u64) -> bool {
        let enough = tally.results() > 0 && tally.results() >= minimum;
        let slow = enough && self.slow.is_some_and(|s| s.share.reached_by(tally.slow(), tally.results()));
        slow || match self.trip {
            Trip::Run { bad } => tally.bad_run >= u64::from(bad),
            Trip::Count { bad } => tally.bad >= u64::from(bad),
            Trip::Average { good } => enough && average.is_some_and(|a| a.is_below(good)),
            Trip::Rate { bad, of, rounding } => {
                let whole = match of {
                    RateOf::Results => tally.results(),
                    RateOf::Begun => tally.counted(),
                };
                whole > 0 && whole >= minimum && reaches(tally.bad, whole, bad, rounding)
            }
        }
    }

    /// Whether the trial was good enough. Exact shares are good enough when they are not too bad; rounded
    /// ones can be both, at a tie, and then this comes first.
    fn passes(&self, tally: &Tally, average: Option<Share>) -> bool {
        match self.trip {
            Trip::Rate { bad, of: _, rounding: Rounding::TwoDecimals } => {
                let good = u128::from(hundredths(tally.good, tally.results()));
                let least = u128::from(bad.denominator()).saturating_sub(u128::from(bad.numerator()));
                good * u128::from(bad.denominator()) > 100 * least
            }
            Trip::Rate { bad: _, of: _, rounding: Rounding::Exact }
            | Trip::Run { .. }
            | Trip::Count { .. }
            | Trip::Average { .. } => !self.exceeds(tally, average, 0),
        }
    }
}

fn decision(is_good_enough: bool, is_too_bad: bool) -> Decision {
    if is_good_enough {
        Decision::Close
    } else if is_too_bad {
        Decision::Reopen
    } else {
        Decision::Wait
    }
}

fn reaches(part: u64, whole: u64, threshold: Ratio, rounding: Rounding) -> bool {
    match rounding {
        Rounding::Exact => threshold.reached_by(part, whole),
        Rounding::TwoDecimals => threshold.reached_by(hundredths(part, whole), 100),
    }
}

/// `part / whole` in hundredths, halves rounded up; `whole` is not 0.
fn hundredths(part: u64, whole: u64) -> u64 {
    let (part, whole) = (u128::from(part), u128::from(whole));
    ((200 * part + whole) / (2 * whole)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(rounding: Rounding) -> Config {
        let trip = Trip::Rate { bad: Ratio::percent(50), of: RateOf::Results, rounding };
        Config { trip, minimum: 100, clamp: Clamp::Never, ..Config::default() }
    }

    #[test]
    fn ninety_nine_of_a_hundred_and_ninety_nine_is_a_half_only_for_those_who_round() {
        let tally = Tally { good: 100, bad: 99, ..Tally::default() };
        assert!(!rate(Rounding::Exact).trips(&tally, None));
        assert!(rate(Rounding::TwoDecimals).trips(&tally, None));
    }

    #[test]
    fn a_share_below_the_minimum_means_nothing() {
        let mut config = rate(Rounding::Exact);
        let all_bad = Tally { bad: 99, ..Tally::default() };
        assert!(!config.trips(&all_bad, None));
        config.minimum = 99;
        assert!(config.trips(&all_bad, None));
        config.minimum = 0;
        assert!(!config.trips(&Tally::default(), None), "nothing of nothing is no share");
    }

    #[test]
    fn a_minimum_that_the_window_cannot_hold_is_lowered_unless_it_must_not_be() {
        let window = WindowModel::Count { size: 5 };
        let clamped = Config { window, clamp: Clamp::ToWindow, ..rate(Rounding::Exact) };
        assert_eq!(clamped.minimum_reached_at(), 5);
        assert_eq!(Config { clamp: Clamp::Never, ..clamped }.minimum_reached_at(), 100);
    }

    #[test]
    fn slow_calls_open_although_they_succeed() {
        let slow = Some(crate::policy::breaker::Slow {
            over: crate::units::Duration::ZERO,
            share: Ratio::percent(60),
        });
        let config = Config { slow, minimum: 5, ..rate(Rounding::Exact) };
        assert!(config.trips(&Tally { good: 5, slow_good: 3, ..Tally::default() }, None));
        assert!(!config.trips(&Tally { good: 5, slow_good: 2, ..Tally::default() }, None));
    }
}
