//! An entry as a line of `events.jsonl`: one JSON object, fields in a fixed order, pure ASCII, nothing put
//! together on the way.

use super::buffer::{Buffer, Padded};
use super::field::{Field, KEY};
use super::fields::{Sink, fields};
use super::kind::Kind;
use super::roll::Roll;
use super::text::{Piece, Text};
use crate::sim::{Catalog, Entry, RequestName};
use crate::units::{Money, Name, Names, Timestamp};

/// The version of the event format. A new field or event, another order of ties, another draw is a new one.
pub const FORMAT: u32 = 1;

/// What the first line of a run says.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a> {
    /// The version of `faultlab`.
    pub faultlab: &'a str,
    /// The scenario.
    pub scenario: &'a str,
    /// Its variant.
    pub variant: &'a str,
    /// The key of all draws.
    pub seed: u64,
    /// A digest of the scenario's text.
    pub scenario_digest: &'a str,
    /// A digest of the policy.
    pub policy_digest: &'a str,
}

/// Writes lines into a buffer that is used again.
#[derive(Clone, Debug)]
pub struct Lines {
    out: Buffer,
    /// `,"scenario":"…","variant":"…"`
    run: Vec<u8>,
    names: Escaped,
    stem: Stem,
    last: Asker,
}

/// `,"t_ns":…,"cause":…` and the run: the same for all entries with one cause at one instant.
#[derive(Clone, Debug, Default)]
struct Stem {
    of: Option<(Timestamp, Option<u64>)>,
    text: Buffer,
}

/// The last request that was written: most lines are about the same one as the line before.
#[derive(Clone, Debug)]
struct Asker {
    of: Option<RequestName>,
    text: Padded<ASKER>,
    scratch: Buffer,
}

/// The longest name of a request that is copied in one step.
const ASKER: usize = 48;

impl Lines {
    /// A writer of lines that use `names`.
    pub fn new(names: &Names) -> Lines {
        Lines {
            out: Buffer::default(),
            run: Vec::new(),
            names: Escaped::new(names),
            stem: Stem::default(),
            last: Asker { of: None, text: Padded::new(""), scratch: Buffer::default() },
        }
    }

    /// The first line of a run; the lines after it are of this scenario and variant.
    pub fn header(&mut self, header: &Header<'_>) {
        self.run.clear();
        self.stem.of = None;
        for (key, text) in [(",\"scenario\":", header.scenario), (",\"variant\":", header.variant)] {
            self.run.extend_from_slice(key.as_bytes());
            quoted(&mut self.run, text);
        }
        let Header { faultlab, seed, scenario_digest, policy_digest, .. } = header;
        let mut line = format!("{{\"format\":{FORMAT},\"faultlab\":").into_bytes();
        quoted(&mut line, faultlab);
        line.extend_from_slice(&self.run);
        line.extend_from_slice(format!(",\"seed\":{seed}").as_bytes());
        line.extend_from_slice(format!(",\"scenario_digest\":\"{scenario_digest}\"").as_bytes());
        line.extend_from_slice(format!(",\"policy_digest\":\"{policy_digest}\"}}\n").as_bytes());
        self.out.text(&line);
    }

    /// The line of one entry. The roll must have noted it. All lines between two headers have one catalogue.
    pub fn entry(&mut self, entry: &Entry<'_>, roll: &Roll, catalog: &Catalog) {
        let Lines { out, run, names, stem, last } = self;
        out.number(&SEQ, entry.seq);
        if stem.of != Some((entry.at, entry.cause)) {
            stem.write(entry, run);
        }
        out.text(stem.text.written());
        out.padded(Kind::of(&entry.what).json());
        fields(entry, roll, catalog, &mut Json { out, names, last, object: 0 });
        out.text(b"}\n");
    }

    /// What was written since the last [`Lines::clear`].
    pub fn bytes(&self) -> &[u8] {
        self.out.written()
    }

    /// Forgets what was written, keeps the memory.
    pub fn clear(&mut self) {
        self.out.clear();
    }
}

const SEQ: Padded<KEY> = Padded::new("{\"seq\":");
const TIME: Padded<KEY> = Padded::new(",\"t_ns\":");
const CAUSE: Padded<KEY> = Padded::new(",\"cause\":");

impl Stem {
    #[inline(never)]
    fn write(&mut self, entry: &Entry<'_>, run: &[u8]) {
        self.of = Some((entry.at, entry.cause));
        self.text.clear();
        self.text.number(&TIME, entry.at.nanos());
        if let Some(cause) = entry.cause {
            self.text.number(&CAUSE, cause);
        }
        self.text.text(run);
    }
}

struct Json<'a> {
    out: &'a mut Buffer,
    names: &'a Escaped,
    last: &'a mut Asker,
    /// Where the object of a list begins.
    object: usize,
}

impl Json<'_> {
    /// A request, and the number of a call there if it is one.
    #[inline(never)]
    fn asker(&mut self, field: Field, catalog: &Catalog, name: RequestName, nth: Option<u32>) {
        if self.last.of != Some(name) && !self.last.learn(catalog, name, self.names) {
            return match nth {
                None => self.joined(field, Text::Request(catalog, name)),
                Some(nth) => self.joined(field, Text::Call(catalog, name, nth)),
            };
        }
        match nth {
            None => self.out.name(field.json(), &self.last.text),
            Some(nth) => self.out.numbered(field.json(), &self.last.text, nth),
        }
    }

    #[inline(never)]
    fn joined(&mut self, field: Field, text: Text<'_>) {
        self.out.padded(field.json());
        self.names.join(self.out, text);
        self.out.byte(b'"');
    }
}

impl Asker {
    /// Whether the name is a short one. It is the last one then.
    fn learn(&mut self, catalog: &Catalog, name: RequestName, names: &Escaped) -> bool {
        self.scratch.clear();
        names.join(&mut self.scratch, Text::Request(catalog, name));
        let short = Padded::of(self.scratch.written());
        if let Some(text) = short {
            (self.of, self.text) = (Some(name), text);
        }
        short.is_some()
    }
}

impl Sink for Json<'_> {
    #[inline(always)]
    fn text(&mut self, field: Field, text: Text<'_>) {
        match text {
            Text::Word(word) => self.out.word(field.json(), word),
            Text::Name(_, name) => match self.names.short(name) {
                Some(short) => self.out.name(field.json(), short),
                None => self.joined(field, text),
            },
            Text::Request(catalog, name) => self.asker(field, catalog, name, None),
            Text::Call(catalog, name, nth) => self.asker(field, catalog, name, Some(nth)),
            Text::Task(..)
            | Text::Members(..)
            | Text::Credentials(..)
            | Text::Classes(..)
            | Text::Preferences(..)
            | Text::Reasons(..) => {
                self.joined(field, text);
            }
        }
    }

    #[inline]
    fn number(&mut self, field: Field, n: u64) {
        self.out.number(field.json(), n);
    }

    #[inline]
    fn money(&mut self, field: Field, money: Money) {
        self.out.dollars(field.json(), money.picos());
    }

    fn list(&mut self, field: Field) {
        self.out.padded(field.json());
        self.out.byte(b'[');
    }

    fn open(&mut self) {
        self.object = self.out.written().len();
    }

    /// The comma before its first field becomes the brace; another one stands behind it for the next.
    fn close(&mut self) {
        self.out.replace(self.object, b'{');
        self.out.text(b"},");
    }

    fn end(&mut self) {
        self.out.drop_last(b',');
        self.out.byte(b']');
    }
}

/// Every name as it stands in JSON.
#[derive(Clone, Debug)]
struct Escaped {
    short: Vec<Padded<SHORT>>,
    /// Those that are longer.
    long: Vec<(Name, Vec<u8>)>,
}

/// The longest name that is copied in one step.
const SHORT: usize = 32;

impl Escaped {
    fn new(names: &Names) -> Escaped {
        let mut escaped = Escaped { short: Vec::new(), long: Vec::new() };
        for (name, text) in names.iter() {
            let mut bytes = Vec::new();
            escape(&mut bytes, text);
            let text = std::str::from_utf8(&bytes).expect("what is escaped is ASCII");
            if text.len() <= SHORT {
                escaped.short.push(Padded::new(text));
            } else {
                escaped.short.push(Padded::new(""));
                escaped.long.push((name, bytes));
            }
        }
        escaped
    }

    /// The name, if it is a short one.
    #[inline(always)]
    fn short(&self, name: Name) -> Option<&Padded<SHORT>> {
        Some(&self.short[name.index()]).filter(|short| !short.is_empty())
    }

    fn join(&self, out: &mut Buffer, text: Text<'_>) {
        text.pieces(|piece| match piece {
            Piece::Word(word) => out.text(word.as_bytes()),
            Piece::Name(_, name) => self.put(out, name),
            Piece::Number(n) => out.decimal(u64::from(n)),
            Piece::Bar => out.byte(b'|'),
            Piece::Colon => out.byte(b':'),
        });
    }

    fn put(&self, out: &mut Buffer, name: Name) {
        match self.short(name) {
            Some(short) => out.padded(short),
            None => self.put_long(out, name),
        }
    }

    #[cold]
    fn put_long(&self, out: &mut Buffer, name: Name) {
        if let Ok(at) = self.long.binary_search_by_key(&name, |long| long.0) {
            out.text(&self.long[at].1);
        }
    }
}

fn quoted(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    escape(out, text);
    out.push(b'"');
}

fn escape(out: &mut Vec<u8>, text: &str) {
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte @ b' '..=b'~') if byte != b'"' && byte != b'\\' => out.push(byte),
            Ok(_) | Err(_) => out.extend_from_slice(format!("\\u{unit:04x}").as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::Observer;
    use crate::trace::fields::Sink;
    use crate::trace::samples;
    use serde_json::{Map, Value};

    /// Puts every entry together as JSON values: slowly, and by somebody else's code.
    struct Oracle {
        catalog: Catalog,
        roll: Roll,
        lines: Lines,
        expected: Vec<Value>,
    }

    #[derive(Default)]
    struct Object {
        outer: Map<String, Value>,
        list: Vec<Value>,
        inner: Option<Map<String, Value>>,
    }

    impl Object {
        fn put(&mut self, field: Field, value: Value) {
            let object = self.inner.as_mut().unwrap_or(&mut self.outer);
            assert_eq!(object.insert(field.label().to_owned(), value), None);
        }
    }

    impl Sink for Object {
        fn text(&mut self, field: Field, text: Text<'_>) {
            self.put(field, Value::from(text.to_string()));
        }

        fn number(&mut self, field: Field, n: u64) {
            self.put(field, Value::from(n));
        }

        fn money(&mut self, field: Field, money: Money) {
            self.put(field, Value::from(money.to_string()));
        }

        fn list(&mut self, _: Field) {}

        fn open(&mut self) {
            self.inner = Some(Map::new());
        }

        fn close(&mut self) {
            self.list.extend(self.inner.take().map(Value::Object));
        }

        fn end(&mut self) {
            let list = Value::Array(std::mem::take(&mut self.list));
            self.put(Field::Candidates, list);
        }
    }

    impl Observer for Oracle {
        fn entry(&mut self, entry: &Entry<'_>) {
            self.roll.note(entry);
            self.lines.entry(entry, &self.roll, &self.catalog);
            let mut object = Object::default();
            object.outer.insert("seq".to_owned(), Value::from(entry.seq));
            object.outer.insert("t_ns".to_owned(), Value::from(entry.at.nanos()));
            object.outer.extend(entry.cause.map(|cause| ("cause".to_owned(), Value::from(cause))));
            for (key, text) in [("scenario", SCENARIO), ("variant", "base")] {
                object.outer.insert(key.to_owned(), Value::from(text));
            }
            object.outer.insert("event".to_owned(), Value::from(Kind::of(&entry.what).label()));
            fields(entry, &self.roll, &self.catalog, &mut object);
            self.expected.push(Value::Object(object.outer));
        }
    }

    const SCENARIO: &str = "quote \" backslash \\ newline \n umlaut ü clef 𝄞 delete \x7f";

    fn header() -> Header<'static> {
        Header {
            faultlab: "0.1.0",
            scenario: SCENARIO,
            variant: "base",
            seed: u64::MAX,
            scenario_digest: "aa",
            policy_digest: "bb",
        }
    }

    #[test]
    fn a_line_reads_back_as_what_was_told() {
        check(samples::catalog(), |oracle| {
            samples::bounded(oracle);
            samples::oddities(oracle);
        });
        check(samples::stacked(), samples::stack);
    }

    fn check(catalog: Catalog, play: impl Fn(&mut Oracle)) {
        let (roll, lines) = (Roll::default(), Lines::new(&catalog.names));
        let mut oracle = Oracle { catalog, roll, lines, expected: Vec::new() };
        oracle.lines.header(&header());
        oracle.lines.clear();
        play(&mut oracle);
        let text = std::str::from_utf8(oracle.lines.bytes()).unwrap();
        assert!(text.is_ascii());
        let read: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(read, oracle.expected);
    }

    #[test]
    fn a_line_has_its_fields_in_a_fixed_order() {
        struct First(Lines, Roll, Catalog);
        impl Observer for First {
            fn entry(&mut self, entry: &Entry<'_>) {
                self.1.note(entry);
                if Kind::of(&entry.what) == Kind::RetryScheduled && self.0.bytes().is_empty() {
                    self.0.entry(entry, &self.1, &self.2);
                }
            }
        }
        let mut first = First(Lines::new(&samples::catalog().names), Roll::default(), samples::catalog());
        first.0.header(&Header { scenario: "bounded-429", ..header() });
        first.0.clear();
        samples::bounded(&mut first);
        assert_eq!(
            std::str::from_utf8(first.0.bytes()).unwrap(),
            "{\"seq\":14,\"t_ns\":80000000,\"cause\":10,\"scenario\":\"bounded-429\",\"variant\":\"base\",\
             \"event\":\"retry_scheduled\",\"request\":\"req-demo-002\",\"route\":\"fallback\",\
             \"delay_ns\":100000000,\"at_ns\":180000000,\"quoted_usd\":\"0.016\"}\n"
        );
    }

    #[test]
    fn a_header_says_what_was_played() {
        let mut lines = Lines::new(&Names::default());
        lines.header(&header());
        let read: Value = serde_json::from_slice(lines.bytes()).unwrap();
        assert_eq!(read["format"], Value::from(FORMAT));
        assert_eq!(read["scenario"], Value::from(SCENARIO));
        assert_eq!(read["seed"], Value::from(u64::MAX));
        assert_eq!(read["policy_digest"], Value::from("bb"));
    }
}
