//! Laws about calls in flight: how many at once, which of them wins, and what an optional one must not do.

use super::fuses::would_blow;
use super::replies::Reply;
use super::{Begun, Ruling};
use crate::gateway::{HedgeSkip, Outcome, SideEffect};
use crate::judge::book::{Book, Leg, Phase};
use crate::units::{CallId, RequestId, Timestamp};

pub(super) fn legs_within_limit(book: &Book<'_>, begun: &Begun<'_>) -> Ruling {
    let (limits, page) = (&book.facts.limits, begun.page);
    let legs = page.map_or(0, |page| page.legs);
    let is_full = page.is_some_and(|page| book.is_full_for(&page.payer));
    if legs < limits.legs_max && !book.is_full(begun.route) && !is_full {
        return Ruling::Held;
    }
    Ruling::broken(move || {
        let payer = page.map(|page| page.payer).unwrap_or_default();
        let task = book.task(&payer);
        let of_all = [
            (legs, limits.legs_max, ""),
            (book.legs_on(begun.route), limits.route_legs_max, " of its route"),
            (task.map_or(0, |task| task.legs), limits.task_legs_max, " of its task"),
            (book.legs_for_tenant(&payer), limits.tenant_legs_max, " of its tenant"),
        ];
        let (taken, allowed, whose) = of_all.into_iter().find(|(n, most, _)| n >= most).unwrap_or_default();
        let (who, route) = (book.request_name(begun.request), book.route_name(begun.route));
        if whose.is_empty() {
            format!("{who} has {} calls in flight of {allowed}, with {route}", taken + 1)
        } else {
            format!("{who} calls {route}: call {}{whose} in flight of {allowed}", taken + 1)
        }
    })
}

pub(super) fn no_hedge_of_side_effects(book: &Book<'_>, begun: &Begun<'_>) -> Ruling {
    let Some(page) = begun.page.filter(|page| page.effect == SideEffect::Some) else { return Ruling::Silent };
    Ruling::unless((page.legs > 0).then_some(move || {
        let (who, route) = (book.name(page.name), book.route_name(begun.route));
        format!("{who} has side effects and calls {route} beside a call in flight")
    }))
}

/// The reply is the first valid answer; once there is one, no other reply is right.
pub(super) fn earliest_answer_wins(book: &Book<'_>, reply: &Reply) -> Ruling {
    let Some(first) = book.request(reply.request).and_then(|page| page.answer) else { return Ruling::Silent };
    let told = match reply.outcome {
        Outcome::Answered { route } => Some(route),
        Outcome::Truncated { .. }
        | Outcome::Terminal { .. }
        | Outcome::Exhausted { .. }
        | Outcome::BudgetExceeded { .. }
        | Outcome::AllGated { .. }
        | Outcome::NoCandidate { .. }
        | Outcome::NoEligibleRoute
        | Outcome::DeadlineExceeded { .. }
        | Outcome::Stopped { .. }
        | Outcome::Abandoned => None,
    };
    if told == Some(first.route) && reply.at == first.at {
        return Ruling::Held;
    }
    Ruling::broken(move || {
        let by = told.map_or_else(String::new, |route| format!(" by {}", book.route_name(route)));
        format!(
            "{} is {}{by} at {}, the first answer was that of {} at {}",
            book.request_name(reply.request),
            reply.outcome.label(),
            reply.at,
            book.route_name(first.route),
            first.at
        )
    })
}

/// A call that is still wanted belongs to a request that still waits, and to the stream that it sees.
pub(super) fn is_not_left_running(book: &Book<'_>, call: CallId) -> Ruling {
    let Some(page) = book.call(call).filter(|page| page.is_wanted()) else { return Ruling::Silent };
    let Some(request) = book.request_of(page) else { return Ruling::Silent };
    let is_beside = request.committed.is_some_and(|(other, _)| other != call);
    let is_left = request.phase != Phase::Open || is_beside;
    Ruling::unless(is_left.then_some(move || {
        let (who, route) = (book.name(page.name), book.route_name(page.route));
        format!("{who} has its answer and nobody stopped its call to {route}")
    }))
}

/// While another leg is in flight a request ends only by an answer, by its caller or its time, or by what a call
/// that it needed met.
pub(super) fn optional_legs_harm_nothing(book: &Book<'_>, reply: &Reply) -> Ruling {
    let Some(page) = book.request(reply.request).filter(|page| page.hedges > 0) else {
        return Ruling::Silent;
    };
    let is_right = match reply.outcome {
        Outcome::Answered { .. }
        | Outcome::Truncated { .. }
        | Outcome::DeadlineExceeded { .. }
        | Outcome::Abandoned => true,
        Outcome::Terminal { .. } | Outcome::Stopped { .. } => {
            page.stop.is_some() || page.last.is_some_and(|fault| fault.leg == Leg::Needed)
        }
        Outcome::Exhausted { .. }
        | Outcome::BudgetExceeded { .. }
        | Outcome::AllGated { .. }
        | Outcome::NoCandidate { .. }
        | Outcome::NoEligibleRoute => false,
    };
    Ruling::unless((page.legs > 0 && !is_right).then_some(move || {
        format!(
            "{} is answered {} while {} of its calls are in flight",
            book.name(page.name),
            reply.outcome.label(),
            page.legs
        )
    }))
}

/// A hedge is skipped for a reason that is true.
pub(super) fn skips_a_hedge(book: &Book<'_>, at: Timestamp, id: RequestId, why: HedgeSkip) -> Ruling {
    let Some(page) = book.request(id) else { return Ruling::Silent };
    let limits = &book.facts.limits;
    let mut eligible = book.routes().filter(|route| book.truth(id, *route).reasons.is_empty());
    let is_true = match why {
        HedgeSkip::Attempts => page.attempts >= limits.attempts_max,
        HedgeSkip::Fuse => would_blow(book, page),
        HedgeSkip::Money => eligible.any(|route| book.refusal(id, book.worst_case(id, route), at).is_some()),
        HedgeSkip::Slot => book.is_full_for(&page.payer) || eligible.any(|route| book.is_full(route)),
        HedgeSkip::Route => eligible.all(|route| {
            !book.is_unspent(id, route) || book.is_on(page, route) || !book.is_usable(id, route, at)
        }),
    };
    Ruling::unless((!is_true).then_some(move || {
        format!("{} starts no other leg because of {}, which is not true", book.request_name(id), why.label())
    }))
}

/// A request waits for a slot only if there is none.
pub(super) fn waits_for_a_slot(book: &Book<'_>, id: RequestId, waiting: u32) -> Ruling {
    let Some(page) = book.request(id) else { return Ruling::Silent };
    let truth = book.run.waiting + 1;
    if waiting != truth {
        return Ruling::broken(move || {
            let who = book.request_name(id);
            format!(
                "{who} is said to be number {waiting} of those that wait for a slot, it is number {truth}"
            )
        });
    }
    let mut eligible = book.routes().filter(|route| book.truth(id, *route).reasons.is_empty());
    let is_true = book.is_full_for(&page.payer) || eligible.any(|route| book.is_full(route));
    Ruling::unless((!is_true).then_some(move || {
        format!("{} waits for a slot while there is a free one on every route", book.request_name(id))
    }))
}

#[cfg(test)]
mod tests {
    use crate::gateway::{Decision, Delivery, HedgeSkip, Outcome, SideEffect};
    use crate::judge::Law;
    use crate::judge::play::*;
    use crate::policy::taxonomy::Class;
    use crate::sim::Catalog;
    use crate::units::RequestId;

    fn two_legs() -> Catalog {
        let mut catalog = catalog();
        catalog.limits.legs_max = 2;
        catalog
    }

    fn check_legs(law: Law, broken: impl Fn(&mut Play<'_>), says: &str) {
        check_in(&two_legs(), law, hedged, broken, says);
    }

    /// Alpha is slow, beta answers beside it at 700 ms, alpha is cancelled then and billed at 900 ms.
    fn hedged(play: &mut Play<'_>) {
        play.arrive(Delivery::Whole);
        let slow = play.call(R, A);
        let quick = play.at(200).call(R, B);
        play.at(700).end(quick, None, 16).reply(R, Outcome::Answered { route: B }).cancel(slow);
        play.at(900).end(slow, Some(Class::Cancelled), 16).close(R);
    }

    /// Two calls at once for two requests.
    fn beside(second: fn(&mut Play<'_>)) -> impl Fn(&mut Play<'_>) {
        move |play| {
            play.arrive(Delivery::Whole);
            play.call(R, A);
            second(play);
        }
    }

    #[test]
    fn two_calls_at_once_break_a_limit_of_one() {
        let broken = beside(|play| {
            play.call(R, B);
        });
        check(Law::LegsWithinLimit, answered, broken, "req/1 has 2 calls in flight of 1, with beta");
    }

    #[test]
    fn a_route_and_a_tenant_have_their_own_limits() {
        let other = |play: &mut Play<'_>| {
            play.arrive_with(RequestId(1), envelope(), Delivery::Whole).call(RequestId(1), A);
        };
        let mut on_route = catalog();
        on_route.limits.route_legs_max = 1;
        let says = "req/2 calls alpha: call 2 of its route in flight of 1";
        check_in(&on_route, Law::LegsWithinLimit, answered, beside(other), says);
        let mut for_tenant = catalog();
        for_tenant.limits.tenant_legs_max = 1;
        let says = "req/2 calls alpha: call 2 of its tenant in flight of 1";
        check_in(&for_tenant, Law::LegsWithinLimit, answered, beside(other), says);
    }

    #[test]
    fn a_slot_is_free_at_the_receipt_and_not_at_the_cancel() {
        let mut catalog = two_legs();
        catalog.limits.route_legs_max = 1;
        let again = |free: u64| {
            move |play: &mut Play<'_>| {
                play.arrive(Delivery::Whole);
                let call = play.call(R, A);
                play.at(100).cancel(call);
                if free > 0 {
                    play.at(free).end(call, Some(Class::Cancelled), 0);
                }
                play.call(R, A);
            }
        };
        let says = "call 2 of its route in flight of 1";
        check_in(&catalog, Law::LegsWithinLimit, again(200), again(0), says);
    }

    #[test]
    fn what_has_side_effects_is_never_hedged() {
        let twice = |beside: u64| {
            move |play: &mut Play<'_>| {
                play.arrive_as(R, |request| request.effect = SideEffect::Some);
                let call = play.call(R, A);
                if beside == 0 {
                    play.at(80).end(call, Some(Class::Overload), 0);
                }
                play.call(R, B);
            }
        };
        let says = "req/1 has side effects and calls beta beside a call in flight";
        check_in(&two_legs(), Law::NoHedgeOfSideEffects, twice(0), twice(1), says);
    }

    #[test]
    fn the_earliest_valid_answer_is_the_reply() {
        let late = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole);
            let slow = play.call(R, A);
            let quick = play.at(200).call(R, B);
            play.at(700).end(quick, None, 16);
            play.at(900).end(slow, None, 16).reply(R, Outcome::Answered { route: A });
        };
        let says = "req/1 is answered by alpha at 900 ms, the first answer was that of beta at 700 ms";
        check_legs(Law::EarliestAnswerWins, late, says);
        let refused = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole);
            let call = play.call(R, A);
            play.at(700).end(call, None, 16).reply(R, Outcome::NoEligibleRoute);
        };
        check_legs(Law::EarliestAnswerWins, refused, "req/1 is no_eligible_route at 700 ms");
        let left_running = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole);
            let slow = play.call(R, A);
            let quick = play.at(200).call(R, B);
            play.at(700).end(quick, None, 16).reply(R, Outcome::Answered { route: B });
            play.at(900).end(slow, None, 16);
        };
        let says = "req/1 has its answer and nobody stopped its call to alpha";
        check_legs(Law::EarliestAnswerWins, left_running, says);
    }

    #[test]
    fn an_optional_leg_that_fails_ends_nothing_but_itself() {
        let refused = |class: Class, optional: u64| {
            move |play: &mut Play<'_>| {
                play.arrive(Delivery::Whole);
                let first = play.call(R, A);
                let second = play.at(200).call(R, B);
                play.at(300).end(if optional == 1 { second } else { first }, Some(class), 0);
                play.reply(R, Outcome::Terminal { last: failure(class) });
            }
        };
        let says = "req/1 is answered terminal while 1 of its calls are in flight";
        check_legs(Law::OptionalLegsHarmNothing, refused(Class::Auth, 1), says);
        let policy = refused(Class::PolicyRefusal, 1);
        check_in(&two_legs(), Law::OptionalLegsHarmNothing, policy, refused(Class::Funds, 1), says);
        check_in(
            &two_legs(),
            Law::OptionalLegsHarmNothing,
            refused(Class::Auth, 0),
            refused(Class::Auth, 1),
            says,
        );
    }

    #[test]
    fn a_terminal_fault_of_an_optional_leg_lets_the_others_answer_and_no_new_one_begin() {
        let answered_after = |class: Class| {
            move |play: &mut Play<'_>| {
                play.arrive(Delivery::Whole);
                let first = play.call(R, A);
                let second = play.at(200).call(R, B);
                play.at(300).end(second, Some(class), 0);
                play.at(400).end(first, None, 16).reply(R, Outcome::Answered { route: A }).close(R);
            }
        };
        let says = "req/1 met policy_refusal on beta and is answered answered";
        let broken = answered_after(Class::PolicyRefusal);
        check_in(&two_legs(), Law::TerminalKeepsItsName, answered_after(Class::Auth), broken, says);
    }

    /// Which leg was optional is told by the facts: the one that began beside another, on whatever route it is, and
    /// whatever the gateway calls it.
    #[test]
    fn a_fallback_is_needed_and_a_hedge_on_the_first_route_is_not() {
        let met_by = |fallback: u64| {
            move |play: &mut Play<'_>| {
                play.arrive(Delivery::Whole);
                let first = play.call(R, A);
                play.at(80).end(first, Some(Class::Overload), 0);
                let (needed, beside) = (play.call(R, B), play.at(200).call(R, A));
                let (refused, route, answers) =
                    if fallback == 1 { (needed, A, beside) } else { (beside, B, needed) };
                play.at(300).end(refused, Some(Class::Auth), 0);
                play.at(400).end(answers, None, 16).reply(R, Outcome::Answered { route }).close(R);
            }
        };
        let says = "req/1 met auth on beta and is answered answered";
        check_in(&two_legs(), Law::TerminalKeepsItsName, met_by(0), met_by(1), says);
        let ends = |fallback: u64| {
            move |play: &mut Play<'_>| {
                play.arrive(Delivery::Whole);
                let first = play.call(R, A);
                play.at(80).end(first, Some(Class::Overload), 0);
                let (needed, beside) = (play.call(R, B), play.at(200).call(R, A));
                let refused = if fallback == 1 { needed } else { beside };
                play.at(300).end(refused, Some(Class::Auth), 0);
                play.reply(R, Outcome::Terminal { last: failure(Class::Auth) });
            }
        };
        let says = "req/1 is answered terminal while 1 of its calls are in flight";
        check_in(&two_legs(), Law::OptionalLegsHarmNothing, ends(1), ends(0), says);
    }

    #[test]
    fn a_hedge_is_skipped_and_a_request_waits_only_for_a_true_reason() {
        let skipped = |why: HedgeSkip| {
            move |play: &mut Play<'_>| {
                play.arrive(Delivery::Whole);
                let call = play.call(R, A);
                play.at(80).end(call, Some(Class::Overload), 0);
                play.call(R, A);
                play.decide(Decision::HedgeSkipped { request: R, why });
            }
        };
        for wrong in [HedgeSkip::Money, HedgeSkip::Slot, HedgeSkip::Fuse, HedgeSkip::Route] {
            let says = format!("req/1 starts no other leg because of {}, which is not true", wrong.label());
            check_in(&two_legs(), Law::TrueReasons, skipped(HedgeSkip::Attempts), skipped(wrong), &says);
        }
        let queued = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole).decide(Decision::Queued { request: R, waiting: 1 });
        };
        let says = "req/1 waits for a slot while there is a free one on every route";
        check_in(&two_legs(), Law::TrueReasons, skipped(HedgeSkip::Attempts), queued, says);
    }
}
