//! The end of a call: what it meant, what it cost, what it says about health, what follows.

use super::Gateway;
use super::action::{Call, Effects, Failure, Outcome};
use super::decision::{Basis, Decision};
use super::fleet::{Heard, concerned};
use super::input::{Answer, Bill, Receipt};
use super::live::{Flight, Phase};
use super::policy::StoppedCalls;
use super::retry::Setback;
use crate::policy::breaker::Permit;
use crate::policy::cooldown::Bench;
use crate::policy::ledger::{Amount, Assumed, Settlement};
use crate::policy::signal::Signal;
use crate::policy::taxonomy::{Class, Diagnosis, Hint};
use crate::units::{CallId, RequestId, Timestamp};

impl Gateway {
    /// The receipt of a call is in.
    pub(super) fn ended(&mut self, now: Timestamp, call: CallId, receipt: &Receipt, out: &mut Effects) {
        let Some((info, begun, flight)) = self.calls.end(call) else { return };
        self.waits.forget_call(call);
        if let Answer::Failed(diagnosis) = receipt.result {
            out.decide(Decision::Classified { call, diagnosis });
        }
        let (hold, permit) = match flight {
            Flight::Flying(hold, permit) => (hold, Some(permit)),
            Flight::Stopped(hold) => (hold, None),
            Flight::GivenUp(assumed) => return self.correct(&info, receipt, assumed, out),
            Flight::Over => unreachable!("a call that is over does not end again"),
        };
        let actual = match permit {
            Some(_) => cost(receipt, hold.reserved()),
            None => self.cost_of_stopped(receipt, hold.reserved()),
        };
        let settlement = self.ledger.settle(hold, actual);
        self.charge(&info, Basis::Receipt, settlement, out);
        match permit {
            Some(permit) => self.conclude(now, info, receipt, permit, begun, out),
            None => self.close_if_done(info.request, out),
        }
    }

    /// What a call that we stopped is counted at.
    fn cost_of_stopped(&self, receipt: &Receipt, worst_case: Amount) -> Amount {
        match self.policy.budget.stopped_calls {
            StoppedCalls::Ignored => Amount::ZERO,
            StoppedCalls::Billed => cost(receipt, worst_case),
        }
    }

    /// A receipt that was given up came after all.
    fn correct(&mut self, info: &Call, receipt: &Receipt, assumed: Assumed, out: &mut Effects) {
        let actual = self.cost_of_stopped(receipt, assumed.reserved());
        let scopes = assumed.scopes();
        let settlement = self.ledger.correct(assumed, actual);
        let live = self.requests.find_mut(info.request);
        if let Some(live) = live.filter(|live| live.scopes.request == scopes.request) {
            live.spent = live.spent.minus(settlement.reserved.money).plus(settlement.actual.money);
        }
        out.decide(Decision::Settled { call: info.call, basis: Basis::Corrected, settlement });
    }

    /// A call that was still wanted is over: what it says about health, and what follows.
    fn conclude(
        &mut self,
        now: Timestamp,
        info: Call,
        receipt: &Receipt,
        permit: Option<Permit>,
        begun: Timestamp,
        out: &mut Effects,
    ) {
        let (class, signal) = match receipt.result {
            Answer::Answered => (None, Signal::Good),
            Answer::Failed(diagnosis) => (Some(diagnosis.class), self.policy.taxonomy.heard(&diagnosis)),
            Answer::Cancelled => (Some(Class::Cancelled), Signal::Neutral),
        };
        let elapsed = now.since(begun);
        let heard = Heard { call: info.call, begun, route: info.route, class, signal, elapsed };
        let route = &self.registry.routes[info.route.index()];
        self.fleet.record(now, route, permit, &heard, &mut self.waits, out);
        let (failure, hint) = match receipt.result {
            Answer::Answered => {
                self.stops.ended(&self.requests.get(info.request).request.payer, None);
                let outcome = Outcome::Answered { route: info.route };
                return self.reply(now, info.request, outcome, Class::Cancelled, out);
            }
            Answer::Failed(diagnosis) => {
                self.bench(now, &info, &diagnosis, out);
                let failure = Failure { class: diagnosis.class, code: Some(diagnosis.code) };
                self.stops.ended(&self.requests.get(info.request).request.payer, Some(failure));
                self.blow(now, info.request, info.credential, failure, out);
                (failure, diagnosis.hint)
            }
            Answer::Cancelled => (Failure { class: Class::Cancelled, code: None }, Hint::Absent),
        };
        self.set_back(now, &Setback { call: info, failure, hint }, out);
    }

    /// A timeout of ours: stop the call and go on without it.
    pub(super) fn timed_out(&mut self, now: Timestamp, call: CallId, class: Class, out: &mut Effects) {
        let info = self.calls.get_mut(call).call;
        out.decide(Decision::TimedOut { call, class });
        self.stop(now, call, class, out);
        let failure = Failure { class, code: None };
        self.stops.ended(&self.requests.get(info.request).request.payer, Some(failure));
        self.set_back(now, &Setback { call: info, failure, hint: Hint::Absent }, out);
    }

    /// No receipt came in time: the worst case is charged, the slot is free, and the request does not stay
    /// open for it. A late receipt corrects the books.
    pub(super) fn assume(&mut self, call: CallId, out: &mut Effects) {
        let leg = self.calls.get_mut(call);
        let info = leg.call;
        let Flight::Stopped(hold) = std::mem::replace(&mut leg.flight, Flight::Over) else {
            unreachable!("only the receipt of a stopped call is waited for, and given up once");
        };
        let (settlement, assumed) = self.ledger.assume(hold);
        leg.flight = Flight::GivenUp(assumed);
        self.charge(&info, Basis::Assumed, settlement, out);
        self.close_if_done(info.request, out);
    }

    /// The cost of a call is known or given up: it is a leg of its request no longer, and its slot is free.
    #[inline(always)]
    fn charge(&mut self, info: &Call, basis: Basis, settlement: Settlement, out: &mut Effects) {
        self.fleet.leave(info.route);
        let live = self.requests.get_mut(info.request);
        self.queue.give(&live.request.payer);
        live.legs.retain(|leg| *leg != info.call);
        live.spent = live.spent.plus(settlement.actual.money);
        out.decide(Decision::Settled { call: info.call, basis, settlement });
    }

    /// Benches what a failure concerns: as long as it said, or as the policy says for its class. If it concerns
    /// the request alone and still says when to come back, the route is left alone until then.
    fn bench(&mut self, now: Timestamp, info: &Call, diagnosis: &Diagnosis, out: &mut Effects) {
        let by_class = self.policy.cooldown.of(diagnosis.class).map(|length| now.after(length));
        let hinted = if diagnosis.class == Class::Auth { None } else { diagnosis.hint.instant(now) };
        let route = &self.registry.routes[info.route.index()];
        let hinted_route = hinted.map(|_| Bench::Route(info.route));
        let concerned = concerned(diagnosis.scope, &self.registry, route, info.credential);
        let what = concerned.or(hinted_route);
        if diagnosis.class.is_of_a_quota() {
            // A response that does not say whose quota it is speaks of the model's, for the project that called.
            let project = self.registry.credentials[info.credential.index()];
            let quota = concerned.unwrap_or(Bench::Model(project, route.model));
            self.requests.get_mut(info.request).limited.push(quota);
        }
        let until = hinted.or(by_class).filter(|until| *until > now);
        let Some((what, until)) = what.zip(until) else { return };
        let news = self.fleet.bench(now, what, until, diagnosis.class, out);
        if news && diagnosis.class == Class::Auth {
            let failure = Failure { class: diagnosis.class, code: Some(diagnosis.code) };
            out.decide(Decision::Alerted { credential: info.credential, failure });
        }
    }

    /// Closes a request that is answered and fully billed.
    pub(super) fn close_if_done(&mut self, request: RequestId, out: &mut Effects) {
        let done =
            self.requests.find(request).is_some_and(|l| l.phase == Phase::Replied && l.legs.is_empty());
        if done {
            self.close(request, out);
        }
    }
}

/// What a receipt charges; what it does not say is taken at the worst case.
fn cost(receipt: &Receipt, worst_case: Amount) -> Amount {
    match receipt.bill {
        Bill::Exact(money) => Amount { money, tokens: receipt.usage.total() },
        Bill::Unknown => worst_case,
    }
}
