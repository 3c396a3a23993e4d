//! One spelling for every text: `InsufficientQuota`, `insufficient-quota` and "Insufficient quota." are the same
//! words. Phrases, codes and stated waits are all looked for in words, so that a renamed or re-cased code of a
//! known kind is still read.

/// No more than this many bytes of one text are read; what decides stands in front.
pub(super) const TEXT_MAX: usize = 16 * 1024;

/// The words of `text`, appended to `out`: lower case, one space between words, punctuation gone, except inside
/// numbers, times and dates (`0.5`, `22:19:54`, `2026-03-06`). A slash before a unit of time reads as "per".
pub(super) fn append(text: &str, out: &mut String) {
    let text = bounded(text);
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii_alphanumeric() {
            if byte.is_ascii_uppercase() && is_hump(bytes, at) {
                space(out);
            }
            out.push(char::from(byte.to_ascii_lowercase()));
            at += 1;
        } else if byte.is_ascii() {
            punctuation(bytes, at, out);
            at += 1;
        } else {
            let symbol = text[at..].chars().next().expect("the walk steps from character to character");
            if symbol.is_alphanumeric() {
                out.push(symbol);
            } else if symbol != '’' {
                space(out);
            }
            at += symbol.len_utf8();
        }
    }
    space(out);
}

/// The words of `text` alone.
pub(super) fn of(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    append(text, &mut out);
    out.truncate(out.trim_end().len());
    out
}

/// The front of `text`, cut at a character.
pub(super) fn bounded(text: &str) -> &str {
    if text.len() <= TEXT_MAX {
        return text;
    }
    let mut end = TEXT_MAX;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn space(out: &mut String) {
    if !out.is_empty() && !out.ends_with(' ') {
        out.push(' ');
    }
}

/// Whether a capital begins a word inside a word: `rateLimit`, `APIKey`.
fn is_hump(bytes: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| bytes[before]) else { return false };
    let lower_follows = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
    before.is_ascii_lowercase() || (before.is_ascii_uppercase() && lower_follows)
}

fn punctuation(bytes: &[u8], at: usize, out: &mut String) {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let inside_number = at > 0 && digit(at - 1) && digit(at + 1);
    match bytes[at] {
        b'\'' => {}
        // A number below zero.
        b'-' if digit(at + 1) && (at == 0 || bytes[at - 1].is_ascii_whitespace()) => {
            space(out);
            out.push('-');
        }
        b',' if inside_number => {}
        symbol @ (b'.' | b':' | b'-') if inside_number => out.push(char::from(symbol)),
        b'/' if unit_follows(&bytes[at + 1..]) => {
            space(out);
            out.push_str("per ");
        }
        _ => space(out),
    }
}

fn unit_follows(rest: &[u8]) -> bool {
    const UNITS: [&[u8]; 7] = [b"sec", b"min", b"hour", b"hr", b"day", b"week", b"month"];
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    UNITS.iter().any(|unit| rest.len() >= unit.len() && rest[..unit.len()].eq_ignore_ascii_case(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_code_is_the_same_words() {
        for code in ["insufficient_quota", "InsufficientQuota", "insufficient-quota", "Insufficient quota."] {
            assert_eq!(of(code), "insufficient quota");
        }
        assert_eq!(of("FTUFormNotFilled"), "ftu form not filled");
        assert_eq!(of("APIKey"), "api key");
    }

    #[test]
    fn numbers_times_and_dates_stay_whole() {
        assert_eq!(
            of("limit: 0.5, 10,000 at 22:19:54 on 2026-03-06."),
            "limit 0.5 10000 at 22:19:54 on 2026-03-06"
        );
        assert_eq!(of("in -5 seconds - 3, gpt-4"), "in -5 seconds 3 gpt 4");
    }

    #[test]
    fn a_slash_before_a_unit_reads_as_per() {
        assert_eq!(of("40 API calls / minute, 3/min; and/or"), "40 api calls per minute 3 per min and or");
    }

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        let long = "é".repeat(TEXT_MAX);
        assert!(bounded(&long).len() <= TEXT_MAX);
        assert_eq!(bounded("short"), "short");
    }
}
