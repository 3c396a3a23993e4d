//! One test binary: it links once.

mod any_policy;
mod bad_scenarios;
mod breaker_vectors;
mod mutated_scenarios;
mod reference;
mod wire_properties;
mod wire_vectors;
