//! Who writes the trace: it numbers the entries, keeps a page of them, and shows page after page. The code that simulates
//! and the code that watches do not fit into a processor's cache together; by turns, a page each, they do.

use super::catalog::RequestName;
use super::entry::{Claims, Entry, Observer, Scripted, What};
use super::served::End;
use crate::gateway::{Call, Effects, Request};
use crate::units::{CallId, CredentialId, LayerId, RequestId, RouteId, Timestamp};
use std::ops::Range;

/// A page is full with so many entries. A step is never torn apart, so there may be more.
const PAGE: u64 = 512;

/// Writes the trace.
#[derive(Default)]
pub(super) struct Scribe {
    pub(super) page: Page,
    /// What the gateways did and said on this page: they push it here, and it is written down from here.
    pub(super) effects: Effects,
}

/// What was written and not yet shown.
pub(super) struct Page {
    seq: u64,
    at: Timestamp,
    /// Whose entries are written.
    layer: LayerId,
    /// The number of the first entry here.
    first: u64,
    notes: Vec<Noted>,
    /// What the notes speak of, by position.
    arrivals: Vec<Request>,
    ends: Vec<End>,
}

/// An entry that is not yet shown, or some in a row that have all this in common.
struct Noted {
    at: Timestamp,
    cause: Option<u64>,
    layer: LayerId,
    note: Note,
}

/// What it says. What a [`What`] borrows is a position here. Its tag stands in a byte of its own.
#[repr(u8)]
enum Note {
    /// That borrows nothing.
    Plain(What<'static>),
    Arrived {
        request: u32,
        name: RequestName,
        by: Option<CallId>,
    },
    Begun {
        call: CallId,
        request: RequestId,
        route: RouteId,
        credential: CredentialId,
        scripted: Scripted,
    },
    Ended {
        call: CallId,
        end: u32,
    },
    /// What a gateway did and said in answer to one entry.
    Effects {
        first: u32,
        count: u32,
    },
}

impl Default for Page {
    fn default() -> Page {
        Page {
            seq: 0,
            at: Timestamp::ZERO,
            layer: LayerId::INNERMOST,
            first: 0,
            notes: Vec::new(),
            arrivals: Vec::new(),
            ends: Vec::new(),
        }
    }
}

impl Page {
    /// How many entries were written, and the instant of the last.
    pub(super) const fn last(&self) -> (u64, Timestamp) {
        (self.seq, self.at)
    }

    pub(super) const fn is_full(&self) -> bool {
        self.seq - self.first >= PAGE
    }

    /// From here on it writes entries of this layer.
    pub(super) const fn turn_to(&mut self, layer: LayerId) {
        self.layer = layer;
    }

    pub(super) fn write(&mut self, at: Timestamp, cause: Option<u64>, what: What<'static>) -> u64 {
        self.note(at, cause, Note::Plain(what), 1)
    }

    /// A request came in.
    #[inline]
    pub(super) fn arrived(
        &mut self,
        at: Timestamp,
        cause: Option<u64>,
        request: &Request,
        name: RequestName,
        by: Option<CallId>,
    ) -> u64 {
        let position = self.arrivals.len() as u32;
        self.arrivals.push(*request);
        self.note(at, cause, Note::Arrived { request: position, name, by }, 1)
    }

    /// An upstream, or the layer below, took this call.
    pub(super) fn begun(&mut self, at: Timestamp, cause: u64, call: &Call, scripted: Scripted) -> u64 {
        let Call { call, request, route, credential, .. } = *call;
        self.note(at, Some(cause), Note::Begun { call, request, route, credential, scripted }, 1)
    }

    /// A call is over.
    pub(super) fn ended(&mut self, at: Timestamp, call: CallId, end: &End) -> u64 {
        let position = self.ends.len() as u32;
        self.ends.push(*end);
        self.note(at, Some(end.origin), Note::Ended { call, end: position }, 1)
    }

    /// The number of the next entry.
    pub(super) const fn next(&self) -> u64 {
        self.seq
    }

    /// The effects in these places of the list.
    pub(super) fn effects(&mut self, at: Timestamp, cause: u64, places: Range<usize>) {
        if !places.is_empty() {
            let (first, count) = (places.start as u32, places.len() as u32);
            self.note(at, Some(cause), Note::Effects { first, count }, count);
        }
    }

    /// So many entries. The number of the first.
    fn note(&mut self, at: Timestamp, cause: Option<u64>, note: Note, entries: u32) -> u64 {
        self.at = at;
        let seq = self.seq;
        self.seq += u64::from(entries);
        self.notes.push(Noted { at, cause, layer: self.layer, note });
        seq
    }

    fn clear(&mut self) {
        self.first = self.seq;
        self.notes.clear();
        self.arrivals.clear();
        self.ends.clear();
    }
}

impl Scribe {
    /// Shows the page and begins an empty one.
    #[inline(never)]
    pub(super) fn turn_page(&mut self, observer: &mut impl Observer) {
        let Scribe { page, effects } = self;
        let mut seq = page.first;
        for noted in &page.notes {
            match &noted.note {
                Note::Plain(what) => noted.show(observer, &mut seq, *what),
                Note::Arrived { request, name, by } => {
                    let request = &page.arrivals[*request as usize];
                    noted.show(observer, &mut seq, What::Arrived { request, name: *name, by: *by });
                }
                Note::Begun { call, request, route, credential, scripted } => {
                    let (call, request, route, credential) = (*call, *request, *route, *credential);
                    let what = What::CallBegun { call, request, route, credential, scripted: *scripted };
                    noted.show(observer, &mut seq, what);
                }
                Note::Ended { call, end } => {
                    let End { receipt, truth, health, code, status, origin: _ } = &page.ends[*end as usize];
                    let (call, truth, health, code, status) = (*call, *truth, *health, *code, *status);
                    let what = What::CallEnded { call, truth, health, code, status, receipt };
                    noted.show(observer, &mut seq, what);
                }
                Note::Effects { first, count } => {
                    let (list, candidates) = (&effects.list, &effects.candidates);
                    let effects = &list[*first as usize..(*first + *count) as usize];
                    let Noted { at, cause, layer, note: _ } = *noted;
                    observer.claims(&Claims { first: seq, at, cause, layer, effects, candidates });
                    seq += u64::from(*count);
                }
            }
        }
        page.clear();
        effects.clear();
    }
}

impl Noted {
    /// Inlined, and so is where an observer begins: each place that shows knows what it shows, and need not have
    /// it asked of the entry.
    #[inline(always)]
    fn show(&self, observer: &mut impl Observer, seq: &mut u64, what: What<'_>) {
        let Noted { at, cause, layer, note: _ } = *self;
        observer.entry(&Entry { seq: *seq, at, cause, layer, what });
        *seq += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::{Action, Effect};
    use crate::units::Money;

    /// Number, instant, cause, layer, and what is closed, if something is.
    type Told = (u64, Timestamp, Option<u64>, LayerId, Option<RequestId>);

    #[derive(Default)]
    struct Seen(Vec<Told>);

    impl Observer for Seen {
        fn entry(&mut self, &Entry { seq, at, cause, layer, what }: &Entry<'_>) {
            let closed =
                if let What::Acted(Action::Close { request, .. }) = what { Some(*request) } else { None };
            self.0.push((seq, at, cause, layer, closed));
        }
    }

    #[test]
    fn entries_come_in_the_order_of_writing_with_their_own_causes_page_after_page() {
        let (mut seen, mut written) = (Seen::default(), Vec::new());
        let mut scribe = Scribe::default();
        for step in 0..1_000u32 {
            let at = Timestamp::from_nanos(u64::from(step));
            let Scribe { page, effects } = &mut scribe;
            page.turn_to(LayerId(2));
            let cause = page.write(at, None, What::RunEnded);
            written.push((cause, at, None, LayerId(2), None));
            // Two layers answer, one right after the other.
            for (layer, cause) in [(LayerId(1), cause), (LayerId(0), 7)] {
                page.turn_to(layer);
                let first = effects.list.len();
                for nth in 0..4 {
                    let request = RequestId(4 * step + nth);
                    effects.list.push(Effect::Act(Action::Close { request, spent: Money::ZERO }));
                    let seq = page.next() + u64::from(nth % 2);
                    written.push((seq, at, Some(cause), layer, Some(request)));
                    if nth == 1 {
                        // What follows from an effect stands before the next one.
                        page.effects(at, cause, first..first + 2);
                        written.push((page.write(at, Some(9), What::RunEnded), at, Some(9), layer, None));
                    }
                }
                page.effects(at, cause, first + 2..first + 4);
                page.effects(at, cause, first + 4..first + 4);
            }
            if scribe.page.is_full() {
                scribe.turn_page(&mut seen);
            }
        }
        scribe.turn_page(&mut seen);
        assert!(written.iter().map(|(seq, ..)| *seq).eq(0..11_000));
        assert_eq!(seen.0, written);
    }
}
