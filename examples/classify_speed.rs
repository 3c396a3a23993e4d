//! How many recorded failures a second one core classifies. Run with `--release`; the number is for people.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_types,
    reason = "a measurement reads the clock and prints"
)]

use faultlab::wire::{Dialect, Input, classify};
use std::time::Instant;

fn main() {
    let corpus = include_str!("../tests/data/vectors/provider_errors/failures.jsonl");
    let rows = corpus.lines().filter_map(|line| serde_json::from_str(line).ok());
    let inputs: Vec<Input> = rows.map(Input::from_json).collect();
    let dialect = Dialect::standard();
    let mut best = 0;
    for _ in 0..10 {
        let begun = Instant::now();
        let mut failures = 0;
        for _ in 0..100 {
            failures += inputs.iter().filter(|input| classify(input, &dialect).class.is_some()).count();
        }
        let nanos = begun.elapsed().as_nanos();
        let rate = u128::try_from(inputs.len() * 100).unwrap_or(0) * 1_000_000_000 / nanos.max(1);
        assert!(failures > 0, "the corpus is of failures");
        best = best.max(rate);
    }
    println!("{} inputs, {best} classifications a second", inputs.len());
}
