//! Scripted replies: a status, a code of the lab and a wait, as scenario files write them.

use super::dialect::{Dialect, Method};
use super::input::{Body, Input, Kind, Transport};
use crate::policy::taxonomy::{Class, Diagnosis, Hint, Resend, Scope};
use crate::units::{Duration, Names};

/// The head of a provider's response, as far as its meaning goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Response<'a> {
    /// The HTTP status; `None` if the connection broke before there was one.
    pub status: Option<u16>,
    /// The provider's own code, or what is wrong with the answer or the connection.
    pub code: Option<&'a str>,
    /// How long the response asks to stay away, counted from its arrival.
    pub retry_after: Option<Duration>,
}

impl Response<'_> {
    /// Whether it is an answer: a 2xx that nothing is wrong with.
    pub const fn is_answer(&self) -> bool {
        matches!(self.status, Some(200..=299)) && self.code.is_none()
    }
}

/// What `response` means to `dialect`, as it comes over the wire; `None` if it hears an answer. What is wrong with an
/// answer no provider says: whoever checks its contract does, unless the dialect is one that looks at nothing. The names
/// of the rule and of the failure (the provider's code, or the status in words) are added to `names`.
pub fn hear(response: &Response<'_>, dialect: &Dialect, names: &mut Names) -> Option<Diagnosis> {
    let named = match (response.code, response.status) {
        (Some(code), _) => code.to_owned(),
        (None, Some(status)) => format!("status_{status}"),
        (None, None) => "no_response".to_owned(),
    };
    let is_useless = matches!(response.status, Some(200..=299))
        && response.code.is_some_and(|code| USELESS.contains(&code));
    match dialect.method {
        Method::Rules if is_useless => Some(Diagnosis {
            class: Class::InvalidAnswer,
            scope: Scope::Request,
            resend: Resend::Same,
            hint: response.retry_after.map_or(Hint::Absent, Hint::After),
            health: None,
            rule: names.intern("answer_code"),
            code: names.intern(&named),
        }),
        Method::Rules | Method::StatusOnly | Method::Adr113 => {
            super::classify(&wire(response), dialect).diagnosis(&named, names)
        }
    }
}

/// What is wrong with an answer that cannot be used.
const USELESS: [&str; 2] = ["empty_answer", "contract_violation"];

/// The response as it would come over the wire.
fn wire(response: &Response<'_>) -> Input {
    const BROKEN: [&str; 3] = ["connect_failed", "connection_reset", "stream_cut"];
    let provider = "lab".to_owned();
    let code = response.code.unwrap_or_default();
    if response.status.is_none() || BROKEN.contains(&code) {
        let transport = Some(Transport { code: code.to_owned(), ..Transport::default() });
        return Input { provider, kind: Kind::Transport, transport, ..Input::default() };
    }
    let plain = Input {
        provider,
        status: response.status,
        body: response
            .code
            .map_or(Body::Absent, |code| Body::Json(serde_json::json!({ "error": { "code": code } }))),
        ..Input::default()
    };
    response.retry_after.map(|wait| plain.asking_for(wait)).unwrap_or(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The class of a response, and the rule that said so.
    fn check(status: impl Into<Option<u16>>, code: impl Into<Option<&'static str>>) -> (Class, String) {
        let mut names = Names::default();
        let response = Response { status: status.into(), code: code.into(), retry_after: None };
        let diagnosis = hear(&response, &Dialect::standard(), &mut names).expect("it is a failure");
        (diagnosis.class, names.text(diagnosis.rule).to_owned())
    }

    fn is(class: Class, rule: &str) -> (Class, String) {
        (class, rule.to_owned())
    }

    #[test]
    fn identity_funds_and_compliance_are_terminal_whatever_the_status() {
        for status in [400, 401, 402, 403, 429, 503] {
            if status != 402 {
                assert_eq!(check(status, "invalid_auth"), is(Class::Auth, "auth"));
            }
            assert_eq!(check(status, "insufficient_quota"), is(Class::Funds, "funds"));
            assert_eq!(check(status, "balance_exhausted"), is(Class::Funds, "funds"));
            assert_eq!(check(status, "compliance_denied"), is(Class::PolicyRefusal, "policy"));
            assert_eq!(check(status, "data_residency_denied"), is(Class::PolicyRefusal, "policy"));
        }
    }

    #[test]
    fn one_429_is_three_things() {
        assert_eq!(check(429, None), is(Class::RateLimit, "rate_limit"));
        assert_eq!(check(429, "rate_limited"), is(Class::RateLimit, "rate_limit"));
        assert_eq!(check(429, "quota_exhausted"), is(Class::QuotaExhausted, "long_window"));
        assert_eq!(check(429, "insufficient_quota"), is(Class::Funds, "funds"));
    }

    #[test]
    fn a_sick_upstream_is_an_overload_with_or_without_a_code() {
        for status in [408, 500, 502, 503, 504, 529] {
            assert_eq!(check(status, None).0, Class::Overload);
            assert_eq!(check(status, "overloaded"), is(Class::Overload, "capacity"));
        }
        assert_eq!(check(None, "connection_reset"), is(Class::Overload, "transport"));
        assert_eq!(check(200, "stream_cut"), is(Class::Overload, "transport"));
    }

    #[test]
    fn an_unusable_answer_and_what_nothing_matches_have_their_own_names() {
        assert_eq!(check(200, "empty_answer"), is(Class::InvalidAnswer, "answer_code"));
        assert_eq!(check(200, "contract_violation"), is(Class::InvalidAnswer, "answer_code"));
        assert_eq!(check(101, None), is(Class::Unclassified, "unclassified"));
    }

    #[test]
    fn a_failure_without_a_code_is_named_by_its_status() {
        let mut names = Names::default();
        let response = Response { status: Some(503), ..Response::default() };
        let diagnosis = hear(&response, &Dialect::standard(), &mut names).unwrap();
        assert_eq!(names.text(diagnosis.code), "status_503");
    }
}
