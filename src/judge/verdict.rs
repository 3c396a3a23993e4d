//! From runs to verdicts: runs are merged in seed order, then judged over variants. One function,
//! [`conclude`], gives the verdict to every output.

use super::expectation::{Expectation, Variants, Verb};
use super::findings::Findings;
use super::laws::{Breach, Law, Laws};
use super::metrics::Metrics;
use super::watch::RunCheck;
use crate::sim::Rest;

/// How one run fared.
#[derive(Clone, Debug)]
pub struct RunVerdict {
    /// Its seed.
    pub seed: u64,
    /// Its entries.
    pub entries: u64,
    /// Whether it came to rest.
    pub rest: Rest,
    /// How the laws fared.
    pub laws: Laws,
    /// What it amounted to.
    pub metrics: Metrics,
    /// What is to be remarked.
    pub findings: Findings,
    /// How the promises fared that speak of its variant.
    pub checks: Vec<RunCheck>,
}

/// How one variant fared, over all its seeds.
#[derive(Clone, Debug)]
pub struct VariantVerdict {
    /// Its position in the file.
    pub variant: u16,
    /// Its name.
    pub name: String,
    /// The laws that it is meant to break.
    pub breaks: Vec<Law>,
    /// Runs so far.
    pub runs: u64,
    /// Entries of all runs.
    pub entries: u64,
    /// The seeds of runs that did not come to rest.
    pub restless: Vec<u64>,
    /// How the laws fared.
    pub laws: Laws,
    /// What the runs amounted to.
    pub metrics: Metrics,
    /// What is to be remarked.
    pub findings: Findings,
    checks: Vec<Merged>,
}

/// One promise, over all seeds of a variant.
#[derive(Clone, Debug)]
struct Merged {
    expectation: usize,
    failed: u64,
    /// The first run that failed, by its seed.
    first: Option<(u64, String)>,
    /// What was measured: each value once, sorted.
    values: Vec<i128>,
}

/// How a check fared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    /// It held wherever it was put to the test.
    Held,
    /// It did not hold.
    Broken,
    /// It was broken where a variant is meant to break it, and held elsewhere.
    BrokenAsDeclared,
    /// A variant is meant to break it and never did.
    NotBroken,
    /// It was never put to the test.
    NotExercised,
}

/// What a check is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// A promise of the scenario, by position.
    Expectation(usize),
    /// A law.
    Law(Law),
    /// That every run came to rest.
    Rest,
}

/// One check of a scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// Its stable name.
    pub name: String,
    /// What it is about.
    pub subject: Subject,
    /// How it fared.
    pub word: Word,
    /// Where and how it failed, or what was broken as declared: sentences.
    pub details: Vec<String>,
}

/// How a scenario fared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// Promises first, in file order, then laws.
    pub checks: Vec<Check>,
}

impl VariantVerdict {
    /// No run yet. `variant` is its position in the file, `breaks` the laws that it is meant to break.
    pub fn new(variant: u16, name: String, breaks: Vec<Law>) -> VariantVerdict {
        VariantVerdict {
            variant,
            name,
            breaks,
            runs: 0,
            entries: 0,
            restless: Vec::new(),
            laws: Laws::default(),
            metrics: Metrics::default(),
            findings: Findings::new(0),
            checks: Vec::new(),
        }
    }

    /// Adds one run. The order of the calls is the order of the seeds.
    pub fn merge(&mut self, run: &RunVerdict) {
        self.runs += 1;
        self.entries += run.entries;
        self.laws.merge(&run.laws);
        self.metrics.merge(&run.metrics);
        self.findings.merge(&run.findings);
        match run.rest {
            Rest::Quiescent => {}
            Rest::Runaway | Rest::Stuck => self.restless.push(run.seed),
        }
        for check in &run.checks {
            self.add(run.seed, check);
        }
    }

    fn add(&mut self, seed: u64, check: &RunCheck) {
        let at = self.checks.iter().position(|merged| merged.expectation == check.expectation);
        let at = at.unwrap_or_else(|| {
            let expectation = check.expectation;
            self.checks.push(Merged { expectation, failed: 0, first: None, values: Vec::new() });
            self.checks.len() - 1
        });
        let merged = &mut self.checks[at];
        if let Some(value) = check.value
            && let Err(place) = merged.values.binary_search(&value)
        {
            merged.values.insert(place, value);
        }
        if let Some(failure) = &check.failure {
            merged.failed += 1;
            merged.first.get_or_insert_with(|| (seed, failure.clone()));
        }
    }

    /// How a law fared in this variant.
    pub fn law(&self, law: Law) -> Word {
        let tally = self.laws.tally(law);
        let is_declared = self.breaks.contains(&law);
        match (tally.exercised, tally.breaches, is_declared) {
            (_, 0, true) => Word::NotBroken,
            (_, _, true) => Word::BrokenAsDeclared,
            (0, _, false) => Word::NotExercised,
            (_, 0, false) => Word::Held,
            (_, _, false) => Word::Broken,
        }
    }

    /// Every different value that was measured for a promise, smallest first.
    pub fn values(&self, expectation: usize) -> &[i128] {
        let merged = self.checks.iter().find(|merged| merged.expectation == expectation);
        merged.map_or(&[], |merged| &merged.values)
    }

    /// What is wrong with a promise in this variant.
    fn failures(&self, at: usize, expectation: &Expectation) -> Vec<String> {
        let name = &self.name;
        let Some(merged) = self.checks.iter().find(|merged| merged.expectation == at) else {
            return vec![format!("variant {name}: it was never looked at")];
        };
        let mut failures = Vec::new();
        if let Some((seed, sentence)) = &merged.first {
            let (failed, runs) = (merged.failed, self.runs);
            failures.push(format!("variant {name}, seed {seed}: {sentence} ({failed} of {runs} runs fail)"));
        }
        if let Verb::First { distinct_at_least, .. } = &expectation.verb
            && (merged.values.len() as u64) < *distinct_at_least
        {
            let (seen, runs) = (merged.values.len(), self.runs);
            failures.push(format!(
                "variant {name}: expected at least {distinct_at_least} different values, saw {seen} in {runs} runs"
            ));
        }
        failures
    }
}

impl Word {
    /// The word in summaries.
    pub const fn label(self) -> &'static str {
        match self {
            Word::Held => "held",
            Word::Broken => "broken",
            Word::BrokenAsDeclared => "broken_as_declared",
            Word::NotBroken => "not_broken_though_declared",
            Word::NotExercised => "not_exercised",
        }
    }

    /// Whether it fails the gate. What was never put to the test neither passes nor fails.
    pub const fn is_failure(self) -> bool {
        match self {
            Word::Broken | Word::NotBroken => true,
            Word::Held | Word::BrokenAsDeclared | Word::NotExercised => false,
        }
    }

    /// Whether it was put to the test and is as it should be.
    pub const fn is_pass(self) -> bool {
        match self {
            Word::Held | Word::BrokenAsDeclared => true,
            Word::Broken | Word::NotBroken | Word::NotExercised => false,
        }
    }
}

impl Verdict {
    /// Whether nothing failed and something was checked: a run without a check is not a pass.
    pub fn is_pass(&self) -> bool {
        !self.checks.iter().any(|check| check.word.is_failure()) && self.has_promises()
    }

    /// Whether the scenario promises anything.
    pub fn has_promises(&self) -> bool {
        self.checks.iter().any(|check| matches!(check.subject, Subject::Expectation(_)))
    }

    /// The checks that failed.
    pub fn failed(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.word.is_failure())
    }
}

/// How a scenario fared: `variants` in file order, each with all its runs.
pub fn conclude(expectations: &[Expectation], variants: &[VariantVerdict]) -> Verdict {
    let promises = expectations.iter().enumerate().map(|(at, promise)| check_promise(at, promise, variants));
    let laws = Law::ALL.into_iter().map(|law| check_law(law, variants));
    Verdict { checks: promises.chain([check_rest(variants)]).chain(laws).collect() }
}

fn check_promise(at: usize, expectation: &Expectation, variants: &[VariantVerdict]) -> Check {
    let details = match &expectation.verb {
        Verb::Change { from, to, .. } => change(expectation, find(variants, *from), find(variants, *to)),
        Verb::Count { .. }
        | Verb::First { .. }
        | Verb::Each { .. }
        | Verb::Order { .. }
        | Verb::Metric { .. } => every_variant(at, expectation, variants),
    };
    let word = if details.is_empty() { Word::Held } else { Word::Broken };
    Check { name: expectation.name.clone(), subject: Subject::Expectation(at), word, details }
}

fn every_variant(at: usize, expectation: &Expectation, variants: &[VariantVerdict]) -> Vec<String> {
    let spoken_of = variants.iter().filter(|variant| expectation.variants.has(variant.variant));
    let details: Vec<Vec<String>> = spoken_of.map(|variant| variant.failures(at, expectation)).collect();
    let named = match &expectation.variants {
        Variants::All => variants.len(),
        Variants::Only(some) => some.len(),
    };
    if details.is_empty() || details.len() < named {
        return vec![format!("it speaks of {named} variants, {} were played", details.len())];
    }
    details.concat()
}

fn find(variants: &[VariantVerdict], at: u16) -> Option<&VariantVerdict> {
    variants.iter().find(|variant| variant.variant == at)
}

fn change(
    expectation: &Expectation,
    from: Option<&VariantVerdict>,
    to: Option<&VariantVerdict>,
) -> Vec<String> {
    let (Verb::Change { metric, of, bounds, .. }, Some(from), Some(to)) = (&expectation.verb, from, to)
    else {
        return vec!["a variant that it compares was not played".to_owned()];
    };
    let value = |variant: &VariantVerdict| {
        variant.metrics.value(*metric, *of).map(|value| i128::try_from(value).unwrap_or(i128::MAX))
    };
    let unit = metric.unit();
    let (Some(before), Some(after)) = (value(from), value(to)) else {
        return vec![format!("{} has nothing to measure in {} or {}", metric.label(), from.name, to.name)];
    };
    if from.runs > 0 && to.runs > 0 && bounds.admit(after - before) {
        return Vec::new();
    }
    vec![format!(
        "expected {} to change by {} from {} to {}, saw {} (from {} to {})",
        metric.label(),
        bounds.words(unit),
        from.name,
        to.name,
        unit.words(after - before),
        unit.words(before),
        unit.words(after),
    )]
}

/// A law must hold in every variant, except in those that are meant to break it: there it must be broken.
fn check_law(law: Law, variants: &[VariantVerdict]) -> Check {
    let words: Vec<Word> = variants.iter().map(|variant| variant.law(law)).collect();
    let worst = [Word::Broken, Word::NotBroken, Word::BrokenAsDeclared, Word::Held];
    let word = worst.into_iter().find(|word| words.contains(word)).unwrap_or(Word::NotExercised);
    let told = |variant: &VariantVerdict| match variant.law(law) {
        Word::BrokenAsDeclared if word != Word::BrokenAsDeclared => Vec::new(), // what was meant hides nothing
        Word::Broken | Word::BrokenAsDeclared => tell(variant, law),
        Word::NotBroken => {
            let name = &variant.name;
            let runs = match variant.runs {
                1 => "its run".to_owned(),
                runs => format!("any of its {runs} runs"),
            };
            vec![format!("variant {name} is meant to break it and did not in {runs}")]
        }
        Word::Held | Word::NotExercised => Vec::new(),
    };
    let details = variants.iter().flat_map(told).collect();
    Check { name: law.name().to_owned(), subject: Subject::Law(law), word, details }
}

fn tell(variant: &VariantVerdict, law: Law) -> Vec<String> {
    let tally = variant.laws.tally(law);
    let sentence = |breach: &Breach| {
        let Breach { seed, seq, at, sentence } = breach;
        format!("variant {}, seed {seed}, entry {seq} at {at}: {sentence}", variant.name)
    };
    let mut details: Vec<String> = tally.first.iter().map(sentence).collect();
    let more = tally.breaches - tally.first.len() as u64;
    if more > 0 {
        details.push(format!("variant {}: {more} more", variant.name));
    }
    details
}

/// Time must pass.
fn check_rest(variants: &[VariantVerdict]) -> Check {
    let details: Vec<String> = variants
        .iter()
        .flat_map(|variant| variant.restless.iter().map(|seed| (&variant.name, seed)))
        .map(|(name, seed)| format!("variant {name}, seed {seed}: it did not come to rest: time stands still, or a request is left that nothing will end"))
        .collect();
    let word = match (details.is_empty(), variants.iter().any(|variant| variant.runs > 0)) {
        (false, _) => Word::Broken,
        (true, true) => Word::Held,
        (true, false) => Word::NotExercised,
    };
    Check { name: "comes_to_rest".to_owned(), subject: Subject::Rest, word, details }
}

#[cfg(test)]
mod tests;
