//! One test binary: it links once.

mod any_policy;
mod bad_scenarios;
mod breaker_vectors;
mod goldens;
mod lying_gateway;
mod mutated_scenarios;
mod planted_defects;
mod reference;
mod support;
