//! Which calls are denied: every call of the network, and every call by which one could have a socket without
//! one of those.

use crate::guard::Kind;
use std::ffi::{c_int, c_long};

/// A denied call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Denied {
    pub number: c_long,
    pub name: &'static str,
    pub kind: Kind,
}

/// In the order they are compared. `socketpair` is not among them: it is denied for every family but Unix, whose
/// pairs reach nobody outside and are how the standard library starts a program.
pub(super) static DENIED: [Denied; 25] = [
    network(libc::SYS_socket, "socket"),
    network(libc::SYS_connect, "connect"),
    network(libc::SYS_bind, "bind"),
    network(libc::SYS_listen, "listen"),
    network(libc::SYS_accept, "accept"),
    network(libc::SYS_accept4, "accept4"),
    network(libc::SYS_sendto, "sendto"),
    network(libc::SYS_sendmsg, "sendmsg"),
    network(libc::SYS_sendmmsg, "sendmmsg"),
    network(libc::SYS_recvfrom, "recvfrom"),
    network(libc::SYS_recvmsg, "recvmsg"),
    network(libc::SYS_recvmmsg, "recvmmsg"),
    // A ring makes the calls above without making calls.
    bypass(libc::SYS_io_uring_setup, "io_uring_setup"),
    bypass(libc::SYS_io_uring_enter, "io_uring_enter"),
    bypass(libc::SYS_io_uring_register, "io_uring_register"),
    // Another process is robbed of a socket, or made to open one.
    bypass(libc::SYS_pidfd_getfd, "pidfd_getfd"),
    bypass(libc::SYS_ptrace, "ptrace"),
    bypass(libc::SYS_process_vm_writev, "process_vm_writev"),
    bypass(libc::SYS_bpf, "bpf"),
    // The kernel asks a helper outside the filter to look a name up.
    bypass(libc::SYS_request_key, "request_key"),
    bypass(libc::SYS_add_key, "add_key"),
    bypass(libc::SYS_keyctl, "keyctl"),
    // A mount of a network file system makes the kernel itself connect.
    bypass(libc::SYS_mount, "mount"),
    bypass(libc::SYS_fsopen, "fsopen"),
    bypass(libc::SYS_setns, "setns"),
];

static SOCKETPAIR: Denied = network(libc::SYS_socketpair, "socketpair");

const fn network(number: c_long, name: &'static str) -> Denied {
    Denied { number, name, kind: Kind::Network }
}

const fn bypass(number: c_long, name: &'static str) -> Denied {
    Denied { number, name, kind: Kind::Bypass }
}

/// The entry of a call that the filter denied. It allocates nothing and calls nobody: a signal handler asks too.
pub(super) fn denied(number: c_long) -> Option<&'static Denied> {
    if number == SOCKETPAIR.number {
        return Some(&SOCKETPAIR);
    }
    DENIED.iter().find(|denied| denied.number == number)
}

/// The family that a denied call named in its first argument, if it is one that does.
pub(super) fn family(number: c_long, first_argument: u64) -> Option<&'static str> {
    if number != libc::SYS_socket && number != SOCKETPAIR.number {
        return None;
    }
    Some(match first_argument as c_int {
        libc::AF_UNIX => "unix",
        libc::AF_INET => "inet",
        libc::AF_INET6 => "inet6",
        libc::AF_NETLINK => "netlink",
        libc::AF_PACKET => "packet",
        libc::AF_VSOCK => "vsock",
        _ => "other",
    })
}
