//! Placeholder of the breaker until it is merged.
#[derive(Clone, Debug, Default)]
/// Knobs.
pub struct Config {}
/// The state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Calls pass.
    Closed,
    /// No call passes.
    Open,
    /// Probes pass.
    HalfOpen,
}
/// A change of state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transition {
    /// Before.
    pub from: State,
    /// After.
    pub to: State,
    /// The generation after.
    pub generation: u32,
    /// When it may be probed.
    pub until: Option<crate::units::Timestamp>,
}

impl State {
    /// The word in events.
    pub const fn label(self) -> &'static str {
        match self {
            State::Closed => "closed",
            State::Open => "open",
            State::HalfOpen => "half_open",
        }
    }
}
