//! Exit codes: part of the interface. 0 is only ever "everything asked for was measured and held".

/// How the program ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Exit {
    /// Everything that was asked for was played, and every expectation and law held.
    Held = 0,
    /// An expectation or a law failed.
    Failed = 1,
    /// The command line is wrong.
    Usage = 2,
    /// A scenario, a response or a dialect is invalid or cannot be read.
    Invalid = 3,
    /// Nothing was played, checked or classified.
    Nothing = 4,
    /// The guard caught an outbound attempt, whatever else held or failed.
    Caught = 5,
    /// The guard is weaker than required, or fell, or the program was started with an open socket.
    Unguarded = 6,
    /// Two plays of one seed differed.
    Differed = 7,
    /// A bug in faultlab.
    Bug = 70,
    /// The output could not be written.
    Output = 74,
    /// Interrupted from the keyboard: there is no verdict. [`crate::signals`] ends the program with it.
    Interrupted = 130,
    /// Told to end: there is no verdict. [`crate::signals`] ends the program with it.
    Terminated = 143,
}

impl Exit {
    /// The code and what it means, for `--help`.
    pub const TABLE: &str = "\
Exit codes:
  0   everything asked for was played, and every expectation and law held
  1   an expectation or a law failed
  2   the command line is wrong
  3   a scenario file, a response or a dialect is invalid or cannot be read
  4   nothing was played, nothing was checked, or there was nothing to classify
  5   the guard caught an outbound attempt, whatever else held or failed
  6   the guard is weaker than required, or the program was started with an open socket
  7   two plays of one seed differed
  70  a bug in faultlab
  74  the output could not be written
  130 interrupted from the keyboard: there is no verdict
  143 told to end: there is no verdict";
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> std::process::ExitCode {
        std::process::ExitCode::from(exit as u8)
    }
}
