//! The rules, in the order in which they are asked: identity, funds and compliance before anything that
//! invites to try again; a code before a bare status.

use super::Response;
use crate::policy::taxonomy::{Class, Resend, Scope};

/// One rule: which responses it is for, and what they mean.
pub(super) struct Rule {
    /// The stable word in events.
    pub(super) name: &'static str,
    codes: Codes,
    statuses: Statuses,
    /// What it means.
    pub(super) class: Class,
    /// What to bench for it.
    pub(super) scope: Scope,
    /// Where sending again could work.
    pub(super) resend: Resend,
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
pub(super) const RULES: &[Rule] = &[
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
    pub(super) fn matches(&self, response: &Response<'_>) -> bool {
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
