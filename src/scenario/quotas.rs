//! `[[quota]]`: what a provider counts, whatever the gateway believes.

use super::civil::{Clock, clock, resets};
use super::findings::about;
use super::form::Form;
use super::lower::{World, position};
use super::parties::id;
use super::quantity::{DURATION, LARGE_COUNT};
use super::tree::Value;
use super::upstreams::{refused, reply};
use crate::sim::{Counted, Handed, Quota, QuotaFact, Refused, Reply, SaysWhen, Window};
use crate::units::{Duration, ModelId, ProjectId};
use crate::wire::Response;

/// A true quota.
pub(super) fn quota(f: &mut Form<'_, '_>, world: &mut World) {
    let project =
        f.required_text(about("project", "Whose calls count: all credentials of a project together."));
    let model = f.text(about("model", "The model whose calls count; all of the project's by default."));
    let counts = f.choice(
        about("counts", "What is counted: calls, or tokens as the request estimates them."),
        &[("requests", Counted::Requests), ("tokens", Counted::Tokens)],
        "requests",
    );
    let limit = f.required(about("limit", "How much fits a window."), &LARGE_COUNT);
    let used =
        f.value(about("used", "How much of the first window was used before the run."), &LARGE_COUNT, "0");
    let above_limit = f.choice(
        about("refused", "Whether calls above it count too."),
        &[("counts", Refused::Counts), ("free", Refused::IsFree)],
        "free",
    );
    let window = window(f, world);
    let stated = refusal(f, "refusal", world);
    let refusal_streamed = refusal(f, "refusal_streamed", world);
    let doc = "Whether a refusal says when the window ends.";
    let says_when = f.switch(about("says_when", doc), SaysWhen::Yes, SaysWhen::No, "false");
    let catalog = &world.catalog;
    let project = project.and_then(|word| position(f, "project", &word, &catalog.projects, &catalog.names));
    let model = match &model {
        None => Some(None),
        Some(word) => position(f, "model", word, &catalog.models, &catalog.names).map(Some),
    };
    let above = Response { status: Some(429), code: Some("quota_exhausted"), retry_after: None };
    let refusal = stated.unwrap_or_else(|| refused(&above, &world.ear, &mut world.catalog.names));
    let (Some(project), Some(model), Some(limit)) = (project, model, limit) else { return };
    let (project, model) = (ProjectId(id(project)), model.map(|at| ModelId(id(at))));
    world.catalog.quotas.push(QuotaFact { project, model, limit, used });
    world.quotas.push(Quota {
        project,
        model,
        counts,
        limit,
        used,
        refused: above_limit,
        window,
        refusal,
        refusal_streamed,
        says_when,
    });
}

/// What a call above it gets, if the file says so.
fn refusal(f: &mut Form<'_, '_>, key: &'static str, world: &mut World) -> Option<Reply> {
    let (span, reply) =
        f.optional_table(key, |f| (f.span(), reply(f, &world.ear, &mut world.catalog.names)))?;
    if reply.failure.is_none() {
        let help = Some("state its `status` or its `code`".to_owned());
        f.problem(&span, "a refusal is a failure", help);
    }
    Some(reply)
}

/// When it begins anew: each time so much has passed, or by a civil clock.
fn window(f: &mut Form<'_, '_>, world: &World) -> Window {
    let doc = "When it begins anew: each time so much has passed since the start, or at a time of day of a \
               zone; never by default.";
    let wants = "a time, or `{ reset = \"midnight America/Los_Angeles\" }`";
    let stated = f.custom(about("window", doc), wants, |f, node| match &node.value {
        Value::Table(_) => f.within("window", node, |f| daily(f, world)).flatten(),
        Value::Text(_) | Value::Whole(_) | Value::Switch(_) | Value::List(_) | Value::Other(_) => {
            let length = f.quantity("window", node, &DURATION)?;
            if length == Duration::ZERO {
                f.problem(&node.span, "a window of no length holds nothing", None);
            }
            Some(Window::Every(length))
        }
    });
    stated.unwrap_or(Window::Never)
}

fn daily(f: &mut Form<'_, '_>, world: &World) -> Option<Window> {
    let word = f.required_text(about("reset", "A time of day and a zone."))?;
    let clock: Clock = clock(f, &word)?;
    let Some(start) = &world.start else {
        let help = Some("add `start = \"2027-03-14T00:30[America/Los_Angeles]\"` to the file".to_owned());
        f.problem(&word.span, "a time of day means nothing in a scenario that begins at none", help);
        return None;
    };
    if world.layers.iter().any(|layer| layer.deadline == Handed::Not(None)) {
        let help = Some("state its `passes.own_deadline`".to_owned());
        f.problem(&word.span, "a layer whose layer below has no deadline may call for ever", help);
        return None;
    }
    Some(Window::At(resets(start, &clock, world.last_call())))
}
