//! Laws about waits before another attempt.

use super::waits::misjudged;
use super::{Begun, Ruling};
use crate::judge::book::{Access, Book, RequestPage};
use crate::policy::ledger::Amount;
use crate::units::{Duration, Money, RequestId, RouteId, Timestamp};

/// A wait that was planned.
#[derive(Clone, Copy)]
pub(in crate::judge) struct Sleep {
    pub(in crate::judge) request: RequestId,
    pub(in crate::judge) from: Timestamp,
    pub(in crate::judge) at: Timestamp,
    pub(in crate::judge) delay: Duration,
    pub(in crate::judge) hint: Duration,
    pub(in crate::judge) route: RouteId,
    pub(in crate::judge) amount: Money,
}

/// At the very instant of the deadline the deadline comes first: nothing can be made of that wait.
pub(super) fn no_sleep_past_deadline(book: &Book<'_>, sleep: &Sleep) -> Ruling {
    let deadline = book.request(sleep.request).map_or(Timestamp::ZERO, |page| page.deadline);
    let is_late = sleep.at >= deadline;
    let is_wrong = sleep.from.after(sleep.delay) != sleep.at;
    let who = || book.request_name(sleep.request);
    if is_late {
        return Ruling::broken(move || {
            format!("{} sleeps until {}, its deadline is {deadline}", who(), sleep.at)
        });
    }
    Ruling::unless(
        is_wrong.then_some(move || format!("{} sleeps {}, not until {}", who(), sleep.delay, sleep.at)),
    )
}

pub(super) fn retry_after_is_a_floor(book: &Book<'_>, sleep: &Sleep) -> Ruling {
    let told = book.told.route_until(book.facts, sleep.route);
    let floor = told.max(book.tried(sleep.request, sleep.route).hint);
    if floor <= sleep.from {
        return Ruling::Silent;
    }
    Ruling::unless((sleep.at < floor).then_some(move || {
        format!(
            "{} plans to call {} at {}, which asked to be left alone until {floor}",
            book.request_name(sleep.request),
            book.route_name(sleep.route),
            sleep.at,
        )
    }))
}

/// What is planned for now is not told as a sleep: the call itself is looked at. A first call is no retry.
pub(super) fn no_retry_below_the_floor(book: &Book<'_>, begun: &Begun<'_>) -> Ruling {
    if begun.page.is_none_or(|page| page.attempts == 0) {
        return Ruling::Silent;
    }
    let told = book.told.call_until(book.facts, begun.route, begun.credential);
    let floor = told.max(begun.tries.hint);
    if floor <= begun.at {
        return Ruling::Silent;
    }
    Ruling::broken(move || {
        format!(
            "{} calls {} again at {}, which asked to be left alone until {floor}",
            book.request_name(begun.request),
            book.route_name(begun.route),
            begun.at,
        )
    })
}

pub(super) fn sleeps_have_a_quote(book: &Book<'_>, sleep: &Sleep) -> Ruling {
    let Some(page) = book.request(sleep.request) else {
        return Ruling::broken(move || "a request that never arrived sleeps".to_owned());
    };
    Ruling::unless(flaw(book, sleep, page).map(|flaw| {
        move || {
            format!(
                "{} sleeps until {} for {}, which {flaw}",
                book.request_name(sleep.request),
                sleep.at,
                book.route_name(sleep.route)
            )
        }
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
    if !book.is_unspent(sleep.request, sleep.route) {
        return Some("was called often enough".to_owned());
    }
    match book.access(sleep.route, sleep.at) {
        Access::Free | Access::Doubtful => {}
        Access::Broken => return Some("has an OPEN breaker then".to_owned()),
        Access::Benched => return Some("is benched then".to_owned()),
    }
    let tokens = page.estimate;
    let worst_case = Amount { money: truth.worst_case, tokens };
    if let Some(refusal) = book.refusal(sleep.request, worst_case, sleep.at) {
        return Some(format!("is not affordable: {}", refusal.sentence()));
    }
    if sleep.amount != truth.worst_case {
        return Some(format!("can cost ${}, not the quoted ${}", truth.worst_case, sleep.amount));
    }
    misjudged(book, sleep, page)
}

#[cfg(test)]
mod tests {
    use crate::gateway::{Command, Decision, Delivery};
    use crate::judge::Law;
    use crate::judge::play::*;
    use crate::policy::breaker::{State, Transition};
    use crate::policy::cooldown::Bench;
    use crate::policy::taxonomy::{Class, Hint, Scope};
    use crate::sim::What;
    use crate::units::{BreakerId, CredentialId, Money, RouteId, Timestamp};

    fn sleep(play: &mut Play<'_>, route: RouteId, until: Timestamp, amount: Money) {
        let (delay, hint) = (until.since(at(80)), MS(0));
        play.decide(Decision::RetryScheduled { request: R, at: until, delay, hint, route, amount });
    }

    /// Limited at 80 ms, sleeps until then.
    fn limited(hint: Hint, route: RouteId, until: u64) -> impl Fn(&mut Play<'_>) {
        move |play| {
            play.arrive(Delivery::Whole);
            let call = play.call(R, A);
            play.at(80).end_with(call, Some(Class::RateLimit), 0, hint);
            sleep(play, route, at(until), WORST.money);
        }
    }

    #[test]
    fn nobody_sleeps_until_the_deadline() {
        let says = "req/1 sleeps until 1200 ms, its deadline is 1200 ms";
        let (held, broken) = (limited(Hint::Absent, A, 1_199), limited(Hint::Absent, A, 1_200));
        check(Law::NoSleepPastDeadline, held, broken, says);
    }

    #[test]
    fn what_a_response_asked_for_is_a_floor_for_its_target_only() {
        let hint = Hint::After(MS(500));
        let says = "req/1 plans to call alpha at 579 ms, which asked to be left alone until 580 ms";
        check(Law::RetryAfterIsAFloor, limited(hint, A, 580), limited(hint, A, 579), says);
        let at_once = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole);
            let call = play.call(R, A);
            play.at(80).end_with(call, Some(Class::RateLimit), 0, hint);
            play.call(R, A);
        };
        check(Law::RetryAfterIsAFloor, limited(hint, A, 580), at_once, "req/1 calls alpha again at 80 ms");
        assert_eq!(played(limited(hint, B, 180)).laws.tally(Law::RetryAfterIsAFloor).exercised, 0);
    }

    /// Two sick routes each ask for a while; then one of them is called, and an operator may have freed it.
    fn asked_by_both(freed: Option<RouteId>, again: RouteId) -> impl Fn(&mut Play<'_>) {
        move |play| {
            play.arrive(Delivery::Whole);
            for (route, ms) in [(A, 500), (B, 300)] {
                let call = play.call(R, route);
                let asked = (Scope::Request, Hint::After(MS(ms)));
                play.at(80).end_for(call, Some(Class::Overload), 0, asked);
            }
            if let Some(route) = freed {
                play.say(What::Operated { command: Command::ResetBench(Bench::Route(route)) });
            }
            play.at(400);
            let (at, delay, hint, amount) = (at(500), MS(100), MS(0), WORST.money);
            play.decide(Decision::RetryScheduled { request: R, at, delay, hint, route: again, amount });
            play.at(500).call(R, again);
        }
    }

    #[test]
    fn each_route_has_its_own_floor_until_an_operator_frees_it() {
        let says = "req/1 plans to call alpha at 500 ms, which asked to be left alone until 580 ms";
        let held = limited(Hint::After(MS(500)), A, 580);
        check(Law::RetryAfterIsAFloor, held, asked_by_both(None, A), says);
        let breaches =
            |freed, again| played(asked_by_both(freed, again)).laws.tally(Law::RetryAfterIsAFloor).breaches;
        assert_eq!(breaches(None, B), 0, "beta asked for less");
        assert_eq!(breaches(Some(A), A), 0, "alpha is free");
        assert_eq!(breaches(Some(B), A), 2, "alpha is not");
    }

    #[test]
    fn nobody_sleeps_for_a_route_that_cannot_be_called_then() {
        let held = || limited(Hint::Absent, B, 180);
        let check = |broken: &dyn Fn(&mut Play<'_>), says| check(Law::SleepsHaveAQuote, held(), broken, says);
        check(&limited(Hint::Absent, FAR, 180), "for far, which is excluded: data_residency");
        check(
            &|play| {
                let what = Bench::Credential(CredentialId(1));
                play.decide(Decision::Benched { what, until: at(181), class: Class::RateLimit });
                limited(Hint::Absent, B, 180)(play);
            },
            "for beta, which is benched then",
        );
        let opened = |play: &mut Play<'_>| {
            let (from, to, until) = (State::Closed, State::Open, Some(at(181)));
            let transition = Transition { from, to, generation: 1, until };
            play.decide(Decision::BreakerMoved { breaker: BreakerId(1), transition });
            limited(Hint::Absent, B, 180)(play);
        };
        let says = "which has an OPEN breaker then";
        check_in(&undeclared(), Law::SleepsHaveAQuote, held(), opened, says);
        check(
            &|play| {
                play.arrive(Delivery::Whole);
                let call = play.call(R, A);
                play.at(80).end(call, Some(Class::Overload), 25);
                sleep(play, B, at(180), WORST.money);
            },
            "which is not affordable: the request would stand at $0.041 of $0.040",
        );
        check(
            &|play| {
                play.arrive(Delivery::Whole);
                for route in [A, B] {
                    let call = play.call(R, route);
                    play.at(80).end(call, Some(Class::Overload), 0);
                }
                sleep(play, B, at(180), WORST.money);
            },
            "which would be call 3 of 2",
        );
        check(
            &|play| {
                play.arrive(Delivery::Whole);
                let call = play.call(R, A);
                play.at(80).end(call, Some(Class::Overload), 0);
                sleep(play, B, at(180), Money::ZERO);
            },
            "which can cost $0.016, not the quoted $0.000",
        );
    }
}
