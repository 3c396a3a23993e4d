//! What a text of a file may hold. Names and titles are printed, to terminals too: none may move the cursor, hide,
//! turn the reading direction or pass for a line of its own.

use super::problems::{Problem, Span};
use super::tree::{Node, Table, Value};

/// The most characters of a text.
pub(super) const TEXT_MAX: usize = 200;

/// The one key whose text has lines: each is a text of its own.
pub(super) const OF_LINES: &str = "dialect_lines";

/// What is wrong with the texts of a file, its keys too.
pub(super) fn unfit(table: &Table) -> Vec<Problem> {
    let mut problems = Vec::new();
    in_table(table, &mut problems);
    problems
}

fn in_table(table: &Table, problems: &mut Vec<Problem>) {
    for (key, node) in &table.entries {
        problems.extend(problem(&key.text, &key.span));
        match &node.value {
            Value::Text(text) if key.text == OF_LINES => {
                problems.extend(text.lines().find_map(|line| problem(line, &node.span)));
            }
            Value::Text(_)
            | Value::List(_)
            | Value::Table(_)
            | Value::Whole(_)
            | Value::Switch(_)
            | Value::Other(_) => in_node(node, problems),
        }
    }
}

fn in_node(node: &Node, problems: &mut Vec<Problem>) {
    match &node.value {
        Value::Text(text) => problems.extend(problem(text, &node.span)),
        Value::List(list) => list.iter().for_each(|item| in_node(item, problems)),
        Value::Table(table) => in_table(table, problems),
        Value::Whole(_) | Value::Switch(_) | Value::Other(_) => {}
    }
}

fn problem(text: &str, span: &Span) -> Option<Problem> {
    if let Some(found) = text.chars().find(|c| is_invisible(*c)) {
        let help = "a text is one line of letters, digits, signs and plain spaces".to_owned();
        return Some(Problem::at(span, invisible(found)).help(help));
    }
    let length = text.chars().count();
    (length > TEXT_MAX).then(|| {
        let text = format!("this text has {length} characters; {TEXT_MAX} fit");
        Problem::at(span, text).help("say more in a comment".to_owned())
    })
}

/// The problem with a file that is called `name`.
pub(super) fn unfit_name(name: &str) -> Option<Problem> {
    let found = name.chars().find(|c| is_invisible(*c))?;
    let help = "the scenario is called like its file; rename it".to_owned();
    Some(Problem::of_file(format!("in the name of the file: {}", invisible(found))).help(help))
}

/// `text` with a sign for each character that cannot be seen.
pub(super) fn visible(text: &str) -> String {
    text.chars().map(|c| if is_invisible(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn invisible(found: char) -> String {
    format!("there is an invisible character, U+{:04X}", u32::from(found))
}

/// Whether a character cannot be told from nothing or from a space, or changes how others are shown: controls,
/// line ends, marks of direction, joiners, fillers, selectors, tags.
fn is_invisible(c: char) -> bool {
    (c.is_whitespace() && c != ' ')
        || c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load;

    /// What is said of a file with this title, as it is written in TOML.
    fn check(title: &str) -> Vec<String> {
        let text = format!("format = 1\ntitle = \"{title}\"\n");
        let problems = load("t.toml", &text).expect_err("a file without a route is refused");
        let is_of_the_title = |problem: &&Problem| problem.span.as_ref().is_some_and(|span| span.start > 10);
        problems.list().iter().filter(is_of_the_title).map(|problem| problem.text.clone()).collect()
    }

    #[test]
    fn what_would_move_the_cursor_hide_or_turn_the_line_is_refused() {
        let told = |code: &str| vec![format!("there is an invisible character, U+{code}")];
        for (title, code) in [
            (r"PASS\u001b[2J", "001B"),
            (r"one\ntwo", "000A"),
            (r"one\rtwo", "000D"),
            (r"a\u0000b", "0000"),
            (r"a\u009bb", "009B"),
            ("a\u{202e}b", "202E"),
            ("a\u{2066}b", "2066"),
            ("a\u{200b}b", "200B"),
            ("a\u{a0}b", "00A0"),
            ("a\u{2028}b", "2028"),
            ("a\u{feff}b", "FEFF"),
            (r"a\U000E0041b", "E0041"),
        ] {
            assert_eq!(check(title), told(code), "{title}");
        }
    }

    #[test]
    fn words_of_any_language_are_fine() {
        for title in ["plain words", "naïve — “quoted”, 30 %", "日本語", "עברית", "𝒳 ≤ 2 → 3"]
        {
            assert_eq!(check(title), Vec::<String>::new(), "{title}");
        }
    }

    #[test]
    fn a_text_has_at_most_two_hundred_characters() {
        assert_eq!(check(&"é".repeat(TEXT_MAX)), Vec::<String>::new());
        assert_eq!(check(&"é".repeat(201)), ["this text has 201 characters; 200 fit"]);
    }

    #[test]
    fn a_file_is_not_called_by_what_cannot_be_seen() {
        let problems = load("a\u{1b}[2J.toml", "format = 1\n").expect_err("its name is refused");
        assert_eq!(
            problems.list()[0].text,
            "in the name of the file: there is an invisible character, U+001B"
        );
        assert!(!problems.plain().contains('\u{1b}'), "{}", problems.plain());
    }
}
