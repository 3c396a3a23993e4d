//! A line of `events.jsonl` and `summary.json` as JSON Schemas (2020-12). The event's is made from the kinds and fields
//! that write it; the summary's stands here beside what writes it, and a test keeps the two together.

use super::summary::{LawVerdict, Scope, Verdict};
use crate::judge::{Finding, Law, Metric, Unit as MetricUnit};
use crate::trace::{CANDIDATE, COMMON, FORMAT, Field, Kind, Unit};
use serde_json::{Map, Value, json};

/// The dialect of every schema.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema of one line of `events.jsonl`: the header of a run, or an entry.
pub fn event_schema() -> Value {
    let header = object(
        &[
            ("format", json!({ "const": FORMAT })),
            ("faultlab", text()),
            ("scenario", text()),
            ("variant", text()),
            ("seed", whole()),
            ("scenario_digest", digest()),
            ("policy_digest", digest()),
        ],
        &[],
    );
    let lines: Vec<Value> = std::iter::once(header).chain(Kind::ALL.iter().copied().map(entry)).collect();
    json!({
        "$schema": DIALECT,
        "title": "A line of events.jsonl",
        "description": "The header of a run, or an entry. What has no value is not written.",
        "anyOf": lines,
    })
}

fn entry(kind: Kind) -> Value {
    let head = [
        ("seq", whole()),
        ("t_ns", whole()),
        ("scenario", text()),
        ("variant", text()),
        ("event", json!({ "const": kind.label() })),
    ];
    let fields = COMMON.iter().chain(kind.fields()).map(|field| (field.label(), value(*field)));
    let optional: Vec<(&str, Value)> = std::iter::once(("cause", whole())).chain(fields).collect();
    object(&head, &optional)
}

fn value(field: Field) -> Value {
    match field.unit() {
        Unit::Word | Unit::Words => text(),
        Unit::Count | Unit::Time | Unit::Span => whole(),
        Unit::Money => decimal(),
        Unit::List => {
            let fields: Vec<(&str, Value)> =
                CANDIDATE.iter().map(|field| (field.label(), value(*field))).collect();
            json!({ "type": "array", "items": object(&[], &fields) })
        }
    }
}

/// The schema of `summary.json`; a guard has one of these strengths.
pub fn summary_schema(strengths: &[&str]) -> Value {
    let mut schema = object(
        &[
            ("format", json!({ "const": FORMAT })),
            ("faultlab", text()),
            ("complete", json!({ "type": "boolean" })),
            ("acceptance", acceptance()),
            ("credentials", json!({ "const": "none" })),
            ("prices", json!({ "const": "synthetic" })),
            ("digest", digest()),
            ("scenarios", list(scenario())),
        ],
        &[("outbound_attempts", whole()), ("guard_strength", json!({ "enum": strengths }))],
    );
    if let Value::Object(schema) = &mut schema {
        schema.insert("$schema".to_owned(), json!(DIALECT));
        schema.insert("title".to_owned(), json!("summary.json"));
    }
    schema
}

fn acceptance() -> Value {
    let check =
        object(&[("name", text()), ("verdict", verdict())], &[("scenario", text()), ("detail", text())]);
    object(
        &[
            ("scope", words(&[Scope::Suite, Scope::Partial])),
            ("passed", whole()),
            ("failed", whole()),
            ("total", whole()),
            ("checks", list(check)),
        ],
        &[],
    )
}

fn scenario() -> Value {
    let promise = object(&[("name", text()), ("verdict", verdict())], &[("detail", text())]);
    object(
        &[
            ("name", text()),
            ("title", text()),
            ("scenario_digest", digest()),
            ("variants", list(variant())),
            ("expectations", list(promise)),
            ("digest", digest()),
        ],
        &[],
    )
}

fn variant() -> Value {
    let laws: Vec<&str> = Law::ALL.iter().map(|law| law.name()).collect();
    let verdicts = [
        LawVerdict::Held,
        LawVerdict::Broken,
        LawVerdict::NotExercised,
        LawVerdict::BrokenAsDeclared,
        LawVerdict::NotBrokenAsDeclared,
    ];
    let law = object(
        &[("name", json!({ "enum": laws })), ("verdict", words(&verdicts)), ("exercised", whole())],
        &[("breaches", list(text()))],
    );
    let findings: Vec<&str> = Finding::ALL.iter().map(|finding| finding.label()).collect();
    let finding = object(
        &[("name", json!({ "enum": findings })), ("count", whole())],
        &[("value", json!({ "anyOf": [whole(), decimal()] })), ("detail", text())],
    );
    object(
        &[
            ("name", text()),
            ("policy_digest", digest()),
            ("seeds", json!({ "type": "string", "pattern": "^[0-9]+([.][.][0-9]+)?$" })),
            ("runs", whole()),
            ("metrics", metrics(|_| true)),
            ("routes", list(object(&[("name", text()), ("metrics", metrics(Metric::is_of_a_route))], &[]))),
            ("laws", list(law)),
            ("findings", list(finding)),
            ("status", list(text())),
            ("digest", digest()),
        ],
        &[],
    )
}

fn metrics(is_told: impl Fn(Metric) -> bool) -> Value {
    let figure = |metric: &Metric| match metric.unit() {
        MetricUnit::Count | MetricUnit::Time => whole(),
        MetricUnit::Ratio | MetricUnit::Money => decimal(),
    };
    let metrics: Vec<(&str, Value)> =
        Metric::ALL.iter().filter(|one| is_told(**one)).map(|one| (one.label(), figure(one))).collect();
    object(&[], &metrics)
}

fn verdict() -> Value {
    words(&[Verdict::Passed, Verdict::Failed])
}

/// The words that these values are written as.
fn words(values: &[impl serde::Serialize]) -> Value {
    json!({ "enum": values })
}

fn object(required: &[(&str, Value)], optional: &[(&str, Value)]) -> Value {
    let keys: Vec<&str> = required.iter().map(|property| property.0).collect();
    let properties: Map<String, Value> =
        required.iter().chain(optional).map(|(key, schema)| ((*key).to_owned(), schema.clone())).collect();
    json!({ "type": "object", "properties": properties, "required": keys, "additionalProperties": false })
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn whole() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn decimal() -> Value {
    json!({ "type": "string", "pattern": "^-?[0-9]+([.][0-9]+)?$" })
}

fn digest() -> Value {
    json!({ "type": "string", "pattern": "^[0-9a-f]+$" })
}
