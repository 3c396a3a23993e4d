//! Floor 3: the world. It owns the clock, the upstreams and the traffic; it opens no socket and reads no file.

pub mod catalog;
pub mod entry;
pub mod setup;
pub mod upstream;

pub use catalog::*;
pub use entry::*;
pub use setup::*;
pub use upstream::*;
