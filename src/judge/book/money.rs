//! What stands against a cap, from facts alone: what ended at its bill, what is in flight at its worst case.

use crate::policy::ledger::{Amount, Level, Unit};
use crate::units::{Duration, Money, Timestamp};

/// One account: a request's, a task's, or a tenant's in its current window.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    /// The cap.
    pub cap: Amount,
    window: Option<Duration>,
    /// The number of the window that is open, and the instants that surely lie in it: `from` on, before `to`.
    current: u64,
    from: Timestamp,
    to: Timestamp,
    /// What was billed.
    billed: Amount,
    /// How much of that was above a worst case.
    above: Amount,
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
        let to = window.map_or(Timestamp::MAX, |length| Timestamp::ZERO.after(length));
        Account { cap, window, to, ..Account::default() }
    }

    /// Whether the cap allows `wanted` more at `at`, counting what was truly billed.
    pub fn admits(&self, wanted: Amount, at: Timestamp) -> bool {
        let projected = self.standing(at).plus(wanted);
        projected.money <= self.cap.money && projected.tokens <= self.cap.tokens
    }

    /// What was billed and what is in flight at `at`.
    pub(super) fn standing(&self, at: Timestamp) -> Amount {
        let (billed, held) = self.parts(at);
        billed.plus(held)
    }

    /// What was billed, and what is in flight, at `at`.
    pub(super) fn parts(&self, at: Timestamp) -> (Amount, Amount) {
        if self.is_current(at) { (self.billed, self.held) } else { (Amount::ZERO, Amount::ZERO) }
    }

    /// Whether `at` lies in the window that is open. Divides only where it cannot tell at a glance.
    fn is_current(&self, at: Timestamp) -> bool {
        (self.from <= at && at < self.to) || self.window_at(at) == self.current
    }

    /// The number of the window at `at`; divides as rarely as [`Account::is_current`].
    pub(super) fn window(&self, at: Timestamp) -> u64 {
        if self.from <= at && at < self.to { self.current } else { self.window_at(at) }
    }

    /// The number of the window at `at`.
    pub fn window_at(&self, at: Timestamp) -> u64 {
        self.window.map_or(0, |length| at.nanos() / length.nanos().max(1))
    }

    /// The cap that `wanted` more would break at `at`, counting what was truly billed.
    pub fn refusal(&self, level: Level, wanted: Amount, at: Timestamp) -> Option<Refusal> {
        self.projected(level, self.billed, wanted, at)
    }

    /// The cap that `wanted` more would break at `at`, counting no bill above its worst case.
    pub fn breach(&self, level: Level, wanted: Amount, at: Timestamp) -> Option<Refusal> {
        self.projected(level, self.billed.minus(self.above), wanted, at)
    }

    fn projected(&self, level: Level, settled: Amount, wanted: Amount, at: Timestamp) -> Option<Refusal> {
        let standing = if self.is_current(at) { settled.plus(self.held) } else { Amount::ZERO };
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
        if !self.is_current(at) {
            self.turn(at);
        }
        self.held = self.held.plus(worst_case);
        self.current
    }

    /// Opens the window at `at`.
    #[cold]
    fn turn(&mut self, at: Timestamp) {
        let (current, length) = (self.window_at(at), self.window.map_or(0, Duration::nanos));
        let from = Timestamp::from_nanos(current.saturating_mul(length));
        let to = from.after(Duration::from_nanos(length));
        *self = Account { current, from, to, ..Account::new(self.cap, self.window) };
    }

    /// A call has ended.
    pub(super) fn settle(&mut self, window: u64, worst_case: Amount, billed: Amount) {
        if window == self.current {
            self.held = self.held.minus(worst_case);
            self.billed = self.billed.plus(billed);
            if billed.money > worst_case.money || billed.tokens > worst_case.tokens {
                self.above = self.above.plus(billed.minus(worst_case));
            }
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
