//! Laws about money and tokens.

use super::{Begun, Ruling};
use crate::gateway::Basis;
use crate::judge::book::{Book, CallPage, CallPhase};
use crate::policy::ledger::Settlement;
use crate::units::{CallId, Money, RequestId};

/// Sums rise only when a call begins: it is enough to look then.
pub(super) fn money_within_caps(book: &Book<'_>, begun: &Begun) -> Ruling {
    let worst_case = book.worst_case(begun.request, begun.route);
    let Some(refusal) = book.refusal(begun.request, worst_case, begun.at) else { return Ruling::Held };
    let why = match book.breach(begun.request, worst_case, begun.at) {
        Some(_) => "",
        None => ", counting what was billed above its quote",
    };
    Ruling::Broken(format!(
        "{} calls {} for at most ${}: {}{why}",
        book.request_name(begun.request),
        book.route_name(begun.route),
        worst_case.money,
        refusal.sentence(),
    ))
}

pub(super) fn worst_case_is_reserved(book: &Book<'_>, begun: &Begun) -> Ruling {
    let worst_case = book.worst_case(begun.request, begun.route);
    let reserved =
        book.call(begun.call).filter(|page| page.phase == CallPhase::Asked).and_then(|p| p.reserved);
    let covers = reserved.is_some_and(|r| r.money >= worst_case.money && r.tokens >= worst_case.tokens);
    Ruling::unless((!covers).then(|| {
        let reserved = reserved.unwrap_or_default();
        format!(
            "{} sets ${} and {} tokens aside for {}, which can take ${} and {} tokens",
            book.request_name(begun.request),
            reserved.money,
            reserved.tokens,
            book.route_name(begun.route),
            worst_case.money,
            worst_case.tokens,
        )
    }))
}

pub(super) fn settles_the_receipt(
    book: &Book<'_>,
    call: CallId,
    basis: Basis,
    settlement: &Settlement,
) -> Ruling {
    let Some(page) = book.call(call) else {
        return Ruling::Broken(format!("${} is settled for no call", settlement.actual.money));
    };
    let fault = match basis {
        Basis::Receipt if page.charged.is_some() => Some("settled twice".to_owned()),
        Basis::Receipt => differs(page, settlement.actual.money),
        Basis::Corrected if page.charged.is_none() => Some("corrected before it was settled".to_owned()),
        Basis::Corrected => differs(page, settlement.actual.money),
        Basis::Assumed if page.phase == CallPhase::Ended => {
            Some("assumed although its receipt is in".to_owned())
        }
        Basis::Assumed if page.charged.is_some() => Some("assumed twice".to_owned()),
        Basis::Assumed => (settlement.actual != settlement.reserved)
            .then(|| format!("assumed to cost ${}, not its worst case", settlement.actual.money)),
    };
    let moved = (page.reserved != Some(settlement.reserved))
        .then(|| format!("settled against ${}, which was not set aside for it", settlement.reserved.money));
    Ruling::unless(fault.or(moved).map(|fault| {
        format!("the call of {} to {} is {fault}", book.name(page.name), book.route_name(page.route))
    }))
}

fn differs(page: &CallPage, actual: Money) -> Option<String> {
    let billed = page.billed.filter(|_| page.phase == CallPhase::Ended).map(|amount| amount.money);
    match billed {
        None => Some(format!("settled at ${actual} before its receipt is in")),
        Some(billed) if billed != actual => Some(format!("settled at ${actual}, its receipt says ${billed}")),
        Some(_) => None,
    }
}

pub(super) fn closes_at_the_sum(book: &Book<'_>, id: RequestId, spent: Money) -> Ruling {
    let account = book.request(id).map(|page| page.account).unwrap_or_default();
    let sum = account.billed().money.plus(account.held().money);
    Ruling::unless(
        (spent != sum)
            .then(|| format!("{} closes at ${spent}, its calls cost ${sum}", book.request_name(id))),
    )
}

#[cfg(test)]
mod tests {
    use crate::gateway::{Action, Basis, Decision, Delivery, Outcome};
    use crate::judge::Law;
    use crate::judge::play::*;
    use crate::policy::ledger::Amount;
    use crate::policy::taxonomy::Class;
    use crate::units::{Money, RequestId};

    fn cents(n: u64) -> Amount {
        Amount { money: Money::from_picos(n * 10_000_000_000), tokens: 9_000 }
    }

    #[test]
    fn what_was_billed_and_what_is_in_flight_stand_against_the_cap() {
        let spent = |milli: u64| {
            move |play: &mut Play<'_>| {
                play.arrive(Delivery::Whole);
                let call = play.call(R, A);
                play.at(80).end(call, Some(Class::Overload), milli);
                let call = play.call(R, B);
                play.at(90).end(call, None, 16);
            }
        };
        // A bill above its quote counts in full from then on.
        let says = "the request would stand at $0.041 of $0.040, counting what was billed above its quote";
        check(Law::MoneyWithinCaps, spent(16), spent(25), says);
    }

    #[test]
    fn a_cap_is_held_against_the_true_worst_case_whatever_was_set_aside() {
        let broken = |play: &mut Play<'_>| {
            for n in 0..7 {
                play.arrive_with(RequestId(n), envelope(), Delivery::Whole);
                let (request, route, amount) = (RequestId(n), A, Amount::ZERO);
                play.decide(Decision::Reserved { request, route, amount, window: 0 });
                play.announce(RequestId(n), A);
            }
        };
        let says = "req/7 calls alpha for at most $0.016: the tenant would stand at $0.112 of $0.100";
        check(Law::MoneyWithinCaps, answered, broken, says);
    }

    #[test]
    fn a_tenant_has_a_new_cap_in_a_new_window() {
        let held = |play: &mut Play<'_>| {
            for n in 0..7u64 {
                play.at(n * 10_000).arrive(Delivery::Whole);
                let call = play.call(R, A);
                play.end(call, None, 16).reply(R, Outcome::Answered { route: A }).close(R);
            }
        };
        let in_one_window = |play: &mut Play<'_>| {
            for n in 0..7u64 {
                play.at(n).arrive(Delivery::Whole);
                let call = play.call(R, A);
                play.end(call, None, 16).reply(R, Outcome::Answered { route: A }).close(R);
            }
        };
        check(Law::MoneyWithinCaps, held, in_one_window, "the tenant would stand at $0.112 of $0.100");
    }

    #[test]
    fn too_little_set_aside_is_told() {
        let broken = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole);
            play.decide(Decision::Reserved { request: R, route: A, amount: cents(1), window: 0 });
            play.announce(R, A);
        };
        let says = "sets $0.010 and 9000 tokens aside for alpha, which can take $0.016 and 9000 tokens";
        check(Law::WorstCaseIsReserved, answered, broken, says);
    }

    #[test]
    fn books_that_do_not_balance_are_told() {
        let end = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole);
            let call = play.call(R, A);
            play.end_with(call, None, 16, crate::policy::taxonomy::Hint::Absent);
            call
        };
        let other = |play: &mut Play<'_>| {
            let call = end(play);
            play.settle(call, Basis::Receipt, cents(1));
        };
        check(Law::BooksBalance, answered, other, "settled at $0.010, its receipt says $0.016");
        let twice = |play: &mut Play<'_>| {
            let call = end(play);
            play.settle(call, Basis::Receipt, WORST).settle(call, Basis::Receipt, WORST);
        };
        check(Law::BooksBalance, answered, twice, "is settled twice");
        let sum = |play: &mut Play<'_>| {
            let call = end(play);
            play.settle(call, Basis::Receipt, WORST).reply(R, Outcome::Answered { route: A });
            play.act(Action::Close { request: R, spent: Money::ZERO });
        };
        check(Law::BooksBalance, answered, sum, "req/1 closes at $0.000, its calls cost $0.016");
    }
}
