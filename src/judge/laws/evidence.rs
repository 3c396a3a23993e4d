//! Laws about evidence: reasons, refusals, causes.

use super::Ruling;
use super::openings::{is_gated, opens_at_another_instant, reopens};
use super::replies::Reply;
use crate::gateway::{Candidate, Outcome, Verdict, WaitRefusal};
use crate::judge::book::{Book, Moment, Truth};
use crate::policy::eligibility::{Reason, Reasons};
use crate::sim::{Claims, Entry, What};
use crate::units::{Duration, RequestId, RouteId, Timestamp};

/// A wait that was not slept.
#[derive(Clone, Copy)]
pub(in crate::judge) struct RefusedWait {
    pub(in crate::judge) request: RequestId,
    pub(in crate::judge) wait: Duration,
    pub(in crate::judge) left: Duration,
    pub(in crate::judge) why: WaitRefusal,
}

/// What the gateway says of the routes, and what is true of them.
#[derive(Clone, Copy)]
pub(in crate::judge) struct Weighed<'b> {
    pub(in crate::judge) request: RequestId,
    pub(in crate::judge) candidates: &'b [Candidate],
    pub(in crate::judge) truths: &'b [Truth],
    /// The route that is chosen.
    pub(in crate::judge) chosen: Option<RouteId>,
    /// If none is: when the first of those opens that are closed for now.
    pub(in crate::judge) reopens: Option<Timestamp>,
}

impl<'b> Weighed<'b> {
    /// Looks up what is true.
    pub(in crate::judge) fn new(
        book: &'b Book<'_>,
        at: Timestamp,
        request: RequestId,
        candidates: &'b [Candidate],
    ) -> Weighed<'b> {
        let truths = book.truths(request).unwrap_or_default();
        let is_chosen = |candidate: &&Candidate| matches!(candidate.verdict, Verdict::Chosen { .. });
        let chosen = candidates.iter().find(is_chosen).map(|candidate| candidate.route);
        let reopens = if chosen.is_none() { reopens(book, at, candidates) } else { None };
        Weighed { request, candidates, truths, chosen, reopens }
    }

    /// How many routes are excluded and have to be.
    pub(in crate::judge) fn rightly_excluded(&self) -> u32 {
        let is_rightly_out = |candidate: &&Candidate| {
            matches!(candidate.verdict, Verdict::Excluded { .. })
                && self.truths.get(candidate.route.index()).is_some_and(|truth| !truth.reasons.is_empty())
        };
        self.candidates.iter().filter(is_rightly_out).count() as u32
    }
}

pub(super) fn true_reasons(book: &Book<'_>, entry: Moment, weighed: &Weighed<'_>) -> Ruling {
    let Weighed { request, candidates, truths, .. } = *weighed;
    if candidates.len() != truths.len() {
        let (told, all, who) = (candidates.len(), truths.len(), book.request_name(request));
        return Ruling::broken(move || format!("for {who}, {told} of {all} routes are considered"));
    }
    let mut pairs = (0u16..).zip(candidates.iter().zip(truths));
    let flaw = pairs.find_map(|(at, (candidate, truth))| {
        if candidate.route != RouteId(at) {
            return Some(format!("{} is out of order", book.route_name(candidate.route)));
        }
        flaw(book, entry.at, request, candidate, truth)
    });
    let flaw = flaw.or_else(|| miscounted(candidates));
    Ruling::unless(flaw.map(|flaw| move || format!("for {}, {flaw}", book.request_name(request))))
}

/// Of those that can be called exactly one is chosen.
fn miscounted(candidates: &[Candidate]) -> Option<String> {
    let of = |is: fn(&Verdict) -> bool| candidates.iter().filter(|candidate| is(&candidate.verdict)).count();
    let (chosen, outranked) = (
        of(|verdict| matches!(verdict, Verdict::Chosen { .. })),
        of(|verdict| matches!(verdict, Verdict::Outranked { .. })),
    );
    let is_right = chosen == 1 || (chosen == 0 && outranked == 0);
    (!is_right).then(|| format!("{chosen} routes are chosen and {outranked} outranked"))
}

/// What is wrong with the verdict on one route.
fn flaw(
    book: &Book<'_>,
    at: Timestamp,
    request: RequestId,
    candidate: &Candidate,
    truth: &Truth,
) -> Option<String> {
    let route = candidate.route;
    let name = || book.route_name(route);
    if candidate.worst_case != truth.worst_case {
        let (told, true_worst) = (candidate.worst_case, truth.worst_case);
        return Some(format!("{} is told to cost at most ${told}, it can cost ${true_worst}", name()));
    }
    let is_true = match candidate.verdict {
        Verdict::Excluded { reasons, missing } => {
            if reasons == truth.reasons && missing == truth.missing && !reasons.is_empty() {
                return None;
            }
            let (told, truth) = (words(reasons), words(truth.reasons));
            return Some(format!("{} is excluded by {told}; true is {truth}", name()));
        }
        Verdict::Chosen { .. }
        | Verdict::Outranked { .. }
        | Verdict::Gated { .. }
        | Verdict::Spent
        | Verdict::Taken
        | Verdict::Unapproved
        | Verdict::Unaffordable { .. }
            if !truth.reasons.is_empty() =>
        {
            return Some(format!("{} is not excluded although {}", name(), words(truth.reasons)));
        }
        Verdict::Chosen { .. } | Verdict::Outranked { .. } => {
            let closed = book
                .closed_to(request, route, at)
                .map(|why| format!("{} can be called, although {why}", name()));
            return closed.or_else(|| mistaken_health(book, candidate));
        }
        Verdict::Gated { gate, retry_at } => {
            let is_gated = is_gated(book, at, request, route, gate);
            if is_gated && let Some(flaw) = opens_at_another_instant(book, at, route, gate, retry_at) {
                return Some(flaw);
            }
            is_gated
        }
        Verdict::Taken => book.request(request).is_some_and(|page| book.is_on(page, route)),
        Verdict::Spent => !book.is_unspent(request, route),
        Verdict::Unapproved => book.approved(request).is_some_and(|approval| approval.route != route),
        Verdict::Unaffordable { level } => {
            let refusal = book.refusal(request, book.worst_case(request, route), at);
            refusal.is_some_and(|refusal| refusal.level == level)
        }
    };
    (!is_true).then(|| match candidate.verdict {
        Verdict::Gated { gate, .. } => format!("{} is closed by no {}", name(), gate.label()),
        Verdict::Spent => format!("{} was not called often enough to be spent", name()),
        Verdict::Unaffordable { level } => format!("{} is affordable for the {}", name(), level.label()),
        Verdict::Taken => format!("{} has no other leg on it", name()),
        Verdict::Unapproved => format!("{} needs no approval, or has it", name()),
        Verdict::Excluded { .. } | Verdict::Chosen { .. } | Verdict::Outranked { .. } => String::new(),
    })
}

/// A route that can be called is told with the health that it has.
fn mistaken_health(book: &Book<'_>, candidate: &Candidate) -> Option<String> {
    let (told, truth) = (candidate.health, book.health_of(candidate.route));
    (told != truth).then(|| {
        let name = book.route_name(candidate.route);
        format!("{name} is told as {}, its health is {}", told.label(), truth.label())
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
        Outcome::AllGated { .. } | Outcome::NoCandidate { .. } => book.routes().find(|route| {
            !awaits_in_vain(book, id, *route, reply.at) && book.is_usable(id, *route, reply.at)
        }),
        Outcome::Answered { .. }
        | Outcome::Truncated { .. }
        | Outcome::Terminal { .. }
        | Outcome::Exhausted { .. }
        | Outcome::BudgetExceeded { .. }
        | Outcome::DeadlineExceeded { .. }
        | Outcome::Stopped { .. }
        | Outcome::Abandoned => return Ruling::Silent,
    };
    Ruling::unless(found.map(|route| {
        move || {
            let (who, what) = (book.request_name(id), reply.outcome.label());
            format!("{who} is answered {what} while {} can be used", book.route_name(route))
        }
    }))
}

/// Whether a request just refused the wait that this route needs: it cannot be called at once.
fn awaits_in_vain(book: &Book<'_>, id: RequestId, route: RouteId, at: Timestamp) -> bool {
    book.request(id).is_some_and(|page| {
        page.wait_refused == Some(at) && page.last.is_some_and(|fault| fault.route == route)
    })
}

/// Whether an entry stands where and when it must, with a cause that it may have.
#[inline]
pub(super) fn is_in_place(book: &Book<'_>, entry: &Entry<'_>) -> bool {
    let is_caused = match entry.cause {
        Some(cause) => cause < entry.seq,
        None => !needs_a_cause(&entry.what),
    };
    is_caused && entry.seq == book.due && entry.at >= book.now
}

/// As [`is_in_place`], of several in a row.
#[inline]
pub(super) fn are_in_place(book: &Book<'_>, claims: &Claims<'_>) -> bool {
    claims.cause.is_some_and(|cause| cause < claims.first)
        && claims.first == book.due
        && claims.at >= book.now
}

/// What is wrong with the place of an entry.
#[cold]
pub(super) fn disorder(book: &Book<'_>, entry: &Entry<'_>) -> String {
    if entry.seq != book.due {
        return format!("entry {} comes where {} is due", entry.seq, book.due);
    }
    if entry.at < book.now {
        return format!("entry {} is at {}, before the one before it", entry.seq, entry.at);
    }
    match entry.cause {
        Some(cause) => format!("entry {} is caused by entry {cause}", entry.seq),
        None => format!("entry {} has no cause", entry.seq),
    }
}

/// Whatever the gateway does or says, and whatever becomes of a call.
const fn needs_a_cause(what: &What<'_>) -> bool {
    match what {
        What::Declared(_)
        | What::Arrived { .. }
        | What::TaskBegan { .. }
        | What::Abandoned { .. }
        | What::Woke { .. }
        | What::RunEnded
        | What::Operated { .. } => false,
        What::CallBegun { .. }
        | What::TaskEnded { .. }
        | What::CallVisible { .. }
        | What::CallEnded { .. }
        | What::CallLost { .. }
        | What::Considered { .. }
        | What::Acted(_)
        | What::Decided(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use crate::gateway::{Candidate, Decision, Delivery, Freshness, Gate, Outcome, Verdict, WaitRefusal};
    use crate::judge::Law;
    use crate::judge::play::*;
    use crate::policy::backoff::{Backoff, Growth, Jitter};
    use crate::policy::cooldown::Bench;
    use crate::policy::eligibility::{Reason, Reasons};
    use crate::policy::health::{Move, State};
    use crate::policy::ledger::Level;
    use crate::policy::signal::Signal;
    use crate::policy::taxonomy::{Class, Hint};
    use crate::sim::What;
    use crate::units::{CredentialId, HealthId, RouteId};

    /// Considers the routes with another verdict on one of them.
    fn says(route: RouteId, verdict: Verdict) -> impl Fn(&mut Play<'_>) {
        move |play| {
            play.arrive(Delivery::Whole).consider(|candidate: &mut Candidate| {
                if candidate.route == route {
                    candidate.verdict = verdict;
                }
            });
        }
    }

    #[test]
    fn a_removed_candidate_has_exactly_the_reasons_that_are_true() {
        let check = |broken: &dyn Fn(&mut Play<'_>), says| check(Law::TrueReasons, answered, broken, says);
        let chosen = Verdict::Chosen { by: None };
        check(
            &says(FAR, chosen),
            "far is not excluded although data_residency, classification_limit, missing_capability, request_budget",
        );
        let reasons = Reasons::ALL.without(Reason::DataResidency);
        check(&says(FAR, Verdict::Excluded { reasons, missing: Some(0) }), "true is data_residency");
        check(&says(A, Verdict::Excluded { reasons, missing: None }), "true is nothing");
        let gated = |gate| Verdict::Gated { gate, retry_at: None };
        check(&says(A, gated(Gate::Breaker)), "alpha is closed by no breaker");
        check(&says(A, gated(Gate::Cooldown)), "alpha is closed by no cooldown");
        check(&says(A, gated(Gate::Concurrency)), "alpha is closed by no concurrency");
        check(&says(A, gated(Gate::Health)), "alpha is closed by no health");
        check(&says(A, gated(Gate::Fuse(failure(Class::Funds)))), "alpha is closed by no fuse");
        check(&says(A, Verdict::Taken), "alpha has no other leg on it");
        check(&says(A, Verdict::Spent), "alpha was not called often enough");
        check(
            &says(A, Verdict::Unaffordable { level: Level::Request }),
            "alpha is affordable for the request",
        );
        check(
            &|play| {
                play.arrive(Delivery::Whole).say(What::Considered { request: R, candidates: &[] });
            },
            "0 of 3 routes are considered",
        );
    }

    #[test]
    fn a_route_that_can_be_called_is_told_with_its_health() {
        let mut catalog = catalog();
        catalog.machines.health.unhealthy_after = 1;
        let sick = |told: State| {
            move |play: &mut Play<'_>| {
                play.arrive(Delivery::Whole);
                let call = play.call(R, A);
                play.at(80).end(call, Some(Class::Overload), 0);
                play.tell(call, (Some(Class::Overload), Signal::Bad), Freshness::Fresh, 1).consider(
                    |candidate| {
                        if candidate.route == A {
                            candidate.health = told;
                        }
                    },
                );
            }
        };
        let says = "for req/1, alpha is told as HEALTHY, its health is UNHEALTHY";
        check_in(&catalog, Law::TrueReasons, sick(State::Unhealthy), sick(State::Healthy), says);
    }

    #[test]
    fn a_wait_is_refused_only_if_it_does_not_fit() {
        let refused = |asked: u64, wait: u64, why: WaitRefusal| {
            move |play: &mut Play<'_>| {
                play.arrive(Delivery::Whole);
                let call = play.call(R, A);
                play.at(80).end_with(call, Some(Class::RateLimit), 0, Hint::After(MS(asked)));
                play.decide(Decision::WaitRefused { request: R, wait: MS(wait), left: MS(1_120), why });
            }
        };
        let held = refused(30_000, 30_000, WaitRefusal::Deadline);
        let broken = refused(500, 500, WaitRefusal::Deadline);
        check(Law::TrueReasons, held, broken, "req/1 refuses to wait 500 ms with 1120 ms left");
        let held = refused(30_000, 30_000, WaitRefusal::Deadline);
        check(Law::TrueReasons, held, refused(500, 500, WaitRefusal::TooLong), "because of too_long");
    }

    #[test]
    fn a_long_bench_of_another_is_no_excuse_for_a_wait_that_is_refused() {
        let mut catalog = catalog();
        catalog.limits.hint_max = MS(400);
        let (growth, jitter) = (Growth::Fixed, Jitter::None);
        catalog.limits.backoff = Some(Backoff { base: MS(100), growth, cap: MS(100), jitter });
        let refused = |asked: u64| {
            move |play: &mut Play<'_>| {
                play.arrive(Delivery::Whole);
                let call = play.call(R, A);
                let what = Bench::Credential(CredentialId(1));
                play.decide(Decision::Benched { what, until: at(900_000), class: Class::RateLimit });
                play.at(80).end_with(call, Some(Class::RateLimit), 0, Hint::After(MS(asked)));
                let why = WaitRefusal::TooLong;
                play.decide(Decision::WaitRefused { request: R, wait: MS(500), left: MS(1_120), why });
            }
        };
        let says = "req/1 refuses to wait 500 ms with 1120 ms left, because of too_long";
        check_in(&catalog, Law::TrueReasons, refused(500), refused(300), says);
    }

    #[test]
    fn nobody_is_told_that_no_route_is_left_while_one_is() {
        let gated = |benched: u16| {
            move |play: &mut Play<'_>| {
                for id in 0..benched {
                    let what = Bench::Credential(CredentialId(id));
                    play.decide(Decision::Benched { what, until: at(60_000), class: Class::RateLimit });
                }
                play.arrive(Delivery::Whole).reply(R, Outcome::AllGated { retry_at: None, last: None });
            }
        };
        let says = "req/1 is answered all_gated while beta can be used";
        check(Law::NoFalseNoCandidate, gated(2), gated(1), says);
        let none = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole).reply(R, Outcome::NoEligibleRoute);
        };
        check(Law::NoFalseNoCandidate, gated(2), none, "answered no_eligible_route while alpha can be used");
        let starved = |play: &mut Play<'_>| {
            for id in 0..2 {
                let (from, to) = (State::Degraded, State::Unhealthy);
                let moved = Move { from, to, until: Some(at(60_000)) };
                play.decide(Decision::HealthMoved { health: HealthId(id), moved });
            }
            play.arrive(Delivery::Whole)
                .reply(R, Outcome::NoCandidate { retry_at: Some(at(60_000)), last: None });
        };
        check(Law::NoFalseNoCandidate, gated(2), starved, "answered no_candidate while alpha can be used");
    }

    #[test]
    fn numbers_times_and_causes_are_in_order() {
        let check = |broken: &dyn Fn(&mut Play<'_>), says| check(Law::Caused, answered, broken, says);
        check(
            &|p| {
                p.skip_a_number().arrive(Delivery::Whole);
            },
            "entry 1 comes where 0 is due",
        );
        check(
            &|p| {
                p.at(5).arrive(Delivery::Whole).at(4).consider(|_| ());
            },
            "before the one before it",
        );
        let considered = What::Considered { request: R, candidates: &[] };
        check(
            &|p| {
                p.say_because(None, considered);
            },
            "entry 0 has no cause",
        );
        check(
            &|p| {
                p.say_because(Some(0), considered);
            },
            "entry 0 is caused by entry 0",
        );
    }
}
