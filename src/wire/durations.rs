//! Lengths of time as providers write them, read in whole numbers: a fraction of a nanosecond rounds up, because
//! coming back too early is the mistake that costs something.

/// Nanoseconds, possibly negative.
pub(super) type Nanos = i128;

pub(super) const SECOND: Nanos = 1_000_000_000;
const MILLISECOND: Nanos = 1_000_000;
const MINUTE: Nanos = 60 * SECOND;
const HOUR: Nanos = 60 * MINUTE;
const DAY: Nanos = 24 * HOUR;
/// Google's bound on a duration, about 10,000 years.
const PROTOBUF_MAX: Nanos = 315_576_000_000 * SECOND;
/// What digits beyond reason saturate at; far from the ends of `i128`, so that sums stay exact.
pub(super) const FOREVER: Nanos = 1 << 100;

/// An unsigned decimal number times `unit`: `1`, `1.5`; with digits on both sides of a point.
pub(super) fn decimal(text: &str, unit: Nanos) -> Option<Nanos> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    Some((digits(whole).saturating_mul(unit).min(FOREVER)).saturating_add(part(fraction, unit)))
}

/// A number as JSON writes it, times `unit`: also an exponent and a minus sign.
pub(super) fn number(text: &str, unit: Nanos) -> Option<Nanos> {
    let (sign, rest) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let Some((mantissa, exponent)) = rest.split_once(['e', 'E']) else {
        return Some(sign * decimal(rest, unit)?);
    };
    let exponent: i32 = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok()?;
    let mut value = decimal(mantissa, unit)?;
    for _ in 0..exponent.unsigned_abs().min(40) {
        value = if exponent > 0 { value.saturating_mul(10).min(FOREVER) } else { (value + 9) / 10 };
    }
    Some(sign * value)
}

/// Go's `time.ParseDuration`: `6m0s`, `120ms`, `.5s`, `-1s`, `0`; no days, no blanks, at most 292 years.
pub(super) fn go(text: &str) -> Option<Nanos> {
    let (sign, mut rest) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut total: Nanos = 0;
    while !rest.is_empty() || total == 0 {
        let (value, unit, after) = go_part(rest)?;
        total = total.saturating_add(decimal_or_point(value, unit)?);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    (total <= Nanos::from(i64::MAX)).then_some(sign * total)
}

/// The next number with its unit.
fn go_part(text: &str) -> Option<(&str, Nanos, &str)> {
    let split = text.find(|symbol: char| !symbol.is_ascii_digit() && symbol != '.')?;
    let (value, rest) = text.split_at(split);
    let end = rest.find(|symbol: char| symbol.is_ascii_digit() || symbol == '.').unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(end);
    let unit = match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => MILLISECOND,
        "s" => SECOND,
        "m" => MINUTE,
        "h" => HOUR,
        _ => return None,
    };
    Some((value, unit, rest))
}

/// As [`decimal`], but `.5` and `5.` are numbers too.
fn decimal_or_point(text: &str, unit: Nanos) -> Option<Nanos> {
    match text.split_once('.') {
        Some(("", "")) => None,
        Some(("", fraction)) if is_digits(fraction) => Some(part(fraction, unit)),
        Some((whole, "")) => decimal(whole, unit),
        Some(_) | None => decimal(text, unit),
    }
}

/// The JSON form of Google's `Duration`: `34.074824224s`, at most nine decimals.
pub(super) fn protobuf(text: &str) -> Option<Nanos> {
    let (sign, rest) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let value = rest.strip_suffix('s')?;
    if value.split_once('.').is_some_and(|(_, fraction)| fraction.len() > 9) {
        return None;
    }
    decimal(value, SECOND).filter(|ns| *ns <= PROTOBUF_MAX).map(|ns| sign * ns)
}

/// A clock of hours: `08:25:14`, `3.08:25:14` with days in front.
pub(super) fn clock(text: &str) -> Option<Nanos> {
    let (days, clock) = match text.split_once('.') {
        Some((days, clock)) if clock.contains(':') && is_digits(days) => (digits(days), clock),
        Some(_) | None => (0, text),
    };
    let mut parts = clock.splitn(3, ':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    if !is_digits(hours) || minutes.len() != 2 || !is_digits(minutes) {
        return None;
    }
    Some(days * DAY + digits(hours) * HOUR + digits(minutes) * MINUTE + decimal(seconds, SECOND)?)
}

/// A unit as people write it.
pub(super) fn unit(word: &str) -> Option<Nanos> {
    Some(match word {
        "ms" | "millisecond" | "milliseconds" => MILLISECOND,
        "s" | "sec" | "secs" | "second" | "seconds" | "秒" => SECOND,
        "m" | "min" | "mins" | "minute" | "minutes" => MINUTE,
        "h" | "hr" | "hrs" | "hour" | "hours" => HOUR,
        "d" | "day" | "days" => DAY,
        "w" | "week" | "weeks" => 7 * DAY,
        _ => return None,
    })
}

/// Numbers with units and nothing between, as people write them: `9m38.016s`, `2h`, `1d4h`.
pub(super) fn compact(text: &str) -> Option<Nanos> {
    let mut total: Nanos = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let split = rest.find(|symbol: char| symbol.is_ascii_alphabetic())?;
        let (value, after) = rest.split_at(split);
        let end = after.find(|symbol: char| !symbol.is_ascii_alphabetic()).unwrap_or(after.len());
        let (word, after) = after.split_at(end);
        total = total.saturating_add(decimal(value, unit(word)?)?);
        rest = after;
    }
    (!text.is_empty()).then_some(total)
}

/// Whole milliseconds, rounded up; at most `u64::MAX`.
pub(super) fn millis(ns: Nanos) -> u64 {
    u64::try_from(ns.max(0).saturating_add(MILLISECOND - 1) / MILLISECOND).unwrap_or(u64::MAX)
}

pub(super) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The value of digits; saturates at [`FOREVER`].
pub(super) fn digits(text: &str) -> Nanos {
    let value = text
        .bytes()
        .fold(0, |sum: Nanos, byte| sum.saturating_mul(10).saturating_add(Nanos::from(byte - b'0')));
    value.min(FOREVER)
}

/// A fraction of `unit`, rounded up.
fn part(fraction: &str, unit: Nanos) -> Nanos {
    let kept = &fraction[..fraction.len().min(15)];
    let scale = (0..kept.len()).fold(1, |scale: Nanos, _| scale * 10);
    (digits(kept) * unit + scale - 1) / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_and_compact_forms_are_read() {
        assert_eq!(clock("08:25:14"), Some(30_314 * SECOND));
        assert_eq!(clock("1.00:00:01"), Some(86_401 * SECOND));
        assert_eq!(compact("9m38.016s"), Some(578_016 * MILLISECOND));
        assert_eq!(compact("1d4h"), Some(28 * HOUR));
        assert_eq!(compact("86400"), None);
        assert_eq!(compact("5x"), None);
    }

    #[test]
    fn a_number_of_json_keeps_its_fraction_and_its_exponent() {
        assert_eq!(number("16.007", SECOND), Some(16_007 * MILLISECOND));
        assert_eq!(number("1e3", SECOND), Some(1_000 * SECOND));
        assert_eq!(number("-2", SECOND), Some(-2 * SECOND));
        assert_eq!(number("1e400", SECOND), Some(FOREVER));
    }

    #[test]
    fn milliseconds_round_up_and_never_fall_below_zero() {
        assert_eq!(millis(539_477_544), 540);
        assert_eq!(millis(-5), 0);
    }
}
