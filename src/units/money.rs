//! Money in whole pico-dollars. A price with at most six decimals a million tokens is a whole number of
//! pico-dollars a token, so a cost is one exact multiplication and no rounding rule exists.

use std::fmt;

/// An amount in pico-USD (10⁻¹² USD); at most $18.4 million.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Money(u64);

/// A price in pico-USD a token, which is micro-USD a million tokens.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Price(u64);

/// A sum of many amounts in pico-USD; cannot overflow in any run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Total(u128);

const PICOS_PER_DOLLAR: u128 = 1_000_000_000_000;

impl Money {
    /// Nothing.
    pub const ZERO: Money = Money(0);
    /// No cap: more than any run can spend.
    pub const MAX: Money = Money(u64::MAX);

    /// An amount of `picos` pico-USD.
    pub const fn from_picos(picos: u64) -> Money {
        Money(picos)
    }

    /// The amount in pico-USD.
    pub const fn picos(self) -> u64 {
        self.0
    }

    /// The sum; saturates at the largest amount, which no cap exceeds.
    pub const fn plus(self, other: Money) -> Money {
        Money(self.0.saturating_add(other.0))
    }

    /// What is left after `other`; zero if nothing is.
    pub const fn minus(self, other: Money) -> Money {
        Money(self.0.saturating_sub(other.0))
    }

    /// `n` times the amount; saturates.
    pub const fn times(self, n: u64) -> Money {
        Money(self.0.saturating_mul(n))
    }
}

impl Price {
    /// A price of `picos` pico-USD a token.
    pub const fn from_picos_per_token(picos: u64) -> Price {
        Price(picos)
    }

    /// The price in pico-USD a token.
    pub const fn picos_per_token(self) -> u64 {
        self.0
    }

    /// What `tokens` tokens cost: exact; saturates above $18.4 million.
    pub const fn of(self, tokens: u32) -> Money {
        Money(self.0.saturating_mul(tokens as u64))
    }
}

impl Total {
    /// Nothing.
    pub const ZERO: Total = Total(0);

    /// Adds one amount.
    pub const fn add(&mut self, m: Money) {
        self.0 += m.0 as u128;
    }

    /// A sum of `picos` pico-USD.
    pub const fn from_picos(picos: u128) -> Total {
        Total(picos)
    }

    /// Both sums together.
    pub const fn plus(self, other: Total) -> Total {
        Total(self.0 + other.0)
    }

    /// The sum in pico-USD.
    pub const fn picos(self) -> u128 {
        self.0
    }

    /// The share of one of `n`, rounded down to a whole pico-USD; `None` if there is none to share it.
    pub fn per(self, n: u64) -> Option<Total> {
        self.0.checked_div(n as u128).map(Total)
    }
}

/// Dollars with at least three decimals and as many more as are needed: `0.050`, `0.0625`.
fn dollars(picos: u128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (whole, part) = (picos / PICOS_PER_DOLLAR, picos % PICOS_PER_DOLLAR);
    let digits = format!("{part:012}");
    let used = digits.trim_end_matches('0').len().max(3);
    write!(f, "{whole}.{}", &digits[..used])
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        dollars(self.0 as u128, f)
    }
}

impl fmt::Display for Total {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        dollars(self.0, f)
    }
}

impl fmt::Display for Price {
    /// Dollars a million tokens.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        dollars(self.0 as u128 * 1_000_000, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_thousand_tokens_at_a_dollar_a_million_cost_eight_tenths_of_a_cent() {
        let dollar_per_mtok = Price::from_picos_per_token(1_000_000);
        assert_eq!(dollar_per_mtok.of(8_000).to_string(), "0.008");
        assert_eq!(dollar_per_mtok.to_string(), "1.000");
    }

    #[test]
    fn the_smallest_price_is_not_rounded_away() {
        assert_eq!(Price::from_picos_per_token(1).of(1).to_string(), "0.000000000001");
    }
}
