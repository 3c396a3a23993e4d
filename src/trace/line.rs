//! An entry as a line of `events.jsonl`: one JSON object, fields in a fixed order, pure ASCII, nothing put
//! together on the way.

use super::field::Field;
use super::fields::{Sink, fields};
use super::kind::Kind;
use super::roll::Roll;
use super::text::{Decimal, Piece, Text};
use crate::sim::{Catalog, Entry};
use crate::units::Money;

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
#[derive(Clone, Debug, Default)]
pub struct Lines {
    out: Vec<u8>,
    /// `,"scenario":"…","variant":"…"`
    run: Vec<u8>,
}

impl Lines {
    /// The first line of a run; the lines after it are of this scenario and variant.
    pub fn header(&mut self, header: &Header<'_>) {
        self.run.clear();
        for (key, text) in [(",\"scenario\":", header.scenario), (",\"variant\":", header.variant)] {
            self.run.extend_from_slice(key.as_bytes());
            quoted(&mut self.run, text);
        }
        self.out.extend_from_slice(b"{\"format\":");
        decimal(&mut self.out, u64::from(FORMAT));
        self.out.extend_from_slice(b",\"faultlab\":");
        quoted(&mut self.out, header.faultlab);
        self.out.extend_from_slice(&self.run);
        self.out.extend_from_slice(b",\"seed\":");
        decimal(&mut self.out, header.seed);
        self.out.extend_from_slice(b",\"scenario_digest\":");
        quoted(&mut self.out, header.scenario_digest);
        self.out.extend_from_slice(b",\"policy_digest\":");
        quoted(&mut self.out, header.policy_digest);
        self.out.extend_from_slice(b"}\n");
    }

    /// The line of one entry. The roll must have noted it.
    pub fn entry(&mut self, entry: &Entry<'_>, roll: &Roll, catalog: &Catalog) {
        let out = &mut self.out;
        out.extend_from_slice(b"{\"seq\":");
        decimal(out, entry.seq);
        out.extend_from_slice(b",\"t_ns\":");
        decimal(out, entry.at.nanos());
        if let Some(cause) = entry.cause {
            out.extend_from_slice(b",\"cause\":");
            decimal(out, cause);
        }
        out.extend_from_slice(&self.run);
        out.extend_from_slice(Kind::of(&entry.what).json().as_bytes());
        fields(entry, roll, catalog, &mut Json { out, skip: 0 });
        self.out.extend_from_slice(b"}\n");
    }

    /// What was written since the last [`Lines::clear`].
    pub fn bytes(&self) -> &[u8] {
        &self.out
    }

    /// Forgets what was written, keeps the memory.
    pub fn clear(&mut self) {
        self.out.clear();
    }
}

struct Json<'a> {
    out: &'a mut Vec<u8>,
    /// One for the first field of an object, which has no comma before it.
    skip: usize,
}

impl Json<'_> {
    #[inline]
    fn key(&mut self, field: Field) {
        self.out.extend_from_slice(&field.json().as_bytes()[self.skip..]);
        self.skip = 0;
    }
}

impl Sink for Json<'_> {
    #[inline]
    fn text(&mut self, field: Field, text: Text<'_>) {
        self.key(field);
        self.out.push(b'"');
        text.pieces(|piece| match piece {
            Piece::Word(word) => self.out.extend_from_slice(word.as_bytes()),
            Piece::Name(name, _) => escaped(self.out, name),
            Piece::Number(n) => decimal(self.out, u64::from(n)),
            Piece::Bar => self.out.push(b'|'),
            Piece::Colon => self.out.push(b':'),
        });
        self.out.push(b'"');
    }

    #[inline]
    fn number(&mut self, field: Field, n: u64) {
        self.key(field);
        decimal(self.out, n);
    }

    #[inline]
    fn money(&mut self, field: Field, money: Money) {
        self.key(field);
        self.out.push(b'"');
        dollars(self.out, money);
        self.out.push(b'"');
    }

    fn list(&mut self, field: Field) {
        self.key(field);
        self.out.push(b'[');
    }

    fn open(&mut self) {
        if self.out.last() == Some(&b'}') {
            self.out.push(b',');
        }
        self.out.push(b'{');
        self.skip = 1;
    }

    fn close(&mut self) {
        self.out.push(b'}');
    }

    fn end(&mut self) {
        self.out.push(b']');
    }
}

fn decimal(out: &mut Vec<u8>, n: u64) {
    out.extend_from_slice(Decimal::of(n).bytes());
}

/// As [`Money`] prints itself: at least three decimals, no more than are needed.
fn dollars(out: &mut Vec<u8>, money: Money) {
    const PICOS_PER_DOLLAR: u64 = 1_000_000_000_000;
    decimal(out, money.picos() / PICOS_PER_DOLLAR);
    // A one in front keeps the zeros behind the point.
    let part = Decimal::of(PICOS_PER_DOLLAR + money.picos() % PICOS_PER_DOLLAR);
    let digits = &part.bytes()[1..];
    let unused = digits[3..].iter().rev().take_while(|digit| **digit == b'0').count();
    out.push(b'.');
    out.extend_from_slice(&digits[..digits.len() - unused]);
}

fn quoted(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    escaped(out, text);
    out.push(b'"');
}

fn escaped(out: &mut Vec<u8>, text: &str) {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    if text.as_bytes().iter().all(is_plain) {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if is_plain(&byte) => out.push(byte),
            Ok(_) | Err(_) => {
                out.extend_from_slice(b"\\u");
                let digit = |shift: u16| b"0123456789abcdef"[usize::from(unit >> shift & 15)];
                out.extend_from_slice(&[digit(12), digit(8), digit(4), digit(0)]);
            }
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
        let mut oracle = Oracle {
            catalog: samples::catalog(),
            roll: Roll::default(),
            lines: Lines::default(),
            expected: Vec::new(),
        };
        oracle.lines.header(&header());
        oracle.lines.clear();
        samples::bounded(&mut oracle);
        samples::oddities(&mut oracle);
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
        let mut first = First(Lines::default(), Roll::default(), samples::catalog());
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
        let mut lines = Lines::default();
        lines.header(&header());
        let read: Value = serde_json::from_slice(lines.bytes()).unwrap();
        assert_eq!(read["format"], Value::from(FORMAT));
        assert_eq!(read["scenario"], Value::from(SCENARIO));
        assert_eq!(read["seed"], Value::from(u64::MAX));
        assert_eq!(read["policy_digest"], Value::from("bb"));
    }

    #[test]
    fn money_reads_as_it_prints() {
        for picos in [0, 1, 999, 16_000_000_000, 1_000_000_000_000, 62_500_000_000, u64::MAX] {
            let mut out = Vec::new();
            dollars(&mut out, Money::from_picos(picos));
            assert_eq!(out, Money::from_picos(picos).to_string().into_bytes());
        }
    }
}
