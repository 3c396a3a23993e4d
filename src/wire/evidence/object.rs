//! The walk through an error object: only error-bearing keys are entered.

use super::{DEPTH_MAX, Evidence, LIST_MAX, is_something};
use crate::wire::dates;
use crate::wire::durations::{self, Nanos, SECOND};
use crate::wire::habits::Trait;
use crate::wire::input;
use crate::wire::sign::Sign;
use crate::wire::verdict::Field;
use jiff::Timestamp;
use serde_json::{Map, Value};

impl Evidence<'_> {
    pub(super) fn enter(&mut self, value: &Value, place: &'static str, depth: usize) {
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
    pub(super) fn object(&mut self, object: &Map<String, Value>, place: &'static str, depth: usize) {
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
                "param" | "loc" => self.explained |= is_something(value),
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
    pub(super) fn inside(&mut self, value: &Value, place: &'static str, key: &'static str, depth: usize) {
        match value {
            Value::String(text) => self.message(text, Field { place, key }, depth),
            Value::Object(_) | Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {
                self.enter(value, "error", depth + 1);
            }
        }
    }

    /// The response inside a stream event: its error and nothing of its output.
    pub(super) fn response(&mut self, value: &Value, depth: usize) {
        for key in ["error", "Error"] {
            if let Some(error) = value.get(key) {
                self.inside(error, "response", "error", depth + 1);
            }
        }
        if let Some(kind) = value.get("error_type") {
            self.code(kind, Field { place: "response", key: "error_type" }, depth);
        }
    }

    pub(super) fn metadata(&mut self, value: &Value, depth: usize) {
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
    pub(super) fn raw(&mut self, text: &str, around: &Map<String, Value>, depth: usize) {
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
    pub(super) fn member(&mut self, key: &str, value: &Value, depth: usize) {
        self.word(key, Field { place: "event", key: "exception" });
        if let Some(object) = value.as_object() {
            self.object(object, "event.exception", depth + 1);
        }
    }

    pub(super) fn scalar(&mut self, key: &str, value: &Value, place: &'static str, depth: usize) {
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
    pub(super) fn time(&mut self, key: &str, value: &Value, place: &'static str) {
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

    pub(super) fn stated(&mut self, ns: Option<Nanos>, field: Field) {
        if let Some(ns) = ns.filter(|ns| *ns >= 0)
            && self.wait.is_none_or(|(longest, _)| ns > longest)
        {
            self.wait = Some((ns, field));
        }
    }

    /// An instant to come; one that is past says nothing.
    pub(super) fn instant(&mut self, value: &Value, field: Field) {
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
