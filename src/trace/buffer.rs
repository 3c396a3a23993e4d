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
    len: usize,
}

impl<const N: usize> Padded<N> {
    /// # Panics
    /// If the text is longer than `N` bytes.
    pub(crate) const fn new(text: &str) -> Padded<N> {
        Padded { bytes: [0; N], len: 0 }.with(text)
    }

    /// # Panics
    /// If the whole is longer than `N` bytes.
    pub(crate) const fn with(mut self, text: &str) -> Padded<N> {
        let mut at = 0;
        while at < text.len() {
            self.bytes[self.len] = text.as_bytes()[at];
            self.len += 1;
            at += 1;
        }
        self
    }
}

impl<const N: usize> Padded<N> {
    #[inline(always)]
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
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

    /// The last byte that was written.
    pub(crate) fn last(&self) -> Option<u8> {
        self.written().last().copied()
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
        self.len += text.len;
    }

    #[inline]
    pub(crate) fn decimal(&mut self, n: u64) {
        if n < EIGHT {
            let digits = digits(n);
            // The last digit is written even if it is a zero.
            let zeros = (digits | (1 << 56)).trailing_zeros() / 8;
            *self.room::<8>() = ascii(digits >> (8 * zeros));
            self.len += 8 - zeros as usize;
        } else {
            self.decimal(n / EIGHT);
            self.eight(n % EIGHT);
        }
    }

    #[inline(always)]
    fn eight(&mut self, n: u64) {
        *self.room::<8>() = ascii(digits(n));
        self.len += 8;
    }

    /// As `Money` prints itself: at least three decimals, no more than are needed.
    #[inline]
    pub(crate) fn dollars(&mut self, picos: u64) {
        const PICOS_PER_DOLLAR: u64 = 1_000_000_000_000;
        self.decimal(picos / PICOS_PER_DOLLAR);
        self.byte(b'.');
        let part = picos % PICOS_PER_DOLLAR;
        let (high, low) = (digits(part / EIGHT), digits(part % EIGHT));
        *self.room::<8>() = ascii(high >> 32);
        self.len += 4;
        *self.room::<8>() = ascii(low);
        self.len += 8;
        let unused = if low > 0 { low.leading_zeros() / 8 } else { 8 + high.leading_zeros() / 8 };
        self.len -= unused.min(9) as usize;
    }

    /// Sixteen bytes at a time; of a text that is no multiple, the last step covers some bytes twice.
    #[inline(always)]
    pub(crate) fn text(&mut self, text: &[u8]) {
        match text.len() {
            0..16 => self.short(text),
            16..=64 => {
                let room = self.room::<64>();
                let mut at = 0;
                while at + 16 < text.len() {
                    copy::<16>(room, text, at);
                    at += 16;
                }
                copy::<16>(room, text, text.len() - 16);
                self.len += text.len();
            }
            65.. => self.long(text),
        }
    }

    #[inline(always)]
    fn short(&mut self, text: &[u8]) {
        let room = self.room::<16>();
        match text.len() {
            0 => {}
            1..4 => {
                let (middle, last) = (text.len() / 2, text.len() - 1);
                room[0] = text[0];
                room[middle] = text[middle];
                room[last] = text[last];
            }
            4..8 => {
                copy::<4>(room, text, 0);
                copy::<4>(room, text, text.len() - 4);
            }
            8.. => {
                copy::<8>(room, text, 0);
                copy::<8>(room, text, text.len() - 8);
            }
        }
        self.len += text.len();
    }

    #[cold]
    fn long(&mut self, text: &[u8]) {
        for part in text.chunks(64) {
            self.text(part);
        }
    }

    #[inline(always)]
    fn room<const N: usize>(&mut self) -> &mut [u8; N] {
        if self.bytes.len() < self.len + N {
            self.grow();
        }
        self.bytes[self.len..]
            .first_chunk_mut()
            .expect("the buffer has grown by more than is ever put at once")
    }

    #[cold]
    fn grow(&mut self) {
        self.bytes.resize(self.bytes.len() * 2 + 4096, 0);
    }
}

#[inline(always)]
fn copy<const N: usize>(to: &mut [u8], from: &[u8], at: usize) {
    to[at..at + N].copy_from_slice(&from[at..at + N]);
}

const EIGHT: u64 = 100_000_000;

/// The eight digits of `n` as the values of eight bytes, the first in the lowest. All at once: no digit waits for
/// the one after it, and none goes through memory.
#[inline(always)]
const fn digits(n: u64) -> u64 {
    let fours = (n / 10_000) | ((n % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((twos - 10 * tens) << 8)
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

    #[test]
    fn money_is_written_as_it_prints() {
        let tens = (0..20).flat_map(|e| [10u64.pow(e), 10u64.pow(e) - 1]);
        for picos in tens.chain([16_000_000_000, 62_500_000_000, 50_000_000_010, u64::MAX]) {
            let mut buffer = Buffer::default();
            buffer.dollars(picos);
            assert_eq!(buffer.written(), Money::from_picos(picos).to_string().as_bytes());
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
            expected.push_str(&text[..len]);
            expected.push_str("|padded");
            assert_eq!(buffer.last(), Some(b'd'));
        }
        assert_eq!(buffer.written(), expected.as_bytes());
        buffer.clear();
        assert_eq!(buffer.written(), b"");
    }
}
