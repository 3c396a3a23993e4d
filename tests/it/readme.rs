//! What the README shows is what the program does: every console block is played, line by line.
//!
//! In a block, a line `$ faultlab …` (or `$ cargo run --release …`) is a command, and the lines up to the next are
//! what it prints. A line `…` stands for any lines, `…` at the end of a line for the rest of it, and a line
//! `(exit code N)` for the code if it is not 0.

use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn every_command_of_the_readme_prints_what_it_shows() {
    let readme = read("README.md");
    let folder = playground();
    let shown: Vec<Shown> = blocks(&readme, "console").iter().flat_map(|block| commands(block)).collect();
    assert!(shown.len() >= 3, "the README shows commands");
    for one in shown {
        let Some(args) = args(&one.line) else { continue };
        let output =
            Command::new(env!("CARGO_BIN_EXE_faultlab")).args(&args).current_dir(&folder).output().unwrap();
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        let printed = if stdout.is_empty() { &stderr } else { &stdout };
        assert_eq!(output.status.code(), Some(one.exit), "`{}` of the README\n{printed}{stderr}", one.line);
        assert!(
            matches(&one.prints, &printed.lines().collect::<Vec<_>>()),
            "`{}` of the README prints something else now:\n{printed}",
            one.line
        );
    }
}

#[test]
fn the_scenario_of_the_readme_is_the_file() {
    let file = read("docs/first-scenario.toml");
    assert_eq!(blocks(&read("README.md"), "toml"), [file.trim_end()]);
}

#[test]
fn the_exit_codes_of_the_readme_are_those_of_the_program() {
    let output = Command::new(env!("CARGO_BIN_EXE_faultlab")).arg("--help").output().unwrap();
    let help = text(&output.stdout);
    let table: Vec<(&str, &str)> = help
        .lines()
        .skip_while(|line| !line.starts_with("Exit codes"))
        .skip(1)
        .filter_map(|line| line.trim().split_once(' '))
        .collect();
    assert!(table.len() > 5, "the program tells its exit codes");
    let readme = read("README.md");
    for (code, meaning) in table {
        let row = format!("| {code} | {} |", meaning.trim());
        assert!(readme.contains(&row), "README.md lacks the row `{row}`");
    }
}

#[test]
fn a_line_that_is_left_out_is_any_lines_and_an_open_end_any_end() {
    assert!(matches(&["a", "…", "d"], &["a", "b", "c", "d"]));
    assert!(matches(&["a …", "…"], &["a b", "c"]));
    assert!(matches(&["…"], &[]));
    assert!(!matches(&["a"], &["a", "b"]));
    assert!(!matches(&["a", "…", "d"], &["a", "b"]));
}

/// A command, and what it is shown to print.
struct Shown<'a> {
    line: String,
    prints: Vec<&'a str>,
    exit: i32,
}

fn commands<'a>(block: &'a str) -> Vec<Shown<'a>> {
    let mut shown: Vec<Shown<'a>> = Vec::new();
    for line in block.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            shown.push(Shown { line: command.to_owned(), prints: Vec::new(), exit: 0 });
        } else if let Some(code) = line.strip_prefix("(exit code ") {
            let code = code.trim_end_matches(')').parse().expect("an exit code is a number");
            shown.last_mut().expect("a code belongs to a command").exit = code;
        } else {
            shown.last_mut().expect("output belongs to a command").prints.push(line);
        }
    }
    shown
}

/// What the program is told; `None` if it is another program.
fn args(line: &str) -> Option<Vec<&str>> {
    let mut words = line.split_whitespace();
    match (words.next(), words.next()) {
        (Some("faultlab"), first) => Some(first.into_iter().chain(words).collect()),
        (Some("cargo"), Some("run")) => Some(words.skip_while(|word| *word != "--").skip(1).collect()),
        _ => None,
    }
}

fn matches(shown: &[&str], printed: &[&str]) -> bool {
    let (Some((first, shown)), printed_first) = (shown.split_first(), printed.first()) else {
        return printed.is_empty();
    };
    if *first == "…" {
        return (0..=printed.len()).any(|skip| matches(shown, &printed[skip..]));
    }
    let Some(line) = printed_first else { return false };
    let fits = match first.strip_suffix('…') {
        Some(beginning) => line.starts_with(beginning.trim_end()),
        None => line.trim_end() == first.trim_end(),
    };
    fits && matches(shown, &printed[1..])
}

/// The fenced blocks in this language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    page.split(&fence).skip(1).map(|rest| rest.split("\n```").next().unwrap_or(rest)).collect()
}

/// A folder with the files that the README speaks of.
fn playground() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme");
    std::fs::create_dir_all(folder.join("docs")).unwrap();
    for file in ["docs/first-scenario.toml", "docs/look-alikes.jsonl"] {
        std::fs::write(folder.join(file), read(file)).unwrap();
    }
    folder
}

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(path).unwrap().replace("\r\n", "\n")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace("\r\n", "\n")
}
