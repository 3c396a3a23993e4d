//! A wait inside a sentence: "Please try again in 9m38.016s", "retry after 86400 seconds", "You will regain access
//! on 2026-03-01 at 00:00 UTC". Looked for in words; the longest one found counts.

use super::dates;
use super::durations::{self, Nanos, SECOND};
use super::input::Kind;
use jiff::Timestamp;

/// A wait, or an instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Spoken {
    /// This long.
    Wait(Nanos),
    /// Until then.
    Until(Timestamp),
}

/// Whether a time may follow the word.
fn is_cue(word: &str) -> bool {
    matches!(
        word,
        "again"
            | "retry"
            | "retried"
            | "retrying"
            | "wait"
            | "reset"
            | "resets"
            | "replenished"
            | "available"
            | "access"
            | "until"
            | "reopens"
            | "resume"
            | "expires"
    )
}

/// Whether the word may stand between.
fn is_filler(word: &str) -> bool {
    matches!(
        word,
        "in" | "after"
            | "for"
            | "about"
            | "approximately"
            | "at"
            | "on"
            | "around"
            | "be"
            | "the"
            | "least"
            | "another"
            | "until"
            | "within"
    )
}

/// What the words say about when to come back.
pub(super) fn find(words: &str) -> Option<Spoken> {
    let mut longest = None;
    let mut rest = words;
    while let Some((word, after)) = next(rest) {
        rest = after;
        if is_cue(word)
            && let Some(one) = after_cue(after)
        {
            longest = Some(match (longest, one) {
                (Some(Spoken::Wait(old)), Spoken::Wait(new)) => Spoken::Wait(old.max(new)),
                (Some(Spoken::Until(old)), Spoken::Until(new)) => Spoken::Until(old.max(new)),
                (Some(until @ Spoken::Until(_)), Spoken::Wait(_)) => until,
                (Some(Spoken::Wait(_)) | None, new) => new,
            });
        }
    }
    longest
}

/// A time at the front of `words`, after at most four fillers.
fn after_cue(mut words: &str) -> Option<Spoken> {
    for _ in 0..5 {
        let (word, rest) = next(words)?;
        if let Some(at) = instant(word, rest) {
            return Some(Spoken::Until(at));
        }
        if let Some(ns) = length(word, rest) {
            return Some(Spoken::Wait(ns));
        }
        if !is_filler(word) {
            return None;
        }
        words = rest;
    }
    None
}

/// The length that begins with `word`: `9m38s`, `08:25:14`, `2 minutes 5 seconds`, or bare seconds.
fn length(word: &str, rest: &str) -> Option<Nanos> {
    if !word.starts_with(|symbol: char| symbol.is_ascii_digit()) {
        return None;
    }
    if let Some(ns) = durations::compact(word).or_else(|| durations::clock(word)) {
        return Some(ns);
    }
    let unit = next(rest).and_then(|(unit, rest)| Some((durations::unit(unit)?, rest)));
    let Some((unit, rest)) = unit else { return durations::decimal(word, SECOND) };
    let first = durations::decimal(word, unit)?;
    let rest = rest.strip_prefix("and ").unwrap_or(rest);
    let more = next(rest).and_then(|(word, rest)| {
        let (unit, _) = next(rest)?;
        durations::decimal(word, durations::unit(unit)?)
    });
    Some(first.saturating_add(more.unwrap_or(0)))
}

/// The instant that begins with `word`: `2026-03-06t22:19:54z`, `2026-03-01 at 00:00`, `2026-03-06 22:19:54`.
fn instant(word: &str, rest: &str) -> Option<Timestamp> {
    let dated = word.len() >= 10 && word.as_bytes()[4] == b'-' && word.as_bytes()[7] == b'-';
    if !dated {
        return None;
    }
    let upper = word.to_ascii_uppercase();
    if word.len() > 10 {
        return dates::rfc3339(&upper).or_else(|| {
            let (date, time) = word.split_once('t')?;
            dates::unzoned(date, Some(time.get(..8).unwrap_or(time)))
        });
    }
    let rest = rest.strip_prefix("at ").unwrap_or(rest);
    let time = next(rest).map(|(time, _)| time).filter(|time| time.contains(':'));
    dates::unzoned(word, time).or_else(|| dates::unzoned(word, None))
}

fn next(words: &str) -> Option<(&str, &str)> {
    let words = words.trim_start();
    (!words.is_empty()).then(|| words.split_once(' ').unwrap_or((words, "")))
}

/// The longest window in seconds that the words name in figures: "per 86400s", "60 minute".
pub(super) fn window(words: &str) -> Option<Nanos> {
    let mut rest = words;
    let mut longest = None;
    while let Some((word, after)) = next(rest) {
        rest = after;
        if word == "per"
            && let Some((length, _)) = next(after)
        {
            longest = longest.max(durations::compact(length));
        }
    }
    longest
}

/// The status that the words tell as client libraries do: `Error code: 429`, `503 Server Error`. The text of an
/// exception may also begin with it.
pub(super) fn status(words: &str, kind: Kind) -> Option<u16> {
    let (mut before, mut rest, mut at_front) = ("", words, kind == Kind::SdkException);
    while let Some((word, after)) = next(rest) {
        let number = (word.len() == 3).then(|| word.parse().ok()).flatten();
        if let Some(status) = number.filter(|status| (400..=599).contains(status)) {
            let cue = ["error code", "status code", "http", "http error", "http status", "status"]
                .iter()
                .chain(&["client error", "server error", "statuscode", "http code"])
                .any(|cue| ends_with(before, cue));
            let named = after.starts_with("client error") || after.starts_with("server error");
            if cue || named || at_front {
                return Some(status);
            }
        }
        at_front = false;
        before = words[..words.len() - after.len()].trim_end();
        rest = after;
    }
    None
}

/// Whether the words end with the words `cue`.
fn ends_with(words: &str, cue: &str) -> bool {
    words.strip_suffix(cue).is_some_and(|front| front.is_empty() || front.ends_with(' '))
}

/// The code that botocore and gRPC put into a text: `An error occurred (X) when calling …`, `StatusCode.X`.
pub(super) fn code(text: &str) -> Option<&str> {
    let after = |cue: &str| Some(&text[text.find(cue)? + cue.len()..]);
    let rest = after("An error occurred (").or_else(|| after("StatusCode."))?;
    let end =
        rest.find(|symbol: char| !(symbol.is_ascii_alphanumeric() || symbol == '_')).unwrap_or(rest.len());
    (end > 0).then_some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::words;

    fn check(text: &str, ms: Nanos) {
        assert_eq!(find(&words::of(text)), Some(Spoken::Wait(ms * 1_000_000)), "{text}");
    }

    #[test]
    fn every_way_of_saying_wait_is_understood() {
        check("Please try again in 494ms.", 494);
        check("Please try again in 9m38.016s.", 578_016);
        check("Please retry after 86400 seconds.", 86_400_000);
        check("please try again after 1 seconds", 1000);
        check("Please wait 5631 seconds before retrying.", 5_631_000);
        check("Your quota will reset after 1h43m56s.", 6_236_000);
        assert_eq!(find("retry in 56.185908122s"), Some(Spoken::Wait(56_185_908_122)));
    }

    #[test]
    fn longer_forms_and_clocks_are_understood() {
        check("Quota will be replenished in 08:25:14.", 30_314_000);
        check("Try again in 2 minutes and 5 seconds", 125_000);
        check("Retry after 40", 40_000);
        check("resets in 3 hours", 10_800_000);
    }

    #[test]
    fn an_instant_is_understood_and_beats_a_length() {
        let at = |text: &str| find(&words::of(text));
        let until = |text: &str| Some(Spoken::Until(text.parse().unwrap()));
        assert_eq!(at("You will regain access on 2026-03-01 at 00:00 UTC."), until("2026-03-01T00:00:00Z"));
        assert_eq!(at("Your limit will reset at 2026-03-06 22:19:54"), until("2026-03-06T22:19:54Z"));
        assert_eq!(at("resets at 2026-03-06T22:19:54Z"), until("2026-03-06T22:19:54Z"));
    }

    #[test]
    fn a_status_is_told_as_client_libraries_tell_it() {
        let check =
            |text: &str, kind, expected| assert_eq!(status(&words::of(text), kind), expected, "{text}");
        for text in [
            "Error code: 429 - x",
            "Request failed with status code 429",
            "Client error '429 Too Many'",
            "429 Client Error: Too Many Requests for url",
            "(Service: X, Status Code: 429)",
            "HTTP 429",
        ] {
            check(text, Kind::Http, Some(429));
        }
        check("503 The model is overloaded", Kind::SdkException, Some(503));
        for text in ["503 tokens", "Limit 500, requested 429", "error code 1302", "the 429 of them"] {
            check(text, Kind::Http, None);
        }
    }

    #[test]
    fn a_code_is_found_where_libraries_put_it() {
        assert_eq!(
            code("An error occurred (AccessDenied) when calling the X operation: no"),
            Some("AccessDenied")
        );
        assert_eq!(code("status = StatusCode.UNAVAILABLE"), Some("UNAVAILABLE"));
        assert_eq!(code("An error occurred ()"), None);
    }

    #[test]
    fn words_without_a_time_say_nothing() {
        for text in ["please wait before trying again", "try again later", "limit 10 per min", ""] {
            assert_eq!(find(&words::of(text)), None, "{text}");
        }
    }
}
