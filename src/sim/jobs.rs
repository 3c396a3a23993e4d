//! Jobs in progress: which steps are done, which may begin, and when a job is over.

use super::agenda::{Agenda, Event};
use super::setup::Job;
use crate::units::{TaskId, Timestamp};

/// Jobs in progress, by slot. The first slots belong to tasks that only group listed requests.
#[derive(Debug)]
pub(super) struct Jobs {
    slots: Vec<Option<Progress>>,
    free: Vec<u32>,
    /// How many of each kind of the setup have begun.
    begun: Vec<u32>,
}

/// A job in progress.
#[derive(Debug)]
pub(super) struct Progress {
    /// Its kind: a position in the setup.
    pub(super) job: u16,
    /// Its number, from zero.
    pub(super) ordinal: u32,
    /// The entry of its beginning.
    pub(super) entry: u64,
    /// For each step the replies that are missing.
    missing: Vec<u32>,
    begun: Vec<bool>,
    /// Requests that are not closed, and steps that are about to begin.
    open: u32,
    pub(super) failed: bool,
}

/// Which step of which job a request is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part {
    pub(super) task: TaskId,
    pub(super) step: u16,
}

impl Jobs {
    /// No job yet; the first `reserved` slots are never used.
    pub(super) fn new(jobs: usize, reserved: usize) -> Jobs {
        Jobs { slots: (0..reserved).map(|_| None).collect(), free: Vec::new(), begun: vec![0; jobs] }
    }

    /// Begins a job of this kind: its slot.
    pub(super) fn begin(&mut self, job: u16, setup: &Job) -> TaskId {
        let ordinal = self.begun[usize::from(job)];
        self.begun[usize::from(job)] += 1;
        let progress = Progress {
            job,
            ordinal,
            entry: 0,
            missing: setup.steps.iter().map(|step| step.times).collect(),
            begun: vec![false; setup.steps.len()],
            open: 0,
            failed: false,
        };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        self.slots[slot as usize] = Some(progress);
        TaskId(slot)
    }

    pub(super) fn get(&self, task: TaskId) -> &Progress {
        self.slots[task.index()].as_ref().expect("a job in progress")
    }

    pub(super) fn get_mut(&mut self, task: TaskId) -> &mut Progress {
        self.slots[task.index()].as_mut().expect("a job in progress")
    }

    /// How many jobs of this kind have begun.
    pub(super) fn begun(&self, job: u16) -> u32 {
        self.begun[usize::from(job)]
    }

    /// Puts every step on the agenda that nothing stands in the way of any more.
    pub(super) fn advance(&mut self, now: Timestamp, task: TaskId, setup: &Job, agenda: &mut Agenda) {
        let progress = self.get_mut(task);
        for (at, step) in setup.steps.iter().enumerate() {
            let is_ready = step.after.iter().all(|before| progress.missing[usize::from(*before)] == 0);
            if is_ready && !progress.failed && !progress.begun[at] {
                progress.begun[at] = true;
                progress.open += 1;
                agenda.add(now.after(step.think), Event::BeginStep { task, step: at as u16 });
            }
        }
    }

    /// A step begins: so many requests are open instead of it.
    pub(super) fn open(&mut self, task: TaskId, times: u32) {
        let progress = self.get_mut(task);
        progress.open = progress.open - 1 + times;
    }

    /// A request of a job has its reply.
    pub(super) fn replied(&mut self, part: Part, answered: bool) {
        let progress = self.get_mut(part.task);
        if answered {
            progress.missing[usize::from(part.step)] -= 1;
        } else {
            progress.failed = true;
        }
    }

    /// A request of a job, or a step of it that begins no more, is closed. Whether the job is over.
    pub(super) fn closed(&mut self, task: TaskId) -> bool {
        let progress = self.get_mut(task);
        progress.open -= 1;
        progress.open == 0
    }

    /// Takes a job out; its slot is free.
    pub(super) fn end(&mut self, task: TaskId) -> Progress {
        let progress = self.slots[task.index()].take().expect("a job ends once");
        self.free.push(task.0);
        progress
    }
}
