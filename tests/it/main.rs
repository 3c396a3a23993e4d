//! One test binary: it links once.

mod breaker_vectors;
mod reference;
