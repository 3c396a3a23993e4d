//! Every wrong value of a knob that names a law breaks that law: somewhere among random worlds that keep it without.

use super::knobs::written;
use super::play;
use super::world::{World, worlds};
use faultlab::judge::Law;
use faultlab::scenario::{Knob, knobs, load};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// So many worlds are looked at before a wrong value counts as harmless.
const WORLDS: usize = 3_000;

/// A knob, its wrong value, and the law that the documentation says it breaks.
struct Wrong {
    path: String,
    value: &'static str,
    law: Law,
}

#[test]
fn every_wrong_value_of_a_knob_breaks_the_law_that_it_names() {
    let worlds = some_worlds();
    let wrongs = wrongs();
    assert!(wrongs.len() > 20, "there are wrong values: {}", wrongs.len());
    let harmless: Vec<String> = wrongs
        .iter()
        .filter(|wrong| !worlds.iter().any(|world| is_broken(world, wrong)))
        .map(|wrong| format!("{} = {} does not break {}", wrong.path, wrong.value, wrong.law.name()))
        .collect();
    assert!(harmless.is_empty(), "in {WORLDS} worlds: {harmless:#?}");
}

fn wrongs() -> Vec<Wrong> {
    let of = |knob: Knob| {
        let path = knob.path;
        knob.wrong.into_iter().filter(|wrong| !wrong.2.is_empty()).map(move |(value, _, law)| Wrong {
            path: path.clone(),
            value,
            law: Law::ALL.into_iter().find(|known| known.name() == law).expect("a law that there is"),
        })
    };
    knobs().into_iter().filter(|knob| knob.path.starts_with("policy.")).flat_map(of).collect()
}

/// The same worlds in every run of the test.
fn some_worlds() -> Vec<World> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let one = worlds();
    (0..WORLDS).map(|_| one.new_tree(&mut runner).expect("a world").current()).collect()
}

/// Whether the world breaks the law with the wrong value, and keeps it without.
fn is_broken(world: &World, wrong: &Wrong) -> bool {
    let text = world.toml();
    let own = format!("{} = ", wrong.path);
    let kept: String =
        text.lines().filter(|line| !line.starts_with(&own)).map(|line| format!("{line}\n")).collect();
    let value = written(wrong.value);
    let table = kept.find("\n[").map_or(kept.len(), |at| at + 1);
    let with = format!("{}{own}{value}\n{}", &kept[..table], &kept[table..]);
    breaches(world, &with, wrong.law) > 0 && breaches(world, &kept, wrong.law) == 0
}

fn breaches(world: &World, text: &str, law: Law) -> u64 {
    // A value may be refused beside another of the world: `breaker.enabled = false` and a knob of the breaker.
    let Ok(scenario) = load("any.toml", text) else { return 0 };
    let mut setup = scenario.variants[0].setup_for(world.seed);
    world.twist(&mut setup);
    let (verdict, _) = play(&setup);
    verdict.laws.tally(law).breaches
}
