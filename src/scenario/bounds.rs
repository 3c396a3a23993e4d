//! What a number must be: `equals`, `at_least`, `at_most`, in the unit of what is measured.

use super::findings::{Shape, about};
use super::form::Form;
use super::quantity::{Complaint, DURATION, Kind, MONEY, Written};
use super::tree::{Node, Value};
use crate::judge::{Bounds, Unit};

/// Whether a bound may be below zero.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// It may not: it bounds an amount.
    Positive,
    /// It may: it bounds a difference.
    Any,
}

/// Reads the bounds.
pub(super) fn bounds(f: &mut Form<'_, '_>, unit: Unit, sign: Sign) -> Bounds {
    let mut bound = |key, doc| {
        let wants = ("a number in the unit of what is measured", Shape::TextOrWhole);
        f.custom(about(key, doc), wants, |f, node| number(f, key, node, unit, sign))
    };
    Bounds {
        equals: bound("equals", "Exactly this."),
        at_least: bound("at_least", "This or more."),
        at_most: bound("at_most", "This or less."),
    }
}

fn number(f: &mut Form<'_, '_>, key: &str, node: &Node, unit: Unit, sign: Sign) -> Option<i128> {
    let (node, negative) = match (sign, unsigned(node)) {
        (Sign::Any, Some(positive)) => (positive, true),
        (Sign::Any | Sign::Positive, _) => (node.clone(), false),
    };
    let size = match unit {
        Unit::Count => f.quantity(key, &node, &LARGE)?,
        Unit::Ratio => f.quantity(key, &node, &THOUSANDTHS)?,
        Unit::Money => i128::from(f.quantity(key, &node, &MONEY)?.picos()),
        Unit::Time => i128::from(f.quantity(key, &node, &DURATION)?.nanos()),
    };
    Some(if negative { -size } else { size })
}

/// The same value without its minus; `None` if it has none.
fn unsigned(node: &Node) -> Option<Node> {
    let value = match &node.value {
        Value::Text(text) => Value::Text(text.trim().strip_prefix('-')?.to_owned()),
        Value::Whole(number) if *number < 0 => Value::Whole(number.checked_neg()?),
        Value::Whole(_) | Value::Switch(_) | Value::List(_) | Value::Table(_) | Value::Other(_) => {
            return None;
        }
    };
    Some(Node { span: node.span.clone(), value })
}

const LARGE: Kind<i128> = Kind {
    wants: "a whole number",
    example: "2",
    written: Written::Whole,
    parse: |text| (super::quantity::LARGE_COUNT.parse)(text).map(i128::from),
};

const THOUSANDTHS: Kind<i128> =
    Kind { wants: "a ratio", example: "\"2.9\" or \"97.5 %\"", written: Written::Either, parse: thousandths };

fn thousandths(text: &str) -> Result<i128, Complaint> {
    super::quantity::ratio(text, "a ratio").map(|ratio| i128::from(ratio.of(1000)))
}
