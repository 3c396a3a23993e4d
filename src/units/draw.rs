//! Randomness keyed by *what* is drawn. There is no stream to share: a draw is a function of the seed, the
//! purpose and the names involved, so adding a request moves nobody's numbers, two policies on one seed meet
//! the same weather, and a failing run can be shrunk. A change here is a change of the event format.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// What a number is drawn for; each purpose has a key of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Purpose {
    /// The jitter of a backoff.
    Backoff,
    /// The latency of an upstream.
    Latency,
    /// Whether a fault strikes.
    Fault,
    /// The gap before the next arrival.
    Arrival,
    /// The choice among routes that tie.
    Weight,
}

const PURPOSES: usize = 5;

/// All the keys of one seed. `Copy`, and drawing takes `&self`: there is nothing to advance.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    keys: [[u64; 2]; PURPOSES],
}

/// A draw half-made: the purpose and some of the names.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    state: u64,
    step: u64,
}

impl Draws {
    /// The keys of `seed`: two words of the ChaCha8 stream numbered by the purpose.
    pub fn new(seed: u64) -> Draws {
        let mut keys = [[0; 2]; PURPOSES];
        for (purpose, key) in keys.iter_mut().enumerate() {
            let mut chacha = ChaCha8Rng::seed_from_u64(seed);
            chacha.set_stream(purpose as u64);
            *key = [chacha.next_u64(), chacha.next_u64() | 1];
        }
        Draws { keys }
    }

    /// Begins a draw for `purpose`.
    pub const fn of(&self, purpose: Purpose) -> Key {
        let [state, step] = self.keys[purpose as usize];
        Key { state, step }
    }
}

impl Key {
    /// Mixes in one more name (its hash) or ordinal. The order matters.
    pub const fn and(self, part: u64) -> Key {
        Key { state: mix(self.state.wrapping_add(self.step) ^ part), step: self.step }
    }

    /// The number: uniform over all of `u64`.
    pub const fn bits(self) -> u64 {
        mix(self.state.wrapping_add(self.step))
    }
}

/// Scales uniform `bits` to `0..n` by a 128-bit multiply; zero if `n` is zero.
pub const fn below(bits: u64, n: u64) -> u64 {
    ((bits as u128 * n as u128) >> 64) as u64
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014; constants of Stafford's variant 13).
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mix_is_the_published_one() {
        // SplitMix64 seeded with 0: its first three outputs.
        let golden = 0x9e37_79b9_7f4a_7c15_u64;
        let out = |n: u64| mix(golden.wrapping_mul(n));
        assert_eq!(
            [out(1), out(2), out(3)],
            [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]
        );
    }

    #[test]
    fn a_draw_is_a_known_answer() {
        let draws = Draws::new(7);
        let a = draws.of(Purpose::Backoff).and(1).and(2).bits();
        assert_eq!(a, draws.of(Purpose::Backoff).and(1).and(2).bits());
        assert_eq!(a, 1_304_378_932_477_021_216, "a change here is a new event format");
    }

    #[test]
    fn another_seed_purpose_name_or_order_is_another_number() {
        let base = Draws::new(7).of(Purpose::Backoff).and(1).and(2).bits();
        let others = [
            Draws::new(8).of(Purpose::Backoff).and(1).and(2).bits(),
            Draws::new(7).of(Purpose::Latency).and(1).and(2).bits(),
            Draws::new(7).of(Purpose::Backoff).and(2).and(1).bits(),
            Draws::new(7).of(Purpose::Backoff).and(1).bits(),
        ];
        assert!(others.iter().all(|o| *o != base));
    }

    #[test]
    fn a_range_is_reached_at_both_ends_and_never_left() {
        assert_eq!(below(0, 10), 0);
        assert_eq!(below(u64::MAX, 10), 9);
        assert_eq!(below(u64::MAX, 0), 0);
        assert_eq!(below(u64::MAX, u64::MAX), u64::MAX - 1);
    }

    #[test]
    fn every_value_of_a_small_range_is_about_equally_likely() {
        let draws = Draws::new(1);
        let mut seen = [0u32; 10];
        for k in 0..100_000 {
            seen[below(draws.of(Purpose::Latency).and(k).bits(), 10) as usize] += 1;
        }
        assert!(seen.iter().all(|n| (9_600..10_400).contains(n)), "{seen:?}");
    }
}
