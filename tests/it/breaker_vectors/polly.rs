//! Polly v8, from its own tests.

use faultlab::policy::breaker::{
    Admission, Breaker, Config, Cooldown, Order, RateOf, Rounding, State, Tally, Trip, profiles,
};
use faultlab::policy::signal::Signal;
use faultlab::units::{Duration, Ratio, Timestamp};
use serde_json::{Value, json};

use super::row::{self, Row, Twist, Verdict};

struct Replay {
    config: Config,
    breaker: Breaker,
    now: Timestamp,
    permit: Value,
    retry_at: Option<Timestamp>,
    should_break: Value,
}

pub(super) fn replay(row: &Row, twist: Twist) -> Verdict {
    let config = twist(config(row)?);
    let breaker = Breaker::new(&config, Timestamp::ZERO);
    let mut replay = Replay {
        config,
        breaker,
        now: Timestamp::ZERO,
        permit: Value::Null,
        retry_at: None,
        should_break: Value::Null,
    };
    let one_a_step = row.expect.is_array();
    for (n, step) in row.steps.iter().enumerate() {
        (replay.permit, replay.retry_at) = (Value::Null, None);
        replay.step(step)?;
        if one_a_step {
            let want = row.expect.get(n).ok_or("not one expectation a step")?;
            row::same_fields(n, |field| replay.field(field, want), want)?;
        }
    }
    if one_a_step {
        return Ok(());
    }
    // One expectation for all steps is one for the last.
    row::same_fields(row.steps.len(), |field| replay.field(field, &row.expect), &row.expect)
}

fn config(row: &Row) -> Result<Config, String> {
    row.knows_only(&["failure_ratio", "minimum_throughput", "sampling_ms", "break_ms"])?;
    let defaults = profiles::polly();
    let bad = row.ratio("failure_ratio", 1).unwrap_or(Ratio::percent(10));
    Ok(Config {
        window: row.ms("sampling_ms").map_or(defaults.window, profiles::sampling),
        trip: Trip::Rate { bad, of: RateOf::Results, rounding: Rounding::Exact },
        minimum: row.count("minimum_throughput").unwrap_or(defaults.minimum),
        cooldown: row.ms("break_ms").map_or(defaults.cooldown.clone(), Cooldown::Fixed),
        ..defaults
    })
}

impl Replay {
    fn step(&mut self, step: &[Value]) -> Verdict {
        if let Some(to) = row::clock(step) {
            self.now = to;
            return Ok(());
        }
        match row::word(step)? {
            "acquire" => self.acquire(),
            "success" => self.record(Signal::Good),
            "failure" => self.record(Signal::Bad),
            "cancel" | "cancelled" | "unhandled" | "unhandled_exception" | "unhandled_failure" => {
                self.record(Signal::Neutral)
            }
            "failure_observed" => self.observe(step)?,
            "failure_in_half_open" => {
                _ = self.breaker.order(self.now, Order::HalfOpen);
                self.record(Signal::Bad);
            }
            "to_open" => _ = self.breaker.order(self.now, Order::Open),
            "to_half_open" => {
                _ = self.breaker.order(self.now, Order::HalfOpen);
                self.acquire();
            }
            "isolate" => _ = self.breaker.order(self.now, Order::ForceOpen),
            "close" => _ = self.breaker.reset(self.now),
            "at" => self.now = self.near_the_end(step.get(1).and_then(Value::as_str).unwrap_or_default())?,
            "observe" => {}
            other => return Err(format!("unknown step {other:?}")),
        }
        Ok(())
    }

    fn acquire(&mut self) {
        let permitted = self.breaker.permits(self.now);
        let (admission, _) = self.breaker.admit(self.now);
        self.retry_at = match admission {
            Admission::Admitted(_) => None,
            Admission::Refused { retry_at } => Some(retry_at),
        };
        assert_eq!(permitted, self.retry_at.is_none(), "permits() foretells admit()");
        self.permit = json!(permitted);
    }

    fn record(&mut self, signal: Signal) {
        let era = self.breaker.era(self.now);
        _ = self.breaker.record(self.now, era, row::sample(signal));
    }

    /// A failure after which the health is as given.
    fn observe(&mut self, step: &[Value]) -> Verdict {
        let health = step.get(1).ok_or("a failure without a health")?;
        let throughput = health["throughput"].as_u64().ok_or("a health without a throughput")?;
        // The share may be no whole number of calls: count its parts, and multiply the minimum as well.
        let rate = row::decimal(&health["failure_rate"], 1);
        let (bad, all) = (rate.numerator() * throughput, rate.denominator() * throughput);
        let tally = Tally { good: all - bad, bad, ..Tally::default() };
        let minimum = self.config.minimum * u32::try_from(rate.denominator()).expect("few decimals");
        self.should_break = json!(Config { minimum, ..self.config.clone() }.trips(&tally, None));
        Ok(())
    }

    /// `MAX_TIME - break`, with a few milliseconds more or less.
    fn near_the_end(&self, text: &str) -> Result<Timestamp, String> {
        let unread = || format!("unknown instant {text:?}");
        let rest = text.strip_prefix("MAX_TIME - break").ok_or_else(unread)?.trim();
        let broken = Timestamp::MAX.since(Timestamp::ZERO.after(self.config.cooldown.length(1)));
        if rest.is_empty() {
            return Ok(row::at(broken));
        }
        let ms = rest.strip_prefix("+ ").and_then(|t| t.strip_suffix("ms")).ok_or_else(unread)?;
        Ok(row::at(broken.plus(Duration::from_millis(ms.trim().parse().map_err(|_| unread())?))))
    }

    fn field(&self, field: &str, want: &Value) -> Option<Value> {
        let status = self.breaker.status(self.now);
        Some(match field {
            "permit" => self.permit.clone(),
            "state" => json!(match status.state {
                State::Closed => "Closed",
                State::Open => "Open",
                State::HalfOpen => "HalfOpen",
                State::ForcedOpen => "Isolated",
                State::Disabled | State::MetricsOnly => "not a state of Polly",
            }),
            "should_break" => self.should_break.clone(),
            "retry_after_ms" => self.until_ms(self.retry_at?),
            "break_ms" if status.until.is_none() => json!("max"),
            "break_ms" => self.until_ms(status.until?),
            // The words after the instant are a remark.
            "blocked_until" if status.until.is_none() => {
                let text = want[field].as_str()?;
                json!(if text.starts_with("MAX_TIME") { text } else { "MAX_TIME" })
            }
            "half_open_attempts" | "opens" => json!(status.opens),
            _ => return None,
        })
    }

    fn until_ms(&self, at: Timestamp) -> Value {
        match at {
            Timestamp::MAX => Value::Null,
            at => json!(at.since(self.now).nanos() / 1_000_000),
        }
    }
}
