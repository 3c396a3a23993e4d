//! Floor 0: exact quantities, names and draws. Imports nothing of ours.
//!
//! Everything here is an integer. The one exception is [`real`], which computes tables with `f64` through
//! `libm` (the same bits on every system) and hands out nanoseconds by a stated rounding.

pub mod draw;
pub mod histogram;
pub mod ids;
pub mod money;
pub mod names;
pub mod ratio;
pub mod real;
pub mod set;
pub mod time;
pub mod turn;

pub use draw::{Draws, Key, Purpose};
pub use histogram::Histogram;
pub use ids::*;
pub use money::{Money, Price, Total};
pub use names::{Name, Names};
pub use ratio::Ratio;
pub use set::Set64;
pub use time::{Duration, Timestamp};
pub use turn::{Place, Turn};
