//! The program, as a user runs it: exit codes, what goes where, and what is said when something is wrong.

use crate::support::{Place, faultlab, golden, text_of};
use serde_json::Value;
use snapbox::cmd::OutputAssert;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// Runs the program in the folder of `place`.
fn run<A: AsRef<OsStr>>(place: &Place, args: impl IntoIterator<Item = A>) -> Said {
    Said(faultlab().current_dir(place.path()).stdin("").args(args).assert())
}

/// The words of a line, as a user types them.
fn line(place: &Place, words: &str) -> Said {
    run(place, words.split_whitespace())
}

/// How the program ended, and what it said.
struct Said(OutputAssert);

impl Said {
    fn code(self, code: i32) -> Said {
        Said(self.0.code(code))
    }

    fn stdout(&self) -> String {
        String::from_utf8(self.0.get_output().stdout.clone()).unwrap()
    }

    fn stderr(&self) -> String {
        String::from_utf8(self.0.get_output().stderr.clone()).unwrap()
    }

    /// It ended with `code`, said nothing on stdout, and these texts on stderr.
    fn fails(self, code: i32, texts: &[&str]) {
        let said = self.code(code);
        assert_eq!(said.stdout(), "", "a result is no complaint");
        for text in texts {
            assert!(said.stderr().contains(text), "{text:?} is not in {}", said.stderr());
        }
        assert!(!said.stderr().contains('\u{1b}'), "no colours in a file");
    }

    /// It ended with 0 and said nothing on stderr.
    fn holds(self) -> String {
        let said = self.code(0);
        assert_eq!(said.stderr(), "");
        said.stdout()
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn file(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

// ---- What it says when all is well.

#[test]
fn the_suite_passes_with_a_line_a_scenario_and_a_verdict_line() {
    let place = Place::new("suite");
    golden("cli/suite", &line(&place, "").holds());
    assert_eq!(
        names(&place.path().join("lab-output")),
        [".gitignore", ".lock", "events.jsonl", "run.json", "summary.json"]
    );
}

#[test]
fn the_help_reads_well() {
    let place = Place::new("help");
    for command in ["", "run", "list", "check", "classify", "why", "verify", "schema", "doctor"] {
        let help = line(&place, &format!("{command} --help")).holds();
        let trimmed: Vec<&str> = help.lines().map(str::trim_end).collect();
        let name = if command.is_empty() { "help".to_owned() } else { format!("help-{command}") };
        golden(&format!("cli/{name}"), &trimmed.join("\n"));
    }
    assert_eq!(line(&place, "--version").holds(), format!("faultlab {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(names(place.path()), Vec::<String>::new(), "asking for help writes nothing");
}

#[test]
fn the_suite_is_listed_for_people_and_for_programs() {
    let place = Place::new("list");
    golden("cli/list", &line(&place, "list").holds());
    let listed = json(&line(&place, "list --format json").holds());
    assert_eq!(listed[1]["name"], "bounded-429");
    assert_eq!(listed[1]["variants"][0], "base");
    assert_eq!(listed[1]["checks"][0], "bounded_429_fallback");
    assert_eq!(listed.as_array().unwrap().len(), faultlab::suite::embedded().len());
    let verbose = line(&place, "list -v").holds();
    assert!(verbose.contains("variant full_jitter") && verbose.contains("expects jitter_is_not_constant"));
    assert_eq!(names(place.path()), Vec::<String>::new(), "a list writes nothing");
}

#[test]
fn a_story_is_the_same_played_again_and_read_from_a_folder() {
    let place = Place::new("why");
    line(&place, "--scenario routing,bounded-429,budget-audit --format quiet").holds();
    for words in [
        "req-demo-002",
        "req-demo-009",
        "req-demo-010 --variant task_level",
        "stream/11 --variant by_rolling_latency",
        "req-demo-002 --variant full_jitter --seed 77",
    ] {
        for format in ["human", "json"] {
            let played = line(&place, &format!("why {words} --format {format}")).holds();
            let read = line(&place, &format!("why {words} --format {format} --from lab-output")).holds();
            assert_eq!(played, read, "{words} {format}");
        }
    }
    golden("cli/why", &line(&place, "why req-demo-002").holds());
    golden("cli/why-json", &line(&place, "why req-demo-009 --format json").holds());
}

#[test]
fn verify_finds_that_plays_are_equal() {
    let place = Place::new("verify");
    let said = line(&place, "verify --scenario bounded-429,budget-audit --seed 5").holds();
    assert!(said.starts_with("PASS: three plays in three processes"), "{said}");
    assert_eq!(line(&place, "verify -q --scenario routing").holds(), "");
    assert_eq!(names(place.path()), Vec::<String>::new(), "its scratch folder is elsewhere, and gone");
}

#[test]
fn a_good_file_is_called_fine_and_not_played() {
    let place = Place::new("check");
    place.file("good.toml", text_of("bounded-429"));
    assert_eq!(line(&place, "check good.toml").holds(), "good.toml: fine, 10 variants and 29 expectations\n");
    assert_eq!(line(&place, "check -q good.toml").holds(), "");
    assert_eq!(names(place.path()), ["good.toml"]);
}

#[test]
fn every_file_is_checked_although_one_is_bad() {
    let place = Place::new("check-bad");
    place.file("good.toml", text_of("routing"));
    place.file("bad.toml", "format = 1\ntitel = \"A typo\"\n");
    let said = line(&place, "check missing.toml bad.toml good.toml").code(3);
    assert_eq!(said.stdout(), "good.toml: fine, 24 variants and 35 expectations\n");
    for text in ["cannot read `missing.toml`", "did you mean `title`?", "--> bad.toml:2:1"] {
        assert!(said.stderr().contains(text), "{text:?} is not in {}", said.stderr());
    }
}

// ---- Which scenarios are played.

#[test]
fn scenarios_are_named_repeated_listed_or_all() {
    let place = Place::new("names");
    place.file("mine.toml", text_of("terminal-errors"));
    let played = |words: &str| {
        let said = json(&line(&place, &format!("{words} --format json --events none")).holds());
        let scenarios = said["scenarios"].as_array().unwrap().iter();
        let names: Vec<String> = scenarios.map(|one| one["name"].as_str().unwrap().to_owned()).collect();
        (names.join(" "), said["acceptance"]["scope"].as_str().unwrap().to_owned())
    };
    let is = |names: &str, scope: &str| (names.to_owned(), scope.to_owned());
    let all: Vec<&str> = faultlab::suite::embedded().iter().map(|one| one.name).collect();
    let all = &all.join(" ");
    assert_eq!(played("--scenario bounded-429"), is("bounded-429", "partial"));
    assert_eq!(
        played("run --scenario budget-audit --scenario routing"),
        is("budget-audit routing", "partial")
    );
    assert_eq!(played("--scenario budget-audit,routing,routing"), is("budget-audit routing", "partial"));
    assert_eq!(played("--scenario mine.toml"), is("mine", "partial"));
    assert_eq!(played("--scenario all"), is(all, "suite"));
    assert_eq!(played("run"), is(all, "suite"));
    assert_eq!(played("--scenario all --seed 1").1, "partial", "other seeds are no release pass");
}

#[test]
fn typos_get_a_guess() {
    let place = Place::new("typos");
    for (words, guess) in [
        ("--scenaro routing", "a similar argument exists: '--scenario'"),
        ("--scenario rooting", "did you mean `routing`?"),
        ("--scenario bounded", "the suite has: routing, bounded-429"),
        ("why req-demo-02", "did you mean `req-demo-002`?"),
        ("why req-demo-009 --variant token", "in a variant `token`; did you mean `tokens`?"),
        ("lisst", "a similar subcommand exists: 'list'"),
        ("--events ful", "a similar value exists: 'full'"),
        ("--format jsn", "a similar value exists: 'json'"),
    ] {
        line(&place, words).fails(2, &["error: ", guess]);
    }
    assert_eq!(names(place.path()), Vec::<String>::new(), "nothing was played");
}

#[test]
fn a_flag_that_would_have_no_effect_is_an_error() {
    let place = Place::new("flags");
    for (words, complaint) in [
        ("--seed 3 list", "--seed stands before `list`"),
        ("--scenario routing run", "--scenario stands before `run`"),
        ("--out-dir x check y", "--out-dir stands before `check`"),
        ("--output-dir x verify", "--out-dir stands before `verify`"),
        ("--format json why r", "--format stands before `why`"),
        ("--guard off verify", "--guard stands before `verify`"),
        ("-q -v", "cannot be used with"),
        ("why", "<REQUEST>"),
        ("check", "<FILE>"),
        ("--seed -1", "'-1'"),
        ("--seed x", "invalid value 'x'"),
        ("why r --from a --scenario b", "cannot be used with"),
    ] {
        line(&place, words).fails(2, &["error: ", complaint, "--help"]);
    }
    assert_eq!(names(place.path()), Vec::<String>::new());
}

// ---- What is printed, and where.

#[test]
fn json_on_stdout_is_the_summary_byte_for_byte() {
    let place = Place::new("json");
    let said = line(&place, "--scenario routing --format json --output-dir there").holds();
    assert_eq!(said, file(place.path().join("there/summary.json")));
    assert_eq!(json(&said)["acceptance"]["failed"], 0);
    assert!(!place.path().join("lab-output").exists());
}

#[test]
fn quiet_is_quiet() {
    let place = Place::new("quiet");
    let verdict = "PASS: 31/31 checks (not the whole suite: no release pass); evidence in lab-output\n";
    assert_eq!(line(&place, "-q --scenario bounded-429").holds(), verdict);
    assert_eq!(line(&place, "--format quiet --scenario bounded-429").holds(), "");
    place.file("failing.toml", text_of("bounded-429").replace("attempts_max = 2", "attempts_max = 1"));
    let said = line(&place, "-q --scenario failing.toml").code(1).stdout();
    assert!(said.contains("broken  failing/bounded_429_fallback") && said.contains("FAIL: "), "{said}");
    assert!(!said.contains("held"), "{said}");
    assert_eq!(line(&place, "--format quiet --scenario failing.toml").code(1).stdout(), "");
}

#[test]
fn colours_are_where_they_are_wanted() {
    let place = Place::new("colour");
    let colours = |flag: &str, env: &[(&str, &str)], scenario: &str| {
        let command = faultlab().current_dir(place.path()).envs(env.iter().copied());
        let ended = command.args(["--scenario", scenario, "--color", flag]).output().unwrap();
        String::from_utf8([ended.stdout, ended.stderr].concat()).unwrap().contains("\u{1b}[")
    };
    place.file("bad.toml", "format = 2\n");
    for scenario in ["bounded-429", "bad.toml"] {
        assert!(colours("always", &[], scenario));
        assert!(!colours("never", &[], scenario));
        assert!(!colours("never", &[("CLICOLOR_FORCE", "1")], scenario));
        assert!(!colours("auto", &[], scenario), "a pipe is no terminal");
        assert!(colours("auto", &[("CLICOLOR_FORCE", "1")], scenario));
        assert!(!colours("auto", &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], scenario));
    }
}

#[test]
fn events_are_written_as_asked() {
    let place = Place::new("events");
    let events = |words: &str, code: i32| {
        let said = line(&place, &format!("{words} --format json")).code(code).stdout();
        let digest = json(&said)["scenarios"][0]["digest"].clone();
        let path = place.path().join("lab-output/events.jsonl");
        (path.exists().then(|| file(path)), digest)
    };
    let (full, digest) = events("--scenario bounded-429 --events full", 0);
    let full = full.unwrap();
    let runs = full.lines().filter(|line| line.starts_with("{\"format\":1,")).count();
    assert_eq!(runs, 9 + 200, "one header a run");
    assert!(full.lines().all(|line| json(line).is_object()));
    assert_eq!(events("--scenario bounded-429 --events none", 0), (None, digest.clone()));
    assert_eq!(events("--scenario bounded-429 --events failures", 0), (Some(String::new()), digest));
    let failing = text_of("bounded-429").replace("at = \"730 ms\"", "at = \"731 ms\"");
    place.file("failing.toml", failing);
    let (failures, _) = events("--scenario failing.toml --events failures", 1);
    let failures = failures.unwrap();
    assert!(
        failures.lines().all(|line| line.contains("\"retry_after_fits\"")),
        "only what failed is written"
    );
    assert_eq!(failures.lines().count(), 25);
}

#[test]
fn fail_fast_stops_after_the_first_failure() {
    let place = Place::new("fail-fast");
    place.file("failing.toml", text_of("bounded-429").replace("attempts_max = 2", "attempts_max = 1"));
    let words = "--scenario failing.toml,routing --format json --events none";
    let all = json(&line(&place, words).code(1).stdout());
    assert_eq!((all["scenarios"].as_array().unwrap().len(), &all["complete"]), (2, &Value::Bool(true)));
    let first = json(&line(&place, &format!("{words} --fail-fast")).code(1).stdout());
    assert_eq!((first["scenarios"].as_array().unwrap().len(), &first["complete"]), (1, &Value::Bool(false)));
}

#[test]
fn another_seed_moves_the_dice_and_the_same_seed_does_not() {
    let place = Place::new("seed");
    let events = |seed: u64| {
        line(&place, &format!("--scenario bounded-429 --format quiet --seed {seed}")).code(0);
        file(place.path().join("lab-output/events.jsonl"))
    };
    let seventh = events(7);
    assert!(
        seventh.contains("\"seed\":7,")
            && seventh.contains("\"seed\":206,")
            && !seventh.contains("\"seed\":6,")
    );
    assert_ne!(events(8), seventh);
    assert_eq!(events(7), seventh);
}

// ---- What cannot be read or written.

#[test]
fn what_is_no_scenario_is_refused_with_a_reason() {
    let place = Place::new("bad-input");
    fs::create_dir(place.path().join("folder")).unwrap();
    place.file("empty.toml", "");
    place.file("latin.toml", b"format = 1\ntitle = \"Mod\xe8le\"\n");
    place.file("large.toml", vec![b'#'; 10 << 20]);
    place.file("typo.toml", "format = 1\ntitel = \"x\"\n");
    for (name, reason) in [
        ("folder", "`folder` is a folder"),
        ("missing.toml", "cannot read `missing.toml`"),
        ("no/where", "cannot read `no/where`"),
        ("empty.toml", "the file is empty"),
        ("latin.toml", "this is not UTF-8"),
        ("large.toml", "has 10485760 bytes; a scenario has at most 1048576"),
        ("typo.toml", "did you mean `title`?"),
    ] {
        line(&place, &format!("--scenario {name}")).fails(3, &["error: ", reason]);
        line(&place, &format!("check {name}")).fails(3, &["error: ", reason]);
        line(&place, &format!("why r --scenario {name}")).fails(3, &["error: ", reason]);
        line(&place, &format!("verify --scenario {name}")).fails(3, &["error: ", reason]);
    }
    assert!(!place.path().join("lab-output").exists(), "nothing was played");
}

/// A device has no size and no end.
#[cfg(unix)]
#[test]
fn what_is_not_a_regular_file_is_not_read() {
    let place = Place::new("device");
    for device in ["/dev/zero", "/dev/null"] {
        let reason = format!("`{device}` is not a regular file");
        line(&place, &format!("--scenario {device}")).fails(3, &["error: ", &reason]);
        line(&place, &format!("check {device}")).fails(3, &["error: ", &reason]);
    }
}

#[test]
fn one_bad_scenario_of_two_plays_neither() {
    let place = Place::new("one-bad");
    place.file("typo.toml", "format = 1\ntitel = \"x\"\n");
    line(&place, "--scenario routing,typo.toml").fails(3, &["nothing was played"]);
    assert!(!place.path().join("lab-output").exists());
}

#[test]
fn nothing_asked_for_is_no_pass() {
    let place = Place::new("nothing");
    run(&place, ["--scenario", ""]).fails(4, &["no scenario was asked for"]);
    run(&place, ["--scenario", " , "]).fails(4, &["no scenario was asked for"]);
}

#[test]
fn a_folder_that_cannot_be_written_ends_with_74() {
    let place = Place::new("unwritable");
    place.file("file", "mine");
    let once = "cannot look at file/below: ";
    for (folder, reason) in [("file", "file is not a folder"), ("file/below", once)] {
        line(&place, &format!("--scenario routing --out-dir {folder}")).fails(74, &["error: ", reason]);
    }
    let said = line(&place, "--scenario routing --out-dir file/below").code(74).stderr();
    assert_eq!(said.matches("os error").count(), 1, "the reason is given once: {said}");
    assert_eq!(file(place.path().join("file")), "mine");
}

#[test]
fn a_folder_of_somebody_else_is_refused_and_untouched() {
    let place = Place::new("foreign");
    let folder = place.path().join("theirs");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("summary.json"), "{}").unwrap();
    line(&place, "--out-dir theirs").fails(74, &["theirs is not empty and was not made by faultlab"]);
    assert_eq!(names(&folder), ["summary.json"]);
    assert_eq!(file(folder.join("summary.json")), "{}");
}

/// A run that cannot finish leaves no verdict of an earlier one behind.
#[test]
fn the_old_summary_is_gone_before_anything_is_played() {
    let place = Place::new("old");
    line(&place, "--scenario routing --format quiet").holds();
    let folder = place.path().join("lab-output");
    fs::create_dir(folder.join("events.jsonl.partial")).unwrap();
    line(&place, "--scenario routing").fails(74, &["events.jsonl.partial"]);
    assert_eq!(names(&folder), [".gitignore", ".lock", "events.jsonl.partial", "run.json"]);
}

#[test]
fn a_story_that_is_not_there_is_said_so() {
    let place = Place::new("no-story");
    line(&place, "why req-demo-002 --from nowhere").fails(3, &["cannot read nowhere"]);
    place.file("foreign.jsonl", "{\"level\":\"info\"}\n");
    line(&place, "why req-demo-002 --from foreign.jsonl").fails(3, &["foreign.jsonl, line 1: "]);
    line(&place, "--scenario routing --format quiet").holds();
    line(&place, "why req-demo-009 --from lab-output")
        .fails(4, &["tells nothing of a request `req-demo-009`; did you mean `req-demo-001`?"]);
    line(&place, "why nobody --from lab-output").fails(4, &["of a request `nobody`; was it written with"]);
    line(&place, "why req-demo-001 --from lab-output --variant by_prize")
        .fails(4, &["`req-demo-001` in a variant `by_prize`; did you mean `by_price`?"]);
    line(&place, "why req-demo-002 --variant nowhere").fails(2, &["in a variant `nowhere`"]);
}

#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let place = Place::new("pipe");
    let program = env!("CARGO_BIN_EXE_faultlab");
    let mut child = std::process::Command::new(program)
        .current_dir(place.path())
        .args(["--scenario", "routing", "--format", "json"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(place.path().join("lab-output/summary.json").exists());
}
