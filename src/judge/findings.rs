//! Findings: what a reviewer would write in the margin. They judge nothing; a wrong policy shows itself in them
//! even where no law is broken. All are computed from facts.

use super::book::{Book, CallPage, Invoice, Moment, Worth};
use super::laws::{Begun, is_approved};
use super::metrics::{Metric, Metrics};
use crate::policy::eligibility::Reason;
use crate::policy::taxonomy::Class;
use crate::units::{CallId, Money, Timestamp, Total};

/// What a reviewer would remark.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Finding {
    /// A target was called before the instant that its response asked for.
    RetryAfterIgnored,
    /// A call was made after a true terminal fault of its request.
    RetriedTerminal,
    /// A true rate limit or used-up quota was told to breaker or health as a failure.
    QuotaPoisonedHealth,
    /// A call that was needed was billed and gave no answer.
    PaidWithoutAnswer,
    /// A leg was billed that lost.
    HedgeWaste,
    /// Data went to a region that its envelope does not allow.
    LeftRegion,
    /// Data went to a route that may not see its class.
    CrossedDataClass,
    /// A call was billed above its worst case.
    BilledAboveQuote,
    /// The receipt of a cancelled call never came.
    ReceiptNeverCame,
    /// On average a request made two calls or more.
    Amplification,
}

/// How many findings there are.
pub const FINDINGS: usize = 10;

/// From how many thousandths of a call a request amplification is remarked.
const AMPLIFICATION_SHOWN: u128 = 2_000;

/// How often something is to be remarked, and the first time.
#[derive(Clone, Debug, Default)]
pub struct Remark {
    /// How often.
    pub count: u64,
    /// The money concerned, where money is.
    pub amount: Total,
    /// The first time.
    pub first: Option<Example>,
}

/// One time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Example {
    /// The seed of the run.
    pub seed: u64,
    /// The entry.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// What, as a sentence.
    pub sentence: String,
}

/// Everything that is to be remarked of a run, or of many.
#[derive(Clone, Debug)]
pub struct Findings {
    seed: u64,
    remarks: [Remark; FINDINGS],
}

impl Finding {
    /// Every finding, in the order in which they are told.
    pub const ALL: [Finding; FINDINGS] = [
        Finding::RetryAfterIgnored,
        Finding::RetriedTerminal,
        Finding::QuotaPoisonedHealth,
        Finding::PaidWithoutAnswer,
        Finding::HedgeWaste,
        Finding::LeftRegion,
        Finding::CrossedDataClass,
        Finding::BilledAboveQuote,
        Finding::ReceiptNeverCame,
        Finding::Amplification,
    ];

    /// The stable word in summaries.
    pub const fn label(self) -> &'static str {
        match self {
            Finding::RetryAfterIgnored => "retry_after_ignored",
            Finding::RetriedTerminal => "retried_terminal",
            Finding::QuotaPoisonedHealth => "quota_poisoned_health",
            Finding::PaidWithoutAnswer => "paid_without_answer",
            Finding::HedgeWaste => "hedge_waste",
            Finding::LeftRegion => "left_region",
            Finding::CrossedDataClass => "crossed_data_class",
            Finding::BilledAboveQuote => "billed_above_quote",
            Finding::ReceiptNeverCame => "receipt_never_came",
            Finding::Amplification => "amplification",
        }
    }
}

impl Findings {
    /// Nothing to remark, in the run of this seed.
    pub fn new(seed: u64) -> Findings {
        Findings { seed, remarks: std::array::from_fn(|_| Remark::default()) }
    }

    /// How often something is to be remarked.
    pub fn remark(&self, finding: Finding) -> &Remark {
        &self.remarks[finding as usize]
    }

    /// What is to be remarked at all.
    pub fn iter(&self) -> impl Iterator<Item = (Finding, &Remark)> {
        Finding::ALL.into_iter().map(|finding| (finding, self.remark(finding))).filter(|(_, r)| r.count > 0)
    }

    /// Adds what a later run gave.
    pub fn merge(&mut self, other: &Findings) {
        for (mine, theirs) in self.remarks.iter_mut().zip(&other.remarks) {
            mine.count += theirs.count;
            mine.amount = mine.amount.plus(theirs.amount);
            if mine.first.is_none() {
                mine.first.clone_from(&theirs.first);
            }
        }
    }

    /// Whether nothing is to be remarked on a call that an upstream took.
    pub(super) fn is_silent(book: &Book<'_>, entry: Moment, begun: &Begun<'_>) -> bool {
        let mut findings = Findings::new(0);
        findings.begun(book, entry, begun);
        findings.iter().next().is_none()
    }

    /// An upstream took a call.
    pub(super) fn begun(&mut self, book: &Book<'_>, entry: Moment, begun: &Begun<'_>) {
        let Some(page) = begun.page else { return };
        let told = if book.told.is_any(entry.at) {
            book.told.call_until(book.facts, begun.route, begun.credential)
        } else {
            Timestamp::ZERO
        };
        let until = told.max(begun.tries.hint);
        let who = || (book.name(page.name), book.route_name(begun.route));
        if until > entry.at {
            self.note(Finding::RetryAfterIgnored, entry, Money::ZERO, || {
                let (name, route) = who();
                format!("{name} calls {route}, which asked to be left alone until {until}")
            });
        }
        if let Some(fault) = page.terminal.filter(|fault| !is_approved(book, begun, *fault)) {
            self.note(Finding::RetriedTerminal, entry, Money::ZERO, || {
                let (name, route) = who();
                format!("{name} calls {route} after {} at {}", fault.class.label(), fault.at)
            });
        }
        let reasons = begun.truth.reasons;
        if reasons.is_empty() {
            return;
        }
        let crossed = [
            (Finding::LeftRegion, Reason::DataResidency, "region"),
            (Finding::CrossedDataClass, Reason::ClassificationLimit, "data class"),
        ];
        for (finding, reason, what) in crossed {
            if reasons.has(reason) {
                self.note(finding, entry, Money::ZERO, || {
                    let (name, route) = who();
                    format!("{name} calls {route}, which its {what} forbids")
                });
            }
        }
    }

    /// A call is over and billed.
    #[inline]
    pub(super) fn billed(&mut self, book: &Book<'_>, entry: Moment, page: &CallPage, invoice: &Invoice) {
        if invoice.worth != Worth::Used || invoice.billed.money > page.worst_case.money {
            self.billed_in_vain(book, entry, page, invoice);
        }
    }

    /// A call is billed that gave no answer, or more than was quoted.
    #[cold]
    #[inline(never)]
    fn billed_in_vain(&mut self, book: &Book<'_>, entry: Moment, page: &CallPage, invoice: &Invoice) {
        let (bill, wasted, worst) = (invoice.billed.money, invoice.wasted(), page.worst_case.money);
        let over = bill.minus(worst);
        let who = || (book.name(page.name), book.route_name(page.route));
        if wasted > Money::ZERO {
            let (finding, why) = match invoice.worth {
                Worth::Lost => (Finding::HedgeWaste, "for a leg that lost"),
                Worth::Used | Worth::Wasted => (Finding::PaidWithoutAnswer, "without an answer"),
            };
            self.note(finding, entry, wasted, || {
                let (name, route) = who();
                format!("{name} pays ${wasted} to {route} {why}")
            });
        }
        if over > Money::ZERO {
            self.note(Finding::BilledAboveQuote, entry, over, || {
                let (name, route) = who();
                format!("{name} is billed ${bill} by {route}, ${worst} at worst was quoted")
            });
        }
    }

    /// A cancelled call will never be billed.
    pub(super) fn lost(&mut self, book: &Book<'_>, entry: Moment, call: CallId) {
        let Some(page) = book.call(call) else { return };
        let worst = page.worst_case.money;
        self.note(Finding::ReceiptNeverCame, entry, worst, || {
            let (name, route) = (book.name(page.name), book.route_name(page.route));
            format!("the call of {name} to {route} was cancelled and never billed: ${worst} at worst")
        });
    }

    /// Breaker and health are told that a result is bad.
    pub(super) fn signalled_bad(&mut self, book: &Book<'_>, entry: Moment, call: CallId) {
        let Some(page) = book.call(call) else { return };
        if let Some(class @ (Class::RateLimit | Class::QuotaExhausted)) = page.meaning() {
            self.note(Finding::QuotaPoisonedHealth, entry, Money::ZERO, || {
                let (name, route) = (book.name(page.name), book.route_name(page.route));
                format!("{} of {name} counts against the health of {route}", class.label())
            });
        }
    }

    /// The run is over: looks at what it amounts to.
    pub(super) fn end(&mut self, book: &Book<'_>, metrics: &Metrics) {
        let Some(value) = metrics.value(Metric::Amplification, None) else { return };
        if value >= AMPLIFICATION_SHOWN {
            let (seq, at) = book.last();
            let sentence = format!("{} calls a request", Metric::Amplification.unit().decimal(value));
            let remark = &mut self.remarks[Finding::Amplification as usize];
            remark.count += 1;
            remark.first = Some(Example { seed: self.seed, seq, at, sentence });
        }
    }

    /// A remark is rare: it is made out of the way.
    #[cold]
    #[inline(never)]
    fn note(&mut self, finding: Finding, entry: Moment, amount: Money, tell: impl FnOnce() -> String) {
        let remark = &mut self.remarks[finding as usize];
        remark.count += 1;
        remark.amount.add(amount);
        if remark.first.is_none() {
            let (seed, seq, at) = (self.seed, entry.seq, entry.at);
            remark.first = Some(Example { seed, seq, at, sentence: tell() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::{Decision, Delivery, Freshness, Outcome};
    use crate::judge::play::*;
    use crate::policy::signal::Signal;
    use crate::policy::taxonomy::Hint;
    use crate::sim::What;
    use crate::units::{BreakerId, HealthId, RouteId};

    fn check(finding: Finding, script: impl Fn(&mut Play<'_>), count: u64, says: &str) {
        let findings = played(script).findings;
        let remark = findings.remark(finding);
        let first = remark.first.as_ref().map_or("", |example| example.sentence.as_str());
        assert_eq!((remark.count, first), (count, says), "{}", finding.label());
        assert_eq!(played(answered).findings.remark(finding).count, 0);
    }

    /// Fails with `class`, is billed `milli` and calls `then`.
    fn failed(class: Class, hint: Hint, milli: u64, then: RouteId) -> impl Fn(&mut Play<'_>) {
        move |play| {
            play.arrive(Delivery::Whole);
            let call = play.call(R, A);
            play.at(80).end_with(call, Some(class), milli, hint);
            play.call(R, then);
        }
    }

    #[test]
    fn each_remark_tells_what_a_reviewer_would_see() {
        let limited = failed(Class::RateLimit, Hint::After(MS(500)), 0, A);
        let says = "req/1 calls alpha, which asked to be left alone until 580 ms";
        check(Finding::RetryAfterIgnored, limited, 1, says);
        let refused = failed(Class::PolicyRefusal, Hint::Absent, 0, B);
        check(Finding::RetriedTerminal, refused, 1, "req/1 calls beta after policy_refusal at 80 ms");
        let paid = failed(Class::Overload, Hint::Absent, 20, B);
        check(Finding::PaidWithoutAnswer, &paid, 1, "req/1 pays $0.020 to alpha without an answer");
        check(
            Finding::BilledAboveQuote,
            &paid,
            1,
            "req/1 is billed $0.020 by alpha, $0.016 at worst was quoted",
        );
        check(Finding::Amplification, &paid, 1, "2.000 calls a request");
        let fled = failed(Class::Overload, Hint::Absent, 0, FAR);
        check(Finding::LeftRegion, &fled, 1, "req/1 calls far, which its region forbids");
        check(Finding::CrossedDataClass, &fled, 1, "req/1 calls far, which its data class forbids");
    }

    #[test]
    fn a_rate_limit_that_counts_against_health_is_remarked() {
        let poisoned = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole);
            let call = play.call(R, A);
            play.at(80).end(call, Some(Class::RateLimit), 0).decide(Decision::Signalled {
                call,
                breaker: BreakerId(0),
                health: HealthId(0),
                class: Some(Class::RateLimit),
                signal: Signal::Bad,
                standing: Freshness::Fresh,
                breaker_failures: 1,
                health_failures: 1,
            });
        };
        let says = "rate_limit of req/1 counts against the health of alpha";
        check(Finding::QuotaPoisonedHealth, poisoned, 1, says);
    }

    #[test]
    fn a_leg_that_lost_is_remarked_apart_from_what_was_needed() {
        let hedged = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole);
            let slow = play.call(R, A);
            let quick = play.at(200).call(R, B);
            play.at(700).end(quick, None, 16).reply(R, Outcome::Answered { route: B }).cancel(slow);
            play.at(900).end(slow, Some(Class::Cancelled), 16).close(R);
        };
        check(Finding::HedgeWaste, hedged, 1, "req/1 pays $0.016 to alpha for a leg that lost");
        assert_eq!(played(hedged).findings.remark(Finding::PaidWithoutAnswer).count, 0);
    }

    #[test]
    fn a_receipt_that_never_comes_is_remarked() {
        let lost = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole);
            let call = play.call(R, A);
            play.act(crate::gateway::Action::Cancel { call, why: Class::Cancelled });
            play.say(What::CallLost { call }).reply(R, Outcome::NoEligibleRoute);
        };
        let says = "the call of req/1 to alpha was cancelled and never billed: $0.016 at worst";
        check(Finding::ReceiptNeverCame, lost, 1, says);
    }

    #[test]
    fn the_first_example_is_that_of_the_first_seed() {
        let mut sum = Findings::new(0);
        for _ in 0..3 {
            sum.merge(&played(failed(Class::Overload, Hint::Absent, 20, B)).findings);
        }
        let remark = sum.remark(Finding::PaidWithoutAnswer);
        assert_eq!((remark.count, remark.amount.to_string().as_str()), (3, "0.060"));
        assert_eq!(remark.first.as_ref().map(|first| (first.seed, first.at)), Some((1, at(80))));
    }
}
