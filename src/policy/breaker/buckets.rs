//! Windows over time, kept as buckets.

use std::collections::VecDeque;

use super::tally::{Mark, Tally};
use crate::units::{Duration, Timestamp};

/// When old buckets leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expiry {
    /// As time passes: a reader never sees them.
    WithTime,
    /// With the next result: until then a reader sees what that result will drop.
    WithResult,
}

/// Which bucket a result belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Booking {
    /// The one in which it came.
    AtEnd,
    /// The one in which its call began; if that has left the window, the result is dropped.
    AtStart,
}

/// Buckets of equal width on a fixed grid: the window is the present bucket and the `len − 1` before it.
///
/// ```text
///   origin    w         2w        3w        4w   now
///     |---------|---------|---------|---------|---!      len = 3: the two buckets before now's and now's own,
///                         [ window ............... ]      so a result lives between len − 1 and len widths
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    origin: Timestamp,
    width: Duration,
    expiry: Expiry,
    booking: Booking,
    /// The number of the newest bucket since the origin; bucket `n` is kept at `n % len`.
    head: u64,
    buckets: Vec<Tally>,
    sum: Tally,
}

impl Grid {
    /// `len` buckets of `width`, the first of them beginning at `origin`; zeros are read as ones.
    pub(super) fn new(
        origin: Timestamp,
        width: Duration,
        len: u32,
        expiry: Expiry,
        booking: Booking,
    ) -> Grid {
        let width = width.max(Duration::from_nanos(1));
        let buckets = vec![Tally::default(); len.max(1) as usize];
        Grid { origin, width, expiry, booking, head: 0, buckets, sum: Tally::default() }
    }

    pub(super) fn clear(&mut self, origin: Timestamp) {
        self.origin = origin;
        self.head = 0;
        self.clear_counts();
    }

    fn clear_counts(&mut self) {
        self.buckets.fill(Tally::default());
        self.sum = Tally::default();
    }

    /// Counts a call that begins, if results are booked where their call began.
    pub(super) fn begin(&mut self, now: Timestamp) {
        match self.booking {
            Booking::AtEnd => return,
            Booking::AtStart => self.roll(self.number(now)),
        }
        let place = self.place(self.head);
        self.buckets[place].begun += 1;
        self.sum.begun += 1;
    }

    /// Counts a result of a call that began at `began`.
    pub(super) fn record(&mut self, now: Timestamp, began: Timestamp, mark: Mark) {
        self.roll(self.number(now));
        let bucket = match self.booking {
            Booking::AtEnd => self.head,
            Booking::AtStart => self.number(began),
        };
        let has_left = bucket.saturating_add(self.buckets.len() as u64) <= self.head;
        if has_left {
            return;
        }
        let place = self.place(bucket);
        self.buckets[place].add(mark);
        self.sum.add(mark);
    }

    /// Brings the window up to `now`, if it expires with time.
    pub(super) fn catch_up(&mut self, now: Timestamp) {
        match self.expiry {
            Expiry::WithTime => self.roll(self.number(now)),
            Expiry::WithResult => {}
        }
    }

    pub(super) fn sum(&self) -> &Tally {
        &self.sum
    }

    /// What [`Grid::sum`] would be after [`Grid::catch_up`]; copies the buckets only if some would leave.
    pub(super) fn tally(&self, now: Timestamp) -> Tally {
        match self.expiry {
            Expiry::WithResult => self.sum,
            Expiry::WithTime if self.number(now) <= self.head => self.sum,
            Expiry::WithTime => {
                let mut later = self.clone();
                later.roll(later.number(now));
                later.sum
            }
        }
    }

    fn number(&self, at: Timestamp) -> u64 {
        at.since(self.origin).nanos() / self.width.nanos()
    }

    fn place(&self, bucket: u64) -> usize {
        (bucket % self.buckets.len() as u64) as usize
    }

    /// Moves on to bucket `to`. A gap of a whole window clears everything in one step.
    fn roll(&mut self, to: u64) {
        if to <= self.head {
            return;
        }
        if to - self.head >= self.buckets.len() as u64 {
            self.clear_counts();
            self.head = to;
        }
        while self.head < to {
            self.head += 1;
            let place = self.place(self.head);
            self.sum.drop_bucket(&self.buckets[place]);
            self.buckets[place] = Tally::default();
        }
    }
}

/// Buckets that begin with an event instead of on a grid; one leaves when it began `over` ago.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rolling {
    width: Duration,
    over: Duration,
    buckets: VecDeque<(Timestamp, Tally)>,
    sum: Tally,
}

impl Rolling {
    /// A window of `over` in `parts` buckets; zeros are read as ones.
    pub(super) fn new(over: Duration, parts: u32) -> Rolling {
        let over = over.max(Duration::from_nanos(1));
        let width = Duration::from_nanos(over.nanos() / u64::from(parts.max(1)));
        Rolling { width, over, buckets: VecDeque::new(), sum: Tally::default() }
    }

    pub(super) fn clear(&mut self) {
        self.buckets.clear();
        self.sum = Tally::default();
    }

    pub(super) fn record(&mut self, now: Timestamp, mark: Mark) {
        self.catch_up(now);
        self.sum.add(mark);
        if let Some((_, newest)) = self.buckets.back_mut() {
            newest.add(mark);
        }
    }

    /// Opens a bucket if the newest is full of time, then drops the old ones; a reader does this too.
    pub(super) fn catch_up(&mut self, now: Timestamp) {
        let newest_is_full = self.buckets.back().is_none_or(|(began, _)| now.since(*began) >= self.width);
        if newest_is_full {
            self.buckets.push_back((now, Tally::default()));
        }
        while let Some((began, oldest)) = self.buckets.front()
            && now.since(*began) >= self.over
        {
            self.sum.drop_bucket(oldest);
            self.buckets.pop_front();
        }
    }

    pub(super) fn sum(&self) -> &Tally {
        &self.sum
    }

    pub(super) fn tally(&self, now: Timestamp) -> Tally {
        let mut sum = self.sum;
        for (_, old) in self.buckets.iter().take_while(|(began, _)| now.since(*began) >= self.over) {
            sum.drop_bucket(old);
        }
        sum
    }
}

/// When a tumbling window begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// When the breaker closes, and again as soon as the last one is over.
    Closing,
    /// With its first event.
    FirstEvent,
}

/// Whether a window is over at exactly its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// It is.
    Inclusive,
    /// Only one nanosecond later.
    Exclusive,
}

/// One bucket; when it is over, everything in it is forgotten at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tumbling {
    every: Duration,
    start: Start,
    end: End,
    began: Option<Timestamp>,
    tally: Tally,
}

impl Tumbling {
    pub(super) fn new(now: Timestamp, every: Duration, start: Start, end: End) -> Tumbling {
        let mut window = Tumbling { every, start, end, began: None, tally: Tally::default() };
        window.clear(now);
        window
    }

    pub(super) fn clear(&mut self, now: Timestamp) {
        self.tally = Tally::default();
        self.began = match self.start {
            Start::Closing => Some(now),
            Start::FirstEvent => None,
        };
    }

    /// Counts a call that begins, if the window does not wait for a result to begin itself.
    pub(super) fn begin(&mut self, now: Timestamp) {
        match self.start {
            Start::FirstEvent => {}
            Start::Closing => {
                self.catch_up(now);
                self.tally.begun += 1;
            }
        }
    }

    pub(super) fn record(&mut self, now: Timestamp, mark: Mark) {
        self.catch_up(now);
        self.tally.add(mark);
    }

    /// Begins a new window at `now` if there is none or the last one is over; returns whether it was over.
    pub(super) fn catch_up(&mut self, now: Timestamp) -> bool {
        let is_over = self.is_over(now);
        if is_over {
            self.clear(now);
        }
        self.began.get_or_insert(now);
        is_over
    }

    pub(super) fn is_over(&self, now: Timestamp) -> bool {
        let Some(began) = self.began else { return false };
        match self.end {
            End::Inclusive => now.since(began) >= self.every,
            End::Exclusive => now.since(began) > self.every,
        }
    }

    pub(super) fn sum(&self) -> &Tally {
        &self.tally
    }

    pub(super) fn tally(&self, now: Timestamp) -> Tally {
        if self.is_over(now) { Tally::default() } else { self.tally }
    }
}
