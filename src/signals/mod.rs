//! Signals: a run that is told to end ends at once, says so, and leaves no verdict. The summary of a run is written
//! last and the old one is removed first, so there is nothing to tidy up.
//!
//! Elsewhere than on Unix the system ends an interrupted program by itself, with a code of its own.

#[cfg(unix)]
mod unix;

/// Makes an interrupted program end with 128 and the number of the signal (130 for an interrupt from the keyboard,
/// 143 for being told to end), and a limit on the size of files an error like a full disk. What the caller has told
/// this program to ignore stays ignored.
pub fn prepare() {
    #[cfg(unix)]
    unix::prepare();
}
