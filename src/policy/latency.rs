//! The P95 of the last 64 latencies of a route.

use crate::units::Duration;

const KEPT: usize = 64;

/// The last latencies of one route, in arrival order and sorted. Never allocates.
#[derive(Clone, Debug)]
pub struct Latencies {
    recent: [u64; KEPT],
    sorted: [u64; KEPT],
    count: usize,
    next: usize,
}

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies { recent: [0; KEPT], sorted: [0; KEPT], count: 0, next: 0 }
    }
}

impl Latencies {
    /// Takes in one latency; the oldest of 64 leaves.
    pub fn record(&mut self, latency: Duration) {
        let new = latency.nanos();
        if self.count == KEPT {
            let old = self.recent[self.next];
            let at = self.sorted.partition_point(|v| *v < old);
            self.sorted.copy_within(at + 1.., at);
            self.count -= 1;
        }
        let at = self.sorted[..self.count].partition_point(|v| *v < new);
        self.sorted.copy_within(at..self.count, at + 1);
        self.sorted[at] = new;
        self.count += 1;
        self.recent[self.next] = new;
        self.next = (self.next + 1) % KEPT;
    }

    /// The latency that 95 % do not exceed, once there are at least `samples_min`.
    pub fn p95(&self, samples_min: usize) -> Option<Duration> {
        if self.count < samples_min.max(1) {
            return None;
        }
        let rank = (self.count * 95).div_ceil(100);
        Some(Duration::from_nanos(self.sorted[rank - 1]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_p95_of_the_last_64_by_any_order() {
        let mut latencies = Latencies::default();
        let mut all = Vec::new();
        for k in 0..500u64 {
            let value = crate::units::draw::mix(k) % 1000;
            latencies.record(Duration::from_nanos(value));
            all.push(value);
            let mut last = all[all.len().saturating_sub(64)..].to_vec();
            last.sort_unstable();
            let expected = last[(last.len() * 95).div_ceil(100) - 1];
            assert_eq!(latencies.p95(1), Some(Duration::from_nanos(expected)), "after {k}");
        }
    }

    #[test]
    fn too_few_samples_say_nothing() {
        let mut latencies = Latencies::default();
        latencies.record(Duration::from_millis(5));
        assert_eq!(latencies.p95(10), None);
    }
}
