//! A parsed file: values with their places, in file order, and how a variant is laid over it.

use super::problems::{Problem, Span};
use super::texts;
use toml::de::{DeTable, DeValue};

/// A value and its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Where it is.
    pub(super) span: Span,
    /// What it is.
    pub(super) value: Value,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A text.
    Text(String),
    /// A whole number; one that does not fit is the largest or smallest there is.
    Whole(i128),
    /// `true` or `false`.
    Switch(bool),
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Table),
    /// A float or a date: no knob wants one.
    Other(&'static str),
}

/// A table, in file order.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// Whether it is written in braces: a value, which a variant replaces as a whole.
    pub(super) braces: Braces,
    /// Its entries.
    pub(super) entries: Vec<(Word, Node)>,
}

/// How a table is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Braces {
    /// `{ … }`.
    Yes,
    /// Under a header, or by dotted keys.
    #[default]
    No,
}

/// A text and its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Word {
    /// The text.
    pub(super) text: String,
    /// Where it is.
    pub(super) span: Span,
}

impl Node {
    /// The word for its type.
    pub(super) const fn kind(&self) -> &'static str {
        match &self.value {
            Value::Text(_) => "a text",
            Value::Whole(_) => "a whole number",
            Value::Switch(_) => "true or false",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Other(kind) => kind,
        }
    }
}

impl Table {
    /// The value of `key`.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|entry| entry.0.text == key).map(|entry| &entry.1)
    }

    /// The entry called `key`, alone.
    pub(super) fn only(&self, key: &str) -> Table {
        let entries = self.entries.iter().filter(|entry| entry.0.text == key);
        Table { braces: self.braces, entries: entries.cloned().collect() }
    }

    /// This table without the entries called `keys`.
    pub(super) fn without(&self, keys: &[&str]) -> Table {
        let entries = self.entries.iter().filter(|entry| !keys.contains(&entry.0.text.as_str()));
        Table { braces: self.braces, entries: entries.cloned().collect() }
    }

    /// This table with `over` laid over it: tables are merged, lists of named tables are merged by name, and
    /// everything else, a table in braces too, is replaced as a whole.
    pub(super) fn overlaid(&self, over: &Table) -> Table {
        let mut merged = self.clone();
        for (key, node) in &over.entries {
            match merged.entries.iter_mut().find(|entry| entry.0.text == key.text) {
                Some((_, base)) => *base = overlay(base, node),
                None => merged.entries.push((key.clone(), node.clone())),
            }
        }
        merged
    }

    /// Removes the route, layer, request, stream of arrivals or job called `name`; whether there was one.
    pub(super) fn remove_named(&mut self, name: &str) -> bool {
        let mut removed = false;
        for (key, node) in &mut self.entries {
            if let ("route" | "layer" | "request" | "arrivals" | "job", Value::List(list)) =
                (key.text.as_str(), &mut node.value)
            {
                let before = list.len();
                list.retain(|item| name_of(item) != Some(name));
                removed |= list.len() < before;
            }
        }
        removed
    }

    /// What the table is called, if it has a name.
    pub(super) fn name(&self) -> Option<&str> {
        match &self.get("name").or_else(|| self.get("id"))?.value {
            Value::Text(name) => Some(name),
            Value::Whole(_) | Value::Switch(_) | Value::List(_) | Value::Table(_) | Value::Other(_) => None,
        }
    }
}

fn overlay(base: &Node, over: &Node) -> Node {
    let value = match (&base.value, &over.value) {
        (Value::Table(base), Value::Table(over)) if over.braces == Braces::No => {
            Value::Table(base.overlaid(over))
        }
        (Value::List(base), Value::List(over)) if all_named(base) && all_named(over) => {
            Value::List(overlay_by_name(base, over))
        }
        (_, replaced) => replaced.clone(),
    };
    Node { span: over.span.clone(), value }
}

fn all_named(list: &[Node]) -> bool {
    list.iter().all(|node| name_of(node).is_some())
}

fn name_of(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Table(table) => table.name(),
        Value::Text(_) | Value::Whole(_) | Value::Switch(_) | Value::List(_) | Value::Other(_) => None,
    }
}

fn overlay_by_name(base: &[Node], over: &[Node]) -> Vec<Node> {
    let mut merged = base.to_vec();
    for node in over {
        match merged.iter_mut().find(|known| name_of(known) == name_of(node)) {
            Some(known) => *known = overlay(known, node),
            None => merged.push(node.clone()),
        }
    }
    merged
}

/// Parses `text`, or says everything that is wrong with its syntax and its texts.
pub(super) fn parse(text: &str) -> Result<Table, Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        let table = table_of(table.get_ref(), text, Braces::No);
        let unfit = texts::unfit(&table);
        return if unfit.is_empty() { Ok(table) } else { Err(unfit) };
    }
    let problem = |error: &toml::de::Error| {
        let span = error.span().unwrap_or(text.len()..text.len());
        Problem::at(&span, format!("this is not TOML: {}", error.message()))
    };
    Err(errors.iter().map(problem).collect())
}

fn table_of(table: &DeTable<'_>, text: &str, braces: Braces) -> Table {
    let mut entries: Vec<(Word, Node)> = table
        .iter()
        .map(|(key, value)| {
            let word = Word { text: key.get_ref().to_string(), span: key.span() };
            (word, Node { span: value.span(), value: value_of(value.get_ref(), text, &value.span()) })
        })
        .collect();
    entries.sort_by_key(|entry| entry.0.span.start);
    Table { braces, entries }
}

fn value_of(value: &DeValue<'_>, text: &str, span: &Span) -> Value {
    match value {
        DeValue::String(s) => Value::Text(s.to_string()),
        DeValue::Integer(i) => {
            let (digits, radix) = (i.as_str(), i.radix());
            let beyond = if digits.starts_with('-') { i128::MIN } else { i128::MAX };
            Value::Whole(i128::from_str_radix(digits, radix).unwrap_or(beyond))
        }
        DeValue::Boolean(b) => Value::Switch(*b),
        DeValue::Array(list) => Value::List(
            list.iter()
                .map(|item| Node { span: item.span(), value: value_of(item.get_ref(), text, &item.span()) })
                .collect(),
        ),
        DeValue::Table(table) => {
            let braces = if text.get(span.clone()).is_some_and(|t| t.starts_with('{')) {
                Braces::Yes
            } else {
                Braces::No
            };
            Value::Table(table_of(table, text, braces))
        }
        DeValue::Float(_) => Value::Other("a float"),
        DeValue::Datetime(_) => Value::Other("a date"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(base: &str, over: &str) -> Table {
        parse(base).unwrap().overlaid(&parse(over).unwrap())
    }

    /// The values of a table as one line, in file order.
    fn line(table: &Table) -> String {
        let texts = table.entries.iter().map(|(key, node)| format!("{}={}", key.text, show(node)));
        texts.collect::<Vec<_>>().join(" ")
    }

    fn show(node: &Node) -> String {
        match &node.value {
            Value::Text(s) => s.clone(),
            Value::Whole(n) => n.to_string(),
            Value::Switch(b) => b.to_string(),
            Value::List(list) => format!("[{}]", list.iter().map(show).collect::<Vec<_>>().join(", ")),
            Value::Table(table) => format!("({})", line(table)),
            Value::Other(kind) => (*kind).to_owned(),
        }
    }

    #[test]
    fn tables_are_merged_and_lists_of_named_tables_are_merged_by_name() {
        let base = "a.x = 1\na.y = 2\n[[route]]\nname = 'p'\nq = 1\n[[route]]\nname = 'f'\nq = 2\n";
        let over = "a.y = 3\n[[route]]\nname = 'f'\nq = 9\n[[route]]\nname = 'g'\nq = 4\n";
        let expected = "a=(x=1 y=3) route=[(name=p q=1), (name=f q=9), (name=g q=4)]";
        assert_eq!(line(&merged(base, over)), expected);
    }

    #[test]
    fn a_table_in_braces_and_a_list_without_names_are_replaced_as_a_whole() {
        let base = "backoff = { fixed = 1 }\nreplies = [1, 2]\n";
        let over = "backoff = { exponential = 2 }\nreplies = [3]\n";
        assert_eq!(line(&merged(base, over)), "backoff=(exponential=2) replies=[3]");
    }

    #[test]
    fn a_number_that_does_not_fit_is_the_largest_there_is() {
        let table = parse("a = 99999999999999999999999999999999999999999999\n").unwrap();
        assert_eq!(line(&table), format!("a={}", i128::MAX));
    }
}
