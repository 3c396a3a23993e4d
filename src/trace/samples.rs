//! A hand-made world for the tests of what reads entries: every kind of event, every variant in it, and one
//! request whose story is told from its arrival to its last bill.

use crate::gateway::*;
use crate::policy::cooldown::Bench;
use crate::policy::eligibility::{Envelope, Offer, Reason, Reasons};
use crate::policy::ledger::{Amount, Denied, Level, Settlement, Unit};
use crate::policy::prices::{Prices, Tier, Usage};
use crate::policy::signal::Signal;
use crate::policy::taxonomy::{Class, Diagnosis, Hint, Resend, Scope};
use crate::policy::{breaker, health, ranking};
use crate::sim::*;
use crate::units::*;

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
    catalog.tasks = vec![TaskFact { name: name("task-1"), cap }];
    catalog.sources = vec![
        SourceFact { name: name("req-demo-002"), kind: SourceKind::Listed },
        SourceFact { name: name("load"), kind: SourceKind::Stream },
    ];
    catalog.limits = Limits { attempts_max: 2, attempt_max: cap, hint_max: ms(60_000), ..Limits::default() };
    catalog.versions = Versions {
        policy: Some(name("route-policy-v3")),
        prices: Some(name("prices-2026-07")),
        registry: Some(name("registry-12")),
    };
    for text in ["status:429", "rate_limited", "overloaded", "invalid_auth"] {
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
        payer: Payer { task: Some(TaskId(0)), tenant: Some(TenantId(0)) },
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
        draw: 7,
    }
}

/// Tells one entry after the other.
pub(crate) struct Stage<'a, O> {
    observer: &'a mut O,
    seq: u64,
    now: Timestamp,
    cause: Option<u64>,
}

impl<'a, O: Observer> Stage<'a, O> {
    /// At the beginning.
    pub(crate) fn new(observer: &'a mut O) -> Stage<'a, O> {
        Stage { observer, seq: 0, now: Timestamp::ZERO, cause: None }
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
        self.observer.entry(&Entry { seq: self.seq, at: self.now, cause: self.cause, what });
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
        Declared::Task(TaskId(0)),
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
    let named = RequestName { source: 0, ordinal: 0 };
    stage.first(at(0), What::Arrived { request: &request(), name: named });
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
        What::CallEnded { call: CALL[0], truth, health: None, code: Some(diagnosis.code), receipt: &nothing },
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
    let usage = Usage { input: 8_000, output: 1_000, ..Usage::default() };
    let paid = Receipt { result: Answer::Answered, usage, bill: Bill::Exact(cents(16)) };
    stage.first(
        at(630),
        What::CallEnded { call: CALL[1], truth: None, health: None, code: None, receipt: &paid },
    );
    end(&mut stage, CALL[1], cents(16), 9_000, (None, Signal::Good));
    let outcome = Outcome::Answered { route: FALLBACK };
    stage.act(Action::Reply { request: REQUEST, outcome, attempts: 2, left: ms(570) });
    stage.act(Action::Close { request: REQUEST, spent: cents(16) });
}

const OUTRANKED: Verdict = Verdict::Outranked { by: ranking::Key::Order };

fn seek<O: Observer>(stage: &mut Stage<'_, O>, route: RouteId, verdicts: [Verdict; 2]) {
    let candidate = |route, verdict| Candidate { route, verdict, worst_case: cents(16) };
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

/// Everything else that an entry can say, in no sensible order.
pub(crate) fn oddities(observer: &mut impl Observer) {
    let catalog = catalog();
    let mut stage = Stage::new(observer);
    let arrived = Request {
        payer: Payer::default(),
        envelope: Envelope {
            deployments: Set64::of(1),
            task_type: Some(1),
            protocol: Some(name(&catalog, "chat-completions")),
            contract: Some(name(&catalog, "tool-schema-v2")),
            estimate: Usage { input: 1, cache_read: 2, cache_write: 3, image: 4, audio: 5, output: 6 },
            cost_max: Money::MAX,
            tokens_max: 77,
            ..request().envelope
        },
        deadline: Timestamp::MAX,
        delivery: Delivery::Stream,
        ..request()
    };
    stage.first(at(5), What::Arrived { request: &arrived, name: RequestName { source: 1, ordinal: 16 } });
    stage.act(Action::Call(call(1, PRIMARY, Role::Retry)));
    stage.then(What::CallBegun {
        call: CALL[0],
        request: REQUEST,
        route: PRIMARY,
        credential: CredentialId(0),
        scripted: Scripted::Forbidden,
    });
    odd_facts(&mut stage, &catalog);
    odd_verdicts(&mut stage);
    odd_decisions(&mut stage, &catalog);
    odd_outcomes(&mut stage, &catalog);
}

const BENCHES: [Bench; 5] = [
    Bench::Credential(CredentialId(0)),
    Bench::Project(ProjectId(0)),
    Bench::Model(ProjectId(0), ModelId(0)),
    Bench::Provider(ProviderId(0)),
    Bench::Route(PRIMARY),
];

fn odd_facts<O: Observer>(stage: &mut Stage<'_, O>, catalog: &Catalog) {
    let [call, _] = CALL;
    stage.then(What::CallVisible { call });
    stage.then(What::CallLost { call });
    stage.then(What::Abandoned { request: REQUEST });
    let waits = [Wait::Attempt(call), Wait::FirstByte(call), Wait::Idle(call), Wait::Receipt(call)];
    let others = [Wait::Deadline(REQUEST), Wait::Health(HealthId(0)), Wait::Retry(REQUEST)];
    for wait in waits.into_iter().chain(others) {
        stage.then(What::Woke { wait });
    }
    let commands = [Command::ResetBreaker(BreakerId(0)), Command::ResetHealth(HealthId(0))];
    for command in BENCHES.map(Command::ResetBench).into_iter().chain(commands) {
        stage.then(What::Operated { command });
    }
    let usage = Usage { input: 1, cache_read: 2, cache_write: 3, image: 4, audio: 5, output: 6 };
    let results = [Answer::Cancelled, Answer::Failed(rate_limited(catalog, Hint::Absent))];
    for result in results {
        let receipt = Receipt { result, usage, bill: Bill::Unknown };
        let (truth, health) = (Some(Class::Overload), Some(Signal::Neutral));
        stage.then(What::CallEnded { call, truth, health, code: None, receipt: &receipt });
    }
}

fn odd_verdicts<O: Observer>(stage: &mut Stage<'_, O>) {
    let excluded = |reasons, missing| Verdict::Excluded { reasons, missing };
    let residency = Reason::ALL.into_iter().skip(1).fold(Reasons::ALL, Reasons::without);
    let verdicts = [
        excluded(Reasons::ALL, Some(2)),
        excluded(residency, None),
        Verdict::Gated { gate: Gate::Breaker, retry_at: Some(at(900)) },
        Verdict::Gated { gate: Gate::Cooldown, retry_at: None },
        Verdict::Spent,
        Verdict::Unaffordable { level: Level::Tenant },
        Verdict::Chosen { by: None },
    ];
    let candidates = verdicts.map(|verdict| Candidate { route: FALLBACK, verdict, worst_case: cents(64) });
    stage.then(What::Considered { request: REQUEST, candidates: &candidates });
    stage.then(What::Considered { request: REQUEST, candidates: &candidates[..2] });
}

fn odd_decisions<O: Observer>(stage: &mut Stage<'_, O>, catalog: &Catalog) {
    let [call, _] = CALL;
    stage.act(Action::Commit { request: REQUEST, call });
    stage.act(Action::Cancel { call, why: Class::Abandoned });
    for (level, unit) in [(Level::Request, Unit::Money), (Level::Task, Unit::Tokens)] {
        let denied = Denied { level, unit, settled: 20, held: 1, wanted: 42, cap: 50 };
        stage.decide(Decision::Denied { request: REQUEST, route: FALLBACK, denied });
    }
    for hint in [Hint::After(ms(30_000)), Hint::At(at(31_000))] {
        let diagnosis = Diagnosis { health: Some(Signal::Bad), ..rate_limited(catalog, hint) };
        stage.decide(Decision::Classified { call, diagnosis });
    }
    let transition = breaker::Transition {
        from: breaker::State::Closed,
        to: breaker::State::Open,
        generation: 2,
        until: at(5_000).into(),
    };
    stage.decide(Decision::BreakerMoved { breaker: BreakerId(0), transition });
    let moved = |from, to, until| health::Move { from, to, until };
    let down = moved(health::State::Degraded, health::State::Unhealthy, Some(at(60_000)));
    let up = moved(health::State::Unhealthy, health::State::Healthy, None);
    for moved in [down, up] {
        stage.decide(Decision::HealthMoved { health: HealthId(0), moved });
    }
    for (what, until) in BENCHES.into_iter().zip([Timestamp::MAX, at(9), at(9), at(9), at(9)]) {
        stage.decide(Decision::Benched { what, until, class: Class::Auth });
        stage.decide(Decision::Freed { what });
    }
    let failure = Failure { class: Class::Auth, code: Some(name(catalog, "invalid_auth")) };
    stage.decide(Decision::Alerted { credential: CredentialId(0), failure });
    let settlement = Settlement {
        reserved: Amount { money: cents(16), tokens: 9_000 },
        actual: Amount { money: cents(20), tokens: 9_001 },
        window: 3,
    };
    for basis in [Basis::Assumed, Basis::Corrected] {
        stage.decide(Decision::Settled { call, basis, settlement });
    }
    stage.decide(Decision::RetryScheduled {
        request: REQUEST,
        at: at(35_000),
        delay: ms(30_000),
        hint: ms(30_000),
        route: PRIMARY,
        amount: cents(16),
    });
    for why in [WaitRefusal::Deadline, WaitRefusal::TooLong] {
        stage.decide(Decision::WaitRefused { request: REQUEST, wait: ms(30_000), left: ms(800), why });
    }
    for class in [Class::AttemptTimeout, Class::FirstByteTimeout, Class::IdleTimeout, Class::Deadline] {
        stage.decide(Decision::TimedOut { call, class });
    }
}

fn odd_outcomes<O: Observer>(stage: &mut Stage<'_, O>, catalog: &Catalog) {
    let last = Failure { class: Class::Overload, code: Some(name(catalog, "overloaded")) };
    for outcome in [
        Outcome::Truncated { route: PRIMARY, last },
        Outcome::Terminal { last },
        Outcome::Exhausted { limit: Limit::Attempts, last },
        Outcome::BudgetExceeded { level: Level::Request, last: Some(last) },
        Outcome::BudgetExceeded { level: Level::Tenant, last: None },
        Outcome::AllGated { retry_at: Some(at(900)), last: None },
        Outcome::AllGated { retry_at: None, last: Some(last) },
        Outcome::NoEligibleRoute,
        Outcome::DeadlineExceeded { last: Some(last) },
        Outcome::Abandoned,
    ] {
        stage.act(Action::Reply { request: REQUEST, outcome, attempts: 1, left: Duration::ZERO });
    }
}
