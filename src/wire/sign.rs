//! What a code, a phrase or a status can be a sign of. Dialect files give the sign of each; the rules read signs.

macro_rules! signs {
    ($($sign:ident $word:literal $sentence:literal)+) => {
        /// A meaning that a dialect file gives to a code, a phrase or a status.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        #[repr(u8)]
        pub(super) enum Sign { $(#[doc = $sentence] $sign),+ }

        /// How many signs there are.
        pub(super) const SIGNS: usize = [$(Sign::$sign),+].len();

        impl Sign {
            /// Every sign with its word in dialect files, and what it means.
            pub(super) const WORDS: [(&'static str, Sign, &'static str); SIGNS] =
                [$(($word, Sign::$sign, $sentence)),+];
        }
    };
}

signs! {
    Fine "fine" "No failure at all."
    Policy "policy" "A content, safety or compliance refusal."
    Region "region" "Our place is not served."
    EdgeBlock "edge-block" "A firewall in front of the provider blocks us."
    Constraint "constraint" "Our own constraint excludes every provider."
    Model "model" "The model is not there, or not for us."
    Size "size" "The request is too large."
    InFlight "in-flight" "Too many paid requests at once: the balance is good."
    Funds "funds" "The account cannot pay."
    FundsKey "funds-key" "The budget of one key is spent."
    FundsMaybe "funds-maybe" "Reads as out of money and is also said of short windows."
    Auth "auth" "The credential is wrong or lacks a right."
    AuthProject "auth-project" "The project or account is suspended or not set up."
    AuthModel "auth-model" "The model is closed to us."
    AuthMaybe "auth-maybe" "Reads as a wrong credential and is also said of what cannot be parsed."
    Capacity "capacity" "No capacity for the model."
    Busy "busy" "The whole server is busy."
    CapacityMaybe "capacity-maybe" "Reads as no capacity and is also said of our quota."
    ColdStart "cold-start" "The model is being loaded: not ill, not ready."
    Plan "plan" "The window of a plan or a tier."
    Quota "quota" "A quota, its window not named."
    Zero "zero" "A limit of zero."
    Minute "minute" "A window of a minute or less."
    Hour "hour" "A window of hours."
    Day "day" "A window of a day."
    Week "week" "A window of a week."
    Month "month" "A window of a month."
    EachModel "each-model" "A quota that counts each model by itself."
    Rate "rate" "A rate limit."
    RateKey "rate-key" "A rate limit of one key: connections, concurrency."
    RateProject "rate-project" "A rate limit of the whole project."
    RateUpstream "rate-upstream" "A rate limit of a pool that an aggregator shares."
    RateEdge "rate-edge" "A rate limit of a proxy in front of the provider."
    OwnLimit "own-limit" "A limit of ours, told in numbers."
    Fault "fault" "The server's own fault."
    Broken "broken" "Broken for good on this target, though it looks like the server's fault."
    Connection "connection" "The connection broke or never was."
    OwnMachine "own-machine" "Our own machine is out of something."
    Certificate "certificate" "A certificate that is not believed."
    Request "request" "Our request is wrong."
}

impl Sign {
    /// The sign of a word.
    pub(super) fn named(word: &str) -> Option<Sign> {
        Sign::WORDS.iter().find(|(name, _, _)| *name == word).map(|(_, sign, _)| *sign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_listed_in_their_own_order_and_told_in_a_sentence() {
        for (at, (word, sign, sentence)) in Sign::WORDS.iter().enumerate() {
            assert_eq!(*sign as usize, at);
            assert_eq!(Sign::named(word), Some(*sign));
            assert!(sentence.ends_with('.'), "{sentence}");
        }
    }
}
