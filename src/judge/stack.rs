//! A stack of gateways: a chamber for each layer, which sees the entries of its own, and what only shows if all of
//! them are looked at together: how many calls one request of a caller led to, and for whom.

use super::book::{Fault, Moment};
use super::chamber::Chamber;
use super::laws::{Back, Spent};
use super::metrics::{Metrics, Together};
use crate::gateway::{Action, Answer, Bill, Outcome, Receipt, Request};
use crate::policy::prices::Usage;
use crate::policy::taxonomy::Class;
use crate::sim::{Catalog, Entry, RequestName, What};
use crate::units::{CallId, LayerId, Money, RequestId, RouteId, Timestamp};

/// The layers above the innermost, and what passes between them.
#[derive(Debug)]
pub(super) struct Stack<'a> {
    facts: &'a Catalog,
    /// The lowest first.
    above: Vec<Chamber<'a>>,
    /// By the slots of requests, in whatever layer.
    asked: Vec<Asked>,
    /// By layer, and by the slots of its calls.
    legs: Vec<Vec<Leg>>,
    questions: Vec<Question>,
    free: Vec<u32>,
    begun: u64,
    together: Together,
}

/// A request in some layer.
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    question: u32,
    deadline: Timestamp,
    by: Option<Up>,
}

/// The call of the layer above that a request is.
#[derive(Clone, Copy, Debug)]
struct Up {
    layer: LayerId,
    call: CallId,
    /// What tells it from others in its slot.
    serial: u64,
}

/// A call of some layer.
#[derive(Clone, Copy, Debug)]
struct Leg {
    serial: u64,
    request: RequestId,
    question: u32,
    /// The call above that it is made for.
    by: Option<Up>,
    /// When its layer stopped waiting for it.
    stopped: Option<Timestamp>,
    /// What it led to.
    child: Child,
    /// What the calls below cost that it led to.
    spent: Spent,
    /// How the layer below answered.
    reply: Option<Outcome>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Child {
    Awaited,
    Arrived,
}

/// A request of a caller, with all that it led to.
#[derive(Clone, Copy, Debug, Default)]
struct Question {
    name: Option<RequestName>,
    /// Calls to upstreams.
    calls: u32,
    /// Requests of it that are not closed, in all layers.
    open: u32,
    /// The true terminal fault that ended a request of the innermost layer while somebody waited for it.
    terminal: Option<Stopped>,
}

/// The true terminal fault that ended a request, and the first one that it met on any leg: the reply may name either.
#[derive(Clone, Copy, Debug)]
struct Stopped {
    class: Class,
    route: RouteId,
    first: Class,
}

impl Leg {
    const VACANT: Leg = Leg {
        serial: 0,
        request: RequestId(0),
        question: 0,
        by: None,
        stopped: None,
        child: Child::Awaited,
        spent: Spent { money: Some(Money::ZERO), usage: Usage::ZERO },
        reply: None,
    };
}

impl<'a> Stack<'a> {
    /// A stack, if there is one.
    pub(super) fn new(facts: &'a Catalog, seed: u64) -> Option<Stack<'a>> {
        let above: Vec<Chamber<'a>> =
            facts.stack.above.iter().map(|fact| Chamber::new(&fact.catalog, seed)).collect();
        let legs = vec![Vec::new(); above.len() + 1];
        let (asked, questions, free, together) = Default::default();
        let stack = Stack { facts, above, asked, legs, questions, free, begun: 0, together };
        (!stack.above.is_empty()).then_some(stack)
    }

    /// Looks at one entry, whosever it is; `own` is the innermost layer.
    #[inline(never)]
    pub(super) fn entry(&mut self, own: &mut Chamber<'a>, entry: &Entry<'_>) {
        self.look(own, entry);
        for (layer, chamber) in std::iter::once(own).chain(&mut self.above).enumerate() {
            if layer == entry.layer.index() {
                chamber.look(entry);
            } else {
                chamber.overhear(entry);
            }
        }
    }

    /// The run is over: the laws of all layers, and what requests of callers and calls to upstreams amount to.
    pub(super) fn finish(mut self, own: &mut Chamber<'a>) {
        for chamber in &mut self.above {
            chamber.end();
            own.laws.merge(&chamber.laws);
        }
        if let Some(outermost) = self.above.pop() {
            own.metrics = Metrics::stacked(&outermost.metrics, &own.metrics, self.together);
        }
    }

    fn look(&mut self, own: &mut Chamber<'a>, entry: &Entry<'_>) {
        let layer = entry.layer;
        match entry.what {
            What::Arrived { request, name, by } => self.arrived(own, entry, request, (name, by)),
            What::CallBegun { call, request, route, .. } => self.called(own, entry, (call, request), route),
            What::CallEnded { call, receipt, status, .. } => {
                self.ended(own, entry, call, (receipt, status));
            }
            What::CallLost { call } => {
                let Some(leg) = self.leg(layer, call) else { return };
                self.charge(leg.by, Spent { money: None, usage: Usage::ZERO });
                self.pay(own, entry, call, &leg, None);
            }
            What::Acted(Action::Cancel { call, .. }) => {
                let legs = self.legs.get_mut(layer.index());
                if let Some(leg) = legs.and_then(|legs| legs.get_mut(call.index())) {
                    leg.stopped = Some(entry.at);
                }
            }
            What::Acted(Action::Close { request, .. }) => {
                let question = self.asked.get(request.index()).map(|asked| asked.question);
                self.leave(question);
            }
            What::Acted(Action::Reply { request, outcome, .. }) => {
                self.replied(own, entry, *request, outcome)
            }
            What::Acted(Action::Call(_) | Action::Commit { .. })
            | What::Declared(_)
            | What::TaskBegan { .. }
            | What::TaskEnded { .. }
            | What::Abandoned { .. }
            | What::Woke { .. }
            | What::RunEnded
            | What::Operated { .. }
            | What::CallVisible { .. }
            | What::Considered { .. }
            | What::Decided(_) => {}
        }
    }

    /// A request came in, from a caller or from the layer above.
    fn arrived(
        &mut self,
        own: &mut Chamber<'a>,
        entry: &Entry<'_>,
        request: &Request,
        (name, by): (RequestName, Option<CallId>),
    ) {
        let above = entry.layer.above();
        let leg = by.and_then(|call| self.leg(above, call).map(|leg| (call, leg)));
        let (question, by) = match leg {
            Some((call, leg)) => {
                let parent = self.asked[leg.request.index()];
                let fact = &self.facts.stack.above[entry.layer.index()];
                let deadlines = (parent.deadline, request.deadline);
                own.laws
                    .passes_a_deadline(Moment::of(entry), fact.deadline, deadlines, || own.book.name(name));
                self.legs[above.index()][call.index()].child = Child::Arrived;
                (leg.question, Some(Up { layer: above, call, serial: leg.serial }))
            }
            None => (self.ask(name), None),
        };
        if self.asked.len() <= request.id.index() {
            self.asked.resize(request.id.index() + 1, Asked::default());
        }
        self.asked[request.id.index()] = Asked { question, deadline: request.deadline, by };
    }

    fn ask(&mut self, name: RequestName) -> u32 {
        let question = Question { name: Some(name), open: 1, ..Question::default() };
        match self.free.pop() {
            Some(at) => {
                self.questions[at as usize] = question;
                at
            }
            None => {
                self.questions.push(question);
                self.questions.len() as u32 - 1
            }
        }
    }

    /// A request of a question is closed, or never arrived.
    fn leave(&mut self, question: Option<u32>) {
        let Some(at) = question else { return };
        let Some(page) = self.questions.get_mut(at as usize).filter(|page| page.open > 0) else { return };
        page.open -= 1;
        if page.open == 0 {
            self.free.push(at);
        }
    }

    /// A layer answers: the innermost may have met a terminal fault, and the outermost must say so.
    fn replied(&mut self, own: &mut Chamber<'a>, entry: &Entry<'_>, request: RequestId, outcome: &Outcome) {
        let Some(asked) = self.asked.get(request.index()).copied() else { return };
        if let Some(leg) = asked.by.and_then(|by| self.leg_mut(by)) {
            leg.reply = Some(*outcome);
        }
        let is_awaited = self.gone(asked.by, |_| true).is_none();
        let Some(page) = self.questions.get_mut(asked.question as usize) else { return };
        if entry.layer == LayerId::INNERMOST {
            // Where somebody has approved another route, a request may go on.
            let faults = own.book.request(request).and_then(|page| page.stop.zip(page.terminal));
            let faults = faults.filter(|(fault, _)| is_awaited && !own.book.is_approved_for(fault.class));
            let stopped = |(fault, first): (Fault, Fault)| Stopped {
                class: fault.class,
                route: fault.route,
                first: first.class,
            };
            page.terminal = page.terminal.or(faults.map(stopped));
        } else if let (Some(met), true) = (page.terminal, entry.layer == self.facts.outermost()) {
            let who = page.name.map_or_else(String::new, |name| own.book.name(name));
            let classes = [met.class, met.first];
            own.laws.names_it_to_the_caller(
                Moment::of(entry),
                outcome,
                classes,
                (&who, own.book.route_name(met.route)),
            );
        }
    }

    /// A layer calls the one below, or an upstream.
    fn called(
        &mut self,
        own: &mut Chamber<'a>,
        entry: &Entry<'_>,
        (call, request): (CallId, RequestId),
        route: RouteId,
    ) {
        let Some(asked) = self.asked.get(request.index()).copied() else { return };
        self.begun += 1;
        let (serial, question, by) = (self.begun, asked.question, asked.by);
        let leg = Leg { serial, request, question, by, ..Leg::VACANT };
        if let Some(page) = self.questions.get_mut(question as usize) {
            if entry.layer == LayerId::INNERMOST {
                page.calls += 1;
                let page = *page;
                let gone = self.gone(by, |_| true);
                self.together.called(page.calls);
                if gone.is_some() {
                    self.together.called_for_nobody();
                }
                let whose = || page.name.map_or_else(String::new, |name| own.book.name(name));
                let most = self.facts.stack.calls_max;
                own.laws.calls_within_stack(Moment::of(entry), (page.calls, most), whose);
                let sentence = gone.map(|gone| {
                    let (who, route) = (own.book.request_name(request), own.book.route_name(route));
                    format!("{route} is called for {who}, and {} no longer waits for it", self.name(gone))
                });
                own.laws.calls_for_somebody(Moment::of(entry), sentence);
                if let Some(met) = page.terminal {
                    let routes = (own.book.route_name(met.route), own.book.route_name(route));
                    own.laws.calls_after_a_terminal_fault(Moment::of(entry), whose, met.class, routes);
                }
            } else {
                page.open += 1;
            }
        }
        let legs = &mut self.legs[entry.layer.index()];
        if legs.len() <= call.index() {
            legs.resize(call.index() + 1, Leg::VACANT);
        }
        legs[call.index()] = leg;
    }

    /// The lowest layer above that no longer waits since such an instant, if one does not.
    fn gone(&self, by: Option<Up>, since: impl Fn(Timestamp) -> bool) -> Option<LayerId> {
        let mut by = by;
        while let Some(Up { layer, call, serial }) = by {
            let leg = self.leg(layer, call).filter(|leg| leg.serial == serial)?;
            if leg.stopped.is_some_and(&since) {
                return Some(layer);
            }
            by = leg.by;
        }
        None
    }

    /// A call is over and billed.
    fn ended(
        &mut self,
        own: &mut Chamber<'a>,
        entry: &Entry<'_>,
        call: CallId,
        (receipt, status): (&Receipt, Option<u16>),
    ) {
        let Some(leg) = self.leg(entry.layer, call) else { return };
        let Receipt { result, usage, bill } = *receipt;
        let money = match bill {
            Bill::Exact(money) => Some(money),
            Bill::Unknown => None,
        };
        let spent = Spent { money, usage };
        if entry.layer == LayerId::INNERMOST {
            self.pay(own, entry, call, &leg, money);
        } else {
            let fact = entry.layer.below().and_then(|below| self.facts.stack.above.get(below.index()));
            let hears = fact.and_then(|fact| fact.hears);
            let (layer, above, below, reply) = (self.name(entry.layer), spent, leg.spent, leg.reply);
            own.laws
                .passes_back(Moment::of(entry), &Back { layer, hears, reply, result, status, above, below });
            if result == Answer::Cancelled && leg.child == Child::Awaited {
                self.leave(Some(leg.question));
            }
        }
        self.charge(leg.by, spent);
    }

    /// A call to an upstream is billed; at its worst case if nobody says. It was for nobody if somebody above had left
    /// before it ended or was stopped.
    fn pay(&mut self, own: &Chamber<'a>, entry: &Entry<'_>, call: CallId, leg: &Leg, billed: Option<Money>) {
        let Some(page) = own.book.call(call) else { return };
        let end = if page.stopped.is_some() { page.stopped_at } else { entry.at };
        if self.gone(leg.by, |left| left < end).is_some() {
            self.together.pay_for_nobody(billed.unwrap_or(page.worst_case.money));
        }
    }

    /// The name of a layer, for a reader.
    fn name(&self, layer: LayerId) -> &'a str {
        self.facts.stack.names.get(layer.index()).map_or("a layer", |name| self.facts.names.text(*name))
    }

    /// A call cost this: so did the one above.
    fn charge(&mut self, by: Option<Up>, Spent { money, usage }: Spent) {
        if let Some(leg) = by.and_then(|by| self.leg_mut(by)) {
            leg.spent.money = leg.spent.money.zip(money).map(|(sum, money)| sum.plus(money));
            leg.spent.usage = leg.spent.usage.plus(&usage);
        }
    }

    fn leg(&self, layer: LayerId, call: CallId) -> Option<Leg> {
        self.legs.get(layer.index())?.get(call.index()).copied().filter(|leg| leg.serial > 0)
    }

    fn leg_mut(&mut self, Up { layer, call, serial }: Up) -> Option<&mut Leg> {
        self.legs.get_mut(layer.index())?.get_mut(call.index()).filter(|leg| leg.serial == serial)
    }
}
