//! Floor 6, the rim towards scenario files: the only code that knows TOML. A file becomes a [`Scenario`], or
//! [`Problems`]: everything that is wrong with it at once.

mod approvals;
mod bounds;
mod breaker;
mod civil;
mod expectations;
mod faults;
mod findings;
mod flow;
mod form;
mod jobs;
mod latency;
mod layers;
mod lower;
mod operator;
mod parties;
mod patterns;
mod policy;
mod problems;
mod profiles;
mod quantity;
mod quotas;
mod retry;
mod routes;
mod schema;
mod secrets;
mod stops;
mod texts;
mod traffic;
mod tree;
mod upstreams;
mod variants;
mod vocabulary;

pub use findings::{Knob, Shape, Unstated, Wrong};
pub use problems::{Problem, Problems, Span, did_you_mean};
pub use schema::{policy_schema, scenario_schema};

use crate::judge::{Expectation, Law};
use crate::sim::Setup;
use crate::units::names::hash;
use findings::{Findings, about};
use form::Form;
use std::ops::RangeInclusive;
use tree::Table;

/// A scenario, ready to be played.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name: that of its file.
    pub name: String,
    /// What it shows, in one line.
    pub title: String,
    /// Where it is from.
    pub source: Option<String>,
    /// A number that depends on every byte of the file.
    pub digest: u64,
    /// Its variants, `base` first.
    pub variants: Vec<Variant>,
    /// What it promises.
    pub expectations: Vec<Expectation>,
}

/// One variant of a scenario.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// What it shows, in one line.
    pub title: Option<String>,
    /// The seeds that it is played with.
    pub seeds: RangeInclusive<u64>,
    /// The laws that it must break in at least one run; it may break no other.
    pub breaks: Vec<Law>,
    /// How its policy reads responses, as the file says it; empty is the standard dialect. The failures in the setup
    /// have been read in it already.
    pub dialect: String,
    setup: Setup,
}

impl Variant {
    /// The run with this seed.
    pub fn setup_for(&self, seed: u64) -> Setup {
        Setup { seed, ..self.setup.clone() }
    }

    /// The run with whatever seed: what is declared is the same for all of them.
    pub const fn setup(&self) -> &Setup {
        &self.setup
    }
}

/// The largest file that is read, in bytes.
pub const FILE_MAX: usize = 1 << 20;

/// Reads a scenario. `path` is what the file is called in problems; the scenario's name is its last part
/// without `.toml`.
///
/// # Errors
/// Everything that is wrong with the file, in file order.
pub fn load_bytes(path: &str, bytes: &[u8]) -> Result<Scenario, Problems> {
    if bytes.len() > FILE_MAX {
        return Err(too_large(path, bytes.len()));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => load(path, text),
        Err(error) => {
            let at = error.valid_up_to();
            let problem = Problem::at(&(at..at + 1), "this is not UTF-8")
                .help("a scenario is a text file; was it saved with another encoding?".to_owned());
            Err(Problems::new(path, &String::from_utf8_lossy(bytes), vec![problem]))
        }
    }
}

/// Reads a scenario that is text already.
///
/// # Errors
/// Everything that is wrong with the file, in file order.
pub fn load(path: &str, text: &str) -> Result<Scenario, Problems> {
    if text.len() > FILE_MAX {
        return Err(too_large(path, text.len()));
    }
    let keys = secrets::problems(text);
    if !keys.is_empty() {
        return Err(Problems::new(path, text, keys));
    }
    let table = tree::parse(text).map_err(|list| Problems::new(path, text, list))?;
    if table.entries.is_empty() {
        let what = if text.trim().is_empty() { "the file is empty" } else { "the file has only comments" };
        let problem = Problem::of_file(what).help("a scenario begins with `format = 1`".to_owned());
        return Err(Problems::new(path, text, vec![problem]));
    }
    let mut out = Findings::reading();
    out.problems.extend(texts::unfit_name(&name_of(path)));
    let scenario = scenario(path, text, &table, &mut out);
    if out.problems.is_empty() { Ok(scenario) } else { Err(Problems::new(path, text, out.problems)) }
}

/// Every knob of a scenario file, for the documentation. A time that is drawn can stand in several places; it
/// is described once, as the table [`DRAWN_TIME`].
pub fn knobs() -> Vec<Knob> {
    Findings::describe(|f| {
        header(f);
        lower::whole(f, &mut lower::World::default());
        f.each("variant", variants::variant);
        f.each("expect", |f| expectations::expectation(f, &[]));
        f.describe_table(DRAWN_TIME, latency::drawn);
    })
}

/// Where [`knobs`] describes a time that is drawn.
pub const DRAWN_TIME: &str = "<drawn time>";

fn too_large(path: &str, bytes: usize) -> Problems {
    let problem = Problem::of_file(format!("the file is too large: {bytes} bytes, and {FILE_MAX} are read"));
    Problems::new(path, "", vec![problem])
}

/// What a file says about itself.
struct Header {
    title: String,
    source: Option<String>,
    seeds: RangeInclusive<u64>,
    base: Base,
}

/// Whether the file without overrides is a variant of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    Played,
    NotPlayed,
}

/// The keys of a file that are not part of its world.
const OWN_KEYS: [&str; 7] = ["format", "title", "source", "seeds", "base", "variant", "expect"];

fn scenario(path: &str, text: &str, table: &Table, out: &mut Findings) -> Scenario {
    let (header, headings) = out.read(table, |f| {
        let header = header(f);
        let headings = f.each("variant", variants::variant);
        if header.base == Base::NotPlayed && !f.lists("variant") {
            let help = Some("declare a `[[variant]]`, or state `base = true`".to_owned());
            f.problem(&f.span_of("base"), "nothing would be played: neither `base` nor a variant", help);
        }
        f.node("expect");
        f.rest();
        (header, headings)
    });
    let world = table.without(&OWN_KEYS);
    let variants = variants::variants(&world, &header, headings, out);
    let promised = out.read(&table.only("expect"), |f| {
        let mut names = Vec::new();
        f.each("expect", |f| {
            let span = f.span_of("name");
            let promised = expectations::expectation(f, &variants)?;
            if names.contains(&promised.name) {
                f.problem(&span, format!("the name `{}` is taken", promised.name), None);
            }
            names.push(promised.name.clone());
            Some(promised)
        })
    });
    Scenario {
        name: name_of(path),
        title: header.title,
        source: header.source,
        digest: hash(text),
        variants,
        expectations: promised.into_iter().flatten().collect(),
    }
}

fn header(f: &mut Form<'_, '_>) -> Header {
    let format = f.required(about("format", "The version of the file format: 1."), &quantity::FORMAT);
    if let Some(format) = format.filter(|format| *format != 1) {
        let help = Some("this version reads `format = 1`".to_owned());
        f.problem(&f.span_of("format"), format!("format {format} is not known"), help);
    }
    let title = f.required_text(about("title", "What the scenario shows, in one line."));
    let source = f.text(about("source", "Where it is from."));
    let seeds = f.value(
        about("seeds", "The seeds that it is played with, both ends included."),
        &quantity::SEEDS,
        "1",
    );
    let doc = "Whether the file without overrides is a variant of its own, `base`.";
    let base = f.switch(about("base", doc), Base::Played, Base::NotPlayed, "true");
    Header {
        title: title.map_or(String::new(), |word| word.text),
        source: source.map(|word| word.text),
        seeds,
        base,
    }
}

/// `scenarios/bounded-429.toml` is called `bounded-429`.
fn name_of(path: &str) -> String {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    file.strip_suffix(".toml").unwrap_or(file).to_owned()
}
