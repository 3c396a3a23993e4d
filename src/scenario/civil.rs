//! Civil time: when a scenario begins, and at which instants a time of day comes. All of it is lowered here, to
//! instants since the beginning; nothing below knows zones. The zones are those that are compiled in, never the
//! system's.

use super::findings::about;
use super::form::Form;
use super::problems::did_you_mean;
use super::tree::Word;
use crate::units::Timestamp;
use jiff::ZonedDateTime;
use jiff::civil::Time;
use jiff::tz::{TimeZone, db};

/// The most instants that are listed: a century of days.
const RESETS_MAX: usize = 36_525;

/// A time of day in a zone.
pub(super) struct Clock {
    time: Time,
    zone: TimeZone,
}

/// When the scenario begins.
pub(super) fn start(f: &mut Form<'_, '_>) -> Option<ZonedDateTime> {
    let doc = "When it begins, by a civil clock: `2027-03-14T00:30[America/Los_Angeles]`.";
    let word = f.text(about("start", doc))?;
    let read = word.text.parse::<ZonedDateTime>().ok();
    if read.is_none() {
        let help = "for example `start = \"2027-03-14T00:30[America/Los_Angeles]\"`".to_owned();
        f.problem(
            &word.span,
            format!("`{}` is not a time in a zone", word.text),
            Some(zone_help(&word, help)),
        );
    }
    read
}

/// A nearly right zone is named; anything else gets an example.
fn zone_help(word: &Word, example: String) -> String {
    let zone = word.text.split_once('[').and_then(|(_, rest)| rest.strip_suffix(']'));
    zone.filter(|zone| TimeZone::get(zone).is_err()).and_then(nearest).unwrap_or(example)
}

fn nearest(zone: &str) -> Option<String> {
    let known: Vec<String> = db().available().map(|name| name.as_str().to_owned()).collect();
    let ending = format!("/{zone}");
    let of_a_city = known.iter().find(|name| name.ends_with(&ending));
    of_a_city
        .map(|name| format!("did you mean `{name}`?"))
        .or_else(|| did_you_mean(zone, known.iter().map(String::as_str)))
}

/// `midnight America/Los_Angeles` or `08:30 Europe/Berlin`.
pub(super) fn clock(f: &mut Form<'_, '_>, word: &Word) -> Option<Clock> {
    let (time, zone) = word.text.trim().split_once(' ').unwrap_or((&word.text, ""));
    let time = if time == "midnight" { Some(Time::midnight()) } else { time.parse().ok() };
    let Some(time) = time else {
        let help = "for example \"midnight America/Los_Angeles\" or \"08:30 Europe/Berlin\"".to_owned();
        f.problem(&word.span, format!("`{}` is not a time of day and a zone", word.text), Some(help));
        return None;
    };
    match TimeZone::get(zone.trim()) {
        Ok(zone) => Some(Clock { time, zone }),
        Err(_) => {
            f.problem(&word.span, format!("there is no time zone `{}`", zone.trim()), nearest(zone.trim()));
            None
        }
    }
}

/// The instants after `start` at which it is that time of day, up to the first one after `last`. On a day that
/// skips the time it is the instant of the skip; on a day that has it twice, the first.
pub(super) fn resets(start: &ZonedDateTime, clock: &Clock, last: Timestamp) -> Vec<Timestamp> {
    let zero = start.timestamp().as_nanosecond();
    let mut resets = Vec::new();
    let mut day = start.with_time_zone(clock.zone.clone()).date();
    while resets.len() < RESETS_MAX
        && let Ok(instant) = day.to_datetime(clock.time).to_zoned_datetime(clock.zone.clone())
        && let Ok(tomorrow) = day.tomorrow()
    {
        let since = instant.timestamp().as_nanosecond() - zero;
        if since > 0
            && let Ok(nanos) = u64::try_from(since)
        {
            resets.push(Timestamp::from_nanos(nanos));
            if resets.last() > Some(&last) {
                break;
            }
        }
        day = tomorrow;
    }
    resets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    /// The first resets at midnight Pacific after this start, in minutes.
    fn check(start: &str, expected: &[u64]) {
        let start: ZonedDateTime = start.parse().unwrap();
        let zone = TimeZone::get("America/Los_Angeles").unwrap();
        let last = Timestamp::ZERO.after(Duration::from_secs(expected.last().unwrap() * 60 - 1));
        let resets = resets(&start, &Clock { time: Time::midnight(), zone }, last);
        let minutes: Vec<u64> = resets.iter().map(|at| at.nanos() / 60_000_000_000).collect();
        assert_eq!(minutes, expected, "{start}");
    }

    #[test]
    fn midnight_pacific_is_an_hour_sooner_on_the_day_that_springs_forward() {
        check("2027-03-14T00:30[America/Los_Angeles]", &[22 * 60 + 30, 46 * 60 + 30]);
    }

    #[test]
    fn and_an_hour_later_on_the_day_that_falls_back() {
        check("2027-11-07T00:30[America/Los_Angeles]", &[24 * 60 + 30, 48 * 60 + 30]);
    }

    #[test]
    fn a_scenario_that_begins_elsewhere_meets_the_same_midnight() {
        check("2027-06-30T08:45[Europe/Berlin]", &[15, 24 * 60 + 15]);
    }

    #[test]
    fn a_start_at_the_reset_is_not_before_it() {
        check("2027-06-30T00:00[America/Los_Angeles]", &[24 * 60, 48 * 60]);
    }
}
