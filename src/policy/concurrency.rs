//! How many calls may be in flight at once, for each member of a scope: a route, a task, a tenant.

/// Slots of one kind of scope, by the number of its member.
#[derive(Clone, Debug)]
pub struct Slots {
    most: u32,
    used: Vec<u32>,
}

impl Slots {
    /// At most so many for each member; [`u32::MAX`] is no limit.
    pub const fn new(most: u32) -> Slots {
        Slots { most, used: Vec::new() }
    }

    /// Slots in use.
    pub fn used(&self, member: usize) -> u32 {
        self.used.get(member).copied().unwrap_or(0)
    }

    /// Whether no slot is free.
    pub fn is_full(&self, member: usize) -> bool {
        self.used(member) >= self.most
    }

    /// Takes a slot, free or not: whether one is free is asked before.
    pub fn take(&mut self, member: usize) {
        if self.used.len() <= member {
            self.used.resize(member + 1, 0);
        }
        self.used[member] += 1;
    }

    /// Gives a slot back.
    ///
    /// # Panics
    /// If none was taken.
    pub fn give(&mut self, member: usize) {
        let used = self.used.get_mut(member).filter(|used| **used > 0);
        *used.expect("a slot is given back once, by who took it") -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_full_at_its_most_and_free_again_after_one_is_given_back() {
        let mut slots = Slots::new(2);
        (0..2).for_each(|_| slots.take(3));
        assert!(slots.is_full(3) && !slots.is_full(0));
        slots.give(3);
        assert!(!slots.is_full(3));
    }

    #[test]
    #[should_panic(expected = "given back once")]
    fn giving_back_what_was_never_taken_does_not_grow_it() {
        Slots::new(2).give(0);
    }
}
