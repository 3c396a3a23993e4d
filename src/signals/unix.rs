//! Handlers that do nothing but say a sentence and end the process: both are allowed in the middle of anything.

#![expect(unsafe_code, reason = "a signal handler is set and run by the C library")]

use std::ffi::c_int;
use std::ptr;

pub(super) fn prepare() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        if !is_ignored(signal) {
            act(signal, end as *const () as usize);
        }
    }
    // A write beyond a limit is then an error that is told, not the end of the process.
    act(libc::SIGXFSZ, libc::SIG_IGN);
}

const SENTENCE: &[u8] = b"error: interrupted: this run gives no verdict\n";

extern "C" fn end(signal: c_int) {
    // SAFETY: both calls are allowed in handlers; the sentence is there for ever.
    unsafe {
        libc::write(libc::STDERR_FILENO, SENTENCE.as_ptr().cast(), SENTENCE.len());
        libc::_exit(128 + signal)
    }
}

fn is_ignored(signal: c_int) -> bool {
    // SAFETY: zeroes are a valid action; a null one changes nothing.
    unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, ptr::null(), &raw mut old) == 0 && old.sa_sigaction == libc::SIG_IGN
    }
}

fn act(signal: c_int, handler: usize) {
    // SAFETY: zeroes are a valid action, with an empty set; the handler has the form that no flag asks for.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        libc::sigaction(signal, &raw const action, ptr::null_mut());
    }
}
