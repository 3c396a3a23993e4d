//! When something that is closed opens, as it is told and as it is.

use super::replies::Reply;
use super::told;
use crate::gateway::{Candidate, Gate, Verdict, WhenOpen};
use crate::judge::book::{Book, RequestPage};
use crate::policy::health::State;
use crate::units::{RequestId, RouteId, Timestamp};

/// Whether a gate that is told is the first that is closed.
pub(super) fn is_gated(book: &Book<'_>, at: Timestamp, id: RequestId, route: RouteId, gate: Gate) -> bool {
    let shut = book.shut(route, at);
    match gate {
        Gate::Breaker | Gate::Cooldown | Gate::Fuse(_) => shut.is_some_and(|shut| shut.gate == gate),
        Gate::Concurrency => {
            let is_full =
                book.is_full(route) || book.request(id).is_some_and(|page| book.is_full_for(&page.payer));
            shut.is_none() && is_full
        }
        Gate::Health => shut.is_none() && book.health_of(route) == State::Unhealthy,
    }
}

/// What is wrong with the instant at which a closed gate is said to open.
pub(super) fn opens_at_another_instant(
    book: &Book<'_>,
    at: Timestamp,
    route: RouteId,
    gate: Gate,
    said: Option<Timestamp>,
) -> Option<String> {
    let until = opens(book, at, route, gate);
    (said != until).then(|| {
        told(|| {
            let (name, gate) = (book.route_name(route), gate.label());
            format!("{name} is said to open {}; by its {gate} it opens {}", when(said), when(until))
        })
    })
}

/// When a closed gate opens; `None` is only by an operator or a free slot.
fn opens(book: &Book<'_>, at: Timestamp, route: RouteId, gate: Gate) -> Option<Timestamp> {
    let until = match gate {
        Gate::Breaker | Gate::Cooldown => book.shut(route, at).map(|shut| shut.until),
        Gate::Health => book.unhealthy_until(route, at),
        Gate::Concurrency | Gate::Fuse(_) => None,
    };
    until.filter(|until| *until != Timestamp::MAX)
}

/// An instant at which something opens, for a reader.
fn when(opens: Option<Timestamp>) -> String {
    opens.map_or_else(|| "only by an operator or a free slot".to_owned(), |at| format!("at {at}"))
}

/// When the first of the routes opens that are closed for now; a slot can be free at any time, whatever else is
/// closed. Which gates those are is told, and looked at for itself.
#[cold]
pub(super) fn reopens(book: &Book<'_>, at: Timestamp, candidates: &[Candidate]) -> Option<Timestamp> {
    let mut first = None::<Timestamp>;
    for candidate in candidates {
        match candidate.verdict {
            Verdict::Gated { gate: Gate::Concurrency, .. } => return None,
            Verdict::Gated { gate, .. } => {
                let until = opens(book, at, candidate.route, gate);
                first = [first, until].into_iter().flatten().min();
            }
            Verdict::Chosen { .. }
            | Verdict::Outranked { .. }
            | Verdict::Excluded { .. }
            | Verdict::Spent
            | Verdict::Taken
            | Verdict::Unapproved
            | Verdict::Unaffordable { .. } => {}
        }
    }
    first
}

/// What is wrong with an end at a closed gate, where the policy waits for breakers: that one could be waited for.
pub(super) fn hurried(
    book: &Book<'_>,
    reply: &Reply,
    page: &RequestPage,
    said: Option<Timestamp>,
) -> Option<String> {
    let waits = book.facts.limits.when_open == WhenOpen::Wait && page.wait_refused != Some(reply.at);
    let fits =
        |until: &Timestamp| *until < page.deadline && until.since(reply.at) <= book.facts.limits.hint_max;
    let until =
        said.filter(fits).filter(|until| waits && book.is_worth_a_wait(reply.request, *until, reply.at))?;
    Some(told(|| format!("although it could wait for a breaker until {until}")))
}

/// What is wrong with the instant at which the first route is said to open. After a look in vain it is the least
/// that the look gave. After a failure nobody tells of a look: it may have been for the end of a backoff, at which a
/// breaker that was closed at first was not any more, but a bench was still.
pub(super) fn opens_otherwise(
    book: &Book<'_>,
    reply: &Reply,
    page: &RequestPage,
    said: Option<Timestamp>,
) -> Option<String> {
    if let Some(look) = page.in_vain.filter(|look| look.at == reply.at) {
        let is_right = look.reopens == said;
        return (!is_right)
            .then(|| told(|| format!("{}; the first route opens {}", when(said), when(look.reopens))));
    }
    let (id, at) = (reply.request, reply.at);
    let (opening, end) = (book.opening(id, at), said.unwrap_or(Timestamp::MAX));
    let is_right = opening.earliest <= end && end <= opening.latest && book.is_end(id, end, at);
    (!is_right).then(|| {
        told(|| {
            let opens = Some(opening.latest).filter(|at| *at != Timestamp::MAX);
            format!("{}; the first route opens {}", when(said), when(opens))
        })
    })
}
