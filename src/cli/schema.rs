//! `faultlab schema`: what files look like, for editors and for programs that read them.

use super::Done;
use super::args::Described;
use super::exit::Exit;
use super::terminal::Terminal;
use crate::guard::Strength;
use crate::journal::schema::{event_schema, summary_schema};
use crate::scenario::{policy_schema, scenario_schema};

pub(super) fn schema(what: Described, terminal: &Terminal) -> Done {
    let schema = match what {
        Described::Scenario => scenario_schema(),
        Described::Policy => policy_schema(),
        Described::Event => event_schema(),
        Described::Summary => summary_schema(&Strength::ALL.map(Strength::label)),
    };
    terminal.say(&format!("{schema:#}\n"))?;
    Ok(Exit::Held)
}
