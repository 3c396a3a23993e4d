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
use super::names::{Spans, Strength};
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
    signs: [Option<(Strength, Field)>; SIGNS],
    /// How many signs were found, repeated ones too.
    notes: usize,
    /// The most that a sign counts for where the walk is.
    most: Strength,
    /// The innermost explicit 4xx or 5xx, with its depth and its field.
    inner: Option<(usize, u16, Field)>,
    /// A status that a text tells, where nothing else has one: `Error code: 503`.
    told: Option<(u16, Field)>,
    /// Whether a text tells a status and then the whole answer: it is passed on under another status.
    passed_on: bool,
    /// Whether it is about a named part of the request, or says in words what is wrong with it.
    pub(in crate::wire) explained: bool,
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
    spans: Spans,
}

impl<'a> Evidence<'a> {
    /// Reads `input` as its provider's dialect has it.
    pub(in crate::wire) fn gather(input: &'a Input, tables: &'a Tables) -> Evidence<'a> {
        let speaker = tables.speaker(&input.provider);
        let speaker = if input.kind == Kind::SdkException { tables.as_told(speaker) } else { speaker };
        let mut evidence = Evidence {
            input,
            tables,
            speaker,
            signs: [None; SIGNS],
            notes: 0,
            most: Strength::Plain,
            inner: None,
            told: None,
            passed_on: false,
            explained: false,
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
            spans: Spans::new(),
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
        evidence.weigh();
        limits::mark(&mut evidence);
        evidence
    }

    /// The field that gave `sign`.
    pub(in crate::wire) fn sign(&self, sign: Sign) -> Option<Field> {
        self.signs[sign as usize].map(|(_, field)| field)
    }

    /// The field that gave `sign`, if it was said plainly.
    pub(in crate::wire) fn plain(&self, sign: Sign) -> Option<Field> {
        self.signs[sign as usize].filter(|(strength, _)| *strength == Strength::Plain).map(|(_, field)| field)
    }

    /// The first of `signs` that is there.
    pub(in crate::wire) fn any(&self, signs: &[Sign]) -> Option<Field> {
        signs.iter().find_map(|sign| self.sign(*sign))
    }

    /// The status that counts: the one inside, if the one outside only wraps it.
    pub(in crate::wire) fn status(&self) -> Option<u16> {
        self.effective_status().map(|(status, _)| status)
    }

    /// The field of [`Evidence::status`].
    pub(in crate::wire) fn status_field(&self) -> Field {
        const OUTER: Field = Field { place: "", key: "status" };
        let found = self.effective_status().filter(|(status, _)| self.input.status != Some(*status));
        found.map_or(OUTER, |(_, field)| field)
    }

    fn effective_status(&self) -> Option<(u16, Field)> {
        let outer = self.input.status.filter(|status| !(100..=299).contains(status));
        let outer = outer.map(|status| (status, Field { place: "", key: "status" }));
        let exception = self.input.kind == Kind::SdkException;
        let Some((_, inner, field)) = self.inner else {
            let told = self.told.filter(|_| exception || self.is_enveloped());
            return outer.or(told);
        };
        let wraps = exception || outer.is_some_and(|(status, _)| status == 424);
        match outer {
            Some((500..=599, _)) if inner == 429 || self.passed_on => Some((inner, field)),
            Some(outer) if !wraps => Some(outer),
            Some(_) | None => Some((inner, field)),
        }
    }

    /// Whether the failure came inside something that succeeded, or in a failed dependency's name: then the
    /// provider itself answers, and only the model behind it is in question.
    pub(in crate::wire) fn is_enveloped(&self) -> bool {
        let streamed = matches!(self.input.kind, Kind::StreamEvent | Kind::StreamEnd);
        streamed || matches!(self.input.status, Some(100..=299 | 424))
    }

    fn note(&mut self, sign: Sign, field: Field) {
        self.note_as(sign, field, Strength::Plain);
    }

    /// Keeps the field that gave a sign: the strongest, then the first, but a code before the words of a message.
    fn note_as(&mut self, sign: Sign, field: Field, strength: Strength) {
        self.notes += 1;
        self.explained |= sign == Sign::Request && field.is_text();
        let strength = strength.min(self.most);
        let slot = &mut self.signs[sign as usize];
        let is_better = |(known_strength, known): (Strength, Field)| {
            let firmer = known.is_text() && !field.is_text();
            strength > known_strength || (strength == known_strength && firmer)
        };
        if slot.is_none_or(is_better) {
            *slot = Some((strength, field));
        }
    }

    /// Forgets what was read out of names: where a request is said to be wrong they are those of its tools, values and
    /// files, and where it is said which part of it is wrong, one word decides nothing either. Of limits and faults a name
    /// may tell more, but nobody is out of money or locked out because of one.
    fn weigh(&mut self) {
        const FINAL: [Sign; 8] = [
            Sign::Policy,
            Sign::Region,
            Sign::Funds,
            Sign::FundsKey,
            Sign::FundsMaybe,
            Sign::Auth,
            Sign::AuthProject,
            Sign::AuthModel,
        ];
        let by_code = self.sign(Sign::Request).is_some_and(|field| !field.is_text());
        let is_bad = match self.status() {
            Some(400 | 404 | 405 | 406 | 409 | 415 | 416 | 422) => true,
            Some(_) => false,
            None => by_code,
        };
        let explained = self.explained || self.sign(Sign::Request).is_some();
        let least = if explained { Strength::Plain } else { Strength::Loose };
        for (at, slot) in self.signs.iter_mut().enumerate() {
            let is_final = || FINAL.iter().any(|sign| *sign as usize == at);
            *slot = match slot {
                Some((strength, _)) if is_bad && *strength < least => None,
                Some((Strength::Name | Strength::Code, _)) if is_final() => None,
                Some(_) | None => *slot,
            };
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
