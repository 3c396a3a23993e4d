//! What holds for every input, whatever the dialect files say: the classifier is total and bounded, a limit never
//! speaks of health, what the caller has seen is never sent again, and a model's words decide nothing.

use faultlab::policy::taxonomy::Class;
use faultlab::wire::{Dialect, Input, Phase, Verdict, classify};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::LazyLock;

static DIALECT: LazyLock<Dialect> = LazyLock::new(Dialect::standard);
static CORPUS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let rows = include_str!("../data/vectors/provider_errors/failures.jsonl").lines();
    rows.map(|row| serde_json::from_str(row).expect("the row is well formed")).collect()
});

fn verdict(value: &Value) -> Verdict {
    classify(&Input::from_json(value.clone()), &DIALECT)
}

/// What must hold of any verdict.
fn is_lawful(input: &Input, verdict: &Verdict) -> Result<(), TestCaseError> {
    const DAY_MS: u64 = 86_400_000;
    let class = verdict.class;
    let silent = matches!(
        class,
        None | Some(
            Class::RateLimit
                | Class::QuotaExhausted
                | Class::Funds
                | Class::Auth
                | Class::PolicyRefusal
                | Class::Cancelled
                | Class::Abandoned
                | Class::Deadline
        )
    );
    prop_assert!(!(silent && verdict.health_signal), "{verdict:?}");
    let windowed = matches!(class, Some(Class::QuotaExhausted | Class::Funds));
    prop_assert!(verdict.retry_after_ms.is_none_or(|ms| ms <= DAY_MS || windowed), "{verdict:?}");
    if input.phase() == Phase::AfterOutput {
        prop_assert_eq!(verdict.resend.label(), "none");
    }
    Ok(())
}

/// A recorded failure with some of its fields replaced.
fn mutated() -> impl Strategy<Value = Value> {
    let providers = ["openai", "gemini", "anthropic", "any", "openrouter", "groq", "bedrock", "nobody", ""];
    let waits = [
        "-1",
        "0",
        "1.5",
        "301",
        "999999999",
        "soon",
        "99999999999999999999999",
        "nan",
        "2027-01-01T00:00:00Z",
    ];
    let rows = 0..CORPUS.len();
    let status = prop_oneof![Just(None), (100_u16..700).prop_map(Some)];
    let wait = prop::option::of(prop::sample::select(waits.to_vec()));
    (rows.clone(), rows, status, prop::sample::select(providers.to_vec()), wait, 0_u64..3, 0_u8..32).prop_map(
        |(row, other, status, provider, wait, output, which)| {
            let mut value = CORPUS[row].clone();
            let mut replace = |bit: u8, key: &str, new: Value| {
                if which & bit != 0 {
                    value[key] = new;
                }
            };
            replace(1, "status", json!(status));
            replace(2, "provider", json!(provider));
            replace(4, "body", CORPUS[other]["body"].clone());
            let headers =
                json!({"retry-after": wait, "x-ratelimit-reset": wait, "x-ratelimit-reset-tokens": wait});
            replace(8, "headers", headers);
            if which & 16 != 0 && value["stream"].is_object() {
                value["stream"]["output_bytes"] = json!(output);
            }
            value
        },
    )
}

fn json_value() -> impl Strategy<Value = Value> {
    let keys = [
        "error",
        "errors",
        "message",
        "code",
        "type",
        "status",
        "details",
        "metadata",
        "raw",
        "response",
        "choices",
        "headers",
        "body",
        "exception",
        "__cause__",
        "retry_after",
        "resets_at",
        "candidates",
        "detail",
        "event",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,40}".prop_map(Value::from),
        prop::sample::select(vec![
            "insufficient_quota",
            "rate limit, try again in 5s",
            "{\"error\":{\"code\":429}}"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        let key = prop::sample::select(keys.to_vec());
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..5)
                .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_failure_has_a_lawful_verdict(value in mutated()) {
        let input = Input::from_json(value);
        is_lawful(&input, &classify(&input, &DIALECT))?;
    }

    #[test]
    fn any_json_has_a_lawful_verdict_twice_the_same(body in json_value(), status in 100_u16..600, event in json_value()) {
        for kind in ["http", "stream_event", "stream_end", "transport", "sdk_exception", "local_stop"] {
            let stream = json!({"event": event, "prior": "none", "output_bytes": 0, "ended": "eof"});
            let input = Input::from_json(json!({"provider": "any", "kind": kind, "status": status, "body": body,
                "headers": event, "stream": stream, "transport": body}));
            let once = classify(&input, &DIALECT);
            is_lawful(&input, &once)?;
            prop_assert_eq!(once, classify(&input, &DIALECT));
        }
    }

    #[test]
    fn any_bytes_have_a_verdict(bytes in prop::collection::vec(any::<u8>(), 0..300), status in 100_u16..600) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let line = format!("data: {text}");
        for body in [&text, &line, &format!("{{\"error\":{text}"), &format!("<{text}")] {
            let input = Input::from_json(json!({"provider": "openai", "status": status, "body": body,
                "headers": {"retry-after": text, "ratelimit": text, "date": text, "retry-after-ms": text}}));
            is_lawful(&input, &classify(&input, &DIALECT))?;
        }
    }

    #[test]
    fn what_a_model_wrote_never_changes_the_verdict(words in ".{0,80}", said in prop::sample::select(vec![
        "insufficient_quota", "429 Too Many Requests", "Your credit balance is too low", "content policy violation",
        "{\"error\":{\"code\":\"invalid_api_key\"}}", "overloaded_error", "please try again in 5s",
    ])) {
        let text = format!("{words} {said}");
        for shape in [
            |text: &str| json!({"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}),
            |text: &str| json!({"choices": [{"delta": {"content": text}}]}),
            |text: &str| json!({"type": "message", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}),
            |text: &str| json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}),
            |text: &str| json!({"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}]}),
            |text: &str| json!({"status": "completed", "error": null, "output": [{"type": "message", "content": text}]}),
            |text: &str| json!({"error": {"code": 502, "message": "Provider disconnected"}, "choices": [{"message": {"content": text}}]}),
        ] {
            for kind in ["http", "stream_event"] {
                let of = |text: &str| {
                    let stream = json!({"event": shape(text), "prior": "none", "output_bytes": 0, "ended": ""});
                    verdict(&json!({"provider": "any", "kind": kind, "status": 200, "body": shape(text), "stream": stream}))
                };
                prop_assert_eq!(of(&text), of("x"));
            }
        }
    }
}

/// Every phrase and every code of the dialects, in words.
static SAYINGS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let lines = faultlab::wire::dialect_files().iter().flat_map(|(_, text)| text.lines());
    let mut sayings = Vec::new();
    for line in lines {
        let line = line.strip_prefix("here ").unwrap_or(line);
        let said = line.strip_prefix("phrase ").or_else(|| line.strip_prefix("code "));
        if let Some((_, said)) = said.and_then(|said| said.split_once(' ')) {
            sayings.push(said.replace(" ..", "").replace('_', " "));
        }
    }
    sayings
});

/// `words` as somebody may name a tool, a value or a file.
fn named(words: &str, how: usize) -> String {
    let humps = || {
        let mut words = words.split(' ');
        let first = words.next().unwrap_or_default().to_owned();
        words.fold(first, |name, word| {
            let mut letters = word.chars();
            letters.next().map_or_else(
                || name.clone(),
                |first| format!("{name}{}{}", first.to_uppercase(), letters.as_str()),
            )
        })
    };
    let snake = words.replace(' ', "_");
    // A script without blanks shows no end of a name that is not quoted.
    match if words.is_ascii() { how } else { how % 3 } {
        0 => format!("'{words}'"),
        1 => format!("`{words}`"),
        2 => format!("\u{201c}{words}\u{201d}"),
        3 => format!("\"{snake}\""),
        4 => format!("get_{snake}"),
        5 => format!("my-{}", words.replace(' ', "-")),
        6 => format!("list{}", humps()),
        7 => format!("https://example.org/{snake}/{}.png", words.replace(' ', "-")),
        8 => format!("'{words}.pdf'"),
        _ => format!("tools.{snake}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_name_of_a_tool_or_a_value_decides_nothing_about_a_bad_request(
        saying in prop::sample::select((*SAYINGS).clone()),
        how in 0_usize..10,
        shape in 0_usize..6,
        provider in prop::sample::select(vec!["openai", "azure", "anthropic", "gemini", "groq", "mistral", "xai", "nobody"]),
        status in prop::sample::select(vec![400_u16, 404, 422]),
        wrapped in any::<bool>(),
    ) {
        let name = named(&saying, how);
        let message = match shape {
            0 => format!("Invalid schema for function {name}: array schema missing items."),
            1 => format!("Invalid value: {name}. Supported values are: 'low' and 'high'."),
            2 => format!("Function {name} is not declared in tools."),
            3 => format!("Error while downloading {name}."),
            4 => format!("tools.0.custom.name: {name} must match the pattern '^[a-z]+$'"),
            _ => format!("{name}: Extra inputs are not permitted"),
        };
        let error = json!({"message": message, "type": "invalid_request_error", "param": "tools[0]", "code": null});
        let value = if wrapped {
            let message = format!("Error code: {status} - {{'error': {}}}", error.to_string().replace("null", "None"));
            json!({"provider": provider, "kind": "sdk_exception",
                "body": {"exception": {"type": "openai.APIStatusError", "message": message}}})
        } else {
            json!({"provider": provider, "status": status, "body": {"error": error}})
        };
        let verdict = verdict(&value);
        let found = (verdict.label(), verdict.health_signal, verdict.resend.label(), verdict.retry_after_ms);
        prop_assert_eq!(found, ("NON_RETRYABLE", false, "none", None), "{}", value);
    }
}

#[test]
fn what_one_of_us_stopped_never_speaks_of_health() {
    for origin in ["hedge_loser", "caller", "caller_hangup", "client", "request_budget", "shutdown"] {
        let value = json!({"kind": "transport", "transport": {"code": "ABORT_ERR", "origin": origin}});
        let verdict = verdict(&value);
        assert_eq!((verdict.label(), verdict.health_signal), ("NONE", false), "{origin}");
    }
    for reason in
        ["call_fuse", "budget_exceeded", "circuit_open", "deadline", "concurrency_limit", "hedge_loser", "x"]
    {
        let verdict = verdict(&json!({"kind": "local_stop", "body": {"reason": reason}}));
        assert!(!verdict.health_signal, "{reason}");
    }
}

#[test]
fn fifty_levels_and_json_in_strings_in_json_end() {
    let deep = (0..50).fold(json!({"code": "insufficient_quota"}), |inner, _| json!({"error": inner}));
    verdict(&json!({"provider": "any", "status": 429, "body": deep}));
    let deeper = format!("{}{}", "{\"error\":".repeat(20_000), "}".repeat(20_000));
    verdict(&json!({"provider": "any", "status": 429, "body": deeper}));
    let nested = (0..10)
        .fold("insufficient_quota".to_owned(), |inner, _| json!({"error": {"message": inner}}).to_string());
    verdict(&json!({"provider": "any", "status": 429, "body": nested}));
    let causes =
        (0..200).fold(json!({"status_code": 429}), |inner, _| json!({"type": "E", "__cause__": inner}));
    verdict(&json!({"provider": "any", "kind": "sdk_exception", "body": {"exception": causes}}));
}

#[test]
fn ten_megabytes_are_read_in_bounded_time() {
    let long = "rate limit ".repeat(1_000_000);
    let body = json!({"choices": [{"message": {"content": long}, "finish_reason": "stop"}]}).to_string();
    assert_eq!(verdict(&json!({"provider": "any", "status": 200, "body": body})).label(), "NONE");
    assert_eq!(
        verdict(&json!({"provider": "any", "status": 429, "body": long})).label(),
        "RETRYABLE_RATE_LIMIT"
    );
    let twenty = "x".repeat(20 * 1024 * 1024);
    assert_eq!(
        verdict(&json!({"provider": "any", "status": 200, "body": format!("{{\"a\":\"{twenty}\"}}")}))
            .label(),
        "NONE"
    );
}

#[test]
fn a_verdict_names_fields_and_never_what_is_in_them() {
    for row in CORPUS.iter() {
        let verdict = verdict(row);
        for field in &verdict.decided_by {
            let name = field.to_string();
            assert!(name.len() < 60 && !name.contains(' '), "{name}");
        }
    }
}

#[test]
fn a_limit_inside_a_failed_call_is_a_limit_whatever_its_words() {
    let inner = json!({"error": {"message": "Provider returned an answer", "code": 429}});
    for body in [inner.clone(), json!({"error": {"message": inner.to_string(), "code": "503"}})] {
        let verdict = verdict(&json!({"provider": "any", "status": 503, "body": body}));
        assert_eq!((verdict.label(), verdict.health_signal), ("RETRYABLE_RATE_LIMIT", false), "{body}");
    }
}

#[test]
fn an_empty_account_behind_an_aggregator_is_ours_if_the_key_was() {
    let of = |own_key: Value| {
        let raw = json!({"error": {"message": "Insufficient Balance", "type": "unknown_error"}}).to_string();
        let metadata = json!({"raw": raw, "provider_name": "DeepSeek", "is_byok": own_key});
        let error = json!({"code": 402, "message": "Provider returned error", "metadata": metadata});
        let verdict = verdict(&json!({"provider": "openrouter", "status": 402, "body": {"error": error}}));
        (verdict.label(), verdict.health_signal)
    };
    assert_eq!(of(json!(true)), ("TERMINAL_FUNDS", false));
    assert_eq!(of(json!(false)), ("RETRYABLE_OVERLOAD", true));
    assert_eq!(of(Value::Null), ("RETRYABLE_OVERLOAD", true));
}

#[test]
fn a_wait_below_zero_in_a_body_is_none() {
    for field in [
        json!({"retry_after": -5}),
        json!({"retry_after": "-5"}),
        json!({"retry_after_seconds": -0.5}),
        json!({"retry_after_ms": -1}),
        json!({"resets_in_seconds": -5}),
        json!({"details": [{"retryDelay": "-5s"}]}),
        json!({"quotaResetDelay": "-5s"}),
        json!({"resets_at": 1_600_000_000}),
        json!({"metadata": {"headers": {"Retry-After": "-5"}}}),
    ] {
        let mut error = json!({"code": 429, "message": "Too many requests, try again in -5 seconds"});
        error.as_object_mut().expect("it is one").extend(field.as_object().expect("it is one").clone());
        let value = json!({"provider": "any", "status": 429, "body": {"error": error}, "now": "2026-04-01T09:00:00Z"});
        let verdict = verdict(&value);
        assert_eq!((verdict.label(), verdict.retry_after_ms), ("RETRYABLE_RATE_LIMIT", None), "{value}");
    }
}

#[test]
fn what_stands_inside_an_answer_beside_an_error_is_not_read() {
    let said = json!({"message": "insufficient_quota", "error": {"code": "invalid_api_key", "message": "no credits"},
        "code": 429, "retry_after": 5, "type": "content_filter"});
    for key in ["output", "candidates", "choices", "content", "delta"] {
        for inside in [said.clone(), json!([said]), json!([{"message": said, "error": said}])] {
            for kind in ["http", "stream_event"] {
                let body = json!({"error": {"code": 502, "message": "disconnected"}, key: inside,
                    "response": {"error": {"code": 502}, key: inside}});
                let stream = json!({"event": body, "prior": "none", "output_bytes": 0, "ended": ""});
                let found = verdict(
                    &json!({"provider": "any", "kind": kind, "status": 200, "body": body, "stream": stream}),
                );
                let found = (found.label(), found.retry_after_ms, found.health_signal);
                assert_eq!(found, ("RETRYABLE_OVERLOAD", None, true), "{kind}: {body}");
            }
        }
    }
}

#[test]
fn a_wrong_dialect_does_not_send_again_what_the_caller_has_seen() {
    for dialect in Dialect::NAMES.map(|name| Dialect::named(name).expect("it is one of its names")) {
        for row in CORPUS.iter() {
            let mut row = row.clone();
            row["stream"] =
                json!({"event": row["stream"]["event"], "prior": "", "output_bytes": 7, "ended": "eof"});
            let verdict = classify(&Input::from_json(row.clone()), &dialect);
            assert_eq!(verdict.resend.label(), "none", "{row}");
        }
    }
}
