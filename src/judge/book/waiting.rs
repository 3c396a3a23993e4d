//! Why a request waits.

use crate::policy::taxonomy::Class;
use crate::units::{RouteId, Timestamp};

/// Whether a request waits for a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// It does not.
    Nowhere,
    /// It does.
    InTheQueue,
}

/// A failure of a call that was wanted, as the gateway was told of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setback {
    /// On which route.
    pub route: RouteId,
    /// What it was told to mean.
    pub class: Class,
    /// When its response asked to come back.
    pub hint: Option<Timestamp>,
    /// When.
    pub at: Timestamp,
}

/// A look that chose no route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InVain {
    /// When.
    pub at: Timestamp,
    /// When the first route opens that was closed then; `None` is only by an operator or a free slot.
    pub reopens: Option<Timestamp>,
}
