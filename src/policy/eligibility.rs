//! Hard constraints: may this route be used for this request at all? Asked before any preference.

use super::prices::{Prices, Usage};
use crate::units::{Money, Name, Set64};

/// What a request demands. Immutable: no retry, fallback or hedge relaxes it. Numbers in sets are positions
/// in the catalogue's lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Envelope {
    /// Capabilities that the route must have.
    pub capabilities: Set64,
    /// Regions that the data may enter.
    pub regions: Set64,
    /// Kinds of deployment that are allowed.
    pub deployments: Set64,
    /// The data's class, as its rank: higher is more sensitive.
    pub class: u8,
    /// The kind of task, if the route must be approved for it.
    pub task_type: Option<u8>,
    /// The wire protocol, if it must match.
    pub protocol: Option<Name>,
    /// The tool-schema contract, if it must match.
    pub contract: Option<Name>,
    /// The most tokens it may use.
    pub estimate: Usage,
    /// The most it may cost, over all attempts.
    pub cost_max: Money,
    /// The most tokens it may use, over all attempts.
    pub tokens_max: u64,
}

/// What a route offers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offer {
    /// Capabilities it has.
    pub capabilities: Set64,
    /// The region it runs in, as a set of one.
    pub region: Set64,
    /// The kind of deployment, as a set of one.
    pub deployment: Set64,
    /// The most sensitive class of data that may enter it, as its rank.
    pub class_max: u8,
    /// Kinds of task it is approved for.
    pub task_types: Set64,
    /// The wire protocol it speaks.
    pub protocol: Option<Name>,
    /// The tool-schema contract it keeps.
    pub contract: Option<Name>,
    /// The most tokens that fit its context, input and output together.
    pub context_max: u64,
    /// The most tokens it can write.
    pub output_max: u32,
    /// What it charges.
    pub prices: Prices,
}

/// One reason why a route may not be used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Reason {
    /// The route's region is not allowed for this data.
    DataResidency,
    /// The data's class is above what may enter the route.
    ClassificationLimit,
    /// The route lacks a required capability.
    MissingCapability,
    /// The route is not approved for this kind of task.
    TaskType,
    /// Another wire protocol or tool-schema contract.
    ContractMismatch,
    /// The kind of deployment is not allowed.
    DeploymentType,
    /// The conversation does not fit the context.
    ContextLimit,
    /// The output does not fit.
    OutputLimit,
    /// The worst case costs more than the request may cost.
    RequestBudget,
}

impl Reason {
    /// Every reason, in the order in which they are told.
    pub const ALL: [Reason; 9] = [
        Reason::DataResidency,
        Reason::ClassificationLimit,
        Reason::MissingCapability,
        Reason::TaskType,
        Reason::ContractMismatch,
        Reason::DeploymentType,
        Reason::ContextLimit,
        Reason::OutputLimit,
        Reason::RequestBudget,
    ];

    /// The stable word in events.
    pub const fn label(self) -> &'static str {
        match self {
            Reason::DataResidency => "data_residency",
            Reason::ClassificationLimit => "classification_limit",
            Reason::MissingCapability => "missing_capability",
            Reason::TaskType => "task_type",
            Reason::ContractMismatch => "contract_mismatch",
            Reason::DeploymentType => "deployment_type",
            Reason::ContextLimit => "context_limit",
            Reason::OutputLimit => "output_limit",
            Reason::RequestBudget => "request_budget",
        }
    }
}

/// A set of [`Reason`]s.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reasons(u16);

impl Reasons {
    /// No reason: the route is eligible.
    pub const NONE: Reasons = Reasons(0);
    /// Every reason: as a filter, everything is enforced.
    pub const ALL: Reasons = Reasons((1 << Reason::ALL.len()) - 1);

    /// The set without `reason`.
    pub const fn without(self, reason: Reason) -> Reasons {
        Reasons(self.0 & !(1 << reason as u16))
    }

    /// Adds `reason` if it holds.
    const fn note(self, reason: Reason, holds: bool) -> Reasons {
        Reasons(self.0 | ((holds as u16) << reason as u16))
    }

    /// The reasons that are in both.
    pub const fn and(self, other: Reasons) -> Reasons {
        Reasons(self.0 & other.0)
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether `reason` is among them.
    pub const fn has(self, reason: Reason) -> bool {
        self.0 >> reason as u16 & 1 == 1
    }

    /// The reasons, in the order in which they are told.
    pub fn iter(self) -> impl Iterator<Item = Reason> {
        Set64::of_bits(u64::from(self.0)).iter().map(|at| Reason::ALL[usize::from(at)])
    }
}

/// Everything that forbids `offer` to a request with this envelope, and the worst case of one call. The worst
/// case is multiplied by `calls_reserved` (one, and one for each retry that must be affordable) before it is
/// held against the request's cap.
pub fn exclusions(envelope: &Envelope, offer: &Offer, calls_reserved: u32) -> (Reasons, Money) {
    let worst_case = offer.prices.worst_case(&envelope.estimate);
    let differs = |wanted: Option<Name>, got: Option<Name>| wanted.is_some() && wanted != got;
    let reasons = Reasons::NONE
        .note(Reason::DataResidency, !envelope.regions.contains(offer.region))
        .note(Reason::ClassificationLimit, envelope.class > offer.class_max)
        .note(Reason::MissingCapability, !offer.capabilities.contains(envelope.capabilities))
        .note(Reason::TaskType, envelope.task_type.is_some_and(|t| !offer.task_types.contains(Set64::of(t))))
        .note(
            Reason::ContractMismatch,
            differs(envelope.protocol, offer.protocol) || differs(envelope.contract, offer.contract),
        )
        .note(Reason::DeploymentType, !envelope.deployments.contains(offer.deployment))
        .note(Reason::ContextLimit, envelope.estimate.total() > offer.context_max)
        .note(Reason::OutputLimit, envelope.estimate.output > offer.output_max)
        .note(Reason::RequestBudget, worst_case.times(u64::from(calls_reserved)) > envelope.cost_max);
    (reasons, worst_case)
}
