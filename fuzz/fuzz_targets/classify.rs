//! Any bytes as a body, and as a whole input, have a verdict that keeps its promises.
#![no_main]

use faultlab::wire::{Body, Dialect, Input, Kind, Phase, classify};
use std::sync::LazyLock;

static DIALECT: LazyLock<Dialect> = LazyLock::new(Dialect::standard);

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes).into_owned();
    if let Ok(value) = serde_json::from_str(&text) {
        check(&Input::from_json(value));
    }
    let body = Body::Text(text.clone());
    check(&Input { kind: Kind::SdkException, body, ..Input::default() });
    for status in [200, 400, 429, 503] {
        let body = Body::Text(text.clone());
        check(&Input { provider: "openai".into(), status: Some(status), body, ..Input::default() });
    }
});

fn check(input: &Input) {
    let verdict = classify(input, &DIALECT);
    assert!(input.phase() != Phase::AfterOutput || verdict.resend.label() == "none");
    assert!(!(verdict.health_signal && matches!(verdict.family(), "TERMINAL" | "RETRYABLE_RATE_LIMIT" | "none")));
}
