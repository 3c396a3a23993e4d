//! The rules `own_stop` and `transport`: who ended it. What one of us stopped says nothing about the upstream, unless it was stopped for being
//! slow; a connection that broke by itself does.

use super::evidence::Evidence;
use super::input::{Body, Kind};
use super::rules::{Health, Outcome, Until};
use super::sign::Sign;
use super::verdict::Field;
use super::words;
use crate::policy::taxonomy::{Class, Resend, Scope};

/// A stop of the gateway's own: never feeds health.
pub(super) fn own_stop(evidence: &Evidence<'_>) -> Option<Outcome> {
    if evidence.input.kind == Kind::SdkException
        && let Some(field) = evidence.sign(Sign::Fine)
    {
        return Some(Outcome::fine(Some(Class::Cancelled), Some(field)));
    }
    if evidence.input.kind != Kind::LocalStop {
        return None;
    }
    let field = Field { place: "", key: "reason" };
    let reason = match &evidence.input.body {
        Body::Json(body) => {
            body.get("reason").or(body.get("code")).and_then(|reason| reason.as_str()).unwrap_or("")
        }
        Body::Text(text) => text,
        Body::Absent => "",
    };
    let reason = words::of(reason);
    let says = |words: &[&str]| words.iter().any(|word| reason.split(' ').any(|one| one == *word));
    let stop = |class, resend| Some(Outcome::stop(class, Scope::Request, resend, field));
    let wait = |class, resend| {
        let outcome = Outcome::stop(class, Scope::Request, resend, field);
        Some(Outcome { wait: Until::Stated, ..outcome })
    };
    if says(&["hedge", "loser", "cancelled", "canceled", "superseded"]) {
        Some(Outcome::fine(Some(Class::Cancelled), Some(field)))
    } else if says(&["caller", "client", "abandoned", "user"]) {
        Some(Outcome::fine(Some(Class::Abandoned), Some(field)))
    } else if says(&["policy", "compliance", "residency", "guardrail", "region"]) {
        stop(Class::PolicyRefusal, Resend::None)
    } else if says(&["breaker", "circuit", "open", "cooldown", "gated"]) {
        wait(Class::Overload, Resend::Other)
    } else if says(&["rate", "concurrency", "bulkhead", "queue", "slot", "limiter"]) {
        wait(Class::RateLimit, Resend::Same)
    } else if says(&["deadline", "timeout"]) {
        stop(Class::Deadline, Resend::None)
    } else {
        // A fuse or a budget: somebody has to act before more is spent.
        stop(Class::Funds, Resend::None)
    }
}

/// A connection that broke, or that one of us broke.
pub(super) fn transport(evidence: &Evidence<'_>) -> Option<Outcome> {
    match evidence.input.kind {
        Kind::Transport => {}
        Kind::SdkException => return exception(evidence),
        Kind::Http | Kind::StreamEvent | Kind::StreamEnd | Kind::LocalStop => return None,
    }
    let at = |key| Field { place: "transport", key };
    let Some(transport) = &evidence.input.transport else {
        return Some(Outcome::sick(Scope::Provider, at("code")));
    };
    if let Some(outcome) = ended_by_us(&transport.origin, at("origin")) {
        return Some(outcome);
    }
    let code = transport.code.to_ascii_uppercase();
    let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
    let aborted = ["ABORT_ERR", "ABORTERROR", "ERR_CANCELED", "ERR_CANCELLED", "CANCELLEDERROR"];
    if aborted.contains(&code.as_str()) || has(&["ERR_ABORTED", "ERR_BLOCKED_BY"]) {
        return Some(Outcome::fine(Some(Class::Cancelled), Some(at("code"))));
    }
    if has(&["CERT", "SELF_SIGNED", "UNABLE_TO_VERIFY", "ALTNAME", "UNABLE_TO_GET_ISSUER"]) {
        return Some(not_believed(at("code")));
    }
    if has(&["INVALID_URL", "INVALID_ARG", "INVALID_PROTOCOL", "INVALID_CHAR", "UNSUPPORTED_PROTOCOL"]) {
        return Some(Outcome::our_fault(at("code")));
    }
    if has(&["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM", "EADDRNOTAVAIL", "POOLTIMEOUT", "POOL_TIMEOUT"]) {
        return Some(out_of_something(at("code")));
    }
    let field = if transport.code.is_empty() { at("message") } else { at("code") };
    let outcome = Outcome::sick(Scope::Provider, field);
    // Whoever wrote it down does not know who broke it.
    let health = if transport.origin == UNKNOWN { Health::Silent } else { outcome.health };
    Some(Outcome { health, ..outcome })
}

/// The origin of a broken connection that may have been broken at either end, or between.
pub(super) const UNKNOWN: &str = "unknown";

/// An exception that never had to do with the upstream's health.
fn exception(evidence: &Evidence<'_>) -> Option<Outcome> {
    if evidence.status().is_some() {
        return None;
    }
    let certificate = evidence.sign(Sign::Certificate).map(not_believed);
    certificate.or_else(|| evidence.sign(Sign::OwnMachine).map(out_of_something))
}

/// A certificate that is not believed does not get better by asking again.
fn not_believed(field: Field) -> Outcome {
    Outcome::stop(Class::NonRetryable, Scope::Provider, Resend::Other, field)
}

/// Our own machine is out of something: sending later can work, the upstream is not to blame.
fn out_of_something(field: Field) -> Outcome {
    Outcome { health: Health::Silent, ..Outcome::sick(Scope::Request, field) }
}

/// The end of a stream that was no error: proper, cut, empty, or ours.
pub(super) fn stream_end(evidence: &Evidence<'_>) -> Option<Outcome> {
    use super::answer::Answer;
    let stream = evidence.input.stream.as_ref().filter(|_| evidence.input.kind == Kind::StreamEnd)?;
    let field = Field { place: "stream", key: "ended" };
    if let Some(outcome) = ended_by_us(&stream.ended, field) {
        return Some(outcome);
    }
    let (prior, ended) = (words::of(&stream.prior), words::of(&stream.ended));
    let finished = ["finish reason", "message stop", "response completed", "done true"];
    let failed =
        |words: &str| words.contains("before") || words.contains("without") || words.contains("no finish");
    let nothing_seen = stream.output_bytes == 0 && !prior.contains("tool");
    let event = Field { place: "stream", key: "event" };
    match evidence.answer {
        Some(Answer::Finished) if nothing_seen && finish(&stream.event) == Some("length") => {
            return Some(Outcome::our_fault(event));
        }
        Some(Answer::Finished) if nothing_seen && finish(&stream.event) == Some("stop") => {
            return Some(Outcome::unusable(event));
        }
        Some(Answer::Finished) => {
            return Some(Outcome::fine(None, Some(Field { place: "stream", key: "event" })));
        }
        Some(Answer::Delivered | Answer::Comment) | None => {}
        Some(
            Answer::Empty(_)
            | Answer::Starved(_)
            | Answer::Refused(_)
            | Answer::Faulted(_)
            | Answer::Unreadable(_)
            | Answer::Broken(_)
            | Answer::Page(_),
        ) => return None,
    }
    for (words, key) in [(&prior, "prior"), (&ended, "ended")] {
        if finished.iter().any(|word| words.contains(word)) && !failed(words) {
            return Some(Outcome::fine(None, Some(Field { place: "stream", key })));
        }
    }
    let orderly = ended.starts_with("done") || ended.contains("clean") || ended.contains("empty");
    if stream.output_bytes == 0 && orderly {
        return Some(Outcome::unusable(field));
    }
    Some(Outcome::sick(Scope::Model, field))
}

/// The finish reason of a last frame in OpenAI's shape.
fn finish(event: &Body) -> Option<&str> {
    match event {
        Body::Json(event) => event.get("choices")?.get(0)?.get("finish_reason")?.as_str(),
        Body::Absent | Body::Text(_) => None,
    }
}

/// What it means that one of us ended it: nothing, or that it was too slow.
fn ended_by_us(origin: &str, field: Field) -> Option<Outcome> {
    let origin = words::of(origin);
    let says = |words: &[&str]| words.iter().any(|word| origin.split(' ').any(|one| one == *word));
    let slow = |class| Some(Outcome { class: Some(class), ..Outcome::sick(Scope::Model, field) });
    let limit = says(&["deadline", "timeout", "timer", "stall", "stalled"]);
    if says(&["pool", "queue"]) {
        // It never left our machine.
        Some(Outcome::fine(Some(Class::Cancelled), Some(field)))
    } else if says(&["hedge", "loser", "superseded", "shutdown", "cancelled", "canceled", "own", "gateway"])
        && !limit
    {
        Some(Outcome::fine(Some(Class::Cancelled), Some(field)))
    } else if says(&["caller", "client", "user", "downstream", "abandoned"]) {
        Some(Outcome::fine(Some(Class::Abandoned), Some(field)))
    } else if says(&["budget", "request", "overall", "total", "turn", "task", "run"]) && !says(&["server"]) {
        Some(Outcome::fine(Some(Class::Deadline), Some(field)))
    } else if !limit {
        None
    } else if says(&["first", "token", "byte", "headers", "ttft"]) {
        slow(Class::FirstByteTimeout)
    } else if says(&["idle", "chunk", "inter", "stall", "stalled", "gap"]) {
        slow(Class::IdleTimeout)
    } else if says(&["attempt", "connect", "read", "own", "our"]) {
        slow(Class::AttemptTimeout)
    } else if says(&["deadline"]) {
        Some(Outcome::fine(Some(Class::Deadline), Some(field)))
    } else {
        slow(Class::AttemptTimeout)
    }
}
