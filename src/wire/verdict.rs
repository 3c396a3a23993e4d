//! The answer of the classifier.

use super::Phase;
use crate::policy::signal::Signal;
use crate::policy::taxonomy::{Class, Diagnosis, Hint, Resend, Scope};
use crate::units::{Duration, Names};
use jiff::Timestamp;
use std::fmt;

/// What one input means, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// What it means; `None` if it is no failure.
    pub class: Option<Class>,
    /// Milliseconds to stay away, rounded up, if a source said so.
    pub retry_after_ms: Option<u64>,
    /// The smallest thing to bench.
    pub scope: Scope,
    /// The same, where a project's limit counts each model by itself: the model, for the project that called it.
    pub bench: Scope,
    /// Whether it says something about the upstream's health.
    pub health_signal: bool,
    /// Where sending again could work.
    pub resend: Resend,
    /// When the window of a quota or a budget ends, if that is known.
    pub resets_at: Option<Timestamp>,
    /// The rule that decided.
    pub rule: &'static str,
    /// The fields that decided: names only, never a value.
    pub decided_by: Vec<Field>,
    /// How far the answer had come.
    pub phase: Phase,
}

/// The name of a field: where it stands, and its key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// Where it stands: `error`, `error.metadata`; empty at the top.
    pub place: &'static str,
    /// Its key.
    pub key: &'static str,
}

impl Field {
    /// Whether it is a text for people rather than a code.
    pub(super) fn is_text(self) -> bool {
        matches!(self.key, "message" | "description" | "error" | "body" | "raw")
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() { f.write_str(self.key) } else { write!(f, "{}.{}", self.place, self.key) }
    }
}

impl Verdict {
    /// The class in the words of the wire: `RETRYABLE_RATE_LIMIT`, …; `NONE` if it is no failure.
    pub fn label(&self) -> &'static str {
        self.class.map_or("NONE", label)
    }

    /// The class in the four families of the sources, and `none`. An exhausted quota is a rate limit to a gateway
    /// that knows four families: it comes back by itself, it says nothing about health, and nobody has to act.
    pub fn family(&self) -> &'static str {
        match self.class {
            None => "none",
            Some(class) if class.is_terminal() => "TERMINAL",
            Some(Class::QuotaExhausted) => "RETRYABLE_RATE_LIMIT",
            Some(class) if label(class) == "NONE" => "none",
            Some(class) => label(class),
        }
    }

    /// As the machines of the policy take it; `None` if it is no failure. `code` names the failure in the trace.
    pub fn diagnosis(&self, code: &str, names: &mut Names) -> Option<Diagnosis> {
        let (class, wait) = (self.class?, self.retry_after_ms.map(Duration::from_millis));
        let health = if self.health_signal { Signal::Bad } else { Signal::Neutral };
        Some(Diagnosis {
            class,
            scope: self.bench,
            resend: self.resend,
            hint: wait.map_or(Hint::Absent, Hint::After),
            health: (health != class.meaning()).then_some(health),
            rule: names.intern(self.rule),
            code: names.intern(code),
        })
    }
}

/// The word of the wire for a class. An unusable answer and an attempt that we stopped for its slowness are
/// treated as an overload; what no rule knew is not to be repeated; what we ended ourselves is no failure of theirs.
pub(super) fn label(class: Class) -> &'static str {
    match class {
        Class::RateLimit => "RETRYABLE_RATE_LIMIT",
        Class::QuotaExhausted => "QUOTA_EXHAUSTED",
        Class::Overload
        | Class::InvalidAnswer
        | Class::AttemptTimeout
        | Class::FirstByteTimeout
        | Class::IdleTimeout => "RETRYABLE_OVERLOAD",
        Class::Funds => "TERMINAL_FUNDS",
        Class::Auth => "TERMINAL_AUTH",
        Class::PolicyRefusal => "TERMINAL_POLICY",
        Class::NonRetryable | Class::Unclassified => "NON_RETRYABLE",
        Class::Cancelled | Class::Abandoned | Class::Deadline => "NONE",
    }
}
