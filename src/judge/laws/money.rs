//! Laws about money and tokens.

use super::{Begun, Ruling, told};
use crate::gateway::Basis;
use crate::judge::book::{Book, CallPage, CallPhase, Charge};
use crate::policy::ledger::{Amount, Denied, Level, Reserve, Settlement, Unit};
use crate::units::{CallId, Money, RequestId, RouteId, Timestamp};

/// Sums rise only when a call begins: it is enough to look then.
pub(super) fn money_within_caps(book: &Book<'_>, begun: &Begun<'_>) -> Ruling {
    let worst_case = begun.worst_case;
    if book.affords(begun.page, worst_case, begun.at) {
        return Ruling::Held;
    }
    let Some(refusal) = book.refusal(begun.request, worst_case, begun.at) else { return Ruling::Held };
    let why = match book.breach(begun.request, worst_case, begun.at) {
        Some(_) => "",
        None => ", counting what was billed above its quote",
    };
    Ruling::broken(move || {
        format!(
            "{} calls {} for at most ${}: {}{why}",
            book.request_name(begun.request),
            book.route_name(begun.route),
            worst_case.money,
            refusal.sentence(),
        )
    })
}

/// No more and no less: what is set aside for nothing is denied to others.
pub(super) fn sets_the_worst_case_aside(
    book: &Book<'_>,
    at: Timestamp,
    (id, route): (RequestId, RouteId),
    (amount, window): (Amount, u64),
) -> Ruling {
    let (worst_case, true_window) =
        (book.worst_case(id, route), book.request(id).map(|page| book.window(&page.payer, at)));
    if amount == worst_case && true_window == Some(window) {
        return Ruling::Held;
    }
    Ruling::broken(move || {
        format!(
            "{} sets {} aside for {} in window {window}, which can take {} in window {}",
            book.request_name(id),
            words(amount),
            book.route_name(route),
            words(worst_case),
            true_window.unwrap_or_default(),
        )
    })
}

/// A call is denied only by a true cap, for its true worst case, with what truly stands against it. (A tenant's next
/// window begins with nothing.)
pub(super) fn denies_rightly(
    book: &Book<'_>,
    at: Timestamp,
    (id, route): (RequestId, RouteId),
    denied: &Denied,
) -> Ruling {
    let Denied { level, unit, settled, held, wanted, cap } = *denied;
    let of = |amount: Amount| match unit {
        Unit::Money => amount.money.picos(),
        Unit::Tokens => amount.tokens,
    };
    let told = settled.saturating_add(held);
    let (standing, true_cap) = book.standing(level, id, at).unwrap_or_default();
    let is_counted = match book.facts.limits.reserve {
        Reserve::Reserve => told == of(standing) || (level == Level::Tenant && told == 0),
        Reserve::CheckOnly | Reserve::After => held == 0 && told <= of(standing),
    };
    let worst_case = book.worst_case(id, route);
    let is_true = is_counted && wanted == of(worst_case) && cap == of(true_cap);
    if is_true && told.saturating_add(wanted) > cap && book.truth(id, route).reasons.is_empty() {
        return Ruling::Held;
    }
    Ruling::broken(move || {
        let say = |n: u64| match unit {
            Unit::Money => format!("${}", Money::from_picos(n)),
            Unit::Tokens => format!("{n} tokens"),
        };
        let (who, route, level) = (book.request_name(id), book.route_name(route), level.label());
        let (told, wanted, cap) = (say(told), say(wanted), say(cap));
        let (truth, worst, true_cap) = (say(of(standing)), say(of(worst_case)), say(of(true_cap)));
        format!(
            "{who} is denied {route}: {told} and {wanted} for the {level}, of {cap}; true is {truth} and {worst} of \
             {true_cap}"
        )
    })
}

pub(super) fn worst_case_is_reserved(book: &Book<'_>, begun: &Begun<'_>) -> Ruling {
    let (worst_case, reserved) = (begun.worst_case, begun.announced.and_then(|page| page.reserved));
    if reserved == Some(worst_case) {
        return Ruling::Silent; // put to the test when it was set aside
    }
    Ruling::broken(move || {
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
    })
}

pub(super) fn settles_the_receipt(
    book: &Book<'_>,
    call: CallId,
    basis: Basis,
    settlement: &Settlement,
) -> Ruling {
    let Some(page) = book.call(call) else {
        return Ruling::broken(move || format!("${} is settled for no call", settlement.actual.money));
    };
    let fault = match basis {
        Basis::Receipt if page.charge == Charge::Booked => Some("settled twice".to_owned()),
        Basis::Receipt => differs(page, settlement.actual),
        Basis::Corrected if page.charge == Charge::Open => Some("corrected before it was settled".to_owned()),
        Basis::Corrected => differs(page, settlement.actual),
        Basis::Assumed if page.phase == CallPhase::Ended => {
            Some("assumed although its receipt is in".to_owned())
        }
        Basis::Assumed if page.charge == Charge::Booked => Some("assumed twice".to_owned()),
        Basis::Assumed => (settlement.actual != page.worst_case)
            .then(|| told(|| format!("assumed to cost {}, not its worst case", words(settlement.actual)))),
    };
    let moved = (page.reserved != Some(settlement.reserved)).then(|| {
        told(|| format!("settled against {}, which was not set aside for it", words(settlement.reserved)))
    });
    let misplaced = (page.window != settlement.window).then(|| {
        told(|| format!("settled in window {}, it was called in window {}", settlement.window, page.window))
    });
    Ruling::unless(fault.or(moved).or(misplaced).map(|fault| {
        move || format!("the call of {} to {} is {fault}", book.name(page.name), book.route_name(page.route))
    }))
}

fn differs(page: &CallPage, actual: Amount) -> Option<String> {
    let billed = page.billed.filter(|_| page.phase == CallPhase::Ended);
    match billed {
        None => Some(told(|| format!("settled at {} before its receipt is in", words(actual)))),
        Some(billed) if billed != actual => {
            Some(told(|| format!("settled at {}, its receipt says {}", words(actual), words(billed))))
        }
        Some(_) => None,
    }
}

/// `$0.016 and 9000 tokens`.
fn words(amount: Amount) -> String {
    format!("${} and {} tokens", amount.money, amount.tokens)
}

pub(super) fn closes_at_the_sum(book: &Book<'_>, id: RequestId, spent: Money) -> Ruling {
    let account = book.request(id).map(|page| page.account).unwrap_or_default();
    let sum = account.billed().money.plus(account.held().money);
    Ruling::unless(
        (spent != sum).then_some(move || {
            format!("{} closes at ${spent}, its calls cost ${sum}", book.request_name(id))
        }),
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
        check(
            Law::BooksBalance,
            answered,
            other,
            "settled at $0.010 and 9000 tokens, its receipt says $0.016",
        );
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
