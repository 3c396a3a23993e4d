//! A gateway that does for one model what the policy says for all, or for all what it says for one, is convicted: what
//! is declared stays, and what it does is another thing.

use crate::support::{failures, read, text_of};
use faultlab::gateway::{Profile, WhenOpen};
use faultlab::judge::{Judge, Law};
use faultlab::policy::backoff::Backoff;
use faultlab::policy::breaker::{Cooldown, Trip};
use faultlab::scenario::Scenario;
use faultlab::sim::{Setup, run};
use faultlab::units::Duration;

/// A gateway that is a little wrong.
pub(crate) type Defect = fn(&mut Setup);

/// Nobody is convicted without the defect, and with it this law names the breach.
pub(crate) fn check(scenario: &Scenario, variant: &str, defect: Defect, law: Law, says: &str) {
    let at = scenario.variants.iter().position(|one| one.name == variant).expect("the variant is there");
    let breaches = |defect: Defect| {
        let mut setup = scenario.variants[at].setup_for(1);
        defect(&mut setup);
        let mut judge = Judge::new(&setup.catalog, &[], at as u16, setup.seed);
        let ending = run(&setup, &mut judge);
        judge.finish(&ending).laws
    };
    assert_eq!(breaches(|_| ()).tally(law).breaches, 0, "{variant} keeps {}", law.name());
    let laws = breaches(defect);
    let told: Vec<&str> = laws.tally(law).first.iter().map(|breach| breach.sentence.as_str()).collect();
    let broken = Law::ALL.map(|law| (law.name(), laws.tally(law).breaches));
    assert!(told.iter().any(|sentence| sentence.contains(says)), "{told:?}; broken: {broken:?}");
}

fn storm() -> Scenario {
    read("overloaded-cheap-model", text_of("overloaded-cheap-model"))
}

#[test]
fn the_calls_of_all_where_a_profile_says_seven_and_seven_where_none_does() {
    let four: Defect = |setup| setup.registry.routes[0].profile.calls_per_route_max = None;
    let says = "is answered exhausted on every route, flash-lite is left";
    check(&storm(), "patience_alone", four, Law::OutcomeIsTrue, says);
    let seven: Defect = |setup| setup.registry.routes[0].profile.calls_per_route_max = Some(7);
    check(&storm(), "hammered", seven, Law::SleepsHaveAQuote, "which was called often enough");
}

#[test]
fn the_backoff_of_all_where_a_profile_has_one_and_the_profile_s_where_none_is() {
    let short: Defect = |setup| setup.registry.routes[0].profile.backoff = None;
    let says = "is not its backoff of 1800 ms to 2200 ms";
    check(&storm(), "patience_alone", short, Law::SleepsHaveAQuote, says);
    let long: Defect = |setup| {
        let backoff = &mut setup.policy.retry.backoff;
        let own = Backoff { base: backoff.base.plus(backoff.base), ..*backoff };
        setup.registry.routes[0].profile.backoff = Some(own);
    };
    check(&storm(), "hammered", long, Law::SleepsHaveAQuote, "is not its backoff of 900 ms to 1100 ms");
}

#[test]
fn the_breaker_of_all_where_a_profile_has_one_and_one_where_none_is_declared() {
    let late: Defect = |setup| setup.registry.own_breakers.clear();
    let law = Law::ResultsAreToldAsTheyWere;
    check(&storm(), "profiled", late, law, "the breaker gemini/gemini-2.5-flash-lite/anywhere moves to OPEN");
    check(&storm(), "profiled", late, Law::BreakerRespected, "calls flash-lite while its breaker is OPEN");
    let soon: Defect = |setup| {
        let mut own = setup.policy.breaker.clone().expect("there is one");
        own.trip = Trip::Run { bad: 2 };
        setup.registry.own_breakers = vec![(setup.registry.routes[0].breaker, own)];
    };
    check(&storm(), "uniform", soon, law, "is said to move to OPEN, and nothing moves it");
    // As the source: whatever an operator says for all, the profile's own word is what counts.
    let dead: Defect = |setup| {
        let mut own = setup.registry.own_breakers[0].clone();
        own.1.cooldown = Cooldown::Fixed(Duration::from_secs(60));
        setup.registry.own_breakers = vec![own];
    };
    check(&storm(), "operator_is_heard", dead, law, "a breaker is said to move to OPEN, which is not due");
}

#[test]
fn the_timeout_of_all_where_a_profile_has_one() {
    let timed = "retry = { calls_per_route_max = 7";
    let text = text_of("overloaded-cheap-model").replacen(
        timed,
        &format!("timeouts.attempt = \"1700 ms\"\n{timed}"),
        1,
    );
    let scenario = read("timed", &text);
    let patient: Defect = |setup| setup.registry.routes[0].profile.timeouts = None;
    check(&scenario, "profiled", patient, Law::Caused, "was to be stopped at");
    let hasty: Defect = |setup| setup.policy.timeouts.attempt = Some(Duration::from_millis(1_700));
    check(&storm(), "uniform", hasty, Law::Caused, "fires at");
}

/// Two streams fall silent after 200 ms: one on a model whose profile has this patience, one on a model that has none.
fn silent(own: &str, all: &str) -> String {
    let route = |name: &str| {
        format!(
            "[[route]]\nname = \"{name}\"\nprice = {{ input = \"$1.00/Mtok\", output = \"$8.00/Mtok\" }}\n\
             capabilities = [\"{name}\"]\nupstream.replies = [{{ after = \"20 s\", first_byte = \"200 ms\" }}]\n\
             [[request]]\nid = \"to-{name}\"\ndelivery = \"stream\"\ncapabilities = [\"{name}\"]\n\
             tokens = {{ input = 1000, output_max = 100 }}\n"
        )
    };
    let routes = [route("profiled"), route("plain")].concat();
    format!(
        "format = 1\ntitle = \"Silence\"\n[policy]\ntimeouts.idle = \"{all}\"\n\
         [[policy.profile]]\nmodel = \"profiled\"\ntimeouts.idle = \"{own}\"\n{routes}"
    )
}

#[test]
fn a_profile_s_patience_with_a_silent_stream_is_its_model_s_alone() {
    let failed = |own, all, ends: [&str; 2]| {
        let ends = ["profiled", "plain"].iter().zip(ends).map(|(name, at)| {
            format!(
                "[[expect]]\nname = \"{name}\"\nfirst = {{ event = \"timed_out\", route = \"{name}\", \
                 class = \"idle_timeout\" }}\nat = \"{at}\"\n"
            )
        });
        failures("silent", &(silent(own, all) + &ends.collect::<String>()))
    };
    let shorter = failed("500 ms", "3 s", ["700 ms", "3200 ms"]);
    let longer = failed("3 s", "500 ms", ["3200 ms", "700 ms"]);
    assert!(shorter.is_empty() && longer.is_empty(), "{shorter:#?} {longer:#?}");
}

#[test]
fn who_does_not_wait_for_a_breaker_although_it_is_declared_and_who_does_although_it_is_not() {
    let hurried: Defect = |setup| setup.policy.when_open = WhenOpen::FailFast;
    check(&storm(), "uniform", hurried, Law::OutcomeIsTrue, "although it could wait for a breaker until");
    let patient: Defect = |setup| setup.policy.when_open = WhenOpen::Wait;
    check(&storm(), "turned_away", patient, Law::SleepsHaveAQuote, "nor the end of what it waits for");
}

#[test]
fn a_profile_changes_the_digest_of_the_policy() {
    let scenario = storm();
    let digest = |name: &str| {
        let variant = scenario.variants.iter().find(|one| one.name == name).expect("the variant is there");
        let has = variant.setup().registry.routes[0].profile != Profile::default();
        (has, faultlab::suite::policy_digest(variant).to_string())
    };
    let (with, without) = (digest("profiled"), digest("uniform"));
    assert_eq!((with.0, without.0), (true, false));
    assert_ne!(with.1, without.1);
}
