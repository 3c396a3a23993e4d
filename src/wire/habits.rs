//! What one dialect file says of its provider besides words: statuses, scopes, clocks, habits.

use super::clock::Clock;
use super::sign::Sign;
use crate::policy::taxonomy::Scope;

/// What one file says of its provider.
#[derive(Clone, Debug, Default)]
pub(super) struct Provider {
    pub(super) names: Vec<String>,
    pub(super) family: Option<String>,
    pub(super) codes: Vec<(String, Sign)>,
    pub(super) statuses: Vec<(u16, Sign)>,
    pub(super) scopes: Vec<(Limit, Scope)>,
    pub(super) clocks: Vec<(Sign, Clock)>,
    pub(super) traits: Vec<Trait>,
}

/// For what a provider's file may name a scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Limit {
    /// A rate limit.
    Rate,
    /// A named window: a day, a week.
    Quota,
    /// The window of a plan.
    Plan,
    /// No capacity, in words.
    Capacity,
    /// A plain server fault.
    Fault,
    /// A status of identity.
    Auth,
    /// A budget.
    Funds,
}

/// A habit of a provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Trait {
    /// A daily bucket refills all the time, so that a short stated wait is true.
    RefillsContinuously,
    /// A short wait stated for a long window is a lie.
    ShortWaitsLie,
    /// A limit that states no wait is the window of a plan.
    SilenceIsAPlan,
    /// Requests in rate-limit headers are counted a day.
    RequestsAreDaily,
    /// It passes on what others answered.
    Aggregator,
    /// Its management layer counts by subscription key.
    KeysAreSubscriptions,
}

impl Provider {
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.names.iter().any(|one| one.eq_ignore_ascii_case(name))
    }

    pub(super) fn scope(&mut self, limit: &str, scope: &str) -> Result<(), &'static str> {
        let limit = match limit {
            "rate" => Limit::Rate,
            "quota" => Limit::Quota,
            "plan" => Limit::Plan,
            "capacity" => Limit::Capacity,
            "fault" => Limit::Fault,
            "auth" => Limit::Auth,
            "funds" => Limit::Funds,
            _ => return Err("a scope is for rate, quota, plan, capacity, fault, auth or funds"),
        };
        const SCOPES: [Scope; 5] =
            [Scope::Request, Scope::Credential, Scope::Project, Scope::Model, Scope::Provider];
        let scope = SCOPES.into_iter().find(|one| one.label() == scope);
        self.scopes.insert(0, (limit, scope.ok_or("a scope is credential, project, model or provider")?));
        Ok(())
    }

    pub(super) fn clock(&mut self, window: &str, clock: &str) -> Result<(), &'static str> {
        let window = sign(window)?;
        self.clocks.insert(0, (window, Clock::named(clock).ok_or("no such clock")?));
        Ok(())
    }

    pub(super) fn status(&mut self, word: &str, status: &str) -> Result<(), &'static str> {
        let status = status.parse().map_err(|_| "a status is a number")?;
        self.statuses.insert(0, (status, sign(word)?));
        Ok(())
    }

    pub(super) fn habit(&mut self, word: &str) -> Result<(), &'static str> {
        self.traits.push(match word {
            "refills-continuously" => Trait::RefillsContinuously,
            "short-waits-lie" => Trait::ShortWaitsLie,
            "silence-is-a-plan" => Trait::SilenceIsAPlan,
            "requests-are-daily" => Trait::RequestsAreDaily,
            "aggregator" => Trait::Aggregator,
            "keys-are-subscriptions" => Trait::KeysAreSubscriptions,
            _ => return Err("no such trait"),
        });
        Ok(())
    }
}

pub(super) fn sign(word: &str) -> Result<Sign, &'static str> {
    Sign::named(word).ok_or("no such sign")
}
