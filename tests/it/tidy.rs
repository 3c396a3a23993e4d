//! The house keeps its rules: which floor may import which, what the lower floors must not know, that scenarios,
//! goldens and the compiled-in suite are the same list, and what must not be left in a file.
//!
//! Every rule is a function from texts to complaints, so that a planted text can prove that it complains.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The rooms and their floors. Imports point down only.
const FLOORS: [(&str, u8); 13] = [
    ("units", 0),
    ("policy", 1),
    ("gateway", 2),
    ("sim", 3),
    ("trace", 4),
    ("judge", 5),
    ("wire", 6),
    ("scenario", 6),
    ("journal", 6),
    ("guard", 6),
    ("signals", 6),
    ("suite", 7),
    ("cli", 8),
];

/// Rooms of one floor do not know each other, but for these.
const SIDEWAYS: [(&str, &str); 1] = [("scenario", "wire")];

/// Machines do not know each other; these files are words that they share.
const SHARED_WORDS: [&str; 2] = ["signal", "prices"];

/// The highest floor that reads no clock, file, environment or entropy, and holds nothing shared.
const PURE_TO: u8 = 5;

/// What the pure floors must not mention.
const IMPURE: [&str; 21] = [
    "HashMap",
    "HashSet",
    "Instant",
    "SystemTime",
    "Rc",
    "RefCell",
    "Cell",
    "Mutex",
    "RwLock",
    "dyn",
    "serde",
    "serde_json",
    "toml",
    "thiserror",
    "anyhow",
    "clap",
    "rayon",
    "strsim",
    "anstream",
    "annotate_snippets",
    "unsafe",
];

/// Modules of the standard library that the pure floors must not mention.
const IMPURE_PATHS: [&str; 6] = ["std::env", "std::fs", "std::io", "std::net", "std::thread", "std::process"];

const LINES_MAX: usize = 500;

#[test]
fn imports_point_down() {
    nothing(sources().iter().flat_map(|(path, text)| climbs(path, text)));
}

#[test]
fn machines_do_not_know_each_other() {
    let files = sources();
    let machines = machines(&files);
    nothing(files.iter().flat_map(|(path, text)| acquaintances(path, text, &machines)));
}

#[test]
fn the_lower_floors_are_pure() {
    nothing(sources().iter().flat_map(|(path, text)| impurities(path, text)));
}

#[test]
fn only_one_file_computes_with_floats() {
    nothing(sources().iter().flat_map(|(path, text)| floats(path, text)));
}

#[test]
fn files_are_short_and_finished() {
    nothing(
        tracked()
            .iter()
            .flat_map(|(path, text)| lengths(path, text).into_iter().chain(unfinished(path, text))),
    );
}

#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    nothing(tracked().iter().flat_map(|(path, text)| places(path, text)));
}

#[test]
fn scenarios_goldens_and_the_suite_are_one_list() {
    let suite = faultlab::suite::embedded().iter().map(|one| one.name.to_owned()).collect();
    let scenarios = stems("scenarios", ".toml");
    nothing(differences("is in the suite", &suite, "has a file in scenarios/", &scenarios));
    for kind in ["-story.snap", "-summary.snap"] {
        let goldens = stems("golden", kind);
        let what = format!("has a golden *{kind}");
        nothing(differences("is in the suite", &suite, &what, &goldens));
    }
    let mut bad = stems("tests/bad-scenarios", ".toml");
    // These two are made by their test: they are no text, or too large to keep.
    bad.extend(["invalid-utf-8".to_owned(), "too-large".to_owned()]);
    nothing(differences(
        "is a bad scenario",
        &bad,
        "has a golden in golden/bad/",
        &stems("golden/bad", ".snap"),
    ));
}

fn nothing(complaints: impl IntoIterator<Item = String>) {
    let complaints: Vec<String> = complaints.into_iter().collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

// ---- The rules.

/// Imports that point up or sideways, and `super` of `super`.
fn climbs(path: &str, text: &str) -> Vec<String> {
    let Some((room, floor)) = room(path) else { return Vec::new() };
    let may = |other: &str| {
        let (_, under) = FLOORS.iter().find(|known| known.0 == other).copied().unwrap_or((other, u8::MAX));
        other == room || under < floor || SIDEWAYS.contains(&(room, other))
    };
    let code = code(text);
    let mut complaints: Vec<String> = imported(&code)
        .into_iter()
        .filter(|other| !may(other))
        .map(|other| format!("{path}: {room} must not know {other}"))
        .collect();
    if code.contains("super::super") {
        complaints.push(format!("{path}: super of super; say crate::{room}"));
    }
    complaints
}

/// Machines that a machine mentions.
fn acquaintances(path: &str, text: &str, machines: &BTreeSet<String>) -> Vec<String> {
    let Some(own) =
        path.strip_prefix("src/policy/").map(|rest| rest.split(['/', '.']).next().unwrap_or(rest))
    else {
        return Vec::new();
    };
    let is_nested = path.matches('/').count() > 2;
    let known = |other: &String| {
        let code = code(text);
        let by_name = follows(&code, "crate::policy::").contains(other);
        by_name || (!is_nested && own != "mod" && follows(&code, "super::").contains(other))
    };
    let others = machines.iter().filter(|other| *other != own && !SHARED_WORDS.contains(&other.as_str()));
    others.filter(|other| known(other)).map(|other| format!("{path}: {own} must not know {other}")).collect()
}

fn impurities(path: &str, text: &str) -> Vec<String> {
    if room(path).is_none_or(|(_, floor)| floor > PURE_TO) || path.ends_with("/tests.rs") {
        return Vec::new();
    }
    let code = code(built(text));
    let words: BTreeSet<&str> = words(&code).collect();
    let named = IMPURE.iter().filter(|word| words.contains(*word));
    let named = named.chain(IMPURE_PATHS.iter().filter(|path| code.contains(*path)));
    named.map(|word| format!("{path}: a pure floor mentions {word}")).collect()
}

fn floats(path: &str, text: &str) -> Vec<String> {
    let is_exempt = path == "src/units/real.rs";
    let code = code(text);
    let mentioned = words(&code).find(|word| ["f64", "f32"].contains(word)).filter(|_| !is_exempt);
    mentioned.map(|word| format!("{path}: mentions {word}")).into_iter().collect()
}

fn lengths(path: &str, text: &str) -> Vec<String> {
    let most = match path {
        "ARCHITECTURE.md" => 150,
        // Made from tables, and as long as they are.
        "docs/policy.md" | "docs/scenario.md" | "docs/taxonomy.md" => 5_000,
        _ => LINES_MAX,
    };
    let lines = text.lines().count();
    let counts = path.ends_with(".rs") || path.ends_with(".md");
    if counts && lines > most { vec![format!("{path}: {lines} lines, at most {most}")] } else { Vec::new() }
}

fn unfinished(path: &str, text: &str) -> Vec<String> {
    let words = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];
    let found = words.into_iter().filter(|word| text.contains(word));
    found.map(|word| format!("{path}: has a {word}")).collect()
}

/// Paths of a machine and addresses of a registry that is not everybody's.
fn places(path: &str, text: &str) -> Vec<String> {
    let private = [
        concat!("/ho", "me/"),
        concat!("/Us", "ers/"),
        concat!("/ro", "ot/"),
        concat!("/wo", "rk/"),
        concat!("\\Us", "ers\\"),
        concat!("local", "host"),
        concat!("127.", "0.0.1"),
        concat!("spar", "se+"),
    ];
    let everybodys = concat!("regis", "try+https://github.com/rust-lang/crates.io-index");
    let rest = text.replace(everybodys, "");
    let found = private.into_iter().chain([concat!("regis", "try+")]).filter(|place| rest.contains(place));
    found.map(|place| format!("{path}: names {place}")).collect()
}

fn differences(is: &str, these: &BTreeSet<String>, has: &str, those: &BTreeSet<String>) -> Vec<String> {
    let lacking = these.difference(those).map(|name| format!("{name} {is}, but not: {has}"));
    let extra = those.difference(these).map(|name| format!("{name} {has}, but not: {is}"));
    lacking.chain(extra).collect()
}

// ---- Reading sources.

/// The room of a source file, and its floor. The roof (`lib.rs`, `main.rs`) is no room.
fn room(path: &str) -> Option<(&'static str, u8)> {
    let rest = path.strip_prefix("src/")?;
    let (name, _) = rest.split_once('/')?;
    let known = FLOORS.iter().find(|known| known.0 == name).copied();
    Some(known.unwrap_or_else(|| panic!("{name} has no floor")))
}

/// The text without comments.
fn code(text: &str) -> String {
    let bare = |line: &str| line.split_once("//").map_or(line, |(before, _)| before).to_owned() + "\n";
    text.lines().map(bare).collect()
}

/// The text without its tests, which stand last.
fn built(text: &str) -> &str {
    text.find("\n#[cfg(test)]\nmod tests {").map_or(text, |at| &text[..at])
}

/// The rooms that code names after `crate::`, alone or in braces.
fn imported(code: &str) -> BTreeSet<String> {
    follows(code, "crate::")
}

/// The words that follow `prefix`, alone or first in a list in braces.
fn follows(code: &str, prefix: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices(prefix) {
        let rest = &code[at + prefix.len()..];
        let listed = rest.strip_prefix('{').map_or_else(|| vec![rest], top_level);
        found.extend(listed.into_iter().filter_map(|item| words(item).next()).map(str::to_owned));
    }
    found
}

/// The items of a list in braces, without what is nested in them.
fn top_level(list: &str) -> Vec<&str> {
    let (mut items, mut depth, mut begin) = (Vec::new(), 0, 0);
    for (at, mark) in list.char_indices() {
        match mark {
            '{' => depth += 1,
            '}' if depth == 0 => {
                items.push(&list[begin..at]);
                return items;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(&list[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    items
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|mark: char| !mark.is_alphanumeric() && mark != '_').filter(|word| !word.is_empty())
}

fn machines(files: &[(String, String)]) -> BTreeSet<String> {
    let inside = files.iter().filter_map(|(path, _)| path.strip_prefix("src/policy/"));
    inside
        .filter_map(|rest| rest.split(['/', '.']).next())
        .filter(|name| *name != "mod")
        .map(str::to_owned)
        .collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Vec<(String, String)> {
    let files: Vec<_> = tracked().into_iter().filter(|(path, _)| path.starts_with("src/")).collect();
    assert!(files.len() > 50, "the sources are there");
    files
}

/// Every text that belongs to the project, by its path from the root.
fn tracked() -> Vec<(String, String)> {
    let mut files = Vec::new();
    collect(root(), &mut files);
    files.sort();
    files
}

fn collect(folder: &Path, files: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_ours =
            name != "target" && name != "lab-output" && name != ".git" && !name.ends_with(".snap.new");
        if is_ours && path.is_dir() {
            collect(&path, files);
        } else if is_ours && let Ok(text) = std::fs::read_to_string(&path) {
            let path = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
            files.push((path, text));
        }
    }
}

/// The names of the files of a folder that end so.
fn stems(folder: &str, end: &str) -> BTreeSet<String> {
    let names = std::fs::read_dir(root().join(folder)).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter_map(|name| name.strip_suffix(end).map(str::to_owned)).collect()
}

// ---- Each rule complains about a planted text, and about nothing else.

#[test]
fn an_import_that_points_up_or_sideways_is_told() {
    let told = |path: &str, text: &str| climbs(path, text).join("; ");
    assert_eq!(
        told("src/units/time.rs", "use crate::policy::health;"),
        "src/units/time.rs: units must not know policy"
    );
    assert!(told("src/policy/health.rs", "fn f() { crate::sim::run() }").contains("must not know sim"));
    assert!(
        told("src/judge/book.rs", "use crate::{units::Money, journal::{Level, Folder}};")
            .contains("know journal")
    );
    assert!(told("src/wire/mod.rs", "use crate::scenario::load;").contains("wire must not know scenario"));
    assert!(told("src/journal/mod.rs", "use crate::wire::Wire;").contains("journal must not know wire"));
    assert!(
        told("src/suite/play.rs", "pub(crate) use crate::cli::Exit;").contains("suite must not know cli")
    );
    assert!(told("src/policy/breaker/ring.rs", "use super::super::health;").contains("super of super"));
    for (path, text) in [
        (
            "src/scenario/lower.rs",
            "use crate::wire::Wire; use crate::judge::Law; use crate::scenario::form::Form;",
        ),
        ("src/journal/read.rs", "use crate::judge::Metric; use crate::trace::{Kind, Values};"),
        ("src/units/time.rs", "// crate::policy is above\npub(crate) struct Timestamp;"),
        ("src/cli/mod.rs", "use crate::suite::play;"),
        ("src/lib.rs", "pub use crate::cli::main;"),
    ] {
        assert_eq!(climbs(path, text), Vec::<String>::new());
    }
}

#[test]
#[should_panic(expected = "attic has no floor")]
fn a_room_without_a_floor_is_told() {
    climbs("src/attic/mod.rs", "");
}

#[test]
fn a_machine_that_knows_another_is_told() {
    let machines = ["breaker", "health", "signal", "cooldown"].map(str::to_owned).into();
    let told = |path: &str, text: &str| acquaintances(path, text, &machines).join("; ");
    assert_eq!(
        told("src/policy/health.rs", "use super::breaker::State;"),
        "src/policy/health.rs: health must not know breaker"
    );
    assert!(
        told("src/policy/breaker/ring.rs", "use crate::policy::{signal::Signal, health::Move};")
            .contains("health")
    );
    assert_eq!(
        told("src/policy/health.rs", "use super::signal::Signal; use crate::policy::health::Move;"),
        ""
    );
    assert_eq!(told("src/policy/breaker/config.rs", "use super::cooldown::Cooldown;"), "");
    assert_eq!(told("src/gateway/fleet.rs", "use crate::policy::{breaker, health};"), "");
}

#[test]
fn what_a_pure_floor_must_not_mention_is_told() {
    let told = |path: &str, text: &str| impurities(path, text).join("; ");
    assert_eq!(
        told("src/sim/run.rs", "use std::collections::HashMap;"),
        "src/sim/run.rs: a pure floor mentions HashMap"
    );
    for text in [
        "let now = Instant::now();",
        "fn f(o: &dyn Observer) {}",
        "use std::{rc::Rc};",
        "std::env::var(\"X\")",
        "std::fs::read(p)",
        "#[derive(serde::Serialize)]",
        "static M: Mutex<u8> = Mutex::new(0);",
    ] {
        assert_ne!(told("src/judge/mod.rs", text), "", "{text}");
        assert_eq!(told("src/journal/mod.rs", text), "", "floor 6 may: {text}");
    }
    assert_eq!(told("src/units/time.rs", "fn f() {}\n#[cfg(test)]\nmod tests {\n dyn"), "", "a test may");
    assert_eq!(told("src/units/time.rs", "/// No Instant, no HashMap. \nfn dynamic() {} // dyn"), "");
}

#[test]
fn a_float_is_told() {
    assert_eq!(
        floats("src/journal/summary.rs", "let share: f64 = 0;"),
        ["src/journal/summary.rs: mentions f64"]
    );
    assert_eq!(floats("src/units/real.rs", "f64").len(), 0);
    assert_eq!(floats("src/units/money.rs", "// no f64\nlet buf64 = 1;").len(), 0);
}

#[test]
fn a_long_or_unfinished_file_is_told() {
    let long = "\n".repeat(LINES_MAX + 1);
    assert_eq!(lengths("src/a.rs", &long), ["src/a.rs: 501 lines, at most 500"]);
    assert_eq!(lengths("scenarios/a.toml", &long).len() + lengths("src/a.rs", &long[1..]).len(), 0);
    assert_eq!(lengths("ARCHITECTURE.md", &"\n".repeat(151)).len(), 1);
    assert_eq!(unfinished("src/a.rs", concat!("// TO", "DO: later")).len(), 1);
    assert_eq!(unfinished("src/a.rs", "todo!()").len(), 0, "the compiler's lint does that");
}

#[test]
fn a_path_of_a_machine_and_a_private_registry_are_told() {
    let told = |text: &str| places("a.md", text).len();
    assert_eq!(told(concat!("see /ho", "me/me/a.toml")), 1);
    assert_eq!(told(concat!("source = \"regis", "try+https://mirror.example/index\"")), 1);
    assert_eq!(told(concat!("source = \"regis", "try+https://github.com/rust-lang/crates.io-index\"")), 0);
}

#[test]
fn a_scenario_without_a_golden_and_a_golden_without_a_scenario_are_told() {
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(
        differences("is in the suite", &set(&["a", "b"]), "has a golden", &set(&["b", "c"])),
        ["a is in the suite, but not: has a golden", "c has a golden, but not: is in the suite"]
    );
}
