//! After a failure: stop, or when and where to try again. A wait is planned only if the next call could be
//! made at its end as things stand: a route is open, affordable, and the deadline has not passed.

use super::Gateway;
use super::action::{Call, Effects, Failure, Gate, Limit, Outcome, Role};
use super::approved::Led;
use super::decision::{Decision, WaitRefusal};
use super::live::Phase;
use super::policy::{MidStream, WhenOpen};
use super::seek::{Field, Pick, Record, Refusal};
use super::waits::Wait;
use crate::policy::backoff;
use crate::policy::retry_after::{Honoured, honour};
use crate::policy::taxonomy::{Class, Hint, Remedy};
use crate::units::{Duration, Purpose, RequestId, RouteId, Timestamp};

/// A call that failed its request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setback {
    pub(super) call: Call,
    pub(super) failure: Failure,
    pub(super) hint: Hint,
}

/// The next attempt, if there is to be one.
enum Plan {
    /// At this instant; by the look of now on this route. If the wait is for that very route it is preferred.
    Try { at: Timestamp, pick: Pick, awaited: Option<RouteId> },
    /// Not: no route can be called.
    Stop(Refusal),
    /// Not: the wait does not fit.
    Late,
}

/// A wait that is worth it: until when, what could be called then, and how much of it was asked for.
struct Wake {
    at: Timestamp,
    pick: Pick,
    awaited: Option<RouteId>,
    hint: Duration,
}

/// Whether a request waits on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Held {
    Waits,
    Not,
}

impl Gateway {
    /// A call failed. Does nothing if the caller has its answer already.
    pub(super) fn set_back(&mut self, now: Timestamp, setback: &Setback, out: &mut Effects) {
        let (id, last) = (setback.call.request, setback.failure);
        if !self.is_unanswered(id) {
            return;
        }
        let live = self.requests.get_mut(id);
        live.last = Some(last);
        if let Phase::Committed(_) = live.phase {
            match self.policy.retry.mid_stream {
                MidStream::Truncate => {
                    let outcome = Outcome::Truncated { route: setback.call.route, last };
                    return self.reply(now, id, outcome, Class::Cancelled, out);
                }
                MidStream::Splice => live.phase = Phase::Open,
            }
        }
        if let Some(led) = live.led {
            return self.end_approved(now, id, led, last, out);
        }
        let remedy = self.policy.taxonomy.remedy(last.class);
        let is_optional = setback.call.role == Role::Hedge && last.class != Class::PolicyRefusal;
        if self.flying(id) > 0 && (is_optional || remedy != Remedy::Stop) {
            if remedy == Remedy::Stop {
                self.requests.get_mut(id).bar(last);
                self.waits.clear(Wait::Hedge(id));
            }
            return;
        }
        let live = self.requests.get(id);
        let own = Some(last).filter(|_| remedy == Remedy::Stop);
        let is_alone = live.barred.is_none() && self.flying(id) == 0;
        if let Some(fault) = own.filter(|_| is_alone)
            && self.fails_over(now, id, Led::Itself(fault), out)
        {
            return;
        }
        let live = self.requests.get(id);
        let barred_by_name = live.barred.filter(|barred| barred.class.is_terminal());
        let outcome = if let Some(last) = barred_by_name.or(own).or(live.barred) {
            Outcome::Terminal { last }
        } else if live.attempts >= self.policy.retry.attempts_max {
            Outcome::Exhausted { limit: Limit::Attempts, last }
        } else if let Some(reason) = self.stops.reason(&live.request.payer) {
            return self.stop_or_go_on(now, id, reason, out); // nothing is waited for that a fuse stops
        } else {
            return self.plan(now, remedy, setback, out);
        };
        self.reply(now, id, outcome, Class::Cancelled, out);
    }

    fn plan(&mut self, now: Timestamp, remedy: Remedy, setback: &Setback, out: &mut Effects) {
        let id = setback.call.request;
        self.waits.clear(Wait::Hedge(id));
        let plan = match remedy {
            Remedy::WaitSameThenFallback => self.plan_same(now, setback, out),
            Remedy::Fallback => {
                let at = now.after(self.backoff(id, setback.call.route));
                self.plan_any(now, at, id, out)
            }
            Remedy::FallbackNow | Remedy::Stop => self.plan_any(now, now, id, out),
        };
        let hint = setback.hint.instant(now).map_or(Duration::ZERO, |hinted| hinted.since(now));
        match plan {
            Plan::Try { at, awaited, .. } if at == now => {
                self.requests.get_mut(id).awaited = awaited;
                self.seek(now, id, out);
            }
            Plan::Try { at, pick, awaited } => self.wait(now, id, Wake { at, pick, awaited, hint }, out),
            Plan::Stop(refusal) => self.refuse(now, id, refusal, out),
            Plan::Late => {
                let outcome = Outcome::Exhausted { limit: Limit::Time, last: setback.failure };
                self.reply(now, id, outcome, Class::Cancelled, out);
            }
        }
    }

    /// Whether a request waits until this gate opens. Its first look fails fast at a bench; one that has begun may wait.
    pub(super) fn outwaits(&self, gate: Gate, id: RequestId) -> bool {
        match gate {
            Gate::Cooldown => self.requests.get(id).last.is_some(),
            Gate::Breaker => self.policy.when_open == WhenOpen::Wait,
            Gate::Concurrency | Gate::Health | Gate::Fuse(_) => false,
        }
    }

    /// Every route is closed, and the first opens then: it waits for that, if it fits.
    pub(super) fn wait_on(
        &mut self,
        now: Timestamp,
        id: RequestId,
        until: Timestamp,
        out: &mut Effects,
    ) -> Held {
        match self.outwait(now, id, until, out) {
            Ok((at, pick)) => {
                let wake = Wake { at, pick, awaited: None, hint: until.since(now) };
                self.wait(now, id, wake, out);
                Held::Waits
            }
            Err(_) => Held::Not,
        }
    }

    /// When a call can be made, and which, if everything is closed until `opens`: one gate after the other is waited
    /// for, as long as that fits. Or what closes everything where it does not.
    fn outwait(
        &mut self,
        now: Timestamp,
        id: RequestId,
        mut opens: Timestamp,
        out: &mut Effects,
    ) -> Result<(Timestamp, Pick), Option<Refusal>> {
        let mut closed = None;
        while self.fits(now, opens, opens, id, out) {
            match self.look(opens, id, Field::Any, Record::Quote) {
                Ok(pick) => return Ok((opens, pick)),
                Err(refusal @ Refusal::Gated { gate, retry_at: Some(later) })
                    if later > opens && self.outwaits(gate, id) =>
                {
                    (closed, opens) = (Some(refusal), later);
                }
                Err(refusal) => return Err(Some(refusal)),
            }
        }
        Err(closed)
    }

    fn wait(&mut self, now: Timestamp, id: RequestId, wake: Wake, out: &mut Effects) {
        let Wake { at, pick, awaited, hint } = wake;
        self.requests.get_mut(id).awaited = awaited;
        self.waits.set(Wait::Retry(id), at);
        let (delay, amount) = (at.since(now), pick.worst_case.money);
        out.decide(Decision::RetryScheduled { request: id, at, delay, hint, route: pick.route, amount });
    }

    /// If a quota is used up, at once on another: first with another credential of the same route, which is the same
    /// model. Else on the same route, after the wait that it asks for; if that wait does not fit, at once on another
    /// route; if the route has had its calls, as any fallback.
    fn plan_same(&mut self, now: Timestamp, setback: &Setback, out: &mut Effects) -> Plan {
        let (id, route) = (setback.call.request, setback.call.route);
        if setback.failure.class.is_of_a_quota() {
            for field in [Field::OtherKey(route), Field::OtherQuota] {
                if let Ok(pick) = self.look(now, id, field, Record::Quote) {
                    return Plan::Try { at: now, pick, awaited: Some(pick.route) };
                }
            }
        }
        let backed_off = now.after(self.backoff(id, route));
        let asked = setback.hint.instant(now).unwrap_or(now);
        let at = backed_off.max(asked);
        match self.look(at, id, Field::Only(route), Record::Quote) {
            Ok(pick) if self.fits(now, at, asked, id, out) => Plan::Try { at, pick, awaited: Some(route) },
            Ok(_) => match self.look(now, id, Field::Except(route), Record::Quote) {
                Ok(pick) => Plan::Try { at: now, pick, awaited: Some(pick.route) },
                Err(_) => match self.look(now, id, Field::Any, Record::Quote) {
                    Ok(_) => Plan::Late,
                    Err(refusal) => Plan::Stop(refusal),
                },
            },
            Err(_) => self.plan_any(now, backed_off, id, out),
        }
    }

    /// On whatever is best at `at`; if everything is closed until later, and that is waited for, then.
    fn plan_any(&mut self, now: Timestamp, at: Timestamp, id: RequestId, out: &mut Effects) -> Plan {
        match self.look(at, id, Field::Any, Record::Quote) {
            Ok(_) if at > now && !self.fits(now, at, now, id, out) => Plan::Late,
            Ok(pick) => Plan::Try { at, pick, awaited: None },
            Err(closed @ Refusal::Gated { gate, retry_at: Some(opens) }) if self.outwaits(gate, id) => {
                match self.outwait(now, id, opens, out) {
                    Ok((at, pick)) => Plan::Try { at, pick, awaited: None },
                    Err(later) => Plan::Stop(later.unwrap_or(closed)),
                }
            }
            Err(refusal) => Plan::Stop(refusal),
        }
    }

    /// Whether a wait until `at`, of which a response asked for the part until `asked`, fits the deadline and
    /// the longest wait that we honour. A wait is never shortened to make it fit.
    fn fits(
        &self,
        now: Timestamp,
        at: Timestamp,
        asked: Timestamp,
        id: RequestId,
        out: &mut Effects,
    ) -> bool {
        let deadline = self.requests.get(id).request.deadline;
        let (wait, left) = (at.since(now), deadline.since(now));
        // What we wait of our own accord is no longer left for what was asked. An instant that is over asks for nothing.
        let asked = asked.max(now);
        let left_for_it = deadline.since(now.after(at.since(asked)));
        let why = match honour(asked.since(now), left_for_it, self.policy.retry.hint_max) {
            Honoured::Wait(_) => return true,
            Honoured::GiveUpDeadline => WaitRefusal::Deadline,
            Honoured::GiveUpTooLong => WaitRefusal::TooLong,
        };
        out.decide(Decision::WaitRefused { request: id, wait, left, why });
        false
    }

    /// The wait before the next attempt, as its profile has it for the route that failed; drawn by the request and its
    /// number of attempts.
    fn backoff(&self, id: RequestId, failed: RouteId) -> Duration {
        let live = self.requests.get(id);
        let draw = self.draws.of(Purpose::Backoff).and(live.request.draw).and(u64::from(live.attempts));
        let profile = &self.registry.routes[failed.index()].profile;
        backoff::delay(profile.backoff(&self.policy), live.attempts, draw.bits())
    }
}
