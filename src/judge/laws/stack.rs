//! Laws over a stack of gateways: what no layer sees alone. Without layers they do not speak.

use super::{Law, Laws, Ruling, told};
use crate::gateway::{Answer, Failure, Outcome, StopReason};
use crate::judge::book::Moment;
use crate::policy::prices::Usage;
use crate::policy::taxonomy::Class;
use crate::sim::Handed;
use crate::units::{Money, Timestamp};

impl Laws {
    /// An upstream is called: so many calls were made for a request of a caller, and so many may be.
    pub(in crate::judge) fn calls_within_stack(
        &mut self,
        entry: Moment,
        (calls, most): (u32, u32),
        whose: impl FnOnce() -> String,
    ) {
        let is_one_too_many = calls > most;
        let ruling =
            Ruling::unless(is_one_too_many.then_some(|| {
                format!("{} leads to upstream call {calls}, the stack may make {most}", whose())
            }));
        self.rule(Law::StackWithinBudget, entry, ruling);
    }

    /// An upstream is called: for nobody, in these words, or for somebody.
    pub(in crate::judge) fn calls_for_somebody(&mut self, entry: Moment, nobody: Option<String>) {
        self.rule(Law::NoCallForNobody, entry, nobody.map_or(Ruling::Held, Ruling::Broken));
    }

    /// An upstream is called for a request of a caller that met a terminal fault in another call of the layers above.
    pub(in crate::judge) fn calls_after_a_terminal_fault(
        &mut self,
        entry: Moment,
        whose: impl FnOnce() -> String,
        class: Class,
        (met, called): (&str, &str),
    ) {
        let class = class.label();
        let ruling = Ruling::broken(|| {
            format!("{} met {class} on {met}, and {called} is called for it again", whose())
        });
        self.rule(Law::TerminalStops, entry, ruling);
    }

    /// The outermost layer answers a caller whose request met a terminal fault.
    pub(in crate::judge) fn names_it_to_the_caller(
        &mut self,
        entry: Moment,
        outcome: &Outcome,
        classes: [Class; 2],
        (who, met): (&str, &str),
    ) {
        let ruling = match *outcome {
            // Whoever hears it ends otherwise.
            Outcome::Answered { .. } | Outcome::DeadlineExceeded { .. } | Outcome::Abandoned => {
                Ruling::Silent
            }
            Outcome::Terminal { last }
            | Outcome::Truncated { last, .. }
            | Outcome::Stopped { reason: StopReason::Terminal(last), .. }
                if classes.contains(&last.class) =>
            {
                Ruling::Held
            }
            Outcome::Terminal { .. }
            | Outcome::Truncated { .. }
            | Outcome::Exhausted { .. }
            | Outcome::BudgetExceeded { .. }
            | Outcome::AllGated { .. }
            | Outcome::NoCandidate { .. }
            | Outcome::NoEligibleRoute
            | Outcome::Stopped { .. } => Ruling::broken(|| {
                format!("{who} met {} on {met} and is answered {}", classes[0].label(), outcome.label())
            }),
        };
        self.rule(Law::TerminalKeepsItsName, entry, ruling);
    }

    /// A request arrives in the layer below with the second deadline; the first is that of the request above.
    pub(in crate::judge) fn passes_a_deadline(
        &mut self,
        entry: Moment,
        declared: Handed,
        (above, below): (Timestamp, Timestamp),
        who: impl FnOnce() -> String,
    ) {
        let due = match declared {
            Handed::Down => above,
            Handed::Not(None) => Timestamp::MAX,
            Handed::Not(Some(length)) => entry.at.after(length),
        };
        let is_another = due != below;
        let ruling = Ruling::unless(
            is_another.then_some(|| format!("{} gets the deadline {below}, it is to be {due}", who())),
        );
        self.rule(Law::PassedOnAsDeclared, entry, ruling);
    }

    /// A call of a layer above is over.
    pub(in crate::judge) fn passes_back(&mut self, entry: Moment, back: &Back<'_>) {
        let Back { layer, above, below, .. } = *back;
        let is_another = above.usage != below.usage;
        let used = is_another.then(|| {
            let tokens = [above.usage.total(), below.usage.total()];
            told(|| {
                format!("a call of {layer} used {} tokens, its calls below used {}", tokens[0], tokens[1])
            })
        });
        let flaw = back.misheard().or(used);
        let ruling = match (flaw, above.money.zip(below.money)) {
            (Some(flaw), _) => Ruling::Broken(flaw),
            (None, None) => Ruling::Silent,
            (None, Some((above, below))) => Ruling::unless((above != below).then_some(move || {
                format!("a call of {layer} is billed ${above}, its calls below were billed ${below}")
            })),
        };
        self.rule(Law::PassedOnAsDeclared, entry, ruling);
    }
}

/// What comes back to a layer from the one below.
#[derive(Clone, Copy)]
pub(in crate::judge) struct Back<'a> {
    /// The name of the layer above.
    pub(in crate::judge) layer: &'a str,
    /// The bare status as which every failure comes, if it does.
    pub(in crate::judge) hears: Option<u16>,
    /// The reply below, if there was one.
    pub(in crate::judge) reply: Option<Outcome>,
    /// What it comes as, and with which status.
    pub(in crate::judge) result: Answer,
    pub(in crate::judge) status: Option<u16>,
    /// The bill of the call above.
    pub(in crate::judge) above: Spent,
    /// The bills of the calls below, added up.
    pub(in crate::judge) below: Spent,
}

/// What calls cost; no money if nobody says of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::judge) struct Spent {
    pub(in crate::judge) money: Option<Money>,
    pub(in crate::judge) usage: Usage,
}

/// As what a reply below is to come.
enum Due {
    /// Not at all: whoever is answered so no longer listens.
    Nothing,
    Answer,
    /// The failure that it names; as a bare 400 if it was not met below.
    Named(Class),
    Bare(u16),
}

impl Back<'_> {
    /// What is wrong with what the layer above hears of the reply.
    fn misheard(&self) -> Option<String> {
        let class = match self.result {
            Answer::Cancelled => return None,
            Answer::Answered => None,
            Answer::Failed(diagnosis) => Some(diagnosis.class),
        };
        let due = self.reply.map(|outcome| (due(&outcome, self.hears), outcome));
        let is_heard = match due {
            None | Some((Due::Nothing, _)) => false,
            Some((Due::Answer, _)) => class.is_none(),
            Some((Due::Named(named), _)) => class == Some(named) || self.status == Some(400),
            Some((Due::Bare(status), _)) => self.status == Some(status),
        };
        (!is_heard).then(|| {
            told(|| {
                let heard = class.map_or("an answer", Class::label);
                let said = match due {
                    None => "does not come".to_owned(),
                    Some((Due::Nothing | Due::Answer, outcome)) => format!("is {}", outcome.label()),
                    Some((Due::Named(named), _)) => format!("names {}", named.label()),
                    Some((Due::Bare(status), outcome)) => {
                        format!("is {}, which is to be heard as a bare {status}", outcome.label())
                    }
                };
                format!("a call of {} comes back as {heard}, the reply below {said}", self.layer)
            })
        })
    }
}

/// If every failure is to come as one bare status, that is it.
fn due(outcome: &Outcome, hears: Option<u16>) -> Due {
    let bare = |status| Due::Bare(hears.unwrap_or(status));
    let named = |last: &Failure| match (last.code, hears) {
        (Some(_), None) => Due::Named(last.class),
        (Some(_) | None, _) => bare(504),
    };
    match outcome {
        Outcome::Abandoned => Due::Nothing,
        Outcome::Answered { .. } => Due::Answer,
        Outcome::Truncated { last, .. }
        | Outcome::Terminal { last }
        | Outcome::Exhausted { last, .. }
        | Outcome::DeadlineExceeded { last: Some(last) }
        | Outcome::AllGated { last: Some(last), .. }
        | Outcome::NoCandidate { last: Some(last), .. }
        | Outcome::Stopped { reason: StopReason::Terminal(last), .. } => named(last),
        Outcome::DeadlineExceeded { last: None } => bare(504),
        Outcome::AllGated { last: None, .. } | Outcome::NoCandidate { last: None, .. } => bare(503),
        Outcome::Stopped { .. } | Outcome::BudgetExceeded { .. } | Outcome::NoEligibleRoute => bare(400),
    }
}
