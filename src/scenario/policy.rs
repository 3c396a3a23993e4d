//! `[policy]`: every knob of a gateway. The right value is the default; a wrong one names the incident that
//! taught it and the law that it breaks.

use super::approvals::approval;
use super::breaker::breaker;
use super::faults;
use super::findings::{About, about, knob};
use super::form::Form;
use super::lower::{DOMAINS, Domain, World};
use super::profiles::{Shared, profile};
use super::quantity::{COUNT, COUNT_FROM_ONE, DURATION, LARGE_COUNT, MONEY};
use super::retry::retry;
use super::stops::{concurrency, fuse, hedge};
use crate::gateway::{AllUnhealthy, Budget, Cooldown, Eligibility, Ranking, StoppedCalls, Timeouts};
use crate::policy::cooldown::Again;
use crate::policy::eligibility::{Reason, Reasons};
use crate::policy::health;
use crate::policy::ledger::{Amount, Reserve};
use crate::policy::ranking::{Key, Order};
use crate::policy::signal::Signal;
use crate::policy::taxonomy::{Class, Remedy, Taxonomy};
use crate::units::Money;

/// All knobs.
pub(super) fn policy(f: &mut Form<'_, '_>, world: &mut World) {
    world.ear = faults::ear(f);
    knobs(f, world);
    let shared = Shared::of(f);
    let profiles = f.each("profile", |f| profile(f, &shared, &world.policy));
    world.profiles = profiles.into_iter().flatten().collect();
    let approved = f.each("approved_failover", |f| approval(f, &world.policy));
    world.approvals = approved.into_iter().flatten().collect();
}

/// All but those that say how responses are read, and what is for some routes alone.
pub(super) fn knobs(f: &mut Form<'_, '_>, world: &mut World) {
    world.policy.eligibility = f.table("eligibility", eligibility);
    world.policy.ranking = f.table("ranking", ranking);
    world.policy.retry = f.table("retry", retry);
    world.policy.taxonomy = taxonomy(f);
    world.policy.timeouts = f.table("timeouts", timeouts);
    f.table("breaker", |f| breaker(f, world));
    (world.policy.health, world.health_scope) = f.table("health", health);
    world.policy.all_unhealthy = all_unhealthy(f);
    world.policy.hedge = f.optional_table("hedge", hedge);
    world.policy.concurrency = f.table("concurrency", concurrency);
    world.policy.fuse = f.table("fuse", fuse);
    world.policy.cooldown = f.table("cooldown", cooldown);
    world.policy.budget = f.table("budget", budget);
}

/// Which hard constraints are enforced.
fn eligibility(f: &mut Form<'_, '_>) -> Eligibility {
    let mut enforced = Reasons::ALL;
    for reason in Reason::ALL {
        let about = About { key: reason.label(), doc: filter_doc(reason), wrong: filter_wrong(reason) };
        let words = [("enforced", Filter::Enforced), ("ignored", Filter::Ignored)];
        if f.choice(about, &words, "enforced") == Filter::Ignored {
            enforced = enforced.without(reason);
        }
    }
    let doc = "Retries whose worst case must fit the request's cap too, besides the first call.";
    Eligibility { enforced, reserve_retries: f.value(about("reserve_retries", doc), &COUNT, "0") }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Filter {
    Enforced,
    Ignored,
}

const fn filter_doc(reason: Reason) -> &'static str {
    match reason {
        Reason::DataResidency => "Whether data stays in the regions of its envelope.",
        Reason::ClassificationLimit => "Whether data above a route's class stays out of it.",
        Reason::MissingCapability => "Whether a route must have every required capability.",
        Reason::TaskType => "Whether a route must be approved for the kind of task.",
        Reason::ContractMismatch => "Whether protocol and tool-schema contract must match.",
        Reason::DeploymentType => "Whether the kind of deployment must be allowed.",
        Reason::ContextLimit => "Whether the conversation must fit the context.",
        Reason::OutputLimit => "Whether the output must fit.",
        Reason::RequestBudget => {
            "Whether the worst case must fit the request's cap before a route is ranked."
        }
    }
}

const fn filter_wrong(reason: Reason) -> &'static [(&'static str, &'static str, &'static str)] {
    match reason {
        Reason::DataResidency => &[("ignored", "the nearest healthy route is abroad", "eligible_only")],
        Reason::ClassificationLimit => &[("ignored", "restricted data in a public route", "eligible_only")],
        Reason::MissingCapability => &[("ignored", "strict JSON becomes prose", "eligible_only")],
        Reason::TaskType => &[("ignored", "a route used for what nobody approved", "eligible_only")],
        Reason::ContractMismatch => &[("ignored", "two tool contracts in one pool", "eligible_only")],
        Reason::DeploymentType => &[("ignored", "a shared endpoint for a dedicated one", "eligible_only")],
        Reason::ContextLimit => &[("ignored", "a call that cannot fit", "eligible_only")],
        Reason::OutputLimit => &[("ignored", "an answer cut short", "eligible_only")],
        Reason::RequestBudget => {
            &[("ignored", "only the ledger stops it, at the last moment", "true_reasons")]
        }
    }
}

/// Preferences among eligible routes.
fn ranking(f: &mut Form<'_, '_>) -> Ranking {
    let keys = [Key::Health, Key::LatencyP95, Key::QueueDepth, Key::Price, Key::Quality, Key::Weight];
    let words = keys.map(|key| (key.label(), key));
    let doc = "What is compared, most important first; all six in this order by default.";
    let order = f.choices(about("order", doc), &words);
    Ranking {
        order: order.map_or_else(Order::default, |keys| Order::new(&keys)),
        latency_step: f.value(
            about("latency_step", "P95 latencies that differ by less than a step are equal."),
            &DURATION,
            "50 ms",
        ),
        latency_samples_min: f.value(
            about("latency_samples_min", "Samples before a measured P95 replaces the declared one."),
            &COUNT_FROM_ONE,
            "10",
        ) as usize,
    }
}

/// What each class of failure calls for, and what it says about health.
fn taxonomy(f: &mut Form<'_, '_>) -> Taxonomy {
    let mut taxonomy = Taxonomy::default();
    let remedies = [
        ("stop", Remedy::Stop),
        ("wait_same_then_fallback", Remedy::WaitSameThenFallback),
        ("fallback", Remedy::Fallback),
        ("fallback_now", Remedy::FallbackNow),
    ];
    let signals = [("failure", Signal::Bad), ("neutral", Signal::Neutral), ("success", Signal::Good)];
    f.table("remedy", |f| {
        for class in Class::ALL.into_iter().filter(|class| has_remedy(*class)) {
            let doc = "What to do after a failure of this class.";
            let about = About { key: class.label(), doc, wrong: remedy_wrong(class) };
            let default = word_of(&remedies, taxonomy.remedy(class));
            taxonomy.remedy[class as usize] = f.choice(about, &remedies, default);
        }
    });
    f.table("signal", |f| {
        for class in Class::ALL {
            let doc = "What a failure of this class says about health, to breaker and health state.";
            let about = About { key: class.label(), doc, wrong: signal_wrong(class) };
            let default = word_of(&signals, taxonomy.signal(class));
            taxonomy.signal[class as usize] = f.choice(about, &signals, default);
        }
    });
    taxonomy
}

fn word_of<T: Copy + PartialEq>(words: &[(&'static str, T)], value: T) -> &'static str {
    words.iter().find(|word| word.1 == value).expect("every value has a word").0
}

/// After a deadline, a cancel of ours or a caller who hung up there is nothing to decide.
const fn has_remedy(class: Class) -> bool {
    !matches!(class, Class::Deadline | Class::Cancelled | Class::Abandoned)
}

const fn remedy_wrong(class: Class) -> &'static [(&'static str, &'static str, &'static str)] {
    match class {
        Class::Auth => &[
            ("fallback", "an invalid key becomes \"all models are busy\"", "terminal_stops"),
            ("fallback_now", "an invalid key becomes \"all models are busy\"", "terminal_stops"),
            ("wait_same_then_fallback", "a broken key is presented again and again", "terminal_stops"),
        ],
        Class::Funds => &[
            ("fallback", "an empty account empties the next one", "terminal_stops"),
            ("fallback_now", "an empty account empties the next one", "terminal_stops"),
            ("wait_same_then_fallback", "an empty account does not fill by waiting", "terminal_stops"),
        ],
        Class::PolicyRefusal => &[
            ("fallback", "a refusal is washed into success", "terminal_stops"),
            ("fallback_now", "a refusal is washed into success", "terminal_stops"),
            ("wait_same_then_fallback", "a refusal is asked until it gives in", "terminal_stops"),
        ],
        Class::RateLimit
        | Class::QuotaExhausted
        | Class::Overload
        | Class::InvalidAnswer
        | Class::AttemptTimeout
        | Class::FirstByteTimeout
        | Class::IdleTimeout
        | Class::Deadline
        | Class::NonRetryable
        | Class::Unclassified
        | Class::Cancelled
        | Class::Abandoned => &[],
    }
}

const fn signal_wrong(class: Class) -> &'static [(&'static str, &'static str, &'static str)] {
    if matches!(class, Class::RateLimit) {
        &[
            ("failure", "the quota cascade: a limit blacks out a healthy model", "neutral_moves_nothing"),
            ("success", "a 429 erases real failures", "neutral_moves_nothing"),
        ]
    } else if class.is_neutral() {
        &[
            ("failure", "what says nothing about a route marks it sick", "neutral_moves_nothing"),
            ("success", "what says nothing about a route erases real failures", "neutral_moves_nothing"),
        ]
    } else {
        &[("neutral", "a sick route is never avoided", ""), ("success", "a failing route looks healthy", "")]
    }
}

/// When an attempt is stopped.
pub(super) fn timeouts(f: &mut Form<'_, '_>) -> Timeouts {
    Timeouts {
        attempt: f
            .optional(about("attempt", "The longest from a call to its end; then it is stopped."), &DURATION),
        first_byte: f.optional(
            about("first_byte", "The longest from a call to the first byte of a stream."),
            &DURATION,
        ),
        idle: f.optional(about("idle", "The longest between two signs of life of a stream."), &DURATION),
    }
}

/// The health machine.
fn health(f: &mut Form<'_, '_>) -> (health::Config, Domain) {
    let config = health::Config {
        degraded_after: f.value(
            about("degraded_after", "Bad results in a row that make an upstream degraded."),
            &COUNT_FROM_ONE,
            "3",
        ),
        unhealthy_after: f.value(
            about("unhealthy_after", "Bad results in a row that make an upstream unhealthy."),
            &COUNT_FROM_ONE,
            "5",
        ),
        cooldown: f.value(
            about("cooldown", "How long it stays unhealthy without a good result; then it is degraded."),
            &DURATION,
            "60 s",
        ),
    };
    let about_scope = knob(
        "scope",
        "What shares one health state.",
        &[("provider", "the failures of one model are held against all of its provider", "")],
    );
    (config, f.choice(about_scope, DOMAINS, "provider_model_region"))
}

/// Whether health is a preference or a gate.
fn all_unhealthy(f: &mut Form<'_, '_>) -> AllUnhealthy {
    let about_choice = knob(
        "all_unhealthy",
        "What to do when every route that could be called is unhealthy: use the least bad one and say so, call \
         none, or only the last one that may be used at all.",
        &[
            (
                "error",
                "the quota cascade: a wrong verdict on health is a total outage",
                "no_false_no_candidate",
            ),
            ("last_remaining", "two sick routes are none, and one is one", "no_false_no_candidate"),
        ],
    );
    let words = [
        ("least_bad", AllUnhealthy::LeastBad),
        ("error", AllUnhealthy::Error),
        ("last_remaining", AllUnhealthy::LastRemaining),
    ];
    f.choice(about_choice, &words, "least_bad")
}

/// How long a failure without a hint benches what it concerns.
fn cooldown(f: &mut Form<'_, '_>) -> Cooldown {
    Cooldown {
        rate_limit: f.value(
            about("rate_limit", "How long a rate limit without a hint benches what it concerns."),
            &DURATION,
            "0 ms",
        ),
        quota_exhausted: f.value(
            about("quota_exhausted", "How long a used-up window without a hint benches what it concerns."),
            &DURATION,
            "60 s",
        ),
        again: f.choice(
            knob(
                "again",
                "What becomes of a bench in force when another one comes: the later end counts (`longest`), or the first end stands (`first`).",
                &[("first", "a hint of 1 s hides a window of a minute: the route comes back into it", "results_are_told_as_they_were")],
            ),
            &[("longest", Again::Longest), ("first", Again::First)],
            "longest",
        ),
    }
}

/// Money and tokens.
fn budget(f: &mut Form<'_, '_>) -> Budget {
    let words =
        [("reserve", Reserve::Reserve), ("check_only", Reserve::CheckOnly), ("after", Reserve::After)];
    let about_reserve = knob(
        "reserve",
        "When the budget is asked: before a call, counting what calls in flight may cost (`reserve`) or not (`check_only`); or never, spending is only shown (`after`).",
        &[
            ("check_only", "the budget race: two calls share the last dollar", "money_within_caps"),
            ("after", "the dashboard: the curve after the invoice", "money_within_caps"),
        ],
    );
    let reserve = f.choice(about_reserve, &words, "reserve");
    let money = f.optional(about("attempt_cost_max", "The most that one call may cost."), &MONEY);
    let tokens =
        f.optional(about("attempt_tokens_max", "The most tokens that one call may use."), &LARGE_COUNT);
    Budget {
        reserve,
        attempt_max: Amount { money: money.unwrap_or(Money::MAX), tokens: tokens.unwrap_or(u64::MAX) },
        receipt_max: f.value(
            about(
                "receipt_max",
                "How long the receipt of a stopped call is waited for; then its worst case is charged.",
            ),
            &DURATION,
            "60 s",
        ),
        stopped_calls: f.choice(
            knob(
                "stopped_calls",
                "What the receipt of a call costs that we stopped ourselves: what it says (`billed`), or nothing (`ignored`).",
                &[("ignored", "losers of a hedge are paid and stand in no ledger", "books_balance")],
            ),
            &[("billed", StoppedCalls::Billed), ("ignored", StoppedCalls::Ignored)],
            "billed",
        ),
    }
}
