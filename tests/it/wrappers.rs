//! The wrapper of this system says PASS only if the program and its summary both do.

use crate::support::Place;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[test]
fn a_pass_is_said_in_one_last_line() {
    if !can_read() {
        return;
    }
    let place = Place::new("wrapper-pass");
    let output = play(&place, Path::new(env!("CARGO_BIN_EXE_faultlab")));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let checks = fs::read_to_string(place.path().join("out/summary.json")).unwrap();
    let total: serde_json::Value = serde_json::from_str(&checks).unwrap();
    let total = &total["acceptance"]["total"];
    let line = format!("PASS: {total}/{total} checks; outbound network attempts: 0");
    assert_eq!(said.lines().last(), Some(line.as_str()));
}

#[test]
fn the_program_and_the_file_both_have_to_say_it() {
    if !can_read() {
        return;
    }
    let place = Place::new("wrapper-fail");
    play(&place, Path::new(env!("CARGO_BIN_EXE_faultlab")));
    let good = fs::read_to_string(place.path().join("out/summary.json")).unwrap();
    let zero = "\"outbound_attempts\": 0";
    for (code, summary, why) in [
        (1, Some(good.clone()), "the program ended with 1"),
        (5, Some(good.clone()), "the program ended with 5"),
        (0, None, "left no summary"),
        (143, None, "left no summary"),
        (0, Some("{".to_owned()), "left no summary"),
        (0, Some(good.replacen("\"complete\": true", "\"complete\": false", 1)), "not complete"),
        (0, Some(good.replacen("\"scope\": \"suite\"", "\"scope\": \"partial\"", 1)), "no release pass"),
        (0, Some(good.replacen("\"failed\": 0", "\"failed\": 1", 1)), "checks passed"),
        (0, Some(good.replacen("\"verdict\": \"passed\"", "\"verdict\": \"failed\"", 1)), "that passed"),
        (0, Some(without_checks(&good)), "that passed"),
        (0, Some(good.replacen(zero, "\"outbound_attempts\": 2", 1)), "outbound network attempts: 2"),
        (0, Some(good.replacen(&format!("{zero},"), "", 1)), "outbound network attempts: not counted"),
        (0, Some(good.replacen("\"enforced-counted", "\"none", 1)), "guard strength is none"),
    ] {
        let output = play(&place, &pretender(&place, code, summary.as_deref()));
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let expected = if code == 0 { 1 } else { code };
        assert_eq!(output.status.code(), Some(expected), "{said}");
        assert!(
            !said.contains("PASS") && said.lines().last().is_some_and(|line| line.contains(why)),
            "{said}"
        );
    }
}

/// The same summary with counters that nothing was counted for.
fn without_checks(summary: &str) -> String {
    let mut summary: serde_json::Value = serde_json::from_str(summary).unwrap();
    summary["acceptance"]["checks"] = serde_json::json!([]);
    summary.to_string()
}

/// Whether this system has what the wrapper reads with. Every Ubuntu does; a bare toolchain may not.
fn can_read() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        writeln!(std::io::stderr(), "not checked: there is no python3 here").expect("standard error is open");
    }
    found
}

/// A program that leaves this summary and ends with this code.
fn pretender(place: &Place, code: i32, summary: Option<&str>) -> PathBuf {
    let write = match summary {
        Some(text) => format!("cp '{}' out/summary.json", place.file("given.json", text).display()),
        None => "rm -f out/summary.json".to_owned(),
    };
    let path = place.file("pretender", format!("#!/bin/sh\n{write}\nexit {code}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn play(place: &Place, program: &Path) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/run-ubuntu-2604.sh");
    let mut command = Command::new(script);
    command.current_dir(place.path()).env("FAULTLAB", program).arg("out").output().unwrap()
}
