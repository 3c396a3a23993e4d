//! Whatever a policy says, as long as it says nothing that is documented to break a law, no law is broken: every
//! knob of `[policy]` is set at random, alone and together, over the shipped scenarios.

use faultlab::judge::{Judge, Law, VariantVerdict, Word, conclude};
use faultlab::scenario::{Knob, Scenario, knobs, load};
use faultlab::sim::run;
use proptest::prelude::*;
use proptest::sample::Index;

const SHIPPED: [&str; 7] = [
    include_str!("../../scenarios/routing.toml"),
    include_str!("../../scenarios/bounded-429.toml"),
    include_str!("../../scenarios/terminal-errors.toml"),
    include_str!("../../scenarios/circuit.toml"),
    include_str!("../../scenarios/hedging.toml"),
    include_str!("../../scenarios/budget-audit.toml"),
    include_str!("../../scenarios/quota-cascade.toml"),
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn no_right_policy_breaks_a_law(which in 0usize..7, choices in prop::collection::vec((any::<Index>(), any::<Index>()), 1..6)) {
        let policy = policy(&choices);
        let scenario = with_policy(SHIPPED[which], &policy);
        for (at, variant) in scenario.variants.iter().enumerate().filter(|(_, v)| v.breaks.is_empty()) {
            let mut verdict = VariantVerdict::new(at as u16, variant.name.clone(), Vec::new());
            let setup = variant.setup_for(*variant.seeds.start());
            let mut judge = Judge::new(&setup.catalog, &[], at as u16, setup.seed);
            let ending = run(&setup, &mut judge);
            verdict.merge(&judge.finish(&ending));
            let broken = Law::ALL.iter().any(|law| verdict.law(*law) == Word::Broken);
            let told = conclude(&[], std::slice::from_ref(&verdict));
            prop_assert!(!broken, "{policy}{:?}", told.failed().collect::<Vec<_>>());
            prop_assert!(verdict.restless.is_empty(), "{policy}no rest in {}", variant.name);
        }
    }
}

/// Knobs that are tables in braces: their values only mean something together.
const COMPOSED: [(&str, &[&str]); 4] = [
    ("retry.backoff", &["{ fixed = \"0 ms\" }", "{ exponential = { base = \"1 ns\", cap = \"1 h\" } }"]),
    ("breaker.trip", &["{ count = 1 }", "{ count = 2 }", "{ ratio = \"0/1\" }", "{ ratio = \"1/2\" }"]),
    ("breaker.slow", &["{ above = \"0 ms\", share = \"0/1\" }", "{ above = \"1 s\", share = \"1/2\" }"]),
    ("breaker.window", &[]),
];

/// One line a chosen knob, each with a chosen value.
fn policy(choices: &[(Index, Index)]) -> String {
    let of_one_value = |path: &str| !COMPOSED.iter().any(|(table, _)| path.contains(table));
    let mut known: Vec<(String, Vec<String>)> = knobs()
        .iter()
        .filter(|knob| knob.path.starts_with("policy.") && of_one_value(&knob.path))
        .map(|knob| (knob.path.clone(), right_values(knob)))
        .filter(|(_, values)| !values.is_empty())
        .collect();
    known.extend(COMPOSED.iter().filter(|(_, values)| !values.is_empty()).map(|(table, values)| {
        (format!("policy.{table}"), values.iter().map(|value| (*value).to_owned()).collect())
    }));
    let mut lines: Vec<String> = Vec::new();
    for (which, value) in choices {
        let (path, values) = &known[which.index(known.len())];
        if !lines.iter().any(|line| line.starts_with(&format!("{path} "))) {
            lines.push(format!("{path} = {}\n", values[value.index(values.len())]));
        }
    }
    lines.concat()
}

/// Values of a knob that break no law by themselves, from the absurdly small to the absurdly large.
fn right_values(knob: &Knob) -> Vec<String> {
    let of = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>();
    let values = match knob.wants.as_str() {
        wants if wants.starts_with("a time with its unit") => {
            let mut values = of(&["0 ms", "1 ns", "50 ms", "1 s", "20000 d"]);
            values
                .extend(["never", "p95"].into_iter().filter(|word| wants.contains(word)).map(str::to_owned));
            values
        }
        "a whole number" => of(&["0", "1", "2", "5", "4294967295"]),
        "a whole number from 1" => of(&["1", "2", "5", "4294967295"]),
        "an amount in dollars" => of(&["$0", "$0.03", "$18000000"]),
        "true or false" => of(&["true", "false"]),
        wants => {
            let words = wants.strip_prefix("one of ").unwrap_or_default();
            words.split(", ").flat_map(|words| words.split(" or ")).map(str::to_owned).collect()
        }
    };
    let breaks_a_law =
        |value: &String| knob.wrong.iter().any(|wrong| wrong.0 == value && !wrong.2.is_empty());
    let bare = |value: &str| value.parse::<u32>().is_ok() || ["true", "false"].contains(&value);
    let right = values.into_iter().filter(|value| !value.is_empty() && !breaks_a_law(value));
    right.map(|value| if bare(&value) { value } else { format!("\"{value}\"") }).collect()
}

/// A scenario with this policy instead of its own and without its promises.
fn with_policy(text: &str, policy: &str) -> Scenario {
    let mut kept = String::new();
    let mut is_kept = true;
    for line in text.lines() {
        if line.starts_with('[') {
            is_kept = !line.starts_with("[policy") && !line.starts_with("[[expect");
        }
        if is_kept {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    let first_table = kept.find("\n[").expect("there is a table");
    kept.insert_str(first_table + 1, policy);
    load("any.toml", &kept).unwrap_or_else(|problems| panic!("{problems}"))
}
