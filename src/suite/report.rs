//! From what was played to `summary.json`. The one place where checks are counted: every output and the exit
//! code read them from here.

use super::pinned;
use super::play::{Played, PlayedVariant, policy_digest};
use crate::journal::{
    Acceptance, Check, ExpectationSummary, Figure, Figures, FindingSummary, LawSummary, LawVerdict,
    RouteSummary, ScenarioSummary, Scope, Summary, VariantSummary, Verdict,
};
use crate::judge::{self, Breach, Law, Metric, Metrics, Part, Subject, Unit, Word};
use crate::scenario::Scenario;
use crate::sim::RouteFact;
use crate::trace::Fingerprint;
use crate::units::RouteId;

/// The summary of what was played, in this order.
pub fn summarise(played: &[(Scenario, Played)], scope: Scope) -> Summary {
    let mut checks: Vec<Check> =
        played.iter().flat_map(|(scenario, played)| checks(scenario, played)).collect();
    if scope == Scope::Suite {
        checks.push(pinned_list(&checks));
    }
    let scenarios = played.iter().map(|(scenario, played)| summarise_scenario(scenario, played)).collect();
    let digest = Fingerprint::all(played.iter().map(|(_, played)| digest(played)));
    Summary::new(Acceptance::of(scope, checks), digest.to_string(), scenarios)
}

/// The checks of a scenario: every promise, that the laws fared as declared, and each law that a variant is meant
/// to break (so that a variant cannot be dropped unnoticed). A scenario that promises nothing has none.
fn checks(scenario: &Scenario, played: &Played) -> Vec<Check> {
    if !played.verdict.has_promises() {
        return Vec::new();
    }
    let check = |name: &str, failed: bool, details: Vec<String>| Check {
        scenario: Some(scenario.name.clone()),
        name: name.to_owned(),
        verdict: if failed { Verdict::Failed } else { Verdict::Passed },
        detail: Some(details.join("\n")).filter(|_| failed),
    };
    let mut checks = Vec::new();
    let mut unlawful = Vec::new();
    for made in &played.verdict.checks {
        match made.subject {
            Subject::Expectation(_) => {
                checks.push(check(&made.name, !made.word.is_pass(), made.details.clone()));
            }
            Subject::Law(_) | Subject::Rest if made.word.is_failure() => {
                unlawful.extend(made.details.iter().map(|detail| format!("{}: {detail}", made.name)));
            }
            Subject::Law(_) | Subject::Rest => {}
        }
    }
    checks.push(check("laws", !unlawful.is_empty(), unlawful));
    for variant in &played.variants {
        for law in &variant.verdict.breaks {
            let name = format!("{} breaks {}", variant.verdict.name, law.name());
            let broken = variant.verdict.law(*law) == Word::BrokenAsDeclared;
            let why = format!("variant {} is meant to break it and did not", variant.verdict.name);
            checks.push(check(&name, !broken, vec![why]));
        }
    }
    checks
}

/// That the suite makes exactly the checks that are pinned.
fn pinned_list(checks: &[Check]) -> Check {
    let made: Vec<String> = checks.iter().map(|check| check.id()).collect();
    let differences = pinned::compare(made.iter().map(String::as_str));
    let verdict = if differences.is_empty() { Verdict::Passed } else { Verdict::Failed };
    let detail = Some(differences.join("\n")).filter(|_| verdict == Verdict::Failed);
    Check { scenario: None, name: "pinned_list".to_owned(), verdict, detail }
}

fn digest(played: &Played) -> Fingerprint {
    Fingerprint::all(played.variants.iter().map(|variant| variant.digest))
}

fn summarise_scenario(scenario: &Scenario, played: &Played) -> ScenarioSummary {
    let variants = scenario.variants.iter().zip(&played.variants);
    let promises = played.verdict.checks.iter().filter(|c| matches!(c.subject, Subject::Expectation(_)));
    ScenarioSummary {
        name: scenario.name.clone(),
        title: scenario.title.clone(),
        scenario_digest: format!("{:016x}", scenario.digest),
        variants: variants.map(|(said, played)| summarise_variant(said, played)).collect(),
        expectations: promises.map(summarise_promise).collect(),
        digest: digest(played).to_string(),
    }
}

fn summarise_promise(check: &judge::Check) -> ExpectationSummary {
    let failed = !check.word.is_pass();
    ExpectationSummary {
        name: check.name.clone(),
        verdict: if failed { Verdict::Failed } else { Verdict::Passed },
        detail: Some(check.details.join("\n")).filter(|_| failed),
    }
}

fn summarise_variant(said: &crate::scenario::Variant, played: &PlayedVariant) -> VariantSummary {
    let (first, last) = played.seeds;
    let verdict = &played.verdict;
    VariantSummary {
        name: said.name.clone(),
        policy_digest: policy_digest(said).to_string(),
        seeds: if first == last { first.to_string() } else { format!("{first}..{last}") },
        runs: verdict.runs,
        metrics: figures(&verdict.metrics, None),
        routes: routes(said, &verdict.metrics),
        laws: laws(said).map(|law| summarise_law(law, verdict)).collect(),
        findings: verdict.findings.iter().map(summarise_finding).collect(),
        status: played.status.clone(),
        digest: played.digest.to_string(),
    }
}

/// What was measured of each route.
fn routes(said: &crate::scenario::Variant, metrics: &Metrics) -> Vec<RouteSummary> {
    let catalog = &said.setup().catalog;
    let route = |(at, fact): (usize, &RouteFact)| RouteSummary {
        name: catalog.names.text(fact.name).to_owned(),
        metrics: figures(metrics, Some(Part::Route(RouteId(at as u16)))),
    };
    catalog.routes.iter().enumerate().map(route).collect()
}

/// The laws that can speak of a variant.
fn laws(said: &crate::scenario::Variant) -> impl Iterator<Item = Law> {
    let is_stack = !said.setup().above.is_empty();
    Law::ALL.into_iter().filter(move |law| is_stack || !law.is_of_a_stack())
}

fn figures(metrics: &Metrics, of: Option<Part>) -> Figures {
    let figure = |metric: &Metric| {
        let value = metrics.value(*metric, of)?;
        let figure = match (metric.unit(), u64::try_from(value)) {
            (Unit::Count | Unit::Time, Ok(number)) => Figure::Number(number),
            (Unit::Count | Unit::Time | Unit::Ratio | Unit::Money, _) => {
                Figure::Decimal(metric.unit().decimal(value))
            }
        };
        Some((metric.label().to_owned(), figure))
    };
    Figures(Metric::ALL.iter().filter_map(figure).collect())
}

fn summarise_law(law: Law, variant: &judge::VariantVerdict) -> LawSummary {
    let tally = variant.laws.tally(law);
    let told = |breach: &Breach| {
        format!("seed {}, entry {} at {}: {}", breach.seed, breach.seq, breach.at, breach.sentence)
    };
    LawSummary {
        name: law.name().to_owned(),
        verdict: match variant.law(law) {
            Word::Held => LawVerdict::Held,
            Word::Broken => LawVerdict::Broken,
            Word::BrokenAsDeclared => LawVerdict::BrokenAsDeclared,
            Word::NotBroken => LawVerdict::NotBrokenAsDeclared,
            Word::NotExercised => LawVerdict::NotExercised,
        },
        exercised: tally.exercised,
        breaches: tally.first.iter().map(told).collect(),
    }
}

fn summarise_finding((finding, remark): (judge::Finding, &judge::Remark)) -> FindingSummary {
    let amount = remark.amount.picos() > 0;
    FindingSummary {
        name: finding.label().to_owned(),
        count: remark.count,
        value: amount.then(|| Figure::Decimal(remark.amount.to_string())),
        detail: remark.first.as_ref().map(|first| first.sentence.clone()),
    }
}
