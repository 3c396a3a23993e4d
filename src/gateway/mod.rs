//! Floor 2: the gateway. It composes the machines of floor 1 and is the only owner of a live request. It does
//! not know whether the world around it is simulated.

pub mod action;
pub mod input;
pub mod policy;
pub mod waits;

pub use action::*;
pub use input::*;
pub use policy::*;
pub use waits::*;
