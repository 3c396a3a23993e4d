//! `summary.json`: every verdict. Fields are written in the order in which they are declared here. Whole numbers
//! have their unit in the name; money and ratios are decimal texts; what is absent is not written.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::error::JournalError;
use super::folder::{Folder, SUMMARY};
use crate::trace::FORMAT;

/// The whole file.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Summary {
    format: u32,
    faultlab: &'static str,
    /// Whether everything that was asked for was played: not if it was interrupted.
    pub complete: bool,
    /// The one verdict.
    pub acceptance: Acceptance,
    /// Attempts to reach the network; absent if nobody counted them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outbound_attempts: Option<u64>,
    /// How strong the guard against them was. Not part of any digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard_strength: Option<String>,
    credentials: &'static str,
    prices: &'static str,
    /// The digest of all entries of all runs: the same at every event level.
    pub digest: String,
    /// What was played.
    pub scenarios: Vec<ScenarioSummary>,
}

/// The one verdict, and the checks behind it.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Acceptance {
    /// What was checked.
    pub scope: Scope,
    /// Checks that passed.
    pub passed: usize,
    /// Checks that failed.
    pub failed: usize,
    /// All checks.
    pub total: usize,
    /// Each of them.
    pub checks: Vec<Check>,
}

/// What was checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The whole suite: a pass is a release pass.
    Suite,
    /// A part of it, or files of the user.
    Partial,
}

/// One check.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Check {
    /// The scenario that makes it; absent for checks of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// Its name.
    pub name: String,
    /// Whether it passed.
    pub verdict: Verdict,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Whether a check passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It did.
    Passed,
    /// It did not.
    Failed,
}

/// One scenario.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct ScenarioSummary {
    /// Its name.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// A digest of its text.
    pub scenario_digest: String,
    /// Its variants, in file order.
    pub variants: Vec<VariantSummary>,
    /// Its expectations, in file order.
    pub expectations: Vec<ExpectationSummary>,
    /// The digest of the entries of all its runs.
    pub digest: String,
}

/// One variant of a scenario, over all its seeds.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct VariantSummary {
    /// Its name.
    pub name: String,
    /// A digest of its policy.
    pub policy_digest: String,
    /// Its seeds, as they are written: `7`, `1..200`.
    pub seeds: String,
    /// How many runs that is.
    pub runs: u64,
    /// What was measured.
    pub metrics: Figures,
    /// What was measured of each route, in file order.
    pub routes: Vec<RouteSummary>,
    /// Every law.
    pub laws: Vec<LawSummary>,
    /// What a reviewer would say.
    pub findings: Vec<FindingSummary>,
    /// What is not at rest at the end of its first run, as sentences.
    pub status: Vec<String>,
    /// The digest of the entries of all its runs.
    pub digest: String,
}

/// A route in a variant.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct RouteSummary {
    /// Its name.
    pub name: String,
    /// What was measured of its calls.
    pub metrics: Figures,
}

/// A law in a variant.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct LawSummary {
    /// Its name.
    pub name: String,
    /// What became of it.
    pub verdict: LawVerdict,
    /// How often it was put to the test.
    pub exercised: u64,
    /// The first breaches, as sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub breaches: Vec<String>,
}

/// What became of a law.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LawVerdict {
    /// It was put to the test and held.
    Held,
    /// It was broken.
    Broken,
    /// Nothing put it to the test.
    NotExercised,
    /// It was broken, as the variant says it must be.
    BrokenAsDeclared,
    /// It was not broken, though the variant says it must be.
    NotBrokenAsDeclared,
}

/// A finding in a variant.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct FindingSummary {
    /// Its name.
    pub name: String,
    /// How often it was made.
    pub count: u64,
    /// A value that belongs to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Figure>,
    /// The first time, as a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// An expectation of a scenario.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct ExpectationSummary {
    /// Its name.
    pub name: String,
    /// Whether it is fulfilled.
    pub verdict: Verdict,
    /// What was seen, if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Names with figures, written in this order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Figures(pub Vec<(String, Figure)>);

/// A figure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Figure {
    /// A whole number: a count, or nanoseconds.
    Number(u64),
    /// A decimal number or a ratio, as a text.
    Decimal(String),
}

impl Summary {
    /// The summary of what was played.
    pub fn new(acceptance: Acceptance, digest: String, scenarios: Vec<ScenarioSummary>) -> Summary {
        Summary {
            format: FORMAT,
            faultlab: env!("CARGO_PKG_VERSION"),
            complete: true,
            acceptance,
            outbound_attempts: None,
            guard_strength: None,
            credentials: "none",
            prices: "synthetic",
            digest,
            scenarios,
        }
    }

    /// The bytes of the file.
    pub fn to_json(&self) -> Vec<u8> {
        pretty(self)
    }

    /// Writes the file. It is the last of a run.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn write(&self, folder: &Folder) -> Result<(), JournalError> {
        folder.write(SUMMARY, &self.to_json())
    }
}

impl Check {
    /// `scenario/name`, or the name alone of a check of the program.
    pub fn id(&self) -> String {
        self.scenario.iter().map(|scenario| format!("{scenario}/")).collect::<String>() + &self.name
    }
}

impl Acceptance {
    /// The verdict over `checks`.
    pub fn of(scope: Scope, checks: Vec<Check>) -> Acceptance {
        let total = checks.len();
        let passed = checks.iter().filter(|check| check.verdict == Verdict::Passed).count();
        Acceptance { scope, passed, failed: total - passed, total, checks }
    }
}

/// JSON for readers: two spaces deep, with a newline at its end.
pub(super) fn pretty(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).expect("every key is a text and no map is foreign");
    bytes.push(b'\n');
    bytes
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, figure) in &self.0 {
            map.serialize_entry(name, figure)?;
        }
        map.end()
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Figure::Number(n) => serializer.serialize_u64(*n),
            Figure::Decimal(text) => serializer.serialize_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, verdict: Verdict) -> Check {
        Check { scenario: Some("bounded-429".to_owned()), name: name.to_owned(), verdict, detail: None }
    }

    fn summary() -> Summary {
        let checks = vec![check("one", Verdict::Passed), check("two", Verdict::Failed)];
        let variant = VariantSummary {
            name: "base".to_owned(),
            policy_digest: "bb".to_owned(),
            seeds: "1..2".to_owned(),
            runs: 2,
            metrics: Figures(vec![
                ("success".to_owned(), Figure::Decimal("1.000".to_owned())),
                ("attempts".to_owned(), Figure::Number(4)),
            ]),
            routes: Vec::new(),
            laws: vec![LawSummary {
                name: "one_reply".to_owned(),
                verdict: LawVerdict::NotExercised,
                exercised: 0,
                breaches: Vec::new(),
            }],
            findings: Vec::new(),
            status: Vec::new(),
            digest: "cc".to_owned(),
        };
        let scenario = ScenarioSummary {
            name: "bounded-429".to_owned(),
            title: "One 429".to_owned(),
            scenario_digest: "aa".to_owned(),
            variants: vec![variant],
            expectations: vec![ExpectationSummary {
                name: "two".to_owned(),
                verdict: Verdict::Failed,
                detail: Some("no entry matches".to_owned()),
            }],
            digest: "cc".to_owned(),
        };
        Summary::new(Acceptance::of(Scope::Suite, checks), "dd".to_owned(), vec![scenario])
    }

    #[test]
    fn a_summary_reads_in_the_order_in_which_it_is_declared() {
        let text = String::from_utf8(summary().to_json()).unwrap();
        let keys: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("  \"")?.split('"').next()).collect();
        assert_eq!(
            keys,
            ["format", "faultlab", "complete", "acceptance", "credentials", "prices", "digest", "scenarios"]
        );
        assert!(
            text.contains("\"scope\": \"suite\",\n    \"passed\": 1,\n    \"failed\": 1,\n    \"total\": 2,")
        );
        assert!(text.contains("\"success\": \"1.000\",\n            \"attempts\": 4"), "{text}");
        assert!(text.contains("\"verdict\": \"not_exercised\""));
        assert!(text.ends_with("}\n"));
    }

    #[test]
    fn what_is_absent_is_not_written() {
        let text = String::from_utf8(summary().to_json()).unwrap();
        assert!(!text.contains("null") && !text.contains("outbound_attempts") && !text.contains("breaches"));
        let mut counted = summary();
        counted.outbound_attempts = Some(0);
        assert!(String::from_utf8(counted.to_json()).unwrap().contains("\"outbound_attempts\": 0"));
    }
}
