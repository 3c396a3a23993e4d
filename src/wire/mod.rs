//! Floor 6, the rim towards providers: what one response means, and why. The body decides, not the status: one
//! 429 is a minute's limit, a day's, an empty account, a request that never fits, or a sick backend.
//!
//! [`classify`] reads an [`Input`] in a [`Dialect`] and gives a [`Verdict`]. It is total, pure, bounded in depth
//! and size, and never reads what a model wrote. Evidence is gathered in one walk (`evidence`), then the rules are
//! asked in order (`rules`), then the wait is chosen (`limits`). What providers say stands in `dialects/`.
//! [`diagnose`] is the short door for scripted replies of a status and a code.

mod answer;
mod catalogue;
mod clock;
mod dates;
mod dialect;
mod durations;
mod evidence;
mod input;
mod json;
mod limits;
mod origin;
mod phrases;
mod retry_after;
mod rules;
mod scripted;
mod sdk;
mod sign;
mod spoken;
mod statuses;
mod verdict;
mod words;
mod wrong;

pub use catalogue::{Case, Catalogue};
pub use clock::Clock;
pub use dialect::{Dialect, DialectError};
pub use input::{Body, Input, Kind, Phase, Stream, Transport};
pub use retry_after::{
    Honoured, Parsed, Policy, Reading, Reason, Remaining, go_duration, honour, protobuf_duration, rate_limit,
    rate_limit_policies, reset, retry_after, retry_after_ms, rfc3339, unix_seconds,
};
pub use scripted::{Response, diagnose};
pub use sdk::{Sdk, SdkWait, sdk_wait};
pub use verdict::{Field, Verdict};

use crate::policy::taxonomy::{Class, Resend, Scope};
use dialect::{Method, Tables};
use evidence::Evidence;
use limits::{StatedIn, Wait};
use rules::{Health, Outcome, RULES, Rule, Until};

const DAY_MS: u64 = 86_400_000;

/// What `input` means in `dialect`.
pub fn classify(input: &Input, dialect: &Dialect) -> Verdict {
    match dialect.method {
        Method::Rules => judge(input, &dialect.tables, &RULES),
        Method::StatusOnly => wrong::status_only(input),
        Method::Adr113 => wrong::adr_113(input),
    }
}

/// Asks `rules` in their order.
fn judge(input: &Input, tables: &Tables, rules: &[Rule]) -> Verdict {
    let evidence = Evidence::gather(input, tables);
    let answer = rules.iter().find_map(|rule| Some((rule.name, (rule.ask)(&evidence)?)));
    match answer {
        Some((name, outcome)) => verdict(&evidence, name, outcome),
        // An error that nobody knows is not an invitation to repeat it.
        None => Verdict {
            class: Some(Class::Unclassified),
            retry_after_ms: None,
            scope: Scope::Request,
            health_signal: false,
            resend: Resend::None,
            resets_at: None,
            rule: "unclassified",
            decided_by: Vec::new(),
            phase: input.phase(),
        },
    }
}

/// The outcome of a rule with its wait, and with what visible output forbids.
fn verdict(evidence: &Evidence<'_>, rule: &'static str, outcome: Outcome) -> Verdict {
    let phase = evidence.input.phase();
    let wait = wait(evidence, &outcome);
    let ms = wait.and_then(|wait| wait.ns).map(durations::millis);
    let minute = (outcome.wait == Until::StatedOrMinute && wait.is_none()).then_some(60_000);
    // Nobody is ill for days: a longer wait than that is no hint of a sick server.
    let plausible = |ms: &u64| *ms <= DAY_MS || outcome.class != Some(Class::Overload);
    let windowed = matches!(outcome.class, Some(Class::QuotaExhausted | Class::Funds));
    let named = wait.filter(|wait| windowed || wait.stated_in == StatedIn::Body);
    let mut decided_by: Vec<Field> = outcome.fields.into_iter().flatten().collect();
    if let Some(Wait { field, .. }) = wait
        && !decided_by.contains(&field)
    {
        decided_by.push(field);
    }
    Verdict {
        class: outcome.class,
        retry_after_ms: ms.or(minute).filter(plausible),
        scope: outcome.scope,
        health_signal: outcome.health == Health::Bad,
        resend: if phase == Phase::AfterOutput { Resend::None } else { outcome.resend },
        resets_at: named.and_then(|wait| wait.at),
        rule,
        decided_by,
        phase,
    }
}

/// The wait that an outcome takes.
fn wait(evidence: &Evidence<'_>, outcome: &Outcome) -> Option<Wait> {
    const SHORT: durations::Nanos = 300 * durations::SECOND;
    match outcome.wait {
        Until::Never => None,
        Until::Stated | Until::StatedOrMinute => limits::choose(evidence),
        Until::WindowEnd => {
            let lies = evidence.tables.has(evidence.speaker, dialect::Trait::ShortWaitsLie);
            let long = |wait: &Wait| !lies || wait.ns.is_none_or(|ns| ns > SHORT);
            let stated = limits::choose(evidence).filter(long);
            stated.or_else(|| limits::next_reset(evidence))
        }
        Until::BudgetEnd => {
            let stated = limits::choose(evidence).filter(|wait| wait.at.is_some());
            stated.or_else(|| limits::next_reset(evidence))
        }
    }
}
