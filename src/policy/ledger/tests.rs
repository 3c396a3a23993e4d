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
    (ledger, Scopes { request, task: None, tenant: None })
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
    let scopes = Scopes { request, task: None, tenant: Some(tenant) };
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
