//! Classifications a second on one core over every recorded failure: inputs that were read before the clock started,
//! and with the reading of their JSON. Time is what the processor gave us, and each figure the best of several rounds.
//!
//! `cargo bench --bench classify` prints everything; `-- --test` only shows that it runs.

#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark")]
#![allow(clippy::float_arithmetic, clippy::disallowed_methods, reason = "it takes and prints the time")]

use cpu_time::ThreadTime;
use faultlab::wire::{Dialect, Input, classify};
use serde_json::Value;
use std::hint::black_box;

const ROWS: [&str; 2] = [
    include_str!("../tests/data/vectors/provider_errors/failures.jsonl"),
    include_str!("../tests/data/vectors/provider_errors/constructed.jsonl"),
];

fn main() {
    let rounds = if std::env::args().any(|arg| arg == "--test") { 1 } else { 200 };
    let lines: Vec<&str> =
        ROWS.iter().flat_map(|rows| rows.lines()).filter(|line| !line.trim().is_empty()).collect();
    let inputs: Vec<Input> = lines.iter().map(|line| read(line)).collect();
    let (standard, status_only) = (Dialect::standard(), Dialect::status_only());
    println!("{} recorded failures, best of {rounds}, a second and core", lines.len());
    tell("classify", lines.len(), rounds, || inputs.iter().for_each(|input| by(input, &standard)));
    tell("by status alone", lines.len(), rounds, || inputs.iter().for_each(|input| by(input, &status_only)));
    tell("read and classify", lines.len(), rounds, || {
        lines.iter().for_each(|line| by(&read(line), &standard))
    });
}

fn read(line: &str) -> Input {
    Input::from_json(serde_json::from_str::<Value>(line).unwrap())
}

fn by(input: &Input, dialect: &Dialect) {
    drop(black_box(classify(black_box(input), dialect)));
}

fn tell(name: &str, count: usize, rounds: u32, work: impl Fn()) {
    let round = |_| {
        let began = ThreadTime::now();
        work();
        began.elapsed().as_secs_f64()
    };
    let best = (0..rounds).map(round).fold(f64::MAX, f64::min);
    println!("{name:<18} {:>10.0}", count as f64 / best);
}
