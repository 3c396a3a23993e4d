//! What comes back from the layer below: a reply, its bill, and signs of life of a stream.

use super::heard::heard;
use super::{Billed, Closed, Hearer, Leg, Life, Relay, Relayed, Returned, Stack, State};
use crate::gateway::{Answer, Bill, Outcome, Receipt};
use crate::policy::taxonomy::Class;
use crate::sim::jobs::Part;
use crate::sim::served::End;
use crate::sim::upstream::FailedReply;
use crate::units::{RequestId, Timestamp};

impl Stack<'_> {
    /// A call of a request is over and billed.
    #[inline]
    pub(in crate::sim) fn settle(&mut self, by: Option<(RequestId, u64)>, end: &End) {
        if let Some(by) = by {
            self.book(by, end);
        }
    }

    fn book(&mut self, (request, stamp): (RequestId, u64), end: &End) {
        let asked = self.asked.get_mut(request.index()).and_then(Option::as_mut);
        let Some(asked) = asked.filter(|asked| asked.stamp == stamp) else { return };
        let Receipt { result, usage, bill } = end.receipt;
        match bill {
            Bill::Exact(money) => {
                asked.billed.missing -= 1;
                asked.billed.money = asked.billed.money.plus(money);
            }
            Bill::Unknown => {}
        }
        asked.billed.usage = asked.billed.usage.plus(&usage);
        let told = match result {
            Answer::Cancelled => return,
            Answer::Answered => None,
            Answer::Failed(diagnosis) => Some(diagnosis),
        };
        let failed = end.truth.zip(end.code).map(|(truth, code)| FailedReply {
            told,
            truth,
            health: end.health,
            code,
            status: end.status,
        });
        asked.last = failed;
        if told.is_some_and(|told| told.class.is_terminal()) {
            asked.grave = asked.grave.or(failed);
        }
    }

    /// A layer answers, told in this entry. Whether the layer above hears of it: nobody is above the outermost.
    #[inline(never)]
    pub(in crate::sim) fn reply(
        &mut self,
        now: Timestamp,
        request: RequestId,
        outcome: &Outcome,
        entry: u64,
    ) -> Hearer {
        let Some(Some(asked)) = self.asked.get(request.index()) else { return Hearer::Caller };
        let Some(leg) = asked.by else { return Hearer::Caller };
        let returned = match outcome {
            Outcome::Answered { .. } => Returned::Answered(asked.last),
            Outcome::Abandoned => return Hearer::Layer,
            Outcome::Truncated { .. }
            | Outcome::Terminal { .. }
            | Outcome::Exhausted { .. }
            | Outcome::BudgetExceeded { .. }
            | Outcome::AllGated { .. }
            | Outcome::NoCandidate { .. }
            | Outcome::NoEligibleRoute
            | Outcome::DeadlineExceeded { .. }
            | Outcome::Stopped { .. } => {
                Returned::Failed(heard(self.hears(leg.layer), outcome, [asked.last, asked.grave]))
            }
        };
        let relayed = self.relayed(leg.layer, leg.call);
        if relayed.stamp == leg.stamp {
            relayed.result = Some(returned);
            self.send(now, Relay::End { leg, cause: entry });
        }
        Hearer::Layer
    }

    /// The last bill of a request is in, told in this entry. The step of a job that is over with it.
    #[inline(never)]
    pub(in crate::sim) fn close(&mut self, now: Timestamp, request: RequestId, entry: u64) -> Option<Part> {
        let asked = self.asked.get_mut(request.index())?.take()?;
        if let Some(leg) = asked.by {
            let relayed = self.relayed(leg.layer, leg.call);
            if relayed.stamp == leg.stamp {
                relayed.bill = Billed { closed: Closed::Yes, ..asked.billed };
                self.send(now, Relay::End { leg, cause: entry });
            }
        }
        let question = &mut self.questions[asked.question as usize];
        question.open -= 1;
        if question.open > 0 {
            return None;
        }
        self.free.push(asked.question);
        question.part
    }

    /// The end of a call of a layer, and the request that it was for; `None` if it is not over: it was stopped, and
    /// what it was for goes on.
    #[inline(never)]
    pub(in crate::sim) fn end(&mut self, leg: Leg) -> Option<End> {
        let relayed = self.relayed(leg.layer, leg.call);
        if relayed.stamp != leg.stamp {
            return None;
        }
        let Relayed { by, state, result, .. } = *relayed;
        let bill = self.bill(leg);
        let (result, failed) = match (state, result) {
            (State::Awaited, Some(Returned::Answered(fooled))) => (Answer::Answered, fooled),
            (State::Awaited, Some(Returned::Failed(failed))) => {
                (failed.told.map_or(Answer::Answered, Answer::Failed), Some(failed))
            }
            (State::Cancelled, _) if bill.closed == Closed::Yes => (Answer::Cancelled, None),
            (State::Awaited | State::Cancelled | State::Ended, _) => return None,
        };
        self.relayed(leg.layer, leg.call).state = State::Ended;
        let is_known = bill.closed == Closed::NotYet || bill.missing == 0;
        let receipt = Receipt {
            result,
            usage: bill.usage,
            bill: if is_known { Bill::Exact(bill.money) } else { Bill::Unknown },
        };
        let truth = failed.map(|failed| failed.truth);
        let end = End {
            receipt,
            truth: if result == Answer::Cancelled { Some(Class::Cancelled) } else { truth },
            health: failed.and_then(|failed| failed.health),
            code: failed.map(|failed| failed.code),
            status: match result {
                Answer::Cancelled => None,
                Answer::Answered | Answer::Failed(_) => failed.map_or(Some(200), |failed| failed.status),
            },
            origin: 0,
        };
        self.settle(Some(by), &end);
        Some(end)
    }

    /// What a call of a layer was billed so far; all of it, if what it was for is closed.
    fn bill(&mut self, leg: Leg) -> Billed {
        let Relayed { child, bill, .. } = *self.relayed(leg.layer, leg.call);
        let open = child.and_then(|(request, stamp)| {
            self.asked[request.index()].as_ref().filter(|asked| asked.stamp == stamp)
        });
        open.map_or(bill, |asked| asked.billed)
    }

    /// Output of a request is visible, or it is alive, told in this entry: so is the call above.
    #[inline]
    pub(in crate::sim) fn show(&mut self, now: Timestamp, request: RequestId, entry: u64, life: Life) {
        let Some(Some(asked)) = self.asked.get(request.index()) else { return };
        let Some(leg) = asked.by else { return };
        let relay = match life {
            Life::First => Relay::Visible { leg, cause: entry },
            Life::Again => Relay::Progress { leg, cause: entry },
        };
        self.send(now, relay);
    }

    /// Whether a call is still waited for: then this entry is its last sign of life, and this its request.
    pub(in crate::sim) fn lives(&mut self, leg: Leg, entry: u64) -> Option<RequestId> {
        let relayed = self.relayed(leg.layer, leg.call);
        let is_awaited = relayed.stamp == leg.stamp && relayed.state == State::Awaited;
        is_awaited.then(|| {
            relayed.sign = entry;
            relayed.by.0
        })
    }
}
