//! Synthetic responses in each provider's real shape, each with what it means declared beside it: the truth of a
//! fault is stated, not computed by the classifier that is being judged.

use super::Input;
use crate::policy::signal::Signal;
use crate::policy::taxonomy::Class;
use serde_json::Value;

const LINES: &str = include_str!("catalogue.jsonl");

/// All synthetic responses.
#[derive(Clone, Debug)]
pub struct Catalogue {
    cases: Vec<Case>,
}

/// One synthetic response.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// Whose shape it has.
    pub provider: String,
    /// Its name there: `daily_quota`.
    pub case: String,
    /// What it means; `None` if it is no failure.
    pub truth: Option<Class>,
    /// What it says about health, where that is not what its class says.
    pub health: Option<Signal>,
    /// What comes over the wire.
    pub input: Input,
}

impl Catalogue {
    /// The catalogue that is compiled in.
    pub fn standard() -> Catalogue {
        let case = |line: &str| -> Option<Case> {
            let value: Value = serde_json::from_str(line).ok()?;
            let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
            let (provider, case, word) = (text("provider")?, text("case")?, text("truth")?);
            let truth = Class::ALL.into_iter().find(|class| class.label() == word);
            (truth.is_some() || word == "none").then_some(())?;
            let signals = [Signal::Good, Signal::Bad, Signal::Neutral].into_iter();
            let health = text("health").and_then(|word| signals.clone().find(|one| one.label() == word));
            Some(Case { provider, case, truth, health, input: Input::from_json(value) })
        };
        Catalogue { cases: LINES.lines().filter_map(case).collect() }
    }

    /// The response called `case` of `provider`.
    pub fn case(&self, provider: &str, case: &str) -> Option<&Case> {
        self.cases.iter().find(|one| one.provider == provider && one.case == case)
    }

    /// Every response, in the order of the file.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Dialect, classify};

    #[test]
    fn every_line_is_a_case_with_a_name_of_its_own() {
        let catalogue = Catalogue::standard();
        assert_eq!(catalogue.cases().len(), LINES.lines().count());
        for (at, one) in catalogue.cases().iter().enumerate() {
            let same = |other: &Case| other.provider == one.provider && other.case == one.case;
            assert!(!catalogue.cases()[..at].iter().any(same), "{} {} twice", one.provider, one.case);
        }
    }

    #[test]
    fn the_classifier_finds_the_declared_truth_of_every_case() {
        let dialect = Dialect::standard();
        for one in Catalogue::standard().cases() {
            let verdict = classify(&one.input, &dialect);
            assert_eq!(verdict.class, one.truth, "{} {}: {verdict:?}", one.provider, one.case);
            let mut names = crate::units::Names::default();
            let health = verdict.diagnosis("", &mut names).and_then(|diagnosis| diagnosis.health);
            assert_eq!(health, one.health, "{} {}: {verdict:?}", one.provider, one.case);
        }
    }
}
