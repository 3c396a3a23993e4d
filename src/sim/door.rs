//! What stands behind each route in a run: how an upstream takes a call, and what it replies.

use super::capacity::Places;
use super::entry::Scripted;
use super::quota::Quota;
use super::setup::Setup;
use super::upstream::{Billed, Latency, OnCancel, Reply, Then, Upstream, Used};
use crate::gateway::Delivery;
use crate::policy::prices::{Prices, Usage};
use crate::units::draw::below;
use crate::units::{Draws, Duration, Key, Money, Purpose, Ratio, Timestamp};

/// The door of an upstream.
pub(super) struct Door<'s> {
    upstream: &'s Upstream,
    prices: &'s Prices,
    /// Its places, if they are finite.
    places: Option<Places>,
    /// How many calls it has taken.
    taken: u32,
    /// What is drawn for it, each begun with its name.
    latency: Key,
    fault: Key,
    /// What the last reply cost that uses the same whoever calls: it is the same again, more often than not.
    billed: Option<(&'s Reply, Money)>,
}

/// What a draw for a call is keyed by beside its upstream: the names of the request's source and of the request
/// there, and how often it has called the upstream.
#[derive(Clone, Copy)]
pub(super) struct Occasion {
    pub(super) source: u64,
    pub(super) ordinal: u64,
    pub(super) nth: u64,
}

/// Where a reply comes from.
#[derive(Clone, Copy)]
pub(super) enum Source<'s> {
    /// The upstream: its script, its faults, or its refusal when it is full.
    Upstream(&'s Reply),
    /// The refusal of a quota, for an answer that would be delivered so.
    Quota(&'s Quota, Delivery),
}

/// How a call is taken.
pub(super) struct Taken<'s> {
    pub(super) source: Source<'s>,
    pub(super) scripted: Scripted,
    /// When it is worked on.
    pub(super) served: Timestamp,
    /// How long; `None` if it never ends by itself.
    pub(super) work: Option<Duration>,
}

impl<'s> Door<'s> {
    pub(super) fn new(setup: &'s Setup, route: usize, draws: &Draws) -> Door<'s> {
        let (upstream, fact) = (&setup.upstreams[route], &setup.catalog.routes[route]);
        let name = setup.catalog.names.hash(fact.name);
        let prices = &fact.offer.prices;
        Door {
            upstream,
            prices,
            places: upstream.capacity.as_ref().map(Places::new),
            taken: 0,
            latency: draws.of(Purpose::Latency).and(name),
            fault: draws.of(Purpose::Fault).and(name),
            billed: None,
        }
    }

    /// Takes a call in, now or when there is a place; or it is full.
    pub(super) fn take(&mut self, now: Timestamp, occasion: Occasion) -> Taken<'s> {
        let served = match (&mut self.places, &self.upstream.capacity) {
            (Some(places), Some(capacity)) => match places.served_at(now, capacity) {
                Some(served) => served,
                None => return self.turn_away(now, occasion, Source::Upstream(&capacity.refusal)),
            },
            (None, _) | (_, None) => now,
        };
        let (reply, scripted) = self.reply(now, occasion);
        let work = self.length(&reply.after, occasion, 0);
        if let Some(places) = &mut self.places {
            places.take(now, served, work);
        }
        Taken { source: Source::Upstream(reply), scripted, served, work }
    }

    /// Takes a call in no further than to refuse it.
    pub(super) fn turn_away(&self, now: Timestamp, occasion: Occasion, source: Source<'s>) -> Taken<'s> {
        let work = self.length(&source.reply().after, occasion, 0);
        Taken { source, scripted: Scripted::Foreseen, served: now, work }
    }

    /// The reply to a call: that of the first fault that strikes, else the next of the script. What strikes is
    /// drawn by the names of the upstream and the request, and how often it has called there.
    fn reply(&mut self, now: Timestamp, occasion: Occasion) -> (&'s Reply, Scripted) {
        let (upstream, taken) = (self.upstream, self.taken);
        self.taken += 1;
        if !upstream.faults.is_empty() {
            let key = occasion.draw(self.fault);
            for (at, fault) in upstream.faults.iter().enumerate() {
                if fault.from <= now && now < fault.to && strikes(fault.rate, key.and(at as u64)) {
                    return (&fault.reply, Scripted::Foreseen);
                }
            }
        }
        let last = upstream.script.len() as u32 - 1;
        let scripted = if taken > last && upstream.then == Then::Fail {
            Scripted::Forbidden
        } else {
            Scripted::Foreseen
        };
        (&upstream.script[taken.min(last) as usize], scripted)
    }

    pub(super) fn length(&self, latency: &Latency, occasion: Occasion, which: u64) -> Option<Duration> {
        latency.drawn(|| occasion.draw(self.latency).and(which).bits())
    }

    /// What a call with this reply uses and is billed, if it runs to its end.
    pub(super) fn full<'u>(&mut self, reply: &'s Reply, estimate: &'u Usage) -> (&'u Usage, Money)
    where
        's: 'u,
    {
        let usage = match &reply.usage {
            Used::AsEstimated => estimate,
            Used::Exactly(usage) => usage,
        };
        let money = match (&reply.bill, &reply.usage) {
            (Billed::Exactly(money), _) => *money,
            (Billed::ByUsage, Used::AsEstimated) => self.prices.cost(usage),
            (Billed::ByUsage, Used::Exactly(_)) => match self.billed {
                Some((last, money)) if std::ptr::eq(last, reply) => money,
                Some(_) | None => {
                    let money = self.prices.cost(usage);
                    self.billed = Some((reply, money));
                    money
                }
            },
        };
        (usage, money)
    }

    pub(super) fn on_cancel(&self) -> &'s OnCancel {
        &self.upstream.on_cancel
    }
}

impl Occasion {
    /// A draw that an upstream has begun, with these names mixed in.
    const fn draw(self, begun: Key) -> Key {
        begun.and(self.source).and(self.ordinal).and(self.nth)
    }
}

fn strikes(rate: Ratio, draw: Key) -> bool {
    below(draw.bits(), rate.denominator()) < rate.numerator()
}

impl<'s> Source<'s> {
    pub(super) fn reply(self) -> &'s Reply {
        match self {
            Source::Upstream(reply) => reply,
            Source::Quota(quota, delivery) => quota.refusal(delivery),
        }
    }
}
