//! What must be left alone after a failure, and until when: recomputed from the response and the declared policy.

use super::{Book, CallPage, Moment};
use crate::policy::cooldown::Bench;
use crate::policy::taxonomy::{Class, Diagnosis, Scope};
use crate::sim::RouteFact;
use crate::units::{CallId, ProjectId, Timestamp};

/// A bench that must be told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DueBench {
    /// The entry of the failure.
    pub seq: u64,
    /// What is benched.
    pub what: Bench,
    /// Until when.
    pub until: Timestamp,
}

impl Book<'_> {
    /// Whether the last bench that was due is missing before an entry that `cause` caused.
    #[inline]
    pub fn misses_a_bench(&self, cause: Option<u64>) -> bool {
        self.bench_due.is_some_and(|due| cause != Some(due.seq))
    }

    /// A call that was wanted has failed so: what must be benched, unless it is for longer.
    pub(super) fn expect_bench(&mut self, entry: Moment, call: CallId, told: &Diagnosis) {
        let Some(page) = self.calls.get(call.index()) else { return };
        let (Some(fact), Some(key)) =
            (self.route(page.route), self.facts.credentials.get(page.credential.index()))
        else {
            return;
        };
        let hinted = if told.class == Class::Auth { None } else { told.hint.instant(entry.at) };
        let what = concerned(told.scope, page, fact, key.project);
        let what = what.or(hinted.map(|_| Bench::Route(page.route)));
        let by_class = self.facts.limits.cooldown.of(told.class).map(|length| entry.at.after(length));
        let until = hinted.or(by_class).filter(|until| *until > entry.at);
        let due = what.zip(until).filter(|(what, until)| self.benches.until(*what) < *until);
        self.bench_due = due.map(|(what, until)| DueBench { seq: entry.seq, what, until });
    }
}

/// What a failure of this scope concerns; `None` if it is the request alone.
pub(super) fn concerned(
    scope: Scope,
    page: &CallPage,
    fact: &RouteFact,
    project: ProjectId,
) -> Option<Bench> {
    match scope {
        Scope::Request => None,
        Scope::Credential => Some(Bench::Credential(page.credential)),
        Scope::Project => Some(Bench::Project(project)),
        Scope::Model => Some(Bench::Model(project, fact.model)),
        Scope::Provider => Some(Bench::Provider(fact.provider)),
    }
}
