//! Laws about timers: each fires when it is due by the facts, and not at another instant.

use super::fuses::stops_waiting;
use super::{Ruling, told};
use crate::gateway::{Delivery, Wait};
use crate::judge::book::{Book, CallPage, CallPhase, Charge, Phase, RequestPage};
use crate::policy::taxonomy::Class;
use crate::units::{CallId, Duration, RequestId, Timestamp};

/// When a timer is due.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Due {
    /// Then.
    At(Timestamp),
    /// Then or later: what it waits for in the end is not told.
    From(Timestamp),
    /// Never: nothing is waited for.
    Never,
}

/// A timer fires exactly when it is due.
pub(super) fn fires_when_due(book: &Book<'_>, at: Timestamp, wait: Wait) -> Ruling {
    let due = due(book, wait);
    let is_due = match due {
        Due::At(due) => at == due,
        Due::From(due) => at >= due,
        Due::Never => false,
    };
    if is_due {
        return Ruling::Silent;
    }
    Ruling::broken(move || {
        let whose = match wait {
            Wait::Deadline(id) | Wait::Hedge(id) | Wait::Retry(id) => book.request_name(id),
            Wait::Attempt(id) | Wait::FirstByte(id) | Wait::Idle(id) | Wait::Receipt(id) => {
                book.call(id).map_or_else(|| "no call".to_owned(), |page| whose(book, page))
            }
            Wait::Health(_) => "an upstream".to_owned(),
        };
        let due = match due {
            Due::At(due) => format!("due at {due}"),
            Due::From(due) => format!("not due before {due}"),
            Due::Never => "not waited for".to_owned(),
        };
        format!("the {} of {whose} is {due} and fires at {at}", wait.label())
    })
}

fn whose(book: &Book<'_>, page: &CallPage) -> String {
    format!("{} for {}", book.route_name(page.route), book.name(page.name))
}

fn due(book: &Book<'_>, wait: Wait) -> Due {
    let timeouts = |call: &CallPage| book.facts.timeouts(call.route);
    match wait {
        Wait::Deadline(id) => of_request(book, id, |page| Due::At(page.deadline)),
        Wait::Retry(id) => of_request(book, id, |page| {
            page.sleeps_until.filter(|_| !stops_waiting(book, page)).map_or(Due::Never, Due::At)
        }),
        Wait::Hedge(id) => of_request(book, id, |page| match page.patience_ends {
            Some(due) if page.legs > 0 => Due::At(due),
            Some(_) | None => Due::Never,
        }),
        Wait::Attempt(id) => of_call(book, id, |call, _| after(call.begun, timeouts(call).attempt)),
        Wait::FirstByte(id) => of_call(book, id, |call, request| {
            if awaits_first_byte(call, request) {
                after(call.begun, timeouts(call).first_byte)
            } else {
                Due::Never
            }
        }),
        // Signs of life after the first are not told.
        Wait::Idle(id) => of_call(book, id, |call, _| {
            let quiet = call.visible.zip(timeouts(call).idle);
            quiet.map_or(Due::Never, |(visible, most)| Due::From(visible.after(most)))
        }),
        Wait::Receipt(id) => {
            let is_awaited = |call: &&CallPage| {
                let is_out = matches!(call.phase, CallPhase::Flying | CallPhase::Lost);
                is_out && call.stopped.is_some() && call.charge == Charge::Open
            };
            let call = book.call(id).filter(is_awaited);
            call.map_or(Due::Never, |call| Due::At(call.stopped_at.after(book.facts.limits.receipt_max)))
        }
        Wait::Health(id) => {
            let until = book.machines.health(id).and_then(|health| health.until());
            until.map_or(Due::Never, Due::At)
        }
    }
}

fn of_request(book: &Book<'_>, id: RequestId, due: impl Fn(&RequestPage) -> Due) -> Due {
    book.request(id).filter(|page| page.phase == Phase::Open).map_or(Due::Never, due)
}

fn of_call(book: &Book<'_>, id: CallId, due: impl Fn(&CallPage, &RequestPage) -> Due) -> Due {
    let call = book.call(id).filter(|call| call.is_wanted());
    let both = call.and_then(|call| Some((call, book.request_of(call)?)));
    both.map_or(Due::Never, |(call, request)| due(call, request))
}

fn after(begun: Timestamp, timeout: Option<Duration>) -> Due {
    timeout.map_or(Due::Never, |timeout| Due::At(begun.after(timeout)))
}

fn awaits_first_byte(call: &CallPage, request: &RequestPage) -> bool {
    request.delivery == Delivery::Stream && call.visible.is_none()
}

/// A call is stopped by a timeout only if its timer was due.
pub(super) fn is_timed_out(book: &Book<'_>, call: CallId, class: Class) -> Ruling {
    let page = book.call(call).filter(|page| page.is_wanted());
    if page.is_some_and(|page| page.fired == Some(class)) {
        return Ruling::Silent;
    }
    Ruling::broken(move || {
        let whose = page.map_or_else(|| "no call".to_owned(), |page| whose(book, page));
        format!("{whose} is stopped by {}, which was not due", class.label())
    })
}

/// Until when a call may show no sign of life.
pub(super) fn patience(book: &Book<'_>, page: &CallPage) -> Timestamp {
    let timeouts = book.facts.timeouts(page.route);
    let end = |timeout: Option<Duration>| timeout.map_or(Timestamp::MAX, |timeout| page.begun.after(timeout));
    let due = end(timeouts.attempt);
    if timeouts.first_byte.is_some()
        && book.request_of(page).is_some_and(|request| awaits_first_byte(page, request))
    {
        return due.min(end(timeouts.first_byte));
    }
    due
}

/// A call that is wanted shows a sign of life before its timeouts are over.
pub(super) fn is_in_time(book: &Book<'_>, at: Timestamp, call: CallId) -> Ruling {
    let Some(page) = book.call(call).filter(|page| page.is_wanted()) else { return Ruling::Silent };
    let due = patience(book, page);
    if at <= due {
        return Ruling::Silent;
    }
    Ruling::Broken(told(|| format!("{} was to be stopped at {due}, and is not at {at}", whose(book, page))))
}
