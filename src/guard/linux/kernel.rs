//! The few calls of the kernel that the guard makes, each wrapped so that the rest of it is safe.

#![expect(unsafe_code, reason = "system calls; the guard is the only room that makes any by itself")]

use super::tally::Tally;
use libc::sock_filter;
use std::ffi::{c_int, c_long, c_ulong, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::{io, ptr};

/// From here on, no program started from this process gains rights: the condition for filters of the unprivileged.
pub(super) fn forbid_new_privileges() -> io::Result<()> {
    // SAFETY: numbers only.
    succeeded(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })
}

/// Installs a filter on every thread.
pub(super) fn install(program: &[sock_filter]) -> io::Result<()> {
    match set_filter(libc::SECCOMP_FILTER_FLAG_TSYNC, program)? {
        0 => Ok(()),
        thread => Err(io::Error::other(format!("thread {thread} cannot be put under the filter"))),
    }
}

/// Installs a filter on every thread whose denials are asked about at the descriptor returned.
pub(super) fn install_asking(program: &[sock_filter]) -> io::Result<OwnedFd> {
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER
        | libc::SECCOMP_FILTER_FLAG_TSYNC
        | libc::SECCOMP_FILTER_FLAG_TSYNC_ESRCH;
    // Only a deadly signal interrupts a call that we know of already; kernels before 5.19 cannot do that.
    let listener = match set_filter(flags | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, program) {
        Err(problem) if problem.raw_os_error() == Some(libc::EINVAL) => set_filter(flags, program)?,
        other => other?,
    };
    // SAFETY: a new descriptor that nobody else knows.
    Ok(unsafe { OwnedFd::from_raw_fd(listener) })
}

fn set_filter(flags: c_ulong, program: &[sock_filter]) -> io::Result<c_int> {
    let length = u16::try_from(program.len()).expect("a filter has less than a hundred instructions");
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    let operation = c_ulong::from(libc::SECCOMP_SET_MODE_FILTER);
    // SAFETY: the kernel copies the program and writes nothing.
    let result = unsafe { libc::syscall(libc::SYS_seccomp, operation, flags, &raw const program) };
    match c_int::try_from(result) {
        Ok(result) if result >= 0 => Ok(result),
        Ok(_) | Err(_) => Err(io::Error::last_os_error()),
    }
}

/// Where the kernel asks about denied calls.
#[derive(Debug)]
pub(super) struct Questions {
    listener: OwnedFd,
    /// Room for what the kernel writes, which may be more than we know of; words, for the alignment.
    question: Vec<u64>,
    answer: Vec<u64>,
}

/// A call that waits for an answer.
#[derive(Clone, Copy)]
pub(super) struct Question {
    id: u64,
    pub call: c_long,
    pub first_argument: u64,
    pub process: u32,
}

impl Questions {
    pub(super) fn at(listener: OwnedFd) -> Questions {
        let mut sizes =
            libc::seccomp_notif_sizes { seccomp_notif: 0, seccomp_notif_resp: 0, seccomp_data: 0 };
        let operation = c_ulong::from(libc::SECCOMP_GET_NOTIF_SIZES);
        let none: c_ulong = 0;
        // SAFETY: the kernel fills the three sizes in. If it does not know the question, zeroes stay.
        unsafe { libc::syscall(libc::SYS_seccomp, operation, none, &raw mut sizes) };
        let question = usize::from(sizes.seccomp_notif).max(size_of::<libc::seccomp_notif>());
        let answer = usize::from(sizes.seccomp_notif_resp).max(size_of::<libc::seccomp_notif_resp>());
        Questions {
            listener,
            question: vec![0; question.div_ceil(size_of::<u64>())],
            answer: vec![0; answer.div_ceil(size_of::<u64>())],
        }
    }

    /// Waits for the next one.
    pub(super) fn next(&mut self) -> io::Result<Question> {
        self.question.fill(0);
        let room = self.question.as_mut_ptr();
        // SAFETY: the room is as large as the kernel asked for, and aligned for it.
        let notification = unsafe {
            succeeded(libc::ioctl(self.listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, room))?;
            room.cast::<libc::seccomp_notif>().read()
        };
        Ok(Question {
            id: notification.id,
            call: c_long::from(notification.data.nr),
            first_argument: notification.data.args[0],
            process: notification.pid,
        })
    }

    /// Answers that permission is denied. An error if the caller is not waiting any more.
    pub(super) fn deny(&mut self, question: Question) -> io::Result<()> {
        self.answer.fill(0);
        let answer = libc::seccomp_notif_resp { id: question.id, val: 0, error: -libc::EACCES, flags: 0 };
        let room = self.answer.as_mut_ptr();
        // SAFETY: the room is as large as the kernel asked for, and aligned for it.
        unsafe {
            room.cast::<libc::seccomp_notif_resp>().write(answer);
            succeeded(libc::ioctl(self.listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, room))
        }
    }
}

/// A tally that forks of this process share. It stays until the end.
pub(super) fn shared_zeroes() -> io::Result<&'static Tally> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
    // SAFETY: new pages of zeroes, aligned to a page and never unmapped; zeroes are a valid tally.
    unsafe {
        let pages = libc::mmap(ptr::null_mut(), size_of::<Tally>(), protection, flags, -1, 0);
        if pages == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(&*pages.cast()) }
    }
}

/// What the kernel calls for a trapped call.
pub(super) type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// Lets `handler` answer trapped calls. The signal is let through too: blocked, the first trap would be deadly.
/// It runs on the stack of the thread that made the call; the alternative one is sized for dying only.
pub(super) fn answer_traps(handler: Handler) -> io::Result<()> {
    // SAFETY: zeroes are a valid action and a valid set; the handler has the form that SA_SIGINFO asks for.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER | libc::SA_RESTART;
        succeeded(libc::sigaction(libc::SIGSYS, &raw const action, ptr::null_mut()))?;
        let mut set: libc::sigset_t = std::mem::zeroed();
        succeeded(libc::sigemptyset(&raw mut set))?;
        succeeded(libc::sigaddset(&raw mut set, libc::SIGSYS))?;
        succeeded(libc::sigprocmask(libc::SIG_UNBLOCK, &raw const set, ptr::null_mut()))
    }
}

/// Tries to open a socket. It is closed at once if that succeeds.
pub(super) fn try_socket(family: c_int, kind: c_int) -> io::Result<()> {
    // SAFETY: numbers only; a new descriptor is owned once.
    unsafe {
        let descriptor = libc::socket(family, kind, 0);
        succeeded(descriptor.min(0))?;
        drop(OwnedFd::from_raw_fd(descriptor));
    }
    Ok(())
}

fn succeeded(result: c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
