//! Classifiers that are wrong on purpose, as values of the dialect: what a gateway does with them is the lesson.

use super::verdict::Field;
use super::{Body, Input, Kind, Phase, Verdict};
use crate::policy::taxonomy::{Class, Resend, Scope};
use crate::wire::retry_after::{Parsed, Reading, retry_after};
use crate::wire::words;

/// The status decides, nothing else is read: a 429 is a rate limit whatever it says, a 200 is an answer.
pub(super) fn status_only(input: &Input) -> Verdict {
    let class = match input.status {
        Some(100..=399) => None,
        Some(401 | 403) => Some(Class::Auth),
        Some(402) => Some(Class::Funds),
        Some(429) => Some(Class::RateLimit),
        Some(408 | 500..) | None => Some(Class::Overload),
        Some(_) => Some(Class::NonRetryable),
    };
    let wait =
        match retry_after(input.header("retry-after"), input.header("date"), input.now, Reading::Strict) {
            Parsed::Delay(delay) if class.is_some_and(|class| !class.is_terminal()) => {
                Some(delay.nanos().div_ceil(1_000_000))
            }
            Parsed::Delay(_) | Parsed::Absent | Parsed::Malformed(_) => None,
        };
    of(input, class, wait, "status_only", Field { place: "", key: "status" })
}

/// Texts that ADR-113 takes for terminal, wherever they stand.
const TERMINAL: [&str; 17] = [
    "insufficient_quota",
    "insufficient balance",
    "billing_hard_limit",
    "billing hard limit",
    "exceeded your current quota",
    "usage limit",
    "spending limit",
    "credit balance is too low",
    "payment required",
    "account is not active",
    "access denied",
    "permission denied",
    "invalid api key",
    "invalid x-api-key",
    "incorrect api key",
    "authentication",
    "unauthorized",
];
const OVERLOAD: [&str; 9] = [
    "overloaded",
    "service unavailable",
    "unavailable",
    "bad gateway",
    "gateway timeout",
    "internal server error",
    "server error",
    "try again",
    "temporarily",
];
const RATE_LIMIT: [&str; 6] = [
    "rate limit",
    "rate_limit",
    "too many requests",
    "resource exhausted",
    "resource_exhausted",
    "quota exceeded",
];
const MONEY: [&str; 9] = [
    "insufficient",
    "billing",
    "quota",
    "usage limit",
    "spending",
    "credit",
    "payment",
    "account is not active",
    "balance",
];

/// The taxonomy of ADR-113 as it was shipped: terminal words first, anywhere in the text; then overload words,
/// before a rate limit is thought of; no wait is ever read; a rate limit counts as ill health.
pub(super) fn adr_113(input: &Input) -> Verdict {
    let text = text(input);
    let says = |list: &[&str]| list.iter().any(|word| text.contains(word));
    let status = input.status;
    let class = if status == Some(200) && input.kind == Kind::Http {
        None
    } else if says(&TERMINAL) || matches!(status, Some(401..=403)) {
        let money = says(&MONEY) || status == Some(402);
        Some(if money { Class::Funds } else { Class::Auth })
    } else if matches!(status, Some(500 | 502 | 503 | 504 | 529)) || says(&OVERLOAD) {
        Some(Class::Overload)
    } else if status == Some(429) || says(&RATE_LIMIT) {
        Some(Class::RateLimit)
    } else if input.kind == Kind::Transport {
        Some(Class::Overload)
    } else {
        Some(Class::NonRetryable)
    };
    let verdict = of(input, class, None, "adr_113", Field { place: "", key: "text" });
    Verdict { health_signal: matches!(class, Some(Class::Overload | Class::RateLimit)), ..verdict }
}

/// Everything as one lower-case text, as `str(e)` was.
fn text(input: &Input) -> String {
    let write = |body: &Body| match body {
        Body::Absent => String::new(),
        Body::Text(text) => words::bounded(text).to_lowercase(),
        Body::Json(value) => words::bounded(&value.to_string()).to_lowercase(),
    };
    let mut text = write(&input.body);
    if let Some(stream) = &input.stream {
        text.push_str(&write(&stream.event));
    }
    text
}

fn of(input: &Input, class: Option<Class>, wait: Option<u64>, rule: &'static str, field: Field) -> Verdict {
    let phase = input.phase();
    let (scope, resend) = match class {
        None => (Scope::Request, Resend::None),
        Some(Class::Funds) => (Scope::Project, Resend::Other),
        Some(Class::Auth) => (Scope::Credential, Resend::Other),
        Some(Class::RateLimit) => (Scope::Model, Resend::Same),
        Some(Class::Overload) => (Scope::Provider, Resend::Same),
        Some(
            Class::QuotaExhausted
            | Class::InvalidAnswer
            | Class::AttemptTimeout
            | Class::FirstByteTimeout
            | Class::IdleTimeout
            | Class::Deadline
            | Class::PolicyRefusal
            | Class::NonRetryable
            | Class::Unclassified
            | Class::Cancelled
            | Class::Abandoned,
        ) => (Scope::Request, Resend::None),
    };
    Verdict {
        class,
        retry_after_ms: wait,
        scope,
        bench: scope,
        health_signal: class == Some(Class::Overload),
        resend: if phase == Phase::AfterOutput { Resend::None } else { resend },
        resets_at: None,
        rule,
        decided_by: vec![field],
        phase,
    }
}
