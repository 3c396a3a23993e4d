//! How every entry reads: the one place that says which fields an event has and what is in them. A line, a
//! digest, a story and a pattern are sinks of this.

mod claims;
mod facts;
mod limits;
mod status;

use super::field::{Field, Unit};
use super::roll::Roll;
use super::text::Text;
use crate::gateway::Failure;
use crate::policy::cooldown::Bench;
use crate::policy::ledger::Amount;
use crate::policy::prices::Usage;
use crate::sim::{Catalog, Entry, Stack, TaskName, What};
use crate::units::{
    CallId, CredentialId, Duration, LayerId, ModelId, Money, Name, ProjectId, ProviderId, RequestId, RouteId,
    Set64, Timestamp,
};

/// Takes in the fields of one entry, in the order in which they are written. What is absent is not told.
pub trait Sink {
    /// A field of [`Unit::Word`] or [`Unit::Words`].
    fn text(&mut self, field: Field, text: Text<'_>);
    /// A field of [`Unit::Count`], or of [`Unit::Time`] or [`Unit::Span`] in nanoseconds.
    fn number(&mut self, field: Field, n: u64);
    /// A field of [`Unit::Money`].
    fn money(&mut self, field: Field, money: Money);
    /// A list begins; only [`Sink::open`] comes before its end.
    fn list(&mut self, field: Field);
    /// An object of the list begins.
    fn open(&mut self);
    /// The object ends.
    fn close(&mut self);
    /// The list ends.
    fn end(&mut self);
}

/// Tells `sink` every field of `entry`. The roll must have noted the entry.
#[inline(always)]
pub fn fields(entry: &Entry<'_>, roll: &Roll, catalog: &Catalog, sink: &mut impl Sink) {
    let (layer, stack) = (entry.layer, &catalog.stack);
    let catalog = if stack.names.is_empty() { catalog } else { of_layer(entry, catalog, sink) };
    let mut teller = Teller { at: entry.at, layer, stack, roll, catalog, sink };
    match entry.what {
        What::Declared(declared) => teller.declared(declared),
        What::Arrived { request, name: _, by } => teller.arrived(request, by),
        What::TaskBegan { name, .. } => teller.task(name),
        What::TaskEnded { task, end } => teller.task_ended(task, end),
        What::Abandoned { request } => teller.request(request),
        What::Woke { wait } => teller.woke(wait),
        What::Operated { command } => teller.operated(command),
        What::RunEnded => {}
        What::CallBegun { call, credential, scripted, .. } => teller.begun(call, credential, scripted),
        What::CallVisible { call } | What::CallLost { call } => teller.call(call),
        What::CallEnded { call, truth, health, code, status, receipt } => {
            teller.ended(call, (truth, health), (code, status), receipt);
        }
        What::Considered { request, candidates } => teller.considered(request, candidates),
        What::Acted(action) => teller.acted(action),
        What::Decided(decision) => teller.decided(decision),
    }
}

/// Tells the layer of `entry`. What is declared of it.
fn of_layer<'c>(entry: &Entry<'_>, catalog: &'c Catalog, sink: &mut impl Sink) -> &'c Catalog {
    if let Some(name) = catalog.stack.names.get(entry.layer.index()) {
        sink.text(Field::Layer, Text::Name(&catalog.names, *name));
    }
    catalog.of(entry.layer)
}

struct Teller<'a, S> {
    at: Timestamp,
    layer: LayerId,
    stack: &'a Stack,
    roll: &'a Roll,
    catalog: &'a Catalog,
    sink: &'a mut S,
}

/// What several events share.
impl<S: Sink> Teller<'_, S> {
    #[inline]
    fn request(&mut self, id: RequestId) {
        self.sink.text(Field::Request, Text::Request(self.catalog, self.roll.request(id).name));
    }

    /// A call is always told with its request and its route.
    #[inline]
    fn call(&mut self, id: CallId) {
        let made = self.roll.call(self.layer, id);
        self.sink.text(Field::Request, Text::Request(self.catalog, made.request));
        self.sink.text(Field::Call, Text::Call(self.catalog, made.request, made.nth));
        self.route(made.route);
    }

    #[inline]
    fn route(&mut self, id: RouteId) {
        self.name(Field::Route, self.catalog.routes[id.index()].name);
    }

    fn task(&mut self, name: TaskName) {
        self.sink.text(Field::Task, Text::Task(self.catalog, name));
    }

    fn credential(&mut self, id: CredentialId) {
        self.name(Field::Credential, self.catalog.credentials[id.index()].name);
    }

    fn project(&mut self, id: ProjectId) {
        self.name(Field::Project, self.catalog.projects[id.index()]);
    }

    fn provider(&mut self, id: ProviderId) {
        self.name(Field::Provider, self.catalog.providers[id.index()]);
    }

    fn model(&mut self, id: ModelId) {
        self.name(Field::Model, self.catalog.models[id.index()]);
    }

    fn bench(&mut self, bench: Bench) {
        match bench {
            Bench::Credential(id) => {
                self.word(Field::Scope, "credential");
                self.credential(id);
            }
            Bench::Project(id) => {
                self.word(Field::Scope, "project");
                self.project(id);
            }
            Bench::Model(project, model) => {
                self.word(Field::Scope, "model");
                self.project(project);
                self.model(model);
            }
            Bench::Provider(id) => {
                self.word(Field::Scope, "provider");
                self.provider(id);
            }
            Bench::Route(id) => {
                self.word(Field::Scope, "route");
                self.route(id);
            }
        }
    }

    fn failure(&mut self, failure: Failure) {
        self.word(Field::Class, failure.class.label());
        if let Some(code) = failure.code {
            self.name(Field::Code, code);
        }
    }

    fn last(&mut self, last: Option<Failure>) {
        if let Some(last) = last {
            self.word(Field::LastClass, last.class.label());
            if let Some(code) = last.code {
                self.name(Field::LastCode, code);
            }
        }
    }

    fn input_tokens(&mut self, usage: &Usage) {
        self.count_above_zero(Field::InputTokens, usage.input);
        self.count_above_zero(Field::CacheReadTokens, usage.cache_read);
        self.count_above_zero(Field::CacheWriteTokens, usage.cache_write);
        self.count_above_zero(Field::ImageTokens, usage.image);
        self.count_above_zero(Field::AudioTokens, usage.audio);
    }

    /// The largest amount is no cap.
    fn cap(&mut self, money: Field, tokens: Field, cap: Amount) {
        if cap.money < Money::MAX {
            self.money(money, cap.money);
        }
        self.count_below_max(tokens, cap.tokens, u64::MAX);
    }

    /// Only tenants have windows.
    fn window(&mut self, window: u64) {
        if !self.catalog.tenants.is_empty() {
            self.count(Field::Window, window);
        }
    }

    /// A set of everything is no constraint, a set of nothing no demand: neither is told.
    fn members(&mut self, field: Field, list: &[Name], set: Set64) {
        let is_told = set.first().is_some_and(|first| usize::from(first) < list.len()) && set != Set64::ALL;
        if is_told {
            self.sink.text(field, Text::Members(&self.catalog.names, list, set));
        }
    }

    fn position(&mut self, field: Field, list: &[Name], at: Option<u8>) {
        self.name_if(field, at.and_then(|at| list.get(usize::from(at))).copied());
    }
}

/// One field, of the unit that it is declared with.
impl<S: Sink> Teller<'_, S> {
    #[inline]
    fn word(&mut self, field: Field, word: &'static str) {
        debug_assert_eq!(field.unit(), Unit::Word);
        self.sink.text(field, Text::Word(word));
    }

    #[inline]
    fn name(&mut self, field: Field, name: Name) {
        debug_assert_eq!(field.unit(), Unit::Word);
        self.sink.text(field, Text::Name(&self.catalog.names, name));
    }

    #[inline]
    fn name_if(&mut self, field: Field, name: Option<Name>) {
        if let Some(name) = name {
            self.name(field, name);
        }
    }

    #[inline]
    fn count(&mut self, field: Field, n: u64) {
        debug_assert_eq!(field.unit(), Unit::Count);
        self.sink.number(field, n);
    }

    #[inline]
    fn count_above_zero(&mut self, field: Field, n: u32) {
        if n > 0 {
            self.count(field, u64::from(n));
        }
    }

    #[inline]
    fn count_below_max(&mut self, field: Field, n: u64, max: u64) {
        if n < max {
            self.count(field, n);
        }
    }

    #[inline]
    fn time(&mut self, field: Field, at: Timestamp) {
        debug_assert_eq!(field.unit(), Unit::Time);
        self.sink.number(field, at.nanos());
    }

    /// The last instant there is stands for never, and is not told.
    #[inline]
    fn time_if(&mut self, field: Field, at: impl Into<Option<Timestamp>>) {
        if let Some(at) = at.into().filter(|at| *at < Timestamp::MAX) {
            self.time(field, at);
        }
    }

    #[inline]
    fn span(&mut self, field: Field, length: Duration) {
        debug_assert_eq!(field.unit(), Unit::Span);
        self.sink.number(field, length.nanos());
    }

    fn money(&mut self, field: Field, money: Money) {
        debug_assert_eq!(field.unit(), Unit::Money);
        self.sink.money(field, money);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::Observer;
    use crate::trace::kind::{CANDIDATE, COMMON, Kind};
    use crate::trace::samples;

    /// Every field that was told of every kind, and of candidates.
    struct Told {
        catalog: Catalog,
        roll: Roll,
        kinds: Vec<(Kind, Vec<Field>)>,
        candidates: Vec<Vec<Field>>,
    }

    struct Heard<'a> {
        outer: Vec<Field>,
        inner: Option<Vec<Field>>,
        candidates: &'a mut Vec<Vec<Field>>,
    }

    impl Sink for Heard<'_> {
        fn text(&mut self, field: Field, _: Text<'_>) {
            assert!(matches!(field.unit(), Unit::Word | Unit::Words), "{}", field.label());
            self.inner.as_mut().unwrap_or(&mut self.outer).push(field);
        }

        fn number(&mut self, field: Field, _: u64) {
            assert!(matches!(field.unit(), Unit::Count | Unit::Time | Unit::Span), "{}", field.label());
            self.inner.as_mut().unwrap_or(&mut self.outer).push(field);
        }

        fn money(&mut self, field: Field, _: Money) {
            assert_eq!(field.unit(), Unit::Money, "{}", field.label());
            self.inner.as_mut().unwrap_or(&mut self.outer).push(field);
        }

        fn list(&mut self, field: Field) {
            self.outer.push(field);
        }

        fn open(&mut self) {
            self.inner = Some(Vec::new());
        }

        fn close(&mut self) {
            self.candidates.extend(self.inner.take());
        }

        fn end(&mut self) {}
    }

    impl Observer for Told {
        fn entry(&mut self, entry: &Entry<'_>) {
            self.roll.note(entry);
            let mut heard = Heard { outer: Vec::new(), inner: None, candidates: &mut self.candidates };
            fields(entry, &self.roll, &self.catalog, &mut heard);
            self.kinds.push((Kind::of(&entry.what), heard.outer));
        }
    }

    fn told() -> Told {
        let mut told = Told {
            catalog: samples::catalog(),
            roll: Roll::default(),
            kinds: Vec::new(),
            candidates: Vec::new(),
        };
        samples::bounded(&mut told);
        samples::oddities(&mut told);
        told.catalog = samples::limited();
        samples::declared(&mut told);
        samples::statuses(&mut told);
        (told.catalog, told.roll) = (samples::stacked(), Roll::default());
        samples::stack(&mut told);
        told
    }

    fn is_in_order(some: &[Field], all: &[Field]) -> bool {
        let mut rest = all.iter();
        some.iter().all(|field| rest.any(|other| other == field))
    }

    #[test]
    fn a_kind_tells_the_fields_it_is_listed_with_in_that_order() {
        let told = told();
        for (kind, fields) in &told.kinds {
            let own = fields.strip_prefix(COMMON).unwrap_or(fields);
            assert!(is_in_order(own, kind.fields()), "{}: {fields:?}", kind.label());
        }
        assert!(told.candidates.iter().all(|fields| is_in_order(fields, CANDIDATE)));
    }

    #[test]
    fn every_listed_field_is_told_by_somebody() {
        let told = told();
        for kind in Kind::ALL {
            for field in kind.fields() {
                let is_told = told.kinds.iter().any(|(k, fields)| k == kind && fields.contains(field));
                assert!(is_told, "{} never has {}", kind.label(), field.label());
            }
        }
        assert!(CANDIDATE.iter().all(|field| told.candidates.iter().any(|c| c.contains(field))));
    }
}
