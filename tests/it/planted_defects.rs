//! Every defect that is planted in a shipped scenario turns the gate red, by the check that is meant for it, and
//! the program says so with its exit code.

use crate::planted_machine_defects::MACHINE_DEFECTS;
use crate::support::{Place, faultlab, read, text_of};
use faultlab::journal::{Level, Scope, Verdict};
use faultlab::scenario::{Scenario, load};
use faultlab::suite::{Options, Played, embedded, play, summarise};

/// A change of a scenario, and what must go red by it.
pub(crate) struct Defect {
    name: &'static str,
    scenario: &'static str,
    change: Change,
    /// Every check that must fail, by its name.
    red: &'static [&'static str],
    /// A text that must be among the reasons.
    says: &'static str,
}

pub(crate) enum Change {
    /// This text, which is there once, becomes that one.
    Replace(&'static str, &'static str),
    /// One variant more, without a promise: only the laws can see it.
    Variant(&'static str),
}

use Change::{Replace, Variant};

/// One row.
pub(crate) const fn defect(
    name: &'static str,
    scenario: &'static str,
    change: Change,
    red: &'static [&'static str],
    says: &'static str,
) -> Defect {
    Defect { name, scenario, change, red, says }
}

const DEFECTS: &[Defect] = &[
    defect(
        "one attempt instead of two",
        "bounded-429",
        Replace("attempts_max = 2", "attempts_max = 1"),
        &["bounded_429_fallback", "two_calls_of_two", "exhausted_by_attempts"],
        "variant base, seed 1: expected a matching replied, saw none",
    ),
    defect(
        "a deadline of 100 ms instead of 1,200",
        "bounded-429",
        Replace("deadline = \"1200 ms\"", "deadline = \"100 ms\""),
        &["bounded_429_fallback", "waits_100_ms_for_the_fallback", "in_this_order"],
        "variant base",
    ),
    defect(
        "a cap of a tenth of a cent more, which changes no decision",
        "bounded-429",
        Replace("cost_max = \"$0.030\"", "cost_max = \"$0.031\""),
        &["in_this_order"],
        "variant base, seed 1",
    ),
    defect(
        "an envelope with a deadline of three times as long",
        "routing",
        Replace(
            "id = \"req-demo-001\"\ndeadline = \"1200 ms\"",
            "id = \"req-demo-001\"\ndeadline = \"3600 ms\"",
        ),
        &["decided_by_policy_v3"],
        "variant base, seed 1",
    ),
    defect(
        "a compliance refusal with another status",
        "terminal-errors",
        Replace("{ after = \"60 ms\", status = 403", "{ after = \"60 ms\", status = 404"),
        &["decided_by_the_code"],
        "variant base, seed 1",
    ),
    defect(
        "a fallback that takes 45 s",
        "bounded-429",
        Replace("[{ after = \"450 ms\", usage", "[{ after = \"45 s\", usage"),
        &["bounded_429_fallback", "in_this_order"],
        "variant base, seed 1: expected a matching replied, saw none",
    ),
    defect(
        "a fallback that is billed $0.9",
        "bounded-429",
        Replace(
            "[{ after = \"450 ms\", usage = { input = 8000, output = 1000 } }]",
            "[{ after = \"450 ms\", usage = { input = 8000, output = 1000 }, bill = \"$0.9\" }]",
        ),
        &["costs_what_was_used"],
        "expected a matching closed, saw none",
    ),
    defect(
        "a fallback whose price makes it $0.9",
        "bounded-429",
        Replace(
            "latency_p95 = \"600 ms\"",
            "latency_p95 = \"600 ms\"\nlong_price = { above = 0, input = \"$100/Mtok\", output = \"$100/Mtok\" }",
        ),
        &["bounded_429_fallback"],
        "variant base",
    ),
    defect(
        "a backoff of 100 s",
        "bounded-429",
        Replace("backoff = { fixed = \"100 ms\" }", "backoff = { fixed = \"100 s\" }"),
        &["bounded_429_fallback", "waits_100_ms_for_the_fallback"],
        "variant base",
    ),
    defect(
        "a fallback that is limited too where success was expected",
        "bounded-429",
        Replace(
            "[{ after = \"450 ms\", usage = { input = 8000, output = 1000 } }]",
            "[{ after = \"450 ms\", status = 429, code = \"rate_limited\" }]",
        ),
        &["bounded_429_fallback", "costs_what_was_used"],
        "variant base",
    ),
    defect(
        "a limit that is told to health as a failure, undeclared",
        "bounded-429",
        Variant("policy.signal.rate_limit = \"failure\""),
        &["neutral_moves_nothing"],
        "variant planted, seed 1, entry 11 at 80 ms",
    ),
    defect(
        "a cap of $5 instead of $0.05",
        "budget-audit",
        Replace(
            "tenant = \"tenant-7f3a\"\ndeadline = \"2 s\"\ncost_max = \"$0.050\"\nclass = \"internal\"\nregions = [\"region-a\"]\ncapabilities",
            "tenant = \"tenant-7f3a\"\ndeadline = \"2 s\"\ncost_max = \"$5\"\nclass = \"internal\"\nregions = [\"region-a\"]\ncapabilities",
        ),
        &["request_budget_blocks_fallback", "refused_before_the_call", "budget_is_not_congestion"],
        "variant base, seed 1: expected a matching denied, saw none",
    ),
    defect(
        "a fallback that is estimated at $0.001 instead of $0.042",
        "budget-audit",
        Replace(
            "price = { input = \"$1.80/Mtok\", output = \"$12.00/Mtok\" }",
            "price = { input = \"$0.05/Mtok\", output = \"$0.25/Mtok\" }",
        ),
        &["request_budget_blocks_fallback", "refused_before_the_call"],
        "variant base, seed 1: expected a matching denied, saw none",
    ),
    defect(
        "a budget that is only checked where it should be reserved",
        "budget-audit",
        Replace(
            "title = \"Reserve: two requests in flight cannot share the last dollar\"",
            "title = \"Reserve\"\npolicy.budget.reserve = \"check_only\"",
        ),
        &["held_money_denies", "reserving_saves_the_second_call", "money_within_caps"],
        "variant last_dollar, seed 1",
    ),
    defect(
        "a budget that is checked only, undeclared",
        "budget-audit",
        Replace("breaks = [\"money_within_caps\"]\npolicy.budget.reserve", "policy.budget.reserve"),
        &["money_within_caps"],
        "variant last_dollar_checked_only, seed 1",
    ),
    defect(
        "a budget that is a dashboard, undeclared",
        "budget-audit",
        Variant("policy.budget.reserve = \"after\""),
        &["money_within_caps"],
        "variant planted, seed 1",
    ),
    defect(
        "a 401 that is tried elsewhere",
        "terminal-errors",
        Replace("[policy.retry]", "[policy.remedy]\nauth = \"fallback\"\n\n[policy.retry]"),
        &["terminal_errors_stop", "fallback_never_called", "auth_stops_by_name", "terminal_stops"],
        "variant base, seed 1",
    ),
    defect(
        "a 429 insufficient_quota that is tried elsewhere",
        "terminal-errors",
        Replace("[policy.retry]", "[policy.remedy]\nfunds = \"fallback\"\n\n[policy.retry]"),
        &["terminal_errors_stop", "fallback_never_called", "funds_stop_by_name", "terminal_stops"],
        "variant base, seed 1",
    ),
    defect(
        "a 429 insufficient_quota that is waited for on the same route",
        "terminal-errors",
        Variant("policy.remedy.funds = \"wait_same_then_fallback\""),
        &["terminal_stops"],
        "variant planted, seed 1",
    ),
    defect(
        "a compliance refusal that is tried elsewhere",
        "terminal-errors",
        Replace("[policy.retry]", "[policy.remedy]\npolicy_refusal = \"fallback_now\"\n\n[policy.retry]"),
        &["terminal_errors_stop", "compliance_stops_by_name", "terminal_stops"],
        "variant base, seed 1",
    ),
    defect(
        "a law that is declared broken and is not",
        "routing",
        Variant("breaks = [\"eligible_only\"]"),
        &["eligible_only"],
        "variant planted is meant to break it and did not in its run",
    ),
    defect(
        "a provider that lies about an empty account, undeclared",
        "terminal-errors",
        Variant(
            "[[variant.route]]\nname = \"primary\"\nupstream.replies = [{ after = \"60 ms\", status = 429, code = \"rate_limited\", truth = \"funds\" }]",
        ),
        &["terminal_stops", "terminal_keeps_its_name"],
        "variant planted, seed 1",
    ),
    // Each filter off. Only the facts can tell: the gateway considers the route eligible and says so.
    filter("data_residency", "", "calls route-fast, which is excluded: data_residency"),
    filter(
        "classification_limit",
        "[[variant.route]]\nname = \"route-fit\"\nclass_max = \"internal\"",
        "calls route-fit, which is excluded: classification_limit",
    ),
    filter("missing_capability", "", "calls route-cheap, which is excluded: missing_capability:tools"),
    filter(
        "task_type",
        "[[variant.request]]\nid = \"req-demo-001\"\ntask_type = \"extraction\"",
        "calls route-fit, which is excluded: task_type",
    ),
    filter(
        "contract_mismatch",
        "[[variant.request]]\nid = \"req-demo-001\"\ncontract = \"tool-schema-v3\"",
        "calls route-fit, which is excluded: contract_mismatch",
    ),
    filter(
        "deployment_type",
        "[[variant.route]]\nname = \"route-fit\"\ndeployment = \"shared\"",
        "calls route-fit, which is excluded: deployment_type",
    ),
    filter(
        "context_limit",
        "[[variant.route]]\nname = \"route-fit\"\ncontext_max = 11999",
        "calls route-fit, which is excluded: context_limit",
    ),
    filter(
        "output_limit",
        "[[variant.route]]\nname = \"route-fit\"\noutput_max = 1999",
        "calls route-fit, which is excluded: output_limit",
    ),
    filter(
        "request_budget",
        "policy.budget.reserve = \"after\"",
        "calls route-premium, which is excluded: request_budget:$0.064 of $0.050",
    ),
];

/// A filter that is dropped, in a world in which it is the only one that stands in the way.
const fn filter(reason: &'static str, world: &'static str, says: &'static str) -> Defect {
    Defect {
        name: reason,
        scenario: "routing",
        change: Variant(world),
        red: &["eligible_only", "true_reasons"],
        says,
    }
}

#[test]
fn every_planted_defect_turns_the_gate_red_by_the_check_meant_for_it() {
    for defect in DEFECTS.iter().chain(MACHINE_DEFECTS) {
        let text = planted(defect);
        let scenario =
            load("planted.toml", &text).unwrap_or_else(|problems| panic!("{}: {problems}", defect.name));
        let played = played(&scenario);
        let failed: Vec<&str> = played.verdict.failed().map(|check| check.name.as_str()).collect();
        for red in defect.red {
            assert!(failed.contains(red), "{}: {red} is not among {failed:?}", defect.name);
        }
        let reasons: Vec<&String> = played.verdict.failed().flat_map(|check| &check.details).collect();
        assert!(
            reasons.iter().any(|reason| reason.contains(defect.says)),
            "{}: nothing says {:?} in {reasons:#?}",
            defect.name,
            defect.says,
        );
        let summary = summarise(&[(scenario, played)], Scope::Partial);
        assert!(summary.acceptance.failed > 0, "{}: the summary counts it", defect.name);
    }
}

/// The same through the program: exit code 1, and the name of what failed on stdout.
#[test]
fn every_planted_defect_ends_the_program_with_1() {
    let place = Place::new("planted");
    for defect in DEFECTS.iter().chain(MACHINE_DEFECTS) {
        let file = place.file("planted.toml", planted(defect));
        let ended = faultlab()
            .args(["run", "--events", "none", "--scenario"])
            .arg(&file)
            .arg("--out-dir")
            .arg(place.path().join("out"))
            .output()
            .unwrap();
        let stdout = String::from_utf8_lossy(&ended.stdout);
        assert_eq!(ended.status.code(), Some(1), "{}: {stdout}", defect.name);
        assert!(stdout.contains(defect.red[0]) && stdout.contains("FAIL: "), "{}: {stdout}", defect.name);
    }
}

#[test]
fn without_a_defect_every_scenario_passes() {
    for one in embedded() {
        let played = played(&read(one.name, one.text));
        assert!(played.verdict.is_pass(), "{:#?}", played.verdict.failed().collect::<Vec<_>>());
    }
}

/// A law that named only the first breach would hide the others.
#[test]
fn a_dropped_filter_is_named_for_every_call_and_with_every_reason() {
    let world = "
[[variant]]
name = \"planted\"
without = [\"req-demo-001\", \"route-fit\", \"route-cheap\", \"route-premium\"]
policy.eligibility.data_residency = \"ignored\"
policy.eligibility.classification_limit = \"ignored\"
[[variant.route]]
name = \"route-fast\"
class_max = \"internal\"
[[variant.arrivals]]
name = \"stream\"
gap = \"1 s\"
count = 25
deadline = \"1200 ms\"
cost_max = \"$0.050\"
class = \"restricted\"
regions = [\"region-a\"]
capabilities = [\"tools\"]
tokens = { input = 10000, output_max = 2000 }
";
    let played = played(&read("routing", &format!("{}{world}", text_of("routing"))));
    let planted = played.variants.last().unwrap();
    let tally = planted.verdict.laws.tally(faultlab::judge::Law::EligibleOnly);
    assert_eq!((tally.exercised, tally.breaches), (25, 25));
    let told = &tally.first[0].sentence;
    assert!(told.contains("data_residency") && told.contains("classification_limit"), "{told}");
}

/// Deleting a promise, or making one, is a change of what a pass means: the pinned list says so.
#[test]
fn an_expectation_that_is_deleted_or_added_fails_the_pinned_list() {
    let suite = |name: &str, change: &dyn Fn(&str) -> String| {
        let played: Vec<(Scenario, Played)> = embedded()
            .iter()
            .map(|one| {
                let text = if one.name == name { change(one.text) } else { one.text.to_owned() };
                let scenario = read(one.name, &text);
                let played = played(&scenario);
                (scenario, played)
            })
            .collect();
        let summary = summarise(&played, Scope::Suite);
        let failed: Vec<_> =
            summary.acceptance.checks.into_iter().filter(|check| check.verdict == Verdict::Failed).collect();
        failed
            .into_iter()
            .map(|check| format!("{}: {}", check.name, check.detail.unwrap_or_default()))
            .collect()
    };
    let told: Vec<String> = suite("routing", &str::to_owned);
    assert!(told.is_empty(), "as it stands the suite passes: {told:?}");
    let told: Vec<String> = suite("terminal-errors", &|text| without_promise(text, "fallback_never_called"));
    assert_eq!(
        told,
        [
            "pinned_list: terminal-errors/fallback_never_called is pinned in scenarios/checks.txt and was not checked"
        ]
    );
    let more = "\n[[expect]]\nname = \"more\"\ncount = { event = \"alerted\" }\nat_most = 1000000\n";
    let told: Vec<String> = suite("bounded-429", &|text| format!("{text}{more}"));
    assert_eq!(told, ["pinned_list: bounded-429/more was checked and is not pinned in scenarios/checks.txt"]);
}

#[test]
fn what_cannot_be_checked_is_refused_before_anything_is_played() {
    let refused = |promise: &str, says: &str| {
        let text = format!("{}\n[[expect]]\nname = \"planted\"\n{promise}\n", text_of("bounded-429"));
        ends_with(3, &text, says);
    };
    refused("metric = \"happiness\"\nequals = 1", "there is no metric `happiness`");
    refused("never = { event = \"call_begun\", rout = \"spare\" }", "`call_begun` has no field `rout`");
    refused("never = { event = \"call_began\" }", "there is no event `call_began`");
}

#[test]
fn a_scenario_without_a_check_is_no_pass() {
    let text = text_of("bounded-429");
    let world = &text[..text.find("[[expect]]").unwrap()];
    ends_with(4, world, "promises nothing");
}

/// Plays it through the program: this exit code, and somewhere these words.
fn ends_with(code: i32, text: &str, says: &str) {
    let place = Place::new(&format!("ends-{code}"));
    let file = place.file("planted.toml", text);
    let out = place.path().join("out");
    let ended = faultlab().arg("--scenario").arg(&file).arg("--out-dir").arg(&out).output().unwrap();
    let told = [ended.stdout, ended.stderr].concat();
    let told = String::from_utf8_lossy(&told);
    assert_eq!(ended.status.code(), Some(code), "{told}");
    assert!(told.contains(says), "{says:?} is not in {told}");
}

fn played(scenario: &Scenario) -> Played {
    play(scenario, Options { first_seed: None, level: Level::None }, None)
}

fn planted(defect: &Defect) -> String {
    let text = text_of(defect.scenario);
    match defect.change {
        Replace(old, new) => {
            assert_eq!(text.matches(old).count(), 1, "{}: {old:?} is there once", defect.name);
            text.replace(old, new)
        }
        Variant(lines) => {
            let is_filter =
                faultlab::policy::eligibility::Reason::ALL.iter().any(|r| r.label() == defect.name);
            let dropped = if is_filter {
                format!("policy.eligibility.{} = \"ignored\"\n", defect.name)
            } else {
                String::new()
            };
            format!("{text}\n[[variant]]\nname = \"planted\"\n{dropped}{lines}\n")
        }
    }
}

/// The text without one of its expectations.
fn without_promise(text: &str, name: &str) -> String {
    let begin = text.find(&format!("[[expect]]\nname = \"{name}\"")).expect("it is promised");
    let end = text[begin + 1..].find("\n[[").map_or(text.len(), |at| begin + 1 + at);
    format!("{}{}", &text[..begin], &text[end..])
}
