//! The run: one loop that takes what happens next, tells the gateway, and carries out what it orders. The only
//! code that advances time.

use super::agenda::Event;
use super::caller::Flow;
use super::catalog::{RequestName, TaskName};
use super::entry::{Declared, Observer, Scripted, TaskEnd, What};
use super::jobs::Part;
use super::scribe::{Page, Scribe};
use super::served::End;
use super::setup::Setup;
use super::stack::{Hearer, Life};
use super::world::World;
use crate::gateway::{Action, Call, Command, Decision, Effect, Input, Outcome, Request, Task, Wait};
use crate::units::draw::mix;
use crate::units::{CallId, LayerId, RequestId, RouteId, TaskId, TenantId, Timestamp};

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

/// Plays a run to its end. The observer sees every entry, in order. The same setup gives the same entries.
pub fn run(setup: &Setup, observer: &mut impl Observer) -> Ending {
    let mut world = World::new(setup);
    let mut scribe = Scribe::default();
    declare(setup, &mut scribe);
    let mut still = Still::default();
    let rest = loop {
        match fill_page(&mut world, &mut still, &mut scribe) {
            None => scribe.turn_page(observer),
            Some(Rest::Runaway) => return ending(&mut scribe, observer, Rest::Runaway),
            Some(rest @ (Rest::Quiescent | Rest::Stuck)) => break rest,
        }
    };
    let (_, at) = scribe.page.last();
    for layer in (0..=world.outermost().0).rev().map(LayerId) {
        scribe.page.turn_to(layer);
        let cause = scribe.page.write(at, None, What::RunEnded);
        tell(&mut world, (layer, at), cause, Input::Operator(Command::Show), &mut scribe);
    }
    ending(&mut scribe, observer, rest)
}

/// For how many steps time has stood still.
#[derive(Default)]
struct Still {
    at: Timestamp,
    steps: u64,
}

/// Goes on until the page is full; how the run ends, if it does before.
fn fill_page(world: &mut World<'_>, still: &mut Still, scribe: &mut Scribe) -> Option<Rest> {
    while !scribe.page.is_full() {
        let Some(next) = next(world) else {
            return Some(if world.is_quiescent() { Rest::Quiescent } else { Rest::Stuck });
        };
        let at = next.at();
        still.steps = if at == still.at { still.steps + 1 } else { 0 };
        still.at = at;
        if still.steps > STEPS_AT_ONE_INSTANT_MAX {
            return Some(Rest::Runaway);
        }
        match next {
            Next::Event(at, event) => step(world, (at, event), scribe),
            Next::Wake(at, layer, wait) => wake(world, at, (layer, wait), scribe),
            Next::Relay(at) => relay::relay(world, at, scribe),
        }
    }
    None
}

/// The run is over: what is written is shown.
fn ending(scribe: &mut Scribe, observer: &mut impl Observer, rest: Rest) -> Ending {
    scribe.turn_page(observer);
    let (entries, at) = scribe.page.last();
    Ending { at, entries, rest }
}

/// The preamble: what is declared.
fn declare(setup: &Setup, scribe: &mut Scribe) {
    let catalog = &setup.catalog;
    let own_breakers = catalog.machines.own_breakers.iter().map(|own| Declared::Breaker(own.0));
    for above in (1..=catalog.outermost().0).rev() {
        scribe.page.turn_to(LayerId(above));
        for declared in [Declared::Layer, Declared::Limits, Declared::Route(RouteId(0))] {
            scribe.page.write(Timestamp::ZERO, None, What::Declared(declared));
        }
    }
    scribe.page.turn_to(LayerId::INNERMOST);
    let tenants = (0..catalog.tenants.len()).map(|at| Declared::Tenant(TenantId(at as u16)));
    let tasks = (0..catalog.tasks.len()).map(|at| Declared::Task(at as u16));
    let quotas = (0..catalog.quotas.len()).map(|at| Declared::Quota(at as u16));
    let routes = (0..catalog.routes.len()).map(|at| Declared::Route(RouteId(at as u16)));
    let approvals = (0..catalog.approvals.len()).map(|at| Declared::Approval(at as u16));
    let parties = tenants.chain(tasks).chain(quotas).chain(routes).chain(approvals);
    for declared in [Declared::Limits].into_iter().chain(own_breakers).chain(parties) {
        scribe.page.write(Timestamp::ZERO, None, What::Declared(declared));
    }
}

/// What happens next.
enum Next {
    /// What was first on the agenda.
    Event(Timestamp, Event),
    /// A timer of a gateway.
    Wake(Timestamp, LayerId, Wait),
    /// What passes from one layer to another.
    Relay(Timestamp),
}

impl Next {
    const fn at(&self) -> Timestamp {
        match self {
            Next::Event(at, _) | Next::Wake(at, ..) | Next::Relay(at) => *at,
        }
    }
}

#[inline]
fn next(world: &mut World<'_>) -> Option<Next> {
    if let Some(at) = world.stack.due() {
        return Some(Next::Relay(at));
    }
    let wake = world.next_wake(world.agenda.first());
    match world.agenda.take_before(wake.map(|(due, ..)| due)) {
        Some((at, event)) => Some(Next::Event(at, event)),
        None => wake.map(|(due, layer, wait)| Next::Wake(due, layer, wait)),
    }
}

/// One event of the agenda.
fn step(world: &mut World<'_>, (at, event): (Timestamp, Event), scribe: &mut Scribe) {
    scribe.page.turn_to(LayerId::INNERMOST);
    match event {
        Event::Arrive(source) => arrive(world, at, source, scribe),
        Event::BeginJob(job) => begin_job(world, at, job, scribe),
        Event::BeginStep { task, step } => begin_step(world, at, task, step, scribe),
        Event::EndJob(task) => end_job(world, at, task, scribe),
        Event::Operate(order) => {
            let command = world.setup.operator[order as usize].1;
            let cause = scribe.page.write(at, None, What::Operated { command });
            tell(world, (LayerId::INNERMOST, at), cause, Input::Operator(command), scribe);
        }
        Event::HangUp { request, stamp } => {
            if world.requests[request.index()].is_waiting(stamp) {
                let arrival = world.requests[request.index()].arrival;
                let layer = world.outermost();
                scribe.page.turn_to(layer);
                let cause = scribe.page.write(at, Some(arrival), What::Abandoned { request });
                tell(world, (layer, at), cause, Input::Abandoned(request), scribe);
            }
        }
        Event::Visible { call, stamp } => {
            if world.is_current(call, stamp) {
                let cause =
                    scribe.page.write(at, Some(world.calls[call.index()].origin), What::CallVisible { call });
                world.show_life(at, call, cause);
                tell(world, (LayerId::INNERMOST, at), cause, Input::Visible(call), scribe);
            }
        }
        Event::Progress { call, stamp } => {
            if world.is_current(call, stamp) {
                let sign = world.calls[call.index()].sign;
                world.show_life(at, call, sign);
                if let Some((request, _)) = world.calls[call.index()].by {
                    world.stack.show(at, request, sign, Life::Again);
                }
                tell(world, (LayerId::INNERMOST, at), sign, Input::Progress(call), scribe);
            }
        }
        Event::End { call, stamp } => {
            if world.is_current(call, stamp) {
                let end = world.end(call);
                ended(world, (LayerId::INNERMOST, at), call, &end, scribe);
            }
        }
    }
}

/// A call is over.
fn ended(
    world: &mut World<'_>,
    (layer, at): (LayerId, Timestamp),
    call: CallId,
    end: &End,
    scribe: &mut Scribe,
) {
    let cause = scribe.page.ended(at, call, end);
    tell(world, (layer, at), cause, Input::Ended(call, &end.receipt), scribe);
}

/// The next request of a source; the one after it goes on the agenda.
fn arrive(world: &mut World<'_>, at: Timestamp, source: u16, scribe: &mut Scribe) {
    let (ordinal, gap) = world.flows[usize::from(source)].arrive();
    if let Some(gap) = gap {
        world.agenda.add(at.after(gap), Event::Arrive(source));
    }
    admit(world, at, RequestName::of(source, ordinal), None, None, scribe);
}

/// A request arrives.
fn admit(
    world: &mut World<'_>,
    at: Timestamp,
    name: RequestName,
    part: Option<Part>,
    cause: Option<u64>,
    scribe: &mut Scribe,
) {
    let RequestName { source, ordinal, .. } = name;
    let id = world.slot();
    let Flow { template, growth, hash, content, .. } = world.flows[usize::from(source)];
    let mut request = Request {
        id,
        payer: template.payer,
        envelope: template.envelope,
        deadline: at.after(template.deadline),
        delivery: template.delivery,
        effect: template.effect,
        priority: template.priority,
        content,
        draw: mix(hash ^ mix(u64::from(ordinal) + 1)),
    };
    if let Some(growth) = growth {
        let grown = template.envelope.estimate.grown(growth, ordinal);
        request.envelope.estimate = grown.expect("the last request fits");
    }
    if let Some(part) = part {
        let kind = world.setup.jobs[usize::from(world.jobs.get(part.task).job)].kind;
        request.payer.task = Some(Task { id: part.task, kind });
    }
    let layer = world.outermost();
    world.stack.admit(&mut request);
    scribe.page.turn_to(layer);
    let arrival = scribe.page.arrived(at, cause, &request, name, None);
    let stamp = world.stamp();
    world.admit(&request, name, stamp, arrival, part);
    world.stack.ask(&request, stamp, part);
    if let Some(patience) = template.hangs_up {
        world.agenda.add(at.after(patience), Event::HangUp { request: id, stamp });
    }
    tell(world, (layer, at), arrival, Input::Arrived(&request), scribe);
}

/// A job begins; the next one of its kind goes on the agenda.
fn begin_job(world: &mut World<'_>, at: Timestamp, job: u16, scribe: &mut Scribe) {
    let setup = &world.setup.jobs[usize::from(job)];
    let ordinal = world.jobs.begun(job);
    let task = world.jobs.begin(job, setup);
    if ordinal + 1 < setup.count
        && let Some(gap) = setup.gap.at(world.job_draw(setup.kind, ordinal + 1))
    {
        world.agenda.add(at.after(gap), Event::BeginJob(job));
    }
    let name = TaskName { kind: setup.kind, ordinal: Some(ordinal) };
    scribe.page.turn_to(world.outermost());
    world.jobs.get_mut(task).entry = scribe.page.write(at, None, What::TaskBegan { task, name });
    world.jobs.advance(at, task, setup, &mut world.agenda);
}

/// A step begins: all its requests at once, unless the job has failed meanwhile.
fn begin_step(world: &mut World<'_>, at: Timestamp, task: TaskId, step: u16, scribe: &mut Scribe) {
    let progress = world.jobs.get(task);
    let (cause, failed, job) = (progress.entry, progress.failed, progress.ordinal);
    let setup = &world.setup.jobs[usize::from(progress.job)].steps[usize::from(step)];
    if failed {
        if world.jobs.closed(task) {
            world.agenda.add(at, Event::EndJob(task));
        }
        return;
    }
    world.jobs.open(task, setup.times);
    for nth in 0..setup.times {
        let name = RequestName::of(setup.source, job * setup.times + nth);
        admit(world, at, name, Some(Part { task, step }), Some(cause), scribe);
    }
}

/// A job is over.
fn end_job(world: &mut World<'_>, at: Timestamp, task: TaskId, scribe: &mut Scribe) {
    let progress = world.jobs.end(task);
    let end = if progress.failed { TaskEnd::Failed } else { TaskEnd::Answered };
    scribe.page.turn_to(world.outermost());
    let cause = scribe.page.write(at, Some(progress.entry), What::TaskEnded { task, end });
    for layer in (0..=world.outermost().0).rev() {
        tell(world, (LayerId(layer), at), cause, Input::TaskEnded(task), scribe);
    }
}

/// A timer of a gateway is due. It was caused by what set it.
fn wake(world: &mut World<'_>, at: Timestamp, (layer, wait): (LayerId, Wait), scribe: &mut Scribe) {
    let cause = match wait {
        Wait::Deadline(request) => world.requests[request.index()].arrival,
        Wait::Retry(request) => world.requests[request.index()].retry,
        Wait::Hedge(request) => world.requests[request.index()].hedge,
        Wait::Attempt(call) | Wait::Receipt(call) => world.origins(layer, call).0,
        Wait::FirstByte(call) | Wait::Idle(call) => world.origins(layer, call).1,
        Wait::Health(health) => world.health_moves(layer)[health.index()],
    };
    scribe.page.turn_to(layer);
    let cause = scribe.page.write(at, Some(cause), What::Woke { wait });
    tell(world, (layer, at), cause, Input::Woke, scribe);
}

/// Tells the gateway what happened, writes down what it says and carries out what it orders. What it says is written
/// down together, as far as nothing is written because of it.
fn tell(
    world: &mut World<'_>,
    (layer, now): (LayerId, Timestamp),
    cause: u64,
    input: Input<'_>,
    scribe: &mut Scribe,
) {
    let Scribe { page, effects } = scribe;
    page.turn_to(layer);
    let first = effects.list.len();
    world.gateway(layer).handle(now, input, effects);
    let (mut unwritten, mut seq) = (first, page.next());
    for (place, effect) in (first..).zip(&effects.list[first..]) {
        match effect {
            Effect::Act(Action::Call(call)) => {
                page.effects(now, cause, unwritten..place + 1);
                unwritten = place + 1;
                begin(world, (layer, now), call, seq, page);
                seq = page.next();
                continue;
            }
            Effect::Act(Action::Cancel { call, .. }) => {
                page.effects(now, cause, unwritten..place + 1);
                unwritten = place + 1;
                cancel(world, (layer, now), *call, seq, page);
                seq = page.next();
                continue;
            }
            Effect::Act(Action::Reply { request, outcome, .. }) => {
                replied(world, now, *request, outcome, seq);
            }
            Effect::Act(Action::Close { request, .. }) => closed(world, now, *request, seq),
            Effect::Act(Action::Commit { request, .. }) => {
                world.stack.show(now, *request, seq, Life::First);
            }
            Effect::Decide(decision) => match decision {
                Decision::RetryScheduled { request, .. } => world.requests[request.index()].retry = seq,
                Decision::HealthMoved { health, .. } => world.health_moves(layer)[health.index()] = seq,
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
                | Decision::HedgeSkipped { .. }
                | Decision::Queued { .. }
                | Decision::Blew { .. }
                | Decision::Shown(_)
                | Decision::TimedOut { .. } => {}
            },
            Effect::Consider { .. } => {}
        }
        seq += 1;
    }
    page.effects(now, cause, unwritten..effects.list.len());
}

/// A call begins, told in this entry.
fn begin(world: &mut World<'_>, (layer, now): (LayerId, Timestamp), order: &Call, seq: u64, page: &mut Page) {
    let begun = page.next();
    let scripted = if layer == LayerId::INNERMOST {
        world.begin(now, order, begun)
    } else {
        let stamp = world.stamp();
        world.stack.call(now, layer, order, stamp, begun);
        world.requests[order.request.index()].hedge = begun;
        Scripted::Foreseen
    };
    page.begun(now, seq, order, scripted);
}

/// A call is cancelled, told in this entry.
fn cancel(
    world: &mut World<'_>,
    (layer, now): (LayerId, Timestamp),
    call: CallId,
    seq: u64,
    page: &mut Page,
) {
    if layer != LayerId::INNERMOST {
        world.stack.cancel(now, layer, call, seq);
    } else if !world.cancel(now, call, seq) {
        page.write(now, Some(seq), What::CallLost { call });
    }
}

/// A request has its reply, told in this entry.
fn replied(world: &mut World<'_>, now: Timestamp, request: RequestId, outcome: &Outcome, seq: u64) {
    if world.stack.layers.is_empty() || world.stack.reply(now, request, outcome, seq) == Hearer::Caller {
        world.replied(now, request, matches!(outcome, Outcome::Answered { .. }));
    } else {
        world.requests[request.index()].answered = true;
    }
}

/// A request is closed, told in this entry.
fn closed(world: &mut World<'_>, now: Timestamp, request: RequestId, seq: u64) {
    if let Some(part) = world.close(now, request, seq)
        && world.jobs.closed(part.task)
    {
        world.agenda.add(now, Event::EndJob(part.task));
    }
    world.free(request);
}

mod relay;
#[cfg(test)]
mod tests;
