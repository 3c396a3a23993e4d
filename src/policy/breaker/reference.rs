//! The default contract again in a few lines, and every short sequence of events played against both.

use super::contract::{LEASE, OPEN_FOR, config};
use super::*;
use crate::policy::signal::Signal;
use crate::units::{Duration, Timestamp};
use Signal::{Bad, Good, Neutral};

/// The whole contract again, as plainly as it can be said.
#[derive(Clone)]
enum Reference {
    Closed { run: u32 },
    Open { until: Timestamp },
    HalfOpen { lease: Option<Timestamp> },
}

impl Reference {
    /// Whether a call is admitted.
    fn admit(&mut self, generation: &mut u32, now: Timestamp) -> bool {
        if matches!(self, Reference::Open { until } if now >= *until) {
            (*self, *generation) = (Reference::HalfOpen { lease: None }, *generation + 1);
        }
        match self {
            Reference::Closed { .. } => true,
            Reference::Open { .. } => false,
            Reference::HalfOpen { lease: Some(end) } if now < *end => false,
            Reference::HalfOpen { lease } => lease.replace(now.after(LEASE)).is_none_or(|end| now >= end),
        }
    }

    /// A result of the present generation.
    fn hear(&mut self, generation: &mut u32, now: Timestamp, began: Timestamp, signal: Signal, trip: u32) {
        let next = match (&mut *self, signal) {
            (Reference::Closed { run }, Bad) if *run + 1 < trip => return *run += 1,
            (Reference::Closed { run }, Good) => return *run = 0,
            (Reference::HalfOpen { lease }, Neutral) if *lease == Some(began.after(LEASE)) => {
                return *lease = None;
            }
            (_, Neutral) | (Reference::Open { .. }, _) => return,
            (Reference::Closed { .. } | Reference::HalfOpen { .. }, Bad) => {
                Reference::Open { until: now.after(OPEN_FOR) }
            }
            (Reference::HalfOpen { .. }, Good) => Reference::Closed { run: 0 },
        };
        (*self, *generation) = (next, *generation + 1);
    }
}

/// One node of the tree of sequences.
struct Walk {
    trip: u32,
    now: Timestamp,
    breaker: Breaker,
    reference: Reference,
    generation: u32,
    /// Permits out, oldest first.
    permits: Vec<Permit>,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Admit,
    /// The oldest permit comes back.
    Settle(Signal),
    Tick,
}

const EVENTS: [Event; 5] =
    [Event::Admit, Event::Settle(Good), Event::Settle(Bad), Event::Settle(Neutral), Event::Tick];

impl Walk {
    /// A copy for another branch; only a test may copy permits.
    fn fork(&self) -> Walk {
        let copy = |p: &Permit| Permit { era: p.era, role: p.role };
        Walk {
            breaker: self.breaker.clone(),
            reference: self.reference.clone(),
            permits: self.permits.iter().map(copy).collect(),
            ..*self
        }
    }

    /// Tries every event here and, as long as any are left, after it. Returns how many nodes it saw.
    fn explore(&self, path: &mut Vec<Event>, left: u32) -> u64 {
        let mut seen = 0;
        for event in EVENTS {
            let mut next = self.fork();
            path.push(event);
            if next.step(event) {
                next.check(path);
                seen += 1 + if left > 1 { next.explore(path, left - 1) } else { 0 };
            }
            path.pop();
        }
        seen
    }

    /// Does one event to both; false if there is no permit to hand back.
    fn step(&mut self, event: Event) -> bool {
        match event {
            Event::Tick => self.now = self.now.after(Duration::from_secs(1)),
            Event::Admit => {
                let expected = self.reference.admit(&mut self.generation, self.now);
                let foretold = self.breaker.permits(self.now);
                let admitted = match self.breaker.admit(self.now).0 {
                    Admission::Admitted(permit) => {
                        self.permits.push(permit);
                        true
                    }
                    Admission::Refused { .. } => false,
                };
                assert_eq!((foretold, admitted), (expected, expected));
            }
            Event::Settle(signal) => {
                if self.permits.is_empty() {
                    return false;
                }
                let permit = self.permits.remove(0);
                let Era { generation, began } = permit.era();
                if generation == self.generation {
                    self.reference.hear(&mut self.generation, self.now, began, signal, self.trip);
                }
                _ = self.breaker.settle(self.now, permit, Sample { signal, elapsed: Duration::ZERO });
            }
        }
        true
    }

    fn check(&self, path: &[Event]) {
        let status = self.breaker.status(self.now);
        let (state, until) = match self.reference {
            Reference::Closed { .. } => (State::Closed, None),
            Reference::Open { until } => (State::Open, Some(until)),
            Reference::HalfOpen { .. } => (State::HalfOpen, None),
        };
        assert_eq!(
            (status.state, status.generation, status.until),
            (state, self.generation, until),
            "{path:?}"
        );
        if let Reference::Closed { run } = self.reference {
            assert_eq!(status.tally.bad_run, u64::from(run), "{path:?}");
        }
        let just_before = Timestamp::from_nanos(status.retry_at.nanos().saturating_sub(1));
        assert!(
            self.breaker.permits(status.retry_at),
            "{path:?}: a refusal names the first instant that helps"
        );
        assert!(just_before < self.now || !self.breaker.permits(just_before), "{path:?}");
        assert!(status.probes_in_flight <= 1, "{path:?}");
    }
}

#[test]
fn every_short_sequence_is_as_the_reference_says() {
    for trip in 1..=3 {
        let now = Timestamp::ZERO.after(OPEN_FOR);
        let walk = Walk {
            trip,
            now,
            breaker: Breaker::new(&config(trip), now),
            reference: Reference::Closed { run: 0 },
            generation: 0,
            permits: Vec::new(),
        };
        assert!(walk.explore(&mut Vec::new(), 10) > 250_000);
    }
}
