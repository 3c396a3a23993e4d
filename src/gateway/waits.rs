//! Everything that a gateway waits for.

use crate::units::{CallId, HealthId, RequestId};

/// A timer of the gateway, in the order in which those of one instant are due.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Wait {
    /// The deadline of a request.
    Deadline(RequestId),
    /// The end of an attempt's time.
    Attempt(CallId),
    /// The end of the time to the first byte.
    FirstByte(CallId),
    /// The end of a silence.
    Idle(CallId),
    /// The end of the time for a receipt.
    Receipt(CallId),
    /// The end of a health state's cooldown.
    Health(HealthId),
    /// The end of a backoff.
    Retry(RequestId),
}
