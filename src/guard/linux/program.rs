//! The filter itself: a program of the kernel's packet-filter machine over the number of a call, its calling
//! convention and its arguments. It reads registers only, never memory that the caller could change meanwhile.

use super::denied::DENIED;
use libc::sock_filter;

/// What a denied call gets.
pub(super) use libc::{
    SECCOMP_RET_ERRNO as ERRNO, SECCOMP_RET_TRAP as TRAP, SECCOMP_RET_USER_NOTIF as USER_NOTIF,
};

/// Denied calls end in `action`, calls of a foreign calling convention end the process, all others pass.
///
/// ```text
///   convention ours? ──no──▶ kill
///   number foreign?  ──yes─▶ kill          (the 32-bit convention in 64-bit clothes; x86-64 alone has it)
///   socketpair?      ──yes─▶ unix? ──yes─▶ allow
///   denied?          ──yes─▶ action ◀──no──┘
///   allow
/// ```
pub(super) fn program(action: u32) -> Vec<sock_filter> {
    let mut steps = vec![Step::Load(CONVENTION), Step::Unless(NATIVE, Goal::Kill), Step::Load(NUMBER)];
    if let Some(first) = FOREIGN_NUMBERS {
        steps.push(Step::FromOn(first, Goal::Kill));
    }
    steps.push(Step::If(libc::SYS_socketpair as u32, Goal::Pair));
    steps.extend(DENIED.iter().map(|denied| Step::If(denied.number as u32, Goal::Deny)));
    steps.push(Step::Return(libc::SECCOMP_RET_ALLOW));
    steps.extend([
        Step::Here(Goal::Pair),
        Step::Load(FIRST_ARGUMENT),
        Step::Unless(libc::AF_UNIX as u32, Goal::Deny),
        Step::Return(libc::SECCOMP_RET_ALLOW),
        Step::Here(Goal::Deny),
        Step::Return(action),
        Step::Here(Goal::Kill),
        Step::Return(libc::SECCOMP_RET_KILL_PROCESS),
    ]);
    assemble(&steps)
}

/// Offsets into what the kernel shows of a call. The low half of an argument comes first on both processors, and
/// the kernel reads no more of a socket family than that.
const NUMBER: u32 = 0;
const CONVENTION: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;

#[cfg(target_arch = "x86_64")]
const NATIVE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const NATIVE: u32 = 0xC000_00B7;

/// From this number on, calls are made in another convention under the native name.
const FOREIGN_NUMBERS: Option<u32> = if cfg!(target_arch = "x86_64") { Some(0x4000_0000) } else { None };

#[derive(Clone, Copy)]
enum Step {
    Load(u32),
    If(u32, Goal),
    Unless(u32, Goal),
    FromOn(u32, Goal),
    Return(u32),
    /// No instruction: where the jumps to this goal land.
    Here(Goal),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    Pair,
    Deny,
    Kill,
}

const LOAD_WORD: u16 = 0x20;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;

fn assemble(steps: &[Step]) -> Vec<sock_filter> {
    let mut program = Vec::with_capacity(steps.len());
    for (at, step) in steps.iter().enumerate() {
        let rest = &steps[at + 1..];
        program.extend(match *step {
            Step::Load(offset) => Some(sock_filter { code: LOAD_WORD, jt: 0, jf: 0, k: offset }),
            Step::If(k, goal) => {
                Some(sock_filter { code: JUMP_IF_EQUAL, jt: distance(rest, goal), jf: 0, k })
            }
            Step::Unless(k, goal) => {
                Some(sock_filter { code: JUMP_IF_EQUAL, jt: 0, jf: distance(rest, goal), k })
            }
            Step::FromOn(k, goal) => {
                Some(sock_filter { code: JUMP_IF_AT_LEAST, jt: distance(rest, goal), jf: 0, k })
            }
            Step::Return(k) => Some(sock_filter { code: RETURN, jt: 0, jf: 0, k }),
            Step::Here(_) => None,
        });
    }
    program
}

/// How many instructions lie before the goal. The machine jumps forward only.
fn distance(rest: &[Step], goal: Goal) -> u8 {
    let before = rest.iter().take_while(|step| !matches!(step, Step::Here(here) if *here == goal));
    let instructions = before.filter(|step| !matches!(step, Step::Here(_))).count();
    u8::try_from(instructions).expect("every goal lies within one jump")
}

#[cfg(test)]
mod tests {
    use super::*;
    use libc::{AF_INET, AF_UNIX, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS};

    const I386: u32 = 0x4000_0003;

    #[test]
    fn every_denied_call_gets_the_action_and_no_other_does() {
        for number in 0..=600 {
            if number != libc::SYS_socketpair {
                let denied = DENIED.iter().any(|denied| denied.number == number);
                check(NATIVE, number as u32, AF_INET, if denied { TRAP } else { SECCOMP_RET_ALLOW });
            }
        }
    }

    #[test]
    fn a_pair_of_unix_sockets_passes_and_no_other_pair_does() {
        check(NATIVE, libc::SYS_socketpair as u32, AF_UNIX, SECCOMP_RET_ALLOW);
        check(NATIVE, libc::SYS_socketpair as u32, AF_INET, TRAP);
        check(NATIVE, libc::SYS_socketpair as u32, libc::AF_TIPC, TRAP);
    }

    #[test]
    fn a_foreign_calling_convention_ends_the_process_whatever_it_calls() {
        for number in [0, libc::SYS_socket as u32, 359] {
            check(I386, number, AF_INET, SECCOMP_RET_KILL_PROCESS);
        }
        if FOREIGN_NUMBERS.is_some() {
            check(NATIVE, 0x4000_0000 | libc::SYS_socket as u32, AF_INET, SECCOMP_RET_KILL_PROCESS);
            check(NATIVE, u32::MAX, AF_INET, SECCOMP_RET_KILL_PROCESS);
        }
    }

    /// Runs the program as the kernel would.
    fn check(convention: u32, number: u32, first_argument: i32, action: u32) {
        let program = program(TRAP);
        let (mut at, mut loaded) = (0, 0);
        let got = loop {
            let step = program[at];
            at += 1;
            match step.code {
                LOAD_WORD => {
                    loaded = match step.k {
                        NUMBER => number,
                        CONVENTION => convention,
                        FIRST_ARGUMENT => first_argument as u32,
                        offset => panic!("reads at {offset}"),
                    }
                }
                JUMP_IF_EQUAL => at += usize::from(if loaded == step.k { step.jt } else { step.jf }),
                JUMP_IF_AT_LEAST => at += usize::from(if loaded >= step.k { step.jt } else { step.jf }),
                RETURN => break step.k,
                code => panic!("no instruction {code:#x}"),
            }
        };
        assert_eq!(got, action, "convention {convention:#x}, call {number}, first argument {first_argument}");
    }
}
