//! Who judges one gateway.

use super::book::Book;
use super::findings::Findings;
use super::laws::Laws;
use super::metrics::Metrics;
use crate::sim::{Catalog, Entry, What};

/// Who judges one gateway: it sees the entries of its layer.
#[derive(Debug)]
pub(super) struct Chamber<'a> {
    pub(super) book: Book<'a>,
    pub(super) laws: Laws,
    pub(super) metrics: Metrics,
    pub(super) findings: Findings,
}

impl<'a> Chamber<'a> {
    pub(super) fn new(catalog: &'a Catalog, seed: u64) -> Chamber<'a> {
        Chamber {
            book: Book::new(catalog, seed),
            laws: Laws::new(seed),
            metrics: Metrics::new(catalog.tenants.len(), catalog.routes.len()),
            findings: Findings::new(seed),
        }
    }

    /// The run is over.
    pub(super) fn end(&mut self) {
        self.laws.end(&self.book);
        self.metrics.end(&self.book);
        self.findings.end(&self.book, &self.metrics);
    }

    /// An entry of another layer: it takes its number, and of tasks everybody knows.
    pub(super) fn overhear(&mut self, entry: &Entry<'_>) {
        self.book.turn(entry.seq + 1, entry.at);
        if let What::TaskBegan { task, name } = entry.what {
            self.book.begin_task(task, name);
        } else if let What::TaskEnded { task, end: _ } = entry.what {
            self.book.end_task(task);
        }
    }
}
