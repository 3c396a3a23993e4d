//! Patterns of expectations. A word in a pattern must be one that the field can have: a misspelt route in a
//! `never` would otherwise be a promise that is always kept.

use super::Variant;
use super::findings::{About, Shape};
use super::form::Form;
use super::problems::instead_of;
use super::quantity::{DURATION, Kind};
use super::tree::{Node, Value, Word};
use super::vocabulary::{Vocabulary, vocabulary};
use crate::trace::{Field, Given, Kind as Event, Pattern, Unfit, Unit};

/// The pattern of `key`, if it is there and makes sense.
pub(super) fn pattern(f: &mut Form<'_, '_>, about: About, within: &[&Variant]) -> Option<Pattern> {
    f.custom(about, ("an event and what its fields must be", Shape::Pattern), |f, node| {
        one(f, about.key, node, within)
    })
}

/// The patterns of `key`.
pub(super) fn patterns(f: &mut Form<'_, '_>, about: About, within: &[&Variant]) -> Option<Vec<Pattern>> {
    f.custom(about, ("a list of events and what their fields must be", Shape::Patterns), |f, node| {
        let list = f.list(about.key, node)?;
        if list.len() < 2 {
            f.problem(&node.span, "an order is of two events or more", None);
        }
        list.iter().map(|node| one(f, about.key, node, within)).collect()
    })
}

fn one(f: &mut Form<'_, '_>, key: &str, node: &Node, within: &[&Variant]) -> Option<Pattern> {
    f.within(key, node, |f| {
        let event = f.required_text(super::findings::about("event", "The event."))?;
        let mut pattern = match Pattern::of(&event.text) {
            Ok(pattern) => pattern,
            Err(Unfit::Event { known }) => {
                f.unknown("event", &event, known.iter().copied());
                f.rest();
                return None;
            }
            Err(Unfit::Field { .. } | Unfit::Value { .. }) => return None,
        };
        let is_list = |field: &Field| field.unit() == Unit::List;
        if pattern.kind().fields().iter().any(is_list)
            && let Some(node) = f.node("candidate")
        {
            f.within("candidate", node, |f| {
                for (key, node) in f.rest() {
                    demand(f, &mut pattern, Place::Candidate, key, node, within);
                }
            });
        }
        for (key, node) in f.rest() {
            demand(f, &mut pattern, Place::Entry, key, node, within);
        }
        Some(pattern)
    })
    .flatten()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Entry,
    Candidate,
}

fn demand(
    f: &mut Form<'_, '_>,
    pattern: &mut Pattern,
    place: Place,
    key: &Word,
    node: &Node,
    within: &[&Variant],
) {
    let field = Field::named(&key.text);
    let event = pattern.kind();
    if let (Some(field), Value::Text(text)) = (field, &node.value) {
        let word = if field == Field::Reasons { text.split(':').next().unwrap_or(text) } else { text };
        check_word(f, event, field, &Word { text: word.to_owned(), span: node.span.clone() }, within);
    }
    let span_in_nanos = field.filter(|field| matches!(field.unit(), Unit::Time | Unit::Span));
    let given = match (&node.value, span_in_nanos) {
        (Value::Text(_), Some(_)) => match f.quantity(&key.text, node, &NANOS) {
            Some(nanos) => Given::Number(nanos),
            None => return,
        },
        (Value::Text(text), None) => Given::Text(text),
        (Value::Whole(number), _) if u64::try_from(*number).is_ok() => {
            Given::Number(u64::try_from(*number).unwrap_or(u64::MAX))
        }
        (Value::Whole(_) | Value::Switch(_) | Value::List(_) | Value::Table(_) | Value::Other(_), _) => {
            let text = format!("`{}` wants a text or a whole number from 0, not {}", key.text, node.kind());
            f.problem(&node.span, text, None);
            return;
        }
    };
    let result = match place {
        Place::Entry => pattern.demand(&key.text, given),
        Place::Candidate => pattern.demand_of_candidate(&key.text, given),
    };
    if let Err(unfit) = result {
        tell(f, event, place, &unfit, key, node);
    }
}

const NANOS: Kind<u64> = Kind {
    wants: "a time with its unit, or whole nanoseconds",
    example: DURATION.example,
    written: DURATION.written,
    parse: |text| (DURATION.parse)(text).map(|length| length.nanos()),
};

fn tell(f: &mut Form<'_, '_>, event: Event, place: Place, unfit: &Unfit, key: &Word, node: &Node) {
    let owner = match place {
        Place::Entry => format!("the event `{}`", event.label()),
        Place::Candidate => format!("a candidate of `{}`", event.label()),
    };
    match unfit {
        Unfit::Field { known } => {
            let help = instead_of(&key.text, known.iter().copied());
            f.problem(&key.span, format!("{owner} has no field `{}`", key.text), help);
        }
        Unfit::Value { unit } => {
            let text = format!("`{}` never has such a value", key.text);
            f.problem(&node.span, text, Some(format!("it is {}", unit.example())));
        }
        Unfit::Event { .. } => {}
    }
}

/// A word must be one that the field can have in one of the variants.
fn check_word(f: &mut Form<'_, '_>, event: Event, field: Field, word: &Word, within: &[&Variant]) {
    let catalogs = within.iter().map(|variant| &variant.setup.catalog);
    let (known, is_known) = match vocabulary(event, field) {
        Vocabulary::Any => return,
        Vocabulary::Words(words) => {
            let is_known = words.contains(&word.text.as_str());
            (words.into_iter().map(str::to_owned).collect::<Vec<_>>(), is_known)
        }
        Vocabulary::Names(list) => {
            let each = catalogs.flat_map(super::vocabulary::of_all_layers);
            let mut known: Vec<String> =
                each.flat_map(|catalog| list(catalog).into_iter().map(str::to_owned)).collect();
            known.sort_unstable();
            known.dedup();
            let is_known = known.contains(&word.text);
            (known, is_known)
        }
        Vocabulary::Requests => {
            let is_known = catalogs.clone().any(|catalog| super::vocabulary::is_request(catalog, &word.text));
            let known = catalogs.flat_map(super::vocabulary::sources).collect();
            (known, is_known)
        }
        Vocabulary::Tasks => {
            let is_known = catalogs.clone().any(|catalog| super::vocabulary::is_task(catalog, &word.text));
            let known = catalogs.flat_map(super::vocabulary::tasks).collect();
            (known, is_known)
        }
        Vocabulary::Interned => {
            let mut catalogs = catalogs;
            (Vec::new(), catalogs.any(|catalog| catalog.names.find(&word.text).is_some()))
        }
    };
    if !is_known {
        let help = instead_of(&word.text, known.iter().map(String::as_str));
        let text = format!("`{}` of `{}` is never `{}` here", field.label(), event.label(), word.text);
        f.problem(&word.span, text, help);
    }
}
