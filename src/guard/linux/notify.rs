//! Counting by question: the kernel stops a denied call and asks a thread of ours, which counts first and answers
//! then. So the caller never runs on before it is counted, whichever program it is.

use super::kernel::{self, Question, Questions};
use super::program::{USER_NOTIF, program};
use super::tally::{Denial, Tally, words};
use std::{fs, io, thread};

/// Installs the filter and starts the supervisor.
pub(super) fn arm(tally: &'static Tally) -> io::Result<()> {
    let listener = kernel::install_asking(&program(USER_NOTIF))?;
    let questions = Questions::at(listener);
    thread::Builder::new().name("guard".to_owned()).spawn(move || supervise(questions, tally))?;
    Ok(())
}

/// Answers until the kernel does not ask any more. If that ever ends, the listener closes with it and the kernel
/// denies by itself (ENOSYS): still shut, but uncounted, which the probe at the end notices.
fn supervise(mut questions: Questions, tally: &Tally) {
    loop {
        match questions.next() {
            Ok(question) => deny(&mut questions, question, tally),
            Err(problem) => match problem.raw_os_error() {
                Some(libc::EINTR | libc::ENOENT) => {} // a signal of ours, or the caller was gone by the time
                Some(_) | None => return,
            },
        }
    }
}

fn deny(questions: &mut Questions, question: Question, tally: &Tally) {
    let Question { call, first_argument, process, .. } = question;
    let denial = Denial { call, first_argument, process };
    let slot = tally.count(denial);
    if let Some(slot) = slot {
        tally.remember(slot, denial, words(&program_of(process)));
    }
    match questions.deny(question) {
        Err(problem) if problem.raw_os_error() == Some(libc::ENOENT) => tally.take_back(denial, slot),
        Ok(()) | Err(_) => {}
    }
}

/// The name of a program that is waiting for our answer; empty if it cannot be read.
fn program_of(process: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    name.trim_end().to_owned()
}
