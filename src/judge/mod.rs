//! Floor 5: the judge. It sees no gateway and believes none: it watches the trace, recomputes what is true from
//! the world's facts, and says how every law and every promise fared.
//!
//! ```text
//! entries ─▶ Judge (laws, metrics, findings, promises, then the book) ─▶ RunVerdict
//!            RunVerdicts of a variant, in seed order ─▶ VariantVerdict
//!            VariantVerdicts of a scenario ─▶ conclude ─▶ Verdict
//! ```

pub mod book;
mod chamber;
pub mod expectation;
pub mod findings;
pub mod laws;
mod look;
pub mod metrics;
#[cfg(test)]
mod play;
mod stack;
#[cfg(test)]
mod tests;
pub mod verdict;
mod watch;

pub use book::Book;
pub use expectation::{Bounds, Emptiness, Expectation, Measured, Variants, Verb};
pub use findings::{Example, Finding, Findings, Remark};
pub use laws::{Breach, Law, Laws, Tally};
pub use metrics::{Metric, Metrics, Part, Unit};
pub use verdict::{Check, RunVerdict, Subject, VariantVerdict, Verdict, Word, conclude};
pub use watch::RunCheck;

use crate::sim::{Catalog, Claims, Ending, Entry, Observer};
use chamber::Chamber;
use stack::Stack;
use watch::Watch;

/// Judges one run, entry by entry. Allocates only while its tables grow, and for what is broken.
#[derive(Debug)]
pub struct Judge<'a> {
    seed: u64,
    /// Of the innermost gateway, which mostly is the only one.
    own: Chamber<'a>,
    /// The gateways above, if there are any.
    stack: Option<Stack<'a>>,
    watch: Watch<'a>,
    /// Whether nobody but its one chamber looks at entries.
    is_alone: bool,
}

impl<'a> Judge<'a> {
    /// A judge of the run of `variant` (its position in the file) with `seed`. Promises that do not speak of
    /// the variant are left alone.
    pub fn new(catalog: &'a Catalog, expectations: &'a [Expectation], variant: u16, seed: u64) -> Judge<'a> {
        let (stack, watch) = (Stack::new(catalog, seed), Watch::new(catalog, expectations, variant));
        let is_alone = stack.is_none() && watch.is_blind();
        Judge { seed, own: Chamber::new(catalog, seed), stack, watch, is_alone }
    }

    /// The run is over.
    pub fn finish(mut self, ending: &Ending) -> RunVerdict {
        self.own.end();
        if let Some(stack) = self.stack {
            stack.finish(&mut self.own);
        }
        let Chamber { laws, metrics, findings, .. } = self.own;
        RunVerdict {
            seed: self.seed,
            entries: ending.entries,
            rest: ending.rest,
            checks: self.watch.finish(&metrics),
            laws,
            metrics,
            findings,
        }
    }
}

impl Observer for Judge<'_> {
    #[inline(always)]
    fn entry(&mut self, entry: &Entry<'_>) {
        if self.is_alone {
            self.own.look(entry);
        } else {
            self.look_together(*entry);
        }
    }

    #[inline(always)]
    fn claims(&mut self, claims: &Claims<'_>) {
        if self.is_alone {
            self.own.hear(claims);
        } else {
            self.hear_together(*claims);
        }
    }
}

impl Judge<'_> {
    /// Several look at an entry. Taken as a copy: where one chamber looks alone, it need never be put together in memory.
    #[inline(never)]
    fn look_together(&mut self, entry: Entry<'_>) {
        self.watch.look(&entry);
        match &mut self.stack {
            None => self.own.look(&entry),
            Some(stack) => stack.entry(&mut self.own, &entry),
        }
    }

    #[inline(never)]
    fn hear_together(&mut self, claims: Claims<'_>) {
        claims.entries().for_each(|entry| self.look_together(entry));
    }
}
