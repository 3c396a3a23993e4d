//! `[[request]]` and `[[arrivals]]`: what comes in, one by one or as a stream.

use super::findings::{Shape, about};
use super::flow;
use super::form::Form;
use super::latency::latency;
use super::lower::{World, members, new_name, position};
use super::parties::{cap, id};
use super::quantity::{COUNT_FROM_ONE, DURATION, INSTANT, PRIORITY, TOKENS};
use super::routes::rank;
use super::upstreams::input_tokens;
use crate::gateway::{Delivery, Payer, SideEffect, Task};
use crate::policy::eligibility::Envelope;
use crate::policy::prices::Usage;
use crate::sim::{Latency, Pace, Source, SourceFact, SourceKind, Template};
use crate::units::{Duration, Name, Set64, TaskId, TenantId, Timestamp};

/// One request.
pub(super) fn request(f: &mut Form<'_, '_>, world: &mut World) {
    let name = source_name(f, "id", "Its id.", world);
    let first = f.value(about("at", "When it arrives."), &INSTANT, "0 ms");
    let payer = payer(f, world);
    let template = template(f, world, payer);
    let source =
        Source { template, first, pace: Pace::Open(Latency::Never), count: 1, growth: Usage::default() };
    let content = content_of_a_task(f, world);
    declare(world, name, SourceKind::Listed, source, content);
}

/// A stream of requests: `name/1`, `name/2`, …
pub(super) fn arrivals(f: &mut Form<'_, '_>, world: &mut World) {
    let name = source_name(f, "name", "Its name; its requests are `name/1`, `name/2`, ….", world);
    let first = f.value(about("first", "When the first arrives."), &INSTANT, "0 ms");
    let pace = pace(f);
    let count = f.required(about("count", "How many arrive."), &COUNT_FROM_ONE);
    let payer = payer(f, world);
    let template = template(f, world, payer);
    let count = count.unwrap_or(1);
    let growth = f.optional_table("grows", growth).unwrap_or_default();
    if template.envelope.estimate.grown(&growth, count - 1).is_none() {
        let help =
            Some(format!("the {count} requests of the stream hold at most {} tokens of a kind", u32::MAX));
        f.problem(&f.span_of("grows"), "the last request would be too large", help);
    }
    flow::countable(f, world, name);
    flow::new_stream(f, world, name, count);
    all_arrive(f, &pace, first, count);
    let before = flow::planned(world);
    let content = content_of_a_task(f, world);
    declare(world, name, SourceKind::Stream, Source { template, first, pace, count, growth }, content);
    flow::all_fit(f, world, before);
}

/// Says so if some of `count` would never arrive.
fn all_arrive(f: &mut Form<'_, '_>, pace: &Pace, first: Timestamp, count: u32) {
    match pace {
        Pace::Open(gap) => flow::all_come(f, "gap", gap, first, count),
        Pace::Closed { clients, think: Latency::Never } if count > *clients => {
            let text = format!("only the first {clients} of {count} would ever come");
            f.problem(&f.span_of("think"), text, Some(format!("state `count = {clients}`")));
        }
        Pace::Closed { .. } => {}
    }
}

/// When the others arrive: whatever became of the first ones, or as clients have their answers.
fn pace(f: &mut Form<'_, '_>) -> Pace {
    let doc =
        "From one arrival to the next: a time, or `{ exponential = \"10 ms\" }` for an open Poisson stream.";
    let gap = f.custom(about("gap", doc), ("a time or a drawn time", Shape::Time), |f, node| {
        latency(f, "gap", node)
    });
    let doc = "So many clients instead, each of which asks again after its reply.";
    let clients = f.optional(about("clients", doc), &COUNT_FROM_ONE);
    let doc = "From a client's reply to its next request; nothing by default.";
    let think = f.custom(about("think", doc), ("a time or a drawn time", Shape::Time), |f, node| {
        latency(f, "think", node)
    });
    match (f.has("gap"), f.has("clients")) {
        (true, true) => {
            let help = Some("an open stream has a `gap`, a closed one has `clients`".to_owned());
            f.problem(&f.span_of("clients"), "arrivals are an open stream or clients, not both", help);
        }
        (false, false) => f.missing("gap", "`gap = { exponential = \"10 ms\" }` or `clients = 10`"),
        (true, false) if f.has("think") => {
            f.problem(&f.span_of("think"), "only clients think", Some("state `clients`".to_owned()));
        }
        (true | false, _) => {}
    }
    match clients {
        Some(clients) => Pace::Closed { clients, think: think.unwrap_or(Latency::Fixed(Duration::ZERO)) },
        None => Pace::Open(gap.unwrap_or(Latency::Fixed(Duration::ZERO))),
    }
}

/// The name of where requests come from.
pub(super) fn source_name(
    f: &mut Form<'_, '_>,
    key: &'static str,
    doc: &'static str,
    world: &mut World,
) -> Option<Name> {
    let taken: Vec<Name> = world.catalog.sources.iter().map(|source| source.name).collect();
    new_name(f, key, doc, &mut world.catalog.names, taken)
}

/// What requests of a task ask.
pub(super) fn content(f: &mut Form<'_, '_>, world: &mut World) -> Option<Name> {
    let doc = "What it asks: calls of a task with the same content are identical. Each asks something else by default.";
    f.text(about("content", doc)).map(|word| world.catalog.names.intern(&word.text))
}

/// The same of requests that need not be of a task.
fn content_of_a_task(f: &mut Form<'_, '_>, world: &mut World) -> Option<Name> {
    let content = content(f, world);
    if content.is_some() && !f.has("task") {
        let help = Some("state `task`, the name of a `[[task]]`".to_owned());
        f.problem(&f.span_of("content"), "calls are compared within a task, and this is of none", help);
    }
    content
}

/// Adds where requests come from.
pub(super) fn declare(
    world: &mut World,
    name: Option<Name>,
    kind: SourceKind,
    source: Source,
    content: Option<Name>,
) {
    if let Some(name) = name {
        world.catalog.sources.push(SourceFact { name, kind, content });
        world.sources.push(source);
    }
}

/// What a request looks like.
pub(super) fn template(f: &mut Form<'_, '_>, world: &mut World, payer: Payer) -> Template {
    let envelope = envelope(f, world);
    let deadline =
        f.value(about("deadline", "From its arrival to the last instant of an answer."), &DURATION, "30 s");
    let delivery = f.choice(
        about("delivery", "How the answer is delivered: when it is complete, or as it is written."),
        &[("whole", Delivery::Whole), ("stream", Delivery::Stream)],
        "whole",
    );
    let about_effect =
        about("side_effects", "Whether sending it twice does something twice: then it is never hedged.");
    let effect = f.switch(about_effect, SideEffect::Some, SideEffect::None, "false");
    let doc = "Who goes first when requests wait for a slot: higher before lower.";
    let priority = f.value(about("priority", doc), &PRIORITY, "0");
    let hangs_up = f.optional(
        about("hangs_up", "From its arrival until its caller hangs up; never by default."),
        &DURATION,
    );
    Template { payer, envelope, deadline, delivery, effect, priority, hangs_up }
}

fn payer(f: &mut Form<'_, '_>, world: &World) -> Payer {
    let task = f.text(about("task", "The task that it belongs to."));
    let catalog = &world.catalog;
    let tasks: Vec<Name> = catalog.tasks.iter().map(|task| task.name).collect();
    let task = task.and_then(|word| position(f, "task", &word, &tasks, &catalog.names));
    let kind = task.map(id);
    Payer { task: kind.map(|kind| Task { id: TaskId(u32::from(kind)), kind }), tenant: tenant(f, world) }
}

/// Who pays.
pub(super) fn tenant(f: &mut Form<'_, '_>, world: &World) -> Option<TenantId> {
    let tenant = f.text(about("tenant", "Who pays."));
    let catalog = &world.catalog;
    let tenants: Vec<Name> = catalog.tenants.iter().map(|tenant| tenant.name).collect();
    let at = tenant.and_then(|word| position(f, "tenant", &word, &tenants, &catalog.names));
    at.map(|at| TenantId(id(at)))
}

/// The immutable constraints of a request.
fn envelope(f: &mut Form<'_, '_>, world: &mut World) -> Envelope {
    let capabilities = f.texts(about("capabilities", "What the route must be able to do."));
    let regions = f.texts(about("regions", "Regions that the data may enter; all by default."));
    let deployments = f.texts(about("deployments", "Kinds of deployment that are allowed; all by default."));
    let class = f.text(about("class", "The data's class; the least sensitive by default."));
    let task_type = f.text(about("task_type", "The kind of task, if the route must be approved for it."));
    let protocol = f.text(about("protocol", "The wire protocol, if it must match."));
    let contract = f.text(about("contract", "The tool-schema contract, if it must match."));
    let estimate = f.optional_table("tokens", estimate);
    if estimate.is_none() {
        f.missing("tokens", "`tokens = { input = 8000, output_max = 1000 }`");
    }
    let cap = cap(f);
    let catalog = &mut world.catalog;
    let names = &mut catalog.names;
    let class = class.and_then(|word| position(f, "class", &word, &catalog.classes, names));
    let task_type = task_type.map(|word| {
        let set = members(f, "kind of task", &[word], &mut catalog.task_types, names);
        set.first().unwrap_or(0)
    });
    Envelope {
        capabilities: members(
            f,
            "capability",
            &capabilities.unwrap_or_default(),
            &mut catalog.capabilities,
            names,
        ),
        regions: regions
            .map_or(Set64::ALL, |words| members(f, "region", &words, &mut catalog.regions, names)),
        deployments: deployments
            .map_or(Set64::ALL, |words| members(f, "deployment", &words, &mut catalog.deployments, names)),
        class: class.map_or(0, rank),
        task_type,
        protocol: protocol.map(|word| names.intern(&word.text)),
        contract: contract.map(|word| names.intern(&word.text)),
        estimate: estimate.unwrap_or_default(),
        cost_max: cap.money,
        tokens_max: cap.tokens,
    }
}

/// By how much each request is larger than the one before.
fn growth(f: &mut Form<'_, '_>) -> Usage {
    let output = f.value(about("output_max", "The most it may write."), &TOKENS, "0");
    Usage { output, ..input_tokens(f) }
}

/// The most tokens a call may use.
fn estimate(f: &mut Form<'_, '_>) -> Usage {
    let output = f.required(about("output_max", "The most it may write."), &TOKENS).unwrap_or(0);
    Usage { output, ..input_tokens(f) }
}
