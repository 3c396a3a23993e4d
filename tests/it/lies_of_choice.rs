//! Lies about who is best, and by what.

use crate::lying_gateway::{Lie, check, with_candidates};
use faultlab::gateway::Verdict;
use faultlab::judge::Law;
use faultlab::policy::ranking::Key;

#[test]
fn a_choice_that_is_said_to_be_made_by_another_key() {
    let lie: Lie = |_, what, tell| {
        with_candidates(what, tell, |candidates| {
            for candidate in candidates {
                if let Verdict::Chosen { by: Some(by) } = &mut candidate.verdict {
                    *by = if *by == Key::Quality { Key::Price } else { Key::Quality };
                }
            }
        });
    };
    check("routing", "by_price", lie, Law::BestIsChosen, "by quality, it is by price");
    check("routing", "by_weight", lie, Law::BestIsChosen, "by quality, it is by weight");
    check("bounded-429", "base", lie, Law::BestIsChosen, "by quality, it is by tries");
}

#[test]
fn a_route_that_is_said_to_be_out_by_another_key() {
    let lie: Lie = |_, what, tell| {
        with_candidates(what, tell, |candidates| {
            for candidate in candidates {
                if let Verdict::Outranked { by } = &mut candidate.verdict {
                    *by = if *by == Key::Order { Key::Plan } else { Key::Order };
                }
            }
        });
    };
    check("routing", "by_price", lie, Law::BestIsChosen, "by order, it is by price");
    check("routing", "by_quality", lie, Law::BestIsChosen, "by order, it is by quality");
}
