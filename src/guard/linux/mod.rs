//! Linux: a filter of system calls that the kernel keeps on this process and on everything it starts, until they
//! end. Three ways to deny, tried in this order; each has to prove itself before it is believed.
//!
//! ```text
//!   notify   a thread of ours is asked about every denied call      counts programs started from here too
//!     │ there is one already around us (EBUSY), an old kernel, a sandbox that answers before we are asked
//!   trap     the denied call is a signal in the thread that made it counts this process, its threads and forks
//!     │
//!   errno    the kernel denies by itself                            counts nothing
//! ```
//!
//! A filter stays once it is installed, and of several the sternest answer wins, errno over notify and trap over
//! both. So a mechanism that failed its test is no hindrance to the next one.

mod denied;
#[path = "../descriptors.rs"]
mod descriptors;
mod kernel;
mod notify;
mod program;
mod tally;
mod trap;

use super::{GuardError, Kind, Mechanism, Report, SelfTest, Strength};
use std::ffi::c_int;
use std::fs;
use tally::Tally;

/// A guard that denies, and the tally it keeps.
#[derive(Debug)]
pub(super) struct Watch {
    way: Way,
    tally: &'static Tally,
}

/// Looks at what the process was started with, then climbs down the ways until one proves itself.
pub(super) fn arm(report: &mut Report) -> Result<Option<Watch>, GuardError> {
    match descriptors::inherited()? {
        Ok(passed) => report.inherited = passed,
        Err(problem) => {
            report.pass_over(Mechanism::None, format!("the open descriptors cannot be listed: {problem}"));
            return Ok(None);
        }
    }
    let tally = match kernel::forbid_new_privileges().and_then(|()| Tally::of_this_process()) {
        Ok(tally) => tally,
        Err(problem) => {
            report.pass_over(Mechanism::None, problem.to_string());
            return Ok(None);
        }
    };
    for way in [Way::Notify, Way::Trap, Way::Errno] {
        match way.stand(tally) {
            Ok(self_test) => {
                report.mechanism = way.mechanism();
                report.strength = way.strength();
                report.self_test = self_test;
                report.not_covered = way.not_covered();
                return Ok(Some(Watch { way, tally }));
            }
            Err(why) => report.pass_over(way.mechanism(), why),
        }
    }
    Ok(None)
}

impl Watch {
    /// Probes twice more, and reads the tally in between. The first probe waits until the supervisor has dealt with
    /// all that was before it; the second one tells whether the guard still stands: one that fell meanwhile has
    /// not seen everything.
    pub(super) fn finish(self, report: &mut Report) {
        let Watch { way, tally } = self;
        let (family, kind) = PROBES[0];
        let settled = kernel::try_socket(family, kind);
        let counted = tally.counted(Kind::Network);
        let mut log = tally.remembered(&own_name());
        let last = kernel::try_socket(family, kind);
        let last_was_counted = tally.counted(Kind::Network) > counted;

        let attempts = counted.saturating_sub(u64::from(last_was_counted)); // the first probe was counted as well
        let bypass = tally.counted(Kind::Bypass);
        log.truncate(usize::try_from(attempts + bypass).unwrap_or(usize::MAX));
        report.log = log;
        if way.counts() {
            report.attempts = Some(attempts);
            report.bypass_attempts = Some(bypass);
        }
        if settled.is_ok() || last.is_ok() {
            weaken(report, Strength::None, "a probe at the end was not denied");
        } else if way.counts() && !last_was_counted {
            weaken(report, Strength::Enforced, "a probe at the end was denied, and not counted");
        }
    }
}

/// Of this program, as the system shortens it; empty if it does not say.
fn own_name() -> String {
    let name = fs::read_to_string("/proc/self/comm").unwrap_or_default();
    name.trim_end().to_owned()
}

/// What was caught stays; that nothing was is not known any more.
fn weaken(report: &mut Report, strength: Strength, why: &str) {
    report.pass_over(report.mechanism, why);
    report.strength = strength;
    report.attempts = report.attempts.filter(|count| *count > 0);
    report.bypass_attempts = report.bypass_attempts.filter(|count| *count > 0);
}

/// A way to deny.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Notify,
    Trap,
    Errno,
}

impl Way {
    /// Installs it and tests it. The probes are then forgotten.
    fn stand(self, tally: &'static Tally) -> Result<SelfTest, String> {
        let installed = match self {
            Way::Notify => notify::arm(tally),
            Way::Trap => trap::arm(),
            Way::Errno => kernel::install(&program::program(program::ERRNO | libc::EACCES as u32)),
        };
        installed.map_err(|problem| problem.to_string())?;
        let tested = self.self_test(tally);
        tally.clear();
        tested
    }

    /// Every probe must get exactly our denial, and move the count by exactly one: a sandbox around us that
    /// answers in our stead would let attempts go uncounted.
    fn self_test(self, tally: &Tally) -> Result<SelfTest, String> {
        let (mut denied, mut counted) = (0, 0);
        for (family, kind) in PROBES {
            let before = tally.counted(Kind::Network);
            let answer = kernel::try_socket(family, kind).map_err(|problem| problem.raw_os_error());
            denied += u32::from(answer == Err(Some(libc::EACCES)));
            counted += u32::from(tally.counted(Kind::Network) == before + 1);
        }
        let probes = PROBES.len() as u32;
        if denied == probes && (counted == probes || !self.counts()) {
            Ok(SelfTest { probes, denied, counted: self.counts().then_some(counted) })
        } else {
            Err(format!("of {probes} probes, {denied} got this guard's denial and {counted} were counted"))
        }
    }

    fn counts(self) -> bool {
        self.strength() >= Strength::EnforcedCountedSelf
    }

    fn strength(self) -> Strength {
        match self {
            Way::Notify => Strength::EnforcedCounted,
            Way::Trap => Strength::EnforcedCountedSelf,
            Way::Errno => Strength::Enforced,
        }
    }

    fn mechanism(self) -> Mechanism {
        match self {
            Way::Notify => Mechanism::SeccompNotify,
            Way::Trap => Mechanism::SeccompTrap,
            Way::Errno => Mechanism::SeccompErrno,
        }
    }

    fn not_covered(self) -> Vec<&'static str> {
        let own = match self {
            Way::Notify => None,
            Way::Trap => Some("a program started from here: killed at its first attempt, and not counted"),
            Way::Errno => Some("how often it was tried: this mechanism denies, and does not count"),
        };
        own.into_iter().chain(NEVER_COVERED).collect()
    }
}

/// One of every family that matters, and of both kinds that leave the machine.
const PROBES: [(c_int, c_int); 7] = [
    (libc::AF_INET, libc::SOCK_STREAM),
    (libc::AF_INET, libc::SOCK_DGRAM),
    (libc::AF_INET6, libc::SOCK_STREAM),
    (libc::AF_UNIX, libc::SOCK_STREAM),
    (libc::AF_VSOCK, libc::SOCK_STREAM),
    (libc::AF_NETLINK, libc::SOCK_RAW),
    (libc::AF_PACKET, libc::SOCK_RAW),
];

const NEVER_COVERED: [&str; 4] = [
    "code that runs as root and means to get out: the run made no call, which is not that it could not",
    "traffic the kernel makes by itself, as for a path on a network file system",
    "another process asked over a file, a pipe or a terminal",
    "plain reads and writes on a Unix socket this process was started with",
];
