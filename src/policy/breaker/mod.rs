//! A circuit breaker: it stops calls to a route that fails, and asks now and then whether it still does.
//!
//! ```text
//!                       trips (bad results)
//!        ┌──────────┐ ─────────────────────────▶ ┌──────────┐
//!        │  CLOSED  │                            │   OPEN   │ ◀─┐
//!        └──────────┘                            └──────────┘   │ verdict: bad,
//!              ▲                                      │         │ the cooldown begins again
//!              │ verdict: good                        │         │
//!              │                ┌───────────┐         │ cooldown over, and a call asks
//!              └─────────────── │ HALF_OPEN │ ◀───────┘         │
//!                               └───────────┘ ──────────────────┘
//!
//!   reset: from anywhere to CLOSED.  An operator's orders: from anywhere to OPEN, HALF_OPEN,
//!   FORCED_OPEN, DISABLED, METRICS_ONLY; the last three end only by another order or a reset.
//! ```
//!
//! One machine, with a knob for each question on which breakers differ ([`Config`]). The defaults are our
//! contract; the other values are what libraries in production do instead ([`profiles`]), replayed against
//! recordings of them in `tests/it/breaker_vectors.rs`. The contract, where they differ:
//!
//! * shares are compared in whole numbers;
//! * a probe is admitted at exactly the end of the cooldown, one at a time;
//! * only a bad result trips; a neutral one moves nothing;
//! * each move begins a new *generation*; the result of a call from an earlier one changes nothing;
//! * a probe that never reports loses its slot after a while: its late report still counts as long as the
//!   generation lasts, but gives nothing back.
//!
//! There is no clock, no timer and no lock in here. `now` never falls from one call to the next.

mod buckets;
mod config;
#[cfg(test)]
mod contract;
mod cooldown;
mod decay;
mod machine;
mod permit;
mod probes;
pub mod profiles;
#[cfg(test)]
mod reference;
mod ring;
mod state;
mod tally;
mod thresholds;
mod window;

pub use buckets::{Booking, End, Expiry, Grid, Rolling, Start, Tumbling};
pub use config::{
    Boundary, Clamp, Config, HalfOpenBy, HalfOpenFor, JudgedOn, Late, Neutral, ProbeLimit, RateOf, Rounding,
    Slow, Trip, Verdict, WhileOpen,
};
pub use cooldown::Cooldown;
pub use decay::{Decaying, Fade, Share};
pub use machine::Breaker;
pub use permit::{Admission, Era, Permit, Role, Sample};
pub use ring::Ring;
pub use state::{Order, State, Status, Transition};
pub use tally::{Mark, Pace, Tally};
pub use window::{Renewal, Window, WindowModel};
