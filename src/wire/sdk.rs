//! What two client libraries make of the headers that state a wait, with their quirks: zero shadows a real wait,
//! infinity is slept for seven weeks, a far date is an exception. For layers that a scenario puts above a gateway.
//! Source: openai 3.57.0 and anthropic 2.14.0 as run.

use super::dates;
use super::durations::{self, Nanos, SECOND};
use crate::units::Duration;
use jiff::Timestamp;

/// A client library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sdk {
    /// openai-python 3.57: up to 120 s is obeyed, more is not retried.
    OpenAi,
    /// anthropic-sdk-python 2.14: everything is obeyed, up to 2³² ms.
    Anthropic,
}

/// What the library does after a failure that it may retry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SdkWait {
    /// Sleeps this long, then retries.
    Wait(Duration),
    /// Retries after a backoff of its own.
    OwnBackoff,
    /// Gives up.
    NoRetry,
    /// An exception leaves the retry loop.
    Raises,
}

/// A number as Python's `float` reads it.
enum Float {
    Finite(Nanos),
    Infinite,
    NotANumber,
}

/// What `sdk` does with the two headers at `now`.
pub fn sdk_wait(sdk: Sdk, ms: Option<&str>, after: Option<&str>, now: Timestamp) -> SdkWait {
    let by_ms = ms.and_then(|value| float(value, 1_000_000));
    let read = by_ms.or_else(|| after.and_then(|value| float(value, SECOND)));
    let read = match (read, after) {
        (Some(number), _) => number,
        (None, Some(value)) => match dates::forgiving(value.trim(), Some(now)) {
            Some(at) => Float::Finite(dates::since(at, now)),
            None if sdk == Sdk::Anthropic && is_date_beyond_the_calendar(value) => return SdkWait::Raises,
            None => return SdkWait::OwnBackoff,
        },
        (None, None) => return SdkWait::OwnBackoff,
    };
    match (sdk, read) {
        (_, Float::Finite(..=0) | Float::NotANumber) => SdkWait::OwnBackoff,
        (Sdk::OpenAi, Float::Infinite) => SdkWait::OwnBackoff,
        (Sdk::OpenAi, Float::Finite(ns)) if ns > 120 * SECOND => SdkWait::NoRetry,
        (Sdk::Anthropic, Float::Infinite) => SdkWait::Wait(LONGEST),
        (Sdk::OpenAi | Sdk::Anthropic, Float::Finite(ns)) => {
            SdkWait::Wait(u64::try_from(ns).map_or(LONGEST, Duration::from_nanos).min(LONGEST))
        }
    }
}

/// 2³² milliseconds, in whole seconds.
const LONGEST: Duration = Duration::from_secs(4_294_967);

fn float(text: &str, unit: Nanos) -> Option<Float> {
    let text = text.trim().to_ascii_lowercase();
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(&text)),
    };
    match unsigned {
        "nan" => Some(Float::NotANumber),
        "inf" | "infinity" if sign == 1 => Some(Float::Infinite),
        "inf" | "infinity" => Some(Float::Finite(-1)),
        _ => {
            let with_zero =
                if unsigned.starts_with('.') { format!("0{unsigned}") } else { unsigned.to_owned() };
            let whole = with_zero.strip_suffix('.').unwrap_or(&with_zero);
            (!whole.starts_with('-')).then_some(())?;
            Some(Float::Finite(sign * durations::number(&whole.replace('_', ""), unit)?))
        }
    }
}

/// A date with a year of more than four digits, which Python's calendar has not.
fn is_date_beyond_the_calendar(text: &str) -> bool {
    text.contains(':') && text.split([' ', '-']).any(|word| word.len() > 4 && durations::is_digits(word))
}
