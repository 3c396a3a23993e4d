//! What the guard costs: arming it, an ordinary call under it, an attempt.

#![expect(clippy::disallowed_types, reason = "measures real time")]

use super::stage::{arm, finish, say};
use faultlab::guard::Requirement::Require;
use std::fs::File;
use std::io::Write;
use std::time::Instant;

pub(crate) fn play() {
    let mut file = File::options().write(true).open("/dev/null").expect("everybody may");
    ordinary(&mut file);
    let before = ordinary(&mut file);
    let began = Instant::now();
    let guard = arm(Require);
    say("arming_us", began.elapsed().as_micros());
    say("ordinary_before_ns", before);
    say("ordinary_after_ns", ordinary(&mut file));
    let began = Instant::now();
    for _ in 0..ATTEMPTS {
        // SAFETY: numbers only; it is denied.
        assert_eq!(unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0) }, -1);
    }
    say("attempt_ns", began.elapsed().as_nanos() / ATTEMPTS);
    finish(guard, Require)
}

const ATTEMPTS: u128 = 20_000;
const CALLS: u128 = 500_000;

/// Nanoseconds of a call that does next to nothing.
fn ordinary(file: &mut File) -> u128 {
    let began = Instant::now();
    for _ in 0..CALLS {
        file.write_all(b"x").expect("nothing takes everything");
    }
    began.elapsed().as_nanos() / CALLS
}
