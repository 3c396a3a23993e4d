//! failsafe-go: results are recorded without a permit; reading the state changes nothing.

use faultlab::policy::breaker::{
    Breaker, Config, Cooldown, Order, ProbeLimit, State, Trip, Verdict as Decides, profiles,
};
use faultlab::policy::signal::Signal;
use faultlab::units::{Duration, Timestamp};
use serde_json::{Value, json};

use super::row::{self, Row, Twist, Verdict};

pub(super) fn replay(row: &Row, twist: Twist) -> Verdict {
    // Buckets are aligned to the wall clock, so the replay starts at the wall clock's time.
    let base = Duration::from_secs(row.number("clock_base_unix").unwrap_or(1_700_000_000));
    let mut now = row::at(base);
    let mut breaker = Breaker::new(&twist(config(row)?), now);
    for (n, (step, want)) in row.pairs()?.into_iter().enumerate() {
        if let Some(to) = row::clock(step) {
            now = to.after(base);
            continue;
        }
        let mut permit = Value::Null;
        match row::word(step)? {
            "acq" | "acquire" => permit = json!(row::admit(&mut breaker, now).is_some()),
            "ok" | "success" => record(&mut breaker, now, Signal::Good),
            "err" | "failure" => record(&mut breaker, now, Signal::Bad),
            "to_open" => order(&mut breaker, now, Order::Open, State::Open),
            "to_half_open" => order(&mut breaker, now, Order::HalfOpen, State::HalfOpen),
            "to_closed" if breaker.status(now).state == State::Closed => {}
            "to_closed" | "reset" => _ = breaker.reset(now),
            "observe" => {}
            other => return Err(format!("unknown step {other:?}")),
        }
        let look = |field: &str| field_of(&breaker, now, &permit, field);
        if want.is_array() {
            let permit = permit.as_bool().map_or(Value::Null, |p| json!(u8::from(p)));
            let fields = ["state", "executions", "failures", "successes", "remaining_delay_ms"];
            let got: Vec<Value> = [permit].into_iter().chain(fields.iter().filter_map(|f| look(f))).collect();
            row::same(n, &got, want)?;
        } else {
            row::same_fields(n, look, want)?;
        }
    }
    Ok(())
}

fn record(breaker: &mut Breaker, now: Timestamp, signal: Signal) {
    let era = breaker.era(now);
    _ = breaker.record(now, era, row::sample(signal));
}

/// Ordering the state that the breaker is in does nothing there.
fn order(breaker: &mut Breaker, now: Timestamp, order: Order, to: State) {
    if breaker.status(now).state != to {
        _ = breaker.order(now, order);
    }
}

fn field_of(breaker: &Breaker, now: Timestamp, permit: &Value, field: &str) -> Option<Value> {
    let status = breaker.status(now);
    let tally = status.tally;
    Some(match field {
        "permit" => permit.clone(),
        "state" => json!(match status.state {
            State::Closed => "closed",
            State::Open => "open",
            State::HalfOpen => "half-open",
            State::ForcedOpen | State::Disabled | State::MetricsOnly => "not a state of failsafe-go",
        }),
        "executions" => json!(tally.results()),
        "failures" => json!(tally.bad),
        "successes" => json!(tally.good),
        "failure_rate" => two_decimals(tally.bad, tally.results()),
        "success_rate" => two_decimals(tally.good, tally.results()),
        "remaining_delay_ms" => match status.state {
            State::Open => json!(status.until.map_or(0, |until| until.since(now).nanos()) / 1_000_000),
            State::Closed | State::HalfOpen | State::ForcedOpen | State::Disabled | State::MetricsOnly => {
                json!(0)
            }
        },
        _ => return None,
    })
}

/// `part / whole` with two decimals, halves rounded up.
fn two_decimals(part: u64, whole: u64) -> Value {
    let hundredths = (200 * part + whole).checked_div(2 * whole).unwrap_or(0);
    serde_json::from_str(&format!("{}.{:02}", hundredths / 100, hundredths % 100))
        .expect("digits are a number")
}

fn config(row: &Row) -> Result<Config, String> {
    row.knows_only(&[
        "clock_base_unix",
        "delay_ms",
        "failure_threshold",
        "failure_rate",
        "execution_threshold",
        "period_ms",
        "buckets",
        "success_threshold",
    ])?;
    let period = row.ms("period_ms");
    let mut config = match (row.ratio("failure_rate", 1), row.config.get("failure_threshold"), period) {
        (Some(rate), None, Some(period)) => {
            profiles::failure_rate(rate, row.count("execution_threshold").unwrap_or(1), period)
        }
        (None, Some(threshold), period) => {
            let (bad, of) = ratio(threshold)?;
            let mut config = profiles::failures(bad, of);
            if let Some(period) = period {
                config.window = profiles::tenths(period);
                config.trip = Trip::Count { bad };
            }
            config
        }
        (None, None, None) => profiles::failsafe_go(),
        _ => return Err("thresholds of two kinds".to_owned()),
    };
    if row.number("buckets").is_some_and(|n| n != 10) {
        return Err("a number of buckets that the library does not have".to_owned());
    }
    if let Some(threshold) = row.config.get("success_threshold") {
        let (good, of) = ratio(threshold)?;
        config.verdict = Decides::Quorum { good, of };
        config.probes = ProbeLimit::InFlight(of);
    }
    if let Some(delay) = row.ms("delay_ms") {
        config.cooldown = Cooldown::Fixed(delay);
    }
    Ok(config)
}

/// `"2/3"`, `[2, 3]` or `2`, which is 2 of 2.
fn ratio(value: &Value) -> Result<(u32, u32), String> {
    let whole = |v: &Value| v.as_u64().and_then(|n| u32::try_from(n).ok());
    let parts = match value {
        Value::Array(parts) => parts.first().and_then(whole).zip(parts.get(1).and_then(whole)),
        Value::String(text) => text.split_once('/').and_then(|(k, n)| k.parse().ok().zip(n.parse().ok())),
        Value::Number(_) => whole(value).map(|n| (n, n)),
        Value::Null | Value::Bool(_) | Value::Object(_) => None,
    };
    parts.ok_or_else(|| format!("unknown threshold {value}"))
}
