//! How the world reaches each of its gateways: the innermost directly, those above through the stack.

use crate::gateway::{Gateway, Wait};
use crate::sim::jobs::Part;
use crate::sim::world::World;
use crate::units::{CallId, LayerId, RequestId, Timestamp};

impl World<'_> {
    /// A gateway of the stack.
    #[inline]
    pub(in crate::sim) fn gateway(&mut self, layer: LayerId) -> &mut Gateway {
        match layer.below() {
            None => &mut self.gateway,
            Some(_) => &mut self.stack.layer(layer).gateway,
        }
    }

    /// The entry of the last move of each of its health states.
    pub(in crate::sim) fn health_moves(&mut self, layer: LayerId) -> &mut [u64] {
        match layer.below() {
            None => &mut self.health_moves,
            Some(_) => &mut self.stack.layer(layer).health_moves,
        }
    }

    /// The entries that began a call of a layer, and that last showed it alive.
    pub(in crate::sim) fn origins(&mut self, layer: LayerId, call: CallId) -> (u64, u64) {
        match layer.below() {
            None => (self.calls[call.index()].origin, self.calls[call.index()].sign),
            Some(_) => {
                let relayed = &self.stack.layer(layer).calls[call.index()];
                (relayed.origin, relayed.sign)
            }
        }
    }

    /// The layer of callers.
    #[inline]
    pub(in crate::sim) fn outermost(&self) -> LayerId {
        self.setup.catalog.outermost()
    }

    /// The earliest timer of all gateways, if it is due by then; at one instant the outermost goes first.
    #[inline]
    pub(in crate::sim) fn next_wake(&mut self, until: Timestamp) -> Option<(Timestamp, LayerId, Wait)> {
        let own = self.gateway.next_wake_by(until).map(|(due, wait)| (due, LayerId::INNERMOST, wait));
        self.stack.next_wake(own, until)
    }

    /// Whether nothing is open and nothing is waited for.
    pub(in crate::sim) fn is_quiescent(&self) -> bool {
        self.gateway.is_quiescent() && self.stack.layers.iter().all(|layer| layer.gateway.is_quiescent())
    }

    /// The last bill of a request is in, told in this entry. The step of a job whose request is over with it.
    #[inline]
    pub(in crate::sim) fn close(&mut self, now: Timestamp, request: RequestId, entry: u64) -> Option<Part> {
        if self.stack.layers.is_empty() {
            return self.requests[request.index()].part;
        }
        self.stack.close(now, request, entry)
    }
}
