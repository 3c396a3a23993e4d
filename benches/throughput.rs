//! Requests a second and core through an open Poisson workload with eight routes, by how closely it is watched,
//! beside a hand-written loop that knows no policy. Time is what the processor gave us, not the clock on the wall.
//! Machines are noisy all the same: each figure is the best of several rounds, in which all modes take turns, and the
//! ratio to the floor loop of the same run is what to compare.
//!
//! `cargo bench --bench throughput` prints everything; `-- --test` only shows that it runs.

#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark")]
#![allow(clippy::float_arithmetic, clippy::disallowed_methods, reason = "it takes and prints the time")]

use cpu_time::ThreadTime;
use faultlab::judge::Judge;
use faultlab::scenario::{self, Scenario};
use faultlab::sim::{self, Catalog, Entry, Observer, Setup};
use faultlab::trace::{Digest, Lines, Roll};
use faultlab::units::draw::{below, mix};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

#[global_allocator]
static ALLOC: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() {
    let asked = |word: &str| std::env::args().any(|arg| arg == word);
    if asked("memory") {
        return memory(1_000_000);
    }
    if asked("--test") {
        table(1_000, 1);
        return memory(1_000);
    }
    table(100_000, 15);
    // A process of its own: what this one has used at its peak says nothing.
    std::process::Command::new(std::env::current_exe().unwrap()).arg("memory").status().unwrap();
}

/// How closely a run is watched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Not even played: the loop that knows no policy.
    Floor,
    Nothing,
    Digest,
    Laws,
    Events,
}

const MODES: [(Mode, &str); 5] = [
    (Mode::Floor, "floor loop"),
    (Mode::Nothing, "nothing"),
    (Mode::Digest, "digest"),
    (Mode::Laws, "laws"),
    (Mode::Events, "events"),
];

fn table(requests: u32, rounds: u32) {
    let bench = Bench::new();
    let mut best = [f64::MAX; MODES.len()];
    let mut entries = [0; MODES.len()];
    for _ in 0..rounds {
        for (at, (mode, _)) in MODES.iter().enumerate() {
            let began = ThreadTime::now();
            entries[at] = bench.play(*mode, requests);
            best[at] = best[at].min(began.elapsed().as_secs_f64());
        }
    }
    println!("{requests} requests, best of {rounds}");
    println!(
        "{:<10} {:>12} {:>10} {:>11} {:>10} {:>14} {:>15}",
        "observer", "requests/s", "of floor", "ns/request", "ns/entry", "above nothing", "allocs/entry"
    );
    for (at, (mode, name)) in MODES.iter().enumerate() {
        let (ns, per) = (best[at] * 1e9, |ns: f64, n: u64| if n == 0 { 0.0 } else { ns / n as f64 });
        println!(
            "{name:<10} {:>12.0} {:>10.3} {:>11.0} {:>10.1} {:>14.1} {:>15.4}",
            f64::from(requests) / best[at],
            best[0] / best[at],
            ns / f64::from(requests),
            per(ns, entries[at]),
            per(ns - best[1] * 1e9, entries[at]),
            bench.allocations(*mode, requests),
        );
    }
}

struct Bench {
    scenario: Scenario,
}

impl Bench {
    fn new() -> Bench {
        let scenario = scenario::load("open.toml", include_str!("open.toml"));
        Bench { scenario: scenario.map_err(|problems| problems.plain()).unwrap() }
    }

    fn setup(&self, requests: u32) -> Setup {
        let mut setup = self.scenario.variants[0].setup_for(1);
        setup.sources[0].count = requests;
        setup
    }

    /// How many entries there were.
    fn play(&self, mode: Mode, requests: u32) -> u64 {
        if mode == Mode::Floor {
            black_box(floor(requests));
            return 0;
        }
        let setup = self.setup(requests);
        let catalog = &setup.catalog;
        let ending = match mode {
            Mode::Floor | Mode::Nothing => sim::run(&setup, &mut ()),
            Mode::Digest => sim::run(&setup, &mut Digest::new(catalog)),
            Mode::Laws => sim::run(&setup, &mut Judge::new(catalog, &self.scenario.expectations, 0, 1)),
            Mode::Events => sim::run(&setup, &mut Written::new(catalog)),
        };
        ending.entries
    }

    /// Allocations an entry in steady state: of the second half of a run twice as long.
    fn allocations(&self, mode: Mode, requests: u32) -> f64 {
        let counted = |requests| {
            let region = Region::new(ALLOC);
            let entries = self.play(mode, requests);
            let stats = region.change();
            (stats.allocations + stats.reallocations, entries)
        };
        let ((once, entries), (twice, twice_entries)) = (counted(requests), counted(2 * requests));
        let more = twice_entries.saturating_sub(entries).max(1);
        twice.saturating_sub(once) as f64 / more as f64
    }
}

/// A hand-written event loop: arrivals, the least loaded of eight routes, a latency, one retry in twelve.
fn floor(requests: u32) -> u64 {
    let (mut heap, mut in_flight) = (BinaryHeap::new(), [0u32; 8]);
    let (mut arrived, mut seq, mut sum) = (0u32, 0u64, 0u64);
    heap.push(Reverse((0u64, seq, u32::MAX, 0u8)));
    while let Some(Reverse((at, _, request, route))) = heap.pop() {
        seq += 1;
        let draw = mix(seq);
        if request == u32::MAX {
            arrived += 1;
            if arrived < requests {
                heap.push(Reverse((at + below(draw, 2_000_000), seq, u32::MAX, 0)));
            }
        } else {
            in_flight[usize::from(route)] -= 1;
            sum = mix(sum ^ at);
            if below(draw, 12) != 0 {
                continue;
            }
        }
        let best = (0..8).min_by_key(|route| in_flight[*route]).unwrap();
        in_flight[best] += 1;
        heap.push(Reverse((at + 50_000_000 + below(mix(draw), 100_000_000), seq, arrived, best as u8)));
    }
    sum
}

/// Every entry as a line, thrown away in chunks as a file would take them.
struct Written<'c> {
    catalog: &'c Catalog,
    roll: Roll,
    lines: Lines,
}

impl<'c> Written<'c> {
    fn new(catalog: &'c Catalog) -> Written<'c> {
        Written { catalog, roll: Roll::default(), lines: Lines::new(&catalog.names) }
    }
}

impl Observer for Written<'_> {
    fn entry(&mut self, entry: &Entry<'_>) {
        self.roll.note(entry);
        self.lines.entry(entry, &self.roll, self.catalog);
        if self.lines.bytes().len() > 64 * 1024 {
            black_box(self.lines.bytes());
            self.lines.clear();
        }
    }
}

/// Requests with laws and digest; what the process has used at its peak.
fn memory(requests: u32) {
    let bench = Bench::new();
    let setup = bench.setup(requests);
    let judge = Judge::new(&setup.catalog, &bench.scenario.expectations, 0, 1);
    let mut watching = (judge, Digest::new(&setup.catalog));
    let ending = sim::run(&setup, &mut watching);
    let peak = std::fs::read_to_string("/proc/self/status").ok().and_then(|status| {
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        Some(line.trim().to_owned())
    });
    println!(
        "{requests} requests, {} entries, laws and digest: peak memory {}",
        ending.entries,
        peak.as_deref().unwrap_or("is not told by this system")
    );
}
