//! What nearly all entries are: as usual. A glance tells it, and such an entry counts for all its laws at once. Of any other
//! each law says for itself what it finds.

use super::{Law, Laws};

/// An entry as usual.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(in crate::judge) enum Usual {
    /// An upstream took a call.
    Begun,
}

impl Usual {
    /// All of them.
    pub(super) const ALL: [Usual; 1] = [Usual::Begun];

    /// The laws that hold of it; the others of its kind do not speak of it.
    const fn held(self) -> &'static [Law] {
        match self {
            Usual::Begun => &[
                Law::AttemptsWithinBudget,
                Law::LegsWithinLimit,
                Law::EveryCallIsAnnounced,
                Law::NoCallAfterReply,
                Law::MoneyWithinCaps,
                Law::EligibleOnly,
                Law::ScriptRespected,
            ],
        }
    }

    /// Whether the laws say the same one by one.
    fn is_confirmed(self, judge: impl FnOnce(&mut Laws)) -> bool {
        let mut laws = Laws::default();
        judge(&mut laws);
        let is_right = |law: Law| {
            let tally = laws.tally(law);
            tally.breaches == 0 && tally.exercised == u64::from(self.held().contains(&law))
        };
        Law::ALL.into_iter().all(is_right)
    }
}

/// How many entries of each kind were as usual.
#[derive(Debug, Default)]
pub(in crate::judge) struct Usually([u64; Usual::ALL.len()]);

impl Usually {
    /// An entry is as usual. A debug build asks the laws, too.
    #[inline]
    pub(in crate::judge) fn pass(&mut self, usual: Usual, judge: impl FnOnce(&mut Laws)) {
        debug_assert!(usual.is_confirmed(judge), "{usual:?} is as usual, and a law says otherwise");
        self.0[usual as usize] += 1;
    }

    /// The run is over: what was as usual counts for its laws.
    pub(in crate::judge) fn add_to(&self, laws: &mut Laws) {
        for (usual, count) in Usual::ALL.into_iter().zip(self.0) {
            usual.held().iter().for_each(|law| laws.tallies[*law as usize].exercised += count);
        }
    }
}
