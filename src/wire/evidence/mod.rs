//! What an input says, gathered in one bounded walk before any rule is asked: signs with the fields that gave
//! them, the status inside, stated waits. Only error-bearing keys are entered; what a model wrote is never read.

mod arrival;
mod object;
mod said;

use super::answer::Answer;
use super::dialect::{Speaker, Tables};
use super::durations::Nanos;
use super::input::{Input, Kind};
use super::limits;
use super::sign::{SIGNS, Sign};
use super::verdict::Field;
use jiff::Timestamp;
use serde_json::Value;

/// How deep error objects, causes and JSON in strings are followed.
const DEPTH_MAX: usize = 12;
/// How many elements of a list are looked at.
const LIST_MAX: usize = 16;

/// Everything the rules ask about.
pub(in crate::wire) struct Evidence<'a> {
    pub(in crate::wire) input: &'a Input,
    pub(in crate::wire) tables: &'a Tables,
    pub(in crate::wire) speaker: Speaker,
    signs: [Option<Field>; SIGNS],
    /// The innermost explicit 4xx or 5xx, with its depth and its field.
    inner: Option<(usize, u16, Field)>,
    /// Whether there is an error at all, whatever the status.
    pub(in crate::wire) error: Option<Field>,
    /// What a body or a frame without an error turned out to be.
    pub(in crate::wire) answer: Option<Answer>,
    /// Whether the body is a page for people: a proxy's, not the provider's.
    pub(in crate::wire) page: bool,
    /// Whether the message was wrapped by a proxy in front of the provider.
    pub(in crate::wire) wrapped: bool,
    /// Whether it is an answer that an aggregator got from somebody else.
    pub(in crate::wire) upstream: bool,
    /// Whether the money or the key in question is an aggregator's, not ours.
    pub(in crate::wire) theirs: bool,
    /// Whether it names other models that would do.
    pub(in crate::wire) offers_others: bool,
    /// Whether it has the shape of an API management layer, which counts by subscription key.
    pub(in crate::wire) managed: bool,
    /// Whether a structured metric names a window of a minute.
    pub(in crate::wire) minute_metric: Option<Field>,
    /// The longest wait that the body states.
    pub(in crate::wire) wait: Option<(Nanos, Field)>,
    /// The latest instant that the body states.
    pub(in crate::wire) until: Option<(Timestamp, Field)>,
    /// Header fields that travelled inside the body or the frame.
    pub(in crate::wire) carried: Vec<(String, String)>,
    scratch: String,
}

impl<'a> Evidence<'a> {
    /// Reads `input` as its provider's dialect has it.
    pub(in crate::wire) fn gather(input: &'a Input, tables: &'a Tables) -> Evidence<'a> {
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
    pub(in crate::wire) fn sign(&self, sign: Sign) -> Option<Field> {
        self.signs[sign as usize]
    }

    /// The first of `signs` that is there.
    pub(in crate::wire) fn any(&self, signs: &[Sign]) -> Option<Field> {
        signs.iter().find_map(|sign| self.sign(*sign))
    }

    /// The status that counts: the one inside, if the one outside only wraps it.
    pub(in crate::wire) fn status(&self) -> Option<u16> {
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
    pub(in crate::wire) fn status_field(&self) -> Field {
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
    pub(in crate::wire) fn is_enveloped(&self) -> bool {
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

    /// A status that has a meaning of its own where it was said.
    fn own_status(&mut self) {
        let status = self.status();
        if let Some(sign) = status.and_then(|status| self.tables.status_sign(self.speaker, status)) {
            self.note(sign, self.status_field());
        }
    }

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
    pub(in crate::wire) fn add(&mut self, sign: Sign, field: Field) {
        self.note(sign, field);
    }
}

/// Whether a value says anything: not null, false, zero or empty.
pub(in crate::wire) fn is_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(yes) => *yes,
        Value::Number(number) => number.as_i64() != Some(0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => !object.is_empty(),
    }
}
