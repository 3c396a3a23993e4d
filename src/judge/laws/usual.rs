//! What nearly all entries are: as usual. A glance tells it, and such an entry counts for all its laws at once. Of any other
//! each law says for itself what it finds.

use super::gates::Told;
use super::replies::Reply;
use super::{Law, Laws, timers};
use crate::gateway::{Basis, Call, Delivery, Outcome, Role, SideEffect};
use crate::judge::book::{Age, Book, CallPage, CallPhase, Charge, Phase, Reckoned};
use crate::policy::ledger::{Amount, Settlement};
use crate::policy::taxonomy::Class;
use crate::sim::Scripted;
use crate::units::{BreakerId, CallId, CredentialId, Money, RequestId, RouteId, Timestamp};

/// An entry as usual.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(in crate::judge) enum Usual {
    /// The gateway weighed the routes.
    Considered,
    /// The gateway set an amount aside.
    Reserved,
    /// It called an upstream.
    Called,
    /// An upstream took a call.
    Begun,
    /// A call is over.
    Ended,
    /// The gateway said what a result says about health.
    Signalled,
    /// The cost of a call is final.
    Settled,
    /// The caller has its answer.
    Replied,
    /// The last bill of a request is in.
    Closed,
}

impl Usual {
    /// All of them.
    pub(super) const ALL: [Usual; 9] = [
        Usual::Considered,
        Usual::Reserved,
        Usual::Called,
        Usual::Begun,
        Usual::Ended,
        Usual::Signalled,
        Usual::Settled,
        Usual::Replied,
        Usual::Closed,
    ];

    /// The laws that hold of it; the others of its kind do not speak of it.
    const fn held(self) -> &'static [Law] {
        match self {
            Usual::Considered => &[Law::TrueReasons, Law::BestIsChosen],
            Usual::Reserved => &[Law::WorstCaseIsReserved],
            Usual::Called => &[Law::EveryCallIsAnnounced],
            Usual::Begun => &[
                Law::AttemptsWithinBudget,
                Law::LegsWithinLimit,
                Law::EveryCallIsAnnounced,
                Law::NoCallAfterReply,
                Law::MoneyWithinCaps,
                Law::EligibleOnly,
                Law::ScriptRespected,
            ],
            Usual::Ended => &[Law::EachCallEndsOnce, Law::EarliestAnswerWins],
            Usual::Signalled => &[Law::ResultsAreToldAsTheyWere],
            Usual::Settled => &[Law::BooksBalance],
            Usual::Replied => &[
                Law::OneReplyOneClose,
                Law::ReplyWithinDeadline,
                Law::OutcomeIsTrue,
                Law::EarliestAnswerWins,
            ],
            Usual::Closed => &[Law::OneReplyOneClose, Law::BooksBalance],
        }
    }

    /// Whether the laws say the same one by one.
    fn is_confirmed(self, judge: impl FnOnce(&mut Laws)) -> bool {
        let mut laws = Laws::default();
        judge(&mut laws);
        let is_right = |law: Law| {
            let tally = laws.tally(law);
            tally.breaches == 0 && tally.exercised == u64::from(self.held().contains(&law))
        };
        Law::ALL.into_iter().all(is_right)
    }
}

/// How many entries of each kind were as usual.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts([u64; Usual::ALL.len()]);

impl Laws {
    /// An entry as usual counts for its laws at once, and a debug build asks these, too. Of any other each law says for
    /// itself what it finds.
    #[inline(always)]
    pub(in crate::judge) fn ask(&mut self, usual: Usual, is_usual: bool, judge: impl FnOnce(&mut Laws)) {
        if !is_usual {
            return judge(self);
        }
        debug_assert!(usual.is_confirmed(judge), "{usual:?} is as usual, and a law says otherwise");
        let count = &mut self.usual.0[usual as usize];
        *count = count.wrapping_add(1); // so many never come that it wraps
    }

    /// What was as usual counts for its laws.
    pub(super) fn count_usual(&mut self) {
        for (usual, count) in Usual::ALL.into_iter().zip(std::mem::take(&mut self.usual).0) {
            usual.held().iter().for_each(|law| self.hold(*law, count));
        }
    }
}

/// Whether the worst case of a call is set aside, in the tenant's window.
#[inline]
pub(in crate::judge) fn is_reserved(
    book: &Book<'_>,
    at: Timestamp,
    (request, route): (RequestId, RouteId),
    (amount, window): (Amount, u64),
) -> bool {
    book.request(request).is_some_and(|page| {
        amount == book.worst_case(request, route) && window == book.window(&page.payer, at)
    })
}

/// Whether the gateway makes the first call of a request, to the route that it has just chosen.
#[inline]
pub(in crate::judge) fn is_called(book: &Book<'_>, at: Timestamp, call: &Call) -> bool {
    let (Some(page), Some(fact)) = (book.request(call.request), book.route(call.route)) else { return false };
    page.choice == Some((call.route, at))
        && page.attempts == 0
        && (call.nth, call.role) == (1, Role::Primary)
        && call.breaker == fact.breaker
        && page.terminal.is_none()
        && book.run.terminal.is_none()
        && book.call(call.call).is_none_or(|slot| slot.phase != CallPhase::Flying)
}

/// A call against which nobody can say anything: announced as it is, the only one of a request that waits for it, to an
/// open route that may be used, for money that is there; nor is there anything to remark on. By whose leave it begins, and
/// what it can cost and use.
#[inline]
pub(in crate::judge) fn begins(
    book: &Book<'_>,
    at: Timestamp,
    (call, request): (CallId, RequestId),
    (route, credential): (RouteId, CredentialId),
    scripted: Scripted,
) -> Option<(BreakerId, Amount)> {
    let (page, fact, announced) = (book.request(request)?, book.route(route)?, book.call(call)?);
    let truth = book.truth(request, route);
    let worst_case = Amount { money: truth.worst_case, tokens: page.estimate };
    let is_wanted = page.phase == Phase::Open
        && page.effect == SideEffect::None
        && page.terminal.is_none()
        && page.committed.is_none()
        && page.attempts < book.facts.limits.attempts_max
        && page.legs < book.facts.limits.legs_max;
    let is_announced = announced.phase == CallPhase::Asked
        && announced.request == request
        && announced.route == route
        && announced.credential == credential
        && announced.reserved == Some(worst_case);
    let is_usual = is_wanted
        && is_announced
        && scripted == Scripted::Foreseen
        && truth.reasons.is_empty()
        && fact.pool.contains(&credential)
        && (page.attempts == 0 || book.tried(request, route).hint <= at)
        && book.is_undisturbed(at)
        && (book.is_afforded(request, at) || book.affords(Some(page), worst_case, at));
    if is_usual { Some((fact.breaker, worst_case)) } else { None }
}

/// Whether a call that is wanted ends in time, and for a request that still waits for it.
#[inline]
pub(in crate::judge) fn is_ended(
    book: &Book<'_>,
    at: Timestamp,
    (call, page): (CallId, &CallPage),
    truth: Option<Class>,
) -> bool {
    let Some(request) = book.request_of(page) else { return false };
    page.is_wanted()
        && request.phase == Phase::Open
        && request.committed.is_none_or(|(other, _)| other == call)
        && !truth.is_some_and(Class::is_terminal)
        && at <= timers::patience(book, page)
}

/// Whether a result that counts, and says something about health, is told as it must be.
#[inline]
pub(in crate::judge) fn is_signalled(
    book: &Book<'_>,
    (told, age): (&Told, Age),
    reckoned: Option<Reckoned>,
) -> bool {
    age == Age::Fresh
        && reckoned == Some(told.reckoned())
        && book.call(told.call).is_some_and(|page| page.neutral().is_none())
}

/// Whether a call is settled once, by its receipt, as it was set aside.
#[inline]
pub(in crate::judge) fn is_settled(
    book: &Book<'_>,
    call: CallId,
    basis: Basis,
    settlement: &Settlement,
) -> bool {
    book.call(call).is_some_and(|page| {
        basis == Basis::Receipt
            && page.charge == Charge::Open
            && page.phase == CallPhase::Ended
            && page.billed == Some(settlement.actual)
            && page.reserved == Some(settlement.reserved)
            && page.window == settlement.window
    })
}

/// Whether a request that met nothing has the answer that just came.
#[inline]
pub(in crate::judge) fn is_replied(book: &Book<'_>, reply: &Reply) -> bool {
    let (Some(page), Outcome::Answered { route }) = (book.request(reply.request), reply.outcome) else {
        return false;
    };
    page.phase == Phase::Open
        && page.answer.is_some_and(|first| (first.route, first.at) == (route, reply.at))
        && page.attempts == reply.attempts
        && reply.at <= page.deadline
        && page.deadline.since(reply.at) == reply.left
        && page.terminal.is_none()
        && page.stop.is_none()
        && page.hedges == 0
        && page.committed.is_none()
        && (page.visible.is_none() || page.delivery == Delivery::Whole)
}

/// Whether an answered request closes at the sum of its bills, with nothing left untold.
#[inline]
pub(in crate::judge) fn is_closed(book: &Book<'_>, request: RequestId, spent: Money) -> bool {
    book.request(request).is_some_and(|page| {
        let sum = page.account.billed().money.plus(page.account.held().money);
        page.phase == Phase::Replied && page.unsettled == 0 && page.untold == 0 && spent == sum
    })
}
