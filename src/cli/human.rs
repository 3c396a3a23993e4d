//! The verdict for people: one line a scenario, whatever failed in full, one verdict line.

use super::exit::Exit;
use super::load::plural;
use super::terminal::{Detail, Paint, paint};
use crate::guard::Strength;
use crate::journal::{Scope, Summary};
use crate::judge::{Check, Metric, Subject, Word};
use crate::scenario::Scenario;
use crate::suite::Played;
use std::fmt::Write;
use std::path::Path;

/// One scenario: its line; what failed, below what the scenario is about; everything if it is wanted.
pub(super) fn scenario(scenario: &Scenario, played: &Played, detail: Detail) -> String {
    let mut text = String::new();
    if detail > Detail::Quiet {
        text.push_str(&line(scenario, played));
        if detail == Detail::Verbose || !played.verdict.is_pass() {
            let _ = writeln!(text, "      {}", paint(Paint::Dim, &scenario.title));
        }
    }
    if !played.verdict.has_promises() {
        let _ = writeln!(text, "      {} promises nothing: add an [[expect]]", scenario.name);
    }
    for check in &played.verdict.checks {
        if check.word.is_failure() || detail == Detail::Verbose {
            tell(&mut text, scenario, check);
        }
    }
    if detail == Detail::Verbose {
        findings(&mut text, played);
    }
    text
}

fn line(scenario: &Scenario, played: &Played) -> String {
    let passed = promises(played).filter(|check| check.word.is_pass()).count();
    let total = promises(played).count();
    let runs: u64 = played.variants.iter().map(|variant| variant.verdict.runs).sum();
    let exercised =
        played.verdict.checks.iter().filter(|c| matches!(c.subject, Subject::Law(_)) && c.word.is_pass());
    let laws = exercised.count();
    let word = if played.verdict.is_pass() { paint(Paint::Good, "PASS") } else { paint(Paint::Bad, "FAIL") };
    let variants = scenario.variants.len();
    let numbers = format!(
        "{passed}/{total} expectation{}, {laws} law{}, {variants} variant{}, {runs} run{}",
        plural(total),
        plural(laws),
        plural(variants),
        plural(runs as usize)
    );
    format!("{word}  {:<22}  {numbers}\n", scenario.name)
}

fn promises(played: &Played) -> impl Iterator<Item = &Check> {
    played.verdict.checks.iter().filter(|check| matches!(check.subject, Subject::Expectation(_)))
}

fn tell(text: &mut String, scenario: &Scenario, check: &Check) {
    let color = match check.word {
        Word::Held | Word::BrokenAsDeclared => Paint::Good,
        Word::Broken | Word::NotBroken => Paint::Bad,
        Word::NotExercised => Paint::Dim,
    };
    let word = paint(color, check.word.label());
    let _ = writeln!(text, "      {word}  {}/{}", scenario.name, check.name);
    for detail in &check.details {
        let _ = writeln!(text, "          {detail}");
    }
}

/// So many things that are not at rest are listed; the rest is counted.
const STATUS_SHOWN: usize = 8;

fn findings(text: &mut String, played: &Played) {
    for variant in &played.variants {
        let metrics = &variant.verdict.metrics;
        let value = |metric: Metric| {
            metrics.value(metric, None).map_or_else(|| "-".to_owned(), |v| metric.unit().words(v as i128))
        };
        let _ = writeln!(
            text,
            "      {}: {} of {} answered, {} calls, {}, p95 {}",
            variant.verdict.name,
            value(Metric::Answered),
            value(Metric::Requests),
            value(Metric::Attempts),
            value(Metric::Cost),
            value(Metric::LatencyP95),
        );
        for (finding, remark) in variant.verdict.findings.iter() {
            let example = remark.first.as_ref().map_or("", |first| first.sentence.as_str());
            let _ = writeln!(text, "          finding {} ({}): {example}", finding.label(), remark.count);
        }
        for shown in variant.status.iter().take(STATUS_SHOWN) {
            let _ = writeln!(text, "          at the end {shown}");
        }
        if variant.status.len() > STATUS_SHOWN {
            let more = variant.status.len() - STATUS_SHOWN;
            let _ = writeln!(text, "          and {more} things more that are not at rest: see summary.json");
        }
    }
}

/// The verdict line, what of the program itself failed, and what to do next.
pub(super) fn verdict(summary: &Summary, exit: Exit, folder: &Path) -> String {
    let acceptance = &summary.acceptance;
    let mut text = String::new();
    for check in acceptance.checks.iter().filter(|check| check.scenario.is_none()) {
        if let Some(detail) = &check.detail {
            let _ = writeln!(text, "{}  {}", paint(Paint::Bad, "FAIL"), check.name);
            for line in detail.lines() {
                let _ = writeln!(text, "      {line}");
            }
        }
    }
    let word = if exit == Exit::Held { paint(Paint::Good, "PASS") } else { paint(Paint::Bad, "FAIL") };
    let (passed, total) = (acceptance.passed, acceptance.total);
    let scope = match acceptance.scope {
        Scope::Suite => "the suite",
        Scope::Partial if !guarded(summary) => "zero_outbound_network was not exercised: no release pass",
        Scope::Partial => "not the whole suite: no release pass",
    };
    let _ = writeln!(text, "{word}: {passed}/{total} checks ({scope}); evidence in {}", folder.display());
    text
}

/// Whether a guard stood that is strong enough for a release pass.
fn guarded(summary: &Summary) -> bool {
    let said = summary.guard_strength.as_deref();
    Strength::ALL.iter().any(|one| *one >= Strength::REQUIRED && Some(one.label()) == said)
}
