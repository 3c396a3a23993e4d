//! What the guard says about itself: how strong, by which means, proven how, and what it saw. Data only.

use std::fmt;

/// How much a guard's word is worth, weakest first. It stands beside every number of attempts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Strength {
    /// Nothing is denied.
    None,
    /// Nothing is denied; what could open a socket was not even loaded.
    Audited,
    /// Denied by the system, uncounted.
    Enforced,
    /// Denied by the system; counted in this process, its threads and forks.
    EnforcedCountedSelf,
    /// Denied by the system; counted in this process and in every program it starts.
    EnforcedCounted,
}

impl Strength {
    /// All, weakest first.
    pub const ALL: [Strength; 5] = [
        Strength::None,
        Strength::Audited,
        Strength::Enforced,
        Strength::EnforcedCountedSelf,
        Strength::EnforcedCounted,
    ];

    /// What `--guard require` means on this kind of system.
    pub const REQUIRED: Strength = if cfg!(target_os = "linux") {
        Strength::EnforcedCountedSelf
    } else if cfg!(target_os = "macos") {
        Strength::Enforced
    } else {
        Strength::Audited
    };

    /// As it is written in every output.
    pub fn label(self) -> &'static str {
        match self {
            Strength::None => "none",
            Strength::Audited => "audited",
            Strength::Enforced => "enforced",
            Strength::EnforcedCountedSelf => "enforced-counted-self",
            Strength::EnforcedCounted => "enforced-counted",
        }
    }
}

impl fmt::Display for Strength {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.label())
    }
}

/// By which means the system denies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mechanism {
    /// By none.
    None,
    /// Linux: the kernel asks a thread of ours about every denied call.
    SeccompNotify,
    /// Linux: a denied call is a signal in the thread that made it.
    SeccompTrap,
    /// Linux: the kernel denies by itself.
    SeccompErrno,
    /// macOS: the named sandbox profile without network.
    SandboxInit,
    /// macOS: a sandbox that this process was started in.
    OuterSandbox,
    /// Windows: no module that can open a socket is loaded.
    ModuleAudit,
}

impl Mechanism {
    /// As it is written in every output.
    pub fn label(self) -> &'static str {
        match self {
            Mechanism::None => "none",
            Mechanism::SeccompNotify => "seccomp-notify",
            Mechanism::SeccompTrap => "seccomp-trap",
            Mechanism::SeccompErrno => "seccomp-errno",
            Mechanism::SandboxInit => "sandbox-init",
            Mechanism::OuterSandbox => "outer-sandbox",
            Mechanism::ModuleAudit => "module-audit",
        }
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.label())
    }
}

/// A mechanism that was tried, or stood and fell, and why it is not the one that counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PassedOver {
    /// Which.
    pub mechanism: Mechanism,
    /// What the system said, or what the self-test saw.
    pub why: String,
}

/// Calls made on purpose when the guard was armed: a guard that was never seen to deny proves nothing.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SelfTest {
    /// Probes made. They are not among the attempts.
    pub probes: u32,
    /// Of these, denied.
    pub denied: u32,
    /// Of these, counted by exactly one; `None` if the mechanism cannot count.
    pub counted: Option<u32>,
}

/// A descriptor of this process that is a way to somewhere else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inherited {
    /// Its number.
    pub descriptor: i32,
    /// What it is: `unix socket`, `inet socket`, `io_uring`.
    pub what: &'static str,
}

impl fmt::Display for Inherited {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "descriptor {} ({})", self.descriptor, self.what)
    }
}

/// Whether a denied call would have reached out, or would have gone around the guard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A call of the network: opens, names, sends or receives on a socket of any family.
    Network,
    /// A call by which one could open a socket out of the guard's sight.
    Bypass,
}

impl Kind {
    /// As it is written in every output.
    pub fn label(self) -> &'static str {
        match self {
            Kind::Network => "network",
            Kind::Bypass => "bypass",
        }
    }
}

/// One denied call, of the first few.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// What it was for.
    pub kind: Kind,
    /// The name of the call.
    pub call: &'static str,
    /// The socket family asked for (`inet`, `unix`, …); `None` if the call names none.
    pub family: Option<&'static str>,
    /// The program that made it, as the system shortens its name; may be empty.
    pub program: String,
    /// Its process id.
    pub process: u32,
}

/// Everything the guard knows at the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// What the word of this report is worth.
    pub strength: Strength,
    /// What denied.
    pub mechanism: Mechanism,
    /// What was tried before that, strongest first.
    pub passed_over: Vec<PassedOver>,
    /// The probes made while arming.
    pub self_test: SelfTest,
    /// Denied network calls, without the guard's own probes. `None` if nothing counted: that is not zero.
    pub attempts: Option<u64>,
    /// Denied calls that lead around the guard. `None` if nothing counted.
    pub bypass_attempts: Option<u64>,
    /// Sockets this process was started with, and that were let pass.
    pub inherited: Vec<Inherited>,
    /// What this guard does not see, a sentence each.
    pub not_covered: Vec<&'static str>,
    /// The first attempts of either kind, in the order they were counted.
    pub log: Vec<Attempt>,
}

impl Report {
    /// Whether anything was tried, by whatever means it is known. It decides the exit code, also if the caller
    /// of the denied call swallowed the error.
    pub fn caught(&self) -> bool {
        self.attempts.is_some_and(|count| count > 0) || self.bypass_attempts.is_some_and(|count| count > 0)
    }

    /// The report of no guard.
    pub(super) fn unarmed() -> Report {
        Report {
            strength: Strength::None,
            mechanism: Mechanism::None,
            passed_over: Vec::new(),
            self_test: SelfTest::default(),
            attempts: None,
            bypass_attempts: None,
            inherited: Vec::new(),
            not_covered: vec!["everything: no guard stands"],
            log: Vec::new(),
        }
    }

    pub(super) fn pass_over(&mut self, mechanism: Mechanism, why: impl Into<String>) {
        self.passed_over.push(PassedOver { mechanism, why: why.into() });
    }

    /// What was tried and why it fell, in one line.
    pub(super) fn why_not_stronger(&self) -> String {
        let tried: Vec<String> =
            self.passed_over.iter().map(|passed| format!("{}: {}", passed.mechanism, passed.why)).collect();
        tried.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stronger_guard_satisfies_a_weaker_demand() {
        assert!(Strength::ALL.is_sorted());
        assert!(Strength::REQUIRED > Strength::None);
    }

    #[test]
    fn an_absent_count_is_not_a_clean_one_and_either_count_is_a_catch() {
        check(None, None, false);
        check(Some(0), Some(0), false);
        check(Some(1), Some(0), true);
        check(Some(0), Some(1), true);
        assert_eq!(Report::unarmed().attempts, None);
    }

    fn check(attempts: Option<u64>, bypass_attempts: Option<u64>, caught: bool) {
        assert_eq!(Report { attempts, bypass_attempts, ..Report::unarmed() }.caught(), caught);
    }
}
