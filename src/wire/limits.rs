//! The arithmetic of rate-limit headers: which bucket is empty, which window it has, when it is full again; and,
//! of all sources that state a wait, the one that counts.

use super::clock::Clock;
use super::dates;
use super::durations::{self, Nanos, SECOND};
use super::evidence::Evidence;
use super::habits::Trait;
use super::retry_after::{self, Parsed};
use super::sign::Sign;
use super::verdict::Field;
use jiff::Timestamp;

const DAY_S: u64 = 86_400;
const UNIFIED: &str = "anthropic-ratelimit-unified-";

/// A wait, and where it was stated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// How long from now; `None` if only an instant was stated and it is not known what time it is.
    pub(super) ns: Option<Nanos>,
    /// Until when, if an instant was stated.
    pub(super) at: Option<Timestamp>,
    pub(super) field: Field,
    pub(super) stated_in: StatedIn,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StatedIn {
    Header,
    Body,
    Clock,
}

const fn header(key: &'static str) -> Field {
    Field { place: "headers", key }
}

/// Adds the signs that headers give: an exhausted daily bucket, a rejected plan window, a long policy.
pub(super) fn mark(evidence: &mut Evidence<'_>) {
    if !is_limited(evidence) || !has_limits(&evidence.input.headers) && !has_limits(&evidence.carried) {
        return;
    }
    let input = evidence.input;
    let carried = std::mem::take(&mut evidence.carried);
    let daily_requests = evidence.tables.has(evidence.speaker, Trait::RequestsAreDaily);
    for (name, value) in input.headers.iter().chain(&carried) {
        if let Some(claim) = strip(name, UNIFIED) {
            let rejected = claim.ends_with("status") && value.trim() == "rejected";
            let plan = claim == "representative-claim" && (value.contains("hour") || value.contains("day"));
            if rejected || plan {
                evidence.add(Sign::Plan, header("anthropic-ratelimit-unified-*"));
            }
        } else if is_used_up(name, value) {
            evidence.add(Sign::Plan, header("x-codex-*-used-percent"));
        } else if is_empty(name, value) {
            evidence.add(Sign::OwnLimit, header("x-ratelimit-remaining-*"));
            let requests = strip(name, "x-ratelimit-remaining-requests") == Some("");
            if (requests && daily_requests) || name.ends_with("-day") || name.ends_with("-1d") {
                evidence.add(Sign::Day, header("x-ratelimit-remaining-*"));
            }
        }
    }
    if let Some((_, Some(window))) = violated(&input.headers)
        && window >= DAY_S
    {
        evidence.add(Sign::Day, header("ratelimit-policy"));
    }
    evidence.carried = carried;
}

/// The wait that counts: the header made for it, then what the body states, then the reset of an empty bucket,
/// then the IETF fields. A malformed source falls through to the next.
pub(super) fn choose(evidence: &Evidence<'_>) -> Option<Wait> {
    let direct = direct(evidence);
    if let Some(rejected) = rejected(evidence).filter(|_| evidence.sign(Sign::Plan).is_some()) {
        return Some(longer(direct, rejected));
    }
    let stated = direct.or_else(|| body(evidence));
    if !is_limited(evidence) {
        return stated.or_else(|| ietf(evidence));
    }
    stated.or_else(|| empty_bucket(evidence)).or_else(|| ietf(evidence)).or_else(|| {
        let headers = &evidence.input.headers;
        const ALONE: [&str; 4] =
            ["x-ratelimit-reset", "x-rate-limit-reset", "ratelimit-reset", "x-ratelimit-reset-after"];
        let key = ALONE.into_iter().find(|key| lookup(headers, key).is_some())?;
        let value = lookup(headers, key).filter(|_| no_remaining(evidence))?;
        reset(value, evidence.input.now, header(key), StatedIn::Header)
    })
}

/// Whether anything was limited: the headers of buckets come with every answer, and only then they say what.
fn is_limited(evidence: &Evidence<'_>) -> bool {
    match evidence.status() {
        Some(429) => true,
        Some(500..=599) => false,
        Some(_) => evidence.any(&[Sign::Rate, Sign::RateKey]).is_some(),
        None => evidence.error.is_some(),
    }
}

/// The next reset of a window, by the provider's clock.
pub(super) fn next_reset(evidence: &Evidence<'_>) -> Option<Wait> {
    const WINDOWS: [Sign; 3] = [Sign::Month, Sign::Week, Sign::Day];
    let now = evidence.input.now?;
    let window = WINDOWS.into_iter().find(|window| evidence.sign(*window).is_some())?;
    let clock: Clock = evidence.tables.clock(evidence.speaker, window)?;
    let at = clock.next(now)?;
    let field = Field { place: "", key: "clock" };
    Some(Wait { ns: Some(dates::since(at, now)), at: Some(at), field, stated_in: StatedIn::Clock })
}

/// Nobody asks for more than a plan's year; a larger number of seconds is an epoch, which the field does not have.
const LONGEST: Nanos = 400 * 86_400 * durations::SECOND;

/// `retry-after-ms`, `retry-after` and their kin, outside before inside.
fn direct(evidence: &Evidence<'_>) -> Option<Wait> {
    let (now, reading) = (evidence.input.now, evidence.tables.reading);
    let sets = [(&evidence.input.headers, StatedIn::Header), (&evidence.carried, StatedIn::Body)];
    for (headers, stated_in) in sets.into_iter().filter(|(headers, _)| !headers.is_empty()) {
        for key in ["retry-after-ms", "x-ms-retry-after-ms", "x-amz-retry-after"] {
            let parsed = lookup(headers, key).map(|value| retry_after::retry_after_ms(Some(value), reading));
            if let Some(Parsed::Delay(delay)) = parsed {
                let ns = Some(Nanos::from(delay.nanos()));
                return Some(Wait { ns, at: None, field: header(key), stated_in });
            }
        }
        let (value, date) = (lookup(headers, "retry-after"), lookup(headers, "date"));
        if let Parsed::Delay(delay) = retry_after::retry_after(value, date, now, reading)
            && Nanos::from(delay.nanos()) <= LONGEST
        {
            let ns = Some(Nanos::from(delay.nanos()));
            return Some(Wait { ns, at: None, field: header("retry-after"), stated_in });
        }
    }
    None
}

/// The longer of a stated length and the distance of a stated instant.
fn body(evidence: &Evidence<'_>) -> Option<Wait> {
    let stated_in = StatedIn::Body;
    let length = evidence.wait.map(|(ns, field)| Wait { ns: Some(ns), at: None, field, stated_in });
    let Some((at, field)) = evidence.until else { return length };
    let ns = evidence.input.now.map(|now| dates::since(at, now).max(0));
    Some(longer(length, Wait { ns, at: Some(at), field, stated_in }))
}

fn longer(one: Option<Wait>, other: Wait) -> Wait {
    match one {
        Some(one) if one.ns.is_some() && one.ns > other.ns => one,
        Some(_) | None => other,
    }
}

/// The latest reset of the plan windows that reject us.
fn rejected(evidence: &Evidence<'_>) -> Option<Wait> {
    let headers = &evidence.input.headers;
    let mut latest: Option<Wait> = None;
    for (name, value) in headers {
        let claim = strip(name, UNIFIED).and_then(|claim| claim.strip_suffix("status"));
        let (reset_name, field) = match claim {
            Some(window) if value.trim() == "rejected" => {
                (format!("{UNIFIED}{window}reset"), header("anthropic-ratelimit-unified-*-reset"))
            }
            None if is_used_up(name, value) => {
                let reset_name = name.to_ascii_lowercase().replace("used-percent", "reset-after-seconds");
                (reset_name, header("x-codex-*-reset-after-seconds"))
            }
            Some(_) | None => continue,
        };
        let value = lookup(headers, &reset_name);
        let wait = value.and_then(|value| reset(value, evidence.input.now, field, StatedIn::Header));
        latest = wait.map(|wait| longer(latest, wait)).or(latest);
    }
    latest
}

/// The latest reset of the buckets with nothing remaining.
fn empty_bucket(evidence: &Evidence<'_>) -> Option<Wait> {
    let now = evidence.input.now;
    let mut latest: Option<Wait> = None;
    let sets = [(&evidence.input.headers, StatedIn::Header), (&evidence.carried, StatedIn::Body)];
    for (headers, stated_in) in sets.into_iter().filter(|(headers, _)| has_limits(headers)) {
        for (name, _) in headers.iter().filter(|(name, value)| is_empty(name, value)) {
            let reset_name = name.to_ascii_lowercase().replace("remaining", "reset");
            let value = lookup(headers, &reset_name);
            let wait = value.and_then(|value| reset(value, now, header("x-ratelimit-reset-*"), stated_in));
            latest = wait.map(|wait| longer(latest, wait)).or(latest);
        }
    }
    latest
}

/// The IETF fields: `RateLimit: "default";r=0;t=30`.
fn ietf(evidence: &Evidence<'_>) -> Option<Wait> {
    let (seconds, _) = violated(&evidence.input.headers)?;
    let ns = Some(Nanos::from(seconds?) * SECOND);
    Some(Wait { ns, at: None, field: header("ratelimit"), stated_in: StatedIn::Header })
}

/// The seconds to wait and the window of the longest violated IETF policy.
fn violated(headers: &[(String, String)]) -> Option<(Option<u64>, Option<u64>)> {
    let value = lookup(headers, "ratelimit")?;
    if let Some(older) = retry_after::rate_limit_of_draft_7(value) {
        return (older.remaining == 0).then_some((older.reset_s, None));
    }
    let items = retry_after::rate_limit(value)?;
    let spent = items.iter().filter(|item| item.remaining == 0).max_by_key(|item| item.reset_s)?;
    let policies = lookup(headers, "ratelimit-policy").and_then(retry_after::rate_limit_policies);
    let window =
        policies.and_then(|policies| policies.iter().find(|one| one.policy == spent.policy)?.window_s);
    Some((spent.reset_s, window))
}

/// A reset field, as a wait and, if it is one, as an instant.
fn reset(value: &str, now: Option<Timestamp>, field: Field, stated_in: StatedIn) -> Option<Wait> {
    let value = value.trim();
    let at = match dates::sized(value, now) {
        Some(dates::Sized::Instant { at, .. }) => Some(at),
        Some(dates::Sized::Length(_)) => None,
        None => dates::rfc3339(value),
    };
    let ns = match retry_after::reset(value, now) {
        Parsed::Delay(delay) => Some(Nanos::from(delay.nanos())),
        Parsed::Absent | Parsed::Malformed(_) => None,
    };
    (ns.is_some() || at.is_some()).then_some(Wait { ns, at, field, stated_in })
}

fn has_limits(headers: &[(String, String)]) -> bool {
    headers.iter().any(|(name, _)| {
        let name = name.as_bytes();
        let has = |word: &[u8]| name.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
        has(b"ratelimit") || has(b"rate-limit") || has(b"tokenlimit") || has(b"x-codex-")
    })
}

/// Whether a header says that the window of a Codex plan is used up.
fn is_used_up(name: &str, value: &str) -> bool {
    let percent =
        strip(name, "x-codex-").is_some_and(|rest| rest.to_ascii_lowercase().ends_with("-used-percent"));
    percent && durations::decimal(value.trim(), 1).is_some_and(|percent| percent >= 100)
}

/// Whether a header says that a bucket has nothing left.
fn is_empty(name: &str, value: &str) -> bool {
    let counted = strip(name, "x-ratelimit-remaining").is_some()
        || strip(name, "x-rate-limit-remaining").is_some()
        || strip(name, "ratelimit-remaining").is_some()
        || strip(name, "x-tokenlimit-remaining").is_some()
        || (strip(name, "anthropic-ratelimit-").is_some()
            && name.to_ascii_lowercase().ends_with("-remaining"));
    counted && durations::decimal(value.trim(), 1) == Some(0)
}

fn no_remaining(evidence: &Evidence<'_>) -> bool {
    const KEYS: [&str; 3] = ["x-ratelimit-remaining", "x-rate-limit-remaining", "ratelimit-remaining"];
    KEYS.iter().all(|key| lookup(&evidence.input.headers, key).is_none())
}

fn lookup<'h>(headers: &'h [(String, String)], key: &str) -> Option<&'h str> {
    headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value.as_str())
}

/// The rest of a header's name after `prefix`, whatever its case.
fn strip<'n>(name: &'n str, prefix: &str) -> Option<&'n str> {
    let (front, rest) = name.split_at_checked(prefix.len())?;
    front.eq_ignore_ascii_case(prefix).then_some(rest)
}

#[cfg(test)]
mod tests {
    use crate::wire::{Dialect, Input, Verdict, classify};
    use serde_json::{Value, json};

    fn check(provider: &str, headers: Value) -> (&'static str, Option<u64>) {
        let case = json!({"provider": provider, "status": 429, "headers": headers, "body": "",
            "now": "2026-04-01T09:00:00Z"});
        let verdict: Verdict = classify(&Input::from_json(case), &Dialect::standard());
        (verdict.label(), verdict.retry_after_ms)
    }

    #[test]
    fn a_malformed_source_falls_through_to_the_next() {
        let headers = json!({"retry-after-ms": "abc", "retry-after": "-5", "ratelimit": "\"a\";r=0;t=7"});
        assert_eq!(check("any", headers), ("RETRYABLE_RATE_LIMIT", Some(7_000)));
        assert_eq!(check("any", json!({"retry-after-ms": "0", "retry-after": "20"})).1, Some(0));
    }

    #[test]
    fn a_malformed_wait_in_milliseconds_does_not_hide_the_one_in_seconds() {
        for malformed in ["abc", "-5", "", "1e3s", "20s"] {
            let headers = json!({"retry-after-ms": malformed, "retry-after": "20"});
            assert_eq!(check("any", headers), ("RETRYABLE_RATE_LIMIT", Some(20_000)), "{malformed}");
        }
    }

    #[test]
    fn older_and_other_fields_of_limits_are_read() {
        let limited = |headers, ms| assert_eq!(check("any", headers), ("RETRYABLE_RATE_LIMIT", ms));
        limited(json!({"RateLimit": "limit=100, remaining=0, reset=30"}), Some(30_000));
        limited(json!({"RateLimit": "limit=100, remaining=7, reset=30"}), None);
        limited(json!({"x-rate-limit-reset": "30"}), Some(30_000));
        limited(json!({"x-rate-limit-remaining": "0", "X-Rate-Limit-Reset": "12"}), Some(12_000));
        limited(json!({"x-rate-limit-remaining": "3", "x-rate-limit-reset": "30"}), None);
        limited(json!({"ratelimit-remaining": "0", "ratelimit-reset": "9"}), Some(9_000));
    }

    #[test]
    fn the_reset_of_the_empty_bucket_counts_not_the_earliest() {
        let headers = json!({"x-ratelimit-remaining-requests": "9", "x-ratelimit-reset-requests": "1s",
            "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "21s"});
        assert_eq!(check("together", headers), ("RETRYABLE_RATE_LIMIT", Some(21_000)));
    }

    #[test]
    fn of_two_windows_that_reject_the_longer_counts() {
        let headers = json!({"anthropic-ratelimit-unified-5h-status": "rejected",
            "anthropic-ratelimit-unified-5h-reset": "1775048400",
            "anthropic-ratelimit-unified-7d-status": "rejected",
            "anthropic-ratelimit-unified-7d-reset": "1775433600"});
        assert_eq!(check("anthropic", headers), ("QUOTA_EXHAUSTED", Some(399_600_000)));
    }

    #[test]
    fn the_used_up_window_of_a_plan_is_a_quota() {
        let headers = json!({"x-codex-primary-used-percent": "100.0", "x-codex-primary-reset-after-seconds": "5000",
            "x-codex-secondary-used-percent": "40", "x-codex-secondary-reset-after-seconds": "400000"});
        assert_eq!(check("openai", headers), ("QUOTA_EXHAUSTED", Some(5_000_000)));
    }

    #[test]
    fn headers_of_limits_say_nothing_where_nothing_was_limited() {
        let headers = json!({"x-ratelimit-remaining-requests-day": "0", "x-ratelimit-reset-requests-day": "33011",
            "anthropic-ratelimit-unified-status": "rejected", "anthropic-ratelimit-unified-reset": "1775433600"});
        for (status, label) in
            [(400, "NON_RETRYABLE"), (500, "RETRYABLE_OVERLOAD"), (529, "RETRYABLE_OVERLOAD")]
        {
            let case = json!({"provider": "anthropic", "status": status, "headers": headers, "body": ""});
            let verdict = classify(&Input::from_json(case), &Dialect::standard());
            assert_eq!((verdict.label(), verdict.retry_after_ms), (label, None), "{status}");
        }
    }

    #[test]
    fn a_full_bucket_is_no_window_where_buckets_refill_all_the_time() {
        let headers = json!({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"});
        assert_eq!(check("openai", headers).0, "RETRYABLE_RATE_LIMIT");
    }
}
