//! Floor 3: the world. It owns the clock, the upstreams and the traffic; it opens no socket and reads no file.

mod agenda;
mod caller;
mod capacity;
mod catalog;
mod door;
mod entry;
mod jobs;
mod quota;
mod run;
mod scribe;
mod served;
mod setup;
mod stack;
mod upstream;
mod world;

pub use capacity::Capacity;
pub use catalog::*;
pub use entry::*;
pub use quota::{Counted, Quota, Refused, SaysWhen, Window};
pub use run::{Ending, Rest, STEPS_AT_ONE_INSTANT_MAX, run};
pub use setup::*;
pub use upstream::*;
