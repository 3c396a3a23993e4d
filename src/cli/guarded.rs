//! The guard, as the program wears it: armed before anything is done, asked at the end, and then it has the last word
//! about the exit code.

use super::Failure;
use super::exit::Exit;
use super::terminal::Terminal;
use crate::guard::{Attempt, Guard, Report, Requirement, Strength};
use serde::Serialize;

/// A guard that stands, or its report.
pub(super) struct Guarded {
    requirement: Requirement,
    guard: Option<Guard>,
    report: Option<Report>,
}

impl Guarded {
    /// Arms it.
    pub(super) fn arm(requirement: Requirement) -> Result<Guarded, Failure> {
        let guard = Guard::arm(requirement).map_err(Failure::with(Exit::Unguarded))?;
        Ok(Guarded { requirement, guard: Some(guard), report: None })
    }

    /// Whether it stands as strongly as a release pass asks.
    pub(super) fn is_sufficient(&self) -> bool {
        let reported = self.report.as_ref().map(|report| report.strength);
        reported.or(self.guard.as_ref().map(Guard::strength)) >= Some(Strength::REQUIRED)
    }

    /// What was asked of it.
    pub(super) const fn requirement(&self) -> Requirement {
        self.requirement
    }

    /// What it saw; the first to ask ends the watch. It keeps denying afterwards.
    pub(super) fn report(&mut self) -> &Report {
        let guard = &mut self.guard;
        self.report.get_or_insert_with(|| guard.take().expect("a guard is finished once").finish())
    }

    /// The exit code, with the guard's word about it: what it caught wins over everything, then its own weakness.
    pub(super) fn last_word(&mut self, exit: Exit, terminal: &Terminal) -> Exit {
        let least = self.requirement.least();
        let report = self.report();
        if report.caught() {
            terminal.note(&format!("error: {}\n", caught(report)));
            Exit::Caught
        } else if report.strength < least {
            let (found, why) = (report.strength, why_not_stronger(report));
            terminal.note(&format!("error: the guard fell to `{found}` during the run: {why}\n"));
            Exit::Unguarded
        } else {
            exit
        }
    }
}

/// What was caught, with the first attempts.
fn caught(report: &Report) -> String {
    let count = |count: Option<u64>| count.map_or("uncounted".to_owned(), |count| count.to_string());
    let first: Vec<String> = report.log.iter().take(3).map(told).collect();
    let (network, bypass) = (count(report.attempts), count(report.bypass_attempts));
    format!(
        "the guard caught and denied outbound attempts: {network} network, {bypass} bypass; first {}",
        first.join(", ")
    )
}

fn told(attempt: &Attempt) -> String {
    let family = attempt.family.map_or(String::new(), |family| format!(" ({family})"));
    format!("`{}`{family} by {}", attempt.call, attempt.program)
}

fn why_not_stronger(report: &Report) -> String {
    let tried: Vec<String> =
        report.passed_over.iter().map(|passed| format!("{}: {}", passed.mechanism, passed.why)).collect();
    tried.join("; ")
}

/// A report, for programs: in `run.json`, and from `doctor`.
#[derive(Serialize)]
pub(super) struct Record<'r> {
    requirement: &'static str,
    required: &'static str,
    strength: &'static str,
    mechanism: &'static str,
    passed_over: Vec<PassedOver<'r>>,
    self_test: SelfTest,
    #[serde(skip_serializing_if = "Option::is_none")]
    outbound_attempts: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bypass_attempts: Option<u64>,
    inherited: Vec<String>,
    not_covered: &'r [&'static str],
    log: Vec<Logged<'r>>,
}

#[derive(Serialize)]
struct PassedOver<'r> {
    mechanism: &'static str,
    why: &'r str,
}

#[derive(Serialize)]
struct SelfTest {
    probes: u32,
    denied: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    counted: Option<u32>,
}

#[derive(Serialize)]
struct Logged<'r> {
    kind: &'static str,
    call: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<&'static str>,
    program: &'r str,
    process: u32,
}

impl<'r> Record<'r> {
    pub(super) fn new(requirement: Requirement, report: &'r Report) -> Record<'r> {
        let passed_over = report.passed_over.iter();
        let log = report.log.iter().map(|attempt| Logged {
            kind: attempt.kind.label(),
            call: attempt.call,
            family: attempt.family,
            program: &attempt.program,
            process: attempt.process,
        });
        Record {
            requirement: requirement.label(),
            required: requirement.least().label(),
            strength: report.strength.label(),
            mechanism: report.mechanism.label(),
            passed_over: passed_over
                .map(|passed| PassedOver { mechanism: passed.mechanism.label(), why: &passed.why })
                .collect(),
            self_test: SelfTest {
                probes: report.self_test.probes,
                denied: report.self_test.denied,
                counted: report.self_test.counted,
            },
            outbound_attempts: report.attempts,
            bypass_attempts: report.bypass_attempts,
            inherited: report.inherited.iter().map(ToString::to_string).collect(),
            not_covered: &report.not_covered,
            log: log.collect(),
        }
    }
}
