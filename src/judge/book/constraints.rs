//! What excludes a route, said a second time: a filter that is wrong in itself, and not only switched off, is named
//! by the laws too.

use crate::policy::eligibility::{Envelope, Offer, Reason, Reasons};
use crate::units::Money;

/// Every reason why a request with this envelope may not enter a route on which so much must be affordable.
pub(super) fn violated(envelope: &Envelope, offer: &Offer, wanted: Money) -> Reasons {
    let is_met = |reason: &Reason| match reason {
        Reason::DataResidency => envelope.regions.lacking(offer.region).is_empty(),
        Reason::ClassificationLimit => envelope.class <= offer.class_max,
        Reason::MissingCapability => offer.capabilities.lacking(envelope.capabilities).is_empty(),
        Reason::TaskType => envelope.task_type.is_none_or(|task| offer.task_types.iter().any(|t| t == task)),
        Reason::ContractMismatch => {
            envelope.protocol.is_none_or(|protocol| offer.protocol == Some(protocol))
                && envelope.contract.is_none_or(|contract| offer.contract == Some(contract))
        }
        Reason::DeploymentType => envelope.deployments.lacking(offer.deployment).is_empty(),
        Reason::ContextLimit => envelope.estimate.total() <= offer.context_max,
        Reason::OutputLimit => envelope.estimate.output <= offer.output_max,
        Reason::RequestBudget => wanted <= envelope.cost_max,
    };
    Reason::ALL.into_iter().filter(is_met).fold(Reasons::ALL, Reasons::without)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::play::{catalog, envelope};
    use crate::policy::eligibility::exclusions;
    use crate::units::{Name, Set64};

    /// Each constraint is just met by `meets` and just violated after `spoils`: the filter and the judge both say so.
    #[test]
    fn each_reason_alone_is_found_by_the_judge_and_by_the_filter() {
        let (a, b) = (Some(Name::nth(1)), Some(Name::nth(2)));
        let meets = |envelope: &mut Envelope, offer: &mut Offer| {
            (envelope.task_type, offer.task_types) = (Some(3), Set64::of(3));
            (envelope.protocol, offer.protocol) = (a, a);
            (envelope.contract, offer.contract) = (b, b);
            envelope.deployments = offer.deployment;
            offer.context_max = envelope.estimate.total();
            offer.output_max = envelope.estimate.output;
            envelope.cost_max = offer.prices.worst_case(&envelope.estimate).times(2);
        };
        type Spoil = fn(&mut Envelope, &mut Offer);
        let spoils: [(Option<Reason>, Spoil); 11] = [
            (None, |_, _| {}),
            (Some(Reason::DataResidency), |_, offer| offer.region = Set64::of(1)),
            (Some(Reason::ClassificationLimit), |envelope, offer| envelope.class = offer.class_max + 1),
            (Some(Reason::MissingCapability), |_, offer| offer.capabilities = Set64::of(1)),
            (Some(Reason::TaskType), |envelope, _| envelope.task_type = Some(4)),
            (Some(Reason::ContractMismatch), |envelope, _| envelope.protocol = Some(Name::nth(2))),
            (Some(Reason::ContractMismatch), |_, offer| offer.contract = None),
            (Some(Reason::DeploymentType), |_, offer| offer.deployment = Set64::of(1)),
            (Some(Reason::ContextLimit), |_, offer| offer.context_max -= 1),
            (Some(Reason::OutputLimit), |_, offer| offer.output_max -= 1),
            (Some(Reason::RequestBudget), |envelope, _| {
                envelope.cost_max = Money::from_picos(envelope.cost_max.picos() - 1);
            }),
        ];
        for (reason, spoil) in spoils {
            let (mut envelope, mut offer) = (envelope(), catalog().routes[0].offer);
            meets(&mut envelope, &mut offer);
            spoil(&mut envelope, &mut offer);
            let (filtered, worst_case) = exclusions(&envelope, &offer, 2);
            let judged = violated(&envelope, &offer, worst_case.times(2));
            assert!(judged.iter().eq(reason), "{reason:?}: the judge says {judged:?}");
            assert!(filtered.iter().eq(reason), "{reason:?}: the filter says {filtered:?}");
        }
    }
}
