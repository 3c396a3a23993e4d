//! Floor 6, the rim towards providers: what one response means, and why. The body decides, not the status: one
//! 429 is a minute's limit, a day's, an empty account, a request that never fits, or a sick backend.
//!
//! [`classify`] reads an [`Input`] in a [`Dialect`] and gives a [`Verdict`]. It is total, pure, bounded in depth
//! and size, and never reads what a model wrote. Evidence is gathered in one walk (`evidence`), then the rules are
//! asked in order (`rules`), then the wait is chosen (`limits`). What providers say stands in `dialects/`.
//! [`hear`] is the door for scripted replies of a status and a code: they go the same way.

mod answer;
mod capture;
mod catalogue;
mod clock;
mod dates;
mod described;
mod dialect;
mod durations;
mod evidence;
mod files;
mod habits;
mod input;
mod json;
mod limits;
mod names;
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

pub use capture::{from_capture, from_http, status_line};
pub use catalogue::{Case, Catalogue};
pub use clock::Clock;
pub use described::{dialect_files, rules, signs};
pub use dialect::{Dialect, DialectError};
pub use input::{Body, Input, Kind, Phase, Stream, Transport};
pub use retry_after::{
    Parsed, Policy, Reading, Reason, Remaining, go_duration, protobuf_duration, rate_limit,
    rate_limit_policies, reset, retry_after, retry_after_ms, rfc3339, unix_seconds,
};
pub use scripted::{Response, hear};
pub use sdk::{Sdk, SdkWait, sdk_wait};
pub use verdict::{Field, Verdict};

pub use crate::policy::retry_after::{Honoured, honour};
use crate::policy::taxonomy::{Class, Resend, Scope};
use dialect::{Method, Tables};
use evidence::Evidence;
use limits::{StatedIn, Wait};
use rules::{Health, Outcome, RULES, Rule, Until};
use sign::Sign;

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
            bench: Scope::Request,
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
    let windowed = matches!(outcome.class, Some(Class::QuotaExhausted | Class::Funds));
    // Nobody is ill for days: such a wait is a hint of a window only.
    let plausible = |ms: &u64| *ms <= DAY_MS || windowed;
    let named = wait.filter(|wait| windowed || wait.stated_in == StatedIn::Body);
    let mut decided_by: Vec<Field> = outcome.fields.into_iter().flatten().collect();
    if let Some(Wait { field, .. }) = wait
        && !decided_by.contains(&field)
    {
        decided_by.push(field);
    }
    let limited = matches!(outcome.class, Some(Class::QuotaExhausted | Class::RateLimit));
    let each_model = limited && outcome.scope == Scope::Project && evidence.sign(Sign::EachModel).is_some();
    Verdict {
        class: outcome.class,
        retry_after_ms: ms.or(minute).filter(plausible),
        scope: outcome.scope,
        bench: if each_model { Scope::Model } else { outcome.scope },
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
            let lies = evidence.tables.has(evidence.speaker, habits::Trait::ShortWaitsLie);
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn error(provider: &str, status: u16, error: Value) -> Value {
        json!({"provider": provider, "kind": "http", "status": status, "headers": {}, "body": {"error": error}})
    }

    fn label(case: &Value, rules: &[Rule]) -> &'static str {
        judge(&Input::from_json(case.clone()), &Dialect::standard().tables, rules).label()
    }

    /// In their order the rules say `right`; with `first` and `second` exchanged they say `wrong`.
    fn check(first: &str, second: &str, case: &Value, right: &str, wrong: &str) {
        let at = |name: &str| RULES.iter().position(|rule| rule.name == name).unwrap();
        let (one, other) = (at(first), at(second));
        assert!(one < other, "{first} stands before {second}");
        let mut exchanged = RULES;
        exchanged.swap(one, other);
        assert_eq!(label(case, &RULES), right, "{case}");
        assert_eq!(label(case, &exchanged), wrong, "exchanged, {case}");
    }

    #[test]
    fn size_before_rate_limit_because_no_wait_makes_it_fit() {
        let message = "Request too large on tokens per min (TPM): Limit 30000, Requested 30601.";
        let case = error(
            "openai",
            429,
            json!({"message": message, "type": "tokens", "code": "rate_limit_exceeded"}),
        );
        check("size", "rate_limit", &case, "NON_RETRYABLE", "RETRYABLE_RATE_LIMIT");
    }

    #[test]
    fn funds_before_rate_limit_because_no_wait_fills_an_account() {
        let case = error("moonshot", 429, json!({"message": "m", "type": "exceeded_current_quota_error"}));
        check("funds", "rate_limit", &case, "TERMINAL_FUNDS", "RETRYABLE_RATE_LIMIT");
    }

    #[test]
    fn capacity_before_rate_limit_because_it_is_not_our_limit() {
        let message = "The service is temporarily out of capacity.";
        let case =
            error("vertex", 429, json!({"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED"}));
        check("capacity", "rate_limit", &case, "RETRYABLE_OVERLOAD", "RETRYABLE_RATE_LIMIT");
    }

    #[test]
    fn place_before_status_because_the_key_is_good() {
        let case =
            error("openai", 403, json!({"message": "m", "code": "unsupported_country_region_territory"}));
        check("elsewhere", "status", &case, "NON_RETRYABLE", "TERMINAL_AUTH");
    }

    #[test]
    fn policy_before_status_because_a_refusal_is_no_bad_request() {
        let case = error("azure", 400, json!({"message": "m", "code": "content_filter"}));
        check("policy", "status", &case, "TERMINAL_POLICY", "NON_RETRYABLE");
    }

    #[test]
    fn a_long_window_before_a_rate_limit_because_nobody_waits_for_it() {
        let message = "Rate limit reached on tokens per day (TPD). Please try again in 9m38.016s.";
        let case = error("groq", 429, json!({"message": message, "code": "rate_limit_exceeded"}));
        check("long_window", "rate_limit", &case, "QUOTA_EXHAUSTED", "RETRYABLE_RATE_LIMIT");
    }

    #[test]
    fn wrong_dialects_are_wrong_where_it_hurts() {
        let case = error(
            "gemini",
            429,
            json!({"code": 429, "status": "RESOURCE_EXHAUSTED",
            "message": "You exceeded your current quota, please check your plan and billing details.",
            "details": [{"violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]},
                {"retryDelay": "26s"}]}),
        );
        let input = Input::from_json(case);
        let by = |dialect: &Dialect| classify(&input, dialect);
        let right = by(&Dialect::standard());
        assert_eq!((right.label(), right.retry_after_ms), ("RETRYABLE_RATE_LIMIT", Some(26_000)));
        assert_eq!(by(&Dialect::adr_113()).label(), "TERMINAL_FUNDS");
        assert_eq!(by(&Dialect::status_only()).retry_after_ms, None);
    }

    #[test]
    fn a_wait_that_the_standard_does_not_know_is_a_guess_for_those_who_ask_for_it() {
        let check = |value: &str, standard: Option<u64>, as_sent: Option<u64>, lenient: Option<u64>| {
            let input =
                json!({"status": 429, "headers": {"retry-after": value}, "now": "2026-06-16T20:31:30Z"});
            let input = Input::from_json(input);
            let by = |dialect: Dialect| {
                let verdict = classify(&input, &dialect);
                assert_eq!(verdict.label(), "RETRYABLE_RATE_LIMIT", "{value}");
                verdict.retry_after_ms
            };
            let found =
                [Dialect::standard(), Dialect::standard().as_sent(), Dialect::standard().lenient_sdk()];
            assert_eq!(found.map(by), [standard, as_sent, lenient], "{value}");
        };
        check("30", Some(30_000), Some(30_000), Some(30_000));
        check("1.5", None, Some(1_500), Some(1_500));
        check("20s", None, Some(20_000), None);
        check("+20", None, None, Some(20_000));
        check("1781641920", None, Some(30_000), None);
        check("-5", None, None, None);
        check("Tue, 16 Jun 2026 20:32:00 GMT", Some(30_000), Some(30_000), Some(30_000));
    }
}
