//! One test binary: it links once.

mod any_policy;
mod bad_scenarios;
mod breaker_vectors;
#[cfg(target_os = "linux")]
mod guard;
mod mutated_scenarios;
mod reference;
