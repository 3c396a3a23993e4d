//! One function describes a table; the same function reads it (every problem of the file at once) and lists
//! its knobs for the documentation. A function asks a [`Form`] for its values, one call a key.

use super::findings::{About, Findings, Shape, Unstated};
use super::problems::{Problem, Span, did_you_mean, instead_of};
use super::quantity::{Complaint, Kind, Written};
use super::tree::{Node, Table, Value, Word};

/// The most tables of one kind in a file; every position fits its id.
const LIST_MAX: usize = 10_000;

/// One table of a file, while it is read or described.
pub(super) struct Form<'a, 'o> {
    table: Option<&'a Table>,
    below: Option<Below<'a>>,
    span: Span,
    path: String,
    seen: Vec<&'static str>,
    out: &'o mut Findings,
}

/// What a table is laid over: what it does not state itself is read there.
#[derive(Clone)]
pub(super) struct Below<'a> {
    table: Option<&'a Table>,
    path: String,
}

impl<'a, 'o> Form<'a, 'o> {
    /// The file itself.
    pub(super) fn new(table: Option<&'a Table>, out: &'o mut Findings) -> Form<'a, 'o> {
        Form { table, below: None, span: 0..0, path: String::new(), seen: Vec::new(), out }
    }

    /// A quantity; its default if it is absent or wrong.
    pub(super) fn value<T>(&mut self, about: About, kind: &Kind<T>, default: &'static str) -> T {
        self.describe(about, (kind.wants, kind.shape()), Unstated::Default(default));
        let node = self.node(about.key);
        node.and_then(|node| self.quantity(about.key, node, kind)).unwrap_or_else(|| {
            match (kind.parse)(default) {
                Ok(value) => value,
                Err(complaint) => panic!("a default is a value of its kind: {}", complaint.text),
            }
        })
    }

    /// A quantity that may be absent.
    pub(super) fn optional<T>(&mut self, about: About, kind: &Kind<T>) -> Option<T> {
        self.describe(about, (kind.wants, kind.shape()), Unstated::Absent);
        let node = self.node(about.key)?;
        self.quantity(about.key, node, kind)
    }

    /// A quantity that must be there.
    pub(super) fn required<T>(&mut self, about: About, kind: &Kind<T>) -> Option<T> {
        self.describe(about, (kind.wants, kind.shape()), Unstated::Problem);
        let Some(node) = self.node(about.key) else {
            self.missing(about.key, &format!("`{} = {}`", about.key, kind.example));
            return None;
        };
        self.quantity(about.key, node, kind)
    }

    /// One of a few words; the default if it is absent or wrong.
    pub(super) fn choice<T: Copy>(
        &mut self,
        about: About,
        words: &[(&'static str, T)],
        default: &'static str,
    ) -> T {
        self.describe(about, (&one_of(words), Shape::Words(labels(words))), Unstated::Default(default));
        let chosen = self.node(about.key).and_then(|node| self.pick(about.key, node, words));
        let default = words.iter().find(|word| word.0 == default);
        chosen.unwrap_or_else(|| default.expect("a default is one of the words").1)
    }

    /// One of a few words, if it is there.
    pub(super) fn optional_choice<T: Copy>(
        &mut self,
        about: About,
        words: &[(&'static str, T)],
    ) -> Option<T> {
        self.describe(about, (&one_of(words), Shape::Words(labels(words))), Unstated::Absent);
        let node = self.node(about.key)?;
        self.pick(about.key, node, words)
    }

    /// A list of words out of a few, if it is there.
    pub(super) fn choices<T: Copy>(&mut self, about: About, words: &[(&'static str, T)]) -> Option<Vec<T>> {
        let wants = format!("a list of: {}", labels(words).join(", "));
        self.describe(about, (&wants, Shape::ListOfWords(labels(words))), Unstated::Absent);
        let node = self.node(about.key)?;
        let list = self.list(about.key, node)?;
        Some(list.iter().filter_map(|node| self.pick(about.key, node, words)).collect())
    }

    /// `true` or `false`.
    pub(super) fn switch<T>(&mut self, about: About, on: T, off: T, default: &'static str) -> T {
        self.describe(about, ("true or false", Shape::Switch), Unstated::Default(default));
        let Some(node) = self.node(about.key) else { return if default == "true" { on } else { off } };
        match &node.value {
            Value::Switch(true) => on,
            Value::Switch(false) => off,
            Value::Text(_) | Value::Whole(_) | Value::List(_) | Value::Table(_) | Value::Other(_) => {
                self.wrong_type(about.key, node, "true or false", "true");
                off
            }
        }
    }

    /// A text, if it is there.
    pub(super) fn text(&mut self, about: About) -> Option<Word> {
        self.describe(about, ("a text", Shape::Text), Unstated::Absent);
        let node = self.node(about.key)?;
        self.word(about.key, node)
    }

    /// A text that must be there and not be empty.
    pub(super) fn required_text(&mut self, about: About) -> Option<Word> {
        self.describe(about, ("a text", Shape::Text), Unstated::Problem);
        let Some(node) = self.node(about.key) else {
            self.missing(about.key, &format!("`{} = \"…\"`", about.key));
            return None;
        };
        let word = self.word(about.key, node)?;
        if word.text.trim().is_empty() {
            self.problem(&word.span, format!("`{}` is empty", about.key), None);
            return None;
        }
        Some(word)
    }

    /// A list of texts, if it is there.
    pub(super) fn texts(&mut self, about: About) -> Option<Vec<Word>> {
        self.describe(about, ("a list of texts", Shape::Texts), Unstated::Absent);
        let node = self.node(about.key)?;
        let list = self.list(about.key, node)?;
        Some(list.iter().filter_map(|node| self.word(about.key, node)).collect())
    }

    /// A table; an absent one is read as an empty one.
    pub(super) fn table<T>(&mut self, key: &'static str, form: impl FnOnce(&mut Form<'_, '_>) -> T) -> T {
        let node = self.node(key);
        let table = node.and_then(|node| self.as_table(key, node));
        let span = self.place(node);
        self.inner(key, table, span, form)
    }

    /// The table under `key`, for others to be laid over it.
    pub(super) fn below(&self, key: &str) -> Below<'a> {
        let node = self.table.and_then(|table| table.get(key));
        let table =
            node.and_then(|node| if let Value::Table(table) = &node.value { Some(table) } else { None });
        Below { table, path: self.path_of(key) }
    }

    /// A table that states only what differs from `below`.
    pub(super) fn table_over<T>(
        &mut self,
        key: &'static str,
        below: &Below<'_>,
        form: impl FnOnce(&mut Form<'_, '_>) -> T,
    ) -> T {
        let node = self.node(key);
        let table = node.and_then(|node| self.as_table(key, node));
        let (span, path) = (self.place(node), self.path_of(key));
        Form { table, below: Some(below.clone()), span, path, seen: Vec::new(), out: self.out }.filled(form)
    }

    /// A table, if it is there.
    pub(super) fn optional_table<T>(
        &mut self,
        key: &'static str,
        form: impl FnOnce(&mut Form<'_, '_>) -> T,
    ) -> Option<T> {
        let node = self.node(key);
        let table = node.and_then(|node| self.as_table(key, node));
        let span = self.place(node);
        (table.is_some() || self.is_describing()).then(|| self.inner(key, table, span, form))
    }

    /// A list of tables, each read by `form`.
    pub(super) fn each<T>(
        &mut self,
        key: &'static str,
        mut form: impl FnMut(&mut Form<'_, '_>) -> T,
    ) -> Vec<T> {
        if self.is_describing() {
            self.seen.push(key);
            return vec![self.inner(&format!("{key}[]"), None, 0..0, form)];
        }
        let Some(node) = self.node(key) else { return Vec::new() };
        if matches!(node.value, Value::Table(_)) {
            let help = format!("a list of tables is written `[[{}]]`", self.path_of(key));
            self.problem(&node.span, format!("`{key}` wants a list, not {}", node.kind()), Some(help));
            return Vec::new();
        }
        let Some(list) = self.list(key, node) else { return Vec::new() };
        if list.len() > LIST_MAX {
            let text = format!("`{key}` is listed {} times; {LIST_MAX} fit", list.len());
            self.problem(&node.span, text, None);
        }
        let mut all = Vec::new();
        for item in list.iter().take(LIST_MAX) {
            if let Some(table) = self.as_table(key, item) {
                all.push(self.inner(key, Some(table), item.span.clone(), &mut form));
            }
        }
        all
    }

    /// A value that is a word, a number or a table, read by `form`; `None` if it is absent.
    pub(super) fn custom<'w, T>(
        &mut self,
        about: About,
        wants: impl Into<Wants<'w>>,
        form: impl FnOnce(&mut Form<'_, '_>, &'a Node) -> Option<T>,
    ) -> Option<T> {
        let Wants(wants, shape) = wants.into();
        self.describe(about, (wants, shape), Unstated::Absent);
        let node = self.node(about.key)?;
        form(self, node)
    }

    /// A table that is described elsewhere, read by `form`; an absent one is read as an empty one.
    pub(super) fn alike(
        &mut self,
        about: About,
        (wants, shape): (&str, Shape),
        form: impl FnOnce(&mut Form<'_, '_>),
    ) {
        self.describe(about, (wants, shape), Unstated::Absent);
        if !self.is_describing() {
            self.table(about.key, form);
        }
    }

    /// Lists the knobs of a table under `key` that is one of several things that a value can be.
    pub(super) fn describe_table<T>(&mut self, key: &str, form: impl FnOnce(&mut Form<'_, '_>) -> T) {
        if self.is_describing() {
            self.inner(key, None, 0..0, form);
        }
    }

    /// Reads the table `node`, found under `key`, with `form`.
    pub(super) fn within<T>(
        &mut self,
        key: &str,
        node: &Node,
        form: impl FnOnce(&mut Form<'_, '_>) -> T,
    ) -> Option<T> {
        let table = self.as_table(key, node)?;
        Some(self.inner(key, Some(table), node.span.clone(), form))
    }

    /// The value of `node`, found under `key`, as a quantity.
    pub(super) fn quantity<T>(&mut self, key: &str, node: &Node, kind: &Kind<T>) -> Option<T> {
        let text = match (&node.value, kind.written) {
            (Value::Text(text), Written::Text | Written::Either) => text.clone(),
            (Value::Whole(number), Written::Whole | Written::Either) => number.to_string(),
            (
                Value::Text(_)
                | Value::Whole(_)
                | Value::Switch(_)
                | Value::List(_)
                | Value::Table(_)
                | Value::Other(_),
                Written::Text | Written::Whole | Written::Either,
            ) => {
                self.wrong_type(key, node, kind.wants, kind.example);
                return None;
            }
        };
        match (kind.parse)(&text) {
            Ok(value) => Some(value),
            Err(Complaint { text, help }) => {
                let fallback = || Some(format!("`{key}` wants {}, for example {}", kind.wants, kind.example));
                self.problem(&node.span, text, help.or_else(fallback));
                None
            }
        }
    }

    /// The value of `node`, found under `key`, as a text.
    pub(super) fn word(&mut self, key: &str, node: &Node) -> Option<Word> {
        match &node.value {
            Value::Text(text) => Some(Word { text: text.clone(), span: node.span.clone() }),
            Value::Whole(_) | Value::Switch(_) | Value::List(_) | Value::Table(_) | Value::Other(_) => {
                self.wrong_type(key, node, "a text", "\"…\"");
                None
            }
        }
    }

    /// The elements of `node`, found under `key`.
    pub(super) fn list<'n>(&mut self, key: &str, node: &'n Node) -> Option<&'n [Node]> {
        match &node.value {
            Value::List(list) => Some(list),
            Value::Text(_) | Value::Whole(_) | Value::Switch(_) | Value::Table(_) | Value::Other(_) => {
                self.wrong_type(key, node, "a list", "[…]");
                None
            }
        }
    }

    /// The value of `key`, unread; it counts as asked for.
    pub(super) fn node(&mut self, key: &'static str) -> Option<&'a Node> {
        self.seen.push(key);
        self.stated(key)
    }

    /// The value of `key`: what the table states, or else what is below.
    fn stated(&self, key: &str) -> Option<&'a Node> {
        let below = self.below.as_ref().and_then(|below| below.table);
        [self.table, below].into_iter().flatten().find_map(|table| table.get(key))
    }

    /// The keys of the table that nobody has asked for yet; they count as asked for.
    pub(super) fn rest(&mut self) -> Vec<(&'a Word, &'a Node)> {
        let seen = std::mem::take(&mut self.seen);
        let Some(table) = self.table.take() else { return Vec::new() };
        let rest = table.entries.iter().filter(|entry| !seen.contains(&entry.0.text.as_str()));
        rest.map(|(key, node)| (key, node)).collect()
    }

    /// Whether `key` is there.
    pub(super) fn has(&self, key: &str) -> bool {
        self.stated(key).is_some()
    }

    /// Whether `key` is there, and only below.
    pub(super) fn inherits(&self, key: &str) -> bool {
        self.has(key) && self.table.is_none_or(|table| table.get(key).is_none())
    }

    /// Whether `key` is there and lists something.
    pub(super) fn lists(&self, key: &str) -> bool {
        let node = self.table.and_then(|table| table.get(key));
        node.is_some_and(|node| !matches!(&node.value, Value::List(list) if list.is_empty()))
    }

    /// Where the table is.
    pub(super) fn span(&self) -> Span {
        self.span.clone()
    }

    /// Where the value of `key` is; the table itself if it is absent.
    pub(super) fn span_of(&self, key: &str) -> Span {
        self.stated(key).map_or(self.span.clone(), |node| node.span.clone())
    }

    /// Whether there is no file, only a list of knobs to make.
    pub(super) const fn is_describing(&self) -> bool {
        self.out.is_describing()
    }

    /// Notes a problem.
    pub(super) fn problem(&mut self, span: &Span, text: impl Into<String>, help: Option<String>) {
        if !self.is_describing() {
            self.out.problems.push(Problem::at(span, text).help(help));
        }
    }

    /// Notes that `word` is none of the `what` that are `known`.
    pub(super) fn unknown<'k>(
        &mut self,
        what: &str,
        word: &Word,
        known: impl IntoIterator<Item = &'k str> + Clone,
    ) {
        let none = known.clone().into_iter().next().is_none();
        let help = instead_of(&word.text, known).or(none.then(|| "the file declares none".to_owned()));
        self.problem(&word.span, format!("there is no {what} `{}`", word.text), help);
    }

    /// Notes that `key` must be there.
    pub(super) fn missing(&mut self, key: &str, how: &str) {
        if self.table.is_some() {
            let place = self.title();
            self.problem(&self.span.clone(), format!("{place} has no `{key}`"), Some(format!("add {how}")));
        }
    }

    fn title(&self) -> String {
        match self.path.as_str() {
            "" => "the file".to_owned(),
            path => format!("`{path}`"),
        }
    }

    fn inner<T>(
        &mut self,
        key: &str,
        table: Option<&Table>,
        span: Span,
        form: impl FnOnce(&mut Form<'_, '_>) -> T,
    ) -> T {
        let path = self.path_of(key);
        Form { table, below: None, span, path, seen: Vec::new(), out: self.out }.filled(form)
    }

    /// Asks for everything that `form` wants.
    fn filled<T>(mut self, form: impl FnOnce(&mut Form<'_, '_>) -> T) -> T {
        let value = form(&mut self);
        self.finish();
        value
    }

    /// The place of a table: its value, or where its parent is.
    fn place(&self, node: Option<&Node>) -> Span {
        node.map_or(self.span.clone(), |node| node.span.clone())
    }

    fn as_table<'n>(&mut self, key: &str, node: &'n Node) -> Option<&'n Table> {
        match &node.value {
            Value::Table(table) => Some(table),
            Value::Text(_) | Value::Whole(_) | Value::Switch(_) | Value::List(_) | Value::Other(_) => {
                self.wrong_type(key, node, "a table", "{ … }");
                None
            }
        }
    }

    fn pick<T: Copy>(&mut self, key: &str, node: &Node, words: &[(&'static str, T)]) -> Option<T> {
        let word = self.word(key, node)?;
        let found = words.iter().find(|known| known.0 == word.text);
        if found.is_none() {
            let help = did_you_mean(&word.text, words.iter().map(|known| known.0));
            let text = format!("`{}` is not {}", word.text, one_of(words));
            self.problem(&word.span, text, help);
        }
        found.map(|known| known.1)
    }

    fn wrong_type(&mut self, key: &str, node: &Node, wants: &str, example: &str) {
        let text = format!("`{key}` wants {wants}, not {}", node.kind());
        self.problem(&node.span, text, Some(format!("for example `{key} = {example}`")));
    }

    fn describe(&mut self, about: About, wants: (&str, Shape), unstated: Unstated) {
        if self.is_describing() {
            let path = self.path_of(about.key);
            match self.below {
                None => self.out.list(path, about, wants, unstated),
                Some(_) => self.out.list(path, About { wrong: &[], ..about }, wants, Unstated::Inherited),
            }
        }
    }

    fn path_of(&self, key: &str) -> String {
        let below = self.below.as_ref().filter(|_| self.inherits(key));
        let path = below.map_or(&self.path, |below| &below.path);
        if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
    }

    /// What was not asked for is not known.
    pub(super) fn finish(self) {
        let Some(table) = self.table else { return };
        for (key, _) in &table.entries {
            if self.seen.contains(&key.text.as_str()) {
                continue;
            }
            let place = if self.path.is_empty() { String::new() } else { format!(" in `{}`", self.path) };
            let help = instead_of(&key.text, self.seen.iter().copied());
            let text = format!("unknown key `{}`{place}", key.text);
            self.out.problems.push(Problem::at(&key.span, text).help(help));
        }
    }
}

/// What a value wants, and its shape if that is known.
pub(super) struct Wants<'w>(&'w str, Shape);

impl<'w> From<&'w str> for Wants<'w> {
    fn from(wants: &'w str) -> Wants<'w> {
        Wants(wants, Shape::Open)
    }
}

impl<'w> From<(&'w str, Shape)> for Wants<'w> {
    fn from((wants, shape): (&'w str, Shape)) -> Wants<'w> {
        Wants(wants, shape)
    }
}

fn labels<T>(words: &[(&'static str, T)]) -> Vec<&'static str> {
    words.iter().map(|word| word.0).collect()
}

fn one_of<T>(words: &[(&'static str, T)]) -> String {
    match labels(words).as_slice() {
        [] => "anything".to_owned(),
        [only] => format!("`{only}`"),
        [first @ .., last] => format!("one of {} or {last}", first.join(", ")),
    }
}
