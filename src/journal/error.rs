//! What can go wrong with files: each with its path and the way out.

use std::io;
use std::path::{Path, PathBuf};

/// What can go wrong with files.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system refused.
    #[error("cannot {doing} {}", path.display())]
    System {
        /// What was tried.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The output folder is something else.
    #[error("{} is not a folder; choose another with --out-dir", path.display())]
    NotAFolder {
        /// What it was to be.
        path: PathBuf,
    },
    /// The output folder belongs to somebody else.
    #[error("{} is not empty and was not made by faultlab; choose another with --out-dir, or empty it", path.display())]
    NotOurs {
        /// The folder.
        path: PathBuf,
    },
    /// Another run writes into the output folder.
    #[error("another run is writing into {}; wait for it, or choose another with --out-dir", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// A file of events cannot be read.
    #[error("{}, line {line}: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The line, from one.
        line: usize,
        /// Why not.
        why: String,
    },
}

impl JournalError {
    pub(super) fn system(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> JournalError {
        move |source| JournalError::System { doing, path: path.to_owned(), source }
    }
}
