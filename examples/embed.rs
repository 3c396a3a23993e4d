//! The machines are the product: the same `Gateway` that the simulator drives on a virtual clock, here in real
//! time, by plain threads and a fake upstream. No network, no async runtime.
//!
//! The whole shell is [`Shell::turn`]: wait until the next timer or the next event, tell the gateway, carry out
//! what it orders.
//!
//! `cargo run --example embed`

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a real-time shell"
)]

use faultlab::gateway::{
    Action, Answer, Bill, Call, Decision, Delivery, Effect, Effects, Gateway, Input, Outcome, Payer, Policy,
    Profile, Receipt, Registry, Request, Route, SideEffect,
};
use faultlab::policy::backoff::{Backoff, Growth, Jitter};
use faultlab::policy::eligibility::{Envelope, Offer};
use faultlab::policy::hedge::{After, Hedge};
use faultlab::policy::prices::{Prices, Tier, Usage};
use faultlab::policy::taxonomy::{Class, Diagnosis, Hint, Resend, Scope};
use faultlab::units::{
    BreakerId, CallId, CredentialId, Duration, HealthId, ModelId, Money, Names, Price, ProjectId, ProviderId,
    RequestId, Set64, Timestamp,
};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration as RealDuration, Instant};

const ROUTES: [&str; 3] = ["sick", "slow", "quick"];
const REQUESTS: u32 = 6;

fn main() {
    let mut shell = Shell::new();
    for id in 0..REQUESTS {
        let request = request(RequestId(id), shell.now());
        shell.tell(Input::Arrived(&request));
        thread::sleep(RealDuration::from_millis(20));
    }
    while !shell.gateway.is_quiescent() {
        shell.turn();
    }
    println!("{} of {REQUESTS} requests answered, {} calls made", shell.answered, shell.calls);
    assert_eq!(shell.answered, REQUESTS, "every request is answered, whatever the routes do");
}

/// A gateway, a clock, and the two ends of a channel to the fake upstreams.
struct Shell {
    gateway: Gateway,
    effects: Effects,
    began: Instant,
    to_shell: Sender<(CallId, Receipt)>,
    from_upstreams: Receiver<(CallId, Receipt)>,
    failure: Diagnosis,
    answered: u32,
    calls: u32,
}

impl Shell {
    fn new() -> Shell {
        let (to_shell, from_upstreams) = channel();
        let mut names = Names::default();
        let code = names.intern("overloaded");
        let failure = Diagnosis {
            class: Class::Overload,
            scope: Scope::Request,
            resend: Resend::Same,
            hint: Hint::Absent,
            health: None,
            rule: code,
            code,
        };
        Shell {
            gateway: Gateway::new(policy(), registry(&mut names), 1),
            effects: Effects::default(),
            began: Instant::now(),
            to_shell,
            from_upstreams,
            failure,
            answered: 0,
            calls: 0,
        }
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_nanos(u64::try_from(self.began.elapsed().as_nanos()).expect("less than 584 years"))
    }

    /// Waits for whatever comes first: a receipt or a timer of the gateway.
    fn turn(&mut self) {
        let patience = self.gateway.next_wake().map_or(1_000_000_000, |(at, _)| at.since(self.now()).nanos());
        match self.from_upstreams.recv_timeout(RealDuration::from_nanos(patience)) {
            Ok((call, receipt)) => self.tell(Input::Ended(call, &receipt)),
            Err(RecvTimeoutError::Timeout) => self.tell(Input::Woke),
            Err(RecvTimeoutError::Disconnected) => unreachable!("the shell holds a sender itself"),
        }
    }

    /// Tells the gateway what happened and carries out what it orders.
    fn tell(&mut self, input: Input<'_>) {
        let now = self.now();
        let mut effects = std::mem::take(&mut self.effects);
        effects.clear();
        self.gateway.handle(now, input, &mut effects);
        for effect in &effects.list {
            match effect {
                Effect::Act(Action::Call(call)) => self.call(call),
                Effect::Act(Action::Reply { request, outcome, attempts, .. }) => {
                    println!(
                        "{now:>14}  request {} ends {} after {attempts} calls",
                        request.0,
                        outcome.label()
                    );
                    self.answered += u32::from(matches!(outcome, Outcome::Answered { .. }));
                }
                Effect::Decide(Decision::BreakerMoved { breaker, transition }) => {
                    println!(
                        "{now:>14}  the breaker of {} is {}",
                        ROUTES[breaker.index()],
                        transition.to.label()
                    );
                }
                Effect::Act(_) | Effect::Decide(_) | Effect::Consider { .. } => {}
            }
        }
        self.effects = effects;
    }

    /// A fake upstream: a thread that sleeps and answers. (A cancelled one answers too late, and is billed.)
    fn call(&mut self, call: &Call) {
        println!(
            "{:>14}  request {} calls {} ({})",
            self.now(),
            call.request.0,
            ROUTES[call.route.index()],
            call.role.label()
        );
        self.calls += 1;
        let (id, to_shell) = (call.call, self.to_shell.clone());
        let usage = Usage { input: 800, output: 200, ..Usage::default() };
        let (millis, result) = match ROUTES[call.route.index()] {
            "sick" => (5, Answer::Failed(self.failure)),
            "slow" => (150, Answer::Answered),
            _ => (20, Answer::Answered),
        };
        thread::spawn(move || {
            thread::sleep(RealDuration::from_millis(millis));
            let receipt = Receipt { result, usage, bill: Bill::Exact(Money::ZERO) };
            // The shell may be gone: then nobody wants the receipt.
            to_shell.send((id, receipt)).ok();
        });
    }
}

/// Three tries, 10 ms apart, and a second leg beside one that takes longer than 50 ms.
fn policy() -> Policy {
    let mut policy = Policy::default();
    let base = Duration::from_millis(10);
    policy.retry.backoff = Backoff { base, growth: Growth::Fixed, cap: base, jitter: Jitter::None };
    policy.hedge = Some(Hedge { after: After::Fixed(Duration::from_millis(50)), legs_max: 2 });
    policy
}

fn registry(names: &mut Names) -> Registry {
    let mut registry = Registry { breakers: 3, healths: 3, ..Registry::default() };
    for (at, name) in ROUTES.iter().enumerate() {
        let (id, name) = (at as u16, names.intern(name));
        registry.credentials.push(ProjectId(id));
        registry.routes.push(Route {
            offer: offer(),
            provider: ProviderId(id),
            model: ModelId(id),
            pool: vec![CredentialId(id)],
            breaker: BreakerId(id),
            health: HealthId(id),
            latency_p95: Duration::from_millis(10 * at as u64),
            quality: 0,
            weight: 0,
            draw: names.hash(name),
            profile: Profile::default(),
        });
    }
    registry
}

fn offer() -> Offer {
    let price = Price::from_picos_per_token(1_000_000);
    Offer {
        capabilities: Set64::EMPTY,
        region: Set64::of(0),
        deployment: Set64::of(0),
        class_max: 0,
        task_types: Set64::ALL,
        protocol: None,
        contract: None,
        context_max: 100_000,
        output_max: 4_000,
        prices: Prices { base: Tier { input: price, output: price, ..Tier::default() }, long: None },
    }
}

fn request(id: RequestId, now: Timestamp) -> Request {
    Request {
        id,
        payer: Payer::default(),
        envelope: Envelope {
            capabilities: Set64::EMPTY,
            regions: Set64::ALL,
            deployments: Set64::ALL,
            class: 0,
            task_type: None,
            protocol: None,
            contract: None,
            estimate: Usage { input: 800, output: 200, ..Usage::default() },
            cost_max: Money::MAX,
            tokens_max: u64::MAX,
        },
        deadline: now.after(Duration::from_secs(5)),
        delivery: Delivery::Whole,
        effect: SideEffect::None,
        priority: 0,
        content: None,
        draw: u64::from(id.0),
    }
}
