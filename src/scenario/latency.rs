//! A time that may be drawn: `"80 ms"`, `"never"`, `{ uniform = ["50 ms", "90 ms"] }`, the quantiles of a
//! dashboard, or a distribution. All become tables of whole nanoseconds.

use super::findings::{Shape, about};
use super::form::Form;
use super::quantity::{DURATION, FACTOR};
use super::tree::{Node, Value};
use crate::sim::Latency;
use crate::units::{Duration, real};

/// Reads a latency.
pub(super) fn latency(f: &mut Form<'_, '_>, key: &str, node: &Node) -> Option<Latency> {
    match &node.value {
        Value::Text(word) if word == "never" => Some(Latency::Never),
        Value::Table(_) => f.within(key, node, drawn).flatten(),
        Value::Text(_) | Value::Whole(_) | Value::Switch(_) | Value::List(_) | Value::Other(_) => {
            f.quantity(key, node, &DURATION).map(Latency::Fixed)
        }
    }
}

/// A time that is drawn anew for every call or arrival.
pub(super) fn drawn(f: &mut Form<'_, '_>) -> Option<Latency> {
    let uniform = f.custom(
        about("uniform", "Anything between two times."),
        ("a list of two times", Shape::Texts),
        uniform,
    );
    let exponential =
        f.optional(about("exponential", "An exponential distribution with this mean."), &DURATION);
    let log_normal = f.optional_table("log_normal", |f| {
        let median = f.required(about("median", "What half of the times do not exceed."), &DURATION);
        let p99 = f.required(about("p99", "What 99 % of the times do not exceed."), &DURATION);
        if median > p99 {
            f.problem(&f.span_of("p99"), "the P99 is below the median", None);
        }
        Some(Latency::Table(real::log_normal(median?, p99?)))
    });
    let pareto = f.optional_table("pareto", |f| {
        let least = f.required(about("least", "What no time is below."), &DURATION);
        let alpha = f.required(about("alpha", "The exponent of the tail; smaller is heavier."), &FACTOR);
        Some(Latency::Table(real::pareto(least?, alpha?.of(1000).max(1))))
    });
    let quantiles = quantiles(f);
    let exponential = exponential.map(|mean| Latency::Table(real::exponential(mean)));
    let kinds = ["uniform", "exponential", "log_normal", "pareto", "max"];
    if kinds.iter().filter(|kind| f.has(kind)).count() == 1 {
        return uniform.or(exponential).or(log_normal.flatten()).or(pareto.flatten()).or(quantiles);
    }
    let text =
        "a latency is one of `uniform`, `exponential`, `log_normal`, `pareto` and quantiles up to `max`";
    let help = "for example `{ p50 = \"420 ms\", p95 = \"1.2 s\", max = \"9 s\" }`".to_owned();
    f.problem(&f.span(), text, Some(help));
    None
}

fn uniform(f: &mut Form<'_, '_>, node: &Node) -> Option<Latency> {
    let Value::List(list) = &node.value else {
        f.problem(&node.span, "`uniform` wants a list of two times", None);
        return None;
    };
    let ends: Vec<Duration> = list.iter().filter_map(|end| f.quantity("uniform", end, &DURATION)).collect();
    match ends.as_slice() {
        [low, high] if low <= high && list.len() == 2 => Some(Latency::Uniform(*low, *high)),
        _ => {
            f.problem(&node.span, "`uniform` wants two times, the smaller first", None);
            None
        }
    }
}

/// A table as on a dashboard, with straight lines between its values.
fn quantiles(f: &mut Form<'_, '_>) -> Option<Latency> {
    let least = f.optional(about("min", "The least time; zero by default."), &DURATION);
    let middle =
        [("p50", 500u64), ("p90", 900), ("p95", 950), ("p99", 990), ("p999", 999)].map(|(key, per_mille)| {
            (per_mille, f.optional(about(key, "What this share of the times does not exceed."), &DURATION))
        });
    let max = f.optional(about("max", "What no time exceeds."), &DURATION)?;
    let mut knots = vec![(0, least.unwrap_or_default().nanos())];
    let known = middle.into_iter().filter_map(|(per_mille, value)| Some((per_mille, value?)));
    knots.extend(known.map(|(per_mille, value)| (((per_mille << 32) / 1000) as u32, value.nanos())));
    knots.push((u32::MAX, max.nanos()));
    if knots.windows(2).any(|pair| pair[0].1 > pair[1].1) {
        f.problem(&f.span(), "these quantiles do not rise", None);
        return None;
    }
    Some(Latency::Table(real::Knots::Given(knots)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::findings::Findings;
    use crate::scenario::tree;

    fn read(text: &str) -> Result<Latency, String> {
        let mut out = Findings::reading();
        let table = tree::parse(&format!("x = {text}\n")).unwrap();
        let read = out.read(&table, |f| f.custom(about("x", ""), "", |f, node| latency(f, "x", node)));
        match out.problems.first() {
            Some(problem) => Err(problem.text.clone()),
            None => Ok(read.unwrap()),
        }
    }

    #[test]
    fn quantiles_are_met_exactly_and_the_tail_ends_at_the_maximum() {
        let latency = read("{ p50 = '420 ms', p95 = '1.2 s', p99 = '3 s', max = '9 s' }").unwrap();
        let at = |per_mille: u64| latency.at(((per_mille << 32) / 1000) << 32).unwrap().nanos() / 1_000_000;
        assert_eq!((at(500), at(950), at(990)), (420, 1200, 3000));
        assert_eq!(latency.at(u64::MAX), Some(Duration::from_secs(9)));
    }

    #[test]
    fn a_latency_is_one_thing() {
        assert!(
            read("{ uniform = ['1 ms', '2 ms'], exponential = '1 s' }").unwrap_err().contains("is one of")
        );
        assert!(read("{ p50 = '2 s', max = '1 s' }").unwrap_err().contains("do not rise"));
        assert!(read("{ uniform = ['2 ms', '1 ms'] }").unwrap_err().contains("the smaller first"));
        assert!(read("80").unwrap_err().contains("not a whole number"));
        assert!(matches!(read("'never'"), Ok(Latency::Never)));
    }
}
