//! The rules `status` and `code`: what a bare status means, when nothing in the body said more, and what a code does
//! where there is no status.

use super::evidence::Evidence;
use super::habits::Limit;
use super::rules::{Health, Outcome};
use super::sign::Sign;
use super::verdict::Field;
use crate::policy::taxonomy::{Class, Resend, Scope};

/// The outcome for the status that counts.
pub(super) fn status(evidence: &Evidence<'_>) -> Option<Outcome> {
    let status = evidence.status()?;
    let field = evidence.status_field();
    let stop = |class, scope, resend| Some(Outcome::stop(class, scope, resend, field));
    match status {
        401 | 407 => stop(Class::Auth, Scope::Credential, Resend::Other),
        403 => {
            let scope = evidence.tables.scope(evidence.speaker, Limit::Auth).unwrap_or(Scope::Credential);
            stop(Class::Auth, scope, Resend::Other)
        }
        402 => stop(Class::Funds, Scope::Project, Resend::Other),
        451 | 511 => stop(Class::NonRetryable, Scope::Provider, Resend::Other),
        410 => stop(Class::NonRetryable, Scope::Model, Resend::Other),
        // The client closed the connection: we did, unless the provider's dialect says that it did.
        499 => match evidence.sign(Sign::Fault) {
            Some(_) => Some(Outcome::sick(fault_scope(evidence), field)),
            None => Some(Outcome::fine(None, Some(field))),
        },
        408 | 425 | 444 | 460 => Some(Outcome::sick(fault_scope(evidence), field)),
        424 => Some(Outcome::sick(Scope::Model, field)),
        501 | 505 | 506 | 508 | 510 => Some(Outcome::our_fault(field)),
        500..=599 => Some(Outcome::sick(fault_scope(evidence), field)),
        300..=499 => Some(Outcome::our_fault(field)),
        _ => None,
    }
    .map(|outcome| with_code(evidence, outcome))
}

/// What to bench for a plain server fault: the provider, unless only the model behind it answered.
fn fault_scope(evidence: &Evidence<'_>) -> Scope {
    if evidence.page {
        Scope::Provider
    } else if evidence.is_enveloped() {
        Scope::Model
    } else {
        evidence.tables.scope(evidence.speaker, Limit::Fault).unwrap_or(Scope::Provider)
    }
}

/// Names the code beside the status, where there is one that agrees.
fn with_code(evidence: &Evidence<'_>, mut outcome: Outcome) -> Outcome {
    let code: Option<Field> = match outcome.health {
        Health::Bad => evidence.sign(Sign::Fault),
        // The words for what is wrong with a request are also said of other things.
        Health::Silent => evidence.sign(Sign::Request).filter(|field| !field.is_text()),
    };
    outcome.fields[1] = code.filter(|code| outcome.fields[0] != Some(*code));
    outcome
}

/// `code`: no status at all: the code alone. An error that nobody knows inside a success is the server's.
pub(super) fn code(evidence: &Evidence<'_>) -> Option<Outcome> {
    if let Some(field) = evidence.sign(Sign::Fault) {
        return Some(Outcome::sick(Scope::Model, field));
    }
    if let Some(field) = evidence.sign(Sign::Request) {
        return Some(Outcome::our_fault(field));
    }
    if let Some(field) = evidence.sign(Sign::Connection) {
        let scope = evidence.tables.scope(evidence.speaker, Limit::Fault).unwrap_or(Scope::Provider);
        return Some(Outcome::sick(scope, field));
    }
    evidence.error.filter(|_| evidence.is_enveloped()).map(|field| Outcome::sick(Scope::Model, field))
}
