//! Instants as headers and bodies write them: the three forms of an HTTP date (RFC 9110, strictly), RFC 3339, and
//! seconds or milliseconds since 1970.

use super::durations::{self, Nanos, SECOND};
use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::TimeZone;

const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// An HTTP date: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`.
/// Names and `GMT` have their case, the weekday must be right. `now` decides the century of two digits.
pub(super) fn http(text: &str, now: Option<Timestamp>) -> Option<Timestamp> {
    let (weekday, date, time) = imf(text).or_else(|| rfc850(text, now)).or_else(|| asctime(text))?;
    let right = date.weekday() == weekday;
    right.then(|| utc(date, time)).flatten()
}

fn imf(text: &str) -> Option<(Weekday, Date, Time)> {
    let (day, rest) = text.split_once(", ")?;
    let rest = rest.strip_suffix(" GMT")?;
    let [date, month, year, time] = split(rest, ' ')?;
    let date = civil(fixed(year, 4)?, month, fixed(date, 2)?)?;
    Some((weekday(day, 3)?, date, clock(time)?))
}

fn rfc850(text: &str, now: Option<Timestamp>) -> Option<(Weekday, Date, Time)> {
    let (day, rest) = text.split_once(", ")?;
    let (date, time) = rest.strip_suffix(" GMT")?.split_once(' ')?;
    let [date, month, year] = split(date, '-')?;
    let year = century(fixed(year, 2)?, now);
    let date = civil(year, month, fixed(date, 2)?)?;
    Some((weekday(day, 9)?, date, clock(time)?))
}

fn asctime(text: &str) -> Option<(Weekday, Date, Time)> {
    let (day, rest) = text.split_at_checked(3)?;
    let month = rest.get(1..4)?;
    let date = rest.get(5..7)?;
    let [time, year] = split(rest.get(8..)?, ' ')?;
    let blanks = [0, 4, 7].iter().all(|at| rest.as_bytes().get(*at) == Some(&b' '));
    let date = date.strip_prefix(' ').map_or_else(|| fixed(date, 2), |date| fixed(date, 1))?;
    let date = civil(fixed(year, 4)?, month, date)?;
    blanks.then_some((weekday(day, 3)?, date, clock(time)?))
}

/// The full year of two digits: a year more than 50 years ahead is the past one with the same digits.
fn century(year: i16, now: Option<Timestamp>) -> i16 {
    let this = now.map_or(2000, |now| now.to_zoned_datetime(TimeZone::UTC).year());
    let ahead = this - this.rem_euclid(100) + year;
    if ahead > this + 50 { ahead - 100 } else { ahead }
}

/// An HTTP date as forgiving clients read it: any weekday, any case, one digit or two, the zone ignored.
pub(super) fn forgiving(text: &str, now: Option<Timestamp>) -> Option<Timestamp> {
    let words: Vec<&str> = text.split([' ', ',', '-']).filter(|word| !word.is_empty()).collect();
    let month_at = words.iter().position(|word| month(word).is_some())?;
    let time_at = words.iter().position(|word| word.contains(':'))?;
    let numbers: Vec<&str> = words.iter().copied().filter(|word| durations::is_digits(word)).collect();
    let [date, year] = numbers[..] else { return None };
    let year = if year.len() == 2 { century(fixed(year, 2)?, now) } else { fixed(year, 4)? };
    let date = Date::new(year, month(words[month_at])?, date.parse().ok()?).ok()?;
    utc(date, clock(words[time_at])?)
}

/// RFC 3339, with its `T` and its offset.
pub(super) fn rfc3339(text: &str) -> Option<Timestamp> {
    let shaped = text.as_bytes().get(10).is_some_and(|byte| byte.eq_ignore_ascii_case(&b'T'));
    (shaped && text.is_ascii() && !text.contains('[')).then(|| text.parse().ok()).flatten()
}

/// A date and perhaps a time without a zone: read as UTC.
pub(super) fn unzoned(date: &str, time: Option<&str>) -> Option<Timestamp> {
    let date: Date = (date.len() == 10).then(|| date.parse().ok()).flatten()?;
    let time = match time {
        None => Time::midnight(),
        Some(time) if time.len() == 5 => {
            Time::new(fixed8(time.get(..2)?)?, fixed8(time.get(3..)?)?, 0, 0).ok()?
        }
        Some(time) => clock(time)?,
    };
    utc(date, time)
}

/// A number of a reset field, by its size: above 10¹² milliseconds since 1970, above 10⁹ seconds since 1970, else
/// a length from `now`. The wait from `now`, and the instant if one was written.
pub(super) fn sized(text: &str, now: Option<Timestamp>) -> Option<Sized> {
    let seconds = durations::decimal(text, SECOND)?;
    if seconds <= 1_000_000_000 * SECOND {
        return Some(Sized::Length(seconds));
    }
    let ns = if seconds > 1_000_000_000_000 * SECOND { seconds / 1_000 } else { seconds };
    let at = Timestamp::from_nanosecond(ns).ok()?;
    Some(Sized::Instant { at, wait: now.map(|now| since(at, now)) })
}

/// What a number of a reset field turned out to be.
pub(super) enum Sized {
    /// A length of time.
    Length(Nanos),
    /// An instant, and how far it is.
    Instant { at: Timestamp, wait: Option<Nanos> },
}

/// Nanoseconds from `now` to `at`; negative if `at` is past.
pub(super) fn since(at: Timestamp, now: Timestamp) -> Nanos {
    at.as_nanosecond() - now.as_nanosecond()
}

fn utc(date: Date, time: Time) -> Option<Timestamp> {
    DateTime::from_parts(date, time).to_zoned_datetime(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

fn split<const N: usize>(text: &str, by: char) -> Option<[&str; N]> {
    let parts: Vec<&str> = text.split(by).take(N + 1).collect();
    parts.try_into().ok()
}

/// Exactly `width` digits.
fn fixed(text: &str, width: usize) -> Option<i16> {
    (text.len() == width && durations::is_digits(text)).then(|| text.parse().ok()).flatten()
}

fn fixed8(text: &str) -> Option<i8> {
    fixed(text, 2).and_then(|number| i8::try_from(number).ok())
}

fn civil(year: i16, name: &str, day: i16) -> Option<Date> {
    let month = MONTHS.iter().position(|month| *month == name)?;
    Date::new(year, i8::try_from(month + 1).ok()?, i8::try_from(day).ok()?).ok()
}

fn month(name: &str) -> Option<i8> {
    let at = MONTHS.iter().position(|month| month.eq_ignore_ascii_case(name))?;
    i8::try_from(at + 1).ok()
}

/// `08:49:37`.
fn clock(text: &str) -> Option<Time> {
    let [hour, minute, second] = split(text, ':')?;
    Time::new(fixed8(hour)?, fixed8(minute)?, fixed8(second)?, 0).ok()
}

/// The weekday of a name: its first `letters`, or all of it.
fn weekday(name: &str, letters: usize) -> Option<Weekday> {
    let at = DAYS.iter().position(|day| day[..letters.min(day.len())] == *name)?;
    Weekday::from_monday_zero_offset(i8::try_from(at).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_forms_of_an_http_date_are_one_instant() {
        let now = "2026-01-01T00:00:00Z".parse().ok();
        for text in
            ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        {
            assert_eq!(http(text, now), "1994-11-06T08:49:37Z".parse().ok(), "{text}");
        }
    }

    #[test]
    fn a_wrong_weekday_or_case_is_no_http_date() {
        for text in [
            "Mon, 06 Nov 1994 08:49:37 GMT",
            "sun, 06 nov 1994 08:49:37 gmt",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 UTC",
            "1994-11-06T08:49:37Z",
            "Sun, 31 Feb 1994 08:49:37 GMT",
        ] {
            assert_eq!(http(text, None), None, "{text}");
        }
    }

    #[test]
    fn a_stamp_without_a_zone_is_read_as_utc() {
        assert_eq!(unzoned("2026-03-06", Some("22:19:54")), "2026-03-06T22:19:54Z".parse().ok());
        assert_eq!(unzoned("2026-03-01", Some("00:00")), "2026-03-01T00:00:00Z".parse().ok());
        assert_eq!(unzoned("2026-13-01", None), None);
    }
}
