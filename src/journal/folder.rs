//! The output folder. A run never mixes its files with somebody else's, and never leaves half a summary.

use std::fs::{self, File};
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

/// An output folder of ours.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes the folder, or takes over one of an earlier run: what that run left is removed, the summary first.
    ///
    /// # Errors
    /// If it is no folder, if it is not empty and not ours, or if the system refuses.
    pub fn open(path: &Path) -> Result<Folder, JournalError> {
        match fs::metadata(path) {
            Ok(found) if !found.is_dir() => return Err(JournalError::NotAFolder { path: path.to_owned() }),
            Ok(_) => require_ours(path)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(path).map_err(JournalError::system("create the folder", path))?;
            }
            Err(error) => return Err(JournalError::system("look at", path)(error)),
        }
        let folder = Folder { path: path.to_owned() };
        for name in [SUMMARY, EVENTS, RUN] {
            folder.remove(name)?;
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
        let temporary = self.path.join(format!("{name}.partial"));
        let file = File::create(&temporary).map_err(JournalError::system("create", &temporary))?;
        Ok(Draft { file, temporary, path: self.path.join(name) })
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

/// A file that is being written under a temporary name.
#[derive(Debug)]
pub struct Draft {
    file: File,
    temporary: PathBuf,
    path: PathBuf,
}

impl Draft {
    /// Writes more.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
        self.file.write_all(bytes).map_err(JournalError::system("write", &self.temporary))
    }

    /// Brings it to the disk and gives it its name.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn finish(self) -> Result<(), JournalError> {
        self.file.sync_all().map_err(JournalError::system("write", &self.temporary))?;
        drop(self.file);
        fs::rename(&self.temporary, &self.path).map_err(JournalError::system("write", &self.path))
    }
}

/// Empty, or with a file that only we make.
fn require_ours(path: &Path) -> Result<(), JournalError> {
    let mut list = fs::read_dir(path).map_err(JournalError::system("list", path))?;
    let is_ours = list.next().is_none()
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
        assert_eq!(names(&path), [".gitignore"]);
        assert!(fs::read_to_string(path.join(".gitignore")).unwrap().ends_with("\n*\n"));
    }

    #[test]
    fn a_folder_of_ours_loses_its_old_files_and_keeps_all_others() {
        let place = Place::new("again");
        let folder = Folder::open(&place.0).unwrap();
        for name in [SUMMARY, EVENTS, RUN, "notes.txt"] {
            folder.write(name, b"old").unwrap();
        }
        Folder::open(&place.0).unwrap();
        assert_eq!(names(&place.0), [".gitignore", "notes.txt"]);
    }

    #[test]
    fn a_folder_of_somebody_else_is_refused_and_left_alone() {
        let place = Place::new("foreign");
        fs::create_dir_all(&place.0).unwrap();
        Folder::open(&place.0).expect("an empty folder is free");
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
        assert_eq!(names(&place.0), [".gitignore", "summary.json.partial"]);
        draft.append(b"}").unwrap();
        draft.finish().unwrap();
        assert_eq!(names(&place.0), [".gitignore", "summary.json"]);
        assert_eq!(fs::read_to_string(place.0.join(SUMMARY)).unwrap(), "{}");
    }
}
