//! What the gateway knows about its upstreams: breakers, health, benches, latencies, calls in flight.

use super::action::{Effects, Gate};
use super::decision::{Decision, Freshness};
use super::input::Command;
use super::live::Live;
use super::policy::{Policy, Ranking, Registry, Route};
use super::status::Status;
use super::stops::Stops;
use super::waits::{Wait, Waits};
use crate::policy::breaker::{self, Admission, Breaker, Permit, Sample, Transition};
use crate::policy::concurrency::Slots;
use crate::policy::cooldown::{Bench, Cooldowns};
use crate::policy::health::{self, Health, Move, State};
use crate::policy::latency::Latencies;
use crate::policy::ranking::{Key, Races};
use crate::policy::signal::Signal;
use crate::policy::taxonomy::{Class, Scope};
use crate::units::{BreakerId, CallId, CredentialId, Draws, Duration, HealthId, Purpose, RouteId, Timestamp};

/// What the gateway knows about its upstreams.
#[derive(Debug)]
pub(super) struct Fleet {
    /// One a fault domain; none if the policy has no breaker.
    breakers: Vec<Breaker>,
    /// How many of them are not closed.
    ajar: u32,
    healths: Vec<Health>,
    /// How many of them are not healthy.
    unwell: u32,
    health: health::Config,
    cooldowns: Cooldowns,
    /// One a route; none if the policy never asks.
    latencies: Vec<Latencies>,
    in_flight: Slots,
    races: Races,
}

/// What closes a route, and until when; without an instant only an operator or a free slot opens it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closed {
    pub(super) gate: Gate,
    pub(super) retry_at: Option<Timestamp>,
}

/// A result that is told to the machines.
pub(super) struct Heard {
    pub(super) call: CallId,
    pub(super) begun: Timestamp,
    pub(super) route: RouteId,
    pub(super) class: Option<Class>,
    pub(super) signal: Signal,
    pub(super) elapsed: Duration,
}

impl Fleet {
    pub(super) fn new(policy: &Policy, registry: &Registry) -> Fleet {
        let config = |id: u16, shared| {
            let own = registry.own_breakers.iter().find(|own| own.0.0 == id);
            own.map_or(shared, |own| &own.1)
        };
        let breaker = |id, shared| Breaker::new(config(id, shared), Timestamp::ZERO);
        let asks_latency = policy.ranking.order.compares(Key::LatencyP95) || policy.hedge.is_some();
        let measured = if asks_latency { registry.routes.len() } else { 0 };
        Fleet {
            breakers: policy
                .breaker
                .iter()
                .flat_map(|shared| (0..registry.breakers).map(move |id| breaker(id, shared)))
                .collect(),
            ajar: 0,
            healths: vec![Health::default(); usize::from(registry.healths)],
            unwell: 0,
            health: policy.health,
            cooldowns: Cooldowns::new(policy.cooldown.again),
            latencies: vec![Latencies::default(); measured],
            in_flight: Slots::new(policy.concurrency.route_max),
            races: Races::new(registry.routes.iter().map(|route| route.weight)),
        }
    }

    /// Whether nothing is benched at `at`.
    pub(super) fn is_unbenched(&self, at: Timestamp) -> bool {
        !self.cooldowns.is_any(at)
    }

    /// Whether the route's breaker lets every call through.
    #[inline]
    pub(super) fn is_closed(&self, route: &Route) -> bool {
        self.breakers.get(route.breaker.index()).is_none_or(Breaker::is_closed)
    }

    /// Whether every breaker lets every call through.
    pub(super) const fn are_closed(&self) -> bool {
        self.ajar == 0
    }

    /// Whether every health state is healthy.
    pub(super) const fn are_well(&self) -> bool {
        self.unwell == 0
    }

    /// The credential that a call to the route would use at `now`: the first that is free, those whose quota has
    /// limited the request last. Or what closes the route, and until when.
    #[inline(never)]
    pub(super) fn gate(
        &self,
        now: Timestamp,
        registry: &Registry,
        stops: &Stops,
        limited: &[Bench],
        id: RouteId,
    ) -> Result<CredentialId, Closed> {
        let route = &registry.routes[id.index()];
        if let Some(breaker) = self.breakers.get(route.breaker.index())
            && !breaker.permits(now)
        {
            let retry_at = Some(breaker.status(now).retry_at).filter(|at| *at != Timestamp::MAX);
            return Err(Closed { gate: Gate::Breaker, retry_at });
        }
        if self.is_unbenched(now) && limited.is_empty() && stops.is_clear() {
            return Ok(route.pool[0]);
        }
        let whole = [Bench::Route(id), Bench::Provider(route.provider)];
        let closed = whole.iter().filter_map(|bench| self.cooldowns.until(now, *bench)).max();
        let (mut second_best, mut opens, mut blown) = (None, None::<Timestamp>, None);
        for credential in &route.pool {
            if let Some(failure) = stops.closed(registry.credentials[credential.index()]) {
                blown = blown.or(Some(failure));
                continue;
            }
            match self.benched(now, registry, route, *credential).max(closed) {
                None if is_limited(limited, registry, id, *credential) => {
                    second_best = second_best.or(Some(*credential));
                }
                None => return Ok(*credential),
                Some(until) => opens = Some(opens.map_or(until, |first| first.min(until))),
            }
        }
        match (second_best, opens, blown) {
            (Some(credential), ..) => Ok(credential),
            (None, None, Some(failure)) => Err(Closed { gate: Gate::Fuse(failure), retry_at: None }),
            (None, opens, _) => {
                let retry_at = opens.filter(|until| *until != Timestamp::MAX);
                Err(Closed { gate: Gate::Cooldown, retry_at })
            }
        }
    }

    fn benched(
        &self,
        now: Timestamp,
        registry: &Registry,
        route: &Route,
        key: CredentialId,
    ) -> Option<Timestamp> {
        let project = registry.credentials[key.index()];
        let benches = [Bench::Credential(key), Bench::Project(project), Bench::Model(project, route.model)];
        benches.iter().filter_map(|bench| self.cooldowns.until(now, *bench)).max()
    }

    /// The P95 latency of a route: measured, or declared before enough is.
    #[inline(never)]
    pub(super) fn p95(&self, ranking: &Ranking, id: RouteId, route: &Route) -> Duration {
        let measured = self.latencies.get(id.index()).and_then(|l| l.p95(ranking.latency_samples_min));
        measured.unwrap_or(route.latency_p95)
    }

    /// Whether the route has no free slot.
    pub(super) fn is_full(&self, id: RouteId) -> bool {
        self.in_flight.is_full(id.index())
    }

    /// The health of a route.
    pub(super) fn health(&self, registry: &Registry, id: RouteId) -> State {
        self.healths[registry.routes[id.index()].health.index()].state()
    }

    /// Until when a route is unhealthy by itself; `None` if it is not, or will not be at that instant.
    pub(super) fn unhealthy_until(&self, at: Timestamp, route: &Route) -> Option<Timestamp> {
        let health = &self.healths[route.health.index()];
        health.until().filter(|until| *until > at)
    }

    /// Health as a number: the state, then among unhealthy ones the failures in a row, then who was heard of last
    /// in milliseconds (the stalest comes first).
    pub(super) fn sickness(&self, route: &Route) -> u64 {
        let health = &self.healths[route.health.index()];
        match health.state() {
            State::Healthy => 0,
            State::Degraded => 1 << 60,
            State::Unhealthy => {
                let failures = u64::from(health.failures().min(0xffff));
                2 << 60 | failures << 44 | (health.last().nanos() / 1_000_000).min((1 << 44) - 1)
            }
        }
    }

    /// Calls in flight on a route.
    pub(super) fn in_flight(&self, id: RouteId) -> u32 {
        self.in_flight.used(id.index())
    }

    /// A draw for a request's next call on a route: the smallest of all wins, and more weight makes it smaller.
    #[inline(never)]
    pub(super) fn race(&self, draws: &Draws, live: &Live, route: &Route) -> u64 {
        self.races.time(route.weight, || {
            draws.of(Purpose::Weight).and(live.request.draw).and(u64::from(live.attempts)).and(route.draw)
        })
    }

    /// Asks the route's breaker for a permit. The gate was open at this very instant, so it is granted.
    pub(super) fn admit(
        &mut self,
        now: Timestamp,
        route: &Route,
        id: RouteId,
        out: &mut Effects,
    ) -> Option<Permit> {
        self.in_flight.take(id.index());
        let breaker = self.breakers.get_mut(route.breaker.index())?;
        let (admission, transition) = breaker.admit(now);
        self.tell_breaker(route.breaker, transition, out);
        match admission {
            Admission::Admitted(permit) => Some(permit),
            Admission::Refused { .. } => {
                unreachable!("a breaker that permits admits")
            }
        }
    }

    /// The route's slot is free: the receipt is in.
    pub(super) fn leave(&mut self, route: RouteId) {
        self.in_flight.give(route.index());
    }

    /// Tells the machines a result. A result of an earlier generation of the breaker is stale and moves nothing.
    #[inline(always)]
    pub(super) fn record(
        &mut self,
        now: Timestamp,
        route: &Route,
        permit: Option<Permit>,
        heard: &Heard,
        waits: &mut Waits,
        out: &mut Effects,
    ) {
        let breaker = self.breakers.get_mut(route.breaker.index());
        let stale = match (&breaker, &permit) {
            (Some(breaker), Some(permit)) => !breaker.hears(permit.era()),
            (None, _) | (_, None) => false,
        };
        let sample = Sample { signal: heard.signal, elapsed: heard.elapsed };
        let mut failures = 0;
        let mut transition = None;
        if let (Some(breaker), Some(permit)) = (breaker, permit) {
            transition = breaker.settle(now, permit, sample);
            failures = breaker.failures(now);
        }
        let health = &mut self.healths[route.health.index()];
        let stale = stale || health.is_stale(heard.begun);
        let moved = if stale { None } else { health.record(now, heard.begun, &self.health, heard.signal) };
        out.decide(Decision::Signalled {
            call: heard.call,
            breaker: route.breaker,
            health: route.health,
            class: heard.class,
            signal: heard.signal,
            standing: if stale { Freshness::Stale } else { Freshness::Fresh },
            breaker_failures: failures,
            health_failures: health.failures(),
        });
        self.tell_breaker(route.breaker, transition, out);
        if let Some(moved) = moved {
            self.tell_health(route.health, moved, out);
            match moved.until {
                Some(until) => waits.set(Wait::Health(route.health), until),
                None => waits.clear(Wait::Health(route.health)),
            }
        }
        if heard.class.is_none()
            && let Some(latencies) = self.latencies.get_mut(heard.route.index())
        {
            latencies.record(heard.elapsed);
        }
    }

    /// A health state's cooldown is over.
    pub(super) fn cool(&mut self, now: Timestamp, health: HealthId, out: &mut Effects) {
        if let Some(moved) = self.healths[health.index()].wake(now) {
            self.tell_health(health, moved, out);
        }
    }

    /// Tells a move of a breaker, if it is one.
    fn tell_breaker(&mut self, breaker: BreakerId, moved: Option<Transition>, out: &mut Effects) {
        let Some(transition) = moved else { return };
        let is_ajar = |state| u32::from(state != breaker::State::Closed);
        self.ajar = self.ajar + is_ajar(transition.to) - is_ajar(transition.from);
        out.decide(Decision::BreakerMoved { breaker, transition });
    }

    /// Tells a move of a health state.
    fn tell_health(&mut self, health: HealthId, moved: Move, out: &mut Effects) {
        let is_unwell = |state| u32::from(state != State::Healthy);
        self.unwell = self.unwell + is_unwell(moved.to) - is_unwell(moved.from);
        out.decide(Decision::HealthMoved { health, moved });
    }

    /// Benches what a failure concerns; whether that is news.
    pub(super) fn bench(
        &mut self,
        now: Timestamp,
        what: Bench,
        until: Timestamp,
        class: Class,
        out: &mut Effects,
    ) -> bool {
        let news = self.cooldowns.bench(now, what, until);
        if let Some(until) = news {
            out.decide(Decision::Benched { what, until, class });
        }
        news.is_some()
    }

    /// Carries out what an operator ordered.
    pub(super) fn operate(&mut self, now: Timestamp, command: Command, waits: &mut Waits, out: &mut Effects) {
        match command {
            Command::ResetBench(what) => {
                if self.cooldowns.reset(now, what) {
                    out.decide(Decision::Freed { what });
                }
            }
            Command::ResetBreaker(breaker) => {
                let transition = self.breakers.get_mut(breaker.index()).and_then(|b| b.reset(now));
                self.tell_breaker(breaker, transition, out);
            }
            Command::ResetHealth(health) => {
                waits.clear(Wait::Health(health));
                if let Some(moved) = self.healths[health.index()].reset(now) {
                    self.tell_health(health, moved, out);
                }
            }
            Command::Show => {}
        }
    }

    /// What is not at rest.
    pub(super) fn status(&self, now: Timestamp, tell: &mut impl FnMut(Status)) {
        for (at, breaker) in self.breakers.iter().enumerate().filter(|(_, breaker)| !breaker.is_closed()) {
            let seen = breaker.status(now);
            let retry_at = Some(seen.retry_at).filter(|at| *at != Timestamp::MAX);
            tell(Status::Breaker { breaker: BreakerId(at as u16), state: seen.state, retry_at });
        }
        for (at, health) in self.healths.iter().enumerate().filter(|(_, h)| h.state() != State::Healthy) {
            tell(Status::Health {
                health: HealthId(at as u16),
                state: health.state(),
                until: health.until(),
            });
        }
        for (what, until) in self.cooldowns.in_force(now) {
            tell(Status::Bench { what, until });
        }
    }
}

/// Whether a call to the route with this key would draw on one of these quotas.
pub(super) fn is_limited(limited: &[Bench], registry: &Registry, id: RouteId, key: CredentialId) -> bool {
    let (route, project) = (&registry.routes[id.index()], registry.credentials[key.index()]);
    limited.iter().any(|quota| match *quota {
        Bench::Credential(limited) => limited == key,
        Bench::Project(limited) => limited == project,
        Bench::Model(limited, model) => limited == project && model == route.model,
        Bench::Provider(limited) => limited == route.provider,
        Bench::Route(limited) => limited == id,
    })
}

/// What a failure of this scope benches; `None` if it concerns the request alone.
pub(super) fn concerned(
    scope: Scope,
    registry: &Registry,
    route: &Route,
    key: CredentialId,
) -> Option<Bench> {
    let project = registry.credentials[key.index()];
    match scope {
        Scope::Request => None,
        Scope::Credential => Some(Bench::Credential(key)),
        Scope::Project => Some(Bench::Project(project)),
        Scope::Model => Some(Bench::Model(project, route.model)),
        Scope::Provider => Some(Bench::Provider(route.provider)),
    }
}
