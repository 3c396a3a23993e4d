//! Sandboxes that faultlab may find itself in, built around a process that the guard is then armed in. Each is a
//! small filter of calls: what a container engine, an old kernel or a stricter one would answer.

use libc::{sock_filter, sock_fprog};

/// A container engine that answers for one socket family by itself, before any other filter is asked; and with the
/// guard's own word, so that only the count can tell.
pub(crate) fn answers_for_vsock() {
    let vsock = libc::AF_VSOCK as u32;
    install(&[
        load(NUMBER),
        skip_unless_equal(libc::SYS_socket as u32, 3),
        load(FIRST_ARGUMENT),
        skip_unless_equal(vsock, 1),
        fail_with(libc::EACCES),
        ALLOW,
    ]);
}

/// Somebody who denies every socket in the guard's stead, and does not tell.
pub(crate) fn answers_for_sockets() {
    install(&[load(NUMBER), skip_unless_equal(libc::SYS_socket as u32, 1), fail_with(libc::EPERM), ALLOW]);
}

/// A kernel that can filter, and cannot ask about what it filters.
pub(crate) fn cannot_ask() {
    knows_no_flag(libc::SECCOMP_FILTER_FLAG_NEW_LISTENER as u32);
}

/// A kernel that asks, and lets any signal interrupt the call it asks about.
pub(crate) fn is_interrupted_while_it_asks() {
    knows_no_flag(libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV as u32);
}

fn knows_no_flag(flag: u32) {
    install(&[
        load(NUMBER),
        skip_unless_equal(libc::SYS_seccomp as u32, 3),
        load(SECOND_ARGUMENT),
        skip_unless_any_bit(flag, 1),
        fail_with(libc::EINVAL),
        ALLOW,
    ]);
}

/// The same, and nobody may handle the signal of a trap.
pub(crate) fn cannot_ask_nor_trap() {
    cannot_ask();
    install(&[
        load(NUMBER),
        skip_unless_equal(libc::SYS_rt_sigaction as u32, 3),
        load(FIRST_ARGUMENT),
        skip_unless_equal(libc::SIGSYS as u32, 1),
        fail_with(libc::EPERM),
        ALLOW,
    ]);
}

/// A kernel without filters.
pub(crate) fn cannot_filter() {
    install(&[load(NUMBER), skip_unless_equal(libc::SYS_seccomp as u32, 1), fail_with(libc::ENOSYS), ALLOW]);
}

const NUMBER: u32 = 0;
const FIRST_ARGUMENT: u32 = 16;
const SECOND_ARGUMENT: u32 = 24;
const ALLOW: sock_filter = sock_filter { code: 0x06, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW };

fn load(offset: u32) -> sock_filter {
    sock_filter { code: 0x20, jt: 0, jf: 0, k: offset }
}

fn skip_unless_equal(value: u32, instructions: u8) -> sock_filter {
    sock_filter { code: 0x15, jt: 0, jf: instructions, k: value }
}

fn skip_unless_any_bit(bits: u32, instructions: u8) -> sock_filter {
    sock_filter { code: 0x45, jt: 0, jf: instructions, k: bits }
}

fn fail_with(errno: i32) -> sock_filter {
    sock_filter { code: 0x06, jt: 0, jf: 0, k: libc::SECCOMP_RET_ERRNO | errno as u32 }
}

fn install(program: &[sock_filter]) {
    let program = sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    // SAFETY: the kernel copies the program.
    let results = unsafe {
        [
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
            libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program),
        ]
    };
    assert_eq!(results, [0, 0], "the outer sandbox cannot be built: {}", std::io::Error::last_os_error());
}
