//! Laws over a stack of gateways: what no layer sees alone. Without layers they do not speak.

use super::{Law, Laws, Ruling};
use crate::gateway::{Outcome, StopReason};
use crate::policy::taxonomy::Class;
use crate::sim::{Entry, Handed};
use crate::units::{Money, Timestamp};

impl Laws {
    /// An upstream is called: so many calls were made for a request of a caller, and so many may be.
    pub(in crate::judge) fn calls_within_stack(
        &mut self,
        entry: &Entry<'_>,
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
    pub(in crate::judge) fn calls_for_somebody(&mut self, entry: &Entry<'_>, nobody: Option<String>) {
        self.rule(Law::NoCallForNobody, entry, nobody.map_or(Ruling::Held, Ruling::Broken));
    }

    /// An upstream is called for a request of a caller that met a terminal fault in another call of the layers above.
    pub(in crate::judge) fn calls_after_a_terminal_fault(
        &mut self,
        entry: &Entry<'_>,
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
        entry: &Entry<'_>,
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
        entry: &Entry<'_>,
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

    /// A call of the layer of this name is billed the first, and its calls below were billed the second.
    pub(in crate::judge) fn passes_the_bill(
        &mut self,
        entry: &Entry<'_>,
        (above, below): (Option<Money>, Option<Money>),
        layer: &str,
    ) {
        let ruling = match above.zip(below) {
            None => Ruling::Silent,
            Some((above, below)) => Ruling::unless((above != below).then_some(move || {
                format!("a call of {layer} is billed ${above}, its calls below were billed ${below}")
            })),
        };
        self.rule(Law::PassedOnAsDeclared, entry, ruling);
    }
}
