//! Bytes put together fast: short texts are copied in steps of a fixed size, which is a few instructions where a
//! copy of any size is a call.

/// Bytes, used again and again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer {
    /// As long as there is room; what is written is `bytes[..len]`.
    bytes: Vec<u8>,
    len: usize,
}

/// A short text with room behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Padded<const N: usize> {
    bytes: [u8; N],
    len: u8,
}

/// Room for a key and a short value: made once for both.
type Room = [u8; 128];

/// The longest key.
const KEY: usize = 40;

/// The longest word that goes into a room, and the longest name: a number may stand behind it.
const WORD: usize = 32;
const NAME: usize = 48;

impl<const N: usize> Padded<N> {
    /// # Panics
    /// If the text is longer than `N` bytes, or than 255.
    pub(crate) const fn new(text: &str) -> Padded<N> {
        Padded { bytes: [0; N], len: 0 }.with(text)
    }

    /// # Panics
    /// If the whole is longer than `N` bytes, or than 255.
    pub(crate) const fn with(mut self, text: &str) -> Padded<N> {
        let mut at = 0;
        while at < text.len() {
            self.bytes[self.len as usize] = text.as_bytes()[at];
            self.len += 1;
            at += 1;
        }
        self
    }

    /// The text, if it is short enough.
    pub(crate) fn of(text: &[u8]) -> Option<Padded<N>> {
        let mut padded = Padded { bytes: [0; N], len: u8::try_from(text.len()).ok()? };
        padded.bytes.get_mut(..text.len())?.copy_from_slice(text);
        Some(padded)
    }

    #[inline(always)]
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// One field: its key, which ends where the value begins, and the value.
impl Buffer {
    /// A text without quotes, with the quote behind it.
    #[inline]
    pub(crate) fn word(&mut self, key: &Padded<KEY>, word: &str) {
        if word.len() > WORD {
            self.padded(key);
            self.text(word.as_bytes());
            return self.byte(b'"');
        }
        self.field(key, |room, at| {
            let end = at + lay(room, at, word.as_bytes());
            room[end] = b'"';
            end + 1
        });
    }

    /// The same for a text that is padded.
    #[inline]
    pub(crate) fn name<const N: usize>(&mut self, key: &Padded<KEY>, name: &Padded<N>) {
        self.field(key, |room, at| {
            let end = lay_name(room, at, name);
            room[end] = b'"';
            end + 1
        });
    }

    /// The same with a number behind it: `name#3`.
    #[inline]
    pub(crate) fn numbered<const N: usize>(&mut self, key: &Padded<KEY>, name: &Padded<N>, n: u32) {
        let n = u64::from(n);
        if n >= EIGHT {
            self.padded(key);
            self.padded(name);
            self.byte(b'#');
            self.decimal(n);
            return self.byte(b'"');
        }
        self.field(key, |room, at| {
            let end = lay_name(room, at, name);
            room[end] = b'#';
            let end = lay_decimal(room, end + 1, n);
            room[end] = b'"';
            end + 1
        });
    }

    #[inline]
    pub(crate) fn number(&mut self, key: &Padded<KEY>, n: u64) {
        if n >= EIGHT * EIGHT {
            self.padded(key);
            return self.decimal(n);
        }
        self.field(key, |room, at| {
            if n < EIGHT {
                lay_decimal(room, at, n)
            } else {
                let at = lay_decimal(room, at, n / EIGHT);
                put(room, at, ascii(digits(n % EIGHT)));
                at + 8
            }
        });
    }

    /// As `Money` prints itself: at least three decimals, no more than are needed. With the quote behind it.
    #[inline]
    pub(crate) fn dollars(&mut self, key: &Padded<KEY>, picos: u64) {
        const PICOS_PER_DOLLAR: u64 = 1_000_000_000_000;
        let (whole, part) = (picos / PICOS_PER_DOLLAR, picos % PICOS_PER_DOLLAR);
        self.field(key, |room, at| {
            let at = lay_decimal(room, at, whole);
            room[at] = b'.';
            let (high, low) = (digits(part / EIGHT), part % EIGHT);
            put(room, at + 1, ascii(high >> 32));
            let end = if low == 0 {
                at + 4 + usize::from(high >> 56 != 0)
            } else {
                let low = digits(low);
                put(room, at + 5, ascii(low));
                at + 13 - low.leading_zeros() as usize / 8
            };
            room[end] = b'"';
            end + 1
        });
    }

    /// Makes room once, puts the key there, and then the value, which says where it ends.
    #[inline(always)]
    fn field(&mut self, key: &Padded<KEY>, value: impl FnOnce(&mut Room, usize) -> usize) {
        let room = self.room::<128>();
        room[..KEY].copy_from_slice(&key.bytes);
        let end = value(room, usize::from(key.len & 63));
        self.len += end;
    }
}

impl Buffer {
    /// What is written.
    pub(crate) fn written(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Forgets what is written, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Forgets the last byte, if it is this one.
    pub(crate) fn drop_last(&mut self, byte: u8) {
        if self.written().last() == Some(&byte) {
            self.len -= 1;
        }
    }

    /// Writes `byte` over the one at `at`.
    pub(crate) fn replace(&mut self, at: usize, byte: u8) {
        assert!(at < self.len, "only what is written can be replaced");
        self.bytes[at] = byte;
    }

    #[inline(always)]
    pub(crate) fn byte(&mut self, byte: u8) {
        self.room::<1>()[0] = byte;
        self.len += 1;
    }

    #[inline(always)]
    pub(crate) fn padded<const N: usize>(&mut self, text: &Padded<N>) {
        *self.room::<N>() = text.bytes;
        self.len += usize::from(text.len);
    }

    #[inline]
    pub(crate) fn decimal(&mut self, n: u64) {
        if n < EIGHT {
            self.len += lay_decimal(self.room::<8>(), 0, n);
        } else {
            self.decimal(n / EIGHT);
            *self.room::<8>() = ascii(digits(n % EIGHT));
            self.len += 8;
        }
    }

    /// A text of any length.
    #[inline]
    pub(crate) fn text(&mut self, text: &[u8]) {
        while self.bytes.len() - self.len < text.len() {
            self.grow();
        }
        self.bytes[self.len..self.len + text.len()].copy_from_slice(text);
        self.len += text.len();
    }

    #[inline(always)]
    fn room<const N: usize>(&mut self) -> &mut [u8; N] {
        if self.bytes.len() - self.len < N {
            self.grow();
        }
        self.bytes[self.len..]
            .first_chunk_mut()
            .expect("the buffer has grown by more than is ever put at once")
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.bytes.resize(self.bytes.len() * 2 + 4096, 0);
    }
}

/// Puts a text of at most [`WORD`] bytes into the room, from both of its ends; its length.
#[inline(always)]
fn lay(room: &mut Room, at: usize, text: &[u8]) -> usize {
    let len = text.len();
    match len {
        0 => {}
        1..4 => {
            room[at] = text[0];
            room[at + len / 2] = text[len / 2];
            room[at + len - 1] = text[len - 1];
        }
        4..8 => ends::<4>(room, at, text),
        8..16 => ends::<8>(room, at, text),
        16.. => ends::<16>(room, at, text),
    }
    len
}

#[inline(always)]
fn ends<const N: usize>(room: &mut Room, at: usize, text: &[u8]) {
    if let (Some(first), Some(last)) = (text.first_chunk::<N>(), text.last_chunk::<N>()) {
        put(room, at, *first);
        put(room, at + text.len() - N, *last);
    }
}

#[inline(always)]
fn lay_name<const N: usize>(room: &mut Room, at: usize, name: &Padded<N>) -> usize {
    const { assert!(N <= NAME, "a name fits into the room behind any key, with a number behind it") };
    put(room, at, name.bytes);
    at + usize::from(name.len & 63)
}

/// Puts a number below 100,000,000 into the room; where it ends.
#[inline(always)]
fn lay_decimal<const M: usize>(room: &mut [u8; M], at: usize, n: u64) -> usize {
    if n < 10 {
        room[at] = b'0' + n as u8;
        return at + 1;
    }
    let digits = digits(n);
    // The last digit is written even if it is a zero.
    let zeros = (digits | (1 << 56)).trailing_zeros() / 8;
    room[at..at + 8].copy_from_slice(&ascii(digits >> (8 * zeros)));
    at + 8 - zeros as usize
}

#[inline(always)]
fn put<const N: usize>(room: &mut Room, at: usize, bytes: [u8; N]) {
    room[at..at + N].copy_from_slice(&bytes);
}

const EIGHT: u64 = 100_000_000;

/// The eight digits of `n`, which is below 100,000,000, as the values of eight bytes, the first in the lowest. All
/// at once: no digit waits for the one after it, and none goes through memory. No step can overflow.
#[inline(always)]
const fn digits(n: u64) -> u64 {
    let fours = (n / 10_000) | ((n % 10_000) << 32);
    let hundreds = (fours.wrapping_mul(10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | (fours.wrapping_sub(hundreds.wrapping_mul(100)) << 16);
    let tens = (twos.wrapping_mul(103) >> 10) & 0x000f_000f_000f_000f;
    tens | (twos.wrapping_sub(tens.wrapping_mul(10)) << 8)
}

/// As characters.
#[inline(always)]
const fn ascii(digits: u64) -> [u8; 8] {
    (digits | 0x3030_3030_3030_3030).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Money;

    #[test]
    fn a_number_is_written_as_the_standard_library_writes_it() {
        let around = (0..64).flat_map(|bit| [1u64 << bit, (1u64 << bit) - 1]);
        let tens = (0..20).flat_map(|e| [10u64.pow(e), 10u64.pow(e) - 1]);
        for n in around.chain(tens).chain(0..2000).chain([u64::MAX]) {
            let mut buffer = Buffer::default();
            buffer.decimal(n);
            assert_eq!(buffer.written(), n.to_string().as_bytes());
        }
    }

    /// What a field looks like behind the key `k:`.
    fn value(write: impl Fn(&mut Buffer, &Padded<KEY>)) -> String {
        let mut buffer = Buffer::default();
        write(&mut buffer, &Padded::new("k:"));
        let text = std::str::from_utf8(buffer.written()).unwrap();
        text.strip_prefix("k:").unwrap().to_owned()
    }

    #[test]
    fn a_value_is_written_as_the_standard_library_writes_it() {
        let tens = (0..20).flat_map(|e| [10u64.pow(e), 10u64.pow(e) - 1]);
        let others = [16_000_000_000, 62_500_000_000, 50_000_000_010, u64::MAX];
        for n in tens.chain(0..2000).chain((0..64).map(|bit| 1 << bit)).chain(others) {
            assert_eq!(value(|out, key| out.number(key, n)), n.to_string());
            let (name, short) = (Padded::<7>::new("asker/1"), n as u32);
            assert_eq!(value(|out, key| out.numbered(key, &name, short)), format!("asker/1#{short}\""));
            let money = Money::from_picos(n);
            assert_eq!(value(|out, key| out.dollars(key, n)), format!("{money}\""));
        }
    }

    #[test]
    fn a_text_of_any_length_is_written_whole_wherever_it_begins() {
        let text: String = (0..300u32).map(|n| char::from(b'!' + (n % 90) as u8)).collect();
        let mut expected = String::new();
        let mut buffer = Buffer::default();
        for len in (0..300).chain((0..300).rev()) {
            buffer.text(&text.as_bytes()[..len]);
            buffer.byte(b'|');
            buffer.padded(&Padded::<20>::new("padded"));
            buffer.word(&Padded::new(":"), &text[..len]);
            expected.push_str(&format!("{}|padded:{}\"", &text[..len], &text[..len]));
            if let Some(name) = Padded::<NAME>::of(&text.as_bytes()[..len]) {
                buffer.name(&Padded::new("="), &name);
                expected.push_str(&format!("={}\"", &text[..len]));
            }
        }
        assert_eq!(buffer.written(), expected.as_bytes());
        buffer.drop_last(b'!');
        assert_eq!(buffer.written(), expected.as_bytes());
        buffer.drop_last(b'"');
        assert_eq!(buffer.written(), &expected.as_bytes()[..expected.len() - 1]);
        buffer.clear();
        assert_eq!(buffer.written(), b"");
    }
}
