//! One run, ready to be played: a scenario's variant with a seed.

use super::catalog::Catalog;
use super::upstream::{Latency, Upstream};
use crate::gateway::{Command, Delivery, Payer, Policy, Registry};
use crate::policy::eligibility::Envelope;
use crate::units::{Duration, Timestamp};

/// One run, ready to be played.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The key of all draws.
    pub seed: u64,
    /// What is declared.
    pub catalog: Catalog,
    /// The gateway's knobs.
    pub policy: Policy,
    /// What the gateway believes.
    pub registry: Registry,
    /// The upstream behind each route.
    pub upstreams: Vec<Upstream>,
    /// Where requests come from: one for each source of the catalogue.
    pub sources: Vec<Source>,
    /// What an operator does, and when.
    pub operator: Vec<(Timestamp, Command)>,
}

/// Where requests come from.
#[derive(Clone, Debug)]
pub struct Source {
    /// What every request of the source looks like.
    pub template: Template,
    /// When the first arrives.
    pub first: Timestamp,
    /// From one arrival to the next.
    pub gap: Latency,
    /// How many arrive.
    pub count: u32,
}

/// What a request looks like.
#[derive(Clone, Debug)]
pub struct Template {
    /// Who else pays.
    pub payer: Payer,
    /// Its constraints.
    pub envelope: Envelope,
    /// From its arrival to its deadline.
    pub deadline: Duration,
    /// How the answer is delivered.
    pub delivery: Delivery,
    /// From its arrival until its caller hangs up.
    pub hangs_up: Option<Duration>,
}
