//! Laws about calls: how many, for whom, to which routes.

use super::fuses::would_blow_a_count;
use super::replies::Reply;
use super::{Begun, Ruling, told};
use crate::gateway::{Call, Failure, Role};
use crate::judge::book::{Book, CallPage, CallPhase, Fault, Phase, RequestPage};
use crate::policy::eligibility::{Reason, Reasons};
use crate::policy::ledger::Level;
use crate::policy::taxonomy::Class;
use crate::sim::Scripted;
use crate::units::{CallId, Timestamp};

pub(super) fn attempts_within_budget(book: &Book<'_>, begun: &Begun<'_>) -> Ruling {
    let (made, allowed) = (begun.page.map_or(0, |page| page.attempts), book.facts.limits.attempts_max);
    Ruling::unless((made >= allowed).then_some(move || {
        format!("{} makes call {} of {allowed}, to {}", who(book, begun), made + 1, route(book, begun))
    }))
}

pub(super) fn every_call_is_announced(book: &Book<'_>, begun: &Begun<'_>) -> Ruling {
    let is_announced = begun.announced.is_some_and(|page| {
        page.request == begun.request && page.route == begun.route && page.credential == begun.credential
    });
    let is_in_pool = begun.fact.is_some_and(|fact| fact.pool.contains(&begun.credential));
    if is_announced && is_in_pool {
        return Ruling::Held;
    }
    let key = book.credential_name(begun.credential);
    let fault = if is_announced { "which is not a key of it" } else { "which nobody announced" };
    Ruling::broken(move || format!("{} calls {} with {key}, {fault}", who(book, begun), route(book, begun)))
}

/// A call is of the route that was just chosen, and is told by its true number and role.
pub(super) fn is_as_chosen(book: &Book<'_>, at: Timestamp, call: &Call) -> Ruling {
    let Some(page) = book.request(call.request) else {
        return Ruling::broken(|| "a request that never arrived makes a call".to_owned());
    };
    let (next, role) = (page.attempts + 1, role(book, page, call));
    let is_of_its_breaker = book.route(call.route).is_some_and(|fact| fact.breaker == call.breaker);
    if page.choice == Some((call.route, at)) && call.nth == next && call.role == role && is_of_its_breaker {
        return Ruling::Held;
    }
    Ruling::broken(move || {
        let (who, route) = (book.name(page.name), book.route_name(call.route));
        match page.choice.filter(|choice| choice.1 == at) {
            None => format!("{who} calls {route}, and no look has chosen a route"),
            Some((chosen, _)) if chosen != call.route => {
                format!("{who} calls {route}, its look has chosen {}", book.route_name(chosen))
            }
            Some(_) if call.nth != next => format!("{who} calls its {next}th call number {}", call.nth),
            Some(_) if call.role != role => {
                format!("{who} calls {route} as {}, it is its {}", call.role.label(), role.label())
            }
            Some(_) => format!("{who} calls {route} through the breaker of another"),
        }
    })
}

/// Why a call is made, by the facts.
fn role(book: &Book<'_>, page: &RequestPage, call: &Call) -> Role {
    if book.approved(call.request).is_some() {
        Role::Approved
    } else if page.attempts == 0 {
        Role::Primary
    } else if page.legs > 0 {
        Role::Hedge
    } else if book.tried(call.request, call.route).begun == 0 {
        Role::Fallback
    } else {
        Role::Retry
    }
}

pub(super) fn no_call_after_reply(book: &Book<'_>, begun: &Begun<'_>) -> Ruling {
    let is_open = begun.page.is_some_and(|page| page.phase == Phase::Open);
    Ruling::unless((!is_open).then_some(move || {
        format!("{} has its answer and still calls {}", who(book, begun), route(book, begun))
    }))
}

/// The law is put to the test by every true terminal fault.
pub(super) fn meets_terminal(truth: Option<Class>) -> Ruling {
    if truth.is_some_and(Class::is_terminal) { Ruling::Held } else { Ruling::Silent }
}

pub(super) fn terminal_stops(book: &Book<'_>, begun: &Begun<'_>) -> Ruling {
    let Some(fault) = begun.page.and_then(|page| page.terminal) else {
        return Ruling::Silent;
    };
    let Some(why) = unapproved(book, begun, fault) else { return Ruling::Held };
    Ruling::broken(move || {
        format!(
            "{} calls {} after {} from {} at {} (entry {}){why}",
            who(book, begun),
            route(book, begun),
            fault.class.label(),
            book.route_name(fault.route),
            fault.at,
            fault.seq,
        )
    })
}

/// Whether a call after a terminal fault is approved.
pub(in crate::judge) fn is_approved(book: &Book<'_>, begun: &Begun<'_>, fault: Fault) -> bool {
    unapproved(book, begun, fault).is_none()
}

/// Why a call after a terminal fault is not approved, in words; `None` if it is.
pub(super) fn unapproved(book: &Book<'_>, begun: &Begun<'_>, fault: Fault) -> Option<String> {
    let Some(approval) = book.approved(begun.request) else { return Some(String::new()) };
    let on = approval.on.label();
    if approval.on != fault.class {
        return Some(told(|| format!(", for which nothing is approved: {on} is not that")));
    }
    if approval.route != begun.route {
        return Some(told(|| format!(", for which {} is approved", book.route_name(approval.route))));
    }
    if begun.page.is_some_and(|page| page.approved.is_some()) {
        return Some(told(|| ", for which one call is approved, and was made".to_owned()));
    }
    let account = book.approval_account(approval)?;
    let refusal = account.refusal(Level::Approval, begun.worst_case, begun.at)?;
    Some(told(|| format!(", for which too little is approved: {}", refusal.sentence())))
}

/// What is wrong with an end by a terminal fault: a route is approved after it, and could be called.
pub(super) fn overlooked(
    book: &Book<'_>,
    reply: &Reply,
    page: &RequestPage,
    fault: Failure,
) -> Option<String> {
    let approval = book.approved(reply.request).filter(|approval| approval.on == fault.class)?;
    let is_alone = page.legs == 0 && page.barred.is_none() && page.visible.is_none();
    let is_first = page.approved.is_none() && page.attempts < book.facts.limits.attempts_max;
    let could_be = is_alone
        && is_first
        && !would_blow_a_count(book, page)
        && book.is_usable(reply.request, approval.route, reply.at);
    let route = book.route_name(approval.route);
    could_be.then(|| told(|| format!("although {route} is approved then, and can be called")))
}

pub(super) fn eligible_only(book: &Book<'_>, begun: &Begun<'_>) -> Ruling {
    let reasons = forbidding(begun);
    Ruling::unless((!reasons.is_empty()).then_some(move || {
        let told = tell(book, begun, reasons);
        format!("{} calls {}, which is excluded: {told}", who(book, begun), route(book, begun))
    }))
}

/// What forbids a call: everything that excludes the route, and a worst case above the request's cap. (What
/// must stay affordable besides, for retries, forbids no call that is made.)
fn forbidding(begun: &Begun<'_>) -> Reasons {
    let fits = begun.page.is_some_and(|page| begun.truth.worst_case <= page.account.cap.money);
    if fits { begun.truth.reasons.without(Reason::RequestBudget) } else { begun.truth.reasons }
}

/// `data_residency, missing_capability:tools, request_budget:$0.064 of $0.050`.
fn tell(book: &Book<'_>, begun: &Begun<'_>, reasons: Reasons) -> String {
    let truth = begun.truth;
    let words: Vec<String> = reasons
        .iter()
        .map(|reason| match reason {
            Reason::MissingCapability => {
                let missing = truth.missing.and_then(|at| book.facts.capabilities.get(usize::from(at)));
                let name = missing.map_or("", |name| book.facts.names.text(*name));
                format!("{}:{name}", reason.label())
            }
            Reason::RequestBudget => {
                let cap = begun.page.map(|page| page.account.cap.money);
                let cap = cap.unwrap_or_default();
                format!("{}:${} of ${cap}", reason.label(), truth.worst_case)
            }
            Reason::DataResidency
            | Reason::ClassificationLimit
            | Reason::TaskType
            | Reason::ContractMismatch
            | Reason::DeploymentType
            | Reason::ContextLimit
            | Reason::OutputLimit => reason.label().to_owned(),
        })
        .collect();
    words.join(", ")
}

pub(super) fn script_respected(book: &Book<'_>, begun: &Begun<'_>) -> Ruling {
    match begun.scripted {
        Scripted::Foreseen => Ruling::Held,
        Scripted::Forbidden => Ruling::broken(move || {
            format!("{} calls {}, which the scenario forbids", who(book, begun), route(book, begun))
        }),
    }
}

pub(super) fn no_call_after_commit(book: &Book<'_>, begun: &Begun<'_>) -> Ruling {
    let Some((_, committed)) = begun.page.and_then(|page| page.committed) else {
        return Ruling::Silent;
    };
    Ruling::broken(move || {
        format!(
            "{} calls {} after output of {} was visible",
            who(book, begun),
            route(book, begun),
            book.route_name(committed)
        )
    })
}

/// A slot is not used again while its call is in flight.
pub(super) fn slot_is_free(book: &Book<'_>, call: CallId) -> Ruling {
    let flying = book.call(call).filter(|page| page.phase == CallPhase::Flying);
    flying.map_or(Ruling::Silent, |page| {
        Ruling::broken(move || {
            format!("the call of {} is not over and its slot is used again", book.name(page.name))
        })
    })
}

pub(super) fn is_in_flight(book: &Book<'_>, call: CallId) -> Ruling {
    let phase = book.call(call).map_or(CallPhase::Vacant, |page| page.phase);
    Ruling::unless((phase != CallPhase::Flying).then_some(move || {
        let whose = book.call(call).map_or_else(|| "nobody".to_owned(), |page| book.name(page.name));
        format!("a call of {whose} is heard of that is not in flight")
    }))
}

/// What to say of a call that never ended.
pub(super) fn never_ended(book: &Book<'_>, page: &CallPage) -> Option<String> {
    (page.phase == CallPhase::Flying).then(|| {
        format!("the call of {} to {} never ends", book.name(page.name), book.route_name(page.route))
    })
}

fn who(book: &Book<'_>, begun: &Begun<'_>) -> String {
    book.request_name(begun.request)
}

fn route<'a>(book: &'a Book<'_>, begun: &Begun<'_>) -> &'a str {
    book.route_name(begun.route)
}

#[cfg(test)]
mod tests {
    use crate::gateway::{Delivery, Outcome};
    use crate::judge::Law;
    use crate::judge::play::*;
    use crate::policy::taxonomy::Class;
    use crate::sim::Scripted;

    /// Two calls, one after the other.
    fn retried(play: &mut Play<'_>, first: Class) {
        play.arrive(Delivery::Whole);
        let call = play.call(R, A);
        play.at(80).end(call, Some(first), 0);
        let call = play.call(R, B);
        play.at(500).end(call, None, 16).reply(R, Outcome::Answered { route: B }).close(R);
    }

    #[test]
    fn a_third_call_of_two_breaks_the_attempt_budget() {
        let broken = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole);
            for _ in 0..3 {
                let call = play.call(R, A);
                play.end(call, Some(Class::Overload), 0);
            }
        };
        check(Law::AttemptsWithinBudget, |p| retried(p, Class::Overload), broken, "req/1 makes call 3 of 2");
    }

    #[test]
    fn a_call_that_nobody_announced_is_told() {
        let broken = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole);
            play.smuggle(R, A);
        };
        check(Law::EveryCallIsAnnounced, answered, broken, "calls alpha with alpha, which nobody announced");
    }

    #[test]
    fn a_call_that_ends_twice_or_never_is_told() {
        let twice = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole);
            let call = play.call(R, A);
            play.end(call, None, 16).end(call, None, 16);
        };
        check(Law::EachCallEndsOnce, answered, twice, "that is not in flight");
        let never = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole);
            play.call(R, A);
        };
        check(Law::EachCallEndsOnce, answered, never, "the call of req/1 to alpha never ends");
    }

    #[test]
    fn a_call_after_the_reply_is_told() {
        let broken = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole).reply(R, Outcome::NoEligibleRoute);
            play.call(R, A);
        };
        check(Law::NoCallAfterReply, answered, broken, "req/1 has its answer and still calls alpha");
    }

    #[test]
    fn after_a_true_terminal_fault_no_route_is_called() {
        let held = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole);
            let call = play.call(R, A);
            play.at(80).end(call, Some(Class::Auth), 0);
            play.reply(R, Outcome::Terminal { last: failure(Class::Auth) }).close(R);
        };
        let says = "req/1 calls beta after funds from alpha at 80 ms";
        check(Law::TerminalStops, held, |p| retried(p, Class::Funds), says);
    }

    #[test]
    fn a_call_to_an_excluded_route_names_every_reason() {
        let broken = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole);
            play.call(R, FAR);
        };
        let says = "req/1 calls far, which is excluded: data_residency, classification_limit, \
                    missing_capability:tools, request_budget:$0.160 of $0.040";
        check(Law::EligibleOnly, answered, broken, says);
    }

    #[test]
    fn a_call_that_the_script_forbids_is_told() {
        let broken = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole);
            let call = play.call(R, A);
            play.end(call, Some(Class::Overload), 0);
            play.begin(call, Scripted::Forbidden);
        };
        check(Law::ScriptRespected, answered, broken, "calls alpha, which the scenario forbids");
    }
}
