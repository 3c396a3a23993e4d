//! A digest of a run: the same entries give the same 128 bits, on every machine and at every event level. Not
//! a cryptographic one: it finds differences, not forgers.

use std::fmt;

use super::field::Field;
use super::fields::{Sink, fields};
use super::kind::Kind;
use super::reading::Reading;
use super::roll::Roll;
use super::text::Text;
use crate::policy::eligibility::Reason;
use crate::policy::taxonomy::Class;
use crate::sim::{Catalog, Entry, Observer, RequestName, SourceKind, TaskName};
use crate::units::Money;
use crate::units::draw::mix;

/// 128 bits, printed as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fingerprint([u64; 2]);

/// Digests every entry that it sees: each field with its value, names by the hash of their text and never by an id.
#[derive(Clone, Debug)]
pub struct Digest<'a> {
    catalog: &'a Catalog,
    roll: Roll,
    lanes: Lanes,
}

impl<'a> Digest<'a> {
    /// The digest of nothing yet, of a run with this catalogue.
    pub fn new(catalog: &'a Catalog) -> Digest<'a> {
        Digest { catalog, roll: Roll::default(), lanes: Lanes::default() }
    }

    /// An entry that was just seen, read.
    pub fn read(&self, entry: &Entry<'_>) -> Reading {
        Reading::of(entry, &self.roll, self.catalog)
    }

    /// The digest of what was seen so far.
    pub const fn fingerprint(&self) -> Fingerprint {
        self.lanes.fingerprint()
    }
}

impl Observer for Digest<'_> {
    #[inline(always)]
    fn entry(&mut self, entry: &Entry<'_>) {
        self.roll.note(entry);
        self.lanes.take(SEQ, entry.seq);
        self.lanes.take(AT, entry.at.nanos());
        if let Some(cause) = entry.cause {
            self.lanes.take(CAUSE, cause);
        }
        self.lanes.take(KIND, KINDS[Kind::of(&entry.what) as usize]);
        fields(entry, &self.roll, self.catalog, &mut self.lanes);
        self.lanes.turn();
    }
}

impl Fingerprint {
    /// The digest of a text.
    pub fn of(text: &str) -> Fingerprint {
        let mut lanes = Lanes::default();
        lanes.word(KIND, text);
        lanes.fingerprint()
    }

    /// The digest of several digests, in this order.
    pub fn all(parts: impl IntoIterator<Item = Fingerprint>) -> Fingerprint {
        let mut lanes = Lanes::default();
        for Fingerprint([a, b]) in parts {
            lanes.take(SEQ, a);
            lanes.take(AT, b);
            lanes.turn();
        }
        lanes.fingerprint()
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}{:016x}", self.0[0], self.0[1])
    }
}

/// Two sums of the values so far, each value spread by the key of its field, and turned on by an odd factor at
/// every step so that the order counts. Every entry is mixed once more when it is over.
#[derive(Clone, Copy, Default, Debug)]
struct Lanes([u64; 2]);

const SPREAD: u64 = 0xa076_1d64_78bd_642f;
const TURNS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03];

impl Lanes {
    #[inline(always)]
    const fn take(&mut self, key: u64, value: u64) {
        let [a, b] = self.0;
        let spread = (value ^ key).wrapping_mul(SPREAD);
        let spread = spread ^ (spread >> 32);
        self.0 = [
            a.wrapping_add(spread).wrapping_mul(TURNS[0]),
            (b ^ spread).rotate_left(29).wrapping_mul(TURNS[1]),
        ];
    }

    #[inline(always)]
    const fn turn(&mut self) {
        let [a, b] = self.0;
        self.0 = [mix(a), mix(b)];
    }

    /// Eight bytes at a time; the last eight may cover some twice, so the length is part of the key.
    #[inline(always)]
    fn word(&mut self, key: u64, text: &str) {
        let (text, key) = (text.as_bytes(), key.wrapping_add(text.len() as u64));
        match text.len() {
            0 => self.take(key, 0),
            1..4 => {
                let [first, middle, last] = [0, text.len() / 2, text.len() - 1].map(|at| u64::from(text[at]));
                self.take(key, (first << 16) | (middle << 8) | last);
            }
            4..8 => {
                let part = |at: usize| text[at..].first_chunk().map_or(0, |part| u32::from_le_bytes(*part));
                self.take(key, (u64::from(part(0)) << 32) | u64::from(part(text.len() - 4)));
            }
            8.. => {
                let part = |at: usize| text[at..].first_chunk().map_or(0, |part| u64::from_le_bytes(*part));
                let mut at = 0;
                while at + 8 < text.len() {
                    self.take(key, part(at));
                    at += 8;
                }
                self.take(key, part(text.len() - 8));
            }
        }
    }

    /// A request by the name of its source and its number there; of a job's step, by the name of the job too; of a
    /// layer below, by that layer and its number there too.
    fn request(&mut self, key: u64, catalog: &Catalog, name: RequestName) {
        let source = &catalog.sources[usize::from(name.source)];
        self.take(key, catalog.names.hash(source.name));
        match source.kind {
            SourceKind::Listed => {}
            SourceKind::Stream => self.take(key, u64::from(name.ordinal)),
            SourceKind::Step { job, .. } => {
                self.task(key, catalog, TaskName { kind: job, ordinal: Some(name.ordinal) });
            }
        }
        if let Some(within) = name.within {
            self.take(key, catalog.names.hash(catalog.stack.names[within.layer.index()]));
            self.take(key, u64::from(within.nth.get()));
        }
    }

    fn task(&mut self, key: u64, catalog: &Catalog, name: TaskName) {
        self.take(key, catalog.names.hash(catalog.tasks[usize::from(name.kind)].name));
        if let Some(ordinal) = name.ordinal {
            self.take(key, u64::from(ordinal));
        }
    }

    /// Each of several names or words, and how many there are.
    fn several(&mut self, key: u64, each: impl Iterator<Item = u64>) {
        let mut count = 0;
        for hash in each {
            self.take(key, hash);
            count += 1;
        }
        self.take(key, count);
    }

    const fn fingerprint(self) -> Fingerprint {
        let [a, b] = self.0;
        Fingerprint([mix(a ^ b.rotate_left(32)), mix(b ^ mix(a))])
    }
}

impl Sink for Lanes {
    #[inline(always)]
    fn text(&mut self, field: Field, text: Text<'_>) {
        let key = field.hash();
        match text {
            Text::Word(word) => self.word(key, word),
            Text::Name(names, name) => self.take(key, names.hash(name)),
            Text::Request(catalog, name) => self.request(key, catalog, name),
            Text::Call(catalog, name, nth) => {
                self.request(key, catalog, name);
                self.take(key, u64::from(nth));
            }
            Text::Task(catalog, name) => self.task(key, catalog, name),
            Text::Members(names, list, set) => {
                let told = set.iter().map_while(|at| list.get(usize::from(at)));
                self.several(key, told.map(|name| names.hash(*name)));
            }
            Text::Credentials(catalog, pool) => {
                let keys = pool.iter().map(|id| catalog.credentials[id.index()]);
                let told = keys.flat_map(|key| [key.name, catalog.projects[key.project.index()]]);
                self.several(key, told.map(|name| catalog.names.hash(name)));
            }
            Text::Classes(classes) => {
                let told = classes.iter().map_while(|at| Class::ALL.get(usize::from(at)));
                self.several(key, told.map(|class| crate::units::names::hash(class.label())));
            }
            Text::Preferences(order) => {
                self.several(key, order.preferences().map(|key| crate::units::names::hash(key.label())));
            }
            Text::Reasons(reasons, missing) => {
                self.several(key, reasons.iter().map(|reason| REASONS[reason as usize]));
                if let Some((names, name)) = missing {
                    self.take(key, names.hash(name));
                }
            }
        }
    }

    #[inline]
    fn number(&mut self, field: Field, n: u64) {
        self.take(field.hash(), n);
    }

    #[inline]
    fn money(&mut self, field: Field, money: Money) {
        self.take(field.hash(), money.picos());
    }

    fn list(&mut self, field: Field) {
        self.take(field.hash(), LIST);
    }

    fn open(&mut self) {
        self.take(LIST, OPEN);
    }

    fn close(&mut self) {
        self.take(LIST, CLOSE);
    }

    fn end(&mut self) {
        self.take(LIST, END);
    }
}

const SEQ: u64 = mix(1);
const AT: u64 = mix(2);
const CAUSE: u64 = mix(3);
const KIND: u64 = mix(4);
const LIST: u64 = mix(5);
const OPEN: u64 = mix(6);
const CLOSE: u64 = mix(7);
const END: u64 = mix(8);

/// The kinds by their labels: a new kind between two others moves no digest.
const KINDS: [u64; Kind::ALL.len()] = {
    let mut hashes = [0; Kind::ALL.len()];
    let mut at = 0;
    while at < hashes.len() {
        hashes[at] = crate::units::names::hash(Kind::ALL[at].label());
        at += 1;
    }
    hashes
};

/// The reasons by their labels.
const REASONS: [u64; Reason::ALL.len()] = {
    let mut hashes = [0; Reason::ALL.len()];
    let mut at = 0;
    while at < hashes.len() {
        hashes[Reason::ALL[at] as usize] = crate::units::names::hash(Reason::ALL[at].label());
        at += 1;
    }
    hashes
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::{What, Within};
    use crate::trace::samples::{self, Stage};
    use crate::units::{LayerId, Names, RequestId, Timestamp};

    fn digest(catalog: &Catalog, play: impl Fn(&mut Digest<'_>)) -> Fingerprint {
        let mut digest = Digest::new(catalog);
        play(&mut digest);
        digest.fingerprint()
    }

    #[test]
    fn the_digest_of_the_sample_is_a_known_answer() {
        let catalog = samples::catalog();
        let got = digest(&catalog, |digest| samples::bounded(digest)).to_string();
        assert_eq!(got, "199c8e2335fbb29fc5ea8a0e5cd982c4", "a change here is a new event format");
    }

    fn arrival(catalog: &Catalog, slot: u32, deadline: u64, ordinal: u32) -> Fingerprint {
        digest(catalog, |digest| {
            let id = RequestId(slot);
            let deadline = Timestamp::from_nanos(deadline);
            let request = &crate::gateway::Request { id, deadline, ..samples::request() };
            let name = RequestName::of(1, ordinal);
            Stage::new(digest).first(Timestamp::ZERO, What::Arrived { request, name, by: None });
        })
    }

    #[test]
    fn any_other_value_is_another_digest_but_another_slot_is_not() {
        let catalog = samples::catalog();
        let base = arrival(&catalog, 0, 9, 0);
        assert_eq!(arrival(&catalog, 7, 9, 0), base);
        assert_ne!(arrival(&catalog, 0, 10, 0), base);
        assert_ne!(arrival(&catalog, 0, 9, 1), base);
    }

    #[test]
    fn names_count_by_their_text_not_by_their_number() {
        let catalog = samples::catalog();
        let mut names = Names::default();
        names.intern("a name that moves all others by one");
        let renumbered = samples::catalog_after(names);
        assert_ne!(renumbered.sources[1].name, catalog.sources[1].name);
        assert_eq!(arrival(&renumbered, 0, 9, 0), arrival(&catalog, 0, 9, 0));
    }

    #[test]
    fn texts_that_differ_anywhere_have_different_digests() {
        let texts = ["", "\0", "\0\0", "a", "a\0", "abcdefgh", "abcdefgh\0", "abcdefgi", "abcdefghi"];
        for (at, text) in texts.iter().enumerate() {
            assert!(
                texts[..at].iter().all(|other| Fingerprint::of(other) != Fingerprint::of(text)),
                "{text:?}"
            );
        }
        let [a, b] = ["a", "b"].map(Fingerprint::of);
        assert_ne!(Fingerprint::all([a, b]), Fingerprint::all([b, a]));
    }

    #[test]
    fn a_layer_and_what_a_request_led_to_are_in_the_digest() {
        let catalog = samples::stacked();
        let told = |layer, within| {
            digest(&catalog, |digest| {
                let name = RequestName { within, ..RequestName::of(0, 0) };
                let what = What::Arrived { request: &samples::request(), name, by: None };
                digest.entry(&Entry { seq: 0, at: Timestamp::ZERO, cause: None, layer, what });
            })
        };
        let within = |layer, nth| std::num::NonZeroU32::new(nth).map(|nth| Within { layer, nth });
        let (sdk, agent) = (LayerId(1), LayerId(2));
        let all = [
            told(sdk, None),
            told(agent, None),
            told(sdk, within(sdk, 1)),
            told(sdk, within(sdk, 2)),
            told(sdk, within(agent, 1)),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[..at].contains(one), "{at} is like another");
        }
    }
}
