//! The shell around the suite: the guard in the program, and output that survives what machines do to programs.

use crate::support::{Place, text_of};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// The program in the folder of a place.
fn program(place: &Place, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_faultlab"));
    command.current_dir(place.path()).stdin(Stdio::null()).args(words.split_whitespace());
    command
}

fn play(place: &Place, words: &str) -> Output {
    program(place, words).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// It ended with `code` and said `sentence` on stderr.
#[track_caller]
fn ends(output: &Output, code: i32, sentence: &str) {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(said.contains(sentence), "{sentence:?} is not in {said}");
}

fn program_check<'v>(summary: &'v Value, name: &str) -> Option<&'v Value> {
    let checks = summary["acceptance"]["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name && check.get("scenario").is_none())
}

// ---- The guard.

#[test]
fn the_suite_is_guarded_and_the_number_never_stands_alone() {
    let place = Place::new("guarded");
    ends(&play(&place, "--events none --format quiet"), 0, "");
    let summary = read(&place.path().join("lab-output/summary.json"));
    assert_eq!(program_check(&summary, "zero_outbound_network").unwrap()["verdict"], "passed");
    assert_eq!(summary["acceptance"]["scope"], "suite");
    let run = read(&place.path().join("lab-output/run.json"));
    assert_eq!(run["guard"]["strength"], summary["guard_strength"]);
    assert_eq!(run["guard"]["requirement"], "require");
    assert!(run["guard"]["not_covered"].as_array().is_some_and(|list| !list.is_empty()));
    if cfg!(target_os = "linux") {
        assert_eq!(summary["outbound_attempts"], 0);
        assert_eq!(run["guard"]["self_test"]["counted"], 7);
    } else {
        assert_eq!(summary.get("outbound_attempts"), None, "an absent number is not zero");
    }
}

#[test]
fn without_a_guard_the_suite_is_no_release_pass() {
    let place = Place::new("unguarded");
    let output = play(&place, "-q --events none --guard off");
    ends(&output, 0, "");
    let said = text(&output.stdout);
    assert!(said.contains("zero_outbound_network was not exercised: no release pass"), "{said}");
    let summary = read(&place.path().join("lab-output/summary.json"));
    assert_eq!(summary["acceptance"]["scope"], "partial");
    assert_eq!(program_check(&summary, "zero_outbound_network"), None);
    assert_eq!(summary["guard_strength"], "none");
    assert_eq!(summary.get("outbound_attempts"), None);
}

#[test]
fn the_doctor_says_how_strong_the_guard_is_and_what_it_does_not_cover() {
    let place = Place::new("doctor");
    let output = play(&place, "doctor");
    ends(&output, 0, "");
    let said = text(&output.stdout);
    for word in ["strength", "mechanism", "self-test", "inherited", "not covered", "PASS: "] {
        assert!(said.contains(word), "{word:?} is not in {said}");
    }
    let output = play(&place, "doctor --format json");
    ends(&output, 0, "");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said["suffices"], true);
    assert_eq!(said["guard"]["self_test"]["probes"], said["guard"]["self_test"]["denied"]);
    assert!(fs::read_dir(place.path()).unwrap().next().is_none(), "a doctor writes nothing");
}

/// The best of many starts: what else the machine does only adds to it. The guard is armed, tested and asked in it.
#[cfg(target_os = "linux")]
#[test]
fn a_cold_start_takes_no_more_than_ten_milliseconds() {
    let place = Place::new("cold");
    let start = || {
        #[expect(clippy::disallowed_types, reason = "measures real time")]
        let began = std::time::Instant::now();
        ends(&program(&place, "doctor --format quiet").stdout(Stdio::null()).output().unwrap(), 0, "");
        began.elapsed().as_micros()
    };
    let best = (0..300).map(|_| start()).find(|micros| *micros <= 10_000);
    assert!(best.is_some(), "not one of 300 starts was fast enough");
}

#[test]
fn verify_works_under_its_own_guard_and_is_as_strict() {
    let place = Place::new("guarded-verify");
    for guard in ["require", "best-effort", "off"] {
        let output = play(&place, &format!("verify --scenario budget-audit --guard {guard}"));
        ends(&output, 0, "");
    }
}

// ---- The disk.

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_made_is_told() {
    let place = Place::new("no-folder");
    let output = play(&place, "--scenario routing --out-dir /proc/faultlab/lab-output");
    ends(&output, 74, "error: cannot create the folder /proc/faultlab/lab-output: ");
}

/// A limit on the size of a file is how a full disk looks without filling one.
#[cfg(unix)]
#[test]
fn a_full_disk_is_told_and_leaves_neither_a_verdict_nor_halves() {
    for (events, blocks, file) in [("full", 8, "events.jsonl"), ("none", 8, "summary.json")] {
        let place = Place::new(&format!("full-{events}"));
        ends(&play(&place, "--scenario budget-audit --format quiet"), 0, "");
        let line = format!("ulimit -f {blocks}; exec \"$0\" --scenario budget-audit --events {events}");
        let mut shell = Command::new("sh");
        shell.current_dir(place.path()).args(["-c", &line, env!("CARGO_BIN_EXE_faultlab")]);
        let output = shell.output().unwrap();
        ends(&output, 74, &format!("error: cannot write lab-output/{file}.partial: "));
        assert!(!place.path().join("lab-output/summary.json").exists());
        assert!(!place.path().join(format!("lab-output/{file}.partial")).exists());
        ends(&play(&place, "--scenario budget-audit --format quiet"), 0, "");
    }
}

/// The last thing that can fail: all is written, and the file does not get its name.
#[test]
fn a_file_that_cannot_take_its_name_is_told_and_there_is_no_verdict() {
    let place = Place::new("no-name");
    let child = with_seeds(&place, 3_000);
    until_it_writes(&place);
    let folder = place.path().join("lab-output");
    fs::create_dir_all(folder.join("events.jsonl/in-the-way")).unwrap();
    ends(&child.wait_with_output().unwrap(), 74, "error: cannot write lab-output/events.jsonl: ");
    assert!(!folder.join("summary.json").exists());
    assert!(!folder.join("events.jsonl.partial").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_stdout_is_told() {
    let place = Place::new("full-stdout");
    for words in ["--scenario routing", "list", "--help", "why req-demo-002", "doctor"] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = program(&place, words).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(74), "{words}");
    }
}

#[test]
fn a_reader_who_goes_away_changes_neither_exit_code_nor_files() {
    let place = Place::new("head");
    for words in ["-v", "--format json", "list -v", "--help"] {
        let mut child = program(&place, words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        ends(&child.wait_with_output().unwrap(), 0, "");
    }
    assert_eq!(read(&place.path().join("lab-output/summary.json"))["acceptance"]["failed"], 0);
}

// ---- Interruption.

/// A run that takes many minutes: a million seeds.
fn long(place: &Place) -> Child {
    with_seeds(place, 1_000_000)
}

fn with_seeds(place: &Place, seeds: u32) -> Child {
    let seeds = format!("seeds = \"1..{seeds}\"");
    place.file("long.toml", text_of("bounded-429").replace("seeds = \"1..200\"", &seeds));
    let mut command = program(place, "--scenario long.toml");
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until the run is writing.
fn until_it_writes(place: &Place) {
    let partial = place.path().join("lab-output/events.jsonl.partial");
    while !fs::metadata(&partial).is_ok_and(|file| file.len() > 0) {
        std::thread::yield_now();
    }
}

#[cfg(unix)]
fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_ends_with_its_code_and_no_verdict() {
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let place = Place::new(&format!("interrupted-{name}"));
        ends(&play(&place, "--scenario routing --format quiet"), 0, "");
        let child = long(&place);
        until_it_writes(&place);
        signal(&child, name);
        ends(&child.wait_with_output().unwrap(), code, "error: interrupted: this run gives no verdict");
        assert!(!place.path().join("lab-output/summary.json").exists());
        assert!(!place.path().join("lab-output/events.jsonl").exists());
    }
}

#[cfg(unix)]
#[test]
fn a_killed_run_leaves_no_verdict_and_its_folder_to_the_next() {
    let place = Place::new("killed");
    ends(&play(&place, "--scenario routing --format quiet"), 0, "");
    let mut child = long(&place);
    until_it_writes(&place);
    child.kill().unwrap();
    child.wait().unwrap();
    let folder = place.path().join("lab-output");
    assert!(!folder.join("summary.json").exists());
    ends(&play(&place, "--scenario routing --format quiet"), 0, "");
    let mut left: Vec<String> =
        fs::read_dir(&folder).unwrap().map(|one| one.unwrap().file_name().into_string().unwrap()).collect();
    left.sort();
    assert_eq!(left, [".gitignore", ".lock", "events.jsonl", "run.json", "summary.json"]);
}

/// Killed between its two last files: whatever else is there, without a summary there is no verdict.
#[test]
fn a_folder_without_a_summary_is_taken_over() {
    let place = Place::new("between");
    ends(&play(&place, "--scenario routing --format quiet"), 0, "");
    fs::remove_file(place.path().join("lab-output/summary.json")).unwrap();
    ends(&play(&place, "--scenario budget-audit --format quiet"), 0, "");
    let summary = read(&place.path().join("lab-output/summary.json"));
    assert_eq!(summary["scenarios"][0]["name"], "budget-audit");
}

#[test]
fn a_second_run_into_a_folder_in_use_is_refused() {
    let place = Place::new("two");
    let mut child = long(&place);
    until_it_writes(&place);
    ends(
        &play(&place, "--scenario routing"),
        74,
        "error: another run is writing into lab-output; wait for it",
    );
    assert!(child.try_wait().unwrap().is_none(), "the first goes on");
    child.kill().unwrap();
    child.wait().unwrap();
    ends(&play(&place, "--scenario routing --format quiet"), 0, "");
}

#[test]
fn a_run_that_never_begins_leaves_no_verdict_of_an_earlier_one() {
    for (words, code) in [("--scenario missing.toml", 3), ("--scenario rooting", 2), ("--scenario ,", 4)] {
        let place = Place::new("stale");
        ends(&play(&place, "--scenario routing --format quiet"), 0, "");
        ends(&play(&place, words), code, "error: ");
        assert!(!place.path().join("lab-output/summary.json").exists(), "{words}");
    }
}

// ---- Secrets.

const PLANTED: &str = "sk-planted-0123456789abcdefghij";

#[test]
fn a_key_in_the_environment_is_in_no_output() {
    let place = Place::new("environment");
    for words in ["-v", "--format json", "doctor --format json", "list --format json", "why req-demo-009"] {
        let mut command = program(&place, words);
        for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "FAULTLAB_KEY"] {
            command.env(name, PLANTED);
        }
        let output = command.output().unwrap();
        ends(&output, 0, "");
        assert!(!text(&output.stdout).contains(PLANTED) && !text(&output.stderr).contains(PLANTED));
    }
    for name in ["events.jsonl", "summary.json", "run.json"] {
        let written = fs::read_to_string(place.path().join("lab-output").join(name)).unwrap();
        assert!(!written.contains(PLANTED), "{name}");
    }
}

#[test]
fn a_key_in_a_scenario_is_refused_and_not_repeated() {
    let good = text_of("routing");
    let replaced = |to: &str| good.replacen("title = \"", &format!("{to}\ntitle = \""), 1);
    for (name, bad) in [
        ("header", replaced(&format!("headers = {{ authorization = \"Bearer {PLANTED}\" }}"))),
        ("body", replaced(&format!("body = \"the key is {PLANTED}\""))),
        ("source", replaced(&format!("source = \"{PLANTED}\""))),
        ("comment", replaced(&format!("tittle = 1 # {PLANTED}"))),
        ("syntax", replaced(&format!("x = {PLANTED}"))),
    ] {
        let place = Place::new(&format!("secret-{name}"));
        place.file("bad.toml", bad);
        for words in ["check bad.toml", "--scenario bad.toml", "why req-demo-001 --scenario bad.toml"] {
            let output = play(&place, words);
            ends(&output, 3, "this looks like a real key");
            assert!(!text(&output.stderr).contains("0123456789"), "{}", text(&output.stderr));
            assert!(!text(&output.stdout).contains("0123456789"));
        }
    }
}

/// A value that is no known kind of key, in a place where keys are kept.
#[test]
fn what_stands_where_keys_and_bodies_stand_is_not_repeated() {
    let place = Place::new("hidden");
    for key in ["authorization", "x-api-key", "body", "password", "cookie"] {
        place.file("bad.toml", format!("format = 1\ntitle = \"x\"\n{key} = \"PLANTED-something\"\n"));
        let output = play(&place, "check bad.toml");
        ends(&output, 3, &format!("unknown key `{key}`"));
        assert!(!text(&output.stderr).contains("PLANTED"), "{}", text(&output.stderr));
    }
}
