//! A log-linear histogram of whole numbers: 64 steps in each doubling, so a quantile is at most 1.6 % high.

/// Counts of whole numbers by size. Values below 64 are exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    max: u64,
}

const STEPS: u64 = 64;

impl Histogram {
    /// Counts `value` once. Allocates only when the value is larger than any before it.
    pub fn record(&mut self, value: u64) {
        self.total += 1;
        self.max = self.max.max(value);
        let at = bucket(value);
        match self.counts.get_mut(at) {
            Some(count) => *count += 1,
            None => self.grow(at),
        }
    }

    /// Counts the first value that is larger than any before it.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, at: usize) {
        self.counts.resize(at, 0);
        self.counts.push(1);
    }

    /// How many values were counted.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// The largest value counted, exactly.
    pub const fn max(&self) -> u64 {
        self.max
    }

    /// The value that `per_mille` of a thousand do not exceed: the upper edge of its bucket, never above the
    /// largest value; `None` if nothing was counted.
    pub fn quantile(&self, per_mille: u64) -> Option<u64> {
        let rank = (self.total * per_mille).div_ceil(1000).max(1);
        let mut seen = 0;
        for (at, n) in self.counts.iter().enumerate() {
            seen += n;
            if seen >= rank && self.total > 0 {
                return Some(upper_edge(at).min(self.max));
            }
        }
        None
    }

    /// Adds every count of `other`.
    pub fn merge(&mut self, other: &Histogram) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.total += other.total;
        self.max = self.max.max(other.max);
    }
}

/// Values are halved until they are below twice the steps: each halving puts it a row of steps further.
const fn bucket(value: u64) -> usize {
    let halvings = (u64::BITS - STEPS.ilog2() - 1).saturating_sub(value.leading_zeros());
    (halvings as u64 * STEPS + (value >> halvings)) as usize
}

const fn upper_edge(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < STEPS {
        return bucket;
    }
    let (doubling, step) = ((bucket - STEPS) / STEPS, (bucket - STEPS) % STEPS);
    let above = (STEPS + step + 1) as u128;
    ((above << doubling) - 1) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_never_low_and_at_most_a_64th_high() {
        let mut h = Histogram::default();
        (1..=100_000).for_each(|n| h.record(n));
        for (per_mille, exact) in [(1, 100), (500, 50_000), (950, 95_000), (990, 99_000), (1000, 100_000)] {
            let got = h.quantile(per_mille).unwrap();
            assert!(got >= exact && got <= exact + exact / 64 + 1, "{per_mille}: {got}");
        }
    }

    #[test]
    fn the_largest_number_there_is_has_a_bucket() {
        let mut h = Histogram::default();
        h.record(u64::MAX);
        assert_eq!(h.quantile(500), Some(u64::MAX));
    }

    #[test]
    fn nothing_counted_has_no_quantile() {
        assert_eq!(Histogram::default().quantile(500), None);
    }

    #[test]
    fn every_bucket_begins_where_the_one_before_it_ends() {
        for at in 0..3000 {
            assert_eq!(bucket(upper_edge(at)), at);
            assert_eq!(bucket(upper_edge(at).saturating_add(1)), at + 1);
        }
    }
}
