//! `[policy.retry]`: when and where to try again. One budget for retry, fallback and hedge together.

use super::findings::{Shape, about, knob};
use super::form::Form;
use super::quantity::{COUNT_FROM_ONE, DURATION, FACTOR, SHARE};
use super::tree::{Node, Value};
use crate::gateway::{MidStream, Retry};
use crate::policy::backoff::{Backoff, Growth, Jitter};
use crate::units::{Duration, Ratio};

/// When and where to try again.
pub(super) fn retry(f: &mut Form<'_, '_>) -> Retry {
    Retry {
        attempts_max: f.value(
            knob(
                "attempts_max",
                "Calls that a request may make, the first included, over all routes.",
                &[("36", "four layers, each politely retrying three times", "")],
            ),
            &COUNT_FROM_ONE,
            "3",
        ),
        calls_per_route_max: calls_per_route_max(f),
        backoff: backoff(f),
        hint_max: f.value(
            about(
                "hint_max",
                "The longest wait that a response, a bench or an open breaker may ask for and get; a longer one is not slept at \
                 all.",
            ),
            &DURATION,
            "60 s",
        ),
        mid_stream: f.choice(
            knob(
                "mid_stream",
                "What follows when a stream breaks after its first output: the answer ends there (`truncate`), or what follows any failure (`splice`).",
                &[("splice", "two models speak in one answer", "one_stream")],
            ),
            &[("truncate", MidStream::Truncate), ("splice", MidStream::Splice)],
            "truncate",
        ),
        seeks_max: f.value(
            about(
                "seeks_max",
                "How often a request looks for a route before it ends `exhausted`; no wait loops for ever.",
            ),
            &COUNT_FROM_ONE,
            "16",
        ),
    }
}

/// Calls on one route.
pub(super) fn calls_per_route_max(f: &mut Form<'_, '_>) -> u32 {
    let doc = "Calls that a request may make on one route, the first included.";
    f.value(about("calls_per_route_max", doc), &COUNT_FROM_ONE, "2")
}

/// The wait before another attempt.
pub(super) fn backoff(f: &mut Form<'_, '_>) -> Backoff {
    let doc = "The wait before another attempt; 500 ms doubling to 8 s with full jitter by default.";
    let wants = "`fixed`, `linear` or `exponential`, with a `jitter`";
    let stated = f.custom(about("backoff", doc), (wants, Shape::Table), |f, node| {
        f.within("backoff", node, growing).flatten()
    });
    f.describe_table("backoff", growing);
    stated.unwrap_or_default()
}

fn growing(f: &mut Form<'_, '_>) -> Option<Backoff> {
    let fixed = f.optional(about("fixed", "Always this."), &DURATION);
    let linear = f.optional_table("linear", |f| {
        (base(f), Growth::Linear, f.value(about("cap", "The longest wait."), &DURATION, "8 s"))
    });
    let exponential = f.optional_table("exponential", |f| {
        let base = base(f);
        let factor =
            f.value(about("factor", "What the wait is multiplied by after each failure."), &FACTOR, "2");
        (base, Growth::Exponential(factor), f.value(about("cap", "The longest wait."), &DURATION, "8 s"))
    });
    let jitter = f.custom(
        about("jitter", "How the wait is spread: `none` when fixed, `full` otherwise."),
        ("`none`, `full`, `equal` or a share like \"25 %\"", Shape::Text),
        jitter,
    );
    let fixed = fixed.map(|base| (base, Growth::Fixed, Duration::MAX));
    let mut stated = [fixed, linear, exponential].into_iter().flatten();
    let (Some((base, growth, cap)), None) = (stated.next(), stated.next()) else {
        let span = f.span();
        f.problem(&span, "a backoff is one of `fixed`, `linear` and `exponential`", None);
        return None;
    };
    let unstated = if growth == Growth::Fixed { Jitter::None } else { Jitter::Full };
    Some(Backoff { base, growth, cap, jitter: jitter.unwrap_or(unstated) })
}

fn base(f: &mut Form<'_, '_>) -> Duration {
    f.value(about("base", "The wait after the first failure."), &DURATION, "500 ms")
}

fn jitter(f: &mut Form<'_, '_>, node: &Node) -> Option<Jitter> {
    match &node.value {
        Value::Text(word) if word == "none" => Some(Jitter::None),
        Value::Text(word) if word == "full" => Some(Jitter::Full),
        Value::Text(word) if word == "equal" => Some(Jitter::Equal),
        Value::Text(word) if !word.contains(['%', '/']) => {
            let text = format!("`{word}` is not a jitter: none, full, equal or a share like \"25 %\"");
            f.problem(&node.span, text, super::problems::did_you_mean(word, ["none", "full", "equal"]));
            None
        }
        Value::Text(_)
        | Value::Whole(_)
        | Value::Switch(_)
        | Value::List(_)
        | Value::Table(_)
        | Value::Other(_) => f.quantity("jitter", node, &SHARE).map(|share: Ratio| Jitter::PlusMinus(share)),
    }
}
