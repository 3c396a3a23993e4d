//! Laws about evidence: reasons, refusals, causes.

use super::Ruling;
use super::replies::Reply;
use crate::gateway::{Candidate, Gate, Outcome, Verdict, WaitRefusal};
use crate::judge::book::{Access, Book};
use crate::policy::eligibility::{Reason, Reasons};
use crate::sim::{Entry, What};
use crate::units::{Duration, RequestId, RouteId, Timestamp};

/// A wait that was not slept.
#[derive(Clone, Copy)]
pub(super) struct RefusedWait {
    pub(super) request: RequestId,
    pub(super) wait: Duration,
    pub(super) left: Duration,
    pub(super) why: WaitRefusal,
}

pub(super) fn true_reasons(
    book: &Book<'_>,
    entry: &Entry<'_>,
    request: RequestId,
    candidates: &[Candidate],
) -> Ruling {
    let missed = (candidates.len() != book.facts.routes.len())
        .then(|| format!("{} of {} routes are considered", candidates.len(), book.facts.routes.len()));
    let flaw =
        missed.or_else(|| candidates.iter().find_map(|candidate| flaw(book, entry.at, request, candidate)));
    Ruling::unless(flaw.map(|flaw| format!("for {}, {flaw}", book.request_name(request))))
}

/// What is wrong with the verdict on one route.
fn flaw(book: &Book<'_>, at: Timestamp, request: RequestId, candidate: &Candidate) -> Option<String> {
    let route = candidate.route;
    let truth = book.truth(request, route);
    let name = || book.route_name(route);
    let is_true = match candidate.verdict {
        Verdict::Excluded { reasons, missing } => {
            let lacks = truth.missing.filter(|_| truth.reasons.has(Reason::MissingCapability));
            if reasons == truth.reasons && missing == lacks && !reasons.is_empty() {
                return None;
            }
            let (told, truth) = (words(reasons), words(truth.reasons));
            return Some(format!("{} is excluded by {told}; true is {truth}", name()));
        }
        Verdict::Chosen { .. }
        | Verdict::Outranked { .. }
        | Verdict::Gated { .. }
        | Verdict::Spent
        | Verdict::Unaffordable { .. }
            if !truth.reasons.is_empty() =>
        {
            return Some(format!("{} is not excluded although {}", name(), words(truth.reasons)));
        }
        Verdict::Chosen { .. } | Verdict::Outranked { .. } => true,
        Verdict::Gated { gate, .. } => match (gate, book.access(route, at)) {
            (Gate::Breaker, Access::Broken | Access::Doubtful) => true,
            (Gate::Cooldown, Access::Benched) => true,
            (Gate::Breaker, Access::Free | Access::Benched) => false,
            (Gate::Cooldown, Access::Free | Access::Broken | Access::Doubtful) => {
                book.benches.route_until(book.facts, route) > at
            }
        },
        Verdict::Spent => book.tried(request, route).begun >= book.facts.limits.calls_per_route_max,
        Verdict::Unaffordable { level } => {
            let refusal = book.refusal(request, book.worst_case(request, route), at);
            refusal.is_some_and(|refusal| refusal.level == level)
        }
    };
    (!is_true).then(|| match candidate.verdict {
        Verdict::Gated { gate, .. } => format!("{} is closed by no {}", name(), gate.label()),
        Verdict::Spent => format!("{} was not called often enough to be spent", name()),
        Verdict::Unaffordable { level } => format!("{} is affordable for the {}", name(), level.label()),
        Verdict::Excluded { .. } | Verdict::Chosen { .. } | Verdict::Outranked { .. } => String::new(),
    })
}

fn words(reasons: Reasons) -> String {
    if reasons.is_empty() {
        return "nothing".to_owned();
    }
    reasons.iter().map(Reason::label).collect::<Vec<_>>().join(", ")
}

pub(super) fn no_false_no_candidate(book: &Book<'_>, reply: &Reply) -> Ruling {
    let id = reply.request;
    let found = match reply.outcome {
        Outcome::NoEligibleRoute => book.routes().find(|route| book.truth(id, *route).reasons.is_empty()),
        Outcome::AllGated { .. } => book.routes().find(|route| {
            !awaits_in_vain(book, id, *route, reply.at) && book.is_usable(id, *route, reply.at)
        }),
        Outcome::Answered { .. }
        | Outcome::Truncated { .. }
        | Outcome::Terminal { .. }
        | Outcome::Exhausted { .. }
        | Outcome::BudgetExceeded { .. }
        | Outcome::DeadlineExceeded { .. }
        | Outcome::Abandoned => return Ruling::Silent,
    };
    Ruling::unless(found.map(|route| {
        let (who, what) = (book.request_name(id), reply.outcome.label());
        format!("{who} is answered {what} while {} can be used", book.route_name(route))
    }))
}

/// Whether a request just refused the wait that this route needs: it cannot be called at once.
fn awaits_in_vain(book: &Book<'_>, id: RequestId, route: RouteId, at: Timestamp) -> bool {
    book.request(id).is_some_and(|page| {
        page.wait_refused == Some(at) && page.last.is_some_and(|fault| fault.route == route)
    })
}

/// A wait is refused only if it does not fit the deadline, or if a response truly asked for too much.
pub(super) fn refuses_a_wait(book: &Book<'_>, at: Timestamp, refused: &RefusedWait) -> Ruling {
    let Some(page) = book.request(refused.request) else { return Ruling::Silent };
    let left = page.request.deadline.since(at);
    let asked = book.told.latest().max(page.hint.map_or(Timestamp::ZERO, |(_, until)| until)).since(at);
    let is_true = refused.left == left
        && match refused.why {
            WaitRefusal::Deadline => refused.wait >= left,
            WaitRefusal::TooLong => asked.min(refused.wait) > book.facts.limits.hint_max,
        };
    Ruling::unless((!is_true).then(|| {
        let (who, why) = (book.request_name(refused.request), refused.why.label());
        format!("{who} refuses to wait {} with {left} left, because of {why}", refused.wait)
    }))
}

pub(super) fn caused(book: &Book<'_>, entry: &Entry<'_>) -> Ruling {
    let expected = book.last.map_or(0, |(seq, _)| seq + 1);
    let is_counted = entry.seq == expected;
    let is_in_time = book.last.is_none_or(|(_, at)| entry.at >= at);
    let is_caused = match entry.cause {
        Some(cause) => cause < entry.seq,
        None => !needs_a_cause(&entry.what),
    };
    if is_counted && is_in_time && is_caused {
        return Ruling::Held;
    }
    Ruling::Broken(match (is_counted, is_in_time) {
        (false, _) => format!("entry {} comes where {expected} is due", entry.seq),
        (true, false) => format!("entry {} is at {}, before the one before it", entry.seq, entry.at),
        (true, true) => match entry.cause {
            Some(cause) => format!("entry {} is caused by entry {cause}", entry.seq),
            None => format!("entry {} has no cause", entry.seq),
        },
    })
}

/// Whatever the gateway does or says, and whatever becomes of a call.
const fn needs_a_cause(what: &What<'_>) -> bool {
    match what {
        What::Declared(_)
        | What::Arrived { .. }
        | What::Abandoned { .. }
        | What::Woke { .. }
        | What::Operated { .. } => false,
        What::CallBegun { .. }
        | What::CallVisible { .. }
        | What::CallEnded { .. }
        | What::CallLost { .. }
        | What::Considered { .. }
        | What::Acted(_)
        | What::Decided(_) => true,
    }
}
