//! What `faultlab schema` says of files is true of every file that is shipped and written, by the word of a validator
//! that is not ours; and it can say no.

use crate::support::{Place, faultlab, lines_of};
use faultlab::guard::Strength;
use faultlab::journal::schema::{event_schema, summary_schema};
use faultlab::scenario::{load, policy_schema, scenario_schema};
use faultlab::suite::embedded;
use jsonschema::Validator;
use serde_json::{Map, Value, json};
use std::path::Path;
use toml::de::{DeTable, DeValue};

#[test]
fn every_schema_is_one_and_is_printed() {
    let schemas = [
        ("scenario", scenario_schema()),
        ("policy", policy_schema()),
        ("event", event_schema()),
        ("summary", summary_schema(&Strength::ALL.map(Strength::label))),
    ];
    for (name, schema) in schemas {
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
        let output = faultlab().args(["schema", name]).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap(), schema);
    }
}

#[test]
fn every_shipped_scenario_and_its_policies_are_valid() {
    let (scenario, policy) = (validator(&scenario_schema()), validator(&policy_schema()));
    let mut texts: Vec<(String, String)> =
        embedded().iter().map(|one| (one.name.to_owned(), one.text.to_owned())).collect();
    texts.push(("first-scenario".to_owned(), file("docs/first-scenario.toml")));
    for (name, text) in texts {
        let file = json_of(&text);
        accepts(&scenario, &file, &name);
        let variants = file["variant"].as_array().cloned().unwrap_or_default();
        for table in std::iter::once(&file).chain(&variants).filter_map(|table| table.get("policy")) {
            accepts(&policy, table, &name);
        }
    }
}

#[test]
fn every_line_of_the_suite_is_valid() {
    let lines = validator(&event_schema());
    let mut count = 0;
    for one in embedded() {
        let scenario = load(one.name, one.text).unwrap();
        for variant in &scenario.variants {
            for line in lines_of(&scenario, variant).lines() {
                accepts(&lines, &serde_json::from_str(line).unwrap(), line);
                count += 1;
            }
        }
    }
    assert!(count > 1000);
}

#[test]
fn the_summary_of_a_pass_and_of_a_failure_are_valid() {
    let schema = validator(&summary_schema(&Strength::ALL.map(Strength::label)));
    let place = Place::new("schemas");
    let failing = file("docs/first-scenario.toml").replace("attempts_max = 2", "attempts_max = 1");
    place.file("failing.toml", failing);
    for scenarios in ["all", "failing.toml"] {
        let output = faultlab()
            .current_dir(place.path())
            .args(["--scenario", scenarios, "--events", "none", "--format", "json"])
            .output()
            .unwrap();
        accepts(&schema, &serde_json::from_slice(&output.stdout).unwrap(), scenarios);
    }
}

#[test]
fn what_is_wrong_in_a_file_is_wrong_by_the_schema() {
    let schema = validator(&scenario_schema());
    let good = file("docs/first-scenario.toml");
    assert!(schema.is_valid(&json_of(&good)));
    for (from, to) in [
        ("format = 1", "format = 2"),
        ("title = ", "titel = "),
        ("attempts_max = 2", "attempts_max = \"2\""),
        ("attempts_max = 2", "attempts_max = -2"),
        ("jitter = \"full\"", "jitters = \"full\""),
        ("name = \"fallback\"\n", ""),
        ("id = \"my-request\"", "name = \"my-request\""),
        ("deadline = \"2 s\"", "deadline = 2"),
        ("event = \"replied\"", "event = \"replies\""),
        ("outcome = \"answered\"", "outcomes = \"answered\""),
        ("outcome = \"answered\"", "worst_case_usd = \"1\""),
        ("policy.remedy.overload = \"stop\"", "policy.remedy.overload = \"halt\""),
        ("p50 = \"420 ms\"", "p51 = \"420 ms\""),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from} is there");
        assert!(!schema.is_valid(&json_of(&bad)), "{from} became {to}");
    }
}

/// Where the file is not played as it stands, a variant may state what it lacks.
#[test]
fn a_file_without_a_base_may_be_incomplete() {
    let schema = validator(&scenario_schema());
    let route = json!([{ "name": "a" }]);
    let incomplete = json!({ "format": 1, "title": "x", "arrivals": [{ "name": "a" }], "route": route });
    assert!(!schema.is_valid(&incomplete), "a stream has a count");
    let mut not_played = incomplete;
    not_played["base"] = json!(false);
    accepts(&schema, &not_played, "without a base");
}

#[test]
fn a_changed_line_and_a_changed_summary_are_wrong_by_their_schemas() {
    let lines = validator(&event_schema());
    let good = json!({
        "seq": 5, "t_ns": 80, "cause": 3, "scenario": "s", "variant": "base", "event": "closed",
        "request": "r", "spent_usd": "0.016",
    });
    accepts(&lines, &good, "a line");
    for (key, value) in [
        ("seq", json!("5")),
        ("t_ns", json!(1.5)),
        ("cause", json!(null)),
        ("event", json!("ended")),
        ("spent_usd", json!(0.016)),
        ("route", json!("a")),
        ("request", json!(1)),
    ] {
        let mut bad = good.clone();
        bad[key] = value;
        assert!(!lines.is_valid(&bad), "{bad}");
    }
    let summary = validator(&summary_schema(&Strength::ALL.map(Strength::label)));
    let digest = "00";
    let good = json!({
        "format": 1, "faultlab": "0", "complete": true, "credentials": "none", "prices": "synthetic",
        "digest": digest, "scenarios": [],
        "acceptance": { "scope": "suite", "passed": 0, "failed": 0, "total": 0, "checks": [] },
    });
    accepts(&summary, &good, "a summary");
    for (key, value) in [
        ("complete", json!("true")),
        ("credentials", json!("some")),
        ("outbound_attempts", json!("0")),
        ("guard_strength", json!("strong")),
        ("passed", json!(1)),
        ("acceptance", json!({ "scope": "suite" })),
    ] {
        let mut bad = good.clone();
        bad[key] = value;
        assert!(!summary.is_valid(&bad), "{bad}");
    }
}

fn validator(schema: &Value) -> Validator {
    jsonschema::draft202012::new(schema).unwrap()
}

#[track_caller]
fn accepts(validator: &Validator, value: &Value, what: &str) {
    if !validator.is_valid(value) {
        let errors: Vec<String> = validator
            .iter_errors(value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .take(5)
            .collect();
        panic!("{what}: {}", errors.join("\n"));
    }
}

fn file(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// TOML as JSON.
fn json_of(text: &str) -> Value {
    table(DeTable::parse(text).unwrap().get_ref())
}

fn table(table: &DeTable<'_>) -> Value {
    let entries = table.iter().map(|(key, value)| (key.get_ref().to_string(), value_of(value.get_ref())));
    Value::Object(entries.collect::<Map<_, _>>())
}

fn value_of(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => json!(text.to_string()),
        DeValue::Integer(number) => json!(i64::from_str_radix(number.as_str(), number.radix()).unwrap()),
        DeValue::Float(number) => json!(number.as_str().parse::<serde_json::Number>().unwrap()),
        DeValue::Boolean(switch) => json!(switch),
        DeValue::Datetime(date) => json!(date.to_string()),
        DeValue::Array(list) => list.iter().map(|item| value_of(item.get_ref())).collect(),
        DeValue::Table(inner) => table(inner),
    }
}
