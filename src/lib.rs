//! `faultlab` plays scenarios (traffic, synthetic upstreams, faults, a policy) on a virtual clock through the
//! real state machines of an LLM gateway, and judges what happened from a trace with two authors.
//!
//! The modules are the floors of the house, lowest first; imports point down only.

pub mod gateway;
pub mod judge;
pub mod policy;
pub mod scenario;
pub mod sim;
pub mod trace;
pub mod units;
pub mod wire;
