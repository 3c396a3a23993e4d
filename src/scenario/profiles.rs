//! `[[policy.profile]]`: what the policy is for the routes of one provider, of one model, or of both. A profile states
//! only what differs: its tables are read by the forms of `[policy]`, and what one does not state is read there. So
//! no knob of `[policy]` is ever dead, and none means something else in a profile.

use super::breaker;
use super::findings::about;
use super::form::{Below, Form};
use super::lower::{World, position};
use super::parties::id;
use super::policy::timeouts;
use super::problems::Span;
use super::retry::{backoff, calls_per_route_max};
use super::tree::Word;
use crate::gateway::{Policy, Profile};
use crate::policy::breaker::Config;
use crate::sim::RouteFact;
use crate::units::{BreakerId, ModelId, ProviderId};

/// A profile as it is read: before the routes are.
pub(super) struct Stated {
    provider: Option<Word>,
    model: Option<Word>,
    own: Own,
}

/// What a profile makes of the policy, and where it says so.
struct Own {
    profile: Profile,
    /// Its breaker, every field of it; `None` if there are no breakers.
    breaker: Option<Config>,
    span: Span,
    breaker_span: Span,
}

/// The tables of `[policy]` that every profile is laid over.
pub(super) struct Shared<'a> {
    retry: Below<'a>,
    timeouts: Below<'a>,
    breaker: Below<'a>,
}

impl<'a> Shared<'a> {
    /// Those of this `[policy]`.
    pub(super) fn of(f: &Form<'a, '_>) -> Shared<'a> {
        Shared { retry: f.below("retry"), timeouts: f.below("timeouts"), breaker: f.below("breaker") }
    }
}

/// One profile.
pub(super) fn profile(f: &mut Form<'_, '_>, shared: &Shared<'_>, policy: &Policy) -> Option<Stated> {
    let provider = f.text(about("provider", "Whose routes it is for; everybody's by default."));
    let model = f.text(about("model", "The model whose routes it is for; all by default."));
    let is_for_all = provider.is_none() && model.is_none();
    if is_for_all {
        let help = Some("what is for all routes is stated in `[policy]`".to_owned());
        f.problem(&f.span(), "a profile is for a `provider`, a `model`, or both", help);
    }
    if !["retry", "timeouts", "breaker"].iter().any(|table| f.has(table)) {
        let help = Some("for example `breaker = { open_for = \"60 s\" }`".to_owned());
        f.problem(&f.span(), "a profile states some of `retry`, `timeouts` and `breaker`", help);
    }
    let breaker_span = f.span_of("breaker");
    if policy.breaker.is_none() && f.has("breaker") {
        f.problem(&breaker_span, "there is no breaker: `[policy.breaker]` is not `enabled`", None);
    }
    let of_retry = |f: &mut Form<'_, '_>| (calls_per_route_max(f), backoff(f));
    let (calls, backoff) = f.table_over("retry", &shared.retry, of_retry);
    let timeouts = f.table_over("timeouts", &shared.timeouts, timeouts);
    let breaker = f.table_over("breaker", &shared.breaker, breaker::config);
    let profile = Profile {
        calls_per_route_max: differing(calls, policy.retry.calls_per_route_max),
        backoff: differing(backoff, policy.retry.backoff),
        timeouts: differing(timeouts, policy.timeouts),
    };
    let breaker = policy.breaker.as_ref().map(|_| breaker);
    let own = Own { profile, breaker, span: f.span(), breaker_span };
    (!is_for_all).then_some(Stated { provider, model, own })
}

fn differing<T: PartialEq>(own: T, of_all: T) -> Option<T> {
    (own != of_all).then_some(own)
}

/// A profile whose names are known.
struct Known {
    provider: Option<ProviderId>,
    model: Option<ModelId>,
    own: Own,
}

impl Known {
    fn is_of(&self, route: &RouteFact) -> bool {
        self.provider.is_none_or(|own| own == route.provider)
            && self.model.is_none_or(|own| own == route.model)
    }

    /// How much it says about whose it is.
    fn rank(&self) -> u8 {
        u8::from(self.provider.is_some()) + u8::from(self.model.is_some())
    }
}

/// Gives every route its profile, and every fault domain its breaker.
pub(super) fn give(f: &mut Form<'_, '_>, world: &mut World) {
    let stated = std::mem::take(&mut world.profiles);
    let profiles: Vec<Known> = stated.into_iter().filter_map(|one| known(f, world, one)).collect();
    let mut given = Vec::new();
    for at in 0..world.catalog.routes.len() {
        let chosen = choose(f, world, &profiles, at);
        if let Some(chosen) = chosen {
            let profile = profiles[chosen].own.profile;
            (world.catalog.routes[at].profile, world.registry.routes[at].profile) = (profile, profile);
        }
        given.push(chosen);
    }
    for profile in &profiles {
        let routes = world.catalog.routes.iter().zip(&given);
        let rivals: Vec<usize> =
            routes.filter(|(route, _)| profile.is_of(route)).filter_map(|(_, chosen)| *chosen).collect();
        if rivals.is_empty() {
            f.problem(&profile.own.span, "no route is of this provider and this model", None);
        } else if rivals.iter().all(|rival| profiles[*rival].rank() > profile.rank()) {
            f.problem(&profile.own.span, "every route of this profile has one that is more specific", None);
        }
    }
    let owns: Vec<Option<&Own>> = given.iter().map(|at| at.map(|at| &profiles[at].own)).collect();
    for breaker in (0..world.registry.breakers).map(BreakerId) {
        own_breaker(f, world, &owns, breaker);
    }
}

fn known(f: &mut Form<'_, '_>, world: &World, stated: Stated) -> Option<Known> {
    let catalog = &world.catalog;
    let mut find = |what, word: &Option<Word>, list| match word {
        None => Some(None),
        Some(word) => position(f, what, word, list, &catalog.names).map(|at| Some(id(at))),
    };
    let provider = find("provider", &stated.provider, &catalog.providers);
    let model = find("model", &stated.model, &catalog.models);
    Some(Known { provider: provider?.map(ProviderId), model: model?.map(ModelId), own: stated.own })
}

/// The profile of a route: the one that says most about whose it is.
fn choose(f: &mut Form<'_, '_>, world: &World, profiles: &[Known], at: usize) -> Option<usize> {
    let route = &world.catalog.routes[at];
    let rank = profiles.iter().filter(|one| one.is_of(route)).map(Known::rank).max()?;
    let mut best =
        (0..profiles.len()).filter(|at| profiles[*at].is_of(route) && profiles[*at].rank() == rank);
    let (first, second) = (best.next()?, best.next());
    if let Some(second) = second {
        let name = world.catalog.names.text(route.name);
        let text = format!("the route `{name}` has two profiles, and neither is more specific");
        let help = Some("one profile is for both `provider` and `model`".to_owned()).filter(|_| rank == 1);
        f.problem(&profiles[second].own.span, text, help);
    }
    Some(first)
}

/// The breaker of a fault domain, if the profiles of its routes state it: it is one breaker, so they state the same.
fn own_breaker(f: &mut Form<'_, '_>, world: &mut World, owns: &[Option<&Own>], id: BreakerId) {
    let Some(of_all) = &world.policy.breaker else { return };
    let config = |at: usize| owns[at].and_then(|own| own.breaker.as_ref()).unwrap_or(of_all);
    let routes = &world.catalog.routes;
    let mut sharing = (0..routes.len()).filter(|at| routes[*at].breaker == id);
    let Some(first) = sharing.next() else { return };
    let Some(other) = sharing.find(|other| config(*other) != config(first)) else {
        if config(first) != of_all {
            let own = config(first).clone();
            world.registry.own_breakers.push((id, own));
        }
        return;
    };
    let names = &world.catalog.names;
    let [a, b] = [first, other].map(|at| names.text(routes[at].name));
    let breaker = names.text(world.catalog.breakers[id.index()]);
    let text =
        format!("the routes `{a}` and `{b}` share the breaker `{breaker}`, which cannot be as both want it");
    let help = "state the same `breaker` for both, or a narrower `scope` in `[policy.breaker]`";
    let place = [other, first].into_iter().find_map(|at| owns[at]).map(|own| own.breaker_span.clone());
    f.problem(&place.unwrap_or(f.span()), text, Some(help.to_owned()));
}

#[cfg(test)]
mod tests {
    use crate::policy::breaker::{Cooldown, Trip};
    use crate::scenario::load;
    use crate::sim::Setup;
    use crate::units::{Duration, RouteId};

    const ROUTES: &str = r#"
[[route]]
name = "lite"
provider = "gemini"
model = "flash-lite"
price = { input = "$1.00/Mtok", output = "$8.00/Mtok" }
[[route]]
name = "pro"
provider = "gemini"
model = "pro"
price = { input = "$1.00/Mtok", output = "$8.00/Mtok" }
[[route]]
name = "else"
price = { input = "$1.00/Mtok", output = "$8.00/Mtok" }
[[request]]
id = "r"
tokens = { input = 8000, output_max = 1000 }
"#;

    fn setup(policy: &str) -> Setup {
        let text = format!("format = 1\ntitle = 'Profiles'\n{policy}{ROUTES}");
        let scenario = load("profiles.toml", &text).unwrap_or_else(|problems| panic!("{problems}"));
        scenario.variants[0].setup().clone()
    }

    fn calls(setup: &Setup) -> [u32; 3] {
        [0, 1, 2].map(|at| {
            let (route, id) = (&setup.registry.routes[at], RouteId(at as u16));
            let (plays, promises) =
                (route.profile.calls_per_route_max(&setup.policy), setup.catalog.calls_per_route_max(id));
            assert_eq!(plays, promises, "the gateway has what is declared");
            plays
        })
    }

    #[test]
    fn the_profile_that_names_both_goes_before_one_that_names_either_and_others_have_the_policy_s() {
        let both = "[policy.retry]\ncalls_per_route_max = 3\n\
                    [[policy.profile]]\nprovider = 'gemini'\nretry = { calls_per_route_max = 5 }\n\
                    [[policy.profile]]\nprovider = 'gemini'\nmodel = 'flash-lite'\n\
                    retry = { calls_per_route_max = 7 }\n";
        assert_eq!(calls(&setup(both)), [7, 5, 3]);
    }

    #[test]
    fn a_field_that_a_profile_does_not_state_is_the_policy_s_even_inside_a_table() {
        let own = "[[policy.profile]]\nmodel = 'flash-lite'\nbreaker.failures = 2\ntimeouts.idle = '1 s'\n";
        let for_all = "[policy.breaker]\nopen_for = '90 s'\n[policy.timeouts]\nattempt = '9 s'\n";
        let setup = setup(&format!("{for_all}{own}"));
        let [(id, config)] = &setup.registry.own_breakers[..] else { panic!("one breaker is its own") };
        assert_eq!(
            (config.trip, &config.cooldown),
            (Trip::Run { bad: 2 }, &Cooldown::Fixed(Duration::from_secs(90)))
        );
        assert_eq!(
            (*id, setup.catalog.machines.breaker_of(*id)),
            (setup.registry.routes[0].breaker, Some(config))
        );
        let timeouts = setup.catalog.timeouts(RouteId(0));
        assert_eq!(
            (timeouts.attempt, timeouts.idle),
            (Some(Duration::from_secs(9)), Some(Duration::from_secs(1)))
        );
        assert_eq!(setup.registry.routes[0].profile.backoff, None);
    }

    #[test]
    fn a_profile_that_states_what_the_policy_has_is_none() {
        let same = setup(
            "[[policy.profile]]\nmodel = 'flash-lite'\nretry.calls_per_route_max = 2\n\
                          breaker.open_for = '30 s'\n",
        );
        let none = setup("");
        assert_eq!(format!("{:?}", same.registry), format!("{:?}", none.registry));
    }

    #[test]
    fn routes_that_share_a_breaker_may_state_the_same_of_it() {
        let shared = "[policy.breaker]\nscope = 'provider'\n\
                      [[policy.profile]]\nprovider = 'gemini'\nbreaker.failures = 2\n";
        assert_eq!(setup(shared).registry.own_breakers.len(), 1);
    }
}
