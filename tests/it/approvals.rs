//! A gateway that makes more of an approval than it says, or less, is convicted.

use crate::profiles::{Defect, check};
use crate::support::{read, text_of};
use faultlab::gateway::Approval;
use faultlab::judge::Law;
use faultlab::policy::taxonomy::Class;
use faultlab::scenario::Scenario;
use faultlab::units::{Money, RouteId};

fn out_of_money() -> Scenario {
    read("out-of-money", text_of("out-of-money"))
}

#[test]
fn a_budget_that_is_ignored() {
    let spends_on: Defect = |setup| setup.registry.approvals[0].cost_max = Money::MAX;
    let says = "for which too little is approved: the approval would stand at $0.117 of $0.100";
    check(&out_of_money(), "approved_budget_ends", spends_on, Law::TerminalFuseHolds, says);
    let says = "for which too little is approved: the approval would stand at $0.507 of $0.500";
    check(&out_of_money(), "approved_one_by_one", spends_on, Law::TerminalStops, says);
    check(
        &out_of_money(),
        "approved_one_by_one",
        spends_on,
        Law::MoneyWithinCaps,
        "the approval would stand at",
    );
}

#[test]
fn another_route_than_the_one_that_is_named() {
    let elsewhere: Defect = |setup| setup.registry.approvals[0].route = RouteId(1);
    let says = "calls another after funds from model";
    check(&out_of_money(), "approved", elsewhere, Law::TerminalStops, says);
    check(&out_of_money(), "approved", elsewhere, Law::TerminalStops, "for which reserve is approved");
    check(&out_of_money(), "approved", elsewhere, Law::TerminalFuseHolds, "for which reserve is approved");
    check(&out_of_money(), "approved", elsewhere, Law::TrueReasons, "another one is approved");
}

#[test]
fn what_is_approved_for_a_wrong_key_is_used_for_an_empty_account() {
    let for_all: Defect = |setup| setup.registry.approvals[0].on = Class::Funds;
    let says = "calls reserve after funds from model";
    check(&out_of_money(), "approved_for_another_fault", for_all, Law::TerminalStops, says);
}

#[test]
fn what_nobody_has_approved() {
    let unasked: Defect = |setup| {
        let cost_max = Money::from_picos(1_000_000_000_000);
        setup.registry.approvals = vec![Approval { on: Class::Funds, route: RouteId(2), cost_max }];
    };
    check(
        &out_of_money(),
        "after",
        unasked,
        Law::TerminalFuseHolds,
        "calls reserve with key-two after funds",
    );
    check(
        &out_of_money(),
        "after",
        unasked,
        Law::TerminalKeepsItsName,
        "met funds on model and is answered answered",
    );
}

#[test]
fn what_was_approved_is_not_used() {
    let shy: Defect = |setup| setup.registry.approvals.clear();
    let says = "although reserve is approved then, and can be called";
    check(&out_of_money(), "approved", shy, Law::OutcomeIsTrue, says);
}
