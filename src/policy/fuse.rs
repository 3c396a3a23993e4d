//! Fuses: they blow once and stay blown. A success never resets one.

use std::num::NonZeroU64;

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

    /// Asks for a call that is about to be made; [`CountFuse::count`] counts it.
    ///
    /// # Errors
    /// If it would exceed the limit: then it must not be made, and the fuse is blown for good.
    pub const fn ask(&mut self) -> Result<(), Blown> {
        let Some(limit) = self.limit else { return Ok(()) };
        if !self.blown && self.calls < limit {
            return Ok(());
        }
        let news = if self.blown { News::Old } else { News::JustBlown };
        self.blown = true;
        Err(Blown { calls: self.calls, limit, news })
    }

    /// Counts a call that is made: retries and hedges count like any other.
    pub const fn count(&mut self) {
        self.calls += 1;
    }
}

/// How often a task may repeat itself; `None` never blows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Repeats {
    /// Calls in a row that ask the same.
    pub identical: Option<u64>,
    /// Calls in a row that fail.
    pub failing: Option<u64>,
}

/// How a task repeats itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repeat {
    /// It asks the same again and again.
    Identical,
    /// One call after the other fails.
    Failing,
}

/// Blows when a task goes round in circles: the same question once more, or one more call after so many that failed
/// in a row. Another question, or an answer, ends a row; neither mends the fuse.
#[derive(Clone, Debug)]
pub struct RepeatFuse {
    limits: Repeats,
    /// What the last call asked, if it said so.
    last: Option<NonZeroU64>,
    identical: u64,
    failing: u64,
    blown: Option<Repeat>,
}

impl RepeatFuse {
    /// A fuse for rows of this length.
    pub const fn new(limits: Repeats) -> RepeatFuse {
        RepeatFuse { limits, last: None, identical: 0, failing: 0, blown: None }
    }

    /// How the task repeated itself, if it is blown.
    pub const fn blown(&self) -> Option<Repeat> {
        self.blown
    }

    /// Calls in a row that asked the same, and that failed.
    pub const fn rows(&self) -> (u64, u64) {
        (self.identical, self.failing)
    }

    /// Whether a call that asks this could be made now. Changes nothing.
    pub fn permits(&self, content: Option<NonZeroU64>) -> bool {
        self.blown.is_none() && self.refusal(content).is_none()
    }

    /// Asks for a call that is about to be made; a call that does not say what it asks is like no other.
    /// [`RepeatFuse::count`] counts it.
    ///
    /// # Errors
    /// If the row would be too long: then the call must not be made, and the fuse is blown for good.
    pub fn ask(&mut self, content: Option<NonZeroU64>) -> Result<(), (Repeat, Blown)> {
        let (news, why) = match (self.blown, self.refusal(content)) {
            (None, None) => return Ok(()),
            (Some(why), _) => (News::Old, why),
            (None, Some(why)) => (News::JustBlown, why),
        };
        self.blown = Some(why);
        let (calls, limit) = match why {
            Repeat::Identical => (self.identical, self.limits.identical),
            Repeat::Failing => (self.failing, self.limits.failing),
        };
        Err((why, Blown { calls, limit: limit.unwrap_or(u64::MAX), news }))
    }

    /// Counts a call that is made.
    pub fn count(&mut self, content: Option<NonZeroU64>) {
        (self.identical, self.last) = (self.row_of(content), content);
    }

    /// A call was answered.
    pub const fn answered(&mut self) {
        self.failing = 0;
    }

    /// A call failed, whatever the class.
    pub const fn failed(&mut self) {
        self.failing += 1;
    }

    fn refusal(&self, content: Option<NonZeroU64>) -> Option<Repeat> {
        if self.limits.failing.is_some_and(|most| self.failing >= most) {
            return Some(Repeat::Failing);
        }
        self.limits.identical.is_some_and(|most| self.row_of(content) > most).then_some(Repeat::Identical)
    }

    /// The length of the row with one more call that asks this.
    fn row_of(&self, content: Option<NonZeroU64>) -> u64 {
        if content.is_some() && content == self.last { self.identical + 1 } else { 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEVEN: Option<NonZeroU64> = NonZeroU64::new(7);
    const EIGHT: Option<NonZeroU64> = NonZeroU64::new(8);

    impl CountFuse {
        fn tick(&mut self) -> Result<(), Blown> {
            self.ask().map(|()| self.count())
        }
    }

    impl RepeatFuse {
        fn tick(&mut self, content: Option<NonZeroU64>) -> Result<(), (Repeat, Blown)> {
            self.ask(content).map(|()| self.count(content))
        }
    }

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

    fn rows(identical: u64, failing: u64) -> RepeatFuse {
        RepeatFuse::new(Repeats { identical: Some(identical), failing: Some(failing) })
    }

    #[test]
    fn the_same_question_once_too_often_blows_it_and_another_question_does_not_mend_it() {
        let mut fuse = rows(2, 9);
        assert_eq!((fuse.tick(SEVEN), fuse.tick(SEVEN)), (Ok(()), Ok(())));
        assert!(!fuse.permits(SEVEN) && fuse.permits(EIGHT) && fuse.blown().is_none());
        let blown = |news| Err((Repeat::Identical, Blown { calls: 2, limit: 2, news }));
        assert_eq!(fuse.tick(SEVEN), blown(News::JustBlown));
        assert_eq!(fuse.tick(EIGHT), blown(News::Old));
        assert!(!fuse.permits(EIGHT));
    }

    #[test]
    fn another_question_ends_a_row_and_an_unnamed_one_is_like_no_other() {
        let mut fuse = rows(2, 9);
        for content in [SEVEN, SEVEN, EIGHT, SEVEN, SEVEN, None, None, None, SEVEN] {
            assert_eq!(fuse.tick(content), Ok(()));
        }
    }

    #[test]
    fn one_failure_after_the_other_blows_it_and_an_answer_ends_the_row() {
        let mut fuse = rows(9, 2);
        fuse.failed();
        fuse.answered();
        fuse.failed();
        assert_eq!(fuse.tick(None), Ok(()));
        fuse.failed();
        let blown = |news| Err((Repeat::Failing, Blown { calls: 2, limit: 2, news }));
        assert_eq!(fuse.tick(None), blown(News::JustBlown));
        fuse.answered();
        assert_eq!(fuse.tick(None), Err((Repeat::Failing, Blown { calls: 0, limit: 2, news: News::Old })));
    }

    #[test]
    fn without_a_limit_it_only_counts() {
        let mut fuse = CountFuse::new(None);
        (0..1000).for_each(|_| assert_eq!(fuse.tick(), Ok(())));
        assert_eq!(fuse.calls(), 1000);
    }
}
