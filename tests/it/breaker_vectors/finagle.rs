//! Finagle's failure accrual, from its own tests. Its policies only say for how long a node is dead after a
//! failure; here the node waits that long, is probed, and the probe is the next result.

use faultlab::policy::breaker::{Breaker, Config, State, profiles};
use faultlab::policy::signal::Signal;
use faultlab::units::{Duration, Timestamp};
use serde_json::{Value, json};

use super::row::{self, Row, Twist, Verdict};

/// For how long each failure declared the node dead, by step.
type Dead = Vec<Vec<Option<Duration>>>;

pub(super) fn replay(row: &Row, twist: Twist) -> Verdict {
    let mut dead = Dead::new();
    for config in configs(row)? {
        let one = play(&twist(config), row)?;
        dead = if dead.is_empty() { one } else { longest(&dead, &one) };
    }
    if !row.expect.is_array() {
        let want = &row.expect;
        return row::same_fields(row.steps.len(), |field| summary(&dead, field, &want[field]), want);
    }
    for (n, (_, want)) in row.pairs()?.into_iter().enumerate() {
        row::same_fields(n, |field| (field == "dead_ms").then(|| ms(last(&dead[n]))), want)?;
    }
    Ok(())
}

/// Two policies combined: the longest time wins.
fn longest(a: &Dead, b: &Dead) -> Dead {
    let longer = |(a, b): (&Vec<_>, &Vec<_>)| a.iter().zip(b).map(|(a, b)| *Ord::max(a, b)).collect();
    a.iter().zip(b).map(longer).collect()
}

fn play(config: &Config, row: &Row) -> Result<Dead, String> {
    let mut now = Timestamp::ZERO;
    let mut breaker = Breaker::new(config, now);
    let mut dead = Dead::new();
    for step in &row.steps {
        let (word, times) = match row::word(step)?.split_once(" x") {
            Some((word, times)) => (word, times.parse().map_err(|_| format!("unknown step {step:?}"))?),
            None => (row::word(step)?, 1u32),
        };
        let mut failures = Vec::new();
        for _ in 0..times {
            let signal = match word {
                "success" | "revived" => Signal::Good,
                "failure" => Signal::Bad,
                other => return Err(format!("unknown step {other:?}")),
            };
            now = now.max(breaker.status(now).retry_at);
            let permit = row::admit(&mut breaker, now).ok_or("a node that stays dead")?;
            _ = breaker.settle(now, permit, row::sample(signal));
            let status = breaker.status(now);
            if signal == Signal::Bad {
                failures.push((status.state == State::Open).then(|| status.retry_at.since(now)));
            }
        }
        dead.push(failures);
    }
    Ok(dead)
}

fn configs(row: &Row) -> Result<Vec<Config>, String> {
    row.knows_only(&["n", "mark_dead_ms", "mark_dead", "required", "window", "a", "b"])?;
    let dead_for = row.ms("mark_dead_ms").unwrap_or(Duration::from_secs(300));
    match row.model().as_str() {
        "finagle consecutiveFailures" => {
            let n = row.count("n").ok_or("no number of failures")?;
            let constant = [dead_for; 64];
            let list = match row.config.get("mark_dead").and_then(Value::as_str) {
                None => &constant[..],
                Some(text) => &constant[..finite(text)?],
            };
            Ok(vec![profiles::finagle_consecutive(n, list)])
        }
        "finagle successRate EMA" => {
            let required = row.ratio("required", 1).ok_or("no required share")?;
            let window = row.count("window").ok_or("no window")?;
            Ok(vec![profiles::finagle_success_rate(required, window, dead_for)])
        }
        "finagle orElse hybrid" => ["a", "b"].iter().map(|key| consecutive(row, key)).collect(),
        other => Err(format!("unknown policy {other:?}")),
    }
}

/// `finite backoff of 6 then constant 300 s`
fn finite(text: &str) -> Result<usize, String> {
    text.strip_prefix("finite backoff of ")
        .and_then(|t| t.strip_suffix(" then constant 300 s"))
        .and_then(|n| n.parse().ok())
        .ok_or_else(|| format!("unknown backoff {text:?}"))
}

/// `consec 3 -> 5 s`
fn consecutive(row: &Row, key: &str) -> Result<Config, String> {
    let text = row.config.get(key).and_then(Value::as_str).unwrap_or_default();
    let unread = || format!("unknown policy {text:?}");
    let (n, seconds) = text
        .strip_prefix("consec ")
        .and_then(|t| t.strip_suffix(" s"))
        .and_then(|t| t.split_once(" -> "))
        .ok_or_else(unread)?;
    let dead_for = Duration::from_secs(seconds.parse().map_err(|_| unread())?);
    Ok(profiles::finagle_consecutive(n.parse().map_err(|_| unread())?, &[dead_for; 64]))
}

/// A summary of many failures: `dead_ms`, `dead_ms_5th`, `dead_ms_first4`, `dead_ms_during_69`,
/// `dead_ms_on_70th`, `dead_ms_after_exhaustion`.
fn summary(dead: &Dead, field: &str, want: &Value) -> Option<Value> {
    let all: Vec<Option<Duration>> = dead.iter().flatten().copied().collect();
    let rest = field.strip_prefix("dead_ms")?.trim_start_matches('_');
    let ordinal = |t: &str| t.trim_end_matches(char::is_alphabetic).parse::<usize>().ok();
    let several: &[Option<Duration>] = match rest {
        "" => return Some(ms(*all.last()?)),
        "after_exhaustion" => dead.last()?,
        _ => match rest.strip_prefix("first").or(rest.strip_prefix("during_")) {
            Some(n) => all.get(..n.parse().ok()?)?,
            None => {
                let nth = ordinal(rest.strip_prefix("on_").unwrap_or(rest))?;
                std::slice::from_ref(all.get(nth - 1)?)
            }
        },
    };
    // All must be as wanted; the first that is not is what was got.
    let different = several.iter().map(|d| ms(*d)).find(|got| got != want);
    Some(different.unwrap_or_else(|| want.clone()))
}

fn last(failures: &[Option<Duration>]) -> Option<Duration> {
    failures.last().copied().flatten()
}

fn ms(dead: Option<Duration>) -> Value {
    dead.map_or(Value::Null, |d| json!(d.nanos() / 1_000_000))
}
