//! A pattern: an event and what its fields must be, exactly as in `events.jsonl`.

use std::fmt;

use super::field::{Field, Unit, Value};
use super::fields::{Sink, fields};
use super::kind::{CANDIDATE, COMMON, Kind};
use super::roll::Roll;
use super::text::Text;
use crate::sim::{Catalog, Entry};
use crate::units::Money;

/// Matches entries of one kind whose fields have the wanted values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern {
    kind: Kind,
    tests: Vec<Test>,
    candidate: Vec<Test>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Test {
    field: Field,
    wanted: Value,
}

/// A value as it was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given<'a> {
    /// A text.
    Text(&'a str),
    /// A whole number.
    Number(u64),
}

/// Why something is not part of a pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unfit {
    /// There is no such event.
    Event {
        /// The events that there are.
        known: Vec<&'static str>,
    },
    /// The event has no such field.
    Field {
        /// The fields that it has.
        known: Vec<&'static str>,
    },
    /// Such a value the field never has.
    Value {
        /// What its values are.
        unit: Unit,
    },
}

impl Pattern {
    /// Matches every entry of this event.
    ///
    /// # Errors
    /// [`Unfit::Event`] if there is none of that name.
    pub fn of(event: &str) -> Result<Pattern, Unfit> {
        let known = || Kind::ALL.iter().map(|kind| kind.label()).collect();
        let kind = Kind::named(event).ok_or_else(|| Unfit::Event { known: known() })?;
        Ok(Pattern { kind, tests: Vec::new(), candidate: Vec::new() })
    }

    /// Demands that a field is `value`. Where a field has several words, one of them is enough, with or
    /// without its detail; a second demand on a field replaces the first.
    ///
    /// # Errors
    /// [`Unfit::Field`] if the event never has the field, [`Unfit::Value`] if the field never has such a value.
    pub fn demand(&mut self, field: &str, value: Given<'_>) -> Result<(), Unfit> {
        let own = find(self.kind.fields(), field);
        add(&mut self.tests, find(COMMON, field).or(own)?, value)
    }

    /// Demands that one and the same candidate fulfils this and every other demand on a candidate.
    ///
    /// # Errors
    /// As [`Pattern::demand`]; also if the event has no candidates.
    pub fn demand_of_candidate(&mut self, field: &str, value: Given<'_>) -> Result<(), Unfit> {
        find(self.kind.fields(), Field::Candidates.label())?;
        add(&mut self.candidate, find(CANDIDATE, field)?, value)
    }

    /// The field of this event that `name` names, to be measured.
    ///
    /// # Errors
    /// [`Unfit::Field`] if the event never has it as a number.
    pub fn measured(&self, name: &str) -> Result<Field, Unfit> {
        let numbers: Vec<Field> = self
            .kind
            .fields()
            .iter()
            .copied()
            .filter(|field| match field.unit() {
                Unit::Count | Unit::Time | Unit::Span | Unit::Money => true,
                Unit::Word | Unit::Words | Unit::List => false,
            })
            .collect();
        find(&numbers, name)
    }

    /// The kind of entry that it matches.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether `entry` is as demanded. The roll must have noted it. Allocates nothing.
    pub fn matches(&self, entry: &Entry<'_>, roll: &Roll, catalog: &Catalog) -> bool {
        if Kind::of(&entry.what) != self.kind {
            return false;
        }
        if self.tests.is_empty() && self.candidate.is_empty() {
            return true;
        }
        let mut tally = Tally {
            outer: Met { tests: &self.tests, met: 0 },
            inner: Met { tests: &self.candidate, met: 0 },
            place: Place::Outside,
            candidate: if self.candidate.is_empty() { Found::Yes } else { Found::NotYet },
        };
        fields(entry, roll, catalog, &mut tally);
        tally.outer.is_complete() && tally.candidate == Found::Yes
    }
}

/// The number in a field of `entry`: a count, nanoseconds or pico-USD; `None` if it is absent or none. The roll
/// must have noted the entry. Allocates nothing.
pub fn measure(field: Field, entry: &Entry<'_>, roll: &Roll, catalog: &Catalog) -> Option<u64> {
    let mut gauge = Gauge { field, place: Place::Outside, read: None };
    fields(entry, roll, catalog, &mut gauge);
    gauge.read
}

fn find(known: &[Field], label: &str) -> Result<Field, Unfit> {
    let found = known.iter().copied().find(|field| field.label() == label);
    found.ok_or_else(|| Unfit::Field { known: known.iter().map(|field| field.label()).collect() })
}

fn add(tests: &mut Vec<Test>, field: Field, value: Given<'_>) -> Result<(), Unfit> {
    let unit = field.unit();
    let wanted = match (unit, value) {
        (Unit::Word | Unit::Words | Unit::Money, Given::Text(text)) => field.parse(text),
        (Unit::Count | Unit::Time | Unit::Span, Given::Number(n)) => Some(Value::Number(n)),
        (Unit::Word | Unit::Words | Unit::Money | Unit::List, Given::Number(_))
        | (Unit::Count | Unit::Time | Unit::Span | Unit::List, Given::Text(_)) => None,
    };
    let wanted = wanted.ok_or(Unfit::Value { unit })?;
    tests.retain(|test| test.field != field);
    tests.push(Test { field, wanted });
    Ok(())
}

/// Which tests of a list are met: a bit each. No event has 64 fields.
struct Met<'a> {
    tests: &'a [Test],
    met: u64,
}

impl Met<'_> {
    fn see(&mut self, field: Field, is_met: impl Fn(&Value) -> bool) {
        for (at, test) in self.tests.iter().enumerate() {
            if test.field == field && is_met(&test.wanted) {
                self.met |= 1 << at;
            }
        }
    }

    const fn is_complete(&self) -> bool {
        self.met.count_ones() as usize == self.tests.len()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Outside,
    InList,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    NotYet,
    Yes,
}

struct Tally<'a> {
    outer: Met<'a>,
    inner: Met<'a>,
    place: Place,
    candidate: Found,
}

impl Tally<'_> {
    fn see(&mut self, field: Field, is_met: impl Fn(&Value) -> bool) {
        match self.place {
            Place::Outside => self.outer.see(field, is_met),
            Place::InList => self.inner.see(field, is_met),
        }
    }
}

impl Sink for Tally<'_> {
    fn text(&mut self, field: Field, text: Text<'_>) {
        self.see(field, |wanted| match wanted {
            Value::Text(wanted) if field.unit() == Unit::Words => text.has(wanted),
            Value::Text(wanted) => text.is(wanted),
            Value::Number(_) => false,
        });
    }

    fn number(&mut self, field: Field, n: u64) {
        self.see(field, |wanted| *wanted == Value::Number(n));
    }

    fn money(&mut self, field: Field, money: Money) {
        self.number(field, money.picos());
    }

    fn list(&mut self, _: Field) {
        self.place = Place::InList;
    }

    fn open(&mut self) {
        self.inner.met = 0;
    }

    fn close(&mut self) {
        if self.inner.is_complete() {
            self.candidate = Found::Yes;
        }
    }

    fn end(&mut self) {
        self.place = Place::Outside;
    }
}

struct Gauge {
    field: Field,
    place: Place,
    read: Option<u64>,
}

impl Sink for Gauge {
    fn text(&mut self, _: Field, _: Text<'_>) {}

    fn number(&mut self, field: Field, n: u64) {
        if field == self.field && self.place == Place::Outside {
            self.read = Some(n);
        }
    }

    fn money(&mut self, field: Field, money: Money) {
        self.number(field, money.picos());
    }

    fn list(&mut self, _: Field) {
        self.place = Place::InList;
    }

    fn open(&mut self) {}

    fn close(&mut self) {}

    fn end(&mut self) {
        self.place = Place::Outside;
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Event { .. } => f.write_str("there is no such event"),
            Unfit::Field { .. } => f.write_str("the event has no such field"),
            Unfit::Value { unit } => write!(f, "the field is {}", unit.example()),
        }
    }
}

impl std::error::Error for Unfit {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::Observer;
    use crate::trace::samples;

    /// How many entries match, and the last number read.
    struct Search<'a> {
        pattern: &'a Pattern,
        field: Field,
        catalog: Catalog,
        roll: Roll,
        matches: usize,
        read: Option<u64>,
    }

    impl Observer for Search<'_> {
        fn entry(&mut self, entry: &Entry<'_>) {
            self.roll.note(entry);
            if self.pattern.matches(entry, &self.roll, &self.catalog) {
                self.matches += 1;
                self.read = measure(self.field, entry, &self.roll, &self.catalog);
            }
        }
    }

    type Demand<'a> = (&'a str, Given<'a>);
    use Given::{Number, Text as Words};

    fn check(event: &str, demands: &[Demand<'_>], candidate: &[Demand<'_>], matches: usize) -> Option<u64> {
        let mut pattern = Pattern::of(event).unwrap();
        for (field, value) in demands {
            pattern.demand(field, *value).unwrap();
        }
        for (field, value) in candidate {
            pattern.demand_of_candidate(field, *value).unwrap();
        }
        let field = ["left_ns", "spent_usd"].iter().find_map(|name| pattern.measured(name).ok());
        let mut search = Search {
            pattern: &pattern,
            field: field.unwrap_or(Field::Request),
            catalog: samples::catalog(),
            roll: Roll::default(),
            matches: 0,
            read: None,
        };
        samples::bounded(&mut search);
        assert_eq!(search.matches, matches, "{event} {demands:?} {candidate:?}");
        search.roll = Roll::default();
        samples::oddities(&mut search);
        search.read
    }

    #[test]
    fn a_pattern_is_an_event_and_its_fields_as_in_the_file() {
        check("call_ended", &[], &[], 2);
        check("call_ended", &[("call", Words("req-demo-002#2"))], &[], 1);
        check("call_ended", &[("call", Words("req-demo-002#"))], &[], 0);
        check("settled", &[("billed_usd", Words("0.016")), ("route", Words("fallback"))], &[], 1);
        check("settled", &[("billed_usd", Words("0.016")), ("route", Words("primary"))], &[], 0);
        check("retry_scheduled", &[("at_ns", Number(180_000_000))], &[], 1);
        check("arrived", &[("capabilities", Words("json")), ("tenant", Words("tenant-7f3a"))], &[], 1);
        check("arrived", &[("capabilities", Words("tools|json"))], &[], 1);
        check("arrived", &[("capabilities", Words("vision"))], &[], 0);
        check("replied", &[("limit", Words("attempts"))], &[], 0);
    }

    #[test]
    fn any_event_can_be_asked_for_its_layer() {
        let check = |event: &str, layer: &str, matches: usize| {
            let mut pattern = Pattern::of(event).unwrap();
            pattern.demand("layer", Words(layer)).unwrap();
            let (catalog, roll) = (samples::stacked(), Roll::default());
            let mut search =
                Search { pattern: &pattern, field: Field::Request, catalog, roll, matches: 0, read: None };
            samples::stack(&mut search);
            assert_eq!(search.matches, matches, "{event} of {layer}");
        };
        check("replied", "agent", 1);
        check("declared_route", "gateway", 2);
        check("declared_layer", "gateway", 0);
        check("call_ended", "sdk", 1);
        check("call_ended", "nobody", 0);
    }

    #[test]
    fn one_candidate_must_fulfil_all_that_is_demanded_of_a_candidate() {
        let chosen = ("verdict", Words("chosen"));
        check("considered", &[], &[chosen], 2);
        check("considered", &[("chosen", Words("primary"))], &[("route", Words("primary")), chosen], 1);
        check("considered", &[("chosen", Words("fallback"))], &[("route", Words("primary")), chosen], 0);
        check("considered", &[], &[("worst_case_usd", Words("$0.016")), ("by", Words("tries"))], 1);
    }

    #[test]
    fn a_number_is_read_in_the_unit_of_its_field() {
        assert_eq!(check("replied", &[("outcome", Words("answered"))], &[], 1), Some(570_000_000));
        assert_eq!(check("closed", &[], &[], 1), Some(16_000_000_000));
        assert_eq!(check("called", &[], &[], 2), None);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_would() {
        let known = |unfit| match unfit {
            Unfit::Event { known } | Unfit::Field { known } => known,
            Unfit::Value { .. } => Vec::new(),
        };
        assert!(known(Pattern::of("reply").unwrap_err()).contains(&"replied"));
        let mut pattern = Pattern::of("closed").unwrap();
        assert_eq!(known(pattern.demand("spend", Words("x")).unwrap_err()), ["request", "spent_usd"]);
        assert_eq!(known(pattern.measured("request").unwrap_err()), ["spent_usd"]);
        let refused = pattern.demand("spent_usd", Words("a lot")).unwrap_err();
        assert_eq!(refused, Unfit::Value { unit: Unit::Money });
        assert_eq!(pattern.demand("spent_usd", Number(1)).unwrap_err(), Unfit::Value { unit: Unit::Money });
        assert!(matches!(pattern.demand_of_candidate("route", Words("x")), Err(Unfit::Field { .. })));
    }
}
