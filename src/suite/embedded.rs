//! The release suite, compiled in: a binary alone is enough to play it.

/// A scenario file that is compiled in.
#[derive(Clone, Copy, Debug)]
pub struct Embedded {
    /// Its name: that of its file without `.toml`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// The suite, in the order in which it is played.
pub const fn embedded() -> &'static [Embedded] {
    SUITE
}

/// One row a file of `scenarios/`; a test compares the two.
macro_rules! suite {
    ($($name:literal),+ $(,)?) => {
        &[$(Embedded { name: $name, text: include_str!(concat!("../../scenarios/", $name, ".toml")) }),+]
    };
}

const SUITE: &[Embedded] = suite![
    "routing",
    "bounded-429",
    "terminal-errors",
    "circuit",
    "hedging",
    "budget-audit",
    "quota-cascade",
    "look-alikes",
    "fallback-drain",
    "runaway",
    "repeated-call",
    "growing-history",
    "out-of-money",
    "budget-race",
    "neutral-limit",
    "lost-retry-after",
    "retry-for-ever",
    "no-progress",
    "all-cooling",
    "fallback-overload",
    "capability-lie",
    "operator-reset",
    "second-bench",
    "stream-splice",
    "unledgered-losers",
    "three-fuses",
    "noisy-neighbour",
    "overloaded-cheap-model",
    "stacked-retries",
];
