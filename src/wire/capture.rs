//! Responses as tools write them down: the form of the test vectors, an entry of a HAR file, the output of `curl -i`.

use super::input::{Body, Input, Kind, Transport};
use super::origin::UNKNOWN;
use super::{Dialect, dates};
use serde_json::{Map, Value};

/// The fields of the form of the test vectors of which a response has at least one.
const FIELDS: [&str; 5] = ["status", "headers", "body", "stream", "transport"];

/// A response out of a JSON object: an entry of a HAR file if it has a `response`, else the form of the test vectors.
///
/// # Errors
/// Why it is neither, in one sentence that repeats nothing of it but the names of fields.
pub fn from_capture(value: Value, dialect: &Dialect) -> Result<Input, String> {
    let Value::Object(fields) = &value else { return Err("a response is a JSON object".to_owned()) };
    if fields.get("response").is_some_and(Value::is_object) {
        return Ok(har(fields, dialect));
    }
    if !FIELDS.iter().any(|field| fields.contains_key(*field)) && !fields.contains_key("kind") {
        let fields = FIELDS.map(|field| format!("`{field}`")).join(", ");
        return Err(format!(
            "the object has no field of a response: {fields}, or `response` as in a HAR file"
        ));
    }
    let is_absent = |field: &str| fields.get(field).is_none_or(Value::is_null);
    if !is_absent("status") && fields["status"].as_u64().is_none_or(|status| status > 999) {
        return Err("`status` is no HTTP status".to_owned());
    }
    for (field, is_right) in [
        ("headers", Value::is_object as fn(&Value) -> bool),
        ("stream", Value::is_object),
        ("transport", Value::is_object),
    ] {
        if !is_absent(field) && !is_right(&fields[field]) {
            return Err(format!("`{field}` is no object"));
        }
    }
    for field in ["provider", "kind", "now"] {
        if !is_absent(field) && !fields[field].is_string() {
            return Err(format!("`{field}` is no text"));
        }
    }
    if let Some(Value::String(now)) = fields.get("now")
        && now.parse::<jiff::Timestamp>().is_err()
    {
        return Err("`now` is no instant such as `2026-03-06T22:19:54Z`".to_owned());
    }
    if let Some(Value::String(kind)) = fields.get("kind")
        && !Kind::WORDS.iter().any(|(word, _)| word == kind)
    {
        let known = Kind::WORDS.map(|(word, _)| word).join(", ");
        return Err(format!("`kind` is none of {known}"));
    }
    Ok(Input::from_json(value))
}

/// An entry of a HAR file. The provider is known by the host that was asked.
fn har(entry: &Map<String, Value>, dialect: &Dialect) -> Input {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let response = &entry["response"];
    let status = response["status"].as_u64().and_then(|status| u16::try_from(status).ok());
    let pairs = response["headers"].as_array().map_or(&[][..], Vec::as_slice);
    let asked = entry.get("request").map_or(String::new(), |request| text(request, "url"));
    let provider = dialect.provider_of(host(&asked)).unwrap_or_default();
    let now = entry.get("startedDateTime").and_then(Value::as_str).and_then(|text| text.parse().ok());
    // A status of zero is how browsers write down that there was none, whoever broke it.
    let Some(status) = status.filter(|status| *status != 0) else {
        let (code, origin) = (text(response, "_error"), UNKNOWN.to_owned());
        let transport = Some(Transport { code, origin, ..Transport::default() });
        return Input { provider, kind: Kind::Transport, transport, now, ..Input::default() };
    };
    let content = &response["content"];
    let body = match (content["text"].as_str(), content["encoding"].as_str()) {
        (Some(text), Some("base64")) => base64(text).map_or(Body::Absent, Body::Text),
        (Some(text), _) => Body::Text(text.to_owned()),
        (None, _) => Body::Absent,
    };
    let headers = pairs.iter().take(128).map(|pair| (text(pair, "name"), text(pair, "value"))).collect();
    Input { provider, status: Some(status), headers, body, now, ..Input::default() }
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    host.rsplit_once('@').map_or(host, |(_, host)| host).split(':').next().unwrap_or_default()
}

/// The text that `curl -i` writes: heads, of which the last counts (interim answers, redirects and proxies have one
/// too), and a body. The time is that of its `Date`.
///
/// # Errors
/// Why it is none.
pub fn from_http(text: &str) -> Result<Input, String> {
    let mut rest = text;
    loop {
        let (head, body) = head(rest);
        let mut lines = head.lines().map(str::trim_end);
        let status = lines.next().and_then(status_line).ok_or("the line is no `HTTP/… status`")?;
        if body.starts_with("HTTP/") && body.lines().next().and_then(status_line).is_some() {
            rest = body;
            continue;
        }
        let fields = lines.filter_map(|line| line.split_once(':'));
        let headers: Vec<(String, String)> =
            fields.take(128).map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect();
        let input = Input { status: Some(status), headers, ..Input::default() };
        let now = input.header("date").and_then(|date| dates::http(date, None));
        let body = if body.trim().is_empty() { Body::Absent } else { Body::Text(body.to_owned()) };
        return Ok(Input { now, body, ..input });
    }
}

/// The status in `HTTP/2 429 Too Many Requests`.
pub fn status_line(line: &str) -> Option<u16> {
    let (version, rest) = line.strip_prefix("HTTP/")?.split_once(' ')?;
    let code = rest.trim().split(' ').next()?;
    let is_version = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let status = code.parse().ok().filter(|status| (100..=999).contains(status))?;
    (is_version && code.len() == 3).then_some(status)
}

/// What stands before the first empty line, and what after it.
fn head(text: &str) -> (&str, &str) {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_end().is_empty() {
            return (&text[..at], &text[at + line.len()..]);
        }
        at += line.len();
    }
    (text, "")
}

fn base64(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        (bits, count) = (bits << 6 | u32::from(six), count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::classify;
    use serde_json::json;

    fn label(input: &Input) -> &'static str {
        classify(input, &Dialect::standard()).label()
    }

    #[test]
    fn the_last_head_of_curl_counts() {
        let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/2 429 \r\ndate: Mon, 30 Nov 2026 18:00:00 GMT\r\n\
                    retry-after: 20\r\n\r\n{\"error\":{\"code\":\"rate_limit_exceeded\"}}";
        let verdict = classify(&from_http(text).unwrap(), &Dialect::standard());
        assert_eq!((verdict.label(), verdict.retry_after_ms), ("RETRYABLE_RATE_LIMIT", Some(20_000)));
        assert!(from_http("HTTP/1.1 hello\n\n").is_err());
        assert_eq!(from_http("HTTP/1.1 503\n").unwrap().status, Some(503));
    }

    #[test]
    fn an_entry_of_a_har_file_is_known_by_its_host() {
        let entry = |url: &str, encoding: &str, text: &str| {
            json!({"request": {"url": url}, "response": {"status": 429, "headers": [{"name": "A", "value": "b"}],
                "content": {"text": text, "encoding": encoding}}})
        };
        let read = |value| from_capture(value, &Dialect::standard()).unwrap();
        let money = r#"{"error":{"code":"1113"}}"#;
        assert_eq!(read(entry("https://api.groq.com/openai/v1?key=x", "", money)).provider, "groq");
        assert_eq!(read(entry("https://me@x.openai.azure.com:443/a", "", money)).provider, "azure");
        let encoded = read(entry("https://api.z.ai/v1", "base64", "eyJlcnJvciI6eyJjb2RlIjoiMTExMyJ9fQ=="));
        assert_eq!(encoded.body, Body::Text(money.to_owned()));
        let broken = json!({"request": {"url": "https://a"}, "response": {"status": 0, "_error": "net::ERR_CONNECTION_RESET"}});
        assert_eq!(label(&read(broken)), "RETRYABLE_OVERLOAD");
    }

    #[test]
    fn a_browser_without_a_status_does_not_speak_of_the_provider() {
        let check = |error: &str, expected: &str| {
            let entry = json!({"request": {"url": "https://api.groq.com"}, "response": {"status": 0, "_error": error}});
            let verdict = classify(&from_capture(entry, &Dialect::standard()).unwrap(), &Dialect::standard());
            assert_eq!((verdict.label(), verdict.health_signal), (expected, false), "{error}");
        };
        check("", "RETRYABLE_OVERLOAD");
        check("net::ERR_CONNECTION_RESET", "RETRYABLE_OVERLOAD");
        check("net::ERR_ABORTED", "NONE");
        check("net::ERR_BLOCKED_BY_CLIENT", "NONE");
        check("net::ERR_CERT_DATE_INVALID", "NON_RETRYABLE");
    }

    #[test]
    fn what_is_no_response_is_told_in_one_sentence() {
        let check = |value: Value, says: &str| {
            let told = from_capture(value, &Dialect::standard()).unwrap_err();
            assert!(told.contains(says), "{told}");
            assert!(!told.contains("secret"), "{told}");
        };
        check(json!(["secret"]), "a JSON object");
        check(json!({"error": "secret"}), "has no field of a response: `status`");
        check(json!({"status": "429 secret"}), "`status` is no HTTP status");
        check(json!({"status": 429, "headers": ["secret"]}), "`headers` is no object");
        check(json!({"status": 429, "kind": "secret"}), "`kind` is none of http, stream_event");
        check(json!({"status": 429, "provider": 7}), "`provider` is no text");
        check(json!({"status": 429, "now": "yesterday, secret"}), "`now` is no instant such as");
    }
}
