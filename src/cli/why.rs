//! `faultlab why`: the story of one request, played again or read back from a folder.

use super::args::{Format, WhyArgs};
use super::exit::Exit;
use super::terminal::Terminal;
use super::{Done, Failure, load};
use crate::journal::folder::EVENTS;
use crate::journal::{Audit, Auditor, JournalError, Line, Played, Reader, Record};
use crate::scenario::{Scenario, Variant, did_you_mean};
use crate::sim::{Catalog, SourceKind, run};
use crate::suite::seeds;
use crate::trace::{About, Field, Kind, Plot, Story};
use anyhow::anyhow;
use std::collections::BTreeSet;
use std::path::Path;

/// The file as it stands, among its variants.
const BASE: &str = "base";

/// What was found of a request.
struct Found {
    variant: String,
    /// `scenario variant, seed n`.
    place: String,
    story: Vec<String>,
    record: Option<Record>,
}

pub(super) fn why(args: &WhyArgs, terminal: &Terminal) -> Done {
    let found = match &args.from {
        Some(folder) => read(args, folder)?,
        None => replay(args, terminal)?,
    };
    match (args.format, found.record) {
        (Format::Human, _) => {
            terminal.say(&format!("{}\n{}\n", found.place, found.story.join("\n")))?;
        }
        (Format::Json, Some(record)) => terminal.say(&String::from_utf8_lossy(&record.to_json()))?,
        (Format::Json | Format::Quiet, _) => {}
    }
    Ok(Exit::Held)
}

/// Plays the run that has the request, before a story and an auditor.
fn replay(args: &WhyArgs, terminal: &Terminal) -> Result<Found, Failure> {
    let wanted: Vec<String> = args.scenario.iter().cloned().collect();
    let (scenarios, _) = load::scenarios(&wanted, terminal)?;
    let all = || scenarios.iter().flat_map(|one| one.variants.iter().map(move |variant| (one, variant)));
    let bases = all().filter(|(_, variant)| variant.name == BASE);
    let others = all().filter(|(_, variant)| variant.name != BASE);
    let (mut known, mut variants) = (Vec::new(), Vec::new());
    for (scenario, variant) in bases.chain(others) {
        let catalog = &variant.setup().catalog;
        let is_there = has(catalog, &args.request);
        if args.variant.as_ref().is_some_and(|name| *name != variant.name) {
            variants.extend(is_there.then_some(variant.name.as_str()));
            continue;
        }
        if is_there {
            return Ok(tell(args, scenario, variant));
        }
        known.extend(catalog.sources.iter().map(|source| catalog.names.text(source.name).to_owned()));
    }
    Err(unknown(args, &known, &variants))
}

fn has(catalog: &Catalog, request: &str) -> bool {
    has_source(catalog, request) || led_by(catalog, request).is_some_and(|root| has_source(catalog, root))
}

/// The caller's request that led to this one of a layer below: `ask` to `ask/sdk/2`.
fn led_by<'r>(catalog: &Catalog, request: &'r str) -> Option<&'r str> {
    let (rest, _) = request.rsplit_once('/')?;
    let (root, layer) = rest.rsplit_once('/')?;
    let is_layer = catalog.stack.names.iter().any(|name| catalog.names.text(*name) == layer);
    is_layer.then_some(root)
}

fn has_source(catalog: &Catalog, request: &str) -> bool {
    catalog.sources.iter().any(|source| {
        let name = catalog.names.text(source.name);
        match source.kind {
            SourceKind::Listed => name == request,
            SourceKind::Step { job, .. } => {
                let kind = catalog.names.text(catalog.tasks[usize::from(job)].name);
                let rest = request.strip_prefix(kind).and_then(|rest| rest.strip_prefix('/'));
                rest.and_then(|rest| rest.split('/').nth(1)) == Some(name)
            }
            SourceKind::Stream => request.rsplit_once('/').is_some_and(|(source, _)| source == name),
        }
    })
}

fn tell(args: &WhyArgs, scenario: &Scenario, variant: &Variant) -> Found {
    let seed = args.seed.unwrap_or_else(|| seeds(variant, None)[0]);
    let setup = variant.setup_for(seed);
    let place = place(&scenario.name, &variant.name, seed);
    let story = Story::new(&setup.catalog, About::Request(args.request.clone()));
    let mut watching = (story, Auditor::new(&setup.catalog, &place, &args.request));
    run(&setup, &mut watching);
    let (variant, story) = (variant.name.clone(), watching.0.lines().to_vec());
    Found { variant, place, story, record: watching.1.finish() }
}

fn place(scenario: &str, variant: &str, seed: u64) -> String {
    format!("{scenario}, variant {variant}, seed {seed}")
}

/// Reads the run that has the request from a folder: as in a replay, a `base` comes before other variants.
fn read(args: &WhyArgs, folder: &Path) -> Result<Found, Failure> {
    let invalid = Failure::with::<JournalError>(Exit::Invalid);
    let path = if folder.is_dir() { folder.join(EVENTS) } else { folder.to_owned() };
    let reader = Reader::open(&path).map_err(&invalid)?;
    let mut current: Option<(Played, Plot, Audit)> = None;
    let mut best: Option<Found> = None;
    for line in reader {
        match line.map_err(&invalid)? {
            Line::Header(played) => {
                best = better(best, current.take().and_then(finished));
                if best.as_ref().is_some_and(|best| best.variant == BASE) {
                    break;
                }
                let place = place(&played.scenario, &played.variant, played.seed);
                let is_wanted = args.variant.as_ref().is_none_or(|name| *name == played.variant)
                    && args.seed.is_none_or(|seed| seed == played.seed);
                let plot = Plot::new(About::Request(args.request.clone()));
                current = is_wanted.then(|| (played, plot, Audit::new(&place, &args.request)));
            }
            Line::Entry(reading) => {
                if let Some((_, plot, audit)) = &mut current {
                    plot.take(&reading);
                    audit.take(&reading);
                }
            }
        }
    }
    better(best, current.take().and_then(finished)).ok_or_else(|| untold(args, &path))
}

/// Nothing is told of the request: what may have been meant, or why that may be.
fn untold(args: &WhyArgs, path: &Path) -> Failure {
    let (mut requests, mut variants) = (BTreeSet::new(), BTreeSet::new());
    for line in Reader::open(path).into_iter().flatten().flatten() {
        match line {
            Line::Header(played) => _ = variants.insert(played.variant),
            Line::Entry(reading) if reading.kind == Kind::Arrived => {
                requests.extend(reading.values.text(Field::Request).map(str::to_owned));
            }
            Line::Entry(_) => {}
        }
    }
    let near = |word: &str, known: &BTreeSet<String>| did_you_mean(word, known.iter().map(String::as_str));
    let other = args.variant.as_ref().filter(|name| !variants.contains(*name));
    let hint = match other {
        Some(variant) => near(variant, &variants),
        None if requests.contains(&args.request) => None,
        None => near(&args.request, &requests),
    };
    let place = other.map_or_else(String::new, |name| format!(" in a variant `{name}`"));
    let text = format!(
        "{} tells nothing of a request `{}`{place}; {}",
        path.display(),
        args.request,
        hint.as_deref().unwrap_or("was it written with --events full?")
    );
    Failure::new(Exit::Nothing, anyhow!(text))
}

/// A run that knows the request has a record of it.
fn finished((played, plot, audit): (Played, Plot, Audit)) -> Option<Found> {
    let record = audit.finish()?;
    let place = place(&played.scenario, &played.variant, played.seed);
    Some(Found { variant: played.variant, place, story: plot.lines().to_vec(), record: Some(record) })
}

/// The first `base`, or else the first.
fn better(best: Option<Found>, found: Option<Found>) -> Option<Found> {
    match (best, found) {
        (Some(best), Some(found)) if best.variant != BASE && found.variant == BASE => Some(found),
        (best, found) => best.or(found),
    }
}

/// Nothing was found: of these requests, or else in the variant that was asked for but in these.
fn unknown(args: &WhyArgs, known: &[String], variants: &[&str]) -> Failure {
    let (request, variant) = (&args.request, args.variant.as_deref());
    let elsewhere = variant.and_then(|variant| did_you_mean(variant, variants.iter().copied()));
    let hint = elsewhere.or_else(|| did_you_mean(request, known.iter().map(String::as_str)));
    let hint = hint.map_or_else(String::new, |guess| format!("; {guess}"));
    let place = variant.map_or_else(String::new, |name| format!(" in a variant `{name}`"));
    Failure::new(Exit::Usage, anyhow!("no scenario has a request `{request}`{place}{hint}"))
}
