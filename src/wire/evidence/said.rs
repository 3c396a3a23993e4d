//! Codes, metrics and messages: what each is a sign of, and which wait it states.

use super::{DEPTH_MAX, Evidence};
use crate::wire::durations::{self, SECOND};
use crate::wire::names::{self, Spans, Strength};
use crate::wire::sign::Sign;
use crate::wire::spoken::{self, Spoken};
use crate::wire::verdict::Field;
use crate::wire::{json, words};
use serde_json::Value;

impl Evidence<'_> {
    /// A code: a status if it is a number of one, else a word.
    pub(super) fn code(&mut self, value: &Value, field: Field, depth: usize) {
        match value {
            Value::Number(number) => self.number(&number.to_string(), field, depth),
            Value::String(text) if durations::is_digits(text) => self.number(text, field, depth),
            Value::String(text) => self.word(text, field),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {}
        }
    }

    pub(super) fn number(&mut self, text: &str, field: Field, depth: usize) {
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
    pub(super) fn word(&mut self, code: &str, field: Field) {
        let code = words::bounded(code);
        let code = code.rsplit('#').next().unwrap_or(code);
        let code = code.split(":http").next().unwrap_or(code);
        let mut words = std::mem::take(&mut self.scratch);
        words.clear();
        words::append(code, &mut words);
        let trimmed = words.trim_end();
        match self.tables.code_sign(self.speaker, trimmed) {
            Some(sign) => self.note(sign, field),
            None => {
                let (tables, speaker) = (self.tables, self.speaker);
                tables.phrase_signs(speaker, trimmed, &Spans::new(), |sign, _| self.note(sign, field));
            }
        }
        self.scratch = words;
    }

    /// The name of a quota's metric, which names its window, and whether models are counted apart.
    pub(super) fn metric(&mut self, value: &Value, field: Field) {
        const NAMED: [Sign; 6] =
            [Sign::Minute, Sign::Hour, Sign::Day, Sign::Week, Sign::Month, Sign::EachModel];
        let Some(text) = value.as_str() else { return };
        let words = words::of(text);
        let (tables, speaker) = (self.tables, self.speaker);
        tables.phrase_signs(speaker, &words, &Spans::new(), |sign, _| {
            if NAMED.contains(&sign) {
                self.note(sign, field);
            }
            if sign == Sign::Minute {
                self.minute_metric.get_or_insert(field);
            }
        });
    }

    pub(super) fn any_text(&mut self, value: &Value, field: Field, depth: usize) {
        match value {
            Value::String(text) => self.message(text, field, depth),
            Value::Object(_) | Value::Array(_) => self.enter(value, field.place, depth + 1),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// A message: an object inside it, as JSON or as Python writes it, is an error object of its own; the words before
    /// it are read as they are.
    pub(super) fn message(&mut self, text: &str, field: Field, depth: usize) {
        let mut said = words::bounded(text);
        let mut nested = false;
        if depth < DEPTH_MAX
            && let Some((at, value)) = json::inside(text)
        {
            nested = true;
            let most = self.most;
            if is_echoed(&text[..at]) {
                self.most = self.most.min(Strength::Loose);
            }
            self.enter(&value, "error", depth + 1);
            self.most = most;
            said = said.get(..at).unwrap_or(said);
        }
        self.codes(text, field);
        let mut words = std::mem::take(&mut self.scratch);
        let mut spans = std::mem::take(&mut self.spans);
        words.clear();
        spans.clear();
        if said.trim().contains(char::is_whitespace) {
            names::append(said, &mut words, &mut spans);
        } else {
            // One identifier is a code; of one that is not found it is not said what that is.
            words::append(said, &mut words);
            let sign = self.tables.code_sign(self.speaker, words.trim_end());
            if let Some(sign) = sign.filter(|sign| *sign != Sign::Model && said.contains('_')) {
                self.note_as(sign, field, Strength::Loose);
            }
        }
        let trimmed = words.trim_end();
        self.read(trimmed, &spans, field);
        if let Some(status) = spoken::status(trimmed, self.input.kind) {
            self.told.get_or_insert((status, field));
            if nested && self.inner.is_none_or(|(deepest, _, _)| deepest <= depth) {
                (self.passed_on, self.inner) = (true, Some((depth + 1, status, field)));
            }
        }
        self.scratch = words;
        self.spans = spans;
    }

    /// Codes that stand in a message: in front of it, or where botocore and gRPC put them.
    fn codes(&mut self, text: &str, field: Field) {
        let place = Field { key: "code", ..field };
        for code in names::codes_in_front(words::bounded(text)) {
            // What is no exception may be the path of a value.
            if let Some(sign) = self.tables.code_sign(self.speaker, &words::of(code)) {
                // An exception of a limit is only its status in words.
                let firm = names::is_exception(code) && sign != Sign::Rate;
                self.note_as(sign, place, if firm { Strength::Plain } else { Strength::Loose });
            }
        }
        if let Some(code) = spoken::code(words::bounded(text)) {
            self.word(code, place);
        }
    }

    fn read(&mut self, words: &str, spans: &Spans, field: Field) {
        self.wrapped |= words.starts_with("litellm ");
        let (tables, speaker) = (self.tables, self.speaker);
        tables.phrase_signs(speaker, words, spans, |sign, strength| self.note_as(sign, field, strength));
        for (from, to, _) in spans.iter().filter(|(_, _, strength)| *strength == Strength::Code) {
            if let Some(sign) = words.get(*from..*to).and_then(|name| tables.code_sign(speaker, name)) {
                self.note_as(sign, field, Strength::Loose);
            }
        }
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
}

/// Whether the object behind these words may be an argument or a value that somebody complains about: `invalid value
/// {…}`, and not `Error code: 400 - {…}`.
fn is_echoed(before: &str) -> bool {
    let words = before.trim_end_matches(['\'', '"', '`']).trim_end_matches(' ');
    words.ends_with(char::is_alphanumeric) && !words.ends_with(" b") && words != "b"
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
