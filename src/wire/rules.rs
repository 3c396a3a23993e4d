//! The rules, in the order in which they are asked; the first that has an answer decides. The order is the
//! knowledge: what no wait cures before what a wait cures, the body's words before the status.

use super::answer::Answer;
use super::durations::{Nanos, SECOND};
use super::evidence::Evidence;
use super::habits::{Limit, Trait};
use super::limits::{self, Wait};
use super::sign::Sign;
use super::verdict::Field;
use super::{origin, statuses};
use crate::policy::taxonomy::{Class, Resend, Scope};

/// One question, its stable name in verdicts, and what it is about.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) says: &'static str,
    pub(super) ask: fn(&Evidence<'_>) -> Option<Outcome>,
}

/// Every rule. Exchanging two of them changes what real failures mean; the tests below say which.
pub(super) const RULES: [Rule; 15] = [
    Rule {
        name: "own_stop",
        says: "We stopped it ourselves, a hedge lost or the caller hung up: no failure of theirs.",
        ask: origin::own_stop,
    },
    Rule { name: "transport", says: "The connection broke or never was.", ask: origin::transport },
    Rule {
        name: "answer",
        says: "A status of success: an answer, or a failure in an answer's clothes.",
        ask: answer,
    },
    Rule {
        name: "policy",
        says: "A refusal for the content: no wait, key or model may change it.",
        ask: policy,
    },
    Rule {
        name: "elsewhere",
        says: "Right request, wrong place: region, firewall, our own constraint, a model that is not there.",
        ask: elsewhere,
    },
    Rule { name: "size", says: "Too large: no wait makes it fit.", ask: size },
    Rule {
        name: "in_flight",
        says: "Too many paid requests at once: a wait cures it, the balance is good.",
        ask: in_flight,
    },
    Rule { name: "funds", says: "The account, or the budget of a key, cannot pay.", ask: funds },
    Rule { name: "auth", says: "The credential, under whatever status.", ask: auth },
    Rule { name: "capacity", says: "No capacity: the provider's trouble, not our limit.", ask: capacity },
    Rule {
        name: "long_window",
        says: "A window of a day or more, of a plan, a limit of zero, or a wait of more than five minutes.",
        ask: long_window,
    },
    Rule { name: "rate_limit", says: "A limit for the moment, by its words or by 429.", ask: rate_limit },
    Rule {
        name: "should_retry",
        says: "The server's own word on sending the same again.",
        ask: should_retry,
    },
    Rule { name: "status", says: "The status, where the body says nothing.", ask: statuses::status },
    Rule { name: "code", says: "No status at all: the code alone.", ask: statuses::code },
];

/// The longest wait that is still a rate limit (gemini-cli's border): one second more is a window.
const RATE_LIMIT_MAX: Nanos = 300 * SECOND;

/// What a rule answers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) class: Option<Class>,
    pub(super) scope: Scope,
    pub(super) health: Health,
    pub(super) resend: Resend,
    pub(super) wait: Until,
    pub(super) fields: [Option<Field>; 2],
}

/// What an outcome says about the upstream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Health {
    Bad,
    Silent,
}

/// Which of the stated waits an outcome takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Until {
    /// Whatever was stated.
    Stated,
    /// The stated one, or a minute.
    StatedOrMinute,
    /// The end of a window: its clock, or what was stated for it.
    WindowEnd,
    /// A stated end only, not a length: somebody set a budget.
    BudgetEnd,
    /// None: waiting does not help.
    Never,
}

impl Outcome {
    /// No failure.
    pub(super) fn fine(class: Option<Class>, field: Option<Field>) -> Outcome {
        let (scope, resend) = (Scope::Request, Resend::None);
        Outcome { class, scope, health: Health::Silent, resend, wait: Until::Never, fields: [field, None] }
    }

    /// The upstream is ill, or full.
    pub(super) fn sick(scope: Scope, field: Field) -> Outcome {
        let (class, resend) = (Some(Class::Overload), Resend::Same);
        Outcome {
            class,
            scope,
            health: Health::Bad,
            resend,
            wait: Until::Stated,
            fields: [Some(field), None],
        }
    }

    /// Nothing usable came, which says nothing about health: the call fuse bounds it.
    pub(super) fn unusable(field: Field) -> Outcome {
        let class = Some(Class::InvalidAnswer);
        Outcome { class, health: Health::Silent, ..Outcome::sick(Scope::Model, field) }
    }

    /// A terminal class, or our own fault: waiting does not help.
    pub(super) fn stop(class: Class, scope: Scope, resend: Resend, field: Field) -> Outcome {
        let class = Some(class);
        Outcome {
            class,
            scope,
            health: Health::Silent,
            resend,
            wait: Until::Never,
            fields: [Some(field), None],
        }
    }

    /// Our request is at fault.
    pub(super) fn our_fault(field: Field) -> Outcome {
        Outcome::stop(Class::NonRetryable, Scope::Request, Resend::None, field)
    }

    fn limit(class: Class, scope: Scope, resend: Resend, wait: Until, field: Field) -> Outcome {
        let class = Some(class);
        Outcome { class, scope, health: Health::Silent, resend, wait, fields: [Some(field), None] }
    }
}

/// `answer`: under a status of success: an answer, or a failure in an answer's clothes.
fn answer(evidence: &Evidence<'_>) -> Option<Outcome> {
    if evidence.error.is_some() {
        return None;
    }
    if let Some(ended) = origin::stream_end(evidence) {
        return Some(ended);
    }
    Some(match evidence.answer? {
        Answer::Delivered | Answer::Finished | Answer::Comment => Outcome::fine(None, None),
        Answer::Empty(field) => Outcome::unusable(field),
        Answer::Starved(field) => Outcome::our_fault(field),
        Answer::Refused(field) => Outcome::stop(Class::PolicyRefusal, Scope::Request, Resend::None, field),
        Answer::Faulted(field) | Answer::Broken(field) => Outcome::sick(Scope::Model, field),
        Answer::Unreadable(field) | Answer::Page(field) => Outcome::sick(Scope::Provider, field),
    })
}

/// `policy`: a refusal for the content: no wait, no key and no other model may change it.
fn policy(evidence: &Evidence<'_>) -> Option<Outcome> {
    let field = evidence.sign(Sign::Policy)?;
    Some(Outcome::stop(Class::PolicyRefusal, Scope::Request, Resend::None, field))
}

/// `elsewhere`: right request, wrong place: our region, a firewall, our own constraint, a model that is not there. Before
/// auth, which shares their statuses: the key is good.
fn elsewhere(evidence: &Evidence<'_>) -> Option<Outcome> {
    let not = |scope, resend, field| Some(Outcome::stop(Class::NonRetryable, scope, resend, field));
    if let Some(field) = evidence.any(&[Sign::Region, Sign::EdgeBlock]) {
        return not(Scope::Provider, Resend::Other, field);
    }
    if evidence.page && evidence.status() == Some(403) {
        return not(Scope::Provider, Resend::Other, Field { place: "", key: "body" });
    }
    if let Some(field) = evidence.sign(Sign::Constraint) {
        return not(Scope::Request, Resend::None, field);
    }
    let field = evidence.sign(Sign::Model)?;
    match evidence.status() {
        Some(401 | 402 | 429) | Some(500..=599) => None,
        Some(_) | None => not(Scope::Model, Resend::Other, field),
    }
}

/// `size`: too large, whatever the status: no wait makes it fit.
fn size(evidence: &Evidence<'_>) -> Option<Outcome> {
    let by_status = matches!(evidence.status(), Some(413 | 414 | 431)).then(|| evidence.status_field());
    evidence.sign(Sign::Size).or(by_status).map(Outcome::our_fault)
}

/// `in_flight`: the 402 that a wait cures: the balance is good, too many paid requests run at once.
fn in_flight(evidence: &Evidence<'_>) -> Option<Outcome> {
    let announced = || {
        let short = limits::choose(evidence).and_then(|wait| wait.ns).is_some_and(|ns| ns <= RATE_LIMIT_MAX);
        let header = evidence.input.header("retry-after").is_some();
        (evidence.status() == Some(402) && header && short).then(|| evidence.status_field())
    };
    let field = evidence.sign(Sign::InFlight).or_else(announced)?;
    Some(Outcome::limit(Class::RateLimit, Scope::Project, Resend::Same, Until::Stated, field))
}

/// `funds`: the account cannot pay. Before auth, rate limits and plain statuses, in whose clothes it comes.
fn funds(evidence: &Evidence<'_>) -> Option<Outcome> {
    let outcome = |scope, field| {
        let outcome = Outcome::stop(Class::Funds, scope, Resend::Other, field);
        Some(Outcome { wait: Until::BudgetEnd, ..outcome })
    };
    if let Some(field) = evidence.sign(Sign::FundsKey) {
        return outcome(Scope::Credential, field);
    }
    let project = evidence.tables.scope(evidence.speaker, Limit::Funds).unwrap_or(Scope::Project);
    if let Some(field) = evidence.sign(Sign::Funds) {
        return outcome(project, field);
    }
    let planned = evidence.sign(Sign::Plan).is_some_and(|field| !field.is_text());
    if evidence.status() == Some(402) && !planned && !evidence.theirs {
        return outcome(project, evidence.status_field());
    }
    // Said of a minute's quota too: only where nothing speaks of a limit it is about money.
    const LIMITED: [Sign; 5] = [Sign::Minute, Sign::Hour, Sign::Day, Sign::Zero, Sign::Plan];
    let field = evidence.sign(Sign::FundsMaybe)?;
    // The name of an exception says no more than 429 does.
    let limited =
        evidence.plain(Sign::Rate).is_some_and(|field| field.place != "exception" || field.key != "type");
    let about_money = !limited && evidence.any(&LIMITED).is_none() && limits::choose(evidence).is_none();
    if about_money { outcome(project, field) } else { None }
}

/// `auth`: the credential, also under 400.
fn auth(evidence: &Evidence<'_>) -> Option<Outcome> {
    let scopes = [
        (Sign::AuthProject, Scope::Project),
        (Sign::AuthModel, Scope::Model),
        (Sign::Auth, Scope::Credential),
    ];
    // What cannot be parsed is called an invalid token too.
    let malformed = evidence.sign(Sign::Request).is_some();
    let maybe =
        || evidence.sign(Sign::AuthMaybe).filter(|_| !malformed).map(|field| (Scope::Credential, field));
    let found =
        scopes.into_iter().find_map(|(sign, scope)| Some((scope, evidence.sign(sign)?))).or_else(maybe);
    found.map(|(scope, field)| Outcome::stop(Class::Auth, scope, Resend::Other, field))
}

/// `capacity`: no capacity, whatever the status: the provider's trouble, not our limit.
fn capacity(evidence: &Evidence<'_>) -> Option<Outcome> {
    if let Some(field) = evidence.sign(Sign::ColdStart) {
        return Some(Outcome { health: Health::Silent, ..Outcome::sick(Scope::Model, field) });
    }
    if let Some(field) = evidence.sign(Sign::Broken) {
        let outcome = Outcome::stop(Class::NonRetryable, Scope::Model, Resend::Other, field);
        return Some(Outcome { health: Health::Bad, ..outcome });
    }
    // "High demand" is why there is a limit; who tells the limit tells ours.
    let ours = evidence.status() == Some(429) && evidence.sign(Sign::OwnLimit).is_some();
    if let Some(field) = evidence.sign(Sign::Capacity).filter(|field| !(ours && field.is_text())) {
        let plain = evidence.tables.scope(evidence.speaker, Limit::Capacity).unwrap_or(Scope::Model);
        let scope = if evidence.is_enveloped() { Scope::Model } else { plain };
        let outcome = Outcome::sick(if evidence.page { Scope::Provider } else { scope }, field);
        let resend = if evidence.offers_others { Resend::Other } else { Resend::Same };
        return Some(Outcome { resend, ..outcome });
    }
    if let Some(field) = evidence.sign(Sign::Busy) {
        return Some(Outcome::sick(Scope::Provider, field));
    }
    let field = evidence.sign(Sign::CapacityMaybe)?;
    let reason = |sign| evidence.sign(sign).is_some_and(|field| field.place.contains("details"));
    let ours = reason(Sign::Rate) || reason(Sign::Plan) || limits::choose(evidence).is_some();
    (!ours).then(|| Outcome::sick(Scope::Model, field))
}

/// `long_window`: a window of a day or more, a plan's window, a limit of zero, or a wait beyond [`RATE_LIMIT_MAX`].
fn long_window(evidence: &Evidence<'_>) -> Option<Outcome> {
    let by_code = |sign| evidence.sign(sign).is_some_and(|field| !field.is_text());
    let limited = evidence.status() == Some(429)
        || evidence.any(&[Sign::Rate, Sign::RateKey, Sign::Plan, Sign::Quota]).is_some()
        || by_code(Sign::Day);
    if !limited {
        return None;
    }
    let exhausted =
        |scope, wait, field| Some(Outcome::limit(Class::QuotaExhausted, scope, Resend::Other, wait, field));
    if let Some(field) = evidence.sign(Sign::Zero) {
        return exhausted(quota_scope(evidence), Until::Never, field);
    }
    if let Some(field) = evidence.sign(Sign::Plan) {
        let plain = evidence.tables.scope(evidence.speaker, Limit::Plan).unwrap_or(Scope::Project);
        let scope = if is_managed(evidence) { Scope::Credential } else { plain };
        return exhausted(scope, Until::WindowEnd, field);
    }
    if let Some(field) =
        evidence.sign(Sign::Quota).filter(|_| is_managed(evidence) && evidence.status() == Some(403))
    {
        return exhausted(Scope::Credential, Until::WindowEnd, field);
    }
    let stated = limits::choose(evidence);
    let refills = evidence.tables.has(evidence.speaker, Trait::RefillsContinuously);
    // The reset of a bucket that refills all the time is when it is full, not when there is something in it.
    let full = |wait: &Wait| refills && wait.field.key == "x-ratelimit-reset-*";
    let long =
        stated.filter(|wait| !full(wait)).and_then(|wait| wait.ns).is_some_and(|ns| ns > RATE_LIMIT_MAX);
    let window = evidence.any(&[Sign::Day, Sign::Week, Sign::Month]);
    if let Some(field) = window.filter(|_| long || stated.is_none() || !refills) {
        return exhausted(quota_scope(evidence), Until::WindowEnd, field);
    }
    if let Some(Wait { field, .. }) = stated.filter(|_| long) {
        return exhausted(quota_scope(evidence), Until::WindowEnd, field);
    }
    let silent = stated.is_none() && evidence.tables.has(evidence.speaker, Trait::SilenceIsAPlan);
    let field = evidence.sign(Sign::Rate).filter(|_| silent)?;
    exhausted(quota_scope(evidence), Until::WindowEnd, field)
}

/// `rate_limit`: a rate limit: by status, or in words under another one.
fn rate_limit(evidence: &Evidence<'_>) -> Option<Outcome> {
    const SIGNS: [Sign; 5] =
        [Sign::RateEdge, Sign::RateUpstream, Sign::RateKey, Sign::RateProject, Sign::Rate];
    let by_code = |sign| evidence.sign(sign).is_some_and(|field| !field.is_text());
    let said = evidence.any(&SIGNS).filter(|field| {
        // A word in the message of a bad request, or beside a code of the server's own fault, is not enough.
        let about_something_else = match evidence.status() {
            Some(400 | 401 | 404 | 422) => true,
            Some(500..=599) => by_code(Sign::Fault),
            Some(_) | None => false,
        };
        !(field.is_text() && about_something_else)
    });
    let said = said.or_else(|| {
        let refused = evidence.status() == Some(403) && limits::choose(evidence).is_some();
        evidence.sign(Sign::Quota).filter(|_| refused)
    });
    let by_status = (evidence.status() == Some(429)).then(|| evidence.status_field());
    let field = said.or(by_status)?;
    let (scope, resend) = rate_scope(evidence);
    let wait = if evidence.minute_metric.is_some() { Until::StatedOrMinute } else { Until::Stated };
    Some(Outcome::limit(Class::RateLimit, scope, resend, wait, field))
}

/// Whose limit it is. A pool's limit that an aggregator passes on is not met by another of our keys.
fn rate_scope(evidence: &Evidence<'_>) -> (Scope, Resend) {
    if evidence.page || evidence.sign(Sign::RateEdge).is_some() {
        return (Scope::Provider, Resend::Same);
    }
    if evidence.upstream || evidence.sign(Sign::RateUpstream).is_some() {
        return (Scope::Model, Resend::Other);
    }
    if evidence.sign(Sign::RateKey).is_some() || is_managed(evidence) {
        return (Scope::Credential, Resend::Same);
    }
    if evidence.sign(Sign::RateProject).is_some() {
        return (Scope::Project, Resend::Same);
    }
    (limit_scope(evidence, Limit::Rate), Resend::Same)
}

fn quota_scope(evidence: &Evidence<'_>) -> Scope {
    if is_managed(evidence) {
        return Scope::Credential;
    }
    match evidence.tables.scope(evidence.speaker, Limit::Quota) {
        Some(scope) if !evidence.wrapped => scope,
        Some(_) | None => limit_scope(evidence, Limit::Rate),
    }
}

fn limit_scope(evidence: &Evidence<'_>, limit: Limit) -> Scope {
    let wrapped = evidence.wrapped.then_some(Scope::Model);
    wrapped.or_else(|| evidence.tables.scope(evidence.speaker, limit)).unwrap_or(Scope::Project)
}

fn is_managed(evidence: &Evidence<'_>) -> bool {
    evidence.managed && evidence.tables.has(evidence.speaker, Trait::KeysAreSubscriptions)
}

/// `should_retry`: the server's own word on sending the same again.
fn should_retry(evidence: &Evidence<'_>) -> Option<Outcome> {
    let field = Field { place: "headers", key: "x-should-retry" };
    let status = evidence.status()?;
    match (evidence.input.header("x-should-retry")?.trim(), status) {
        ("false", 408 | 409 | 500..=599) => {
            let health = if status >= 500 { Health::Bad } else { Health::Silent };
            let outcome = Outcome::stop(Class::NonRetryable, Scope::Request, Resend::Other, field);
            Some(Outcome { health, ..outcome })
        }
        ("true", 400 | 404 | 409 | 422 | 425) => {
            Some(Outcome { health: Health::Silent, ..Outcome::sick(Scope::Model, field) })
        }
        _ => None,
    }
}
