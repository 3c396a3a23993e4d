//! Laws hold in every run, whatever the scenario. Each is one small function over the book as it was and the
//! entry that came; each judges the gateway's claims by the world's facts.

mod begun;
mod breakers;
mod calls;
mod choices;
mod end;
mod evidence;
mod fuses;
mod gates;
mod glance;
mod law;
mod legs;
mod money;
mod openings;
mod replies;
mod results;
mod sleeps;
mod stack;
mod status;
mod timers;
pub(super) mod usual;
mod waits;

pub(super) use begun::Begun;
pub(super) use calls::is_approved;
pub(super) use evidence::{RefusedWait, Weighed};
pub(super) use fuses::is_stopped;
pub(super) use gates::Told;
pub(super) use glance::plainly_chosen;
pub use law::{LAWS, Law};
pub(super) use replies::Reply;
pub(super) use results::{is_not_overdue, no_bench};
pub(super) use sleeps::Sleep;
pub(super) use stack::{Back, Spent};
use usual::Counts;
pub(super) use usual::Usual;

use super::book::{Age, Book, Entrance, Moment, Reckoned};
use crate::gateway::{Basis, Call, FuseKind, HedgeSkip, Wait};
use crate::policy::breaker;
use crate::policy::cooldown::Bench;
use crate::policy::health;
use crate::policy::ledger::{Amount, Denied, Settlement};
use crate::policy::taxonomy::{Class, Diagnosis};
use crate::sim::{Claims, Entry};
use crate::units::{BreakerId, CallId, CredentialId, HealthId, Money, RequestId, RouteId, Timestamp};

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
    usual: Counts,
}

impl Default for Laws {
    fn default() -> Laws {
        Laws::new(0)
    }
}

impl Laws {
    /// No entry yet, of the run of this seed.
    pub fn new(seed: u64) -> Laws {
        Laws { seed, tallies: std::array::from_fn(|_| Tally::default()), usual: Counts::default() }
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

    /// Any entry.
    pub(super) fn entry(&mut self, book: &Book<'_>, entry: &Entry<'_>) {
        if evidence::is_in_place(book, entry) {
            self.hold(Law::Caused, 1);
        } else {
            self.misplaced(book, *entry);
        }
    }

    /// Several in a row: whether they are in their places.
    pub(super) fn claims(&mut self, book: &Book<'_>, claims: &Claims<'_>) -> bool {
        let are_in_place = evidence::are_in_place(book, claims);
        if are_in_place {
            self.hold(Law::Caused, claims.effects.len() as u64);
        }
        are_in_place
    }

    #[cold]
    #[inline(never)]
    fn misplaced(&mut self, book: &Book<'_>, entry: Entry<'_>) {
        self.rule(Law::Caused, Moment::of(&entry), Ruling::broken(|| evidence::disorder(book, &entry)));
    }

    /// An auth fault of this credential raised no alert.
    #[cold]
    pub(super) fn misses_an_alert(&mut self, book: &Book<'_>, entry: Moment, key: CredentialId) {
        self.rule(Law::OneAlertPerAuthFault, entry, gates::no_alert(book, key));
    }

    /// A request came in.
    pub(super) fn arrived(&mut self, book: &Book<'_>, entry: Moment, request: RequestId) {
        self.rule(Law::OneReplyOneClose, entry, replies::slot_is_free(book, request));
    }

    /// An upstream took a call.
    #[cold]
    #[inline(never)]
    pub(super) fn begun(&mut self, book: &Book<'_>, entry: Moment, begun: &Begun<'_>) {
        self.rule(Law::AttemptsWithinBudget, entry, calls::attempts_within_budget(book, begun));
        self.rule(Law::LegsWithinLimit, entry, legs::legs_within_limit(book, begun));
        self.rule(Law::CallsWithinFuse, entry, fuses::calls_within_fuse(book, begun));
        self.rule(Law::TerminalFuseHolds, entry, fuses::terminal_fuse_holds(book, begun));
        self.rule(Law::NoHedgeOfSideEffects, entry, legs::no_hedge_of_side_effects(book, begun));
        self.rule(Law::EveryCallIsAnnounced, entry, calls::every_call_is_announced(book, begun));
        self.rule(Law::EachCallEndsOnce, entry, calls::slot_is_free(book, begun.call));
        self.rule(Law::NoCallAfterReply, entry, calls::no_call_after_reply(book, begun));
        self.rule(Law::MoneyWithinCaps, entry, money::money_within_caps(book, begun));
        self.rule(Law::WorstCaseIsReserved, entry, money::worst_case_is_reserved(book, begun));
        self.rule(Law::TerminalStops, entry, calls::terminal_stops(book, begun));
        self.rule(Law::EligibleOnly, entry, calls::eligible_only(book, begun));
        self.rule(Law::BreakerRespected, entry, breakers::breaker_respected(book, begun));
        self.rule(Law::NoCallInsideBench, entry, gates::no_call_inside_bench(book, begun));
        self.rule(Law::RetryAfterIsAFloor, entry, sleeps::no_retry_below_the_floor(book, begun));
        self.rule(Law::OneStream, entry, calls::no_call_after_commit(book, begun));
        self.rule(Law::ScriptRespected, entry, calls::script_respected(book, begun));
    }

    /// A timer fired.
    pub(super) fn woke(&mut self, book: &Book<'_>, entry: Moment, wait: Wait) {
        self.rule(Law::Caused, entry, timers::fires_when_due(book, entry.at, wait));
    }

    /// A call is stopped by a timeout.
    pub(super) fn timed_out(&mut self, book: &Book<'_>, entry: Moment, call: CallId, class: Class) {
        self.rule(Law::Caused, entry, timers::is_timed_out(book, call, class));
    }

    /// The first output of a call left the upstream.
    pub(super) fn visible(&mut self, book: &Book<'_>, entry: Moment, call: CallId) {
        self.rule(Law::EachCallEndsOnce, entry, calls::is_in_flight(book, call));
        self.rule(Law::OneStream, entry, replies::shows_one_call(book, call));
        self.rule(Law::Caused, entry, timers::is_in_time(book, entry.at, call));
    }

    /// A call is over and billed.
    #[cold]
    #[inline(never)]
    pub(super) fn ended(&mut self, book: &Book<'_>, entry: Moment, call: CallId, truth: Option<Class>) {
        self.rule(Law::EachCallEndsOnce, entry, calls::is_in_flight(book, call));
        self.rule(Law::TerminalStops, entry, calls::meets_terminal(truth));
        self.rule(Law::TerminalFuseHolds, entry, fuses::meets_terminal(book, truth));
        self.rule(Law::EarliestAnswerWins, entry, legs::is_not_left_running(book, call));
        self.rule(Law::Caused, entry, timers::is_in_time(book, entry.at, call));
    }

    /// A cancelled call will never be billed.
    pub(super) fn lost(&mut self, book: &Book<'_>, entry: Moment, call: CallId) {
        self.rule(Law::EachCallEndsOnce, entry, calls::is_in_flight(book, call));
    }

    /// The gateway weighed the routes.
    pub(super) fn considered(&mut self, book: &Book<'_>, entry: Moment, weighed: &Weighed<'_>) {
        self.rule(Law::TrueReasons, entry, evidence::true_reasons(book, entry, weighed));
        self.rule(Law::BestIsChosen, entry, choices::best_is_chosen(book, weighed));
    }

    /// It set the worst case of a call aside.
    #[cold]
    #[inline(never)]
    pub(super) fn reserved(
        &mut self,
        book: &Book<'_>,
        entry: Moment,
        (request, route): (RequestId, RouteId),
        (amount, window): (Amount, u64),
    ) {
        let ruling = money::sets_the_worst_case_aside(book, entry.at, (request, route), (amount, window));
        self.rule(Law::WorstCaseIsReserved, entry, ruling);
    }

    /// It refused a call because of a cap.
    pub(super) fn denied(
        &mut self,
        book: &Book<'_>,
        entry: Moment,
        (request, route): (RequestId, RouteId),
        denied: &Denied,
    ) {
        self.rule(Law::TrueReasons, entry, money::denies_rightly(book, entry.at, (request, route), denied));
    }

    /// It called an upstream.
    #[cold]
    #[inline(never)]
    pub(super) fn called(&mut self, book: &Book<'_>, entry: Moment, call: &Call) {
        self.rule(Law::EachCallEndsOnce, entry, calls::slot_is_free(book, call.call));
        self.rule(Law::EveryCallIsAnnounced, entry, calls::is_as_chosen(book, entry.at, call));
    }

    /// From here on the caller sees this call's bytes.
    pub(super) fn committed(&mut self, book: &Book<'_>, entry: Moment, request: RequestId, call: CallId) {
        self.rule(Law::OneStream, entry, replies::commits_once(book, request, call));
    }

    /// It answered the caller.
    #[cold]
    #[inline(never)]
    pub(super) fn replied(&mut self, book: &Book<'_>, entry: Moment, reply: &Reply) {
        self.rule(Law::OneReplyOneClose, entry, replies::is_open(book, reply));
        self.rule(Law::ReplyWithinDeadline, entry, replies::reply_within_deadline(book, reply));
        self.rule(Law::TerminalKeepsItsName, entry, replies::terminal_keeps_its_name(book, reply));
        self.rule(Law::OneStream, entry, replies::replies_what_was_seen(book, reply));
        self.rule(Law::NoFalseNoCandidate, entry, evidence::no_false_no_candidate(book, reply));
        self.rule(Law::OutcomeIsTrue, entry, replies::outcome_is_true(book, reply));
        self.rule(Law::EarliestAnswerWins, entry, legs::earliest_answer_wins(book, reply));
        self.rule(Law::OptionalLegsHarmNothing, entry, legs::optional_legs_harm_nothing(book, reply));
    }

    /// The last bill of a request is in.
    #[cold]
    #[inline(never)]
    pub(super) fn closed(&mut self, book: &Book<'_>, entry: Moment, request: RequestId, spent: Money) {
        self.rule(Law::OneReplyOneClose, entry, replies::closes_last(book, request));
        self.rule(Law::BooksBalance, entry, money::closes_at_the_sum(book, request, spent));
        let ruling = results::leaves_nothing_untold(book, request);
        self.rule(Law::ResultsAreToldAsTheyWere, entry, ruling);
    }

    /// A call's cost is final, or assumed.
    #[cold]
    #[inline(never)]
    pub(super) fn settled(
        &mut self,
        book: &Book<'_>,
        entry: Moment,
        call: CallId,
        basis: Basis,
        settlement: &Settlement,
    ) {
        self.rule(Law::BooksBalance, entry, money::settles_the_receipt(book, call, basis, settlement));
    }

    /// The gateway reads a failure.
    pub(super) fn classified(&mut self, book: &Book<'_>, entry: Moment, call: CallId, read: &Diagnosis) {
        self.rule(Law::ResultsAreToldAsTheyWere, entry, results::is_read_as_written(book, call, read));
    }

    /// A call came to the breaker of its route.
    pub(super) fn entered(&mut self, book: &Book<'_>, entry: Moment, call: CallId, entrance: Entrance) {
        let ruling = results::enters_by_its_breaker(book, call, entrance);
        self.rule(Law::ResultsAreToldAsTheyWere, entry, ruling);
    }

    /// A move of a breaker or a health state that is due, or of which nobody knows a reason.
    pub(super) fn moved(&mut self, entry: Moment, is_due: bool, (what, to): (&str, &str)) {
        self.rule(Law::ResultsAreToldAsTheyWere, entry, results::moves_when_due(is_due, what, to));
    }

    /// A move that was due is not told.
    #[cold]
    pub(super) fn overdue(&mut self, entry: Moment, ruling: Ruling) {
        self.rule(Law::ResultsAreToldAsTheyWere, entry, ruling);
    }

    /// The gateway says what a result says about health.
    #[cold]
    #[inline(never)]
    pub(super) fn signalled(
        &mut self,
        book: &Book<'_>,
        entry: Moment,
        (told, age): (&Told, Age),
        reckoned: Option<Reckoned>,
    ) {
        let ruling = results::is_told_as_it_was(book, told, reckoned);
        self.rule(Law::ResultsAreToldAsTheyWere, entry, ruling);
        self.rule(Law::NeutralMovesNothing, entry, gates::neutral_is_told_neutral(book, told));
        self.rule(Law::StaleChangesNothing, entry, gates::stale_is_told_stale(book, told, age));
    }

    /// A breaker moved.
    pub(super) fn breaker_moved(
        &mut self,
        book: &Book<'_>,
        entry: Moment,
        id: BreakerId,
        moved: &breaker::Transition,
    ) {
        self.rule(Law::NeutralMovesNothing, entry, gates::neutral_moves_no_breaker(book, id, moved));
        self.rule(Law::StaleChangesNothing, entry, gates::stale_moves_no_breaker(book, entry, id, moved));
        self.rule(Law::BreakerRespected, entry, breakers::opens_in_time(book, entry.at, id, moved));
    }

    /// A health state moved.
    pub(super) fn health_moved(
        &mut self,
        book: &Book<'_>,
        entry: Moment,
        id: HealthId,
        moved: &health::Move,
    ) {
        self.rule(Law::NeutralMovesNothing, entry, gates::neutral_moves_no_health(book, id, moved));
        self.rule(Law::StaleChangesNothing, entry, gates::stale_moves_no_health(book, entry, id));
    }

    /// Somebody must look at a credential.
    pub(super) fn alerted(&mut self, book: &Book<'_>, entry: Moment, cause: Option<u64>, key: CredentialId) {
        self.rule(Law::OneAlertPerAuthFault, entry, gates::alerts_for_a_fault(book, cause, key));
    }

    /// A fuse blew.
    pub(super) fn blew(
        &mut self,
        book: &Book<'_>,
        entry: Moment,
        fuse: FuseKind,
        request: RequestId,
        calls: u64,
    ) {
        let law = match fuse {
            FuseKind::CallsPerTask
            | FuseKind::CallsPerRun
            | FuseKind::IdenticalPerTask
            | FuseKind::FailingPerTask => Law::CallsWithinFuse,
            FuseKind::Terminal => Law::TerminalFuseHolds,
        };
        self.rule(law, entry, fuses::blows_rightly(book, fuse, request, calls));
    }

    /// No other leg was started.
    pub(super) fn skips_a_hedge(
        &mut self,
        book: &Book<'_>,
        entry: Moment,
        request: RequestId,
        why: HedgeSkip,
    ) {
        self.rule(Law::TrueReasons, entry, legs::skips_a_hedge(book, entry.at, request, why));
    }

    /// A request waits for a slot.
    pub(super) fn queued(&mut self, book: &Book<'_>, entry: Moment, request: RequestId, waiting: u32) {
        self.rule(Law::TrueReasons, entry, legs::waits_for_a_slot(book, request, waiting));
    }

    /// Something is left alone for a time.
    pub(super) fn benched(&mut self, book: &Book<'_>, entry: Moment, what: Bench, until: Timestamp) {
        self.rule(Law::BenchesOnlyGrow, entry, gates::benches_only_grow(book, what, until));
        self.rule(Law::ResultsAreToldAsTheyWere, entry, results::benches_what_is_due(book, what, until));
    }

    /// Another attempt is planned.
    pub(super) fn sleeps(&mut self, book: &Book<'_>, entry: Moment, sleep: &Sleep) {
        self.rule(Law::NoSleepPastDeadline, entry, sleeps::no_sleep_past_deadline(book, sleep));
        self.rule(Law::RetryAfterIsAFloor, entry, sleeps::retry_after_is_a_floor(book, sleep));
        self.rule(Law::SleepsHaveAQuote, entry, sleeps::sleeps_have_a_quote(book, sleep));
    }

    /// A wait was not slept.
    pub(super) fn refuses_a_wait(&mut self, book: &Book<'_>, entry: Moment, refused: &RefusedWait) {
        self.rule(Law::TrueReasons, entry, waits::refuses_a_wait(book, entry.at, refused));
    }

    fn rule(&mut self, law: Law, entry: Moment, ruling: Ruling) {
        match ruling {
            Ruling::Silent => {}
            Ruling::Held => self.hold(law, 1),
            Ruling::Broken(sentence) => {
                self.tallies[law as usize].note(self.seed, entry.seq, entry.at, sentence);
            }
        }
    }

    /// So many entries could have broken a law and did not.
    fn hold(&mut self, law: Law, entries: u64) {
        let tally = &mut self.tallies[law as usize];
        tally.exercised = tally.exercised.wrapping_add(entries); // so many never come that it wraps
    }
}

impl Tally {
    #[cold]
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
    fn unless(breach: Option<impl FnOnce() -> String>) -> Ruling {
        breach.map_or(Ruling::Held, Ruling::broken)
    }

    /// Broken, in these words.
    fn broken(tell: impl FnOnce() -> String) -> Ruling {
        Ruling::Broken(told(tell))
    }
}

/// The words for a breach, found out of the way of what holds: nearly everything does.
#[cold]
fn told(tell: impl FnOnce() -> String) -> String {
    tell()
}
