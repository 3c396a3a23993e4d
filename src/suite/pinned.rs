//! The checks that the suite must make, pinned: deleting an expectation, or adding one and forgetting to say so,
//! fails the gate.

const PINNED: &str = include_str!("../../scenarios/checks.txt");

/// What differs between the pinned list and the checks that were made, as sentences; empty if nothing does.
/// A check is named `scenario/check`.
pub fn compare<'c>(made: impl IntoIterator<Item = &'c str>) -> Vec<String> {
    differences(PINNED, made)
}

fn differences<'c>(pinned: &str, made: impl IntoIterator<Item = &'c str>) -> Vec<String> {
    let pinned: Vec<&str> =
        pinned.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let made: Vec<&str> = made.into_iter().collect();
    let missing = pinned.iter().filter(|name| !made.contains(name));
    let extra = made.iter().filter(|name| !pinned.contains(name));
    let missing = missing.map(|name| format!("{name} is pinned in scenarios/checks.txt and was not checked"));
    let extra = extra.map(|name| format!("{name} was checked and is not pinned in scenarios/checks.txt"));
    missing.chain(extra).collect()
}

#[cfg(test)]
mod tests {
    use super::differences;

    #[test]
    fn a_deleted_and_an_added_check_are_both_told() {
        let pinned = "# the list\nrouting/a\n\nrouting/b\n";
        assert!(differences(pinned, ["routing/b", "routing/a"]).is_empty());
        assert_eq!(
            differences(pinned, ["routing/a", "routing/c"]),
            [
                "routing/b is pinned in scenarios/checks.txt and was not checked",
                "routing/c was checked and is not pinned in scenarios/checks.txt",
            ]
        );
    }
}
