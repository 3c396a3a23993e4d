//! The laws by name. Each is one sentence.

macro_rules! laws {
    ($($law:ident $name:literal $sentence:literal)+) => {
        /// A law: it holds in every run, whatever the scenario.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        #[repr(u8)]
        pub enum Law { $(#[doc = $sentence] $law),+ }

        /// How many laws there are.
        pub const LAWS: usize = [$(Law::$law),+].len();

        impl Law {
    /// Whether it only speaks of several layers.
    pub const fn is_of_a_stack(self) -> bool {
        matches!(self, Law::StackWithinBudget | Law::NoCallForNobody | Law::PassedOnAsDeclared)
    }

            /// Every law, in the order in which they are told.
            pub const ALL: [Law; LAWS] = [$(Law::$law),+];

            /// The stable name in scenario files and summaries.
            pub const fn name(self) -> &'static str {
                match self { $(Law::$law => $name),+ }
            }

            /// The law itself.
            pub const fn sentence(self) -> &'static str {
                match self { $(Law::$law => $sentence),+ }
            }
        }
    };
}

laws! {
    AttemptsWithinBudget "attempts_within_budget"
        "Retry, fallback and hedge together make no more calls than the request's attempt budget allows."
    LegsWithinLimit "legs_within_limit"
        "No request, route, task or tenant has more calls in flight at once than its limit allows."
    CallsWithinFuse "calls_within_fuse"
        "No task and no run makes more calls than its fuse allows, and none at all once it has blown."
    NoHedgeOfSideEffects "no_hedge_of_side_effects"
        "A request that does something when it is sent has one call in flight at most."
    OptionalLegsHarmNothing "optional_legs_harm_nothing"
        "No request ends for an optional leg while another is in flight; only a policy refusal stops all."
    EarliestAnswerWins "earliest_answer_wins"
        "The earliest valid answer is the reply, at its very instant, and no other leg is left running."
    EveryCallIsAnnounced "every_call_is_announced"
        "Every call an upstream takes was chosen and announced: for that request, route and credential, by its \
         number and role."
    EachCallEndsOnce "each_call_ends_once"
        "Each call ends exactly once, unless its receipt is declared lost."
    OneReplyOneClose "one_reply_one_close"
        "Every request is answered exactly once, then closed exactly once when its last bill is in or \
         given up."
    NoCallAfterReply "no_call_after_reply"
        "After the reply no call is made."
    ReplyWithinDeadline "reply_within_deadline"
        "The reply is there at the deadline at the latest."
    MoneyWithinCaps "money_within_caps"
        "At every level what ended at its bill and what is in flight at its true worst case stay within \
         the cap."
    WorstCaseIsReserved "worst_case_is_reserved"
        "Before a call its worst case is set aside: estimated input, maximum output, true prices."
    BooksBalance "books_balance"
        "What is settled is what the receipt says, once, and a closed request cost their sum."
    TerminalStops "terminal_stops"
        "When identity, funds or compliance says stop, no further call is made for the request, on any route; but \
         one on the route that is approved for that fault, within the approval's budget."
    TerminalFuseHolds "terminal_fuse_holds"
        "After a true terminal fault no call is made on the account, or in the run, that such a fault stops; in a \
         run, but those that are approved for that fault."
    TerminalKeepsItsName "terminal_keeps_its_name"
        "A terminal fault is answered by its real name, unless an optional leg met it and the first goes on, or the \
         approved route answers."
    EligibleOnly "eligible_only"
        "No call goes to a route that the envelope excludes: region, class, capability, task, contract, \
         size, cost."
    BreakerRespected "breaker_respected"
        "While a breaker is OPEN it makes zero upstream calls, and HALF_OPEN lets very few probes through."
    NeutralMovesNothing "neutral_moves_nothing"
        "A rate limit, a quota, our own fault or a cancel never moves a breaker or a health state."
    StaleChangesNothing "stale_changes_nothing"
        "A result of a call begun before its breaker's or its health state's last turn changes nothing."
    ResultsAreToldAsTheyWere "results_are_told_as_they_were"
        "What a result is taken for, and every counter, move and cooldown that follows, is what the response and \
         the declared policy make it."
    OneAlertPerAuthFault "one_alert_per_auth_fault"
        "The first auth fault of a credential raises one alert, and nothing else raises any."
    BenchesOnlyGrow "benches_only_grow"
        "A cooldown is never shortened, except by an operator."
    NoCallInsideBench "no_call_inside_bench"
        "No call lands inside a cooldown of its credential, project, model, provider or route."
    NoSleepPastDeadline "no_sleep_past_deadline"
        "No backoff is slept that ends at the deadline or after it."
    RetryAfterIsAFloor "retry_after_is_a_floor"
        "No retry on a target is planned before the instant that its response asked for."
    SleepsHaveAQuote "sleeps_have_a_quote"
        "A backoff is slept only for a route that is eligible, affordable and open at its end, within \
         all limits, and for as long as is declared or asked for."
    OneStream "one_stream"
        "Once output is visible, the caller sees that call's bytes and no other's."
    TrueReasons "true_reasons"
        "Every removed candidate has exactly the reasons that are true, and none is left in that has one."
    BestIsChosen "best_is_chosen"
        "Of the routes that can be called the best by the declared order is chosen, and each other is out by the key \
         by which it is worse."
    NoFalseNoCandidate "no_false_no_candidate"
        "Nobody is told that no route is left while one is eligible, open, affordable and unspent."
    OutcomeIsTrue "outcome_is_true"
        "The reply tells what happened: the answer, the last true failure, the calls made, the time left."
    StatusIsTrue "status_is_true"
        "Asked how things stand, the gateway shows everything that is not at rest, and as it is."
    ScriptRespected "script_respected"
        "No upstream gets a call that the scenario forbids."
    StackWithinBudget "stack_within_budget"
        "One request of a caller leads to no more upstream calls, through all layers together, than the stack may \
         make."
    NoCallForNobody "no_call_for_nobody"
        "No upstream is called for a request that a layer above no longer waits for."
    PassedOnAsDeclared "passed_on_as_declared"
        "A layer below gets the deadline that is declared, and the layer above what its reply names, and the bills and \
         tokens of all calls below it."
    Caused "caused"
        "Every effect has an earlier cause, every timer fires when it is due, numbers count up by one, and time \
         never falls."
}

impl Law {
    /// The law of this name.
    pub fn named(name: &str) -> Option<Law> {
        Law::ALL.into_iter().find(|law| law.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_law_is_found_by_its_name_and_told_in_one_sentence() {
        for law in Law::ALL {
            assert_eq!(Law::named(law.name()), Some(law));
            assert!(law.sentence().ends_with('.') && !law.sentence().contains("  "), "{}", law.sentence());
        }
        assert_eq!(Law::named("be_nice"), None);
    }
}
