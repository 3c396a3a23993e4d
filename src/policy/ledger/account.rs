//! What one account has used, window by window.

use super::Amount;
use crate::units::{Duration, Money, Timestamp};
use std::num::NonZeroU32;

#[derive(Debug)]
pub(super) struct Account {
    pub(super) generation: NonZeroU32,
    pub(super) cap: Amount,
    pub(super) window: Option<Duration>,
    pub(super) current: Page,
    /// The first instant after the current window.
    ends: Timestamp,
    /// Earlier windows that still have something held.
    pub(super) earlier: Vec<Page>,
}

/// What one window of an account has used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Page {
    pub(super) window: u64,
    pub(super) settled: Amount,
    pub(super) held: Amount,
}

impl Default for Account {
    fn default() -> Account {
        Account {
            generation: NonZeroU32::MIN,
            cap: Amount::ZERO,
            window: None,
            current: Page::default(),
            ends: Timestamp::ZERO,
            earlier: Vec::new(),
        }
    }
}

impl Account {
    /// Opens it anew in a used slot.
    pub(super) fn open(&mut self, cap: Amount, window: Option<Duration>) {
        (self.cap, self.window) = (cap, window);
        self.ends = window.map_or(Timestamp::MAX, |length| Timestamp::ZERO.after(length));
    }

    /// Forgets everything, keeps the memory.
    pub(super) fn close(&mut self) {
        self.generation = self.generation.checked_add(1).expect("a slot is used 4 billion times at most");
        self.current = Page::default();
        self.earlier.clear();
    }

    /// The length of a window, if the one at `now` is not the current one.
    fn next_window(&self, now: Timestamp) -> Option<u64> {
        let length = self.window.filter(|_| now >= self.ends)?;
        Some(length.nanos().max(1))
    }

    /// The page that counts now.
    pub(super) fn page(&self, now: Timestamp) -> Page {
        match self.next_window(now) {
            None => self.current,
            Some(length) => Page { window: now.nanos() / length, ..Page::default() },
        }
    }

    /// Opens the page of the current window.
    pub(super) fn turn(&mut self, now: Timestamp) {
        if let Some(length) = self.next_window(now) {
            if self.current.held != Amount::ZERO {
                self.earlier.push(self.current);
            }
            let window = now.nanos() / length;
            self.current = Page { window, ..Page::default() };
            self.ends = Timestamp::from_nanos((window + 1).saturating_mul(length));
        }
    }

    /// The page of a window, if it is still kept: one that is over and without a hold is not.
    pub(super) fn change(&mut self, window: u64, change: impl Fn(&mut Page)) {
        if self.current.window == window {
            change(&mut self.current);
        } else if let Some(at) = self.earlier.iter().position(|page| page.window == window) {
            change(&mut self.earlier[at]);
            if self.earlier[at].held == Amount::ZERO {
                self.earlier.swap_remove(at);
            }
        }
    }
}

impl Page {
    /// What is left of a cap; `None` if more than the cap is gone: then not even what is free fits.
    pub(super) fn room(&self, cap: Amount) -> Option<Amount> {
        let left = |settled: u64, held: u64, cap: u64| {
            if cap == u64::MAX { Some(cap) } else { cap.checked_sub(settled)?.checked_sub(held) }
        };
        let money = left(self.settled.money.picos(), self.held.money.picos(), cap.money.picos())?;
        let tokens = left(self.settled.tokens, self.held.tokens, cap.tokens)?;
        Some(Amount { money: Money::from_picos(money), tokens })
    }
}
