//! Who is behind a slot: requests and calls by name, for as long as somebody may still speak of them. A stack of
//! gateways has one table of requests, and one of calls a layer.

use crate::gateway::Action;
use crate::gateway::Task;
use crate::sim::{Entry, RequestName, TaskName, What};
use crate::units::{CallId, LayerId, RequestId, RouteId, TaskId, Timestamp};

/// The names behind the slots. As large as the most requests and calls that were ever in flight at once.
#[derive(Clone, Debug, Default)]
pub struct Roll {
    requests: Vec<Asked>,
    calls: Vec<Made>,
    /// The calls of every layer above the innermost, the lowest first: each numbers its own.
    above: Vec<Vec<Made>>,
    tasks: Vec<Option<Begun>>,
}

/// A request that arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Asked {
    /// Its name.
    pub name: RequestName,
    /// When it arrived.
    pub arrived: Timestamp,
    /// The task that it belongs to.
    pub task: Option<TaskName>,
}

/// A task that began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Begun {
    /// Its name.
    pub name: TaskName,
    /// When.
    pub at: Timestamp,
}

/// A call that was made. It keeps the request's name by value: its receipt may come after the request is
/// closed and its slot is used again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Made {
    /// The request that it was made for.
    pub request: RequestName,
    /// Its number there, from one; zero if nobody announced it.
    pub nth: u32,
    /// The route that was called.
    pub route: RouteId,
    /// When.
    pub begun: Timestamp,
}

const NOBODY: RequestName = RequestName::of(0, 0);

impl Roll {
    /// Takes in one entry: once for each, and before it is read.
    #[inline(always)]
    pub fn note(&mut self, entry: &Entry<'_>) {
        match entry.what {
            What::Arrived { request, name, .. } => {
                let task = request.payer.task.map(|task| self.task(task));
                let asked = Asked { name, arrived: entry.at, task };
                put(&mut self.requests, request.id.index(), asked, Asked { name: NOBODY, ..asked });
            }
            What::TaskBegan { task, name } => {
                put(&mut self.tasks, task.index(), Some(Begun { name, at: entry.at }), None);
            }
            What::Acted(Action::Call(call)) => {
                let made = Made {
                    request: self.request(call.request).name,
                    nth: call.nth,
                    route: call.route,
                    begun: entry.at,
                };
                put(self.made(entry.layer), call.call.index(), made, Made { request: NOBODY, ..made });
            }
            // A fact: it stands even if nobody announced it, or if it was announced otherwise.
            What::CallBegun { call, request, route, .. } => {
                let request = self.request(request).name;
                let calls = self.made(entry.layer);
                let is_announced = calls
                    .get(call.index())
                    .is_some_and(|made| (made.request, made.route) == (request, route));
                if !is_announced {
                    let made = Made { request, nth: 0, route, begun: entry.at };
                    put(calls, call.index(), made, Made { request: NOBODY, ..made });
                }
            }
            What::Acted(
                Action::Commit { .. } | Action::Cancel { .. } | Action::Reply { .. } | Action::Close { .. },
            )
            | What::Declared(_)
            | What::TaskEnded { .. }
            | What::Abandoned { .. }
            | What::Woke { .. }
            | What::RunEnded
            | What::Operated { .. }
            | What::CallVisible { .. }
            | What::CallEnded { .. }
            | What::CallLost { .. }
            | What::Considered { .. }
            | What::Decided(_) => {}
        }
    }

    /// The request that has this slot, or had it last.
    ///
    /// # Panics
    /// If no request has arrived in it.
    pub fn request(&self, id: RequestId) -> Asked {
        self.requests[id.index()]
    }

    /// The task that began in this slot, if one did.
    pub fn begun(&self, id: TaskId) -> Option<Begun> {
        self.tasks.get(id.index()).copied().flatten()
    }

    /// The name of a task. One that never began only groups listed requests: it is the only one of its kind.
    pub fn task(&self, task: Task) -> TaskName {
        self.begun(task.id).map_or(TaskName { kind: task.kind, ordinal: None }, |begun| begun.name)
    }

    /// The call of a layer that has this slot, or had it last.
    ///
    /// # Panics
    /// If no call was made in it.
    pub fn call(&self, layer: LayerId, id: CallId) -> Made {
        match layer.below() {
            None => self.calls[id.index()],
            Some(below) => self.above[below.index()][id.index()],
        }
    }

    /// The calls of a layer.
    fn made(&mut self, layer: LayerId) -> &mut Vec<Made> {
        let Some(below) = layer.below() else { return &mut self.calls };
        if self.above.len() <= below.index() {
            self.above.resize(below.index() + 1, Vec::new());
        }
        &mut self.above[below.index()]
    }
}

fn put<T: Copy>(slots: &mut Vec<T>, at: usize, value: T, vacant: T) {
    if at >= slots.len() {
        slots.resize(at + 1, vacant);
    }
    slots[at] = value;
}
