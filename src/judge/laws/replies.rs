//! Laws about the reply, and about what the caller sees.

use super::calls::overlooked;
use super::fuses::is_stopped;
use super::openings::{hurried, opens_otherwise};
use super::{Ruling, told};
use crate::gateway::{Delivery, Failure, Limit, Outcome, StopReason};
use crate::judge::book::{Book, Phase, RequestPage};
use crate::policy::taxonomy::{Class, Remedy};
use crate::units::{CallId, Duration, RequestId, RouteId, Timestamp};

/// A reply.
#[derive(Clone, Copy)]
pub(in crate::judge) struct Reply {
    pub(in crate::judge) request: RequestId,
    pub(in crate::judge) outcome: Outcome,
    pub(in crate::judge) attempts: u32,
    pub(in crate::judge) left: Duration,
    pub(in crate::judge) at: Timestamp,
}

/// A request's slot is used again only after it is closed.
pub(super) fn slot_is_free(book: &Book<'_>, id: RequestId) -> Ruling {
    let in_use = book.request(id).filter(|page| page.phase != Phase::Closed);
    in_use.map_or(Ruling::Silent, |_| {
        Ruling::broken(move || {
            format!("{} is not closed and another request arrives in its slot", book.request_name(id))
        })
    })
}

pub(super) fn is_open(book: &Book<'_>, reply: &Reply) -> Ruling {
    let is_open = book.request(reply.request).is_some_and(|page| page.phase == Phase::Open);
    Ruling::unless(
        (!is_open).then_some(move || format!("{} is answered again", book.request_name(reply.request))),
    )
}

pub(super) fn closes_last(book: &Book<'_>, id: RequestId) -> Ruling {
    let who = || book.request_name(id);
    let Some(page) = book.request(id) else { return Ruling::broken(move || format!("{} is closed", who())) };
    match page.phase {
        Phase::Open => Ruling::broken(move || format!("{} is closed before it is answered", who())),
        Phase::Closed => Ruling::broken(move || format!("{} is closed again", who())),
        Phase::Replied => Ruling::unless((page.unsettled > 0).then_some(move || {
            format!("{} is closed with {} bills neither in nor given up", who(), page.unsettled)
        })),
    }
}

/// What to say of a request that was never closed.
pub(super) fn never_closed(book: &Book<'_>, page: &RequestPage) -> Option<String> {
    match page.phase {
        Phase::Open => Some(format!("{} is never answered", book.name(page.name))),
        Phase::Replied => Some(format!("{} is never closed", book.name(page.name))),
        Phase::Closed => None,
    }
}

pub(super) fn reply_within_deadline(book: &Book<'_>, reply: &Reply) -> Ruling {
    let deadline = book.request(reply.request).map_or(Timestamp::ZERO, |page| page.deadline);
    Ruling::unless((reply.at > deadline).then_some(move || {
        format!(
            "{} is answered at {}, its deadline was {deadline}",
            book.request_name(reply.request),
            reply.at
        )
    }))
}

pub(super) fn terminal_keeps_its_name(book: &Book<'_>, reply: &Reply) -> Ruling {
    let Some(page) = book.request(reply.request) else { return Ruling::Silent };
    let Some(fault) = page.stop.or(page.terminal) else { return Ruling::Silent };
    let others_may_end = page.stop.is_none() || page.approved.is_some();
    let by_approval = page.last.filter(|_| page.approved.is_some());
    let met = [page.stop, page.terminal, by_approval];
    let is_met = |class: Class| met.iter().flatten().any(|met| met.class == class);
    let names_it = match reply.outcome {
        Outcome::Terminal { last } => is_met(last.class),
        Outcome::Truncated { last, .. } => others_may_end || is_met(last.class),
        Outcome::Stopped { reason, .. } => reason.fault().is_some_and(|failure| is_met(failure.class)),
        Outcome::Abandoned => page.abandoned.is_some(),
        Outcome::Answered { .. } | Outcome::DeadlineExceeded { .. } => others_may_end,
        Outcome::Exhausted { .. }
        | Outcome::BudgetExceeded { .. }
        | Outcome::AllGated { .. }
        | Outcome::NoCandidate { .. }
        | Outcome::NoEligibleRoute => false,
    };
    Ruling::unless((!names_it).then_some(move || {
        let (who, what) = (book.request_name(reply.request), reply.outcome.label());
        format!(
            "{who} met {} on {} and is answered {what}",
            fault.class.label(),
            book.route_name(fault.route)
        )
    }))
}

pub(super) fn commits_once(book: &Book<'_>, id: RequestId, call: CallId) -> Ruling {
    let who = || book.request_name(id);
    let Some(page) = book.request(id) else { return Ruling::broken(move || format!("{} commits", who())) };
    let of_this = book.call(call).filter(|c| c.request == id && c.serial == page.serial);
    match (of_this, page.committed) {
        (_, Some((_, route))) => Ruling::broken(move || {
            format!("{} commits again, after output of {}", who(), book.route_name(route))
        }),
        (None, None) => Ruling::broken(move || format!("{} commits to a call that is not its own", who())),
        (Some(leg), None) => Ruling::unless(leg.visible.is_none().then_some(move || {
            format!("{} commits to {}, whose output nobody saw", who(), book.route_name(leg.route))
        })),
    }
}

pub(super) fn shows_one_call(book: &Book<'_>, call: CallId) -> Ruling {
    let Some(page) = book.call(call) else { return Ruling::Silent };
    let committed = book.request_of(page).and_then(|request| request.committed);
    match committed {
        Some((other, route)) if other != call && page.is_wanted() => Ruling::broken(move || {
            format!(
                "{} sees output of {} after output of {}",
                book.name(page.name),
                book.route_name(page.route),
                book.route_name(route)
            )
        }),
        Some(_) | None => Ruling::Silent,
    }
}

pub(super) fn replies_what_was_seen(book: &Book<'_>, reply: &Reply) -> Ruling {
    let Some(page) = book.request(reply.request) else { return Ruling::Silent };
    let was_seen = page.visible.is_some() && page.delivery == Delivery::Stream;
    let Some((_, committed)) = page.committed else {
        return if was_seen {
            let who = book.request_name(reply.request);
            Ruling::broken(move || format!("output of {who} was visible and nothing was committed"))
        } else {
            Ruling::Silent
        };
    };
    let answered = match reply.outcome {
        Outcome::Answered { route } | Outcome::Truncated { route, .. } => Some(route),
        Outcome::Terminal { .. }
        | Outcome::Exhausted { .. }
        | Outcome::BudgetExceeded { .. }
        | Outcome::AllGated { .. }
        | Outcome::NoCandidate { .. }
        | Outcome::NoEligibleRoute
        | Outcome::DeadlineExceeded { .. }
        | Outcome::Stopped { .. }
        | Outcome::Abandoned => None,
    };
    Ruling::unless(answered.filter(|route| *route != committed).map(|route| {
        move || {
            let (seen, told) = (book.route_name(committed), book.route_name(route));
            format!("{} saw output of {seen} and is answered by {told}", book.request_name(reply.request))
        }
    }))
}

pub(super) fn outcome_is_true(book: &Book<'_>, reply: &Reply) -> Ruling {
    let Some(page) = book.request(reply.request) else {
        return Ruling::broken(move || "a request that never arrived is answered".to_owned());
    };
    let left = page.deadline.since(reply.at);
    let fault = if reply.attempts != page.attempts {
        Some(told(|| format!("after {} calls, it made {}", reply.attempts, page.attempts)))
    } else if reply.left != left {
        Some(told(|| format!("with {} left, it has {left}", reply.left)))
    } else {
        untruth(book, reply, page)
    };
    Ruling::unless(fault.map(|fault| {
        move || format!("{} is answered {} {fault}", book.request_name(reply.request), reply.outcome.label())
    }))
}

/// What is wrong with an outcome.
fn untruth(book: &Book<'_>, reply: &Reply, page: &RequestPage) -> Option<String> {
    match reply.outcome {
        Outcome::Answered { route } => (book.tried(reply.request, route).answered == 0)
            .then(|| told(|| format!("by {}, which gave no valid answer", book.route_name(route)))),
        Outcome::Truncated { route, last } => {
            let seen = page.committed.map(|(_, route)| route);
            let by_deadline = last.class == Class::Deadline && reply.at >= page.deadline;
            match seen {
                Some(seen) if seen == route && by_deadline && last.code.is_none() => None,
                Some(seen) if seen == route => misnamed(book, page, Some(last)),
                Some(_) | None => Some(not_seen(book, route)),
            }
        }
        Outcome::Terminal { last } => {
            let met = [page.last, page.terminal, page.stop, page.barred];
            if !met.iter().flatten().any(|fault| fault.is_named(last)) {
                return misnamed(book, page, Some(last));
            }
            let goes_on = !stops(book, last);
            let flaw = goes_on
                .then(|| told(|| format!("with {}, after which the policy goes on", last.class.label())));
            flaw.or_else(|| overlooked(book, reply, page, last))
        }
        Outcome::Exhausted { limit: Limit::Attempts, .. }
            if page.attempts < book.facts.limits.attempts_max =>
        {
            Some(told(|| format!("after {} of {} calls", page.attempts, book.facts.limits.attempts_max)))
        }
        Outcome::Exhausted { limit, last } => {
            unreached(book, reply, page, limit).or_else(|| unstopped(book, page, Some(last)))
        }
        Outcome::BudgetExceeded { level, last } => {
            let is_refused = book.routes().any(|route| {
                book.truth(reply.request, route).reasons.is_empty() && {
                    let worst_case = book.worst_case(reply.request, route);
                    book.refusal(reply.request, worst_case, reply.at).is_some_and(|r| r.level == level)
                }
            });
            if is_refused {
                unstopped(book, page, last)
            } else {
                Some(told(|| format!("although no cap of the {} refuses a call", level.label())))
            }
        }
        Outcome::Stopped { reason, .. } if !is_stopped(book, reply.request, reason) => {
            Some(told(|| format!("by the fuse {}, which is not blown", reason.fuse().label())))
        }
        Outcome::AllGated { retry_at, last } | Outcome::NoCandidate { retry_at, last } => {
            let opens_otherwise = opens_otherwise(book, reply, page, retry_at);
            let flaw = opens_otherwise.or_else(|| hurried(book, reply, page, retry_at));
            flaw.or_else(|| unstopped(book, page, last))
        }
        Outcome::Stopped { reason: StopReason::Terminal(fault), last } => {
            overlooked(book, reply, page, fault).or_else(|| misnamed(book, page, last))
        }
        Outcome::Stopped { last, .. } => misnamed(book, page, last),
        Outcome::NoEligibleRoute => None,
        Outcome::DeadlineExceeded { .. } if reply.at < page.deadline => {
            Some(told(|| format!("before its deadline at {}", page.deadline)))
        }
        Outcome::DeadlineExceeded { last } => misnamed(book, page, last),
        Outcome::Abandoned => {
            page.abandoned.is_none().then(|| "although its caller is still there".to_owned())
        }
    }
}

fn not_seen(book: &Book<'_>, route: RouteId) -> String {
    format!("from {}, whose output nobody saw", book.route_name(route))
}

/// What is wrong with the limit that a reply names: it is not reached.
fn unreached(book: &Book<'_>, reply: &Reply, page: &RequestPage, limit: Limit) -> Option<String> {
    let limits = &book.facts.limits;
    match limit {
        Limit::Attempts => None,
        Limit::Routes => {
            let is_left = |route: &RouteId| {
                book.truth(reply.request, *route).reasons.is_empty() && book.is_unspent(reply.request, *route)
            };
            let left = book.routes().find(is_left);
            left.map(|route| told(|| format!("on every route, {} is left", book.route_name(route))))
        }
        Limit::Time => (page.wait_refused != Some(reply.at))
            .then(|| told(|| "by the time, and it refused no wait".to_owned())),
        Limit::Seeks => (page.looks < limits.seeks_max)
            .then(|| told(|| format!("after {} looks of {}", page.looks, limits.seeks_max))),
    }
}

/// What is wrong with an end that would have come before: at its last failure, if the policy stops for that.
fn unstopped(book: &Book<'_>, page: &RequestPage, last: Option<Failure>) -> Option<String> {
    let stop = last.filter(|last| stops(book, *last));
    let stopped = stop.map(|last| told(|| format!("with {}, at which the policy stops", last.class.label())));
    stopped.or_else(|| misnamed(book, page, last))
}

/// Whether the policy stops a request for a failure.
fn stops(book: &Book<'_>, failure: Failure) -> bool {
    book.facts.machines.taxonomy.remedy(failure.class) == Remedy::Stop
}

/// What is wrong with the failure that a reply names: it is not the last true one.
fn misnamed(book: &Book<'_>, page: &RequestPage, last: Option<Failure>) -> Option<String> {
    let truth = page.last.map(|fault| fault.failure());
    (last != truth).then(|| {
        told(|| {
            let code = |failure: Failure| failure.code.map_or("no code", |code| book.facts.names.text(code));
            let is_of_one_class = last.map(|failure| failure.class) == truth.map(|failure| failure.class);
            let word = |failure: Option<Failure>| match failure {
                None => "no failure",
                Some(failure) if is_of_one_class => code(failure),
                Some(failure) => failure.class.label(),
            };
            format!("with {}, its last call met {}", word(last), word(truth))
        })
    })
}

#[cfg(test)]
mod tests {
    use crate::gateway::{Action, Delivery, Limit, Outcome};
    use crate::judge::Law;
    use crate::judge::play::*;
    use crate::policy::ledger::Level;
    use crate::policy::taxonomy::Class;
    use crate::sim::What;
    use crate::units::CallId;

    /// One call that fails, and this reply.
    fn failed(truth: Class, outcome: Outcome) -> impl Fn(&mut Play<'_>) {
        move |play| {
            play.arrive(Delivery::Whole);
            let call = play.call(R, A);
            play.at(80).end(call, Some(truth), 0).reply(R, outcome).close(R);
        }
    }

    #[test]
    fn a_request_is_answered_once_and_closed_once_at_the_last_bill() {
        let check =
            |broken: &dyn Fn(&mut Play<'_>), says| check(Law::OneReplyOneClose, answered, broken, says);
        let none = Outcome::NoEligibleRoute;
        check(
            &|p| {
                p.arrive(Delivery::Whole).reply(R, none).reply(R, none);
            },
            "req/1 is answered again",
        );
        check(
            &|p| {
                p.arrive(Delivery::Whole).close(R);
            },
            "req/1 is closed before it is answered",
        );
        check(
            &|p| {
                answered(p);
                p.close(R);
            },
            "req/1 is closed again",
        );
        check(
            &|p| {
                p.arrive(Delivery::Whole);
            },
            "req/1 is never answered",
        );
        check(
            &|p| {
                p.arrive(Delivery::Whole).reply(R, none);
            },
            "req/1 is never closed",
        );
        check(
            &|p| {
                p.arrive(Delivery::Whole).arrive(Delivery::Whole);
            },
            "another request arrives in its slot",
        );
        let unbilled = |p: &mut Play<'_>| {
            p.arrive(Delivery::Whole).call(R, A);
            p.reply(R, none).close(R);
        };
        check(&unbilled, "req/1 is closed with 1 bills neither in nor given up");
    }

    #[test]
    fn an_answer_at_exactly_the_deadline_is_in_time() {
        let replied = |ms: u64| {
            move |play: &mut Play<'_>| {
                play.arrive(Delivery::Whole).at(ms).reply(R, Outcome::DeadlineExceeded { last: None });
            }
        };
        let says = "req/1 is answered at 1200.000001 ms, its deadline was 1200 ms";
        let late = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole).just_after(1_200);
            play.reply(R, Outcome::DeadlineExceeded { last: None });
        };
        check(Law::ReplyWithinDeadline, replied(1_200), late, says);
    }

    #[test]
    fn a_bad_credential_is_not_called_busy() {
        let last = failure(Class::Auth);
        let held = failed(Class::Auth, Outcome::Terminal { last });
        let broken = failed(Class::Auth, Outcome::AllGated { retry_at: None, last: Some(last) });
        check(Law::TerminalKeepsItsName, held, broken, "req/1 met auth on alpha and is answered all_gated");
    }

    /// A stream whose output is visible at 100 ms.
    fn streamed(play: &mut Play<'_>) -> CallId {
        play.arrive(Delivery::Stream);
        let call = play.call(R, A);
        play.at(100).say(What::CallVisible { call });
        call
    }

    #[test]
    fn after_the_first_output_only_that_call_is_seen() {
        let held = |play: &mut Play<'_>| {
            let call = streamed(play);
            play.act(Action::Commit { request: R, call }).at(400).end(call, None, 16);
            play.reply(R, Outcome::Answered { route: A }).close(R);
        };
        let check = |broken: &dyn Fn(&mut Play<'_>), says| check(Law::OneStream, held, broken, says);
        let other = |play: &mut Play<'_>| {
            let call = streamed(play);
            play.act(Action::Commit { request: R, call }).call(R, B);
        };
        check(&other, "req/1 calls beta after output of alpha was visible");
        let spliced = |play: &mut Play<'_>| {
            play.arrive(Delivery::Stream);
            let (call, other) = (play.call(R, A), play.call(R, B));
            play.at(100).say(What::CallVisible { call }).act(Action::Commit { request: R, call });
            play.say(What::CallVisible { call: other });
        };
        check(&spliced, "req/1 sees output of beta after output of alpha");
        let blind = |play: &mut Play<'_>| {
            play.arrive(Delivery::Stream);
            let call = play.call(R, A);
            play.act(Action::Commit { request: R, call });
        };
        check(&blind, "req/1 commits to alpha, whose output nobody saw");
        let uncommitted = |play: &mut Play<'_>| {
            let call = streamed(play);
            play.end(call, None, 16).reply(R, Outcome::Answered { route: A });
        };
        check(&uncommitted, "output of req/1 was visible and nothing was committed");
        let swapped = |play: &mut Play<'_>| {
            let call = streamed(play);
            play.act(Action::Commit { request: R, call }).reply(R, Outcome::Answered { route: B });
        };
        check(&swapped, "req/1 saw output of alpha and is answered by beta");
    }

    #[test]
    fn a_reply_tells_what_happened() {
        let check = |broken: &dyn Fn(&mut Play<'_>), says| check(Law::OutcomeIsTrue, answered, broken, says);
        let overload = failure(Class::Overload);
        let refused = Outcome::Answered { route: A };
        check(&failed(Class::InvalidAnswer, refused), "answered by alpha, which gave no valid answer");
        let washed = Outcome::Terminal { last: overload };
        check(&failed(Class::Funds, washed), "terminal with overload, its last call met funds");
        let early = Outcome::Exhausted { limit: Limit::Attempts, last: overload };
        check(&failed(Class::Overload, early), "exhausted after 1 of 2 calls");
        let rich = Outcome::BudgetExceeded { level: Level::Task, last: Some(overload) };
        check(&failed(Class::Overload, rich), "although no cap of the task refuses a call");
        let hasty = Outcome::DeadlineExceeded { last: Some(overload) };
        check(&failed(Class::Overload, hasty), "deadline_exceeded before its deadline at 1200 ms");
        check(&failed(Class::Overload, Outcome::Abandoned), "abandoned although its caller is still there");
        let miscounted = |attempts: u32, left: u64| {
            move |play: &mut Play<'_>| {
                play.arrive(Delivery::Whole);
                let (outcome, left) = (Outcome::NoEligibleRoute, MS(left));
                play.act(Action::Reply { request: R, outcome, attempts, left });
            }
        };
        check(&miscounted(1, 1_200), "after 1 calls, it made 0");
        check(&miscounted(0, 1_000), "with 1000 ms left, it has 1200 ms");
    }

    #[test]
    fn a_true_refusal_by_a_cap_is_told_so() {
        let last = failure(Class::Overload);
        let held = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole);
            let call = play.call(R, A);
            play.at(80).end(call, Some(Class::Overload), 25);
            play.reply(R, Outcome::BudgetExceeded { level: Level::Request, last: Some(last) }).close(R);
        };
        let broken =
            failed(Class::Overload, Outcome::BudgetExceeded { level: Level::Request, last: Some(last) });
        check(Law::OutcomeIsTrue, held, broken, "although no cap of the request refuses a call");
    }
}
