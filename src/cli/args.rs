//! The command line.

use super::exit::Exit;
use crate::guard::Requirement;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// What will my LLM gateway policy do on a bad day?
///
/// faultlab plays scenarios (traffic, synthetic upstreams, faults, a policy) on a virtual clock through the real
/// state machines of an LLM gateway, and judges what happened. It opens no socket, reads no credential, never
/// sleeps, and gives the same bytes on every machine for the same seed. Without a command it plays the suite.
#[derive(Parser, Debug)]
#[command(name = "faultlab", version, after_help = Exit::TABLE, max_term_width = 100)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) run: RunArgs,
    #[command(flatten)]
    pub(super) show: ShowArgs,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

/// The last seed that may be the first: so many can follow it.
const SEED_MAX: u64 = u64::MAX / 2;

/// What to play and where to write it.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Run options")]
pub(super) struct RunArgs {
    /// Scenarios to play: names of the suite, or paths of files; `all` is the suite
    #[arg(long = "scenario", value_name = "NAME|FILE", value_delimiter = ',')]
    pub(super) scenarios: Vec<String>,
    /// First seed of every variant; each keeps its number of seeds
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(..=SEED_MAX))]
    pub(super) seed: Option<u64>,
    /// Where to write events.jsonl, summary.json and run.json
    #[arg(long, visible_alias = "output-dir", value_name = "DIR", default_value = "lab-output")]
    pub(super) out_dir: PathBuf,
    /// Which runs to write down entry by entry
    #[arg(long, value_enum, value_name = "LEVEL", default_value = "full")]
    pub(super) events: Events,
    /// What to print on stdout
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    pub(super) format: Format,
    /// Stop after the first scenario that fails
    #[arg(long)]
    pub(super) fail_fast: bool,
    #[command(flatten)]
    pub(super) guard: GuardArgs,
}

/// What is asked of the guard.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct GuardArgs {
    /// What the guard against outbound connections must be
    #[arg(long, value_enum, value_name = "STRENGTH", default_value = "require")]
    pub(super) guard: Wanted,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wanted {
    /// As strong as this kind of system allows, or exit 6
    Require,
    /// As strong as this very system allows
    BestEffort,
    /// No guard: no release pass
    Off,
}

impl Wanted {
    pub(super) const fn requirement(self) -> Requirement {
        match self {
            Wanted::Require => Requirement::Require,
            Wanted::BestEffort => Requirement::BestEffort,
            Wanted::Off => Requirement::Off,
        }
    }
}

/// How to show it.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Output options")]
pub(super) struct ShowArgs {
    /// Print nothing but the verdict and what failed
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Print every check, law and finding
    #[arg(short, long, global = true)]
    pub(super) verbose: bool,
    /// When to use colour; NO_COLOR is honoured
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto", global = true)]
    pub(super) color: Color,
}

#[derive(Subcommand, Debug)]
pub(super) enum Command {
    /// Play scenarios (the default)
    Run(RunArgs),
    /// List the scenarios of the suite, their variants and checks
    List {
        /// What to print
        #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
        format: Format,
    },
    /// Check scenario files without playing them: every problem at once
    Check {
        /// The files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Say what provider responses mean: class, wait, scope, health, resend, and by which rule and fields
    Classify(ClassifyArgs),
    /// Tell the story of one request: what was considered, called, paid, and why
    Why(WhyArgs),
    /// Play the suite three times, in three processes and at two event levels, and compare every byte
    Verify {
        /// Scenarios to play; the suite by default
        #[arg(long = "scenario", value_name = "NAME|FILE", value_delimiter = ',')]
        scenarios: Vec<String>,
        /// First seed of every variant
        #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(..=SEED_MAX))]
        seed: Option<u64>,
        #[command(flatten)]
        guard: GuardArgs,
    },
    /// Print a JSON Schema (2020-12): of what a file may say, or of what a run writes
    Schema {
        /// Of what
        #[arg(value_enum)]
        what: Described,
    },
    /// Examine the guard against outbound connections: how strong it is here, and how that is known
    Doctor {
        /// What to print
        #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
        format: Format,
    },
}

/// Which responses to read, and how.
#[derive(Args, Clone, Debug)]
pub(super) struct ClassifyArgs {
    /// JSON objects (one a line, over several, or in a list), a HAR file, or the output of `curl -i`; `-` is stdin
    #[arg(value_name = "FILE", default_value = "-")]
    pub(super) file: PathBuf,
    /// Words of your own, asked before the standard ones; or standard, as_sent, lenient_sdk, status_only, adr_113
    #[arg(long, value_name = "FILE|NAME")]
    pub(super) dialect: Option<PathBuf>,
    /// Who answered, where a response does not say
    #[arg(long, value_name = "NAME")]
    pub(super) provider: Option<String>,
    /// What to print: a line each, for people or as JSON
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    pub(super) format: Print,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Print {
    /// For people
    Human,
    /// For programs: one JSON object a line
    Json,
}

/// Which request to tell about.
#[derive(Args, Clone, Debug)]
pub(super) struct WhyArgs {
    /// The request's id, as in the scenario or in events.jsonl
    pub(super) request: String,
    /// Where to look for it: the suite by default
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "from")]
    pub(super) scenario: Option<String>,
    /// In which variant; `base` or else the first that has it
    #[arg(long, value_name = "NAME")]
    pub(super) variant: Option<String>,
    /// With which seed; the variant's first by default
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(..=SEED_MAX))]
    pub(super) seed: Option<u64>,
    /// Read a folder that an earlier run has written, instead of playing again
    #[arg(long, value_name = "DIR")]
    pub(super) from: Option<PathBuf>,
    /// The story, or the audit record
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    pub(super) format: Format,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Events {
    /// No run
    None,
    /// Runs in which a check failed
    Failures,
    /// Every run
    Full,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    /// For people
    Human,
    /// For programs: one JSON document
    Json,
    /// Nothing; the exit code says it
    Quiet,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Described {
    /// A scenario file
    Scenario,
    /// The table `[policy]` of one
    Policy,
    /// A line of events.jsonl
    Event,
    /// summary.json
    Summary,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Color {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Reads the command line. A run flag before another command would be dropped without a word: it is an error.
pub(super) fn parse(args: impl IntoIterator<Item = std::ffi::OsString>) -> Result<Cli, clap::Error> {
    let args: Vec<std::ffi::OsString> = args.into_iter().collect();
    let matches = Cli::command().try_get_matches_from(&args).map_err(|error| with_hint(error, &args))?;
    if let Some((name, _)) = matches.subcommand() {
        reject_run_flags(&matches, name)?;
    }
    Cli::from_arg_matches(&matches)
}

/// `--scenario A B` names a second scenario where none can stand: says how to.
fn with_hint(mut error: clap::Error, args: &[std::ffi::OsString]) -> clap::Error {
    let is_stray = matches!(error.kind(), ErrorKind::InvalidSubcommand | ErrorKind::UnknownArgument);
    let stray = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg].map(|kind| error.get(kind));
    let is_word = stray.iter().flatten().any(|value| !value.to_string().starts_with('-'));
    if is_stray && is_word && args.iter().any(|arg| arg == "--scenario") {
        let hint = "several scenarios are written with commas: --scenario A,B".to_owned();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
    }
    error
}

fn reject_run_flags(matches: &ArgMatches, command: &str) -> Result<(), clap::Error> {
    let typed = |id: &&&str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let flags = ["scenarios", "seed", "out_dir", "events", "format", "fail_fast", "guard"];
    let Some(flag) = flags.iter().find(typed) else { return Ok(()) };
    let flag = if *flag == "scenarios" { "scenario".to_owned() } else { flag.replace('_', "-") };
    let root = Cli::command();
    let is_taken = root
        .find_subcommand(command)
        .is_some_and(|known| known.get_arguments().any(|arg| arg.get_long() == Some(&flag)));
    let message = if is_taken {
        format!("--{flag} stands before `{command}` and would have no effect: put it after `{command}`")
    } else {
        format!("--{flag} stands before `{command}`, which has no such flag")
    };
    Err(Cli::command().error(ErrorKind::ArgumentConflict, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Cli, ErrorKind> {
        parse(line.split_whitespace().map(Into::into)).map_err(|error| error.kind())
    }

    #[test]
    fn run_flags_work_with_and_without_the_word_run() {
        let bare = parsed("faultlab --scenario a,b --scenario c --seed 7").unwrap();
        assert_eq!((bare.run.scenarios, bare.run.seed), (vec!["a".into(), "b".into(), "c".into()], Some(7)));
        let Some(Command::Run(run)) = parsed("faultlab run --output-dir x").unwrap().command else {
            panic!()
        };
        assert_eq!(run.out_dir, PathBuf::from("x"));
    }

    #[test]
    fn a_run_flag_before_another_command_is_an_error() {
        assert_eq!(parsed("faultlab --seed 7 list").unwrap_err(), ErrorKind::ArgumentConflict);
        assert_eq!(
            parsed("faultlab --scenario x run --scenario y").unwrap_err(),
            ErrorKind::ArgumentConflict
        );
        assert!(parsed("faultlab -q list").is_ok());
    }

    fn told(line: &str) -> String {
        parse(line.split_whitespace().map(Into::into)).map_err(|error| error.to_string()).unwrap_err()
    }

    #[test]
    fn a_flag_is_sent_after_a_command_that_takes_it_only() {
        assert!(told("faultlab --seed 7 verify").contains("put it after `verify`"));
        assert!(told("faultlab --scenario x why y").contains("put it after `why`"));
        assert!(told("faultlab --output-dir x run").contains("put it after `run`"));
        for line in ["--out-dir x check y", "--seed 7 list", "--scenario x list", "--fail-fast verify"] {
            let told = told(&format!("faultlab {line}"));
            assert!(told.contains("has no such flag") && !told.contains("put it"), "{told}");
        }
    }

    #[test]
    fn what_is_typed_wrong_is_told_with_a_way_out() {
        let hint = "--scenario A,B";
        assert!(told("faultlab --scenario routing circuit").contains(hint));
        assert!(told("faultlab run --scenario routing circuit").contains(hint));
        assert!(!told("faultlab --scenario routing --fail-fats").contains(hint));
        assert!(told("faultlab --seed -1").contains("invalid value '-1' for '--seed <N>'"));
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
