//! The descriptors this process was started with. A filter of calls cannot tell a write to a socket from a write
//! to a file, so a network socket in the hands of the process is a hole, and is looked for before anything else.

#![expect(unsafe_code, reason = "asks the system which socket family a descriptor has")]

use crate::guard::{GuardError, Inherited};
use std::ffi::c_int;
use std::{fs, io};

/// Every socket and ring among the open descriptors that is let pass: Unix sockets, as harnesses hand them over
/// as standard streams.
///
/// The outer error is a refusal; the inner one says that the descriptors cannot be listed.
pub(super) fn inherited() -> Result<io::Result<Vec<Inherited>>, GuardError> {
    let found = match open() {
        Ok(descriptors) => descriptors.filter_map(look_at).collect::<Vec<_>>(),
        Err(problem) => return Ok(Err(problem)),
    };
    let (mut passed, mut refused): (Vec<_>, Vec<_>) = found.into_iter().partition(|one| one.what == UNIX);
    refused.sort_by_key(|one| one.descriptor);
    passed.sort_by_key(|one| one.descriptor);
    if refused.is_empty() { Ok(Ok(passed)) } else { Err(GuardError::Inherited(refused)) }
}

const UNIX: &str = "unix socket";

#[cfg(target_os = "linux")]
const LIST: &str = "/proc/self/fd";
#[cfg(target_os = "macos")]
const LIST: &str = "/dev/fd";

fn open() -> io::Result<impl Iterator<Item = i32>> {
    let entries = fs::read_dir(LIST)?;
    Ok(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()))
}

fn look_at(descriptor: i32) -> Option<Inherited> {
    if let Some(family) = family_of(descriptor) {
        return Some(Inherited { descriptor, what: socket_name(family) });
    }
    // A ring submits any operation without a call of its own. Where descriptors are no links there are none.
    let target = fs::read_link(format!("{LIST}/{descriptor}")).ok()?;
    let ring = target.to_str().is_some_and(|target| target.contains("[io_uring]"));
    ring.then_some(Inherited { descriptor, what: "io_uring" })
}

fn family_of(descriptor: i32) -> Option<c_int> {
    // SAFETY: all zeroes is a valid address storage, and the length says how much of it may be written.
    let (result, address) = unsafe {
        let mut address: libc::sockaddr_storage = std::mem::zeroed();
        let mut length = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        (libc::getsockname(descriptor, (&raw mut address).cast(), &raw mut length), address)
    };
    (result == 0).then_some(c_int::from(address.ss_family))
}

fn socket_name(family: c_int) -> &'static str {
    match family {
        libc::AF_UNIX => UNIX,
        libc::AF_INET => "inet socket",
        libc::AF_INET6 => "inet6 socket",
        _ => "socket of another family",
    }
}
