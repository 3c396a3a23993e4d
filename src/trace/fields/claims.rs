//! How claims read.

use super::{Sink, Teller};
use crate::gateway::{Action, Call, Candidate, Decision, Gate, Outcome, StopReason, Verdict};
use crate::policy::health::State;
use crate::policy::ledger::{Denied, Settlement, Unit};
use crate::policy::taxonomy::{Diagnosis, Hint};
use crate::trace::field::Field;
use crate::trace::text::Text;
use crate::units::{Duration, Money, Name, RequestId};

impl<S: Sink> Teller<'_, S> {
    pub(super) fn considered(&mut self, request: RequestId, candidates: &[Candidate]) {
        self.request(request);
        let is_chosen = |candidate: &&Candidate| matches!(candidate.verdict, Verdict::Chosen { .. });
        if let Some(chosen) = candidates.iter().find(is_chosen) {
            self.name(Field::Chosen, self.catalog.routes[chosen.route.index()].name);
        }
        self.sink.list(Field::Candidates);
        for candidate in candidates {
            self.sink.open();
            self.route(candidate.route);
            self.verdict(candidate.verdict);
            match candidate.health {
                State::Healthy => {}
                State::Degraded | State::Unhealthy => {
                    self.word(Field::HealthState, candidate.health.label());
                }
            }
            self.money(Field::WorstCase, candidate.worst_case);
            self.sink.close();
        }
        self.sink.end();
    }

    fn verdict(&mut self, verdict: Verdict) {
        let catalog = self.catalog;
        match verdict {
            Verdict::Chosen { by } => {
                self.word(Field::Verdict, "chosen");
                if let Some(by) = by {
                    self.word(Field::By, by.label());
                }
            }
            Verdict::Outranked { by } => {
                self.word(Field::Verdict, "outranked");
                self.word(Field::By, by.label());
            }
            Verdict::Excluded { reasons, missing } => {
                self.word(Field::Verdict, "excluded");
                let missing = missing.map(|at| (&catalog.names, catalog.capabilities[usize::from(at)]));
                self.sink.text(Field::Reasons, Text::Reasons(reasons, missing));
            }
            Verdict::Gated { gate, retry_at } => {
                self.word(Field::Verdict, "gated");
                self.word(Field::Gate, gate.label());
                match gate {
                    Gate::Fuse(failure) => self.failure(failure),
                    Gate::Breaker | Gate::Cooldown | Gate::Concurrency | Gate::Health => {}
                }
                self.time_if(Field::RetryAt, retry_at);
            }
            Verdict::Spent => self.word(Field::Verdict, "spent"),
            Verdict::Taken => self.word(Field::Verdict, "taken"),
            Verdict::Unapproved => self.word(Field::Verdict, "unapproved"),
            Verdict::Unaffordable { level } => {
                self.word(Field::Verdict, "unaffordable");
                self.word(Field::Level, level.label());
            }
        }
    }

    pub(super) fn acted(&mut self, action: &Action) {
        match action {
            Action::Call(call) => self.called(call),
            Action::Commit { call, .. } => self.call(*call),
            Action::Cancel { call, why } => {
                self.call(*call);
                self.word(Field::Class, why.label());
            }
            Action::Reply { request, outcome, attempts, left } => {
                self.request(*request);
                self.outcome(outcome);
                self.count(Field::Attempts, u64::from(*attempts));
                self.span(Field::Elapsed, self.at.since(self.roll.request(*request).arrived));
                self.span(Field::Left, *left);
            }
            Action::Close { request, spent } => {
                self.request(*request);
                self.money(Field::Spent, *spent);
            }
        }
    }

    fn called(&mut self, call: &Call) {
        self.call(call.call);
        self.credential(call.credential);
        self.count(Field::Attempt, u64::from(call.nth));
        self.word(Field::Role, call.role.label());
        if call.generation > 0 {
            self.name(Field::Breaker, self.catalog.breakers[call.breaker.index()]);
            self.count(Field::Generation, u64::from(call.generation));
        }
    }

    fn outcome(&mut self, outcome: &Outcome) {
        self.word(Field::Outcome, outcome.label());
        match outcome {
            Outcome::Answered { route } => self.route(*route),
            Outcome::Truncated { route, last } => {
                self.route(*route);
                self.last(Some(*last));
            }
            Outcome::Terminal { last } => self.failure(*last),
            Outcome::Exhausted { limit, last } => {
                self.word(Field::Limit, limit.label());
                self.last(Some(*last));
            }
            Outcome::BudgetExceeded { level, last } => {
                self.word(Field::Level, level.label());
                self.last(*last);
            }
            Outcome::AllGated { retry_at, last } | Outcome::NoCandidate { retry_at, last } => {
                self.last(*last);
                self.time_if(Field::RetryAt, *retry_at);
            }
            Outcome::DeadlineExceeded { last } => self.last(*last),
            Outcome::Stopped { reason, last } => {
                self.word(Field::Fuse, reason.fuse().label());
                if let StopReason::Terminal(failure) = reason {
                    self.failure(*failure);
                }
                self.last(*last);
            }
            Outcome::NoEligibleRoute | Outcome::Abandoned => {}
        }
    }

    pub(super) fn decided(&mut self, decision: &Decision) {
        match decision {
            Decision::Reserved { request, route, amount, window } => {
                self.request(*request);
                self.route(*route);
                self.money(Field::Reserved, amount.money);
                self.count(Field::ReservedTokens, amount.tokens);
                self.window(*window);
            }
            Decision::Denied { request, route, denied } => {
                self.request(*request);
                self.route(*route);
                self.denied(denied);
            }
            Decision::Classified { call, diagnosis } => {
                self.call(*call);
                self.diagnosis(diagnosis);
            }
            Decision::Signalled {
                call,
                breaker,
                health,
                class,
                signal,
                standing,
                breaker_failures,
                health_failures,
            } => {
                self.call(*call);
                self.word(Field::Signal, signal.label());
                if let Some(class) = class {
                    self.word(Field::Class, class.label());
                }
                self.word(Field::Standing, standing.label());
                let (breaker, health) =
                    (self.catalog.breakers.get(breaker.index()), self.catalog.healths.get(health.index()));
                self.counter((Field::Breaker, breaker), (Field::BreakerFailures, *breaker_failures));
                self.counter((Field::Health, health), (Field::HealthFailures, *health_failures));
            }
            Decision::BreakerMoved { breaker, transition } => {
                self.name(Field::Breaker, self.catalog.breakers[breaker.index()]);
                self.word(Field::From, transition.from.label());
                self.word(Field::To, transition.to.label());
                self.count(Field::Generation, u64::from(transition.generation));
                self.time_if(Field::Until, transition.until);
            }
            Decision::HealthMoved { health, moved } => {
                self.name(Field::Health, self.catalog.healths[health.index()]);
                self.word(Field::From, moved.from.label());
                self.word(Field::To, moved.to.label());
                self.time_if(Field::Until, moved.until);
            }
            Decision::Benched { what, until, class } => {
                self.bench(*what);
                self.time_if(Field::Until, *until);
                self.word(Field::Class, class.label());
            }
            Decision::Freed { what } => self.bench(*what),
            Decision::Alerted { credential, failure } => {
                self.credential(*credential);
                self.failure(*failure);
            }
            Decision::Settled { call, basis, settlement } => {
                self.call(*call);
                self.word(Field::Basis, basis.label());
                self.settlement(settlement);
            }
            Decision::RetryScheduled { request, at, delay, hint, route, amount } => {
                self.request(*request);
                self.route(*route);
                self.span(Field::Delay, *delay);
                self.time(Field::At, *at);
                if *hint > Duration::ZERO {
                    self.span(Field::Hint, *hint);
                }
                self.money(Field::Quoted, *amount);
            }
            Decision::WaitRefused { request, wait, left, why } => {
                self.request(*request);
                self.span(Field::WaitLength, *wait);
                self.span(Field::Left, *left);
                self.word(Field::Why, why.label());
            }
            Decision::HedgeSkipped { request, why } => {
                self.request(*request);
                self.word(Field::Why, why.label());
            }
            Decision::Queued { request, waiting } => {
                self.request(*request);
                self.count(Field::Waiting, u64::from(*waiting));
            }
            Decision::Blew { fuse, request, calls } => {
                self.request(*request);
                if let Some(task) = self.roll.request(*request).task {
                    self.task(task);
                }
                self.word(Field::Fuse, fuse.label());
                self.count(Field::Calls, *calls);
            }
            Decision::Shown(status) => self.status(status),
            Decision::TimedOut { call, class } => {
                self.call(*call);
                self.word(Field::Class, class.label());
            }
        }
    }

    fn denied(&mut self, denied: &Denied) {
        self.word(Field::Level, denied.level.label());
        let projected = denied.settled.saturating_add(denied.held).saturating_add(denied.wanted);
        let amounts = [denied.settled, denied.held, denied.wanted, projected, denied.cap];
        match denied.unit {
            Unit::Money => {
                self.word(Field::Counted, "money");
                for (field, amount) in DENIED_MONEY.into_iter().zip(amounts) {
                    self.money(field, Money::from_picos(amount));
                }
            }
            Unit::Tokens => {
                self.word(Field::Counted, "tokens");
                for (field, amount) in DENIED_TOKENS.into_iter().zip(amounts) {
                    self.count(field, amount);
                }
            }
        }
    }

    fn diagnosis(&mut self, diagnosis: &Diagnosis) {
        self.word(Field::Class, diagnosis.class.label());
        self.name(Field::Code, diagnosis.code);
        self.name(Field::Rule, diagnosis.rule);
        self.word(Field::Scope, diagnosis.scope.label());
        self.word(Field::Resend, diagnosis.resend.label());
        match diagnosis.hint {
            Hint::Absent => {}
            Hint::After(wait) => self.span(Field::Hint, wait),
            Hint::At(at) => self.time(Field::HintAt, at),
        }
        if let Some(health) = diagnosis.health {
            self.word(Field::Signal, health.label());
        }
    }

    /// What does not exist (a breaker that is off) has no name and no counter.
    fn counter(&mut self, named: (Field, Option<&Name>), counted: (Field, u32)) {
        if let (field, Some(name)) = named {
            self.name(field, *name);
            self.count(counted.0, u64::from(counted.1));
        }
    }

    fn settlement(&mut self, settlement: &Settlement) {
        let (reserved, actual) = (settlement.reserved, settlement.actual);
        self.money(Field::Reserved, reserved.money);
        self.money(Field::Billed, actual.money);
        self.money(Field::Released, reserved.money.minus(actual.money));
        if settlement.overrun() > Money::ZERO {
            self.money(Field::Overrun, settlement.overrun());
        }
        self.count(Field::ReservedTokens, reserved.tokens);
        self.count(Field::BilledTokens, actual.tokens);
        self.window(settlement.window);
    }
}

const DENIED_MONEY: [Field; 5] = [Field::Settled, Field::Held, Field::Wanted, Field::Projected, Field::Cap];

const DENIED_TOKENS: [Field; 5] =
    [Field::SettledTokens, Field::HeldTokens, Field::WantedTokens, Field::ProjectedTokens, Field::CapTokens];
