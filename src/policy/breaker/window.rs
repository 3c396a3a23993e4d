//! What a breaker remembers of the past: one type, one variant for each way to forget.

use super::buckets::{Booking, End, Expiry, Grid, Rolling, Start, Tumbling};
use super::decay::{Decaying, Fade, Share};
use super::ring::Ring;
use super::tally::{Mark, Tally};
use crate::units::{Duration, Timestamp};

/// The clock of a window. Widths and sizes of 0 are read as 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowModel {
    /// Only the present run of like results; time does not matter. **Our default.**
    Run,
    /// Everything since the breaker closed (gobreaker without an interval).
    Lifetime,
    /// The last `size` results (resilience4j by count, failsafe-go by count).
    Count {
        /// How many results.
        size: u32,
    },
    /// Buckets on the grid of the scenario's clock, whatever the breaker does: with one-second buckets a
    /// result lives `buckets − 1` to `buckets` seconds (resilience4j by time, failsafe-go by time).
    Aligned {
        /// The width of a bucket.
        bucket: Duration,
        /// How many buckets the window is.
        buckets: u32,
        /// When old buckets leave.
        expiry: Expiry,
    },
    /// Buckets on a grid that begins when the breaker closes; a late result is booked where its call began
    /// (gobreaker with buckets).
    Anchored {
        /// The width of a bucket.
        bucket: Duration,
        /// How many buckets the window is.
        buckets: u32,
    },
    /// `parts` buckets, each beginning with an event; one leaves when it began `over` ago (Polly).
    Rolling {
        /// The length of the window.
        over: Duration,
        /// How many buckets it may have.
        parts: u32,
    },
    /// One bucket that is emptied at its end (gobreaker with an interval, Polly below 200 ms).
    Tumbling {
        /// Its length.
        every: Duration,
        /// When it begins.
        start: Start,
        /// Whether its end belongs to the next one.
        end: End,
        /// What its end means for calls in flight.
        renewal: Renewal,
    },
    /// A weighted average that fades (Finagle).
    Decaying(Fade),
}

/// What the end of a tumbling window renews.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Renewal {
    /// The counts: a call that began before is counted when it ends.
    Counts,
    /// The generation: the result of a call that began before is stale.
    Generation,
}

/// A window with its counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Window {
    /// See [`WindowModel::Run`].
    Run(Tally),
    /// See [`WindowModel::Lifetime`].
    Lifetime(Tally),
    /// See [`WindowModel::Count`].
    Count(Ring),
    /// See [`WindowModel::Aligned`].
    Aligned(Grid),
    /// See [`WindowModel::Anchored`].
    Anchored(Grid),
    /// See [`WindowModel::Rolling`].
    Rolling(Rolling),
    /// See [`WindowModel::Tumbling`].
    Tumbling(Tumbling, Renewal),
    /// See [`WindowModel::Decaying`].
    Decaying(Decaying),
}

impl Window {
    /// An empty window of this model.
    pub fn new(model: WindowModel, now: Timestamp) -> Window {
        match model {
            WindowModel::Run => Window::Run(Tally::default()),
            WindowModel::Lifetime => Window::Lifetime(Tally::default()),
            WindowModel::Count { size } => Window::Count(Ring::new(size)),
            WindowModel::Aligned { bucket, buckets, expiry } => {
                Window::Aligned(Grid::new(Timestamp::ZERO, bucket, buckets, expiry, Booking::AtEnd))
            }
            WindowModel::Anchored { bucket, buckets } => {
                Window::Anchored(Grid::new(now, bucket, buckets, Expiry::WithTime, Booking::AtStart))
            }
            WindowModel::Rolling { over, parts } => Window::Rolling(Rolling::new(over, parts)),
            WindowModel::Tumbling { every, start, end, renewal } => {
                Window::Tumbling(Tumbling::new(now, every, start, end), renewal)
            }
            WindowModel::Decaying(fade) => Window::Decaying(Decaying::new(fade)),
        }
    }

    /// Forgets everything; what is anchored begins again at `now`.
    pub fn clear(&mut self, now: Timestamp) {
        match self {
            Window::Run(tally) | Window::Lifetime(tally) => *tally = Tally::default(),
            Window::Count(ring) => ring.clear(),
            Window::Aligned(grid) => grid.clear(Timestamp::ZERO),
            Window::Anchored(grid) => grid.clear(now),
            Window::Rolling(rolling) => rolling.clear(),
            Window::Tumbling(tumbling, _) => tumbling.clear(now),
            Window::Decaying(decaying) => decaying.clear(),
        }
    }

    /// Notes that a call begins. A window of runs, the usual one, does not care.
    #[inline]
    pub fn begin(&mut self, now: Timestamp) {
        if !matches!(self, Window::Run(_)) {
            self.follow(now);
        }
    }

    fn follow(&mut self, now: Timestamp) {
        match self {
            Window::Lifetime(tally) => tally.begun += 1,
            Window::Anchored(grid) => grid.begin(now),
            Window::Tumbling(tumbling, _) => tumbling.begin(now),
            Window::Run(_)
            | Window::Count(_)
            | Window::Aligned(_)
            | Window::Rolling(_)
            | Window::Decaying(_) => {}
        }
    }

    /// Counts the result of a call that began at `began`. A window of runs goes first.
    #[inline]
    pub fn record(&mut self, now: Timestamp, began: Timestamp, mark: Mark) {
        if let Window::Run(tally) = self {
            tally.add_to_run(mark.signal);
        } else {
            self.book(now, began, mark);
        }
    }

    #[inline(never)]
    fn book(&mut self, now: Timestamp, began: Timestamp, mark: Mark) {
        match self {
            Window::Run(tally) => tally.add_to_run(mark.signal),
            Window::Lifetime(tally) => tally.add(mark),
            Window::Count(ring) => ring.record(mark),
            Window::Aligned(grid) | Window::Anchored(grid) => grid.record(now, began, mark),
            Window::Rolling(rolling) => rolling.record(now, mark),
            Window::Tumbling(tumbling, _) => tumbling.record(now, mark),
            Window::Decaying(decaying) => decaying.record(now, mark),
        }
    }

    /// The counts as of the last record or reading.
    #[inline]
    pub fn counts(&self) -> &Tally {
        match self {
            Window::Run(tally) | Window::Lifetime(tally) => tally,
            Window::Count(ring) => ring.sum(),
            Window::Aligned(grid) | Window::Anchored(grid) => grid.sum(),
            Window::Rolling(rolling) => rolling.sum(),
            Window::Tumbling(tumbling, _) => tumbling.sum(),
            Window::Decaying(decaying) => decaying.sum(),
        }
    }

    /// The counts as of now, as a library that moves its window on reading would see them.
    pub fn read(&mut self, now: Timestamp) -> Tally {
        match self {
            Window::Run(_) | Window::Lifetime(_) | Window::Count(_) | Window::Decaying(_) => {}
            Window::Aligned(grid) | Window::Anchored(grid) => grid.catch_up(now),
            Window::Rolling(rolling) => rolling.catch_up(now),
            Window::Tumbling(tumbling, _) => _ = tumbling.catch_up(now),
        }
        *self.counts()
    }

    /// The counts as of now; changes nothing.
    pub fn tally(&self, now: Timestamp) -> Tally {
        match self {
            Window::Aligned(grid) | Window::Anchored(grid) => grid.tally(now),
            Window::Rolling(rolling) => rolling.tally(now),
            Window::Tumbling(tumbling, _) => tumbling.tally(now),
            Window::Run(_) | Window::Lifetime(_) | Window::Count(_) | Window::Decaying(_) => *self.counts(),
        }
    }

    /// The weighted share of successes; `None` before the first result, and for a window that keeps none.
    pub fn average(&self) -> Option<Share> {
        match self {
            Window::Decaying(decaying) => decaying.share(),
            Window::Run(_)
            | Window::Lifetime(_)
            | Window::Count(_)
            | Window::Aligned(_)
            | Window::Anchored(_)
            | Window::Rolling(_)
            | Window::Tumbling(..) => None,
        }
    }

    /// Begins the next window if this one is over and its end also ends the generation; returns whether.
    #[inline]
    pub(super) fn renew(&mut self, now: Timestamp) -> bool {
        if let Window::Tumbling(tumbling, Renewal::Generation) = self {
            tumbling.catch_up(now)
        } else {
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::breaker::tally::Pace;
    use crate::policy::signal::Signal;

    const BAD: Mark = Mark { signal: Signal::Bad, pace: Pace::Usual, elapsed: Duration::from_millis(5) };

    fn at(ms: u64) -> Timestamp {
        Timestamp::ZERO.after(Duration::from_millis(ms))
    }

    /// Records one bad result at `began`, then checks how many are remembered at each instant.
    fn check(model: WindowModel, began: u64, remembered: &[(u64, u64)]) {
        let mut window = Window::new(model, at(0));
        window.record(at(began), at(began), BAD);
        for &(ms, bad) in remembered {
            assert_eq!(window.tally(at(ms)).bad, bad, "{model:?} at {ms} ms");
        }
        for &(ms, bad) in remembered {
            assert_eq!(window.read(at(ms)).bad, bad, "{model:?} read at {ms} ms");
        }
    }

    #[test]
    fn on_an_aligned_grid_a_result_lives_between_one_bucket_less_and_the_whole_window() {
        let bucket = Duration::from_secs(1);
        let model = WindowModel::Aligned { bucket, buckets: 5, expiry: Expiry::WithTime };
        check(model, 0, &[(4999, 1), (5000, 0)]);
        check(model, 999, &[(4999, 1), (5000, 0), (60_000, 0)]);
    }

    #[test]
    fn a_window_that_expires_with_results_shows_what_the_next_result_will_drop() {
        let bucket = Duration::from_secs(1);
        let model = WindowModel::Aligned { bucket, buckets: 5, expiry: Expiry::WithResult };
        check(model, 0, &[(5000, 1), (60_000, 1)]);
        let mut window = Window::new(model, at(0));
        window.record(at(0), at(0), BAD);
        window.record(at(60_000), at(60_000), BAD);
        assert_eq!(window.counts().bad, 1);
    }

    #[test]
    fn an_anchored_bucket_leaves_after_exactly_the_window() {
        let model = WindowModel::Anchored { bucket: Duration::from_secs(3), buckets: 10 };
        check(model, 0, &[(29_999, 1), (30_000, 0)]);
        check(model, 2999, &[(29_999, 1), (30_000, 0)]);
    }

    #[test]
    fn a_late_result_is_booked_where_its_call_began() {
        let model = WindowModel::Anchored { bucket: Duration::from_secs(3), buckets: 10 };
        let mut window = Window::new(model, at(0));
        window.record(at(31_000), at(0), BAD);
        assert_eq!(window.tally(at(31_000)).bad, 0, "its bucket has left");
        window.record(at(31_000), at(4000), BAD);
        assert_eq!(window.tally(at(32_999)).bad, 1);
        assert_eq!(window.tally(at(33_000)).bad, 0);
    }

    #[test]
    fn a_rolling_bucket_leaves_when_it_began_a_window_ago() {
        check(
            WindowModel::Rolling { over: Duration::from_secs(10), parts: 10 },
            700,
            &[(10_699, 1), (10_700, 0)],
        );
    }

    #[test]
    fn a_tumbling_window_forgets_everything_at_once() {
        let model = |start, end| WindowModel::Tumbling {
            every: Duration::from_secs(10),
            start,
            end,
            renewal: Renewal::Counts,
        };
        check(model(Start::Closing, End::Exclusive), 7000, &[(10_000, 1), (10_001, 0)]);
        check(model(Start::FirstEvent, End::Inclusive), 7000, &[(16_999, 1), (17_000, 0)]);
    }

    #[test]
    fn a_ring_forgets_the_oldest_result_whatever_the_time() {
        check(WindowModel::Count { size: 2 }, 0, &[(u64::MAX / 2_000_000, 1)]);
        let mut ring = Window::new(WindowModel::Count { size: 2 }, at(0));
        ring.record(at(0), at(0), BAD);
        ring.record(at(0), at(0), Mark { signal: Signal::Good, ..BAD });
        ring.record(at(0), at(0), Mark { signal: Signal::Good, ..BAD });
        assert_eq!((ring.counts().bad, ring.counts().elapsed), (0, Duration::from_millis(10)));
    }
}
