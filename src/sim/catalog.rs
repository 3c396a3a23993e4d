//! What is true before anything happens: names, routes, caps and limits. Facts; written as the preamble of
//! every trace, and what the judge judges by. A position in a list is the id.

use crate::gateway::{Approval, Cooldown, FuseScope, Policy, Profile, Ranking, Registry, Timeouts, WhenOpen};
use crate::policy::backoff::Backoff;
use crate::policy::cooldown::Bench;
use crate::policy::eligibility::Offer;
use crate::policy::fuse::Repeats;
use crate::policy::hedge::After;
use crate::policy::ledger::{Amount, Reserve};
use crate::policy::taxonomy::Taxonomy;
use crate::policy::{breaker, health};
use std::num::NonZeroU32;

use crate::units::{
    BreakerId, CredentialId, Duration, HealthId, LayerId, ModelId, Name, Names, ProjectId, ProviderId,
    RouteId,
};

/// Everything that is declared.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// The texts of all names.
    pub names: Names,
    /// Classes of data, the least sensitive first: a rank is a position.
    pub classes: Vec<Name>,
    /// Capabilities, at most 64.
    pub capabilities: Vec<Name>,
    /// Regions, at most 64.
    pub regions: Vec<Name>,
    /// Kinds of deployment, at most 64.
    pub deployments: Vec<Name>,
    /// Kinds of task, at most 64.
    pub task_types: Vec<Name>,
    /// Providers.
    pub providers: Vec<Name>,
    /// Models.
    pub models: Vec<Name>,
    /// Projects.
    pub projects: Vec<Name>,
    /// Credentials.
    pub credentials: Vec<CredentialFact>,
    /// Routes.
    pub routes: Vec<RouteFact>,
    /// Tenants.
    pub tenants: Vec<TenantFact>,
    /// Kinds of task.
    pub tasks: Vec<TaskFact>,
    /// Where requests come from; see [`RequestName`].
    pub sources: Vec<SourceFact>,
    /// Routes that may be called after a terminal fault.
    pub approvals: Vec<Approval>,
    /// Fault domains, by the name of their scope.
    pub breakers: Vec<Name>,
    /// Health states, by the name of their scope.
    pub healths: Vec<Name>,
    /// True quotas, for the preamble: project, model, limit, used before.
    pub quotas: Vec<QuotaFact>,
    /// What the policy promises never to exceed.
    pub limits: Limits,
    /// What the policy makes of results.
    pub machines: Machines,
    /// Versions for the audit record.
    pub versions: Versions,
    /// The gateways above this one.
    pub stack: Stack,
}

/// The gateways above the innermost; none by default.
#[derive(Clone, Debug, Default)]
pub struct Stack {
    /// The name of every layer, the innermost first; empty if there is but one gateway.
    pub names: Vec<Name>,
    /// What is declared of every layer above the innermost, the lowest first. Names are those of the whole stack.
    pub above: Vec<LayerFact>,
    /// Calls to upstreams that one request of a caller may lead to, through all layers together.
    pub calls_max: u32,
}

/// A layer above the innermost, and how it stands to the one below.
#[derive(Clone, Debug)]
pub struct LayerFact {
    /// What is declared of it: one route, which leads to the layer below.
    pub catalog: Catalog,
    /// The deadline of what it asks the layer below.
    pub deadline: Handed,
    /// Whether the layer below hears of a cancel.
    pub cancel: Told,
    /// The bare HTTP status as which every failure of the layer below comes; `None` if it comes as it was.
    pub hears: Option<u16>,
}

/// The deadline that a layer hands to the one below.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Handed {
    /// Its own: the same instant.
    Down,
    /// None: the layer below gives itself so long, or for ever.
    Not(Option<Duration>),
}

/// Whether somebody hears of something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Told {
    /// At once.
    AtOnce,
    /// Never.
    Never,
}

impl Catalog {
    /// What is declared of a layer; of one that is not there, what is declared of the innermost.
    #[inline]
    pub fn of(&self, layer: LayerId) -> &Catalog {
        match layer.below() {
            None => self,
            Some(below) => self.stack.above.get(below.index()).map_or(self, |fact| &fact.catalog),
        }
    }

    /// Everything that a response can bench, in order; a model for each project that calls it.
    pub fn benches(&self) -> impl Iterator<Item = Bench> {
        let ids = |n: usize| (0..n).map(|at| at as u16);
        let calls = |project, model| {
            let of_project = |key: &CredentialId| self.credentials[key.index()].project == project;
            self.routes.iter().any(|route| route.model == model && route.pool.iter().any(of_project))
        };
        let models = move |project| {
            let each = ids(self.models.len()).map(ModelId);
            each.filter(move |model| calls(project, *model)).map(move |model| Bench::Model(project, model))
        };
        (ids(self.credentials.len()).map(|at| Bench::Credential(CredentialId(at))))
            .chain(ids(self.projects.len()).map(|at| Bench::Project(ProjectId(at))))
            .chain(ids(self.projects.len()).map(ProjectId).flat_map(models))
            .chain(ids(self.providers.len()).map(|at| Bench::Provider(ProviderId(at))))
            .chain(ids(self.routes.len()).map(|at| Bench::Route(RouteId(at))))
    }

    /// The layer whose requests are those of callers.
    pub const fn outermost(&self) -> LayerId {
        LayerId(self.stack.above.len() as u8)
    }
}

impl Catalog {
    /// Calls that a request may make on a route.
    pub fn calls_per_route_max(&self, route: RouteId) -> u32 {
        let own = self.profile(route).and_then(|profile| profile.calls_per_route_max);
        own.unwrap_or(self.limits.calls_per_route_max)
    }

    /// The fewest calls that a request may make on whatever route.
    pub fn calls_per_route_least(&self) -> u32 {
        let own = self.routes.iter().filter_map(|route| route.profile.calls_per_route_max);
        own.fold(self.limits.calls_per_route_max, u32::min)
    }

    /// How long is waited after a failure on a route; `None` if nothing is declared.
    pub fn backoff(&self, route: RouteId) -> Option<&Backoff> {
        let own = self.profile(route).and_then(|profile| profile.backoff.as_ref());
        own.or(self.limits.backoff.as_ref())
    }

    /// When a call to a route is stopped.
    pub fn timeouts(&self, route: RouteId) -> &Timeouts {
        let own = self.profile(route).and_then(|profile| profile.timeouts.as_ref());
        own.unwrap_or(&self.limits.timeouts)
    }

    fn profile(&self, route: RouteId) -> Option<&Profile> {
        self.routes.get(route.index()).map(|route| &route.profile)
    }
}

/// What the policy makes of results: what each class calls for, and when breakers and health states move.
#[derive(Clone, Debug)]
pub struct Machines {
    /// When a breaker moves; `None` if there are no breakers.
    pub breaker: Option<breaker::Config>,
    /// Fault domains whose breaker moves otherwise.
    pub own_breakers: Vec<(BreakerId, breaker::Config)>,
    /// When a health state moves.
    pub health: health::Config,
    /// What a failure of each class calls for, and what it says about health.
    pub taxonomy: Taxonomy,
}

impl Machines {
    /// Those of a policy.
    pub fn of(policy: &Policy, registry: &Registry) -> Machines {
        let Policy { breaker, health, taxonomy, .. } = policy;
        let own_breakers = registry.own_breakers.clone();
        Machines { breaker: breaker.clone(), own_breakers, health: *health, taxonomy: *taxonomy }
    }

    /// When the breaker of a fault domain moves; `None` if there are no breakers.
    pub fn breaker_of(&self, id: BreakerId) -> Option<&breaker::Config> {
        let shared = self.breaker.as_ref()?;
        Some(self.own_breakers.iter().find(|own| own.0 == id).map_or(shared, |own| &own.1))
    }
}

impl Default for Machines {
    fn default() -> Machines {
        Machines::of(&Policy::default(), &Registry::default())
    }
}

/// A route as it truly is.
#[derive(Clone, Debug)]
pub struct RouteFact {
    /// Its name.
    pub name: Name,
    /// Who serves it.
    pub provider: ProviderId,
    /// The model behind it.
    pub model: ModelId,
    /// Its credentials.
    pub pool: Vec<CredentialId>,
    /// What it truly offers.
    pub offer: Offer,
    /// Its fault domain: a position in [`Catalog::breakers`].
    pub breaker: BreakerId,
    /// Its health state: a position in [`Catalog::healths`].
    pub health: HealthId,
    /// What the policy promises of it alone, where that is not what [`Limits`] say.
    pub profile: Profile,
    /// What it is preferred by.
    pub merits: Merits,
}

/// What is declared of a route that it can be preferred by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Merits {
    /// Its P95 latency before enough calls are measured.
    pub latency_p95: Duration,
    /// Its measured quality; higher is better.
    pub quality: u32,
    /// Its share of the traffic among routes that tie.
    pub weight: u32,
}

impl Merits {
    /// The P95 latency of a route that declares none.
    pub const LATENCY_P95: Duration = Duration::from_secs(1);
}

impl Default for Merits {
    fn default() -> Merits {
        Merits { latency_p95: Merits::LATENCY_P95, quality: 0, weight: 0 }
    }
}

/// A credential.
#[derive(Clone, Copy, Debug)]
pub struct CredentialFact {
    /// Its name: an alias, never a key.
    pub name: Name,
    /// The project that it belongs to.
    pub project: ProjectId,
}

/// A tenant.
#[derive(Clone, Copy, Debug)]
pub struct TenantFact {
    /// Its pseudonym.
    pub name: Name,
    /// The most it may spend and use in a window.
    pub cap: Amount,
    /// The length of a window; `None` is for ever.
    pub window: Option<Duration>,
}

/// A kind of task.
#[derive(Clone, Copy, Debug)]
pub struct TaskFact {
    /// Its name.
    pub name: Name,
    /// The most it may spend and use.
    pub cap: Amount,
}

/// A true quota.
#[derive(Clone, Copy, Debug)]
pub struct QuotaFact {
    /// Whose calls count.
    pub project: ProjectId,
    /// On which model; all of the project's if there is none.
    pub model: Option<ModelId>,
    /// How much fits a window.
    pub limit: u64,
    /// How much was used before the run.
    pub used: u64,
}

/// Where requests come from.
#[derive(Clone, Copy, Debug)]
pub struct SourceFact {
    /// Its name.
    pub name: Name,
    /// How its requests are named.
    pub kind: SourceKind,
    /// What they all ask; without it each asks something else.
    pub content: Option<Name>,
}

/// How the requests of a source are named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SourceKind {
    /// One request, with the source's name.
    Listed,
    /// Many requests: `name/1`, `name/2`, …
    Stream,
    /// A step of a job: `turn/3/name`, or `turn/3/name/2` if a job has several of it at once.
    Step {
        /// The kind of job: a position in [`Catalog::tasks`].
        job: u16,
        /// How many a job has of it.
        times: u32,
    },
}

/// The name of a task: its kind and its number there, from zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TaskName {
    /// A position in [`Catalog::tasks`].
    pub kind: u16,
    /// Its number; `None` if there is only one of its kind.
    pub ordinal: Option<u32>,
}

/// The name of a request: its source and its number there, from zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RequestName {
    /// A position in [`Catalog::sources`].
    pub source: u16,
    /// The number of the request.
    pub ordinal: u32,
    /// Which request that it led to further down the stack; `None` for the one that a caller made.
    pub within: Option<Within>,
}

/// A request that a layer made of a layer below for a caller's request: `ask/sdk/2` is the second that the layer
/// `sdk` was asked for `ask`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Within {
    /// The layer that was asked.
    pub layer: LayerId,
    /// Its number there for the caller's request, from one.
    pub nth: NonZeroU32,
}

impl RequestName {
    /// The name of a request that a caller made.
    pub const fn of(source: u16, ordinal: u32) -> RequestName {
        RequestName { source, ordinal, within: None }
    }

    /// The caller's request behind it.
    pub const fn root(self) -> RequestName {
        RequestName { within: None, ..self }
    }
}

/// What the policy promises never to exceed.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Calls a request may make.
    pub attempts_max: u32,
    /// Calls a request may have in flight at once.
    pub legs_max: u32,
    /// What one call may cost and use.
    pub attempt_max: Amount,
    /// The longest wait that a response may ask for and get.
    pub hint_max: Duration,
    /// How long is waited before another attempt; `None` if nothing is declared. A route may have its own.
    pub backoff: Option<Backoff>,
    /// When another leg is started; `None` is never.
    pub hedge: Option<After>,
    /// When a call is stopped. A route may have its own.
    pub timeouts: Timeouts,
    /// How long the receipt of a stopped call is waited for.
    pub receipt_max: Duration,
    /// What routes are preferred by.
    pub ranking: Ranking,
    /// How long a failure without a hint benches what it concerns.
    pub cooldown: Cooldown,
    /// Requests that may wait for a slot.
    pub queue_max: u32,
    /// Calls a request may make on one route. A route may have its own.
    pub calls_per_route_max: u32,
    /// How often a request may look for a route before it gives up.
    pub seeks_max: u32,
    /// Retries whose worst case must fit the request's cap too.
    pub reserve_retries: u32,
    /// When the budget is asked.
    pub reserve: Reserve,
    /// Whether there are breakers at all.
    pub breakers: Breakers,
    /// What a request does if a breaker is the first to open.
    pub when_open: WhenOpen,
    /// Probes that a half-open breaker lets through at once, where no breaker is declared.
    pub probes_max: u32,
    /// How long a probe may be silent before another is let through; `None` is for ever.
    pub probe_timeout: Option<Duration>,
    /// Calls in flight on one route.
    pub route_legs_max: u32,
    /// Calls in flight for one task.
    pub task_legs_max: u32,
    /// Calls in flight for one tenant.
    pub tenant_legs_max: u32,
    /// Calls a task may make.
    pub calls_per_task: Option<u64>,
    /// Calls a run may make.
    pub calls_per_run: Option<u64>,
    /// How often a task may repeat itself.
    pub repeats: Repeats,
    /// What a terminal fault stops.
    pub terminal_scope: FuseScope,
}

/// Whether breakers guard the fault domains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Breakers {
    /// One guards each.
    Present,
    /// None does: there is nothing to reset.
    Absent,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            attempts_max: u32::MAX,
            legs_max: 1,
            attempt_max: Amount::MAX,
            hint_max: Duration::MAX,
            backoff: None,
            hedge: None,
            timeouts: Timeouts::default(),
            receipt_max: Duration::MAX,
            ranking: Ranking::default(),
            cooldown: Cooldown::default(),
            queue_max: u32::MAX,
            calls_per_route_max: u32::MAX,
            seeks_max: u32::MAX,
            reserve_retries: 0,
            reserve: Reserve::Reserve,
            breakers: Breakers::Present,
            when_open: WhenOpen::FailFast,
            probes_max: u32::MAX,
            probe_timeout: None,
            route_legs_max: u32::MAX,
            task_legs_max: u32::MAX,
            tenant_legs_max: u32::MAX,
            calls_per_task: None,
            calls_per_run: None,
            repeats: Repeats::default(),
            terminal_scope: FuseScope::Request,
        }
    }
}

/// Versions for the audit record.
#[derive(Clone, Copy, Debug, Default)]
pub struct Versions {
    /// The routing policy.
    pub policy: Option<Name>,
    /// The price table.
    pub prices: Option<Name>,
    /// The capability registry.
    pub registry: Option<Name>,
}
