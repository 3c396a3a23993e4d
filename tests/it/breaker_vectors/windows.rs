//! Windows alone, without a breaker around them.

use faultlab::policy::breaker::{Mark, Pace, Tally, Window, WindowModel, profiles};
use faultlab::policy::signal::Signal;
use faultlab::units::{Duration, Timestamp};
use serde_json::{Value, json};

use super::row::{self, Row, Verdict};

struct Replay {
    window: Window,
    now: Timestamp,
    /// The counts after each result and each reading.
    recorded: Vec<Tally>,
    read: Vec<Tally>,
}

pub(super) fn replay(row: &Row) -> Verdict {
    let mut replay = Replay {
        window: Window::new(model(row)?, Timestamp::ZERO),
        now: Timestamp::ZERO,
        recorded: Vec::new(),
        read: Vec::new(),
    };
    for (n, step) in row.steps.iter().enumerate() {
        replay.step(step)?;
        if row.expect.is_array() {
            let tally = replay.window.tally(replay.now);
            row::same_fields(n, |field| look(&tally, field), &row.expect[n])?;
        }
    }
    let mut summary = row.expect.as_object().into_iter().flatten();
    summary.try_for_each(|(field, want)| replay.check(field, want))
}

fn model(row: &Row) -> Result<WindowModel, String> {
    row.knows_only(&["size", "size_s", "sampling_ms", "windows"])?;
    let over = row.ms("sampling_ms");
    match (row.model().split(' ').next(), over, row.count("size_s"), row.count("size")) {
        (Some("resilience4j"), None, Some(n), None) => Ok(profiles::seconds(n)),
        (Some("resilience4j"), None, None, Some(size)) => Ok(WindowModel::Count { size }),
        (Some("polly-v8"), Some(over), None, None) => Ok(match row.count("windows") {
            Some(parts) => WindowModel::Rolling { over, parts },
            None => profiles::sampling(over),
        }),
        _ => Err(format!("unknown window {:?}", row.config)),
    }
}

impl Replay {
    fn step(&mut self, step: &[Value]) -> Verdict {
        let number = |n: usize| step.get(n).and_then(Value::as_u64);
        match (row::word(step)?, step.len()) {
            ("advance", 2) => self.advance(number(1).ok_or("an advance without a time")?),
            ("record", 3) => {
                let kind = step[1].as_str().unwrap_or_default();
                self.record(kind, number(2).ok_or("a result without a time")?)?;
            }
            (text, 1) => match text.strip_prefix("repeat ").and_then(|t| t.split_once(": ")) {
                Some((times, actions)) => {
                    let times: u32 = times.parse().map_err(|_| format!("unknown step {text:?}"))?;
                    for round in 1..=times {
                        self.actions(actions, round)?;
                    }
                }
                None => self.actions(text, 1)?,
            },
            (text, _) => return Err(format!("unknown step {text:?}")),
        }
        Ok(())
    }

    /// Actions in prose: `success, advance 2000, read`.
    fn actions(&mut self, text: &str, round: u32) -> Verdict {
        for action in text.split(", ") {
            match action.split_once(' ') {
                Some(("advance", ms)) => {
                    self.advance(ms.parse().map_err(|_| format!("unknown time {ms:?}"))?)
                }
                _ if action == "read" => {
                    let tally = self.window.read(self.now);
                    self.read.push(tally);
                }
                _ => action.split(" + ").try_for_each(|result| self.result(result, round))?,
            }
        }
        Ok(())
    }

    /// A result in prose: `success`, `error@3200ms`, `slow_error 10000`, `1 failure(first 2)/success(rest)`.
    fn result(&mut self, text: &str, round: u32) -> Verdict {
        let unread = || format!("unknown result {text:?}");
        let text = text.strip_prefix("1 ").unwrap_or(text);
        if let Some((early, rest)) = text.split_once('/') {
            let (kind, rounds) = early.split_once("(first ").ok_or_else(unread)?;
            let rounds: u32 = rounds.trim_end_matches(')').parse().map_err(|_| unread())?;
            let later = rest.strip_suffix("(rest)").ok_or_else(unread)?;
            return self.record(if round <= rounds { kind } else { later }, 0);
        }
        if let Some((kind, at)) = text.split_once('@') {
            let ms: u64 = at.trim_end_matches("ms").parse().map_err(|_| unread())?;
            self.now = row::at(Duration::from_millis(ms));
            return self.record(kind, 0);
        }
        match text.split_once(' ') {
            Some((kind, ms)) => self.record(kind, ms.parse().map_err(|_| unread())?),
            None => self.record(text, 0),
        }
    }

    fn advance(&mut self, ms: u64) {
        self.now = self.now.after(Duration::from_millis(ms));
    }

    fn record(&mut self, kind: &str, elapsed_ms: u64) -> Verdict {
        let (pace, kind) = match kind.strip_prefix("slow_") {
            Some(kind) => (Pace::Slow, kind),
            None => (Pace::Usual, kind),
        };
        let signal = match kind {
            "success" => Signal::Good,
            "error" | "failure" => Signal::Bad,
            other => return Err(format!("unknown result {other:?}")),
        };
        let mark = Mark { signal, pace, elapsed: Duration::from_millis(elapsed_ms) };
        self.window.record(self.now, self.now, mark);
        self.recorded.push(*self.window.counts());
        Ok(())
    }

    /// One value is that of the end; a list is one of each reading, or of each result if nothing was read.
    fn check(&self, field: &str, want: &Value) -> Verdict {
        let last = self.window.tally(self.now);
        let seen = if self.read.is_empty() { &self.recorded } else { &self.read };
        match (field, want) {
            ("fields", _) => Ok(()),
            ("reads", Value::Array(want)) => self.check_reads(want),
            (_, Value::Array(want)) => {
                let got: Option<Vec<Value>> = seen.iter().map(|tally| look(tally, field)).collect();
                (got.as_ref() == Some(want)).then_some(()).ok_or(format!("{field} is {got:?}, want {want:?}"))
            }
            (_, want) => row::same_fields(0, |field| look(&last, field), &json!({ field: want })),
        }
    }

    /// `[throughput, failure_rate, failures]` of each reading, `null` if it is not asserted.
    fn check_reads(&self, want: &[Value]) -> Verdict {
        if want.len() != self.read.len() {
            return Err(format!("{} readings, want {}", self.read.len(), want.len()));
        }
        for (n, (tally, want)) in
            self.read.iter().zip(want).enumerate().filter(|(_, (_, want))| !want.is_null())
        {
            let want = json!({ "throughput": want[0], "failure_rate": want[1], "failures": want[2] });
            row::same_fields(n, |field| look(tally, field), &want)?;
        }
        Ok(())
    }
}

fn look(tally: &Tally, field: &str) -> Option<Value> {
    let results = tally.results();
    Some(match field {
        "total" | "throughput" => json!(results),
        "failed" | "failures" => json!(tally.bad),
        "success" | "successes" => json!(tally.good),
        "slow" => json!(tally.slow()),
        "slow_success" => json!(tally.slow_good),
        "slow_failed" => json!(tally.slow_bad),
        "dur_ms" | "total_ms" => json!(tally.elapsed.nanos() / 1_000_000),
        "avg_ms" => json!((tally.elapsed.nanos() / 1_000_000).checked_div(results).unwrap_or(0)),
        "rate" => share(tally.bad, results, 100.0),
        "slow_rate" => share(tally.slow(), results, 100.0),
        "failure_rate" => share(tally.bad, results, 1.0),
        _ => return None,
    })
}

#[expect(clippy::float_arithmetic, reason = "the libraries report shares as floats")]
fn share(part: u64, whole: u64, unit: f64) -> Value {
    if whole == 0 {
        return json!(0);
    }
    json!(part as f64 * unit / whole as f64)
}
