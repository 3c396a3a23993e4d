//! What other breakers do, as values of our knobs. Facts of the versions named; recordings of them are
//! replayed in `tests/it/breaker_vectors.rs`.

use super::buckets::{End, Expiry, Start};
use super::config::{
    Boundary, Clamp, Config, HalfOpenBy, HalfOpenFor, JudgedOn, Late, Neutral, ProbeLimit, RateOf, Rounding,
    Slow, Trip, Verdict, WhileOpen,
};
use super::cooldown::Cooldown;
use super::decay::Fade;
use super::window::{Renewal, WindowModel};
use crate::units::{Duration, Ratio};

/// resilience4j (2026-05) as it comes: half of the last 100 results, 60 s, ten probes in all. For a window
/// over time, replace `window` by [`seconds`].
pub fn resilience4j() -> Config {
    Config {
        window: WindowModel::Count { size: 100 },
        trip: Trip::Rate { bad: Ratio::percent(50), of: RateOf::Results, rounding: Rounding::Exact },
        minimum: 100,
        clamp: Clamp::ToWindow,
        judged_on: JudgedOn::Any,
        slow: Some(Slow { over: Duration::from_secs(60), share: Ratio::ONE }),
        cooldown: Cooldown::Fixed(Duration::from_secs(60)),
        boundary: Boundary::Exclusive,
        half_open_by: HalfOpenBy::Admission,
        probes: ProbeLimit::Total(10),
        probe_timeout: None,
        half_open_for: HalfOpenFor::Ever,
        verdict: Verdict::Thresholds { results: 10 },
        late: Late::Counts,
        neutral: Neutral::Nothing,
        while_open: WhileOpen::Counted,
    }
}

/// resilience4j's window over time: buckets of one second of the wall clock.
pub const fn seconds(n: u32) -> WindowModel {
    WindowModel::Aligned { bucket: Duration::from_secs(1), buckets: n, expiry: Expiry::WithTime }
}

/// sony/gobreaker v2 as it comes: the sixth failure in a row, 60 s, one probe. Successes that close and
/// probes are one number there. For an interval, replace `window` by [`interval`].
pub fn gobreaker() -> Config {
    Config {
        window: WindowModel::Lifetime,
        trip: Trip::Run { bad: 6 },
        minimum: 1,
        clamp: Clamp::Never,
        judged_on: JudgedOn::Bad,
        slow: None,
        cooldown: Cooldown::Fixed(Duration::from_secs(60)),
        boundary: Boundary::Exclusive,
        half_open_by: HalfOpenBy::Clock,
        probes: ProbeLimit::Total(1),
        probe_timeout: None,
        half_open_for: HalfOpenFor::Ever,
        verdict: Verdict::AnyBadReopens { good: 1 },
        late: Late::Stale,
        neutral: Neutral::Nothing,
        while_open: WhileOpen::Cleared,
    }
}

/// gobreaker's window: nothing is forgotten without an interval; an interval of one bucket ends the
/// generation with it; more buckets roll, and the interval is rounded up to whole ones.
pub fn interval(every: Duration, bucket: Duration) -> WindowModel {
    let tumbling = |every| WindowModel::Tumbling {
        every,
        start: Start::Closing,
        end: End::Exclusive,
        renewal: Renewal::Generation,
    };
    if every == Duration::ZERO {
        return WindowModel::Lifetime;
    }
    if bucket == Duration::ZERO {
        return tumbling(every);
    }
    match every.nanos().div_ceil(bucket.nanos()) {
        1 => tumbling(bucket),
        buckets => WindowModel::Anchored { bucket, buckets: u32::try_from(buckets).unwrap_or(u32::MAX) },
    }
}

/// failsafe-go (2026) as it comes: the first failure, 60 s. [`failures`] and [`failure_rate`] set the rest.
pub fn failsafe_go() -> Config {
    Config {
        window: WindowModel::Count { size: 1 },
        trip: Trip::Count { bad: 1 },
        minimum: 0,
        clamp: Clamp::Never,
        judged_on: JudgedOn::Any,
        slow: None,
        cooldown: Cooldown::Fixed(Duration::from_secs(60)),
        boundary: Boundary::Inclusive,
        half_open_by: HalfOpenBy::Admission,
        probes: ProbeLimit::InFlight(1),
        probe_timeout: None,
        half_open_for: HalfOpenFor::Ever,
        verdict: Verdict::Quorum { good: 1, of: 1 },
        late: Late::Counts,
        neutral: Neutral::Success,
        while_open: WhileOpen::Counted,
    }
}

/// failsafe-go tripping on `bad` failures of the last `of` results; without thresholds of its own, HALF_OPEN
/// closes as soon as that can no longer happen.
pub fn failures(bad: u32, of: u32) -> Config {
    Config {
        window: WindowModel::Count { size: of },
        trip: Trip::Count { bad },
        probes: ProbeLimit::InFlight(of),
        verdict: Verdict::Quorum { good: of.saturating_sub(bad).saturating_add(1), of },
        ..failsafe_go()
    }
}

/// failsafe-go tripping on a share of failures in a period, once there are `minimum` results.
pub fn failure_rate(bad: Ratio, minimum: u32, period: Duration) -> Config {
    Config {
        window: tenths(period),
        trip: Trip::Rate { bad, of: RateOf::Results, rounding: Rounding::TwoDecimals },
        minimum,
        probes: ProbeLimit::InFlight(minimum),
        verdict: Verdict::Thresholds { results: minimum },
        ..failsafe_go()
    }
}

/// failsafe-go's window over time: ten buckets of the wall clock that leave with the next result.
pub const fn tenths(period: Duration) -> WindowModel {
    let bucket = Duration::from_nanos(period.nanos() / 10);
    WindowModel::Aligned { bucket, buckets: 10, expiry: Expiry::WithResult }
}

/// Polly v8 as it comes: a tenth of at least 100 results in 30 s, 5 s, one probe.
pub fn polly() -> Config {
    Config {
        window: sampling(Duration::from_secs(30)),
        trip: Trip::Rate { bad: Ratio::percent(10), of: RateOf::Results, rounding: Rounding::Exact },
        minimum: 100,
        clamp: Clamp::Never,
        judged_on: JudgedOn::Bad,
        slow: None,
        cooldown: Cooldown::Fixed(Duration::from_secs(5)),
        boundary: Boundary::Inclusive,
        half_open_by: HalfOpenBy::Admission,
        probes: ProbeLimit::Total(1),
        probe_timeout: None,
        half_open_for: HalfOpenFor::EverButPromised,
        verdict: Verdict::AnyBadReopens { good: 1 },
        late: Late::Counts,
        neutral: Neutral::Success,
        while_open: WhileOpen::Counted,
    }
}

/// Polly's window: ten buckets that begin with events; below 200 ms, a single one.
pub fn sampling(over: Duration) -> WindowModel {
    if over < Duration::from_millis(200) {
        return WindowModel::Tumbling {
            every: over,
            start: Start::FirstEvent,
            end: End::Inclusive,
            renewal: Renewal::Counts,
        };
    }
    WindowModel::Rolling { over, parts: 10 }
}

/// Finagle's failure accrual on so many failures in a row. Dead for the durations given, one after the
/// other, then for 300 s each time; a success begins the list again.
pub fn finagle_consecutive(bad: u32, dead_for: &[Duration]) -> Config {
    let mut lengths = dead_for.to_vec();
    lengths.push(Duration::from_secs(300));
    Config {
        window: WindowModel::Run,
        trip: Trip::Run { bad },
        cooldown: Cooldown::Listed(lengths.into()),
        probe_timeout: None,
        late: Late::Counts,
        ..Config::default()
    }
}

/// Finagle's failure accrual on a weighted share of successes over so many requests, all of which must have
/// been seen. `dead_for` is constant.
pub fn finagle_success_rate(required: Ratio, window: u32, dead_for: Duration) -> Config {
    Config {
        window: WindowModel::Decaying(Fade::Results(window)),
        trip: Trip::Average { good: required },
        minimum: window,
        cooldown: Cooldown::Fixed(dead_for),
        probe_timeout: None,
        late: Late::Counts,
        ..Config::default()
    }
}
