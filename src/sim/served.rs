//! A call, as the world knows it, and its end.

use super::door::{Door, Source};
use super::upstream::{CancelBill, FailedReply};
use crate::gateway::{Answer, Bill, Receipt};
use crate::policy::prices::Usage;
use crate::policy::signal::Signal;
use crate::policy::taxonomy::Class;
use crate::units::{Duration, Money, Name, Ratio, RequestId, RouteId, Timestamp};

/// What the world knows of a call.
pub(super) struct Served<'s> {
    pub(super) stamp: u64,
    /// For whom, if there are layers.
    pub(super) by: Option<(RequestId, u64)>,
    pub(super) route: RouteId,
    pub(super) source: Source<'s>,
    pub(super) begun: Timestamp,
    /// When it is worked on.
    pub(super) served: Timestamp,
    /// How long it is worked on; `None` if it never ends by itself.
    pub(super) work: Option<Duration>,
    pub(super) estimate: Usage,
    pub(super) cancelled_at: Option<Timestamp>,
    /// The entry that its end is caused by: its beginning, or its cancel.
    pub(super) origin: u64,
    /// The entry of its last sign of life.
    pub(super) sign: u64,
}

/// The end of a call.
#[derive(Clone, Copy)]
pub(super) struct End {
    /// What the gateway is told.
    pub(super) receipt: Receipt,
    /// What its failure truly means.
    pub(super) truth: Option<Class>,
    /// What it truly says about health, where that is not what its class says.
    pub(super) health: Option<Signal>,
    /// The name of the failure.
    pub(super) code: Option<Name>,
    /// The HTTP status; `None` if no HTTP response was taken in.
    pub(super) status: Option<u16>,
    /// The entry that caused it.
    pub(super) origin: u64,
}

/// The HTTP status of an answer.
const ANSWERED: u16 = 200;

impl<'s> Served<'s> {
    /// Its end, behind this door.
    pub(super) fn end(&self, door: &mut Door<'s>) -> End {
        let reply = self.source.reply();
        let full = door.full(reply, &self.estimate);
        if let Some(cancelled) = self.cancelled_at {
            let receipt = self.cut_short(door.on_cancel().bill, full, cancelled);
            let truth = Some(Class::Cancelled);
            return End { receipt, truth, health: None, code: None, status: None, origin: self.origin };
        }
        match self.source {
            Source::Upstream(reply) => self.whole(full, reply.failure.as_ref()),
            Source::Quota(quota, delivery) => self.whole(full, quota.failure(self.begun, delivery).as_ref()),
        }
    }

    /// The end of a call that ran to its end.
    fn whole(&self, (usage, money): (&Usage, Money), failure: Option<&FailedReply>) -> End {
        let (bill, origin) = (Bill::Exact(money), self.origin);
        let receipt = |result| Receipt { result, usage: *usage, bill };
        match failure {
            None => End {
                receipt: receipt(Answer::Answered),
                truth: None,
                health: None,
                code: None,
                status: Some(ANSWERED),
                origin,
            },
            Some(FailedReply { told, truth, health, code, status }) => End {
                receipt: receipt(told.map_or(Answer::Answered, Answer::Failed)),
                truth: Some(*truth),
                health: *health,
                code: Some(*code),
                status: *status,
                origin,
            },
        }
    }

    /// The receipt of a call that was cancelled at this instant.
    fn cut_short(&self, bill: CancelBill, (usage, money): (&Usage, Money), cancelled: Timestamp) -> Receipt {
        let passed = cancelled.since(self.served.min(cancelled));
        let share = match bill {
            CancelBill::Nothing => Ratio::ZERO,
            CancelBill::Everything | CancelBill::Unknown => Ratio::ONE,
            // Nothing is done for whoever waits at the door.
            CancelBill::Elapsed if cancelled < self.served => Ratio::ZERO,
            CancelBill::Elapsed => self
                .work
                .and_then(|work| Ratio::new(passed.nanos().min(work.nanos()), work.nanos()))
                .unwrap_or(Ratio::ONE),
        };
        let tokens = |n: u32| share.of(u64::from(n)) as u32;
        let usage = Usage {
            input: tokens(usage.input),
            cache_read: tokens(usage.cache_read),
            cache_write: tokens(usage.cache_write),
            image: tokens(usage.image),
            audio: tokens(usage.audio),
            output: tokens(usage.output),
        };
        let bill = match bill {
            CancelBill::Unknown => Bill::Unknown,
            CancelBill::Nothing | CancelBill::Everything | CancelBill::Elapsed => {
                Bill::Exact(Money::from_picos(share.of(money.picos())))
            }
        };
        Receipt { result: Answer::Cancelled, usage, bill }
    }
}
