//! A row of a vector file, and the few ways to read its values.

use std::path::Path;

use faultlab::policy::breaker::{Admission, Breaker, Config, Permit, Sample};
use faultlab::policy::signal::Signal;
use faultlab::units::{Duration, Ratio, Timestamp};
use serde_json::{Map, Value};

/// What went wrong, as a sentence.
pub(super) type Verdict = Result<(), String>;

/// What a test does to the configuration of a row before it is replayed.
pub(super) type Twist = fn(Config) -> Config;

#[derive(Clone)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) area: String,
    pub(super) config: Map<String, Value>,
    pub(super) steps: Vec<Vec<Value>>,
    pub(super) expect: Value,
    pub(super) source: String,
}

/// All rows of all files of one stem, in the order of their names.
pub(super) fn read(stem: &str) -> Vec<Row> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/vectors").join(stem);
    let mut files: Vec<_> =
        directory.read_dir().expect("the vectors are here").flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "jsonl"));
    files.sort();
    let text: Vec<String> =
        files.iter().map(|path| std::fs::read_to_string(path).expect("a vector file is text")).collect();
    text.iter().flat_map(|t| t.lines()).filter(|line| !line.trim().is_empty()).map(parse).collect()
}

fn parse(line: &str) -> Row {
    let mut row: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e} in {line}"));
    let text = |key: &str| row[key].as_str().map(str::to_owned).unwrap_or_default();
    let (id, area, source) = (text("id"), text("area"), text("source"));
    let steps = row["steps"].as_array().map_or(Vec::new(), |steps| {
        steps.iter().map(|step| step.as_array().cloned().unwrap_or_default()).collect()
    });
    let config = row["config"].as_object().cloned().unwrap_or_default();
    Row { id, area, config, steps, expect: row["expect"].take(), source }
}

impl Row {
    pub(super) fn model(&self) -> String {
        self.config.get("model").and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// Fails on a key of the configuration that the dialect does not read.
    pub(super) fn knows_only(&self, keys: &[&str]) -> Verdict {
        match self.config.keys().find(|k| *k != "model" && !keys.contains(&k.as_str())) {
            Some(key) => Err(format!("unknown configuration {key:?}")),
            None => Ok(()),
        }
    }

    /// A whole number of the configuration.
    pub(super) fn number(&self, key: &str) -> Option<u64> {
        self.config.get(key).and_then(Value::as_u64)
    }

    /// A small whole number of the configuration.
    pub(super) fn count(&self, key: &str) -> Option<u32> {
        self.number(key).map(|n| u32::try_from(n).expect("a small number"))
    }

    /// A number of milliseconds of the configuration.
    pub(super) fn ms(&self, key: &str) -> Option<Duration> {
        self.number(key).map(Duration::from_millis)
    }

    /// A decimal number of the configuration, divided by `unit`.
    pub(super) fn ratio(&self, key: &str, unit: u64) -> Option<Ratio> {
        self.config.get(key).map(|v| decimal(v, unit))
    }

    /// Each step with what is expected of it.
    pub(super) fn pairs(&self) -> Result<Vec<(&[Value], &Value)>, String> {
        let expect = self.expect.as_array().ok_or("one expectation for several steps")?;
        if expect.len() != self.steps.len() {
            return Err("not one expectation a step".to_owned());
        }
        Ok(self.steps.iter().map(Vec::as_slice).zip(expect).collect())
    }
}

/// A JSON number as an exact ratio of its decimals, divided by `unit`.
pub(super) fn decimal(value: &Value, unit: u64) -> Ratio {
    let text = value.to_string();
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let digits: u64 = format!("{whole}{part}").parse().unwrap_or_else(|_| panic!("{text} is not a decimal"));
    Ratio::new(digits, 10u64.pow(part.len() as u32) * unit).expect("a unit is not zero")
}

/// The first word of a step.
pub(super) fn word(step: &[Value]) -> Result<&str, String> {
    step.first().and_then(Value::as_str).ok_or_else(|| format!("a step without a word: {step:?}"))
}

/// The instant that a step moves the clock to, if that is what it does.
pub(super) fn clock(step: &[Value]) -> Option<Timestamp> {
    let number = || step.get(1).and_then(Value::as_u64);
    match step.first()?.as_str()? {
        "at" | "at_ms" => number().map(|ms| at(Duration::from_millis(ms))),
        "at_us" => number().map(|us| at(Duration::from_nanos(us * 1000))),
        _ => None,
    }
}

pub(super) fn at(since: Duration) -> Timestamp {
    Timestamp::ZERO.after(since)
}

/// A result without a time.
pub(super) fn sample(signal: Signal) -> Sample {
    Sample { signal, elapsed: Duration::ZERO }
}

/// Asks for admission; `None` is a refusal.
pub(super) fn admit(breaker: &mut Breaker, now: Timestamp) -> Option<Permit> {
    let permitted = breaker.permits(now);
    let (admission, _) = breaker.admit(now);
    let permit = match admission {
        Admission::Admitted(permit) => Some(permit),
        Admission::Refused { .. } => None,
    };
    assert_eq!(permitted, permit.is_some(), "permits() foretells admit()");
    permit
}

/// Lets time pass, stopping wherever the breaker moves by itself.
pub(super) fn pass(breaker: &mut Breaker, to: Timestamp) {
    while let Some(wake) = breaker.next_wake().filter(|wake| *wake <= to) {
        assert!(breaker.touch(wake).is_some(), "a wake moves");
    }
}

/// Compares a recorded array with what was seen.
pub(super) fn same(step: usize, got: &[Value], want: &Value) -> Verdict {
    match want.as_array() {
        None if want.is_null() => Ok(()),
        Some(want) if want == got => Ok(()),
        Some(_) | None => Err(format!("step {step}: got {}, want {want}", Value::from(got.to_vec()))),
    }
}

/// Compares the fields of a recorded object with what was seen; a field that was not looked at fails.
pub(super) fn same_fields(step: usize, got: impl Fn(&str) -> Option<Value>, want: &Value) -> Verdict {
    let Some(want) = want.as_object() else {
        return if want.is_null() { Ok(()) } else { Err(format!("step {step}: {want} is no object")) };
    };
    for (field, want) in want {
        let got = got(field).ok_or_else(|| format!("step {step}: unknown field {field:?}"))?;
        let is_same = match (got.as_f64(), want.as_f64()) {
            (Some(got), Some(want)) => got as f32 == want as f32,
            (Some(_), None) | (None, Some(_)) | (None, None) => got == *want,
        };
        if !is_same {
            return Err(format!("step {step}: {field} is {got}, want {want}"));
        }
    }
    Ok(())
}
