//! The guard: a process that has armed it opens no socket, and how often it was tried is counted. Armed first
//! thing in `main`; it cannot be taken off again, by nobody.
//!
//! One door, one floor a system. What each system can do, and what none covers, is in `docs/guard.md`; the only
//! `unsafe` of the crate is below this module. Nothing here prints.
//!
//! ```no_run
//! use faultlab::guard::{Guard, Requirement};
//!
//! let guard = Guard::arm(Requirement::Require)?;
//! // … the work …
//! let report = guard.finish();
//! assert!(!report.caught(), "an outbound attempt was made, and denied");
//! # Ok::<(), faultlab::guard::GuardError>(())
//! ```

mod report;

#[cfg(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))
))]
#[path = "linux/mod.rs"]
mod system;
#[cfg(target_os = "macos")]
#[path = "macos.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;
#[cfg(not(any(
    all(
        target_os = "linux",
        target_pointer_width = "64",
        any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))
    ),
    target_os = "macos",
    windows
)))]
#[path = "other.rs"]
mod system;

pub use report::{Attempt, Inherited, Kind, Mechanism, PassedOver, Report, SelfTest, Strength};

use std::sync::atomic::{AtomicBool, Ordering};

/// What the user asks of the guard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Requirement {
    /// At least what this kind of system can give ([`Strength::REQUIRED`]), or an error.
    Require,
    /// As much as this very system gives, be it nothing. Inherited sockets are refused all the same.
    BestEffort,
    /// No guard at all.
    Off,
}

impl Requirement {
    /// As it is written on the command line.
    pub fn label(self) -> &'static str {
        match self {
            Requirement::Require => "require",
            Requirement::BestEffort => "best-effort",
            Requirement::Off => "off",
        }
    }

    /// The least strength that satisfies it. Asked again of a finished report, since a guard can weaken.
    pub fn least(self) -> Strength {
        match self {
            Requirement::Require => Strength::REQUIRED,
            Requirement::BestEffort | Requirement::Off => Strength::None,
        }
    }
}

/// Why the guard does not stand. All of them mean: do not run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GuardError {
    /// The process was started with a way out in its hands, which no filter of calls can close.
    #[error(
        "started with {}, over which plain writes would leave unseen: close it in the caller, or run without a guard",
        list(.0)
    )]
    Inherited(
        /// The descriptors refused, lowest first.
        Vec<Inherited>,
    ),
    /// The system gives less than was asked for.
    #[error("the guard of this system is `{found}`, at least `{required}` is required: {why}")]
    Weaker {
        /// What was asked for.
        required: Strength,
        /// What there is.
        found: Strength,
        /// What was tried, and what the system said.
        why: String,
    },
}

/// A guard that stands, until the process ends. [`Guard::finish`] reads what it saw.
#[derive(Debug)]
#[must_use = "a guard that is never finished reports nothing"]
pub struct Guard {
    /// What is on watch; none if the guard is off, or there is nothing to arm.
    watch: Option<system::Watch>,
    /// What is known so far.
    report: Report,
}

impl Guard {
    /// Arms the strongest guard this system has and proves it by probes. Call it first thing in `main`, before
    /// any thread, and once.
    ///
    /// # Errors
    /// If the process holds an inherited way out, or the guard is weaker than `requirement` asks.
    ///
    /// # Panics
    /// If it was armed before: a guard is not replaced by another.
    pub fn arm(requirement: Requirement) -> Result<Guard, GuardError> {
        static ARMED: AtomicBool = AtomicBool::new(false);
        let mut report = Report::unarmed();
        if requirement == Requirement::Off {
            return Ok(Guard { watch: None, report });
        }
        assert!(!ARMED.swap(true, Ordering::SeqCst), "the guard is armed once a process");
        let watch = system::arm(&mut report)?;
        let required = requirement.least();
        if report.strength < required {
            return Err(GuardError::Weaker {
                required,
                found: report.strength,
                why: report.why_not_stronger(),
            });
        }
        Ok(Guard { watch, report })
    }

    /// How strong the guard is, now.
    pub fn strength(&self) -> Strength {
        self.report.strength
    }

    /// Tests once more that the guard stands, and says what it saw. It keeps denying afterwards.
    ///
    /// A guard that weakened since it was armed says so in [`Report::strength`]: compare it with
    /// [`Requirement::least`] again.
    pub fn finish(self) -> Report {
        let Guard { watch, mut report } = self;
        if let Some(watch) = watch {
            watch.finish(&mut report);
        }
        report
    }
}

fn list(inherited: &[Inherited]) -> String {
    let names: Vec<String> = inherited.iter().map(Inherited::to_string).collect();
    names.join(", ")
}
