//! What is drawn: lines of a table, by what it offers.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// Keys, each with the values that it may have.
pub(super) type Menu = &'static [(&'static str, &'static [&'static str])];

/// Which keys, and which values. Fewer is simpler, and so are values that stand first.
pub(super) type Choices = Vec<(Index, Index)>;

pub(super) fn choices(most: usize) -> impl Strategy<Value = Choices> {
    vec((any::<Index>(), any::<Index>()), 0..=most)
}

/// One line a chosen key, each with a chosen value; the first choice of a key counts.
pub(super) fn chosen(menu: Menu, choices: &Choices) -> String {
    pairs(menu, choices).iter().map(|(key, value)| format!("{key} = {value}\n")).collect()
}

/// The same in braces.
pub(super) fn braced(menu: Menu, choices: &Choices) -> String {
    let pairs: Vec<String> =
        pairs(menu, choices).iter().map(|(key, value)| format!("{key} = {value}")).collect();
    format!("{{ {} }}", pairs.join(", "))
}

/// The chosen keys with their values. One that may be two things at once (`status`, `code`) is a key with both.
fn pairs(menu: Menu, choices: &Choices) -> Vec<(&'static str, &'static str)> {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for (which, value) in choices {
        let (key, values) = menu[which.index(menu.len())];
        if !pairs.iter().any(|known| known.0 == key) {
            pairs.push((key, values[value.index(values.len())]));
        }
    }
    pairs
}
