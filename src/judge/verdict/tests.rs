use super::*;
use crate::gateway::{Delivery, Freshness, Outcome};
use crate::judge::play::*;
use crate::judge::{Bounds, Emptiness, Measured, Metric};
use crate::policy::signal::Signal;
use crate::policy::taxonomy::Class;
use crate::trace::{Given, Pattern};

fn pattern(event: &str, demands: &[(&str, &str)]) -> Pattern {
    let mut pattern = Pattern::of(event).unwrap();
    for (field, text) in demands {
        pattern.demand(field, Given::Text(text)).unwrap();
    }
    pattern
}

fn promise(verb: Verb) -> Expectation {
    Expectation { name: "a_promise".to_owned(), variants: Variants::All, verb }
}

/// A fallback that is answered at 630 ms and some nanoseconds.
fn fell_back(late: u64) -> impl Fn(&mut Play<'_>) {
    move |play| {
        play.arrive(Delivery::Whole).consider(|_| ());
        let call = play.call(R, A);
        play.at(80).end(call, Some(Class::RateLimit), 0);
        play.tell(call, (Some(Class::RateLimit), Signal::Neutral), Freshness::Fresh, 0);
        let call = play.at(180).call(R, B);
        play.at(630 + late).end(call, None, 16).signal(call, Signal::Good, Freshness::Fresh, 0);
        play.reply(R, Outcome::Answered { route: B }).close(R);
    }
}

fn variant(verb: &Verb, lateness: &[u64]) -> (Verdict, VariantVerdict) {
    let expectations = [promise(verb.clone())];
    let mut variant = VariantVerdict::new(0, "base".to_owned(), Vec::new());
    for (seed, late) in (1..).zip(lateness) {
        variant.merge(&played_for(&expectations, seed, fell_back(*late)));
    }
    (conclude(&expectations, std::slice::from_ref(&variant)), variant)
}

/// The first check over runs that are so many milliseconds late: what is wrong, empty if it held.
fn check(verb: Verb, lateness: &[u64], wrong: &str) {
    let verdict = variant(&verb, lateness).0;
    assert_eq!(verdict.checks[0].details.join("; "), wrong, "{}", verb.label());
    let word = if wrong.is_empty() { Word::Held } else { Word::Broken };
    assert_eq!((verdict.checks[0].word, verdict.is_pass()), (word, wrong.is_empty()), "{verdict:?}");
}

#[test]
fn a_count_is_of_the_entries_that_match() {
    let count = |bounds| Verb::Count { pattern: pattern("call_ended", &[("truth", "rate_limit")]), bounds };
    check(count(Bounds::equals(1)), &[0], "");
    let wrong = "variant base, seed 1: expected exactly 0 matching call_ended, saw 1; the first is entry 5 at \
                 80 ms (1 of 1 runs fail)";
    check(count(Bounds::equals(0)), &[0], wrong);
}

#[test]
fn the_first_that_matches_is_measured() {
    let first = |measured, bounds, distinct_at_least| Verb::First {
        pattern: pattern("replied", &[("outcome", "answered"), ("route", "beta")]),
        measured,
        bounds,
        distinct_at_least,
    };
    let at = |ms: i128| Bounds::equals(ms * 1_000_000);
    check(first(Measured::Presence, Bounds::default(), 0), &[0, 1], "");
    check(first(Measured::Time, at(630), 0), &[0], "");
    let wrong = "variant base, seed 2: expected the time of replied to be exactly 630 ms, saw 631 ms in \
                 entry 15 at 631 ms (1 of 3 runs fail)";
    check(first(Measured::Time, at(630), 0), &[0, 1, 0], wrong);
    let left = pattern("replied", &[]).measured("left_ns").unwrap();
    check(first(Measured::Number(left), at(570), 0), &[0], "");
    check(first(Measured::Time, Bounds::default(), 2), &[0, 1], "");
    let constant = "variant base: expected at least 2 different values, saw 1 in 3 runs";
    check(first(Measured::Time, Bounds::default(), 2), &[7, 7, 7], constant);
    let verb = Verb::First {
        pattern: pattern("denied", &[]),
        measured: Measured::Presence,
        bounds: Bounds::default(),
        distinct_at_least: 0,
    };
    check(verb, &[0], "variant base, seed 1: expected a matching denied, saw none (1 of 1 runs fail)");
}

#[test]
fn each_that_matches_is_measured_and_nothing_is_not_enough() {
    let each = |event, bounds, emptiness| Verb::Each {
        pattern: pattern(event, &[]),
        measured: Measured::Time,
        bounds,
        emptiness,
    };
    check(each("call_begun", Bounds::at_most(180_000_000), Emptiness::Fails), &[0], "");
    let wrong = "variant base, seed 1: expected the time of call_begun to be at most 80 ms, saw 180 ms in \
                 entry 11 at 180 ms (1 of 1 runs fail)";
    check(each("call_begun", Bounds::at_most(80_000_000), Emptiness::Fails), &[0], wrong);
    let nothing = "variant base, seed 1: expected at least one matching denied, saw none (1 of 1 runs fail)";
    check(each("denied", Bounds::default(), Emptiness::Fails), &[0], nothing);
    check(each("denied", Bounds::default(), Emptiness::Allowed), &[0], "");
}

#[test]
fn an_order_is_one_after_the_other() {
    let order = |events: &[&str]| Verb::Order { patterns: events.iter().map(|e| pattern(e, &[])).collect() };
    check(order(&["arrived", "call_begun", "call_ended", "call_begun", "replied"]), &[0], "");
    let wrong = "variant base, seed 1: expected 2 entries in order, saw 1: a matching arrived did not follow \
                 (1 of 1 runs fail)";
    check(order(&["replied", "arrived"]), &[0], wrong);
}

#[test]
fn a_metric_is_held_against_every_run() {
    let (metric, tenant) = (Metric::Cost, None);
    let cost = |picos: i128| Verb::Metric { metric, of: tenant, bounds: Bounds::at_most(picos) };
    check(cost(16_000_000_000), &[0], "");
    let wrong = "variant base, seed 1: expected cost_usd to be at most $0.015, saw $0.016 (2 of 2 runs fail)";
    check(cost(15_000_000_000), &[0, 0], wrong);
}

#[test]
fn a_change_is_from_one_variant_to_another() {
    let change = |least: i128| {
        promise(Verb::Change {
            metric: Metric::Retries,
            of: None,
            from: 0,
            to: 1,
            bounds: Bounds::at_least(least),
        })
    };
    let mut variants = ["before", "after"].map(|name| VariantVerdict::new(0, name.to_owned(), vec![]));
    variants[1].variant = 1;
    variants[0].merge(&played(answered));
    variants[1].merge(&played(fell_back(0)));
    let details = |least| conclude(&[change(least)], &variants).checks[0].details.clone();
    assert_eq!(details(1), Vec::<String>::new());
    let wrong = "expected retries to change by at least 2 from before to after, saw 1 (from 0 to 1)";
    assert_eq!(details(2), [wrong]);
    assert_eq!(conclude(&[change(1)], &variants[..1]).checks[0].word, Word::Broken);
}

#[test]
fn a_promise_about_no_variant_is_not_kept_and_no_promise_is_no_pass() {
    let verb = Verb::Count { pattern: pattern("replied", &[]), bounds: Bounds::default() };
    let mut orphan = promise(verb);
    orphan.variants = Variants::Only(vec![7]);
    let mut base = VariantVerdict::new(0, "base".to_owned(), vec![]);
    base.merge(&played(fell_back(0)));
    let checks = conclude(&[orphan], std::slice::from_ref(&base)).checks;
    assert_eq!(checks[0].details, ["it speaks of 1 variants, 0 were played"]);
    let empty = conclude(&[], std::slice::from_ref(&base));
    assert!(!empty.is_pass() && empty.failed().next().is_none());
}

#[test]
fn a_law_that_is_meant_to_be_broken_must_be() {
    let word = |law: Law, breaks: &[Law], script: &dyn Fn(&mut Play<'_>)| {
        let mut variant = VariantVerdict::new(0, "base".to_owned(), breaks.to_vec());
        variant.merge(&played(script));
        let checks = conclude(&[], &[variant]).checks;
        checks.into_iter().find(|check| check.subject == Subject::Law(law)).unwrap()
    };
    let law = Law::NoCallAfterReply;
    let right = fell_back(0);
    let wrong = |play: &mut Play<'_>| {
        play.arrive(Delivery::Whole).reply(R, Outcome::NoEligibleRoute).call(R, A);
    };
    assert_eq!(word(law, &[], &right).word, Word::Held);
    assert_eq!(word(law, &[], &wrong).word, Word::Broken);
    assert_eq!(word(law, &[law], &wrong).word, Word::BrokenAsDeclared);
    let unbroken = word(law, &[law], &right);
    assert_eq!(unbroken.word, Word::NotBroken);
    assert_eq!(unbroken.details, ["variant base is meant to break it and did not in its run"]);
    assert_eq!(word(law, &[], &|_| ()).word, Word::NotExercised);
}

/// Of a law that fails, what was meant is not told beside what was not.
#[test]
fn a_breach_that_is_declared_is_told_only_where_no_other_fails() {
    let law = Law::NoCallAfterReply;
    let wrong = |play: &mut Play<'_>| {
        play.arrive(Delivery::Whole).reply(R, Outcome::NoEligibleRoute).call(R, A);
    };
    let variant = |at: u16, name: &str, breaks: &[Law], script: &dyn Fn(&mut Play<'_>)| {
        let mut variant = VariantVerdict::new(at, name.to_owned(), breaks.to_vec());
        variant.merge(&played(script));
        variant
    };
    let of = |variants: &[VariantVerdict]| {
        let checks = conclude(&[], variants).checks;
        let check = checks.into_iter().find(|check| check.subject == Subject::Law(law)).unwrap();
        let named = |detail: &String| detail.split([' ', ',']).nth(1).unwrap().to_owned();
        (check.word, check.details.iter().map(named).collect::<Vec<_>>())
    };
    let before = variant(0, "before", &[law], &wrong);
    let right = variant(1, "right", &[law], &fell_back(0));
    let slip = variant(2, "slip", &[], &wrong);
    assert_eq!(of(std::slice::from_ref(&before)), (Word::BrokenAsDeclared, vec!["before".to_owned()]));
    assert_eq!(of(&[before.clone(), slip]), (Word::Broken, vec!["slip".to_owned()]));
    assert_eq!(of(&[before, right]), (Word::NotBroken, vec!["right".to_owned()]));
}
