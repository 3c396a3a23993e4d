//! What is handed to the classifier: one failure (or answer) as it came over the wire.

use crate::units::Duration;
use jiff::Timestamp;
use serde_json::{Map, Value};

/// One response, stream frame, broken connection, exception or stop of our own.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Input {
    /// Who answered, as far as is known: `openai`, `azure`, `any`.
    pub provider: String,
    /// What came.
    pub kind: Kind,
    /// The HTTP status; `None` if there was none.
    pub status: Option<u16>,
    /// Header fields; their names in any case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Body,
    /// How far a stream had come.
    pub stream: Option<Stream>,
    /// What broke a connection.
    pub transport: Option<Transport>,
    /// When it came, if it is known.
    pub now: Option<Timestamp>,
}

/// What came.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kind {
    /// A response with a status.
    #[default]
    Http,
    /// A frame of an open stream.
    StreamEvent,
    /// The end of a stream.
    StreamEnd,
    /// A connection that broke or never was.
    Transport,
    /// An exception of a client library, with its chain of causes.
    SdkException,
    /// A stop of the gateway's own: a fuse, a budget, an open breaker.
    LocalStop,
}

/// The body of a response.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Body {
    /// There is none.
    #[default]
    Absent,
    /// As it came.
    Text(String),
    /// Read as JSON already.
    Json(Value),
}

/// How far a stream had come.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stream {
    /// The frame in question: text, or read as JSON already.
    pub event: Body,
    /// What had come before it, in words.
    pub prior: String,
    /// Bytes of output that the caller has seen.
    pub output_bytes: u64,
    /// How the stream ended, in words.
    pub ended: String,
}

/// What broke a connection.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Transport {
    /// The code of the system or the library: `ECONNRESET`.
    pub code: String,
    /// Its message.
    pub message: String,
    /// Who ended it, if it was one of us: `hedge_loser`, `first_token_deadline`.
    pub origin: String,
}

/// How far the answer had come, which decides whether sending again is safe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Nothing had come.
    BeforeHeaders,
    /// A status of success and no visible output: sending again is safe.
    NoOutput,
    /// The caller has seen output: never again.
    AfterOutput,
}

impl Input {
    /// Reads the form of the test vectors; unknown fields are ignored, missing or ill-typed ones are absent.
    /// Takes the value apart rather than copying it.
    pub fn from_json(value: Value) -> Input {
        let Value::Object(mut fields) = value else { return Input::default() };
        let status = fields.get("status").and_then(Value::as_u64);
        Input {
            provider: text(&mut fields, "provider"),
            kind: Kind::named(&text(&mut fields, "kind")),
            status: status.and_then(|status| u16::try_from(status).ok()),
            headers: fields.remove("headers").map(headers).unwrap_or_default(),
            body: Body::of(fields.remove("body").unwrap_or_default()),
            stream: fields.remove("stream").and_then(Stream::of),
            transport: fields.remove("transport").and_then(Transport::of),
            now: text(&mut fields, "now").parse().ok(),
        }
    }

    /// How far the answer had come.
    pub fn phase(&self) -> Phase {
        match (&self.stream, self.status) {
            (Some(stream), _) if stream.output_bytes > 0 => Phase::AfterOutput,
            (Some(_), _) | (None, Some(200..=299)) => Phase::NoOutput,
            (None, _) => Phase::BeforeHeaders,
        }
    }

    /// The same response, asking to stay away for `wait`, to the millisecond.
    pub fn asking_for(&self, wait: Duration) -> Input {
        const NAMES: [&str; 2] = ["retry-after", "retry-after-ms"];
        let mut asking = self.clone();
        asking.headers.retain(|(name, _)| !NAMES.iter().any(|one| name.eq_ignore_ascii_case(one)));
        let millis = wait.nanos().div_ceil(1_000_000);
        let (name, number) =
            if millis.is_multiple_of(1000) { (NAMES[0], millis / 1000) } else { (NAMES[1], millis) };
        asking.headers.push((name.to_owned(), number.to_string()));
        asking
    }

    /// The value of the header `name` (in lower case).
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

impl Kind {
    /// Every kind with its word.
    pub(super) const WORDS: [(&'static str, Kind); 6] = [
        ("http", Kind::Http),
        ("stream_event", Kind::StreamEvent),
        ("stream_end", Kind::StreamEnd),
        ("transport", Kind::Transport),
        ("sdk_exception", Kind::SdkException),
        ("local_stop", Kind::LocalStop),
    ];

    fn named(word: &str) -> Kind {
        Kind::WORDS.iter().find(|(known, _)| *known == word).map_or(Kind::Http, |(_, kind)| *kind)
    }
}

impl Body {
    fn of(value: Value) -> Body {
        match value {
            Value::Null => Body::Absent,
            Value::String(text) => Body::Text(text),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Body::Json(value),
        }
    }
}

impl Stream {
    fn of(value: Value) -> Option<Stream> {
        let Value::Object(mut fields) = value else { return None };
        let event = Body::of(fields.remove("event").unwrap_or_default());
        let output_bytes = fields.get("output_bytes").and_then(Value::as_u64).unwrap_or(0);
        Some(Stream {
            event,
            prior: text(&mut fields, "prior"),
            output_bytes,
            ended: text(&mut fields, "ended"),
        })
    }
}

impl Transport {
    fn of(value: Value) -> Option<Transport> {
        let Value::Object(mut fields) = value else { return None };
        let mut field = |name| text(&mut fields, name);
        Some(Transport { code: field("code"), message: field("message"), origin: field("origin") })
    }
}

fn text(fields: &mut Map<String, Value>, name: &str) -> String {
    match fields.remove(name) {
        Some(Value::String(text)) => text,
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) | None => {
            String::new()
        }
    }
}

/// Header fields from a JSON object; a list of values is one value, joined as HTTP joins them.
pub(super) fn headers(value: Value) -> Vec<(String, String)> {
    let Value::Object(fields) = value else { return Vec::new() };
    let one = |value: Value| match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(values) => Some(values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")),
        Value::Null | Value::Bool(_) | Value::Object(_) => None,
    };
    fields.into_iter().take(128).filter_map(|(name, value)| Some((name, one(value)?))).collect()
}
