//! macOS: the named sandbox profile without network, long deprecated and still there. It denies where an address
//! is used, not where a socket is made, so the probes connect and bind, to this machine alone.

#![expect(unsafe_code, reason = "the sandbox and the probes are calls of the system's C library")]

use super::{GuardError, Mechanism, Report, SelfTest, Strength};
use std::ffi::{CStr, c_char, c_int};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::{io, ptr};

#[path = "descriptors.rs"]
mod descriptors;

/// The sandbox, which nobody can leave.
#[derive(Debug)]
pub(super) struct Watch;

/// Enters the sandbox and proves it. A refusal to enter usually means that there is one already, around this
/// process: then the probes decide what is claimed.
pub(super) fn arm(report: &mut Report) -> Result<Option<Watch>, GuardError> {
    match descriptors::inherited()? {
        Ok(passed) => report.inherited = passed,
        Err(problem) => {
            report.pass_over(
                Mechanism::SandboxInit,
                format!("the open descriptors cannot be listed: {problem}"),
            );
            return Ok(None);
        }
    }
    let mechanism = match enter() {
        Ok(()) => Mechanism::SandboxInit,
        Err(problem) => {
            report.pass_over(Mechanism::SandboxInit, problem);
            Mechanism::OuterSandbox
        }
    };
    let denied = PROBES.iter().filter(|probe| is_denied(probe)).count();
    report.self_test = SelfTest { probes: PROBES.len() as u32, denied: denied as u32, counted: None };
    if denied < PROBES.len() {
        report.pass_over(mechanism, format!("{denied} of {} probes were denied", PROBES.len()));
        return Ok(None);
    }
    report.strength = Strength::Enforced;
    report.mechanism = mechanism;
    report.not_covered = vec![
        "how often it was tried: this system denies, and does not count",
        "code that runs as root and means to get out",
        "traffic the kernel makes by itself, as for a path on a network volume",
        "another process asked over a file, a pipe or a Mach port",
        "reads and writes on a Unix socket this process was started with",
    ];
    Ok(Some(Watch))
}

impl Watch {
    /// Probes again.
    pub(super) fn finish(self, report: &mut Report) {
        if !PROBES.iter().all(is_denied) {
            report.pass_over(report.mechanism, "a probe at the end was not denied");
            report.strength = Strength::None;
            report.mechanism = Mechanism::None;
        }
    }
}

fn enter() -> Result<(), String> {
    let mut message: *mut c_char = ptr::null_mut();
    // SAFETY: the profile's name ends in a zero byte; the message is ours to read and to free.
    unsafe {
        if sandbox_init(c"no-network".as_ptr(), SANDBOX_NAMED, &raw mut message) == 0 {
            return Ok(());
        }
        if message.is_null() {
            return Err("refused without a reason".to_owned());
        }
        let reason = CStr::from_ptr(message).to_string_lossy().into_owned();
        sandbox_free_error(message);
        Err(reason)
    }
}

const SANDBOX_NAMED: u64 = 1;

unsafe extern "C" {
    fn sandbox_init(profile: *const c_char, flags: u64, message: *mut *mut c_char) -> c_int;
    fn sandbox_free_error(message: *mut c_char);
}

/// One use of an address of this machine.
struct Probe {
    family: c_int,
    kind: c_int,
    by: unsafe extern "C" fn(c_int, *const libc::sockaddr, libc::socklen_t) -> c_int,
    port: u16,
}

const DISCARD: u16 = 9;
const ANY: u16 = 0;

const PROBES: [Probe; 6] = [
    Probe { family: libc::AF_INET, kind: libc::SOCK_STREAM, by: libc::connect, port: DISCARD },
    Probe { family: libc::AF_INET, kind: libc::SOCK_DGRAM, by: libc::connect, port: DISCARD },
    Probe { family: libc::AF_INET6, kind: libc::SOCK_STREAM, by: libc::connect, port: DISCARD },
    Probe { family: libc::AF_INET, kind: libc::SOCK_STREAM, by: libc::bind, port: ANY },
    Probe { family: libc::AF_INET, kind: libc::SOCK_DGRAM, by: libc::bind, port: ANY },
    Probe { family: libc::AF_INET6, kind: libc::SOCK_DGRAM, by: libc::bind, port: ANY },
];

/// Whether the sandbox says no, be it to the socket or to its use. Any other refusal is not its doing.
fn is_denied(probe: &Probe) -> bool {
    let errno = attempt(probe).err().and_then(|problem| problem.raw_os_error());
    matches!(errno, Some(libc::EPERM | libc::EACCES))
}

fn attempt(probe: &Probe) -> io::Result<()> {
    // SAFETY: a new descriptor is owned once, and open while its address is used.
    unsafe {
        let socket = libc::socket(probe.family, probe.kind, 0);
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        let socket = OwnedFd::from_raw_fd(socket);
        match use_address(probe, socket.as_raw_fd()) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()), // read before the socket is closed
        }
    }
}

/// # Safety
/// `socket` is open.
unsafe fn use_address(probe: &Probe, socket: c_int) -> c_int {
    let port = probe.port.to_be();
    // SAFETY: all zeroes is a valid address of either family.
    unsafe {
        if probe.family == libc::AF_INET {
            let mut address: libc::sockaddr_in = std::mem::zeroed();
            address.sin_len = size_of::<libc::sockaddr_in>() as u8;
            address.sin_family = libc::AF_INET as libc::sa_family_t;
            address.sin_port = port;
            address.sin_addr.s_addr = u32::from_ne_bytes([127, 0, 0, 1]);
            (probe.by)(socket, (&raw const address).cast(), libc::socklen_t::from(address.sin_len))
        } else {
            let mut address: libc::sockaddr_in6 = std::mem::zeroed();
            address.sin6_len = size_of::<libc::sockaddr_in6>() as u8;
            address.sin6_family = libc::AF_INET6 as libc::sa_family_t;
            address.sin6_port = port;
            address.sin6_addr.s6_addr[15] = 1;
            (probe.by)(socket, (&raw const address).cast(), libc::socklen_t::from(address.sin6_len))
        }
    }
}
