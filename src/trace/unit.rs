//! What the values of fields are, and how they are read.

use crate::units::Money;

/// What the values of a field are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// One word.
    Word,
    /// Several words joined by `|`, each perhaps with a detail behind a `:`.
    Words,
    /// A whole number.
    Count,
    /// An instant: whole nanoseconds since the scenario began.
    Time,
    /// A length of time: whole nanoseconds.
    Span,
    /// Dollars, as a decimal text; whole pico-USD where a number is wanted.
    Money,
    /// A list of objects with fields of their own.
    List,
}

/// A value of a field, read: a text, or a number in the field's unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// Of a field of [`Unit::Word`] or [`Unit::Words`].
    Text(String),
    /// Of any other field: a count, nanoseconds or pico-USD.
    Number(u64),
}

impl Unit {
    /// What stands around a value in JSON.
    pub(super) const fn quote(self) -> &'static str {
        match self {
            Unit::Word | Unit::Words | Unit::Money => "\"",
            Unit::Count | Unit::Time | Unit::Span | Unit::List => "",
        }
    }

    /// What a value looks like, for messages.
    pub const fn example(self) -> &'static str {
        match self {
            Unit::Word => "a word, such as \"primary\"",
            Unit::Words => "one word, or several joined by `|`",
            Unit::Count => "a whole number, such as 2",
            Unit::Time | Unit::Span => "whole nanoseconds, such as 80000000",
            Unit::Money => "dollars as a text, such as \"0.050\"",
            Unit::List => "a list",
        }
    }
}

pub(super) fn whole(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// Dollars as a decimal text with at most twelve decimals, with or without `$`.
pub(super) fn dollars(text: &str) -> Option<Money> {
    let text = text.strip_prefix('$').unwrap_or(text);
    let (dollars, part) = text.split_once('.').unwrap_or((text, "0"));
    if part.len() > 12 {
        return None;
    }
    let scale = 10_u64.pow(12 - u32::try_from(part.len()).expect("at most twelve digits"));
    let picos = whole(dollars)?.checked_mul(1_000_000_000_000)?.checked_add(whole(part)? * scale)?;
    Some(Money::from_picos(picos))
}
