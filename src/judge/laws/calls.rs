//! Laws about calls: how many, for whom, to which routes.

use super::{Begun, Ruling};
use crate::gateway::Call;
use crate::judge::book::{Book, CallPage, CallPhase, Phase};
use crate::policy::eligibility::{Reason, Reasons};
use crate::policy::taxonomy::Class;
use crate::sim::Scripted;
use crate::units::CallId;

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

/// A call is numbered by the calls that the request truly made.
pub(super) fn is_numbered(book: &Book<'_>, call: &Call) -> Ruling {
    let next = book.request(call.request).map_or(0, |page| page.attempts + 1);
    Ruling::unless((call.nth != next).then_some(move || {
        format!("{} calls its {}th call number {}", book.request_name(call.request), next, call.nth)
    }))
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
    Ruling::broken(move || {
        format!(
            "{} calls {} after {} from {} at {} (entry {})",
            who(book, begun),
            route(book, begun),
            fault.class.label(),
            book.route_name(fault.route),
            fault.at,
            fault.seq,
        )
    })
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
