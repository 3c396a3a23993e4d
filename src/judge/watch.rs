//! How the promises of one variant fare in one run: a few numbers a promise, nothing is kept of the entries.

use super::expectation::{Bounds, Emptiness, Expectation, Measured, Verb};
use super::metrics::{Metric, Metrics, Part, Unit};
use crate::sim::{Catalog, Entry};
use crate::trace::{Kind, Pattern, Roll, measure};
use crate::units::Timestamp;

/// Every promise of one variant, in one run.
#[derive(Clone, Debug)]
pub(super) struct Watch<'a> {
    catalog: &'a Catalog,
    roll: Roll,
    eyes: Vec<Eye<'a>>,
    /// For each kind of entry the eyes that look for it; empty if no promise speaks of entries.
    lookouts: Vec<Vec<usize>>,
}

/// One promise, and what was seen of it.
#[derive(Clone, Debug)]
struct Eye<'a> {
    /// Its position among all promises.
    at: usize,
    verb: &'a Verb,
    /// Entries that matched; of an order, the patterns that did.
    matches: u64,
    first: Option<Sight>,
    /// The first that was not as it must be.
    failed: Option<Sight>,
}

/// An entry, and what was measured in it.
#[derive(Clone, Copy, Debug)]
struct Sight {
    seq: u64,
    at: Timestamp,
    value: Option<i128>,
}

/// How one promise fared in one run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunCheck {
    /// Its position among all promises.
    pub expectation: usize,
    /// What was measured, if anything was.
    pub value: Option<i128>,
    /// What is wrong, as a sentence; `None` if it was kept.
    pub failure: Option<String>,
}

impl<'a> Watch<'a> {
    /// Watches for the promises that speak of `variant`.
    pub(super) fn new(catalog: &'a Catalog, expectations: &'a [Expectation], variant: u16) -> Watch<'a> {
        let eyes: Vec<Eye<'a>> = expectations
            .iter()
            .enumerate()
            .filter(|(_, expectation)| expectation.variants.has(variant) && expectation.verb.is_of_a_run())
            .map(|(at, expectation)| Eye {
                at,
                verb: &expectation.verb,
                matches: 0,
                first: None,
                failed: None,
            })
            .collect();
        Watch { catalog, roll: Roll::default(), lookouts: lookouts(&eyes), eyes }
    }

    /// Whether no promise speaks of entries.
    pub(super) fn is_blind(&self) -> bool {
        self.lookouts.is_empty()
    }

    /// Looks at one entry.
    pub(super) fn look(&mut self, entry: &Entry<'_>) {
        if self.is_blind() {
            return;
        }
        self.roll.note(entry);
        let kind = Kind::of(&entry.what);
        for at in &self.lookouts[kind as usize] {
            self.eyes[*at].look(kind, entry, &self.roll, self.catalog);
        }
    }

    /// The run is over: how each promise fared.
    pub(super) fn finish(self, metrics: &Metrics) -> Vec<RunCheck> {
        self.eyes.iter().map(|eye| eye.finish(metrics)).collect()
    }
}

/// For each kind of entry the eyes that look for it.
fn lookouts(eyes: &[Eye<'_>]) -> Vec<Vec<usize>> {
    let looking = |kind: Kind| -> Vec<usize> {
        (0..eyes.len()).filter(|at| eyes[*at].patterns().iter().any(|p| p.kind() == kind)).collect()
    };
    if eyes.iter().all(|eye| eye.patterns().is_empty()) {
        return Vec::new();
    }
    Kind::ALL.iter().map(|kind| looking(*kind)).collect()
}

impl Eye<'_> {
    /// The entries that it looks for.
    fn patterns(&self) -> &[Pattern] {
        match self.verb {
            Verb::Count { pattern, .. } | Verb::First { pattern, .. } | Verb::Each { pattern, .. } => {
                std::slice::from_ref(pattern)
            }
            Verb::Order { patterns } => patterns,
            Verb::Metric { .. } | Verb::Change { .. } => &[],
        }
    }

    fn look(&mut self, kind: Kind, entry: &Entry<'_>, roll: &Roll, catalog: &Catalog) {
        let matches = |pattern: &Pattern| pattern.kind() == kind && pattern.matches(entry, roll, catalog);
        match self.verb {
            Verb::Count { pattern, .. } => {
                if matches(pattern) {
                    self.see(Sight { seq: entry.seq, at: entry.at, value: None });
                }
            }
            Verb::First { pattern, measured, .. } => {
                if self.first.is_none() && matches(pattern) {
                    self.see(sight(*measured, entry, roll, catalog));
                }
            }
            Verb::Each { pattern, measured, bounds, .. } => {
                if matches(pattern) {
                    let sight = sight(*measured, entry, roll, catalog);
                    let is_right =
                        *measured == Measured::Presence || sight.value.is_some_and(|n| bounds.admit(n));
                    if !is_right {
                        self.failed.get_or_insert(sight);
                    }
                    self.see(sight);
                }
            }
            Verb::Order { patterns } => {
                if patterns.get(self.matches as usize).is_some_and(matches) {
                    self.see(Sight { seq: entry.seq, at: entry.at, value: None });
                }
            }
            Verb::Metric { .. } | Verb::Change { .. } => {}
        }
    }

    fn see(&mut self, sight: Sight) {
        self.matches += 1;
        self.first.get_or_insert(sight);
    }

    fn finish(&self, metrics: &Metrics) -> RunCheck {
        let (value, failure) = match self.verb {
            Verb::Count { pattern, bounds } => self.count(pattern, bounds),
            Verb::First { pattern, measured, bounds, .. } => self.first(pattern, *measured, bounds),
            Verb::Each { pattern, measured, bounds, emptiness } => {
                (None, self.each(pattern, *measured, bounds, *emptiness))
            }
            Verb::Order { patterns } => (None, self.order(patterns)),
            Verb::Metric { metric, of, bounds } => gauge(metrics, *metric, *of, bounds),
            Verb::Change { .. } => (None, None),
        };
        RunCheck { expectation: self.at, value, failure }
    }

    fn count(&self, pattern: &Pattern, bounds: &Bounds) -> (Option<i128>, Option<String>) {
        let n = i128::from(self.matches);
        let failure = (!bounds.admit(n)).then(|| {
            let (event, wanted) = (pattern.kind().label(), bounds.words(Unit::Count));
            let place = self.first.map_or(String::new(), |first| format!("; the first is {}", first.place()));
            format!("expected {wanted} matching {event}, saw {n}{place}")
        });
        (Some(n), failure)
    }

    fn first(
        &self,
        pattern: &Pattern,
        measured: Measured,
        bounds: &Bounds,
    ) -> (Option<i128>, Option<String>) {
        let event = pattern.kind().label();
        let Some(first) = self.first else {
            return (None, Some(format!("expected a matching {event}, saw none")));
        };
        let is_right = measured == Measured::Presence || first.value.is_some_and(|n| bounds.admit(n));
        let failure = (!is_right).then(|| first.wrong(event, measured, bounds));
        (first.value, failure)
    }

    fn each(
        &self,
        pattern: &Pattern,
        measured: Measured,
        bounds: &Bounds,
        emptiness: Emptiness,
    ) -> Option<String> {
        let event = pattern.kind().label();
        match (self.failed, self.matches, emptiness) {
            (Some(sight), _, _) => Some(sight.wrong(event, measured, bounds)),
            (None, 0, Emptiness::Fails) => Some(format!("expected at least one matching {event}, saw none")),
            (None, _, _) => None,
        }
    }

    fn order(&self, patterns: &[Pattern]) -> Option<String> {
        let missing = patterns.get(self.matches as usize)?;
        Some(format!(
            "expected {} entries in order, saw {}: a matching {} did not follow",
            patterns.len(),
            self.matches,
            missing.kind().label()
        ))
    }
}

impl Sight {
    fn place(&self) -> String {
        format!("entry {} at {}", self.seq, self.at)
    }

    fn wrong(&self, event: &str, measured: Measured, bounds: &Bounds) -> String {
        let (what, unit) = (measured.label(), measured.unit());
        let saw = self.value.map_or_else(|| "none".to_owned(), |value| unit.words(value));
        format!("expected {what} of {event} to be {}, saw {saw} in {}", bounds.words(unit), self.place())
    }
}

fn sight(measured: Measured, entry: &Entry<'_>, roll: &Roll, catalog: &Catalog) -> Sight {
    let value = match measured {
        Measured::Presence => None,
        Measured::Time => Some(i128::from(entry.at.nanos())),
        Measured::Number(field) => measure(field, entry, roll, catalog).map(i128::from),
    };
    Sight { seq: entry.seq, at: entry.at, value }
}

fn gauge(
    metrics: &Metrics,
    metric: Metric,
    of: Option<Part>,
    bounds: &Bounds,
) -> (Option<i128>, Option<String>) {
    let unit = metric.unit();
    let value = metrics.value(metric, of).map(|value| i128::try_from(value).unwrap_or(i128::MAX));
    let failure = (!value.is_some_and(|n| bounds.admit(n))).then(|| {
        let saw = value.map_or_else(|| "nothing to measure".to_owned(), |value| unit.words(value));
        format!("expected {} to be {}, saw {saw}", metric.label(), bounds.words(unit))
    });
    (value, failure)
}
