//! Laws about what closes a route: breakers, health, benches.

use super::{Begun, Ruling};
use crate::gateway::{Decision, Freshness};
use crate::judge::book::{Book, Stimulus};
use crate::policy::cooldown::Bench;
use crate::policy::signal::Signal;
use crate::policy::{breaker, health};
use crate::units::{BreakerId, HealthId, Timestamp};

pub(super) fn breaker_respected(book: &Book<'_>, begun: &Begun) -> Ruling {
    let Some(page) = book.route(begun.route).and_then(|fact| book.breaker(fact.breaker)) else {
        return Ruling::Silent;
    };
    let (who, route) = (|| book.request_name(begun.request), || book.route_name(begun.route));
    match page.state {
        breaker::State::Closed | breaker::State::Disabled | breaker::State::MetricsOnly => Ruling::Silent,
        breaker::State::Open | breaker::State::ForcedOpen if page.is_open_at(begun.at) => {
            Ruling::Broken(format!("{} calls {} while its breaker is OPEN", who(), route()))
        }
        breaker::State::Open | breaker::State::ForcedOpen => Ruling::Held,
        breaker::State::HalfOpen => {
            let allowed = book.facts.limits.probes_max;
            Ruling::unless(
                (page.probes >= allowed)
                    .then(|| format!("{} is probe {} of {allowed} at {}", who(), page.probes + 1, route())),
            )
        }
    }
}

/// Every move to OPEN puts the law to the test; no move leaves it early.
pub(super) fn opens_in_time(
    book: &Book<'_>,
    at: Timestamp,
    id: BreakerId,
    transition: &breaker::Transition,
) -> Ruling {
    match transition.to {
        breaker::State::Open | breaker::State::ForcedOpen => Ruling::Held,
        breaker::State::Closed
        | breaker::State::HalfOpen
        | breaker::State::Disabled
        | breaker::State::MetricsOnly => {
            let early = book.breaker(id).is_some_and(|page| page.is_open_at(at));
            Ruling::unless(early.then(|| {
                format!("the breaker {} leaves OPEN before its cooldown is over", breaker_name(book, id))
            }))
        }
    }
}

pub(super) fn no_call_inside_bench(book: &Book<'_>, begun: &Begun) -> Ruling {
    if !book.benches.is_any(begun.at) {
        return Ruling::Silent;
    }
    let until = book.benches.call_until(book.facts, begun.route, begun.credential);
    Ruling::unless((until > begun.at).then(|| {
        format!(
            "{} calls {} with {}, benched {}",
            book.request_name(begun.request),
            book.route_name(begun.route),
            book.credential_name(begun.credential),
            tell(until),
        )
    }))
}

pub(super) fn benches_only_grow(book: &Book<'_>, what: Bench, until: Timestamp) -> Ruling {
    let before = book.benches.until(what);
    Ruling::unless((until < before).then(|| format!("a bench {} now ends {}", tell(before), tell(until))))
}

fn tell(until: Timestamp) -> String {
    if until == Timestamp::MAX { "until an operator frees it".to_owned() } else { format!("until {until}") }
}

/// Judged by the truth of the call, never by the class that the gateway saw in it.
pub(super) fn neutral_is_told_neutral(book: &Book<'_>, decision: &Decision) -> Ruling {
    let Decision::Signalled {
        call,
        breaker,
        health,
        signal,
        standing,
        breaker_failures,
        health_failures,
        ..
    } = decision
    else {
        return Ruling::Silent;
    };
    let Some(page) = book.call(*call) else {
        return Ruling::Broken("a result of no call is told".to_owned());
    };
    let Some(class) = book.meaning(page).filter(|class| class.is_neutral()) else { return Ruling::Silent };
    let is_told_neutral = *signal == Signal::Neutral || *standing == Freshness::Stale;
    let was = book.breaker(*breaker).and_then(|page| page.failures);
    let breaker_moved = was.is_some_and(|before| *breaker_failures > before);
    let health_moved = book.health(*health).is_some_and(|page| page.failures != *health_failures);
    if is_told_neutral && !breaker_moved && !health_moved {
        return Ruling::Held;
    }
    let (name, route) = (book.name(page.name), book.route_name(page.route));
    Ruling::Broken(format!(
        "{} of {name} on {route} is told as {}: breaker failures {breaker_failures}, health failures {health_failures}",
        class.label(),
        signal.label(),
    ))
}

pub(super) fn neutral_moves_no_breaker(
    book: &Book<'_>,
    id: BreakerId,
    transition: &breaker::Transition,
) -> Ruling {
    let (Stimulus::NeutralResult(call), breaker::State::Open) = (book.stimulus, transition.to) else {
        return Ruling::Silent;
    };
    Ruling::Broken(format!("{} opens the breaker {}", describe(book, call), breaker_name(book, id)))
}

pub(super) fn neutral_moves_no_health(book: &Book<'_>, id: HealthId, moved: &health::Move) -> Ruling {
    let Stimulus::NeutralResult(call) = book.stimulus else { return Ruling::Silent };
    let name = book.facts.healths.get(id.index()).map_or("", |name| book.facts.names.text(*name));
    let (from, to) = (moved.from.label(), moved.to.label());
    Ruling::Broken(format!("{} moves the health of {name} from {from} to {to}", describe(book, call)))
}

fn describe(book: &Book<'_>, call: crate::units::CallId) -> String {
    let Some(page) = book.call(call) else { return "a result".to_owned() };
    let class = book.meaning(page).map_or("an answer", |class| class.label());
    format!("{class} of {} on {}", book.name(page.name), book.route_name(page.route))
}

fn breaker_name<'a>(book: &'a Book<'_>, id: BreakerId) -> &'a str {
    book.facts.breakers.get(id.index()).map_or("", |name| book.facts.names.text(*name))
}
