//! `[[expect]]`: what the scenario promises. One verb each (`never`, `count`, `first`, `each`, `order`, `metric`),
//! a pattern (an event and its fields, exactly as in `events.jsonl`; times and money may have their unit), and
//! what a number must be.

use super::Variant;
use super::bounds::{Sign, bounds};
use super::findings::{About, about};
use super::form::Form;
use super::lower::position;
use super::patterns::{pattern, patterns};
use super::quantity::{COUNT_FROM_TWO, DURATION_MAX};
use super::tree::Word;
use crate::judge::{Bounds, Emptiness, Expectation, Measured, Metric, Part, Unit, Variants, Verb};
use crate::trace::{Pattern, Unfit};
use crate::units::{RouteId, TenantId};

/// One promise.
pub(super) fn expectation(f: &mut Form<'_, '_>, variants: &[Variant]) -> Option<Expectation> {
    let name = f.required_text(about("name", "Its name; the name of its check."));
    let spoken_of = spoken_of(f, variants);
    let within = within(&spoken_of, variants);
    let verb = verb(f, variants, &within);
    Some(Expectation { name: name?.text, variants: spoken_of, verb: verb? })
}

/// The variants that a promise speaks of.
fn spoken_of(f: &mut Form<'_, '_>, variants: &[Variant]) -> Variants {
    let Some(words) = f.texts(about("in", "The variants that it speaks of; all by default.")) else {
        return Variants::All;
    };
    if words.is_empty() && !f.is_describing() {
        f.problem(&f.span_of("in"), "it speaks of no variant", None);
    }
    let mut some: Vec<u16> = words.iter().filter_map(|word| variant(f, word, variants)).collect();
    some.sort_unstable();
    some.dedup();
    Variants::Only(some)
}

fn variant(f: &mut Form<'_, '_>, word: &Word, variants: &[Variant]) -> Option<u16> {
    let at = variants.iter().position(|variant| variant.name == word.text);
    if at.is_none() {
        let known: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
        f.unknown("variant", word, known.iter().copied());
    }
    at.map(super::parties::id)
}

fn within<'v>(spoken_of: &Variants, variants: &'v [Variant]) -> Vec<&'v Variant> {
    let numbered = variants.iter().enumerate();
    numbered.filter(|(at, _)| spoken_of.has(super::parties::id(*at))).map(|(_, variant)| variant).collect()
}

/// Every verb, asked for; exactly one is stated.
struct Stated {
    never: Option<Pattern>,
    count: Option<Pattern>,
    first: Option<Pattern>,
    each: Option<Pattern>,
    order: Option<Vec<Pattern>>,
    metric: Option<Option<Metric>>,
}

fn verb(f: &mut Form<'_, '_>, variants: &[Variant], within: &[&Variant]) -> Option<Verb> {
    let words = ["never", "count", "first", "each", "order", "metric"];
    let count = words.iter().filter(|word| f.has(word)).count();
    let stated = Stated {
        never: pattern(f, about("never", "No entry matches; short for a `count` that equals 0."), within),
        count: pattern(f, about("count", "How many entries match, in every run."), within),
        first: pattern(f, about("first", "The first entry that matches; there is one."), within),
        each: pattern(f, about("each", "Every entry that matches, and there is one."), within),
        order: patterns(f, about("order", "Entries that come one after the other."), within),
        metric: metric(f),
    };
    if f.is_describing() {
        describe_measures(f);
        return None;
    }
    if count != 1 {
        let text = if count == 0 { "an expectation has a verb" } else { "an expectation has one verb" };
        f.problem(&f.span(), text, Some(format!("one of {}", words.join(", "))));
        f.rest();
        return None;
    }
    if let Some(pattern) = stated.never {
        return Some(Verb::Count { pattern, bounds: Bounds::equals(0) });
    }
    if let Some(pattern) = stated.count {
        let bounds = required_bounds(f, Unit::Count, Sign::Positive);
        can_fail(f, &bounds, Unit::Count, None);
        return Some(Verb::Count { pattern, bounds });
    }
    if let Some(patterns) = stated.order {
        return Some(Verb::Order { patterns });
    }
    if let Some(metric) = stated.metric {
        return of_metric(f, metric, variants, within);
    }
    if let Some(pattern) = stated.first {
        let measured = measured(f, &pattern);
        let distinct = f.optional(DISTINCT, &COUNT_FROM_TWO);
        let bounds = measured_bounds(f, measured);
        return Some(Verb::First {
            pattern,
            measured,
            bounds,
            distinct_at_least: distinct.map_or(0, u64::from),
        });
    }
    if let Some(pattern) = stated.each {
        let measured = measured(f, &pattern);
        let emptiness = f.switch(MAY_BE_EMPTY, Emptiness::Allowed, Emptiness::Fails, "false");
        if measured == Measured::Presence {
            f.missing("field", "what each of them must have: `field = \"delay_ns\"`");
        }
        let bounds = measured_bounds(f, measured);
        return Some(Verb::Each { pattern, measured, bounds, emptiness });
    }
    f.rest(); // the pattern itself is wrong, and that is told
    None
}

const FIELD: About = about("field", "With `first` and `each`: the field that is measured.");
const AT: About = about("at", "With `first` and `each`: exactly when it happens, instead of a field.");
const DISTINCT: About =
    about("distinct_at_least", "With `first`: how many different values the seeds of a variant must give.");
const MAY_BE_EMPTY: About = about("may_be_empty", "With `each`: whether there may be no such entry at all.");

/// What only some verbs have, for the list of knobs.
fn describe_measures(f: &mut Form<'_, '_>) {
    f.text(FIELD);
    f.optional(AT, &super::quantity::INSTANT);
    of_metric(f, Some(Metric::Requests), &[], &[]);
    f.optional(DISTINCT, &COUNT_FROM_TWO);
    f.switch(MAY_BE_EMPTY, (), (), "false");
}

/// What is measured in an entry: its time, or a field.
fn measured(f: &mut Form<'_, '_>, pattern: &Pattern) -> Measured {
    let field = f.text(FIELD);
    let Some(word) = field else {
        return if f.has("at") { Measured::Time } else { Measured::Presence };
    };
    match pattern.measured(&word.text) {
        Ok(field) => Measured::Number(field),
        Err(Unfit::Field { known }) => {
            let what = format!("number `{}` in the event `{}`", word.text, pattern.kind().label());
            let help = super::problems::instead_of(&word.text, known.iter().copied());
            f.problem(&word.span, format!("there is no {what}"), help);
            ignore_bounds(f);
            Measured::Presence
        }
        Err(Unfit::Event { .. } | Unfit::Value { .. }) => Measured::Presence,
    }
}

/// The bounds of what is measured; `at = "630 ms"` is exactly that time.
fn measured_bounds(f: &mut Form<'_, '_>, measured: Measured) -> Bounds {
    let at = f.optional(AT, &super::quantity::INSTANT);
    match (measured, at) {
        (Measured::Time, Some(at)) => Bounds::equals(i128::from(at.nanos())),
        (Measured::Number(_), Some(_)) => {
            let help = Some("put the field into the pattern, or state two expectations".to_owned());
            f.problem(&f.span_of("at"), "one number is measured: the time or the field", help);
            ignore_bounds(f);
            Bounds::default()
        }
        (Measured::Number(_), None) if f.has("distinct_at_least") => {
            bounds(f, measured.unit(), Sign::Positive)
        }
        (Measured::Number(_), None) => required_bounds(f, measured.unit(), Sign::Positive),
        (Measured::Presence | Measured::Time, _) => Bounds::default(),
    }
}

/// Something else is wrong, and that is told.
fn ignore_bounds(f: &mut Form<'_, '_>) {
    for key in ["equals", "at_least", "at_most"] {
        f.node(key);
    }
}

fn required_bounds(f: &mut Form<'_, '_>, unit: Unit, sign: Sign) -> Bounds {
    let bounds = bounds(f, unit, sign);
    if !["equals", "at_least", "at_most"].iter().any(|key| f.has(key)) {
        f.missing("equals", "`equals`, `at_least` or `at_most`");
    }
    bounds
}

/// Says so if the bounds hold whatever happens: no amount is below zero, and none is above the most there is.
fn can_fail(f: &mut Form<'_, '_>, bounds: &Bounds, unit: Unit, metric: Option<Metric>) {
    let most = match (unit, metric) {
        (Unit::Ratio, Some(Metric::SuccessRatio | Metric::FallbackRate)) => 1000,
        (Unit::Time, _) => i128::from(DURATION_MAX),
        (Unit::Count | Unit::Ratio | Unit::Money, _) => i128::from(u64::MAX),
    };
    let can_be_less = bounds.equals.is_some() || bounds.at_least.is_some_and(|least| least > 0);
    let can_be_more = bounds.equals.is_some() || bounds.at_most.is_some_and(|stated| stated < most);
    let stated = [("at_least", bounds.at_least), ("at_most", bounds.at_most)];
    if let (false, Some((key, _))) =
        (can_be_less || can_be_more, stated.iter().find(|bound| bound.1.is_some()))
    {
        let help = "a promise must be able to fail: state a bound that can be missed".to_owned();
        f.problem(&f.span_of(key), "this holds whatever happens", Some(help));
    }
}

/// `Some(None)` if there is no such metric.
fn metric(f: &mut Form<'_, '_>) -> Option<Option<Metric>> {
    let word = f.text(about("metric", "The number that a run amounts to; one of the metrics below."))?;
    let found = Metric::named(&word.text);
    if found.is_none() {
        let known = Metric::ALL.iter().map(|metric| metric.label());
        let like: Vec<&str> = known.clone().filter(|label| label.contains(&word.text)).collect();
        match like[..] {
            [] => f.unknown("metric", &word, known),
            [..] => {
                let help = Some(format!("for example {}", like.join(", ")));
                f.problem(&word.span, format!("there is no metric `{}`", word.text), help);
            }
        }
    }
    Some(found)
}

fn of_metric(
    f: &mut Form<'_, '_>,
    metric: Option<Metric>,
    variants: &[Variant],
    within: &[&Variant],
) -> Option<Verb> {
    let of = f.optional_table("where", |f| part(f, within, metric)).flatten();
    let change = f.optional_table("change", |f| {
        let mut end = |key, doc| {
            let word = f.required_text(about(key, doc))?;
            variant(f, &word, variants)
        };
        let from =
            end("from", "The variant before; what is measured is the metric after minus the metric before.");
        let to = end("to", "The variant after.");
        if from.is_some() && from == to {
            let help = Some("name two variants".to_owned());
            f.problem(&f.span_of("to"), "between a variant and itself nothing changes", help);
        }
        (from, to)
    });
    let sign = if change.is_some() { Sign::Any } else { Sign::Positive };
    let Some(metric) = metric else {
        ignore_bounds(f);
        return None;
    };
    let bounds = required_bounds(f, metric.unit(), sign);
    if change.is_none() {
        can_fail(f, &bounds, metric.unit(), Some(metric));
    }
    match change {
        None => Some(Verb::Metric { metric, of, bounds }),
        Some((from, to)) => Some(Verb::Change { metric, of, from: from?, to: to?, bounds }),
    }
}

/// Of one tenant or of one route only.
fn part(f: &mut Form<'_, '_>, within: &[&Variant], metric: Option<Metric>) -> Option<Part> {
    let tenant = f.text(about("tenant", "With `metric`: only what concerns this tenant."));
    let doc = "With `metric`: only calls to this route; `attempts`, `cost_usd` and the times of calls are told of one.";
    let route = f.text(about("route", doc));
    let catalog = &within.first()?.setup.catalog;
    match (tenant, route) {
        (Some(word), None) => {
            let tenants: Vec<_> = catalog.tenants.iter().map(|tenant| tenant.name).collect();
            let at = position(f, "tenant", &word, &tenants, &catalog.names)?;
            Some(Part::Tenant(TenantId(super::parties::id(at))))
        }
        (None, Some(word)) => {
            if let Some(metric) = metric.filter(|metric| !metric.is_of_a_route()) {
                let known = Metric::ALL.iter().filter(|metric| metric.is_of_a_route());
                let help = known.map(|metric| metric.label()).collect::<Vec<_>>().join(", ");
                let text = format!("`{}` is not told of a route", metric.label());
                f.problem(&word.span, text, Some(format!("told of a route: {help}")));
            }
            let routes: Vec<_> = catalog.routes.iter().map(|route| route.name).collect();
            let at = position(f, "route", &word, &routes, &catalog.names)?;
            Some(Part::Route(RouteId(super::parties::id(at))))
        }
        (None, None) => {
            f.missing("tenant", "`where = { tenant = \"a\" }` or `where = { route = \"a\" }`");
            None
        }
        (Some(_), Some(word)) => {
            f.problem(&word.span, "a metric is of a tenant or of a route, not of both", None);
            None
        }
    }
}
