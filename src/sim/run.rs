//! The run: one loop that takes what happens next, tells the gateway, and carries out what it orders. The only
//! code that advances time.

use super::agenda::{Event, Rank};
use super::catalog::RequestName;
use super::entry::{Declared, Entry, Observer, What};
use super::setup::Setup;
use super::world::{End, World};
use crate::gateway::{Action, Decision, Effect, Effects, Input, Request, Wait};
use crate::units::draw::mix;
use crate::units::{Purpose, RouteId, TaskId, TenantId, Timestamp};

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ending {
    /// The instant of the last entry.
    pub at: Timestamp,
    /// How many entries there are.
    pub entries: u64,
    /// Whether everything came to rest.
    pub rest: Rest,
}

/// Whether a run came to rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rest {
    /// Every request is closed and nothing is waited for.
    Quiescent,
    /// It was stopped: more than [`STEPS_AT_ONE_INSTANT_MAX`] steps without time passing.
    Runaway,
    /// A request is open and nothing will ever happen to it: it has no deadline, and its call never ends.
    Stuck,
}

/// A run that takes more steps than this at one instant is stopped.
pub const STEPS_AT_ONE_INSTANT_MAX: u64 = 100_000;

/// Plays a run to its end. The observer sees every entry as it happens. The same setup gives the same entries.
pub fn run(setup: &Setup, observer: &mut impl Observer) -> Ending {
    let mut world = World::new(setup);
    let mut scribe = Scribe { observer, seq: 0, at: Timestamp::ZERO };
    declare(setup, &mut scribe);
    let mut effects = Effects::default();
    let (mut instant, mut steps) = (Timestamp::ZERO, 0);
    while let Some(next) = next(&world) {
        let at = next.at();
        (instant, steps) = if at == instant { (at, steps + 1) } else { (at, 0) };
        if steps > STEPS_AT_ONE_INSTANT_MAX {
            return Ending { at: scribe.at, entries: scribe.seq, rest: Rest::Runaway };
        }
        match next {
            Next::Event(_) => step(&mut world, &mut scribe, &mut effects),
            Next::Wake(at, wait) => wake(&mut world, at, wait, &mut scribe, &mut effects),
        }
    }
    let rest = if world.gateway.is_quiescent() { Rest::Quiescent } else { Rest::Stuck };
    Ending { at: scribe.at, entries: scribe.seq, rest }
}

/// Numbers the entries and shows them.
pub(super) struct Scribe<'o, O: Observer> {
    observer: &'o mut O,
    seq: u64,
    at: Timestamp,
}

impl<O: Observer> Scribe<'_, O> {
    pub(super) fn write(&mut self, at: Timestamp, cause: Option<u64>, what: What<'_>) -> u64 {
        self.at = at;
        let seq = self.seq;
        self.observer.entry(&Entry { seq, at, cause, what });
        self.seq += 1;
        seq
    }
}

/// The preamble: what is declared.
fn declare(setup: &Setup, scribe: &mut Scribe<'_, impl Observer>) {
    let catalog = &setup.catalog;
    let tenants = (0..catalog.tenants.len()).map(|at| Declared::Tenant(TenantId(at as u16)));
    let tasks = (0..catalog.tasks.len()).map(|at| Declared::Task(TaskId(at as u32)));
    let routes = (0..catalog.routes.len()).map(|at| Declared::Route(RouteId(at as u16)));
    for declared in [Declared::Limits].into_iter().chain(tenants).chain(tasks).chain(routes) {
        scribe.write(Timestamp::ZERO, None, What::Declared(declared));
    }
}

/// What happens next.
enum Next {
    /// The first of the agenda.
    Event(Timestamp),
    /// A timer of the gateway.
    Wake(Timestamp, Wait),
}

impl Next {
    const fn at(&self) -> Timestamp {
        match self {
            Next::Event(at) | Next::Wake(at, _) => *at,
        }
    }
}

fn next(world: &World<'_>) -> Option<Next> {
    match (world.agenda.next(), world.gateway.next_wake()) {
        (None, None) => None,
        (Some((at, _)), None) => Some(Next::Event(at)),
        (Some(first), Some((due, _))) if first < (due, Rank::Timer) => Some(Next::Event(first.0)),
        (Some(_) | None, Some((due, wait))) => Some(Next::Wake(due, wait)),
    }
}

/// One event of the agenda.
fn step(world: &mut World<'_>, scribe: &mut Scribe<'_, impl Observer>, effects: &mut Effects) {
    let (at, event) = world.agenda.take().expect("the agenda is not empty");
    match event {
        Event::Arrive(source) => arrive(world, at, source, scribe, effects),
        Event::Operate(order) => {
            let command = world.setup.operator[order as usize].1;
            let cause = scribe.write(at, None, What::Operated { command });
            tell(world, at, cause, Input::Operator(command), scribe, effects);
        }
        Event::HangUp { request, stamp } => {
            if world.requests[request.index()].is_waiting(stamp) {
                let arrival = world.requests[request.index()].arrival;
                let cause = scribe.write(at, Some(arrival), What::Abandoned { request });
                tell(world, at, cause, Input::Abandoned(request), scribe, effects);
            }
        }
        Event::Visible { call, stamp } => {
            if world.is_current(call, stamp) {
                let cause =
                    scribe.write(at, Some(world.calls[call.index()].origin), What::CallVisible { call });
                world.show_life(at, call, cause);
                tell(world, at, cause, Input::Visible(call), scribe, effects);
            }
        }
        Event::Progress { call, stamp } => {
            if world.is_current(call, stamp) {
                let sign = world.calls[call.index()].sign;
                world.show_life(at, call, sign);
                tell(world, at, sign, Input::Progress(call), scribe, effects);
            }
        }
        Event::End { call, stamp } => {
            if world.is_current(call, stamp) {
                let End { receipt, truth, health, code, origin } = world.end(call);
                let what = What::CallEnded { call, truth, health, code, receipt: &receipt };
                let cause = scribe.write(at, Some(origin), what);
                tell(world, at, cause, Input::Ended(call, receipt), scribe, effects);
            }
        }
    }
}

/// The next request of a source; the one after it goes on the agenda.
fn arrive(
    world: &mut World<'_>,
    at: Timestamp,
    source: u16,
    scribe: &mut Scribe<'_, impl Observer>,
    effects: &mut Effects,
) {
    let from = &world.setup.sources[usize::from(source)];
    let ordinal = world.arrived[usize::from(source)];
    world.arrived[usize::from(source)] += 1;
    let hash = world.source_hash(source);
    if ordinal + 1 < from.count {
        let draw = world.draws.of(Purpose::Arrival).and(hash).and(u64::from(ordinal) + 1).bits();
        if let Some(gap) = from.gap.at(draw) {
            world.agenda.add(at.after(gap), Event::Arrive(source));
        }
    }
    let id = world.slot();
    let template = &from.template;
    let request = Request {
        id,
        payer: template.payer,
        envelope: template.envelope,
        deadline: at.after(template.deadline),
        delivery: template.delivery,
        draw: mix(hash ^ mix(u64::from(ordinal) + 1)),
    };
    let name = RequestName { source, ordinal };
    let arrival = scribe.write(at, None, What::Arrived { request: &request, name });
    let stamp = world.stamp();
    world.admit(&request, name, stamp, arrival);
    if let Some(patience) = template.hangs_up {
        world.agenda.add(at.after(patience), Event::HangUp { request: id, stamp });
    }
    tell(world, at, arrival, Input::Arrived(&request), scribe, effects);
}

/// A timer of the gateway is due. It was caused by what set it.
fn wake(
    world: &mut World<'_>,
    at: Timestamp,
    wait: Wait,
    scribe: &mut Scribe<'_, impl Observer>,
    effects: &mut Effects,
) {
    let cause = match wait {
        Wait::Deadline(request) => world.requests[request.index()].arrival,
        Wait::Retry(request) => world.requests[request.index()].retry,
        Wait::Attempt(call) | Wait::Receipt(call) => world.calls[call.index()].origin,
        Wait::FirstByte(call) | Wait::Idle(call) => world.calls[call.index()].sign,
        Wait::Health(health) => world.health_moves[health.index()],
    };
    let cause = scribe.write(at, Some(cause), What::Woke { wait });
    tell(world, at, cause, Input::Woke, scribe, effects);
}

/// Tells the gateway what happened, writes down what it says and carries out what it orders.
fn tell(
    world: &mut World<'_>,
    now: Timestamp,
    cause: u64,
    input: Input<'_>,
    scribe: &mut Scribe<'_, impl Observer>,
    effects: &mut Effects,
) {
    effects.clear();
    world.gateway.handle(now, input, effects);
    for effect in &effects.list {
        match effect {
            Effect::Consider { request, first, count } => {
                let candidates = &effects.candidates[*first as usize..(*first + *count) as usize];
                scribe.write(now, Some(cause), What::Considered { request: *request, candidates });
            }
            Effect::Decide(decision) => {
                let seq = scribe.write(now, Some(cause), What::Decided(decision));
                match decision {
                    Decision::RetryScheduled { request, .. } => {
                        world.requests[request.index()].retry = seq;
                    }
                    Decision::HealthMoved { health, .. } => world.health_moves[health.index()] = seq,
                    Decision::Reserved { .. }
                    | Decision::Denied { .. }
                    | Decision::Classified { .. }
                    | Decision::Signalled { .. }
                    | Decision::BreakerMoved { .. }
                    | Decision::Benched { .. }
                    | Decision::Freed { .. }
                    | Decision::Alerted { .. }
                    | Decision::Settled { .. }
                    | Decision::WaitRefused { .. }
                    | Decision::TimedOut { .. } => {}
                }
            }
            Effect::Act(action) => {
                let seq = scribe.write(now, Some(cause), What::Acted(action));
                carry_out(world, now, action, seq, scribe);
            }
        }
    }
}

fn carry_out(
    world: &mut World<'_>,
    now: Timestamp,
    action: &Action,
    seq: u64,
    scribe: &mut Scribe<'_, impl Observer>,
) {
    match action {
        Action::Call(call) => {
            let scripted = world.begin(now, call);
            let what = What::CallBegun {
                call: call.call,
                request: call.request,
                route: call.route,
                credential: call.credential,
                scripted,
            };
            let begun = scribe.write(now, Some(seq), what);
            let served = &mut world.calls[call.call.index()];
            (served.origin, served.sign) = (begun, begun);
        }
        Action::Cancel { call, .. } => {
            if !world.cancel(now, *call, seq) {
                scribe.write(now, Some(seq), What::CallLost { call: *call });
            }
        }
        Action::Reply { request, .. } => world.requests[request.index()].answered = true,
        Action::Close { request, .. } => world.free(*request),
        Action::Commit { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::{Delivery, Outcome, Payer, Policy, Registry, Route};
    use crate::policy::backoff::{Backoff, Growth, Jitter};
    use crate::policy::eligibility::{Envelope, Offer};
    use crate::policy::prices::{Prices, Tier, Usage};
    use crate::policy::taxonomy::{Class, Diagnosis, Hint, Remedy, Resend, Scope};
    use crate::sim::{
        Billed, Catalog, CredentialFact, FailedReply, Latency, OnCancel, Reply, RouteFact, Source,
        SourceFact, SourceKind, Template, Then, Upstream, Used,
    };
    use crate::units::{
        BreakerId, CredentialId, Duration, HealthId, ModelId, Money, Price, ProjectId, ProviderId, Set64,
    };

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// Two equal routes; what the first and the second reply; one request with this deadline.
    fn two_routes(replies: [fn(&mut Catalog) -> Reply; 2], deadline: Duration) -> Setup {
        let mut catalog = Catalog::default();
        let price = |dollars: u64| Price::from_picos_per_token(dollars * 1_000_000);
        let offer = Offer {
            capabilities: Set64::EMPTY,
            region: Set64::of(0),
            deployment: Set64::of(0),
            class_max: 0,
            task_types: Set64::ALL,
            protocol: None,
            contract: None,
            context_max: u64::MAX,
            output_max: u32::MAX,
            prices: Prices {
                base: Tier { input: price(1), output: price(8), ..Tier::default() },
                long: None,
            },
        };
        let mut registry = Registry { breakers: 2, healths: 2, ..Registry::default() };
        let mut upstreams = Vec::new();
        for (at, reply) in replies.iter().enumerate() {
            let id = at as u16;
            let name = catalog.names.intern(["primary", "fallback"][at]);
            let pool = vec![CredentialId(id)];
            let (provider, model) = (ProviderId(id), ModelId(0));
            registry.routes.push(Route {
                offer,
                provider,
                model,
                pool: pool.clone(),
                breaker: BreakerId(id),
                health: HealthId(id),
                latency_p95: Duration::ZERO,
                quality: 0,
                weight: 0,
                draw: catalog.names.hash(name),
            });
            registry.credentials.push(ProjectId(id));
            catalog.credentials.push(CredentialFact { name, project: ProjectId(id) });
            let (breaker, health) = (BreakerId(id), HealthId(id));
            catalog.routes.push(RouteFact { name, provider, model, pool, offer, breaker, health });
            catalog.breakers.push(name);
            catalog.healths.push(name);
            let script = vec![reply(&mut catalog)];
            upstreams.push(Upstream {
                script,
                then: Then::Repeat,
                faults: vec![],
                on_cancel: OnCancel::default(),
            });
        }
        let name = catalog.names.intern("req");
        catalog.sources.push(SourceFact { name, kind: SourceKind::Listed });
        let envelope = Envelope {
            capabilities: Set64::EMPTY,
            regions: Set64::ALL,
            deployments: Set64::ALL,
            class: 0,
            task_type: None,
            protocol: None,
            contract: None,
            estimate: Usage { input: 8_000, output: 1_000, ..Usage::default() },
            cost_max: Money::from_picos(30_000_000_000),
            tokens_max: u64::MAX,
        };
        let template = Template {
            payer: Payer::default(),
            envelope,
            deadline,
            delivery: Delivery::Whole,
            hangs_up: None,
        };
        let source = Source { template, first: Timestamp::ZERO, gap: Latency::Never, count: 1 };
        let mut policy = Policy::default();
        policy.retry.attempts_max = 2;
        policy.retry.backoff =
            Backoff { base: MS(100), growth: Growth::Fixed, cap: MS(100), jitter: Jitter::None };
        policy.taxonomy.remedy[Class::RateLimit as usize] = Remedy::Fallback;
        Setup { seed: 1, catalog, policy, registry, upstreams, sources: vec![source], operator: vec![] }
    }

    fn limited(catalog: &mut Catalog) -> Reply {
        let rule = catalog.names.intern("rate_limited");
        let diagnosis = Diagnosis {
            class: Class::RateLimit,
            scope: Scope::Model,
            resend: Resend::Same,
            hint: Hint::Absent,
            health: None,
            rule,
            code: rule,
        };
        Reply {
            failure: Some(FailedReply::told_truly(diagnosis)),
            usage: Used::Exactly(Usage::default()),
            ..answer(MS(80))
        }
    }

    fn answer(after: Duration) -> Reply {
        Reply {
            after: Latency::Fixed(after),
            first_byte: None,
            progress: None,
            failure: None,
            usage: Used::AsEstimated,
            bill: Billed::ByUsage,
        }
    }

    /// Keeps what was replied and closed, and when.
    #[derive(Default)]
    struct Ends(Vec<(u64, Action)>);

    impl Observer for Ends {
        fn entry(&mut self, entry: &Entry<'_>) {
            if let What::Acted(action @ (Action::Reply { .. } | Action::Close { .. })) = entry.what {
                self.0.push((entry.at.nanos() / 1_000_000, *action));
            }
        }
    }

    fn ends(setup: &Setup) -> Vec<(u64, Action)> {
        let mut ends = Ends::default();
        assert_eq!(run(setup, &mut ends).rest, Rest::Quiescent);
        ends.0
    }

    #[test]
    fn one_limit_and_one_fallback_are_answered_at_630_ms_for_16_tenths_of_a_cent() {
        let setup = two_routes([limited, |_| answer(MS(450))], MS(1200));
        let request = crate::units::RequestId(0);
        let outcome = Outcome::Answered { route: RouteId(1) };
        let reply = Action::Reply { request, outcome, attempts: 2, left: MS(570) };
        let close = Action::Close { request, spent: Money::from_picos(16_000_000_000) };
        assert_eq!(ends(&setup), [(630, reply), (630, close)]);
    }

    #[test]
    fn an_answer_at_exactly_the_deadline_is_in_time() {
        for (deadline, label) in [(630, "answered"), (629, "deadline_exceeded")] {
            let setup = two_routes([limited, |_| answer(MS(450))], MS(deadline));
            let (at, Action::Reply { outcome, .. }) = ends(&setup)[0] else { panic!("a reply comes first") };
            assert_eq!((at, outcome.label()), (deadline, label));
        }
    }
}
