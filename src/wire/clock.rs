//! When a quota comes back: the clocks on which providers count days, weeks and months.

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, ZonedDateTime};

/// How a window of a quota ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// At midnight of California, whose days have 23, 24 or 25 hours (Gemini).
    PacificDay,
    /// At midnight UTC (OpenRouter, Cloudflare).
    UtcDay,
    /// On Monday, midnight UTC: the ISO week.
    UtcWeek,
    /// On the first of the month, midnight UTC.
    UtcMonth,
    /// A whole number of seconds after it was used up: it has no hour of its own.
    Rolling(u32),
}

impl Clock {
    /// The clock named `word` in a dialect file: `pacific-day`, `utc-day`, `utc-week`, `utc-month` or
    /// `rolling-SECONDS`.
    pub fn named(word: &str) -> Option<Clock> {
        match word {
            "pacific-day" => Some(Clock::PacificDay),
            "utc-day" => Some(Clock::UtcDay),
            "utc-week" => Some(Clock::UtcWeek),
            "utc-month" => Some(Clock::UtcMonth),
            _ => word.strip_prefix("rolling-")?.parse().ok().map(Clock::Rolling),
        }
    }

    /// The first reset after `now`; `None` at the end of the calendar.
    pub fn next(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Clock::PacificDay => tomorrow(&now.in_tz("America/Los_Angeles").ok()?, 1),
            Clock::UtcDay => tomorrow(&now.to_zoned_datetime(TimeZone::UTC), 1),
            Clock::UtcWeek => {
                let today = now.to_zoned_datetime(TimeZone::UTC);
                tomorrow(&today, 7 - i64::from(today.weekday().to_monday_zero_offset()))
            }
            Clock::UtcMonth => {
                let first = now
                    .to_zoned_datetime(TimeZone::UTC)
                    .date()
                    .first_of_month()
                    .checked_add(1.month())
                    .ok()?;
                first.to_zoned_datetime(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
            }
            Clock::Rolling(seconds) => now.checked_add(i64::from(seconds).seconds()).ok(),
        }
    }
}

/// The beginning of the day `days` after that of `zoned`, in its zone.
fn tomorrow(zoned: &ZonedDateTime, days: i64) -> Option<Timestamp> {
    let date = zoned.date().checked_add(days.days()).ok()?;
    date.to_zoned_datetime(zoned.time_zone().clone()).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(clock: Clock, now: &str, expected: &str) {
        assert_eq!(clock.next(now.parse().unwrap()), Some(expected.parse().unwrap()), "{clock:?} at {now}");
    }

    #[test]
    fn a_pacific_day_has_23_hours_in_spring_and_25_in_autumn() {
        check(Clock::PacificDay, "2027-03-14T08:00:00Z", "2027-03-15T07:00:00Z");
        check(Clock::PacificDay, "2026-11-01T07:00:00Z", "2026-11-02T08:00:00Z");
        check(Clock::PacificDay, "2026-06-16T20:31:54Z", "2026-06-17T07:00:00Z");
    }

    #[test]
    fn at_the_reset_itself_the_next_one_counts() {
        check(Clock::UtcDay, "2026-06-17T00:00:00Z", "2026-06-18T00:00:00Z");
        check(Clock::UtcWeek, "2026-05-25T00:00:00Z", "2026-06-01T00:00:00Z");
    }

    #[test]
    fn weeks_begin_on_monday_and_months_on_the_first() {
        check(Clock::UtcWeek, "2026-05-20T10:00:00Z", "2026-05-25T00:00:00Z");
        check(Clock::UtcMonth, "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z");
        check(Clock::UtcMonth, "2026-02-27T12:00:00Z", "2026-03-01T00:00:00Z");
    }

    #[test]
    fn a_rolling_window_ends_its_length_later() {
        check(Clock::Rolling(600), "2026-06-16T20:31:54Z", "2026-06-16T20:41:54Z");
    }
}
