//! Whether a wait that a response asks for is waited: never shortened, either it fits or it does not.

use crate::units::Duration;

/// What is done with a wait, given what there is left and what one is willing to wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Honoured {
    /// Wait that long.
    Wait(Duration),
    /// The request's deadline comes first, or at the same moment.
    GiveUpDeadline,
    /// Longer than anybody would wait.
    GiveUpTooLong,
}

/// What is done with a wait of `delay`, with `left` until the deadline and `ceiling` as the longest wait.
pub fn honour(delay: Duration, left: Duration, ceiling: Duration) -> Honoured {
    if delay >= left {
        Honoured::GiveUpDeadline
    } else if delay > ceiling {
        Honoured::GiveUpTooLong
    } else {
        Honoured::Wait(delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_waited_for_or_not_but_never_shortened() {
        let s = Duration::from_secs;
        let check =
            |delay, left, ceiling, expected| assert_eq!(honour(s(delay), s(left), s(ceiling)), expected);
        check(5, 10, 60, Honoured::Wait(s(5)));
        check(0, 10, 0, Honoured::Wait(s(0)));
        check(10, 10, 60, Honoured::GiveUpDeadline);
        check(61, 60, 60, Honoured::GiveUpDeadline);
        check(60, 100, 60, Honoured::Wait(s(60)));
        check(61, 100, 60, Honoured::GiveUpTooLong);
    }
}
