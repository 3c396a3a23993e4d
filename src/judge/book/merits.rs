//! How routes stand against each other: by what is declared of them, and by what was seen of their calls. The rules of
//! the ranking are said a second time here, and not asked of the gateway.

use super::{Book, RequestPage};
use crate::policy::health::State;
use crate::policy::hedge::After;
use crate::policy::latency::Latencies;
use crate::policy::ranking::{Key, Order, Races};
use crate::sim::{Catalog, RouteFact};
use crate::units::{Draws, Duration, Purpose, RequestId, RouteId, Timestamp};

/// What routes are compared by that no fact says alone.
#[derive(Clone, Debug)]
pub(super) struct Merit {
    /// One a route; none if the policy never asks.
    latencies: Vec<Latencies>,
    /// The order of the keys, but for health.
    well: Order,
    races: Races,
    draws: Draws,
}

impl Merit {
    pub(super) fn new(facts: &Catalog, seed: u64) -> Merit {
        let limits = &facts.limits;
        let is_measured =
            limits.ranking.order.compares(Key::LatencyP95) || matches!(limits.hedge, Some(After::P95 { .. }));
        let but_health: Vec<Key> =
            limits.ranking.order.preferences().filter(|key| *key != Key::Health).collect();
        Merit {
            well: Order::new(&but_health),
            latencies: vec![Latencies::default(); if is_measured { facts.routes.len() } else { 0 }],
            races: Races::new(facts.routes.iter().map(|route| route.merits.weight)),
            draws: Draws::new(seed),
        }
    }

    /// A call was answered after this time.
    pub(super) fn measure(&mut self, route: RouteId, length: Duration) {
        if let Some(latencies) = self.latencies.get_mut(route.index()) {
            latencies.record(length);
        }
    }
}

impl Book<'_> {
    /// The keys by which a request's routes can differ while all are well, most important first.
    pub(in crate::judge) fn keys_in_calm(&self, page: &RequestPage) -> &[Key] {
        self.merit.well.keys_unplanned(page.attempts > 0)
    }

    /// How two routes stand by a key for a request.
    #[cold]
    #[inline(never)]
    pub(in crate::judge) fn merits(
        &self,
        key: Key,
        page: &RequestPage,
        id: RequestId,
        (a, b): (usize, usize),
    ) -> (u64, u64) {
        let of = |route: usize| self.merit(key, page, id, RouteId(route as u16));
        (of(a), of(b))
    }

    /// How a route stands by a key for a request; smaller is better.
    pub fn merit(&self, key: Key, page: &RequestPage, id: RequestId, route: RouteId) -> u64 {
        let Some(fact) = self.route(route) else { return u64::MAX };
        match key {
            Key::Plan => 0,
            Key::Tries => u64::from(self.tried(id, route).begun),
            Key::Health => self.sickness(fact),
            Key::LatencyP95 => {
                let step = self.facts.limits.ranking.latency_step.nanos().max(1);
                self.p95(fact, route).nanos() / step
            }
            Key::QueueDepth => u64::from(self.legs_on(route)),
            Key::Price => self.truth(id, route).worst_case.picos(),
            Key::Quality => u64::from(u32::MAX - fact.merits.quality),
            Key::Weight => self.race(page, fact),
            Key::Order => u64::from(route.0),
        }
    }

    /// How long a leg on a route is waited for before another begins beside it, from `at`.
    pub(super) fn patience(&self, at: Timestamp, route: RouteId) -> Option<Timestamp> {
        let length = match (self.facts.limits.hedge?, self.route(route)) {
            (After::Fixed(length), _) => length,
            (After::P95 { least }, None) => least,
            (After::P95 { least }, Some(fact)) => self.p95(fact, route).max(least),
        };
        Some(at.after(length))
    }

    /// Measured, or declared before enough is.
    fn p95(&self, fact: &RouteFact, route: RouteId) -> Duration {
        let least = self.facts.limits.ranking.latency_samples_min;
        let measured = self.merit.latencies.get(route.index()).and_then(|latencies| latencies.p95(least));
        measured.unwrap_or(fact.merits.latency_p95)
    }

    /// The state first; among unhealthy ones bad results in a row, then who was heard of last, in milliseconds.
    fn sickness(&self, fact: &RouteFact) -> u64 {
        let Some(health) = self.machines.health(fact.health) else { return 0 };
        match health.state() {
            State::Healthy => 0,
            State::Degraded => 1 << 60,
            State::Unhealthy => {
                let (failures, heard) = (health.failures(), health.last().nanos() / 1_000_000);
                2 << 60 | u64::from(failures.min(0xffff)) << 44 | heard.min((1 << 44) - 1)
            }
        }
    }

    fn race(&self, page: &RequestPage, fact: &RouteFact) -> u64 {
        let Merit { races, draws, .. } = &self.merit;
        races.time(fact.merits.weight, || {
            let own = draws.of(Purpose::Weight).and(page.draw).and(u64::from(page.attempts));
            own.and(self.facts.names.hash(fact.name))
        })
    }
}
