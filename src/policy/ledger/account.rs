//! What one account has used, window by window.

use super::Amount;
use crate::units::{Duration, Money, Timestamp};

#[derive(Debug, Default)]
pub(super) struct Account {
    pub(super) generation: u32,
    pub(super) cap: Amount,
    pub(super) window: Option<Duration>,
    pub(super) current: Page,
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

impl Account {
    pub(super) fn window_at(&self, now: Timestamp) -> u64 {
        self.window.map_or(0, |length| now.nanos() / length.nanos().max(1))
    }

    /// The page that counts now.
    pub(super) fn page(&self, now: Timestamp) -> Page {
        let window = self.window_at(now);
        if window == self.current.window { self.current } else { Page { window, ..Page::default() } }
    }

    /// Opens the page of the current window.
    pub(super) fn turn(&mut self, now: Timestamp) {
        let window = self.window_at(now);
        if window != self.current.window {
            if self.current.held != Amount::ZERO {
                self.earlier.push(self.current);
            }
            self.current = Page { window, ..Page::default() };
        }
    }
}

impl Page {
    /// What is left of a cap.
    pub(super) fn room(&self, cap: Amount) -> Amount {
        let left = |settled: u64, held: u64, cap: u64| {
            if cap == u64::MAX { cap } else { cap.saturating_sub(settled).saturating_sub(held) }
        };
        let money = left(self.settled.money.picos(), self.held.money.picos(), cap.money.picos());
        let tokens = left(self.settled.tokens, self.held.tokens, cap.tokens);
        Amount { money: Money::from_picos(money), tokens }
    }
}
