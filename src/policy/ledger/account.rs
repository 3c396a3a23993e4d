//! What one account has used, window by window.

use super::Amount;
use crate::units::{Duration, Timestamp};
use std::num::NonZeroU64;

/// An account of the ledger: its slot in the low half, and in the high half how many there were in it, with this one.
/// One word, for a call takes several with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccountId(NonZeroU64);

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

impl AccountId {
    /// The first in a slot.
    pub(super) fn first(slot: u32) -> AccountId {
        AccountId(NonZeroU64::new(1 << 32 | u64::from(slot)).expect("it is the first, not the zeroth"))
    }

    /// The next in the slot.
    pub(super) fn next(self) -> AccountId {
        AccountId(self.0.checked_add(1 << 32).expect("a slot is used 4 billion times at most"))
    }

    pub(super) const fn slot(self) -> u32 {
        self.0.get() as u32
    }
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
