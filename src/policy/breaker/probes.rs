//! The slots of HALF_OPEN.

use super::config::{Config, ProbeLimit};
use crate::policy::signal::Signal;
use crate::units::{Duration, Timestamp};

/// Who holds a slot, and until when. A slot whose lease is over is free again: a probe that never reports
/// (its caller hung up, its connection hangs) does not keep the breaker from asking once more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Probes {
    limit: ProbeLimit,
    lease: Option<Duration>,
    /// Slots taken. Below zero only where late results give back slots they never had.
    used: i64,
    /// Probes admitted that have not reported.
    waiting: u32,
    /// The ends of the leases of the probes that wait, in order; empty without leases.
    leases: Vec<Timestamp>,
}

impl Probes {
    pub(super) fn new(config: &Config) -> Probes {
        Probes { limit: config.probes, lease: config.probe_timeout, used: 0, waiting: 0, leases: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.used = 0;
        self.waiting = 0;
        self.leases.clear();
    }

    /// Whether a slot is free.
    pub(super) fn has_free(&self, now: Timestamp) -> bool {
        let slots = match self.limit {
            ProbeLimit::InFlight(n) | ProbeLimit::Total(n) => i64::from(n.max(1)),
        };
        self.used - (self.lost(now) as i64) < slots
    }

    /// Takes a slot, first those of lost probes.
    pub(super) fn take(&mut self, now: Timestamp) {
        let lost = self.lost(now);
        self.leases.drain(..lost);
        self.used += 1 - lost as i64;
        self.waiting = self.waiting.saturating_sub(lost as u32) + 1;
        if let Some(lease) = self.lease {
            self.leases.push(now.after(lease));
        }
    }

    /// Hears from a probe that was admitted at `began`. One that has lost its slot gives none back.
    pub(super) fn report(&mut self, began: Timestamp, signal: Signal) {
        if let Some(lease) = self.lease {
            let end = began.after(lease);
            let Some(held) = self.leases.iter().position(|l| *l == end) else { return };
            self.leases.remove(held);
        }
        self.waiting = self.waiting.saturating_sub(1);
        match (self.limit, signal) {
            (ProbeLimit::InFlight(_), _) | (ProbeLimit::Total(_), Signal::Neutral) => self.used -= 1,
            (ProbeLimit::Total(_), Signal::Good | Signal::Bad) => {}
        }
    }

    /// The first instant at which a slot is free without any probe reporting; `MAX` if there is none.
    pub(super) fn free_at(&self, now: Timestamp) -> Timestamp {
        if self.has_free(now) {
            return now;
        }
        self.leases.first().copied().unwrap_or(Timestamp::MAX)
    }

    /// Probes admitted that have neither reported nor lost their slot.
    pub(super) fn in_flight(&self, now: Timestamp) -> u32 {
        self.waiting.saturating_sub(self.lost(now) as u32)
    }

    fn lost(&self, now: Timestamp) -> usize {
        self.leases.partition_point(|end| *end <= now)
    }
}
