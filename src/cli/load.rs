//! Scenarios by name or by path.

use super::Failure;
use super::exit::Exit;
use super::terminal::Terminal;
use crate::scenario::{self, Problems, Scenario, did_you_mean};
use crate::suite::{Embedded, embedded};
use anyhow::anyhow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The scenarios that were asked for, each once, in the order of asking; the suite if none was. The second
/// value says whether that is the whole suite.
pub(super) fn scenarios(wanted: &[String], terminal: &Terminal) -> Result<(Vec<Scenario>, bool), Failure> {
    let mut found: Vec<Scenario> = Vec::new();
    let mut problems = 0;
    let everything = ["all".to_owned()];
    let wanted = if wanted.is_empty() { &everything[..] } else { wanted };
    for word in wanted.iter().map(|word| word.trim()).filter(|word| !word.is_empty()) {
        let loaded: Vec<Result<Scenario, Problems>> = if word == "all" {
            embedded().iter().map(read_embedded).collect()
        } else if let Some(one) = embedded().iter().find(|one| one.name == word) {
            vec![read_embedded(one)]
        } else {
            vec![read_file(word)?]
        };
        for scenario in loaded {
            match scenario {
                Ok(scenario) => match found.iter().find(|known| known.name == scenario.name) {
                    Some(known) if known.digest == scenario.digest => {}
                    Some(known) => return Err(two_of_one_name(&known.name)),
                    None => found.push(scenario),
                },
                Err(list) => {
                    terminal.note(&format!("{}\n", list.coloured()));
                    problems += list.list().len();
                }
            }
        }
    }
    if problems > 0 {
        let error = anyhow!("nothing was played: {problems} problem{} to mend first", plural(problems));
        return Err(Failure::new(Exit::Invalid, error));
    }
    if found.is_empty() {
        return Err(Failure::new(Exit::Nothing, anyhow!("no scenario was asked for")));
    }
    let whole = found.len() == embedded().len() && found.iter().all(is_embedded);
    Ok((found, whole))
}

/// A scenario is called by the last part of its path: two of one name cannot be told apart in the evidence.
fn two_of_one_name(name: &str) -> Failure {
    let text = format!(
        "two different scenarios are called `{name}`; play them one after the other, or rename a file"
    );
    Failure::new(Exit::Usage, anyhow!(text))
}

/// Whether a scenario is the one of the suite, byte for byte.
fn is_embedded(scenario: &Scenario) -> bool {
    embedded()
        .iter()
        .any(|one| one.name == scenario.name && scenario.digest == crate::units::names::hash(one.text))
}

pub(super) fn read_embedded(one: &Embedded) -> Result<Scenario, Problems> {
    scenario::load(&format!("scenarios/{}.toml", one.name), one.text)
}

/// A file, or the reason why it cannot be read. Problems inside it are for the caller to tell.
pub(super) fn read_file(word: &str) -> Result<Result<Scenario, Problems>, Failure> {
    let path = Path::new(word);
    let unreadable = |why: String| Failure::new(Exit::Invalid, anyhow!(why));
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            Err(unreadable(format!("`{word}` is a folder; name a scenario file in it")))
        }
        // A device or a pipe may never end, and what it gives is not the file that the evidence speaks of.
        Ok(found) if !found.is_file() => {
            Err(unreadable(format!("`{word}` is not a regular file; a scenario is read from one")))
        }
        Ok(found) if found.len() > scenario::FILE_MAX as u64 => {
            let (size, most) = (found.len(), scenario::FILE_MAX);
            Err(unreadable(format!("`{word}` has {size} bytes; a scenario has at most {most}")))
        }
        Ok(_) => {
            let bytes = read(path).map_err(|error| unreadable(format!("cannot read `{word}`: {error}")))?;
            Ok(scenario::load_bytes(word, &bytes))
        }
        Err(error) if looks_like_a_path(word) => Err(unreadable(format!("cannot read `{word}`: {error}"))),
        Err(_) => {
            let names = || embedded().iter().map(|one| one.name);
            let known = names().collect::<Vec<_>>().join(", ");
            let hint = did_you_mean(word, names()).map_or_else(String::new, |guess| format!("; {guess}"));
            let text =
                format!("no scenario and no file is called `{word}`{hint}\n  = the suite has: {known}");
            Err(Failure::new(Exit::Usage, anyhow!(text)))
        }
    }
}

/// The bytes of a file, and at most one more than a scenario can have: its size may be no more than a claim.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(scenario::FILE_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn looks_like_a_path(word: &str) -> bool {
    word.contains(['/', '\\']) || Path::new(word).extension().is_some_and(|ext| ext == "toml")
}

pub(super) const fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}
