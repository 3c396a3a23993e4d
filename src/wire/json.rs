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

/// The first object inside a message, and where it begins: `DeepseekException - {"error": …}`, or as Python writes it,
/// `Error code: 429 - {'error': …}`, `b'{"error": …}'`.
pub(super) fn inside(text: &str) -> Option<(usize, Value)> {
    let begins = |(at, open): &(usize, &str)| {
        let rest = text[at + 1..].trim_start();
        if *open == "[" { rest.starts_with('{') } else { rest.starts_with(['"', '\'']) }
    };
    let (start, _) = text.match_indices(['{', '[']).take(16).find(begins)?;
    let rest = &text[start..];
    if rest.len() > REPAIR_MAX {
        return None;
    }
    let first = |json: &str| serde_json::Deserializer::from_str(json).into_iter::<Value>().next()?.ok();
    let is_bytes = ["b'", "b\""].iter().any(|open| text[..start].ends_with(open));
    let value = first(rest).or_else(|| first(&if is_bytes { unescaped(rest) } else { python(rest) }));
    value.filter(tells_an_error).map(|value| (start, value))
}

/// Whether it is an error, and not an argument or a value that somebody complains about.
fn tells_an_error(value: &Value) -> bool {
    const KEYS: [&str; 12] = [
        "error",
        "errors",
        "Error",
        "message",
        "Message",
        "msg",
        "detail",
        "details",
        "error_msg",
        "error_message",
        "description",
        "base_resp",
    ];
    let first = value.as_array().map_or(Some(value), |list| list.first());
    first.and_then(Value::as_object).is_some_and(|object| KEYS.iter().any(|key| object.contains_key(*key)))
}

/// A text in which a backslash and the character after it stand for one, without them.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut symbols = text.chars();
    while let Some(symbol) = symbols.next() {
        match symbol {
            '\\' => match symbols.next() {
                Some('n' | 'r' | 't') => out.push(' '),
                Some(escaped) => out.push(escaped),
                None => {}
            },
            _ => out.push(symbol),
        }
    }
    out
}

/// A dictionary as Python writes it, as JSON: quotes of both kinds, `None`, `True` and `False`, prefixes of texts.
fn python(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(symbol) = rest.chars().next() {
        rest = &rest[symbol.len_utf8()..];
        match symbol {
            '\'' | '"' => {
                let end = quoted(rest, symbol, &mut out);
                rest = &rest[end..];
            }
            '(' => out.push('['),
            ')' => out.push(']'),
            _ if symbol.is_ascii_alphabetic() => {
                let end = rest.find(|symbol: char| !symbol.is_ascii_alphanumeric()).unwrap_or(rest.len());
                let word = &rest[..end];
                let is_prefix = rest[end..].starts_with(['\'', '"']);
                match (symbol, word) {
                    _ if is_prefix => {}
                    ('N', "one") => out.push_str("null"),
                    ('T', "rue") => out.push_str("true"),
                    ('F', "alse") => out.push_str("false"),
                    _ => out.extend(std::iter::once(symbol).chain(word.chars())),
                }
                rest = &rest[end..];
            }
            _ => out.push(symbol),
        }
    }
    out
}

/// Appends the text that begins behind a `quote` as JSON has it; where it ends.
fn quoted(text: &str, quote: char, out: &mut String) -> usize {
    out.push('"');
    let mut symbols = text.char_indices();
    let mut end = text.len();
    while let Some((at, symbol)) = symbols.next() {
        match symbol {
            '\\' => match symbols.next() {
                Some((_, escaped @ ('n' | 'r' | 't' | '\\' | '"' | 'u'))) => out.extend(['\\', escaped]),
                Some((_, 'x')) => out.push_str("\\u00"),
                Some((_, escaped)) => out.push(escaped),
                None => {}
            },
            _ if symbol == quote => {
                end = at + symbol.len_utf8();
                break;
            }
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            _ if symbol.is_control() => out.push(' '),
            _ => out.push(symbol),
        }
    }
    out.push('"');
    end
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

    /// The first object in `text` is what `json` says, and begins where `before` ends.
    fn check(text: &str, before: &str, json: &str) {
        let expected = serde_json::from_str(json).unwrap();
        assert_eq!(inside(text), Some((before.len(), expected)), "{text}");
    }

    #[test]
    fn an_object_behind_words_is_found() {
        check("X - {\"error\":1} and more", "X - ", "{\"error\":1}");
        check("X [{\"msg\":1}]", "X ", "[{\"msg\":1}]");
        assert_eq!(inside("nothing {here}"), None);
        assert_eq!(inside("the value {\"status\": \"overdue\"} or ['unpaid'] is wrong"), None);
        assert_eq!(inside("cut {\"a\": \"b"), None);
    }

    #[test]
    fn an_object_as_python_writes_it_is_found() {
        check(
            "E - {'msg': None, 'b': [True, False], \"c\": \"it's\"}. x",
            "E - ",
            r#"{"msg": null, "b": [true, false], "c": "it's"}"#,
        );
        check(
            r"{'msg': 'say \'no\' or \\ \x41', 'b': b'q', 'é': ('\n',)}".replace("',)", "')").as_str(),
            "",
            r#"{"msg": "say 'no' or \\ A", "b": "q", "é": ["\n"]}"#,
        );
        check("E - b'{\"error\": {\\n \"b\": 1}}'", "E - b'", r#"{"error": {"b": 1}}"#);
        check("{'detail': 'a \"b\" {'}", "", r#"{"detail": "a \"b\" {"}"#);
    }
}
