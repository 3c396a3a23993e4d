//! An agent above an SDK above the gateway of the other samples: one question, passed down and back up.

use super::*;
use std::num::NonZeroU32;

const SDK: LayerId = LayerId(1);
const AGENT: LayerId = LayerId(2);

/// The gateway of [`catalog`], with two layers above it.
pub(crate) fn stacked() -> Catalog {
    let mut base = catalog();
    base.stack.names = ["gateway", "sdk", "agent"].map(|text| base.names.intern(text)).to_vec();
    base.stack.calls_max = 3;
    let layer = |at: usize, deadline, cancel, hears| {
        let route = RouteFact { name: base.stack.names[at - 1], ..base.routes[0].clone() };
        let catalog = Catalog { routes: vec![route], ..base.clone() };
        LayerFact { catalog, deadline, cancel, hears }
    };
    let above = vec![
        layer(1, Handed::Down, Told::AtOnce, None),
        layer(2, Handed::Not(Some(ms(60_000))), Told::Never, Some(503)),
    ];
    base.stack.above = above;
    base
}

/// The agent asks, the SDK asks the gateway, and that answers.
pub(crate) fn stack(observer: &mut impl Observer) {
    let mut stage = Stage::new(observer);
    for layer in [AGENT, SDK] {
        stage.turn_to(layer);
        for declared in [Declared::Layer, Declared::Limits, Declared::Route(PRIMARY)] {
            stage.first(Timestamp::ZERO, What::Declared(declared));
        }
    }
    stage.turn_to(LayerId::INNERMOST);
    preamble(&mut stage);
    let root = RequestName::of(0, 0);
    for (layer, slot) in [(AGENT, 0), (SDK, 1), (LayerId::INNERMOST, 2)] {
        stage.turn_to(layer);
        let request = Request { id: RequestId(slot), ..request() };
        let within = Within { layer, nth: NonZeroU32::MIN };
        let (name, by) = if slot == 0 {
            (root, None)
        } else {
            (RequestName { within: Some(within), ..root }, Some(CALL[0]))
        };
        stage.first(at(u64::from(slot)), What::Arrived { request: &request, name, by });
        let made = Call { request: request.id, ..call(1, PRIMARY, Role::Primary) };
        begin(&mut stage, &made);
    }
    for (layer, slot) in [(LayerId::INNERMOST, 2), (SDK, 1), (AGENT, 0)] {
        stage.turn_to(layer);
        answer(&mut stage, at(100), CALL[0]);
        let (request, outcome) = (RequestId(slot), Outcome::Answered { route: PRIMARY });
        stage.act(Action::Reply { request, outcome, attempts: 1, left: ms(1_100) });
        stage.act(Action::Close { request, spent: cents(16) });
    }
}
