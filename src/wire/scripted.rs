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

/// What a failed `response` means. The names of the rule and of the failure (the provider's code, or the
/// status in words) are added to `names`.
pub fn diagnose(response: &Response<'_>, names: &mut Names) -> Diagnosis {
    let rule = RULES.iter().find(|rule| rule.matches(response));
    let (class, scope, resend, name) = match rule {
        Some(rule) => (rule.class, rule.scope, rule.resend, rule.name),
        None => (Class::Unclassified, Scope::Request, Resend::None, "unclassified"),
    };
    let hint = response.retry_after.map_or(Hint::Absent, Hint::After);
    let code = match (response.code, response.status) {
        (Some(code), _) => names.intern(code),
        (None, Some(status)) => names.intern(&format!("status_{status}")),
        (None, None) => names.intern("no_response"),
    };
    Diagnosis { class, scope, resend, hint, health: None, rule: names.intern(name), code }
}

/// What `response` means in `dialect`: the codes of the lab mean the same in every dialect that reads by rules; one
/// that is wrong on purpose gets the response as it would come over the wire. `None` if it hears an answer.
pub fn hear(response: &Response<'_>, dialect: &Dialect, names: &mut Names) -> Option<Diagnosis> {
    let plain = diagnose(response, names);
    match dialect.method {
        Method::Rules => Some(plain),
        Method::StatusOnly | Method::Adr113 => {
            let code = names.text(plain.code).to_owned();
            super::classify(&wire(response), dialect).diagnosis(&code, names)
        }
    }
}

/// The response as it would come over the wire.
fn wire(response: &Response<'_>) -> Input {
    const BROKEN: [&str; 3] = ["connect_failed", "connection_reset", "stream_cut"];
    let provider = "lab".to_owned();
    let code = response.code.unwrap_or_default();
    if response.status.is_none() || BROKEN.contains(&code) {
        let transport = Some(Transport { code: code.to_owned(), ..Transport::default() });
        return Input { provider, kind: Kind::Transport, transport, ..Input::default() };
    }
    let seconds = response.retry_after.map(|wait| wait.nanos().div_ceil(1_000_000_000).to_string());
    Input {
        provider,
        status: response.status,
        headers: seconds.map(|seconds| ("retry-after".to_owned(), seconds)).into_iter().collect(),
        body: Body::Json(serde_json::json!({ "error": { "code": code } })),
        ..Input::default()
    }
}

/// One rule: which responses it is for, and what they mean.
struct Rule {
    /// The stable word in events.
    name: &'static str,
    codes: Codes,
    statuses: Statuses,
    /// What it means.
    class: Class,
    /// What to bench for it.
    scope: Scope,
    /// Where sending again could work.
    resend: Resend,
}

enum Codes {
    Any,
    Absent,
    OneOf(&'static [&'static str]),
}

enum Statuses {
    Any,
    OneOf(&'static [u16]),
    /// One of these, or none at all: the failure may come before the status.
    OneOfOrNone(&'static [u16]),
}

const TRANSIENT: &[u16] = &[408, 429, 500, 502, 503, 504, 529];

/// Every rule. The first that matches decides.
const RULES: &[Rule] = &[
    Rule {
        name: "terminal_code",
        codes: Codes::OneOf(&["invalid_auth", "permission_denied", "credential_expired"]),
        statuses: Statuses::Any,
        class: Class::Auth,
        scope: Scope::Credential,
        resend: Resend::Other,
    },
    Rule {
        name: "terminal_code",
        codes: Codes::OneOf(&["insufficient_quota", "balance_exhausted", "billing_hard_limit"]),
        statuses: Statuses::Any,
        class: Class::Funds,
        scope: Scope::Project,
        resend: Resend::Other,
    },
    Rule {
        name: "terminal_code",
        codes: Codes::OneOf(&[
            "compliance_denied",
            "data_residency_denied",
            "content_refused",
            "content_filter",
            "safety_refusal",
        ]),
        statuses: Statuses::Any,
        class: Class::PolicyRefusal,
        scope: Scope::Request,
        resend: Resend::None,
    },
    Rule {
        name: "terminal_status",
        codes: Codes::Any,
        statuses: Statuses::OneOf(&[401, 403]),
        class: Class::Auth,
        scope: Scope::Credential,
        resend: Resend::Other,
    },
    Rule {
        name: "terminal_status",
        codes: Codes::Any,
        statuses: Statuses::OneOf(&[402]),
        class: Class::Funds,
        scope: Scope::Project,
        resend: Resend::Other,
    },
    Rule {
        name: "quota_code",
        codes: Codes::OneOf(&["quota_exhausted", "daily_quota", "plan_quota"]),
        statuses: Statuses::OneOf(TRANSIENT),
        class: Class::QuotaExhausted,
        scope: Scope::Model,
        resend: Resend::Other,
    },
    Rule {
        name: "rate_limit_code",
        codes: Codes::OneOf(&["rate_limited", "rate_limit_exceeded", "too_many_requests"]),
        statuses: Statuses::OneOf(TRANSIENT),
        class: Class::RateLimit,
        scope: Scope::Model,
        resend: Resend::Same,
    },
    Rule {
        name: "overload_code",
        codes: Codes::OneOf(&["overloaded", "upstream_timeout"]),
        statuses: Statuses::OneOf(TRANSIENT),
        class: Class::Overload,
        scope: Scope::Request,
        resend: Resend::Same,
    },
    Rule {
        name: "bare_429",
        codes: Codes::Absent,
        statuses: Statuses::OneOf(&[429]),
        class: Class::RateLimit,
        scope: Scope::Model,
        resend: Resend::Same,
    },
    Rule {
        name: "overload_status",
        codes: Codes::Any,
        statuses: Statuses::OneOf(&[408, 500, 502, 503, 504, 529]),
        class: Class::Overload,
        scope: Scope::Request,
        resend: Resend::Same,
    },
    Rule {
        name: "request_status",
        codes: Codes::Any,
        statuses: Statuses::OneOf(&[400, 404, 405, 409, 413, 422]),
        class: Class::NonRetryable,
        scope: Scope::Request,
        resend: Resend::None,
    },
    Rule {
        name: "transport",
        codes: Codes::OneOf(&["connect_failed", "connection_reset", "stream_cut"]),
        statuses: Statuses::OneOfOrNone(&[200]),
        class: Class::Overload,
        scope: Scope::Request,
        resend: Resend::Same,
    },
    Rule {
        name: "answer_code",
        codes: Codes::OneOf(&["empty_answer", "contract_violation"]),
        statuses: Statuses::OneOf(&[200]),
        class: Class::InvalidAnswer,
        scope: Scope::Request,
        resend: Resend::Same,
    },
];

impl Rule {
    /// Whether the rule is for this response.
    fn matches(&self, response: &Response<'_>) -> bool {
        let code = match self.codes {
            Codes::Any => true,
            Codes::Absent => response.code.is_none(),
            Codes::OneOf(codes) => response.code.is_some_and(|code| codes.contains(&code)),
        };
        let status = match self.statuses {
            Statuses::Any => true,
            Statuses::OneOf(statuses) => response.status.is_some_and(|s| statuses.contains(&s)),
            Statuses::OneOfOrNone(statuses) => response.status.is_none_or(|s| statuses.contains(&s)),
        };
        code && status
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The class and the rule for a response.
    fn check(status: impl Into<Option<u16>>, code: impl Into<Option<&'static str>>) -> (Class, String) {
        let mut names = Names::default();
        let response = Response { status: status.into(), code: code.into(), retry_after: None };
        let diagnosis = diagnose(&response, &mut names);
        (diagnosis.class, names.text(diagnosis.rule).to_owned())
    }

    fn is(class: Class, rule: &str) -> (Class, String) {
        (class, rule.to_owned())
    }

    #[test]
    fn identity_funds_and_compliance_are_terminal_whatever_the_status() {
        for status in [400, 401, 402, 403, 429, 503] {
            assert_eq!(check(status, "invalid_auth"), is(Class::Auth, "terminal_code"));
            assert_eq!(check(status, "permission_denied"), is(Class::Auth, "terminal_code"));
            assert_eq!(check(status, "insufficient_quota"), is(Class::Funds, "terminal_code"));
            assert_eq!(check(status, "balance_exhausted"), is(Class::Funds, "terminal_code"));
            assert_eq!(check(status, "compliance_denied"), is(Class::PolicyRefusal, "terminal_code"));
            assert_eq!(check(status, "data_residency_denied"), is(Class::PolicyRefusal, "terminal_code"));
        }
    }

    #[test]
    fn a_status_that_means_identity_or_funds_is_terminal_even_with_a_code_that_invites() {
        assert_eq!(check(401, None), is(Class::Auth, "terminal_status"));
        assert_eq!(check(403, "rate_limited"), is(Class::Auth, "terminal_status"));
        assert_eq!(check(402, "overloaded"), is(Class::Funds, "terminal_status"));
    }

    #[test]
    fn one_429_is_four_things() {
        assert_eq!(check(429, None), is(Class::RateLimit, "bare_429"));
        assert_eq!(check(429, "rate_limited"), is(Class::RateLimit, "rate_limit_code"));
        assert_eq!(check(429, "quota_exhausted"), is(Class::QuotaExhausted, "quota_code"));
        assert_eq!(check(429, "insufficient_quota"), is(Class::Funds, "terminal_code"));
        assert_eq!(check(429, "a_code_nobody_knows"), is(Class::Unclassified, "unclassified"));
    }

    #[test]
    fn a_sick_upstream_is_an_overload_with_or_without_a_code() {
        for status in [408, 500, 502, 503, 504, 529] {
            assert_eq!(check(status, None), is(Class::Overload, "overload_status"));
            assert_eq!(check(status, "overloaded"), is(Class::Overload, "overload_code"));
        }
        assert_eq!(check(None, "connection_reset"), is(Class::Overload, "transport"));
        assert_eq!(check(200, "stream_cut"), is(Class::Overload, "transport"));
    }

    #[test]
    fn our_own_fault_and_an_unusable_answer_have_their_own_names() {
        for status in [400, 404, 405, 409, 413, 422] {
            assert_eq!(check(status, "rate_limited"), is(Class::NonRetryable, "request_status"));
        }
        assert_eq!(check(200, "empty_answer"), is(Class::InvalidAnswer, "answer_code"));
        assert_eq!(check(200, "contract_violation"), is(Class::InvalidAnswer, "answer_code"));
    }

    #[test]
    fn what_nothing_matches_is_unclassified() {
        for (status, code) in [(Some(418), None), (Some(200), Some("surprise")), (None, None)] {
            assert_eq!(check(status, code), is(Class::Unclassified, "unclassified"));
        }
    }

    #[test]
    fn a_failure_without_a_code_is_named_by_its_status() {
        let mut names = Names::default();
        let response = Response { status: Some(503), ..Response::default() };
        let diagnosis = diagnose(&response, &mut names);
        assert_eq!(names.text(diagnosis.code), "status_503");
    }
}
