//! What a failure means, and the two separate questions asked of it: what to do next ([`Remedy`]) and what it
//! says about health ([`Signal`]). Both answers are policy data: a knob or a planted defect is one cell.

use super::signal::Signal;
use crate::units::{Duration, Name, Timestamp};

/// What a failure means, whatever status it came with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Class {
    /// Too many requests or tokens for the moment.
    RateLimit,
    /// A window of a day, a week, a month or a plan is used up.
    QuotaExhausted,
    /// The upstream is sick or full: 5xx, transport.
    Overload,
    /// A 200 without a usable answer: empty, or against the contract.
    InvalidAnswer,
    /// We stopped an attempt that took too long.
    AttemptTimeout,
    /// We stopped a stream that did not begin.
    FirstByteTimeout,
    /// We stopped a stream that fell silent.
    IdleTimeout,
    /// We stopped because the request's deadline came.
    Deadline,
    /// The account cannot pay.
    Funds,
    /// The credential is wrong or lacks a right.
    Auth,
    /// A policy, content or compliance refusal.
    PolicyRefusal,
    /// Our request is at fault.
    NonRetryable,
    /// No rule matched. Stops: an unknown error is not an invitation to repeat it.
    Unclassified,
    /// We cancelled the call.
    Cancelled,
    /// The caller hung up.
    Abandoned,
}

/// How many classes there are.
pub const CLASSES: usize = 15;

impl Class {
    /// Every class, in order.
    pub const ALL: [Class; CLASSES] = [
        Class::RateLimit,
        Class::QuotaExhausted,
        Class::Overload,
        Class::InvalidAnswer,
        Class::AttemptTimeout,
        Class::FirstByteTimeout,
        Class::IdleTimeout,
        Class::Deadline,
        Class::Funds,
        Class::Auth,
        Class::PolicyRefusal,
        Class::NonRetryable,
        Class::Unclassified,
        Class::Cancelled,
        Class::Abandoned,
    ];

    /// The word in scenario files and events.
    pub const fn label(self) -> &'static str {
        match self {
            Class::RateLimit => "rate_limit",
            Class::QuotaExhausted => "quota_exhausted",
            Class::Overload => "overload",
            Class::InvalidAnswer => "invalid_answer",
            Class::AttemptTimeout => "attempt_timeout",
            Class::FirstByteTimeout => "first_byte_timeout",
            Class::IdleTimeout => "idle_timeout",
            Class::Deadline => "deadline",
            Class::Funds => "funds",
            Class::Auth => "auth",
            Class::PolicyRefusal => "policy_refusal",
            Class::NonRetryable => "non_retryable",
            Class::Unclassified => "unclassified",
            Class::Cancelled => "cancelled",
            Class::Abandoned => "abandoned",
        }
    }

    /// Whether identity, funds or compliance says stop: no other model may say continue.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Class::Funds | Class::Auth | Class::PolicyRefusal)
    }

    /// Whether it says that a quota is used up, for a moment or for longer: another may not be.
    pub const fn is_of_a_quota(self) -> bool {
        matches!(self, Class::RateLimit | Class::QuotaExhausted)
    }

    /// What it says about the upstream's health, by its very meaning. (What a *policy* does with it is
    /// [`Taxonomy::signal`].)
    pub const fn meaning(self) -> Signal {
        if self.is_neutral() { Signal::Neutral } else { Signal::Bad }
    }

    /// Whether it says nothing about the upstream's health, by its very meaning.
    pub const fn is_neutral(self) -> bool {
        match self {
            Class::RateLimit
            | Class::QuotaExhausted
            | Class::Funds
            | Class::Auth
            | Class::PolicyRefusal
            | Class::NonRetryable
            | Class::Unclassified
            | Class::Deadline
            | Class::Cancelled
            | Class::Abandoned => true,
            Class::Overload
            | Class::InvalidAnswer
            | Class::AttemptTimeout
            | Class::FirstByteTimeout
            | Class::IdleTimeout => false,
        }
    }
}

/// The smallest thing to bench for a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Nothing: only this request is concerned.
    Request,
    /// The credential.
    Credential,
    /// The project (or organisation) that the credential belongs to.
    Project,
    /// The model, for the project that called it.
    Model,
    /// The whole provider.
    Provider,
}

impl Scope {
    /// The word in events.
    pub const fn label(self) -> &'static str {
        match self {
            Scope::Request => "request",
            Scope::Credential => "credential",
            Scope::Project => "project",
            Scope::Model => "model",
            Scope::Provider => "provider",
        }
    }
}

/// Where sending the request again *could* work. What *may* be done is policy: [`Remedy`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resend {
    /// The same target, later.
    Same,
    /// Another credential, model or provider only.
    Other,
    /// Nowhere.
    None,
}

impl Resend {
    /// The word in events.
    pub const fn label(self) -> &'static str {
        match self {
            Resend::Same => "same",
            Resend::Other => "other",
            Resend::None => "none",
        }
    }
}

/// What the response said about when to come back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hint {
    /// Nothing.
    Absent,
    /// This long after the response.
    After(Duration),
    /// At this instant.
    At(Timestamp),
}

impl Hint {
    /// The earliest instant to come back, for a response that came at `now`.
    pub const fn instant(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Hint::Absent => None,
            Hint::After(wait) => Some(now.after(wait)),
            Hint::At(at) => Some(at),
        }
    }
}

/// What one wire response means. Symbolic: computed once for each kind of response, resolved with `now` for
/// each call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Diagnosis {
    /// What it means.
    pub class: Class,
    /// What to bench for it.
    pub scope: Scope,
    /// Where sending again could work.
    pub resend: Resend,
    /// When to come back.
    pub hint: Hint,
    /// What the response itself says about health, where that is not what its class says: a model that is
    /// being loaded is an overload and not ill, one that does not fit its machine is our fault to call and ill.
    pub health: Option<Signal>,
    /// The rule that decided.
    pub rule: Name,
    /// The name of the failure: the provider's code, or its status in words.
    pub code: Name,
}

/// What to do after a failure of a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Remedy {
    /// End the request with the failure's own name.
    Stop,
    /// If a quota is used up, at once on another, first that of another credential of the same route. Else once on
    /// the same route, after the wait, if the wait fits; then as [`Remedy::Fallback`].
    WaitSameThenFallback,
    /// Another route, after the backoff.
    Fallback,
    /// Another route, at once.
    FallbackNow,
}

/// The policy's answers for every class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Taxonomy {
    /// What to do.
    pub remedy: [Remedy; CLASSES],
    /// What it says about health.
    pub signal: [Signal; CLASSES],
}

impl Taxonomy {
    /// What to do after a failure of `class`.
    pub const fn remedy(&self, class: Class) -> Remedy {
        self.remedy[class as usize]
    }

    /// What a failure of `class` says about health.
    pub const fn signal(&self, class: Class) -> Signal {
        self.signal[class as usize]
    }

    /// What a response says about health: its own word if it has one, or else its class.
    pub fn heard(&self, diagnosis: &Diagnosis) -> Signal {
        diagnosis.health.unwrap_or(self.signal(diagnosis.class))
    }
}

impl Default for Taxonomy {
    fn default() -> Taxonomy {
        Taxonomy {
            remedy: Class::ALL.map(|class| match class {
                Class::RateLimit => Remedy::WaitSameThenFallback,
                Class::QuotaExhausted
                | Class::Overload
                | Class::InvalidAnswer
                | Class::AttemptTimeout
                | Class::FirstByteTimeout
                | Class::IdleTimeout => Remedy::Fallback,
                Class::Deadline
                | Class::Funds
                | Class::Auth
                | Class::PolicyRefusal
                | Class::NonRetryable
                | Class::Unclassified
                | Class::Cancelled
                | Class::Abandoned => Remedy::Stop,
            }),
            signal: Class::ALL.map(Class::meaning),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_listed_in_their_own_order() {
        assert!(Class::ALL.iter().enumerate().all(|(at, class)| *class as usize == at));
    }

    #[test]
    fn a_rate_limit_is_not_a_health_signal() {
        let taxonomy = Taxonomy::default();
        assert_eq!(taxonomy.signal(Class::RateLimit), Signal::Neutral);
        assert_eq!(taxonomy.signal(Class::Overload), Signal::Bad);
    }

    #[test]
    fn a_response_s_own_word_on_health_comes_before_that_of_its_class() {
        let mut taxonomy = Taxonomy::default();
        taxonomy.signal[Class::Overload as usize] = Signal::Good;
        let said = |health| {
            let (scope, resend, hint, name) =
                (Scope::Model, Resend::Same, Hint::Absent, crate::units::Name::nth(0));
            let diagnosis =
                Diagnosis { class: Class::Overload, scope, resend, hint, health, rule: name, code: name };
            taxonomy.heard(&diagnosis)
        };
        assert_eq!(said(Some(Signal::Neutral)), Signal::Neutral);
        assert_eq!(said(None), Signal::Good);
    }

    #[test]
    fn identity_funds_and_compliance_stop() {
        let taxonomy = Taxonomy::default();
        for class in Class::ALL.into_iter().filter(|class| class.is_terminal()) {
            assert_eq!(taxonomy.remedy(class), Remedy::Stop, "{class:?}");
        }
    }
}
