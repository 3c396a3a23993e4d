//! Everything that an entry can say and the stories do not.

use super::*;
use crate::gateway::{FuseState, Purse, Status};
use crate::policy::backoff::{Backoff, Jitter};
use crate::policy::fuse::Repeats;
use crate::policy::hedge::After;
use crate::policy::ledger::Reserve;
use crate::policy::ranking::{Key, Order};
use crate::units::Ratio;

/// Everything else that an entry can say, in no sensible order.
pub(crate) fn oddities(observer: &mut impl Observer) {
    let catalog = catalog();
    let mut stage = Stage::new(observer);
    odd_tasks(&mut stage);
    let arrived = Request {
        payer: Payer { task: Some(Task { id: TaskId(1), kind: 0 }), tenant: None },
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
        effect: SideEffect::Some,
        priority: 9,
        ..request()
    };
    stage.first(at(5), What::Arrived { request: &arrived, name: RequestName::of(1, 16), by: None });
    stage.act(Action::Call(call(1, PRIMARY, Role::Retry)));
    stage.then(What::CallBegun {
        call: CALL[0],
        request: REQUEST,
        route: PRIMARY,
        credential: CredentialId(0),
        scripted: Scripted::Forbidden,
    });
    odd_facts(&mut stage, &catalog);
    odd_verdicts(&mut stage, &catalog);
    odd_decisions(&mut stage, &catalog);
    odd_outcomes(&mut stage, &catalog);
}

/// Everything that a gateway can show of itself, in a world with every limit there is.
pub(crate) fn statuses(observer: &mut impl Observer) {
    let catalog = limited();
    let mut stage = Stage::new(observer);
    stage.first(at(0), What::TaskBegan { task: TaskId(2), name: TaskName { kind: 1, ordinal: Some(2) } });
    stage.then(What::Operated { command: Command::Show });
    let (task, failure) = (Task { id: TaskId(2), kind: 1 }, Failure { class: Class::Funds, code: None });
    let retry_at = Some(at(900));
    let mut show = |status| stage.decide(Decision::Shown(status));
    show(Status::Breaker { breaker: BreakerId(0), state: breaker::State::Open, retry_at });
    show(Status::Health { health: HealthId(0), state: health::State::Unhealthy, until: retry_at });
    for what in BENCHES {
        show(Status::Bench { what, until: at(900) });
    }
    let state = FuseState::Blown;
    show(Status::Fuse { fuse: FuseKind::CallsPerRun, task: None, calls: 1_000, state });
    for fuse in [FuseKind::CallsPerTask, FuseKind::IdenticalPerTask, FuseKind::FailingPerTask] {
        show(Status::Fuse { fuse, task: Some(task), calls: 4, state: FuseState::Whole });
    }
    let code = Some(name(&catalog, "overloaded"));
    show(Status::Stopped { project: None, failure });
    show(Status::Stopped { project: Some(ProjectId(0)), failure: Failure { code, ..failure } });
    let settled = Amount { money: cents(16), tokens: 9_000 };
    for of in [Purse::Task(task), Purse::Tenant(TenantId(0))] {
        show(Status::Budget { of, settled, held: settled });
    }
    stage.then(What::RunEnded);
}

/// The sample catalogue with every limit there is.
pub(crate) fn limited() -> Catalog {
    let mut catalog = catalog();
    catalog.limits = Limits {
        route_legs_max: 8,
        task_legs_max: 5,
        tenant_legs_max: 20,
        calls_per_task: Some(24),
        calls_per_run: Some(1_000),
        repeats: Repeats { identical: Some(4), failing: Some(6) },
        terminal_scope: FuseScope::Run,
        calls_per_route_max: 2,
        seeks_max: 16,
        reserve_retries: 1,
        reserve: Reserve::CheckOnly,
        timeouts: Timeouts { attempt: Some(ms(500)), first_byte: Some(ms(200)), idle: Some(ms(100)) },
        receipt_max: ms(60_000),
        backoff: Some(Backoff { jitter: Jitter::PlusMinus(Ratio::percent(25)), ..Backoff::default() }),
        hedge: Some(After::P95 { least: ms(50) }),
        queue_max: 1_000,
        when_open: WhenOpen::Wait,
        ranking: Ranking {
            order: Order::new(&[Key::Price, Key::Health]),
            latency_step: ms(100),
            latency_samples_min: 5,
        },
        ..catalog.limits
    };
    catalog.machines.taxonomy.signal[Class::RateLimit as usize] = Signal::Good;
    catalog.machines.breaker = Some(breaker::Config {
        trip: breaker::Trip::Rate {
            bad: Ratio::percent(50),
            of: breaker::RateOf::Results,
            rounding: breaker::Rounding::Exact,
        },
        window: breaker::WindowModel::Rolling { over: ms(10_000), parts: 10 },
        slow: Some(breaker::Slow { over: ms(2_000), share: Ratio::percent(50) }),
        late: breaker::Late::Counts,
        neutral: breaker::Neutral::Success,
        boundary: breaker::Boundary::Exclusive,
        ..breaker::Config::default()
    });
    let own = catalog.machines.breaker.clone().expect("it was just stated");
    catalog.machines.own_breakers = vec![(BreakerId(1), own)];
    catalog.approvals = vec![Approval { on: Class::Funds, route: FALLBACK, cost_max: cents(2_000) }];
    catalog.routes[1].merits = Merits { latency_p95: ms(400), quality: 90, weight: 3 };
    catalog.routes[1].profile = Profile {
        calls_per_route_max: Some(7),
        backoff: catalog.limits.backoff,
        timeouts: Some(catalog.limits.timeouts),
    };
    catalog
}

/// What a catalogue declares.
pub(crate) fn declared(observer: &mut impl Observer) {
    let mut stage = Stage::new(observer);
    preamble(&mut stage);
    for declared in [Declared::Breaker(BreakerId(1)), Declared::Approval(0)] {
        stage.first(Timestamp::ZERO, What::Declared(declared));
    }
}

/// A third task of a kind begins, and two others end.
fn odd_tasks<O: Observer>(stage: &mut Stage<'_, O>) {
    stage.first(at(2), What::Declared(Declared::Quota(0)));
    for (slot, ordinal, end) in [(3, 0, TaskEnd::Answered), (2, 1, TaskEnd::Failed)] {
        let task = TaskId(slot);
        stage.first(at(3), What::TaskBegan { task, name: TaskName { kind: 0, ordinal: Some(ordinal) } });
        stage.then(What::TaskEnded { task, end });
    }
    let name = TaskName { kind: 0, ordinal: Some(2) };
    stage.first(at(4), What::TaskBegan { task: TaskId(1), name });
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
    let others =
        [Wait::Deadline(REQUEST), Wait::Health(HealthId(0)), Wait::Hedge(REQUEST), Wait::Retry(REQUEST)];
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
        stage.then(What::CallEnded { call, truth, health, code: None, status: None, receipt: &receipt });
    }
}

fn odd_verdicts<O: Observer>(stage: &mut Stage<'_, O>, catalog: &Catalog) {
    let denied = Failure { class: Class::Auth, code: Some(name(catalog, "invalid_auth")) };
    let excluded = |reasons, missing| Verdict::Excluded { reasons, missing };
    let residency = Reason::ALL.into_iter().skip(1).fold(Reasons::ALL, Reasons::without);
    let verdicts = [
        excluded(Reasons::ALL, Some(2)),
        excluded(residency, None),
        Verdict::Gated { gate: Gate::Breaker, retry_at: Some(at(900)) },
        Verdict::Gated { gate: Gate::Cooldown, retry_at: None },
        Verdict::Gated { gate: Gate::Concurrency, retry_at: None },
        Verdict::Gated { gate: Gate::Health, retry_at: Some(at(60_000)) },
        Verdict::Gated { gate: Gate::Fuse(denied), retry_at: None },
        Verdict::Spent,
        Verdict::Taken,
        Verdict::Unapproved,
        Verdict::Unaffordable { level: Level::Tenant },
        Verdict::Chosen { by: None },
    ];
    let health = health::State::Unhealthy;
    let candidates =
        verdicts.map(|verdict| Candidate { route: FALLBACK, verdict, worst_case: cents(64), health });
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
    for why in [HedgeSkip::Attempts, HedgeSkip::Money, HedgeSkip::Slot, HedgeSkip::Fuse, HedgeSkip::Route] {
        stage.decide(Decision::HedgeSkipped { request: REQUEST, why });
    }
    stage.decide(Decision::Queued { request: REQUEST, waiting: 3 });
    for fuse in [
        FuseKind::CallsPerTask,
        FuseKind::CallsPerRun,
        FuseKind::IdenticalPerTask,
        FuseKind::FailingPerTask,
        FuseKind::Terminal,
    ] {
        stage.decide(Decision::Blew { fuse, request: REQUEST, calls: 24 });
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
        Outcome::NoCandidate { retry_at: Some(at(60_000)), last: None },
        Outcome::NoEligibleRoute,
        Outcome::Stopped { reason: StopReason::CallsPerTask, last: None },
        Outcome::Stopped { reason: StopReason::CallsPerRun, last: Some(last) },
        Outcome::Stopped { reason: StopReason::IdenticalPerTask, last: None },
        Outcome::Stopped { reason: StopReason::FailingPerTask, last: Some(last) },
        Outcome::Stopped { reason: StopReason::Terminal(last), last: None },
        Outcome::DeadlineExceeded { last: Some(last) },
        Outcome::Abandoned,
    ] {
        stage.act(Action::Reply { request: REQUEST, outcome, attempts: 1, left: Duration::ZERO });
    }
}
