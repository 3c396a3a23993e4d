//! Findings: what a reviewer would write in the margin. They judge nothing; a wrong policy shows itself in them
//! even where no law is broken. All are computed from facts.

use super::book::{Book, CallPage};
use super::metrics::{Metric, Metrics};
use crate::gateway::{Answer, Bill, Decision};
use crate::policy::eligibility::Reason;
use crate::policy::signal::Signal;
use crate::policy::taxonomy::Class;
use crate::sim::{Entry, What};
use crate::units::{CallId, CredentialId, Money, RequestId, RouteId, Timestamp, Total};

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
    /// A call was billed and gave no answer.
    PaidWithoutAnswer,
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
pub const FINDINGS: usize = 9;

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

    /// Looks at an entry, before the book takes it in.
    pub(super) fn look(&mut self, book: &Book<'_>, entry: &Entry<'_>) {
        match entry.what {
            What::CallBegun { request, route, credential, .. } => {
                self.look_at_call(book, entry, request, route, credential);
            }
            What::CallEnded { call, truth, receipt, .. } => {
                let Some(page) = book.call(call) else { return };
                let bill = match receipt.bill {
                    Bill::Exact(money) => money,
                    Bill::Unknown => page.worst_case.money,
                };
                let is_answer = page.is_wanted() && truth.is_none() && receipt.result == Answer::Answered;
                self.look_at_bill(book, entry, page, if is_answer { Money::ZERO } else { bill }, bill);
            }
            What::CallLost { call } => {
                let Some(page) = book.call(call) else { return };
                let worst = page.worst_case.money;
                self.note(Finding::ReceiptNeverCame, entry, worst, || {
                    let (name, route) = (book.name(page.name), book.route_name(page.route));
                    format!("the call of {name} to {route} was cancelled and never billed: ${worst} at worst")
                });
            }
            What::Decided(Decision::Signalled { call, signal: Signal::Bad, .. }) => {
                self.look_at_signal(book, entry, *call);
            }
            What::Declared(_)
            | What::Arrived { .. }
            | What::Abandoned { .. }
            | What::Woke { .. }
            | What::Operated { .. }
            | What::CallVisible { .. }
            | What::Considered { .. }
            | What::Acted(_)
            | What::Decided(_) => {}
        }
    }

    fn look_at_call(
        &mut self,
        book: &Book<'_>,
        entry: &Entry<'_>,
        request: RequestId,
        route: RouteId,
        credential: CredentialId,
    ) {
        let Some(page) = book.request(request) else { return };
        let own =
            page.hint.filter(|(hinted, _)| *hinted == route).map_or(Timestamp::ZERO, |(_, until)| until);
        let told = if book.told.is_any(entry.at) {
            book.told.call_until(book.facts, route, credential)
        } else {
            Timestamp::ZERO
        };
        let until = told.max(own);
        let who = || (book.request_name(request), book.route_name(route));
        if until > entry.at {
            self.note(Finding::RetryAfterIgnored, entry, Money::ZERO, || {
                let (name, route) = who();
                format!("{name} calls {route}, which asked to be left alone until {until}")
            });
        }
        if let Some(fault) = page.terminal {
            self.note(Finding::RetriedTerminal, entry, Money::ZERO, || {
                let (name, route) = who();
                format!("{name} calls {route} after {} at {}", fault.class.label(), fault.at)
            });
        }
        let reasons = book.truth(request, route).reasons;
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

    fn look_at_bill(
        &mut self,
        book: &Book<'_>,
        entry: &Entry<'_>,
        page: &CallPage,
        wasted: Money,
        bill: Money,
    ) {
        let worst = page.worst_case.money;
        let over = bill.minus(worst);
        let who = || (book.name(page.name), book.route_name(page.route));
        if wasted > Money::ZERO {
            self.note(Finding::PaidWithoutAnswer, entry, wasted, || {
                let (name, route) = who();
                format!("{name} pays ${wasted} to {route} without an answer")
            });
        }
        if over > Money::ZERO {
            self.note(Finding::BilledAboveQuote, entry, over, || {
                let (name, route) = who();
                format!("{name} is billed ${bill} by {route}, ${worst} at worst was quoted")
            });
        }
    }

    fn look_at_signal(&mut self, book: &Book<'_>, entry: &Entry<'_>, call: CallId) {
        let Some(page) = book.call(call) else { return };
        if let Some(class @ (Class::RateLimit | Class::QuotaExhausted)) = book.meaning(page) {
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
            let (seq, at) = book.last.unwrap_or_default();
            let sentence = format!("{} calls a request", Metric::Amplification.unit().decimal(value));
            let remark = &mut self.remarks[Finding::Amplification as usize];
            remark.count += 1;
            remark.first = Some(Example { seed: self.seed, seq, at, sentence });
        }
    }

    fn note(&mut self, finding: Finding, entry: &Entry<'_>, amount: Money, tell: impl FnOnce() -> String) {
        let remark = &mut self.remarks[finding as usize];
        remark.count += 1;
        remark.amount.add(amount);
        if remark.first.is_none() {
            let (seed, seq, at) = (self.seed, entry.seq, entry.at);
            remark.first = Some(Example { seed, seq, at, sentence: tell() });
        }
    }
}
