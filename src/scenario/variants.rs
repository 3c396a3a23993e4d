//! `[[variant]]`: the file with something else. What a variant states is laid over the file before it is read,
//! so a variant can override anything, by name; its own problems point to its own lines.

use super::findings::{Findings, about};
use super::form::Form;
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
    let doc = "The laws that it must break in at least one run, and no other; `comes_to_rest` is a check and no law.";
    let breaks = f.texts(about("breaks", doc)).unwrap_or_default();
    let breaks = breaks.iter().filter_map(|word| law(f, word)).collect();
    let doc = "Routes, layers, requests, arrivals and jobs of the file, by name, that it does not have.";
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
    if word.text == "comes_to_rest" {
        let help = Some("a run that does not come to rest has failed, whatever the variant shows".to_owned());
        f.problem(&word.span, "`comes_to_rest` is a check and no law: it cannot be declared broken", help);
    } else if law.is_none() {
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
        let (setup, dialect) = lower::setup(world, out);
        variants.push(Variant {
            name: "base".to_owned(),
            title: None,
            seeds: header.seeds.clone(),
            breaks: Vec::new(),
            dialect,
            setup,
        });
    }
    for heading in headings.into_iter().flatten() {
        if heading.name.text == "base" || variants.iter().any(|known| known.name == heading.name.text) {
            let text = format!("the name `{}` is taken", heading.name.text);
            let help =
                (heading.name.text == "base").then(|| "`base` is the file without overrides".to_owned());
            out.note(&heading.name.span, text, help);
            continue;
        }
        let reduced = reduced(world, &heading, out);
        let (setup, dialect) = lower::setup(&reduced.overlaid(&heading.overrides), out);
        variants.push(Variant {
            name: heading.name.text,
            title: heading.title,
            seeds: heading.seeds.unwrap_or_else(|| header.seeds.clone()),
            breaks: heading.breaks,
            dialect,
            setup,
        });
    }
    variants
}

/// The world without what the variant does not have.
fn reduced(world: &Table, heading: &Heading, out: &mut Findings) -> Table {
    let mut reduced = world.clone();
    for word in &heading.without {
        if !reduced.remove_named(&word.text) {
            let text = format!(
                "there is no route, layer, request, stream of arrivals or job `{}` to leave out",
                word.text
            );
            out.note(&word.span, text, None);
        }
    }
    reduced
}

#[cfg(test)]
mod tests {
    use crate::scenario::{Scenario, load};

    const BASE: &str = r#"
format = 1
title = "Two routes"
[policy.retry]
backoff = { fixed = "100 ms" }
[[route]]
name = "a"
price = { input = "$1.00/Mtok", output = "$8.00/Mtok" }
quality = 1
[[route]]
name = "b"
price = { input = "$1.00/Mtok", output = "$8.00/Mtok" }
quality = 2
[[request]]
id = "r"
tokens = { input = 8000, output_max = 1000 }
"#;

    fn read(more: &str) -> Scenario {
        load("two.toml", &format!("{BASE}{more}")).unwrap_or_else(|problems| panic!("{problems}"))
    }

    /// The problems with these lines behind the base, each as `line: text`.
    fn refused(more: &str) -> Vec<String> {
        let text = format!("{BASE}{more}");
        let problems = load("two.toml", &text).expect_err("there is something wrong");
        let line = |at: usize| text[..at].lines().count();
        let tell = |p: &crate::scenario::Problem| {
            format!("{}: {}", line(p.span.clone().unwrap_or(0..0).end), p.text)
        };
        problems.list().iter().map(tell).collect()
    }

    #[test]
    fn a_variant_overrides_one_field_of_one_route_and_keeps_the_rest() {
        let scenario = read("[[variant]]\nname = 'v'\n[[variant.route]]\nname = 'b'\nquality = 9\n");
        let qualities = |at: usize| -> Vec<u32> {
            scenario.variants[at].setup().registry.routes.iter().map(|route| route.quality).collect()
        };
        assert_eq!((qualities(0), qualities(1)), (vec![1, 2], vec![1, 9]));
    }

    #[test]
    fn a_variant_can_do_without_a_route_and_the_file_without_a_base() {
        let scenario = read("[[variant]]\nname = 'v'\nwithout = ['a']\n");
        assert_eq!(scenario.variants[1].setup().catalog.routes.len(), 1);
        let text = BASE.replace("title", "base = false\ntitle") + "[[variant]]\nname = 'v'\n";
        let scenario = load("two.toml", &text).unwrap();
        let names: Vec<&str> = scenario.variants.iter().map(|variant| variant.name.as_str()).collect();
        assert_eq!(names, ["v"]);
    }

    #[test]
    fn a_mistake_of_the_base_is_told_once_however_many_variants_inherit_it() {
        let told = refused(
            "[[operator]]\nat = '1'\nreset = 'route:a'\n[[variant]]\nname = 'v'\n[[variant]]\nname = 'w'\n",
        );
        assert_eq!(told, ["18: `1` has no unit"]);
    }

    #[test]
    fn a_mistake_of_a_variant_points_to_its_own_line() {
        let told = refused("[[variant]]\nname = 'v'\n[[variant.route]]\nname = 'b'\nquality = -1\n");
        assert_eq!(told, ["21: `-1` is negative; a count is not"]);
    }

    #[test]
    fn a_misspelt_name_in_a_variant_is_a_new_route_that_lacks_its_price() {
        let told = refused("[[variant]]\nname = 'v'\n[[variant.route]]\nname = 'bb'\nquality = 1\n");
        assert_eq!(told.len(), 1);
        assert!(told[0].ends_with("`route` has no `price`"), "{told:?}");
    }
}
