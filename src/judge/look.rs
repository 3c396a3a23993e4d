//! Who cares about which entry. The laws, the metrics and the findings look at it while the book says how things
//! stood when it came; then the book takes it in.

use super::Judge;
use super::book::Phase;
use super::laws::{Begun, RefusedWait, Reply, Sleep, Told};
use crate::gateway::{Action, Call, Candidate, Decision, Receipt};
use crate::policy::signal::Signal;
use crate::policy::taxonomy::Class;
use crate::sim::{Entry, Observer, What};
use crate::units::{CallId, RequestId};

impl Observer for Judge<'_> {
    fn entry(&mut self, entry: &Entry<'_>) {
        self.watch.look(entry);
        self.laws.entry(&self.book, entry);
        match entry.what {
            What::Declared(_) => {}
            What::Arrived { request, name } => {
                self.laws.arrived(&self.book, entry, request.id);
                self.metrics.arrived(request.payer.tenant);
                self.book.arrive(entry, request, name);
            }
            What::Abandoned { request } => self.book.abandon(entry, request),
            What::Woke { wait } => self.book.wake(entry, wait),
            What::Operated { command } => self.book.operate(entry, command),
            What::CallBegun { call, request, route, credential, scripted } => {
                let (ids, target) = ((call, request), (route, credential));
                let begun = Begun::new(&self.book, entry.at, ids, target, scripted);
                self.laws.begun(&self.book, entry, &begun);
                self.metrics.begun(&begun);
                self.findings.begun(&self.book, entry, &begun);
                self.book.begin(entry, call, request, route, credential);
            }
            What::CallVisible { call } => {
                self.laws.visible(&self.book, entry, call);
                self.metrics.visible(&self.book, entry.at, call);
                self.book.show(entry, call);
            }
            What::CallEnded { call, truth, code: _, receipt } => self.ended(entry, call, truth, receipt),
            What::CallLost { call } => {
                self.laws.lost(&self.book, entry, call);
                self.metrics.lost(&self.book, call);
                self.findings.lost(&self.book, entry, call);
                self.book.lose(call);
            }
            What::Considered { request, candidates } => self.considered(entry, request, candidates),
            What::Acted(action) => self.acted(entry, action),
            What::Decided(decision) => self.decided(entry, decision),
        }
        self.book.turn(entry);
    }
}

impl Judge<'_> {
    fn ended(&mut self, entry: &Entry<'_>, call: CallId, truth: Option<Class>, receipt: &Receipt) {
        self.laws.ended(&self.book, entry, call, truth);
        if let Some(page) = self.book.call(call) {
            let invoice = page.read(truth, receipt);
            self.metrics.billed(page, &invoice);
            self.findings.billed(&self.book, entry, page, &invoice);
        }
        self.book.end(entry, call, truth, receipt);
    }

    fn considered(&mut self, entry: &Entry<'_>, request: RequestId, candidates: &[Candidate]) {
        self.laws.considered(&self.book, entry, request, candidates);
        self.metrics.considered(&self.book, request, candidates);
        self.book.consider(request);
    }

    fn acted(&mut self, entry: &Entry<'_>, action: &Action) {
        match action {
            Action::Call(call) => self.called(entry, call),
            Action::Commit { request, call } => {
                self.laws.committed(&self.book, entry, *request, *call);
                self.book.commit(*request, *call);
            }
            Action::Cancel { call, why: _ } => {
                self.metrics.cancelled(&self.book, *call);
                self.book.cancel(entry, *call);
            }
            Action::Reply { request, outcome, attempts, left } => {
                let (request, outcome, attempts, left) = (*request, *outcome, *attempts, *left);
                let reply = Reply { request, outcome, attempts, left, at: entry.at };
                self.laws.replied(&self.book, entry, &reply);
                self.metrics.replied(&self.book, &reply);
                self.book.go_to(request, Phase::Replied);
            }
            Action::Close { request, spent } => {
                self.laws.closed(&self.book, entry, *request, *spent);
                self.book.go_to(*request, Phase::Closed);
            }
        }
    }

    fn called(&mut self, entry: &Entry<'_>, call: &Call) {
        self.laws.called(&self.book, entry, call);
        self.book.ask(call);
    }

    fn decided(&mut self, entry: &Entry<'_>, decision: &Decision) {
        match *decision {
            Decision::Reserved { request, route: _, amount, window: _ } => self.book.reserve(request, amount),
            Decision::Denied { request, .. } => self.metrics.denied(&self.book, request),
            Decision::Signalled {
                call,
                breaker,
                health,
                class: _,
                signal,
                standing,
                breaker_failures,
                health_failures,
            } => {
                let told =
                    Told { call, breaker, health, signal, standing, breaker_failures, health_failures };
                self.laws.signalled(&self.book, entry, &told);
                if signal == Signal::Bad {
                    self.findings.signalled_bad(&self.book, entry, call);
                }
                self.book.count_failures(breaker, breaker_failures, health, health_failures);
            }
            Decision::BreakerMoved { breaker, transition } => {
                self.laws.breaker_moved(&self.book, entry, breaker, &transition);
                self.metrics.breaker_moved(&self.book, breaker, entry.at);
                self.book.move_breaker(entry, breaker, transition.to, transition.until);
            }
            Decision::HealthMoved { health, moved } => {
                self.laws.health_moved(&self.book, entry, health, &moved);
                self.book.move_health(health, moved.to);
            }
            Decision::Benched { what, until, class: _ } => {
                self.laws.benched(&self.book, entry, what, until);
                self.book.bench(what, until);
            }
            Decision::Settled { call, basis, ref settlement } => {
                self.laws.settled(&self.book, entry, call, basis, settlement);
                self.book.book_in(call, basis);
            }
            Decision::RetryScheduled { request, at, delay, hint: _, route, amount } => {
                let sleep = Sleep { request, from: entry.at, at, delay, route, amount };
                self.laws.sleeps(&self.book, entry, &sleep);
                self.metrics.waits(&self.book, request);
            }
            Decision::WaitRefused { request, wait, left, why } => {
                self.laws.refuses_a_wait(&self.book, entry, &RefusedWait { request, wait, left, why });
                self.book.refuse_wait(entry, request);
            }
            Decision::Classified { .. }
            | Decision::Freed { .. }
            | Decision::Alerted { .. }
            | Decision::TimedOut { .. } => {}
        }
    }
}
