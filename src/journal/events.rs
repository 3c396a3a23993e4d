//! `events.jsonl`: the lines of every run, in chunks. A broken disk stops nothing and is told at the end.

use super::error::JournalError;
use super::folder::{Draft, EVENTS, Folder};
use crate::sim::{Catalog, Entry, Observer};
use crate::trace::{Header, Lines, Roll};

/// Which runs leave their events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// None.
    None,
    /// Those that failed a check: played once more for it.
    Failures,
    /// All.
    Full,
}

impl Level {
    /// Every level.
    pub const ALL: [Level; 3] = [Level::None, Level::Failures, Level::Full];

    /// The word on the command line.
    pub const fn label(self) -> &'static str {
        match self {
            Level::None => "none",
            Level::Failures => "failures",
            Level::Full => "full",
        }
    }
}

/// How many bytes are written at once.
const CHUNK: usize = 64 * 1024;

/// The file of events.
#[derive(Debug)]
pub struct Events {
    draft: Draft,
    failed: Option<JournalError>,
}

impl Events {
    /// Begins the file.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn begin(folder: &Folder) -> Result<Events, JournalError> {
        Ok(Events { draft: folder.begin(EVENTS)?, failed: None })
    }

    /// Begins a run: its header, and an observer that writes its entries.
    pub fn run<'a>(&'a mut self, header: &Header<'_>, catalog: &'a Catalog) -> RunEvents<'a> {
        let mut lines = Lines::new(&catalog.names);
        lines.header(header);
        RunEvents { events: self, lines, roll: Roll::default(), catalog }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The first thing that went wrong, if anything did. The file then keeps its temporary name.
    pub fn finish(self) -> Result<(), JournalError> {
        match self.failed {
            Some(error) => Err(error),
            None => self.draft.finish(),
        }
    }

    /// Writes lines that were put together elsewhere. After an error nothing more is written.
    pub fn append(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.draft.append(bytes).err();
        }
    }
}

/// Writes the entries of one run. What is left goes to the file when it is dropped.
#[derive(Debug)]
pub struct RunEvents<'a> {
    events: &'a mut Events,
    lines: Lines,
    roll: Roll,
    catalog: &'a Catalog,
}

impl RunEvents<'_> {
    fn flush(&mut self) {
        self.events.append(self.lines.bytes());
        self.lines.clear();
    }
}

impl Observer for RunEvents<'_> {
    fn entry(&mut self, entry: &Entry<'_>) {
        self.roll.note(entry);
        self.lines.entry(entry, &self.roll, self.catalog);
        if self.lines.bytes().len() >= CHUNK {
            self.flush();
        }
    }
}

impl Drop for RunEvents<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::read::{Line, Reader};
    use crate::journal::{Audit, Auditor};
    use crate::trace::{About, Plot, Reading, Story, samples};
    use std::fs;
    use std::path::PathBuf;

    const HEADER: Header<'static> = Header {
        faultlab: "0.1.0",
        scenario: "bounded-429",
        variant: "base",
        seed: 7,
        scenario_digest: "aa",
        policy_digest: "bb",
    };

    /// Plays the samples into a file and hands its path on.
    fn check(name: &str, look: impl Fn(PathBuf)) {
        let path = std::env::temp_dir().join(format!("faultlab-events-{name}-{}", std::process::id()));
        let folder = Folder::open(&path).unwrap();
        let catalog = samples::catalog();
        let mut events = Events::begin(&folder).unwrap();
        samples::bounded(&mut events.run(&HEADER, &catalog));
        samples::oddities(&mut events.run(&Header { seed: 8, ..HEADER }, &catalog));
        events.finish().unwrap();
        look(path.join(EVENTS));
        fs::remove_dir_all(path).unwrap();
    }

    fn read(path: &std::path::Path) -> Vec<Line> {
        Reader::open(path).unwrap().collect::<Result<_, _>>().unwrap()
    }

    struct Readings(Catalog, Roll, Vec<Reading>);

    impl Observer for Readings {
        fn entry(&mut self, entry: &Entry<'_>) {
            self.1.note(entry);
            self.2.push(Reading::of(entry, &self.1, &self.0));
        }
    }

    #[test]
    fn what_was_written_is_read_back() {
        let mut told = Readings(samples::catalog(), Roll::default(), Vec::new());
        samples::bounded(&mut told);
        samples::oddities(&mut told);
        check("back", |path| {
            let (mut seeds, mut readings) = (Vec::new(), Vec::new());
            for line in read(&path) {
                match line {
                    Line::Header(played) => seeds.push(played.seed),
                    Line::Entry(reading) => readings.push(reading),
                }
            }
            assert_eq!(seeds, [7, 8]);
            assert_eq!(readings, told.2);
        });
    }

    #[test]
    fn a_story_and_an_audit_are_the_same_from_the_run_and_from_the_file() {
        let catalog = samples::catalog();
        let about = || About::Request("req-demo-002".to_owned());
        let mut story = Story::new(&catalog, about());
        samples::bounded(&mut story);
        let mut auditor = Auditor::new(&catalog, "t", "req-demo-002");
        samples::bounded(&mut auditor);
        let record = auditor.finish();
        check("story", |path| {
            let (mut plot, mut audit) = (Plot::new(about()), Audit::new("t", "req-demo-002"));
            for line in read(&path) {
                match line {
                    Line::Header(_) => {}
                    Line::Entry(reading) => {
                        plot.take(&reading);
                        audit.take(&reading);
                    }
                }
            }
            assert_eq!(plot.lines()[..story.lines().len()], *story.lines());
            assert_eq!(audit.finish(), record);
        });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told_at_the_end_and_leaves_no_file_of_events() {
        let path = std::env::temp_dir().join(format!("faultlab-events-full-{}", std::process::id()));
        let folder = Folder::open(&path).unwrap();
        std::os::unix::fs::symlink("/dev/full", path.join("events.jsonl.partial")).unwrap();
        let catalog = samples::catalog();
        let mut events = Events::begin(&folder).unwrap();
        for seed in 0..3 {
            samples::bounded(&mut events.run(&Header { seed, ..HEADER }, &catalog));
        }
        let error = events.finish().unwrap_err();
        assert!(error.to_string().starts_with("cannot write "), "{error}");
        assert!(!path.join(EVENTS).exists());
        fs::remove_dir_all(path).unwrap();
    }

    fn complaint(text: &str, change: impl Fn(&str) -> Vec<u8>) -> String {
        let path = std::env::temp_dir().join(format!("faultlab-bad-{text}-{}", std::process::id()));
        let mut complaint = String::new();
        check(text, |good| fs::write(&path, change(&fs::read_to_string(good).unwrap())).unwrap());
        for line in Reader::open(&path).unwrap() {
            complaint = line.err().map_or(complaint, |error| error.to_string());
        }
        fs::remove_file(path).unwrap();
        complaint.rsplit(", line ").next().unwrap().to_owned()
    }

    #[test]
    fn what_is_wrong_with_a_file_is_told_with_its_line() {
        let replace =
            |from: &'static str, to: &'static str| move |text: &str| text.replacen(from, to, 1).into_bytes();
        for (name, complained) in [
            ("empty", complaint("empty", |_| Vec::new())),
            ("1: it should be the header", complaint("headless", |t| t.split_once('\n').unwrap().1.into())),
            ("1: it is of format 2", complaint("format", replace("\"format\":1", "\"format\":2"))),
            ("2: there is no event `x`", complaint("event", replace("declared_limits", "x"))),
            ("2: `declared_limits` has no field", complaint("field", replace("legs_max", "legs"))),
            (
                "2: `legs_max` must be a whole number",
                complaint("unit", replace("\"legs_max\":1", "\"legs_max\":\"1\"")),
            ),
            (
                "2: it is no event of faultlab",
                complaint("float", replace("\"legs_max\":1", "\"legs_max\":1.5")),
            ),
            ("2: it is not a JSON object", complaint("syntax", replace("\"legs_max\":1", "\"legs_max\":"))),
            (
                "2: it is no event of faultlab",
                complaint("foreign", |t| {
                    let header = t.split_once('\n').unwrap().0;
                    format!("{header}\n{{\"level\":\"info\"}}\n").into_bytes()
                }),
            ),
            ("114: it is cut off", complaint("cut", |t| t[..t.len() - 9].into())),
            (
                "2: it is not UTF-8",
                complaint("utf8", |t| {
                    let header = t.split_once('\n').unwrap().0;
                    [header.as_bytes(), b"\n\xff\n"].concat()
                }),
            ),
        ] {
            assert!(complained.contains(name), "{name} is not in {complained:?}");
        }
    }
}
