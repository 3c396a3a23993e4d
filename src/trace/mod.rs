//! Floor 4: how an entry reads. [`fields()`] says it once for all; a line of `events.jsonl`, a digest, a story
//! and a pattern are sinks of it.
//!
//! # The event format
//!
//! One JSON object a line. A run (a scenario's variant with a seed) begins with a [`Header`] line; then come its
//! entries, `seq` counting from zero, `t_ns` from the beginning of the run. Every entry has `seq`, `t_ns`,
//! `cause` (the `seq` of what caused it, if the trace has it), `scenario`, `variant`, `event`, and then the
//! [`Field`]s of its [`Kind`], always in the same order; before them `layer`, if several gateways stand on top of each
//! other. Whole numbers have their unit in the name, dollars are
//! decimal texts, several words are joined by `|`. What is absent is not written: there is no null, and no float.
//!
//! The trace has two authors ([`Author`]). The world writes facts: what is declared, what arrived, how a call
//! truly ended. The gateway writes claims: what it chose, did, and believes. A law judges claims by facts.
//!
//! Entries of one instant are ordered by rank (the outcome of an upstream, then a timer of the gateway in the
//! order of `gateway::Wait`, of the outermost layer first, then an arrival), then by when they were put on the agenda;
//! what passes between layers does so before anything else happens. The order is part of the
//! format: the same scenario, variant and seed give the same bytes on every machine. Names of requests and calls
//! are told by source and number, never by slot, so an entry reads the same however memory was used.

mod buffer;
pub mod digest;
pub mod field;
pub mod fields;
pub mod kind;
pub mod line;
pub mod pattern;
mod phrases;
pub mod reading;
pub mod roll;
#[cfg(test)]
pub(crate) mod samples;
pub mod story;
pub mod text;
mod unit;

pub use digest::{Digest, Fingerprint};
pub use field::{Field, Unit, Value};
pub use fields::{Sink, fields};
pub use kind::{Author, CANDIDATE, COMMON, Kind};
pub use line::{FORMAT, Header, Lines};
pub use pattern::{Given, Pattern, Unfit, measure};
pub use reading::{Reading, Values};
pub use roll::{Asked, Made, Roll};
pub use story::{About, Plot, Story, sentence, worded};
pub use text::{Piece, Text};
