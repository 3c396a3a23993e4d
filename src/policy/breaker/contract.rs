//! The default contract, one sentence a test.

use super::*;
use crate::policy::signal::Signal;
use crate::units::{Duration, Timestamp};
use Signal::{Bad, Good, Neutral};

pub(super) const OPEN_FOR: Duration = Duration::from_secs(2);
pub(super) const LEASE: Duration = Duration::from_secs(3);

/// The default, with times a test can count and `bad` results to open.
pub(super) fn config(bad: u32) -> Config {
    Config {
        trip: Trip::Run { bad },
        cooldown: Cooldown::Fixed(OPEN_FOR),
        probe_timeout: Some(LEASE),
        ..Config::default()
    }
}

/// A breaker with its clock, for sentences.
struct Bench {
    breaker: Breaker,
    now: Timestamp,
}

impl Bench {
    fn closed(config: &Config) -> Bench {
        Bench { breaker: Breaker::new(config, Timestamp::ZERO), now: Timestamp::ZERO }
    }

    /// Open by one bad result of a breaker that needs no more.
    fn open() -> Bench {
        let mut bench = Bench::closed(&config(1));
        let permit = bench.admitted();
        assert_eq!(bench.settle(permit, Bad).map(|m| m.to), Some(State::Open));
        bench
    }

    /// Half open, with the permit of its one probe.
    fn half_open() -> (Bench, Permit) {
        let mut bench = Bench::open();
        bench.now = bench.now.after(OPEN_FOR);
        let probe = bench.admitted();
        assert_eq!((bench.state(), probe.role()), (State::HalfOpen, Role::Probe));
        (bench, probe)
    }

    fn admit(&mut self) -> Admission {
        self.breaker.admit(self.now).0
    }

    fn admitted(&mut self) -> Permit {
        match self.admit() {
            Admission::Admitted(permit) => permit,
            Admission::Refused { retry_at } => panic!("refused until {retry_at}"),
        }
    }

    fn refused_until(&mut self) -> Timestamp {
        match self.admit() {
            Admission::Admitted(permit) => panic!("admitted as {:?}", permit.role()),
            Admission::Refused { retry_at } => retry_at,
        }
    }

    fn settle(&mut self, permit: Permit, signal: Signal) -> Option<Transition> {
        self.breaker.settle(self.now, permit, Sample { signal, elapsed: Duration::ZERO })
    }

    fn report(&mut self, signal: Signal) {
        let permit = self.admitted();
        _ = self.settle(permit, signal);
    }

    fn state(&self) -> State {
        self.breaker.status(self.now).state
    }
}

#[test]
fn the_third_bad_result_in_a_row_opens() {
    let mut bench = Bench::closed(&Config::default());
    for signal in [Bad, Bad, Good, Bad, Bad] {
        bench.report(signal);
    }
    assert_eq!(bench.state(), State::Closed);
    bench.report(Bad);
    let status = bench.breaker.status(bench.now);
    assert_eq!((status.state, status.opens, status.failures), (State::Open, 1, 3));
}

#[test]
fn a_neutral_result_neither_resets_nor_counts() {
    let mut bench = Bench::closed(&Config::default());
    for signal in [Bad, Neutral, Bad, Neutral, Neutral] {
        bench.report(signal);
    }
    assert_eq!(bench.breaker.status(bench.now).tally, Tally { bad_run: 2, ..Tally::default() });
    bench.report(Bad);
    assert_eq!(bench.state(), State::Open);
}

#[test]
fn an_open_breaker_refuses_with_the_instant_of_its_first_probe() {
    let mut bench = Bench::open();
    assert_eq!(bench.refused_until(), Timestamp::ZERO.after(OPEN_FOR));
    assert_eq!(bench.breaker.status(bench.now).refused, 1);
}

#[test]
fn exactly_one_probe_passes_at_exactly_the_end_of_the_cooldown() {
    let mut bench = Bench::open();
    bench.now = Timestamp::from_nanos(OPEN_FOR.nanos() - 1);
    assert_eq!(bench.refused_until(), Timestamp::ZERO.after(OPEN_FOR));
    bench.now = Timestamp::ZERO.after(OPEN_FOR);
    let (admission, moved) = bench.breaker.admit(bench.now);
    assert!(matches!(admission, Admission::Admitted(_)));
    assert_eq!(moved.map(|m| (m.from, m.to)), Some((State::Open, State::HalfOpen)));
    assert!(!bench.breaker.permits(bench.now));
    assert_eq!(bench.refused_until(), bench.now.after(LEASE));
}

#[test]
fn a_failed_probe_reopens_and_the_cooldown_begins_again() {
    let (mut bench, probe) = Bench::half_open();
    bench.now = bench.now.after(Duration::from_millis(700));
    let moved = bench.settle(probe, Bad).unwrap();
    assert_eq!(
        (moved.from, moved.to, moved.until),
        (State::HalfOpen, State::Open, Some(bench.now.after(OPEN_FOR)))
    );
    assert_eq!(bench.breaker.status(bench.now).opens, 2);
}

#[test]
fn a_good_probe_closes_and_the_past_is_forgotten() {
    let (mut bench, probe) = Bench::half_open();
    assert_eq!(bench.settle(probe, Good).map(|m| m.to), Some(State::Closed));
    let status = bench.breaker.status(bench.now);
    assert_eq!((status.opens, status.tally, status.until), (0, Tally::default(), None));
}

#[test]
fn a_late_result_changes_nothing_in_an_open_breaker() {
    for late in [Good, Bad, Neutral] {
        let mut bench = Bench::closed(&config(1));
        let (first, second) = (bench.admitted(), bench.admitted());
        _ = bench.settle(first, Bad);
        let before = bench.breaker.status(bench.now);
        bench.now = bench.now.after(Duration::from_secs(1));
        assert_eq!(bench.settle(second, late), None);
        assert_eq!(bench.breaker.status(bench.now), before, "{late:?}");
    }
}

#[test]
fn a_late_result_decides_no_probe_and_frees_no_slot() {
    for late in [Good, Bad, Neutral] {
        let mut bench = Bench::closed(&config(1));
        let (first, second) = (bench.admitted(), bench.admitted());
        _ = bench.settle(first, Bad);
        bench.now = bench.now.after(OPEN_FOR);
        let probe = bench.admitted();
        let before = bench.breaker.status(bench.now);
        assert_eq!(bench.settle(second, late), None);
        assert_eq!(bench.breaker.status(bench.now), before, "{late:?}");
        assert!(!bench.breaker.permits(bench.now));
        assert_eq!(bench.settle(probe, Good).map(|m| m.to), Some(State::Closed));
    }
}

#[test]
fn a_probe_that_says_nothing_about_the_route_gives_its_slot_back() {
    let (mut bench, probe) = Bench::half_open();
    assert_eq!(bench.settle(probe, Neutral), None);
    assert_eq!((bench.state(), bench.admitted().role()), (State::HalfOpen, Role::Probe));
}

#[test]
fn a_probe_that_was_never_sent_gives_its_slot_back() {
    let (mut bench, probe) = Bench::half_open();
    assert_eq!(bench.breaker.release(bench.now, probe), None);
    assert_eq!(bench.admitted().role(), Role::Probe);
}

#[test]
fn a_lost_probe_loses_its_slot_when_its_time_is_over() {
    let (mut bench, lost) = Bench::half_open();
    let end = bench.now.after(LEASE);
    assert_eq!(bench.refused_until(), end);
    bench.now = end;
    assert_eq!(bench.breaker.status(end).probes_in_flight, 0);
    let second = bench.admitted();
    assert_eq!(bench.settle(lost, Neutral), None);
    assert!(!bench.breaker.permits(bench.now), "the slot is the second probe's");
    assert_eq!(bench.settle(second, Good).map(|m| m.to), Some(State::Closed));
}

#[test]
fn a_lost_probe_that_reports_after_all_is_still_evidence() {
    let (mut bench, lost) = Bench::half_open();
    bench.now = bench.now.after(LEASE);
    let second = bench.admitted();
    assert_eq!(bench.settle(lost, Bad).map(|m| m.to), Some(State::Open));
    assert_eq!(bench.settle(second, Good), None, "its generation is over");
}

#[test]
fn a_reset_closes_from_anywhere_and_makes_every_permit_stale() {
    let (mut bench, probe) = Bench::half_open();
    assert_eq!(bench.breaker.reset(bench.now).map(|m| m.to), Some(State::Closed));
    assert_eq!(bench.settle(probe, Bad), None);
    assert_eq!(bench.breaker.reset(bench.now), None, "it was closed");
}

#[test]
fn an_operator_is_obeyed_until_the_next_order() {
    let mut bench = Bench::closed(&config(1));
    _ = bench.breaker.order(bench.now, Order::ForceOpen);
    bench.now = bench.now.after(Duration::from_secs(1_000_000));
    assert_eq!(bench.refused_until(), Timestamp::MAX);
    _ = bench.breaker.order(bench.now, Order::Disable);
    bench.report(Bad);
    assert_eq!(bench.breaker.status(bench.now).tally, Tally::default());
    _ = bench.breaker.order(bench.now, Order::MetricsOnly);
    bench.report(Bad);
    assert_eq!((bench.state(), bench.breaker.status(bench.now).tally.bad_run), (State::MetricsOnly, 1));
    let moved = bench.breaker.order(bench.now, Order::OpenFor(Duration::from_secs(9))).unwrap();
    assert_eq!(moved.until, Some(bench.now.after(Duration::from_secs(9))));
}

#[test]
fn probes_that_never_report_hold_half_open_for_ever_only_without_a_timeout() {
    let stuck = Config { probe_timeout: None, ..config(1) };
    let mut bench = Bench::closed(&stuck);
    bench.report(Bad);
    bench.now = bench.now.after(OPEN_FOR);
    _ = bench.admitted();
    bench.now = bench.now.after(Duration::from_secs(1_000_000));
    assert_eq!(bench.refused_until(), Timestamp::MAX);
}

#[test]
fn half_open_may_have_an_end_of_its_own() {
    for (half_open_for, end) in [
        (HalfOpenFor::ThenOpen(Duration::from_secs(5)), State::Open),
        (HalfOpenFor::ThenClosed(Duration::from_secs(5)), State::Closed),
    ] {
        let mut bench = Bench::closed(&Config { half_open_for, probe_timeout: None, ..config(1) });
        _ = bench.breaker.order(bench.now, Order::HalfOpen);
        _ = bench.admitted();
        let wake = bench.breaker.next_wake().unwrap();
        assert_eq!(wake, bench.now.after(Duration::from_secs(5)));
        assert_eq!(bench.refused_until(), wake);
        assert_eq!(bench.breaker.permits(wake), end == State::Closed);
        assert_eq!(bench.breaker.touch(wake).map(|m| m.to), Some(end));
    }
}

#[test]
fn a_cooldown_beyond_the_end_of_time_ends_there() {
    let mut bench = Bench::closed(&config(1));
    bench.now = Timestamp::from_nanos(u64::MAX - 10);
    bench.report(Bad);
    let status = bench.breaker.status(bench.now);
    assert_eq!((status.until, status.retry_at), (None, Timestamp::MAX));
}
