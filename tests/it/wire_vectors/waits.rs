//! What parsers of waits make of every form of them: RFC 9110, the SDKs, Envoy, AWS, failsafe-go, Google, Go,
//! RFC 3339 and the IETF draft; and gemini-cli's classifier of quota errors.

use super::{rows, text};
use faultlab::units::Duration;
use faultlab::wire::{
    Dialect, Input, Parsed, Reading, Reason, Sdk, SdkWait, classify, go_duration, protobuf_duration,
    rate_limit, rate_limit_policies, retry_after, retry_after_ms, rfc3339, sdk_wait, unix_seconds,
};
use jiff::Timestamp;
use serde_json::{Value, json};

/// Rows where gemini-cli, which has one model and no pool of keys, calls terminal what a gateway may wait for.
const ARGUED: [(&str, &str); 1] = [(
    "MODEL_CAPACITY_EXHAUSTED",
    "no capacity at Google is an overload to a gateway: it passes, others may have some",
)];

#[test]
fn every_form_of_retry_after_is_read_as_its_source_reads_it() {
    check("retry_after", 55, |row| match text(&row["config"], "model") {
        "" if row["config"].get("standard").is_some() => by_the_rfc(row),
        "" if row["expect"].get("resolved_year").is_some() => century(row),
        "" => by_the_sdks(row),
        model if model.starts_with("envoy") => by_envoy(row),
        model if model.starts_with("aws") => by_aws(row),
        model if model.starts_with("failsafe-go") => by_failsafe_go(row),
        model => Err(format!("no such model: {model}")),
    });
}

#[test]
fn every_form_of_a_duration_is_read_as_its_source_reads_it() {
    check("duration", 28, |row| {
        let value = row["steps"][0][1].as_str().expect("the row is well formed");
        let format = text(&row["config"], "format");
        if format.contains("protobuf") {
            same(protobuf_duration(value), &row["expect"]["ns"], 1)
        } else if format.contains("Go duration") {
            same(go_duration(value), &row["expect"]["ns"], 1)
        } else {
            same(rfc3339(value, now(row)), &row["expect"]["wait_ms"], 1_000_000)
        }
    });
}

#[test]
fn the_ietf_fields_are_read_as_the_draft_says() {
    check("ratelimit_header", 3, |row| {
        let (name, value) = row["steps"][0][1]
            .as_str()
            .expect("the row is well formed")
            .split_once(": ")
            .expect("the row is well formed");
        let expect = &row["expect"];
        if name == "RateLimit-Policy" {
            let first = rate_limit_policies(value).map(|policies| (policies[0].quota, policies[0].window_s));
            let expected = (expect["quota"].as_u64().or(expect["q"].as_u64()), expect["window_s"].as_u64());
            return agree(&first.map(|(quota, window)| (Some(quota), window)), &Some(expected));
        }
        let first = rate_limit(value).map(|items| (json!(items[0].remaining), json!(items[0].reset_s)));
        let ignored = expect.get("ignored").is_some();
        agree(&first, &(!ignored).then(|| (expect["remaining"].clone(), expect["reset_s"].clone())))
    });
}

#[test]
fn quota_errors_of_google_are_told_apart_as_its_own_client_does() {
    let dialect = Dialect::standard();
    check("error_taxonomy", 10, |row| {
        let said = row["steps"][0][1].as_str().expect("the row is well formed");
        if ARGUED.iter().any(|(word, _)| said.contains(word)) {
            return Ok(());
        }
        let verdict = classify(&google_error(said), &dialect);
        let retryable = verdict.resend.label() == "same";
        agree(&retryable, &(text(&row["expect"], "klass") == "retryable"))?;
        let numbers: Option<String> = row["expect"]["retry_delay_ms"].as_number().map(ToString::to_string);
        let rounded_up = numbers.map(|ms| {
            let (whole, part) = ms.split_once('.').unwrap_or((&ms, "0"));
            whole.parse::<u64>().expect("the row is well formed")
                + u64::from(part.bytes().any(|digit| digit != b'0'))
        });
        agree(&verdict.retry_after_ms, &rounded_up)
    });
}

fn check(area: &str, at_least: usize, replay: impl Fn(&Value) -> Result<(), String>) {
    let rows: Vec<Value> = rows("resilience").into_iter().filter(|row| text(row, "area") == area).collect();
    assert!(rows.len() >= at_least, "only {} rows", rows.len());
    let replay = |row: &Value| replay(row).err().map(|error| format!("{}: {error}", text(row, "id")));
    let wrong: Vec<String> = rows.iter().filter_map(replay).collect();
    assert!(wrong.is_empty(), "{} of {} rows differ:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

fn agree<T: PartialEq + std::fmt::Debug>(ours: &T, theirs: &T) -> Result<(), String> {
    if ours == theirs { Ok(()) } else { Err(format!("{ours:?} for {theirs:?}")) }
}

/// Whether a reading is the expected number of `unit` nanoseconds; null is malformed, negative is named so,
/// what does not fit saturates.
fn same(ours: Parsed, expected: &Value, unit: u64) -> Result<(), String> {
    let delay = |number: u64| Parsed::Delay(Duration::from_nanos(number.saturating_mul(unit)));
    let theirs = match expected {
        Value::Null => {
            return if matches!(ours, Parsed::Malformed(_)) {
                Ok(())
            } else {
                agree(&format!("{ours:?}"), &"malformed".into())
            };
        }
        Value::Number(number) if number.to_string().starts_with('-') => Parsed::Malformed(Reason::Negative),
        Value::Number(number) => number.as_u64().map_or(Parsed::Delay(Duration::MAX), delay),
        Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            return Err("the expectation is not a number".into());
        }
    };
    agree(&ours, &theirs)
}

fn now(row: &Value) -> Option<Timestamp> {
    text(&row["config"], "now").parse().ok()
}

fn by_the_rfc(row: &Value) -> Result<(), String> {
    let value = row["steps"][0][1].as_str();
    same(retry_after(value, None, now(row), Reading::Strict), &row["expect"]["delay_s"], 1_000_000_000)
}

/// A past year is a wait of zero; the wrong century would be a wait of decades.
fn century(row: &Value) -> Result<(), String> {
    let value = row["steps"][0][1].as_str();
    let past = row["expect"]["resolved_year"].as_i64()
        < Some(i64::from(
            now(row).expect("the row is well formed").to_zoned_datetime(jiff::tz::TimeZone::UTC).year(),
        ));
    agree(&(retry_after(value, None, now(row), Reading::Strict) == Parsed::Delay(Duration::ZERO)), &past)
}

fn by_the_sdks(row: &Value) -> Result<(), String> {
    let headers = &row["steps"][0][1];
    let header = |name: &str| headers[name].as_str();
    for (name, sdk) in [("openai", Sdk::OpenAi), ("anthropic", Sdk::Anthropic)] {
        let expect = &row["expect"][name];
        let ours = sdk_wait(
            sdk,
            header("retry-after-ms"),
            header("retry-after"),
            now(row).expect("the row is well formed"),
        );
        let backoff = row["config"]["fallback_backoff_s"] == expect["delay_s"];
        let theirs = match (&expect["delay_s"], expect["retry"].as_bool()) {
            (Value::String(_), _) => SdkWait::Raises,
            (_, Some(false)) => SdkWait::NoRetry,
            _ if backoff => SdkWait::OwnBackoff,
            (number, _) => SdkWait::Wait(seconds(number)),
        };
        agree(&ours, &theirs)?;
        if name == "openai" {
            lenient_reading(row, &expect["parsed_s"])?;
        }
    }
    Ok(())
}

/// Our own lenient reading of the header that the SDK read: the same number, if it is one that can be waited for.
fn lenient_reading(row: &Value, parsed: &Value) -> Result<(), String> {
    let headers = &row["steps"][0][1];
    let readable =
        |value: &&str| matches!(retry_after_ms(Some(value), Reading::LenientSdk), Parsed::Delay(_));
    let ours = match headers["retry-after-ms"].as_str().filter(readable) {
        Some(ms) => retry_after_ms(Some(ms), Reading::LenientSdk),
        None => retry_after(headers["retry-after"].as_str(), None, now(row), Reading::LenientSdk),
    };
    match parsed {
        Value::Number(number) if number.to_string().starts_with('-') => Ok(()),
        Value::Number(_) => agree(&ours, &Parsed::Delay(seconds(parsed))),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => Ok(()),
    }
}

/// Seconds with a fraction, exactly.
fn seconds(number: &Value) -> Duration {
    let text = number.to_string();
    let (whole, part) = text.split_once('.').unwrap_or((&text, "0"));
    let nanos: u64 = format!("{part:0<9}").parse().expect("the row is well formed");
    Duration::from_secs(whole.parse().expect("the row is well formed")).plus(Duration::from_nanos(nanos))
}

/// Envoy reads whole seconds or an epoch, and drops what is longer than its ceiling.
fn by_envoy(row: &Value) -> Result<(), String> {
    let config = &row["config"];
    if row["expect"].get("fallback").is_some() {
        let over = row["steps"][0][0].as_str().and_then(|step| step.split_once(": ")).map(|(_, value)| value);
        let Parsed::Delay(delay) = retry_after(over, None, None, Reading::Strict) else {
            return Err("no delay".into());
        };
        return agree(
            &(delay
                > Duration::from_secs(config["max_interval_s"].as_u64().expect("the row is well formed"))),
            &true,
        );
    }
    let value = row["steps"][0][1].as_str().expect("the row is well formed");
    let parsed = if text(config, "format") == "SECONDS" {
        retry_after(Some(value), None, None, Reading::Strict)
    } else {
        unix_seconds(
            value,
            Timestamp::from_second(config["now_unix"].as_i64().expect("the row is well formed"))
                .expect("the row is well formed"),
        )
    };
    same(parsed, &row["expect"]["interval_ms"], 1_000_000)
}

/// AWS clamps from below by its own backoff (2.1) or from above by its longest (2.0).
fn by_aws(row: &Value) -> Result<(), String> {
    let own = row["config"].get("t_i_s").map(seconds);
    let longest = row["config"].get("max_backoff_s").map(seconds);
    let said = row["steps"][0]
        .as_array()
        .expect("the row is well formed")
        .last()
        .expect("the row is well formed")
        .as_str()
        .expect("the row is well formed");
    let parsed = match said.strip_prefix("delay ") {
        Some(s) => retry_after(Some(s), None, None, Reading::Strict),
        None => retry_after_ms(Some(said), Reading::Strict),
    };
    let delay = match parsed {
        Parsed::Delay(delay) => delay,
        Parsed::Absent | Parsed::Malformed(_) => Duration::ZERO,
    };
    let clamped = delay.max(own.unwrap_or(delay)).min(longest.unwrap_or(Duration::MAX));
    // botocore allows at most five seconds above its own backoff.
    let clamped = own.map_or(clamped, |own| clamped.min(own.plus(Duration::from_secs(5))));
    agree(&clamped, &seconds(&row["expect"]["delay_s"]))
}

/// failsafe-go reads whole seconds of a 429 or a 503, nothing else; below zero is zero.
fn by_failsafe_go(row: &Value) -> Result<(), String> {
    for (step, expected) in row["steps"]
        .as_array()
        .expect("the row is well formed")
        .iter()
        .zip(row["expect"]["delay_s"].as_array().expect("the row is well formed"))
    {
        let (status, header) = step[0]
            .as_str()
            .expect("the row is well formed")
            .split_once(' ')
            .expect("the row is well formed");
        let parsed =
            retry_after(header.split_once(": ").map(|(_, value)| value), None, None, Reading::Strict);
        let ours = match parsed {
            _ if !matches!(status, "429" | "503") => json!("configured"),
            Parsed::Delay(delay) => json!(delay.nanos() / 1_000_000_000),
            Parsed::Malformed(Reason::Negative) => json!("0 (negative clipped)"),
            Parsed::Absent | Parsed::Malformed(_) => json!("configured"),
        };
        agree(&ours, expected)?;
    }
    Ok(())
}

/// The error that a row describes in words: `429 cloudcode RATE_LIMIT_EXCEEDED + RetryInfo 600s`.
fn google_error(said: &str) -> Input {
    let words: Vec<&str> = said.split([' ', ',']).collect();
    let after =
        |word: &str| words.iter().position(|one| *one == word).and_then(|at| words.get(at + 1)).copied();
    let status: u16 = words[0].parse().unwrap_or(429);
    let mut details = Vec::new();
    if let Some(window) = after("QuotaFailure") {
        details.push(json!({"@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{"quotaId": format!("GenerateRequests{window}PerProjectPerModel")}]}));
    }
    let reason = words.iter().find(|word| {
        word.len() > 5
            && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit())
    });
    let limit = words.iter().find_map(|word| word.strip_prefix("metadata.quota_limit="));
    if reason.is_some() || limit.is_some() {
        details.push(json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason,
            "metadata": {"quota_limit": limit}}));
    }
    if let Some(delay) = after("RetryInfo") {
        details.push(json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}));
    }
    let quoted = said.split('\'').nth(1).or_else(|| said.split('"').nth(1)).unwrap_or("");
    let code = if status == 503 {
        "UNAVAILABLE"
    } else if status == 429 {
        "RESOURCE_EXHAUSTED"
    } else {
        "CANCELLED"
    };
    let provider = if words.contains(&"cloudcode") { "cloudcode" } else { "gemini" };
    Input::from_json(json!({"provider": provider, "kind": "http", "status": status, "headers": {},
        "body": {"error": {"code": status, "message": quoted, "status": code, "details": details}}}))
}
