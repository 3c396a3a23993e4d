//! The output folder. A run never mixes its files with somebody else's, and never leaves half a summary.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::error::JournalError;

/// The events of all runs.
pub const EVENTS: &str = "events.jsonl";
/// The verdicts.
pub const SUMMARY: &str = "summary.json";
/// What differs between machines.
pub const RUN: &str = "run.json";

const IGNORE: &str = ".gitignore";
const IGNORE_TEXT: &str = "# Made by faultlab; every run replaces what is here.\n*\n";

/// Held by the run that writes here. It stays when the run is over: only its lock says something.
const LOCK: &str = ".lock";

/// An output folder of ours, and nobody else's while this lives.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The system gives it up with the process, whatever ends that.
    _lock: File,
}

impl Folder {
    /// Makes the folder, or takes over one of an earlier run: what that run left is removed, the summary first.
    ///
    /// # Errors
    /// If it is no folder, if it is not empty and not ours, if another run writes there, or if the system refuses.
    pub fn open(path: &Path) -> Result<Folder, JournalError> {
        if let Some(folder) = Folder::reopen(path)? {
            return Ok(folder);
        }
        fs::create_dir_all(path).map_err(JournalError::system("create the folder", path))?;
        Folder::take_over(path)
    }

    /// The same for a folder that is there; `None` if it is not.
    ///
    /// # Errors
    /// As [`Folder::open`].
    pub fn reopen(path: &Path) -> Result<Option<Folder>, JournalError> {
        match fs::metadata(path) {
            Ok(found) if !found.is_dir() => Err(JournalError::NotAFolder { path: path.to_owned() }),
            Ok(_) => {
                require_ours(path)?;
                Folder::take_over(path).map(Some)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(JournalError::system("look at", path)(error)),
        }
    }

    fn take_over(path: &Path) -> Result<Folder, JournalError> {
        let folder = Folder { path: path.to_owned(), _lock: lock(path)? };
        for name in [SUMMARY, EVENTS, RUN] {
            folder.remove(name)?;
            folder.remove(&partial(name))?; // of a run that was killed
        }
        folder.write(IGNORE, IGNORE_TEXT.as_bytes())?;
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Begins a file. It has its name only when it is finished.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn begin(&self, name: &str) -> Result<Draft, JournalError> {
        let temporary = self.path.join(partial(name));
        let file = File::create(&temporary).map_err(JournalError::system("create", &temporary))?;
        Ok(Draft { file: Some(file), temporary, path: self.path.join(name) })
    }

    /// Writes a whole file: it is there entirely or not at all.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), JournalError> {
        let mut draft = self.begin(name)?;
        draft.append(bytes)?;
        draft.finish()
    }

    fn remove(&self, name: &str) -> Result<(), JournalError> {
        let path = self.path.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(JournalError::system("remove the old", &path)(error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// A file that is being written under a temporary name. If it is not finished it is removed.
#[derive(Debug)]
pub struct Draft {
    /// There until it is finished.
    file: Option<File>,
    temporary: PathBuf,
    path: PathBuf,
}

impl Draft {
    /// Writes more.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
        let file = self.file.as_mut().expect("a draft is not written after its end");
        file.write_all(bytes).map_err(JournalError::system("write", &self.temporary))
    }

    /// Brings it to the disk and gives it its name.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn finish(mut self) -> Result<(), JournalError> {
        let file = self.file.take().expect("a draft ends once");
        file.sync_all().map_err(JournalError::system("write", &self.temporary))?;
        drop(file);
        fs::rename(&self.temporary, &self.path).map_err(JournalError::system("write", &self.path))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        drop(self.file.take());
        // It is gone already if it has its name; if it cannot be removed, the next run does.
        drop(fs::remove_file(&self.temporary));
    }
}

fn partial(name: &str) -> String {
    format!("{name}.partial")
}

/// One run at a time writes into a folder. A system that knows no locks is believed.
fn lock(path: &Path) -> Result<File, JournalError> {
    let name = path.join(LOCK);
    let mut options = File::options();
    let opened = options.create(true).truncate(false).write(true).open(&name);
    let file = opened.map_err(JournalError::system("create", &name))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(JournalError::Busy { path: path.to_owned() }),
        Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Unsupported => {
            Err(JournalError::system("lock", &name)(error))
        }
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// Empty, or with a file that only we make.
fn require_ours(path: &Path) -> Result<(), JournalError> {
    let mut list = fs::read_dir(path).map_err(JournalError::system("list", path))?;
    let is_beginning = |name: &std::ffi::OsStr| name == LOCK || name == partial(IGNORE).as_str();
    let is_ours = list.all(|entry| entry.is_ok_and(|entry| is_beginning(&entry.file_name())))
        || begins_with(&path.join(IGNORE), IGNORE_TEXT)
        || begins_with(&path.join(EVENTS), "{\"format\":1,\"faultlab\":")
        || begins_with(&path.join(SUMMARY), "{\n  \"format\": 1,\n  \"faultlab\":");
    if is_ours { Ok(()) } else { Err(JournalError::NotOurs { path: path.to_owned() }) }
}

fn begins_with(path: &Path, text: &str) -> bool {
    let mut start = vec![0; text.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == text.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A place of its own for each test, gone when the test is over.
    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Place {
            let path = std::env::temp_dir().join(format!("faultlab-folder-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Place(path)
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn names(path: &Path) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = fs::read_dir(path).unwrap().map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn a_new_folder_is_made_with_its_parents_and_ignored_by_git() {
        let place = Place::new("new");
        let path = place.0.join("deep/down");
        Folder::open(&path).unwrap();
        assert_eq!(names(&path), [".gitignore", ".lock"]);
        assert!(fs::read_to_string(path.join(".gitignore")).unwrap().ends_with("\n*\n"));
    }

    #[test]
    fn a_folder_of_ours_loses_its_old_files_and_keeps_all_others() {
        let place = Place::new("again");
        let folder = Folder::open(&place.0).unwrap();
        for name in [SUMMARY, EVENTS, RUN, "notes.txt"] {
            folder.write(name, b"old").unwrap();
        }
        fs::write(place.0.join("events.jsonl.partial"), "killed").unwrap();
        drop(folder);
        Folder::open(&place.0).unwrap();
        assert_eq!(names(&place.0), [".gitignore", ".lock", "notes.txt"]);
    }

    #[test]
    fn a_folder_of_somebody_else_is_refused_and_left_alone() {
        let place = Place::new("foreign");
        fs::create_dir_all(&place.0).unwrap();
        drop(Folder::open(&place.0).expect("an empty folder is free"));
        fs::write(place.0.join(IGNORE), "target\n").unwrap();
        fs::write(place.0.join(SUMMARY), "{}").unwrap();
        let error = Folder::open(&place.0).unwrap_err();
        assert!(matches!(error, JournalError::NotOurs { .. }), "{error}");
        assert!(error.to_string().contains("--out-dir"));
        assert_eq!(fs::read_to_string(place.0.join(SUMMARY)).unwrap(), "{}");
    }

    #[test]
    fn a_file_in_the_place_of_the_folder_is_refused() {
        let place = Place::new("file");
        fs::write(&place.0, "x").unwrap();
        assert!(matches!(Folder::open(&place.0), Err(JournalError::NotAFolder { .. })));
        fs::remove_file(&place.0).unwrap();
    }

    #[test]
    fn a_file_has_its_name_only_when_it_is_finished() {
        let place = Place::new("draft");
        let folder = Folder::open(&place.0).unwrap();
        let mut draft = folder.begin(SUMMARY).unwrap();
        draft.append(b"{").unwrap();
        assert_eq!(names(&place.0), [".gitignore", ".lock", "summary.json.partial"]);
        draft.append(b"}").unwrap();
        draft.finish().unwrap();
        assert_eq!(names(&place.0), [".gitignore", ".lock", "summary.json"]);
        assert_eq!(fs::read_to_string(place.0.join(SUMMARY)).unwrap(), "{}");
    }

    #[test]
    fn a_draft_that_is_not_finished_or_cannot_be_leaves_nothing() {
        let place = Place::new("undone");
        let folder = Folder::open(&place.0).unwrap();
        folder.begin(EVENTS).unwrap().append(b"half").unwrap();
        assert_eq!(names(&place.0), [".gitignore", ".lock"]);
        fs::create_dir(place.0.join(SUMMARY)).unwrap();
        let error = folder.write(SUMMARY, b"{}").unwrap_err();
        assert!(error.to_string().starts_with("cannot write "), "{error}");
        assert_eq!(names(&place.0), [".gitignore", ".lock", "summary.json"]);
    }

    #[test]
    fn two_runs_do_not_write_into_one_folder_at_once() {
        let place = Place::new("busy");
        let first = Folder::open(&place.0).unwrap();
        first.write(EVENTS, b"mine").unwrap();
        let error = Folder::open(&place.0).unwrap_err();
        assert!(matches!(error, JournalError::Busy { .. }), "{error}");
        assert_eq!(fs::read_to_string(place.0.join(EVENTS)).unwrap(), "mine");
        drop(first);
        Folder::open(&place.0).unwrap();
    }

    #[test]
    fn a_folder_whose_first_run_was_killed_at_its_beginning_is_ours() {
        let place = Place::new("beginning");
        fs::create_dir_all(&place.0).unwrap();
        for name in [".lock", ".gitignore.partial"] {
            fs::write(place.0.join(name), "").unwrap();
            Folder::open(&place.0).unwrap();
            fs::remove_file(place.0.join(".gitignore")).unwrap();
        }
    }
}
