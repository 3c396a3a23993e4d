//! `[[operator]]`: what an operator does, and when.

use super::findings::about;
use super::form::Form;
use super::lower::{World, position};
use super::parties::id;
use super::problems::instead_of;
use super::quantity::INSTANT;
use super::tree::Word;
use crate::gateway::Command;
use crate::policy::cooldown::Bench;
use crate::units::{
    BreakerId, CredentialId, HealthId, ModelId, Name, ProjectId, ProviderId, RouteId, Timestamp,
};

const KINDS: [&str; 7] = ["breaker", "health", "credential", "project", "model", "provider", "route"];

/// One intervention.
pub(super) fn command(f: &mut Form<'_, '_>, world: &mut World) {
    let at = f.required(about("at", "When."), &INSTANT);
    let doc = "What is reset: `breaker:`, `health:` (each with a route or a fault domain), or a bench: \
               `credential:`, `project:`, `model:project/model`, `provider:`, `route:`; or `all` of these. No fuse is \
               reset within a run.";
    let reset = f.text(about("reset", doc));
    let doc = "`status`: every gateway shows whatever is not at rest, as entries `status` of `events.jsonl`. What it \
               shows at the end of the run stands in `summary.json`, too.";
    let show = f.text(about("show", doc));
    match (reset, show) {
        (Some(word), None) => reset_by(f, world, at, &word),
        (None, Some(word)) if word.text == "status" => {
            world.operator.extend(at.map(|at| (at, Command::Show)));
        }
        (None, Some(word)) => {
            let text = format!("`{}` is not a thing to show", word.text);
            f.problem(&word.span, text, Some("`show = \"status\"`".to_owned()));
        }
        (None, None) => f.missing("reset", "`reset = \"breaker:route-a\"`, or `show = \"status\"`"),
        (Some(_), Some(word)) => {
            let help = Some("state two `[[operator]]`s".to_owned());
            f.problem(&word.span, "an operator does one thing at a time", help);
        }
    }
}

fn reset_by(f: &mut Form<'_, '_>, world: &mut World, at: Option<Timestamp>, word: &Word) {
    if word.text == "all" {
        let all = everything(world);
        return world
            .operator
            .extend(at.into_iter().flat_map(|at| all.iter().map(move |order| (at, *order))));
    }
    let Some((kind, name)) = word.text.split_once(':') else {
        let help = Some("for example `reset = \"credential:key-a\"`".to_owned());
        f.problem(&word.span, format!("`{}` does not say what kind of thing to reset", word.text), help);
        return;
    };
    let name = Word { text: name.to_owned(), span: word.span.clone() };
    if let (Some(command), Some(at)) = (reset(f, world, kind, &name), at) {
        world.operator.push((at, command));
    }
}

/// Every breaker, every health state, and whatever can be benched.
fn everything(world: &World) -> Vec<Command> {
    let (ids, catalog) = (|n: usize| (0..n).map(|at| at as u16), &world.catalog);
    let breakers = ids(catalog.breakers.len()).map(|at| Command::ResetBreaker(BreakerId(at)));
    let healths = ids(catalog.healths.len()).map(|at| Command::ResetHealth(HealthId(at)));
    breakers.chain(healths).chain(catalog.benches().map(Command::ResetBench)).collect()
}

fn reset(f: &mut Form<'_, '_>, world: &World, kind: &str, name: &Word) -> Option<Command> {
    let catalog = &world.catalog;
    let routes: Vec<Name> = catalog.routes.iter().map(|route| route.name).collect();
    let credentials: Vec<Name> = catalog.credentials.iter().map(|credential| credential.name).collect();
    let route = catalog.routes.iter().position(|route| catalog.names.text(route.name) == name.text);
    let mut find = |list: &[Name]| position(f, kind, name, list, &catalog.names).map(id);
    let bench = match kind {
        "breaker" => {
            let of_route = route.map(|at| world.registry.routes[at].breaker);
            return of_route.or_else(|| find(&catalog.breakers).map(BreakerId)).map(Command::ResetBreaker);
        }
        "health" => {
            let of_route = route.map(|at| world.registry.routes[at].health);
            return of_route.or_else(|| find(&catalog.healths).map(HealthId)).map(Command::ResetHealth);
        }
        "credential" => find(&credentials).map(|at| Bench::Credential(CredentialId(at))),
        "project" => find(&catalog.projects).map(|at| Bench::Project(ProjectId(at))),
        "provider" => find(&catalog.providers).map(|at| Bench::Provider(ProviderId(at))),
        "route" => find(&routes).map(|at| Bench::Route(RouteId(at))),
        "model" => model(f, world, name),
        _ => {
            let kind = Word { text: kind.to_owned(), span: name.span.clone() };
            let text = format!("`{}` is not a kind of thing to reset", kind.text);
            f.problem(&kind.span, text, instead_of(&kind.text, KINDS));
            None
        }
    };
    bench.map(Command::ResetBench)
}

/// `project/model`.
fn model(f: &mut Form<'_, '_>, world: &World, name: &Word) -> Option<Bench> {
    let catalog = &world.catalog;
    let (project, model) = name.text.split_once('/').unwrap_or((&name.text, ""));
    let part = |text: &str| Word { text: text.to_owned(), span: name.span.clone() };
    let project = position(f, "project", &part(project), &catalog.projects, &catalog.names)?;
    let model = position(f, "model", &part(model), &catalog.models, &catalog.names)?;
    Some(Bench::Model(ProjectId(id(project)), ModelId(id(model))))
}
