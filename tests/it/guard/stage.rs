//! The stage: a guard cannot be taken off a process, so everything is played in a child, which is this very test
//! binary started again. The child prints what its guard reported, a line a fact.

use faultlab::guard::{Guard, GuardError, Report, Requirement};
use std::io::Write;
use std::process::{Command, Stdio};

/// How a child learns its role, and a program of the child's in turn.
const ROLE: &str = "FAULTLAB_GUARD_TEST_ROLE";
/// The one test that is the child's entrance.
const ENTRANCE: &str = "guard::a_role_is_played_in_a_child_process";

/// The exit codes of the command line, which the child ends with as the binary would.
pub(crate) const HELD: Option<i32> = Some(0);
pub(crate) const CAUGHT: Option<i32> = Some(5);
pub(crate) const TOO_WEAK: Option<i32> = Some(6);

/// What a child did.
#[derive(Debug)]
pub(crate) struct Played {
    /// `None` if a signal ended it.
    pub(crate) exit: Option<i32>,
    lines: Vec<(String, String)>,
    errors: String,
}

impl Played {
    /// The fact of this name.
    pub(crate) fn fact(&self, name: &str) -> &str {
        let line = self.lines.iter().find(|line| line.0 == name);
        line.map_or_else(|| panic!("no fact {name:?}: {self:#?}\n{}", self.errors), |line| line.1.as_str())
    }

    pub(crate) fn facts(&self, name: &str) -> Vec<&str> {
        self.lines.iter().filter(|line| line.0 == name).map(|line| line.1.as_str()).collect()
    }

    /// A fact that is a number.
    pub(crate) fn number(&self, name: &str) -> u64 {
        self.fact(name).parse().unwrap_or_else(|_| panic!("{name:?} is no number: {self:#?}"))
    }

    #[track_caller]
    pub(crate) fn ends(&self, exit: Option<i32>) {
        assert_eq!(self.exit, exit, "{self:#?}\n{}", self.errors);
    }
}

/// Plays a role in a child with nothing in its hands but the usual streams.
pub(crate) fn play(role: &str) -> Played {
    play_with(role, Stdio::null())
}

/// The same with this as its standard input.
pub(crate) fn play_with(role: &str, input: Stdio) -> Played {
    let output = myself(role).stdin(input).output().expect("the test binary starts itself");
    let text = String::from_utf8_lossy(&output.stdout);
    let facts = text.lines().filter_map(|line| line.strip_prefix('@')?.split_once('='));
    Played {
        exit: output.status.code(),
        lines: facts.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        errors: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// This binary in a role, as its only test.
pub(crate) fn myself(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a test binary knows where it is"));
    command.args(["--exact", ENTRANCE, "--ignored", "--nocapture", "--test-threads=1"]).env(ROLE, role);
    command
}

/// The role of this process; `None` if it is no child.
pub(crate) fn role() -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "how a test tells its child what to play")]
    std::env::var(ROLE).ok()
}

/// Arms as the binary would.
pub(crate) fn arm(requirement: Requirement) -> Guard {
    match Guard::arm(requirement) {
        Ok(guard) => guard,
        Err(problem) => {
            if let GuardError::Weaker { found, .. } = &problem {
                say("strength", found);
            }
            say("refused", &problem);
            std::process::exit(6)
        }
    }
}

/// Ends as the binary would: the report, then the code.
pub(crate) fn finish(guard: Guard, requirement: Requirement) -> ! {
    let report = guard.finish();
    tell(&report);
    let weakened = report.strength < requirement.least();
    std::process::exit(if report.caught() {
        5
    } else if weakened {
        6
    } else {
        0
    })
}

fn tell(report: &Report) {
    let count = |count: Option<u64>| count.map_or("absent".to_owned(), |count| count.to_string());
    say("strength", report.strength);
    say("mechanism", report.mechanism);
    say("attempts", count(report.attempts));
    say("bypass_attempts", count(report.bypass_attempts));
    say("probes", report.self_test.probes);
    say("probes_denied", report.self_test.denied);
    say("probes_counted", count(report.self_test.counted.map(u64::from)));
    for passed in &report.passed_over {
        say("passed_over", format!("{}: {}", passed.mechanism, passed.why));
    }
    for inherited in &report.inherited {
        say("inherited", inherited);
    }
    for attempt in &report.log {
        let family = attempt.family.unwrap_or("-");
        say("log", format!("{} {} {family} {}", attempt.kind.label(), attempt.call, attempt.program));
        say("log_process", attempt.process);
    }
}

/// A line of its own, whatever stood on the line before; not through the macros, which the harness may hold back.
pub(crate) fn say(name: &str, value: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    write!(out, "\n@{name}={value}\n").and_then(|()| out.flush()).expect("the parent reads to the end");
}
