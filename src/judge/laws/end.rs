//! What is still owed when a run is over.

use super::{Law, Laws, Ruling, calls, gates, replies, status};
use crate::judge::book::Book;

impl Laws {
    /// The run is over: what is still open never ended.
    pub(in crate::judge) fn end(&mut self, book: &Book<'_>) {
        self.count_usual();
        let (seq, at) = book.last();
        if let Some(key) = book.alerts.missing(None)
            && let Ruling::Broken(sentence) = gates::no_alert(book, key)
        {
            self.tallies[Law::OneAlertPerAuthFault as usize].note(self.seed, seq, at, sentence);
        }
        if book.machines.is_due() {
            let sentence = book.machines.overdue(book.facts);
            self.tallies[Law::ResultsAreToldAsTheyWere as usize].note(self.seed, seq, at, sentence);
        }
        if let Some(sentence) = status::hidden(book.to_show.len()) {
            self.tallies[Law::StatusIsTrue as usize].note(self.seed, seq, at, sentence);
        }
        for page in book.requests() {
            if let Some(sentence) = replies::never_closed(book, page) {
                self.tallies[Law::OneReplyOneClose as usize].note(self.seed, seq, at, sentence);
            }
        }
        for page in book.calls() {
            if let Some(sentence) = calls::never_ended(book, page) {
                self.tallies[Law::EachCallEndsOnce as usize].note(self.seed, seq, at, sentence);
            }
        }
    }
}
