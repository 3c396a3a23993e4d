//! Requests a second through an open Poisson workload with eight routes, by how closely it is watched, beside
//! a hand-written loop that knows no policy. Compare ratios: machines are noisy. Divan's items are requests, and
//! its allocation counts are of the whole run.
//!
//! `cargo bench --bench throughput`; `-- memory` prints the peak memory after a million requests instead.

#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark")]

use divan::counter::ItemsCount;
use divan::{AllocProfiler, Bencher, black_box};
use faultlab::judge::Judge;
use faultlab::scenario::{self, Scenario};
use faultlab::sim::{self, Catalog, Entry, Observer, Setup};
use faultlab::trace::{Digest, Lines, Roll};
use faultlab::units::draw::{below, mix};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

const REQUESTS: u32 = 100_000;

fn main() {
    if std::env::args().any(|arg| arg == "memory") {
        return memory();
    }
    divan::main();
}

fn scenario() -> Scenario {
    scenario::load("open.toml", include_str!("open.toml")).map_err(|problems| problems.plain()).unwrap()
}

fn setup(requests: u32) -> Setup {
    let mut setup = scenario().variants[0].setup_for(1);
    setup.sources[0].count = requests;
    setup
}

fn watched<'s, O: Observer>(
    bencher: Bencher<'_, '_>,
    setup: &'s Setup,
    observer: impl Fn(&'s Catalog) -> O + Sync,
) {
    bencher.counter(ItemsCount::new(setup.sources[0].count)).bench_local(|| {
        let mut observer = observer(&setup.catalog);
        black_box(sim::run(setup, &mut observer));
        observer
    });
}

/// A hand-written event loop: arrivals, the least loaded of eight routes, a latency, one retry in twelve.
#[divan::bench]
fn a_floor_loop(bencher: Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(REQUESTS)).bench_local(|| floor(REQUESTS));
}

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

#[divan::bench]
fn b_nothing(bencher: Bencher<'_, '_>) {
    watched(bencher, &setup(REQUESTS), |_| ());
}

#[divan::bench]
fn c_digest(bencher: Bencher<'_, '_>) {
    watched(bencher, &setup(REQUESTS), Digest::new);
}

#[divan::bench]
fn d_laws(bencher: Bencher<'_, '_>) {
    let scenario = scenario();
    watched(bencher, &setup(REQUESTS), |catalog| Judge::new(catalog, &scenario.expectations, 0, 1));
}

#[divan::bench]
fn e_events(bencher: Bencher<'_, '_>) {
    watched(bencher, &setup(REQUESTS), Written::new);
}

/// Every entry as a line, thrown away in chunks as a file would take them.
struct Written<'c> {
    catalog: &'c Catalog,
    roll: Roll,
    lines: Lines,
    bytes: u64,
}

impl<'c> Written<'c> {
    fn new(catalog: &'c Catalog) -> Written<'c> {
        Written { catalog, roll: Roll::default(), lines: Lines::new(&catalog.names), bytes: 0 }
    }
}

impl Observer for Written<'_> {
    fn entry(&mut self, entry: &Entry<'_>) {
        self.roll.note(entry);
        self.lines.entry(entry, &self.roll, self.catalog);
        if self.lines.bytes().len() > 64 * 1024 {
            self.bytes += black_box(self.lines.bytes()).len() as u64;
            self.lines.clear();
        }
    }
}

/// A million requests with laws and digest; what the process has used at its peak.
fn memory() {
    let (setup, scenario) = (setup(1_000_000), scenario());
    let judge = Judge::new(&setup.catalog, &scenario.expectations, 0, 1);
    let mut watching = (judge, Digest::new(&setup.catalog));
    let ending = sim::run(&setup, &mut watching);
    println!("{} entries, {} a thousand requests", ending.entries, ending.entries / 1_000);
    match std::fs::read_to_string("/proc/self/status") {
        Ok(status) => {
            status.lines().filter(|line| line.starts_with("VmHWM")).for_each(|line| println!("{line}"))
        }
        Err(error) => println!("no peak memory on this system: {error}"),
    }
}
