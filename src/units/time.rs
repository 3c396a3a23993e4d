//! Virtual time: nanoseconds since the scenario began. There is no clock; `now` is an argument.

use std::fmt;

/// An instant of virtual time, in nanoseconds since the scenario began (584 years fit).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Timestamp(u64);

/// A length of virtual time, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Duration(u64);

impl Timestamp {
    /// The instant at which the scenario begins.
    pub const ZERO: Timestamp = Timestamp(0);
    /// The last instant there is; a deadline that nobody set.
    pub const MAX: Timestamp = Timestamp(u64::MAX);

    /// The instant `ns` nanoseconds after the beginning.
    pub const fn from_nanos(ns: u64) -> Timestamp {
        Timestamp(ns)
    }

    /// Nanoseconds since the beginning.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// This instant plus `d`; saturates at [`Timestamp::MAX`], which nothing ever reaches.
    pub const fn after(self, d: Duration) -> Timestamp {
        Timestamp(self.0.saturating_add(d.0))
    }

    /// The time from `earlier` to this instant; zero if `earlier` is later.
    pub const fn since(self, earlier: Timestamp) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Duration = Duration(0);
    /// Longer than any run.
    pub const MAX: Duration = Duration(u64::MAX);

    /// A length of `ns` nanoseconds.
    pub const fn from_nanos(ns: u64) -> Duration {
        Duration(ns)
    }

    /// A length of `ms` milliseconds; saturates.
    pub const fn from_millis(ms: u64) -> Duration {
        Duration(ms.saturating_mul(1_000_000))
    }

    /// A length of `s` seconds; saturates.
    pub const fn from_secs(s: u64) -> Duration {
        Duration(s.saturating_mul(1_000_000_000))
    }

    /// The length in nanoseconds.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// The sum; saturates.
    pub const fn plus(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }
}

/// Milliseconds with as many decimals as are needed, at most six: `630`, `0.5`, `12.000001`.
fn milliseconds(ns: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (whole, part) = (ns / 1_000_000, ns % 1_000_000);
    if part == 0 {
        return write!(f, "{whole} ms");
    }
    let digits = format!("{part:06}");
    write!(f, "{whole}.{} ms", digits.trim_end_matches('0'))
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        milliseconds(self.0, f)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        milliseconds(self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_print_only_the_decimals_they_need() {
        let text = |ns| Duration::from_nanos(ns).to_string();
        assert_eq!(text(630_000_000), "630 ms");
        assert_eq!(text(500_000), "0.5 ms");
        assert_eq!(text(12_000_001), "12.000001 ms");
    }

    #[test]
    fn an_instant_past_the_end_of_time_is_the_end_of_time() {
        assert_eq!(Timestamp::from_nanos(u64::MAX - 1).after(Duration::from_secs(1)), Timestamp::MAX);
    }
}
