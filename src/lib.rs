//! `faultlab` plays scenarios (traffic, synthetic upstreams, faults, a policy) on a virtual clock through the
//! real state machines of an LLM gateway, and judges what happened from a trace with two authors.
//!
//! # The house
//!
//! The modules are its floors. Imports point down only.
//!
//! | floor | room | |
//! |---|---|---|
//! | 8 | [`cli`] | the command line: flags, output, exit codes |
//! | 7 | [`suite`] | plays a scenario's variants and seeds in parallel, sums up in order; the suite, compiled in |
//! | 6 | [`scenario`] | TOML becomes a setup and expectations, or every problem of the file at once |
//! | 6 | [`journal`] | `events.jsonl`, `summary.json`, audit records, and reading them back |
//! | 6 | [`guard`] | no socket is opened, and every attempt is counted |
//! | 6 | [`signals`] | an interrupted run ends at once and leaves no verdict |
//! | 6 | [`wire`] | what a provider's response means |
//! | 5 | [`judge`] | laws, expectations, metrics, findings: over facts |
//! | 4 | [`trace`] | how an entry reads, said once |
//! | 3 | [`sim`] | the world: clock, upstreams, traffic |
//! | 2 | [`gateway`] | every knob, and the only owner of a live request |
//! | 1 | [`policy`] | one small machine a file |
//! | 0 | [`units`] | exact quantities, names, keyed draws |
//!
//! # Play a scenario
//!
//! ```
//! use faultlab::{journal::Level, scenario, suite};
//!
//! let scenario = scenario::load("first.toml", include_str!("../docs/first-scenario.toml")).unwrap();
//! let played = suite::play(&scenario, suite::Options { first_seed: None, level: Level::None }, None);
//! assert!(played.verdict.is_pass());
//! ```
//!
//! # Embed the gateway
//!
//! A shell needs two calls: [`Gateway::handle`](gateway::Gateway::handle) for all that happens, and
//! [`Gateway::next_wake`](gateway::Gateway::next_wake) for when to come back if nothing does. Time is an argument;
//! ids are slots that the shell chooses and uses again.
//!
//! ```
//! use faultlab::gateway::{Action, Delivery, Effect, Effects, Gateway, Input, Payer, Request, SideEffect};
//! use faultlab::units::{Duration, RequestId, Timestamp};
//!
//! # let text = include_str!("../docs/first-scenario.toml");
//! # let setup = faultlab::scenario::load("first.toml", text).unwrap().variants[0].setup_for(1);
//! # let (policy, registry) = (setup.policy.clone(), setup.registry.clone());
//! # let envelope = setup.sources[0].template.envelope;
//! let mut gateway = Gateway::new(policy, registry, 1);
//! let request = Request {
//!     id: RequestId(0),
//!     payer: Payer::default(),
//!     envelope,
//!     deadline: Timestamp::ZERO.after(Duration::from_secs(2)),
//!     delivery: Delivery::Whole,
//!     effect: SideEffect::None,
//!     priority: 0,
//!     content: None,
//!     draw: 42,
//! };
//! let mut effects = Effects::default();
//! gateway.handle(Timestamp::ZERO, Input::Arrived(&request), &mut effects);
//! for effect in &effects.list {
//!     if let Effect::Act(Action::Call(call)) = effect {
//!         assert_eq!(call.nth, 1); // call the upstream of `call.route` with `call.credential`, then tell `Input::Ended`
//!     }
//! }
//! let (due, _) = gateway.next_wake().expect("the deadline is waited for"); // send `Input::Woke` then
//! assert_eq!(due, request.deadline);
//! ```

pub mod cli;
pub mod gateway;
pub mod guard;
pub mod journal;
pub mod judge;
pub mod policy;
pub mod scenario;
pub mod signals;
pub mod sim;
pub mod suite;
pub mod trace;
pub mod units;
pub mod wire;

/// The Rust of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
