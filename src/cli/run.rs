//! `faultlab` and `faultlab run`: play, judge, write down, say the verdict.

use super::args::{Events as Wanted, Format, RunArgs};
use super::exit::Exit;
use super::guarded::{Guarded, Record};
use super::progress::Progress;
use super::terminal::Terminal;
use super::{Done, Failure, human, load};
use crate::guard::{Report, Requirement};
use crate::journal::{Acceptance, Events, Folder, JournalError, Level, Scope, Summary};
use crate::scenario::Scenario;
use crate::suite::{Options, Played, attest, play, summarise};
use anyhow::anyhow;
use serde::Serialize;

pub(super) fn run(args: &RunArgs, guarded: &mut Guarded, terminal: &Terminal) -> Done {
    let output = Failure::with::<JournalError>(Exit::Output);
    // Before anything can go wrong: whatever does, no verdict of an earlier run is left.
    let known = Folder::reopen(&args.out_dir).map_err(&output)?;
    let (scenarios, whole) = load::scenarios(&args.scenarios, terminal)?;
    let is_release = whole && args.seed.is_none() && guarded.is_sufficient();
    let scope = if is_release { Scope::Suite } else { Scope::Partial };
    let folder = match known {
        Some(folder) => folder,
        None => Folder::open(&args.out_dir).map_err(&output)?,
    };
    let options = Options { first_seed: args.seed, level: level(args.events) };
    let mut events = match options.level {
        Level::None => None,
        Level::Failures | Level::Full => Some(Events::begin(&folder).map_err(&output)?),
    };
    let mut played: Vec<(Scenario, Played)> = Vec::new();
    let wanted = scenarios.len();
    let progress = Progress::new(wanted);
    for scenario in scenarios {
        progress.begins(&scenario.name);
        let one = play(&scenario, options, events.as_mut());
        let failed = !one.verdict.is_pass();
        let text = human::scenario(&scenario, &one, terminal.detail);
        progress.ends(|| if args.format == Format::Human { terminal.say(&text) } else { Ok(()) })?;
        played.push((scenario, one));
        if failed && args.fail_fast {
            break;
        }
    }
    drop(progress);
    if let Some(events) = events {
        events.finish().map_err(&output)?;
    }
    let requirement = guarded.requirement();
    let report = guarded.report();
    let mut summary = attest(summarise(&played, scope), report);
    summary.complete = played.len() == wanted;
    let exit = verdict(&summary.acceptance, &played, report, requirement);
    let machine = Machine::new(args, exit, Record::new(requirement, report));
    folder.write(crate::journal::folder::RUN, &machine.to_json()).map_err(&output)?;
    summary.write(&folder).map_err(&output)?;
    tell(&summary, exit, args, terminal)?;
    Ok(exit)
}

/// The one verdict: the exit code of what was played.
fn verdict(
    acceptance: &Acceptance,
    played: &[(Scenario, Played)],
    report: &Report,
    requirement: Requirement,
) -> Exit {
    if report.caught() {
        Exit::Caught
    } else if report.strength < requirement.least() {
        Exit::Unguarded
    } else if played.is_empty() || played.iter().any(|(_, one)| !one.verdict.has_promises()) {
        Exit::Nothing
    } else if acceptance.failed > 0 || acceptance.total == 0 {
        Exit::Failed
    } else {
        Exit::Held
    }
}

fn tell(summary: &Summary, exit: Exit, args: &RunArgs, terminal: &Terminal) -> Result<(), Failure> {
    match args.format {
        Format::Human => terminal.say(&human::verdict(summary, exit, &args.out_dir)),
        Format::Json => {
            let text = String::from_utf8(summary.to_json())
                .map_err(|error| Failure::new(Exit::Bug, anyhow!("a summary is a text: {error}")))?;
            terminal.say(&text)
        }
        Format::Quiet => Ok(()),
    }
}

const fn level(events: Wanted) -> Level {
    match events {
        Wanted::None => Level::None,
        Wanted::Failures => Level::Failures,
        Wanted::Full => Level::Full,
    }
}

/// `run.json`: what differs between machines and calls. Never compared.
#[derive(Serialize)]
struct Machine<'r> {
    faultlab: &'static str,
    os: &'static str,
    arch: &'static str,
    threads: usize,
    scenarios: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_seed: Option<u64>,
    events: &'static str,
    exit: u8,
    guard: Record<'r>,
}

impl<'r> Machine<'r> {
    fn new(args: &RunArgs, exit: Exit, guard: Record<'r>) -> Machine<'r> {
        Machine {
            faultlab: env!("CARGO_PKG_VERSION"),
            os: std::env::consts::OS,
            arch: std::env::consts::ARCH,
            threads: rayon::current_num_threads(),
            scenarios: args.scenarios.clone(),
            first_seed: args.seed,
            events: level(args.events).label(),
            exit: exit as u8,
            guard,
        }
    }

    fn to_json(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("texts and numbers are JSON");
        bytes.push(b'\n');
        bytes
    }
}
