//! Who cares about which entry. The laws, the metrics and the findings look at it while the book says how things
//! stood when it came; then the book takes it in.

use super::book::{Age, Ended, Moment, Phase};
use super::chamber::Chamber;
use super::findings::Findings;
use super::laws::{self, Begun, RefusedWait, Reply, Sleep, Told, Usual, Weighed, usual};
use crate::gateway::{
    Action, Basis, Call, Candidate, Command, Decision, Effect, FuseKind, HedgeSkip, Receipt, Request, Status,
    Wait,
};
use crate::policy::cooldown::Bench;
use crate::policy::ledger::{Amount, Denied, Settlement};
use crate::policy::signal::Signal;
use crate::policy::taxonomy::Diagnosis;
use crate::policy::{breaker, health};
use crate::sim::{Claims, Entry, RequestName, Scripted, TaskEnd, TaskName, What};
use crate::units::{BreakerId, CallId, CredentialId, HealthId, Money, RequestId, RouteId, TaskId, Timestamp};

impl Chamber<'_> {
    #[inline(always)]
    pub(super) fn look(&mut self, entry: &Entry<'_>) {
        self.laws.entry(&self.book, entry);
        debug_assert!(self.book.may_be_owed || !self.book.is_owed(), "what may be owed is known");
        if self.book.may_be_owed {
            self.call_in(*entry);
        }
        let (cause, what) = (entry.cause, &entry.what);
        let entry = Moment::of(entry);
        self.book.turn(entry.seq + 1, entry.at);
        match *what {
            What::Declared(_) => {}
            What::TaskBegan { task, name } => self.task_began(task, name),
            What::TaskEnded { task, end } => self.task_ended(task, end),
            What::RunEnded => self.run_ended(entry),
            What::Arrived { request, name, .. } => self.arrived(entry, request, name),
            What::Abandoned { request } => self.book.abandon(entry, request),
            What::Woke { wait } => self.woke(entry, wait),
            What::Operated { command } => self.operated(entry, command),
            What::CallBegun { call, request, route, credential, scripted } => {
                self.begun(entry, (call, request), (route, credential), scripted);
            }
            What::CallVisible { call } => self.visible(entry, call),
            What::CallEnded { call, truth, health, code, status: _, receipt } => {
                self.ended(entry, call, &Ended { truth, health, code }, receipt);
            }
            What::CallLost { call } => self.lost(entry, call),
            What::Considered { request, candidates } => self.considered(entry, request, candidates),
            What::Acted(action) => self.acted(entry, action),
            What::Decided(decision) => self.decided(entry, cause, decision),
        }
    }

    /// As [`Chamber::look`] at each. All are in their places if the first is.
    #[inline(always)]
    pub(super) fn hear(&mut self, claims: &Claims<'_>) {
        if !self.laws.claims(&self.book, claims) {
            return self.look_at_each(*claims);
        }
        let Claims { first, at, cause, effects, candidates: _, layer: _ } = *claims;
        self.book.turn(first + effects.len() as u64, at);
        for (nth, effect) in effects.iter().enumerate() {
            debug_assert!(self.book.may_be_owed || !self.book.is_owed(), "what may be owed is known");
            if self.book.may_be_owed {
                self.call_in(claims.entry(nth));
            }
            let entry = Moment { seq: first + nth as u64, at };
            match effect {
                Effect::Consider { request, first, count } => {
                    self.considered(entry, *request, claims.candidates(*first, *count));
                }
                Effect::Decide(decision) => self.decided(entry, cause, decision),
                Effect::Act(action) => self.acted(entry, action),
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn look_at_each(&mut self, claims: Claims<'_>) {
        claims.entries().for_each(|entry| self.look(&entry));
    }
}

/// One function a kind of entry, never inlined: a short one does not pay for the registers of a long one.
impl Chamber<'_> {
    /// What had to be told before this entry and was not is told as missing.
    #[cold]
    #[inline(never)]
    fn call_in(&mut self, entry: Entry<'_>) {
        let (cause, what) = (entry.cause, &entry.what);
        let entry = Moment::of(&entry);
        if let Some(key) = self.book.alerts.missing(cause) {
            self.laws.misses_an_alert(&self.book, entry, key);
            self.book.alerts.settle();
        }
        if self.book.misses_a_bench(cause) {
            self.laws.overdue(entry, laws::no_bench(&self.book));
            self.book.bench_due = None;
        }
        if !self.book.to_show.is_empty() && !matches!(what, What::Decided(Decision::Shown(_))) {
            self.laws.hides(entry, self.book.to_show.len());
            self.book.to_show.clear();
        }
        if self.book.machines.is_overdue(what) {
            self.laws.overdue(entry, laws::is_not_overdue(&self.book));
            self.book.machines.forgive();
        }
        self.book.may_be_owed = self.book.is_owed();
    }

    #[inline(never)]
    fn arrived(&mut self, entry: Moment, request: &Request, name: RequestName) {
        self.laws.arrived(&self.book, entry, request.id);
        self.metrics.arrived(request.payer.tenant);
        self.book.arrive(entry, request, name);
    }

    #[inline(never)]
    fn task_began(&mut self, task: TaskId, name: TaskName) {
        self.metrics.task_began();
        self.book.begin_task(task, name);
    }

    #[inline(never)]
    fn task_ended(&mut self, task: TaskId, end: TaskEnd) {
        self.metrics.task_ended(end);
        self.book.end_task(task);
    }

    #[inline(never)]
    fn run_ended(&mut self, entry: Moment) {
        self.book.expect_status(entry.at);
        self.book.may_be_owed = true;
    }

    #[inline(never)]
    fn woke(&mut self, entry: Moment, wait: Wait) {
        self.laws.woke(&self.book, entry, wait);
        self.book.wake(entry, wait);
        self.book.may_be_owed = true;
    }

    #[inline(never)]
    fn operated(&mut self, entry: Moment, command: Command) {
        self.book.operate(entry, command);
        self.book.may_be_owed = true;
    }

    #[inline(never)]
    fn begun(
        &mut self,
        entry: Moment,
        (call, request): (CallId, RequestId),
        (route, credential): (RouteId, CredentialId),
        scripted: Scripted,
    ) {
        let (who, way) = ((call, request), (route, credential));
        let (breaker, worst_case) = match usual::begins(&self.book, entry.at, who, way, scripted) {
            Some((breaker, worst_case)) => {
                let begun = || Begun::new(&self.book, entry.at, who, way, scripted);
                self.laws.ask(Usual::Begun, true, |laws| laws.begun(&self.book, entry, &begun()));
                debug_assert!(
                    Findings::is_silent(&self.book, entry, &begun()),
                    "nothing is remarked as usual"
                );
                (Some(breaker), worst_case)
            }
            None => self.judge_begun(entry, who, way, scripted),
        };
        self.metrics.begun(&self.book, request, route);
        let entrance = self.book.begin(entry, who, way, breaker, worst_case);
        self.laws.entered(&self.book, entry, call, entrance);
    }

    /// Looks closely at a call that an upstream took. To which breaker it comes, and what it can cost and use.
    #[cold]
    #[inline(never)]
    fn judge_begun(
        &mut self,
        entry: Moment,
        who: (CallId, RequestId),
        (route, credential): (RouteId, CredentialId),
        scripted: Scripted,
    ) -> (Option<BreakerId>, Amount) {
        let begun = Begun::new(&self.book, entry.at, who, (route, credential), scripted);
        self.laws.begun(&self.book, entry, &begun);
        self.findings.begun(&self.book, entry, &begun);
        (begun.fact.map(|fact| fact.breaker), begun.worst_case)
    }

    #[inline(never)]
    fn visible(&mut self, entry: Moment, call: CallId) {
        self.laws.visible(&self.book, entry, call);
        self.metrics.visible(&self.book, entry.at, call);
        self.book.show(entry, call);
    }

    #[inline(never)]
    fn ended(&mut self, entry: Moment, call: CallId, ended: &Ended, receipt: &Receipt) {
        let page = self.book.call(call);
        let is_usual =
            page.is_some_and(|page| usual::is_ended(&self.book, entry.at, (call, page), ended.truth));
        self.laws.ask(Usual::Ended, is_usual, |laws| laws.ended(&self.book, entry, call, ended.truth));
        let Some(page) = page else { return };
        let invoice = page.read(ended.truth, receipt);
        self.metrics.billed(&self.book, page, ended, &invoice, entry.at);
        self.findings.billed(&self.book, entry, page, &invoice);
        self.book.end(entry, call, ended, receipt, &invoice);
        self.book.may_be_owed = self.book.is_owed();
    }

    #[cold]
    #[inline(never)]
    fn lost(&mut self, entry: Moment, call: CallId) {
        self.laws.lost(&self.book, entry, call);
        self.metrics.lost(&self.book, call, entry.at);
        self.findings.lost(&self.book, entry, call);
        self.book.lose(call);
    }

    #[inline(never)]
    fn considered(&mut self, entry: Moment, request: RequestId, candidates: &[Candidate]) {
        let Some(chosen) = laws::plainly_chosen(&self.book, entry.at, request, candidates) else {
            return self.weigh(entry, request, candidates);
        };
        self.laws.ask(Usual::Considered, true, |laws| {
            laws.considered(&self.book, entry, &Weighed::new(&self.book, entry.at, request, candidates));
        });
        debug_assert_eq!(
            Weighed::new(&self.book, entry.at, request, candidates).rightly_excluded(),
            self.book.ineligible(request),
            "all are excluded that must be"
        );
        self.metrics.considered(self.book.request(request), self.book.ineligible(request));
        self.book.consider(request, (Some(chosen), true), None, entry.at);
    }

    /// The gateway weighed the routes, and something is out of the ordinary.
    #[cold]
    #[inline(never)]
    fn weigh(&mut self, entry: Moment, request: RequestId, candidates: &[Candidate]) {
        let weighed = Weighed::new(&self.book, entry.at, request, candidates);
        self.laws.considered(&self.book, entry, &weighed);
        self.metrics.considered(self.book.request(request), weighed.rightly_excluded());
        self.book.consider(request, (weighed.chosen, false), weighed.reopens, entry.at);
    }

    #[inline(always)]
    fn acted(&mut self, entry: Moment, action: &Action) {
        match action {
            Action::Call(call) => self.called(entry, call),
            Action::Commit { request, call } => self.committed(entry, *request, *call),
            Action::Cancel { call, why: _ } => self.cancelled(entry, *call),
            Action::Reply { request, outcome, attempts, left } => {
                let (request, outcome, attempts, left) = (*request, *outcome, *attempts, *left);
                self.replied(entry, &Reply { request, outcome, attempts, left, at: entry.at });
            }
            Action::Close { request, spent } => self.closed(entry, *request, *spent),
        }
    }

    #[inline(never)]
    fn committed(&mut self, entry: Moment, request: RequestId, call: CallId) {
        self.laws.committed(&self.book, entry, request, call);
        self.book.commit(request, call);
    }

    #[inline(never)]
    fn cancelled(&mut self, entry: Moment, call: CallId) {
        self.metrics.cancelled(&self.book, call);
        self.book.cancel(entry, call);
    }

    #[inline(never)]
    fn closed(&mut self, entry: Moment, request: RequestId, spent: Money) {
        let is_usual = usual::is_closed(&self.book, request, spent);
        self.laws.ask(Usual::Closed, is_usual, |laws| laws.closed(&self.book, entry, request, spent));
        self.book.go_to(request, Phase::Closed);
    }

    #[inline(never)]
    fn called(&mut self, entry: Moment, call: &Call) {
        let is_usual = usual::is_called(&self.book, entry.at, call);
        self.laws.ask(Usual::Called, is_usual, |laws| laws.called(&self.book, entry, call));
        self.book.ask(call);
    }

    #[inline(never)]
    fn replied(&mut self, entry: Moment, reply: &Reply) {
        let is_usual = usual::is_replied(&self.book, reply);
        self.laws.ask(Usual::Replied, is_usual, |laws| laws.replied(&self.book, entry, reply));
        self.metrics.replied(&self.book, reply);
        self.book.go_to(reply.request, Phase::Replied);
    }

    #[inline(always)]
    fn decided(&mut self, entry: Moment, cause: Option<u64>, decision: &Decision) {
        match *decision {
            Decision::Reserved { request, route, amount, window } => {
                self.reserved(entry, (request, route), (amount, window));
            }
            Decision::Denied { request, route, ref denied } => self.denied(entry, (request, route), denied),
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
                let told = Told {
                    call,
                    breaker,
                    health,
                    class,
                    signal,
                    standing,
                    breaker_failures,
                    health_failures,
                };
                self.signalled(entry, &told);
            }
            Decision::BreakerMoved { breaker, ref transition } => {
                self.breaker_moved(entry, breaker, transition);
            }
            Decision::HealthMoved { health, ref moved } => self.health_moved(entry, health, moved),
            Decision::Benched { what, until, class: _ } => self.benched(entry, what, until),
            Decision::Settled { call, basis, ref settlement } => {
                self.settled(entry, call, basis, settlement);
            }
            Decision::RetryScheduled { request, at, delay, hint, route, amount } => {
                self.sleeps(entry, &Sleep { request, from: entry.at, at, delay, hint, route, amount });
            }
            Decision::WaitRefused { request, wait, left, why } => {
                self.refuses_a_wait(entry, &RefusedWait { request, wait, left, why });
            }
            Decision::Alerted { credential, failure: _ } => self.alerted(entry, cause, credential),
            Decision::HedgeSkipped { request, why } => self.skips_a_hedge(entry, request, why),
            Decision::Queued { request, waiting } => self.queued(entry, request, waiting),
            Decision::Blew { fuse, request, calls } => self.blew(entry, fuse, request, calls),
            Decision::Classified { call, ref diagnosis } => self.classified(entry, call, diagnosis),
            Decision::TimedOut { call, class } => self.laws.timed_out(&self.book, entry, call, class),
            Decision::Freed { .. } => {}
            Decision::Shown(ref status) => self.shown(entry, status),
        }
    }

    #[inline(never)]
    fn shown(&mut self, entry: Moment, status: &Status) {
        let is_true = self.book.is_to_be_shown(status);
        self.laws.shown(entry, is_true);
    }

    #[inline(never)]
    fn signalled(&mut self, entry: Moment, told: &Told) {
        let age = self.book.call(told.call).map_or(Age::Fresh, |page| self.book.age(page));
        let reckoned = self.book.reckon(entry, told.call, told.class);
        let is_usual = usual::is_signalled(&self.book, (told, age), reckoned);
        self.laws.ask(Usual::Signalled, is_usual, |laws| {
            laws.signalled(&self.book, entry, (told, age), reckoned);
        });
        if told.signal == Signal::Bad {
            self.findings.signalled_bad(&self.book, entry, told.call);
        }
        self.book.date(entry, told.call, age);
        self.book.count_failures(told.breaker, told.breaker_failures, told.health, told.health_failures);
        self.book.may_be_owed = self.book.is_owed();
    }

    #[inline(never)]
    fn reserved(
        &mut self,
        entry: Moment,
        (request, route): (RequestId, RouteId),
        (amount, window): (Amount, u64),
    ) {
        let is_usual = usual::is_reserved(&self.book, entry.at, (request, route), (amount, window));
        self.laws.ask(Usual::Reserved, is_usual, |laws| {
            laws.reserved(&self.book, entry, (request, route), (amount, window));
        });
        self.book.reserve(request, route, amount);
    }

    #[inline(never)]
    fn denied(&mut self, entry: Moment, (request, route): (RequestId, RouteId), denied: &Denied) {
        self.laws.denied(&self.book, entry, (request, route), denied);
        self.metrics.denied(&self.book, request);
    }

    #[inline(never)]
    fn skips_a_hedge(&mut self, entry: Moment, request: RequestId, why: HedgeSkip) {
        self.laws.skips_a_hedge(&self.book, entry, request, why);
        self.metrics.hedge_skipped(&self.book, request);
    }

    #[inline(never)]
    fn queued(&mut self, entry: Moment, request: RequestId, waiting: u32) {
        self.laws.queued(&self.book, entry, request, waiting);
        self.metrics.queued(&self.book, request);
        self.book.queue(request);
    }

    #[inline(never)]
    fn classified(&mut self, entry: Moment, call: CallId, diagnosis: &Diagnosis) {
        self.laws.classified(&self.book, entry, call, diagnosis);
    }

    #[inline(never)]
    fn settled(&mut self, entry: Moment, call: CallId, basis: Basis, settlement: &Settlement) {
        let is_usual = usual::is_settled(&self.book, call, basis, settlement);
        self.laws
            .ask(Usual::Settled, is_usual, |laws| laws.settled(&self.book, entry, call, basis, settlement));
        self.book.book_in(call, basis);
    }

    #[inline(never)]
    fn sleeps(&mut self, entry: Moment, sleep: &Sleep) {
        self.laws.sleeps(&self.book, entry, sleep);
        self.metrics.waits(&self.book, sleep.request);
        self.book.sleep(sleep.request, sleep.at);
    }

    #[inline(never)]
    fn breaker_moved(&mut self, entry: Moment, id: BreakerId, moved: &breaker::Transition) {
        let is_due = self.book.machines.tell_breaker(id, moved);
        self.laws.moved(entry, is_due, ("breaker", moved.to.label()));
        self.laws.breaker_moved(&self.book, entry, id, moved);
        self.metrics.breaker_moved(&self.book, id, entry.at);
        self.book.move_breaker(entry, id, moved.to, moved.until);
        self.book.may_be_owed = true;
    }

    #[inline(never)]
    fn health_moved(&mut self, entry: Moment, id: HealthId, moved: &health::Move) {
        let is_due = self.book.machines.tell_health(id, moved);
        self.laws.moved(entry, is_due, ("health state", moved.to.label()));
        self.laws.health_moved(&self.book, entry, id, moved);
        self.book.move_health(entry, id, moved.to);
    }

    #[inline(never)]
    fn benched(&mut self, entry: Moment, what: Bench, until: Timestamp) {
        self.laws.benched(&self.book, entry, what, until);
        self.book.bench_due = None;
        self.book.bench(what, until);
    }

    #[inline(never)]
    fn alerted(&mut self, entry: Moment, cause: Option<u64>, credential: CredentialId) {
        self.laws.alerted(&self.book, entry, cause, credential);
        self.book.alerts.settle();
    }

    #[inline(never)]
    fn blew(&mut self, entry: Moment, fuse: FuseKind, request: RequestId, calls: u64) {
        self.laws.blew(&self.book, entry, fuse, request, calls);
        if let Some(payer) = self.book.request(request).map(|page| page.payer) {
            self.book.blow(fuse, &payer);
        }
    }

    #[inline(never)]
    fn refuses_a_wait(&mut self, entry: Moment, refused: &RefusedWait) {
        self.laws.refuses_a_wait(&self.book, entry, refused);
        self.book.refuse_wait(entry, refused.request);
    }
}
