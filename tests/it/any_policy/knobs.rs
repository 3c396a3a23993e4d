//! Policies that say nothing that is documented to break a law: any knob of `[policy]`, at any value.

use super::menu::{Choices, Menu, chosen};
use faultlab::scenario::{Knob, knobs};
use std::sync::LazyLock;

/// Knobs that are tables in braces: their values only mean something together.
const COMPOSED: [(&str, &[&str]); 4] = [
    (
        "retry.backoff",
        &[
            "{ fixed = \"0 ms\" }",
            "{ fixed = \"50 ms\" }",
            "{ fixed = \"400 ms\", jitter = \"full\" }",
            "{ linear = { base = \"20 ms\", cap = \"1 s\" }, jitter = \"25 %\" }",
            "{ exponential = { base = \"1 ns\", cap = \"1 h\" } }",
        ],
    ),
    ("breaker.trip", &["{ count = 1 }", "{ count = 2 }", "{ ratio = \"0/1\" }", "{ ratio = \"1/2\" }"]),
    ("breaker.slow", &["{ above = \"0 ms\", share = \"0/1\" }", "{ above = \"200 ms\", share = \"1/2\" }"]),
    ("breaker.window", &[]),
];

/// What makes most happen, drawn besides: a knob that is drawn among all is seldom one of these.
const BUSY: Menu = &[
    ("policy.hedge.after", &["\"50 ms\"", "\"0 ms\"", "\"200 ms\"", "\"p95\""]),
    ("policy.hedge.legs_max", &["2", "3", "4"]),
    ("policy.hedge.after", &["\"20 ms\"", "\"100 ms\""]),
    ("policy.hedge.legs_max", &["3", "2"]),
    ("policy.retry.attempts_max", &["4", "2", "8"]),
    ("policy.retry.calls_per_route_max", &["2", "1", "4"]),
    ("policy.retry.backoff", COMPOSED[0].1),
    ("policy.remedy.rate_limit", &["\"fallback\"", "\"fallback_now\"", "\"wait_same_then_fallback\""]),
    ("policy.remedy.overload", &["\"wait_same_then_fallback\"", "\"fallback_now\""]),
    ("policy.timeouts.attempt", &["\"100 ms\"", "\"500 ms\""]),
    ("policy.timeouts.first_byte", &["\"50 ms\"", "\"300 ms\""]),
    ("policy.timeouts.idle", &["\"50 ms\"", "\"300 ms\""]),
    ("policy.breaker.failures", &["1", "2"]),
    ("policy.breaker.open_for", &["\"200 ms\"", "\"1 s\"", "\"0 ms\""]),
    ("policy.breaker.probes", &["1", "2", "3"]),
    ("policy.breaker.probe_timeout", &["\"100 ms\"", "\"1 s\"", "\"never\""]),
    ("policy.breaker.close_after", &["2", "1"]),
    ("policy.breaker.scope", &["\"route\"", "\"provider\""]),
    ("policy.breaker.when_open", &["\"wait\""]),
    ("policy.health.degraded_after", &["1", "2"]),
    ("policy.health.unhealthy_after", &["1", "2"]),
    ("policy.health.cooldown", &["\"300 ms\"", "\"0 ms\""]),
    ("policy.health.scope", &["\"route\"", "\"provider\""]),
    ("policy.cooldown.rate_limit", &["\"300 ms\"", "\"2 s\""]),
    ("policy.cooldown.quota_exhausted", &["\"300 ms\"", "\"0 ms\""]),
    ("policy.concurrency.route_max", &["1", "2"]),
    ("policy.concurrency.task_max", &["1", "2"]),
    ("policy.concurrency.tenant_max", &["1", "2"]),
    ("policy.concurrency.queue_max", &["0", "1", "2"]),
    ("policy.fuse.calls_per_task", &["1", "3", "6"]),
    ("policy.fuse.calls_per_run", &["3", "10", "30"]),
    ("policy.fuse.identical_per_task", &["1", "2", "4"]),
    ("policy.fuse.failing_per_task", &["1", "2", "4"]),
    ("policy.fuse.terminal", &["\"account\"", "\"run\""]),
    ("policy.budget.receipt_max", &["\"100 ms\"", "\"0 ms\"", "\"1 s\""]),
    ("policy.budget.attempt_cost_max", &["\"$0.02\""]),
    ("policy.eligibility.reserve_retries", &["1", "2"]),
];

/// What the routes of one provider may have of their own.
const PROFILE: Menu = &[
    ("retry.calls_per_route_max", &["1", "3", "5"]),
    ("retry.backoff", COMPOSED[0].1),
    ("timeouts.attempt", &["\"70 ms\"", "\"700 ms\""]),
    ("timeouts.first_byte", &["\"30 ms\"", "\"400 ms\""]),
    ("timeouts.idle", &["\"30 ms\"", "\"400 ms\""]),
    ("breaker.failures", &["1", "3"]),
    ("breaker.trip", COMPOSED[1].1),
    ("breaker.open_for", &["\"150 ms\"", "\"2 s\"", "\"0 ms\""]),
    ("breaker.probes", &["2", "1"]),
    ("breaker.probe_timeout", &["\"80 ms\"", "\"never\""]),
    ("breaker.close_after", &["2", "1"]),
];

/// What is approved after faults of each class.
const APPROVED: [(&str, Menu); 2] = [("funds", APPROVAL), ("auth", APPROVAL)];

const APPROVAL: Menu = &[
    ("route", &["\"r0\"", "\"r1\"", "\"r2\""]),
    ("cost_max", &["\"$0.05\"", "\"$0\"", "\"$5\""]),
    ("cost_max", &["\"$0.02\"", "\"$0.30\""]),
];

/// Approvals of some of the first `routes` routes; what lacks its budget is none.
pub(super) fn approvals(routes: usize, drawn: &[Choices; 2]) -> String {
    let is_there = |line: &&str| (0..routes).any(|at| line.contains(&format!("\"r{at}\"")));
    let one = |((class, menu), drawn): ((&str, Menu), &Choices)| {
        let lines = chosen(menu, drawn);
        let route = lines.lines().find(|line| line.starts_with("route")).filter(is_there)?;
        let cost = lines.lines().find(|line| line.starts_with("cost_max"))?;
        Some(format!("{{ on = \"{class}\", {route}, {cost} }}"))
    };
    let some: Vec<String> = APPROVED.into_iter().zip(drawn).filter_map(one).collect();
    if some.is_empty() {
        String::new()
    } else {
        format!("policy.approved_failover = [{}]\n", some.join(", "))
    }
}

/// A profile for the routes of `provider` over this policy, without what would be dead in it.
pub(super) fn profile(provider: &str, drawn: &Choices, policy: &str) -> String {
    let says = |text: &str| policy.contains(text);
    let is_dead = |line: &&str| {
        line.starts_with("breaker.") && says("policy.breaker.enabled = false")
            || line.starts_with("breaker.failures") && says("policy.breaker.trip")
    };
    let lines = chosen(PROFILE, drawn);
    let kept: Vec<&str> = lines.lines().filter(|line| !is_dead(line)).collect();
    if kept.is_empty() {
        return String::new();
    }
    format!("policy.profile = [{{ provider = \"{provider}\", {} }}]\n", kept.join(", "))
}

/// Every knob with its right values.
static KNOWN: LazyLock<Vec<(String, Vec<String>)>> = LazyLock::new(|| {
    let of_one_value = |path: &str| !COMPOSED.iter().any(|(table, _)| path.contains(table));
    let mut known: Vec<(String, Vec<String>)> = knobs()
        .iter()
        .filter(|knob| knob.path.starts_with("policy.") && !is_of_a_list(knob) && of_one_value(&knob.path))
        .map(|knob| (knob.path.clone(), right_values(knob)))
        .filter(|(_, values)| !values.is_empty())
        .collect();
    known.extend(COMPOSED.iter().filter(|(_, values)| !values.is_empty()).map(|(table, values)| {
        (format!("policy.{table}"), values.iter().map(|value| (*value).to_owned()).collect())
    }));
    known
});

/// One line a chosen knob, each with a chosen value: of those that make things happen, and of all.
pub(super) fn policy(busy: &Choices, any: &Choices) -> String {
    let mut text = chosen(BUSY, busy);
    for (which, value) in any {
        let (path, values) = &KNOWN[which.index(KNOWN.len())];
        if !text.lines().any(|line| line.starts_with(&format!("{path} "))) {
            text.push_str(&format!("{path} = {}\n", values[value.index(values.len())]));
        }
    }
    text
}

/// A profile and an approval are drawn as a whole.
fn is_of_a_list(knob: &Knob) -> bool {
    knob.path.contains("[]")
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
    let right = values.into_iter().filter(|value| !value.is_empty() && !breaks_a_law(value));
    right.map(|value| written(&value)).collect()
}

/// A value as a file has it: numbers and switches are bare, everything else is a text.
pub(super) fn written(value: &str) -> String {
    let is_bare = value.parse::<u32>().is_ok() || ["true", "false"].contains(&value);
    if is_bare { value.to_owned() } else { format!("\"{value}\"") }
}

#[test]
fn every_knob_has_a_right_value() {
    let drawn = |path: &str| {
        KNOWN.iter().any(|known| known.0 == path)
            || COMPOSED.iter().any(|(table, _)| path.contains(table))
            || BUSY.iter().any(|known| known.0 == path)
    };
    let knobs = knobs();
    let singly = knobs.iter().filter(|knob| !is_of_a_list(knob));
    let paths = singly.map(|knob| knob.path.as_str()).filter(|path| path.starts_with("policy."));
    let missing: Vec<&str> = paths.filter(|path| !drawn(path)).collect();
    assert_eq!(missing, ["policy.dialect_lines", "policy.ranking.order"], "only lists are not drawn");
}
