//! Whatever happens to a scenario file, it is read or it is refused; nothing panics.

use faultlab::judge::Law;
use faultlab::scenario::{Scenario, Unstated, knobs, load, load_bytes};
use proptest::prelude::*;

const SHIPPED: [(&str, &str); 7] = [
    ("routing", include_str!("../../scenarios/routing.toml")),
    ("bounded-429", include_str!("../../scenarios/bounded-429.toml")),
    ("terminal-errors", include_str!("../../scenarios/terminal-errors.toml")),
    ("circuit", include_str!("../../scenarios/circuit.toml")),
    ("hedging", include_str!("../../scenarios/hedging.toml")),
    ("budget-audit", include_str!("../../scenarios/budget-audit.toml")),
    ("quota-cascade", include_str!("../../scenarios/quota-cascade.toml")),
];

#[test]
fn every_shipped_scenario_is_read() {
    for (name, text) in SHIPPED {
        let scenario = load(&format!("scenarios/{name}.toml"), text).unwrap_or_else(|p| panic!("{p}"));
        assert_eq!(scenario.name, name);
        assert!(!scenario.expectations.is_empty(), "{name} promises something");
    }
}

#[test]
fn a_seed_changes_the_seed_and_nothing_else() {
    let scenario = read(SHIPPED[1].1);
    let variant = &scenario.variants[0];
    assert_eq!((variant.setup_for(7).seed, variant.setup_for(8).seed), (7, 8));
    assert_eq!(variant.setup_for(7).catalog.routes.len(), variant.setup().catalog.routes.len());
}

/// The wrong values that are documented are values like any other: each can be set.
#[test]
fn every_documented_wrong_value_can_be_set() {
    let mut tried = 0;
    // What is listed is somebody's: a knob of it alone is no file.
    for knob in knobs().into_iter().filter(|knob| !knob.path.contains("[]")) {
        for (value, incident, law) in &knob.wrong {
            assert!(law.is_empty() || Law::ALL.iter().any(|known| known.name() == *law), "{law} is a law");
            let bare = value.parse::<u32>().is_ok() || ["true", "false"].contains(value);
            let value = if bare { (*value).to_owned() } else { format!("\"{value}\"") };
            let text = match knob.path.strip_prefix("layer[].") {
                Some(path) => format!("{HEAD}{WORLD}[[layer]]\nname = \"above\"\n{path} = {value}\n"),
                None => format!("{}{} = {value}\n{WORLD}", HEAD, knob.path),
            };
            assert!(
                load("wrong.toml", &text).is_ok(),
                "{} ({incident}): {:?}",
                knob.path,
                load("wrong.toml", &text).err()
            );
            tried += 1;
        }
    }
    assert!(tried > 30, "the wrong values are documented");
}

/// What is the default when unsaid is the default when said. A stated backoff is another one, and a stated hedge
/// is one.
#[test]
fn every_default_of_a_policy_can_be_stated_and_changes_nothing() {
    let unsaid = format!("{:?}", read(&format!("{HEAD}{WORLD}")).variants[0].setup().policy);
    for knob in knobs().into_iter().filter(|knob| knob.path.starts_with("policy.")) {
        let Unstated::Default(default) = knob.unstated else { continue };
        if [".backoff.", ".hedge."].iter().any(|table| knob.path.contains(table)) {
            continue; // a part of something that need not be there, or can be something else
        }
        let bare = default.parse::<u32>().is_ok() || ["true", "false"].contains(&default);
        let value = if bare { default.to_owned() } else { format!("\"{default}\"") };
        let said = read(&format!("{}{} = {value}\n{WORLD}", HEAD, knob.path));
        assert_eq!(format!("{:?}", said.variants[0].setup().policy), unsaid, "{}", knob.path);
    }
}

#[test]
fn every_knob_says_what_it_does() {
    for knob in knobs() {
        assert!(knob.doc.ends_with('.') && knob.doc.len() > 4, "{}: {}", knob.path, knob.doc);
    }
}

const HEAD: &str = "format = 1\ntitle = \"One request\"\n";
const WORLD: &str = r#"
[[route]]
name = "primary"
price = { input = "$1.00/Mtok", output = "$8.00/Mtok" }
[[request]]
id = "req-1"
tokens = { input = 8000, output_max = 1000 }
"#;

fn read(text: &str) -> Scenario {
    load("one.toml", text).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Reads it, and reads what is wrong with it.
fn survives(bytes: &[u8]) {
    if let Err(problems) = load_bytes("mutated.toml", bytes) {
        assert!(!problems.list().is_empty());
        assert!(problems.plain().contains("mutated.toml"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_flipped_byte_is_survived(which in 0usize..7, flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = SHIPPED[which].1.as_bytes().to_vec();
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        survives(&bytes);
    }

    #[test]
    fn a_missing_line_is_survived(which in 0usize..7, gone in prop::collection::vec(any::<prop::sample::Index>(), 1..6)) {
        let mut lines: Vec<&str> = SHIPPED[which].1.lines().collect();
        for at in gone {
            lines.remove(at.index(lines.len()));
        }
        survives(lines.join("\n").as_bytes());
    }

    #[test]
    fn a_doubled_or_moved_line_is_survived(which in 0usize..7, from: prop::sample::Index, to: prop::sample::Index) {
        let mut lines: Vec<&str> = SHIPPED[which].1.lines().collect();
        let line = lines[from.index(lines.len())];
        lines.insert(to.index(lines.len()), line);
        survives(lines.join("\n").as_bytes());
    }

    #[test]
    fn a_file_cut_off_is_survived(which in 0usize..7, at: prop::sample::Index) {
        let bytes = SHIPPED[which].1.as_bytes();
        survives(&bytes[..at.index(bytes.len())]);
    }

    #[test]
    fn a_value_of_another_kind_is_survived(which in 0usize..7, at: prop::sample::Index, value in prop::sample::select(STRANGE)) {
        let text = SHIPPED[which].1;
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let with_values: Vec<usize> =
            (0..lines.len()).filter(|n| lines[*n].contains(" = ") && !lines[*n].starts_with('#')).collect();
        let line = &mut lines[with_values[at.index(with_values.len())]];
        let key = line.split(" = ").next().unwrap().to_owned();
        *line = format!("{key} = {value}");
        survives(lines.join("\n").as_bytes());
    }
}

const STRANGE: &[&str] = &[
    "0",
    "-1",
    "99999999999999999999999999",
    "0x10",
    "1.5",
    "nan",
    "true",
    "[]",
    "[[]]",
    "{}",
    "\"\"",
    "\"never\"",
    "\"\\u0000\"",
    "\"é\"",
    "1979-05-27T07:32:00Z",
    "\"18446744073709551615 ns\"",
    "\"$18446744.073709551615\"",
    "[\"a\", 1, {}]",
    "{ name = \"x\" }",
    "\"0 ms\"",
    "4294967295",
    "\"0..0\"",
];
