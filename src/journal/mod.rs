//! Floor 6: what is left of a run on disk. The only room that knows JSON as serde writes and reads it, and that
//! writes files.
//!
//! `events.jsonl` has every entry, `summary.json` every verdict; both are the same bytes on every machine. The
//! summary is written last and under its own name only when it is whole: a folder with a summary is a folder
//! with a finished run.

pub mod audit;
pub mod error;
pub mod events;
pub mod folder;
pub mod read;
pub mod schema;
pub mod summary;

pub use audit::{Audit, Auditor, Record};
pub use error::JournalError;
pub use events::{Events, Level, RunEvents};
pub use folder::{Draft, Folder};
pub use read::{Line, Played, Reader};
pub use summary::*;
