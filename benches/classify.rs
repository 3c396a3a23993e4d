//! Classifications a second on one core over every recorded failure, whose inputs are read before the clock starts, and
//! with the reading of their JSON. Divan's items are classifications.
//!
//! `cargo bench --bench classify`

#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

use divan::counter::ItemsCount;
use divan::{AllocProfiler, Bencher, black_box};
use faultlab::wire::{Dialect, Input, classify};
use serde_json::Value;

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

const ROWS: [&str; 2] = [
    include_str!("../tests/data/vectors/provider_errors/failures.jsonl"),
    include_str!("../tests/data/vectors/provider_errors/constructed.jsonl"),
];

fn main() {
    divan::main();
}

/// The lines of the corpus.
fn lines() -> Vec<&'static str> {
    ROWS.iter().flat_map(|rows| rows.lines()).filter(|line| !line.trim().is_empty()).collect()
}

fn read(line: &str) -> Input {
    Input::from_json(serde_json::from_str::<Value>(line).unwrap())
}

#[divan::bench]
fn a_classify(bencher: Bencher<'_, '_>) {
    by(bencher, &Dialect::standard());
}

#[divan::bench]
fn b_status_only(bencher: Bencher<'_, '_>) {
    by(bencher, &Dialect::status_only());
}

fn by(bencher: Bencher<'_, '_>, dialect: &Dialect) {
    let inputs: Vec<Input> = lines().into_iter().map(read).collect();
    bencher
        .counter(ItemsCount::new(inputs.len()))
        .bench_local(|| inputs.iter().for_each(|input| drop(black_box(classify(black_box(input), dialect)))));
}

#[divan::bench]
fn c_read_and_classify(bencher: Bencher<'_, '_>) {
    let (lines, dialect) = (lines(), Dialect::standard());
    bencher
        .counter(ItemsCount::new(lines.len()))
        .bench_local(|| lines.iter().for_each(|line| drop(black_box(classify(&read(line), &dialect)))));
}
