//! What passes between the layers of a stack, told to the gateway that it comes to.

use super::{ended, tell};
use crate::gateway::Input;
use crate::sim::catalog::RequestName;
use crate::sim::entry::What;
use crate::sim::scribe::Scribe;
use crate::sim::served::End;
use crate::sim::stack::{Descent, Life, Relay};
use crate::sim::world::World;
use crate::units::{LayerId, Timestamp};

/// What passes from one layer to the next.
pub(super) fn relay(world: &mut World<'_>, at: Timestamp, scribe: &mut Scribe) {
    match world.stack.take() {
        Relay::Arrive(leg) => {
            let id = world.slot();
            match world.stack.descend(at, leg, id) {
                Some(descent) => descend(world, at, &descent, scribe),
                None => world.free(id),
            }
        }
        Relay::Abandon { request, stamp, cause } => {
            if let Some(layer) = world.stack.open(request, stamp)
                && world.requests[request.index()].is_waiting(stamp)
            {
                scribe.page.turn_to(layer);
                let cause = scribe.page.write(at, Some(cause), What::Abandoned { request });
                tell(world, (layer, at), cause, Input::Abandoned(request), scribe);
            }
        }
        Relay::End { leg, cause } => {
            if let Some(end) = world.stack.end(leg) {
                scribe.page.turn_to(leg.layer);
                let end = End { origin: cause, ..end };
                ended(world, (leg.layer, at), leg.call, &end, scribe);
            }
        }
        Relay::Visible { leg, cause } => {
            if world.stack.lives(leg, cause).is_some() {
                let call = leg.call;
                scribe.page.turn_to(leg.layer);
                let cause = scribe.page.write(at, Some(cause), What::CallVisible { call });
                world.stack.lives(leg, cause);
                tell(world, (leg.layer, at), cause, Input::Visible(call), scribe);
            }
        }
        Relay::Progress { leg, cause } => {
            if let Some(request) = world.stack.lives(leg, cause) {
                world.stack.show(at, request, cause, Life::Again);
                tell(world, (leg.layer, at), cause, Input::Progress(leg.call), scribe);
            }
        }
    }
}

/// A call of a layer arrives in the layer below.
fn descend(world: &mut World<'_>, at: Timestamp, descent: &Descent, scribe: &mut Scribe) {
    let name = RequestName { within: descent.within, ..world.requests[descent.by.index()].name };
    let mut request = descent.request;
    if descent.layer == LayerId::INNERMOST {
        let demanded = &world.setup.sources[usize::from(name.source)].template.envelope;
        (request.envelope.protocol, request.envelope.contract) = (demanded.protocol, demanded.contract);
    }
    scribe.page.turn_to(descent.layer);
    let by = Some(descent.leg.call);
    let arrival = scribe.page.arrived(at, Some(descent.cause), &request, name, by);
    let stamp = world.stamp();
    world.admit(&request, name, stamp, arrival, None);
    world.stack.arrive(descent, stamp);
    tell(world, (descent.layer, at), arrival, Input::Arrived(&request), scribe);
}
