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
