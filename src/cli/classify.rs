//! `faultlab classify`: what responses mean, one line each. Names of rules and fields are printed, never what a header,
//! a body, a cookie or a prompt says.

use super::args::{ClassifyArgs, Print};
use super::exit::Exit;
use super::load::plural;
use super::responses::{Found, More, each};
use super::terminal::{Detail, Paint, Terminal, paint};
use super::{Done, Failure};
use crate::policy::taxonomy::{Resend, Scope};
use crate::wire::{Dialect, Input, Verdict, classify as judge, from_capture, from_http};
use anyhow::{Context, anyhow};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;
use std::fs::File;
use std::io::{Read, stdin};
use std::path::Path;

/// What is printed at once, in bytes.
const BATCH: usize = 1 << 15;

pub(super) fn classify(args: &ClassifyArgs, terminal: &Terminal) -> Done {
    let dialect = dialect(args.dialect.as_deref())?;
    let from_stdin = args.file.as_os_str() == "-";
    let name = if from_stdin { "stdin".to_owned() } else { args.file.display().to_string() };
    let unreadable = |error: std::io::Error| {
        Failure::new(Exit::Invalid, anyhow::Error::new(error).context(format!("cannot read {name}")))
    };
    if from_stdin {
        let mut work = Work::new(args, &dialect, &name, terminal);
        each(stdin().lock(), |line, found, more| work.take(line, found, more)).map_err(unreadable)?;
        return work.finish();
    }
    if args.file.is_dir() {
        return Err(Failure::new(Exit::Invalid, anyhow!("{name} is a folder; name a file in it")));
    }
    let file: Box<dyn Read> = Box::new(File::open(&args.file).map_err(unreadable)?);
    let mut work = Work::new(args, &dialect, &name, terminal);
    each(file, |line, found, more| work.take(line, found, more)).map_err(unreadable)?;
    work.finish()
}

/// The dialect of this name, or the standard one with the words of this file before its own.
fn dialect(wanted: Option<&Path>) -> Result<Dialect, Failure> {
    let Some(path) = wanted else { return Ok(Dialect::standard()) };
    if let Some(named) = path.to_str().and_then(Dialect::named) {
        return Ok(named);
    }
    let name = path.display();
    let invalid = Failure::with::<anyhow::Error>(Exit::Invalid);
    let text = std::fs::read_to_string(path).with_context(|| {
        let names = Dialect::NAMES.join(", ");
        format!("cannot read the dialect {name}; it is a file, or one of {names}")
    });
    let text = text.map_err(&invalid)?;
    Dialect::with_file(&text).map_err(|error| invalid(anyhow!("{name}, {error}")))
}

/// The command at work.
struct Work<'a> {
    args: &'a ClassifyArgs,
    dialect: &'a Dialect,
    /// What the input is called.
    name: &'a str,
    terminal: &'a Terminal,
    /// What is not printed yet.
    text: String,
    /// How many responses there were.
    count: u64,
    problems: usize,
    failed: Option<Failure>,
}

impl<'a> Work<'a> {
    fn new(args: &'a ClassifyArgs, dialect: &'a Dialect, name: &'a str, terminal: &'a Terminal) -> Work<'a> {
        Work { args, dialect, name, terminal, text: String::new(), count: 0, problems: 0, failed: None }
    }

    /// Takes one response; whether there is any sense in going on.
    fn take(&mut self, line: u64, found: Found, more: More) -> bool {
        self.count += 1;
        let read = match found {
            Found::Problem(problem) => Err(problem),
            Found::Http(text) => from_http(&text).map(|input| (Value::from(self.count), input)),
            Found::Json(value) => {
                let id = match value.get("id") {
                    Some(id) if id.is_string() || id.is_number() => id.clone(),
                    Some(_) | None => Value::from(self.count),
                };
                from_capture(value, self.dialect).map(|input| (id, input))
            }
        };
        match read {
            Ok((id, input)) => self.tell(&id, input),
            Err(problem) => self.complain(line, &problem),
        }
        if self.text.len() >= BATCH || more == More::MayTakeTime { self.print() } else { true }
    }

    fn tell(&mut self, id: &Value, mut input: Input) {
        if let Some(provider) = self.args.provider.as_ref().filter(|_| input.provider.is_empty()) {
            input.provider.clone_from(provider);
        }
        let verdict = judge(&input, self.dialect);
        match self.args.format {
            Print::Json => {
                let told =
                    serde_json::to_string(&Told::of(id, &verdict)).expect("texts and numbers are JSON");
                self.text.push_str(&told);
                self.text.push('\n');
            }
            Print::Human => human(&mut self.text, id, &verdict),
        }
    }

    fn complain(&mut self, line: u64, problem: &str) {
        self.problems += 1;
        // Results and complaints in the order of the input, as far as two streams allow.
        self.print();
        self.terminal.note(&format!("error: {}, line {line}: {problem}\n", self.name));
    }

    fn print(&mut self) -> bool {
        let text = std::mem::take(&mut self.text);
        if self.terminal.detail > Detail::Quiet
            && !text.is_empty()
            && let Err(failure) = self.terminal.say(&text)
        {
            self.failed = Some(failure);
        }
        self.failed.is_none()
    }

    fn finish(mut self) -> Done {
        self.print();
        if let Some(failure) = self.failed {
            return Err(failure);
        }
        if self.count == 0 {
            return Err(Failure::new(Exit::Nothing, anyhow!("there is no response in {}", self.name)));
        }
        if self.problems > 0 {
            let (some, of) = (self.problems, self.count);
            self.terminal.note(&format!("{some} problem{} in {of} responses\n", plural(some)));
            return Ok(Exit::Invalid);
        }
        Ok(Exit::Held)
    }
}

/// A verdict, for programs.
#[derive(Serialize)]
struct Told<'v> {
    id: &'v Value,
    class: &'static str,
    family: &'static str,
    retry_after_ms: Option<u64>,
    scope: &'static str,
    health_signal: bool,
    resend: &'static str,
    resets_at: Option<String>,
    rule: &'static str,
    decided_by: Vec<String>,
}

impl<'v> Told<'v> {
    fn of(id: &'v Value, verdict: &Verdict) -> Told<'v> {
        Told {
            id,
            class: verdict.label(),
            family: verdict.family(),
            retry_after_ms: verdict.retry_after_ms,
            scope: verdict.scope.label(),
            health_signal: verdict.health_signal,
            resend: verdict.resend.label(),
            resets_at: verdict.resets_at.map(|at| at.to_string()),
            rule: verdict.rule,
            decided_by: verdict.decided_by.iter().map(ToString::to_string).collect(),
        }
    }
}

/// A verdict, for people: one line.
fn human(text: &mut String, id: &Value, verdict: &Verdict) {
    let id =
        id.as_str().map_or_else(|| id.to_string(), |id| id.chars().filter(|c| !c.is_control()).collect());
    let color = if verdict.class.is_none() { Paint::Good } else { Paint::Bad };
    let label = verdict.label();
    let _ = write!(
        text,
        "{id:<20} {}{:width$}",
        paint(color, label),
        "",
        width = 20_usize.saturating_sub(label.len())
    );
    if verdict.class.is_some() {
        text.push_str(match verdict.resend {
            Resend::Same => " send again",
            Resend::Other => " send elsewhere",
            Resend::None => " do not send again",
        });
        if let Some(ms) = verdict.retry_after_ms {
            let _ = write!(text, " after {}", crate::units::Duration::from_millis(ms));
        }
        if let Some(at) = verdict.resets_at {
            let _ = write!(text, ", anew at {at}");
        }
        text.push_str(match verdict.scope {
            Scope::Request => "; concerns the request alone",
            Scope::Credential => "; concerns the credential",
            Scope::Project => "; concerns the project",
            Scope::Model => "; concerns the model",
            Scope::Provider => "; concerns the provider",
        });
        text.push_str(if verdict.health_signal { ", which is ill" } else { "" });
    }
    let fields: Vec<String> = verdict.decided_by.iter().map(ToString::to_string).collect();
    let by = if fields.is_empty() { String::new() } else { format!(", by {}", fields.join(", ")) };
    let _ = writeln!(text, "{}", paint(Paint::Dim, &format!("  rule {}{by}", verdict.rule)));
}
