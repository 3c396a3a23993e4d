//! Counting by signal: a trapped call is a SIGSYS in the thread that made it, and the handler puts the denial
//! where the result of the call would be.

#![expect(unsafe_code, reason = "a signal handler reads and writes what the kernel hands it")]

use super::kernel;
use super::program::{TRAP, program};
use super::tally::{Denial, Tally};
use std::ffi::{c_int, c_long, c_void};
use std::io;

/// Installs handler and filter, in this order: the other way round, a call in between would be deadly.
pub(super) fn arm() -> io::Result<()> {
    kernel::answer_traps(on_trap)?;
    kernel::install(&program(TRAP))
}

/// What the kernel tells about a trap, behind the head that every signal has.
#[repr(C)]
struct Trapped {
    signal: c_int,
    errno: c_int,
    code: c_int,
    _padding: c_int,
    address: *mut c_void,
    call: c_int,
    convention: u32,
}

/// The signal is from a filter, not from another process.
const SYS_SECCOMP: c_int = 1;

/// Only atomics and the registers: whatever the thread was in the middle of, it is still in the middle of it.
extern "C" fn on_trap(_signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel hands both over for the time of this call, and a 64-bit kernel lays them out so.
    let (trapped, registers) =
        unsafe { (&*info.cast::<Trapped>(), &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext) };
    if trapped.code != SYS_SECCOMP {
        return;
    }
    if let Some(tally) = Tally::existing() {
        // SAFETY: no arguments, no failure, and allowed in handlers.
        let process = unsafe { libc::getpid() }.unsigned_abs();
        let denial =
            Denial { call: c_long::from(trapped.call), first_argument: first_argument(registers), process };
        if let Some(slot) = tally.count(denial) {
            tally.remember(slot, denial, [0, 0]);
        }
    }
    deny(registers);
}

#[cfg(target_arch = "x86_64")]
fn first_argument(registers: &libc::mcontext_t) -> u64 {
    registers.gregs[libc::REG_RDI as usize] as u64
}

#[cfg(target_arch = "x86_64")]
fn deny(registers: &mut libc::mcontext_t) {
    registers.gregs[libc::REG_RAX as usize] = i64::from(-libc::EACCES);
}

#[cfg(target_arch = "aarch64")]
fn first_argument(registers: &libc::mcontext_t) -> u64 {
    registers.regs[0] // not yet overwritten by a result
}

#[cfg(target_arch = "aarch64")]
fn deny(registers: &mut libc::mcontext_t) {
    registers.regs[0] = i64::from(-libc::EACCES) as u64;
}
