//! Which words a field of an event can have, so that a misspelt one in a pattern is found.

use crate::gateway::{Basis, Freshness, FuseKind, FuseScope, HedgeSkip, Limit, Role, WaitRefusal};
use crate::policy::eligibility::Reason;
use crate::policy::ledger::Level;
use crate::policy::ranking::Key;
use crate::policy::signal::Signal;
use crate::policy::taxonomy::{Class, Resend, Scope};
use crate::policy::{breaker, health};
use crate::sim::{Catalog, SourceKind};
use crate::trace::{Field, Kind};
use crate::units::Name;

/// The words that a field can have.
pub(super) enum Vocabulary {
    /// Nobody knows.
    Any,
    /// These.
    Words(Vec<&'static str>),
    /// Names that the file declares.
    Names(fn(&Catalog) -> Vec<&str>),
    /// A request of the file.
    Requests,
    /// A task of the file: a kind, or one of many of its kind.
    Tasks,
    /// Anything that the file names somewhere.
    Interned,
}

/// The words that `field` of `event` can have.
pub(super) fn vocabulary(event: Kind, field: Field) -> Vocabulary {
    use Vocabulary::{Any, Interned, Names, Requests, Tasks};
    match (event, field) {
        (_, Field::Request) => Requests,
        (_, Field::Layer | Field::Below) => Names(|c| texts(c, c.stack.names.iter().copied())),
        (_, Field::Route | Field::Chosen) => Names(|c| texts(c, c.routes.iter().map(|r| r.name))),
        (_, Field::Credential) => Names(|c| texts(c, c.credentials.iter().map(|k| k.name))),
        (Kind::DeclaredTask, Field::Task) => Names(|c| texts(c, c.tasks.iter().map(|t| t.name))),
        (_, Field::Task) => Tasks,
        (_, Field::Tenant) => Names(|c| texts(c, c.tenants.iter().map(|t| t.name))),
        (_, Field::Project) => Names(|c| texts(c, c.projects.iter().copied())),
        (_, Field::Provider) => Names(|c| texts(c, c.providers.iter().copied())),
        (_, Field::Model) => Names(|c| texts(c, c.models.iter().copied())),
        (_, Field::Breaker) => Names(|c| texts(c, c.breakers.iter().copied())),
        (_, Field::Health) => Names(|c| texts(c, c.healths.iter().copied())),
        (_, Field::DataClass | Field::DataClassMax) => Names(|c| texts(c, c.classes.iter().copied())),
        (_, Field::Region | Field::Regions) => Names(|c| texts(c, c.regions.iter().copied())),
        (_, Field::Deployment | Field::Deployments) => Names(|c| texts(c, c.deployments.iter().copied())),
        (_, Field::TaskType | Field::TaskTypes) => Names(|c| texts(c, c.task_types.iter().copied())),
        (_, Field::Capabilities) => Names(|c| texts(c, c.capabilities.iter().copied())),
        (Kind::BreakerMoved, Field::From | Field::To) => words(&BREAKER, breaker::State::label),
        (Kind::HealthMoved, Field::From | Field::To) => words(&HEALTH, health::State::label),
        (_, Field::Class | Field::Truth | Field::LastClass) => words(&Class::ALL, Class::label),
        (_, Field::Code | Field::LastCode | Field::Rule | Field::Protocol | Field::Contract) => Interned,
        (_, Field::PolicyVersion | Field::PricesVersion | Field::RegistryVersion) => Interned,
        (_, Field::Role) => words(&ROLES, Role::label),
        (_, Field::Resend) => words(&[Resend::Same, Resend::Other, Resend::None], Resend::label),
        (_, Field::Signal) => words(&[Signal::Good, Signal::Bad, Signal::Neutral], Signal::label),
        (_, Field::Standing) => words(&[Freshness::Fresh, Freshness::Stale], Freshness::label),
        (_, Field::By) => words(&Key::ALL, Key::label),
        (_, Field::Gate) => Vocabulary::Words(GATES.to_vec()),
        (_, Field::Level) => words(&LEVELS, Level::label),
        (_, Field::Basis) => words(&[Basis::Receipt, Basis::Assumed, Basis::Corrected], Basis::label),
        (_, Field::Limit) => words(&LIMITS, Limit::label),
        (Kind::HedgeSkipped, Field::Why) => words(&SKIPS, HedgeSkip::label),
        (_, Field::Why) => words(&[WaitRefusal::Deadline, WaitRefusal::TooLong], WaitRefusal::label),
        (_, Field::Fuse) => words(&FUSES, FuseKind::label),
        (_, Field::TerminalScope) => words(&STOPS, FuseScope::label),
        (_, Field::WhenOpen) => Vocabulary::Words(vec!["wait"]),
        (_, Field::HealthState) => words(&HEALTH, health::State::label),
        (_, Field::Effect) => Vocabulary::Words(vec!["some"]),
        (Kind::TaskEnded, Field::Result) => Vocabulary::Words(vec!["answered", "failed"]),
        (Kind::Classified, Field::Scope) => words(&SCOPES, Scope::label),
        (_, Field::Reasons) => words(&Reason::ALL, Reason::label),
        (_, Field::Outcome) => Vocabulary::Words(OUTCOMES.to_vec()),
        (_, Field::Verdict) => Vocabulary::Words(VERDICTS.to_vec()),
        (_, Field::Counted) => Vocabulary::Words(vec!["money", "tokens"]),
        (_, Field::Result) => Vocabulary::Words(vec!["answered", "failed", "cancelled"]),
        (_, Field::Delivery) => Vocabulary::Words(vec!["whole", "stream"]),
        (_, Field::Scripted) => Vocabulary::Words(vec!["foreseen", "forbidden"]),
        (_, _) => Any,
    }
}

const BREAKER: [breaker::State; 3] = [breaker::State::Closed, breaker::State::Open, breaker::State::HalfOpen];
const HEALTH: [health::State; 3] =
    [health::State::Healthy, health::State::Degraded, health::State::Unhealthy];
const LEVELS: [Level; 5] = [Level::Attempt, Level::Request, Level::Task, Level::Approval, Level::Tenant];
const LIMITS: [Limit; 4] = [Limit::Attempts, Limit::Routes, Limit::Time, Limit::Seeks];
const SCOPES: [Scope; 5] = [Scope::Request, Scope::Credential, Scope::Project, Scope::Model, Scope::Provider];
const ROLES: [Role; 5] = [Role::Primary, Role::Retry, Role::Fallback, Role::Hedge, Role::Approved];
const GATES: [&str; 5] = ["breaker", "cooldown", "concurrency", "health", "fuse"];
const SKIPS: [HedgeSkip; 5] =
    [HedgeSkip::Attempts, HedgeSkip::Money, HedgeSkip::Slot, HedgeSkip::Fuse, HedgeSkip::Route];
const FUSES: [FuseKind; 5] = [
    FuseKind::CallsPerTask,
    FuseKind::CallsPerRun,
    FuseKind::IdenticalPerTask,
    FuseKind::FailingPerTask,
    FuseKind::Terminal,
];
const STOPS: [FuseScope; 3] = [FuseScope::Request, FuseScope::Account, FuseScope::Run];
const OUTCOMES: [&str; 12] = [
    "answered",
    "truncated",
    "terminal",
    "exhausted",
    "BUDGET_EXCEEDED",
    "all_gated",
    "no_candidate",
    "CALL_BUDGET_EXCEEDED",
    "stopped",
    "no_eligible_route",
    "deadline_exceeded",
    "abandoned",
];
const VERDICTS: [&str; 8] =
    ["chosen", "outranked", "excluded", "gated", "spent", "taken", "unapproved", "unaffordable"];

fn words<T: Copy>(values: &[T], label: fn(T) -> &'static str) -> Vocabulary {
    Vocabulary::Words(values.iter().map(|value| label(*value)).collect())
}

fn texts(catalog: &Catalog, names: impl Iterator<Item = Name>) -> Vec<&str> {
    names.map(|name| catalog.names.text(name)).collect()
}

/// What is declared in each layer: the door of one that calls another has names of its own.
pub(super) fn of_all_layers(own: &Catalog) -> impl Iterator<Item = &Catalog> {
    std::iter::once(own).chain(own.stack.above.iter().map(|layer| &layer.catalog))
}

/// Whether a request of this name can arrive: of a caller, or as a call of a layer comes below: `ask/gateway/2`.
pub(super) fn is_request(catalog: &Catalog, text: &str) -> bool {
    let below = catalog.stack.names.split_last().map_or(&[][..], |(_, below)| below);
    let is_below = |layer: &Name| {
        let within = text.rsplit_once('/').filter(|(_, nth)| nth.parse::<u32>().is_ok_and(|nth| nth > 0));
        let asked =
            within.and_then(|(asked, _)| asked.strip_suffix(catalog.names.text(*layer))?.strip_suffix('/'));
        asked.is_some_and(|asked| is_of_caller(catalog, asked))
    };
    is_of_caller(catalog, text) || below.iter().any(is_below)
}

/// Whether a caller can ask by this name: a listed request, or one of a stream.
fn is_of_caller(catalog: &Catalog, text: &str) -> bool {
    catalog.sources.iter().any(|source| {
        let name = catalog.names.text(source.name);
        match source.kind {
            SourceKind::Listed => text == name,
            SourceKind::Step { job, times } => is_step(catalog, job, times, name, text),
            SourceKind::Stream => text
                .strip_prefix(name)
                .and_then(|rest| rest.strip_prefix('/'))
                .is_some_and(|number| number.parse::<u32>().is_ok_and(|n| n > 0)),
        }
    })
}

/// Whether a step's request of this name can arrive: `turn/3/plan`, or `turn/3/plan/2` of several at once.
fn is_step(catalog: &Catalog, job: u16, times: u32, name: &str, text: &str) -> bool {
    let kind = catalog.names.text(catalog.tasks[usize::from(job)].name);
    let rest = text.strip_prefix(kind).and_then(|rest| rest.strip_prefix('/'));
    let Some((number, rest)) = rest.and_then(|rest| rest.split_once('/')) else { return false };
    let which = rest.strip_prefix(name);
    let is_one = |n: &str, most: u32| n.parse::<u32>().is_ok_and(|n| 0 < n && n <= most);
    is_one(number, u32::MAX)
        && match which {
            Some("") => times <= 1,
            Some(which) => which.strip_prefix('/').is_some_and(|n| times > 1 && is_one(n, times)),
            None => false,
        }
}

/// Whether a task of this name can be: a kind, or one of many of its kind.
pub(super) fn is_task(catalog: &Catalog, text: &str) -> bool {
    catalog.tasks.iter().map(|task| catalog.names.text(task.name)).any(|kind| {
        let number = text.strip_prefix(kind).map(|rest| rest.strip_prefix('/'));
        text == kind || number.flatten().is_some_and(|n| n.parse::<u32>().is_ok_and(|n| n > 0))
    })
}

/// The names that tasks have, for suggestions.
pub(super) fn tasks(catalog: &Catalog) -> Vec<String> {
    let kinds = catalog.tasks.iter().map(|task| catalog.names.text(task.name));
    kinds.flat_map(|kind| [kind.to_owned(), format!("{kind}/1")]).collect()
}

/// The names that requests have, for suggestions.
pub(super) fn sources(catalog: &Catalog) -> Vec<String> {
    let name = |source: &crate::sim::SourceFact| match source.kind {
        SourceKind::Listed => catalog.names.text(source.name).to_owned(),
        SourceKind::Stream => format!("{}/1", catalog.names.text(source.name)),
        SourceKind::Step { job, times } => {
            let kind = catalog.names.text(catalog.tasks[usize::from(job)].name);
            let which = if times > 1 { "/1" } else { "" };
            format!("{kind}/1/{}{which}", catalog.names.text(source.name))
        }
    };
    catalog.sources.iter().map(name).collect()
}
