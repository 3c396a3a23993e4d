//! The integration tests: one binary.

mod breaker_vectors;
