//! Interned names. A name is a number while a scenario runs and a text at the rims.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;

/// An interned text. Compare within one [`Names`] only. Never zero inside: one that may be missing takes no more room.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(NonZeroU32);

impl Name {
    /// The name with this number, from zero, in the order in which they were met.
    ///
    /// # Panics
    /// If `number` is the greatest there is.
    pub const fn nth(number: u32) -> Name {
        Name(NonZeroU32::MIN.checked_add(number).expect("fewer than 4 billion names"))
    }

    /// The name as a position in its table.
    pub const fn index(self) -> usize {
        (self.0.get() - 1) as usize
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Name").field(&self.index()).finish()
    }
}

/// The texts of one scenario. Filled when it is loaded, only read afterwards.
#[derive(Clone, Debug, Default)]
pub struct Names {
    texts: Vec<String>,
    hashes: Vec<u64>,
    known: BTreeMap<String, Name>,
}

impl Names {
    /// The name of `text`; the same text always has the same name.
    pub fn intern(&mut self, text: &str) -> Name {
        if let Some(name) = self.known.get(text) {
            return *name;
        }
        let name = Name::nth(u32::try_from(self.texts.len()).expect("fewer than 4 billion names"));
        self.texts.push(text.to_owned());
        self.hashes.push(hash(text));
        self.known.insert(text.to_owned(), name);
        name
    }

    /// The name of `text`, if it has one already.
    pub fn find(&self, text: &str) -> Option<Name> {
        self.known.get(text).copied()
    }

    /// The text of `name`.
    pub fn text(&self, name: Name) -> &str {
        &self.texts[name.index()]
    }

    /// Every name with its text, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Name, &str)> {
        (0..).map(Name::nth).zip(self.texts.iter().map(String::as_str))
    }

    /// A number that depends on the text alone, never on the order in which names were met.
    pub fn hash(&self, name: Name) -> u64 {
        self.hashes[name.index()]
    }
}

/// FNV-1a, 64 bits. Part of the event format: draws and digests are keyed by it.
pub const fn hash(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut h = 0xcbf2_9ce4_8422_2325_u64;
    let mut i = 0;
    while i < bytes.len() {
        h = (h ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    h
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_the_published_fnv_1a() {
        assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn the_same_text_has_the_same_name() {
        let mut names = Names::default();
        let (a, b) = (names.intern("a"), names.intern("b"));
        assert_ne!(a, b);
        assert_eq!(names.intern("a"), a);
        assert_eq!(names.text(b), "b");
        assert_eq!((a, b), (Name::nth(0), Name::nth(1)));
    }
}
