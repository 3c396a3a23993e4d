//! What tasks of several steps amount to.

use super::Metric;
use crate::sim::TaskEnd;

/// What tasks of several steps amounted to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tasks {
    begun: u64,
    answered: u64,
    /// Tasks that failed one after the other, in the order of their ends: the last so many, and the most ever.
    failed_in_a_row: u64,
    failed_in_a_row_max: u64,
}

impl Tasks {
    pub(super) fn begin(&mut self) {
        self.begun += 1;
    }

    pub(super) fn end(&mut self, end: TaskEnd) {
        match end {
            TaskEnd::Answered => (self.answered, self.failed_in_a_row) = (self.answered + 1, 0),
            TaskEnd::Failed => {
                self.failed_in_a_row += 1;
                self.failed_in_a_row_max = self.failed_in_a_row_max.max(self.failed_in_a_row);
            }
        }
    }

    /// Tasks of which every step was answered.
    pub(super) const fn answered(&self) -> u64 {
        self.answered
    }

    /// A row of failures does not go on in the next run.
    pub(super) fn merge(&mut self, other: &Tasks) {
        self.begun += other.begun;
        self.answered += other.answered;
        self.failed_in_a_row = 0;
        self.failed_in_a_row_max = self.failed_in_a_row_max.max(other.failed_in_a_row_max);
    }

    pub(super) fn value(&self, metric: Metric) -> Option<u128> {
        let counted = [
            (Metric::Tasks, self.begun),
            (Metric::TasksAnswered, self.answered),
            (Metric::TasksFailedInARowMax, self.failed_in_a_row_max),
        ];
        counted.into_iter().find(|(named, _)| *named == metric).map(|(_, n)| u128::from(n))
    }
}
