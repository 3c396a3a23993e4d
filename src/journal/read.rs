//! Reads `events.jsonl` back, line by line. Whatever is wrong with a file is told with its line.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::error::JournalError;
use crate::trace::{CANDIDATE, COMMON, FORMAT, Field, Kind, Reading, Unit, Value, Values};
use crate::units::Timestamp;

/// One line of the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Line {
    /// A run begins.
    Header(Played),
    /// An entry of it.
    Entry(Reading),
}

/// What was played.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Played {
    /// The version of `faultlab` that wrote it.
    pub faultlab: String,
    /// The scenario.
    pub scenario: String,
    /// Its variant.
    pub variant: String,
    /// The key of all draws.
    pub seed: u64,
    /// A digest of the scenario's text.
    pub scenario_digest: String,
    /// A digest of the policy.
    pub policy_digest: String,
}

/// Reads a file of events, a line at a time.
#[derive(Debug)]
pub struct Reader {
    file: BufReader<File>,
    path: PathBuf,
    line: usize,
    text: String,
}

impl Reader {
    /// Opens a file.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn open(path: &Path) -> Result<Reader, JournalError> {
        let file = File::open(path).map_err(JournalError::system("read", path))?;
        Ok(Reader { file: BufReader::new(file), path: path.to_owned(), line: 0, text: String::new() })
    }

    fn step(&mut self) -> Result<Option<Line>, JournalError> {
        self.text.clear();
        self.line += 1;
        let (line, path) = (self.line, &self.path);
        let unreadable = |why| JournalError::Unreadable { path: path.clone(), line, why };
        match self.file.read_line(&mut self.text) {
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                return Err(unreadable("it is not UTF-8".to_owned()));
            }
            Err(error) => return Err(JournalError::system("read", path)(error)),
            Ok(0) if line == 1 => return Err(unreadable("the file is empty".to_owned())),
            Ok(0) => return Ok(None),
            Ok(_) => {}
        }
        if !self.text.ends_with('\n') {
            return Err(unreadable(
                "it is cut off: the run was interrupted, or the file is not whole".to_owned(),
            ));
        }
        let read = parse(&self.text).map_err(unreadable)?;
        match read {
            Line::Entry(_) if line == 1 => Err(unreadable("it should be the header of a run".to_owned())),
            Line::Entry(_) | Line::Header(_) => Ok(Some(read)),
        }
    }
}

impl Iterator for Reader {
    type Item = Result<Line, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step().transpose()
    }
}

fn parse(text: &str) -> Result<Line, String> {
    let object: Object = serde_json::from_str(text).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => format!("it is no event of faultlab: {error}"),
        serde_json::error::Category::Syntax | serde_json::error::Category::Eof => {
            format!("it is not a JSON object: {error}")
        }
        serde_json::error::Category::Io => error.to_string(),
    })?;
    if object.0.first().is_some_and(|pair| pair.0 == "format") { header(&object) } else { entry(&object) }
}

fn header(object: &Object) -> Result<Line, String> {
    let format = object.number("format")?;
    if format != u64::from(FORMAT) {
        return Err(format!("it is of format {format}; this faultlab reads format {FORMAT}"));
    }
    let text = |key| object.text(key).map(str::to_owned);
    Ok(Line::Header(Played {
        faultlab: text("faultlab")?,
        scenario: text("scenario")?,
        variant: text("variant")?,
        seed: object.number("seed")?,
        scenario_digest: text("scenario_digest")?,
        policy_digest: text("policy_digest")?,
    }))
}

/// The keys that every entry has before its fields.
const ENVELOPE: [&str; 6] = ["seq", "t_ns", "cause", "scenario", "variant", "event"];

fn entry(object: &Object) -> Result<Line, String> {
    let event = object.text("event")?;
    let kind = Kind::named(event).ok_or_else(|| format!("there is no event `{event}`"))?;
    let cause = match object.get("cause") {
        None => None,
        Some(_) => Some(object.number("cause")?),
    };
    let mut reading = Reading {
        seq: object.number("seq")?,
        at: Timestamp::from_nanos(object.number("t_ns")?),
        cause,
        kind,
        values: Values::default(),
        candidates: Vec::new(),
    };
    for (key, json) in object.0.iter().filter(|pair| !ENVELOPE.contains(&pair.0.as_str())) {
        match json {
            Json::List(list) if key == Field::Candidates.label() && kind == Kind::Considered => {
                for candidate in list {
                    let pairs = candidate.0.iter().map(|(key, json)| value(CANDIDATE, event, key, json));
                    reading.candidates.push(Values(pairs.collect::<Result<_, _>>()?));
                }
            }
            Json::List(_) | Json::Text(_) | Json::Number(_) => {
                let own = value(kind.fields(), event, key, json);
                reading.values.0.push(value(COMMON, event, key, json).or(own)?);
            }
        }
    }
    Ok(Line::Entry(reading))
}

fn value(known: &[Field], event: &str, key: &str, json: &Json) -> Result<(Field, Value), String> {
    let field = Field::named(key).filter(|field| known.contains(field));
    let field = field.ok_or_else(|| format!("`{event}` has no field `{key}`"))?;
    let value = match (json, field.unit()) {
        (Json::Text(text), Unit::Word | Unit::Words | Unit::Money) => field.parse(text),
        (Json::Number(n), Unit::Count | Unit::Time | Unit::Span) => Some(Value::Number(*n)),
        (Json::Text(_), Unit::Count | Unit::Time | Unit::Span | Unit::List)
        | (Json::Number(_), Unit::Word | Unit::Words | Unit::Money | Unit::List)
        | (Json::List(_), _) => None,
    };
    Ok((field, value.ok_or_else(|| format!("`{key}` must be {}", field.unit().example()))?))
}

/// A JSON object with its keys in the order of the file. There is no null, no float, no truth value in it.
#[derive(Debug)]
struct Object(Vec<(String, Json)>);

#[derive(Debug)]
enum Json {
    Text(String),
    Number(u64),
    List(Vec<Object>),
}

impl Object {
    fn get(&self, key: &str) -> Option<&Json> {
        self.0.iter().find(|pair| pair.0 == key).map(|pair| &pair.1)
    }

    fn text(&self, key: &str) -> Result<&str, String> {
        match self.get(key) {
            Some(Json::Text(text)) => Ok(text),
            Some(Json::Number(_) | Json::List(_)) => Err(format!("`{key}` must be a text")),
            None => Err(format!("it is no event of faultlab: `{key}` is missing")),
        }
    }

    fn number(&self, key: &str) -> Result<u64, String> {
        match self.get(key) {
            Some(Json::Number(n)) => Ok(*n),
            Some(Json::Text(_) | Json::List(_)) => Err(format!("`{key}` must be a whole number")),
            None => Err(format!("it is no event of faultlab: `{key}` is missing")),
        }
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Object(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Json;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, a whole number or a list of objects")
            }

            fn visit_str<E>(self, text: &str) -> Result<Json, E> {
                Ok(Json::Text(text.to_owned()))
            }

            fn visit_u64<E>(self, n: u64) -> Result<Json, E> {
                Ok(Json::Number(n))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
                let mut list = Vec::new();
                while let Some(object) = seq.next_element()? {
                    list.push(object);
                }
                Ok(Json::List(list))
            }
        }
        deserializer.deserialize_any(Any)
    }
}
