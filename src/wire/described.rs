//! What the classifier knows, for the documentation.

use super::files::FILES;
use super::rules::RULES;
use super::sign::Sign;

/// Every rule in the order in which they are asked: its name, and what it is about.
pub fn rules() -> impl Iterator<Item = (&'static str, &'static str)> {
    RULES.iter().map(|rule| (rule.name, rule.says))
}

/// Every sign: its word in dialect files, and what it means.
pub fn signs() -> impl Iterator<Item = (&'static str, &'static str)> {
    Sign::WORDS.iter().map(|(word, _, says)| (*word, *says))
}

/// Every dialect file that is compiled in: its name, and its text.
pub const fn dialect_files() -> &'static [(&'static str, &'static str)] {
    &FILES
}
