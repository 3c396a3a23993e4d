//! `scenarios/regressions/`: one file a bug that was found. Each is the smallest scenario that fails without its fix,
//! keeps every law, and says by an expectation what must happen instead.

use crate::support::failures;
use std::path::Path;

#[test]
fn no_bug_comes_back() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/regressions");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 10, "the regressions are there");
    let failed: Vec<String> = files.iter().flat_map(|file| failures_of(file)).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// What fails in a file, as sentences.
fn failures_of(file: &Path) -> Vec<String> {
    let name = file.file_stem().unwrap().to_str().unwrap();
    failures(&format!("regressions/{name}"), &std::fs::read_to_string(file).unwrap())
}
