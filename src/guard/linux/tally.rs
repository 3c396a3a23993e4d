//! What was denied so far. It lies in a page that forks share, and it is atomics alone: a signal handler counts
//! here, and so does the supervisor, and neither may wait.

use super::denied::{denied, family};
use super::kernel;
use crate::guard::{Attempt, Kind};
use std::ffi::c_long;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// How many attempts are remembered one by one; all are counted.
const REMEMBERED: usize = 32;

/// All zeroes is an empty one.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Tally {
    network: AtomicU64,
    bypass: AtomicU64,
    /// Attempts counted, of either kind; the first [`REMEMBERED`] of them have a slot each.
    slots_taken: AtomicU64,
    slots: [Slot; REMEMBERED],
}

#[derive(Debug)]
#[repr(C)]
struct Slot {
    /// The number of the call plus one; zero while the slot is empty. Written last.
    call: AtomicU64,
    first_argument: AtomicU64,
    process: AtomicU64,
    /// The name of the program, as the sixteen bytes the kernel keeps of it; zeroes if it was not asked.
    program: [AtomicU64; 2],
}

/// A denied call.
#[derive(Clone, Copy)]
pub(super) struct Denial {
    pub call: c_long,
    pub first_argument: u64,
    pub process: u32,
}

impl Tally {
    /// The one tally of this process.
    pub(super) fn of_this_process() -> io::Result<&'static Tally> {
        if let Some(tally) = TALLY.get() {
            return Ok(tally);
        }
        let mapped = kernel::shared_zeroes()?;
        Ok(TALLY.get_or_init(|| mapped))
    }

    /// The same, where nothing may be made any more; `None` before the first.
    pub(super) fn existing() -> Option<&'static Tally> {
        TALLY.get().copied()
    }

    /// Counts a denial; the slot to remember it in, while there are any.
    pub(super) fn count(&self, denial: Denial) -> Option<usize> {
        self.counter(denial.call).fetch_add(1, SeqCst);
        let slot = usize::try_from(self.slots_taken.fetch_add(1, SeqCst)).ok();
        slot.filter(|slot| *slot < REMEMBERED)
    }

    /// Remembers a denial in its slot, with the name of the program if somebody knows it.
    pub(super) fn remember(&self, slot: usize, denial: Denial, program: [u64; 2]) {
        let slot = &self.slots[slot];
        slot.first_argument.store(denial.first_argument, SeqCst);
        slot.process.store(u64::from(denial.process), SeqCst);
        slot.program[0].store(program[0], SeqCst);
        slot.program[1].store(program[1], SeqCst);
        slot.call.store(denial.call as u64 + 1, SeqCst);
    }

    /// Takes the latest count back: the call was interrupted before it heard of the denial, and will come again.
    /// Only for one that counts alone.
    pub(super) fn take_back(&self, denial: Denial, slot: Option<usize>) {
        self.counter(denial.call).fetch_sub(1, SeqCst);
        self.slots_taken.fetch_sub(1, SeqCst);
        if let Some(slot) = slot {
            self.slots[slot].call.store(0, SeqCst);
        }
    }

    /// How many of a kind.
    pub(super) fn counted(&self, kind: Kind) -> u64 {
        match kind {
            Kind::Network => self.network.load(SeqCst),
            Kind::Bypass => self.bypass.load(SeqCst),
        }
    }

    /// Forgets everything. For the guard's own probes, before anybody else could be counted.
    pub(super) fn clear(&self) {
        self.network.store(0, SeqCst);
        self.bypass.store(0, SeqCst);
        self.slots_taken.store(0, SeqCst);
        for slot in &self.slots {
            slot.call.store(0, SeqCst);
        }
    }

    /// The attempts remembered. Who has no name is the program itself, `own_name`.
    pub(super) fn remembered(&self, own_name: &str) -> Vec<Attempt> {
        self.slots.iter().filter_map(|slot| slot.read(own_name)).collect()
    }

    fn counter(&self, call: c_long) -> &AtomicU64 {
        match denied(call).map(|denied| denied.kind) {
            Some(Kind::Bypass) => &self.bypass,
            // What the filter of somebody around us traps is more likely to be of the network than not.
            Some(Kind::Network) | None => &self.network,
        }
    }
}

impl Slot {
    fn read(&self, own_name: &str) -> Option<Attempt> {
        let call = c_long::try_from(self.call.load(SeqCst).checked_sub(1)?).ok()?;
        let denied = denied(call)?;
        let words = [self.program[0].load(SeqCst), self.program[1].load(SeqCst)];
        let name = words.map(u64::to_ne_bytes).concat();
        let name = String::from_utf8_lossy(name.split(|byte| *byte == 0).next().unwrap_or_default());
        Some(Attempt {
            kind: denied.kind,
            call: denied.name,
            family: family(call, self.first_argument.load(SeqCst)),
            program: if name.is_empty() { own_name.to_owned() } else { name.into_owned() },
            process: u32::try_from(self.process.load(SeqCst)).unwrap_or_default(),
        })
    }
}

/// A name as two words, cut at sixteen bytes.
pub(super) fn words(name: &str) -> [u64; 2] {
    let mut bytes = [0; 16];
    for (byte, of_name) in bytes.iter_mut().zip(name.bytes()) {
        *byte = of_name;
    }
    let [mut low, mut high] = [[0; 8]; 2];
    low.copy_from_slice(&bytes[..8]);
    high.copy_from_slice(&bytes[8..]);
    [u64::from_ne_bytes(low), u64::from_ne_bytes(high)]
}

static TALLY: OnceLock<&'static Tally> = OnceLock::new();

#[cfg(test)]
mod tests {
    use super::*;

    const SOCKET: Denial =
        Denial { call: libc::SYS_socket, first_argument: libc::AF_INET as u64, process: 7 };
    const RING: Denial = Denial { call: libc::SYS_io_uring_setup, first_argument: 8, process: 7 };

    #[test]
    fn what_is_taken_back_was_never_counted_nor_remembered() {
        let tally = kernel::shared_zeroes().unwrap();
        count(tally, SOCKET);
        let slot = count(tally, RING);
        tally.take_back(RING, slot);
        assert_eq!((tally.counted(Kind::Network), tally.counted(Kind::Bypass)), (1, 0));
        count(tally, SOCKET);
        assert_eq!(tally.remembered("").len(), 2, "the slot is free again");
    }

    #[test]
    fn all_are_counted_and_the_first_are_remembered() {
        let tally = kernel::shared_zeroes().unwrap();
        for _ in 0..REMEMBERED + 10 {
            count(tally, SOCKET);
        }
        assert_eq!(tally.counted(Kind::Network), REMEMBERED as u64 + 10);
        assert_eq!(tally.remembered("").len(), REMEMBERED);
        tally.clear();
        assert_eq!((tally.counted(Kind::Network), tally.remembered("").len()), (0, 0));
    }

    #[test]
    fn an_attempt_has_the_name_of_its_program_or_else_our_own() {
        for (asked, shown) in [("curl", "curl"), ("", "faultlab"), ("a-name-of-16-byt", "a-name-of-16-byt")] {
            let tally = kernel::shared_zeroes().unwrap();
            tally.remember(0, SOCKET, words(asked));
            let expected = Attempt {
                kind: Kind::Network,
                call: "socket",
                family: Some("inet"),
                program: shown.to_owned(),
                process: 7,
            };
            assert_eq!(tally.remembered("faultlab"), [expected]);
        }
    }

    fn count(tally: &Tally, denial: Denial) -> Option<usize> {
        let slot = tally.count(denial);
        slot.inspect(|slot| tally.remember(*slot, denial, words("")))
    }
}
