//! Finds a few hundred phrases in one pass over the words of a text: a tree of letters, entered at every word.
//! A phrase of several fragments (`model .. not found`) needs them in order, with anything between.

use super::names::{self, Spans, Strength};

/// The phrases of a dialect, ready to be looked for.
#[derive(Clone, Debug)]
pub(super) struct Phrases {
    nodes: Vec<Node>,
    /// The node after each first letter; zero for none.
    first: Vec<u32>,
    /// For each fragment: the phrases that end with it.
    endings: Vec<Vec<Ending>>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    edges: Vec<(u8, u32)>,
    fragment: Option<u16>,
}

#[derive(Clone, Debug)]
struct Ending {
    /// The fragments that must have been seen before, in order.
    before: Vec<u16>,
    phrase: u16,
}

impl Default for Phrases {
    fn default() -> Phrases {
        Phrases { nodes: vec![Node::default()], first: vec![0; 256], endings: Vec::new() }
    }
}

impl Phrases {
    /// Adds a phrase, in words, under the number `phrase`.
    pub(super) fn add(&mut self, words: &str, phrase: u16) {
        let mut fragments: Vec<u16> = words.split("..").map(|words| self.fragment(words.trim())).collect();
        let last = fragments.pop().expect("a text has at least one fragment");
        self.endings[usize::from(last)].push(Ending { before: fragments, phrase });
    }

    fn fragment(&mut self, words: &str) -> u16 {
        let mut at = 0;
        for byte in words.bytes() {
            at = match self.step(at, byte) {
                Some(next) => next,
                None => {
                    let next = self.nodes.len();
                    self.nodes.push(Node::default());
                    let number = u32::try_from(next).expect("dialects are small");
                    if at == 0 {
                        self.first[usize::from(byte)] = number;
                    }
                    self.nodes[at].edges.push((byte, number));
                    next
                }
            };
        }
        *self.nodes[at].fragment.get_or_insert_with(|| {
            self.endings.push(Vec::new());
            u16::try_from(self.endings.len() - 1).expect("dialects are small")
        })
    }

    fn step(&self, at: usize, byte: u8) -> Option<usize> {
        self.nodes[at].edges.iter().find(|edge| edge.0 == byte).map(|edge| edge.1 as usize)
    }

    /// Calls `found` with the number of every phrase in `words`, and how much it counts for: a phrase that stands
    /// in names from its first fragment to its last is one too.
    pub(super) fn find(&self, words: &str, spans: &Spans, mut found: impl FnMut(u16, Strength)) {
        let bytes = words.as_bytes();
        let mut seen: Vec<Seen> = Vec::new(); // no memory until something is found
        for start in (0..bytes.len()).filter(|at| begins(bytes, *at)) {
            let mut at = 0;
            for end in start..bytes.len() {
                at = match (at, bytes[end]) {
                    (0, byte) => self.first[usize::from(byte)] as usize,
                    (at, byte) => self.step(at, byte).unwrap_or(0),
                };
                if at == 0 {
                    break;
                }
                let Some(fragment) = self.nodes[at].fragment.filter(|_| ends(bytes, end + 1)) else {
                    continue;
                };
                let strength = names::strength(spans, start, end + 1);
                for ending in &self.endings[usize::from(fragment)] {
                    if let Some(before) = in_order(&ending.before, &seen) {
                        found(ending.phrase, strength.max(before));
                    }
                }
                seen.push(Seen { fragment, start, strength });
            }
        }
    }
}

/// A fragment that was found.
#[derive(Clone, Copy)]
struct Seen {
    fragment: u16,
    start: usize,
    strength: Strength,
}

/// How much fragments count for that were all seen, each after the one before it.
fn in_order(fragments: &[u16], seen: &[Seen]) -> Option<Strength> {
    let mut from = None;
    fragments.iter().try_fold(Strength::Name, |strongest, fragment| {
        let next =
            seen.iter().find(|one| one.fragment == *fragment && from.is_none_or(|at| one.start > at))?;
        from = Some(next.start);
        Some(strongest.max(next.strength))
    })
}

/// Whether a word begins at `at`. A letter outside ASCII is a word of its own: some scripts have no blanks.
fn begins(bytes: &[u8], at: usize) -> bool {
    bytes[at] != b' ' && (at == 0 || bytes[at - 1] == b' ' || bytes[at] >= 0xC0 || bytes[at - 1] >= 0x80)
}

fn ends(bytes: &[u8], end: usize) -> bool {
    bytes.get(end).is_none_or(|next| *next == b' ' || *next >= 0xC0) || bytes[end - 1] >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &str) -> Vec<u16> {
        let mut phrases = Phrases::default();
        for (number, words) in ["limit 0", "per day", "model .. not found", "余额不足"].iter().enumerate()
        {
            phrases.add(words, u16::try_from(number).unwrap());
        }
        let mut found = Vec::new();
        phrases.find(words, &Spans::new(), |phrase, _| found.push(phrase));
        found
    }

    #[test]
    fn a_phrase_is_found_at_whole_words_only() {
        assert_eq!(check("the limit 0 tokens per day"), [0, 1]);
        assert_eq!(check("limit 0.5 per daylight"), [0; 0]);
    }

    #[test]
    fn fragments_are_found_in_order_only() {
        assert_eq!(check("model x was not found"), [2]);
        assert_eq!(check("not found by model"), [0; 0]);
    }

    #[test]
    fn a_phrase_that_is_wholly_in_a_name_is_weak() {
        let mut phrases = Phrases::default();
        phrases.add("per day", 0);
        phrases.add("model .. not found", 1);
        let check = |spans: &[(usize, usize)], expected: &[(u16, Strength)]| {
            let spans = spans.iter().map(|(from, to)| (*from, *to, Strength::Name)).collect();
            let mut found = Vec::new();
            phrases
                .find("model per day not found", &spans, |phrase, strength| found.push((phrase, strength)));
            assert_eq!(found, expected);
        };
        check(&[], &[(0, Strength::Plain), (1, Strength::Plain)]);
        check(&[(6, 13)], &[(0, Strength::Name), (1, Strength::Plain)]);
        check(&[(6, 9)], &[(0, Strength::Plain), (1, Strength::Plain)]);
        check(&[(0, 23)], &[(0, Strength::Name), (1, Strength::Name)]);
    }

    #[test]
    fn a_script_without_blanks_is_searched_everywhere() {
        assert_eq!(check("账户余额不足请充值"), [3]);
    }
}
