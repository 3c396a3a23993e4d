//! What a window remembers, as counts.

use crate::policy::signal::Signal;
use crate::units::Duration;

/// Whether a call took longer than the limit for slow calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// Within the limit, or there is no limit.
    Usual,
    /// Longer than the limit.
    Slow,
}

/// One result as a window counts it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    /// What the result says about the route.
    pub signal: Signal,
    /// Whether it was slow.
    pub pace: Pace,
    /// How long the call took.
    pub elapsed: Duration,
}

/// Counts of the calls that a window still remembers. Which of them a window keeps is its own affair: a
/// window of runs keeps the two runs and nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Calls admitted, finished or not. Only windows that follow a call from its start keep it.
    pub begun: u64,
    /// Good results, slow ones too.
    pub good: u64,
    /// Bad results, slow ones too.
    pub bad: u64,
    /// Neutral results: known, but part of no rate. Rings and windows of runs do not keep it.
    pub neutral: u64,
    /// Good results that were slow.
    pub slow_good: u64,
    /// Bad results that were slow.
    pub slow_bad: u64,
    /// Good results since the last bad one.
    pub good_run: u64,
    /// Bad results since the last good one.
    pub bad_run: u64,
    /// Time that all good and bad calls took together.
    pub elapsed: Duration,
}

impl Tally {
    /// Good and bad results.
    pub const fn results(&self) -> u64 {
        self.good + self.bad
    }

    /// Slow results, good and bad.
    pub const fn slow(&self) -> u64 {
        self.slow_good + self.slow_bad
    }

    /// Calls begun that did not turn out neutral; those in flight are among them.
    pub const fn counted(&self) -> u64 {
        self.begun.saturating_sub(self.neutral)
    }

    /// Counts one result.
    pub(super) fn add(&mut self, mark: Mark) {
        let slow = match mark.pace {
            Pace::Usual => 0,
            Pace::Slow => 1,
        };
        match mark.signal {
            Signal::Good => {
                self.good += 1;
                self.slow_good += slow;
            }
            Signal::Bad => {
                self.bad += 1;
                self.slow_bad += slow;
            }
            Signal::Neutral => {
                self.neutral += 1;
                return;
            }
        }
        self.elapsed = self.elapsed.plus(mark.elapsed);
        self.add_to_run(mark.signal);
    }

    /// Counts one result in the two runs only.
    #[inline]
    pub(super) fn add_to_run(&mut self, signal: Signal) {
        match signal {
            Signal::Good => {
                self.good_run += 1;
                self.bad_run = 0;
            }
            Signal::Bad => {
                self.bad_run += 1;
                self.good_run = 0;
            }
            Signal::Neutral => {}
        }
    }

    /// Takes one old result out again. The runs stay: they end with the next result of the other kind.
    pub(super) fn drop_result(&mut self, mark: Mark) {
        let mut one = Tally::default();
        one.add(mark);
        self.subtract(&one);
    }

    /// Takes the oldest bucket of a window out of the sum of all its buckets. A run loses its part in that
    /// bucket only if it reaches back into it: if every like result since is part of the run.
    pub(super) fn drop_bucket(&mut self, oldest: &Tally) {
        if self.good_run == oldest.good_run + (self.good - oldest.good) {
            self.good_run -= oldest.good_run;
        }
        if self.bad_run == oldest.bad_run + (self.bad - oldest.bad) {
            self.bad_run -= oldest.bad_run;
        }
        self.subtract(oldest);
    }

    fn subtract(&mut self, part: &Tally) {
        self.begun -= part.begun;
        self.good -= part.good;
        self.bad -= part.bad;
        self.neutral -= part.neutral;
        self.slow_good -= part.slow_good;
        self.slow_bad -= part.slow_bad;
        self.elapsed = Duration::from_nanos(self.elapsed.nanos().saturating_sub(part.elapsed.nanos()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(signals: &[Signal]) -> Tally {
        let mut tally = Tally::default();
        for &signal in signals {
            tally.add(Mark { signal, pace: Pace::Usual, elapsed: Duration::ZERO });
        }
        tally
    }

    #[test]
    fn a_run_loses_what_left_the_window_only_if_it_reaches_back() {
        use Signal::{Bad, Good};
        let mut unbroken = tally(&[Bad, Bad, Bad]);
        unbroken.drop_bucket(&tally(&[Bad, Bad]));
        assert_eq!((unbroken.bad, unbroken.bad_run), (1, 1));

        let mut broken = tally(&[Bad, Bad, Good, Bad]);
        broken.drop_bucket(&tally(&[Bad, Bad]));
        assert_eq!((broken.bad, broken.bad_run), (1, 1));
    }

    #[test]
    fn a_neutral_result_is_part_of_no_rate_and_no_run() {
        let tally = tally(&[Signal::Bad, Signal::Neutral, Signal::Bad]);
        assert_eq!((tally.results(), tally.bad_run, tally.neutral), (2, 2, 1));
    }
}
