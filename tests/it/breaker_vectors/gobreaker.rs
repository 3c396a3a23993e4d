//! gobreaker v2: every operation, and every look at the state, brings the breaker up to the present first.

use std::collections::BTreeMap;

use faultlab::policy::breaker::{
    Breaker, Clamp, Config, Cooldown, Permit, ProbeLimit, RateOf, Rounding, State, Trip, Verdict as Decides,
    profiles,
};
use faultlab::policy::signal::Signal;
use faultlab::units::{Duration, Timestamp};
use serde_json::{Value, json};

use super::row::{self, Row, Twist, Verdict};

pub(super) fn replay(row: &Row, twist: Twist) -> Verdict {
    let mut breaker = Breaker::new(&twist(config(row)?), Timestamp::ZERO);
    let mut now = Timestamp::ZERO;
    let mut calls: BTreeMap<String, Permit> = BTreeMap::new();
    for (n, (step, want)) in row.pairs()?.into_iter().enumerate() {
        if let Some(to) = row::clock(step) {
            now = to;
            continue;
        }
        let mut permit = Value::Null;
        match row::word(step)? {
            "begin" => match row::admit(&mut breaker, now) {
                Some(granted) => {
                    permit = json!(1);
                    calls.insert(call(step)?, granted);
                }
                None => permit = json!(reason(breaker.status(now).state)?),
            },
            "end" => {
                if let Some(permit) = calls.remove(&call(step)?) {
                    _ = breaker.settle(now, permit, row::sample(signal(step)?));
                }
            }
            "observe" => {}
            other => return Err(format!("unknown step {other:?}")),
        }
        _ = breaker.touch(now);
        if want.is_array() {
            let mut got = vec![permit, json!(name(breaker.status(now).state))];
            got.extend(COUNTS.iter().filter_map(|field| count(&breaker, now, field)));
            row::same(n, &got, want)?;
        } else {
            let field = |field: &str| match field {
                "permit" => Some(json!(permit == json!(1))),
                "reason" => Some(permit.clone()),
                "state" => Some(json!(name(breaker.status(now).state))),
                other => count(&breaker, now, other),
            };
            row::same_fields(n, field, want)?;
        }
    }
    Ok(())
}

const COUNTS: [&str; 6] = ["requests", "successes", "failures", "exclusions", "consec_succ", "consec_fail"];

fn count(breaker: &Breaker, now: Timestamp, field: &str) -> Option<Value> {
    let tally = breaker.status(now).tally;
    let n = match field {
        "requests" => tally.begun,
        "successes" => tally.good,
        "failures" => tally.bad,
        "exclusions" => tally.neutral,
        "consec_succ" => tally.good_run,
        "consec_fail" => tally.bad_run,
        _ => return None,
    };
    Some(json!(n))
}

fn config(row: &Row) -> Result<Config, String> {
    row.knows_only(&["half_open_max_requests", "open_timeout_ms", "interval_ms", "bucket_ms", "trip"])?;
    let most = row.count("half_open_max_requests").unwrap_or(1).max(1);
    let every = row.ms("interval_ms").unwrap_or(Duration::ZERO);
    let bucket = row.ms("bucket_ms").unwrap_or(Duration::ZERO);
    let (trip, minimum) = trip(row.config.get("trip").and_then(Value::as_str).unwrap_or("consec=6"))?;
    Ok(Config {
        window: profiles::interval(every, bucket),
        trip,
        minimum,
        clamp: Clamp::Never,
        cooldown: Cooldown::Fixed(row.ms("open_timeout_ms").unwrap_or(Duration::from_secs(60))),
        probes: ProbeLimit::Total(most),
        verdict: Decides::AnyBadReopens { good: most },
        ..profiles::gobreaker()
    })
}

/// `consec=2`, `consecutive_failures > 5 (default)`, `ratio=0.6 min=3`, `failures=3`, or
/// `valid_requests>=3 and failures/valid>=0.6`
fn trip(text: &str) -> Result<(Trip, u32), String> {
    let unread = || format!("unknown trip {text:?}");
    let number = |t: &str| t.split(' ').next().and_then(|n| n.parse::<u32>().ok()).ok_or_else(unread);
    let plain =
        text.replace("consecutive_failures > ", "above=").replace("consecutive_failures >= ", "consec=");
    if let Some(n) = plain.strip_prefix("above=") {
        return Ok((Trip::Run { bad: number(n)? + 1 }, 0));
    }
    if let Some(n) = plain.strip_prefix("consec=") {
        return Ok((Trip::Run { bad: number(n)? }, 0));
    }
    if let Some(n) = plain.strip_prefix("failures=").or(plain.strip_prefix("failures>=")) {
        return Ok((Trip::Count { bad: number(n)? }, 0));
    }
    let (ratio, minimum) = match plain.strip_prefix("ratio=").and_then(|t| t.split_once(" min=")) {
        Some(parts) => parts,
        None => plain
            .strip_prefix("valid_requests>=")
            .and_then(|t| t.split_once(" and failures/valid>="))
            .map(|(minimum, ratio)| (ratio, minimum))
            .ok_or_else(unread)?,
    };
    let ratio: Value = serde_json::from_str(ratio).map_err(|_| unread())?;
    let bad = row::decimal(&ratio, 1);
    Ok((Trip::Rate { bad, of: RateOf::Begun, rounding: Rounding::Exact }, number(minimum)?))
}

fn call(step: &[Value]) -> Result<String, String> {
    step.get(1).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| "a call without a name".to_owned())
}

fn signal(step: &[Value]) -> Result<Signal, String> {
    match step.get(2).and_then(Value::as_str) {
        Some("ok" | "success") => Ok(Signal::Good),
        Some("err" | "failure") => Ok(Signal::Bad),
        Some("excl" | "excluded") => Ok(Signal::Neutral),
        other => Err(format!("unknown result {other:?}")),
    }
}

fn reason(state: State) -> Result<&'static str, String> {
    match state {
        State::Open => Ok("open"),
        State::HalfOpen => Ok("too_many"),
        other @ (State::Closed | State::ForcedOpen | State::Disabled | State::MetricsOnly) => {
            Err(format!("a refusal in {other:?}"))
        }
    }
}

fn name(state: State) -> &'static str {
    match state {
        State::Closed => "closed",
        State::Open => "open",
        State::HalfOpen => "half-open",
        State::ForcedOpen | State::Disabled | State::MetricsOnly => "not a state of gobreaker",
    }
}
