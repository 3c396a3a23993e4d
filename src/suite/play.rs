//! One scenario, played: its runs, its verdict, its lines.

use crate::judge::{Judge, RunVerdict, VariantVerdict, Verdict, Word, conclude};
use crate::scenario::{Scenario, Variant};
use crate::sim::{Catalog, Entry, Observer, run};
use crate::trace::{Digest, Fingerprint, Header, Lines, Roll, Story};
use rayon::prelude::*;
use std::ops::ControlFlow;

/// Which runs are written down, entry by entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// None.
    None,
    /// Those in which a check failed: they are played a second time.
    Failures,
    /// All.
    Full,
}

/// How to play.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The first seed; every variant keeps its number of seeds. `None` is as the file says.
    pub first_seed: Option<u64>,
    /// Which runs are written down.
    pub level: Level,
}

/// A scenario that was played.
#[derive(Clone, Debug)]
pub struct Played {
    /// How it fared.
    pub verdict: Verdict,
    /// Its variants, in file order.
    pub variants: Vec<PlayedVariant>,
}

/// A variant that was played.
#[derive(Clone, Debug)]
pub struct PlayedVariant {
    /// How it fared.
    pub verdict: VariantVerdict,
    /// The first and the last seed.
    pub seeds: (u64, u64),
    /// The digest of all entries of all its runs: the same at every level.
    pub digest: Fingerprint,
}

/// Runs that are played at once and held in memory until they are written in order.
const BATCH: usize = 64;

/// Plays a scenario. The lines of each run, if the level wants them, are handed to `write` in the order of
/// variants and seeds; what it breaks with ends the play and is handed back.
///
/// # Errors
/// What `write` broke with.
pub fn play<E>(
    scenario: &Scenario,
    options: Options,
    mut write: impl FnMut(&[u8]) -> ControlFlow<E>,
) -> Result<Played, E> {
    let mut variants = Vec::new();
    for (at, variant) in scenario.variants.iter().enumerate() {
        let seeds = seeds(variant, options.first_seed);
        let mut verdict = VariantVerdict::new(at as u16, variant.name.clone(), variant.breaks.clone());
        let mut digests = Vec::new();
        for batch in seeds.chunks(BATCH) {
            let runs: Vec<Run> =
                batch.par_iter().map(|seed| play_run(scenario, at, *seed, options.level)).collect();
            for run in runs {
                verdict.merge(&run.verdict);
                digests.push(run.digest);
                if let ControlFlow::Break(error) = write(&run.lines) {
                    return Err(error);
                }
            }
        }
        let seeds = (seeds[0], seeds[seeds.len() - 1]);
        variants.push(PlayedVariant { verdict, seeds, digest: Fingerprint::all(digests) });
    }
    let verdicts: Vec<VariantVerdict> = variants.iter().map(|variant| variant.verdict.clone()).collect();
    Ok(Played { verdict: conclude(&scenario.expectations, &verdicts), variants })
}

/// The story of each variant's first run, in file order.
pub fn stories(scenario: &Scenario, options: Options) -> Vec<(String, String)> {
    let mut stories = Vec::new();
    for variant in &scenario.variants {
        let setup = variant.setup_for(seeds(variant, options.first_seed)[0]);
        let mut story = Story::new(&setup.catalog);
        run(&setup, &mut story);
        stories.push((variant.name.clone(), story.into_text()));
    }
    stories
}

fn seeds(variant: &Variant, first: Option<u64>) -> Vec<u64> {
    let (start, end) = (*variant.seeds.start(), *variant.seeds.end());
    let from = first.unwrap_or(start);
    (0..=end - start).map(|k| from.saturating_add(k)).collect()
}

/// One run.
struct Run {
    verdict: RunVerdict,
    digest: Fingerprint,
    lines: Vec<u8>,
}

fn play_run(scenario: &Scenario, at: usize, seed: u64, level: Level) -> Run {
    let variant = &scenario.variants[at];
    let setup = variant.setup_for(seed);
    let judge = || Judge::new(&setup.catalog, &scenario.expectations, at as u16, seed);
    let mut observers = (judge(), Digest::new(&setup.catalog));
    let mut scribe = (level == Level::Full).then(|| Scribe::new(scenario, variant, seed, &setup.catalog));
    let ending = run(&setup, &mut (&mut observers, &mut scribe));
    let (judge, digest) = observers;
    let verdict = judge.finish(&ending);
    if level == Level::Failures && has_failed(&verdict, variant) {
        let scribe = scribe.insert(Scribe::new(scenario, variant, seed, &setup.catalog));
        run(&setup, scribe);
    }
    let lines = scribe.map_or_else(Vec::new, |scribe| scribe.lines.bytes().to_vec());
    Run { verdict, digest: digest.fingerprint(), lines }
}

/// Whether this run alone shows that something is wrong.
fn has_failed(run: &RunVerdict, variant: &Variant) -> bool {
    let broken = |law| run.laws.tally(law).breaches > 0 && !variant.breaks.contains(&law);
    run.checks.iter().any(|check| check.failure.is_some())
        || crate::judge::Law::ALL.into_iter().any(broken)
        || run.rest != crate::sim::Rest::Quiescent
}

/// Writes a run down.
struct Scribe<'c> {
    catalog: &'c Catalog,
    roll: Roll,
    lines: Lines,
}

impl<'c> Scribe<'c> {
    fn new(scenario: &Scenario, variant: &Variant, seed: u64, catalog: &'c Catalog) -> Scribe<'c> {
        let mut lines = Lines::new(&catalog.names);
        lines.header(&Header {
            faultlab: env!("CARGO_PKG_VERSION"),
            scenario: &scenario.name,
            variant: &variant.name,
            seed,
            scenario_digest: &format!("{:016x}", scenario.digest),
            policy_digest: &Fingerprint::of(&format!("{:?}", variant.setup().policy)).to_string(),
        });
        Scribe { catalog, roll: Roll::default(), lines }
    }
}

impl Observer for Scribe<'_> {
    fn entry(&mut self, entry: &Entry<'_>) {
        self.roll.note(entry);
        self.lines.entry(entry, &self.roll, self.catalog);
    }
}

impl Played {
    /// The names of the checks that count: every promise, and one check `laws` for all laws together.
    pub fn checks(&self) -> Vec<(String, Word, Vec<String>)> {
        use crate::judge::Subject;
        let mut checks = Vec::new();
        let mut laws = (Word::NotExercised, Vec::new());
        for check in &self.verdict.checks {
            match check.subject {
                Subject::Expectation(_) => checks.push((check.name.clone(), check.word, check.details.clone())),
                Subject::Law(_) | Subject::Rest => {
                    let told = check.details.iter().map(|detail| format!("{}: {detail}", check.name));
                    if check.word.is_failure() {
                        laws.0 = Word::Broken;
                        laws.1.extend(told);
                    } else if check.word.is_pass() && laws.0 == Word::NotExercised {
                        laws.0 = Word::Held;
                    }
                }
            }
        }
        checks.push(("laws".to_owned(), laws.0, laws.1));
        checks
    }
}
