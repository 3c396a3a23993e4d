//! `[policy.hedge]`, `[policy.concurrency]` and `[policy.fuse]`: how many calls there may be at once, and in all.

use super::findings::{about, knob};
use super::form::Form;
use super::quantity::{COUNT, COUNT_FROM_ONE, DURATION, Kind, LARGE_COUNT, Written, or_word};
use crate::gateway::{Concurrency, Fuse, FuseScope};
use crate::policy::fuse::Repeats;
use crate::policy::hedge::{After, Hedge};
use crate::units::Duration;

/// Second legs beside slow ones.
pub(super) fn hedge(f: &mut Form<'_, '_>) -> Hedge {
    let doc = "From a leg's beginning to the next one's: a time, or the P95 latency of the leg's route.";
    let about_after = knob("after", doc, &[("0 ms", "every request is sent and paid twice", "")]);
    let after = f.value(about_after, &PATIENCE, "p95");
    let least = f.value(about("least", "The least that a P95 is taken for."), &DURATION, "50 ms");
    let about_legs = knob(
        "legs_max",
        "Legs at once, the first included.",
        &[("3", "three invoices for one answer", ""), ("4", "a fourth invoice for one answer", "")],
    );
    let legs_max = f.value(about_legs, &COUNT_FROM_ONE, "2");
    Hedge { after: after.map_or(After::P95 { least }, After::Fixed), legs_max }
}

/// A time; `None` is the P95 of the route.
const PATIENCE: Kind<Option<Duration>> = Kind {
    wants: "a time with its unit, or `p95`",
    example: "\"200 ms\" or \"p95\"",
    written: Written::Text,
    parse: |text| or_word(text, "p95"),
};

/// Calls in flight.
pub(super) fn concurrency(f: &mut Form<'_, '_>) -> Concurrency {
    let mut most = |key, doc| f.optional(about(key, doc), &COUNT_FROM_ONE).unwrap_or(u32::MAX);
    Concurrency {
        route_max: most("route_max", "Calls in flight on one route; no limit by default."),
        task_max: most("task_max", "Calls in flight for one task; no limit by default."),
        tenant_max: most("tenant_max", "Calls in flight for one tenant; no limit by default."),
        queue_max: f.value(
            knob(
                "queue_max",
                "Requests that may wait for a slot; one more is refused.",
                &[("1000000", "everybody waits, and nobody is answered before the deadline", "")],
            ),
            &COUNT,
            "1000",
        ),
    }
}

/// What stops everything. Zero calls is no fuse, as none stated: it is how a variant takes one out.
pub(super) fn fuse(f: &mut Form<'_, '_>) -> Fuse {
    let words = [("request", FuseScope::Request), ("account", FuseScope::Account), ("run", FuseScope::Run)];
    let terminal = "What a terminal fault stops: the request that met it, whatever would use the same project, or \
                    everything.";
    let mut most = |key, doc| f.optional(about(key, doc), &LARGE_COUNT).filter(|calls| *calls > 0);
    Fuse {
        calls_per_task: most(
            "calls_per_task",
            "Calls that a task may make, retries and hedges included; 0, the default, is no limit.",
        ),
        calls_per_run: most(
            "calls_per_run",
            "Calls that a run may make, retries and hedges included; 0, the default, is no limit.",
        ),
        repeats: Repeats {
            identical: most(
                "identical_per_task",
                "Calls in a row that ask the same (`content`) which a task may make; 0, the default, is no limit.",
            ),
            failing: most(
                "failing_per_task",
                "Calls in a row that fail, whatever the class, after which a task makes no more; 0, the default, \
                 is no limit.",
            ),
        },
        terminal: f.choice(about("terminal", terminal), &words, "request"),
    }
}
