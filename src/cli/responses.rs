//! Responses out of a stream, one after the other: JSON objects, one a line or over many, lists of them, HAR files,
//! and the output of `curl -i`. What is kept in memory is one response.

use crate::wire::status_line;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};

/// The largest response that is read, in bytes.
const RESPONSE_MAX: usize = 16 << 20;

/// What was found.
pub(super) enum Found {
    /// A JSON value that should be a response.
    Json(Value),
    /// What `curl -i` wrote.
    Http(String),
    /// Something that cannot be read, and why.
    Problem(String),
}

/// Hands over each response with the line on which it begins, counted from 1, or the line of a problem. `more` says
/// whether there is more to be had without waiting. `false` of `take` ends it.
///
/// # Errors
/// The stream cannot be read.
pub(super) fn each(reader: impl Read, mut take: impl FnMut(u64, Found, More) -> bool) -> io::Result<()> {
    let mut stream = Stream { reader: BufReader::with_capacity(1 << 16, reader), line: 0, head: None };
    while let Some(line) = stream.next()? {
        let at = stream.line;
        let text = if at == 1 {
            line.bytes.trim_ascii().strip_prefix(BOM).unwrap_or(&line.bytes)
        } else {
            &line.bytes
        };
        let text = text.trim_ascii();
        let goes_on = match text.first() {
            None => true,
            Some(b'{' | b'[') => stream.json(text, line.ended, &mut take)?,
            Some(_) if text.starts_with(b"HTTP/") => {
                let text = stream.http(line.bytes)?;
                take(at, Found::Http(text), stream.more())
            }
            Some(_) => {
                let text = "this is neither JSON nor a response that begins with `HTTP/`";
                take(at, Found::Problem(text.to_owned()), stream.more())
            }
        };
        if !goes_on {
            break;
        }
    }
    Ok(())
}

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Whether there is more to be had without waiting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum More {
    AtHand,
    MayTakeTime,
}

struct Stream<R> {
    reader: BufReader<R>,
    /// The number of the line that was read last.
    line: u64,
    /// A line that was read and belongs to the next response.
    head: Option<Line>,
}

struct Line {
    bytes: Vec<u8>,
    ended: Ended,
}

/// Whether a line was read to its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    Whole,
    TooLong,
}

impl<R: Read> Stream<R> {
    fn next(&mut self) -> io::Result<Option<Line>> {
        if let Some(head) = self.head.take() {
            return Ok(Some(head));
        }
        let mut bytes = Vec::new();
        let read = (&mut self.reader).take(RESPONSE_MAX as u64).read_until(b'\n', &mut bytes)?;
        self.line += u64::from(read > 0);
        let ended = if read < RESPONSE_MAX { Ended::Whole } else { Ended::TooLong };
        Ok((read > 0).then_some(Line { bytes, ended }))
    }

    fn more(&self) -> More {
        let at_hand = self.head.is_some() || !self.reader.buffer().is_empty();
        if at_hand { More::AtHand } else { More::MayTakeTime }
    }

    /// The rest of what `curl -i` wrote, up to the next response. What is too long is read and forgotten.
    fn http(&mut self, first: Vec<u8>) -> io::Result<String> {
        let mut text = first;
        while let Some(line) = self.next()? {
            let head = std::str::from_utf8(&line.bytes).ok().and_then(|line| status_line(line.trim_end()));
            // The head after an interim answer has nothing but an empty line before it.
            if head.is_some() && has_body(&text) {
                self.head = Some(line);
                break;
            }
            if text.len() + line.bytes.len() <= RESPONSE_MAX {
                text.extend(line.bytes);
            }
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// A line that begins with a JSON value: a response, several of them, or the beginning of something longer.
    fn json(
        &mut self,
        text: &[u8],
        ended: Ended,
        take: &mut impl FnMut(u64, Found, More) -> bool,
    ) -> io::Result<bool> {
        let at = self.line;
        if ended == Ended::Whole {
            match serde_json::from_slice::<Value>(text) {
                Ok(value) => {
                    return Ok(spread(value, &mut |value| take(at, Found::Json(value), self.more())));
                }
                Err(error) if error.is_eof() => {}
                Err(error) => return Ok(take(at, Found::Problem(why(&error)), self.more())),
            }
        }
        // The line break, which was trimmed, counts.
        let begun = Cursor::new([text, if ended == Ended::Whole { b"\n" } else { b"" }].concat());
        let (lines, size) = (Cell::new(0), Cell::new(0));
        let reader = Counted { reader: begun.chain(&mut self.reader), lines: &lines, size: &size };
        let mut stopped = false;
        let mut hand_over = |value| {
            size.set(0);
            let goes_on = take(at + lines.get(), Found::Json(value), More::AtHand);
            stopped |= !goes_on;
            goes_on
        };
        let read = Document(&mut hand_over).deserialize(&mut serde_json::Deserializer::from_reader(reader));
        // The rest of the line is read as one.
        self.line = at + lines.get() - 1;
        match read {
            Ok(()) => Ok(!stopped),
            Err(_) if stopped => Ok(false),
            Err(error) if error.is_io() && size.get() <= RESPONSE_MAX => Err(error.into()),
            Err(error) => {
                let line = at + error.line().saturating_sub(1) as u64;
                let text = format!("{} in the JSON value that begins on line {at}", why(&error));
                let goes_on = take(line, Found::Problem(text), self.more());
                self.skip()?;
                Ok(goes_on)
            }
        }
    }

    /// Skips the rest of a line that cannot be read.
    fn skip(&mut self) -> io::Result<()> {
        self.reader.skip_until(b'\n')?;
        self.line += 1;
        Ok(())
    }
}

/// Whether something stands after the last head in `text`.
fn has_body(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let mut rest = text.as_ref();
    while let Some(at) =
        ["\r\n\r\n", "\n\n"].into_iter().filter_map(|end| Some(rest.find(end)? + end.len())).min()
    {
        rest = &rest[at..];
        if !rest.starts_with("HTTP/") {
            return !rest.trim().is_empty();
        }
    }
    false
}

/// What is wrong, without the place, which is told apart, and without a word of the text.
fn why(error: &serde_json::Error) -> String {
    if error.is_io() {
        return format!("a response of more than {RESPONSE_MAX} bytes");
    }
    if error.is_data() {
        // Its own sentence would quote what it found.
        return "the `log` of a HAR file is an object with a list of `entries`".to_owned();
    }
    let text = error.to_string();
    if text.starts_with("recursion limit") {
        return "this JSON is nested more than 127 levels deep".to_owned();
    }
    let text = text.split(" at line ").next().unwrap_or_default();
    let column = if error.column() > 0 { format!(", column {}", error.column()) } else { String::new() };
    format!("this is no JSON{column}: {text}")
}

/// Hands over the responses in a value that is whole: an object, or those in a list or a HAR file.
fn spread(value: Value, take: &mut impl FnMut(Value) -> bool) -> bool {
    match value {
        Value::Array(values) => values.into_iter().all(|value| spread(value, take)),
        Value::Object(mut fields) if fields.get("log").is_some_and(|log| log["entries"].is_array()) => {
            let mut log = fields.remove("log").unwrap_or_default();
            spread(log["entries"].take(), take)
        }
        Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => take(value),
    }
}

/// A reader that counts lines, and ends where one response is too large.
struct Counted<'c, R> {
    reader: Chain<Cursor<Vec<u8>>, R>,
    lines: &'c Cell<u64>,
    size: &'c Cell<usize>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(into)?;
        self.lines.set(self.lines.get() + into[..read].iter().filter(|byte| **byte == b'\n').count() as u64);
        self.size.set(self.size.get() + read);
        if self.size.get() > RESPONSE_MAX { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(read) }
    }
}

/// A JSON value that is too long for memory: an object that is a response, a list of responses, or a HAR file.
struct Document<'t, T>(&'t mut T);
/// The `log` of a HAR file.
struct Log<'t, T>(&'t mut T);
/// A list of responses.
struct List<'t, T>(&'t mut T);

impl<'de, T: FnMut(Value) -> bool> DeserializeSeed<'de> for Document<'_, T> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de, T: FnMut(Value) -> bool> Visitor<'de> for Document<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        List(self.0).visit_seq(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut fields = Map::new();
        let mut is_har = false;
        while let Some(key) = map.next_key::<String>()? {
            if key == "log" {
                is_har = true;
                map.next_value_seed(Log(self.0))?;
            } else {
                fields.insert(key, map.next_value()?);
            }
        }
        if is_har || (self.0)(Value::Object(fields)) { Ok(()) } else { Err(A::Error::custom("stopped")) }
    }
}

impl<'de, T: FnMut(Value) -> bool> DeserializeSeed<'de> for Log<'_, T> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de, T: FnMut(Value) -> bool> Visitor<'de> for Log<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the log of a HAR file")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "entries" {
                map.next_value_seed(List(self.0))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

impl<'de, T: FnMut(Value) -> bool> DeserializeSeed<'de> for List<'_, T> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de, T: FnMut(Value) -> bool> Visitor<'de> for List<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of responses")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(value) = list.next_element()? {
            if !(self.0)(value) {
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}
