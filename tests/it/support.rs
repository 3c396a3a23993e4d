//! What several modules need: scenarios, goldens, folders.

use faultlab::journal::Level;
use faultlab::scenario::{Scenario, Variant, load};
use faultlab::sim::{Catalog, Entry, Observer, run};
use faultlab::suite::{Options, embedded, play, policy_digest, seeds};
use faultlab::trace::{Header, Lines, Roll};
use std::path::{Path, PathBuf};

/// A scenario from its text.
pub(crate) fn read(name: &str, text: &str) -> Scenario {
    load(&format!("scenarios/{name}.toml"), text).unwrap_or_else(|problems| panic!("{problems}"))
}

/// The text of a scenario of the suite.
pub(crate) fn text_of(name: &str) -> &'static str {
    embedded().iter().find(|one| one.name == name).expect("the suite has it").text
}

/// What fails in a scenario that is played as a whole, as sentences: promises of its own, and laws.
pub(crate) fn failures(name: &str, text: &str) -> Vec<String> {
    let scenario = read(name, text);
    assert!(!scenario.expectations.is_empty(), "{name} says what must happen");
    let played = play(&scenario, Options { first_seed: None, level: Level::None }, None);
    played.verdict.failed().map(|check| format!("{name}: {check:?}")).collect()
}

/// `text` is as in the golden of this name, which may be in a folder.
pub(crate) fn golden(path: &str, text: &str) {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(Path::new("../../golden").join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// What a variant leaves in `events.jsonl`: all its seeds, in order.
pub(crate) fn lines_of(scenario: &Scenario, variant: &Variant) -> String {
    seeds(variant, None).into_iter().map(|seed| lines_of_seed(scenario, variant, seed)).collect()
}

/// What one run leaves in `events.jsonl`.
pub(crate) fn lines_of_seed(scenario: &Scenario, variant: &Variant, seed: u64) -> String {
    let setup = variant.setup_for(seed);
    let mut lines = Lines::new(&setup.catalog.names);
    lines.header(&Header {
        faultlab: env!("CARGO_PKG_VERSION"),
        scenario: &scenario.name,
        variant: &variant.name,
        seed,
        scenario_digest: &format!("{:016x}", scenario.digest),
        policy_digest: &policy_digest(variant).to_string(),
    });
    let mut scribe = Scribe { catalog: &setup.catalog, roll: Roll::default(), lines };
    run(&setup, &mut scribe);
    String::from_utf8(scribe.lines.bytes().to_vec()).expect("lines are UTF-8")
}

struct Scribe<'a> {
    catalog: &'a Catalog,
    roll: Roll,
    lines: Lines,
}

impl Observer for Scribe<'_> {
    fn entry(&mut self, entry: &Entry<'_>) {
        self.roll.note(entry);
        self.lines.entry(entry, &self.roll, self.catalog);
    }
}

/// A folder of its own for a test, gone when it is dropped.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new(name: &str) -> Place {
        let path = std::env::temp_dir().join(format!("faultlab-it-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&path));
        std::fs::create_dir_all(&path).expect("the system has a place for such things");
        Place(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file and says where it is.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).expect("a file can be written");
        path
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// The program, as a user runs it.
pub(crate) fn faultlab() -> snapbox::cmd::Command {
    snapbox::cmd::Command::new(env!("CARGO_BIN_EXE_faultlab"))
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("COLUMNS")
}
