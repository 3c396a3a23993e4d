//! Hand-made traces for tests. Every method writes entries that are lawful in themselves; a test breaks a rule on
//! purpose by saying something else.

use super::{Expectation, Judge, Law, RunVerdict};
use crate::gateway::{
    Action, Answer, Basis, Bill, Call, Candidate, Decision, Delivery, Effect, Failure, Freshness, Outcome,
    Payer, Profile, Receipt, Request, Role, SideEffect, Verdict,
};
use crate::policy::breaker;
use crate::policy::eligibility::{Envelope, Offer, exclusions};
use crate::policy::health::State;
use crate::policy::ledger::{Amount, Settlement};
use crate::policy::prices::{Prices, Tier, Usage};
use crate::policy::ranking::Key;
use crate::policy::signal::Signal;
use crate::policy::taxonomy::{Class, Diagnosis, Hint, Resend, Scope};
use crate::sim::{
    Catalog, Claims, CredentialFact, Ending, Entry, Limits, Merits, Observer, RequestName, Rest, RouteFact,
    Scripted, SourceFact, SourceKind, TenantFact, What,
};
use crate::units::{
    BreakerId, CallId, CredentialId, Duration, HealthId, LayerId, ModelId, Money, Name, Price, ProjectId,
    ProviderId, RequestId, RouteId, Set64, TenantId, Timestamp,
};

pub(crate) const A: RouteId = RouteId(0);
pub(crate) const B: RouteId = RouteId(1);
/// In another region, without tools, not for restricted data, and dear.
pub(crate) const FAR: RouteId = RouteId(2);
pub(crate) const R: RequestId = RequestId(0);
pub(crate) const MS: fn(u64) -> Duration = Duration::from_millis;

/// What a call costs at worst: 8,000 input tokens at $1 and 1,000 output tokens at $8 a million.
pub(crate) const WORST: Amount = Amount { money: Money::from_picos(16_000_000_000), tokens: 9_000 };

pub(crate) fn at(ms: u64) -> Timestamp {
    Timestamp::ZERO.after(MS(ms))
}

/// Two calls of $0.016 fit $0.040; so do two attempts; one leg at a time; 1,200 ms.
pub(crate) fn catalog() -> Catalog {
    let mut catalog = Catalog::default();
    for text in ["tools", "json"] {
        let name = catalog.names.intern(text);
        catalog.capabilities.push(name);
    }
    let tenant = catalog.names.intern("tenant-7f3a");
    let cap = Amount { money: Money::from_picos(100_000_000_000), tokens: u64::MAX };
    catalog.tenants.push(TenantFact { name: tenant, cap, window: Some(Duration::from_secs(60)) });
    let price = |dollars: u64| Price::from_picos_per_token(dollars * 1_000_000);
    for (at, text) in ["alpha", "beta", "far"].into_iter().enumerate() {
        let (name, id) = (catalog.names.intern(text), at as u16);
        let is_far = at == 2;
        let dollars = if is_far { 10 } else { 1 };
        let offer = Offer {
            capabilities: if is_far { Set64::of(1) } else { Set64::of(0).with(Set64::of(1)) },
            region: Set64::of(u8::from(is_far)),
            deployment: Set64::of(0),
            class_max: u8::from(!is_far),
            task_types: Set64::ALL,
            protocol: None,
            contract: None,
            context_max: 100_000,
            output_max: 4_000,
            prices: Prices {
                base: Tier { input: price(dollars), output: price(dollars * 8), ..Tier::default() },
                long: None,
            },
        };
        catalog.projects.push(name);
        catalog.models.push(name);
        catalog.providers.push(name);
        catalog.breakers.push(name);
        catalog.healths.push(name);
        catalog.credentials.push(CredentialFact { name, project: ProjectId(id) });
        catalog.routes.push(RouteFact {
            name,
            provider: ProviderId(id),
            model: ModelId(id),
            pool: vec![CredentialId(id)],
            offer,
            breaker: BreakerId(id),
            health: HealthId(id),
            profile: Profile::default(),
            merits: Merits::default(),
        });
    }
    let name = catalog.names.intern("req");
    catalog.sources.push(SourceFact { name, kind: SourceKind::Stream, content: None });
    catalog.limits = Limits { attempts_max: 2, calls_per_route_max: 2, probes_max: 1, ..Limits::default() };
    catalog
}

/// The same without a word about its breakers.
pub(crate) fn undeclared() -> Catalog {
    let mut catalog = catalog();
    catalog.machines.breaker = None;
    catalog
}

pub(crate) fn envelope() -> Envelope {
    Envelope {
        capabilities: Set64::of(0),
        regions: Set64::of(0),
        deployments: Set64::ALL,
        class: 1,
        task_type: None,
        protocol: None,
        contract: None,
        estimate: Usage { input: 8_000, output: 1_000, ..Usage::default() },
        cost_max: Money::from_picos(40_000_000_000),
        tokens_max: u64::MAX,
    }
}

pub(crate) fn failure(class: Class) -> Failure {
    Failure { class, code: None }
}

/// A trace in the making, judged as it is written.
pub(crate) struct Play<'a> {
    catalog: &'a Catalog,
    judge: Judge<'a>,
    seq: u64,
    now: Timestamp,
    calls: Vec<(RequestId, RouteId)>,
    attempts: Vec<u32>,
    spent: Vec<Money>,
    deadlines: Vec<Timestamp>,
    arrivals: u32,
    chosen: Option<(RequestId, RouteId, Timestamp)>,
}

impl<'a> Play<'a> {
    fn new(catalog: &'a Catalog, judge: Judge<'a>) -> Play<'a> {
        Play {
            catalog,
            judge,
            seq: 0,
            now: Timestamp::ZERO,
            calls: Vec::new(),
            attempts: Vec::new(),
            spent: Vec::new(),
            deadlines: Vec::new(),
            arrivals: 0,
            chosen: None,
        }
    }

    pub(crate) fn at(&mut self, ms: u64) -> &mut Self {
        self.now = at(ms);
        self
    }

    /// A nanosecond after `ms`.
    pub(crate) fn just_after(&mut self, ms: u64) -> &mut Self {
        self.now = Timestamp::from_nanos(at(ms).nanos() + 1);
        self
    }

    /// Any entry, with the one before it as its cause.
    pub(crate) fn say(&mut self, what: What<'_>) -> &mut Self {
        let cause = self.seq.checked_sub(1);
        self.say_because(cause, what)
    }

    pub(crate) fn say_because(&mut self, cause: Option<u64>, what: What<'_>) -> &mut Self {
        let (first, at, layer) = (self.seq, self.now, LayerId::INNERMOST);
        let entry = Entry { seq: first, at, cause, layer, what };
        // As in a run: what a gateway says comes in a row.
        let mut row = |effect: Effect, candidates: &[Candidate]| {
            self.judge.claims(&Claims { first, at, cause, layer, effects: &[effect], candidates });
        };
        if let What::Acted(action) = what {
            row(Effect::Act(*action), &[]);
        } else if let What::Decided(decision) = what {
            row(Effect::Decide(*decision), &[]);
        } else if let What::Considered { request, candidates } = what {
            row(Effect::Consider { request, first: 0, count: candidates.len() as u32 }, candidates);
        } else {
            self.judge.entry(&entry);
        }
        self.seq += 1;
        self
    }

    /// The number of the next entry.
    pub(crate) const fn number(&self) -> u64 {
        self.seq
    }

    pub(crate) fn skip_a_number(&mut self) -> &mut Self {
        self.seq += 1;
        self
    }

    pub(crate) fn decide(&mut self, decision: Decision) -> &mut Self {
        self.say(What::Decided(&decision))
    }

    pub(crate) fn act(&mut self, action: Action) -> &mut Self {
        self.say(What::Acted(&action))
    }

    pub(crate) fn arrive(&mut self, delivery: Delivery) -> &mut Self {
        self.arrive_with(R, envelope(), delivery)
    }

    pub(crate) fn arrive_with(&mut self, id: RequestId, envelope: Envelope, delivery: Delivery) -> &mut Self {
        self.arrive_as(id, |request| (request.envelope, request.delivery) = (envelope, delivery))
    }

    /// The usual request, but for what is changed.
    pub(crate) fn arrive_as(&mut self, id: RequestId, change: impl Fn(&mut Request)) -> &mut Self {
        let payer = Payer { task: None, tenant: Some(TenantId(0)) };
        let deadline = self.now.after(MS(1_200));
        let mut request = Request {
            id,
            payer,
            envelope: envelope(),
            deadline,
            delivery: Delivery::Whole,
            effect: SideEffect::None,
            priority: 0,
            content: None,
            draw: 0,
        };
        change(&mut request);
        let slot = id.index();
        self.attempts.resize(self.attempts.len().max(slot + 1), 0);
        self.spent.resize(self.spent.len().max(slot + 1), Money::ZERO);
        self.deadlines.resize(self.deadlines.len().max(slot + 1), Timestamp::ZERO);
        (self.attempts[slot], self.spent[slot], self.deadlines[slot]) = (0, Money::ZERO, deadline);
        let name = RequestName::of(0, self.arrivals);
        self.arrivals += 1;
        self.say(What::Arrived { request: &request, name, by: None })
    }

    /// One verdict a route; exclusions as they truly are for [`envelope`].
    pub(crate) fn consider(&mut self, change: impl Fn(&mut Candidate)) -> &mut Self {
        self.look(R, None, change)
    }

    /// The same for any request; this route is chosen, or else the first that may be used.
    fn look(&mut self, id: RequestId, choice: Option<RouteId>, change: impl Fn(&mut Candidate)) -> &mut Self {
        let calls = self.catalog.limits.reserve_retries + 1;
        let mut chosen = choice.map(|route| route.0);
        let candidates: Vec<Candidate> = (0u16..)
            .zip(&self.catalog.routes)
            .map(|(at, fact)| {
                let (reasons, worst_case) = exclusions(&envelope(), &fact.offer, calls);
                let missing = fact.offer.capabilities.lacking(envelope().capabilities).first();
                let verdict = if reasons.is_empty() || chosen == Some(at) {
                    let best = *chosen.get_or_insert(at);
                    let by = self.preference(id, RouteId(best));
                    if best == at { Verdict::Chosen { by: Some(by) } } else { Verdict::Outranked { by } }
                } else {
                    Verdict::Excluded { reasons, missing }
                };
                let mut candidate =
                    Candidate { route: RouteId(at), verdict, worst_case, health: State::Healthy };
                change(&mut candidate);
                candidate
            })
            .collect();
        self.chosen = chosen.map(|at| (id, RouteId(at), self.now));
        self.say(What::Considered { request: id, candidates: &candidates })
    }

    /// By what this route is chosen: the request has not called it as often, or it stands before the others.
    fn preference(&self, id: RequestId, best: RouteId) -> Key {
        let own = self.attempts.get(id.index()).map_or(0, |own| *own as usize);
        let tried: Vec<RouteId> =
            self.calls.iter().rev().filter(|made| made.0 == id).take(own).map(|made| made.1).collect();
        if own == 0 || tried.contains(&best) { Key::Order } else { Key::Tries }
    }

    /// Chooses the route, unless that was just done, reserves the true worst case, announces the call and begins
    /// it.
    pub(crate) fn call(&mut self, id: RequestId, route: RouteId) -> CallId {
        if self.chosen.take() != Some((id, route, self.now)) {
            self.look(id, Some(route), |_| ());
        }
        let prices = &self.catalog.routes[route.index()].offer.prices;
        let amount = Amount { money: prices.worst_case(&envelope().estimate), ..WORST };
        self.decide(Decision::Reserved { request: id, route, amount, window: 0 });
        self.announce(id, route)
    }

    pub(crate) fn announce(&mut self, id: RequestId, route: RouteId) -> CallId {
        let call = CallId(self.calls.len() as u32);
        let own = self.attempts[id.index()] as usize;
        let mut tried = self.calls.iter().rev().filter(|made| made.0 == id).take(own);
        let role = match own {
            0 => Role::Primary,
            _ if tried.any(|made| made.1 == route) => Role::Retry,
            _ => Role::Fallback,
        };
        self.calls.push((id, route));
        self.attempts[id.index()] += 1;
        let credential = CredentialId(route.0);
        self.chosen = None;
        self.act(Action::Call(Call {
            call,
            request: id,
            route,
            credential,
            nth: self.attempts[id.index()],
            role,
            breaker: BreakerId(route.0),
            generation: 0,
        }));
        self.begin(call, Scripted::Foreseen);
        call
    }

    pub(crate) fn begin(&mut self, call: CallId, scripted: Scripted) -> &mut Self {
        let (request, route) = self.calls[call.index()];
        let credential = CredentialId(route.0);
        self.say(What::CallBegun { call, request, route, credential, scripted })
    }

    pub(crate) fn cancel(&mut self, call: CallId) -> &mut Self {
        self.act(Action::Cancel { call, why: Class::Cancelled })
    }

    /// The result of a call is told to the breaker and the health of its route.
    pub(crate) fn signal(
        &mut self,
        call: CallId,
        signal: Signal,
        standing: Freshness,
        failures: u32,
    ) -> &mut Self {
        self.tell(call, (None, signal), standing, failures)
    }

    /// The same of a failure of this class.
    pub(crate) fn tell(
        &mut self,
        call: CallId,
        (class, signal): (Option<Class>, Signal),
        standing: Freshness,
        failures: u32,
    ) -> &mut Self {
        let route = self.calls[call.index()].1;
        self.decide(Decision::Signalled {
            call,
            breaker: BreakerId(route.0),
            health: HealthId(route.0),
            class,
            signal,
            standing,
            breaker_failures: failures,
            health_failures: failures,
        })
    }

    /// An upstream is about to get a call that nobody announced.
    pub(crate) fn smuggle(&mut self, id: RequestId, route: RouteId) -> CallId {
        self.calls.push((id, route));
        let call = CallId(self.calls.len() as u32 - 1);
        self.attempts[id.index()] += 1;
        self.begin(call, Scripted::Foreseen);
        call
    }

    /// The call ends and is settled at its bill.
    pub(crate) fn end(&mut self, call: CallId, truth: Option<Class>, dollars_milli: u64) -> &mut Self {
        self.end_with(call, truth, dollars_milli, Hint::Absent);
        let actual = Amount { money: Money::from_picos(dollars_milli * 1_000_000_000), tokens: 9_000 };
        self.settle(call, Basis::Receipt, actual)
    }

    pub(crate) fn end_with(
        &mut self,
        call: CallId,
        truth: Option<Class>,
        dollars_milli: u64,
        hint: Hint,
    ) -> &mut Self {
        self.end_for(call, truth, dollars_milli, (Scope::Model, hint))
    }

    /// The call ends with a failure that concerns this.
    pub(crate) fn end_for(
        &mut self,
        call: CallId,
        truth: Option<Class>,
        dollars_milli: u64,
        (scope, hint): (Scope, Hint),
    ) -> &mut Self {
        let money = Money::from_picos(dollars_milli * 1_000_000_000);
        let result = truth.map_or(Answer::Answered, |class| {
            Answer::Failed(Diagnosis {
                class,
                scope,
                resend: Resend::Same,
                hint,
                health: None,
                rule: Name::nth(0),
                code: Name::nth(0),
            })
        });
        let usage = envelope().estimate;
        let receipt = Receipt { result, usage, bill: Bill::Exact(money) };
        let slot = self.calls[call.index()].0.index();
        self.spent[slot] = self.spent[slot].plus(money);
        self.say(What::CallEnded { call, truth, health: None, code: None, status: None, receipt: &receipt })
    }

    pub(crate) fn settle(&mut self, call: CallId, basis: Basis, actual: Amount) -> &mut Self {
        let (_, route) = self.calls[call.index()];
        let prices = &self.catalog.routes[route.index()].offer.prices;
        let reserved = Amount { money: prices.worst_case(&envelope().estimate), ..WORST };
        let settlement = Settlement { reserved, actual, window: 0 };
        self.decide(Decision::Settled { call, basis, settlement })
    }

    pub(crate) fn reply(&mut self, id: RequestId, outcome: Outcome) -> &mut Self {
        let attempts = self.attempts[id.index()];
        let left = self.deadlines[id.index()].since(self.now);
        self.act(Action::Reply { request: id, outcome, attempts, left })
    }

    pub(crate) fn close(&mut self, id: RequestId) -> &mut Self {
        let spent = self.spent[id.index()];
        self.act(Action::Close { request: id, spent })
    }

    pub(crate) fn finish(self) -> RunVerdict {
        let ending = Ending { at: self.now, entries: self.seq, rest: Rest::Quiescent };
        self.judge.finish(&ending)
    }
}

/// A request that is answered by alpha at 450 ms, for $0.016.
/// The move of the first breaker; one that opens it says until when.
pub(crate) fn moved(from: breaker::State, to: breaker::State) -> Decision {
    let until = Some(at(5_000)).filter(|_| to == breaker::State::Open);
    let transition = breaker::Transition { from, to, generation: 1, until };
    Decision::BreakerMoved { breaker: BreakerId(0), transition }
}

pub(crate) fn answered(play: &mut Play<'_>) {
    play.arrive(Delivery::Whole).consider(|_| ());
    let call = play.call(R, A);
    play.at(450).end(call, None, 16).reply(R, Outcome::Answered { route: A }).close(R);
}

/// Plays `script`.
pub(crate) fn played(script: impl Fn(&mut Play<'_>)) -> RunVerdict {
    played_for(&[], 1, script)
}

/// Plays `script` with this seed, before these promises.
pub(crate) fn played_for(
    expectations: &[Expectation],
    seed: u64,
    script: impl Fn(&mut Play<'_>),
) -> RunVerdict {
    played_in(&catalog(), expectations, seed, script)
}

/// Plays `script` in the world of this catalogue.
pub(crate) fn played_in(
    catalog: &Catalog,
    expectations: &[Expectation],
    seed: u64,
    script: impl Fn(&mut Play<'_>),
) -> RunVerdict {
    let mut play = Play::new(catalog, Judge::new(catalog, expectations, 0, seed));
    script(&mut play);
    play.finish()
}

/// A law is held by the first play, broken by the second (and `says` so), and not exercised by an empty one.
pub(crate) fn check(law: Law, held: impl Fn(&mut Play<'_>), broken: impl Fn(&mut Play<'_>), says: &str) {
    check_in(&catalog(), law, held, broken, says);
}

/// The same in the world of this catalogue.
pub(crate) fn check_in(
    catalog: &Catalog,
    law: Law,
    held: impl Fn(&mut Play<'_>),
    broken: impl Fn(&mut Play<'_>),
    says: &str,
) {
    let verdict = played_in(catalog, &[], 1, held);
    let tally = verdict.laws.tally(law);
    assert!(tally.exercised > 0, "{} is put to the test", law.name());
    assert_eq!(tally.first, [], "{} holds", law.name());
    let verdict = played_in(catalog, &[], 1, broken);
    let tally = verdict.laws.tally(law);
    let told: Vec<&str> = tally.first.iter().map(|breach| breach.sentence.as_str()).collect();
    assert!(told.iter().any(|sentence| sentence.contains(says)), "{} says {told:?}", law.name());
    let nothing = played_in(catalog, &[], 1, |_| ());
    assert_eq!(nothing.laws.tally(law).exercised, 0, "{} is not exercised by nothing", law.name());
}
