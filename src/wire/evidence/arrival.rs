//! What came, by kind: a body, a frame, a page, an exception; and whether it is an error at all.

use super::{DEPTH_MAX, Evidence, LIST_MAX, is_something};
use crate::wire::answer::{self, Answer};
use crate::wire::input::{self, Body, Kind};
use crate::wire::names::Spans;
use crate::wire::sign::Sign;
use crate::wire::verdict::Field;
use crate::wire::{json, words};
use serde_json::{Map, Value};

impl Evidence<'_> {
    pub(super) fn body(&mut self, body: &Body) {
        let succeeded = self.input.status.is_some_and(|status| (200..=299).contains(&status));
        match body {
            Body::Absent if succeeded => self.answer = Some(Answer::Empty(Field { place: "", key: "body" })),
            Body::Absent => {}
            Body::Json(value) => self.value(value, succeeded),
            Body::Text(text) => self.text(text, succeeded),
        }
    }

    pub(super) fn text(&mut self, text: &str, succeeded: bool) {
        let field = Field { place: "", key: "body" };
        let html = self.input.header("content-type").is_some_and(|kind| kind.contains("text/html"));
        let encoded = self.input.header("content-encoding").is_some_and(|coding| coding != "identity");
        let start = text.trim_start();
        let readable = !encoded || start.starts_with(['{', '[', '<']);
        if html || (start.starts_with('<') && !start.starts_with("<?json")) {
            self.html(text);
        } else if start.is_empty() {
            self.answer = succeeded.then_some(Answer::Empty(field));
        } else if !readable {
            self.answer = succeeded.then_some(Answer::Delivered);
        } else if let Some(value) = json::parse(text) {
            self.value(&value, succeeded);
        } else if start.starts_with("data:") || start.starts_with("event:") || start.starts_with(':') {
            self.lines(start);
        } else if succeeded {
            let huge = text.len() > json::JSON_MAX;
            self.answer = Some(if huge { Answer::Delivered } else { Answer::Unreadable(field) });
        } else {
            self.message(text, field, 0);
        }
    }

    pub(super) fn value(&mut self, value: &Value, succeeded: bool) {
        if succeeded {
            self.answered(value);
        } else {
            self.error = Some(Field { place: "", key: "body" });
            self.enter(value, "", 0);
        }
    }

    /// A body under a status of success: an error in disguise, or an answer.
    pub(super) fn answered(&mut self, value: &Value) {
        let objects = match value {
            Value::Array(list) => list.as_slice(),
            Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                std::slice::from_ref(value)
            }
        };
        for object in objects.iter().take(LIST_MAX).filter_map(Value::as_object) {
            if let Some(field) = self.error_in(object) {
                self.error = Some(field);
                self.object(object, "", 0);
                return;
            }
            for choice in list(object, "choices").take(LIST_MAX).filter_map(Value::as_object) {
                if let Some(error) = choice.get("error").filter(|error| is_something(error)) {
                    self.error = Some(Field { place: "choices[]", key: "error" });
                    self.enter(error, "choices[].error", 1);
                    return;
                }
            }
            let streamed = self.input.kind != Kind::Http;
            self.answer = Some(if streamed { answer::of_frame(object) } else { answer::of(object) });
        }
        self.answer.get_or_insert(Answer::Delivered);
    }

    /// What a stop of our own says about when to come back.
    pub(super) fn value_of_stop(&mut self) {
        if let Body::Json(value) = &self.input.body {
            self.enter(value, "", 0);
        }
    }

    /// The field that says that an object is an error.
    pub(super) fn error_in(&mut self, object: &Map<String, Value>) -> Option<Field> {
        let named = |key: &'static str| Some(Field { place: "", key });
        for key in ["error", "errors", "Error"] {
            if object.get(key).is_some_and(is_something) {
                return named(key);
            }
        }
        if object.get("success") == Some(&Value::Bool(false)) {
            return named("success");
        }
        if object.get("object").and_then(Value::as_str) == Some("error") {
            return named("object");
        }
        let status = object.get("base_resp").and_then(|base| base.get("status_code")).and_then(Value::as_i64);
        if status.is_some_and(|status| status != 0) {
            return Some(Field { place: "base_resp", key: "status_code" });
        }
        if object.get("error_code").is_some_and(is_a_failing_code) {
            return named("error_code");
        }
        if object.keys().any(|key| key.ends_with("Exception")) {
            return named("exception");
        }
        for key in ["response", "Response"] {
            let inside =
                |error: &str| object.get(key).and_then(|inside| inside.get(error)).is_some_and(is_something);
            if inside("error") || inside("Error") {
                return Some(Field { place: "response", key: "error" });
            }
        }
        if object.get("status").and_then(Value::as_u64).is_some_and(|status| (400..=599).contains(&status)) {
            return named("status");
        }
        self.bare_error(object)
    }

    /// An error without a wrapper: a type that is a known failure, or a code with a message and no answer.
    pub(super) fn bare_error(&mut self, object: &Map<String, Value>) -> Option<Field> {
        let spoken = ["message", "msg", "error_msg"].iter().any(|key| object.contains_key(*key));
        if let Some(kind) = object.get("type").and_then(Value::as_str)
            && (kind == "error"
                || (spoken && self.tables.code_sign(self.speaker, &words::of(kind)).is_some()))
        {
            return Some(Field { place: "", key: "type" });
        }
        let failing = object.get("code").is_some_and(is_a_failing_code);
        (spoken && failing && !answer::has_one(object)).then_some(Field { place: "", key: "code" })
    }

    /// A frame, or the last frame, of a stream.
    pub(super) fn frame(&mut self) {
        let Some(stream) = &self.input.stream else { return self.body(&self.input.body) };
        match &stream.event {
            Body::Absent => {}
            Body::Json(value) => self.answered(value),
            Body::Text(text) if text.trim().contains('\n') => self.lines(text),
            Body::Text(text) => self.line(text),
        }
    }

    /// The lines of an event stream that came as one body; the first error or the last answer counts. The data of
    /// an event called error is one, JSON or not.
    pub(super) fn lines(&mut self, text: &str) {
        let mut failing = false;
        for line in text.lines().take(256).filter(|line| !line.trim().is_empty()) {
            failing |= line.strip_prefix("event:").is_some_and(|name| name.trim() == "error");
            self.line(line);
            if failing && let Some(data) = line.strip_prefix("data:") {
                self.error.get_or_insert(Field { place: "stream", key: "event" });
                if matches!(self.answer, Some(Answer::Broken(_))) {
                    self.message(data, Field { place: "stream", key: "message" }, 0);
                }
            }
            if self.error.is_some() {
                return;
            }
        }
    }

    /// One line of an event stream.
    pub(super) fn line(&mut self, text: &str) {
        let field = Field { place: "stream", key: "event" };
        let text = text.trim();
        if text.starts_with(':') || ["event:", "id:", "retry:"].iter().any(|name| text.starts_with(name)) {
            self.answer = Some(Answer::Comment);
            return;
        }
        let data = text.strip_prefix("data:").unwrap_or(text).trim();
        if data.starts_with('<') {
            self.html(data);
        } else if data == "[DONE]" || data.is_empty() {
            self.answer.get_or_insert(Answer::Delivered);
        } else if let Some(value) = json::parse(data) {
            self.answered(&value);
        } else {
            self.answer = Some(Answer::Broken(field));
        }
    }

    /// A page for people. Its words are those of proxies and firewalls, whatever provider stands behind.
    pub(super) fn html(&mut self, text: &str) {
        const SAID_BY_PAGES: [Sign; 6] =
            [Sign::EdgeBlock, Sign::Region, Sign::Rate, Sign::Size, Sign::Capacity, Sign::Busy];
        let field = Field { place: "", key: "body" };
        self.page = true;
        if self.input.status.is_none_or(|status| (100..=299).contains(&status)) {
            self.answer = Some(Answer::Page(field));
            return;
        }
        let words = words::of(text);
        let edge = self.tables.speaker("edge");
        let tables = self.tables;
        tables.phrase_signs(edge, &words, &Spans::new(), |sign, _| {
            if SAID_BY_PAGES.contains(&sign) {
                self.note(sign, field);
            }
        });
    }

    /// An exception: the innermost of its causes has the type, all of them speak.
    pub(super) fn exception(&mut self, body: &Body) {
        match body {
            Body::Json(value) => match value.get("exception").unwrap_or(value) {
                Value::Object(exception) => self.cause(exception, 0),
                Value::String(text) => self.message(text, Field { place: "exception", key: "message" }, 0),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
            },
            Body::Text(text) => self.message(text, Field { place: "exception", key: "message" }, 0),
            Body::Absent => {}
        }
        self.error.get_or_insert(Field { place: "", key: "exception" });
    }

    pub(super) fn cause(&mut self, exception: &Map<String, Value>, depth: usize) {
        const PLACES: [&str; 2] = ["exception", "exception.cause"];
        let place = PLACES[depth.min(1)];
        for (key, value) in exception {
            match key.as_str() {
                "status_code" | "status" | "http_status" => {
                    self.code(value, Field { place, key: "status_code" }, depth)
                }
                "code" | "errno" => self.code(value, Field { place, key: "code" }, depth),
                "message" | "detail" => self.any_text(value, Field { place, key: "message" }, depth),
                "body" | "response" => self.enter(value, place, depth + 1),
                "headers" => self.carried.extend(input::headers(value.clone())),
                _ => {}
            }
        }
        let before = (self.notes, self.inner);
        for key in ["original_exception", "__cause__", "__context__", "cause"] {
            match exception.get(key) {
                Some(Value::Object(inner)) if depth < DEPTH_MAX => self.cause(inner, depth + 1),
                Some(Value::String(text)) => self.message(text, Field { place, key: "message" }, depth),
                Some(_) | None => continue,
            }
            break;
        }
        // The innermost type that anybody knows; further out it is only the wrapper's.
        if before == (self.notes, self.inner)
            && let Some(kind) = exception.get("type").or(exception.get("name")).and_then(Value::as_str)
        {
            let kind = kind.rsplit(['.', ':', '$']).next().unwrap_or(kind);
            self.word(kind, Field { place, key: "type" });
        }
    }
}

fn list<'v>(object: &'v Map<String, Value>, key: &str) -> impl Iterator<Item = &'v Value> {
    object.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// Whether a code under a status of success says failure: not zero, 200 or a word for success.
fn is_a_failing_code(value: &Value) -> bool {
    match value {
        Value::Number(number) => !matches!(number.as_i64(), Some(0 | 200)),
        Value::String(text) => {
            !matches!(text.to_ascii_lowercase().as_str(), "" | "0" | "200" | "ok" | "success")
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    }
}
