//! True quotas: what a provider counts, whatever the gateway believes.

use super::upstream::{FailedReply, Reply};
use crate::gateway::Delivery;
use crate::policy::taxonomy::{Diagnosis, Hint};
use crate::units::{Duration, ModelId, ProjectId, Timestamp};

/// So many calls or tokens in a window, for a project and a model.
#[derive(Clone, Debug)]
pub struct Quota {
    /// Whose calls count.
    pub project: ProjectId,
    /// On which model; all of the project's if there is none.
    pub model: Option<ModelId>,
    /// What is counted.
    pub counts: Counted,
    /// How much of it fits a window.
    pub limit: u64,
    /// How much of it was used before the run.
    pub used: u64,
    /// Whether calls that are refused count too.
    pub refused: Refused,
    /// When it begins anew.
    pub window: Window,
    /// What a call above it gets: the time it takes, and what it means.
    pub refusal: Reply,
    /// What it gets instead if its answer is streamed: some are told inside the stream, wrapped.
    pub refusal_streamed: Option<Reply>,
    /// Whether the refusal says when the window ends.
    pub says_when: SaysWhen,
}

/// What is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counted {
    /// Calls.
    Requests,
    /// Tokens, as estimated by the request.
    Tokens,
}

/// Whether refused calls count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// They do.
    Counts,
    /// They do not.
    IsFree,
}

/// Whether a refusal says when to come back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SaysWhen {
    /// It does.
    Yes,
    /// It does not.
    No,
}

/// When a quota begins anew.
#[derive(Clone, Debug)]
pub enum Window {
    /// Each time so much has passed since the beginning.
    Every(Duration),
    /// At these instants, in order: a civil clock, lowered when the scenario was loaded.
    At(Vec<Timestamp>),
    /// Never.
    Never,
}

/// What is used of a quota.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter {
    used: u64,
    /// The window that it was used in.
    window: u64,
}

impl Window {
    /// The number of the window at `now`.
    fn number(&self, now: Timestamp) -> u64 {
        match self {
            Window::Every(length) => now.nanos() / length.nanos().max(1),
            Window::At(instants) => instants.partition_point(|at| *at <= now) as u64,
            Window::Never => 0,
        }
    }

    /// When the window at `now` ends.
    pub fn end(&self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Window::Every(length) => {
                let length = length.nanos().max(1);
                Some(Timestamp::from_nanos((now.nanos() / length + 1).saturating_mul(length)))
            }
            Window::At(instants) => instants.get(self.number(now) as usize).copied(),
            Window::Never => None,
        }
    }
}

impl Meter {
    pub(super) const fn new(quota: &Quota) -> Meter {
        Meter { used: quota.used, window: 0 }
    }

    /// Counts a call at `now`; whether the quota lets it through.
    pub(super) fn count(&mut self, quota: &Quota, now: Timestamp, tokens: u64) -> bool {
        let window = quota.window.number(now);
        if window != self.window {
            (self.window, self.used) = (window, 0);
        }
        let amount = match quota.counts {
            Counted::Requests => 1,
            Counted::Tokens => tokens,
        };
        let fits = self.used.saturating_add(amount) <= quota.limit;
        if fits || quota.refused == Refused::Counts {
            self.used = self.used.saturating_add(amount);
        }
        fits
    }
}

impl Quota {
    /// Whether a call of this project on this model counts.
    pub(super) fn concerns(&self, project: ProjectId, model: ModelId) -> bool {
        self.project == project && self.model.is_none_or(|own| own == model)
    }

    /// What a call above it gets.
    pub(super) fn refusal(&self, delivery: Delivery) -> &Reply {
        match delivery {
            Delivery::Whole => &self.refusal,
            Delivery::Stream => self.refusal_streamed.as_ref().unwrap_or(&self.refusal),
        }
    }

    /// What a refusal at `now` means, and its truth.
    pub(super) fn failure(&self, now: Timestamp, delivery: Delivery) -> Option<FailedReply> {
        let failure = self.refusal(delivery).failure?;
        let end = self.window.end(now).filter(|_| self.says_when == SaysWhen::Yes);
        let told = failure.told.map(|told| Diagnosis { hint: end.map_or(told.hint, Hint::At), ..told });
        Some(FailedReply { told, ..failure })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quota(window: Window, refused: Refused) -> Quota {
        let refusal = Reply::answer(Duration::ZERO);
        Quota {
            project: ProjectId(0),
            model: None,
            counts: Counted::Requests,
            limit: 2,
            used: 1,
            refused,
            window,
            refusal,
            refusal_streamed: None,
            says_when: SaysWhen::No,
        }
    }

    fn at(secs: u64) -> Timestamp {
        Timestamp::ZERO.after(Duration::from_secs(secs))
    }

    #[test]
    fn what_was_used_before_counts_until_the_window_ends() {
        let quota = quota(Window::At(vec![at(10)]), Refused::IsFree);
        let mut meter = Meter::new(&quota);
        let lets = |meter: &mut Meter, secs| meter.count(&quota, at(secs), 0);
        assert!(lets(&mut meter, 0) && !lets(&mut meter, 9));
        assert!(lets(&mut meter, 10) && lets(&mut meter, 10) && !lets(&mut meter, 11));
        assert_eq!((quota.window.end(at(9)), quota.window.end(at(10))), (Some(at(10)), None));
    }

    #[test]
    fn refused_calls_count_where_the_provider_counts_them() {
        let quota =
            Quota { counts: Counted::Tokens, limit: 10, used: 0, ..quota(Window::Never, Refused::Counts) };
        let mut meter = Meter::new(&quota);
        assert!(!meter.count(&quota, at(0), 11), "too large by itself");
        assert!(!meter.count(&quota, at(0), 1), "and it has used up the rest");
    }
}
