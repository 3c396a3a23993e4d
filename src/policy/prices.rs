//! Tokens and what they cost. Everything a call is billed for is counted in tokens of six kinds.

use crate::units::{Money, Price};

/// Tokens by kind. As an estimate: the most that a call may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Fresh input.
    pub input: u32,
    /// Input read from the provider's cache.
    pub cache_read: u32,
    /// Input written to the provider's cache.
    pub cache_write: u32,
    /// Input from images.
    pub image: u32,
    /// Input from audio.
    pub audio: u32,
    /// Output.
    pub output: u32,
}

impl Usage {
    /// No token.
    pub const ZERO: Usage = Usage { input: 0, cache_read: 0, cache_write: 0, image: 0, audio: 0, output: 0 };

    /// Tokens that count towards the context.
    pub const fn input_total(&self) -> u64 {
        self.input as u64
            + self.cache_read as u64
            + self.cache_write as u64
            + self.image as u64
            + self.audio as u64
    }

    /// So much larger, so many times; `None` if a kind does not fit.
    pub fn grown(&self, by: &Usage, times: u32) -> Option<Usage> {
        if *by == Usage::default() {
            return Some(*self);
        }
        let grow = |now: u32, by: u32| now.checked_add(by.checked_mul(times)?);
        Some(Usage {
            input: grow(self.input, by.input)?,
            cache_read: grow(self.cache_read, by.cache_read)?,
            cache_write: grow(self.cache_write, by.cache_write)?,
            image: grow(self.image, by.image)?,
            audio: grow(self.audio, by.audio)?,
            output: grow(self.output, by.output)?,
        })
    }

    /// Both together, kind by kind.
    pub const fn plus(&self, other: &Usage) -> Usage {
        Usage {
            input: self.input.saturating_add(other.input),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            image: self.image.saturating_add(other.image),
            audio: self.audio.saturating_add(other.audio),
            output: self.output.saturating_add(other.output),
        }
    }

    /// All tokens.
    pub const fn total(&self) -> u64 {
        self.input_total() + self.output as u64
    }
}

/// Prices of one tier, each a million tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tier {
    /// Fresh input.
    pub input: Price,
    /// Input read from the cache.
    pub cache_read: Price,
    /// Input written to the cache.
    pub cache_write: Price,
    /// Input from images.
    pub image: Price,
    /// Input from audio.
    pub audio: Price,
    /// Output.
    pub output: Price,
}

/// The price table of a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Prices {
    /// What is charged up to the long-context limit.
    pub base: Tier,
    /// The limit and the prices that are charged for a whole call whose input is above it.
    pub long: Option<(u64, Tier)>,
}

impl Tier {
    fn cost(&self, used: &Usage) -> Money {
        let total = product(self.input, used.input)
            + product(self.cache_read, used.cache_read)
            + product(self.cache_write, used.cache_write)
            + product(self.image, used.image)
            + product(self.audio, used.audio)
            + product(self.output, used.output);
        Money::from_picos(u64::try_from(total).unwrap_or(u64::MAX))
    }

    /// The most it can cost: a cache that was hoped for may miss, so its tokens are taken at the dearest of
    /// fresh input, read and write.
    fn worst_case(&self, estimate: &Usage) -> Money {
        if estimate.cache_read == 0 {
            return self.cost(estimate);
        }
        let dearest = self.input.max(self.cache_read).max(self.cache_write);
        Tier { cache_read: dearest, ..*self }.cost(estimate)
    }
}

/// What these tokens cost, in pico-USD: exact, and six of them cannot overflow.
fn product(price: Price, tokens: u32) -> u128 {
    u128::from(price.picos_per_token()) * u128::from(tokens)
}

impl Prices {
    /// What `used` costs, exactly.
    pub fn cost(&self, used: &Usage) -> Money {
        match &self.long {
            Some((above, tier)) if used.input_total() > *above => tier.cost(used),
            Some(_) | None => self.base.cost(used),
        }
    }

    /// The most that a call within `estimate` can cost: the dearest tier it can reach.
    pub fn worst_case(&self, estimate: &Usage) -> Money {
        let base = self.base.worst_case(estimate);
        match &self.long {
            Some((above, tier)) if estimate.input_total() > *above => base.max(tier.worst_case(estimate)),
            Some(_) | None => base,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dollars_per_mtok(input: u64, output: u64) -> Tier {
        let price = |dollars| Price::from_picos_per_token(dollars * 1_000_000);
        Tier { input: price(input), output: price(output), ..Tier::default() }
    }

    #[test]
    fn a_call_above_the_long_context_limit_is_charged_the_long_price_for_all_of_it() {
        let prices = Prices { base: dollars_per_mtok(1, 4), long: Some((200_000, dollars_per_mtok(2, 8))) };
        let used = |input| Usage { input, output: 1_000, ..Usage::default() };
        assert_eq!(prices.cost(&used(200_000)).to_string(), "0.204");
        assert_eq!(prices.cost(&used(200_001)).to_string(), "0.408002");
        assert_eq!(prices.worst_case(&used(200_001)).to_string(), "0.408002");
    }

    #[test]
    fn a_hoped_for_cache_hit_is_reserved_at_the_dearest_input_price() {
        let mut tier = dollars_per_mtok(4, 0);
        tier.cache_read = Price::from_picos_per_token(400_000);
        tier.cache_write = Price::from_picos_per_token(5_000_000);
        let prices = Prices { base: tier, long: None };
        let estimate = Usage { cache_read: 1_000, ..Usage::default() };
        assert_eq!(prices.cost(&estimate).to_string(), "0.0004");
        assert_eq!(prices.worst_case(&estimate).to_string(), "0.005");
    }
}
