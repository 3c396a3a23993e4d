//! Floor 6, the rim towards scenario files: the only code that knows TOML. A file becomes a [`Scenario`], or
//! [`Problems`]: everything that is wrong with it at once.

mod form;
mod latency;
mod lower;
mod operator;
mod parties;
mod policy;
mod problems;
mod quantity;
mod retry;
mod routes;
mod traffic;
mod tree;
mod upstreams;
