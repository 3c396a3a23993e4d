//! `route.upstream`: the synthetic truth behind a route. A script of replies, faults laid over it, and what a
//! cancel does.

use super::faults::{Ear, failure, plain};
use super::findings::{Shape, about};
use super::form::Form;
use super::latency::latency;
use super::quantity::{COUNT, COUNT_FROM_ONE, DURATION, INSTANT, MONEY, SHARE, TOKENS};
use super::tree::Value;
use crate::policy::prices::Usage;
use crate::sim::{Billed, CancelBill, Capacity, Fault, Latency, OnCancel, Reply, Then, Upstream, Used};
use crate::units::{Duration, Names, Ratio, Timestamp};
use crate::wire::Response;

/// The longest first or next reply of an upstream that says nothing: it answers well after half a second.
const UNSTATED: Duration = Duration::from_millis(500);

/// From a call to its refusal, if the file does not say.
const REFUSED_AFTER: Duration = Duration::from_millis(50);

/// What stands behind a route.
pub(super) fn upstream(f: &mut Form<'_, '_>, ear: &Ear, names: &mut Names) -> Upstream {
    let script = f.each("replies", |f| reply(f, ear, names));
    let then = f.choice(
        about("then", "What comes after the last reply: the same again, or no call is foreseen."),
        &[("repeat", Then::Repeat), ("fail", Then::Fail)],
        "repeat",
    );
    let faults = f.each("faults", |f| fault(f, ear, names));
    let capacity = f.optional_table("capacity", |f| capacity(f, ear, names));
    let on_cancel = f.table("on_cancel", on_cancel);
    let script = if script.is_empty() { vec![Reply::answer(UNSTATED)] } else { script };
    Upstream { script, then, faults, capacity, on_cancel }
}

/// One reply.
pub(super) fn reply(f: &mut Form<'_, '_>, ear: &Ear, names: &mut Names) -> Reply {
    let after = f.custom(
        about("after", "From the call to its end. It must be stated."),
        (LATENCY, Shape::Time),
        |f, node| latency(f, "after", node),
    );
    let first_byte = f.custom(
        about("first_byte", "From the call to its first visible output; a stream."),
        (LATENCY, Shape::Time),
        |f, node| latency(f, "first_byte", node),
    );
    let progress = f.optional(about("progress", "From one sign of life of a stream to the next."), &DURATION);
    if progress.is_some_and(|gap| gap < Duration::from_millis(1)) {
        let help = Some("a stream shows life at most once a millisecond".to_owned());
        f.problem(&f.span_of("progress"), "this is too often", help);
    }
    let failure = failure(f, ear, names);
    let usage = f.optional_table("usage", usage);
    let bill =
        f.optional(about("bill", "What is billed; its tokens at the route's prices by default."), &MONEY);
    if after.is_none() && f.node("after").is_none() {
        f.missing("after", "`after = \"80 ms\"`");
    }
    let nothing_used = if failure.is_some() { Used::Exactly(Usage::default()) } else { Used::AsEstimated };
    Reply {
        after: after.unwrap_or(Latency::Fixed(UNSTATED)),
        first_byte,
        progress: progress.filter(|gap| *gap >= Duration::from_millis(1)),
        failure,
        usage: usage.map_or(nothing_used, Used::Exactly),
        bill: bill.map_or(Billed::ByUsage, Billed::Exactly),
    }
}

const LATENCY: &str = "a time, `\"never\"`, or a drawn time";

/// Tokens used.
pub(super) fn usage(f: &mut Form<'_, '_>) -> Usage {
    Usage { output: f.value(about("output", "Tokens written."), &TOKENS, "0"), ..input_tokens(f) }
}

/// Tokens read, by kind.
pub(super) fn input_tokens(f: &mut Form<'_, '_>) -> Usage {
    let mut tokens = |key, doc| f.value(about(key, doc), &TOKENS, "0");
    Usage {
        input: tokens("input", "Fresh input."),
        cache_read: tokens("cache_read", "Input read from the cache."),
        cache_write: tokens("cache_write", "Input written to the cache."),
        image: tokens("image", "Input from images."),
        audio: tokens("audio", "Input from audio."),
        output: 0,
    }
}

/// A fault laid over an upstream.
fn fault(f: &mut Form<'_, '_>, ear: &Ear, names: &mut Names) -> Fault {
    let from = f.value(about("from", "The first instant at which it can strike."), &INSTANT, "0 ms");
    let to = f.optional(about("to", "The first instant at which it cannot any more."), &INSTANT);
    let rate = f.optional(about("rate", "How often it strikes; always by default."), &SHARE);
    let to = to.unwrap_or(Timestamp::MAX);
    if to <= from {
        f.problem(&f.span_of("to"), "the fault ends before it begins", None);
    }
    Fault { from, to, rate: rate.unwrap_or(Ratio::ONE), reply: reply(f, ear, names) }
}

/// The most calls at once of a finite upstream.
const AT_ONCE_MAX: u32 = 100_000;

/// How much it can do.
fn capacity(f: &mut Form<'_, '_>, ear: &Ear, names: &mut Names) -> Capacity {
    let doc = "Calls that it works on at once. Others wait in the order in which they came; a call that is \
               cancelled is worked on to its end.";
    let at_once = f.required(about("at_once", doc), &COUNT_FROM_ONE);
    if at_once.is_some_and(|count| count > AT_ONCE_MAX) {
        let help = Some("without a `capacity` there is room for any number".to_owned());
        f.problem(&f.span_of("at_once"), format!("at most {AT_ONCE_MAX} calls are worked on at once"), help);
    }
    let doc =
        "Calls that may wait; any number by default. One more is refused, and takes no reply of the script.";
    let waiting_max = f.optional(about("waiting_max", doc), &COUNT);
    let stated = f.optional_table("refusal", |f| (f.span(), reply(f, ear, names)));
    if let Some((span, Reply { failure: None, .. })) = &stated {
        let help = Some("state its `status`, its `code` or its `fault`".to_owned());
        f.problem(span, "a refusal is a failure", help);
    }
    let full = Response { status: Some(503), code: Some("overloaded"), retry_after: None };
    let refusal = stated.map_or_else(|| refused(&full, ear, names), |(_, reply)| reply);
    Capacity { at_once: at_once.unwrap_or(1).min(AT_ONCE_MAX), waiting_max, refusal }
}

/// What a call gets that is not taken in, if the file does not say.
pub(super) fn refused(response: &Response<'_>, ear: &Ear, names: &mut Names) -> Reply {
    Reply {
        failure: Some(plain(response, ear, names)),
        usage: Used::Exactly(Usage::default()),
        ..Reply::answer(REFUSED_AFTER)
    }
}

/// What a cancel does.
fn on_cancel(f: &mut Form<'_, '_>) -> OnCancel {
    let unstated = OnCancel::default();
    let receipt = f.custom(
        about("receipt", "From the cancel to the receipt; at once by default."),
        ("a time, or `\"never\"`", Shape::Text),
        |f, node| match &node.value {
            Value::Text(word) if word == "never" => Some(None),
            Value::Text(_)
            | Value::Whole(_)
            | Value::Switch(_)
            | Value::List(_)
            | Value::Table(_)
            | Value::Other(_) => f.quantity("receipt", node, &DURATION).map(Some),
        },
    );
    let words = [
        ("nothing", CancelBill::Nothing),
        ("elapsed", CancelBill::Elapsed),
        ("everything", CancelBill::Everything),
        ("unknown", CancelBill::Unknown),
    ];
    let doc = "What a cancelled call is billed: nothing, the share of its time that had passed, everything, \
               or the receipt does not say.";
    OnCancel {
        receipt: receipt.unwrap_or(unstated.receipt),
        bill: f.choice(about("bill", doc), &words, "everything"),
    }
}
