//! Laws about waits before another attempt.

use super::{Begun, Ruling};
use crate::judge::book::{Access, Book, RequestPage};
use crate::policy::ledger::Amount;
use crate::units::{Duration, Money, RequestId, RouteId, Timestamp};

/// A wait that was planned.
#[derive(Clone, Copy)]
pub(super) struct Sleep {
    pub(super) request: RequestId,
    pub(super) from: Timestamp,
    pub(super) at: Timestamp,
    pub(super) delay: Duration,
    pub(super) route: RouteId,
    pub(super) amount: Money,
}

/// At the very instant of the deadline the deadline comes first: nothing can be made of that wait.
pub(super) fn no_sleep_past_deadline(book: &Book<'_>, sleep: &Sleep) -> Ruling {
    let deadline = book.request(sleep.request).map_or(Timestamp::ZERO, |page| page.request.deadline);
    let is_late = sleep.at >= deadline;
    let is_wrong = sleep.from.after(sleep.delay) != sleep.at;
    let who = || book.request_name(sleep.request);
    if is_late {
        return Ruling::Broken(format!("{} sleeps until {}, its deadline is {deadline}", who(), sleep.at));
    }
    Ruling::unless(is_wrong.then(|| format!("{} sleeps {}, not until {}", who(), sleep.delay, sleep.at)))
}

pub(super) fn retry_after_is_a_floor(book: &Book<'_>, sleep: &Sleep) -> Ruling {
    let told = book.told.route_until(book.facts, sleep.route);
    let own = book.request(sleep.request).and_then(|page| page.hint);
    let own = own.filter(|(route, _)| *route == sleep.route).map_or(Timestamp::ZERO, |(_, until)| until);
    let floor = told.max(own);
    if floor <= sleep.from {
        return Ruling::Silent;
    }
    Ruling::unless((sleep.at < floor).then(|| {
        format!(
            "{} plans to call {} at {}, which asked to be left alone until {floor}",
            book.request_name(sleep.request),
            book.route_name(sleep.route),
            sleep.at,
        )
    }))
}

/// What is planned for now is not told as a sleep: the call itself is looked at. A first call is no retry.
pub(super) fn no_retry_below_the_floor(book: &Book<'_>, begun: &Begun) -> Ruling {
    let Some(page) = book.request(begun.request).filter(|page| page.attempts > 0) else {
        return Ruling::Silent;
    };
    let told = book.told.call_until(book.facts, begun.route, begun.credential);
    let own =
        page.hint.filter(|(route, _)| *route == begun.route).map_or(Timestamp::ZERO, |(_, until)| until);
    let floor = told.max(own);
    if floor <= begun.at {
        return Ruling::Silent;
    }
    Ruling::Broken(format!(
        "{} calls {} again at {}, which asked to be left alone until {floor}",
        book.request_name(begun.request),
        book.route_name(begun.route),
        begun.at,
    ))
}

pub(super) fn sleeps_have_a_quote(book: &Book<'_>, sleep: &Sleep) -> Ruling {
    let Some(page) = book.request(sleep.request) else {
        return Ruling::Broken("a request that never arrived sleeps".to_owned());
    };
    Ruling::unless(flaw(book, sleep, page).map(|flaw| {
        format!(
            "{} sleeps until {} for {}, which {flaw}",
            book.request_name(sleep.request),
            sleep.at,
            book.route_name(sleep.route)
        )
    }))
}

/// Why nothing can come of a wait, as things stand now.
fn flaw(book: &Book<'_>, sleep: &Sleep, page: &RequestPage) -> Option<String> {
    let (limits, truth) = (&book.facts.limits, book.truth(sleep.request, sleep.route));
    if let Some(reason) = truth.reasons.iter().next() {
        return Some(format!("is excluded: {}", reason.label()));
    }
    if page.attempts >= limits.attempts_max {
        return Some(format!("would be call {} of {}", page.attempts + 1, limits.attempts_max));
    }
    if book.tried(sleep.request, sleep.route).begun >= limits.calls_per_route_max {
        return Some("was called often enough".to_owned());
    }
    match book.access(sleep.route, sleep.at) {
        Access::Free | Access::Doubtful => {}
        Access::Broken => return Some("has an OPEN breaker then".to_owned()),
        Access::Benched => return Some("is benched then".to_owned()),
    }
    let tokens = page.request.envelope.estimate.total();
    let worst_case = Amount { money: truth.worst_case, tokens };
    if let Some(refusal) = book.refusal(sleep.request, worst_case, sleep.at) {
        return Some(format!("is not affordable: {}", refusal.sentence()));
    }
    (sleep.amount != truth.worst_case)
        .then(|| format!("can cost ${}, not the quoted ${}", truth.worst_case, sleep.amount))
}
