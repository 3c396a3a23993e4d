//! The law about what a gateway shows of itself: everything that is not at rest, as it is.

use super::{Law, Laws, Ruling};
use crate::judge::book::Moment;

impl Laws {
    /// The gateway shows something of itself.
    pub(in crate::judge) fn shown(&mut self, entry: Moment, is_true: bool) {
        let tell = || "what is shown is not how things stand, or not what comes next".to_owned();
        self.rule(Law::StatusIsTrue, entry, Ruling::unless((!is_true).then_some(tell)));
    }

    /// It was asked, and does not show so many things that are not at rest.
    #[cold]
    pub(in crate::judge) fn hides(&mut self, entry: Moment, things: usize) {
        let sentence = hidden(things).map_or(Ruling::Silent, Ruling::Broken);
        self.rule(Law::StatusIsTrue, entry, sentence);
    }
}

/// So many things are hidden.
pub(super) fn hidden(things: usize) -> Option<String> {
    (things > 0).then(|| format!("{things} of the things that are not at rest are not shown"))
}
