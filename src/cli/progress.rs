//! How far a run is: on a terminal, on stderr, and gone when it is over. Nothing anywhere else.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;

/// A line that says which scenario is played.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// For this many scenarios.
    pub(super) fn new(scenarios: usize) -> Progress {
        let bar = if std::io::stderr().is_terminal() {
            ProgressBar::new(scenarios as u64)
        } else {
            ProgressBar::hidden()
        };
        let style = ProgressStyle::with_template("{bar:20} {pos}/{len} {msg}");
        bar.set_style(style.expect("the template is one"));
        Progress(bar)
    }

    /// This one is played now.
    pub(super) fn begins(&self, scenario: &str) {
        self.0.set_message(scenario.to_owned());
        self.0.tick();
    }

    /// It is over; whoever writes to the terminal meanwhile has it for himself.
    pub(super) fn ends<T>(&self, write: impl FnOnce() -> T) -> T {
        self.0.inc(1);
        self.0.suspend(write)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
