//! A second opinion on the life of a request: a deliberately simple model that ticks millisecond by
//! millisecond and shares no policy code with the gateway, compared with it on random small worlds.

mod model;
mod world;

use faultlab::gateway::{Action, Call};
use faultlab::scenario;
use faultlab::sim::{self, Entry, Observer, What};
use proptest::prelude::*;
use world::World;

/// What both must agree on: every call, reply and close, with its time.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Event {
    Called { ms: u64, request: usize, route: usize },
    Replied { ms: u64, request: usize, outcome: String, attempts: u64 },
    Closed { ms: u64, request: usize, cents: u64 },
}

/// Reads the same events off the trace of the real thing.
#[derive(Default)]
struct Transcript {
    /// The name of the request in each slot.
    names: Vec<usize>,
    events: Vec<Event>,
}

impl Observer for Transcript {
    fn entry(&mut self, entry: &Entry<'_>) {
        let ms = entry.at.nanos() / 1_000_000;
        let name = |id: &faultlab::units::RequestId| self.names[id.index()];
        match &entry.what {
            What::Arrived { request, name, .. } => {
                let slot = request.id.index();
                self.names.resize(self.names.len().max(slot + 1), 0);
                self.names[slot] = usize::from(name.source);
            }
            What::Acted(Action::Call(Call { request, route, .. })) => {
                self.events.push(Event::Called { ms, request: name(request), route: route.index() });
            }
            What::Acted(Action::Reply { request, outcome, attempts, .. }) => {
                let (request, attempts) = (name(request), u64::from(*attempts));
                self.events.push(Event::Replied {
                    ms,
                    request,
                    outcome: outcome.label().to_owned(),
                    attempts,
                });
            }
            What::Acted(Action::Close { request, spent }) => {
                self.events.push(Event::Closed {
                    ms,
                    request: name(request),
                    cents: spent.picos() / 10_000_000_000,
                });
            }
            What::Declared(_)
            | What::TaskBegan { .. }
            | What::TaskEnded { .. }
            | What::Abandoned { .. }
            | What::Woke { .. }
            | What::RunEnded
            | What::Operated { .. }
            | What::CallBegun { .. }
            | What::CallVisible { .. }
            | What::CallEnded { .. }
            | What::CallLost { .. }
            | What::Considered { .. }
            | What::Acted(Action::Commit { .. } | Action::Cancel { .. })
            | What::Decided(_) => {}
        }
    }
}

fn check(world: &World) -> Result<(), TestCaseError> {
    let text = world.toml();
    let scenario = match scenario::load("reference.toml", &text) {
        Ok(scenario) => scenario,
        Err(problems) => panic!("the generated scenario is valid:\n{}\n{text}", problems.plain()),
    };
    let mut transcript = Transcript::default();
    sim::run(&scenario.variants[0].setup_for(1), &mut transcript);
    let (mut real, mut simple) = (transcript.events, model::play(world));
    real.sort();
    simple.sort();
    prop_assert_eq!(real, simple, "{}", text);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_gateway_and_the_simple_model_tell_the_same_story(world in world::worlds()) {
        check(&world)?;
    }
}
