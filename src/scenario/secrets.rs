//! A scenario holds no keys: a credential is an alias. What looks like a real key is refused, and never repeated in a
//! message; nor is what stands where keys and bodies stand.

use super::problems::{Problem, Span};

/// How keys of known providers begin.
const BEGINNINGS: [&str; 18] = [
    "sk-",
    "sk_",
    "rk_",
    "AKIA",
    "ASIA",
    "AIza",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "hf_",
    "npm_",
    "gsk_",
    "xai-",
    "eyJ",
];

/// The shortest text that is taken for a key.
const KEY_MIN: usize = 16;

/// The shortest text behind `Bearer` or `Basic` that is.
const TOKEN_MIN: usize = 8;

/// Words in the names of what is not repeated.
const HIDDEN: [&str; 9] =
    ["authorization", "api-key", "api_key", "apikey", "secret", "password", "header", "body", "cookie"];

/// A problem for each text that looks like a real key.
pub(super) fn problems(text: &str) -> Vec<Problem> {
    let problem = |span: &Span| {
        let help = "a scenario needs none: a credential is an alias, such as \"key-a\"".to_owned();
        Problem::at(span, "this looks like a real key").help(help)
    };
    keys(text).iter().map(problem).collect()
}

/// The text with every key, and every value that stands where keys and bodies stand, made unreadable. It keeps its
/// length and its lines.
pub(super) fn masked(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for span in keys(text).into_iter().chain(hidden(text)) {
        for byte in &mut bytes[span] {
            *byte = if byte.is_ascii() { *byte } else { b'*' };
            if !matches!(byte, b'"' | b'\'' | b'\n' | b'\r' | b' ' | b'=' | b'{' | b'}' | b',' | b'[' | b']')
            {
                *byte = b'*';
            }
        }
    }
    String::from_utf8(bytes).expect("whole characters became asterisks")
}

fn keys(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut before = "";
    for (span, word) in words(text) {
        let begins = BEGINNINGS.iter().any(|beginning| word.starts_with(beginning));
        let follows = before.eq_ignore_ascii_case("bearer") || before.eq_ignore_ascii_case("basic");
        let is_key = begins && word.len() >= KEY_MIN && (word.starts_with("sk-") || is_random(word));
        if is_key || follows && word.len() >= TOKEN_MIN && is_random(word) {
            found.push(span);
        }
        before = word;
    }
    found
}

/// No word of a language: it has digits, or capitals in its middle.
fn is_random(word: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| word.as_bytes()[1..].iter().any(kind);
    has(u8::is_ascii_digit) || has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
}

/// The longest runs of characters that keys are made of.
fn words(text: &str) -> impl Iterator<Item = (Span, &str)> {
    let is_of_a_key = |c: char| c.is_ascii_alphanumeric() || "-_.+/~".contains(c);
    text.split(move |c| !is_of_a_key(c)).filter(|word| !word.is_empty()).map(move |word| {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        (start..start + word.len(), word)
    })
}

/// What follows the name of a value that is not repeated, up to the end of its line.
fn hidden(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let lower = line.to_ascii_lowercase();
        let named = HIDDEN.iter().filter_map(|word| lower.find(word)).min();
        let value = named.and_then(|at| line[at..].find(['=', ':']).map(|sign| at + sign + 1));
        if let Some(value) = value {
            found.push(start + value..start + line.len());
        }
        start += line.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_keys_and_tokens_are_found_and_aliases_are_not() {
        let found = |text: &str| keys(text).len();
        for key in
            ["sk-abcdefghijklmnop", "AKIA0BCDEFGHIJKLMNOP", "Basic dXNlcjpwYXNz", "\"ghp_0123456789abcdef\""]
        {
            assert_eq!(found(key), 1, "{key}");
        }
        for alias in [
            "key-a",
            "sk-1",
            "ask-for-something-else",
            "Bearer of news",
            "Basic availability",
            "hf_inference_endpoint",
            "task-0123456789-abcdef",
        ] {
            assert_eq!(found(alias), 0, "{alias}");
        }
    }

    #[test]
    fn what_is_masked_keeps_its_place_and_the_rest_its_words() {
        let text = "title = \"é\"\nname = \"sk-abcdefghijklmnop\" # x\nbody = \"geheim ü\"\nnext = 1\n";
        let masked = masked(text);
        assert_eq!(masked.len(), text.len());
        assert!(
            masked
                .starts_with("title = \"é\"\nname = \"*******************\" # x\nbody = \"****** **\"\nnext")
        );
    }
}
