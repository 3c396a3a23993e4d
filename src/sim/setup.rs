//! One run, ready to be played: a scenario's variant with a seed.

use super::catalog::Catalog;
use super::quota::Quota;
use super::upstream::{FailedReply, Latency, Upstream};
use crate::gateway::{Command, Delivery, Payer, Policy, Registry, SideEffect};
use crate::policy::eligibility::Envelope;
use crate::policy::prices::Usage;
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
    /// Agent jobs of many requests.
    pub jobs: Vec<Job>,
    /// True quotas.
    pub quotas: Vec<Quota>,
    /// What an operator does, and when.
    pub operator: Vec<(Timestamp, Command)>,
    /// The gateways above, the lowest first. How each stands to the one below is declared in the catalogue.
    pub above: Vec<Above>,
}

/// A gateway whose one route leads to the gateway below.
#[derive(Clone, Debug)]
pub struct Above {
    /// Its knobs.
    pub policy: Policy,
    /// What it believes.
    pub registry: Registry,
    /// What failures of the layer below come as.
    pub hears: Hears,
}

/// What the failures of a layer come as to the one above it.
#[derive(Clone, Copy, Debug)]
pub struct Hears {
    /// Whatever it is comes as this; `None` is as it was.
    pub always: Option<FailedReply>,
    /// What took too long; a 504.
    pub late: FailedReply,
    /// What is closed for now; a 503.
    pub closed: FailedReply,
    /// What may not be tried, or not again; a 400.
    pub refused: FailedReply,
}

/// Where requests come from.
#[derive(Clone, Debug)]
pub struct Source {
    /// What every request of the source looks like.
    pub template: Template,
    /// When the first arrives.
    pub first: Timestamp,
    /// When the others arrive.
    pub pace: Pace,
    /// How many arrive; none by themselves if they are the steps of a job.
    pub count: u32,
    /// By how much each is larger than the one before: a history that is sent again and again.
    pub growth: Usage,
}

/// When the requests of a source arrive.
#[derive(Clone, Debug)]
pub enum Pace {
    /// Each so long after the one before, whatever became of it.
    Open(Latency),
    /// So many clients, each of which thinks so long after a reply before it asks again.
    Closed {
        /// How many.
        clients: u32,
        /// From a reply to the next request.
        think: Latency,
    },
}

/// An agent job that is done again and again: a turn, an episode.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its kind: a position in the catalogue's tasks.
    pub kind: u16,
    /// When the first begins.
    pub first: Timestamp,
    /// From one beginning to the next.
    pub gap: Latency,
    /// How many there are.
    pub count: u32,
    /// Its steps: each begins when those that it needs are answered.
    pub steps: Vec<Step>,
}

/// One step of a job: the same request several times at once.
#[derive(Clone, Debug)]
pub struct Step {
    /// The source of its requests.
    pub source: u16,
    /// How many there are at once.
    pub times: u32,
    /// Steps, by position, that must be answered before.
    pub after: Vec<u16>,
    /// From their answers to its beginning.
    pub think: Duration,
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
    /// Whether sending it twice does something twice.
    pub effect: SideEffect,
    /// Who goes first when requests wait for a slot.
    pub priority: u8,
    /// From its arrival until its caller hangs up.
    pub hangs_up: Option<Duration>,
}
