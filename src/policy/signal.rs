//! What one result says about the health of an upstream.

/// What one result says about the health of an upstream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// The upstream works.
    Good,
    /// The upstream is failing.
    Bad,
    /// Nothing: a limit, our own fault, a cancel. Moves no counter.
    Neutral,
}

impl Signal {
    /// The word in events.
    pub const fn label(self) -> &'static str {
        match self {
            Signal::Good => "good",
            Signal::Bad => "bad",
            Signal::Neutral => "neutral",
        }
    }
}
