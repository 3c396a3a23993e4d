//! One test binary: it links once.

#![allow(clippy::unwrap_used, reason = "what cannot go on has failed, in the helpers of a test as in a test")]

mod any_policy;
mod approvals;
mod bad_scenarios;
mod breaker_vectors;
mod classify;
mod cli;
mod determinism;
mod fuses;
mod goldens;
#[cfg(target_os = "linux")]
mod guard;
mod layers;
mod lies;
mod lies_of_choice;
mod lies_of_status;
mod lies_of_time;
mod linked;
mod lying_gateway;
mod mutated_scenarios;
mod pages;
mod planted_defects;
mod planted_machine_defects;
mod profiles;
mod readme;
mod reference;
mod regressions;
mod schemas;
mod shell;
mod support;
mod tidy;
mod wire_properties;
mod wire_vectors;
#[cfg(target_os = "linux")]
mod wrappers;
