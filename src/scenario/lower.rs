//! From names to ids: the world as far as a file has been read. Tables are read in the order in which they
//! refer to each other, whatever their order in the file.

use super::faults::Ear;
use super::findings::{Findings, about};
use super::form::Form;
use super::tree::{Table, Word};
use super::{
    OWN_KEYS, approvals, civil, jobs, layers, operator, parties, policy, profiles, quotas, routes, traffic,
};
use crate::gateway::{Command, Policy, Registry};
use crate::sim::{
    Breakers, Catalog, Handed, Job, Limits, Machines, Pace, Quota, Setup, Source, Step, Upstream,
};
use crate::units::{Duration, Name, Names, Set64, Timestamp};
use jiff::ZonedDateTime;

/// What has been read so far.
#[derive(Default)]
pub(super) struct World {
    /// What is declared.
    pub(super) catalog: Catalog,
    /// What the gateway believes.
    pub(super) registry: Registry,
    /// What the gateway does.
    pub(super) policy: Policy,
    /// What the gateway does on some routes alone.
    pub(super) profiles: Vec<profiles::Stated>,
    /// What is approved after a terminal fault.
    pub(super) approvals: Vec<approvals::Stated>,
    /// How the gateway reads responses.
    pub(super) ear: Ear,
    /// What shares a breaker.
    pub(super) breaker_scope: Domain,
    /// What shares a health state.
    pub(super) health_scope: Domain,
    /// When the scenario begins, by a civil clock.
    pub(super) start: Option<ZonedDateTime>,
    /// The upstream behind each route.
    pub(super) upstreams: Vec<Upstream>,
    /// Where requests come from.
    pub(super) sources: Vec<Source>,
    /// Jobs of many requests.
    pub(super) jobs: Vec<Job>,
    /// True quotas.
    pub(super) quotas: Vec<Quota>,
    /// What an operator does.
    pub(super) operator: Vec<(Timestamp, Command)>,
    /// The gateways above, outermost first.
    pub(super) layers: Vec<layers::Layer>,
}

/// What shares one breaker or one health state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Domain {
    /// One model of a provider in one region.
    #[default]
    ProviderModelRegion,
    /// One route.
    Route,
    /// Everything of a provider.
    Provider,
}

/// The words for what shares a machine.
pub(super) const DOMAINS: &[(&str, Domain)] = &[
    ("provider_model_region", Domain::ProviderModelRegion),
    ("route", Domain::Route),
    ("provider", Domain::Provider),
];

/// Reads a file without its variants and expectations; and what it says of its dialect.
pub(super) fn setup(table: &Table, out: &mut Findings) -> (Setup, String) {
    let mut world = World::default();
    out.read(table, |f| whole(f, &mut world));
    world.catalog.limits = limits(&world.policy);
    world.catalog.machines = Machines::of(&world.policy, &world.registry);
    world.operator.sort_by_key(|command| command.0);
    let above = layers::build(&mut world);
    let setup = Setup {
        seed: 0,
        catalog: world.catalog,
        policy: world.policy,
        registry: world.registry,
        upstreams: world.upstreams,
        sources: world.sources,
        jobs: world.jobs,
        quotas: world.quotas,
        operator: world.operator,
        above,
    };
    (setup, world.ear.said)
}

/// What the policy promises never to exceed.
pub(super) fn limits(policy: &Policy) -> Limits {
    Limits {
        attempts_max: policy.retry.attempts_max,
        legs_max: policy.hedge.map_or(1, |hedge| hedge.legs_max),
        attempt_max: policy.budget.attempt_max,
        hint_max: policy.retry.hint_max,
        backoff: Some(policy.retry.backoff),
        hedge: policy.hedge.map(|hedge| hedge.after),
        timeouts: policy.timeouts,
        receipt_max: policy.budget.receipt_max,
        ranking: policy.ranking,
        cooldown: policy.cooldown,
        queue_max: policy.concurrency.queue_max,
        calls_per_route_max: policy.retry.calls_per_route_max,
        seeks_max: policy.retry.seeks_max,
        reserve_retries: policy.eligibility.reserve_retries,
        reserve: policy.budget.reserve,
        breakers: if policy.breaker.is_some() { Breakers::Present } else { Breakers::Absent },
        when_open: policy.when_open,
        probes_max: policy.breaker.as_ref().map_or(u32::MAX, |breaker| breaker.probes.most()),
        probe_timeout: policy.breaker.as_ref().and_then(|breaker| breaker.probe_timeout),
        route_legs_max: policy.concurrency.route_max,
        task_legs_max: policy.concurrency.task_max,
        tenant_legs_max: policy.concurrency.tenant_max,
        calls_per_task: policy.fuse.calls_per_task,
        calls_per_run: policy.fuse.calls_per_run,
        repeats: policy.fuse.repeats,
        terminal_scope: policy.fuse.terminal,
    }
}

impl World {
    /// The latest instant at which a call can be made: no request of the file is open longer.
    pub(super) fn last_call(&self) -> Timestamp {
        let times =
            |n: u32, length: Duration| Duration::from_nanos(length.nanos().saturating_mul(u64::from(n)));
        let of_source = self.sources.iter().filter(|source| source.count > 0).map(|source| {
            let deadline = source.template.deadline;
            let last = match &source.pace {
                Pace::Open(gap) => times(source.count - 1, gap.longest()).plus(deadline),
                Pace::Closed { clients, think } => {
                    times(source.count.div_ceil(*clients), think.longest().plus(deadline))
                }
            };
            source.first.after(last)
        });
        let of_job = self.jobs.iter().map(|job| {
            let begun = job.first.after(times(job.count - 1, job.gap.longest()));
            let step =
                |step: &Step| self.sources[usize::from(step.source)].template.deadline.plus(step.think);
            job.steps.iter().map(step).fold(begun, Timestamp::after)
        });
        let last = of_source.chain(of_job).max().unwrap_or_default();
        self.layers.iter().fold(last, |last, layer| match layer.deadline {
            Handed::Down => last,
            Handed::Not(length) => last.after(length.unwrap_or(Duration::MAX)),
        })
    }
}

/// The whole file, table by table.
pub(super) fn whole(f: &mut Form<'_, '_>, world: &mut World) {
    for key in OWN_KEYS {
        f.node(key); // read elsewhere; here only so that a misspelt one is recognised
    }
    world.start = civil::start(f);
    f.table("policy", |f| policy::policy(f, world));
    f.table("versions", |f| versions(f, world));
    classes(f, world);
    f.each("credential", |f| parties::credential(f, world));
    f.each("tenant", |f| parties::tenant(f, world));
    f.each("task", |f| parties::task(f, world));
    f.each("route", |f| routes::route(f, world));
    profiles::give(f, world);
    approvals::give(f, world);
    f.each("request", |f| traffic::request(f, world));
    f.each("arrivals", |f| traffic::arrivals(f, world));
    f.each("job", |f| jobs::job(f, world));
    f.each("layer", |f| layers::layer(f, world));
    f.table("stack", |f| layers::stack(f, world));
    f.each("quota", |f| quotas::quota(f, world));
    f.each("operator", |f| operator::command(f, world));
    if !f.lists("route") {
        f.missing("route", "at least one `[[route]]`");
    }
    if !["request", "arrivals", "job"].iter().any(|key| f.lists(key)) {
        f.missing("request", "at least one `[[request]]`, `[[arrivals]]` or `[[job]]`");
    }
}

/// Versions for the audit record.
fn versions(f: &mut Form<'_, '_>, world: &mut World) {
    let policy = f.text(about("policy", "The version of the routing policy."));
    let prices = f.text(about("prices", "The version of the price table."));
    let registry = f.text(about("registry", "The version of the capability registry."));
    let names = &mut world.catalog.names;
    let mut name = |word: Option<Word>| word.map(|word| names.intern(&word.text));
    world.catalog.versions.policy = name(policy);
    world.catalog.versions.prices = name(prices);
    world.catalog.versions.registry = name(registry);
}

/// Classes of data, the least sensitive first.
fn classes(f: &mut Form<'_, '_>, world: &mut World) {
    let doc = "Classes of data, the least sensitive first; `public`, `internal`, `restricted` by default.";
    let stated = f.texts(about("classes", doc));
    let span = f.span_of("classes");
    let words = stated.unwrap_or_else(|| {
        ["public", "internal", "restricted"]
            .map(|text| Word { text: text.to_owned(), span: span.clone() })
            .to_vec()
    });
    if words.is_empty() || words.len() > 200 {
        f.problem(&span, "there are between 1 and 200 classes of data", None);
    }
    for word in words.iter().take(200) {
        let name = world.catalog.names.intern(&word.text);
        if world.catalog.classes.contains(&name) {
            f.problem(&word.span, format!("`{}` is listed twice", word.text), None);
        } else {
            world.catalog.classes.push(name);
        }
    }
}

/// The name of what a table declares. It must be new among `taken`.
pub(super) fn new_name(
    f: &mut Form<'_, '_>,
    key: &'static str,
    doc: &'static str,
    names: &mut Names,
    taken: impl IntoIterator<Item = Name>,
) -> Option<Name> {
    let word = f.required_text(about(key, doc))?;
    let name = names.intern(&word.text);
    if taken.into_iter().any(|known| known == name) {
        let help = "names are unique; a variant overrides by name".to_owned();
        f.problem(&word.span, format!("the name `{}` is taken", word.text), Some(help));
        return None;
    }
    Some(name)
}

/// The position of `word` in `list`, or the problem that it is not there.
pub(super) fn position(
    f: &mut Form<'_, '_>,
    what: &str,
    word: &Word,
    list: &[Name],
    names: &Names,
) -> Option<usize> {
    let at = list.iter().position(|name| names.text(*name) == word.text);
    if at.is_none() {
        let known: Vec<&str> = list.iter().map(|name| names.text(*name)).collect();
        f.unknown(what, word, known.iter().copied());
    }
    at
}

/// The position of `word` in `list`, where it is added if it is new: at most 64 fit.
pub(super) fn member(
    f: &mut Form<'_, '_>,
    what: &str,
    word: &Word,
    list: &mut Vec<Name>,
    names: &mut Names,
) -> Set64 {
    let name = names.intern(&word.text);
    let at = list.iter().position(|known| *known == name).unwrap_or_else(|| {
        list.push(name);
        list.len() - 1
    });
    match u8::try_from(at) {
        Ok(at) if at < 64 => Set64::of(at),
        Ok(_) | Err(_) => {
            list.truncate(64);
            f.problem(&word.span, format!("`{}` is one {what} too many: 64 fit", word.text), None);
            Set64::EMPTY
        }
    }
}

/// The set of `words`, each added to `list` if it is new.
pub(super) fn members(
    f: &mut Form<'_, '_>,
    what: &str,
    words: &[Word],
    list: &mut Vec<Name>,
    names: &mut Names,
) -> Set64 {
    words.iter().fold(Set64::EMPTY, |set, word| set.with(member(f, what, word, list, names)))
}
