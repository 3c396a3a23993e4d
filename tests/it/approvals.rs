//! A gateway that makes more of an approval than it says, or less, is convicted; and what a run that a fault has stopped
//! still does by one.

use crate::profiles::{Defect, check};
use crate::support::{failures, read, text_of};
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

/// Two questions at once to a model that replies so, in a run that a terminal fault stops; a slower reserve is approved
/// after an empty account. What fails.
fn both_asked(replies: &str, promises: &str) -> Vec<String> {
    let text = format!(
        "format = 1\ntitle = \"A run that stops\"\n[policy]\nfuse.terminal = \"run\"\n\
         retry.backoff = {{ fixed = \"1 s\" }}\n\
         [[policy.approved_failover]]\non = \"funds\"\nroute = \"reserve\"\ncost_max = \"$1.00\"\n\
         [[route]]\nname = \"model\"\nprice = {{ input = \"$1.00/Mtok\", output = \"$8.00/Mtok\" }}\n\
         upstream.replies = [{replies}]\n\
         [[route]]\nname = \"reserve\"\nlatency_p95 = \"9 s\"\n\
         price = {{ input = \"$1.00/Mtok\", output = \"$8.00/Mtok\" }}\nupstream.replies = [{{ after = \"500 ms\" }}]\n\
         [[request]]\nid = \"first\"\ntokens = {{ input = 1000, output_max = 100 }}\n\
         [[request]]\nid = \"second\"\ntokens = {{ input = 1000, output_max = 100 }}\n{promises}"
    );
    failures("stopped-run", &text)
}

#[test]
fn a_run_that_another_fault_stopped_goes_on_by_no_approval() {
    let failed = both_asked(
        "{ after = \"300 ms\", status = 402 }, { after = \"100 ms\", status = 401 }",
        "[[expect]]\nname = \"it_was_the_key\"\n\
         first = { event = \"replied\", request = \"second\", outcome = \"terminal\", class = \"auth\" }\nat = \"100 ms\"\n\
         [[expect]]\nname = \"then_the_account\"\n\
         first = { event = \"replied\", request = \"first\", outcome = \"terminal\", class = \"funds\" }\nat = \"300 ms\"\n\
         [[expect]]\nname = \"nothing_is_called\"\nnever = { event = \"called\", route = \"reserve\" }\n",
    );
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn who_may_go_on_as_approved_waits_on_when_the_run_stops() {
    let failed = both_asked(
        "{ after = \"100 ms\", status = 503 }, { after = \"300 ms\", status = 402 }",
        "[[expect]]\nname = \"who_met_the_fault_goes_on_at_once\"\n\
         first = { event = \"called\", request = \"second\", role = \"approved\" }\nat = \"300 ms\"\n\
         [[expect]]\nname = \"who_waits_goes_on_after_its_wait\"\n\
         first = { event = \"called\", request = \"first\", role = \"approved\" }\nat = \"1100 ms\"\n\
         [[expect]]\nname = \"both_are_answered\"\n\
         count = { event = \"replied\", outcome = \"answered\", route = \"reserve\" }\nequals = 2\n",
    );
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
