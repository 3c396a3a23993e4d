//! What a body or a frame without an error is: an answer, or a failure in an answer's clothes. Looks at finish
//! reasons and at whether there is anything at all; never at what it says.

use super::evidence::is_something;
use super::verdict::Field;
use serde_json::{Map, Value};

/// What a body or a frame without an error turned out to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// An answer, or a part of one.
    Delivered,
    /// An answer with its proper end.
    Finished,
    /// A comment of the protocol.
    Comment,
    /// Nothing in it.
    Empty(Field),
    /// The output limit came before the first output.
    Starved(Field),
    /// A refusal for its content.
    Refused(Field),
    /// A finish reason that is an error.
    Faulted(Field),
    /// Not a whole message.
    Unreadable(Field),
    /// A line that is not a whole message.
    Broken(Field),
    /// A page for people.
    Page(Field),
}

const ANSWER_KEYS: [&str; 9] = [
    "choices",
    "content",
    "output",
    "candidates",
    "delta",
    "message",
    "data",
    "embeddings",
    "generated_text",
];

/// Whether an object has a key of an answer that holds more than a text.
pub(super) fn has_one(object: &Map<String, Value>) -> bool {
    ANSWER_KEYS.iter().any(|key| object.get(*key).is_some_and(|value| value.is_object() || value.is_array()))
}

/// What a frame of a stream is: one without choices is bookkeeping.
pub(super) fn of_frame(object: &Map<String, Value>) -> Answer {
    let bookkeeping = object.get("choices").is_some_and(|choices| !is_something(choices));
    if bookkeeping { Answer::Delivered } else { of(object) }
}

/// What the object is.
pub(super) fn of(object: &Map<String, Value>) -> Answer {
    if let Some(reason) = object.get("promptFeedback").and_then(|feedback| feedback.get("blockReason"))
        && is_something(reason)
    {
        return Answer::Refused(Field { place: "promptFeedback", key: "blockReason" });
    }
    if matches!(text(object, "stopReason"), Some("guardrail_intervened" | "content_filtered")) {
        return refused("", "stopReason");
    }
    for (place, around) in [("", Some(object)), ("delta", object.get("delta").and_then(Value::as_object))] {
        match around.and_then(|around| text(around, "finish_reason")) {
            Some("ERROR_TOXIC") => return refused(place, "finish_reason"),
            Some("ERROR" | "TIMEOUT") => return Answer::Faulted(Field { place, key: "finish_reason" }),
            Some("ERROR_LIMIT") => return Answer::Starved(Field { place, key: "finish_reason" }),
            Some(_) | None => {}
        }
    }
    if let Some(choices) = object.get("choices") {
        return openai(choices);
    }
    if let Some(candidates) = object.get("candidates") {
        return gemini(candidates);
    }
    if let Some(reason) = text(object, "stop_reason") {
        return anthropic(reason, object);
    }
    if let Some(delta) = object.get("delta").and_then(Value::as_object)
        && let Some(reason) = text(delta, "stop_reason")
    {
        return if reason == "refusal" { refused("delta", "stop_reason") } else { Answer::Finished };
    }
    if let Some(output) = object.get("output") {
        return responses(output, object);
    }
    event(object)
}

fn openai(choices: &Value) -> Answer {
    let Some(first) = choices.as_array().and_then(|choices| choices.first()) else {
        return Answer::Faulted(Field { place: "", key: "choices" });
    };
    let finish = first.get("finish_reason").and_then(Value::as_str);
    let native = first.get("native_finish_reason").and_then(Value::as_str).unwrap_or("");
    let message = first.get("message");
    if message.or(first.get("delta")).and_then(|message| message.get("refusal")).is_some_and(is_something) {
        return refused("choices[].message", "refusal");
    }
    if native.contains("error") {
        return Answer::Faulted(Field { place: "choices[]", key: "native_finish_reason" });
    }
    let field = Field { place: "choices[]", key: "finish_reason" };
    match finish {
        Some("content_filter" | "safety" | "sensitive") => return Answer::Refused(field),
        Some("error" | "network_error" | "insufficient_system_resource") => return Answer::Faulted(field),
        _ => {}
    }
    match message {
        Some(message) if !spoke(message) && finish == Some("length") => Answer::Starved(field),
        Some(message) if !spoke(message) => Answer::Empty(Field { place: "choices[]", key: "message" }),
        _ if finish.is_some() => Answer::Finished,
        _ => Answer::Delivered,
    }
}

/// Whether a message has anything to it.
fn spoke(message: &Value) -> bool {
    const PARTS: [&str; 7] =
        ["content", "tool_calls", "function_call", "audio", "images", "reasoning_content", "reasoning"];
    PARTS.iter().any(|part| message.get(*part).is_some_and(is_something))
}

fn gemini(candidates: &Value) -> Answer {
    const REFUSALS: [&str; 12] = [
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "LANGUAGE",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
        "MODEL_ARMOR",
        "JAILBREAK",
        "CONTENT_FILTER",
    ];
    const FAULTS: [&str; 8] = [
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "MALFORMED_RESPONSE",
        "TOO_MANY_TOOL_CALLS",
        "MISSING_THOUGHT_SIGNATURE",
        "NO_IMAGE",
        "IMAGE_OTHER",
        "OTHER",
    ];
    let field = Field { place: "candidates[]", key: "finishReason" };
    let Some(first) = candidates.as_array().and_then(|candidates| candidates.first()) else {
        return Answer::Empty(Field { place: "", key: "candidates" });
    };
    let reason = first.get("finishReason").and_then(Value::as_str);
    let parts = first.get("content").and_then(|content| content.get("parts")).is_some_and(is_something);
    match reason {
        Some(reason) if REFUSALS.contains(&reason) => Answer::Refused(field),
        Some(reason) if FAULTS.contains(&reason) && !parts => Answer::Empty(field),
        Some("MAX_TOKENS") if !parts => Answer::Starved(field),
        Some(_) if !parts => Answer::Empty(field),
        Some(_) => Answer::Finished,
        None => Answer::Delivered,
    }
}

fn anthropic(reason: &str, around: &Map<String, Value>) -> Answer {
    let empty = around.get("content").is_some_and(|content| !is_something(content));
    match reason {
        "refusal" => refused("", "stop_reason"),
        // A long turn that goes on with the next call.
        "pause_turn" => Answer::Finished,
        "max_tokens" | "model_context_window_exceeded" if empty => {
            Answer::Starved(Field { place: "", key: "stop_reason" })
        }
        _ if empty => Answer::Empty(Field { place: "", key: "content" }),
        _ => Answer::Finished,
    }
}

fn responses(output: &Value, around: &Map<String, Value>) -> Answer {
    let incomplete = around.get("incomplete_details").and_then(|details| details.get("reason"));
    if incomplete.and_then(Value::as_str) == Some("content_filter") {
        return refused("incomplete_details", "reason");
    }
    if is_something(output) {
        return Answer::Finished;
    }
    let length = text(around, "finish_reason") == Some("length")
        || incomplete.and_then(Value::as_str) == Some("max_output_tokens");
    let field = Field { place: "", key: "output" };
    if length { Answer::Starved(field) } else { Answer::Empty(field) }
}

/// Events of a stream, by their type.
fn event(object: &Map<String, Value>) -> Answer {
    let inner = object.get("response").and_then(Value::as_object);
    match text(object, "type").or_else(|| text(object, "event_type")) {
        Some("response.incomplete" | "response.completed") => {
            inner.map_or(Answer::Finished, |response| match response.get("output") {
                Some(output) => responses(output, response),
                None => responses(&Value::Bool(true), response),
            })
        }
        Some("response.failed") => Answer::Faulted(Field { place: "", key: "type" }),
        Some("message_stop" | "response.done") => Answer::Finished,
        _ if object.contains_key("messageStop") => {
            let reason =
                object.get("messageStop").and_then(|stop| stop.get("stopReason")).and_then(Value::as_str);
            match reason {
                Some("guardrail_intervened" | "content_filtered") => refused("messageStop", "stopReason"),
                _ => Answer::Finished,
            }
        }
        _ if object.get("done") == Some(&Value::Bool(true)) => Answer::Finished,
        _ => Answer::Delivered,
    }
}

fn refused(place: &'static str, key: &'static str) -> Answer {
    Answer::Refused(Field { place, key })
}

fn text<'v>(object: &'v Map<String, Value>, key: &str) -> Option<&'v str> {
    object.get(key).and_then(Value::as_str)
}
