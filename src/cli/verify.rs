//! `faultlab verify`: three plays in processes of their own, two with all events and one with none, on all cores
//! and on one, must leave the same bytes.

use super::exit::Exit;
use super::terminal::{Detail, Paint, Terminal, paint};
use super::{Done, Failure};
use crate::guard::Requirement;
use crate::journal::folder::{EVENTS, SUMMARY};
use anyhow::{Context, anyhow};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) fn verify(
    scenarios: &[String],
    seed: Option<u64>,
    guard: Requirement,
    terminal: &Terminal,
) -> Done {
    let scratch = Scratch::new("plays").map_err(Failure::with(Exit::Output))?;
    let plays = [("first", "full", "0"), ("second", "full", "1"), ("third", "none", "0")];
    for (name, events, threads) in plays {
        play(&scratch.0.join(name), [events, threads, guard.label()], scenarios, seed)?;
    }
    if let Some(difference) = difference(&scratch.0).map_err(Failure::with(Exit::Output))? {
        terminal.say(&format!("{}: {difference}", paint(Paint::Bad, "FAIL")))?;
        return Ok(Exit::Differed);
    }
    if terminal.detail > Detail::Quiet {
        let bytes = fs::metadata(scratch.0.join("first").join(EVENTS)).map_or(0, |file| file.len());
        let text = format!(
            "three plays in three processes, on all cores and on one, with all events and with none: {bytes} bytes of events and every summary are equal"
        );
        terminal.say(&format!("{}: {text}\n", paint(Paint::Good, "PASS")))?;
    }
    Ok(Exit::Held)
}

/// One play in a process of its own. Whether its checks hold is not the question here.
fn play(
    folder: &Path,
    [events, threads, guard]: [&str; 3],
    scenarios: &[String],
    seed: Option<u64>,
) -> Result<(), Failure> {
    let failed = |error| Failure::new(Exit::Bug, error);
    let program = std::env::current_exe().context("cannot find the program itself").map_err(failed)?;
    let mut command = Command::new(program);
    command.args(["run", "--format", "quiet", "--guard", guard, "--events", events, "--out-dir"]).arg(folder);
    command.env("RAYON_NUM_THREADS", threads); // 0 is as many as there are cores
    for scenario in scenarios {
        command.args(["--scenario", scenario]);
    }
    if let Some(seed) = seed {
        command.args(["--seed", &seed.to_string()]);
    }
    let output = command.output().context("cannot start a play").map_err(failed)?;
    match output.status.code() {
        Some(0 | 1 | 4) => Ok(()),
        code => {
            let known = [Exit::Usage, Exit::Invalid, Exit::Caught, Exit::Unguarded, Exit::Output];
            let exit = known.into_iter().find(|exit| Some(*exit as i32) == code);
            let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(Failure::new(exit.unwrap_or(Exit::Bug), anyhow!(text)))
        }
    }
}

/// What differs between the three plays in a folder, if anything does.
fn difference(folder: &Path) -> anyhow::Result<Option<String>> {
    let pairs = [
        ("two plays", "second", EVENTS),
        ("two plays", "second", SUMMARY),
        ("two event levels", "third", SUMMARY),
    ];
    for (what, other, file) in pairs {
        let (a, b) = (folder.join("first").join(file), folder.join(other).join(file));
        if let Some(difference) = first_difference(&a, &b)? {
            return Ok(Some(format!("{what} differ\n{difference}")));
        }
    }
    Ok(None)
}

/// The first line in which two files differ, as both have it. How strong the guard was is not part of the evidence.
fn first_difference(a: &Path, b: &Path) -> anyhow::Result<Option<String>> {
    let open = |path: &Path| {
        fs::File::open(path).with_context(|| format!("cannot read {}", path.display())).map(BufReader::new)
    };
    let (mut left, mut right) = (open(a)?.lines(), open(b)?.lines());
    let mut number = 0;
    loop {
        number += 1;
        let (one, other) = (left.next().transpose()?, right.next().transpose()?);
        match (&one, &other) {
            (None, None) => return Ok(None),
            _ if one == other || is_strength(&one) && is_strength(&other) => {}
            _ => {
                let show = |line: Option<String>| line.unwrap_or_else(|| "(the end of the file)".to_owned());
                let name = a.file_name().unwrap_or_default().to_string_lossy();
                let (one, other) = (show(one), show(other));
                return Ok(Some(format!("{name}, line {number}:\n  {one}\n  {other}\n")));
            }
        }
    }
}

fn is_strength(line: &Option<String>) -> bool {
    line.as_ref().is_some_and(|line| line.trim_start().starts_with("\"guard_strength\":"))
}

/// A folder for the plays, gone when it is dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> anyhow::Result<Scratch> {
        let path = std::env::temp_dir().join(format!("faultlab-verify-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left is in the system's folder for such things.
        drop(fs::remove_dir_all(&self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_shown_as_both_have_it() {
        let scratch = Scratch::new("lines").unwrap();
        let file = |name: &str, text: &str| {
            let path = scratch.0.join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let (a, b) = (file("a", "one\ntwo\n"), file("b", "one\n2\n"));
        assert_eq!(first_difference(&a, &a).unwrap(), None);
        assert_eq!(first_difference(&a, &b).unwrap().unwrap(), "a, line 2:\n  two\n  2\n");
        let strengths = ["enforced-counted", "enforced-counted-self"];
        let [strong, weak] =
            strengths.map(|word| file(word, &format!("  \"guard_strength\": \"{word}\",\n")));
        assert_eq!(first_difference(&strong, &weak).unwrap(), None);
        let short = file("c", "one\n");
        assert!(first_difference(&a, &short).unwrap().unwrap().contains("(the end of the file)"));
    }

    #[test]
    fn a_difference_between_any_two_plays_is_found() {
        let scratch = Scratch::new("found").unwrap();
        let write = |play: &str, file: &str, text: &str| {
            fs::create_dir_all(scratch.0.join(play)).unwrap();
            fs::write(scratch.0.join(play).join(file), text).unwrap();
        };
        let all = [
            ("first", EVENTS),
            ("second", EVENTS),
            ("first", SUMMARY),
            ("second", SUMMARY),
            ("third", SUMMARY),
        ];
        all.iter().for_each(|(play, file)| write(play, file, "one\ntwo\n"));
        assert_eq!(difference(&scratch.0).unwrap(), None);
        for (play, file, what) in [
            ("second", EVENTS, "two plays differ\nevents.jsonl, line 2:"),
            ("second", SUMMARY, "two plays differ\nsummary.json, line 2:"),
            ("third", SUMMARY, "two event levels differ\nsummary.json, line 2:"),
        ] {
            write(play, file, "one\n2\n");
            assert!(difference(&scratch.0).unwrap().unwrap().starts_with(what));
            write(play, file, "one\ntwo\n");
        }
        fs::remove_file(scratch.0.join("second").join(EVENTS)).unwrap();
        assert!(difference(&scratch.0).is_err(), "a file that is missing is no equal file");
    }
}
