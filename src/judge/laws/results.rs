//! Laws about what is said of results: what the gateway tells of them, and what its breakers and health states make
//! of them, is recomputed.

use super::Ruling;
use super::gates::Told;
use crate::judge::book::{Book, CallPhase, Entrance, Reckoned};
use crate::policy::cooldown::Bench;
use crate::policy::taxonomy::Diagnosis;
use crate::units::{CallId, RequestId, Timestamp};

/// A failure is read as it was written.
pub(super) fn is_read_as_written(book: &Book<'_>, call: CallId, diagnosis: &Diagnosis) -> Ruling {
    let page = book.call(call).filter(|page| page.phase == CallPhase::Ended);
    let heard = page.map(|page| (page.heard.class, page.heard.code));
    let is_right = heard == Some((Some(diagnosis.class), Some(diagnosis.code)));
    Ruling::unless((!is_right).then_some(move || {
        let said = diagnosis.class.label();
        match page {
            None => format!("{said} is read in the response of no call"),
            Some(page) => {
                let (who, route) = (book.name(page.name), book.route_name(page.route));
                let heard = page.heard.class.map_or("an answer", |class| class.label());
                format!("{said} is read in the response of {route} to {who}, which says {heard}")
            }
        }
    }))
}

/// A result is told once: by its class, with the counters that it leaves.
pub(super) fn is_told_as_it_was(book: &Book<'_>, told: &Told, reckoned: Option<Reckoned>) -> Ruling {
    if reckoned == Some(told.reckoned()) {
        return Ruling::Held;
    }
    let page = book.call(told.call);
    Ruling::broken(move || {
        let whose = page.map_or_else(
            || "no call".to_owned(),
            |page| format!("{} on {}", book.name(page.name), book.route_name(page.route)),
        );
        let Some(truth) = reckoned else {
            return format!("a result of {whose} is told, and there is none that was not told before");
        };
        let say = |of: &Reckoned| {
            let class = of.class.map_or("an answer", |class| class.label());
            let (signal, standing) = (of.signal.label(), of.standing.label());
            let (breaker, health) = (of.breaker_failures, of.health_failures);
            format!(
                "{class}, {signal}, {standing}, failures at the breaker {breaker}, for the health {health}"
            )
        };
        let said = told.reckoned();
        if said == (Reckoned { breaker: said.breaker, health: said.health, ..truth }) {
            return format!("a result of {whose} is told to the breaker or the health of another");
        }
        format!("a result of {whose} is told as {}; true is {}", say(&said), say(&truth))
    })
}

/// A breaker or a health state moves as it must, and when.
pub(super) fn moves_when_due(is_due: bool, what: &str, to: &str) -> Ruling {
    Ruling::unless((!is_due).then_some(move || format!("a {what} is said to move to {to}, which is not due")))
}

/// What is left alone is what the last response concerns, as long as it asks or as the policy says for its class.
pub(super) fn benches_what_is_due(book: &Book<'_>, what: Bench, until: Timestamp) -> Ruling {
    let due = book.bench_due;
    let is_due = due.is_some_and(|due| (due.what, due.until) == (what, until));
    Ruling::unless((!is_due).then_some(move || match due.filter(|due| due.what == what) {
        None => "something is left alone for which no response asks".to_owned(),
        Some(due) => format!("something is left alone until {until}, by its response until {}", due.until),
    }))
}

pub(in crate::judge) fn no_bench(book: &Book<'_>) -> Ruling {
    let until = book.bench_due.map_or(Timestamp::ZERO, |due| due.until);
    Ruling::broken(move || format!("something is to be left alone until {until}, and nobody says so"))
}

pub(in crate::judge) fn is_not_overdue(book: &Book<'_>) -> Ruling {
    Ruling::broken(move || book.machines.overdue(book.facts))
}

/// A call goes through its breaker as that stands.
pub(super) fn enters_by_its_breaker(book: &Book<'_>, call: CallId, entrance: Entrance) -> Ruling {
    if entrance == Entrance::Right {
        return Ruling::Silent;
    }
    Ruling::broken(move || {
        let page = book.call(call);
        let whose = page.map_or_else(
            || "a call".to_owned(),
            |page| format!("the call of {} to {}", book.name(page.name), book.route_name(page.route)),
        );
        match entrance {
            Entrance::Refused => format!("{whose} is one that its breaker refuses"),
            Entrance::Moved(Some(moved)) => {
                format!("{whose} moves its breaker to {}, and nobody says so", moved.to.label())
            }
            Entrance::Moved(None) => format!("{whose} moves no breaker, and a move is told"),
            Entrance::Right => format!("{whose} is right"),
            Entrance::OfGeneration(truth) => {
                let said = page.map_or(0, |page| page.generation);
                format!("{whose} is told by generation {said} of its breaker, it is of generation {truth}")
            }
        }
    })
}

/// When a request closes, every result of it was told.
pub(super) fn leaves_nothing_untold(book: &Book<'_>, id: RequestId) -> Ruling {
    let untold = book.request(id).map_or(0, |page| page.untold);
    if untold == 0 {
        return Ruling::Silent;
    }
    Ruling::broken(move || {
        format!("{} closes, and of {untold} results nobody says what they mean", book.request_name(id))
    })
}
