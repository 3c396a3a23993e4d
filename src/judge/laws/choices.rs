//! The law about choices: the best is chosen, and whatever is said of why is true.

use super::{Ruling, Weighed};
use crate::gateway::{Candidate, Verdict};
use crate::judge::book::{Book, RequestPage};
use crate::policy::ranking::Key;
use crate::policy::taxonomy::Remedy;
use crate::units::{RequestId, RouteId};
use std::cmp::Ordering;

/// The chosen route is the best by the declared order; each other is out by the first key in which it is worse, and
/// the choice was made by the last such key.
pub(super) fn best_is_chosen(book: &Book<'_>, weighed: &Weighed<'_>) -> Ruling {
    let id = weighed.request;
    let (Some(best), Some(page)) = (weighed.chosen, book.request(id)) else { return Ruling::Silent };
    let is_by_plan =
        |candidate: &Candidate| matches!(candidate.verdict, Verdict::Outranked { by: Key::Plan });
    let is_planned =
        page.setback.is_some() && weighed.candidates.iter().any(is_by_plan) && is_planned(book, page);
    let (mut said, mut last) = (None, None);
    for candidate in weighed.candidates {
        let told = match candidate.verdict {
            Verdict::Chosen { by } => {
                said = by;
                continue;
            }
            Verdict::Outranked { by } => by,
            Verdict::Excluded { .. }
            | Verdict::Gated { .. }
            | Verdict::Spent
            | Verdict::Taken
            | Verdict::Unapproved
            | Verdict::Unaffordable { .. } => continue,
        };
        let truth = if is_planned {
            Some((0, Key::Plan, Ordering::Less))
        } else {
            stands(book, page, id, (best, candidate.route))
        };
        match truth {
            Some((place, key, Ordering::Less)) if key == told => last = last.max(Some((place, key))),
            truth => {
                return Ruling::broken(move || {
                    let [best, other] = [best, candidate.route].map(|route| book.route_name(route));
                    let truth = match truth {
                        None => "which is the same".to_owned(),
                        Some((_, key, Ordering::Less)) => format!("it is by {}", key.label()),
                        Some((_, key, _)) => format!("which is better by {}", key.label()),
                    };
                    let who = book.name(page.name);
                    format!("{who} chooses {best} before {other} by {}, {truth}", told.label())
                });
            }
        }
    }
    let truth = last.map(|(_, key)| key);
    Ruling::unless((said != truth).then_some(move || {
        let word = |key: Option<Key>| key.map_or("nothing", Key::label);
        let (who, best) = (book.name(page.name), book.route_name(best));
        format!("{who} chooses {best} by {}, it is by {}", word(said), word(truth))
    }))
}

/// How the best stands to another: the first key in which they differ, its place, and how they compare by it.
fn stands(
    book: &Book<'_>,
    page: &RequestPage,
    id: RequestId,
    (best, other): (RouteId, RouteId),
) -> Option<(usize, Key, Ordering)> {
    book.facts.limits.ranking.order.keys().iter().enumerate().find_map(|(place, key)| {
        let key = *key;
        let is_even = match key {
            Key::Plan => true,
            Key::Tries => page.attempts == 0,
            Key::Health => book.machines.are_well(),
            Key::LatencyP95 | Key::QueueDepth | Key::Price | Key::Quality | Key::Weight | Key::Order => false,
        };
        if is_even {
            return None;
        }
        let [mine, theirs] = [best, other].map(|route| book.merit(key, page, id, route));
        Some((place, key, mine.cmp(&theirs))).filter(|_| mine != theirs)
    })
}

/// Whether a route may have been waited for, or be the next by the remedy: the last failure has one that names a route.
fn is_planned(book: &Book<'_>, page: &RequestPage) -> bool {
    let remedy = |class| book.facts.machines.taxonomy.remedy(class);
    page.setback.is_some_and(|setback| {
        setback.at >= page.last_begun && remedy(setback.class) == Remedy::WaitSameThenFallback
    })
}

#[cfg(test)]
mod tests {
    use crate::gateway::{Candidate, Delivery, Verdict};
    use crate::judge::Law;
    use crate::judge::play::*;
    use crate::policy::health::State;
    use crate::policy::ranking::{Key, Order};
    use crate::policy::taxonomy::{Class, Remedy};
    use crate::sim::{Catalog, Merits};
    use crate::units::RouteId;

    /// Routes that are preferred by quality alone; beta has more of it.
    fn by_quality() -> Catalog {
        let mut catalog = catalog();
        catalog.limits.ranking.order = Order::new(&[Key::Quality]);
        catalog.routes[B.index()].merits = Merits { quality: 9, ..Merits::default() };
        catalog
    }

    /// This route is chosen by the first key, and the other of the two is out by the second.
    fn chooses(best: RouteId, by: Option<Key>, out: Key) -> impl Fn(&mut Play<'_>) {
        move |play| {
            play.arrive(Delivery::Whole).consider(|candidate| tell(candidate, best, by, out));
        }
    }

    fn tell(candidate: &mut Candidate, best: RouteId, by: Option<Key>, out: Key) {
        candidate.health = State::Healthy;
        if candidate.route == best {
            candidate.verdict = Verdict::Chosen { by };
        } else if [A, B].contains(&candidate.route) {
            candidate.verdict = Verdict::Outranked { by: out };
        }
    }

    fn check_choice(broken: impl Fn(&mut Play<'_>), says: &str) {
        let held = chooses(B, Some(Key::Quality), Key::Quality);
        check_in(&by_quality(), Law::BestIsChosen, held, broken, says);
    }

    #[test]
    fn the_best_is_chosen_and_each_other_is_out_by_the_key_that_says_so() {
        let says = "req/1 chooses alpha before beta by quality, which is better by quality";
        check_choice(chooses(A, Some(Key::Quality), Key::Quality), says);
        let says = "req/1 chooses alpha before beta by order, which is better by quality";
        check_choice(chooses(A, Some(Key::Order), Key::Order), says);
        let says = "req/1 chooses beta before alpha by price, it is by quality";
        check_choice(chooses(B, Some(Key::Price), Key::Price), says);
        let says = "req/1 chooses beta by order, it is by quality";
        check_choice(chooses(B, Some(Key::Order), Key::Quality), says);
        check_choice(chooses(B, None, Key::Quality), "req/1 chooses beta by nothing, it is by quality");
        let says = "req/1 chooses beta before alpha by plan, it is by quality";
        check_choice(chooses(B, Some(Key::Plan), Key::Plan), says);
    }

    #[test]
    fn a_route_is_next_by_plan_only_where_the_remedy_of_the_last_failure_names_one() {
        let again = |class: Class| {
            move |play: &mut Play<'_>| {
                play.arrive(Delivery::Whole);
                play.consider(|candidate| tell(candidate, A, Some(Key::Quality), Key::Quality));
                let call = play.call(R, A);
                play.at(80).end(call, Some(class), 0);
                play.consider(|candidate| tell(candidate, A, Some(Key::Plan), Key::Plan));
            }
        };
        let mut catalog = by_quality();
        catalog.routes[A.index()].merits.quality = 10;
        let remedy = &mut catalog.machines.taxonomy.remedy;
        remedy[Class::RateLimit as usize] = Remedy::WaitSameThenFallback;
        remedy[Class::Overload as usize] = Remedy::Fallback;
        let says = "req/1 chooses alpha before beta by plan, which is better by tries";
        let (held, broken) = (again(Class::RateLimit), again(Class::Overload));
        check_in(&catalog, Law::BestIsChosen, held, broken, says);
    }
}
