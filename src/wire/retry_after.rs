//! When a response asks to come back, field by field, strictly: what is not in the field's grammar is malformed
//! and says why, and the next source is asked. That is the default: a value that the grammar does not have is a guess,
//! and a guess is for whoever asks for it. [`Reading::AsSent`] takes what some providers send nevertheless,
//! [`Reading::LenientSdk`] what clients in the field accept.
//! Sources: RFC 9110 10.2.3 and 5.6.7, draft-ietf-httpapi-ratelimit-headers, the providers' references.

use super::dates;
use super::durations::{self, FOREVER, Nanos, SECOND};
use crate::units::Duration;
use jiff::Timestamp;

/// What a field says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parsed {
    /// This long from now. Zero is a delay too: come back at once.
    Delay(Duration),
    /// The field is not there.
    Absent,
    /// The field is there and says nothing; the next source is asked.
    Malformed(Reason),
}

/// Why a field says nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// There is no value.
    Empty,
    /// A length of time below zero.
    Negative,
    /// Not in the grammar of the field.
    Grammar,
    /// An instant, and it is not known what time it is.
    NoClock,
    /// An instant that is past, where only one to come has a meaning.
    Past,
}

/// How strictly values are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reading {
    /// As the standard says: whole seconds, or a date.
    #[default]
    Strict,
    /// As the standard says, and what providers send nevertheless: a fraction (`1.5`), a unit (`20s`), an epoch.
    AsSent,
    /// As the SDKs do: fractions, exponents and signs in numbers, dates with any weekday.
    LenientSdk,
}

/// `Retry-After`: seconds, or an HTTP date, whose distance is taken from `date` (the `Date` header, the server's
/// own clock) or else from `now`.
pub fn retry_after(
    value: Option<&str>,
    date: Option<&str>,
    now: Option<Timestamp>,
    reading: Reading,
) -> Parsed {
    let Some(value) = value.map(str::trim) else { return Parsed::Absent };
    if value.is_empty() {
        return Parsed::Malformed(Reason::Empty);
    }
    let digits = durations::is_digits(value);
    if reading == Reading::AsSent
        && let Some(ns) = as_sent(value, now)
    {
        return delay(ns);
    }
    if digits {
        return delay(durations::digits(value).saturating_mul(SECOND));
    }
    if value.strip_prefix('-').is_some_and(|rest| durations::number(rest, SECOND).is_some()) {
        return Parsed::Malformed(Reason::Negative);
    }
    let at = match reading {
        Reading::Strict | Reading::AsSent => dates::http(value, now),
        Reading::LenientSdk => match lenient_number(value, SECOND) {
            Some(ns) => return delay(ns),
            None => dates::http(value, now).or_else(|| dates::forgiving(value, now)),
        },
    };
    let Some(at) = at else { return Parsed::Malformed(Reason::Grammar) };
    match date.and_then(|date| dates::http(date.trim(), now)).or(now) {
        Some(from) => delay(dates::since(at, from).max(0)),
        None => Parsed::Malformed(Reason::NoClock),
    }
}

/// A number with a fraction or a unit, or an epoch, which no wait is as long as.
fn as_sent(value: &str, now: Option<Timestamp>) -> Option<Nanos> {
    match dates::sized(value, now) {
        Some(dates::Sized::Length(ns)) => Some(ns),
        Some(dates::Sized::Instant { wait, .. }) => wait.map(|wait| wait.max(0)),
        None => durations::compact(value),
    }
}

/// `retry-after-ms` (OpenAI, Azure) and `x-amz-retry-after`: whole milliseconds; leniently with a fraction.
pub fn retry_after_ms(value: Option<&str>, reading: Reading) -> Parsed {
    const MILLISECOND: Nanos = 1_000_000;
    let Some(value) = value.map(str::trim) else { return Parsed::Absent };
    if value.is_empty() {
        return Parsed::Malformed(Reason::Empty);
    }
    if value.strip_prefix('-').is_some_and(|rest| durations::decimal(rest, 1).is_some()) {
        return Parsed::Malformed(Reason::Negative);
    }
    let ns = match reading {
        Reading::Strict | Reading::AsSent => durations::decimal(value, MILLISECOND),
        Reading::LenientSdk => lenient_number(value, MILLISECOND),
    };
    ns.map_or(Parsed::Malformed(Reason::Grammar), delay)
}

/// A Go duration (`x-ratelimit-reset-*` of OpenAI and Groq).
pub fn go_duration(value: &str) -> Parsed {
    signed(value, durations::go(value))
}

/// The JSON form of Google's `Duration` (`RetryInfo.retryDelay`).
pub fn protobuf_duration(value: &str) -> Parsed {
    signed(value, durations::protobuf(value))
}

/// RFC 3339 (`anthropic-ratelimit-*-reset`): a past instant is zero.
pub fn rfc3339(value: &str, now: Option<Timestamp>) -> Parsed {
    let Some(at) = dates::rfc3339(value) else { return malformed(value) };
    now.map_or(Parsed::Malformed(Reason::NoClock), |now| delay(dates::since(at, now).max(0)))
}

/// Whole seconds since 1970 (Envoy's `UNIX_TIMESTAMP`): now is zero, a past instant says nothing.
pub fn unix_seconds(value: &str, now: Timestamp) -> Parsed {
    if !durations::is_digits(value) {
        return malformed(value);
    }
    match durations::digits(value).saturating_mul(SECOND) - now.as_nanosecond() {
        wait if wait < 0 => Parsed::Malformed(Reason::Past),
        wait => delay(wait),
    }
}

/// A number of a reset field whose unit is told by its size (`x-ratelimit-reset`): an epoch in milliseconds, an
/// epoch in seconds, or seconds from now; or a Go duration, or RFC 3339.
pub fn reset(value: &str, now: Option<Timestamp>) -> Parsed {
    match dates::sized(value, now) {
        Some(dates::Sized::Length(ns)) => delay(ns),
        Some(dates::Sized::Instant { wait: Some(wait), .. }) => delay(wait.max(0)),
        Some(dates::Sized::Instant { wait: None, .. }) => Parsed::Malformed(Reason::NoClock),
        None if value.contains('T') => rfc3339(value, now),
        None => match durations::go(value) {
            Some(ns) => signed(value, Some(ns)),
            None => durations::compact(value).map_or_else(|| malformed(value), delay),
        },
    }
}

/// A number as Python's `float` reads it, times `unit`. Infinity is [`FOREVER`]; what is not a number is none.
pub(super) fn lenient_number(text: &str, unit: Nanos) -> Option<Nanos> {
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let unsigned = unsigned.strip_prefix('.').map_or_else(|| unsigned.to_owned(), |rest| format!("0.{rest}"));
    let unsigned = unsigned.strip_suffix('.').unwrap_or(&unsigned);
    match unsigned {
        _ if unsigned.eq_ignore_ascii_case("inf") || unsigned.eq_ignore_ascii_case("infinity") => {
            Some(FOREVER)
        }
        _ => durations::number(unsigned, unit),
    }
}

fn signed(value: &str, ns: Option<Nanos>) -> Parsed {
    match ns {
        Some(ns) if ns < 0 => Parsed::Malformed(Reason::Negative),
        Some(ns) => delay(ns),
        None => malformed(value),
    }
}

fn malformed(value: &str) -> Parsed {
    Parsed::Malformed(if value.is_empty() { Reason::Empty } else { Reason::Grammar })
}

fn delay(ns: Nanos) -> Parsed {
    if ns < 0 {
        return Parsed::Malformed(Reason::Negative);
    }
    Parsed::Delay(Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX)))
}

/// One item of an IETF `RateLimit` field: `"default";r=50;t=30`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Remaining<'a> {
    /// The name of the policy.
    pub policy: &'a str,
    /// What is left.
    pub remaining: u64,
    /// Seconds until there is more.
    pub reset_s: Option<u64>,
}

/// The items of an IETF `RateLimit` field. A malformed item makes the whole field void: the draft says that it
/// must be ignored.
pub fn rate_limit(value: &str) -> Option<Vec<Remaining<'_>>> {
    items(value)?
        .into_iter()
        .map(|(policy, parameters)| {
            let remaining = whole(&parameters, "r")??;
            Some(Remaining { policy, remaining, reset_s: whole(&parameters, "t")? })
        })
        .collect()
}

/// The `RateLimit` field of the draft's versions before 8: `limit=100, remaining=0, reset=30`.
pub(super) fn rate_limit_of_draft_7(value: &str) -> Option<Remaining<'_>> {
    let of = |key: &str| {
        let mut pairs = value.split(',').filter_map(|pair| pair.split_once('='));
        let (_, number) = pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case(key))?;
        Some(number.trim()).filter(|number| durations::is_digits(number))?.parse().ok()
    };
    Some(Remaining { policy: "", remaining: of("remaining")?, reset_s: of("reset") })
}

/// One item of an IETF `RateLimit-Policy` field: `"daily";q=1000;w=86400`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy<'a> {
    /// Its name.
    pub policy: &'a str,
    /// What is allowed in a window.
    pub quota: u64,
    /// The length of the window in seconds.
    pub window_s: Option<u64>,
}

/// The items of an IETF `RateLimit-Policy` field; a malformed item makes it void.
pub fn rate_limit_policies(value: &str) -> Option<Vec<Policy<'_>>> {
    items(value)?
        .into_iter()
        .map(|(policy, parameters)| {
            let quota = whole(&parameters, "q")??;
            Some(Policy { policy, quota, window_s: whole(&parameters, "w")? })
        })
        .collect()
}

type Item<'a> = (&'a str, Vec<(&'a str, &'a str)>);

/// A structured list of strings with parameters.
fn items(value: &str) -> Option<Vec<Item<'_>>> {
    let mut list = Vec::new();
    for item in value.split(',').take(32) {
        let (name, rest) = item.trim().strip_prefix('"')?.split_once('"')?;
        let mut parameters = Vec::new();
        for parameter in rest.split(';').skip(1) {
            let parameter = parameter.trim();
            parameters.push(parameter.split_once('=').unwrap_or((parameter, "")));
        }
        (rest.is_empty() || rest.starts_with(';')).then_some(())?;
        list.push((name, parameters));
    }
    Some(list)
}

/// A parameter that is a whole number, if it is there; the outer `None` if it is there and is not one.
#[expect(clippy::option_option, reason = "absent and malformed are two answers")]
fn whole(parameters: &[(&str, &str)], key: &str) -> Option<Option<u64>> {
    match parameters.iter().find(|(name, _)| *name == key) {
        None => Some(None),
        Some((_, value)) if durations::is_digits(value) => value.parse().ok().map(Some),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(s: u64) -> Parsed {
        Parsed::Delay(Duration::from_secs(s))
    }

    #[test]
    fn zero_is_a_delay_and_garbage_has_a_reason() {
        let check = |value, expected| assert_eq!(retry_after(value, None, None, Reading::Strict), expected);
        check(None, Parsed::Absent);
        check(Some("0"), seconds(0));
        check(Some(" 20 "), seconds(20));
        check(Some("-5"), Parsed::Malformed(Reason::Negative));
        check(Some("1.5"), Parsed::Malformed(Reason::Grammar));
        check(Some(""), Parsed::Malformed(Reason::Empty));
        check(Some("99999999999999999999999999999999999"), Parsed::Delay(Duration::MAX));
    }

    #[test]
    fn the_servers_own_clock_is_the_one_a_date_is_read_by() {
        let now = "2026-10-21T07:00:00Z".parse().ok();
        let date = Some("Wed, 21 Oct 2026 07:27:30 GMT");
        let value = Some("Wed, 21 Oct 2026 07:28:00 GMT");
        assert_eq!(retry_after(value, date, now, Reading::Strict), seconds(30));
        assert_eq!(retry_after(value, None, now, Reading::Strict), seconds(28 * 60));
        assert_eq!(retry_after(value, None, None, Reading::Strict), Parsed::Malformed(Reason::NoClock));
    }

    #[test]
    fn lenient_reading_takes_what_clients_take() {
        let check =
            |value, expected| assert_eq!(retry_after(Some(value), None, None, Reading::LenientSdk), expected);
        check("1.5", Parsed::Delay(Duration::from_millis(1500)));
        check("1e1", seconds(10));
        check("+20", seconds(20));
        check("nan", Parsed::Malformed(Reason::Grammar));
    }

    #[test]
    fn a_malformed_item_voids_a_ratelimit_field() {
        assert_eq!(rate_limit("\"a\";r=5;t=-1"), None);
        assert_eq!(rate_limit("\"a\";t=1"), None);
        let two = rate_limit("\"a\";r=5, \"b\";r=0;t=9").unwrap();
        assert_eq!((two[0].reset_s, two[1].policy, two[1].reset_s), (None, "b", Some(9)));
    }
}
