//! Names inside a message: what is quoted, addresses, identifiers. They are not the provider's words but somebody's
//! tool, file, model or value: `Invalid schema for function 'get_unpaid_invoices'` says nothing about money.

use super::words;

/// A part of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part<'t> {
    /// The words of whoever speaks.
    Prose(&'t str),
    /// A name: short and quoted, an address, an identifier.
    Name(&'t str),
    /// So much in quotes that it is a sentence: somebody else's words, or again the provider's.
    Sentence(&'t str),
}

/// More words than this in quotes are a sentence, and no name.
const NAME_WORDS: usize = 8;
/// A quote that does not end within this many bytes is an apostrophe.
const QUOTE_MAX: usize = 400;

/// Cuts `text` into its parts, in order.
pub(super) fn parts<'t>(text: &'t str, mut take: impl FnMut(Part<'t>)) {
    let bytes = text.as_bytes();
    let (mut at, mut prose) = (0, 0);
    while at < bytes.len() {
        let begins = at == 0 || !is_of_a_word(bytes[at - 1]);
        let (end, part) = if !begins {
            (at + 1, None)
        } else if let Some(end) = quoted(text, at) {
            let inside = &text[at..end];
            let long = inside.split_whitespace().nth(NAME_WORDS).is_some();
            (end, Some(if long { Part::Sentence(inside) } else { Part::Name(inside) }))
        } else if is_of_a_word(bytes[at]) {
            let token = token(&text[at..]);
            let end = at + token.len().max(1);
            (end, is_identifier(token).then_some(Part::Name(token)))
        } else {
            (at + 1, None)
        };
        if let Some(part) = part {
            if prose < at {
                take(Part::Prose(&text[prose..at]));
            }
            take(part);
            prose = end;
        }
        at = end;
    }
    if prose < text.len() {
        take(Part::Prose(&text[prose..]));
    }
}

/// The words of `text`, appended to `out`; where in them the names stand goes to `names`.
pub(super) fn append(text: &str, out: &mut String, spans: &mut Spans) {
    let mut before = "";
    parts(text, |part| {
        let place = is_place_of_a_code(std::mem::take(&mut before));
        let (text, strength) = match part {
            Part::Prose(text) => {
                before = text;
                (text, None)
            }
            // Where one is sent to read more says nothing at all.
            Part::Name(address) if is_address(address) => return,
            Part::Name(text) if place && !text.contains(char::is_whitespace) => (text, Some(Strength::Code)),
            Part::Name(text) => (text, Some(Strength::Name)),
            Part::Sentence(text) => (text, Some(Strength::Loose)),
        };
        let from = out.len();
        words::append(text, out);
        if let Some(strength) = strength {
            spans.push((from, out.trim_end().len(), strength));
        }
    });
}

/// Whether a code may follow these words: `upstream: `, `(code=`, `failed with error `.
fn is_place_of_a_code(before: &str) -> bool {
    let before = before.trim_end();
    let word = before.rsplit(|symbol: char| !symbol.is_ascii_alphabetic()).next().unwrap_or_default();
    before.ends_with([':', '=', '(', '['])
        || ["code", "error", "reason", "status"].iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// Where in a row of words which are weaker than the others.
pub(super) type Spans = Vec<(usize, usize, Strength)>;

/// How much a sign counts for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Strength {
    /// Read out of a name, which has a meaning only where nothing else is at fault.
    Name,
    /// A name where a code may stand: no more than a name, unless it is a code to the letter.
    Code,
    /// One word, a code in a text, or in a quoted sentence: says nothing about a request of which something is wrong.
    Loose,
    /// Said.
    Plain,
}

/// How much the words from `start` to `end` count for.
pub(super) fn strength(spans: &Spans, start: usize, end: usize) -> Strength {
    let begun = spans.partition_point(|(from, _, _)| *from <= start);
    let last = begun.checked_sub(1).map(|at| spans[at]).filter(|(_, to, _)| end <= *to);
    last.map_or(Strength::Plain, |(_, _, strength)| strength)
}

/// Where the quote that begins at `at` ends, if one does.
fn quoted(text: &str, at: usize) -> Option<usize> {
    const PAIRS: [(&str, &str); 8] = [
        ("'", "'"),
        ("\"", "\""),
        ("`", "`"),
        ("\u{2018}", "\u{2019}"),
        ("\u{201c}", "\u{201d}"),
        ("\u{ab}", "\u{bb}"),
        ("\u{300c}", "\u{300d}"),
        ("\u{300e}", "\u{300f}"),
    ];
    if text.as_bytes()[at].is_ascii_alphanumeric() {
        return None;
    }
    let rest = text.get(at..)?;
    let (open, close) = PAIRS.iter().find(|(open, _)| rest.starts_with(open))?;
    let inside = front(&rest[open.len()..], QUOTE_MAX);
    let mut from = 0;
    loop {
        let found = from + inside.get(from..)?.find(close)?;
        let end = found + close.len();
        if inside[..found].contains('\n') {
            return None;
        }
        let ends = inside.as_bytes().get(end).is_none_or(|next| !is_of_a_word(*next) || close.len() > 1);
        if ends && found > 0 {
            return Some(at + open.len() + end);
        }
        from = end;
    }
}

/// At most `length` bytes from the front of `text`, cut at a character.
fn front(text: &str, length: usize) -> &str {
    let end = (0..=length.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

/// What stands together at the front of `text`.
fn token(text: &str) -> &str {
    let apart = |symbol: char| {
        symbol.is_whitespace()
            || !symbol.is_ascii()
            || matches!(symbol, '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | ',' | ';' | '"' | '\'' | '`')
    };
    let token = &text[..text.find(apart).unwrap_or(text.len())];
    token.trim_end_matches(['.', ':', '!', '?', '-', '_', '/', '='])
}

/// Whether a token is an address or an identifier: `https://…`, `get_invoices`, `over-load.png`, `topUp`.
fn is_identifier(token: &str) -> bool {
    is_address(token)
        || token.as_bytes().windows(3).any(|three| {
            let joined = matches!(three[1], b'_' | b'-' | b'.');
            let joins = joined && three[0].is_ascii_alphanumeric() && three[2].is_ascii_alphabetic();
            joins || (three[0].is_ascii_lowercase() && three[1].is_ascii_uppercase())
        })
}

fn is_address(name: &str) -> bool {
    let name = name.trim_start_matches(['\'', '"', '`']);
    let begins = name.starts_with("http://") || name.starts_with("https://") || name.starts_with("www.");
    begins && !name.contains(char::is_whitespace)
}

fn is_of_a_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The codes that a text begins with: `insufficient_quota: …`, `litellm.RateLimitError: OpenAIException - …`, and what
/// is left behind an error: `Error: insufficient_quota`. Of a path only the last part.
pub(super) fn codes_in_front(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.trim_start();
    let mut behind_an_error = false;
    std::iter::from_fn(move || {
        let end = rest.find(|symbol: char| !(symbol.is_ascii_alphanumeric() || "_.-".contains(symbol)));
        let (code, after) = rest.split_at(end.unwrap_or(rest.len()));
        let last = (after.is_empty() && behind_an_error).then_some("");
        rest = after.strip_prefix(": ").or_else(|| after.strip_prefix(" - ")).or(last)?.trim_start();
        behind_an_error = is_exception(code);
        let code = code.rsplit('.').next().unwrap_or(code);
        (!code.is_empty()).then_some(code)
    })
    .take(4)
}

/// Whether a code is the name of an exception.
pub(super) fn is_exception(code: &str) -> bool {
    code.ends_with("Error") || code.ends_with("Exception")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, names: &[&str]) {
        let mut found = Vec::new();
        let mut whole = String::new();
        parts(text, |part| match part {
            Part::Prose(text) => whole.push_str(text),
            Part::Name(text) | Part::Sentence(text) => {
                whole.push_str(text);
                found.push(text);
            }
        });
        assert_eq!(whole, text);
        assert_eq!(found, names, "{text}");
    }

    #[test]
    fn what_is_quoted_is_a_name_and_an_apostrophe_is_no_quote() {
        check("Invalid value: 'overdue'.", &["'overdue'"]);
        check("tool `top up` and “a b” don't exist, can't", &["`top up`", "“a b”"]);
        check("got 'type: \"object\"' here", &["'type: \"object\"'"]);
        check("the users' and the models' limit", &[]);
        check("'", &[]);
        check("''", &[]);
    }

    #[test]
    fn addresses_and_identifiers_are_names_and_numbers_are_not() {
        check("see https://x/y/overload.png.", &["https://x/y/overload.png"]);
        check("Function get_overdue is not declared", &["get_overdue"]);
        check("tool unpaid-bills, topUp or a.b", &["unpaid-bills", "topUp", "a.b"]);
        check("retry in 9m38.016s at 2026-03-06T22:19:54Z, 40/min, 10,000", &[]);
        check("Rate limit. Please wait", &[]);
    }

    #[test]
    fn an_address_has_no_words() {
        let (mut words, mut spans) = (String::new(), Spans::new());
        append("see https://a.b/spending_limit or 'https://a/unpaid'.", &mut words, &mut spans);
        assert_eq!((words.trim_end(), spans.len()), ("see or", 0));
    }

    #[test]
    fn much_in_quotes_is_a_sentence() {
        let mut found = Vec::new();
        parts("said \"Your credit balance is too low to access the API.\"", |part| found.push(part));
        assert!(matches!(found[..], [Part::Prose(_), Part::Sentence(_)]), "{found:?}");
    }

    #[test]
    fn codes_in_front_of_a_text_are_found() {
        let check = |text, codes: &[&str]| assert_eq!(codes_in_front(text).collect::<Vec<_>>(), codes);
        check("insufficient_quota: no", &["insufficient_quota"]);
        check("litellm.RateLimitError: OpenAIException - x y", &["RateLimitError", "OpenAIException"]);
        check("Error: insufficient_quota", &["Error", "insufficient_quota"]);
        check("insufficient_quota", &[]);
        check("Rate limit: no", &[]);
        check("", &[]);
    }
}
