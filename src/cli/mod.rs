//! Floor 7: the command line. Results on stdout, the rest on stderr; the exit code is part of the interface.

mod args;
mod check;
mod classify;
mod doctor;
mod exit;
mod guarded;
mod human;
mod list;
mod load;
mod progress;
mod responses;
mod run;
mod schema;
mod terminal;
mod verify;
mod why;

pub use exit::Exit;

use crate::guard::Requirement;
use crate::journal::Folder;
use crate::signals;
use args::{Cli, Command};
use guarded::Guarded;
use std::ffi::OsString;
use std::process::ExitCode;
use terminal::Terminal;

/// The program: reads the command line, does what it says, and answers with an [`Exit`] code.
pub fn main() -> ExitCode {
    main_with(std::env::args_os()).into()
}

/// The program with this command line, its own name first. Once a process: it arms the guard.
pub fn main_with(args: impl IntoIterator<Item = OsString>) -> Exit {
    std::panic::set_hook(Box::new(terminal::report_bug));
    signals::prepare();
    // Reading the command line opens nothing and starts no thread; it says what the guard must be.
    match args::parse(args) {
        Ok(cli) => std::panic::catch_unwind(|| act(cli)).unwrap_or(Exit::Bug),
        Err(error) => terminal::usage(&error),
    }
}

/// Arms the guard, then does what the command line says; the guard has the last word.
fn act(cli: Cli) -> Exit {
    let terminal = Terminal::new(cli.show);
    if let Some(Command::Doctor { format }) = cli.command {
        return doctor::doctor(format, &terminal).unwrap_or_else(|failure| terminal.fail(&failure));
    }
    let mut guarded = match Guarded::arm(requirement(&cli)) {
        Ok(guarded) => guarded,
        Err(failure) => {
            forget(&cli);
            return terminal.fail(&failure);
        }
    };
    let done = match cli.command {
        None => run::run(&cli.run, &mut guarded, &terminal),
        Some(Command::Run(args)) => run::run(&args, &mut guarded, &terminal),
        Some(Command::List { format }) => list::list(format, &terminal),
        Some(Command::Check { files }) => check::check(&files, &terminal),
        Some(Command::Classify(args)) => classify::classify(&args, &terminal),
        Some(Command::Why(args)) => why::why(&args, &terminal),
        Some(Command::Verify { scenarios, seed, guard: _ }) => {
            verify::verify(&scenarios, seed, guarded.requirement(), &terminal)
        }
        Some(Command::Schema { what }) => schema::schema(what, &terminal),
        Some(Command::Doctor { .. }) => Ok(Exit::Held), // carried out above
    };
    let exit = done.unwrap_or_else(|failure| terminal.fail(&failure));
    guarded.last_word(exit, &terminal)
}

/// What a command asks of the guard. One that only reads files asks for as much as there is.
const fn requirement(cli: &Cli) -> Requirement {
    match &cli.command {
        None => cli.run.guard.guard.requirement(),
        Some(Command::Run(args)) => args.guard.guard.requirement(),
        Some(Command::Verify { guard, .. }) => guard.guard.requirement(),
        Some(
            Command::List { .. }
            | Command::Check { .. }
            | Command::Classify(_)
            | Command::Why(_)
            | Command::Schema { .. }
            | Command::Doctor { .. },
        ) => Requirement::BestEffort,
    }
}

/// A run that must not begin leaves no verdict of an earlier one behind either.
fn forget(cli: &Cli) {
    let folder = match &cli.command {
        None => Some(&cli.run.out_dir),
        Some(Command::Run(args)) => Some(&args.out_dir),
        Some(
            Command::List { .. }
            | Command::Check { .. }
            | Command::Classify(_)
            | Command::Why(_)
            | Command::Verify { .. }
            | Command::Schema { .. }
            | Command::Doctor { .. },
        ) => None,
    };
    // If it cannot be opened it is not ours, or another run is at work there.
    drop(folder.map(|folder| Folder::reopen(folder)));
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
