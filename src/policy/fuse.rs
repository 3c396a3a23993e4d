//! Fuses: they blow once and stay blown. A success never resets one.

/// Counts calls against a limit. The call that would exceed it is refused, and so is every later one.
#[derive(Clone, Debug)]
pub struct CountFuse {
    limit: Option<u64>,
    calls: u64,
    blown: bool,
}

/// A refusal: the fuse is blown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blown {
    /// Calls that were made.
    pub calls: u64,
    /// The limit.
    pub limit: u64,
    /// Whether this very refusal blew it.
    pub news: News,
}

/// Whether a fuse blew just now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum News {
    /// It did.
    JustBlown,
    /// It was blown before.
    Old,
}

impl CountFuse {
    /// A fuse for so many calls; `None` never blows.
    pub const fn new(limit: Option<u64>) -> CountFuse {
        CountFuse { limit, calls: 0, blown: false }
    }

    /// Calls made.
    pub const fn calls(&self) -> u64 {
        self.calls
    }

    /// Whether it is blown.
    pub const fn is_blown(&self) -> bool {
        self.blown
    }

    /// Whether a call could be made now. Changes nothing.
    pub const fn permits(&self) -> bool {
        match self.limit {
            Some(limit) => !self.blown && self.calls < limit,
            None => true,
        }
    }

    /// Counts a call that is about to be made: retries and hedges count like any other.
    ///
    /// # Errors
    /// If it would exceed the limit: then it must not be made, and the fuse is blown for good.
    pub const fn tick(&mut self) -> Result<(), Blown> {
        let Some(limit) = self.limit else {
            self.calls += 1;
            return Ok(());
        };
        if !self.blown && self.calls < limit {
            self.calls += 1;
            return Ok(());
        }
        let news = if self.blown { News::Old } else { News::JustBlown };
        self.blown = true;
        Err(Blown { calls: self.calls, limit, news })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_n_plus_one_is_refused_and_the_fuse_stays_blown() {
        let mut fuse = CountFuse::new(Some(2));
        assert_eq!((fuse.tick(), fuse.tick()), (Ok(()), Ok(())));
        assert!(!fuse.permits());
        assert_eq!(fuse.tick(), Err(Blown { calls: 2, limit: 2, news: News::JustBlown }));
        assert_eq!(fuse.tick(), Err(Blown { calls: 2, limit: 2, news: News::Old }));
    }

    #[test]
    fn a_look_does_not_blow_it() {
        let mut fuse = CountFuse::new(Some(1));
        assert_eq!(fuse.tick(), Ok(()));
        assert!(!fuse.permits() && !fuse.is_blown());
    }

    #[test]
    fn without_a_limit_it_only_counts() {
        let mut fuse = CountFuse::new(None);
        (0..1000).for_each(|_| assert_eq!(fuse.tick(), Ok(())));
        assert_eq!(fuse.calls(), 1000);
    }
}
