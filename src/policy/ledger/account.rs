//! What one account has used, window by window.

use super::{AccountId, Amount};
use crate::units::{Duration, Timestamp};

#[derive(Debug)]
pub(super) struct Account {
    pub(super) id: AccountId,
    pub(super) cap: Amount,
    pub(super) window: Option<Duration>,
    pub(super) current: Page,
    /// The first instant after the current window.
    ends: Timestamp,
    /// Earlier windows that still have something held.
    pub(super) earlier: Vec<Page>,
}

/// What one window of an account has used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    pub(super) window: u64,
    pub(super) settled: Amount,
    pub(super) held: Amount,
}

impl Account {
    /// A closed one; the next that is opened has this id.
    pub(super) const fn new(id: AccountId) -> Account {
        let (cap, window, current, ends) = (Amount::ZERO, None, Page::EMPTY, Timestamp::MAX);
        Account { id, cap, window, current, ends, earlier: Vec::new() }
    }

    /// Opens it anew in a used slot.
    pub(super) fn open(&mut self, cap: Amount, window: Option<Duration>) {
        (self.cap, self.window) = (cap, window);
        self.ends = window.map_or(Timestamp::MAX, |length| Timestamp::ZERO.after(length));
    }

    /// Forgets everything, keeps the memory.
    pub(super) fn close(&mut self) {
        self.id = self.id.next();
        self.current = Page::EMPTY;
        self.earlier.clear();
    }

    /// The length of a window, if the one at `now` is not the current one.
    fn next_window(&self, now: Timestamp) -> Option<u64> {
        if now < self.ends { None } else { self.window.map(|length| length.nanos().max(1)) }
    }

    /// What is used of the window at `now`.
    pub(super) fn page(&self, now: Timestamp) -> &Page {
        if self.next_window(now).is_some() { &Page::EMPTY } else { &self.current }
    }

    /// Whether this fits the cap at `now`, beside what is used.
    #[inline]
    pub(super) fn has_room(&self, now: Timestamp, wanted: Amount) -> bool {
        let page = self.page(now);
        page.settled.plus(page.held).plus(wanted).fits(self.cap)
    }

    /// Opens the page of the current window.
    pub(super) fn turn(&mut self, now: Timestamp) {
        if let Some(length) = self.next_window(now) {
            if self.current.held != Amount::ZERO {
                self.earlier.push(self.current);
            }
            let window = now.nanos() / length;
            self.current = Page { window, ..Page::EMPTY };
            self.ends = Timestamp::from_nanos((window + 1).saturating_mul(length));
        }
    }

    /// The page of a window, if it is still kept: one that is over and without a hold is not.
    #[inline]
    pub(super) fn change(&mut self, window: u64, change: impl Fn(&mut Page)) {
        if self.current.window == window {
            change(&mut self.current);
        } else {
            self.change_earlier(window, change);
        }
    }

    #[cold]
    fn change_earlier(&mut self, window: u64, change: impl Fn(&mut Page)) {
        if let Some(at) = self.earlier.iter().position(|page| page.window == window) {
            change(&mut self.earlier[at]);
            if self.earlier[at].held == Amount::ZERO {
                self.earlier.swap_remove(at);
            }
        }
    }
}

impl Page {
    pub(super) const EMPTY: Page = Page { window: 0, settled: Amount::ZERO, held: Amount::ZERO };
}
