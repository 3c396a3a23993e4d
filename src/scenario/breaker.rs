//! `[policy.breaker]`: when a route is left alone, and how it is tried again.

use super::findings::{about, knob};
use super::form::Form;
use super::lower::{DOMAINS, World};
use super::quantity::{COUNT_FROM_ONE, DURATION, DURATION_OR_NEVER, SHARE};
use crate::gateway::WhenOpen;
use crate::policy::breaker::{
    Boundary, Config, Cooldown, JudgedOn, Late, Neutral, ProbeLimit, RateOf, Rounding, Slow, Trip, Verdict,
    WindowModel,
};

/// The results that a share is of, if the file does not say.
const WINDOW: WindowModel = WindowModel::Count { size: 100 };

/// The circuit breaker.
pub(super) fn breaker(f: &mut Form<'_, '_>, world: &mut World) {
    let about_enabled = knob(
        "enabled",
        "Whether there is a breaker.",
        &[("false", "every request knocks on the broken door by itself", "")],
    );
    let config = config(f);
    world.policy.breaker = f.switch(about_enabled, Some(config), None, "true");
    let about_scope = knob(
        "scope",
        "What shares one breaker.",
        &[("provider", "one sick model takes its healthy siblings down", "")],
    );
    world.breaker_scope = f.choice(about_scope, DOMAINS, "provider_model_region");
    let doc = "What a request does if a breaker is the first to open of what closes its routes: it ends at once \
               (`fail_fast`), or waits until a call may pass, if that fits its deadline and `retry.hint_max`.";
    let words = [("fail_fast", WhenOpen::FailFast), ("wait", WhenOpen::Wait)];
    world.policy.when_open = f.choice(about("when_open", doc), &words, "fail_fast");
}

/// When it moves.
pub(super) fn config(f: &mut Form<'_, '_>) -> Config {
    let trip = trip(f);
    let slow = f.optional_table("slow", slow).flatten();
    let window = window(f, trip, slow);
    let doc = "Results that the window must hold before a share of them, failed or slow, means anything; at \
               most as many as fit a window that is counted.";
    let about_minimum =
        knob("minimum", doc, &[("1", "the first call of the morning fails and shuts the route", "")]);
    let unusual = Config::default();
    Config {
        window,
        trip,
        minimum: f.value(about_minimum, &COUNT_FROM_ONE, "20"),
        judged_on: if slow.is_some() { JudgedOn::Any } else { JudgedOn::Bad },
        slow,
        ..trial(f, unusual)
    }
}

/// What opens it.
fn trip(f: &mut Form<'_, '_>) -> Trip {
    let about_failures = knob(
        "failures",
        "Failures in a row that open it, unless there is a `trip`.",
        &[("300", "it never opens", ""), ("1", "one unlucky call shuts a healthy route", "")],
    );
    let failures = f.value(about_failures, &COUNT_FROM_ONE, "3");
    if f.inherits("trip") && f.has("failures") && !f.inherits("failures") {
        let help = Some("state a `trip` here too".to_owned());
        f.problem(
            &f.span_of("failures"),
            "`failures` is nothing where `[policy.breaker]` has a `trip`",
            help,
        );
    }
    let windowed = f.optional_table("trip", |f| {
        let ratio = f.optional(about("ratio", "The share of failures that opens it."), &SHARE);
        let about_count = knob(
            "count",
            "Failures in the window that open it, however many calls there are.",
            &[("5", "a blip of five failures in four thousand calls shuts a healthy route", "")],
        );
        let count = f.optional(about_count, &COUNT_FROM_ONE);
        match (ratio, count) {
            (Some(bad), None) => Some(Trip::Rate { bad, of: RateOf::Results, rounding: Rounding::Exact }),
            (None, Some(bad)) => Some(Trip::Count { bad }),
            (Some(_), Some(_)) | (None, None) => {
                let help = Some("for example `trip = { ratio = \"1/2\" }`".to_owned());
                f.problem(&f.span(), "it opens on a `ratio` or on a `count`", help);
                None
            }
        }
    });
    windowed.flatten().unwrap_or(Trip::Run { bad: failures })
}

/// When slow calls open it.
fn slow(f: &mut Form<'_, '_>) -> Option<Slow> {
    let above = f.required(about("above", "A call that takes longer is slow."), &DURATION);
    let share = f.required(about("share", "The share of slow calls that opens it."), &SHARE);
    Some(Slow { over: above?, share: share? })
}

/// What is remembered of the past.
fn window(f: &mut Form<'_, '_>, trip: Trip, slow: Option<Slow>) -> WindowModel {
    let is_run = matches!(trip, Trip::Run { .. }) && slow.is_none();
    let is_alone = !f.has("trip") && !f.has("slow"); // a wrong one is told already
    let stated = f.optional_table("window", |f| {
        if is_alone && !f.is_describing() {
            let help = Some("it is for a `trip` or for `slow` calls".to_owned());
            f.problem(&f.span(), "a run of failures has no window", help);
        }
        let time = f.optional(about("time", "Results of the last while, in ten parts."), &DURATION);
        let count = f.optional(about("count", "So many results; the last 100 by default."), &COUNT_FROM_ONE);
        match (time, count) {
            (Some(over), None) => Some(WindowModel::Rolling { over, parts: 10 }),
            (None, Some(size)) => Some(WindowModel::Count { size }),
            (Some(_), Some(_)) | (None, None) => {
                f.problem(&f.span(), "a window is a `time` or a `count`", None);
                None
            }
        }
    });
    stated.flatten().unwrap_or(if is_run { WindowModel::Run } else { WINDOW })
}

/// How long it stays open, and what it takes to close it again.
fn trial(f: &mut Form<'_, '_>, unusual: Config) -> Config {
    let about_open_for = knob(
        "open_for",
        "How long it stays open before it lets a probe through.",
        &[("500 s", "it outlives the outage", "")],
    );
    let about_probes = knob(
        "probes",
        "Calls in flight while it is half-open.",
        &[("1000000", "a flood the moment the cooldown is over", "")],
    );
    let about_patience = knob(
        "probe_timeout",
        "How long a probe keeps its slot without a result; `never` gives it back only with one.",
        &[("never", "one lost probe holds it half-open for ever", "")],
    );
    let about_good = about("close_after", "Good probes in a row that close it; any bad one opens it again.");
    let about_late = knob(
        "late",
        "What a result is worth whose call began before the last move.",
        &[("mutates", "a call from before the outage decides the probe", "stale_changes_nothing")],
    );
    let about_neutral = knob(
        "neutral",
        "What a result is worth that says nothing about health, like a cancel of ours or a rate limit.",
        &[("success", "a cancelled probe closes it", "neutral_moves_nothing")],
    );
    let about_boundary = knob(
        "boundary",
        "Whether a probe is let through at exactly the end of the cooldown.",
        &[("exclusive", "who comes back when told to is refused once more", "")],
    );
    Config {
        cooldown: Cooldown::Fixed(f.value(about_open_for, &DURATION, "30 s")),
        probes: ProbeLimit::InFlight(f.value(about_probes, &COUNT_FROM_ONE, "1")),
        probe_timeout: f.value(about_patience, &DURATION_OR_NEVER, "30 s"),
        verdict: Verdict::AnyBadReopens { good: f.value(about_good, &COUNT_FROM_ONE, "1") },
        late: f.choice(about_late, &[("ignored", Late::Stale), ("mutates", Late::Counts)], "ignored"),
        neutral: f.choice(
            about_neutral,
            &[("nothing", Neutral::Nothing), ("success", Neutral::Success)],
            "nothing",
        ),
        boundary: f.choice(
            about_boundary,
            &[("inclusive", Boundary::Inclusive), ("exclusive", Boundary::Exclusive)],
            "inclusive",
        ),
        ..unusual
    }
}
