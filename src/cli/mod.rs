//! Floor 7: the command line. Results on stdout, the rest on stderr; the exit code is part of the interface.

mod args;
mod check;
mod classify;
mod exit;
mod human;
mod list;
mod load;
mod responses;
mod run;
mod terminal;
mod verify;
mod why;

pub use exit::Exit;

use args::{Cli, Command};
use std::process::ExitCode;
use terminal::Terminal;

/// The program: reads the command line, does what it says, and answers with an [`Exit`] code.
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(terminal::report_bug));
    std::panic::catch_unwind(|| match args::parse(std::env::args_os()) {
        Ok(cli) => act(cli),
        Err(error) => terminal::usage(&error),
    })
    .unwrap_or(Exit::Bug)
    .into()
}

fn act(cli: Cli) -> Exit {
    let terminal = Terminal::new(cli.show);
    let done = match cli.command {
        None => run::run(&cli.run, &terminal),
        Some(Command::Run(args)) => run::run(&args, &terminal),
        Some(Command::List { format }) => list::list(format, &terminal),
        Some(Command::Check { files }) => check::check(&files, &terminal),
        Some(Command::Classify(args)) => classify::classify(&args, &terminal),
        Some(Command::Why(args)) => why::why(&args, &terminal),
        Some(Command::Verify { scenarios, seed }) => verify::verify(&scenarios, seed, &terminal),
    };
    done.unwrap_or_else(|failure| terminal.fail(&failure))
}

/// Why a command could not be carried out.
#[derive(Debug)]
struct Failure {
    exit: Exit,
    error: anyhow::Error,
}

impl Failure {
    fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Failure {
        Failure { exit, error: error.into() }
    }

    /// Attaches an exit code to an error.
    fn with<E: Into<anyhow::Error>>(exit: Exit) -> impl Fn(E) -> Failure {
        move |error| Failure::new(exit, error)
    }
}

/// What a command ends with.
type Done = Result<Exit, Failure>;
