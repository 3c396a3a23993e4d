//! Slots of tasks and tenants, and the requests that wait for one: by priority, then first in, first out.

use super::policy::{Concurrency, Payer};
use crate::policy::concurrency::Slots;
use crate::units::RequestId;

/// Slots of tasks and tenants, and who waits.
#[derive(Debug)]
pub(super) struct Queue {
    tasks: Slots,
    tenants: Slots,
    /// Whether there is a limit: without one nothing is counted.
    is_limited: bool,
    /// Who waits: the one to go first first. Higher priorities are smaller numbers here.
    waiting: Vec<(u8, u64, RequestId)>,
    most: usize,
    numbers: u64,
    freed: Freed,
}

/// Whether something was freed since the queue was served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Freed {
    Nothing,
    Something,
}

impl Queue {
    pub(super) const fn new(limits: &Concurrency) -> Queue {
        Queue {
            tasks: Slots::new(limits.task_max),
            tenants: Slots::new(limits.tenant_max),
            is_limited: limits.task_max != u32::MAX || limits.tenant_max != u32::MAX,
            waiting: Vec::new(),
            most: limits.queue_max as usize,
            numbers: 0,
            freed: Freed::Nothing,
        }
    }

    /// Whether the request's task or tenant has no free slot.
    pub(super) fn is_full_for(&self, payer: &Payer) -> bool {
        self.is_limited
            && (payer.task.is_some_and(|task| self.tasks.is_full(task.id.index()))
                || payer.tenant.is_some_and(|tenant| self.tenants.is_full(tenant.index())))
    }

    /// A call begins.
    pub(super) fn take(&mut self, payer: &Payer) {
        if !self.is_limited {
            return;
        }
        if let Some(task) = payer.task {
            self.tasks.take(task.id.index());
        }
        if let Some(tenant) = payer.tenant {
            self.tenants.take(tenant.index());
        }
    }

    /// A call's slots are free.
    pub(super) fn give(&mut self, payer: &Payer) {
        self.freed = Freed::Something;
        if !self.is_limited {
            return;
        }
        if let Some(task) = payer.task {
            self.tasks.give(task.id.index());
        }
        if let Some(tenant) = payer.tenant {
            self.tenants.give(tenant.index());
        }
    }

    /// Lets a request wait; how many wait then, or `None` if nobody else may.
    pub(super) fn join(&mut self, request: RequestId, priority: u8) -> Option<u32> {
        if self.waiting.len() >= self.most {
            return None;
        }
        self.numbers += 1;
        let entry = (u8::MAX - priority, self.numbers, request);
        let at = self.waiting.partition_point(|other| *other < entry);
        self.waiting.insert(at, entry);
        Some(self.waiting.len() as u32)
    }

    /// A request waits no longer.
    pub(super) fn quit(&mut self, request: RequestId) {
        if !self.waiting.is_empty() {
            self.waiting.retain(|other| other.2 != request);
        }
    }

    /// Whether somebody waits and something was freed since this was asked last.
    pub(super) fn is_due(&mut self) -> bool {
        let freed = std::mem::replace(&mut self.freed, Freed::Nothing);
        freed == Freed::Something && !self.waiting.is_empty()
    }

    /// The request that waits in this place.
    pub(super) fn nth(&self, at: usize) -> Option<RequestId> {
        self.waiting.get(at).map(|entry| entry.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn higher_priority_goes_first_and_equals_go_in_the_order_of_coming() {
        let mut queue = Queue::new(&Concurrency::default());
        for (request, priority) in [(1, 0), (2, 9), (3, 0), (4, 9)] {
            queue.join(RequestId(request), priority);
        }
        queue.quit(RequestId(4));
        let order: Vec<u32> = (0..3).filter_map(|at| queue.nth(at)).map(|request| request.0).collect();
        assert_eq!(order, [2, 1, 3]);
    }

    #[test]
    fn one_more_than_the_most_is_turned_away() {
        let mut queue = Queue::new(&Concurrency { queue_max: 1, ..Concurrency::default() });
        assert_eq!(queue.join(RequestId(0), 0), Some(1));
        assert_eq!(queue.join(RequestId(1), 0), None);
    }
}
