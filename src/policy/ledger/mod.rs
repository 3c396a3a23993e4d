//! Money and tokens at several levels: one attempt, the request, the task, what was approved, the tenant's window. Work is stopped
//! *before* the call: the worst case is reserved, then settled at what was used.
//!
//! ```text
//! reserve ──▶ Hold ──▶ settle(actual)             the receipt says what it cost
//!               ├────▶ assume ──▶ Assumed ──▶ correct(actual)   no receipt in time; a late one adjusts
//!               └────▶ release                     the call was never made
//! ```
//!
//! At every level and instant `Σ min(settled, reserved) + Σ held ≤ cap`. What is billed above the reserved
//! amount counts against the cap from then on.

mod account;

use crate::units::{Duration, Money, Timestamp};
use account::{Account, Page};

pub use account::AccountId;

/// Money and tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Amount {
    /// Money.
    pub money: Money,
    /// Tokens of every kind.
    pub tokens: u64,
}

/// The level at which a cap applies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// One call.
    Attempt,
    /// All calls of a request.
    Request,
    /// All requests of a task.
    Task,
    /// All calls that an approval allows.
    Approval,
    /// All requests of a tenant in the current window.
    Tenant,
}

/// What a cap counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Pico-USD.
    Money,
    /// Tokens.
    Tokens,
}

/// A refusal to reserve: which cap, and what stands against it. Amounts in pico-USD or tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Denied {
    /// The level whose cap is too small.
    pub level: Level,
    /// What it counts.
    pub unit: Unit,
    /// Used so far.
    pub settled: u64,
    /// Reserved for calls in flight.
    pub held: u64,
    /// The worst case that was refused.
    pub wanted: u64,
    /// The cap.
    pub cap: u64,
}

/// When the budget is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reserve {
    /// Before the call; what calls in flight may cost counts.
    Reserve,
    /// Before the call, but calls in flight do not count: two of them can share the last dollar.
    CheckOnly,
    /// Never: the spending is only shown.
    After,
}

/// The accounts that one call is charged to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scopes {
    /// The request's.
    pub request: AccountId,
    /// The task's, if it belongs to one.
    pub task: Option<AccountId>,
    /// That of the approval that allows it, if it needs one.
    pub approval: Option<AccountId>,
    /// The tenant's, if it has one.
    pub tenant: Option<AccountId>,
}

/// Money and tokens set aside for one call. Hand it back exactly once.
#[derive(Debug)]
#[must_use = "a hold is settled, assumed or released"]
pub struct Hold {
    scopes: Scopes,
    reserved: Amount,
    window: u64,
}

/// A hold that was settled at its worst case because no receipt came; a late receipt corrects it.
#[derive(Debug)]
#[must_use = "a late receipt corrects it"]
pub struct Assumed {
    hold: Hold,
}

/// How a hold ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settlement {
    /// What was set aside.
    pub reserved: Amount,
    /// What was used.
    pub actual: Amount,
    /// The number of the tenant's window that it was charged to.
    pub window: u64,
}

impl Hold {
    /// What is set aside.
    pub const fn reserved(&self) -> Amount {
        self.reserved
    }

    /// The number of the tenant's window that it is charged to.
    pub const fn window(&self) -> u64 {
        self.window
    }
}

impl Assumed {
    /// What was set aside, and is charged until then.
    pub const fn reserved(&self) -> Amount {
        self.hold.reserved
    }

    /// The accounts that it is charged to; the request's may be closed by now.
    pub const fn scopes(&self) -> Scopes {
        self.hold.scopes
    }
}

impl Settlement {
    /// What was billed above the reserved amount.
    pub const fn overrun(&self) -> Money {
        self.actual.money.minus(self.reserved.money)
    }
}

/// What stands on an account.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    /// What is settled.
    pub settled: Amount,
    /// What calls in flight may cost.
    pub held: Amount,
    /// Its cap.
    pub cap: Amount,
}

/// All accounts.
#[derive(Debug)]
pub struct Ledger {
    mode: Reserve,
    attempt_max: Amount,
    accounts: Vec<Account>,
    free: Vec<u32>,
}

impl Amount {
    /// Nothing.
    pub const ZERO: Amount = Amount { money: Money::ZERO, tokens: 0 };
    /// No cap.
    pub const MAX: Amount = Amount { money: Money::MAX, tokens: u64::MAX };

    /// Whether neither exceeds the other's.
    pub fn fits(self, room: Amount) -> bool {
        self.money <= room.money && self.tokens <= room.tokens
    }

    /// The sum; saturates.
    pub const fn plus(self, other: Amount) -> Amount {
        Amount { money: self.money.plus(other.money), tokens: self.tokens.saturating_add(other.tokens) }
    }

    /// What is left after `other`; zero if nothing is.
    pub const fn minus(self, other: Amount) -> Amount {
        Amount { money: self.money.minus(other.money), tokens: self.tokens.saturating_sub(other.tokens) }
    }
}

impl Level {
    /// The word in events.
    pub const fn label(self) -> &'static str {
        match self {
            Level::Attempt => "attempt",
            Level::Request => "request",
            Level::Task => "task",
            Level::Approval => "approval",
            Level::Tenant => "tenant",
        }
    }
}

impl Ledger {
    /// A ledger without accounts. No single call may exceed `attempt_max`.
    pub fn new(mode: Reserve, attempt_max: Amount) -> Ledger {
        Ledger { mode, attempt_max, accounts: Vec::new(), free: Vec::new() }
    }

    /// Opens an account. With a `window` its cap is for each window of that length, counted from the
    /// beginning of time.
    #[inline]
    pub fn open(&mut self, cap: Amount, window: Option<Duration>) -> AccountId {
        let slot = self.free.pop().unwrap_or_else(|| {
            let slot = u32::try_from(self.accounts.len()).expect("fewer than 4 billion accounts");
            self.accounts.push(Account::new(AccountId::first(slot)));
            slot
        });
        let account = &mut self.accounts[slot as usize];
        account.open(cap, window);
        account.id
    }

    /// Closes an account. What is charged to it later is ignored.
    #[inline]
    pub fn close(&mut self, id: AccountId) {
        let account = &mut self.accounts[id.slot() as usize];
        assert_eq!(account.id, id, "an account is closed once");
        account.close();
        self.free.push(id.slot());
    }

    /// Whether `wanted` could be reserved now. Changes nothing.
    pub fn quote(&self, now: Timestamp, scopes: &Scopes, wanted: Amount) -> Result<(), Denied> {
        if self.mode == Reserve::After {
            return Ok(());
        }
        fits(Level::Attempt, &Page::EMPTY, wanted, self.attempt_max)?;
        if let Some(account) = self.account(scopes.request) {
            fits(Level::Request, &account.current, wanted, account.cap)?;
        }
        let others =
            [(Level::Task, scopes.task), (Level::Approval, scopes.approval), (Level::Tenant, scopes.tenant)];
        for (level, id) in others {
            if let Some(account) = id.and_then(|id| self.account(id)) {
                fits(level, account.page(now), wanted, account.cap)?;
            }
        }
        Ok(())
    }

    /// What stands on an account in its current window.
    pub fn standing(&self, now: Timestamp, id: AccountId) -> Option<Standing> {
        let account = self.account(id)?;
        let page = account.page(now);
        Some(Standing { settled: page.settled, held: page.held, cap: account.cap })
    }

    /// Whether [`Ledger::quote`] has no objection; it says which, if it has.
    pub fn affords(&self, now: Timestamp, scopes: &Scopes, wanted: Amount) -> bool {
        let has_room = |id: AccountId| self.account(id).is_none_or(|account| account.has_room(now, wanted));
        self.mode == Reserve::After
            || wanted.fits(self.attempt_max)
                && has_room(scopes.request)
                && scopes.task.is_none_or(has_room)
                && scopes.approval.is_none_or(has_room)
                && scopes.tenant.is_none_or(has_room)
    }

    /// Sets `wanted` aside at every level, or says which cap refuses it.
    pub fn reserve(&mut self, now: Timestamp, scopes: &Scopes, wanted: Amount) -> Result<Hold, Denied> {
        self.quote(now, scopes, wanted)?;
        Ok(self.hold(now, scopes, wanted))
    }

    /// Sets aside what [`Ledger::quote`] or [`Ledger::affords`] has just allowed at this very instant; a cap is not
    /// asked again.
    pub(crate) fn hold(&mut self, now: Timestamp, scopes: &Scopes, wanted: Amount) -> Hold {
        debug_assert!(self.quote(now, scopes, wanted).is_ok(), "what is held was allowed at this instant");
        let held = if self.mode == Reserve::Reserve { wanted } else { Amount::ZERO };
        self.set_aside(now, scopes.request, held);
        if let Some(task) = scopes.task {
            self.set_aside(now, task, held);
        }
        if let Some(approval) = scopes.approval {
            self.set_aside(now, approval, held);
        }
        // Only a tenant's account has windows.
        let window = scopes.tenant.map_or(0, |tenant| self.set_aside(now, tenant, held));
        Hold { scopes: *scopes, reserved: wanted, window }
    }

    /// Sets aside on one account. Tells the number of its window.
    fn set_aside(&mut self, now: Timestamp, id: AccountId, held: Amount) -> u64 {
        let Some(account) = self.account_mut(id) else { return 0 };
        account.turn(now);
        account.current.held = account.current.held.plus(held);
        account.current.window
    }

    /// The receipt is in: charges `actual` to the window that reserved it and frees the rest.
    pub fn settle(&mut self, hold: Hold, actual: Amount) -> Settlement {
        self.charge(&hold, actual);
        Settlement { reserved: hold.reserved, actual, window: hold.window }
    }

    /// No receipt came in time: charges the worst case until one does.
    pub fn assume(&mut self, hold: Hold) -> (Settlement, Assumed) {
        self.charge(&hold, hold.reserved);
        let settlement = Settlement { reserved: hold.reserved, actual: hold.reserved, window: hold.window };
        (settlement, Assumed { hold })
    }

    /// The receipt came after all: replaces the worst case by what was used.
    pub fn correct(&mut self, assumed: Assumed, actual: Amount) -> Settlement {
        let hold = assumed.hold;
        self.pages(&hold, |page| page.settled = page.settled.minus(hold.reserved).plus(actual));
        Settlement { reserved: hold.reserved, actual, window: hold.window }
    }

    /// The call was never made: frees everything.
    pub fn release(&mut self, hold: Hold) {
        self.charge(&hold, Amount::ZERO);
    }

    fn charge(&mut self, hold: &Hold, actual: Amount) {
        let held = if self.mode == Reserve::Reserve { hold.reserved } else { Amount::ZERO };
        self.pages(hold, |page| {
            page.held = page.held.minus(held);
            page.settled = page.settled.plus(actual);
        });
    }

    /// The pages that a hold stands on. A page that is gone (its window is over and nothing else was held) is
    /// skipped: no cap depends on it any more.
    fn pages(&mut self, hold: &Hold, change: impl Fn(&mut Page)) {
        let Scopes { request, task, approval, tenant } = hold.scopes;
        self.change(request, 0, &change);
        if let Some(task) = task {
            self.change(task, 0, &change);
        }
        if let Some(approval) = approval {
            self.change(approval, 0, &change);
        }
        if let Some(tenant) = tenant {
            self.change(tenant, hold.window, &change);
        }
    }

    fn change(&mut self, id: AccountId, window: u64, change: impl Fn(&mut Page)) {
        if let Some(account) = self.account_mut(id) {
            account.change(window, change);
        }
    }

    fn account(&self, id: AccountId) -> Option<&Account> {
        let account = self.accounts.get(id.slot() as usize)?;
        (account.id == id).then_some(account)
    }

    fn account_mut(&mut self, id: AccountId) -> Option<&mut Account> {
        let account = self.accounts.get_mut(id.slot() as usize)?;
        (account.id == id).then_some(account)
    }
}

fn fits(level: Level, page: &Page, wanted: Amount, cap: Amount) -> Result<(), Denied> {
    let over = |settled: u64, held: u64, wanted: u64, cap: u64| {
        cap != u64::MAX && settled.saturating_add(held).saturating_add(wanted) > cap
    };
    let denied = |unit, settled, held, wanted, cap| Err(Denied { level, unit, settled, held, wanted, cap });
    let (settled, held) = (page.settled.money.picos(), page.held.money.picos());
    let (money, most) = (wanted.money.picos(), cap.money.picos());
    if over(settled, held, money, most) {
        return denied(Unit::Money, settled, held, money, most);
    }
    let (settled, held) = (page.settled.tokens, page.held.tokens);
    if over(settled, held, wanted.tokens, cap.tokens) {
        return denied(Unit::Tokens, settled, held, wanted.tokens, cap.tokens);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::ZERO;

    fn cents(n: u64) -> Amount {
        Amount { money: Money::from_picos(n * 10_000_000_000), tokens: 0 }
    }

    fn capped(n: u64) -> Amount {
        Amount { tokens: u64::MAX, ..cents(n) }
    }
    fn one_request(mode: Reserve, cap: Amount) -> (Ledger, Scopes) {
        let mut ledger = Ledger::new(mode, Amount::MAX);
        let request = ledger.open(cap, None);
        (ledger, Scopes { request, task: None, approval: None, tenant: None })
    }

    #[test]
    fn two_calls_in_flight_cannot_share_the_last_dollar() {
        let (mut ledger, scopes) = one_request(Reserve::Reserve, capped(100));
        let first = ledger.reserve(NOW, &scopes, cents(60)).unwrap();
        let denied = ledger.reserve(NOW, &scopes, cents(60)).unwrap_err();
        assert_eq!((denied.level, denied.settled, denied.held), (Level::Request, 0, 600_000_000_000));
        let _ = ledger.settle(first, cents(30));
        let second = ledger.reserve(NOW, &scopes, cents(70)).unwrap();
        ledger.release(second);
    }

    #[test]
    fn a_check_without_a_hold_lets_them_share_it() {
        let (mut ledger, scopes) = one_request(Reserve::CheckOnly, capped(100));
        let first = ledger.reserve(NOW, &scopes, cents(60)).unwrap();
        let second = ledger.reserve(NOW, &scopes, cents(60)).unwrap();
        let _ = (ledger.settle(first, cents(60)), ledger.settle(second, cents(60)));
        assert!(ledger.reserve(NOW, &scopes, cents(1)).is_err());
    }

    #[test]
    fn what_is_billed_above_the_quote_counts_from_then_on() {
        let (mut ledger, scopes) = one_request(Reserve::Reserve, capped(100));
        let hold = ledger.reserve(NOW, &scopes, cents(10)).unwrap();
        assert_eq!(ledger.settle(hold, cents(95)).overrun(), cents(85).money);
        assert_eq!(ledger.quote(NOW, &scopes, cents(5)), Ok(()));
        assert!(ledger.quote(NOW, &scopes, cents(6)).is_err());
    }

    #[test]
    fn above_a_cap_not_even_what_is_free_fits() {
        let (mut ledger, scopes) = one_request(Reserve::Reserve, capped(100));
        let overbilled = |ledger: &mut Ledger, bill| {
            let hold = ledger.reserve(NOW, &scopes, cents(0)).unwrap();
            let _ = ledger.settle(hold, cents(bill));
            (ledger.affords(NOW, &scopes, cents(0)), ledger.quote(NOW, &scopes, cents(0)).is_ok())
        };
        assert_eq!(overbilled(&mut ledger, 100), (true, true));
        assert_eq!(overbilled(&mut ledger, 1), (false, false));
    }

    #[test]
    fn a_late_receipt_corrects_the_assumed_worst_case() {
        let (mut ledger, scopes) = one_request(Reserve::Reserve, capped(100));
        let hold = ledger.reserve(NOW, &scopes, cents(90)).unwrap();
        let (_, assumed) = ledger.assume(hold);
        assert!(ledger.quote(NOW, &scopes, cents(50)).is_err());
        let _ = ledger.correct(assumed, cents(20));
        assert_eq!(ledger.quote(NOW, &scopes, cents(80)), Ok(()));
    }

    #[test]
    fn a_hold_settles_in_the_window_that_reserved_it() {
        let mut ledger = Ledger::new(Reserve::Reserve, Amount::MAX);
        let request = ledger.open(Amount::MAX, None);
        let tenant = ledger.open(capped(100), Some(Duration::from_secs(60)));
        let scopes = Scopes { request, task: None, approval: None, tenant: Some(tenant) };
        let hold = ledger.reserve(NOW, &scopes, cents(100)).unwrap();
        let later = Timestamp::ZERO.after(Duration::from_secs(60));
        assert!(ledger.quote(Timestamp::from_nanos(later.nanos() - 1), &scopes, cents(1)).is_err());
        let next = ledger.reserve(later, &scopes, cents(100)).unwrap();
        assert_eq!((ledger.settle(hold, cents(100)).window, ledger.settle(next, cents(40)).window), (0, 1));
        assert_eq!(ledger.quote(later, &scopes, cents(60)), Ok(()));
        assert!(ledger.quote(later, &scopes, cents(61)).is_err());
    }

    #[test]
    fn the_ledger_conserves_whatever_the_order() {
        use proptest::prelude::*;
        proptest!(|(steps in proptest::collection::vec((0u8..4, 0u64..50), 1..80))| {
            let (mut ledger, scopes) = one_request(Reserve::Reserve, capped(100));
            let (mut holds, mut assumed) = (Vec::new(), Vec::new());
            for (verb, n) in steps {
                match verb {
                    0 => holds.extend(ledger.reserve(NOW, &scopes, cents(n))),
                    1 => drop(holds.pop().map(|h: Hold| { let all = h.reserved; ledger.settle(h, all) })),
                    2 => drop(holds.pop().map(|h| ledger.release(h))),
                    _ => match holds.pop() {
                        Some(h) => assumed.push(ledger.assume(h).1),
                        None => drop(assumed.pop().map(|a| ledger.correct(a, Amount::ZERO))),
                    },
                }
                let page = ledger.accounts[0].current;
                let expected = holds.iter().fold(Amount::ZERO, |sum, h| sum.plus(h.reserved));
                prop_assert_eq!(page.held, expected);
                prop_assert!(page.held.plus(page.settled).money <= cents(100).money);
            }
        });
    }
}
