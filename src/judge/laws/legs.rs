//! Laws about calls in flight: how many at once, which of them wins, and what an optional one must not do.

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
        HedgeSkip::Fuse => {
            let of_task = book.task(&page.payer).map_or(0, |task| task.calls);
            limits.calls_per_task.is_some_and(|most| of_task >= most)
                || limits.calls_per_run.is_some_and(|most| book.run.calls >= most)
        }
        HedgeSkip::Money => eligible.any(|route| book.refusal(id, book.worst_case(id, route), at).is_some()),
        HedgeSkip::Slot => book.is_full_for(&page.payer) || eligible.any(|route| book.is_full(route)),
        HedgeSkip::Route => {
            let is_tried = |route| book.tried(id, route).begun >= limits.calls_per_route_max;
            eligible.all(|route| is_tried(route) || book.is_on(page, route) || !book.is_usable(id, route, at))
        }
    };
    Ruling::unless((!is_true).then_some(move || {
        format!("{} starts no other leg because of {}, which is not true", book.request_name(id), why.label())
    }))
}

/// A request waits for a slot only if there is none.
pub(super) fn waits_for_a_slot(book: &Book<'_>, id: RequestId) -> Ruling {
    let Some(page) = book.request(id) else { return Ruling::Silent };
    let mut eligible = book.routes().filter(|route| book.truth(id, *route).reasons.is_empty());
    let is_true = book.is_full_for(&page.payer) || eligible.any(|route| book.is_full(route));
    Ruling::unless((!is_true).then_some(move || {
        format!("{} waits for a slot while there is a free one on every route", book.request_name(id))
    }))
}
