//! Benches: until when a credential, a project, a model, a provider or a route is left alone. A deadline only
//! grows; only an operator shortens it.

use crate::units::{CredentialId, ModelId, ProjectId, ProviderId, RouteId, Timestamp};

/// What is benched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Bench {
    /// One credential.
    Credential(CredentialId),
    /// All credentials of a project.
    Project(ProjectId),
    /// One model, for all credentials of a project.
    Model(ProjectId, ModelId),
    /// A whole provider.
    Provider(ProviderId),
    /// One route.
    Route(RouteId),
}

/// What becomes of a bench in force when another one comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Again {
    /// The later end counts.
    #[default]
    Longest,
    /// The first end stands, even if the second is later.
    First,
}

/// Every bench in force.
#[derive(Clone, Debug, Default)]
pub struct Cooldowns {
    again: Again,
    /// Sorted by what is benched; holds as many as there are things to bench, at most.
    until: Vec<(Bench, Timestamp)>,
    /// The latest end of all: from then on nothing is benched.
    latest: Timestamp,
}

impl Cooldowns {
    /// No bench yet.
    pub const fn new(again: Again) -> Cooldowns {
        Cooldowns { again, until: Vec::new(), latest: Timestamp::ZERO }
    }

    /// Benches `what` from `now` until `until`. `None` if it is benched at least that long already.
    pub fn bench(&mut self, now: Timestamp, what: Bench, until: Timestamp) -> Option<Timestamp> {
        match self.until.binary_search_by_key(&what, |entry| entry.0) {
            Ok(at) if self.until[at].1 >= until => return None,
            Ok(at) if self.again == Again::First && self.until[at].1 > now => return None,
            Ok(at) => self.until[at].1 = until,
            Err(at) => self.until.insert(at, (what, until)),
        }
        self.latest = self.latest.max(until);
        Some(until)
    }

    /// Whether anything can be benched at `now`: told at a glance, and rather yes than no.
    pub fn is_any(&self, now: Timestamp) -> bool {
        self.latest > now
    }

    /// Until when `what` is benched; `None` if it is free at `now`. It is free at the very instant.
    pub fn until(&self, now: Timestamp, what: Bench) -> Option<Timestamp> {
        let at = self.until.binary_search_by_key(&what, |entry| entry.0).ok()?;
        Some(self.until[at].1).filter(|until| *until > now)
    }

    /// What is benched at `now`, and until when.
    pub fn in_force(&self, now: Timestamp) -> impl Iterator<Item = (Bench, Timestamp)> {
        self.until.iter().copied().filter(move |(_, until)| *until > now)
    }

    /// An operator frees `what`; whether it was benched.
    pub fn reset(&mut self, now: Timestamp, what: Bench) -> bool {
        let benched = self.until(now, what).is_some();
        if benched {
            self.until.retain(|entry| entry.0 != what);
        }
        benched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Bench = Bench::Credential(CredentialId(0));

    fn at(ns: u64) -> Timestamp {
        Timestamp::from_nanos(ns)
    }

    #[test]
    fn a_shorter_bench_never_replaces_a_longer_one() {
        let mut cooldowns = Cooldowns::default();
        assert_eq!(cooldowns.bench(at(0), KEY, at(60)), Some(at(60)));
        assert_eq!(cooldowns.bench(at(0), KEY, at(1)), None);
        assert_eq!(cooldowns.until(at(1), KEY), Some(at(60)));
    }

    #[test]
    fn a_longer_bench_replaces_a_shorter_one_unless_the_first_stands() {
        for (again, until) in [(Again::Longest, at(60)), (Again::First, at(1))] {
            let mut cooldowns = Cooldowns::new(again);
            cooldowns.bench(at(0), KEY, at(1));
            cooldowns.bench(at(0), KEY, at(60));
            assert_eq!(cooldowns.until(at(0), KEY), Some(until));
            assert_eq!(cooldowns.bench(at(60), KEY, at(61)), Some(at(61)), "what is over is no bench");
        }
    }

    #[test]
    fn it_is_free_at_the_very_instant() {
        let mut cooldowns = Cooldowns::default();
        assert!(!cooldowns.is_any(at(0)));
        cooldowns.bench(at(0), KEY, at(60));
        cooldowns.bench(at(0), Bench::Project(ProjectId(0)), at(40));
        assert!(cooldowns.is_any(at(59)) && !cooldowns.is_any(at(60)));
        assert_eq!(cooldowns.until(at(59), KEY), Some(at(60)));
        assert_eq!(cooldowns.until(at(60), KEY), None);
    }

    #[test]
    fn a_bench_for_one_model_leaves_the_others_alone() {
        let mut cooldowns = Cooldowns::default();
        cooldowns.bench(at(0), Bench::Model(ProjectId(0), ModelId(1)), at(60));
        assert_eq!(cooldowns.until(at(0), Bench::Model(ProjectId(0), ModelId(2))), None);
        assert_eq!(cooldowns.until(at(0), Bench::Project(ProjectId(0))), None);
    }
}
