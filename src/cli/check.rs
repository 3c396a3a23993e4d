//! `faultlab check`: is a file a scenario? Every problem at once; nothing is played.

use super::Done;
use super::exit::Exit;
use super::load::{plural, read_file};
use super::terminal::{Detail, Terminal};
use std::path::PathBuf;

pub(super) fn check(files: &[PathBuf], terminal: &Terminal) -> Done {
    let mut exit = Exit::Held;
    for file in files {
        let path = file.to_string_lossy();
        match read_file(&path) {
            Ok(Ok(scenario)) => {
                let (variants, checks) = (scenario.variants.len(), scenario.expectations.len());
                let text = format!(
                    "{path}: fine, {variants} variant{} and {checks} expectation{}\n",
                    plural(variants),
                    plural(checks)
                );
                if terminal.detail > Detail::Quiet {
                    terminal.say(&text)?;
                }
            }
            Ok(Err(problems)) => {
                terminal.note(&format!("{}\n", problems.coloured()));
                exit = Exit::Invalid;
            }
            Err(failure) => {
                terminal.fail(&failure);
                exit = Exit::Invalid;
            }
        }
    }
    Ok(exit)
}
