//! A look at a glance. Nearly always no gate is closed and there is money enough: then each verdict has only one way to
//! be right, and the laws need not be asked one by one.

use crate::gateway::{Candidate, Verdict};
use crate::judge::book::{Book, Truth};
use crate::policy::health::State;
use crate::policy::ranking::Key;
use crate::units::{RequestId, RouteId, Timestamp};

/// The route that is chosen, if surely every verdict is the right one: excluded is who must be, for the true reasons;
/// of all others the best is chosen, and whatever is said of why is true. `None` if that must be looked at closely.
#[inline]
pub(in crate::judge) fn plainly_chosen(
    book: &Book<'_>,
    at: Timestamp,
    request: RequestId,
    candidates: &[Candidate],
) -> Option<RouteId> {
    let page = book.request(request)?;
    let (truths, legs) = (book.truths(request)?, book.legs());
    let best = candidates.iter().position(|one| matches!(one.verdict, Verdict::Chosen { .. }))?;
    let are_all = candidates.len() == truths.len() && candidates.len() == legs.len();
    if !are_all || !book.is_calm(request, page, at) {
        return None;
    }
    let keys = book.keys_in_calm(page);
    // How many keys it takes to tell the best from all others, and what is said to be the last of them.
    let (mut needed, mut said) = (0, None);
    for nth in 0..candidates.len() {
        let (candidate, truth) = (&candidates[nth], &truths[nth]);
        if candidate.route.index() != nth || candidate.worst_case != truth.worst_case {
            return None;
        }
        if !truth.reasons.is_empty() {
            if !is_excluded(&candidate.verdict, truth) {
                return None;
            }
        } else if candidate.health != State::Healthy {
            return None;
        } else if let Verdict::Outranked { by } = candidate.verdict {
            let (mut mine, mut theirs) = (0, 0);
            let place = keys.iter().position(|key| {
                (mine, theirs) = match *key {
                    Key::QueueDepth => (u64::from(legs[best]), u64::from(legs[nth])),
                    Key::Price => (truths[best].worst_case.picos(), truth.worst_case.picos()),
                    Key::Order => (best as u64, nth as u64),
                    key @ (Key::Plan
                    | Key::Tries
                    | Key::Health
                    | Key::LatencyP95
                    | Key::Quality
                    | Key::Weight) => book.merits(key, page, request, (best, nth)),
                };
                mine != theirs
            })?;
            if mine > theirs || keys[place] != by {
                return None;
            }
            needed = needed.max(place + 1);
        } else if let Verdict::Chosen { by } = candidate.verdict
            && nth == best
        {
            said = by;
        } else {
            return None;
        }
    }
    let last = needed.checked_sub(1).map(|place| keys[place]);
    (said == last).then_some(RouteId(best as u16))
}

fn is_excluded(verdict: &Verdict, truth: &Truth) -> bool {
    matches!(verdict, Verdict::Excluded { reasons, missing }
        if *reasons == truth.reasons && *missing == truth.missing)
}
