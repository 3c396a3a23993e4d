//! Every knob, and what the gateway believes about its routes. Each knob's right value is its default; each
//! wrong one is the cause of a known incident.

use super::approved::Approval;
use super::profile::Profile;
use crate::policy::backoff::Backoff;
use crate::policy::cooldown::Again;
use crate::policy::eligibility::{Offer, Reasons};
use crate::policy::fuse::Repeats;
use crate::policy::hedge::Hedge;
use crate::policy::ledger::{Amount, Reserve};
use crate::policy::taxonomy::{Class, Taxonomy};
use crate::policy::{breaker, health, ranking};
use crate::units::{
    BreakerId, CredentialId, Duration, HealthId, ModelId, ProjectId, ProviderId, TaskId, TenantId,
};

/// All knobs of a gateway.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Which hard constraints are enforced.
    pub eligibility: Eligibility,
    /// Preferences among eligible routes.
    pub ranking: Ranking,
    /// When and where to try again.
    pub retry: Retry,
    /// What each class of failure calls for.
    pub taxonomy: Taxonomy,
    /// When we stop an attempt ourselves.
    pub timeouts: Timeouts,
    /// The circuit breaker; `None` is off.
    pub breaker: Option<breaker::Config>,
    /// What a request does if a breaker is the first to open of what closes its routes.
    pub when_open: WhenOpen,
    /// The health machine.
    pub health: health::Config,
    /// What to do when every route that could be called is unhealthy.
    pub all_unhealthy: AllUnhealthy,
    /// Second legs beside slow ones; `None` is none.
    pub hedge: Option<Hedge>,
    /// Calls in flight.
    pub concurrency: Concurrency,
    /// What stops everything.
    pub fuse: Fuse,
    /// What a failure without a hint benches, and for how long.
    pub cooldown: Cooldown,
    /// Money and tokens.
    pub budget: Budget,
}

/// Which hard constraints are enforced.
#[derive(Clone, Copy, Debug)]
pub struct Eligibility {
    /// The reasons that exclude a route.
    pub enforced: Reasons,
    /// Retries whose worst case must fit the request's cap too.
    pub reserve_retries: u32,
}

/// Preferences among eligible routes.
#[derive(Clone, Copy, Debug)]
pub struct Ranking {
    /// What is compared, most important first.
    pub order: ranking::Order,
    /// P95 latencies that differ by less than a step are equal.
    pub latency_step: Duration,
    /// Samples before a measured P95 replaces the declared one.
    pub latency_samples_min: usize,
}

/// When and where to try again. One budget for retry, fallback and hedge together.
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    /// Calls a request may make, the first included.
    pub attempts_max: u32,
    /// Calls it may make on one route, the first included.
    pub calls_per_route_max: u32,
    /// The wait before another attempt.
    pub backoff: Backoff,
    /// The longest wait that a response or a bench may ask for and get; a longer one is not slept at all.
    pub hint_max: Duration,
    /// How often a request looks for a route before it gives up.
    pub seeks_max: u32,
    /// What follows when a stream breaks after its first output.
    pub mid_stream: MidStream,
}

/// What follows when a stream breaks after its first output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MidStream {
    /// The answer ends there, and says so.
    Truncate,
    /// What follows any failure: another voice in the same answer.
    Splice,
}

/// When we stop an attempt ourselves; `None` is never.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Timeouts {
    /// From the call to its end.
    pub attempt: Option<Duration>,
    /// From the call to the first byte of a stream.
    pub first_byte: Option<Duration>,
    /// Between two signs of life of a stream.
    pub idle: Option<Duration>,
}

/// How long a failure without a hint benches what it concerns; zero is not at all.
#[derive(Clone, Copy, Debug)]
pub struct Cooldown {
    /// After a rate limit.
    pub rate_limit: Duration,
    /// After a used-up window.
    pub quota_exhausted: Duration,
    /// What becomes of a bench in force when another one comes.
    pub again: Again,
}

impl Cooldown {
    /// How long a failure of a class benches what it concerns, if its response does not say; `None` is not at all. A
    /// wrong credential is benched until an operator frees it.
    pub fn of(&self, class: Class) -> Option<Duration> {
        let length = match class {
            Class::Auth => Duration::MAX,
            Class::RateLimit => self.rate_limit,
            Class::QuotaExhausted => self.quota_exhausted,
            Class::Overload
            | Class::InvalidAnswer
            | Class::AttemptTimeout
            | Class::FirstByteTimeout
            | Class::IdleTimeout
            | Class::Deadline
            | Class::Funds
            | Class::PolicyRefusal
            | Class::NonRetryable
            | Class::Unclassified
            | Class::Cancelled
            | Class::Abandoned => return None,
        };
        Some(length).filter(|length| *length > Duration::ZERO)
    }
}

/// What a request does if a breaker is the first to open of what closes its routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhenOpen {
    /// It ends at once, and is told when to come back.
    FailFast,
    /// It waits until the breaker may let a call through, if that fits its deadline and the longest wait. Who wakes
    /// then may find the probe taken, and waits for the end of the probe's patience.
    Wait,
}

/// What to do when every route that could be called is unhealthy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AllUnhealthy {
    /// Use the least bad one, and say so: health is a preference.
    LeastBad,
    /// Unhealthy routes are never called: health is a gate.
    Error,
    /// Unhealthy routes are not called, unless one is the only eligible one.
    LastRemaining,
}

/// Calls in flight at once; [`u32::MAX`] is no limit.
#[derive(Clone, Copy, Debug)]
pub struct Concurrency {
    /// On one route.
    pub route_max: u32,
    /// For one task.
    pub task_max: u32,
    /// For one tenant.
    pub tenant_max: u32,
    /// Requests that may wait for a slot; one more is refused.
    pub queue_max: u32,
}

/// What stops everything. A blown fuse stays blown.
#[derive(Clone, Copy, Debug)]
pub struct Fuse {
    /// Calls a task may make; `None` is no limit.
    pub calls_per_task: Option<u64>,
    /// Calls a run may make; `None` is no limit.
    pub calls_per_run: Option<u64>,
    /// How often a task may repeat itself.
    pub repeats: Repeats,
    /// What a terminal fault stops.
    pub terminal: FuseScope,
}

/// What a terminal fault stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FuseScope {
    /// The request that met it.
    Request,
    /// Everything that would use the same project.
    Account,
    /// Everything.
    Run,
}

/// Money and tokens.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// When the budget is asked.
    pub reserve: Reserve,
    /// The most that one call may cost and use.
    pub attempt_max: Amount,
    /// How long the receipt of a cancelled, timed-out or cut call is waited for.
    pub receipt_max: Duration,
    /// What that receipt costs.
    pub stopped_calls: StoppedCalls,
}

/// What the receipt of a call costs that we stopped ourselves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoppedCalls {
    /// What it says: the upstream has worked.
    Billed,
    /// Nothing: its answer was not used.
    Ignored,
}

impl Default for Policy {
    /// Every right value; the breaker is on.
    fn default() -> Policy {
        Policy {
            eligibility: Eligibility::default(),
            ranking: Ranking::default(),
            retry: Retry::default(),
            taxonomy: Taxonomy::default(),
            timeouts: Timeouts::default(),
            breaker: Some(breaker::Config::default()),
            when_open: WhenOpen::FailFast,
            health: health::Config::default(),
            all_unhealthy: AllUnhealthy::LeastBad,
            hedge: None,
            concurrency: Concurrency::default(),
            fuse: Fuse::default(),
            cooldown: Cooldown::default(),
            budget: Budget::default(),
        }
    }
}

impl Default for Eligibility {
    fn default() -> Eligibility {
        Eligibility { enforced: Reasons::ALL, reserve_retries: 0 }
    }
}

impl Default for Ranking {
    fn default() -> Ranking {
        Ranking {
            order: ranking::Order::default(),
            latency_step: Duration::from_millis(50),
            latency_samples_min: 10,
        }
    }
}

impl Default for Retry {
    fn default() -> Retry {
        Retry {
            attempts_max: 3,
            calls_per_route_max: 2,
            backoff: Backoff::default(),
            hint_max: Duration::from_secs(60),
            seeks_max: 16,
            mid_stream: MidStream::Truncate,
        }
    }
}

impl Default for Concurrency {
    fn default() -> Concurrency {
        Concurrency { route_max: u32::MAX, task_max: u32::MAX, tenant_max: u32::MAX, queue_max: 1_000 }
    }
}

impl Default for Fuse {
    fn default() -> Fuse {
        Fuse {
            calls_per_task: None,
            calls_per_run: None,
            repeats: Repeats::default(),
            terminal: FuseScope::Request,
        }
    }
}

impl Default for Cooldown {
    fn default() -> Cooldown {
        Cooldown {
            rate_limit: Duration::ZERO,
            quota_exhausted: Duration::from_secs(60),
            again: Again::Longest,
        }
    }
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            reserve: Reserve::Reserve,
            attempt_max: Amount::MAX,
            receipt_max: Duration::from_secs(60),
            stopped_calls: StoppedCalls::Billed,
        }
    }
}

/// What the gateway believes about its routes, credentials, tasks and tenants: positions are ids.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    /// The routes, in file order.
    pub routes: Vec<Route>,
    /// The project of each credential.
    pub credentials: Vec<ProjectId>,
    /// The cap of each kind of task.
    pub tasks: Vec<Amount>,
    /// The cap of each tenant, for each window of this length; without a length, for ever.
    pub tenants: Vec<(Amount, Option<Duration>)>,
    /// How many fault domains the breakers guard.
    pub breakers: u16,
    /// Fault domains whose breaker is not as the policy says for all; where the policy has no breaker there is none.
    pub own_breakers: Vec<(BreakerId, breaker::Config)>,
    /// How many health states there are.
    pub healths: u16,
    /// Routes that may be called after a terminal fault, at most one for each class.
    pub approvals: Vec<Approval>,
}

impl Registry {
    /// Fails with a sentence if an id is not a position, or a route has no credential.
    pub(super) fn assert_consistent(&self) {
        assert!(self.routes.len() <= usize::from(u16::MAX), "at most 65,535 routes");
        for route in &self.routes {
            assert!(!route.pool.is_empty(), "a route has a credential");
            assert!(route.pool.iter().all(|key| key.index() < self.credentials.len()), "a known credential");
            assert!(route.breaker.0 < self.breakers, "a known fault domain");
            assert!(route.health.0 < self.healths, "a known health state");
        }
        let mut approved = self.approvals.iter().map(|approval| approval.route);
        assert!(approved.all(|route| route.index() < self.routes.len()), "a known route");
        let mut own = self.own_breakers.iter().map(|own| own.0);
        assert!(own.all(|breaker| breaker.0 < self.breakers), "a known fault domain");
    }
}

/// What the gateway may choose.
#[derive(Clone, Debug)]
pub struct Route {
    /// What it offers.
    pub offer: Offer,
    /// Who serves it.
    pub provider: ProviderId,
    /// The model behind it.
    pub model: ModelId,
    /// Its credentials, the preferred one first; never empty.
    pub pool: Vec<CredentialId>,
    /// Its fault domain.
    pub breaker: BreakerId,
    /// Its health state.
    pub health: HealthId,
    /// Its P95 latency before any is measured.
    pub latency_p95: Duration,
    /// Its measured quality; higher is better.
    pub quality: u32,
    /// Its share of the traffic among routes that tie; zero comes before all that have a weight.
    pub weight: u32,
    /// The key of its draws: the hash of its name.
    pub draw: u64,
    /// What the policy is for it alone.
    pub profile: Profile,
}

/// The accounts of a request besides its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Payer {
    /// The task that it belongs to.
    pub task: Option<Task>,
    /// Who pays.
    pub tenant: Option<TenantId>,
}

/// A task: one agent job of many requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Task {
    /// Its slot: not in use by another open task. Free again after [`Input::TaskEnded`].
    ///
    /// [`Input::TaskEnded`]: super::Input::TaskEnded
    pub id: TaskId,
    /// Its kind: a position in [`Registry::tasks`].
    pub kind: u16,
}
