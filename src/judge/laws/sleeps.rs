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

#[cfg(test)]
mod tests {
    use crate::gateway::{Decision, Delivery};
    use crate::judge::Law;
    use crate::judge::play::*;
    use crate::policy::breaker::{State, Transition};
    use crate::policy::cooldown::Bench;
    use crate::policy::taxonomy::{Class, Hint};
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
        check(
            &|play| {
                let (from, to, until) = (State::Closed, State::Open, Some(at(181)));
                let transition = Transition { from, to, generation: 1, until };
                play.decide(Decision::BreakerMoved { breaker: BreakerId(1), transition });
                limited(Hint::Absent, B, 180)(play);
            },
            "which has an OPEN breaker then",
        );
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
