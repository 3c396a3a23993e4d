//! One provider failure a row: what it means, how long to stay away, what to bench, whether it speaks of health.

use super::{rows, text};
use faultlab::wire::{Dialect, Input, Verdict, classify};
use serde_json::{Value, json};

/// Rows that are labelled ambiguous and that we read otherwise, each with the reason.
const ARGUED: [(&str, &str); 3] = [
    ("azure-005", "nothing in the response says that the deployment is a reserved one"),
    (
        "anthropic-022",
        "without a clock or a unified header one such answer is a rate limit; repeats are for policy",
    ),
    (
        "gemini-027",
        "an answer with 499 was read, so it was not us who hung up; Google's own client retries it",
    ),
];

#[test]
fn every_recorded_failure_means_what_it_meant() {
    let dialect = Dialect::standard();
    let rows = rows("provider_errors");
    assert!(rows.len() >= 250, "only {} rows", rows.len());
    let mut wrong = Vec::new();
    for row in &rows {
        let verdict = classify(&Input::from_json(row.clone()), &dialect);
        let differences = differences(&row["expect"], &verdict);
        let argued = row["ambiguous"] == json!(true) && ARGUED.iter().any(|(id, _)| *id == text(row, "id"));
        if !differences.is_empty() && !argued {
            let ambiguous = if row["ambiguous"] == json!(true) { " (ambiguous)" } else { "" };
            let by: Vec<String> = verdict.decided_by.iter().map(ToString::to_string).collect();
            let id = text(row, "id");
            wrong.push(format!("{id}{ambiguous}: {} by {} {by:?}", differences.join(", "), verdict.rule));
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows differ:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

/// Where a response says that a project's limit counts each model, its other models go on; never without that word.
#[test]
fn a_project_s_limit_that_counts_each_model_benches_one_model() {
    let dialect = Dialect::standard();
    let limits = ["RETRYABLE_RATE_LIMIT", "QUOTA_EXHAUSTED"];
    let mut wrong = Vec::new();
    let mut narrowed = 0;
    for row in rows("provider_errors") {
        let expect = &row["expect"];
        let Some(key) = expect["bench_key"].as_array() else { continue };
        if row["ambiguous"] == json!(true)
            || text(expect, "scope") != "project"
            || !limits.contains(&text(expect, "class"))
        {
            continue;
        }
        let bench = classify(&Input::from_json(row.clone()), &dialect).bench;
        if bench.label() == "model" {
            narrowed += 1;
            if !key.contains(&json!("model")) {
                wrong.push(format!("{}: benches one model for {key:?}", text(&row, "id")));
            }
        }
    }
    assert!(narrowed >= 6, "only {narrowed} rows");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The row `litellm-004`: a failure in the midst of a stream, as an exception, with the text that had come. It is not in
/// [`ARGUED`], because we say what the row says: `same`. `resend` is where sending again could work, and the model could
/// answer a second call; that the two texts must not be joined is a matter of what the caller has seen. That is known
/// to whoever hands out the stream, which is why it is stated beside the response (`stream.output_bytes`) and never read
/// out of generated text, which is content and decides nothing. Where it is stated, the answer is `none`.
#[test]
fn what_an_exception_says_of_generated_text_is_not_what_the_caller_saw() {
    let dialect = Dialect::standard();
    let row = rows("provider_errors").into_iter().find(|row| text(row, "id") == "litellm-004");
    let row = row.expect("the row is there");
    let resend = |row: &Value| classify(&Input::from_json(row.clone()), &dialect).resend.label();
    assert_eq!(resend(&row), "same");
    let mut silent = row.clone();
    silent["body"]["exception"]["generated_content"] = json!("");
    assert_eq!(resend(&silent), "same", "content decides nothing");
    let mut seen = row;
    seen["stream"] = json!({"output_bytes": 3});
    assert_eq!(resend(&seen), "none");
}

/// What differs, as `field ours for theirs`.
fn differences(expect: &Value, verdict: &Verdict) -> Vec<String> {
    let ours = [
        ("class", json!(verdict.label())),
        ("retry_after_ms", json!(verdict.retry_after_ms)),
        ("scope", json!(verdict.scope.label())),
        ("health_signal", json!(verdict.health_signal)),
        ("resend", json!(verdict.resend.label())),
        ("resets_at", json!(verdict.resets_at.map(|at| at.to_string()))),
    ];
    let differing = ours.iter().filter(|(field, ours)| expect[field] != *ours);
    differing.map(|(field, ours)| format!("{field} {ours} for {}", expect[field])).collect()
}
