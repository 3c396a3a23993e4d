//! `[[variant]]`: the file with something else. What a variant states is laid over the file before it is read,
//! so a variant can override anything, by name; its own problems point to its own lines.

use super::form::{Findings, Form, about};
use super::quantity::SEEDS;
use super::tree::{Table, Word};
use super::{Base, Header, Variant, lower};
use crate::judge::Law;
use std::ops::RangeInclusive;

/// What a variant says about itself, and what it overrides.
pub(super) struct Heading {
    name: Word,
    title: Option<String>,
    seeds: Option<RangeInclusive<u64>>,
    breaks: Vec<Law>,
    overrides: Table,
    without: Vec<Word>,
}

/// The keys that belong to the file as a whole.
const OF_THE_FILE: [&str; 5] = ["format", "source", "base", "variant", "expect"];

/// Reads what a variant says about itself; everything else overrides.
pub(super) fn variant(f: &mut Form<'_, '_>) -> Option<Heading> {
    let name = f.required_text(about("name", "Its name."));
    let title = f.text(about("title", "What it shows, in one line."));
    let seeds =
        f.optional(about("seeds", "The seeds that it is played with; those of the file by default."), &SEEDS);
    let doc = "The laws that it must break in at least one run, and no other.";
    let breaks = f.texts(about("breaks", doc)).unwrap_or_default();
    let breaks = breaks.iter().filter_map(|word| law(f, word)).collect();
    let doc = "Routes, requests and arrivals of the file, by name, that it does not have.";
    let without = f.texts(about("without", doc)).unwrap_or_default();
    let mut overrides = Table::default();
    for (key, node) in f.rest() {
        if OF_THE_FILE.contains(&key.text.as_str()) {
            let help = Some("state it at the top of the file".to_owned());
            f.problem(&key.span, format!("`{}` belongs to the file, not to a variant", key.text), help);
        } else {
            overrides.entries.push((key.clone(), node.clone()));
        }
    }
    Some(Heading { name: name?, title: title.map(|word| word.text), seeds, breaks, overrides, without })
}

fn law(f: &mut Form<'_, '_>, word: &Word) -> Option<Law> {
    let law = Law::ALL.into_iter().find(|law| law.name() == word.text);
    if law.is_none() {
        f.unknown("law", word, Law::ALL.map(Law::name));
    }
    law
}

/// Reads every variant, `base` first.
pub(super) fn variants(
    world: &Table,
    header: &Header,
    headings: Vec<Option<Heading>>,
    out: &mut Findings,
) -> Vec<Variant> {
    let mut variants = Vec::new();
    if header.base == Base::Played || headings.is_empty() {
        variants.push(Variant {
            name: "base".to_owned(),
            title: None,
            seeds: header.seeds.clone(),
            breaks: Vec::new(),
            setup: lower::setup(world, out),
        });
    }
    for heading in headings.into_iter().flatten() {
        if heading.name.text == "base" || variants.iter().any(|known| known.name == heading.name.text) {
            let text = format!("the name `{}` is taken", heading.name.text);
            out.note(&heading.name.span, text, Some("`base` is the file without overrides".to_owned()));
            continue;
        }
        let reduced = reduced(world, &heading, out);
        variants.push(Variant {
            name: heading.name.text,
            title: heading.title,
            seeds: heading.seeds.unwrap_or_else(|| header.seeds.clone()),
            breaks: heading.breaks,
            setup: lower::setup(&reduced.overlaid(&heading.overrides), out),
        });
    }
    variants
}

/// The world without what the variant does not have.
fn reduced(world: &Table, heading: &Heading, out: &mut Findings) -> Table {
    let mut reduced = world.clone();
    for word in &heading.without {
        if !reduced.remove_named(&word.text) {
            let text =
                format!("there is no route, request or stream of arrivals `{}` to leave out", word.text);
            out.note(&word.span, text, None);
        }
    }
    reduced
}
