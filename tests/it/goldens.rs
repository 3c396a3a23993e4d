//! What a reader of the suite should see: the story of every variant's first run, and the evidence byte by byte.
//! A golden is reviewed like code: a story that reads differently is a change of behaviour or of wording, a digest
//! that differs alone is a change of what is written down.

use crate::support::{golden, lines_of, read};
use faultlab::journal::{Level, Scope};
use faultlab::scenario::{Scenario, Variant};
use faultlab::sim::{Catalog, Entry, Observer, run};
use faultlab::suite::{Options, embedded, play, seeds, summarise};
use faultlab::trace::{Field, Kind, Reading, Roll, sentence, worded};
use faultlab::units::names::hash;
use std::fmt::Write;

/// A story of more lines than the second is told up to the first: the rest is more of the same, and in the digests.
const LINES_TOLD: usize = 60;
const LINES_MAX: usize = 200;

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
    for variant in &scenario.variants {
        let readings = readings(variant);
        let (declared, told): (Vec<Reading>, Vec<Reading>) =
            readings.into_iter().partition(|reading| is_declared(reading.kind));
        text.push_str(&heading(variant));
        if base.is_empty() {
            base = declared.iter().map(spoken).collect();
            declared.iter().flat_map(worded).for_each(|line| text.push_str(&format!("{line}\n")));
        } else {
            text.push_str(&differences(&base, &declared));
        }
        let lines: Vec<String> = told.iter().flat_map(worded).collect();
        let told = if lines.len() > LINES_MAX { LINES_TOLD } else { lines.len() };
        lines[..told].iter().for_each(|line| text.push_str(&format!("{line}\n")));
        if told < lines.len() {
            let _ = writeln!(text, "{:>19}  … and {} lines more", "", lines.len() - told);
        }
    }
    text
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
