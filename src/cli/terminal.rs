//! Where words go, and in what colours.

use super::Failure;
use super::args::{Color, ShowArgs};
use super::exit::Exit;
use anstream::{AutoStream, ColorChoice};
use std::io::{ErrorKind, Write};

/// The two streams, and how much to say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terminal {
    color: ColorChoice,
    pub(super) detail: Detail,
}

/// How much to say.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Detail {
    /// The verdict, and whatever failed.
    Quiet,
    /// A line a scenario, and whatever failed.
    Normal,
    /// Every check, law and finding.
    Verbose,
}

/// Colours of words.
#[derive(Clone, Copy, Debug)]
pub(super) enum Paint {
    Good,
    Bad,
    Dim,
}

impl Terminal {
    pub(super) fn new(show: ShowArgs) -> Terminal {
        let color = match show.color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        let detail = match (show.quiet, show.verbose) {
            (true, _) => Detail::Quiet,
            (false, false) => Detail::Normal,
            (false, true) => Detail::Verbose,
        };
        Terminal { color, detail }
    }

    /// Writes a result to stdout.
    pub(super) fn say(&self, text: &str) -> Result<(), Failure> {
        let mut out = AutoStream::new(std::io::stdout().lock(), self.color);
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            // A reader who has seen enough is no error: the files and the exit code stand.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            Err(error) => {
                Err(Failure::new(Exit::Output, anyhow::Error::new(error).context("cannot write to stdout")))
            }
            Ok(()) => Ok(()),
        }
    }

    /// Says something that is not a result to stderr.
    pub(super) fn note(&self, text: &str) {
        let mut out = AutoStream::new(std::io::stderr().lock(), self.color);
        // Nobody is left to be told that stderr is closed.
        drop(out.write_all(text.as_bytes()));
    }

    /// Says why a command could not be carried out.
    pub(super) fn fail(&self, failure: &Failure) -> Exit {
        let text = format!("{:#}", failure.error);
        let text = if text.starts_with("error") || text.contains("\u{1b}[") {
            text
        } else {
            format!("error: {text}")
        };
        self.note(&format!("{}\n", text.trim_end()));
        failure.exit
    }
}

/// A text in a colour; where colours are not wanted they are stripped on the way out.
pub(super) fn paint(paint: Paint, text: &str) -> String {
    let code = match paint {
        Paint::Good => "32;1",
        Paint::Bad => "31;1",
        Paint::Dim => "2",
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

/// What clap has to say: help and version are results, the rest is a usage error.
pub(super) fn usage(error: &clap::Error) -> Exit {
    let printed = error.print().and_then(|()| std::io::stdout().flush());
    match printed {
        _ if error.use_stderr() => Exit::Usage,
        // A reader who has seen enough is no error.
        Err(problem) if problem.kind() != ErrorKind::BrokenPipe => Exit::Output,
        Ok(()) | Err(_) => Exit::Held,
    }
}

/// A panic is a bug of ours, never of the user.
pub(super) fn report_bug(info: &std::panic::PanicHookInfo<'_>) {
    let place = info.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
    let what = info.payload();
    let what = what.downcast_ref::<&str>().copied().or(what.downcast_ref::<String>().map(String::as_str));
    let what = what.unwrap_or("no message");
    let text = format!(
        "error: this is a bug in faultlab{place}: {what}\nPlease report it with the scenario and the seed.\n"
    );
    // Nobody is left to be told that stderr is closed.
    drop(std::io::stderr().write_all(text.as_bytes()));
}
