//! Laws about breakers: what they let through, as they must stand.

use super::gates::breaker_name;
use super::{Begun, Ruling};
use crate::judge::book::Book;
use crate::policy::breaker;
use crate::sim::RouteFact;
use crate::units::{BreakerId, Timestamp};

pub(super) fn breaker_respected(book: &Book<'_>, begun: &Begun<'_>) -> Ruling {
    let Some(fact) = begun.fact else { return Ruling::Silent };
    let Some(breaker) = book.machines.breaker(fact.breaker) else { return as_told(book, begun, fact) };
    if breaker.is_closed() {
        return Ruling::Silent;
    }
    if breaker.permits(begun.at) {
        return Ruling::Held;
    }
    let status = breaker.status(begun.at);
    Ruling::broken(move || {
        let (who, route) = (book.request_name(begun.request), book.route_name(begun.route));
        match status.state {
            breaker::State::HalfOpen => {
                let declared = book.facts.machines.breaker_of(fact.breaker);
                let allowed = declared.map_or(0, |config| config.probes.most());
                let nth = status.probes_in_flight + 1;
                format!("{who} is probe {nth} of {allowed} at {route}")
            }
            breaker::State::Open
            | breaker::State::ForcedOpen
            | breaker::State::Closed
            | breaker::State::Disabled
            | breaker::State::MetricsOnly => format!("{who} calls {route} while its breaker is OPEN"),
        }
    })
}

/// The same where no breaker is declared: by the word of the gateway.
#[cold]
fn as_told(book: &Book<'_>, begun: &Begun<'_>, fact: &RouteFact) -> Ruling {
    let Some(page) = book.breaker(fact.breaker) else { return Ruling::Silent };
    let (who, route) = (|| book.request_name(begun.request), || book.route_name(begun.route));
    match page.state {
        breaker::State::Closed | breaker::State::Disabled | breaker::State::MetricsOnly => Ruling::Silent,
        breaker::State::Open | breaker::State::ForcedOpen if page.is_open_at(begun.at) => {
            Ruling::broken(move || format!("{} calls {} while its breaker is OPEN", who(), route()))
        }
        breaker::State::Open | breaker::State::ForcedOpen => Ruling::Held,
        breaker::State::HalfOpen => {
            let allowed = book.facts.limits.probes_max;
            let probes = book.probes(fact.breaker, begun.at);
            Ruling::unless(
                (probes >= allowed).then_some(move || {
                    format!("{} is probe {} of {allowed} at {}", who(), probes + 1, route())
                }),
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
            Ruling::unless(early.then_some(move || {
                format!("the breaker {} leaves OPEN before its cooldown is over", breaker_name(book, id))
            }))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gateway::{Action, Delivery};
    use crate::judge::Law;
    use crate::judge::play::*;
    use crate::policy::breaker::State;
    use crate::policy::taxonomy::Class;

    /// Where no breaker is declared its moves are believed.
    fn check_breaker(held: impl Fn(&mut Play<'_>), broken: impl Fn(&mut Play<'_>), says: &str) {
        check_in(&undeclared(), Law::BreakerRespected, held, broken, says);
    }

    #[test]
    fn no_call_passes_an_open_breaker_and_probes_are_few() {
        let probed = |probes: u32| {
            move |play: &mut Play<'_>| {
                play.arrive(Delivery::Whole).decide(moved(State::Closed, State::Open));
                play.at(5_000).decide(moved(State::Open, State::HalfOpen));
                for _ in 0..probes {
                    play.call(R, A);
                }
            }
        };
        check_breaker(probed(1), probed(2), "req/1 is probe 2 of 1 at alpha");
        let knocks = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole).decide(moved(State::Closed, State::Open));
            play.at(4_999).call(R, A);
        };
        check_breaker(probed(1), knocks, "req/1 calls alpha while its breaker is OPEN");
        let early = |play: &mut Play<'_>| {
            play.decide(moved(State::Closed, State::Open));
            play.at(4_999).decide(moved(State::Open, State::HalfOpen));
        };
        check_breaker(probed(1), early, "leaves OPEN before its cooldown is over");
    }

    #[test]
    fn a_probe_that_was_cancelled_probes_nothing_any_more() {
        let held = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole).decide(moved(State::Closed, State::Open));
            play.at(5_000).decide(moved(State::Open, State::HalfOpen));
            let call = play.call(R, A);
            play.act(Action::Cancel { call, why: Class::Cancelled });
            play.call(R, A);
        };
        let broken = |play: &mut Play<'_>| {
            play.decide(moved(State::Open, State::HalfOpen)).arrive(Delivery::Whole);
            play.call(R, A);
            play.call(R, A);
        };
        check_breaker(held, broken, "probe 2 of 1");
    }
}
