//! What stands against a cap, from facts alone: what ended at its bill, what is in flight at its worst case.

use crate::policy::ledger::{Amount, Level, Unit};
use crate::units::{Duration, Money, Timestamp};

/// One account: a request's, a task's, or a tenant's in its current window.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    /// The cap.
    pub cap: Amount,
    window: Option<Duration>,
    current: u64,
    /// What was billed.
    billed: Amount,
    /// What was billed, none of it above its worst case.
    quoted: Amount,
    /// The worst case of what is in flight.
    held: Amount,
}

/// A cap that is too small.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// At which level.
    pub level: Level,
    /// What it counts.
    pub unit: Unit,
    /// What would stand against it.
    pub projected: u128,
    /// The cap.
    pub cap: u64,
}

impl Account {
    /// An account on which nothing was spent.
    pub fn new(cap: Amount, window: Option<Duration>) -> Account {
        Account { cap, window, ..Account::default() }
    }

    /// The number of the window at `at`.
    pub fn window_at(&self, at: Timestamp) -> u64 {
        self.window.map_or(0, |length| at.nanos() / length.nanos().max(1))
    }

    /// The cap that `wanted` more would break at `at`, counting what was truly billed.
    pub fn refusal(&self, level: Level, wanted: Amount, at: Timestamp) -> Option<Refusal> {
        self.above(level, self.billed, wanted, at)
    }

    /// The cap that `wanted` more would break at `at`, counting no bill above its worst case.
    pub fn breach(&self, level: Level, wanted: Amount, at: Timestamp) -> Option<Refusal> {
        self.above(level, self.quoted, wanted, at)
    }

    fn above(&self, level: Level, settled: Amount, wanted: Amount, at: Timestamp) -> Option<Refusal> {
        let standing =
            if self.window_at(at) == self.current { settled.plus(self.held) } else { Amount::ZERO };
        let units = [
            (Unit::Money, standing.money.picos(), wanted.money.picos(), self.cap.money.picos()),
            (Unit::Tokens, standing.tokens, wanted.tokens, self.cap.tokens),
        ];
        units.into_iter().find_map(|(unit, standing, wanted, cap)| {
            let projected = u128::from(standing) + u128::from(wanted);
            let is_above = cap != u64::MAX && projected > u128::from(cap);
            is_above.then_some(Refusal { level, unit, projected, cap })
        })
    }

    /// A call is in flight. Tells the window that it is charged to.
    pub(super) fn hold(&mut self, worst_case: Amount, at: Timestamp) -> u64 {
        let window = self.window_at(at);
        if window != self.current {
            *self = Account { current: window, ..Account::new(self.cap, self.window) };
        }
        self.held = self.held.plus(worst_case);
        window
    }

    /// A call has ended.
    pub(super) fn settle(&mut self, window: u64, worst_case: Amount, billed: Amount) {
        if window == self.current {
            self.held = self.held.minus(worst_case);
            self.billed = self.billed.plus(billed);
            self.quoted = self.quoted.plus(least(billed, worst_case));
        }
    }

    /// What was billed in the current window.
    pub const fn billed(&self) -> Amount {
        self.billed
    }

    /// The worst case of what is in flight in the current window.
    pub const fn held(&self) -> Amount {
        self.held
    }
}

impl Refusal {
    /// `the request would stand at $0.062 of $0.050`.
    pub fn sentence(&self) -> String {
        let level = self.level.label();
        let dollars = |picos: u128| Money::from_picos(u64::try_from(picos).unwrap_or(u64::MAX));
        match self.unit {
            Unit::Money => {
                format!(
                    "the {level} would stand at ${} of ${}",
                    dollars(self.projected),
                    dollars(self.cap.into())
                )
            }
            Unit::Tokens => format!("the {level} would stand at {} of {} tokens", self.projected, self.cap),
        }
    }
}

fn least(a: Amount, b: Amount) -> Amount {
    Amount { money: a.money.min(b.money), tokens: a.tokens.min(b.tokens) }
}
