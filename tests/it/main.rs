//! The integration tests: one binary.

mod breaker_vectors;
mod wire_properties;
mod wire_vectors;
