//! Quantities with their units, as texts: `"80 ms"`, `"$0.030"`, `"$3.00/Mtok"`, `"3/10"`. Everything is exact:
//! what a whole number of nanoseconds or pico-dollars cannot hold is refused, never rounded.

use super::findings::Shape;
use crate::units::{Duration, Money, Price, Ratio, Timestamp};
use std::ops::RangeInclusive;

/// Why a text is not the quantity that is wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Complaint {
    /// What is wrong, as a sentence.
    pub(super) text: String,
    /// A way out.
    pub(super) help: Option<String>,
}

/// A kind of quantity: how it is asked for, and how it is read.
pub(super) struct Kind<T: 'static> {
    /// What is wanted, with its article.
    pub(super) wants: &'static str,
    /// One of it, as it is written in the file.
    pub(super) example: &'static str,
    /// How it is written.
    pub(super) written: Written,
    /// How it is read.
    pub(super) parse: fn(&str) -> Result<T, Complaint>,
}

impl<T> Kind<T> {
    /// How it is written, for a schema.
    pub(super) const fn shape(&self) -> Shape {
        match self.written {
            Written::Text => Shape::Text,
            Written::Whole => Shape::Whole,
            Written::Either => Shape::TextOrWhole,
        }
    }
}

/// How a quantity is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Written {
    /// As a text, because it has a unit.
    Text,
    /// As a whole number.
    Whole,
    /// As either.
    Either,
}

/// A length of time.
pub(super) const DURATION: Kind<Duration> =
    Kind { wants: "a time with its unit", example: "\"80 ms\"", written: Written::Text, parse: duration };
/// A length of time; `None` is for ever.
pub(super) const DURATION_OR_NEVER: Kind<Option<Duration>> = Kind {
    wants: "a time with its unit, or `never`",
    example: "\"30 s\" or \"never\"",
    written: Written::Text,
    parse: duration_or_never,
};
/// An instant, counted from the beginning of the scenario.
pub(super) const INSTANT: Kind<Timestamp> =
    Kind { wants: "a time since the start", example: "\"80 ms\"", written: Written::Text, parse: instant };
/// An amount of money.
pub(super) const MONEY: Kind<Money> =
    Kind { wants: "an amount in dollars", example: "\"$0.030\"", written: Written::Text, parse: money };
/// A price of tokens.
pub(super) const PRICE: Kind<Price> = Kind {
    wants: "a price a million tokens",
    example: "\"$3.00/Mtok\"",
    written: Written::Text,
    parse: price,
};
/// A share from none to all.
pub(super) const SHARE: Kind<Ratio> =
    Kind { wants: "a share", example: "\"3/10\" or \"30 %\"", written: Written::Text, parse: share };
/// A factor above zero.
pub(super) const FACTOR: Kind<Ratio> =
    Kind { wants: "a factor", example: "\"2\" or \"1.5\"", written: Written::Either, parse: factor };
/// How many, from zero.
pub(super) const COUNT: Kind<u32> =
    Kind { wants: "a whole number", example: "2", written: Written::Whole, parse: count };
/// How many, from one.
pub(super) const COUNT_FROM_ONE: Kind<u32> =
    Kind { wants: "a whole number from 1", example: "2", written: Written::Whole, parse: count_from_one };
/// How many, from two.
pub(super) const COUNT_FROM_TWO: Kind<u32> =
    Kind { wants: "a whole number from 2", example: "2", written: Written::Whole, parse: count_from_two };
/// How many, possibly very many.
pub(super) const LARGE_COUNT: Kind<u64> =
    Kind { wants: "a whole number", example: "200000", written: Written::Whole, parse: whole };
/// Who goes first.
pub(super) const PRIORITY: Kind<u8> =
    Kind { wants: "a whole number up to 255", example: "9", written: Written::Whole, parse: priority };
/// Tokens.
pub(super) const TOKENS: Kind<u32> =
    Kind { wants: "a number of tokens", example: "8000", written: Written::Whole, parse: count };
/// The version of the file format.
pub(super) const FORMAT: Kind<u64> =
    Kind { wants: "the version of the format", example: "1", written: Written::Whole, parse: whole };
/// Seeds from the first to the last.
pub(super) const SEEDS: Kind<RangeInclusive<u64>> = Kind {
    wants: "a seed or a range of seeds",
    example: "\"1..200\"",
    written: Written::Either,
    parse: seeds,
};

const NANOS: [(&str, u128); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

impl Complaint {
    fn new(text: impl Into<String>) -> Complaint {
        Complaint { text: text.into(), help: None }
    }

    fn help(mut self, help: impl Into<String>) -> Complaint {
        self.help = Some(help.into());
        self
    }
}

fn duration(text: &str) -> Result<Duration, Complaint> {
    let (number, unit) = number_and_unit(text);
    if unit.is_empty() {
        return Err(Complaint::new(format!("`{text}` has no unit"))
            .help(format!("for example \"{number} ms\" or \"{number} s\"")));
    }
    let Some((_, nanos)) = NANOS.iter().find(|known| known.0 == unit) else {
        return Err(Complaint::new(format!("`{unit}` is not a unit of time"))
            .help("the units are ns, us, ms, s, min, h and d"));
    };
    let nanos = scaled(number, *nanos, "a time", "a nanosecond")?;
    match u64::try_from(nanos) {
        Ok(nanos) if nanos <= DURATION_MAX => Ok(Duration::from_nanos(nanos)),
        Ok(_) | Err(_) => {
            Err(Complaint::new(format!("`{text}` is longer than 100 years, the longest time here")))
        }
    }
}

/// 100 years of 365 days, in nanoseconds: several of them add up to less than the end of time.
pub(super) const DURATION_MAX: u64 = 100 * 365 * 24 * 3600 * 1_000_000_000;

/// A time, or a word instead of one.
pub(super) fn or_word(text: &str, word: &str) -> Result<Option<Duration>, Complaint> {
    if text.trim() == word {
        return Ok(None);
    }
    let is_word = !text.starts_with(|c: char| c.is_ascii_digit());
    let complaint = |complaint: Complaint| {
        if is_word { Complaint::new(format!("`{text}` is neither a time nor `{word}`")) } else { complaint }
    };
    duration(text).map(Some).map_err(complaint)
}

fn duration_or_never(text: &str) -> Result<Option<Duration>, Complaint> {
    or_word(text, "never")
}

fn instant(text: &str) -> Result<Timestamp, Complaint> {
    duration(text).map(|d| Timestamp::ZERO.after(d))
}

fn money(text: &str) -> Result<Money, Complaint> {
    let picos = scaled(dollars(text)?, 1_000_000_000_000, "an amount", "a pico-dollar")?;
    let picos = u64::try_from(picos)
        .map_err(|_| Complaint::new(format!("`{text}` is more than $18 million, the most there is")))?;
    Ok(Money::from_picos(picos))
}

fn price(text: &str) -> Result<Price, Complaint> {
    let Some(amount) = text.trim().strip_suffix("/Mtok") else {
        return Err(Complaint::new(format!("`{text}` does not say what it is the price of"))
            .help("a price is for a million tokens: \"$3.00/Mtok\""));
    };
    let picos = scaled(dollars(amount)?, 1_000_000, "a price", "a micro-dollar a million tokens")?;
    let picos = u64::try_from(picos)
        .map_err(|_| Complaint::new(format!("`{text}` is more than $18 trillion, the most there is")))?;
    Ok(Price::from_picos_per_token(picos))
}

fn share(text: &str) -> Result<Ratio, Complaint> {
    let ratio = ratio(text, "a share")?;
    if ratio.numerator() > ratio.denominator() {
        return Err(Complaint::new(format!("`{text}` is more than all of it")));
    }
    Ok(ratio)
}

fn factor(text: &str) -> Result<Ratio, Complaint> {
    let ratio = ratio(text, "a factor")?;
    if ratio.numerator() == 0 {
        return Err(Complaint::new("a factor of zero leaves nothing"));
    }
    Ok(ratio)
}

fn count(text: &str) -> Result<u32, Complaint> {
    let n = whole(text)?;
    u32::try_from(n)
        .map_err(|_| Complaint::new(format!("`{text}` is more than {}, the most there is", u32::MAX)))
}

fn count_from_one(text: &str) -> Result<u32, Complaint> {
    match count(text)? {
        0 => Err(Complaint::new("it is at least 1")),
        n => Ok(n),
    }
}

fn priority(text: &str) -> Result<u8, Complaint> {
    u8::try_from(whole(text)?)
        .map_err(|_| Complaint::new(format!("`{text}` is more than 255, the most there is")))
}

fn count_from_two(text: &str) -> Result<u32, Complaint> {
    match count(text)? {
        0 | 1 => Err(Complaint::new("it is at least 2: there is always one value")),
        n => Ok(n),
    }
}

fn whole(text: &str) -> Result<u64, Complaint> {
    let digits = text.trim();
    if digits.starts_with('-') {
        return Err(Complaint::new(format!("`{digits}` is negative; a count is not")));
    }
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Complaint::new(format!("`{text}` is not a whole number")));
    }
    digits.parse().map_err(|_| Complaint::new("this number is too large"))
}

fn seeds(text: &str) -> Result<RangeInclusive<u64>, Complaint> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let (first, last) = (whole(first)?, whole(last)?);
    if first > last {
        return Err(Complaint::new(format!("`{text}` holds no seed"))
            .help("both ends belong to the range, the smaller first: \"1..200\""));
    }
    if last - first >= 1_000_000 {
        return Err(Complaint::new(format!("`{text}` is more than a million seeds")));
    }
    Ok(first..=last)
}

/// `3/10`, `30 %`, `1.5`.
pub(super) fn ratio(text: &str, what: &str) -> Result<Ratio, Complaint> {
    let fraction = |whole_text: &str, one: u128| {
        let millionths = scaled(whole_text, 1_000_000, what, "a millionth")?;
        let (above, below) = (u64::try_from(millionths), u64::try_from(one * 1_000_000));
        let ratio = above.ok().zip(below.ok()).and_then(|(above, below)| Ratio::new(above, below));
        ratio.ok_or_else(|| Complaint::new(format!("`{text}` is too large")))
    };
    if let Some((above, below)) = text.split_once('/') {
        let (above, below) = (whole(above)?, whole(below)?);
        return Ratio::new(above, below).ok_or_else(|| Complaint::new(format!("`{text}` divides by zero")));
    }
    match text.trim().strip_suffix('%') {
        Some(percent) => fraction(percent.trim(), 100),
        None => fraction(text.trim(), 1),
    }
}

fn dollars(text: &str) -> Result<&str, Complaint> {
    let text = text.trim();
    if text.starts_with('-') {
        return Err(Complaint::new(format!("`{text}` is negative; an amount is not")));
    }
    text.strip_prefix('$').ok_or_else(|| {
        let (number, _) = number_and_unit(text);
        let example = if number.is_empty() { "0.030" } else { number };
        Complaint::new(format!("`{text}` is not in dollars")).help(format!("write \"${example}\""))
    })
}

/// Splits a text at the first character that cannot belong to a number.
fn number_and_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let at = text.find(|c: char| !c.is_ascii_digit() && !".-+_".contains(c)).unwrap_or(text.len());
    (text[..at].trim(), text[at..].trim())
}

/// A decimal number times `scale`, exactly.
fn scaled(number: &str, scale: u128, what: &str, least: &str) -> Result<u128, Complaint> {
    if number.starts_with('-') {
        return Err(Complaint::new(format!("`{number}` is negative; {what} is not")));
    }
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(part) {
        return Err(Complaint::new(format!("`{number}` is not a number")));
    }
    let part = part.trim_end_matches('0');
    let too_large = || Complaint::new(format!("`{number}` is too large a number"));
    let too_fine = || Complaint::new(format!("`{number}` is finer than {least}, the least there is"));
    let whole: u64 = whole.parse().map_err(|_| too_large())?;
    if part.len() > 18 {
        return Err(too_fine());
    }
    let below: u128 = 10u128.pow(part.len() as u32);
    let part: u128 = if part.is_empty() { 0 } else { part.parse().map_err(|_| too_large())? };
    if !(part * scale).is_multiple_of(below) {
        return Err(too_fine());
    }
    Ok(u128::from(whole) * scale + part * scale / below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refused<T: std::fmt::Debug>(kind: &Kind<T>, text: &str) -> String {
        (kind.parse)(text).unwrap_err().text
    }

    #[test]
    fn a_time_has_a_unit_and_is_exact() {
        let nanos = |text| duration(text).unwrap().nanos();
        assert_eq!(nanos("80 ms"), 80_000_000);
        assert_eq!(nanos("1.2 s"), 1_200_000_000);
        assert_eq!(nanos("250us"), 250_000);
        assert_eq!(nanos("0.5 min"), 30_000_000_000);
        assert_eq!(nanos("1 h"), 3_600_000_000_000);
        assert_eq!(nanos("0 ns"), 0);
    }

    #[test]
    fn what_is_wrong_with_a_time_is_a_sentence() {
        assert_eq!(refused(&DURATION, "1200"), "`1200` has no unit");
        assert_eq!(refused(&DURATION, "5 sec"), "`sec` is not a unit of time");
        assert_eq!(refused(&DURATION, "-5 s"), "`-5` is negative; a time is not");
        assert_eq!(refused(&DURATION, "0.5 ns"), "`0.5` is finer than a nanosecond, the least there is");
        assert_eq!(refused(&DURATION, "600 ms s"), "`ms s` is not a unit of time");
        assert_eq!(refused(&DURATION, "ms"), "`` is not a number");
        assert_eq!(
            refused(&DURATION, "9999999 d"),
            "`9999999 d` is longer than 100 years, the longest time here"
        );
        assert_eq!(
            refused(&DURATION, "99999999999999999999999 s"),
            "`99999999999999999999999` is too large a number"
        );
    }

    #[test]
    fn money_is_exact_to_the_pico_dollar() {
        assert_eq!(money("$0.030").unwrap().picos(), 30_000_000_000);
        assert_eq!(money("$0.000000000001").unwrap().picos(), 1);
        assert_eq!(refused(&MONEY, "0.030"), "`0.030` is not in dollars");
        assert_eq!(refused(&MONEY, "-$1"), "`-$1` is negative; an amount is not");
        assert_eq!(refused(&MONEY, "$-1"), "`-1` is negative; an amount is not");
        assert_eq!(refused(&MONEY, "$19000000"), "`$19000000` is more than $18 million, the most there is");
    }

    #[test]
    fn a_price_has_at_most_six_decimals() {
        assert_eq!(price("$3.00/Mtok").unwrap().picos_per_token(), 3_000_000);
        assert_eq!(price("$0.000001/Mtok").unwrap().picos_per_token(), 1);
        assert_eq!(
            refused(&PRICE, "$0.0000001/Mtok"),
            "`0.0000001` is finer than a micro-dollar a million tokens, the least there is"
        );
        assert_eq!(refused(&PRICE, "$3.00"), "`$3.00` does not say what it is the price of");
    }

    #[test]
    fn a_share_is_a_fraction_or_a_percentage() {
        assert!(share("3/10").unwrap().reached_by(3, 10));
        assert!(share("12.5 %").unwrap().reached_by(1, 8));
        assert_eq!(refused(&SHARE, "3/0"), "`3/0` divides by zero");
        assert_eq!(refused(&SHARE, "130 %"), "`130 %` is more than all of it");
        assert_eq!(factor("1.5").unwrap().of(2), 3);
    }

    #[test]
    fn both_ends_of_a_range_of_seeds_belong_to_it() {
        assert_eq!(seeds("1..200").unwrap(), 1..=200);
        assert_eq!(seeds("7").unwrap(), 7..=7);
        assert_eq!(refused(&SEEDS, "9..1"), "`9..1` holds no seed");
    }

    proptest! {
        #[test]
        fn no_text_makes_a_reader_panic(text in ".{0,40}") {
            let _ = (duration(&text), money(&text), price(&text), share(&text));
            let _ = (factor(&text), count(&text), whole(&text), seeds(&text));
        }

        #[test]
        fn no_number_with_a_unit_makes_a_reader_panic(text in "[-$]{0,2}[0-9]{0,30}[.]?[0-9]{0,30} ?(ms|s|d|%|/Mtok|)") {
            let _ = (duration(&text), money(&text), price(&text), share(&text), factor(&text));
        }

        #[test]
        fn a_printed_time_is_read_back(ns in 0..=DURATION_MAX) {
            let printed = Duration::from_nanos(ns);
            prop_assert_eq!(duration(&printed.to_string()).unwrap(), printed);
        }

        #[test]
        fn a_printed_amount_is_read_back(picos: u64) {
            let printed = Money::from_picos(picos);
            prop_assert_eq!(money(&format!("${printed}")).unwrap(), printed);
        }

        #[test]
        fn a_printed_price_is_read_back(picos: u64) {
            let printed = Price::from_picos_per_token(picos);
            prop_assert_eq!(price(&format!("${printed}/Mtok")).unwrap(), printed);
        }
    }
}
