//! How long a request waits before its next attempt, or would have to: recomputed from its last failure, the declared
//! backoff and the benches.

use super::evidence::RefusedWait;
use super::sleeps::Sleep;
use super::{Ruling, told};
use crate::gateway::WaitRefusal;
use crate::judge::book::{Book, RequestPage, Setback};
use crate::policy::backoff;
use crate::policy::taxonomy::Remedy;
use crate::units::{Duration, RequestId, Timestamp};

/// Shortest and longest.
type Bounds = (Duration, Duration);

/// What a request may wait for now.
#[derive(Clone, Copy)]
struct Reasons {
    /// Its backoff.
    backoff: Bounds,
    /// The same for the route that failed, which asked for this.
    same: Option<(Bounds, Duration)>,
    /// No earlier than this the end of a bench, or of an open breaker.
    gate: Duration,
    /// What its response asked for, or how long everything is closed that closed its last look.
    hint: Duration,
}

/// What is wrong with the length of a planned wait, or with what it is said to be asked for.
pub(super) fn misjudged(book: &Book<'_>, sleep: &Sleep, page: &RequestPage) -> Option<String> {
    let Some(reasons) = reasons(book, page, sleep.from) else {
        return Some(told(|| "follows on no failure".to_owned()));
    };
    let failed = page.setback.map(|setback| setback.route);
    let is_of_backoff = match reasons.same {
        Some((same, _)) if failed == Some(sleep.route) => is_within(sleep.delay, same),
        Some(_) | None => is_within(sleep.delay, reasons.backoff),
    };
    if !is_of_backoff && !is_of_gate(book, sleep.request, &reasons, sleep.from, sleep.delay) {
        return Some(told(|| {
            format!("is not its backoff of {}, nor the end of what it waits for", words(reasons.backoff))
        }));
    }
    let (said, hint) = (sleep.hint, reasons.hint);
    (said != hint).then(|| told(|| format!("is told as asked for by {said}, its response asked for {hint}")))
}

/// A wait is refused only if it does not fit the deadline, or if what asks for it asks for too much.
pub(super) fn refuses_a_wait(book: &Book<'_>, at: Timestamp, refused: &RefusedWait) -> Ruling {
    let Some(page) = book.request(refused.request) else { return Ruling::Silent };
    let left = page.deadline.since(at);
    let wait = refused.wait;
    let is_true = refused.left == left
        && reasons(book, page, at).is_some_and(|reasons| {
            let is_of_gate = is_of_gate(book, refused.request, &reasons, at, wait);
            let asked = reasons.same.filter(|(bounds, _)| is_within(wait, *bounds)).map(|(_, asked)| asked);
            match refused.why {
                WaitRefusal::Deadline => {
                    let is_of_backoff = asked.is_some() || is_within(wait, reasons.backoff);
                    wait >= left && (is_of_backoff || is_of_gate)
                }
                WaitRefusal::TooLong => {
                    let most = book.facts.limits.hint_max;
                    let is_too_long = (is_of_gate && wait > most) || asked.is_some_and(|asked| asked > most);
                    wait < left && is_too_long
                }
            }
        });
    Ruling::unless((!is_true).then_some(move || {
        let (who, why) = (book.request_name(refused.request), refused.why.label());
        format!("{who} refuses to wait {} with {left} left, because of {why}", refused.wait)
    }))
}

/// What a request may wait for at `now`; `None` if nothing makes it wait.
fn reasons(book: &Book<'_>, page: &RequestPage, now: Timestamp) -> Option<Reasons> {
    const NEVER: Bounds = (Duration::MAX, Duration::ZERO);
    if let Some(look) = page.in_vain.filter(|look| look.at == now) {
        let until = look.reopens?.since(now);
        return Some(Reasons { backoff: NEVER, same: None, gate: until, hint: until });
    }
    let Setback { route, class, hint, at } = page.setback?;
    if at != now {
        return None;
    }
    let hint = hint.map_or(Duration::ZERO, |hint| hint.since(now));
    let drawn = book
        .facts
        .backoff(route)
        .map_or((Duration::ZERO, Duration::MAX), |own| backoff::bounds(own, page.attempts));
    let (backoff, same) = match book.facts.machines.taxonomy.remedy(class) {
        Remedy::WaitSameThenFallback => (drawn, Some(((drawn.0.max(hint), drawn.1.max(hint)), hint))),
        Remedy::Fallback => (drawn, None),
        Remedy::FallbackNow | Remedy::Stop => (NEVER, None),
    };
    let gate = if backoff == NEVER { Duration::ZERO } else { drawn.0 };
    Some(Reasons { backoff, same, gate, hint })
}

/// Whether a wait ends when a bench does, or a breaker that is waited for, which is the first to open.
fn is_of_gate(book: &Book<'_>, id: RequestId, reasons: &Reasons, now: Timestamp, wait: Duration) -> bool {
    let is_first = reasons.gate <= wait && wait <= book.opening(id, now).latest.since(now);
    is_first && book.is_awaited_end(id, now.after(wait), now)
}

fn is_within(length: Duration, (least, most): Bounds) -> bool {
    least <= length && length <= most
}

fn words((least, most): Bounds) -> String {
    if least > most {
        "nothing".to_owned()
    } else if least == most {
        format!("{least}")
    } else {
        format!("{least} to {most}")
    }
}
