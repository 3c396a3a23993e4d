//! JSON as it comes in error bodies: sometimes with stray commas, sometimes as a string inside JSON, sometimes
//! behind a few words.

use serde_json::Value;

/// Larger texts are not read as JSON: no error body has this size.
pub(super) const JSON_MAX: usize = 16 * 1024 * 1024;
/// Larger texts are not repaired.
const REPAIR_MAX: usize = 64 * 1024;

/// The value that `text` is, if it is JSON or nearly so. (Nesting deeper than 128 levels is refused by the parser.)
pub(super) fn parse(text: &str) -> Option<Value> {
    let text = text.trim_start_matches(['\u{feff}', '\r', '\n', ' ', '\t']);
    if !text.starts_with(['{', '[']) || text.len() > JSON_MAX {
        return None;
    }
    serde_json::from_str(text).ok().or_else(|| serde_json::from_str(&repaired(text)?).ok())
}

/// The first JSON object inside a message: `DeepseekException - {"error": …}`.
pub(super) fn inside(text: &str) -> Option<Value> {
    let start = text.find("{\"").or_else(|| text.find("[{"))?;
    let rest = &text[start..];
    if rest.len() > REPAIR_MAX {
        return None;
    }
    serde_json::Deserializer::from_str(rest).into_iter::<Value>().next()?.ok()
}

/// `text` without the commas that follow a comma or stand before a closing bracket.
fn repaired(text: &str) -> Option<String> {
    if text.len() > REPAIR_MAX {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let (mut quoted, mut escaped) = (false, false);
    for symbol in text.chars() {
        if quoted {
            quoted = escaped || symbol != '"';
            escaped = !escaped && symbol == '\\';
        } else {
            quoted = symbol == '"';
            let dangling = out.trim_end().ends_with(',');
            if dangling && symbol == ',' {
                continue;
            }
            if dangling && matches!(symbol, '}' | ']') {
                out.truncate(out.trim_end().len() - 1);
            }
        }
        out.push(symbol);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stray_commas_are_forgiven_outside_strings_only() {
        assert_eq!(
            parse("\n\n{\"a\":1,\n,\"b\":\",,\",}"),
            serde_json::from_str("{\"a\":1,\"b\":\",,\"}").ok()
        );
        assert_eq!(parse("{\"a\":"), None);
        assert_eq!(parse("plain"), None);
    }

    #[test]
    fn an_object_behind_words_is_found() {
        assert_eq!(inside("X - {\"a\":1} and more"), serde_json::from_str("{\"a\":1}").ok());
        assert_eq!(inside("nothing {here}"), None);
    }
}
