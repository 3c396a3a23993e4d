//! What a scenario promises, and how a promise fares: in one run, over the seeds of a variant, over variants.

use super::metrics::{Metric, Part, Unit};
use crate::trace::{Field, Pattern};

/// One promise of a scenario. It holds if every seed of every variant that it speaks of keeps it.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// Its name; the name of its check.
    pub name: String,
    /// The variants that it speaks of.
    pub variants: Variants,
    /// What it promises.
    pub verb: Verb,
}

/// Variants, by position in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Variants {
    /// Every one.
    All,
    /// These.
    Only(Vec<u16>),
}

/// What is promised.
#[derive(Clone, Debug)]
pub enum Verb {
    /// How many entries match.
    Count {
        /// The entries.
        pattern: Pattern,
        /// How many.
        bounds: Bounds,
    },
    /// The first entry that matches: that there is one, and what is measured in it.
    First {
        /// The entries.
        pattern: Pattern,
        /// What is measured.
        measured: Measured,
        /// What it must be.
        bounds: Bounds,
        /// How many different values all seeds of a variant must give; zero is no demand.
        distinct_at_least: u64,
    },
    /// Every entry that matches.
    Each {
        /// The entries.
        pattern: Pattern,
        /// What is measured.
        measured: Measured,
        /// What it must be.
        bounds: Bounds,
        /// Whether there may be no entry at all.
        emptiness: Emptiness,
    },
    /// Entries that come one after the other.
    Order {
        /// The entries, first to last.
        patterns: Vec<Pattern>,
    },
    /// What a run amounts to.
    Metric {
        /// The metric.
        metric: Metric,
        /// Of this part only.
        of: Option<Part>,
        /// What it must be, in its unit.
        bounds: Bounds,
    },
    /// What changes from one variant to another, over all seeds together: `to` minus `from`.
    Change {
        /// The metric.
        metric: Metric,
        /// Of this part only.
        of: Option<Part>,
        /// The variant before.
        from: u16,
        /// The variant after.
        to: u16,
        /// What the difference must be, in the metric's unit.
        bounds: Bounds,
    },
}

/// What is measured in an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measured {
    /// Nothing: that it is there is enough.
    Presence,
    /// When it happened, in nanoseconds.
    Time,
    /// A number in it; see [`Pattern::measured`].
    Number(Field),
}

/// Whether there may be no entry at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Emptiness {
    /// A promise about nothing is not kept.
    Fails,
    /// That is fine too.
    Allowed,
}

/// What a number must be. Nothing set: anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bounds {
    /// Exactly this.
    pub equals: Option<i128>,
    /// This or more.
    pub at_least: Option<i128>,
    /// This or less.
    pub at_most: Option<i128>,
}

impl Variants {
    /// Whether the variant in this position is spoken of.
    pub fn has(&self, variant: u16) -> bool {
        match self {
            Variants::All => true,
            Variants::Only(some) => some.contains(&variant),
        }
    }
}

impl Verb {
    /// The word in scenario files.
    pub const fn label(&self) -> &'static str {
        match self {
            Verb::Count { .. } => "count",
            Verb::First { .. } => "first",
            Verb::Each { .. } => "each",
            Verb::Order { .. } => "order",
            Verb::Metric { .. } => "metric",
            Verb::Change { .. } => "change",
        }
    }

    /// Whether it is kept or not within one run.
    pub const fn is_of_a_run(&self) -> bool {
        match self {
            Verb::Count { .. }
            | Verb::First { .. }
            | Verb::Each { .. }
            | Verb::Order { .. }
            | Verb::Metric { .. } => true,
            Verb::Change { .. } => false,
        }
    }
}

impl Measured {
    /// What its values are counted in.
    pub const fn unit(self) -> Unit {
        match self {
            Measured::Presence => Unit::Count,
            Measured::Time => Unit::Time,
            Measured::Number(field) => match field.unit() {
                crate::trace::Unit::Time | crate::trace::Unit::Span => Unit::Time,
                crate::trace::Unit::Money => Unit::Money,
                crate::trace::Unit::Count
                | crate::trace::Unit::Word
                | crate::trace::Unit::Words
                | crate::trace::Unit::List => Unit::Count,
            },
        }
    }

    /// What it is, for a reader.
    pub const fn label(self) -> &'static str {
        match self {
            Measured::Presence => "the entry",
            Measured::Time => "the time",
            Measured::Number(field) => field.label(),
        }
    }
}

impl Bounds {
    /// Exactly `n`.
    pub const fn equals(n: i128) -> Bounds {
        Bounds { equals: Some(n), at_least: None, at_most: None }
    }

    /// `n` or more.
    pub const fn at_least(n: i128) -> Bounds {
        Bounds { equals: None, at_least: Some(n), at_most: None }
    }

    /// `n` or less.
    pub const fn at_most(n: i128) -> Bounds {
        Bounds { equals: None, at_least: None, at_most: Some(n) }
    }

    /// Whether `n` is as it must be.
    pub fn admit(&self, n: i128) -> bool {
        self.equals.is_none_or(|exact| n == exact)
            && self.at_least.is_none_or(|least| n >= least)
            && self.at_most.is_none_or(|most| n <= most)
    }

    /// `exactly 630 ms`, `at least 2 and at most 5`, `anything`.
    pub fn words(&self, unit: Unit) -> String {
        let parts = [("exactly", self.equals), ("at least", self.at_least), ("at most", self.at_most)];
        let words: Vec<String> = parts
            .into_iter()
            .filter_map(|(word, bound)| bound.map(|n| format!("{word} {}", unit.words(n))))
            .collect();
        if words.is_empty() { "anything".to_owned() } else { words.join(" and ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_inclusive() {
        let two_to_five = Bounds { at_least: Some(2), at_most: Some(5), equals: None };
        let admitted: Vec<i128> = (0..8).filter(|n| two_to_five.admit(*n)).collect();
        assert_eq!(admitted, [2, 3, 4, 5]);
        assert!(Bounds::default().admit(-1) && !Bounds::equals(0).admit(1));
        assert_eq!(two_to_five.words(Unit::Count), "at least 2 and at most 5");
        assert_eq!(Bounds::equals(630_000_000).words(Unit::Time), "exactly 630 ms");
    }
}
