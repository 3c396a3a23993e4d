//! How each entry moves the book on: one function a kind of fact, and [`Book::turn`] for each.

use super::constraints::violated;
use super::cooldowns::concerned;
use super::shared::Mark;
use super::*;
use crate::gateway::{Answer, Command, Receipt, Request, Wait};
use crate::policy::cooldown::Bench;
use crate::policy::health;
use crate::policy::signal::Signal;
use crate::policy::taxonomy::{Class, Diagnosis, Remedy, Taxonomy};
use crate::sim::Breakers;
use crate::units::{BreakerId, Name};

impl Book<'_> {
    /// What was due has come, at this instant; now this entry is due.
    pub(in crate::judge) fn turn(&mut self, due: u64, now: Timestamp) {
        (self.due, self.now) = (due, now);
    }

    /// Whether something must be told, now or soon: an alert, a bench, a move of a machine, a status.
    #[inline]
    pub(in crate::judge) fn is_owed(&self) -> bool {
        self.bench_due.is_some()
            || self.alerts.due().is_some()
            || self.machines.is_due()
            || !self.to_show.is_empty()
    }

    /// The world tells the gateway something: what follows is its answer to that, and no longer to what was before.
    fn meet(&mut self, stimulus: Stimulus) {
        (self.stimulus, self.late) = (stimulus, None);
    }

    /// A request came in.
    pub(in crate::judge) fn arrive(&mut self, entry: Moment, request: &Request, name: RequestName) {
        self.meet(Stimulus::Other);
        self.afforded = None;
        let (slot, routes) = (request.id.index(), self.facts.routes.len());
        if slot >= self.requests.len() {
            self.grow(slot, request);
        }
        if self.demands[slot].envelope != request.envelope {
            self.demands[slot].envelope = request.envelope;
            self.learn(slot);
        }
        self.requests[slot] = RequestPage {
            serial: self.arrivals,
            phase: Phase::Open,
            name,
            arrived: entry.at,
            estimate: self.demands[slot].estimate,
            ..RequestPage::vacant(request)
        };
        self.arrivals += 1;
        self.tries[slot * routes..][..routes].fill(Tries::default());
    }

    /// Makes room for one more slot than ever before.
    #[cold]
    fn grow(&mut self, slot: usize, request: &Request) {
        let known = self.requests.len();
        self.requests.resize(slot + 1, RequestPage::vacant(request));
        let envelope = request.envelope;
        let unknown = Demand { envelope, ineligible: 0, dearest: Money::ZERO, estimate: 0, is_modest: false };
        self.demands.resize(slot + 1, unknown);
        self.tries.resize(self.requests.len() * self.facts.routes.len(), Tries::default());
        self.truths.resize(self.requests.len() * self.facts.routes.len(), Truth::default());
        (known..=slot).for_each(|new| self.learn(new));
    }

    /// A caller hung up.
    pub(in crate::judge) fn abandon(&mut self, entry: Moment, request: RequestId) {
        self.meet(Stimulus::Other);
        if let Some(page) = self.requests.get_mut(request.index()) {
            page.abandoned = Some(entry.at);
        }
    }

    /// The gateway looked at the routes. A calm look has found money for the dearest route.
    pub(in crate::judge) fn consider(
        &mut self,
        request: RequestId,
        (chosen, is_calm): (Option<RouteId>, bool),
        reopens: Option<Timestamp>,
        at: Timestamp,
    ) {
        self.quit(request);
        self.afforded = if is_calm { Some((request, at)) } else { None };
        if let Some(page) = self.requests.get_mut(request.index()) {
            page.looks += 1;
            page.choice = chosen.map(|route| (route, at));
            page.in_vain = if chosen.is_none() { Some(InVain { at, reopens }) } else { None };
        }
    }

    /// Works out what is true of each route for the envelope of a slot.
    #[cold]
    fn learn(&mut self, slot: usize) {
        let Demand { envelope, ineligible, dearest, estimate, is_modest } = &mut self.demands[slot];
        (*ineligible, *dearest, *estimate) = (0, Money::ZERO, envelope.estimate.total());
        let calls_reserved = self.facts.limits.reserve_retries.saturating_add(1);
        let row = self.truths.iter_mut().skip(slot * self.facts.routes.len());
        for (truth, fact) in row.zip(&self.facts.routes) {
            let worst_case = fact.offer.prices.worst_case(&envelope.estimate);
            let wanted = worst_case.times(u64::from(calls_reserved));
            let reasons = violated(envelope, &fact.offer, wanted);
            let missing = fact.offer.capabilities.lacking(envelope.capabilities).first();
            *truth = Truth { reasons, worst_case, missing };
            if reasons.is_empty() {
                *dearest = worst_case.max(*dearest);
            } else {
                *ineligible += 1;
            }
        }
        let (limit, tokens) = (self.facts.limits.attempt_max, *estimate);
        *is_modest =
            *dearest <= limit.money.min(envelope.cost_max) && tokens <= limit.tokens.min(envelope.tokens_max);
    }

    /// A timer of the gateway was due.
    pub(in crate::judge) fn wake(&mut self, entry: Moment, wait: Wait) {
        self.meet(Stimulus::Other);
        if let Wait::Health(health) = wait {
            self.machines.wake(entry.at, health);
        }
        let (call, class) = match wait {
            Wait::Attempt(call) => (call, Class::AttemptTimeout),
            Wait::FirstByte(call) => (call, Class::FirstByteTimeout),
            Wait::Idle(call) => (call, Class::IdleTimeout),
            Wait::Retry(request) => {
                if let Some(page) = self.requests.get_mut(request.index()) {
                    page.sleeps_until = None;
                }
                return;
            }
            Wait::Deadline(_) | Wait::Receipt(_) | Wait::Health(_) | Wait::Hedge(_) => return,
        };
        let Some(page) = self.calls.get_mut(call.index()).filter(|page| page.is_wanted()) else { return };
        page.fired = Some(class);
        let fault =
            Fault { class, code: None, route: page.route, leg: page.leg, seq: entry.seq, at: entry.at };
        let (request, serial, route) = (page.request, page.serial, page.route);
        self.shared.mark(page, Mark::Failed);
        self.fail(request, serial, fault, 1);
        self.set_back((request, serial), Setback { route, class, hint: None, at: entry.at });
    }

    /// A request has met a true failure; so many of its legs in flight are the one that met it.
    fn fail(&mut self, request: RequestId, serial: u64, fault: Fault, own: u32) {
        let Some(page) = self.requests.get_mut(request.index()).filter(|page| page.serial == serial) else {
            return;
        };
        page.last = Some(fault);
        let stops = self.facts.machines.taxonomy.remedy(fault.class) == Remedy::Stop;
        let is_first =
            page.barred.is_none_or(|known| fault.class.is_terminal() && !known.class.is_terminal());
        if stops && fault.leg == Leg::Optional && page.legs > own && is_first {
            page.barred = Some(fault);
        }
        if fault.class.is_terminal() {
            page.terminal.get_or_insert(fault);
            if fault.leg == Leg::Needed || fault.class == Class::PolicyRefusal {
                page.stop.get_or_insert(fault);
            }
        }
    }

    /// The gateway is told of a failure.
    fn set_back(&mut self, (request, serial): (RequestId, u64), setback: Setback) {
        let page = self.requests.get_mut(request.index()).filter(|page| page.serial == serial);
        if let Some(page) = page {
            (page.setback, page.in_vain) = (Some(setback), None);
        }
    }

    /// An operator intervened.
    pub(in crate::judge) fn operate(&mut self, entry: Moment, command: Command) {
        self.meet(Stimulus::Other);
        match command {
            Command::Show => self.expect_status(entry.at),
            Command::ResetBench(what) => {
                self.benches.set(what, Timestamp::ZERO);
                self.alerts.free(what);
                self.told.set(what, Timestamp::ZERO);
                if let Bench::Route(route) = what {
                    let each = self.facts.routes.len().max(1);
                    let rows = self.tries.chunks_mut(each).filter_map(|row| row.get_mut(route.index()));
                    rows.for_each(|tries| tries.hint = Timestamp::ZERO);
                }
            }
            Command::ResetBreaker(id) => {
                self.machines.reset_breaker(entry.at, id);
                match self.facts.limits.breakers {
                    Breakers::Present => self.move_breaker(entry, id, breaker::State::Closed, None),
                    Breakers::Absent => {}
                }
            }
            Command::ResetHealth(id) => {
                self.machines.reset_health(entry.at, id);
                if let Some(page) = self.healths.get_mut(id.index()) {
                    let was_sick = page.state == health::State::Unhealthy;
                    let since = if was_sick { entry.at } else { page.since };
                    *page = HealthPage { since, ..HealthPage::default() };
                }
            }
        }
    }

    /// An upstream took a call, which comes to this breaker and can cost and use so much.
    #[inline]
    pub(in crate::judge) fn begin(
        &mut self,
        entry: Moment,
        (call, request): (CallId, RequestId),
        (route, credential): (RouteId, CredentialId),
        id: Option<BreakerId>,
        worst_case: Amount,
    ) -> Entrance {
        self.afforded = None;
        let approval = self.approving(request, route);
        let slot = self.calls.get(call.index());
        let generation = slot.map_or(0, |slot| slot.generation);
        let is_asked = slot.is_some_and(|slot| slot.phase == CallPhase::Asked && slot.request == request);
        let (began_in, entrance) = match id {
            Some(breaker) => self.machines.admit(entry.at, breaker, generation),
            None => (0, Entrance::Right),
        };
        let patience_ends = self.patience(entry.at, route);
        let Some(page) = self.requests.get_mut(request.index()) else { return entrance };
        if let Some(at) = approval {
            page.approved.get_or_insert(route);
            self.shared.approvals[usize::from(at)].hold(worst_case, entry.at);
        }
        let leg = page.begin(route, worst_case, (entry.at, patience_ends));
        let stake = (route, worst_case, entry.at);
        let (task_serial, window) = self.shared.begin(&page.payer, page.content, stake);
        self.run.calls += 1;
        if let Some(tries) = self.tries.get_mut(request.index() * self.facts.routes.len() + route.index()) {
            tries.begun += 1;
        }
        let told = id.and_then(|id| self.breakers.get_mut(id.index()));
        let breaker_moves = told.as_ref().map_or(0, |told| told.moves);
        let probed = told.filter(|told| told.state == breaker::State::HalfOpen);
        let probe = id.zip(probed).map(|(id, told)| {
            told.probes += 1;
            (id, told.moves)
        });
        if !is_asked {
            self.begin_unasked(call, request);
        }
        let slot = &mut self.calls[call.index()];
        slot.phase = CallPhase::Flying;
        (slot.route, slot.credential, slot.begun, slot.leg) = (route, credential, entry.at, leg);
        (slot.slot, slot.task_serial, slot.breaker_moves) = (Slot::Taken, task_serial, breaker_moves);
        (slot.worst_case, slot.window, slot.probe) = (worst_case, window, probe);
        (slot.began_in, slot.approval) = (began_in, approval);
        entrance
    }

    /// An upstream took a call for which nobody asked.
    #[cold]
    fn begin_unasked(&mut self, call: CallId, request: RequestId) {
        let RequestPage { serial, name, payer, .. } = self.requests[request.index()];
        *slot_in(&mut self.calls, call) = CallPage { request, serial, name, payer, ..CallPage::VACANT };
    }

    /// The first output of a call left the upstream.
    pub(in crate::judge) fn show(&mut self, entry: Moment, call: CallId) {
        self.meet(Stimulus::Other);
        let Some(page) = self.calls.get_mut(call.index()) else { return };
        page.visible.get_or_insert(entry.at);
        let (request, serial) = (page.request, page.serial);
        if let Some(page) = self.requests.get_mut(request.index()).filter(|page| page.serial == serial) {
            page.visible.get_or_insert(entry.at);
        }
    }

    /// A call is over, and billed so.
    pub(in crate::judge) fn end(
        &mut self,
        entry: Moment,
        call: CallId,
        ended: &Ended,
        receipt: &Receipt,
        invoice: &Invoice,
    ) {
        let Some(page) = self.calls.get_mut(call.index()).filter(|p| p.phase == CallPhase::Flying) else {
            return;
        };
        let was_wanted = page.is_wanted();
        page.phase = CallPhase::Ended;
        if was_wanted {
            (page.truth, page.health) = (ended.truth, ended.health);
        }
        page.billed = Some(invoice.billed);
        page.heard = Heard { told: page.heard.told, ..heard(&self.facts.machines.taxonomy, receipt) };
        self.stimulus =
            if page.neutral().is_some() { Stimulus::NeutralResult(call) } else { Stimulus::Other };
        (self.late, self.afforded) = (None, None);
        self.shared.vacate(page);
        self.shared.charge(page, invoice.billed);
        let (request, serial, route) = (page.request, page.serial, page.route);
        let live = self.requests.get_mut(request.index()).filter(|request| request.serial == serial);
        if let Some(live) = live {
            live.account.settle(0, page.worst_case, invoice.billed);
            live.legs -= u32::from(was_wanted);
            live.unsettled -= u32::from(page.charge == Charge::Open);
            if invoice.worth == Worth::Used {
                live.answer.get_or_insert(Winner { call, route, at: entry.at });
                self.tries[request.index() * self.facts.routes.len() + route.index()].answered += 1;
            }
        }
        if was_wanted {
            match receipt.result {
                Answer::Answered => self.shared.mark(page, Mark::Answered),
                Answer::Failed(_) => self.shared.mark(page, Mark::Failed),
                Answer::Cancelled => {}
            }
        }
        self.free(call);
        if invoice.worth != Worth::Used {
            self.end_in_vain(entry, call, (ended.code, receipt), was_wanted);
        }
    }

    /// What follows for others from a call that gave no answer.
    #[cold]
    #[inline(never)]
    fn end_in_vain(
        &mut self,
        entry: Moment,
        call: CallId,
        (code, receipt): (Option<Name>, &Receipt),
        was_wanted: bool,
    ) {
        let CallPage { request, serial, route, truth, leg, credential, .. } = self.calls[call.index()];
        if let Some(class) = truth {
            let fault = Fault { class, code, route, leg, seq: entry.seq, at: entry.at };
            self.fail(request, serial, fault, 0);
            if class.is_terminal() {
                self.close_scope(credential, fault);
                self.alerts.meet(class, credential, entry.seq);
            }
        }
        let mut setback = Setback { route, class: Class::Cancelled, hint: None, at: entry.at };
        match &receipt.result {
            Answer::Answered => return,
            Answer::Cancelled => {}
            Answer::Failed(told) => {
                self.listen(entry, call, told);
                if was_wanted {
                    self.expect_bench(entry, call, told);
                }
                (setback.class, setback.hint) = (told.class, told.hint.instant(entry.at));
            }
        }
        if was_wanted {
            self.set_back((request, serial), setback);
        }
    }

    /// Remembers what the response asked for.
    fn listen(&mut self, entry: Moment, call: CallId, diagnosis: &Diagnosis) {
        let page = &self.calls[call.index()];
        let Some(until) = diagnosis.hint.instant(entry.at) else { return };
        let (Some(fact), Some(key)) =
            (self.route(page.route), self.facts.credentials.get(page.credential.index()))
        else {
            return;
        };
        let Some(what) = concerned(diagnosis.scope, page, fact, key.project) else {
            let is_there = self.request_of(page).is_some();
            let at = page.request.index() * self.facts.routes.len() + page.route.index();
            if let Some(tries) = self.tries.get_mut(at).filter(|_| is_there) {
                tries.hint = tries.hint.max(until);
            }
            return;
        };
        if self.told.until(what) < until {
            self.told.set(what, until);
        }
    }

    /// A call probes nothing any more.
    pub(super) fn free(&mut self, call: CallId) {
        let probe = self.calls.get_mut(call.index()).and_then(|page| page.probe.take());
        let Some((breaker, moves)) = probe else { return };
        if let Some(page) = self.breakers.get_mut(breaker.index()).filter(|page| page.moves == moves) {
            page.probes -= 1;
        }
    }

    /// A cancelled call will never be billed.
    pub(in crate::judge) fn lose(&mut self, call: CallId) {
        let Some(page) = self.calls.get_mut(call.index()).filter(|p| p.phase == CallPhase::Flying) else {
            return;
        };
        let was_wanted = page.is_wanted();
        page.phase = CallPhase::Lost;
        page.billed = Some(page.worst_case);
        self.afforded = None;
        self.shared.charge(page, page.worst_case);
        let live =
            self.requests.get_mut(page.request.index()).filter(|request| request.serial == page.serial);
        if let Some(live) = live {
            live.account.settle(0, page.worst_case, page.worst_case);
            live.legs -= u32::from(was_wanted);
        }
        self.free(call);
    }
}

/// The page in a slot, which may be one more than ever before.
pub(super) fn slot_in(calls: &mut Vec<CallPage>, call: CallId) -> &mut CallPage {
    if calls.len() <= call.index() {
        grow(calls, call);
    }
    &mut calls[call.index()]
}

#[cold]
#[inline(never)]
fn grow(calls: &mut Vec<CallPage>, call: CallId) {
    calls.resize(call.index() + 1, CallPage::VACANT);
}

/// What a receipt says of a result, and what the policy makes of it.
fn heard(taxonomy: &Taxonomy, receipt: &Receipt) -> Heard {
    let (class, code, signal) = match &receipt.result {
        Answer::Answered => (None, None, Signal::Good),
        Answer::Failed(told) => (Some(told.class), Some(told.code), taxonomy.heard(told)),
        Answer::Cancelled => (Some(Class::Cancelled), None, Signal::Neutral),
    };
    Heard { class, code, signal, told: Telling::NotYet }
}
