//! How the limits that a policy promises read, and what it makes of results: what every law judges by.

use super::{Sink, Teller};
use crate::gateway::{FuseScope, Profile, Ranking, Timeouts, WhenOpen};
use crate::policy::backoff::{Backoff, Growth, Jitter};
use crate::policy::breaker::{Boundary, Config, Cooldown, Late, Neutral, Slow, Trip, Verdict, WindowModel};
use crate::policy::hedge::After;
use crate::policy::ledger::Reserve;
use crate::policy::signal::Signal;
use crate::policy::taxonomy::{Class, Remedy};
use crate::sim::{Limits, Merits};
use crate::trace::field::Field;
use crate::trace::text::Text;
use crate::units::{BreakerId, Duration, Ratio, Set64};

impl<S: Sink> Teller<'_, S> {
    pub(super) fn limits(&mut self) {
        let catalog = self.catalog;
        let limits = &catalog.limits;
        self.calls(limits);
        self.waits(limits);
        self.scopes(limits);
        self.preferences(&limits.ranking);
        self.classes();
        self.healing();
        if let Some(breaker) = &catalog.machines.breaker {
            self.breaker(breaker);
            match limits.when_open {
                WhenOpen::FailFast => {}
                WhenOpen::Wait => self.word(Field::WhenOpen, "wait"),
            }
        }
        self.name_if(Field::PolicyVersion, catalog.versions.policy);
        self.name_if(Field::PricesVersion, catalog.versions.prices);
        self.name_if(Field::RegistryVersion, catalog.versions.registry);
    }

    fn calls(&mut self, limits: &Limits) {
        self.most(Field::AttemptsMax, limits.attempts_max);
        self.most(Field::CallsPerRouteMax, limits.calls_per_route_max);
        self.most(Field::SeeksMax, limits.seeks_max);
        self.count(Field::LegsMax, u64::from(limits.legs_max));
        self.cap(Field::AttemptCostMax, Field::AttemptTokensMax, limits.attempt_max);
        self.count_above_zero(Field::ReserveRetries, limits.reserve_retries);
        match limits.reserve {
            Reserve::Reserve => {}
            Reserve::CheckOnly => self.word(Field::Reserve, "check_only"),
            Reserve::After => self.word(Field::Reserve, "after"),
        }
    }

    fn waits(&mut self, limits: &Limits) {
        self.length(Field::HintMax, limits.hint_max);
        if let Some(backoff) = &limits.backoff {
            self.backoff(backoff);
        }
        match limits.hedge {
            None => {}
            Some(After::Fixed(length)) => self.length(Field::HedgeAfter, length),
            Some(After::P95 { least }) => self.length(Field::HedgeAfterLeast, least),
        }
        self.timeouts(&limits.timeouts);
        self.length(Field::ReceiptMax, limits.receipt_max);
        self.length(Field::RateLimitCooldown, limits.cooldown.rate_limit);
        self.length(Field::QuotaCooldown, limits.cooldown.quota_exhausted);
    }

    /// What the policy has for one route instead.
    pub(super) fn profile(&mut self, profile: &Profile) {
        if let Some(most) = profile.calls_per_route_max {
            self.count(Field::CallsPerRouteMax, u64::from(most));
        }
        if let Some(backoff) = &profile.backoff {
            self.backoff(backoff);
        }
        if let Some(timeouts) = &profile.timeouts {
            self.timeouts(timeouts);
        }
    }

    /// What the policy has for one fault domain instead.
    pub(super) fn own_breaker(&mut self, id: BreakerId) {
        self.name(Field::Breaker, self.catalog.breakers[id.index()]);
        if let Some(config) = self.catalog.machines.breaker_of(id) {
            self.breaker(config);
        }
    }

    fn timeouts(&mut self, timeouts: &Timeouts) {
        self.length_if(Field::AttemptTimeout, timeouts.attempt);
        self.length_if(Field::FirstByteTimeout, timeouts.first_byte);
        self.length_if(Field::IdleTimeout, timeouts.idle);
    }

    fn backoff(&mut self, backoff: &Backoff) {
        let (word, factor) = match backoff.growth {
            Growth::Fixed => ("fixed", None),
            Growth::Linear => ("linear", None),
            Growth::Exponential(factor) => ("exponential", Some(factor)),
        };
        self.word(Field::Backoff, word);
        self.length(Field::BackoffBase, backoff.base);
        if let Some(factor) = factor {
            self.share(Field::BackoffTimes, Field::BackoffTimesOf, factor);
        }
        self.length(Field::BackoffMax, backoff.cap);
        match backoff.jitter {
            Jitter::None => {}
            Jitter::Full => self.word(Field::Jitter, "full"),
            Jitter::Equal => self.word(Field::Jitter, "equal"),
            Jitter::PlusMinus(share) => {
                self.word(Field::Jitter, "plus_minus");
                self.share(Field::JitterShare, Field::JitterShareOf, share);
            }
        }
    }

    fn preferences(&mut self, ranking: &Ranking) {
        let usual = Ranking::default();
        if ranking.order != usual.order {
            self.sink.text(Field::PreferredBy, Text::Preferences(&ranking.order));
        }
        if ranking.latency_step != usual.latency_step {
            self.span(Field::LatencyStep, ranking.latency_step);
        }
        if ranking.latency_samples_min != usual.latency_samples_min {
            self.count(Field::LatencySamplesMin, ranking.latency_samples_min as u64);
        }
    }

    /// What a route is preferred by.
    pub(super) fn merits(&mut self, merits: &Merits) {
        if merits.latency_p95 != Merits::LATENCY_P95 {
            self.span(Field::LatencyP95, merits.latency_p95);
        }
        for (field, value) in [(Field::Quality, merits.quality), (Field::Weight, merits.weight)] {
            self.count_above_zero(field, value);
        }
    }

    fn scopes(&mut self, limits: &Limits) {
        self.most(Field::RouteLegsMax, limits.route_legs_max);
        self.most(Field::TaskLegsMax, limits.task_legs_max);
        self.most(Field::TenantLegsMax, limits.tenant_legs_max);
        self.most(Field::QueueMax, limits.queue_max);
        for (field, most) in [
            (Field::CallsPerTask, limits.calls_per_task),
            (Field::CallsPerRun, limits.calls_per_run),
            (Field::IdenticalPerTask, limits.repeats.identical),
            (Field::FailingPerTask, limits.repeats.failing),
        ] {
            if let Some(most) = most {
                self.count(field, most);
            }
        }
        match limits.terminal_scope {
            FuseScope::Request => {}
            FuseScope::Account | FuseScope::Run => {
                self.word(Field::TerminalScope, limits.terminal_scope.label());
            }
        }
    }

    /// Classes that end a request, and those that say something about health.
    fn classes(&mut self) {
        let taxonomy = &self.catalog.machines.taxonomy;
        self.listed(Field::StopClasses, |class| taxonomy.remedy(class) == Remedy::Stop);
        self.listed(Field::BadClasses, |class| taxonomy.signal(class) == Signal::Bad);
        self.listed(Field::GoodClasses, |class| taxonomy.signal(class) == Signal::Good);
    }

    fn listed(&mut self, field: Field, is_listed: impl Fn(Class) -> bool) {
        let listed = Class::ALL.into_iter().filter(|class| is_listed(*class));
        let set = listed.fold(Set64::EMPTY, |set, class| set.with(Set64::of(class as u8)));
        if set != Set64::EMPTY {
            self.sink.text(field, Text::Classes(set));
        }
    }

    fn healing(&mut self) {
        let health = &self.catalog.machines.health;
        self.count(Field::DegradedAfter, u64::from(health.degraded_after));
        self.count(Field::UnhealthyAfter, u64::from(health.unhealthy_after));
        self.length(Field::HealthCooldown, health.cooldown);
    }

    fn breaker(&mut self, config: &Config) {
        self.trip(config.trip);
        self.window_of(config.window);
        self.count(Field::BreakerMinimum, u64::from(config.minimum));
        if let Some(Slow { over, share }) = config.slow {
            self.length(Field::SlowAbove, over);
            self.share(Field::SlowCalls, Field::SlowOf, share);
        }
        match &config.cooldown {
            Cooldown::Fixed(length)
            | Cooldown::Geometric { first: length, .. }
            | Cooldown::Linear { step: length, .. } => self.length(Field::OpenFor, *length),
            Cooldown::Listed(lengths) => self.length_if(Field::OpenFor, lengths.first().copied()),
        }
        self.count(Field::ProbesMax, u64::from(config.probes.most()));
        self.length_if(Field::ProbeTimeout, config.probe_timeout);
        match config.verdict {
            Verdict::AnyBadReopens { good } | Verdict::Quorum { good, .. } => {
                self.count(Field::CloseAfter, u64::from(good));
            }
            Verdict::Thresholds { results } => self.count(Field::CloseAfter, u64::from(results)),
        }
        match config.late {
            Late::Stale => {}
            Late::Counts => self.word(Field::LateResults, "mutate"),
        }
        match config.neutral {
            Neutral::Nothing => {}
            Neutral::Success => self.word(Field::NeutralResults, "success"),
        }
        match config.boundary {
            Boundary::Inclusive => {}
            Boundary::Exclusive => self.word(Field::Boundary, "exclusive"),
        }
    }

    fn trip(&mut self, trip: Trip) {
        match trip {
            Trip::Run { bad } => {
                self.word(Field::OpensOn, "failures_in_a_row");
                self.count(Field::OpensAfter, u64::from(bad));
            }
            Trip::Count { bad } => {
                self.word(Field::OpensOn, "failures");
                self.count(Field::OpensAfter, u64::from(bad));
            }
            Trip::Rate { bad, .. } => {
                self.word(Field::OpensOn, "share_of_failures");
                self.share(Field::OpensAfter, Field::OpensOf, bad);
            }
            Trip::Average { good } => {
                self.word(Field::OpensOn, "average");
                self.share(Field::OpensAfter, Field::OpensOf, good);
            }
        }
    }

    fn window_of(&mut self, model: WindowModel) {
        let (word, size, length) = match model {
            WindowModel::Run => ("run", None, None),
            WindowModel::Lifetime => ("lifetime", None, None),
            WindowModel::Count { size } => ("results", Some(size), None),
            WindowModel::Aligned { bucket, buckets, .. } => ("aligned", Some(buckets), Some(bucket)),
            WindowModel::Anchored { bucket, buckets } => ("anchored", Some(buckets), Some(bucket)),
            WindowModel::Rolling { over, parts } => ("rolling", Some(parts), Some(over)),
            WindowModel::Tumbling { every, .. } => ("tumbling", None, Some(every)),
            WindowModel::Decaying(_) => ("decaying", None, None),
        };
        self.word(Field::BreakerWindow, word);
        if let Some(size) = size {
            self.count(Field::BreakerWindowSize, u64::from(size));
        }
        self.length_if(Field::BreakerWindowLength, length);
    }

    fn share(&mut self, part: Field, whole: Field, share: Ratio) {
        self.count(part, share.numerator());
        self.count(whole, share.denominator());
    }

    /// The largest number is no limit.
    fn most(&mut self, field: Field, most: u32) {
        self.count_below_max(field, u64::from(most), u64::from(u32::MAX));
    }

    /// The longest time is no limit.
    fn length(&mut self, field: Field, length: Duration) {
        if length < Duration::MAX {
            self.span(field, length);
        }
    }

    fn length_if(&mut self, field: Field, length: Option<Duration>) {
        if let Some(length) = length {
            self.length(field, length);
        }
    }
}
