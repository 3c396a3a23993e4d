//! Floor 3: the world. It owns the clock, the upstreams and the traffic; it opens no socket and reads no file.

mod agenda;
mod catalog;
mod entry;
mod jobs;
mod quota;
mod run;
mod setup;
mod upstream;
mod world;

pub use catalog::*;
pub use entry::*;
pub use quota::{Counted, Quota, Refused, SaysWhen, Window};
pub use run::{ENTRIES_AT_ONE_INSTANT_MAX, Ending, Rest, run};
pub use setup::*;
pub use upstream::*;
