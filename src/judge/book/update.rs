//! How each entry moves the book on.

use super::*;
use crate::gateway::{Answer, Bill, Command, Receipt, Request, Wait};
use crate::policy::cooldown::Bench;
use crate::policy::eligibility::exclusions;
use crate::policy::taxonomy::Scope;
use crate::sim::{Entry, What};
use crate::units::BreakerId;

impl Book<'_> {
    /// Takes in one entry. The laws have seen it.
    pub fn take_in(&mut self, entry: &Entry<'_>) {
        match entry.what {
            What::Declared(_) => {}
            What::Arrived { request, name } => self.arrive(entry, request, name),
            What::Abandoned { request } => {
                self.stimulus = Stimulus::Other;
                if let Some(page) = self.requests.get_mut(request.index()) {
                    page.abandoned = Some(entry.at);
                }
            }
            What::Woke { wait } => self.wake(entry, wait),
            What::Operated { command } => self.operate(entry, command),
            What::CallBegun { call, request, route, credential, scripted: _ } => {
                self.begin(entry, call, request, route, credential);
            }
            What::CallVisible { call } => self.show(entry, call),
            What::CallEnded { call, truth, code: _, receipt } => self.end(entry, call, truth, receipt),
            What::CallLost { call } => self.lose(call),
            What::Considered { request, candidates: _ } => {
                if let Some(page) = self.requests.get_mut(request.index()) {
                    page.looks += 1;
                }
            }
            What::Acted(action) => self.act(entry, action),
            What::Decided(decision) => self.decide(entry, decision),
        }
        self.last = Some((entry.seq, entry.at));
    }

    fn arrive(&mut self, entry: &Entry<'_>, request: &Request, name: RequestName) {
        self.stimulus = Stimulus::Other;
        let envelope = &request.envelope;
        let cap = Amount { money: envelope.cost_max, tokens: envelope.tokens_max };
        let page = RequestPage {
            serial: self.arrivals,
            phase: Phase::Open,
            name,
            request: *request,
            arrived: entry.at,
            attempts: 0,
            legs: 0,
            unsettled: 0,
            account: Account::new(cap, None),
            terminal: None,
            last: None,
            first_route: None,
            ways: Ways::One,
            visible: None,
            committed: None,
            abandoned: None,
            reserved: None,
            hint: None,
            planned: None,
            wait_refused: None,
            looks: 0,
            outcome: None,
        };
        self.arrivals += 1;
        let (slot, routes) = (request.id.index(), self.facts.routes.len());
        let knows_the_envelope = self.requests.get(slot).is_some_and(|old| old.request.envelope == *envelope);
        let known = self.requests.len();
        while self.requests.len() <= slot {
            self.requests.push(RequestPage { phase: Phase::Closed, ..page });
        }
        self.requests[slot] = page;
        self.tries.resize(self.requests.len() * routes, Tries::default());
        self.truths.resize(self.requests.len() * routes, Truth::default());
        self.tries[slot * routes..(slot + 1) * routes].fill(Tries::default());
        (known..slot).for_each(|skipped| self.learn(skipped, request));
        if !knows_the_envelope {
            self.learn(slot, request);
        }
    }

    /// Works out what is true of each route for an envelope. A slot mostly sees the same envelope again.
    fn learn(&mut self, slot: usize, request: &Request) {
        let calls_reserved = self.facts.limits.reserve_retries.saturating_add(1);
        let row = self.truths.iter_mut().skip(slot * self.facts.routes.len());
        for (truth, fact) in row.zip(&self.facts.routes) {
            let (reasons, worst_case) = exclusions(&request.envelope, &fact.offer, calls_reserved);
            let missing = fact.offer.capabilities.lacking(request.envelope.capabilities).first();
            *truth = Truth { reasons, worst_case, missing };
        }
    }

    fn wake(&mut self, entry: &Entry<'_>, wait: Wait) {
        self.stimulus = Stimulus::Other;
        let (call, class) = match wait {
            Wait::Attempt(call) => (call, Class::AttemptTimeout),
            Wait::FirstByte(call) => (call, Class::FirstByteTimeout),
            Wait::Idle(call) => (call, Class::IdleTimeout),
            Wait::Deadline(_) | Wait::Receipt(_) | Wait::Health(_) | Wait::Retry(_) => return,
        };
        let Some(page) = self.calls.get_mut(call.index()).filter(|page| page.is_wanted()) else { return };
        page.fired = Some(class);
        let fault = Fault { class, route: page.route, seq: entry.seq, at: entry.at };
        let (request, serial) = (page.request, page.serial);
        self.fail(request, serial, fault);
    }

    /// A request has met a true failure.
    fn fail(&mut self, request: RequestId, serial: u64, fault: Fault) {
        let Some(page) = self.requests.get_mut(request.index()).filter(|page| page.serial == serial) else {
            return;
        };
        page.last = Some(fault);
        if fault.class.is_terminal() && page.terminal.is_none() {
            page.terminal = Some(fault);
        }
    }

    fn operate(&mut self, entry: &Entry<'_>, command: Command) {
        self.stimulus = Stimulus::Other;
        match command {
            Command::ResetBench(what) => {
                self.benches.set(what, Timestamp::ZERO);
                self.told.set(what, Timestamp::ZERO);
            }
            Command::ResetBreaker(id) => self.move_breaker(entry, id, breaker::State::Closed, None),
            Command::ResetHealth(id) => {
                if let Some(page) = self.healths.get_mut(id.index()) {
                    *page = HealthPage::default();
                }
            }
        }
    }

    fn begin(
        &mut self,
        entry: &Entry<'_>,
        call: CallId,
        request: RequestId,
        route: RouteId,
        credential: CredentialId,
    ) {
        let worst_case = self.worst_case(request, route);
        let probe = self.probed(route);
        let Some(page) = self.requests.get_mut(request.index()) else { return };
        page.attempts += 1;
        page.legs += 1;
        page.unsettled += 1;
        page.account.hold(worst_case, entry.at);
        if *page.first_route.get_or_insert(route) != route {
            page.ways = Ways::Several;
        }
        let (serial, name, payer) = (page.serial, page.name, page.request.payer);
        if let Some(account) = payer.task.and_then(|task| self.tasks.get_mut(task.index())) {
            account.hold(worst_case, entry.at);
        }
        let tenant = payer.tenant.and_then(|tenant| self.tenants.get_mut(tenant.index()));
        let window = tenant.map_or(0, |account| account.hold(worst_case, entry.at));
        if let Some(tries) = self.tries.get_mut(request.index() * self.facts.routes.len() + route.index()) {
            tries.begun += 1;
        }
        if let Some((breaker, _)) = probe {
            self.breakers[breaker.index()].probes += 1;
        }
        let slot = self.call_slot(call);
        if slot.phase != CallPhase::Asked || slot.request != request {
            *slot = CallPage { request, serial, name, payer, ..CallPage::VACANT };
        }
        slot.phase = CallPhase::Flying;
        (slot.route, slot.credential, slot.begun) = (route, credential, entry.at);
        (slot.worst_case, slot.window, slot.probe) = (worst_case, window, probe);
    }

    /// The half-open breaker that a call to `route` probes, and its moves so far.
    fn probed(&self, route: RouteId) -> Option<(BreakerId, u32)> {
        let id = self.route(route)?.breaker;
        let page = self.breakers.get(id.index())?;
        (page.state == breaker::State::HalfOpen).then_some((id, page.moves))
    }

    pub(super) fn call_slot(&mut self, call: CallId) -> &mut CallPage {
        if self.calls.len() <= call.index() {
            self.calls.resize(call.index() + 1, CallPage::VACANT);
        }
        &mut self.calls[call.index()]
    }

    fn show(&mut self, entry: &Entry<'_>, call: CallId) {
        self.stimulus = Stimulus::Other;
        let Some(page) = self.calls.get_mut(call.index()) else { return };
        page.visible.get_or_insert(entry.at);
        let (request, serial) = (page.request, page.serial);
        if let Some(page) = self.requests.get_mut(request.index()).filter(|page| page.serial == serial) {
            page.visible.get_or_insert(entry.at);
        }
    }

    fn end(&mut self, entry: &Entry<'_>, call: CallId, truth: Option<Class>, receipt: &Receipt) {
        let Some(page) = self.calls.get_mut(call.index()).filter(|p| p.phase == CallPhase::Flying) else {
            return;
        };
        let billed = match receipt.bill {
            Bill::Exact(money) => Amount { money, tokens: receipt.usage.total() },
            Bill::Unknown => page.worst_case,
        };
        let was_wanted = page.is_wanted();
        page.phase = CallPhase::Ended;
        page.truth = truth.filter(|_| was_wanted);
        page.billed = Some(billed);
        let page = *page;
        let meaning = self.meaning(&page);
        self.stimulus = match meaning {
            Some(class) if class.is_neutral() => Stimulus::NeutralResult(call),
            Some(_) | None => Stimulus::Other,
        };
        self.free(call);
        self.charge(&page, billed);
        let slot = page.request.index() * self.facts.routes.len() + page.route.index();
        let is_live = self.request_of(&page).is_some();
        if is_live && was_wanted {
            self.requests[page.request.index()].legs -= 1;
        }
        if is_live && page.charged.is_none() {
            self.requests[page.request.index()].unsettled -= 1;
        }
        if let Some(class) = page.truth {
            let fault = Fault { class, route: page.route, seq: entry.seq, at: entry.at };
            self.fail(page.request, page.serial, fault);
        } else if was_wanted && is_live && receipt.result == Answer::Answered {
            self.tries[slot].answered += 1;
        }
        self.listen(entry, &page, receipt);
    }

    /// Charges a call that is over to every account that still counts it.
    fn charge(&mut self, page: &CallPage, billed: Amount) {
        let request = self.requests.get_mut(page.request.index());
        if let Some(request) = request.filter(|request| request.serial == page.serial) {
            request.account.settle(0, page.worst_case, billed);
        }
        if let Some(account) = page.payer.task.and_then(|task| self.tasks.get_mut(task.index())) {
            account.settle(0, page.worst_case, billed);
        }
        if let Some(account) = page.payer.tenant.and_then(|tenant| self.tenants.get_mut(tenant.index())) {
            account.settle(page.window, page.worst_case, billed);
        }
    }

    /// Remembers what the response asked for.
    fn listen(&mut self, entry: &Entry<'_>, page: &CallPage, receipt: &Receipt) {
        let Answer::Failed(diagnosis) = receipt.result else { return };
        let Some(until) = diagnosis.hint.instant(entry.at) else { return };
        let (Some(fact), Some(key)) =
            (self.route(page.route), self.facts.credentials.get(page.credential.index()))
        else {
            return;
        };
        let what = match diagnosis.scope {
            Scope::Request => {
                if let Some(request) = self.requests.get_mut(page.request.index()) {
                    request.hint = Some((page.route, until)).filter(|_| request.serial == page.serial);
                }
                return;
            }
            Scope::Credential => Bench::Credential(page.credential),
            Scope::Project => Bench::Project(key.project),
            Scope::Model => Bench::Model(key.project, fact.model),
            Scope::Provider => Bench::Provider(fact.provider),
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

    fn lose(&mut self, call: CallId) {
        let Some(page) = self.calls.get_mut(call.index()).filter(|p| p.phase == CallPhase::Flying) else {
            return;
        };
        let was_wanted = page.is_wanted();
        page.phase = CallPhase::Lost;
        page.billed = Some(page.worst_case);
        let page = *page;
        self.free(call);
        self.charge(&page, page.worst_case);
        if let Some(request) = self.requests.get_mut(page.request.index())
            && request.serial == page.serial
        {
            request.legs -= u32::from(was_wanted);
        }
    }
}
