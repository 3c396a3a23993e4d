//! One scenario, played: its runs, its verdict, its lines.

use crate::gateway::Profile;
use crate::journal::{Events, Level};
use crate::judge::{Judge, Law, RunVerdict, VariantVerdict, Verdict, conclude};
use crate::scenario::{Scenario, Variant};
use crate::sim::{Catalog, Claims, Entry, Observer, Rest, Setup, What, run};
use crate::trace::{Digest, Field, Fingerprint, Header, Lines, Reading, Roll, sentence};
use rayon::prelude::*;

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
    /// What is not at rest at the end of its first run, as sentences.
    pub status: Vec<String>,
}

/// Runs that are played at once and held in memory until they are merged in seed order.
const BATCH: usize = 64;

/// Plays a scenario: every variant, every seed. Runs that the level wants are written to `events` in the order
/// of variants and seeds; what goes wrong there is told when `events` is finished.
pub fn play(scenario: &Scenario, options: Options, mut events: Option<&mut Events>) -> Played {
    let mut variants = Vec::new();
    for (at, variant) in scenario.variants.iter().enumerate() {
        let seeds = seeds(variant, options.first_seed);
        let mut verdict = VariantVerdict::new(at as u16, variant.name.clone(), variant.breaks.clone());
        let (mut digests, mut status) = (Vec::new(), None);
        let mut take = |run: Seen| {
            verdict.merge(&run.verdict);
            digests.push(run.digest);
            status.get_or_insert(run.status);
        };
        match events.as_deref_mut() {
            Some(events) if seeds.len() == 1 && options.level == Level::Full => {
                let play = Play::new(scenario, at, seeds[0]);
                take(play.watch(&mut events.run(&play.header(), &play.setup.catalog)));
            }
            mut events => {
                for batch in seeds.chunks(BATCH) {
                    let level = if events.is_some() { options.level } else { Level::None };
                    let runs: Vec<(Seen, Vec<u8>)> =
                        batch.par_iter().map(|seed| Play::new(scenario, at, *seed).write(level)).collect();
                    for (run, lines) in runs {
                        take(run);
                        if let Some(events) = events.as_deref_mut() {
                            events.append(&lines);
                        }
                    }
                }
            }
        }
        let seeds = (seeds[0], seeds[seeds.len() - 1]);
        let (digest, status) = (Fingerprint::all(digests), status.unwrap_or_default());
        variants.push(PlayedVariant { verdict, seeds, digest, status });
    }
    let verdicts: Vec<VariantVerdict> = variants.iter().map(|variant| variant.verdict.clone()).collect();
    Played { verdict: conclude(&scenario.expectations, &verdicts), variants }
}

/// The seeds that a variant is played with.
pub fn seeds(variant: &Variant, first: Option<u64>) -> Vec<u64> {
    let (start, end) = (*variant.seeds.start(), *variant.seeds.end());
    let from = first.unwrap_or(start);
    (0..=end - start).map(|k| from + k).collect()
}

/// The digest of a variant's policy: of every knob, by name and value, those of profiles where they differ.
pub fn policy_digest(variant: &Variant) -> Fingerprint {
    let (policy, registry) = (&variant.setup().policy, &variant.setup().registry);
    let mut text = format!("{policy:?}{}", variant.dialect);
    let routes = registry.routes.iter().enumerate();
    for (at, route) in routes.filter(|(_, route)| route.profile != Profile::default()) {
        text.push_str(&format!("{at}{:?}", route.profile));
    }
    for approval in &registry.approvals {
        text.push_str(&format!("{approval:?}"));
    }
    for (breaker, config) in &registry.own_breakers {
        text.push_str(&format!("{breaker:?}{config:?}"));
    }
    let setup = variant.setup();
    for (above, fact) in setup.above.iter().zip(&setup.catalog.stack.above) {
        text.push_str(&format!("{:?}{:?}{:?}{:?}", above.policy, fact.deadline, fact.cancel, fact.hears));
    }
    Fingerprint::of(&text)
}

/// One run, about to be played.
struct Play<'s> {
    scenario: &'s Scenario,
    at: usize,
    setup: Setup,
    digest: String,
    policy: String,
}

impl<'s> Play<'s> {
    fn new(scenario: &'s Scenario, at: usize, seed: u64) -> Play<'s> {
        let variant = &scenario.variants[at];
        let digest = format!("{:016x}", scenario.digest);
        Play {
            scenario,
            at,
            setup: variant.setup_for(seed),
            digest,
            policy: policy_digest(variant).to_string(),
        }
    }

    fn header(&self) -> Header<'_> {
        Header {
            faultlab: env!("CARGO_PKG_VERSION"),
            scenario: &self.scenario.name,
            variant: &self.scenario.variants[self.at].name,
            seed: self.setup.seed,
            scenario_digest: &self.digest,
            policy_digest: &self.policy,
        }
    }

    /// Plays it before the judge, and before `other`.
    fn watch(&self, other: &mut impl Observer) -> Seen {
        let catalog = &self.setup.catalog;
        let judge = Judge::new(catalog, &self.scenario.expectations, self.at as u16, self.setup.seed);
        let mut witness = Witness { judge, digest: Digest::new(catalog), at_the_end: None };
        let ending = run(&self.setup, &mut (&mut witness, other));
        Seen {
            verdict: witness.judge.finish(&ending),
            digest: witness.digest.fingerprint(),
            status: witness.at_the_end.unwrap_or_default(),
        }
    }

    /// Plays it, and writes it down if the level wants it.
    fn write(&self, level: Level) -> (Seen, Vec<u8>) {
        let mut scribe = Scribe::new(self);
        let seen = match level {
            Level::Full => self.watch(&mut scribe),
            Level::Failures | Level::None => self.watch(&mut ()),
        };
        let wanted = match level {
            Level::Full => true,
            Level::None => false,
            Level::Failures if self.has_failed(&seen.verdict) => {
                run(&self.setup, &mut scribe);
                true
            }
            Level::Failures => false,
        };
        let lines = if wanted { scribe.lines.bytes().to_vec() } else { Vec::new() };
        (seen, lines)
    }

    /// Whether this run alone shows that something is wrong.
    fn has_failed(&self, run: &RunVerdict) -> bool {
        let declared = &self.scenario.variants[self.at].breaks;
        let broken = |law: &Law| run.laws.tally(*law).breaches > 0 && !declared.contains(law);
        let unkept = run.checks.iter().any(|check| check.failure.is_some());
        unkept || Law::ALL.iter().any(broken) || run.rest != Rest::Quiescent
    }
}

/// What was seen of a run.
struct Seen {
    verdict: RunVerdict,
    digest: Fingerprint,
    /// What is not at rest at its end.
    status: Vec<String>,
}

/// Judge and digest, and what the gateway shows of itself at the end.
struct Witness<'p> {
    judge: Judge<'p>,
    digest: Digest<'p>,
    /// `None` before the end.
    at_the_end: Option<Vec<String>>,
}

impl Observer for Witness<'_> {
    fn entry(&mut self, entry: &Entry<'_>) {
        self.judge.entry(entry);
        self.digest.entry(entry);
        match (&mut self.at_the_end, entry.what) {
            (None, What::RunEnded) => self.at_the_end = Some(Vec::new()),
            (Some(_), What::RunEnded) => {} // each layer is asked
            (Some(shown), _) => shown.push(remark(&self.digest.read(entry))),
            (None, _) => {}
        }
    }

    fn claims(&mut self, claims: &Claims<'_>) {
        if self.at_the_end.is_some() {
            return claims.show(self);
        }
        self.judge.claims(claims);
        self.digest.claims(claims);
    }
}

/// What `reading` says, and which gateway says it if there are several.
fn remark(reading: &Reading) -> String {
    let layer = reading.values.text(Field::Layer).map_or(String::new(), |layer| format!("{layer}: "));
    format!("{layer}{}", sentence(reading))
}

/// Writes a run down in memory.
struct Scribe<'p> {
    catalog: &'p Catalog,
    roll: Roll,
    lines: Lines,
}

impl<'p> Scribe<'p> {
    fn new(play: &'p Play<'_>) -> Scribe<'p> {
        let mut lines = Lines::new(&play.setup.catalog.names);
        lines.header(&play.header());
        Scribe { catalog: &play.setup.catalog, roll: Roll::default(), lines }
    }
}

impl Observer for Scribe<'_> {
    fn entry(&mut self, entry: &Entry<'_>) {
        self.roll.note(entry);
        self.lines.entry(entry, &self.roll, self.catalog);
    }
}
