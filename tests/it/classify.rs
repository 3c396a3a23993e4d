//! `faultlab classify`, as a user runs it.

use crate::support::{Place, faultlab, golden};
use serde_json::{Value, json};
use std::fmt::Write;

/// Runs `faultlab classify` with these words and this on stdin; stdout, stderr and the exit code.
fn classify(place: &Place, words: &str, stdin: impl AsRef<[u8]>) -> (String, String, i32) {
    let words = words.split_whitespace();
    let run = faultlab().current_dir(place.path()).stdin(stdin.as_ref()).arg("classify").args(words);
    let said = run.assert();
    let output = said.get_output();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code().unwrap())
}

/// The class and the id of each response in `stdin`, which all can be read.
fn classes(stdin: impl AsRef<[u8]>) -> Vec<(Value, String)> {
    let place = Place::new("classify-classes");
    let (stdout, stderr, code) = classify(&place, "--format json", stdin);
    assert_eq!((stderr.as_str(), code), ("", 0), "{stdout}");
    let told = stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    told.map(|told| (told["id"].clone(), told["class"].as_str().unwrap().to_owned())).collect()
}

const LIMIT: &str = r#"{"id": "mine", "provider": "gemini", "status": 429, "headers": {"set-cookie": "secret", "retry-after": "20"},
    "body": {"error": {"message": "secret", "status": "RESOURCE_EXHAUSTED"}}, "expect": {"class": "secret"}, "note": "secret"}"#;

#[test]
fn json_has_exactly_these_fields_and_nothing_of_what_was_said() {
    let place = Place::new("classify-fields");
    let (stdout, ..) = classify(&place, "--format json -", LIMIT.replace('\n', " "));
    assert_eq!(
        stdout,
        concat!(
            r#"{"id":"mine","class":"RETRYABLE_RATE_LIMIT","family":"RETRYABLE_RATE_LIMIT","retry_after_ms":20000,"#,
            r#""scope":"project","health_signal":false,"resend":"same","resets_at":null,"rule":"rate_limit","#,
            r#""decided_by":["error.status","headers.retry-after"]}"#,
            "\n"
        )
    );
    let (human, ..) = classify(&place, "", LIMIT);
    assert!(!human.contains("secret") && human.contains("send again after 20000 ms"), "{human}");
}

#[test]
fn a_line_reads_well() {
    let place = Place::new("classify-human");
    let cases = faultlab::wire::Catalogue::standard();
    let mut lines = String::new();
    for (provider, case) in [
        ("gemini", "rate_limit"),
        ("gemini", "daily_quota"),
        ("openai", "out_of_money"),
        ("anthropic", "overloaded"),
        ("together", "too_large_as_403"),
        ("openai", "refusal"),
    ] {
        let input = &cases.case(provider, case).unwrap().input;
        let faultlab::wire::Body::Json(body) = &input.body else { panic!("{provider} {case}") };
        let id = format!("{provider}/{case}");
        let row = json!({"id": id, "provider": provider, "status": input.status, "body": body});
        writeln!(lines, "{row}").unwrap();
    }
    lines.push_str("{\"status\": 200, \"body\": {\"choices\": [{\"message\": {\"content\": \"42\"}}]}}\n");
    golden("cli/classify", &classify(&place, "", &lines).0);
}

#[test]
fn every_form_of_json_is_read() {
    let is =
        |ids: &[Value], class: &str| ids.iter().map(|id| (id.clone(), class.to_owned())).collect::<Vec<_>>();
    let limit = "RETRYABLE_RATE_LIMIT";
    assert_eq!(classes(LIMIT), is(&[json!("mine")], limit), "over several lines");
    assert_eq!(
        classes("\u{feff}{\"status\":429}\r\n\r\n{\"id\":7,\"status\":429}"),
        is(&[json!(1), json!(7)], limit)
    );
    assert_eq!(
        classes("[{\"status\":429},\n {\"status\":429}] {\"status\":429}"),
        is(&[json!(1), json!(2), json!(3)], limit)
    );
    assert_eq!(classes("[{\"status\":429}, {\"status\":429}]"), is(&[json!(1), json!(2)], limit));
    let entry = json!({"request": {"url": "https://api.groq.com/v1", "headers": []}, "response": {"status": 429,
        "headers": [{"name": "Retry-After", "value": "20"}], "content": {"text": "{}"}}});
    let har = json!({"log": {"version": "1.2", "entries": [entry, entry]}});
    assert_eq!(classes(har.to_string()), is(&[json!(1), json!(2)], limit));
    assert_eq!(classes(serde_json::to_string_pretty(&har).unwrap()), is(&[json!(1), json!(2)], limit));
    assert_eq!(classes(entry.to_string()), is(&[json!(1)], limit));
}

#[test]
fn what_curl_writes_is_read_and_the_provider_can_be_said() {
    let place = Place::new("classify-curl");
    let text = "HTTP/1.1 200 Connection established\r\n\r\nHTTP/2 429 \r\nretry-after: 3\r\n\r\n\
                {\"error\":{\"code\":\"1113\"}}\nHTTP/2 503 \r\n\r\nbusy";
    let (plain, ..) = classify(&place, "--format json", text);
    let (zai, _, code) = classify(&place, "--format json --provider zai", text);
    assert_eq!(code, 0);
    assert!(plain.starts_with(r#"{"id":1,"class":"RETRYABLE_RATE_LIMIT""#), "{plain}");
    assert!(zai.starts_with(r#"{"id":1,"class":"TERMINAL_FUNDS""#), "{zai}");
    assert!(zai.lines().nth(1).unwrap().starts_with(r#"{"id":2,"class":"RETRYABLE_OVERLOAD""#), "{zai}");
}

#[test]
fn what_cannot_be_read_is_told_with_its_line_and_the_rest_goes_on() {
    let place = Place::new("classify-problems");
    let text = "{\"status\": 429}\n{\"status\": 42x}\nsecret\n\n{\"error\": \"secret\"}\n{\"status\": \"429\"}\n{\"status\": 503}\n";
    let (stdout, stderr, code) = classify(&place, "--format json", text);
    assert_eq!((stdout.lines().count(), code), (2, 3));
    golden("cli/classify-problems", &stderr);
    assert!(!stderr.contains("secret"), "{stderr}");
    let (stdout, stderr, code) =
        classify(&place, "", "{\"status\": 429}\n\n{\n  \"status\": 429,\n  \"body\": oops\n}\n");
    assert_eq!((stdout.lines().count(), code), (1, 3));
    assert!(stderr.contains("stdin, line 5: ") && stderr.contains("begins on line 3"), "{stderr}");
    for no_har in ["{\"log\":\n\"secret\"}", "{\"log\":\n{\"entries\": \"secret\"}}", "{\"log\": \"secret\"}"]
    {
        let (_, stderr, code) = classify(&place, "", no_har);
        assert!(code == 3 && !stderr.contains("secret"), "{stderr}");
    }
}

#[test]
fn a_time_that_is_none_and_json_that_is_too_deep_are_called_so() {
    let place = Place::new("classify-clear-words");
    let check = |text: String, says: &str| {
        let (stdout, stderr, code) = classify(&place, "--format json", text);
        assert!(stdout.is_empty() && code == 3 && stderr.contains(says), "{stderr}");
    };
    check("{\"status\": 429, \"now\": \"yesterday\"}".to_owned(), "line 1: `now` is no instant");
    let deep = format!("{{\"status\": 429, \"body\": {}{}}}", "[".repeat(200), "]".repeat(200));
    check(deep, "line 1: this JSON is nested more than 127 levels deep");
}

#[test]
fn the_exit_code_says_what_was_wrong() {
    let place = Place::new("classify-exits");
    place.file("mine.txt", "provider any\ncode funds rate_limit_exceeded\n");
    place.file("bad.txt", "provider any\n\ncode money x\n");
    let limit = r#"{"status": 429, "body": {"error": {"code": "rate_limit_exceeded"}}}"#;
    for (words, code, says) in [
        ("--dialect mine.txt", 0, "TERMINAL_FUNDS"),
        ("--dialect status_only", 0, "RETRYABLE_RATE_LIMIT"),
        ("--dialect bad.txt", 3, "bad.txt, line 3: no such sign"),
        (
            "--dialect nowhere.txt",
            3,
            "cannot read the dialect nowhere.txt; it is a file, or one of standard, as_sent",
        ),
        ("nowhere.json", 3, "cannot read nowhere.json"),
        (".", 3, ". is a folder"),
        ("--formt json", 2, "similar argument exists: '--format'"),
    ] {
        let (stdout, stderr, found) = classify(&place, words, limit);
        assert_eq!(found, code, "{words}: {stderr}");
        assert!((stdout + &stderr).contains(says), "{words}: {stderr}");
    }
    for empty in ["", " \n\n", "[]", "{\"log\":{\"entries\":[]}}"] {
        let (_, stderr, code) = classify(&place, "", empty);
        assert_eq!((code, stderr.as_str()), (4, "error: there is no response in stdin\n"), "{empty}");
    }
}

#[test]
fn any_bytes_end_with_a_documented_code() {
    let place = Place::new("classify-bytes");
    let deep = "[".repeat(100_000);
    let texts: [&[u8]; 7] = [
        b"\xff\xfe",
        b"{",
        b"[[[{\"status\":1}]]",
        b"HTTP/",
        b"HTTP/1.1 429\n\xff",
        b"{\"status\":429}\0",
        deep.as_bytes(),
    ];
    for text in texts {
        let (_, stderr, code) = classify(&place, "", text);
        assert!([0, 3].contains(&code), "{code}: {stderr}");
        assert!(!stderr.contains("bug"), "{stderr}");
    }
}

#[test]
fn a_list_is_not_kept_in_memory_and_one_response_is_bounded() {
    let place = Place::new("classify-large");
    let row = format!("{{\"status\": 503, \"body\": \"{}\"}}", "x".repeat(1 << 20));
    let list = format!("[{}]", [row.as_str(); 40].join(",\n"));
    let (stdout, stderr, code) = classify(&place, "--format json", list);
    assert_eq!((stdout.lines().count(), stderr.as_str(), code), (40, "", 0));
    let one = format!("{{\"status\": 503, \"body\": \"{}\"}}\n{{\"status\": 429}}\n", "x".repeat(17 << 20));
    let (stdout, stderr, code) = classify(&place, "--format json", one);
    assert!(stderr.contains("line 1: a response of more than 16777216 bytes"), "{stderr}");
    assert_eq!((stdout.lines().count(), code), (1, 3), "the next line is read");
}
