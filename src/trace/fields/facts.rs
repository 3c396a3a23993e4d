//! How facts read.

use super::{Sink, Teller};
use crate::gateway::{Answer, Bill, Command, Delivery, Receipt, Request, SideEffect, Wait};
use crate::policy::ledger::Amount;
use crate::policy::prices::Tier;
use crate::policy::signal::Signal;
use crate::policy::taxonomy::Class;
use crate::sim::{Declared, Handed, Scripted, TaskEnd, Told};
use crate::trace::field::Field;
use crate::trace::text::Text;
use crate::units::{CallId, CredentialId, Money, Name, RouteId, TaskId, Timestamp};

impl<S: Sink> Teller<'_, S> {
    pub(super) fn declared(&mut self, declared: Declared) {
        match declared {
            Declared::Layer => self.stands(),
            Declared::Limits => self.limits(),
            Declared::Breaker(id) => self.own_breaker(id),
            Declared::Tenant(id) => {
                let tenant = self.catalog.tenants[id.index()];
                self.name(Field::Tenant, tenant.name);
                self.cap(Field::Cap, Field::CapTokens, tenant.cap);
                if let Some(window) = tenant.window {
                    self.span(Field::WindowLength, window);
                }
            }
            Declared::Task(id) => {
                let task = self.catalog.tasks[usize::from(id)];
                self.name(Field::Task, task.name);
                self.cap(Field::Cap, Field::CapTokens, task.cap);
            }
            Declared::Quota(id) => {
                let quota = self.catalog.quotas[usize::from(id)];
                self.project(quota.project);
                if let Some(model) = quota.model {
                    self.model(model);
                }
                self.count(Field::QuotaLimit, quota.limit);
                self.count(Field::QuotaUsed, quota.used);
            }
            Declared::Route(id) => self.offer(id),
            Declared::Approval(id) => {
                let approval = self.catalog.approvals[usize::from(id)];
                self.route(approval.route);
                self.word(Field::Class, approval.on.label());
                self.money(Field::Cap, approval.cost_max);
            }
        }
    }

    /// How this layer stands to the one below. What the stack may do is told by the outermost.
    fn stands(&mut self) {
        let Some(below) = self.layer.below() else { return };
        let fact = &self.stack.above[below.index()];
        self.name_if(Field::Below, self.stack.names.get(below.index()).copied());
        if below.index() + 1 == self.stack.above.len() {
            self.count(Field::StackCallsMax, u64::from(self.stack.calls_max));
        }
        match fact.deadline {
            Handed::Down => self.word(Field::DeadlineBelow, "passed"),
            Handed::Not(None) => self.word(Field::DeadlineBelow, "none"),
            Handed::Not(Some(length)) => {
                self.word(Field::DeadlineBelow, "its_own");
                self.span(Field::DeadlineBelowAfter, length);
            }
        }
        match fact.cancel {
            Told::AtOnce => self.word(Field::CancelBelow, "passed"),
            Told::Never => self.word(Field::CancelBelow, "not_passed"),
        }
        if let Some(status) = fact.hears {
            self.count(Field::HearsStatus, u64::from(status));
        }
    }

    fn offer(&mut self, id: RouteId) {
        let catalog = self.catalog;
        let route = &catalog.routes[id.index()];
        let offer = &route.offer;
        self.route(id);
        self.provider(route.provider);
        self.model(route.model);
        self.position(Field::Region, &catalog.regions, offer.region.first());
        self.position(Field::Deployment, &catalog.deployments, offer.deployment.first());
        self.position(Field::DataClassMax, &catalog.classes, Some(offer.class_max));
        self.members(Field::Capabilities, &catalog.capabilities, offer.capabilities);
        self.members(Field::TaskTypes, &catalog.task_types, offer.task_types);
        self.name_if(Field::Protocol, offer.protocol);
        self.name_if(Field::Contract, offer.contract);
        self.count_below_max(Field::ContextMax, offer.context_max, u64::MAX);
        self.count_below_max(Field::OutputMax, u64::from(offer.output_max), u64::from(u32::MAX));
        self.prices(&BASE_PRICES, &offer.prices.base);
        if let Some((above, tier)) = &offer.prices.long {
            self.count(Field::LongAbove, *above);
            self.prices(&LONG_PRICES, tier);
        }
        if !route.pool.is_empty() {
            self.sink.text(Field::Credentials, Text::Credentials(catalog, &route.pool));
        }
        self.profile(&route.profile);
        self.merits(&route.merits);
    }

    /// Input and output always; the others where they differ from fresh input.
    fn prices(&mut self, fields: &[Field; 6], tier: &Tier) {
        let prices = [tier.input, tier.output, tier.cache_read, tier.cache_write, tier.image, tier.audio];
        for (at, (field, price)) in fields.iter().zip(prices).enumerate() {
            if at < 2 || price != tier.input {
                self.money(*field, Money::from_picos(price.picos_per_token()).times(1_000_000));
            }
        }
    }

    pub(super) fn arrived(&mut self, request: &Request, by: Option<CallId>) {
        let (catalog, envelope) = (self.catalog, &request.envelope);
        self.request(request.id);
        if let Some(call) = by {
            let made = self.roll.call(self.layer.above(), call);
            self.sink.text(Field::Call, Text::Call(catalog, made.request, made.nth));
        }
        if let Some(task) = self.roll.request(request.id).task {
            self.task(task);
        }
        self.name_if(Field::Tenant, request.payer.tenant.map(|id| catalog.tenants[id.index()].name));
        let source = usize::from(self.roll.request(request.id).name.source);
        self.name_if(Field::Content, catalog.sources.get(source).and_then(|source| source.content));
        self.members(Field::Capabilities, &catalog.capabilities, envelope.capabilities);
        self.members(Field::Regions, &catalog.regions, envelope.regions);
        self.members(Field::Deployments, &catalog.deployments, envelope.deployments);
        self.position(Field::DataClass, &catalog.classes, Some(envelope.class));
        self.position(Field::TaskType, &catalog.task_types, envelope.task_type);
        self.name_if(Field::Protocol, envelope.protocol);
        self.name_if(Field::Contract, envelope.contract);
        self.input_tokens(&envelope.estimate);
        self.count(Field::OutputMax, u64::from(envelope.estimate.output));
        if request.deadline < Timestamp::MAX {
            self.time(Field::Deadline, request.deadline);
        }
        let cap = Amount { money: envelope.cost_max, tokens: envelope.tokens_max };
        self.cap(Field::CostMax, Field::TokensMax, cap);
        self.word(
            Field::Delivery,
            match request.delivery {
                Delivery::Whole => "whole",
                Delivery::Stream => "stream",
            },
        );
        match request.effect {
            SideEffect::None => {}
            SideEffect::Some => self.word(Field::Effect, "some"),
        }
        self.count_above_zero(Field::Priority, u32::from(request.priority));
    }

    pub(super) fn task_ended(&mut self, task: TaskId, end: TaskEnd) {
        if let Some(begun) = self.roll.begun(task) {
            self.task(begun.name);
            self.span(Field::Elapsed, self.at.since(begun.at));
        }
        self.word(
            Field::Result,
            match end {
                TaskEnd::Answered => "answered",
                TaskEnd::Failed => "failed",
            },
        );
    }

    pub(super) fn woke(&mut self, wait: Wait) {
        let word = match wait {
            Wait::Deadline(_) => "deadline",
            Wait::Attempt(_) => "attempt",
            Wait::FirstByte(_) => "first_byte",
            Wait::Idle(_) => "idle",
            Wait::Receipt(_) => "receipt",
            Wait::Health(_) => "health",
            Wait::Hedge(_) => "hedge",
            Wait::Retry(_) => "retry",
        };
        self.word(Field::Wait, word);
        match wait {
            Wait::Deadline(request) | Wait::Hedge(request) | Wait::Retry(request) => self.request(request),
            Wait::Attempt(call) | Wait::FirstByte(call) | Wait::Idle(call) | Wait::Receipt(call) => {
                self.call(call);
            }
            Wait::Health(health) => self.name(Field::Health, self.catalog.healths[health.index()]),
        }
    }

    pub(super) fn operated(&mut self, command: Command) {
        match command {
            Command::ResetBench(bench) => {
                self.word(Field::Command, "reset_bench");
                self.bench(bench);
            }
            Command::ResetBreaker(id) => {
                self.word(Field::Command, "reset_breaker");
                self.name(Field::Breaker, self.catalog.breakers[id.index()]);
            }
            Command::Show => self.word(Field::Command, "show_status"),
            Command::ResetHealth(id) => {
                self.word(Field::Command, "reset_health");
                self.name(Field::Health, self.catalog.healths[id.index()]);
            }
        }
    }

    pub(super) fn begun(&mut self, call: CallId, credential: CredentialId, scripted: Scripted) {
        self.call(call);
        self.credential(credential);
        self.word(
            Field::Scripted,
            match scripted {
                Scripted::Foreseen => "foreseen",
                Scripted::Forbidden => "forbidden",
            },
        );
    }

    pub(super) fn ended(
        &mut self,
        call: CallId,
        (truth, health): (Option<Class>, Option<Signal>),
        (code, status): (Option<Name>, Option<u16>),
        receipt: &Receipt,
    ) {
        self.call(call);
        self.span(Field::Elapsed, self.at.since(self.roll.call(self.layer, call).begun));
        let (result, told) = match receipt.result {
            Answer::Answered => ("answered", None),
            Answer::Failed(diagnosis) => ("failed", Some(diagnosis.code)),
            Answer::Cancelled => ("cancelled", None),
        };
        self.word(Field::Result, result);
        if let Some(status) = status {
            self.count(Field::HttpStatus, u64::from(status));
        }
        if let Some(truth) = truth {
            self.word(Field::Truth, truth.label());
        }
        if let Some(health) = health {
            self.word(Field::Signal, health.label());
        }
        self.name_if(Field::Code, code.or(told));
        self.input_tokens(&receipt.usage);
        self.count_above_zero(Field::OutputTokens, receipt.usage.output);
        match receipt.bill {
            Bill::Exact(money) => self.money(Field::Bill, money),
            Bill::Unknown => {}
        }
    }
}

const BASE_PRICES: [Field; 6] = [
    Field::InputPrice,
    Field::OutputPrice,
    Field::CacheReadPrice,
    Field::CacheWritePrice,
    Field::ImagePrice,
    Field::AudioPrice,
];

const LONG_PRICES: [Field; 6] = [
    Field::LongInputPrice,
    Field::LongOutputPrice,
    Field::LongCacheReadPrice,
    Field::LongCacheWritePrice,
    Field::LongImagePrice,
    Field::LongAudioPrice,
];
