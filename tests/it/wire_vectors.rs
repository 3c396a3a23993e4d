//! Replays recorded provider failures, and what parsers of waits make of every form of them. The rows are data
//! (`tests/data/vectors`); every file of a folder is read.

mod failures;
mod said;
mod waits;

use serde_json::Value;
use std::fs;
use std::path::Path;

/// Every row of every file in the folder `stem`.
fn rows(stem: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/vectors").join(stem);
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the row is well formed")
        .map(|file| file.expect("the row is well formed").path())
        .collect();
    files.sort();
    let jsonl = files.iter().filter(|file| file.extension().is_some_and(|end| end == "jsonl"));
    let texts: Vec<String> =
        jsonl.map(|file| fs::read_to_string(file).expect("the row is well formed")).collect();
    let lines = texts.iter().flat_map(|text| text.lines()).filter(|line| !line.trim().is_empty());
    lines.map(|line| serde_json::from_str(line).expect("the row is well formed")).collect()
}

fn text<'r>(row: &'r Value, key: &str) -> &'r str {
    row[key].as_str().unwrap_or("")
}
