//! Until when things are to be left alone: one number a thing that can be benched.

use crate::policy::cooldown::Bench;
use crate::sim::Catalog;
use crate::units::{CredentialId, RouteId, Timestamp};

/// Until when credentials, projects, models, providers and routes are to be left alone.
#[derive(Clone, Debug)]
pub struct Benches {
    credentials: Vec<Timestamp>,
    projects: Vec<Timestamp>,
    /// A row of models a project.
    models: Vec<Timestamp>,
    models_each: usize,
    providers: Vec<Timestamp>,
    routes: Vec<Timestamp>,
    /// The latest of all: after it nothing is benched.
    latest: Timestamp,
}

impl Benches {
    /// Nothing is benched.
    pub fn new(facts: &Catalog) -> Benches {
        let free = |n: usize| vec![Timestamp::ZERO; n];
        Benches {
            credentials: free(facts.credentials.len()),
            projects: free(facts.projects.len()),
            models: free(facts.projects.len() * facts.models.len()),
            models_each: facts.models.len(),
            providers: free(facts.providers.len()),
            routes: free(facts.routes.len()),
            latest: Timestamp::ZERO,
        }
    }

    /// Until when `what` is benched; the beginning of time if it never was.
    pub fn until(&self, what: Bench) -> Timestamp {
        let (table, at) = match what {
            Bench::Credential(id) => (&self.credentials, id.index()),
            Bench::Project(id) => (&self.projects, id.index()),
            Bench::Model(project, model) => {
                (&self.models, project.index() * self.models_each + model.index())
            }
            Bench::Provider(id) => (&self.providers, id.index()),
            Bench::Route(id) => (&self.routes, id.index()),
        };
        table.get(at).copied().unwrap_or_default()
    }

    /// Benches `what` until `until`, or frees it with the beginning of time.
    pub(super) fn set(&mut self, what: Bench, until: Timestamp) {
        let (table, at) = match what {
            Bench::Credential(id) => (&mut self.credentials, id.index()),
            Bench::Project(id) => (&mut self.projects, id.index()),
            Bench::Model(project, model) => {
                (&mut self.models, project.index() * self.models_each + model.index())
            }
            Bench::Provider(id) => (&mut self.providers, id.index()),
            Bench::Route(id) => (&mut self.routes, id.index()),
        };
        if let Some(entry) = table.get_mut(at) {
            *entry = until;
            self.latest = self.latest.max(until);
        }
    }

    /// Whether anything can be benched at `at`.
    pub fn is_any(&self, at: Timestamp) -> bool {
        self.latest > at
    }

    /// The latest of all that is or was benched.
    pub const fn latest(&self) -> Timestamp {
        self.latest
    }

    /// Until when a call to `route` with `credential` lands inside a bench.
    pub fn call_until(&self, facts: &Catalog, route: RouteId, credential: CredentialId) -> Timestamp {
        let (Some(fact), Some(key)) =
            (facts.routes.get(route.index()), facts.credentials.get(credential.index()))
        else {
            return Timestamp::ZERO;
        };
        [
            Bench::Route(route),
            Bench::Provider(fact.provider),
            Bench::Credential(credential),
            Bench::Project(key.project),
            Bench::Model(key.project, fact.model),
        ]
        .into_iter()
        .map(|what| self.until(what))
        .max()
        .unwrap_or_default()
    }

    /// Until when every credential of `route` is benched.
    pub fn route_until(&self, facts: &Catalog, route: RouteId) -> Timestamp {
        if self.latest == Timestamp::ZERO {
            return Timestamp::ZERO;
        }
        let pool = facts.routes.get(route.index()).map_or(&[][..], |fact| &fact.pool);
        let untils = pool.iter().map(|credential| self.call_until(facts, route, *credential));
        untils.min().unwrap_or_default()
    }
}
