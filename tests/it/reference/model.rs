//! The simple model: plain lists, searched from the front, one millisecond at a time.

use super::Event;
use super::world::{Kind, World};

/// A call in flight, or waiting for its receipt.
struct Call {
    request: usize,
    route: usize,
    began: u64,
    /// When its outcome or receipt comes, and the number by which simultaneous ones are ordered.
    due: Option<(u64, u64)>,
    kind: Kind,
    is_hedge: bool,
    /// The breaker's era in which it began.
    era: u64,
    state: State,
    timeout: Option<(u64, u64)>,
    give_up: Option<(u64, u64)>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Flying,
    Stopped,
    /// Its receipt was given up.
    Lost,
}

#[derive(Clone, Default)]
struct Request {
    arrived: bool,
    replied: bool,
    closed: bool,
    attempts: u64,
    calls_on: Vec<u64>,
    spent: u64,
    held: u64,
    deadline: Option<(u64, u64)>,
    retry: Option<(u64, u64)>,
    hedge: Option<(u64, u64)>,
    has_failed: bool,
    /// A bad key on a second leg: nothing new is called.
    barred: bool,
}

#[derive(Clone, Default)]
struct Breaker {
    failures: u64,
    open_until: Option<u64>,
    probing: bool,
    half_open: bool,
    era: u64,
}

struct Model<'w> {
    world: &'w World,
    now: u64,
    counter: u64,
    requests: Vec<Request>,
    calls: Vec<Call>,
    breakers: Vec<Breaker>,
    closed_routes: Vec<bool>,
    taken: Vec<usize>,
    task: (u64, u64),
    events: Vec<Event>,
}

/// Everything that happens in a world.
pub(super) fn play(world: &World) -> Vec<Event> {
    let routes = world.routes.len();
    let request = Request { calls_on: vec![0; routes], ..Request::default() };
    let mut model = Model {
        world,
        now: 0,
        counter: 0,
        requests: vec![request; world.requests.len()],
        calls: Vec::new(),
        breakers: vec![Breaker::default(); routes],
        closed_routes: vec![false; routes],
        taken: vec![0; routes],
        task: (0, 0),
        events: Vec::new(),
    };
    for now in 0..10_000 {
        model.now = now;
        while model.outcome() || model.timer() || model.arrival() {}
    }
    assert!(model.requests.iter().all(|r| r.closed), "ten seconds are enough");
    model.events
}

impl Model<'_> {
    fn number(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    /// The first outcome that is due now, if there is one.
    fn outcome(&mut self) -> bool {
        let due = self.calls.iter().enumerate().filter(|(_, c)| c.due.is_some_and(|d| d.0 == self.now));
        let Some(at) = due.min_by_key(|(_, c)| c.due).map(|(at, _)| at) else { return false };
        self.calls[at].due = None;
        let (request, route, kind, state) = {
            let call = &self.calls[at];
            (call.request, call.route, call.kind, call.state)
        };
        let price = self.world.routes[route].price;
        if state == State::Lost {
            let bill = self.cancel_bill(route, kind);
            if self.world.requests[request].in_task {
                self.task.0 = self.task.0 - price + bill;
            }
            let live = &mut self.requests[request];
            live.spent = live.spent - price + bill;
            return true;
        }
        let bill =
            if state == State::Stopped { self.cancel_bill(route, kind) } else { full_bill(price, kind) };
        self.settle(at, bill);
        if state == State::Flying {
            self.calls[at].state = State::Lost;
            self.calls[at].timeout = None;
            match kind {
                Kind::Answer => self.told(at, Some(true)),
                Kind::Sick => self.told(at, Some(false)),
                Kind::Limited | Kind::Refused | Kind::BadKey => self.told(at, None),
            }
            match kind {
                Kind::Answer => self.reply(request, "answered"),
                Kind::Refused => self.reply(request, "terminal"),
                Kind::BadKey => {
                    self.closed_routes[route] = true;
                    if self.calls[at].is_hedge && self.flying(request) > 0 {
                        self.requests[request].barred = true;
                        self.requests[request].hedge = None;
                    } else {
                        self.reply(request, "terminal");
                    }
                }
                Kind::Limited | Kind::Sick => self.failed(request),
            }
        } else {
            self.calls[at].state = State::Lost;
            self.calls[at].give_up = None;
        }
        self.close_if_done(request);
        true
    }

    fn cancel_bill(&self, route: usize, kind: Kind) -> u64 {
        let route = &self.world.routes[route];
        if route.cancel_costs { full_bill(route.price, kind) } else { 0 }
    }

    /// The first timer that is due now: deadlines, then timeouts, then receipts given up, then retries.
    fn timer(&mut self) -> bool {
        let now = self.now;
        let is_due = |timer: Option<(u64, u64)>| timer.filter(|t| t.0 == now);
        let by_request = |pick: fn(&Request) -> Option<(u64, u64)>| {
            let due = self.requests.iter().enumerate().filter_map(|(at, r)| is_due(pick(r)).map(|t| (t, at)));
            due.min().map(|(_, at)| at)
        };
        let by_call = |pick: fn(&Call) -> Option<(u64, u64)>| {
            let due = self.calls.iter().enumerate().filter_map(|(at, c)| is_due(pick(c)).map(|t| (t, at)));
            due.min().map(|(_, at)| at)
        };
        if let Some(request) = by_request(|r| r.deadline) {
            self.reply(request, "deadline_exceeded");
            self.close_if_done(request);
        } else if let Some(call) = by_call(|c| c.timeout) {
            let request = self.calls[call].request;
            self.calls[call].timeout = None;
            self.stop(call, Some(false));
            self.failed(request);
            self.close_if_done(request);
        } else if let Some(call) = by_call(|c| c.give_up) {
            let (request, route) = (self.calls[call].request, self.calls[call].route);
            self.calls[call].give_up = None;
            self.settle(call, self.world.routes[route].price);
            self.calls[call].state = State::Lost;
            self.close_if_done(request);
        } else if let Some(request) = by_request(|r| r.hedge) {
            self.requests[request].hedge = None;
            self.hedge(request);
        } else if let Some(request) = by_request(|r| r.retry) {
            self.requests[request].retry = None;
            self.seek(request);
            self.close_if_done(request);
        } else {
            return false;
        }
        true
    }

    fn arrival(&mut self) -> bool {
        let (now, world) = (self.now, self.world);
        let Some(request) =
            (0..self.requests.len()).find(|at| !self.requests[*at].arrived && world.requests[*at].at == now)
        else {
            return false;
        };
        let number = self.number();
        self.requests[request].arrived = true;
        self.requests[request].deadline = Some((now + world.requests[request].deadline, number));
        self.seek(request);
        self.close_if_done(request);
        true
    }

    fn flying(&self, request: usize) -> u64 {
        self.calls.iter().filter(|c| c.request == request && c.state == State::Flying).count() as u64
    }

    /// Patience with a slow leg is over: another one, on a route where none is, if nothing speaks against it.
    fn hedge(&mut self, request: usize) {
        let (Some((_, legs_max)), legs) = (self.world.hedge, self.flying(request)) else { return };
        let live = &self.requests[request];
        if live.replied || legs == 0 || legs >= legs_max || live.attempts >= self.world.attempts_max {
            return;
        }
        let is_taken = |route| {
            self.calls.iter().any(|c| c.request == request && c.route == route && c.state == State::Flying)
        };
        let taken: Vec<bool> = (0..self.world.routes.len()).map(is_taken).collect();
        if let Ok(route) = self.look(request, self.now, &taken) {
            self.call(request, route, true);
        }
    }

    /// Calls the route that was called least, or says why there is none.
    fn seek(&mut self, request: usize) {
        match self.look(request, self.now, &[]) {
            Ok(route) => self.call(request, route, false),
            Err(why) => self.reply(request, why),
        }
    }

    fn look(&self, request: usize, at: u64, taken: &[bool]) -> Result<usize, &'static str> {
        let (asked, live) = (&self.world.requests[request], &self.requests[request]);
        let (mut best, mut lawful, mut closed, mut dear) = (None, false, false, false);
        for (route, facts) in self.world.routes.iter().enumerate() {
            if !facts.lawful || facts.price > asked.cap {
                continue;
            }
            lawful = true;
            if live.calls_on[route] >= self.world.calls_per_route_max || taken.get(route) == Some(&true) {
                continue;
            }
            let request_full = live.spent + live.held + facts.price > asked.cap;
            let task_full = asked.in_task && self.task.0 + self.task.1 + facts.price > self.world.task_cap;
            if request_full || task_full {
                dear = true;
            } else if self.closed_routes[route] || !self.lets_through(route, at) {
                closed = true;
            } else if best.is_none_or(|b: usize| live.calls_on[route] < live.calls_on[b]) {
                best = Some(route);
            }
        }
        match best {
            Some(route) => Ok(route),
            None if closed => Err("all_gated"),
            None if dear => Err("BUDGET_EXCEEDED"),
            None if lawful && live.has_failed => Err("exhausted"),
            None => Err("no_eligible_route"),
        }
    }

    fn lets_through(&self, route: usize, at: u64) -> bool {
        let breaker = &self.breakers[route];
        match breaker.open_until {
            Some(until) => at >= until,
            None => !(breaker.half_open && breaker.probing),
        }
    }

    fn call(&mut self, request: usize, route: usize, is_hedge: bool) {
        let (now, facts) = (self.now, &self.world.routes[route]);
        let reply = &facts.replies[self.taken[route].min(facts.replies.len() - 1)];
        self.taken[route] += 1;
        let breaker = &mut self.breakers[route];
        if self.world.breaker.is_some() {
            if breaker.open_until.is_some_and(|until| now >= until) {
                (breaker.open_until, breaker.half_open, breaker.failures) = (None, true, 0);
                breaker.era += 1;
            }
            breaker.probing = breaker.half_open;
        }
        let era = breaker.era;
        let deadline = self.requests[request].deadline.expect("a request has a deadline").0;
        let (due, timeout) = (self.number(), self.number());
        let timeout = self.world.attempt_timeout.map(|t| (now + t, timeout)).filter(|t| t.0 < deadline);
        self.calls.push(Call {
            request,
            route,
            began: now,
            due: Some((now + reply.after, due)),
            kind: reply.kind,
            is_hedge,
            era,
            state: State::Flying,
            timeout,
            give_up: None,
        });
        let live = &mut self.requests[request];
        live.attempts += 1;
        live.calls_on[route] += 1;
        live.held += facts.price;
        if self.world.requests[request].in_task {
            self.task.1 += facts.price;
        }
        self.events.push(Event::Called { ms: now, request, route });
        let Some((after, legs_max)) = self.world.hedge else { return };
        if !self.world.requests[request].side_effects && self.flying(request) < legs_max {
            let number = self.number();
            let due = (now + after < deadline).then_some((now + after, number));
            self.requests[request].hedge = due.or(self.requests[request].hedge);
        }
    }

    fn settle(&mut self, call: usize, bill: u64) {
        let (request, price) = (self.calls[call].request, self.world.routes[self.calls[call].route].price);
        let live = &mut self.requests[request];
        live.held -= price;
        live.spent += bill;
        if self.world.requests[request].in_task {
            self.task = (self.task.0 + bill, self.task.1 - price);
        }
    }

    /// A breaker hears of a result: good, bad, or nothing.
    fn told(&mut self, call: usize, good: Option<bool>) {
        let Some((failures_max, open_for)) = self.world.breaker else { return };
        let (now, Call { route, era, .. }) = (self.now, &self.calls[call]);
        let breaker = &mut self.breakers[*route];
        if breaker.era != *era {
            return;
        }
        let was_probe = std::mem::take(&mut breaker.probing);
        match good {
            None => {}
            Some(true) => {
                breaker.failures = 0;
                if was_probe {
                    breaker.half_open = false;
                    breaker.era += 1;
                }
            }
            Some(false) => {
                breaker.failures += 1;
                if was_probe || breaker.failures >= failures_max {
                    *breaker = Breaker {
                        open_until: Some(now + open_for),
                        era: breaker.era + 1,
                        ..Breaker::default()
                    };
                }
            }
        }
    }

    fn stop(&mut self, call: usize, good: Option<bool>) {
        self.told(call, good);
        let (receipt, number) = (self.world.routes[self.calls[call].route].receipt, self.number());
        let give_up = Some((self.now + self.world.receipt_max, self.number()));
        let call = &mut self.calls[call];
        debug_assert!(call.began <= self.now);
        call.state = State::Stopped;
        call.timeout = None;
        call.due = receipt.map(|after| (self.now + after, number));
        call.give_up = give_up;
    }

    /// A call of an unanswered request failed.
    fn failed(&mut self, request: usize) {
        let (now, backoff) = (self.now, self.world.backoff);
        let live = &mut self.requests[request];
        if live.replied {
            return;
        }
        live.has_failed = true;
        if self.flying(request) > 0 {
            return;
        }
        let live = &mut self.requests[request];
        if live.barred {
            return self.reply(request, "terminal");
        }
        live.hedge = None;
        if live.attempts >= self.world.attempts_max {
            return self.reply(request, "exhausted");
        }
        let deadline = live.deadline.expect("a request has a deadline").0;
        match self.look(request, now + backoff, &[]) {
            Err(why) => self.reply(request, why),
            Ok(_) if backoff == 0 => self.seek(request),
            Ok(_) if now + backoff >= deadline => self.reply(request, "exhausted"),
            Ok(_) => {
                let number = self.number();
                self.requests[request].retry = Some((now + backoff, number));
            }
        }
    }

    fn reply(&mut self, request: usize, outcome: &str) {
        let live = &mut self.requests[request];
        (live.replied, live.deadline, live.retry, live.hedge) = (true, None, None, None);
        let (ms, attempts) = (self.now, live.attempts);
        self.events.push(Event::Replied { ms, request, outcome: outcome.to_owned(), attempts });
        for call in 0..self.calls.len() {
            if self.calls[call].request == request && self.calls[call].state == State::Flying {
                self.stop(call, None);
            }
        }
    }

    fn close_if_done(&mut self, request: usize) {
        let open = self.calls.iter().any(|c| c.request == request && c.state != State::Lost);
        let live = &mut self.requests[request];
        if live.replied && !live.closed && !open {
            live.closed = true;
            self.events.push(Event::Closed { ms: self.now, request, cents: live.spent });
        }
    }
}

/// What a call is billed if it runs to its end.
fn full_bill(price: u64, kind: Kind) -> u64 {
    match kind {
        Kind::Answer => price,
        Kind::Sick => price / 2,
        Kind::Limited | Kind::Refused | Kind::BadKey => 0,
    }
}
