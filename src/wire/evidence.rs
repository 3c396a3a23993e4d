//! What an input says, gathered in one bounded walk before any rule is asked: signs with the fields that gave
//! them, the status inside, stated waits. Only error-bearing keys are entered; what a model wrote is never read.

use super::answer::{self, Answer};
use super::dialect::{Speaker, Tables, Trait};
use super::durations::{self, Nanos, SECOND};
use super::input::{self, Body, Input, Kind};
use super::sign::{SIGNS, Sign};
use super::spoken::{self, Spoken};
use super::verdict::Field;
use super::{dates, json, limits, words};
use jiff::Timestamp;
use serde_json::{Map, Value};

/// How deep error objects, causes and JSON in strings are followed.
const DEPTH_MAX: usize = 12;
/// How many elements of a list are looked at.
const LIST_MAX: usize = 16;

/// Everything the rules ask about.
pub(super) struct Evidence<'a> {
    pub(super) input: &'a Input,
    pub(super) tables: &'a Tables,
    pub(super) speaker: Speaker,
    signs: [Option<Field>; SIGNS],
    /// The innermost explicit 4xx or 5xx, with its depth and its field.
    inner: Option<(usize, u16, Field)>,
    /// Whether there is an error at all, whatever the status.
    pub(super) error: Option<Field>,
    /// What a body or a frame without an error turned out to be.
    pub(super) answer: Option<Answer>,
    /// Whether the body is a page for people: a proxy's, not the provider's.
    pub(super) page: bool,
    /// Whether the message was wrapped by a proxy in front of the provider.
    pub(super) wrapped: bool,
    /// Whether it is an answer that an aggregator got from somebody else.
    pub(super) upstream: bool,
    /// Whether the money or the key in question is an aggregator's, not ours.
    pub(super) theirs: bool,
    /// Whether it names other models that would do.
    pub(super) offers_others: bool,
    /// Whether it has the shape of an API management layer, which counts by subscription key.
    pub(super) managed: bool,
    /// Whether a structured metric names a window of a minute.
    pub(super) minute_metric: Option<Field>,
    /// The longest wait that the body states.
    pub(super) wait: Option<(Nanos, Field)>,
    /// The latest instant that the body states.
    pub(super) until: Option<(Timestamp, Field)>,
    /// Header fields that travelled inside the body or the frame.
    pub(super) carried: Vec<(String, String)>,
    scratch: String,
}

impl<'a> Evidence<'a> {
    /// Reads `input` as its provider's dialect has it.
    pub(super) fn gather(input: &'a Input, tables: &'a Tables) -> Evidence<'a> {
        let mut evidence = Evidence {
            input,
            tables,
            speaker: tables.speaker(&input.provider),
            signs: [None; SIGNS],
            inner: None,
            error: None,
            answer: None,
            page: false,
            wrapped: false,
            upstream: false,
            theirs: false,
            offers_others: false,
            managed: false,
            minute_metric: None,
            wait: None,
            until: None,
            carried: Vec::new(),
            scratch: String::new(),
        };
        match input.kind {
            Kind::Http => evidence.body(&input.body),
            Kind::SdkException => evidence.exception(&input.body),
            Kind::StreamEvent | Kind::StreamEnd => evidence.frame(),
            Kind::LocalStop => evidence.value_of_stop(),
            Kind::Transport => {}
        }
        evidence.headers();
        evidence.own_status();
        limits::mark(&mut evidence);
        evidence
    }

    /// The field that gave `sign`.
    pub(super) fn sign(&self, sign: Sign) -> Option<Field> {
        self.signs[sign as usize]
    }

    /// The first of `signs` that is there.
    pub(super) fn any(&self, signs: &[Sign]) -> Option<Field> {
        signs.iter().find_map(|sign| self.sign(*sign))
    }

    /// The status that counts: the one inside, if the one outside only wraps it.
    pub(super) fn status(&self) -> Option<u16> {
        let outer = self.input.status.filter(|status| !(100..=299).contains(status));
        let Some((_, inner, _)) = self.inner else { return outer };
        let wraps = self.input.kind == Kind::SdkException || outer == Some(424);
        match outer {
            Some(500..=599) if inner == 429 => Some(inner),
            Some(_) if !wraps => outer,
            Some(_) | None => Some(inner),
        }
    }

    /// The field of [`Evidence::status`].
    pub(super) fn status_field(&self) -> Field {
        match self.inner {
            Some((_, status, field))
                if self.status() == Some(status) && self.input.status != Some(status) =>
            {
                field
            }
            Some(_) | None => Field { place: "", key: "status" },
        }
    }

    /// Whether the failure came inside something that succeeded, or in a failed dependency's name: then the
    /// provider itself answers, and only the model behind it is in question.
    pub(super) fn is_enveloped(&self) -> bool {
        let streamed = matches!(self.input.kind, Kind::StreamEvent | Kind::StreamEnd);
        streamed || matches!(self.input.status, Some(100..=299 | 424))
    }

    /// Keeps the field that gave a sign: the first, but a code before the words of a message.
    fn note(&mut self, sign: Sign, field: Field) {
        let slot = &mut self.signs[sign as usize];
        if slot.is_none_or(|known| known.is_text() && !field.is_text()) {
            *slot = Some(field);
        }
    }

    // What came, by kind.

    fn body(&mut self, body: &Body) {
        let succeeded = self.input.status.is_some_and(|status| (200..=299).contains(&status));
        match body {
            Body::Absent if succeeded => self.answer = Some(Answer::Empty(Field { place: "", key: "body" })),
            Body::Absent => {}
            Body::Json(value) => self.value(value, succeeded),
            Body::Text(text) => self.text(text, succeeded),
        }
    }

    fn text(&mut self, text: &str, succeeded: bool) {
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

    fn value(&mut self, value: &Value, succeeded: bool) {
        if succeeded {
            self.answered(value);
        } else {
            self.error = Some(Field { place: "", key: "body" });
            self.enter(value, "", 0);
        }
    }

    /// What a stop of our own says about when to come back.
    fn value_of_stop(&mut self) {
        if let Body::Json(value) = &self.input.body {
            self.enter(value, "", 0);
        }
    }

    /// A body under a status of success: an error in disguise, or an answer.
    fn answered(&mut self, value: &Value) {
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

    /// The field that says that an object is an error.
    fn error_in(&mut self, object: &Map<String, Value>) -> Option<Field> {
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
    fn bare_error(&mut self, object: &Map<String, Value>) -> Option<Field> {
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
    fn frame(&mut self) {
        let Some(stream) = &self.input.stream else { return self.body(&self.input.body) };
        match &stream.event {
            Body::Absent => {}
            Body::Json(value) => self.answered(value),
            Body::Text(text) => self.line(text),
        }
    }

    /// The lines of an event stream that came as one body; the first error or the last answer counts.
    fn lines(&mut self, text: &str) {
        for line in text.lines().take(256).filter(|line| !line.trim().is_empty()) {
            self.line(line);
            if self.error.is_some() {
                return;
            }
        }
    }

    /// One line of an event stream.
    fn line(&mut self, text: &str) {
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
    fn html(&mut self, text: &str) {
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
        tables.phrase_signs(edge, &words, |sign| {
            if SAID_BY_PAGES.contains(&sign) {
                self.note(sign, field);
            }
        });
    }

    /// An exception: the innermost of its causes has the type, all of them speak.
    fn exception(&mut self, body: &Body) {
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

    fn cause(&mut self, exception: &Map<String, Value>, depth: usize) {
        const PLACES: [&str; 2] = ["exception", "exception.cause"];
        let place = PLACES[depth.min(1)];
        for (key, value) in exception {
            match key.as_str() {
                "status_code" | "status" | "http_status" => {
                    self.code(value, Field { place, key: "status_code" }, depth)
                }
                "code" => self.code(value, Field { place, key: "code" }, depth),
                "message" | "detail" => self.any_text(value, Field { place, key: "message" }, depth),
                "body" | "response" => self.enter(value, place, depth + 1),
                "headers" => self.carried.extend(input::headers(value.clone())),
                _ => {}
            }
        }
        let inner = ["original_exception", "__cause__", "__context__"]
            .iter()
            .find_map(|key| exception.get(*key).and_then(Value::as_object));
        match inner {
            Some(inner) if depth < DEPTH_MAX => self.cause(inner, depth + 1),
            Some(_) | None => {
                if let Some(kind) = exception.get("type").and_then(Value::as_str) {
                    let kind = kind.rsplit('.').next().unwrap_or(kind);
                    self.word(kind, Field { place, key: "type" });
                }
            }
        }
    }

    // Error objects.

    fn enter(&mut self, value: &Value, place: &'static str, depth: usize) {
        match value {
            Value::Object(object) => self.object(object, place, depth),
            Value::Array(list) if depth < DEPTH_MAX => {
                list.iter().take(LIST_MAX).for_each(|one| self.enter(one, place, depth + 1));
            }
            Value::String(text) => self.message(text, Field { place, key: "message" }, depth),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
        }
    }

    /// Reads the error-bearing keys of an object; all others are passed over unread.
    fn object(&mut self, object: &Map<String, Value>, place: &'static str, depth: usize) {
        if depth > DEPTH_MAX {
            return;
        }
        if let Some(Value::String(_)) = object.get("provider_name") {
            self.upstream = true;
        }
        for (key, value) in object {
            match key.as_str() {
                "error" | "Error" | "errors" | "err" | "base_resp" => {
                    self.inside(value, place, "error", depth)
                }
                "response" | "Response" => self.response(value, depth),
                "innererror" | "inner_error" | "cause" => self.enter(value, "error.innererror", depth + 1),
                "details" | "detail" => self.enter(value, "error.details[]", depth + 1),
                "violations" => self.enter(value, "error.details[].violations[]", depth + 1),
                "metadata" => self.metadata(value, depth),
                "availability" => self.enter(value, "error.availability", depth + 1),
                "fallback_models" => self.offers_others |= is_something(value),
                "body" | "exception" => self.enter(value, "event.body", depth + 1),
                "headers" => self.carried.extend(input::headers(value.clone())),
                "data" | "raw" => {
                    if let Some(text) = value.as_str() {
                        self.raw(text, object, depth);
                    }
                }
                _ if key.ends_with("Exception") => self.member(key, value, depth),
                _ => self.scalar(key, value, place, depth),
            }
        }
    }

    /// What stands under `error`: an object, a list, or the message itself.
    fn inside(&mut self, value: &Value, place: &'static str, key: &'static str, depth: usize) {
        match value {
            Value::String(text) => self.message(text, Field { place, key }, depth),
            Value::Object(_) | Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {
                self.enter(value, "error", depth + 1);
            }
        }
    }

    /// The response inside a stream event: its error and nothing of its output.
    fn response(&mut self, value: &Value, depth: usize) {
        for key in ["error", "Error"] {
            if let Some(error) = value.get(key) {
                self.inside(error, "response", "error", depth + 1);
            }
        }
        if let Some(kind) = value.get("error_type") {
            self.code(kind, Field { place: "response", key: "error_type" }, depth);
        }
    }

    fn metadata(&mut self, value: &Value, depth: usize) {
        let place = "error.metadata";
        for key in ["reasons", "flagged_input"] {
            if value.get(key).is_some_and(is_something) {
                self.note(Sign::Policy, Field { place, key });
            }
        }
        self.enter(value, place, depth + 1);
    }

    /// What an aggregator got from the provider behind it. That one's money and keys are the aggregator's, not
    /// ours, unless the key was ours.
    fn raw(&mut self, text: &str, around: &Map<String, Value>, depth: usize) {
        let field = Field { place: "error.metadata", key: "raw" };
        let own_key = around.get("is_byok") == Some(&Value::Bool(true));
        if own_key || !self.tables.has(self.speaker, Trait::Aggregator) {
            return self.message(text, field, depth + 1);
        }
        let before = self.signs;
        self.message(text, field, depth + 1);
        const THEIRS: [Sign; 7] = [
            Sign::Funds,
            Sign::FundsKey,
            Sign::FundsMaybe,
            Sign::Auth,
            Sign::AuthProject,
            Sign::AuthModel,
            Sign::Region,
        ];
        for sign in THEIRS {
            if before[sign as usize].is_none() && self.signs[sign as usize].take().is_some() {
                self.theirs = true;
                self.note(Sign::Capacity, field);
            }
        }
        if before[Sign::Rate as usize].is_none() && self.sign(Sign::Rate).is_some() {
            self.note(Sign::RateUpstream, field);
        }
    }

    /// An exception that is the name of a member: `{"throttlingException": {…}}`.
    fn member(&mut self, key: &str, value: &Value, depth: usize) {
        self.word(key, Field { place: "event", key: "exception" });
        if let Some(object) = value.as_object() {
            self.object(object, "event.exception", depth + 1);
        }
    }

    fn scalar(&mut self, key: &str, value: &Value, place: &'static str, depth: usize) {
        let at = |key: &'static str| Field { place, key };
        match key {
            "code" | "Code" => self.code(value, at("code"), depth),
            "type" | "__type" => self.code(value, at("type"), depth),
            "status" => self.code(value, at("status"), depth),
            "reason" => self.code(value, at("reason"), depth),
            "error_type" | "errorType" => self.code(value, at("error_type"), depth),
            "error_code" | "errorCode" => self.code(value, at("error_code"), depth),
            "limit_source" => self.code(value, at("limit_source"), depth),
            "statusCode" => {
                self.managed |= depth == 0;
                self.code(value, at("statusCode"), depth);
            }
            "status_code" | "http_status" | "http_code" | "raw_status_code" => {
                self.code(value, at("status_code"), depth);
            }
            "originalStatusCode" | "original_status_code" => {
                self.code(value, at("originalStatusCode"), depth + 1)
            }
            "message" | "msg" | "Message" | "error_msg" | "status_msg" | "error_message" | "errorMessage" => {
                self.any_text(value, at("message"), depth);
            }
            "title" | "description" | "error_description" | "originalMessage" => {
                self.any_text(value, at("description"), depth);
            }
            "quotaId" | "quotaMetric" | "quota_limit" | "quota_metric" => self.metric(value, at("quotaId")),
            "quotaValue" if value.as_str() == Some("0") => self.note(Sign::Zero, at("quotaValue")),
            _ => self.time(key, value, place),
        }
    }

    /// Fields that state a wait.
    fn time(&mut self, key: &str, value: &Value, place: &'static str) {
        let at = |key: &'static str| Field { place, key };
        match key {
            "retryDelay" => self.stated(value.as_str().and_then(durations::protobuf), at("retryDelay")),
            "quotaResetDelay" => {
                self.stated(value.as_str().and_then(durations::compact), at("quotaResetDelay"))
            }
            "retry_after"
            | "retry_after_seconds"
            | "retryAfter"
            | "resets_in_seconds"
            | "reset_in_seconds" => {
                self.stated(seconds(value), at("retry_after"));
            }
            "retry_after_ms" | "retryAfterMs" => {
                self.stated(seconds(value).map(|ns| ns / 1000), at("retry_after_ms"));
            }
            "estimated_time" => {
                self.note(Sign::ColdStart, at("estimated_time"));
                self.stated(seconds(value), at("estimated_time"));
            }
            "resets_at" | "reset_at" | "resetsAt" | "quotaResetTimeStamp" => {
                self.instant(value, at("resets_at"))
            }
            _ => {}
        }
    }

    fn stated(&mut self, ns: Option<Nanos>, field: Field) {
        if let Some(ns) = ns.filter(|ns| *ns >= 0)
            && self.wait.is_none_or(|(longest, _)| ns > longest)
        {
            self.wait = Some((ns, field));
        }
    }

    /// An instant to come; one that is past says nothing.
    fn instant(&mut self, value: &Value, field: Field) {
        let at = match value {
            Value::String(text) => dates::rfc3339(text).or_else(|| epoch(text)),
            Value::Number(number) => epoch(&number.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        let to_come = at.filter(|at| self.input.now.is_none_or(|now| *at >= now));
        if let Some(at) = to_come.filter(|at| self.until.is_none_or(|(latest, _)| *at > latest)) {
            self.until = Some((at, field));
        }
    }

    // Codes and words.

    /// A code: a status if it is a number of one, else a word.
    fn code(&mut self, value: &Value, field: Field, depth: usize) {
        match value {
            Value::Number(number) => self.number(&number.to_string(), field, depth),
            Value::String(text) if durations::is_digits(text) => self.number(text, field, depth),
            Value::String(text) => self.word(text, field),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {}
        }
    }

    fn number(&mut self, text: &str, field: Field, depth: usize) {
        if let Some(sign) = self.tables.code_sign(self.speaker, text) {
            return self.note(sign, field);
        }
        let status = text.parse::<u16>().ok().filter(|status| (400..=599).contains(status));
        if let Some(status) = status
            && self.inner.is_none_or(|(deepest, _, _)| depth >= deepest)
        {
            self.inner = Some((depth, status, field));
        }
    }

    /// A code that is a word. One that no file has is read as a phrase, so that new members of a known family
    /// still tell.
    fn word(&mut self, code: &str, field: Field) {
        let code = words::bounded(code);
        let code = code.rsplit('#').next().unwrap_or(code);
        let code = code.split(":http").next().unwrap_or(code);
        let mut words = std::mem::take(&mut self.scratch);
        words.clear();
        words::append(code, &mut words);
        let trimmed = words.trim_end();
        match self.tables.code_sign(self.speaker, trimmed) {
            Some(sign) => self.note(sign, field),
            None => self.phrases(trimmed, field),
        }
        self.scratch = words;
    }

    fn phrases(&mut self, words: &str, field: Field) {
        let (tables, speaker) = (self.tables, self.speaker);
        tables.phrase_signs(speaker, words, |sign| self.note(sign, field));
    }

    /// The name of a quota's metric, which names its window and nothing else.
    fn metric(&mut self, value: &Value, field: Field) {
        const WINDOWS: [Sign; 5] = [Sign::Minute, Sign::Hour, Sign::Day, Sign::Week, Sign::Month];
        let Some(text) = value.as_str() else { return };
        let words = words::of(text);
        let (tables, speaker) = (self.tables, self.speaker);
        tables.phrase_signs(speaker, &words, |sign| {
            if WINDOWS.contains(&sign) {
                self.note(sign, field);
            }
            if sign == Sign::Minute {
                self.minute_metric.get_or_insert(field);
            }
        });
    }

    fn any_text(&mut self, value: &Value, field: Field, depth: usize) {
        match value {
            Value::String(text) => self.message(text, field, depth),
            Value::Object(_) | Value::Array(_) => self.enter(value, field.place, depth + 1),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// A message: JSON inside it is an error object of its own; the words before it are read as they are.
    fn message(&mut self, text: &str, field: Field, depth: usize) {
        let mut said = words::bounded(text);
        if text.contains("{\"") || text.contains("[{") {
            let nested = if depth < DEPTH_MAX { json::inside(text) } else { None };
            if let Some(value) = nested {
                self.enter(&value, "error", depth + 1);
                said = &said[..said.find(['{', '[']).unwrap_or(said.len())];
            }
        }
        let mut words = std::mem::take(&mut self.scratch);
        words.clear();
        words::append(said, &mut words);
        self.read(words.trim_end(), field);
        self.scratch = words;
    }

    fn read(&mut self, words: &str, field: Field) {
        self.wrapped |= words.starts_with("litellm ");
        self.phrases(words, field);
        if !words.bytes().any(|byte| byte.is_ascii_digit()) {
            return;
        }
        if asks_for_more_than_the_limit(words) {
            self.note(Sign::Size, field);
        }
        match spoken::find(words) {
            Some(Spoken::Wait(ns)) => self.stated(Some(ns), field),
            Some(Spoken::Until(at)) if self.until.is_none() => self.until = Some((at, field)),
            Some(Spoken::Until(_)) | None => {}
        }
        if spoken::window(words).is_some_and(|window| window >= 86_400 * SECOND) {
            self.note(Sign::Day, field);
        }
    }

    /// A status that has a meaning of its own where it was said.
    fn own_status(&mut self) {
        let status = self.status();
        if let Some(sign) = status.and_then(|status| self.tables.status_sign(self.speaker, status)) {
            self.note(sign, self.status_field());
        }
    }

    // Headers that are codes.

    fn headers(&mut self) {
        let input = self.input;
        if input.status.is_some_and(|status| (200..=299).contains(&status)) && self.error.is_none() {
            return;
        }
        for (name, value) in &input.headers {
            let at = |key: &'static str| Field { place: "headers", key };
            if name.eq_ignore_ascii_case("x-amzn-errortype") {
                self.word(value, at("x-amzn-errortype"));
            } else if name.eq_ignore_ascii_case("x-ratelimit-type") {
                self.word(value, at("x-ratelimit-type"));
            } else if name.eq_ignore_ascii_case("cf-mitigated") && value == "challenge" {
                self.note(Sign::EdgeBlock, at("cf-mitigated"));
            }
        }
    }

    /// Adds a sign that header arithmetic found.
    pub(super) fn add(&mut self, sign: Sign, field: Field) {
        self.note(sign, field);
    }
}

/// "Limit 30000, Requested 30601": no wait makes that fit.
fn asks_for_more_than_the_limit(words: &str) -> bool {
    let after = |cue: &str| {
        let rest = &words[words.find(cue)? + cue.len()..];
        let number = rest.split(' ').next()?;
        durations::is_digits(number).then(|| durations::digits(number))
    };
    match (after("limit "), after("requested ")) {
        (Some(limit), Some(requested)) => requested > limit,
        (Some(_) | None, Some(_) | None) => false,
    }
}

fn list<'v>(object: &'v Map<String, Value>, key: &str) -> impl Iterator<Item = &'v Value> {
    object.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn seconds(value: &Value) -> Option<Nanos> {
    match value {
        Value::Number(number) => durations::number(&number.to_string(), SECOND),
        Value::String(text) => durations::number(text, SECOND).or_else(|| durations::compact(text)),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn epoch(text: &str) -> Option<Timestamp> {
    match dates::sized(text, None)? {
        dates::Sized::Instant { at, .. } => Some(at),
        dates::Sized::Length(_) => None,
    }
}

/// Whether a value says anything: not null, false, zero or empty.
pub(super) fn is_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(yes) => *yes,
        Value::Number(number) => number.as_i64() != Some(0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => !object.is_empty(),
    }
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
