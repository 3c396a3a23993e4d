//! An entry, read: its fields with their values, from the run itself or from a file.

use super::field::{Field, Unit, Value};
use super::fields::{Sink, fields};
use super::kind::Kind;
use super::roll::Roll;
use super::text::Text;
use crate::sim::{Catalog, Entry};
use crate::units::{Duration, Money, Timestamp};

/// An entry, read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reading {
    /// Its number.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// The number of what caused it.
    pub cause: Option<u64>,
    /// What kind it is.
    pub kind: Kind,
    /// Its fields, in order.
    pub values: Values,
    /// The candidates of [`Kind::Considered`], in order.
    pub candidates: Vec<Values>,
}

/// Fields with their values, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Values(pub Vec<(Field, Value)>);

impl Reading {
    /// What `entry` says. The roll must have noted it.
    pub fn of(entry: &Entry<'_>, roll: &Roll, catalog: &Catalog) -> Reading {
        let mut notes = Notes::default();
        fields(entry, roll, catalog, &mut notes);
        Reading {
            seq: entry.seq,
            at: entry.at,
            cause: entry.cause,
            kind: Kind::of(&entry.what),
            values: notes.outer,
            candidates: notes.candidates,
        }
    }
}

impl Values {
    /// The value of `field`, if it is there.
    pub fn get(&self, field: Field) -> Option<&Value> {
        self.0.iter().find(|value| value.0 == field).map(|value| &value.1)
    }

    /// The text of `field`, if it is there and one.
    pub fn text(&self, field: Field) -> Option<&str> {
        match self.get(field)? {
            Value::Text(text) => Some(text),
            Value::Number(_) => None,
        }
    }

    /// The number of `field`, if it is there and one: a count, nanoseconds or pico-USD.
    pub fn number(&self, field: Field) -> Option<u64> {
        match self.get(field)? {
            Value::Text(_) => None,
            Value::Number(n) => Some(*n),
        }
    }

    /// The value of `field` for a reader: seconds or milliseconds, dollars, words joined by `+` (reasons by commas).
    pub fn say(&self, field: Field) -> Option<String> {
        Some(match (self.get(field)?, field.unit()) {
            (Value::Text(text), Unit::Words) if field == Field::Reasons => text.replace('|', ", "),
            (Value::Text(text), Unit::Words) => text.replace('|', "+"),
            (Value::Text(text), _) => text.clone(),
            (Value::Number(n), Unit::Money) => format!("${}", Money::from_picos(*n)),
            (Value::Number(n), Unit::Time | Unit::Span) => spoken(*n),
            (Value::Number(n), Unit::Count | Unit::Word | Unit::Words | Unit::List) => n.to_string(),
        })
    }
}

/// A length of time for a reader: whole seconds as such.
fn spoken(ns: u64) -> String {
    match (ns / 1_000_000_000, ns % 1_000_000_000) {
        (seconds @ 1.., 0) => format!("{seconds} s"),
        (_, _) => Duration::from_nanos(ns).to_string(),
    }
}

#[derive(Default)]
struct Notes {
    outer: Values,
    inner: Option<Values>,
    candidates: Vec<Values>,
}

impl Notes {
    fn put(&mut self, field: Field, value: Value) {
        self.inner.as_mut().unwrap_or(&mut self.outer).0.push((field, value));
    }
}

impl Sink for Notes {
    fn text(&mut self, field: Field, text: Text<'_>) {
        self.put(field, Value::Text(text.to_string()));
    }

    fn number(&mut self, field: Field, n: u64) {
        self.put(field, Value::Number(n));
    }

    fn money(&mut self, field: Field, money: Money) {
        self.put(field, Value::Number(money.picos()));
    }

    fn list(&mut self, _: Field) {}

    fn open(&mut self) {
        self.inner = Some(Values::default());
    }

    fn close(&mut self) {
        self.candidates.extend(self.inner.take());
    }

    fn end(&mut self) {}
}
