//! Whatever a policy says, as long as it says nothing that is documented to break a law, no law is broken: every
//! knob of `[policy]` is set at random, alone and together, over the shipped scenarios and over random worlds.
//!
//! `PROPTEST_CASES` says how many worlds there are, `PROPTEST_RNG_SEED` which.

mod knobs;
mod layers;
mod menu;
mod reply;
mod world;
mod wrong;

use faultlab::judge::laws::LAWS;
use faultlab::judge::{Judge, Law, RunVerdict};
use faultlab::scenario::{Scenario, load};
use faultlab::sim::{Ending, Rest, Setup, run};
use faultlab::units::Timestamp;
use knobs::policy;
use menu::choices;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use world::worlds;

const SHIPPED: [&str; 7] = [
    include_str!("../../../scenarios/routing.toml"),
    include_str!("../../../scenarios/bounded-429.toml"),
    include_str!("../../../scenarios/terminal-errors.toml"),
    include_str!("../../../scenarios/circuit.toml"),
    include_str!("../../../scenarios/hedging.toml"),
    include_str!("../../../scenarios/budget-audit.toml"),
    include_str!("../../../scenarios/quota-cascade.toml"),
];

/// Each world is one run; each shipped scenario is many, so there are fewer cases of them.
const RUNS_EACH: u32 = 2;

fn runner(runs_each: u32) -> TestRunner {
    let common = Config::default();
    let cases = common.cases.div_ceil(runs_each);
    TestRunner::new(Config { failure_persistence: None, cases, max_shrink_iters: 20_000, ..common })
}

/// The end of a run that has none.
const NEVER: Ending = Ending { at: Timestamp::ZERO, entries: 0, rest: Rest::Stuck };

/// Plays a run and says which laws it breaks, in words.
fn play(setup: &Setup) -> (RunVerdict, String) {
    let mut judge = Judge::new(&setup.catalog, &[], 0, setup.seed);
    let ended = catch_unwind(AssertUnwindSafe(|| run(setup, &mut judge)));
    let Ok(ending) = ended else { return (judge.finish(&NEVER), "it panics".to_owned()) };
    let verdict = judge.finish(&ending);
    let mut broken = String::new();
    for law in Law::ALL {
        for breach in &verdict.laws.tally(law).first {
            broken.push_str(&format!(
                "{}: entry {} at {}: {}\n",
                law.name(),
                breach.seq,
                breach.at,
                breach.sentence
            ));
        }
    }
    if ending.rest != Rest::Quiescent {
        broken.push_str(&format!("it does not come to rest: {:?}\n", ending.rest));
    }
    (verdict, broken)
}

#[test]
fn no_right_policy_breaks_a_law() {
    let strategy = (0..SHIPPED.len(), choices(4), choices(5));
    let outcome = runner(RUNS_EACH).run(&strategy, |(which, busy, any)| {
        let policy = policy(&busy, &any);
        let scenario = with_policy(SHIPPED[which], &policy);
        for variant in scenario.variants.iter().filter(|variant| variant.breaks.is_empty()) {
            let (_, broken) = play(&variant.setup_for(*variant.seeds.start()));
            if !broken.is_empty() {
                return Err(TestCaseError::fail(format!("{}\n{policy}{broken}", variant.name)));
            }
        }
        Ok(())
    });
    outcome.unwrap_or_else(|problem| panic!("{problem}"));
}

/// In any weather, whatever an operator does; and every law is put to the test.
#[test]
fn no_right_policy_breaks_a_law_in_any_world() {
    let exercised = [const { AtomicU64::new(0) }; LAWS];
    let outcome = runner(1).run(&worlds(), |world| {
        let text = world.toml();
        let scenario = load("any.toml", &text);
        let scenario = scenario.map_err(|problems| TestCaseError::fail(format!("{text}\n{problems}")))?;
        let mut setup = scenario.variants[0].setup_for(world.seed);
        world.twist(&mut setup);
        let (verdict, broken) = play(&setup);
        for (law, times) in Law::ALL.iter().zip(&exercised) {
            times.fetch_add(verdict.laws.tally(*law).exercised, Ordering::Relaxed);
        }
        if broken.is_empty() {
            return Ok(());
        }
        let (seed, twists) = (world.seed, world.twists());
        Err(TestCaseError::fail(format!("\n{text}\n# seed {seed}, twists {twists}\n{broken}")))
    });
    if let Err(problem) = outcome {
        // The world as a file says more than the choices that made it.
        panic!("{}", problem.to_string().split("minimal failing input").next().unwrap_or_default());
    }
    let is_idle = |times: &AtomicU64| times.load(Ordering::Relaxed) == 0;
    let laws = Law::ALL.iter().zip(&exercised);
    let idle: Vec<&str> = laws.filter(|(_, times)| is_idle(times)).map(|(law, _)| law.name()).collect();
    assert!(idle.is_empty(), "never put to the test: {idle:?}");
}

/// A scenario with this policy instead of its own and without its promises.
fn with_policy(text: &str, policy: &str) -> Scenario {
    let mut kept = String::new();
    let mut is_kept = true;
    for line in text.lines() {
        if line.starts_with('[') {
            is_kept = !["[policy", "[variant.policy", "[[expect"].iter().any(|table| line.starts_with(table));
        }
        if is_kept && !line.starts_with("policy.") {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    let first_table = kept.find("\n[").expect("there is a table");
    kept.insert_str(first_table + 1, policy);
    load("any.toml", &kept).unwrap_or_else(|problems| panic!("{problems}"))
}
