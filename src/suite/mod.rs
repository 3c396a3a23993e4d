//! Floor 7: playing scenarios. Every variant with every seed, seeds in parallel, results in seed order.

mod embedded;
mod outbound;
mod pinned;
mod play;
mod report;

pub use embedded::{Embedded, embedded};
pub use outbound::{ZERO_OUTBOUND, attest};
pub use pinned::compare;
pub use play::{Options, Played, PlayedVariant, play, policy_digest, seeds};
pub use report::summarise;
