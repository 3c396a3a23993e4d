//! Laws about what closes a route: breakers, health, benches.

use super::{Begun, Ruling};
use crate::gateway::Freshness;
use crate::judge::book::{Age, Book, Late, Moment, Reckoned, Stimulus};
use crate::policy::cooldown::Bench;
use crate::policy::signal::Signal;
use crate::policy::taxonomy::Class;
use crate::policy::{breaker, health};
use crate::units::{BreakerId, CallId, CredentialId, HealthId, Timestamp};

/// What the gateway told its breaker and its health state about a result.
#[derive(Clone, Copy)]
pub(in crate::judge) struct Told {
    pub(in crate::judge) call: CallId,
    pub(in crate::judge) breaker: BreakerId,
    pub(in crate::judge) health: HealthId,
    pub(in crate::judge) class: Option<Class>,
    pub(in crate::judge) signal: Signal,
    pub(in crate::judge) standing: Freshness,
    pub(in crate::judge) breaker_failures: u32,
    pub(in crate::judge) health_failures: u32,
}

impl Told {
    /// What is told of the result.
    pub(super) const fn reckoned(&self) -> Reckoned {
        let Told { call: _, breaker, health, class, signal, standing, breaker_failures, health_failures } =
            *self;
        Reckoned { breaker, health, class, signal, standing, breaker_failures, health_failures }
    }
}

pub(super) fn no_call_inside_bench(book: &Book<'_>, begun: &Begun<'_>) -> Ruling {
    if !book.benches.is_any(begun.at) {
        return Ruling::Silent;
    }
    let until = book.benches.call_until(book.facts, begun.route, begun.credential);
    Ruling::unless((until > begun.at).then_some(move || {
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
    Ruling::unless(
        (until < before).then_some(move || format!("a bench {} now ends {}", tell(before), tell(until))),
    )
}

fn tell(until: Timestamp) -> String {
    if until == Timestamp::MAX { "until an operator frees it".to_owned() } else { format!("until {until}") }
}

/// Judged by the truth of the call, never by the class that the gateway saw in it.
pub(super) fn neutral_is_told_neutral(book: &Book<'_>, told: &Told) -> Ruling {
    let Some(page) = book.call(told.call) else {
        return Ruling::broken(move || "a result of no call is told".to_owned());
    };
    let Some(class) = page.neutral() else { return Ruling::Silent };
    let Told { breaker, health, signal, standing, breaker_failures, health_failures, .. } = *told;
    let is_told_neutral = signal == Signal::Neutral || standing == Freshness::Stale;
    let was = book.breaker(breaker).and_then(|page| page.failures);
    let breaker_moved = was.is_some_and(|before| breaker_failures > before);
    let health_moved = book.health(health).is_some_and(|page| page.failures != health_failures);
    if is_told_neutral && !breaker_moved && !health_moved {
        return Ruling::Held;
    }
    let (name, route) = (book.name(page.name), book.route_name(page.route));
    Ruling::broken(move || {
        format!(
            "{} of {name} on {route} is told as {}: breaker failures {breaker_failures}, health failures {health_failures}",
            class.label(),
            signal.label(),
        )
    })
}

pub(super) fn neutral_moves_no_breaker(
    book: &Book<'_>,
    id: BreakerId,
    transition: &breaker::Transition,
) -> Ruling {
    let (Stimulus::NeutralResult(call), breaker::State::Open) = (book.stimulus, transition.to) else {
        return Ruling::Silent;
    };
    Ruling::broken(move || format!("{} opens the breaker {}", describe(book, call), breaker_name(book, id)))
}

pub(super) fn neutral_moves_no_health(book: &Book<'_>, id: HealthId, moved: &health::Move) -> Ruling {
    let Stimulus::NeutralResult(call) = book.stimulus else { return Ruling::Silent };
    let name = book.facts.healths.get(id.index()).map_or("", |name| book.facts.names.text(*name));
    let (from, to) = (moved.from.label(), moved.to.label());
    Ruling::broken(move || format!("{} moves the health of {name} from {from} to {to}", describe(book, call)))
}

/// What came too late must be told so, and leave every counter that it is too late for as it was.
pub(super) fn stale_is_told_stale(book: &Book<'_>, told: &Told, age: Age) -> Ruling {
    if age == Age::Fresh {
        return Ruling::Silent;
    }
    let Some(page) = book.call(told.call) else { return Ruling::Silent };
    let was = book.breaker(told.breaker).and_then(|page| page.failures);
    let breaker_moved = age == Age::OfOldBreaker && was.is_some_and(|n| told.breaker_failures > n);
    let health_moved = book.health(told.health).is_some_and(|page| page.failures != told.health_failures);
    if told.standing == Freshness::Stale && !breaker_moved && !health_moved {
        return Ruling::Held;
    }
    let Told { standing, breaker_failures, health_failures, .. } = *told;
    Ruling::broken(move || {
        format!(
            "a result of {} on {}, {}, is told as {}: breaker failures {breaker_failures}, health failures \
             {health_failures}",
            book.name(page.name),
            book.route_name(page.route),
            too_late(age),
            standing.label(),
        )
    })
}

/// The move that a result causes is told right behind it.
fn late(book: &Book<'_>, entry: Moment) -> Option<Late> {
    book.late.filter(|late| entry.seq - late.seq <= 2)
}

pub(super) fn stale_moves_no_breaker(
    book: &Book<'_>,
    entry: Moment,
    id: BreakerId,
    transition: &breaker::Transition,
) -> Ruling {
    let Some(late) = late(book, entry).filter(|late| late.age == Age::OfOldBreaker) else {
        return Ruling::Silent;
    };
    let is_its_own =
        book.call(late.call).and_then(|page| book.route(page.route)).is_some_and(|f| f.breaker == id);
    match transition.to {
        breaker::State::Open | breaker::State::Closed if is_its_own => Ruling::broken(move || {
            let to = transition.to.label();
            format!(
                "{}, {}, moves the breaker {} to {to}",
                describe(book, late.call),
                too_late(late.age),
                breaker_name(book, id)
            )
        }),
        breaker::State::Open
        | breaker::State::Closed
        | breaker::State::HalfOpen
        | breaker::State::ForcedOpen
        | breaker::State::Disabled
        | breaker::State::MetricsOnly => Ruling::Silent,
    }
}

pub(super) fn stale_moves_no_health(book: &Book<'_>, entry: Moment, id: HealthId) -> Ruling {
    let own =
        |late: &Late| book.call(late.call).and_then(|page| book.route(page.route)).map(|fact| fact.health);
    let Some(late) = late(book, entry).filter(|late| own(late) == Some(id)) else { return Ruling::Silent };
    Ruling::broken(move || {
        let name = book.facts.healths.get(id.index()).map_or("", |name| book.facts.names.text(*name));
        format!("{}, {}, moves the health of {name}", describe(book, late.call), too_late(late.age))
    })
}

const fn too_late(age: Age) -> &'static str {
    match age {
        Age::Fresh => "in time",
        Age::OfOldBreaker => "begun before its breaker's last move",
        Age::OfOldHealth => "begun before its health last turned",
    }
}

/// An alert is for an auth fault of that credential, which nobody was told of.
pub(super) fn alerts_for_a_fault(book: &Book<'_>, cause: Option<u64>, key: CredentialId) -> Ruling {
    let is_due = book.alerts.due().is_some_and(|due| due.key == key && cause == Some(due.seq));
    Ruling::unless((!is_due).then_some(move || {
        format!("an alert is raised for {}, which has met no new auth fault", book.credential_name(key))
    }))
}

pub(super) fn no_alert(book: &Book<'_>, key: CredentialId) -> Ruling {
    Ruling::broken(move || {
        format!("{} has met an auth fault and nobody is alerted", book.credential_name(key))
    })
}

fn describe(book: &Book<'_>, call: CallId) -> String {
    let Some(page) = book.call(call) else { return "a result".to_owned() };
    let class = page.meaning().map_or("an answer", |class| class.label());
    format!("{class} of {} on {}", book.name(page.name), book.route_name(page.route))
}

pub(super) fn breaker_name<'a>(book: &'a Book<'_>, id: BreakerId) -> &'a str {
    book.facts.breakers.get(id.index()).map_or("", |name| book.facts.names.text(*name))
}

#[cfg(test)]
mod tests {
    use crate::gateway::{Command, Decision, Delivery, Freshness, Wait};
    use crate::judge::Law;
    use crate::judge::play::*;
    use crate::policy::breaker::State;
    use crate::policy::cooldown::Bench;
    use crate::policy::health;
    use crate::policy::signal::Signal;
    use crate::policy::taxonomy::Class;
    use crate::sim::What;
    use crate::units::{BreakerId, CallId, CredentialId, HealthId};

    fn signal(call: CallId, signal: Signal, failures: u32) -> Decision {
        Decision::Signalled {
            call,
            breaker: BreakerId(0),
            health: HealthId(0),
            class: Some(Class::Overload),
            signal,
            standing: Freshness::Fresh,
            breaker_failures: failures,
            health_failures: failures,
        }
    }

    fn failed(play: &mut Play<'_>, truth: Class) -> CallId {
        play.arrive(Delivery::Whole);
        let call = play.call(R, A);
        play.at(80).end(call, Some(truth), 0);
        call
    }

    #[test]
    fn a_true_rate_limit_is_told_neutral_whatever_class_was_seen_in_it() {
        let told = |said: Signal, failures: u32| {
            move |play: &mut Play<'_>| {
                let call = failed(play, Class::RateLimit);
                play.decide(signal(call, said, failures));
            }
        };
        let says = "rate_limit of req/1 on alpha is told as bad: breaker failures 1, health failures 1";
        check(Law::NeutralMovesNothing, told(Signal::Neutral, 0), told(Signal::Bad, 1), says);
        check(
            Law::NeutralMovesNothing,
            told(Signal::Neutral, 0),
            told(Signal::Neutral, 1),
            "breaker failures 1",
        );
        check(Law::NeutralMovesNothing, told(Signal::Neutral, 0), told(Signal::Good, 0), "told as good");
    }

    #[test]
    fn a_neutral_result_opens_no_breaker_and_moves_no_health() {
        let held = |play: &mut Play<'_>| {
            let call = failed(play, Class::RateLimit);
            play.decide(signal(call, Signal::Neutral, 0));
        };
        let opens = |play: &mut Play<'_>| {
            failed(play, Class::RateLimit);
            play.decide(moved(State::Closed, State::Open));
        };
        check(Law::NeutralMovesNothing, held, opens, "rate_limit of req/1 on alpha opens the breaker alpha");
        let sickens = |play: &mut Play<'_>| {
            failed(play, Class::QuotaExhausted);
            let (from, to) = (health::State::Healthy, health::State::Degraded);
            play.decide(Decision::HealthMoved {
                health: HealthId(0),
                moved: health::Move { from, to, until: None },
            });
        };
        check(Law::NeutralMovesNothing, held, sickens, "moves the health of alpha from HEALTHY to DEGRADED");
    }

    #[test]
    fn only_a_timer_that_was_due_makes_a_stop_of_ours_a_failure() {
        let stopped = |wait: fn(CallId) -> Wait| {
            move |play: &mut Play<'_>| {
                let quiet = failed(play, Class::RateLimit);
                play.decide(signal(quiet, Signal::Neutral, 0));
                let call = play.call(R, A);
                play.at(1_200).say(What::Woke { wait: wait(call) }).decide(signal(call, Signal::Bad, 1));
            }
        };
        let says = "cancelled of req/1 on alpha is told as bad";
        check(Law::NeutralMovesNothing, stopped(Wait::Attempt), stopped(|_| Wait::Deadline(R)), says);
    }

    #[test]
    fn a_bench_only_grows_unless_an_operator_frees_it() {
        let what = Bench::Credential(CredentialId(0));
        let benched = |until| Decision::Benched { what, until: at(until), class: Class::RateLimit };
        let broken = |play: &mut Play<'_>| {
            play.decide(benched(60_000)).decide(benched(1_000));
        };
        let freed = |play: &mut Play<'_>| {
            play.decide(benched(60_000));
            play.say(What::Operated { command: Command::ResetBench(what) }).decide(benched(1_000));
        };
        check(Law::BenchesOnlyGrow, freed, broken, "a bench until 60000 ms now ends until 1000 ms");
    }

    #[test]
    fn no_call_lands_inside_a_bench() {
        let called = |ms: u64| {
            move |play: &mut Play<'_>| {
                let what = Bench::Credential(CredentialId(0));
                play.decide(Decision::Benched { what, until: at(60_000), class: Class::RateLimit });
                let what = Bench::Credential(CredentialId(1));
                play.decide(Decision::Benched { what, until: at(90_000), class: Class::RateLimit });
                play.at(ms).arrive(Delivery::Whole).call(R, A);
            }
        };
        let says = "req/1 calls alpha with alpha, benched until 60000 ms";
        check(Law::NoCallInsideBench, called(60_000), called(59_999), says);
    }

    #[test]
    fn a_result_of_before_the_breaker_moved_changes_nothing() {
        let late = |standing: Freshness, failures: u32, then: Option<(State, State)>| {
            move |play: &mut Play<'_>| {
                play.arrive(Delivery::Whole);
                let call = play.call(R, A);
                play.at(50).decide(moved(State::Closed, State::Open));
                play.at(80).end(call, Some(Class::Overload), 0);
                play.signal(call, Signal::Bad, Freshness::Stale, 0).signal(
                    call,
                    Signal::Bad,
                    standing,
                    failures,
                );
                if let Some((from, to)) = then {
                    play.decide(moved(from, to));
                }
            }
        };
        let held = || late(Freshness::Stale, 0, None);
        let check = |broken: &dyn Fn(&mut Play<'_>), says| {
            check(Law::StaleChangesNothing, held(), broken, says);
        };
        let says = "a result of req/1 on alpha, begun before its breaker's last move, is told as fresh";
        check(&late(Freshness::Fresh, 0, None), says);
        check(&late(Freshness::Stale, 1, None), "is told as stale: breaker failures 1");
        let reopens = Some((State::HalfOpen, State::Open));
        let says = "overload of req/1 on alpha, begun before its breaker's last move, moves the breaker alpha to OPEN";
        check(&late(Freshness::Stale, 0, reopens), says);
    }

    #[test]
    fn a_result_of_before_the_health_turned_changes_nothing() {
        let turned = |from, to| Decision::HealthMoved {
            health: HealthId(0),
            moved: health::Move { from, to, until: None },
        };
        let late = |heals: u64| {
            move |play: &mut Play<'_>| {
                play.arrive(Delivery::Whole);
                let call = play.call(R, A);
                play.at(50).decide(turned(health::State::Degraded, health::State::Unhealthy));
                play.at(80).end(call, None, 16).signal(call, Signal::Good, Freshness::Stale, 0);
                if heals > 0 {
                    play.decide(turned(health::State::Unhealthy, health::State::Healthy));
                }
            }
        };
        let says =
            "an answer of req/1 on alpha, begun before its health last turned, moves the health of alpha";
        check(Law::StaleChangesNothing, late(0), late(1), says);
        let between = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole);
            let call = play.call(R, A);
            play.at(50).decide(turned(health::State::Healthy, health::State::Degraded));
            play.at(80).end(call, None, 16).signal(call, Signal::Good, Freshness::Fresh, 0);
        };
        let tally = played(between).laws.tally(Law::StaleChangesNothing).clone();
        assert_eq!(tally.exercised, 0, "from healthy to degraded is no turn");
    }

    #[test]
    fn an_auth_fault_raises_one_alert_and_nothing_else_does() {
        let alert = |play: &mut Play<'_>, fault: Option<u64>| {
            let alerted = Decision::Alerted { credential: CredentialId(0), failure: failure(Class::Auth) };
            play.say_because(fault, What::Decided(&alerted));
        };
        let met = |class: Class, alerts: u64| {
            move |play: &mut Play<'_>| {
                play.arrive(Delivery::Whole);
                let call = play.call(R, A);
                let fault = play.at(80).number();
                play.end_with(call, Some(class), 0, crate::policy::taxonomy::Hint::Absent);
                (0..alerts).for_each(|_| alert(play, Some(fault)));
                play.at(90).arrive_with(crate::units::RequestId(1), envelope(), Delivery::Whole);
            }
        };
        let says = "alpha has met an auth fault and nobody is alerted";
        check(Law::OneAlertPerAuthFault, met(Class::Auth, 1), met(Class::Auth, 0), says);
        let says = "an alert is raised for alpha, which has met no new auth fault";
        check(Law::OneAlertPerAuthFault, met(Class::Auth, 1), met(Class::Auth, 2), says);
        check(Law::OneAlertPerAuthFault, met(Class::Auth, 1), met(Class::Overload, 1), says);
    }
}
