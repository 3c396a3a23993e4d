//! The guard: everything that could open a socket is denied, and counted before the caller goes on.
//!
//! On a system where no filter can be installed at all (an emulator, a container that forbids it) these tests say
//! so on standard error, and check that the guard refuses to stand.

#![expect(unsafe_code, reason = "the children try what only system calls can try")]

mod measured;
mod outer;
mod roles;
mod stage;

use crate::support::Place;
use stage::{CAUGHT, HELD, Played, TOO_WEAK, play, play_with};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

const EACCES: &str = "13";

#[test]
#[ignore = "the other tests start it, each in a process of its own"]
fn a_role_is_played_in_a_child_process() {
    if let Some(role) = stage::role() {
        roles::play(&role);
    }
}

#[test]
fn a_guard_that_stands_has_denied_and_counted_seven_probes_and_reports_none_of_them() {
    for played in play_counting("nothing") {
        played.ends(HELD);
        assert_eq!(["probes", "probes_denied", "probes_counted"].map(|name| played.number(name)), [7; 3]);
        assert_eq!((played.number("attempts"), played.number("bypass_attempts")), (0, 0));
        assert_eq!(played.facts("log"), [""; 0]);
    }
}

/// Else a guard that cannot count any more would pass as one that the system only lets count less.
#[test]
fn where_nothing_stands_in_its_way_the_strongest_guard_does_not_fail_its_own_test() {
    let Some(played) = play_guarded("nothing") else { return };
    let status = std::fs::read_to_string("/proc/self/status").expect("the guard has read it");
    if !status.lines().any(|line| line.split_whitespace().eq(["Seccomp:", "0"])) {
        return skipped("there is a filter around this process already");
    }
    assert!(!played.facts("passed_over").iter().any(|why| why.contains("probes")), "{played:#?}");
}

#[test]
fn every_way_out_is_denied_and_counted_once() {
    for (role, logged) in [
        ("tcp", "network socket inet"),
        ("tcp6", "network socket inet6"),
        ("udp", "network socket inet"),
        ("listener", "network socket inet"),
        ("unix", "network socket unix"),
        ("thread", "network socket inet"),
        ("earlier_thread", "network socket inet"),
    ] {
        for played in play_counting(role) {
            played.ends(CAUGHT);
            assert_eq!(played.facts("tried"), [EACCES], "{role}");
            assert_eq!(played.number("attempts"), 1, "{role}");
            assert!(played.fact("log").starts_with(logged), "{played:#?}");
        }
    }
}

#[test]
fn a_look_up_of_a_name_is_denied_and_counted() {
    for played in play_counting("look_up") {
        played.ends(CAUGHT);
        assert_eq!(played.fact("found"), "false");
        assert!(played.number("attempts") > 0, "{played:#?}");
    }
}

#[test]
fn an_attempt_is_caught_although_the_caller_swallowed_the_error() {
    for played in play_counting("swallowed") {
        played.ends(CAUGHT);
        assert_eq!(played.number("attempts"), 1);
    }
}

/// End to end: exit 5 although every scenario held, a failed check, a count with its worth, and who it was.
#[test]
fn the_program_that_tries_to_get_out_fails_its_suite() {
    let place = Place::new("tries");
    let Some(weakest) = play_guarded("nothing") else { return };
    let output = stage::myself("whole_program").current_dir(place.path()).output().expect("it starts itself");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), CAUGHT, "{said}");
    assert!(said.contains("error: the guard caught and denied outbound attempts: "), "{said}");
    let read = |name: &str| -> serde_json::Value {
        let text =
            std::fs::read_to_string(place.path().join("lab-output").join(name)).expect("it is written");
        serde_json::from_str(&text).expect("it is JSON")
    };
    let (summary, run) = (read("summary.json"), read("run.json"));
    assert_eq!(summary["acceptance"]["failed"], 1);
    assert_eq!(summary["guard_strength"], weakest.fact("strength"));
    assert!(summary["outbound_attempts"].as_u64().is_some_and(|count| count > 0));
    let check = summary["acceptance"]["checks"].as_array().and_then(|checks| checks.last()).expect("a check");
    assert_eq!((&check["name"], &check["verdict"]), (&"zero_outbound_network".into(), &"failed".into()));
    assert_eq!((&run["exit"], &run["guard"]["log"][0]["call"]), (&5.into(), &"socket".into()));
}

#[test]
fn each_call_of_the_list_is_denied_and_counted_as_its_kind() {
    for played in play_counting("every_call") {
        played.ends(CAUGHT);
        assert_eq!(played.facts("tried"), [EACCES; roles::NETWORK.len() + roles::BYPASS.len()]);
        assert_eq!(played.number("attempts"), roles::NETWORK.len() as u64);
        assert_eq!(played.number("bypass_attempts"), roles::BYPASS.len() as u64);
    }
}

#[test]
fn a_ring_is_denied_and_alone_a_catch() {
    for played in play_counting("ring") {
        played.ends(CAUGHT);
        assert_eq!(played.facts("tried"), [EACCES]);
        assert_eq!((played.number("attempts"), played.number("bypass_attempts")), (0, 1));
        assert!(played.fact("log").starts_with("bypass io_uring_setup - "), "{played:#?}");
    }
}

#[test]
fn threads_that_try_at_once_are_counted_exactly() {
    for played in play_counting("eight_threads") {
        played.ends(CAUGHT);
        assert_eq!(played.number("attempts"), 16_000);
        assert_eq!(played.facts("log").len(), 32, "the first are remembered, all are counted");
    }
}

#[test]
fn calls_that_a_signal_interrupts_are_counted_once_or_were_not_denied() {
    for played in play_counting("interrupted") {
        assert!(played.number("denied") > 0);
        assert_eq!(played.number("attempts"), played.number("denied"));
    }
}

/// Such a kernel (before 5.19) may take our answer and the signal in the same instant: the caller hears of the
/// signal, and its call is in the count although it comes again. More than was denied is possible, less is not.
#[test]
fn on_a_kernel_where_signals_interrupt_the_question_too_nothing_goes_uncounted() {
    let Some(played) = play_guarded("interrupted_while_asked") else { return };
    let as_it_is = play("nothing");
    assert_eq!(played.fact("mechanism"), as_it_is.fact("mechanism"));
    assert!(played.number("attempts") >= played.number("denied"), "{played:#?}");
    assert!(played.number("attempts") <= 10_000, "{played:#?}");
}

#[test]
fn a_fork_is_counted_with_its_parent() {
    for played in play_counting("fork") {
        played.ends(CAUGHT);
        assert_eq!((played.fact("forked"), played.number("attempts")), ("0", 5));
        let processes = played.facts("log_process");
        assert!(processes.iter().all(|process| *process == processes[0]), "{played:#?}");
    }
}

#[test]
fn a_program_started_under_the_guard_is_denied_too() {
    let Some(played) = play_guarded("started_program") else { return };
    if played.fact("strength") == "enforced-counted" {
        played.ends(CAUGHT);
        assert_eq!((played.facts("inner_tried"), played.number("attempts")), (vec![EACCES; 3], 3));
    } else {
        check_killed_at_its_first_attempt(&played);
    }
}

#[test]
fn a_program_that_outlives_the_guard_is_denied_still() {
    let Some(played) = play_guarded("outlived") else { return };
    played.ends(HELD);
    if played.fact("strength") == "enforced-counted" {
        assert_eq!(played.fact("tried"), "38", "nobody is left to ask, so the kernel says no: {played:#?}");
    }
}

#[test]
fn a_socket_opened_before_the_guard_cannot_be_used_under_it() {
    for played in play_counting("opened_before") {
        played.ends(CAUGHT);
        assert_eq!((played.facts("tried"), played.number("attempts")), (vec![EACCES; 7], 7));
        assert!(played.facts("inherited").len() >= 3, "{played:#?}");
    }
}

#[test]
fn a_pair_of_unix_sockets_is_no_attempt() {
    for played in play_counting("pair") {
        played.ends(HELD);
        assert_eq!((played.fact("pair"), played.number("attempts")), ("true", 0));
    }
}

#[test]
fn a_process_that_holds_a_way_out_is_refused() {
    for (role, held) in [
        ("holds_inet", "inet socket"),
        ("holds_inet6", "inet6 socket"),
        ("holds_netlink", "socket of another family"),
        ("holds_ring", "io_uring"),
    ] {
        let played = play(role);
        if let [why] = played.facts("impossible")[..] {
            skipped(&format!("{role}: this system does not let one be opened ({why})"));
            continue;
        }
        played.ends(TOO_WEAK);
        assert!(played.fact("refused").contains(held), "{played:#?}");
    }
}

#[test]
fn a_socket_left_open_by_the_program_before_is_refused() {
    let played = play("hands_over");
    if let [why] = played.facts("impossible")[..] {
        return skipped(&format!("this system does not let a socket be opened ({why})"));
    }
    assert_eq!(played.fact("started"), "exit status: 6");
    assert!(played.fact("inner_refused").contains("(inet socket)"), "{played:#?}");
}

#[test]
fn a_unix_socket_as_a_standard_stream_is_reported_and_let_pass() {
    let (input, _other_end) = UnixStream::pair().expect("pairs are for everybody");
    let played = play_with("nothing", OwnedFd::from(input).into());
    if is_without_filters(&played) {
        return;
    }
    played.ends(HELD);
    assert!(played.facts("inherited").contains(&"descriptor 0 (unix socket)"), "{played:#?}");
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_call_in_a_foreign_convention_ends_the_process() {
    let Some(played) = play_guarded("foreign_convention") else { return };
    assert_eq!(played.number("signal"), libc::SIGSYS as u64);
}

#[test]
fn inside_another_guard_the_second_one_traps_and_counts_what_it_denies() {
    let Some(played) = play_guarded("guard_in_guard") else { return };
    if played.fact("strength") != "enforced-counted" {
        return skipped("this system has no guard that a second one could be inside of");
    }
    played.ends(HELD);
    assert_eq!(played.fact("started"), "exit status: 5");
    assert_eq!(played.fact("inner_mechanism"), "seccomp-trap");
    assert!(played.fact("inner_passed_over").starts_with("seccomp-notify: "), "{played:#?}");
    assert_eq!((played.fact("inner_tried"), played.fact("inner_attempts")), (EACCES, "1"));
}

#[test]
fn where_a_sandbox_answers_in_its_stead_the_guard_traps_so_that_all_is_counted() {
    let Some(played) = play_guarded("vsock_answered") else { return };
    played.ends(CAUGHT);
    assert_eq!(played.fact("strength"), "enforced-counted-self");
    assert_eq!((played.number("probes_counted"), played.number("attempts")), (7, 1));
}

#[test]
fn where_the_kernel_cannot_ask_the_guard_traps() {
    let Some(played) = play_guarded("trapped: nothing") else { return };
    played.ends(HELD);
    assert_eq!(
        (played.fact("strength"), played.fact("mechanism")),
        ("enforced-counted-self", "seccomp-trap")
    );
    assert_eq!(played.facts("passed_over").len(), 1);
}

#[test]
fn under_traps_a_program_is_killed_at_its_first_attempt() {
    let Some(played) = play_guarded("trapped: started_program") else { return };
    check_killed_at_its_first_attempt(&played);
}

#[test]
fn a_guard_that_cannot_count_is_too_weak_and_never_says_zero() {
    if play_guarded("nothing").is_none() {
        return;
    }
    let required = play("cannot_count");
    required.ends(TOO_WEAK);
    assert_eq!(required.fact("strength"), "enforced");
    let best_effort = play("cannot_count_best_effort");
    best_effort.ends(HELD);
    check_uncounted(&best_effort, "enforced");
    assert_eq!(best_effort.facts("tried"), [EACCES]);
    assert_eq!(best_effort.facts("passed_over").len(), 2);
}

#[test]
fn without_filters_the_guard_does_not_stand() {
    if play_guarded("nothing").is_none() {
        return;
    }
    let required = play("cannot_filter");
    required.ends(TOO_WEAK);
    assert!(required.fact("refused").contains("`none`"), "{required:#?}");
    let best_effort = play("cannot_filter_best_effort");
    best_effort.ends(HELD);
    check_uncounted(&best_effort, "none");
    assert_eq!(best_effort.facts("passed_over").len(), 3);
}

#[test]
fn a_guard_that_fell_meanwhile_keeps_what_it_caught_and_does_not_say_zero() {
    let Some(fell) = play_guarded("fell") else { return };
    if fell.fact("mechanism") != "seccomp-notify" {
        return skipped("this system has no guard that somebody could answer before");
    }
    fell.ends(TOO_WEAK);
    check_uncounted(&fell, "enforced");
    let caught = play("fell_after_an_attempt");
    caught.ends(CAUGHT);
    assert_eq!((caught.fact("strength"), caught.number("attempts")), ("enforced", 1));
    assert_eq!(caught.facts("log").len(), 1);
}

#[test]
fn a_guard_that_is_off_claims_nothing() {
    let played = play("off");
    played.ends(HELD);
    check_uncounted(&played, "none");
}

#[test]
fn the_best_effort_is_as_strong_as_the_demand_where_the_system_allows() {
    if play_guarded("nothing").is_none() {
        return;
    }
    play("best_effort").ends(CAUGHT);
}

#[test]
#[ignore = "a measurement: cargo test --release guard_costs -- --ignored --nocapture"]
fn what_the_guard_costs() {
    let played = play("measured");
    for name in ["strength", "arming_us", "ordinary_before_ns", "ordinary_after_ns", "attempt_ns"] {
        writeln!(std::io::stderr(), "{name} = {}", played.fact(name)).expect("a test has an error stream");
    }
}

/// A child under `--guard require`; `None`, said aloud, if this system has no filters at all.
fn play_guarded(role: &str) -> Option<Played> {
    let played = play(role);
    (!is_without_filters(&played)).then_some(played)
}

/// A child under each mechanism that counts: first as the system has it, then where it must trap.
fn play_counting(role: &str) -> Vec<Played> {
    let trapped = format!("{}{role}", roles::TRAPPED);
    [role, &trapped].into_iter().map_while(play_guarded).collect()
}

/// Only the system's own refusal excuses: every mechanism was tried, and none could be installed.
fn is_without_filters(played: &Played) -> bool {
    let [refused] = played.facts("refused")[..] else { return false };
    let without = played.exit == TOO_WEAK
        && played.facts("strength") == ["none"]
        && ["seccomp-notify: ", "seccomp-trap: ", "seccomp-errno: "]
            .iter()
            .all(|tried| refused.contains(tried))
        && !refused.contains("probes");
    if without {
        skipped(refused);
    }
    without
}

/// Past the harness, which holds back what a passing test prints.
fn skipped(why: &str) {
    let said = writeln!(std::io::stderr(), "SKIPPED, NOT PASSED: a test of the guard: {why}");
    said.expect("a test has an error stream");
}

fn check_uncounted(played: &Played, strength: &str) {
    assert_eq!(played.fact("strength"), strength);
    assert_eq!((played.fact("attempts"), played.fact("bypass_attempts")), ("absent", "absent"));
}

fn check_killed_at_its_first_attempt(played: &Played) {
    played.ends(HELD);
    assert!(played.fact("started").starts_with("signal: 31"), "{played:#?}");
    assert_eq!(played.facts("inner_tried"), [""; 0]);
}
