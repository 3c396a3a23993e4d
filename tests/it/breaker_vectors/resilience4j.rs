//! resilience4j: results are recorded without a permit, and any result counts in whatever state it arrives.

use faultlab::policy::breaker::{
    Admission, Breaker, Config, Cooldown, HalfOpenBy, HalfOpenFor, Order, Permit, ProbeLimit, RateOf,
    Rounding, Sample, Slow, State, Status, Tally, Trip, Verdict as Decides, WindowModel, profiles,
};
use faultlab::policy::signal::Signal;
use faultlab::units::{Duration, Ratio, Timestamp};
use serde_json::{Value, json};

use super::row::{self, Row, Twist, Verdict};

struct Replay {
    config: Config,
    breaker: Breaker,
    now: Timestamp,
    permits: Vec<Permit>,
    permit: Value,
    illegal: bool,
    /// The minimum of the metrics that the present state shows; OPEN shows those of the state before.
    minimum: u64,
}

pub(super) fn replay(row: &Row, twist: Twist) -> Verdict {
    let config = twist(config(row)?);
    let now = Timestamp::ZERO;
    let breaker = Breaker::new(&config, now);
    let permits = Vec::new();
    let (permit, minimum) = (Value::Null, config.minimum_reached_at());
    let mut replay = Replay { config, breaker, now, permits, permit, illegal: false, minimum };
    for (n, (step, want)) in row.pairs()?.into_iter().enumerate() {
        (replay.permit, replay.illegal) = (Value::Null, false);
        replay.step(step)?;
        replay.minimum = replay.minimum();
        if want.is_array() {
            row::same(n, &replay.array(), want)?;
        } else {
            row::same_fields(n, |field| replay.field(field, want), want)?;
        }
    }
    Ok(())
}

fn config(row: &Row) -> Result<Config, String> {
    row.knows_only(&[
        "window",
        "size",
        "size_s",
        "min_calls",
        "failure_rate_pct",
        "slow_rate_pct",
        "slow_call_ms",
        "half_open_calls",
        "open_wait_ms",
        "max_wait_in_half_open_ms",
        "automatic_transition",
    ])?;
    let defaults = profiles::resilience4j();
    let size = row.count("size").or(row.count("size_s")).unwrap_or(100);
    let probes = row.count("half_open_calls").unwrap_or(10);
    let bad = row.ratio("failure_rate_pct", 100).unwrap_or(Ratio::percent(50));
    Ok(Config {
        window: match row.config.get("window").and_then(Value::as_str) {
            Some("count") | None => WindowModel::Count { size },
            Some("time") => profiles::seconds(size),
            Some(other) => return Err(format!("unknown window {other:?}")),
        },
        trip: Trip::Rate { bad, of: RateOf::Results, rounding: Rounding::Exact },
        minimum: row.count("min_calls").unwrap_or(defaults.minimum),
        slow: Some(Slow {
            over: row.ms("slow_call_ms").unwrap_or(Duration::from_secs(60)),
            share: row.ratio("slow_rate_pct", 100).unwrap_or(Ratio::ONE),
        }),
        cooldown: match row.config.get("open_wait_ms").and_then(Value::as_str) {
            Some(text) => exponential(text)?,
            None => row.ms("open_wait_ms").map_or(defaults.cooldown.clone(), Cooldown::Fixed),
        },
        half_open_by: match row.config.get("automatic_transition").and_then(Value::as_bool) {
            Some(true) => HalfOpenBy::Clock,
            Some(false) | None => HalfOpenBy::Admission,
        },
        half_open_for: match row.ms("max_wait_in_half_open_ms") {
            Some(most) if most > Duration::ZERO => HalfOpenFor::ThenOpen(most),
            Some(_) | None => HalfOpenFor::Ever,
        },
        probes: ProbeLimit::Total(probes),
        verdict: Decides::Thresholds { results: probes },
        ..defaults
    })
}

/// `exponential(5000,x1.5) by consecutive opens`
fn exponential(text: &str) -> Result<Cooldown, String> {
    let unread = || format!("unknown wait {text:?}");
    let inner = text.strip_prefix("exponential(").and_then(|t| t.split(')').next()).ok_or_else(unread)?;
    let (first, factor) = inner.split_once(",x").ok_or_else(unread)?;
    let factor: Value = serde_json::from_str(factor).map_err(|_| unread())?;
    Ok(Cooldown::Geometric {
        first: Duration::from_millis(first.parse().map_err(|_| unread())?),
        factor: row::decimal(&factor, 1),
        max: Duration::MAX,
    })
}

impl Replay {
    fn step(&mut self, step: &[Value]) -> Verdict {
        if let Some(to) = row::clock(step) {
            self.now = to;
            row::pass(&mut self.breaker, to);
            return Ok(());
        }
        match row::word(step)? {
            "acq" | "acquire" => {
                let permit = row::admit(&mut self.breaker, self.now);
                self.permit = Value::from(permit.is_some());
                self.permits.extend(permit);
            }
            "ok" | "success" | "error_not_recorded" => self.record(Signal::Good, step),
            "err" | "failure" | "error" => self.record(Signal::Bad, step),
            "ign" | "ignored_error" => self.record(Signal::Neutral, step),
            "release_permit" => {
                let permit = self.permits.pop().or_else(stray);
                _ = permit.map(|permit| self.breaker.release(self.now, permit));
            }
            "reset" | "to_closed" => _ = self.breaker.reset(self.now),
            "to_open" => self.order(Order::Open),
            "to_half_open" => self.order(Order::HalfOpen),
            "to_forced_open" => self.order(Order::ForceOpen),
            "to_disabled" => self.order(Order::Disable),
            "to_metrics_only" => self.order(Order::MetricsOnly),
            "observe" => {}
            other => return Err(format!("unknown step {other:?}")),
        }
        Ok(())
    }

    fn record(&mut self, signal: Signal, step: &[Value]) {
        let elapsed = Duration::from_millis(step.get(1).and_then(Value::as_u64).unwrap_or(0));
        let era = self.breaker.era(self.now);
        _ = self.breaker.record(self.now, era, Sample { signal, elapsed });
    }

    /// Two orders are illegal there, and change nothing.
    fn order(&mut self, order: Order) {
        let from = self.breaker.status(self.now).state;
        self.illegal = matches!(
            (from, order),
            (State::Closed | State::MetricsOnly, Order::HalfOpen) | (State::MetricsOnly, Order::Open)
        );
        if !self.illegal {
            _ = self.breaker.order(self.now, order);
        }
    }

    fn status(&self) -> Status {
        self.breaker.status(self.now)
    }

    /// `[permit, state, buffered, failed, slow, not_permitted]`
    fn array(&self) -> Vec<Value> {
        let status = self.status();
        let permit = self.permit.as_bool().map_or(Value::Null, |p| json!(u8::from(p)));
        let t = status.tally;
        [permit, json!(name(status.state))]
            .into_iter()
            .chain([t.results(), t.bad, t.slow(), status.refused].map(Value::from))
            .collect()
    }

    fn field(&self, field: &str, want: &Value) -> Option<Value> {
        let status = self.status();
        let tally = status.tally;
        Some(match field {
            "permit" => self.permit.clone(),
            "state" => json!(name(status.state)),
            "buffered" => json!(tally.results()),
            "failed" => json!(tally.bad),
            "slow" => json!(tally.slow()),
            "success" | "successful" => json!(tally.good),
            "slow_failed" => json!(tally.slow_bad),
            "slow_success" => json!(tally.slow_good),
            "failure_rate" => rate(&tally, tally.bad, self.minimum),
            "slow_rate" => rate(&tally, tally.slow(), self.minimum),
            "not_permitted" => json!(status.refused),
            "illegal" => json!(self.illegal),
            // An exception has a name, which is the library's own affair.
            "error" | "exception" if self.illegal => want[field].clone(),
            "error" | "exception" => Value::Null,
            _ => return None,
        })
    }

    fn minimum(&self) -> u64 {
        let minimum = self.config.minimum_reached_at();
        match (self.status().state, self.config.probes) {
            (State::HalfOpen, ProbeLimit::Total(n) | ProbeLimit::InFlight(n)) => minimum.min(u64::from(n)),
            (State::Open, _) => self.minimum,
            (State::Closed | State::ForcedOpen | State::Disabled | State::MetricsOnly, _) => minimum,
        }
    }
}

/// A permit that nobody asked for: the library's `releasePermission` needs none.
fn stray() -> Option<Permit> {
    let (admission, _) = Breaker::new(&Config::default(), Timestamp::ZERO).admit(Timestamp::ZERO);
    match admission {
        Admission::Admitted(permit) => Some(permit),
        Admission::Refused { .. } => None,
    }
}

/// −1 below the minimum.
#[expect(clippy::float_arithmetic, reason = "the library reports a rate in percent, as a 32-bit float")]
fn rate(tally: &Tally, part: u64, minimum: u64) -> Value {
    if tally.results() == 0 || tally.results() < minimum {
        return json!(-1);
    }
    json!(part as f32 * 100.0 / tally.results() as f32)
}

fn name(state: State) -> &'static str {
    match state {
        State::Closed => "CLOSED",
        State::Open => "OPEN",
        State::HalfOpen => "HALF_OPEN",
        State::ForcedOpen => "FORCED_OPEN",
        State::Disabled => "DISABLED",
        State::MetricsOnly => "METRICS_ONLY",
    }
}
