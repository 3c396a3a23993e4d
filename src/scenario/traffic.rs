//! `[[request]]` and `[[arrivals]]`: what comes in, one by one or as a stream.

use super::findings::about;
use super::form::Form;
use super::latency::latency;
use super::lower::{World, members, new_name, position};
use super::parties::{cap, id};
use super::quantity::{COUNT_FROM_ONE, DURATION, INSTANT, TOKENS};
use super::routes::rank;
use super::tree::Word;
use super::upstreams::input_tokens;
use crate::gateway::{Delivery, Payer};
use crate::policy::eligibility::Envelope;
use crate::policy::prices::Usage;
use crate::sim::{Latency, Source, SourceFact, SourceKind, Template};
use crate::units::{Duration, Name, Set64, TaskId, TenantId};

/// One request.
pub(super) fn request(f: &mut Form<'_, '_>, world: &mut World) {
    let name = source_name(f, "id", "Its id.", world);
    let first = f.value(about("at", "When it arrives."), &INSTANT, "0 ms");
    let template = template(f, world);
    let source = Source { template, first, gap: Latency::Fixed(Duration::ZERO), count: 1 };
    declare(world, name, SourceKind::Listed, source);
}

/// A stream of requests: `name/1`, `name/2`, …
pub(super) fn arrivals(f: &mut Form<'_, '_>, world: &mut World) {
    let name = source_name(f, "name", "Its name; its requests are `name/1`, `name/2`, ….", world);
    let first = f.value(about("first", "When the first arrives."), &INSTANT, "0 ms");
    let doc = "From one arrival to the next; `{ exponential = \"10 ms\" }` is an open Poisson stream. It must be stated.";
    let gap = f.custom(about("gap", doc), "a time or a drawn time", |f, node| latency(f, "gap", node));
    if gap.is_none() && f.node("gap").is_none() {
        f.missing("gap", "`gap = { exponential = \"10 ms\" }`");
    }
    let count = f.required(about("count", "How many arrive."), &COUNT_FROM_ONE);
    let template = template(f, world);
    let gap = gap.unwrap_or(Latency::Never);
    let source = Source { template, first, gap, count: count.unwrap_or(1) };
    declare(world, name, SourceKind::Stream, source);
}

fn source_name(
    f: &mut Form<'_, '_>,
    key: &'static str,
    doc: &'static str,
    world: &mut World,
) -> Option<Name> {
    let taken: Vec<Name> = world.catalog.sources.iter().map(|source| source.name).collect();
    new_name(f, key, doc, &mut world.catalog.names, taken)
}

fn declare(world: &mut World, name: Option<Name>, kind: SourceKind, source: Source) {
    if let Some(name) = name {
        world.catalog.sources.push(SourceFact { name, kind });
        world.sources.push(source);
    }
}

/// What a request looks like.
fn template(f: &mut Form<'_, '_>, world: &mut World) -> Template {
    let payer = payer(f, world);
    let envelope = envelope(f, world);
    let deadline =
        f.value(about("deadline", "From its arrival to the last instant of an answer."), &DURATION, "30 s");
    let delivery = f.choice(
        about("delivery", "How the answer is delivered: when it is complete, or as it is written."),
        &[("whole", Delivery::Whole), ("stream", Delivery::Stream)],
        "whole",
    );
    let hangs_up = f.optional(
        about("hangs_up", "From its arrival until its caller hangs up; never by default."),
        &DURATION,
    );
    Template { payer, envelope, deadline, delivery, hangs_up }
}

fn payer(f: &mut Form<'_, '_>, world: &mut World) -> Payer {
    let task = f.text(about("task", "The task that it belongs to."));
    let tenant = f.text(about("tenant", "Who pays."));
    let catalog = &world.catalog;
    let tasks: Vec<Name> = catalog.tasks.iter().map(|task| task.name).collect();
    let tenants: Vec<Name> = catalog.tenants.iter().map(|tenant| tenant.name).collect();
    let mut find = |what, word: Option<Word>, list: &[Name]| {
        word.and_then(|word| position(f, what, &word, list, &catalog.names))
    };
    Payer {
        task: find("task", task, &tasks).map(|at| TaskId(u32::from(id(at)))),
        tenant: find("tenant", tenant, &tenants).map(|at| TenantId(id(at))),
    }
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

/// The most tokens a call may use.
fn estimate(f: &mut Form<'_, '_>) -> Usage {
    let output = f.required(about("output_max", "The most it may write."), &TOKENS).unwrap_or(0);
    Usage { output, ..input_tokens(f) }
}
