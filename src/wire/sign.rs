//! What a code, a phrase or a status can be a sign of. Dialect files give the sign of each; the rules read signs.

/// A meaning that a dialect file gives to a code, a phrase or a status.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(super) enum Sign {
    /// No failure at all.
    Fine,
    /// A content, safety or compliance refusal.
    Policy,
    /// Our place is not served.
    Region,
    /// A firewall in front of the provider blocks us.
    EdgeBlock,
    /// Our own constraint excludes every provider.
    Constraint,
    /// The model is not there, or not for us.
    Model,
    /// The request is too large.
    Size,
    /// Too many paid requests at once: the balance is good.
    InFlight,
    /// The account cannot pay.
    Funds,
    /// The budget of one key is spent.
    FundsKey,
    /// Reads as out of money and is also said of short windows.
    FundsMaybe,
    /// The credential is wrong or lacks a right.
    Auth,
    /// The project or account is suspended or not set up.
    AuthProject,
    /// The model is closed to us.
    AuthModel,
    /// No capacity for the model.
    Capacity,
    /// The whole server is busy.
    Busy,
    /// Reads as no capacity and is also said of our quota.
    CapacityMaybe,
    /// The model is being loaded: not ill, not ready.
    ColdStart,
    /// The window of a plan or a tier.
    Plan,
    /// A quota, its window not named.
    Quota,
    /// A limit of zero.
    Zero,
    /// A window of a minute or less.
    Minute,
    /// A window of hours.
    Hour,
    /// A window of a day.
    Day,
    /// A window of a week.
    Week,
    /// A window of a month.
    Month,
    /// A rate limit.
    Rate,
    /// A rate limit of one key: connections, concurrency.
    RateKey,
    /// A rate limit of the whole project.
    RateProject,
    /// A rate limit of a pool that an aggregator shares.
    RateUpstream,
    /// The server's own fault.
    Fault,
    /// Broken for good on this target, though it looks like the server's fault.
    Broken,
    /// Our request is wrong.
    Request,
}

/// How many signs there are.
pub(super) const SIGNS: usize = Sign::Request as usize + 1;

impl Sign {
    /// Every sign with its word in dialect files.
    pub(super) const WORDS: [(&'static str, Sign); SIGNS] = [
        ("fine", Sign::Fine),
        ("policy", Sign::Policy),
        ("region", Sign::Region),
        ("edge-block", Sign::EdgeBlock),
        ("constraint", Sign::Constraint),
        ("model", Sign::Model),
        ("size", Sign::Size),
        ("in-flight", Sign::InFlight),
        ("funds", Sign::Funds),
        ("funds-key", Sign::FundsKey),
        ("funds-maybe", Sign::FundsMaybe),
        ("auth", Sign::Auth),
        ("auth-project", Sign::AuthProject),
        ("auth-model", Sign::AuthModel),
        ("capacity", Sign::Capacity),
        ("busy", Sign::Busy),
        ("capacity-maybe", Sign::CapacityMaybe),
        ("cold-start", Sign::ColdStart),
        ("plan", Sign::Plan),
        ("quota", Sign::Quota),
        ("zero", Sign::Zero),
        ("minute", Sign::Minute),
        ("hour", Sign::Hour),
        ("day", Sign::Day),
        ("week", Sign::Week),
        ("month", Sign::Month),
        ("rate", Sign::Rate),
        ("rate-key", Sign::RateKey),
        ("rate-project", Sign::RateProject),
        ("rate-upstream", Sign::RateUpstream),
        ("fault", Sign::Fault),
        ("broken", Sign::Broken),
        ("request", Sign::Request),
    ];

    /// The sign of a word.
    pub(super) fn named(word: &str) -> Option<Sign> {
        Sign::WORDS.iter().find(|(name, _)| *name == word).map(|(_, sign)| *sign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_listed_in_their_own_order() {
        assert!(Sign::WORDS.iter().enumerate().all(|(at, (_, sign))| *sign as usize == at));
    }
}
