//! Floor 7: playing scenarios. Every variant with every seed, seeds in parallel, results in seed order.

mod embedded;
mod pinned;
mod play;

pub use embedded::{Embedded, embedded};
pub use pinned::compare;
pub use play::{Level, Options, Played, PlayedVariant, play, stories};
