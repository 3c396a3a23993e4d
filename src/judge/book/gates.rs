//! What closes a route, and when it opens: recomputed from the machines and the benches.

use super::{Book, CallPage};
use crate::gateway::{Gate, WhenOpen};
use crate::policy::breaker;
use crate::policy::health::State;
use crate::units::{BreakerId, CredentialId, Duration, RequestId, RouteId, Timestamp};

/// A gate that is closed, and when it opens; [`Timestamp::MAX`] is never by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shut {
    /// What closes it.
    pub gate: Gate,
    /// Until when.
    pub until: Timestamp,
}

/// Between which instants the first of several routes opens.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// The first instant at which any gate in front of a route opens.
    pub earliest: Timestamp,
    /// The first instant at which nothing closes some route any more.
    pub latest: Timestamp,
}

/// Whether a route can be called, as far as its gates go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Nothing closes it.
    Free,
    /// Its breaker is at the very end of its cooldown: it is a knob whether a probe may pass then.
    Doubtful,
    /// Its breaker lets nothing through.
    Broken,
    /// It is benched, or all its credentials are; or terminal faults closed their accounts.
    Benched,
}

/// Whether a breaker lets a call through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passage {
    /// It does.
    Open,
    /// It is OPEN until this very instant: only its knob knows.
    Boundary,
    /// It is OPEN, or half-open with as many probes out as it allows.
    Shut,
}

impl Book<'_> {
    /// Whether a route can be called at `at`, as far as its breaker and the benches go.
    pub fn access(&self, route: RouteId, at: Timestamp) -> Access {
        let Some(fact) = self.facts.routes.get(route.index()) else { return Access::Free };
        match self.passage(fact.breaker, at) {
            Passage::Shut => Access::Broken,
            Passage::Open | Passage::Boundary if self.is_benched(route, at) => Access::Benched,
            Passage::Open => Access::Free,
            Passage::Boundary => Access::Doubtful,
        }
    }

    /// Whether a breaker lets a call through at `at`, whatever else there is. Where no breaker is declared the word of
    /// the gateway is all there is.
    pub fn passage(&self, id: BreakerId, at: Timestamp) -> Passage {
        if let Some(breaker) = self.machines.breaker(id) {
            return if breaker.is_closed() || breaker.permits(at) { Passage::Open } else { Passage::Shut };
        }
        let breaker = self.breakers.get(id.index()).copied().unwrap_or_default();
        match breaker.state {
            breaker::State::Closed | breaker::State::Disabled | breaker::State::MetricsOnly => Passage::Open,
            breaker::State::Open | breaker::State::ForcedOpen if breaker.is_open_at(at) => Passage::Shut,
            breaker::State::Open | breaker::State::ForcedOpen if breaker.until == Some(at) => {
                Passage::Boundary
            }
            breaker::State::Open | breaker::State::ForcedOpen => Passage::Open,
            breaker::State::HalfOpen if self.probes(id, at) >= self.facts.limits.probes_max => Passage::Shut,
            breaker::State::HalfOpen => Passage::Open,
        }
    }

    /// Probes of a half-open breaker that may still report in time at `at`; one that was silent for too long has
    /// lost its slot.
    pub fn probes(&self, id: BreakerId, at: Timestamp) -> u32 {
        let Some(page) = self.breakers.get(id.index()) else { return 0 };
        if page.probes < self.facts.limits.probes_max {
            return page.probes;
        }
        let (own, patience) =
            (Some((id, page.moves)), self.facts.limits.probe_timeout.unwrap_or(Duration::MAX));
        let is_awaited = |call: &&CallPage| call.probe == own && at.since(call.begun) < patience;
        self.calls.iter().filter(is_awaited).count() as u32
    }

    /// Whether a route has no credential that is open.
    pub fn is_benched(&self, route: RouteId, at: Timestamp) -> bool {
        self.route(route).is_some_and(|fact| !fact.pool.iter().any(|key| self.is_open(route, *key, at)))
    }

    /// Whether a credential is neither benched for a route nor closed by a terminal fault.
    fn is_open(&self, route: RouteId, key: CredentialId, at: Timestamp) -> bool {
        (!self.benches.is_any(at) || self.benches.call_until(self.facts, route, key) <= at)
            && self.closed(key).is_none()
    }

    /// The first gate that is closed in front of a route at `at`, slots and health apart: its breaker, or else what
    /// became of its credentials.
    pub fn shut(&self, route: RouteId, at: Timestamp) -> Option<Shut> {
        let fact = self.route(route)?;
        if let Some(until) = self.breaker_until(fact.breaker, at) {
            return Some(Shut { gate: Gate::Breaker, until });
        }
        if let Some(fault) = self.all_closed(route) {
            return Some(Shut { gate: Gate::Fuse(fault.failure()), until: Timestamp::MAX });
        }
        let until = self.benched_until(route);
        (until > at).then_some(Shut { gate: Gate::Cooldown, until })
    }

    /// Until when a breaker lets nothing through; `None` if it lets a call through at `at`. Where no breaker is
    /// declared the word of the gateway is all there is.
    pub fn breaker_until(&self, id: BreakerId, at: Timestamp) -> Option<Timestamp> {
        match self.machines.breaker(id) {
            Some(breaker) if breaker.is_closed() || breaker.permits(at) => None,
            Some(breaker) => Some(breaker.status(at).retry_at),
            None => {
                let page = self.breaker(id).filter(|page| page.is_open_at(at))?;
                Some(page.until.unwrap_or(Timestamp::MAX))
            }
        }
    }

    /// Until when each credential of a route is benched, as far as its account is not closed for good.
    pub fn benched_until(&self, route: RouteId) -> Timestamp {
        let pool = self.route(route).map_or(&[][..], |fact| &fact.pool);
        let open = pool.iter().filter(|key| self.closed(**key).is_none());
        open.map(|key| self.benches.call_until(self.facts, route, *key)).min().unwrap_or_default()
    }

    /// The health of a route.
    pub fn health_of(&self, route: RouteId) -> State {
        let health = self.route(route).and_then(|fact| self.machines.health(fact.health));
        health.map_or(State::Healthy, |health| health.state())
    }

    /// Until when a route is unhealthy by itself; `None` if it is not at `at`.
    pub fn unhealthy_until(&self, route: RouteId, at: Timestamp) -> Option<Timestamp> {
        let health = self.route(route).and_then(|fact| self.machines.health(fact.health))?;
        health.until().filter(|until| *until > at)
    }

    /// When the first of the routes opens that may be used for a request, whenever it looked since `at`.
    pub fn opening(&self, id: RequestId, at: Timestamp) -> Opening {
        let closed = Opening { earliest: Timestamp::MAX, latest: Timestamp::MAX };
        self.left(id).fold(closed, |all, route| {
            let Some(ends) = self.ends(route, at) else { return all };
            let first = ends.into_iter().filter(|end| *end > at).min().unwrap_or(Timestamp::MAX);
            let last = ends.into_iter().max().unwrap_or_default();
            let is_affordable = self.affords(self.request(id), self.worst_case(id, route), at);
            Opening {
                earliest: all.earliest.min(first),
                latest: if is_affordable { all.latest.min(last) } else { all.latest },
            }
        })
    }

    /// Whether a gate in front of a route that may be used opens at exactly `end`, as it stands at `at`.
    pub fn is_end(&self, id: RequestId, end: Timestamp, at: Timestamp) -> bool {
        self.left(id).any(|route| {
            let is_there = self.ends(route, at).is_some_and(|ends| ends.contains(&end));
            is_there || self.shut(route, end).is_some_and(|shut| shut.until == end)
        })
    }

    /// Whether what a request waits for ends at exactly `end`, as it stands at `at`, for a route that may be used: a
    /// bench, or an open breaker if the policy says so.
    pub fn is_awaited_end(&self, id: RequestId, end: Timestamp, at: Timestamp) -> bool {
        self.left(id).any(|route| {
            self.benched_until(route) == end
                || self.facts.limits.when_open == WhenOpen::Wait && self.breaker_end(route, at) == Some(end)
        })
    }

    /// Whether the breaker of a route, closed at `at`, opens at exactly `end`, and a call could then be made as things
    /// stand; and no bench ends then, which is not waited for by everybody.
    pub fn is_worth_a_wait(&self, id: RequestId, end: Timestamp, at: Timestamp) -> bool {
        let is_callable = |route: RouteId| {
            self.breaker_end(route, at) == Some(end)
                && self.access(route, end) == Access::Free
                && self.unhealthy_until(route, end).is_none()
                && self.refusal(id, self.worst_case(id, route), end).is_none()
        };
        self.left(id).any(is_callable) && !self.left(id).any(|route| self.benched_until(route) == end)
    }

    /// Routes that may be used for a request and were not called too often.
    fn left(&self, id: RequestId) -> impl Iterator<Item = RouteId> {
        self.routes()
            .filter(move |route| self.truth(id, *route).reasons.is_empty() && self.is_unspent(id, *route))
    }

    /// Until when the breaker of a route closes it at `at`.
    fn breaker_end(&self, route: RouteId, at: Timestamp) -> Option<Timestamp> {
        self.route(route).and_then(|fact| self.breaker_until(fact.breaker, at))
    }

    /// Until when the breaker, the benches and the health close a route at `at`; the beginning of time where one
    /// does not. `None` if none does.
    fn ends(&self, route: RouteId, at: Timestamp) -> Option<[Timestamp; 3]> {
        let breaker = self.breaker_end(route, at);
        let bench = match self.all_closed(route) {
            Some(_) => Timestamp::MAX,
            None => self.benched_until(route),
        };
        let health = self.unhealthy_until(route, at);
        let ends = [breaker.unwrap_or_default(), bench, health.unwrap_or_default()];
        ends.iter().any(|end| *end > at).then_some(ends)
    }
}
