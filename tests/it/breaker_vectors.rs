//! Replays what other circuit breakers do, step by step: recordings of the real libraries, and facts of
//! their own tests. The rows are data (`tests/data/vectors`); a row that cannot be replayed fails.
//!
//! One file a dialect: how a library's configuration and operations read as ours.

mod failsafe_go;
mod finagle;
mod gobreaker;
mod polly;
mod resilience4j;
mod row;
mod windows;

use faultlab::policy::breaker::{
    Boundary, Clamp, Config, Expiry, JudgedOn, Late, Neutral, ProbeLimit, RateOf, Rounding, Trip,
    Verdict as Decides, WhileOpen, WindowModel,
};
use row::{Row, Twist, Verdict};

/// Every row of these areas is replayed; the other areas of a file belong to other tests.
const AREAS: [&str; 3] = ["breaker", "breaker_fuzz", "sliding_window"];

#[test]
fn recorded_sequences_replay_exactly() {
    check("breaker_sequences", 400);
}

#[test]
fn facts_of_other_breakers_hold() {
    check("resilience", 50);
}

/// If a knob could be turned without any recording noticing, the recordings would prove nothing about it.
#[test]
fn the_recordings_notice_every_knob_of_their_library() {
    let rows = [rows("breaker_sequences"), rows("resilience")].concat();
    for (model, knob, twist) in KNOBS {
        let of_model = rows.iter().filter(|row| row.model() == model);
        let noticed = of_model.filter(|row| replay(row, twist).is_err()).count();
        assert!(noticed > 0, "{model}: no row notices {knob}");
    }
}

const KNOBS: [(&str, &str, Twist); 21] = [
    ("resilience4j", "the boundary", |c| Config { boundary: Boundary::Inclusive, ..c }),
    ("resilience4j", "that a success can trip", |c| Config { judged_on: JudgedOn::Bad, ..c }),
    ("resilience4j", "the clamped minimum", |c| Config { clamp: Clamp::Never, ..c }),
    ("resilience4j", "slow calls", |c| Config { slow: None, ..c }),
    ("resilience4j", "results while open", |c| Config { while_open: WhileOpen::Frozen, ..c }),
    ("resilience4j", "that an ignored error gives its permit back", |c| Config {
        neutral: Neutral::Success,
        ..c
    }),
    ("resilience4j", "that permits are counted in all", in_flight),
    ("resilience4j", "that the trial ends at the minimum", |c| Config {
        minimum: 100,
        clamp: Clamp::Never,
        ..c
    }),
    ("gobreaker", "the boundary", |c| Config { boundary: Boundary::Inclusive, ..c }),
    ("gobreaker", "generations", |c| Config { late: Late::Counts, ..c }),
    ("gobreaker", "exclusions", |c| Config { neutral: Neutral::Success, ..c }),
    ("gobreaker", "that probes are counted in all", in_flight),
    ("gobreaker", "the successes that close", |c| Config {
        verdict: Decides::AnyBadReopens { good: 1 },
        ..c
    }),
    ("gobreaker", "that counts are cleared", |c| Config { while_open: WhileOpen::Frozen, ..c }),
    ("gobreaker", "where late results are booked", on_the_clock),
    ("gobreaker", "that calls in flight are in the denominator", of_results),
    ("failsafe-go", "the boundary", |c| Config { boundary: Boundary::Exclusive, ..c }),
    ("failsafe-go", "that permits return", in_all),
    ("failsafe-go", "results while open", |c| Config { while_open: WhileOpen::Frozen, ..c }),
    ("failsafe-go", "that reads are stale", on_the_clock),
    ("failsafe-go", "the rounding", of_results),
];

fn in_flight(config: Config) -> Config {
    match config.probes {
        ProbeLimit::InFlight(n) | ProbeLimit::Total(n) => {
            Config { probes: ProbeLimit::InFlight(n), ..config }
        }
    }
}

fn in_all(config: Config) -> Config {
    match config.probes {
        ProbeLimit::InFlight(n) | ProbeLimit::Total(n) => Config { probes: ProbeLimit::Total(n), ..config },
    }
}

fn on_the_clock(config: Config) -> Config {
    match config.window {
        WindowModel::Anchored { bucket, buckets } | WindowModel::Aligned { bucket, buckets, expiry: _ } => {
            let window = WindowModel::Aligned { bucket, buckets, expiry: Expiry::WithTime };
            Config { window, ..config }
        }
        WindowModel::Run
        | WindowModel::Lifetime
        | WindowModel::Count { .. }
        | WindowModel::Rolling { .. }
        | WindowModel::Tumbling { .. }
        | WindowModel::Decaying(_) => config,
    }
}

fn of_results(config: Config) -> Config {
    match config.trip {
        Trip::Rate { bad, of: _, rounding: _ } => {
            let trip = Trip::Rate { bad, of: RateOf::Results, rounding: Rounding::Exact };
            Config { trip, ..config }
        }
        Trip::Run { .. } | Trip::Count { .. } | Trip::Average { .. } => config,
    }
}

fn rows(stem: &str) -> Vec<Row> {
    row::read(stem).into_iter().filter(|row| AREAS.contains(&row.area.as_str())).collect()
}

fn check(stem: &str, at_least: usize) {
    let rows = rows(stem);
    assert!(rows.len() >= at_least, "only {} rows of {stem}", rows.len());
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|row| {
            replay(row, |c| c).err().map(|why| format!("{}: {why}\n    {}", row.id, row.source))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

fn replay(row: &Row, twist: Twist) -> Verdict {
    let model = row.model();
    let area = row.area.trim_end_matches("_fuzz");
    match (area, model.split(' ').next().unwrap_or_default()) {
        ("sliding_window", _) => windows::replay(row),
        ("breaker", "resilience4j") => resilience4j::replay(row, twist),
        ("breaker", "gobreaker") => gobreaker::replay(row, twist),
        ("breaker", "failsafe-go") => failsafe_go::replay(row, twist),
        ("breaker", "polly-v8") => polly::replay(row, twist),
        ("breaker", "finagle") => finagle::replay(row, twist),
        _ => Err(format!("no dialect for {model:?} in {:?}", row.area)),
    }
}
