//! What a reader of the suite should see: the story of every variant's first run, and the evidence byte by byte.
//! A golden is reviewed like code: a story that reads differently is a change of behaviour or of wording, a digest
//! that differs alone is a change of what is written down.

use crate::support::{golden, lines_of, read};
use faultlab::journal::{Level, Scope};
use faultlab::judge::{Metric, Metrics};
use faultlab::scenario::{Scenario, Variant};
use faultlab::sim::{Catalog, Entry, Observer, run};
use faultlab::suite::{Options, embedded, play, seeds, summarise};
use faultlab::trace::{Field, Kind, Reading, Roll, sentence, worded};
use faultlab::units::names::hash;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A story of more lines is told by its first and last entries and, between them, by whatever happens for the first
/// time: the rest is more of the same, and in the digests.
const LINES_MAX: usize = 200;
const FIRST_TOLD: usize = 30;
const LAST_TOLD: usize = 10;

#[test]
fn every_variant_has_its_story() {
    for one in embedded() {
        let scenario = read(one.name, one.text);
        golden(&format!("{}-story", one.name), &stories(&scenario));
    }
}

#[test]
fn every_scenario_has_its_summary() {
    for one in embedded() {
        let scenario = read(one.name, one.text);
        let played = play(&scenario, Options { first_seed: None, level: Level::None }, None);
        let summary = summarise(&[(scenario, played)], Scope::Partial);
        golden(&format!("{}-summary", one.name), &String::from_utf8(summary.to_json()).unwrap());
    }
}

/// One number for all bytes that a variant leaves in `events.jsonl`, over all its seeds.
#[test]
fn every_variant_leaves_the_same_bytes() {
    let mut text = String::new();
    for one in embedded() {
        let scenario = read(one.name, one.text);
        for variant in &scenario.variants {
            let written = lines_of(&scenario, variant);
            let lines = written.lines().count();
            let place = format!("{}/{}", one.name, variant.name);
            let _ = writeln!(text, "{place:<44} {lines:>6} lines  {:016x}", hash(&written));
        }
    }
    golden("digests", &text);
}

/// The stories of all variants. What a variant declares like `base` is not told again.
fn stories(scenario: &Scenario) -> String {
    let mut text = format!("{}\n", scenario.title);
    let mut base: Vec<String> = Vec::new();
    let played = play(scenario, Options { first_seed: None, level: Level::None }, None);
    for (variant, amounted) in scenario.variants.iter().zip(&played.variants) {
        let readings = readings(variant);
        let (declared, told): (Vec<Reading>, Vec<Reading>) =
            readings.into_iter().partition(|reading| is_declared(reading.kind));
        text.push_str(&heading(variant));
        text.push_str(&amounts(&amounted.verdict.metrics));
        if base.is_empty() {
            base = declared.iter().map(spoken).collect();
            declared.iter().flat_map(worded).for_each(|line| text.push_str(&format!("{line}\n")));
        } else {
            text.push_str(&differences(&base, &declared));
        }
        text.push_str(&abridged(&told));
    }
    text
}

/// A story, or what a reader needs of a long one.
fn abridged(entries: &[Reading]) -> String {
    let is_long = entries.iter().flat_map(worded).count() > LINES_MAX;
    let (mut text, mut left_out, mut known) = (String::new(), 0, BTreeSet::new());
    for (at, reading) in entries.iter().enumerate() {
        let is_news = known.insert(gist(reading));
        let lines = worded(reading);
        if is_long && !is_news && (FIRST_TOLD..entries.len() - LAST_TOLD).contains(&at) {
            left_out += lines.len();
            continue;
        }
        if left_out > 0 {
            let lines = if left_out == 1 { "line" } else { "lines" };
            let _ = writeln!(text, "{:>19}  … {left_out} {lines}", "");
            left_out = 0;
        }
        lines.iter().for_each(|line| text.push_str(&format!("{line}\n")));
    }
    text
}

/// What makes an entry like another: what happened, and how, but not to whom.
fn gist(reading: &Reading) -> (Kind, [Option<String>; 10]) {
    let how = [
        Field::Layer,
        Field::Chosen,
        Field::Role,
        Field::Result,
        Field::Outcome,
        Field::Class,
        Field::Fuse,
        Field::Level,
        Field::To,
        Field::State,
    ];
    (reading.kind, how.map(|field| reading.values.text(field).map(str::to_owned)))
}

/// What all runs of a variant amounted to, in one line.
fn amounts(metrics: &Metrics) -> String {
    let value = |metric: Metric| {
        let value = metrics.value(metric, None).unwrap_or_default();
        metric.unit().words(i128::try_from(value).unwrap())
    };
    let [answered, asked, calls, cost] =
        [Metric::Answered, Metric::Requests, Metric::Attempts, Metric::Cost].map(value);
    format!("   ({answered} of {asked} answered, {calls} calls, {cost})\n")
}

fn heading(variant: &Variant) -> String {
    let seeds = seeds(variant, None);
    let mut text = format!("\n== {}", variant.name);
    if let Some(title) = &variant.title {
        let _ = write!(text, ": {title}");
    }
    text.push('\n');
    if let [first, .., last] = seeds[..] {
        let _ = writeln!(text, "   (seed {first} of {first} to {last})");
    }
    if !variant.breaks.is_empty() {
        let names: Vec<&str> = variant.breaks.iter().map(|law| law.name()).collect();
        let _ = writeln!(text, "   (must break {})", names.join(", "));
    }
    text
}

fn differences(base: &[String], declared: &[Reading]) -> String {
    let mut text = String::new();
    let gone = base.iter().filter(|said| {
        let subject = subject(said);
        !declared.iter().any(|reading| spoken(reading).starts_with(subject))
    });
    for said in gone {
        let _ = writeln!(text, "{:>19}  without {}", "", subject(said));
    }
    for line in declared.iter().filter(|reading| !base.contains(&spoken(reading))).flat_map(worded) {
        let _ = writeln!(text, "{line}");
    }
    if text.is_empty() { String::new() } else { format!("{:>19}  declared as in base, but:\n{text}", "") }
}

/// What is declared, of the layer if there are several.
fn spoken(reading: &Reading) -> String {
    let layer = reading.values.text(Field::Layer).map_or(String::new(), |layer| format!("{layer}: "));
    format!("{layer}{}", sentence(reading))
}

/// `route primary` of `route primary: …`.
fn subject(said: &str) -> &str {
    let words: Vec<&str> = said.splitn(3, ' ').collect();
    said[..words[0].len() + 1 + words[1].len()].trim_end_matches(':')
}

fn readings(variant: &Variant) -> Vec<Reading> {
    let setup = variant.setup_for(seeds(variant, None)[0]);
    let mut readings = Readings { catalog: &setup.catalog, roll: Roll::default(), list: Vec::new() };
    run(&setup, &mut readings);
    readings.list
}

fn is_declared(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::DeclaredLayer
            | Kind::DeclaredLimits
            | Kind::DeclaredBreaker
            | Kind::DeclaredTenant
            | Kind::DeclaredTask
            | Kind::DeclaredRoute
    )
}

/// Reads every entry.
struct Readings<'a> {
    catalog: &'a Catalog,
    roll: Roll,
    list: Vec<Reading>,
}

impl Observer for Readings<'_> {
    fn entry(&mut self, entry: &Entry<'_>) {
        self.roll.note(entry);
        self.list.push(Reading::of(entry, &self.roll, self.catalog));
    }
}
