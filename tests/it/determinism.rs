//! The same seed gives the same bytes: on however many threads, and whatever else happens in the world.

use crate::support::{Place, faultlab, lines_of_seed, read};
use faultlab::scenario::Scenario;
use faultlab::suite::embedded;
use serde_json::Value;
use std::collections::BTreeMap;

#[test]
fn the_bytes_are_the_same_on_one_thread_and_on_two() {
    let place = Place::new("threads");
    let played = |threads: &str, again: &str| {
        let out = place.path().join(format!("{threads}-{again}"));
        let command =
            faultlab().env("RAYON_NUM_THREADS", threads).args(["--format", "json", "--out-dir"]).arg(&out);
        let ended = command.output().unwrap();
        assert_eq!(ended.status.code(), Some(0));
        let bytes = |name: &str| std::fs::read(out.join(name)).unwrap();
        (ended.stdout, bytes("events.jsonl"), bytes("summary.json"))
    };
    let one = played("1", "first");
    assert!(one == played("2", "first"), "two threads");
    assert!(one == played("1", "again"), "again");
}

/// What comes later was not known earlier: one request more at the end of a run adds entries at the end of it and
/// changes not one byte before.
#[test]
fn a_request_that_comes_last_changes_nothing_before_it() {
    for one in embedded() {
        let before = read(one.name, one.text);
        let tokens = "tokens = { input = 10, output_max = 10 }";
        let late = format!("\n[[request]]\nid = \"req-late\"\nat = \"30 d\"\n{tokens}\n");
        let after = read(one.name, &with_request(one.text, &late));
        assert_eq!(before.variants.len(), after.variants.len());
        for (was, is) in before.variants.iter().zip(&after.variants) {
            let (was, is) = (lines_of_seed(&before, was, 1), lines_of_seed(&after, is, 1));
            let is_of_the_run = |line: &&str| !line.contains("\"event\":\"run_ended\"");
            let entries = |text: &str| -> Vec<String> {
                text.lines().skip(1).take_while(is_of_the_run).map(str::to_owned).collect()
            };
            let (was, is) = (entries(&was), entries(&is));
            assert_eq!(was[..], is[..was.len()], "{}", one.name);
            let first: Value = serde_json::from_str(&is[was.len()]).unwrap();
            assert_eq!((&first["event"], &first["request"]), (&"arrived".into(), &"req-late".into()));
        }
    }
}

/// The dice are keyed by names: who comes with other requests, earlier or in between, over routes of their own, moves
/// nobody else's numbers. Only the numbers of the entries change, and they are all that is taken back here.
#[test]
fn requests_that_share_nothing_move_nobodys_dice() {
    let alone = read("world", &world(""));
    let crowded = read("world", &world(STRANGERS));
    let mut longest = 0;
    for seed in 1..=30 {
        let was = lines_of_seed(&alone, &alone.variants[0], seed);
        let is = lines_of_seed(&crowded, &crowded.variants[0], seed);
        assert!(is.lines().count() > was.lines().count() + 100, "the strangers are there");
        let (was, is) = (renumbered(&was), renumbered(&is));
        assert_eq!(was, is, "seed {seed}");
        longest = longest.max(was.len());
        let kinds =
            |kind: &str| was.iter().filter(|line| line.contains(&format!("\"event\":\"{kind}\""))).count();
        assert!(kinds("retry_scheduled") > 3 && kinds("replied") == 40, "something is at stake");
    }
    assert!(longest > 400);
}

/// Over a shared route they do meet: the comparison above can fail.
#[test]
fn requests_that_share_a_route_are_not_alone() {
    let alone = read("world", &world(""));
    let crowded = read("world", &world(&STRANGERS.replace("vision", "tools")));
    let entries = |scenario: &Scenario| renumbered(&lines_of_seed(scenario, &scenario.variants[0], 1));
    assert_ne!(entries(&alone), entries(&crowded));
}

/// Two seeds do not give the same run, or the tests above would prove nothing.
#[test]
fn another_seed_gives_another_run() {
    let scenario = read("world", &world(""));
    let variant = &scenario.variants[0];
    let entries = |seed| renumbered(&lines_of_seed(&scenario, variant, seed));
    assert_ne!(entries(1), entries(2));
    assert_eq!(entries(2), entries(2));
}

/// Forty requests with random gaps, latencies, faults and backoffs.
fn world(strangers: &str) -> String {
    format!(
        r#"format = 1
title = "Forty requests, and strangers"

[policy.retry]
attempts_max = 3
backoff = {{ exponential = {{ base = "50 ms", factor = "2/1", cap = "1 s" }}, jitter = "full" }}

[policy.remedy]
rate_limit = "fallback"
{strangers}
[[route]]
name = "primary"
capabilities = ["tools"]
price = {{ input = "$1.00/Mtok", output = "$4.00/Mtok" }}
latency_p95 = "100 ms"
upstream.replies = [{{ after = {{ p50 = "80 ms", p95 = "160 ms", p99 = "300 ms", max = "900 ms" }} }}]
upstream.faults = [{{ rate = "1/4", after = {{ exponential = "20 ms" }}, status = 429, code = "rate_limited" }}]

[[route]]
name = "fallback"
capabilities = ["tools"]
price = {{ input = "$1.00/Mtok", output = "$4.00/Mtok" }}
latency_p95 = "600 ms"
upstream.replies = [{{ after = {{ exponential = "90 ms" }} }}]
upstream.faults = [{{ rate = "1/6", after = "30 ms", status = 503, code = "overloaded" }}]

[[arrivals]]
name = "ours"
gap = {{ exponential = "40 ms" }}
count = 40
deadline = "10 s"
cost_max = "$1"
capabilities = ["tools"]
tokens = {{ input = 1000, output_max = 500 }}
"#
    )
}

/// They come first in the file and first in time, more often, and call a route that nobody else may call.
const STRANGERS: &str = r#"
[[route]]
name = "theirs"
capabilities = ["vision"]
price = { input = "$1.00/Mtok", output = "$4.00/Mtok" }
upstream.replies = [{ after = { exponential = "30 ms" } }]
upstream.faults = [{ rate = "1/4", after = "5 ms", status = 429, code = "rate_limited" }]

[[arrivals]]
name = "strangers"
gap = { exponential = "11 ms" }
count = 100
deadline = "10 s"
cost_max = "$1"
capabilities = ["vision"]
tokens = { input = 1000, output_max = 500 }
"#;

/// The entries of a run without those of strangers, numbered anew. A stranger who causes one of them is told.
fn renumbered(text: &str) -> Vec<String> {
    let mut numbers: BTreeMap<u64, usize> = BTreeMap::new();
    let mut kept = Vec::new();
    for line in text.lines().skip(1).map(without_their_route) {
        if line.contains("\"strangers/") || line.contains("\"theirs") {
            continue;
        }
        let entry: Value = serde_json::from_str(&line).unwrap();
        let seq = entry["seq"].as_u64().unwrap();
        numbers.insert(seq, kept.len());
        let mut line = line.replacen(&format!("\"seq\":{seq},"), &format!("\"seq\":{},", kept.len()), 1);
        if let Some(cause) = entry["cause"].as_u64() {
            let known = numbers.get(&cause).map_or("a stranger".to_owned(), usize::to_string);
            line = line.replacen(&format!("\"cause\":{cause},"), &format!("\"cause\":{known},"), 1);
        }
        kept.push(line);
    }
    kept
}

/// The route of the strangers is weighed for everybody and excluded: that is true, and not about dice.
fn without_their_route(line: &str) -> String {
    let begin = line.find("\"candidates\":[{\"route\":\"theirs\"").map(|at| at + "\"candidates\":[".len());
    let Some(begin) = begin.filter(|_| !line.contains("\"strangers/")) else { return line.to_owned() };
    let end = begin + line[begin..].find("},").expect("other candidates follow") + "},".len();
    format!("{}{}", &line[..begin], &line[end..])
}

/// A request more, before the variants.
fn with_request(text: &str, request: &str) -> String {
    let at = text.find("\n[[expect]]").expect("it promises something");
    format!("{}{request}{}", &text[..at], &text[at..])
}
