//! The check of the program that no outbound attempt was made, and the number and its worth in every summary.

use crate::guard::{Report, Strength};
use crate::journal::{Acceptance, Check, Scope, Summary, Verdict};

/// The name of the check.
pub const ZERO_OUTBOUND: &str = "zero_outbound_network";

/// The summary with what the guard saw. The suite makes a check of it; any other run is told, and not judged: a
/// suite that a sufficient guard did not watch is none ([`Scope::Partial`]).
pub fn attest(mut summary: Summary, report: &Report) -> Summary {
    summary.outbound_attempts = report.attempts;
    summary.guard_strength = Some(report.strength.label().to_owned());
    if summary.acceptance.scope == Scope::Suite {
        let mut checks = std::mem::take(&mut summary.acceptance.checks);
        checks.push(zero_outbound(report));
        summary.acceptance = Acceptance::of(Scope::Suite, checks);
    }
    summary
}

fn zero_outbound(report: &Report) -> Check {
    let detail = complaint(report);
    let verdict = if detail.is_none() { Verdict::Passed } else { Verdict::Failed };
    Check { scenario: None, name: ZERO_OUTBOUND.to_owned(), verdict, detail }
}

fn complaint(report: &Report) -> Option<String> {
    if report.caught() {
        let calls: Vec<&str> = report.log.iter().map(|attempt| attempt.call).collect();
        let count = |count: Option<u64>| count.map_or("uncounted".to_owned(), |count| count.to_string());
        let (network, bypass) = (count(report.attempts), count(report.bypass_attempts));
        let calls = calls.join(", ");
        return Some(format!("outbound attempts, all denied: network {network}, bypass {bypass}; {calls}"));
    }
    let (found, required) = (report.strength, Strength::REQUIRED);
    (found < required)
        .then(|| format!("the guard was `{found}` at the end, at least `{required}` is required"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::{Attempt, Guard, Kind, Requirement};

    fn report(strength: Strength, attempts: Option<u64>) -> Report {
        let attempt = Attempt {
            kind: Kind::Network,
            call: "socket",
            family: Some("inet"),
            program: "faultlab".to_owned(),
            process: 7,
        };
        let unarmed = Guard::arm(Requirement::Off).expect("no guard is always to be had").finish();
        let log = if attempts > Some(0) { vec![attempt] } else { Vec::new() };
        Report { strength, attempts, bypass_attempts: attempts.map(|_| 0), log, ..unarmed }
    }

    fn check(scope: Scope, report: &Report, expected: Option<(Verdict, Option<&str>)>) {
        let summary = Summary::new(Acceptance::of(scope, Vec::new()), String::new(), Vec::new());
        let attested = attest(summary, report);
        assert_eq!(attested.outbound_attempts, report.attempts);
        assert_eq!(attested.guard_strength.as_deref(), Some(report.strength.label()));
        let made = attested.acceptance.checks.first();
        assert_eq!(made.map(|check| (check.verdict, check.detail.as_deref())), expected);
        let failed = usize::from(matches!(expected, Some((Verdict::Failed, _))));
        assert_eq!(
            (attested.acceptance.failed, attested.acceptance.total),
            (failed, usize::from(expected.is_some()))
        );
    }

    #[test]
    fn a_suite_passes_only_under_a_guard_that_stood_and_caught_nothing() {
        let sentence = "outbound attempts, all denied: network 2, bypass 0; socket";
        check(Scope::Suite, &report(Strength::EnforcedCounted, Some(0)), Some((Verdict::Passed, None)));
        check(
            Scope::Suite,
            &report(Strength::EnforcedCounted, Some(2)),
            Some((Verdict::Failed, Some(sentence))),
        );
        let fell = format!("the guard was `none` at the end, at least `{}` is required", Strength::REQUIRED);
        check(Scope::Suite, &report(Strength::None, None), Some((Verdict::Failed, Some(&fell))));
    }

    #[test]
    fn a_part_of_the_suite_is_told_and_not_judged() {
        check(Scope::Partial, &report(Strength::EnforcedCounted, Some(2)), None);
        check(Scope::Partial, &report(Strength::None, None), None);
    }
}
