//! A hand-made world for the tests of what reads entries: every kind of event, every variant in it, and one
//! request whose story is told from its arrival to its last bill.

use crate::gateway::*;
use crate::policy::cooldown::Bench;
use crate::policy::eligibility::{Envelope, Offer, Reason, Reasons};
use crate::policy::hedge::After;
use crate::policy::ledger::{Amount, Denied, Level, Settlement, Unit};
use crate::policy::prices::{Prices, Tier, Usage};
use crate::policy::signal::Signal;
use crate::policy::taxonomy::{Class, Diagnosis, Hint, Resend, Scope};
use crate::policy::{breaker, health, ranking};
use crate::sim::*;
use crate::units::*;

mod oddities;
mod stacked;

pub(crate) use oddities::{declared, limited, oddities, statuses};
pub(crate) use stacked::{stack, stacked};

const REQUEST: RequestId = RequestId(0);
const CALL: [CallId; 2] = [CallId(0), CallId(1)];
const PRIMARY: RouteId = RouteId(0);
const FALLBACK: RouteId = RouteId(1);

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn at(n: u64) -> Timestamp {
    Timestamp::ZERO.after(ms(n))
}

fn cents(tenths: u64) -> Money {
    Money::from_picos(1_000_000_000).times(tenths)
}

/// Two routes, a tenant, a task, a listed request and a stream of requests.
pub(crate) fn catalog() -> Catalog {
    catalog_after(Names::default())
}

/// The same, with names that were known before.
pub(crate) fn catalog_after(names: Names) -> Catalog {
    let mut catalog = Catalog { names, ..Catalog::default() };
    let mut name = |text: &str| catalog.names.intern(text);
    catalog.classes = vec![name("public"), name("internal"), name("restricted")];
    catalog.capabilities = vec![name("tools"), name("json"), name("vision")];
    catalog.regions = vec![name("region-a"), name("region-b")];
    catalog.deployments = vec![name("shared"), name("dedicated")];
    catalog.task_types = vec![name("chat"), name("extraction")];
    catalog.providers = vec![name("north"), name("south")];
    catalog.models = vec![name("aurora-1"), name("borealis-2")];
    catalog.projects = vec![name("project-n"), name("project-s")];
    catalog.breakers = vec![name("north/aurora-1/region-a"), name("south/borealis-2/region-a")];
    catalog.healths = catalog.breakers.clone();
    catalog.credentials = vec![
        CredentialFact { name: name("key-n"), project: ProjectId(0) },
        CredentialFact { name: name("key-s"), project: ProjectId(1) },
    ];
    let (http, schema) = (name("chat-completions"), name("tool-schema-v2"));
    let route = |name, at: u16, offer| RouteFact {
        name,
        provider: ProviderId(at),
        model: ModelId(at),
        pool: vec![CredentialId(at)],
        offer,
        breaker: BreakerId(at),
        health: HealthId(at),
        profile: Profile::default(),
        merits: Merits::default(),
    };
    let tier = Tier {
        input: Price::from_picos_per_token(1_000_000),
        output: Price::from_picos_per_token(8_000_000),
        ..Tier::default()
    };
    let offer = Offer {
        capabilities: Set64::of(0).with(Set64::of(1)),
        region: Set64::of(0),
        deployment: Set64::of(0),
        class_max: 2,
        task_types: Set64::ALL,
        protocol: None,
        contract: None,
        context_max: u64::MAX,
        output_max: u32::MAX,
        prices: Prices { base: tier, long: None },
    };
    let dear = Tier {
        cache_read: Price::from_picos_per_token(100_000),
        cache_write: Price::from_picos_per_token(1_250_000),
        image: Price::from_picos_per_token(2_000_000),
        audio: Price::from_picos_per_token(3_000_000),
        ..tier
    };
    let rich = Offer {
        task_types: Set64::of(1),
        protocol: Some(http),
        contract: Some(schema),
        context_max: 128_000,
        output_max: 4_096,
        prices: Prices { base: dear, long: Some((100_000, dear)) },
        ..offer
    };
    catalog.routes = vec![route(name("primary"), 0, offer), route(name("fallback"), 1, rich)];
    let cap = Amount { money: cents(1_000), tokens: 1_000_000 };
    catalog.tenants = vec![TenantFact { name: name("tenant-7f3a"), cap, window: Some(ms(60_000)) }];
    catalog.tasks = vec![TaskFact { name: name("task-1"), cap }, TaskFact { name: name("turn"), cap }];
    catalog.sources = vec![
        SourceFact { name: name("req-demo-002"), kind: SourceKind::Listed, content: None },
        SourceFact { name: name("load"), kind: SourceKind::Stream, content: Some(name("look it up")) },
        SourceFact { name: name("plan"), kind: SourceKind::Step { job: 1, times: 1 }, content: None },
        SourceFact { name: name("act"), kind: SourceKind::Step { job: 1, times: 5 }, content: None },
    ];
    catalog.limits = Limits {
        attempts_max: 2,
        attempt_max: cap,
        hint_max: ms(60_000),
        hedge: Some(After::Fixed(ms(200))),
        ..Limits::default()
    };
    catalog.quotas =
        vec![QuotaFact { project: ProjectId(0), model: Some(ModelId(0)), limit: 500, used: 120 }];
    catalog.versions = Versions {
        policy: Some(name("route-policy-v3")),
        prices: Some(name("prices-2026-07")),
        registry: Some(name("registry-12")),
    };
    for text in ["daily_quota", "status:429", "rate_limited", "overloaded", "invalid_auth"] {
        name(text);
    }
    catalog
}

fn name(catalog: &Catalog, text: &str) -> Name {
    catalog.names.clone().intern(text)
}

/// The request of the story.
pub(crate) fn request() -> Request {
    Request {
        id: REQUEST,
        payer: Payer { task: Some(Task { id: TaskId(0), kind: 0 }), tenant: Some(TenantId(0)) },
        envelope: Envelope {
            capabilities: Set64::of(0).with(Set64::of(1)),
            regions: Set64::of(0),
            deployments: Set64::ALL,
            class: 2,
            task_type: None,
            protocol: None,
            contract: None,
            estimate: Usage { input: 8_000, output: 1_000, ..Usage::default() },
            cost_max: cents(30),
            tokens_max: u64::MAX,
        },
        deadline: at(1_200),
        delivery: Delivery::Whole,
        effect: SideEffect::None,
        priority: 0,
        content: None,
        draw: 7,
    }
}

/// Tells one entry after the other.
pub(crate) struct Stage<'a, O> {
    observer: &'a mut O,
    seq: u64,
    now: Timestamp,
    cause: Option<u64>,
    layer: LayerId,
}

impl<'a, O: Observer> Stage<'a, O> {
    /// At the beginning.
    pub(crate) fn new(observer: &'a mut O) -> Stage<'a, O> {
        Stage { observer, seq: 0, now: Timestamp::ZERO, cause: None, layer: LayerId::INNERMOST }
    }

    /// From here on it tells entries of this layer.
    fn turn_to(&mut self, layer: LayerId) {
        self.layer = layer;
    }

    /// Something that nothing in the trace caused; what comes next is caused by it.
    pub(crate) fn first(&mut self, now: Timestamp, what: What<'_>) {
        self.now = now;
        self.cause = None;
        self.then(what);
        self.cause = Some(self.seq - 1);
    }

    /// Something that the last cause caused.
    pub(crate) fn then(&mut self, what: What<'_>) {
        self.observer.entry(&Entry {
            seq: self.seq,
            at: self.now,
            cause: self.cause,
            layer: self.layer,
            what,
        });
        self.seq += 1;
    }

    fn act(&mut self, action: Action) {
        self.then(What::Acted(&action));
    }

    fn decide(&mut self, decision: Decision) {
        self.then(What::Decided(&decision));
    }
}

fn call(nth: u32, route: RouteId, role: Role) -> Call {
    Call {
        call: CALL[nth as usize - 1],
        request: REQUEST,
        route,
        credential: CredentialId(route.0),
        nth,
        role,
        breaker: BreakerId(route.0),
        generation: 1,
    }
}

fn rate_limited(catalog: &Catalog, hint: Hint) -> Diagnosis {
    Diagnosis {
        class: Class::RateLimit,
        scope: Scope::Credential,
        resend: Resend::Same,
        hint,
        health: None,
        rule: name(catalog, "status:429"),
        code: name(catalog, "rate_limited"),
    }
}

fn preamble<O: Observer>(stage: &mut Stage<'_, O>) {
    for declared in [
        Declared::Limits,
        Declared::Tenant(TenantId(0)),
        Declared::Task(0),
        Declared::Route(PRIMARY),
        Declared::Route(FALLBACK),
    ] {
        stage.first(Timestamp::ZERO, What::Declared(declared));
    }
}

/// One 429, one fallback: answered at 630 ms.
pub(crate) fn bounded(observer: &mut impl Observer) {
    let catalog = catalog();
    let mut stage = Stage::new(observer);
    preamble(&mut stage);
    let named = RequestName::of(0, 0);
    stage.first(at(0), What::Arrived { request: &request(), name: named, by: None });
    seek(&mut stage, PRIMARY, [Verdict::Chosen { by: Some(ranking::Key::Order) }, OUTRANKED]);
    begin(&mut stage, &call(1, PRIMARY, Role::Primary));
    let diagnosis = rate_limited(&catalog, Hint::Absent);
    let nothing = Receipt {
        result: Answer::Failed(diagnosis),
        usage: Usage::default(),
        bill: Bill::Exact(Money::ZERO),
    };
    let truth = Some(Class::RateLimit);
    stage.first(
        at(80),
        What::CallEnded {
            call: CALL[0],
            truth,
            health: None,
            code: Some(diagnosis.code),
            status: Some(429),
            receipt: &nothing,
        },
    );
    stage.decide(Decision::Classified { call: CALL[0], diagnosis });
    end(&mut stage, CALL[0], Money::ZERO, 0, (truth, Signal::Neutral));
    stage.decide(Decision::RetryScheduled {
        request: REQUEST,
        at: at(180),
        delay: ms(100),
        hint: Duration::ZERO,
        route: FALLBACK,
        amount: cents(16),
    });
    stage.first(at(180), What::Woke { wait: Wait::Retry(REQUEST) });
    let by = Some(ranking::Key::Tries);
    let tried = Verdict::Outranked { by: ranking::Key::Tries };
    seek(&mut stage, FALLBACK, [tried, Verdict::Chosen { by }]);
    begin(&mut stage, &call(2, FALLBACK, Role::Fallback));
    answer(&mut stage, at(630), CALL[1]);
    end(&mut stage, CALL[1], cents(16), 9_000, (None, Signal::Good));
    let outcome = Outcome::Answered { route: FALLBACK };
    stage.act(Action::Reply { request: REQUEST, outcome, attempts: 2, left: ms(570) });
    stage.act(Action::Close { request: REQUEST, spent: cents(16) });
}

/// A hedge: the second leg is answered at 700 ms, the first is cancelled and billed in full at 1,000 ms.
pub(crate) fn hedged(observer: &mut impl Observer) {
    let mut stage = Stage::new(observer);
    let named = RequestName::of(0, 0);
    stage.first(at(0), What::Arrived { request: &request(), name: named, by: None });
    seek(&mut stage, PRIMARY, [Verdict::Chosen { by: Some(ranking::Key::Order) }, OUTRANKED]);
    begin(&mut stage, &call(1, PRIMARY, Role::Primary));
    stage.first(at(200), What::Woke { wait: Wait::Hedge(REQUEST) });
    seek(&mut stage, FALLBACK, [Verdict::Taken, Verdict::Chosen { by: None }]);
    begin(&mut stage, &call(2, FALLBACK, Role::Hedge));
    answer(&mut stage, at(700), CALL[1]);
    end(&mut stage, CALL[1], cents(16), 9_000, (None, Signal::Good));
    let outcome = Outcome::Answered { route: FALLBACK };
    stage.act(Action::Reply { request: REQUEST, outcome, attempts: 2, left: ms(500) });
    stage.act(Action::Cancel { call: CALL[0], why: Class::Cancelled });
    let receipt = Receipt { result: Answer::Cancelled, ..paid() };
    let truth = Some(Class::Cancelled);
    stage.first(
        at(1_000),
        What::CallEnded { call: CALL[0], truth, health: None, code: None, status: None, receipt: &receipt },
    );
    end(&mut stage, CALL[0], cents(16), 9_000, (truth, Signal::Neutral));
    stage.act(Action::Close { request: REQUEST, spent: cents(32) });
}

/// A turn: one step waits for a slot and meets a used-up quota on the least bad route; the next is stopped by the
/// fuse of the task. Another turn beside it is none of its business.
pub(crate) fn turn(observer: &mut impl Observer) {
    let catalog = catalog();
    let mut stage = Stage::new(observer);
    stage.first(at(0), What::Declared(Declared::Task(1)));
    stage.first(at(0), What::Declared(Declared::Quota(0)));
    for (slot, ordinal) in [(2, 2), (3, 3)] {
        let name = TaskName { kind: 1, ordinal: Some(ordinal) };
        stage.first(at(0), What::TaskBegan { task: TaskId(slot), name });
    }
    let payer = Payer { task: Some(Task { id: TaskId(2), kind: 1 }), tenant: None };
    let asked = Request { payer, priority: 7, ..request() };
    stage.then(What::Arrived { request: &asked, name: RequestName::of(2, 2), by: None });
    stage.decide(Decision::Queued { request: REQUEST, waiting: 1 });
    let sick = |route, verdict| Candidate {
        route,
        verdict,
        worst_case: cents(16),
        health: health::State::Unhealthy,
    };
    let chosen = Verdict::Chosen { by: Some(ranking::Key::Health) };
    let candidates = [sick(PRIMARY, chosen), sick(FALLBACK, Verdict::Outranked { by: ranking::Key::Health })];
    stage.first(at(5), What::Considered { request: REQUEST, candidates: &candidates });
    begin(&mut stage, &call(1, PRIMARY, Role::Primary));
    let diagnosis = Diagnosis {
        class: Class::RateLimit,
        code: name(&catalog, "daily_quota"),
        ..rate_limited(&catalog, Hint::Absent)
    };
    let receipt = Receipt {
        result: Answer::Failed(diagnosis),
        usage: Usage::default(),
        bill: Bill::Exact(Money::ZERO),
    };
    let truth = Some(Class::QuotaExhausted);
    stage.first(
        at(45),
        What::CallEnded { call: CALL[0], truth, health: None, code: None, status: None, receipt: &receipt },
    );
    stage.decide(Decision::HedgeSkipped { request: REQUEST, why: HedgeSkip::Fuse });
    stage.decide(Decision::Blew { fuse: FuseKind::CallsPerTask, request: REQUEST, calls: 24 });
    let outcome = Outcome::Stopped { reason: StopReason::CallsPerTask, last: None };
    stage.act(Action::Reply { request: REQUEST, outcome, attempts: 1, left: Duration::ZERO });
    stage.act(Action::Close { request: REQUEST, spent: Money::ZERO });
    let name = RequestName::of(3, 11);
    stage.first(at(50), What::Arrived { request: &asked, name, by: None });
    stage.act(Action::Reply { request: REQUEST, outcome, attempts: 0, left: Duration::ZERO });
    stage.act(Action::Close { request: REQUEST, spent: Money::ZERO });
    for (slot, end) in [(2, TaskEnd::Failed), (3, TaskEnd::Answered)] {
        stage.first(at(60), What::TaskEnded { task: TaskId(slot), end });
    }
}

const OUTRANKED: Verdict = Verdict::Outranked { by: ranking::Key::Order };

fn seek<O: Observer>(stage: &mut Stage<'_, O>, route: RouteId, verdicts: [Verdict; 2]) {
    let candidate =
        |route, verdict| Candidate { route, verdict, worst_case: cents(16), health: health::State::Healthy };
    let candidates = [candidate(PRIMARY, verdicts[0]), candidate(FALLBACK, verdicts[1])];
    stage.then(What::Considered { request: REQUEST, candidates: &candidates });
    let amount = Amount { money: cents(16), tokens: 9_000 };
    stage.decide(Decision::Reserved { request: REQUEST, route, amount, window: 0 });
}

fn begin<O: Observer>(stage: &mut Stage<'_, O>, call: &Call) {
    stage.act(Action::Call(*call));
    let Call { call, request, route, credential, .. } = *call;
    stage.then(What::CallBegun { call, request, route, credential, scripted: Scripted::Foreseen });
}

fn paid() -> Receipt {
    let usage = Usage { input: 8_000, output: 1_000, ..Usage::default() };
    Receipt { result: Answer::Answered, usage, bill: Bill::Exact(cents(16)) }
}

/// A call is answered, with 8,000 and 1,000 tokens.
fn answer<O: Observer>(stage: &mut Stage<'_, O>, at: Timestamp, call: CallId) {
    let receipt = &paid();
    let (truth, health, code, status) = (None, None, None, Some(200));
    stage.first(at, What::CallEnded { call, truth, health, code, status, receipt });
}

fn end<O: Observer>(
    stage: &mut Stage<'_, O>,
    call: CallId,
    bill: Money,
    tokens: u64,
    (class, signal): (Option<Class>, Signal),
) {
    let settlement = Settlement {
        reserved: Amount { money: cents(16), tokens: 9_000 },
        actual: Amount { money: bill, tokens },
        window: 0,
    };
    stage.decide(Decision::Settled { call, basis: Basis::Receipt, settlement });
    stage.decide(Decision::Signalled {
        call,
        breaker: BreakerId(call.0 as u16),
        health: HealthId(call.0 as u16),
        class,
        signal,
        standing: Freshness::Fresh,
        breaker_failures: 0,
        health_failures: 0,
    });
}
