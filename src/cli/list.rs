//! `faultlab list`: what the suite has.

use super::args::Format;
use super::exit::Exit;
use super::load::plural;
use super::terminal::{Detail, Paint, Terminal, paint};
use super::{Done, Failure, load};
use crate::scenario::Scenario;
use serde::Serialize;
use std::fmt::Write;

/// A scenario, for programs.
#[derive(Serialize)]
struct Listed<'s> {
    name: &'s str,
    title: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'s str>,
    variants: Vec<&'s str>,
    checks: Vec<&'s str>,
}

pub(super) fn list(format: Format, terminal: &Terminal) -> Done {
    let (scenarios, _) = load::scenarios(&[], terminal)?;
    match format {
        Format::Human => terminal.say(&human(&scenarios, terminal.detail))?,
        Format::Json => {
            let listed: Vec<Listed<'_>> = scenarios.iter().map(listed).collect();
            let text = serde_json::to_string_pretty(&listed).map_err(Failure::with(Exit::Bug))?;
            terminal.say(&format!("{text}\n"))?;
        }
        Format::Quiet => {}
    }
    Ok(Exit::Held)
}

fn listed(scenario: &Scenario) -> Listed<'_> {
    Listed {
        name: &scenario.name,
        title: &scenario.title,
        source: scenario.source.as_deref(),
        variants: scenario.variants.iter().map(|variant| variant.name.as_str()).collect(),
        checks: scenario.expectations.iter().map(|promise| promise.name.as_str()).collect(),
    }
}

fn human(scenarios: &[Scenario], detail: Detail) -> String {
    let mut text = String::new();
    for scenario in scenarios {
        let (variants, checks) = (scenario.variants.len(), scenario.expectations.len());
        let _ = writeln!(text, "{:<16} {}", scenario.name, scenario.title);
        let _ = writeln!(
            text,
            "{:<16} {}",
            "",
            paint(
                Paint::Dim,
                &format!("{variants} variant{}, {checks} expectation{}", plural(variants), plural(checks))
            )
        );
        if detail == Detail::Verbose {
            for variant in &scenario.variants {
                let _ = writeln!(
                    text,
                    "    variant {}: {}",
                    variant.name,
                    variant.title.as_deref().unwrap_or("the file as it stands")
                );
            }
            for promise in &scenario.expectations {
                let _ = writeln!(text, "    expects {} ({})", promise.name, promise.verb.label());
            }
        }
    }
    text
}
