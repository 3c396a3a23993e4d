//! `faultlab doctor`: how strong the guard is on this very system, and how that is known.

use super::args::Format;
use super::exit::Exit;
use super::guarded::Record;
use super::terminal::{Paint, Terminal, paint};
use super::{Done, Failure};
use crate::guard::{Guard, GuardError, Inherited, Report, Requirement, Strength};
use serde::Serialize;
use std::fmt::Write;

/// Arms a guard of whatever strength, asks it, and says whether that is enough for a release pass.
pub(super) fn doctor(format: Format, terminal: &Terminal) -> Done {
    let report = match Guard::arm(Requirement::BestEffort) {
        Ok(guard) => guard.finish(),
        Err(GuardError::Inherited(refused)) => return refusal(&refused, format, terminal),
        Err(error @ GuardError::Weaker { .. }) => return Err(Failure::new(Exit::Unguarded, error)),
    };
    let exit = verdict(&report);
    match format {
        Format::Human => terminal.say(&human(&report, exit))?,
        Format::Json => {
            let examined = Examined {
                faultlab: env!("CARGO_PKG_VERSION"),
                os: std::env::consts::OS,
                arch: std::env::consts::ARCH,
                suffices: exit == Exit::Held,
                guard: Record::new(Requirement::Require, &report),
            };
            let text = serde_json::to_string_pretty(&examined).map_err(Failure::with(Exit::Bug))?;
            terminal.say(&format!("{text}\n"))?;
        }
        Format::Quiet => {}
    }
    Ok(exit)
}

#[derive(Serialize)]
struct Examined<'r> {
    faultlab: &'static str,
    os: &'static str,
    arch: &'static str,
    suffices: bool,
    guard: Record<'r>,
}

fn verdict(report: &Report) -> Exit {
    if report.caught() {
        Exit::Caught
    } else if report.strength < Strength::REQUIRED {
        Exit::Unguarded
    } else {
        Exit::Held
    }
}

fn human(report: &Report, exit: Exit) -> String {
    let mut text = String::new();
    let count = |count: Option<u64>| count.map_or("not counted".to_owned(), |count| count.to_string());
    let test = report.self_test;
    row(&mut text, "strength", &format!("{} ({} is required)", report.strength, Strength::REQUIRED));
    row(&mut text, "mechanism", report.mechanism.label());
    let counted = count(test.counted.map(u64::from));
    let probes = format!("{} probes, denied {}, counted {counted}", test.probes, test.denied);
    row(&mut text, "self-test", &probes);
    let (network, bypass) = (count(report.attempts), count(report.bypass_attempts));
    row(&mut text, "attempts", &format!("network {network}, bypass {bypass}"));
    let passed =
        report.passed_over.iter().map(|passed| format!("{}: {}", passed.mechanism.label(), passed.why));
    rows(&mut text, "passed over", passed);
    rows(&mut text, "inherited", report.inherited.iter().map(ToString::to_string));
    rows(&mut text, "not covered", report.not_covered.iter().map(|&sentence| sentence.to_owned()));
    let verdict = if exit == Exit::Held {
        format!("{}: the guard stands, and has proved it", paint(Paint::Good, "PASS"))
    } else if exit == Exit::Caught {
        format!("{}: something tries to reach the network", paint(Paint::Bad, "FAIL"))
    } else {
        format!("{}: no release pass on this system", paint(Paint::Bad, "FAIL"))
    };
    let _ = writeln!(text, "{verdict}");
    text
}

fn row(text: &mut String, name: &str, value: &str) {
    let _ = writeln!(text, "{name:<12} {value}");
}

fn rows(text: &mut String, name: &str, values: impl Iterator<Item = String>) {
    let mut name = name;
    for value in values {
        row(text, name, &value);
        name = "";
    }
    if !name.is_empty() {
        row(text, name, "nothing");
    }
}

/// An open network socket in the hands of the process: nothing is armed, and nothing else is worth knowing.
fn refusal(refused: &[Inherited], format: Format, terminal: &Terminal) -> Done {
    if format == Format::Json {
        let refused: Vec<String> = refused.iter().map(ToString::to_string).collect();
        let examined = serde_json::json!({ "suffices": false, "refused": refused });
        terminal.say(&format!("{examined:#}\n"))?;
        return Ok(Exit::Unguarded);
    }
    Err(Failure::new(Exit::Unguarded, GuardError::Inherited(refused.to_vec())))
}
