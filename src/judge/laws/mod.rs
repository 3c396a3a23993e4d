//! Laws hold in every run, whatever the scenario. Each is one small function over the book as it was and the
//! entry that came; each judges the gateway's claims by the world's facts.

mod calls;
mod evidence;
mod gates;
mod law;
mod money;
mod replies;
mod sleeps;

pub use law::{LAWS, Law};

use super::book::Book;
use crate::sim::{Entry, What};
use crate::units::Timestamp;

/// How many breaches of a law are kept in words; all are counted.
pub const BREACHES_KEPT: usize = 5;

/// What a law says about one entry.
pub(super) enum Ruling {
    /// The law does not speak of such an entry.
    Silent,
    /// The entry could have broken the law and did not.
    Held,
    /// It did: how, as a sentence.
    Broken(String),
}

/// One breach of a law.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Breach {
    /// The seed of the run.
    pub seed: u64,
    /// The entry that broke it.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// How.
    pub sentence: String,
}

/// How a law fared in a run, or in many.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Entries that could have broken it.
    pub exercised: u64,
    /// Entries that did.
    pub breaches: u64,
    /// The first few of these.
    pub first: Vec<Breach>,
}

/// How every law fares.
#[derive(Clone, Debug)]
pub struct Laws {
    seed: u64,
    tallies: [Tally; LAWS],
}

/// A call that an upstream took.
#[derive(Clone, Copy)]
struct Begun {
    call: crate::units::CallId,
    request: crate::units::RequestId,
    route: crate::units::RouteId,
    credential: crate::units::CredentialId,
    scripted: crate::sim::Scripted,
    at: Timestamp,
}

impl Default for Laws {
    fn default() -> Laws {
        Laws::new(0)
    }
}

impl Laws {
    /// No entry yet, of the run of this seed.
    pub fn new(seed: u64) -> Laws {
        Laws { seed, tallies: std::array::from_fn(|_| Tally::default()) }
    }

    /// How a law fares.
    pub fn tally(&self, law: Law) -> &Tally {
        &self.tallies[law as usize]
    }

    /// Adds what a later run gave.
    pub fn merge(&mut self, other: &Laws) {
        for (mine, theirs) in self.tallies.iter_mut().zip(&other.tallies) {
            mine.exercised += theirs.exercised;
            mine.breaches += theirs.breaches;
            let room = BREACHES_KEPT.saturating_sub(mine.first.len());
            mine.first.extend(theirs.first.iter().take(room).cloned());
        }
    }

    /// Looks at an entry, before the book takes it in.
    pub(super) fn look(&mut self, book: &Book<'_>, entry: &Entry<'_>) {
        self.rule(Law::Caused, entry, evidence::caused(book, entry));
        match entry.what {
            What::CallBegun { call, request, route, credential, scripted } => {
                let begun = Begun { call, request, route, credential, scripted, at: entry.at };
                self.look_at_call(book, entry, &begun);
            }
            What::Arrived { request, .. } => {
                self.rule(Law::OneReplyOneClose, entry, replies::slot_is_free(book, request.id));
            }
            What::CallVisible { call } => {
                self.rule(Law::EachCallEndsOnce, entry, calls::is_in_flight(book, call));
                self.rule(Law::OneStream, entry, replies::shows_one_call(book, call));
            }
            What::CallEnded { call, truth, .. } => {
                self.rule(Law::EachCallEndsOnce, entry, calls::is_in_flight(book, call));
                self.rule(Law::TerminalStops, entry, calls::meets_terminal(truth));
            }
            What::CallLost { call } => {
                self.rule(Law::EachCallEndsOnce, entry, calls::is_in_flight(book, call));
            }
            What::Considered { request, candidates } => {
                self.rule(Law::TrueReasons, entry, evidence::true_reasons(book, entry, request, candidates));
            }
            What::Acted(action) => self.look_at_action(book, entry, action),
            What::Decided(decision) => self.look_at_decision(book, entry, decision),
            What::Declared(_) | What::Abandoned { .. } | What::Woke { .. } | What::Operated { .. } => {}
        }
    }

    fn look_at_call(&mut self, book: &Book<'_>, entry: &Entry<'_>, begun: &Begun) {
        self.rule(Law::AttemptsWithinBudget, entry, calls::attempts_within_budget(book, begun));
        self.rule(Law::LegsWithinLimit, entry, calls::legs_within_limit(book, begun));
        self.rule(Law::EveryCallIsAnnounced, entry, calls::every_call_is_announced(book, begun));
        self.rule(Law::EachCallEndsOnce, entry, calls::slot_is_free(book, begun.call));
        self.rule(Law::NoCallAfterReply, entry, calls::no_call_after_reply(book, begun));
        self.rule(Law::MoneyWithinCaps, entry, money::money_within_caps(book, begun));
        self.rule(Law::WorstCaseIsReserved, entry, money::worst_case_is_reserved(book, begun));
        self.rule(Law::TerminalStops, entry, calls::terminal_stops(book, begun));
        self.rule(Law::EligibleOnly, entry, calls::eligible_only(book, begun));
        self.rule(Law::BreakerRespected, entry, gates::breaker_respected(book, begun));
        self.rule(Law::NoCallInsideBench, entry, gates::no_call_inside_bench(book, begun));
        self.rule(Law::RetryAfterIsAFloor, entry, sleeps::no_retry_below_the_floor(book, begun));
        self.rule(Law::OneStream, entry, calls::no_call_after_commit(book, begun));
        self.rule(Law::ScriptRespected, entry, calls::script_respected(book, begun));
    }

    fn look_at_action(&mut self, book: &Book<'_>, entry: &Entry<'_>, action: &crate::gateway::Action) {
        use crate::gateway::Action;
        match action {
            Action::Call(call) => {
                self.rule(Law::EachCallEndsOnce, entry, calls::slot_is_free(book, call.call));
                self.rule(Law::EveryCallIsAnnounced, entry, calls::is_numbered(book, call));
            }
            Action::Commit { request, call } => {
                self.rule(Law::OneStream, entry, replies::commits_once(book, *request, *call));
            }
            Action::Cancel { .. } => {}
            Action::Reply { request, outcome, attempts, left } => {
                let reply = replies::Reply {
                    request: *request,
                    outcome: *outcome,
                    attempts: *attempts,
                    left: *left,
                    at: entry.at,
                };
                self.rule(Law::OneReplyOneClose, entry, replies::is_open(book, &reply));
                self.rule(Law::ReplyWithinDeadline, entry, replies::reply_within_deadline(book, &reply));
                self.rule(Law::TerminalKeepsItsName, entry, replies::terminal_keeps_its_name(book, &reply));
                self.rule(Law::OneStream, entry, replies::replies_what_was_seen(book, &reply));
                self.rule(Law::NoFalseNoCandidate, entry, evidence::no_false_no_candidate(book, &reply));
                self.rule(Law::OutcomeIsTrue, entry, replies::outcome_is_true(book, &reply));
            }
            Action::Close { request, spent } => {
                self.rule(Law::OneReplyOneClose, entry, replies::closes_last(book, *request));
                self.rule(Law::BooksBalance, entry, money::closes_at_the_sum(book, *request, *spent));
            }
        }
    }

    fn look_at_decision(&mut self, book: &Book<'_>, entry: &Entry<'_>, decision: &crate::gateway::Decision) {
        use crate::gateway::Decision;
        match decision {
            Decision::Settled { call, basis, settlement } => {
                self.rule(
                    Law::BooksBalance,
                    entry,
                    money::settles_the_receipt(book, *call, *basis, settlement),
                );
            }
            Decision::Signalled { .. } => {
                self.rule(Law::NeutralMovesNothing, entry, gates::neutral_is_told_neutral(book, decision));
            }
            Decision::BreakerMoved { breaker, transition } => {
                let moved = gates::neutral_moves_no_breaker(book, *breaker, transition);
                self.rule(Law::NeutralMovesNothing, entry, moved);
                let ruling = gates::opens_in_time(book, entry.at, *breaker, transition);
                self.rule(Law::BreakerRespected, entry, ruling);
            }
            Decision::HealthMoved { health, moved } => {
                let moved = gates::neutral_moves_no_health(book, *health, moved);
                self.rule(Law::NeutralMovesNothing, entry, moved);
            }
            Decision::Benched { what, until, .. } => {
                self.rule(Law::BenchesOnlyGrow, entry, gates::benches_only_grow(book, *what, *until));
            }
            Decision::RetryScheduled { request, at, delay, route, amount, hint: _ } => {
                let sleep = sleeps::Sleep {
                    request: *request,
                    from: entry.at,
                    at: *at,
                    delay: *delay,
                    route: *route,
                    amount: *amount,
                };
                self.rule(Law::NoSleepPastDeadline, entry, sleeps::no_sleep_past_deadline(book, &sleep));
                self.rule(Law::RetryAfterIsAFloor, entry, sleeps::retry_after_is_a_floor(book, &sleep));
                self.rule(Law::SleepsHaveAQuote, entry, sleeps::sleeps_have_a_quote(book, &sleep));
            }
            Decision::WaitRefused { request, wait, left, why } => {
                let refused =
                    evidence::RefusedWait { request: *request, wait: *wait, left: *left, why: *why };
                self.rule(Law::TrueReasons, entry, evidence::refuses_a_wait(book, entry.at, &refused));
            }
            Decision::Reserved { .. }
            | Decision::Denied { .. }
            | Decision::Classified { .. }
            | Decision::Freed { .. }
            | Decision::Alerted { .. }
            | Decision::TimedOut { .. } => {}
        }
    }

    /// The run is over: what is still open never ended.
    pub(super) fn end(&mut self, book: &Book<'_>) {
        let (seq, at) = book.last.unwrap_or_default();
        for page in book.requests() {
            if let Some(sentence) = replies::never_closed(book, page) {
                self.tallies[Law::OneReplyOneClose as usize].note(self.seed, seq, at, sentence);
            }
        }
        for page in book.calls() {
            if let Some(sentence) = calls::never_ended(book, page) {
                self.tallies[Law::EachCallEndsOnce as usize].note(self.seed, seq, at, sentence);
            }
        }
    }

    fn rule(&mut self, law: Law, entry: &Entry<'_>, ruling: Ruling) {
        let tally = &mut self.tallies[law as usize];
        match ruling {
            Ruling::Silent => {}
            Ruling::Held => tally.exercised += 1,
            Ruling::Broken(sentence) => tally.note(self.seed, entry.seq, entry.at, sentence),
        }
    }
}

impl Tally {
    fn note(&mut self, seed: u64, seq: u64, at: Timestamp, sentence: String) {
        self.exercised += 1;
        self.breaches += 1;
        if self.first.len() < BREACHES_KEPT {
            self.first.push(Breach { seed, seq, at, sentence });
        }
    }
}

impl Ruling {
    /// Held, unless there is something to say against it.
    fn unless(broken: Option<String>) -> Ruling {
        broken.map_or(Ruling::Held, Ruling::Broken)
    }
}
