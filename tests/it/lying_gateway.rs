//! Between the run and the judge sits somebody who lies: a claim is dropped, altered or made up, or a fact is not
//! as it was. The judge convicts from the facts, by the law that is meant for it.

use crate::support::{read, text_of};
use faultlab::gateway::{Action, Basis, Bill, Candidate, Decision, Limit, Outcome, Receipt, Role, Verdict};
use faultlab::judge::{Judge, Law, RunVerdict};
use faultlab::policy::eligibility::exclusions;
use faultlab::policy::ranking::Key;
use faultlab::policy::signal::Signal;
use faultlab::policy::taxonomy::Class;
use faultlab::sim::{Catalog, Entry, Observer, Scripted, What, run};
use faultlab::trace::{Author, Kind};
use faultlab::units::{CallId, CredentialId, Duration, Money, RequestId, RouteId, Timestamp};

/// What somebody makes of an entry: he says on what the judge is to see, in its place.
pub(crate) type Lie = fn(&Catalog, &What<'_>, &mut dyn FnMut(What<'_>));

struct Liar<'c> {
    catalog: &'c Catalog,
    lie: Lie,
    judge: Judge<'c>,
    seq: u64,
    /// Under which number the judge has seen an entry; of one that was dropped, the one before.
    told: Vec<u64>,
}

impl Observer for Liar<'_> {
    fn entry(&mut self, entry: &Entry<'_>) {
        let cause = entry.cause.map(|cause| self.told[cause as usize]);
        let (judge, seq) = (&mut self.judge, &mut self.seq);
        (self.lie)(self.catalog, &entry.what, &mut |what| {
            judge.entry(&Entry { seq: *seq, at: entry.at, cause, layer: entry.layer, what });
            *seq += 1;
        });
        self.told.push(self.seq.saturating_sub(1));
    }
}

/// The judgement of a run that somebody lies about.
fn judged(scenario: &str, variant: &str, lie: Lie) -> RunVerdict {
    let scenario = read(scenario, text_of(scenario));
    let at = scenario.variants.iter().position(|one| one.name == variant).expect("the variant is there");
    let setup = scenario.variants[at].setup_for(1);
    let judge = Judge::new(&setup.catalog, &scenario.expectations, at as u16, setup.seed);
    let mut liar = Liar { catalog: &setup.catalog, lie, judge, seq: 0, told: Vec::new() };
    let ending = run(&setup, &mut liar);
    liar.judge.finish(&ending)
}

/// Nobody is convicted without the lie, and with it this law names the breach.
pub(crate) fn check(scenario: &str, variant: &str, lie: Lie, law: Law, says: &str) {
    let honest = judged(scenario, variant, |_, what, tell| tell(*what));
    assert_eq!(honest.laws.tally(law).breaches, 0, "{scenario}/{variant} keeps {}", law.name());
    let verdict = judged(scenario, variant, lie);
    let told: Vec<&str> =
        verdict.laws.tally(law).first.iter().map(|breach| breach.sentence.as_str()).collect();
    let broken: Vec<&str> =
        Law::ALL.iter().filter(|law| verdict.laws.tally(**law).breaches > 0).map(|law| law.name()).collect();
    assert!(
        told.iter().any(|sentence| sentence.contains(says)),
        "{} says {told:?}; broken: {broken:?}",
        law.name()
    );
}

const THOUSANDTH: Money = Money::from_picos(1_000_000_000);

pub(crate) fn with_candidates(
    what: &What<'_>,
    tell: &mut dyn FnMut(What<'_>),
    change: impl Fn(&mut Vec<Candidate>),
) {
    if let What::Considered { request, candidates } = what {
        let mut candidates = candidates.to_vec();
        change(&mut candidates);
        tell(What::Considered { request: *request, candidates: &candidates });
    } else {
        tell(*what);
    }
}

pub(crate) fn with_decision(what: &What<'_>, tell: &mut dyn FnMut(What<'_>), change: impl Fn(&mut Decision)) {
    if let What::Decided(decision) = what {
        let mut decision = **decision;
        change(&mut decision);
        tell(What::Decided(&decision));
    } else {
        tell(*what);
    }
}

pub(crate) fn with_action(what: &What<'_>, tell: &mut dyn FnMut(What<'_>), change: impl Fn(&mut Action)) {
    if let What::Acted(action) = what {
        let mut action = **action;
        change(&mut action);
        tell(What::Acted(&action));
    } else {
        tell(*what);
    }
}

/// A call that no claim announces, on this route with its own key.
pub(crate) const fn unasked_call(request: RequestId, route: RouteId) -> What<'static> {
    What::CallBegun {
        call: CallId(77),
        request,
        route,
        credential: CredentialId(route.0),
        scripted: Scripted::Foreseen,
    }
}

#[test]
fn an_exclusion_that_is_hidden() {
    let lie: Lie = |_, what, tell| {
        with_candidates(what, tell, |candidates| {
            for candidate in candidates {
                if matches!(candidate.verdict, Verdict::Excluded { .. }) {
                    candidate.verdict = Verdict::Outranked { by: Key::Price };
                }
            }
        });
    };
    check("routing", "base", lie, Law::TrueReasons, "route-fast is not excluded although data_residency");
}

#[test]
fn an_exclusion_that_is_made_up() {
    let lie: Lie = |catalog, what, tell| {
        if let What::Considered { candidates, .. } = what {
            // What excludes the first route is said of the twin, which nothing excludes.
            let false_reason = candidates[0].verdict;
            assert!(matches!(false_reason, Verdict::Excluded { .. }));
            with_candidates(what, tell, |candidates| candidates[4].verdict = false_reason);
        } else {
            assert_eq!(catalog.routes.len(), 5);
            tell(*what);
        }
    };
    check("routing", "by_price", lie, Law::TrueReasons, "route-twin is excluded by data_residency; true is");
}

#[test]
fn one_true_reason_of_two_that_is_left_out() {
    let lie: Lie = |_, what, tell| {
        with_candidates(what, tell, |candidates| candidates[1].verdict = candidates[3].verdict);
    };
    check(
        "routing",
        "contract",
        lie,
        Law::TrueReasons,
        "route-cheap is excluded by contract_mismatch; true is",
    );
}

#[test]
fn a_route_that_is_not_mentioned() {
    let lie: Lie = |_, what, tell| {
        with_candidates(what, tell, |candidates| {
            candidates.remove(0);
        })
    };
    check("routing", "base", lie, Law::TrueReasons, "3 of 4 routes are considered");
}

#[test]
fn a_worst_case_that_is_made_small() {
    let lie: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::Reserved { amount, .. } = decision {
                amount.money = THOUSANDTH;
            }
        });
    };
    check("budget-audit", "task_level", lie, Law::WorstCaseIsReserved, "$0.001");
}

#[test]
fn a_denial_that_is_swallowed_and_a_call_that_is_made_all_the_same() {
    let lie: Lie = |_, what, tell| {
        if let What::Decided(Decision::Denied { request, route, .. }) = what {
            tell(unasked_call(*request, *route));
        } else {
            tell(*what);
        }
    };
    check("budget-audit", "base", lie, Law::MoneyWithinCaps, "fallback");
    check("budget-audit", "base", lie, Law::EveryCallIsAnnounced, "calls fallback");
    check("budget-audit", "base", lie, Law::EachCallEndsOnce, "fallback");
}

#[test]
fn a_cap_that_refused_nothing() {
    let lie: Lie = |_, what, tell| {
        with_action(what, tell, |action| {
            if let Action::Reply { outcome: outcome @ Outcome::Answered { .. }, .. } = action {
                *outcome =
                    Outcome::BudgetExceeded { level: faultlab::policy::ledger::Level::Request, last: None };
            }
        });
    };
    check("routing", "base", lie, Law::OutcomeIsTrue, "although no cap of the request refuses a call");
}

#[test]
fn a_true_limit_that_is_told_to_health_as_an_overload() {
    let lie: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::Signalled {
                class: class @ Some(Class::RateLimit),
                signal,
                breaker_failures,
                ..
            } = decision
            {
                (*class, *signal, *breaker_failures) = (Some(Class::Overload), Signal::Bad, 1);
            }
        });
    };
    check("bounded-429", "base", lie, Law::NeutralMovesNothing, "rate_limit");
}

/// The gateway did what a limit calls for. It was no limit: the account was empty.
#[test]
fn a_truth_that_was_another() {
    let lie: Lie = |_, what, tell| {
        if let What::CallEnded { call, truth: Some(Class::RateLimit), health, code, status, receipt } = what {
            let (truth, health) = (Some(Class::Funds), *health);
            tell(What::CallEnded { call: *call, truth, health, code: *code, status: *status, receipt });
        } else {
            tell(*what);
        }
    };
    check("bounded-429", "base", lie, Law::TerminalStops, "fallback");
    check("bounded-429", "base", lie, Law::TerminalKeepsItsName, "funds");
}

#[test]
fn a_terminal_fault_that_is_called_exhausted() {
    let lie: Lie = |_, what, tell| {
        with_action(what, tell, |action| {
            if let Action::Reply { outcome, .. } = action
                && let Outcome::Terminal { last } = *outcome
            {
                *outcome = Outcome::Exhausted { limit: Limit::Routes, last };
            }
        });
    };
    check("terminal-errors", "base", lie, Law::TerminalKeepsItsName, "auth");
}

#[test]
fn a_call_that_is_not_counted_and_time_that_was_not_left() {
    let fewer: Lie = |_, what, tell| {
        with_action(what, tell, |action| {
            if let Action::Reply { attempts, .. } = action {
                *attempts -= 1;
            }
        });
    };
    check("bounded-429", "base", fewer, Law::OutcomeIsTrue, "after 1 calls, it made 2");
    let later: Lie = |_, what, tell| {
        with_action(what, tell, |action| {
            if let Action::Reply { left, .. } = action {
                *left = Duration::from_secs(1);
            }
        });
    };
    check("bounded-429", "base", later, Law::OutcomeIsTrue, "with 1000 ms left, it has 570 ms");
}

#[test]
fn a_bill_that_is_made_small() {
    let settled: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::Settled { settlement, .. } = decision {
                settlement.actual.money = THOUSANDTH;
            }
        });
    };
    check(
        "routing",
        "base",
        settled,
        Law::BooksBalance,
        "settled at $0.001 and 12000 tokens, its receipt says $0.018",
    );
    let closed: Lie = |_, what, tell| {
        with_action(what, tell, |action| {
            if let Action::Close { spent, .. } = action {
                *spent = THOUSANDTH;
            }
        });
    };
    check("routing", "base", closed, Law::BooksBalance, "closes at $0.001, its calls cost $0.018");
    let assumed: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::Settled { basis: Basis::Assumed, settlement, .. } = decision {
                settlement.actual.money = THOUSANDTH;
            }
        });
    };
    check("budget-audit", "receipt_never_comes", assumed, Law::BooksBalance, "not its worst case");
}

#[test]
fn a_bill_that_was_larger() {
    let lie: Lie = |_, what, tell| {
        if let What::CallEnded { call, truth, health, code, status, receipt } = what {
            let bill = Bill::Exact(Money::from_picos(900_000_000_000));
            tell(What::CallEnded {
                call: *call,
                truth: *truth,
                health: *health,
                code: *code,
                status: *status,
                receipt: &Receipt { bill, ..**receipt },
            });
        } else {
            tell(*what);
        }
    };
    check("routing", "base", lie, Law::BooksBalance, "its receipt says $0.900");
}

#[test]
fn an_answer_that_is_given_twice_or_never_closed() {
    let twice: Lie = |_, what, tell| {
        if let What::Acted(Action::Reply { .. }) = what {
            tell(*what);
        }
        tell(*what);
    };
    check("routing", "base", twice, Law::OneReplyOneClose, "req-demo-001 is answered again");
    let never: Lie = |_, what, tell| {
        if let What::Acted(Action::Close { .. }) = what {
        } else {
            tell(*what);
        }
    };
    check("routing", "base", never, Law::OneReplyOneClose, "req-demo-001 is never closed");
}

/// The gateway announces one call, the upstream of another route takes it.
#[test]
fn a_call_that_goes_elsewhere() {
    let lie: Lie = |catalog, what, tell| {
        if let What::CallBegun { call, request, credential, scripted, .. } = *what {
            let abroad = RouteId(0);
            assert_eq!(catalog.names.text(catalog.routes[0].name), "route-fast");
            tell(What::CallBegun { call, request, route: abroad, credential, scripted });
        } else {
            tell(*what);
        }
    };
    check("routing", "base", lie, Law::EligibleOnly, "calls route-fast, which is excluded: data_residency");
    check("routing", "base", lie, Law::EveryCallIsAnnounced, "route-fast");
}

/// A route that became forbidden: what is declared is what counts, whatever the gateway holds true.
#[test]
fn a_request_that_demanded_more() {
    let lie: Lie = |catalog, what, tell| {
        if let What::Arrived { request, name, by } = *what {
            let mut request = *request;
            request.envelope.cost_max = THOUSANDTH;
            let fit = &catalog.routes[3].offer;
            assert!(!exclusions(&request.envelope, fit, 1).0.is_empty());
            tell(What::Arrived { request: &request, name, by });
        } else {
            tell(*what);
        }
    };
    check("routing", "base", lie, Law::EligibleOnly, "calls route-fit, which is excluded: request_budget");
    check("routing", "base", lie, Law::MoneyWithinCaps, "route-fit");
}

#[test]
fn a_stream_that_nobody_committed_to() {
    let lie: Lie = |_, what, tell| {
        if let What::Acted(Action::Commit { .. }) = what {
        } else {
            tell(*what);
        }
    };
    check("bounded-429", "first_byte_timeout", lie, Law::OneStream, "nothing was committed");
}

#[test]
fn a_retry_before_the_instant_that_was_asked_for() {
    let lie: Lie = |_, what, tell| {
        with_decision(what, tell, |decision| {
            if let Decision::RetryScheduled { at, delay, .. } = decision {
                *at = Timestamp::from_nanos(at.nanos() - 1);
                *delay = Duration::from_nanos(delay.nanos() - 1);
            }
        });
    };
    check("bounded-429", "retry_after_fits", lie, Law::RetryAfterIsAFloor, "primary");
}

#[test]
fn a_bench_that_ends_early() {
    let lie: Lie = |_, what, tell| {
        if let What::Decided(Decision::Benched { what: bench, class, .. }) = what {
            let until = Timestamp::ZERO;
            tell(*what);
            tell(What::Decided(&Decision::Benched { what: *bench, until, class: *class }));
        } else {
            tell(*what);
        }
    };
    check("terminal-errors", "base", lie, Law::BenchesOnlyGrow, "until an operator frees it");
}

#[test]
fn a_leg_after_the_winner() {
    let lie: Lie = |_, what, tell| {
        tell(*what);
        if let What::Acted(Action::Reply { request, .. }) = what {
            tell(unasked_call(*request, RouteId(2)));
        }
    };
    check("hedging", "base", lie, Law::NoCallAfterReply, "req-hedged");
}

#[test]
fn a_call_through_an_open_breaker() {
    let lie: Lie = |_, what, tell| {
        if let What::Acted(Action::Reply { request, outcome: Outcome::AllGated { .. }, .. }) = what {
            tell(unasked_call(*request, RouteId(0)));
        }
        tell(*what);
    };
    check("circuit", "base", lie, Law::BreakerRespected, "primary");
}

#[test]
fn a_call_with_a_number_that_is_not_its_own() {
    let lie: Lie = |_, what, tell| {
        with_action(what, tell, |action| {
            if let Action::Call(call) = action
                && call.role == Role::Fallback
            {
                call.nth = 1;
            }
        });
    };
    check("bounded-429", "base", lie, Law::EveryCallIsAnnounced, "number 1");
}

/// Drops every entry of one kind.
struct Silence<'c> {
    liar: Liar<'c>,
    kind: Kind,
}

impl Observer for Silence<'_> {
    fn entry(&mut self, entry: &Entry<'_>) {
        self.liar.lie =
            if Kind::of(&entry.what) == self.kind { |_, _, _| () } else { |_, what, tell| tell(*what) };
        self.liar.entry(entry);
    }
}

/// A gateway that keeps something to itself is found out: what no law can miss, a promise of the suite does.
#[test]
fn every_kind_of_claim_is_missed_when_it_is_not_made() {
    for kind in Kind::ALL.iter().copied().filter(|kind| kind.author() == Author::Gateway) {
        let (mut dropped, mut missed) = (0, Vec::new());
        for one in faultlab::suite::embedded() {
            let scenario = read(one.name, one.text);
            for (at, variant) in scenario.variants.iter().enumerate() {
                let setup = variant.setup_for(*variant.seeds.start());
                let judge = Judge::new(&setup.catalog, &scenario.expectations, at as u16, setup.seed);
                let (lie, told): (Lie, _) = (|_, what, tell| tell(*what), Vec::new());
                let liar = Liar { catalog: &setup.catalog, lie, judge, seq: 0, told };
                let mut silence = Silence { liar, kind };
                let ending = run(&setup, &mut silence);
                dropped += silence.liar.told.len() as u64 - silence.liar.seq;
                let verdict = silence.liar.judge.finish(&ending);
                let laws = Law::ALL.into_iter().filter(|law| !variant.breaks.contains(law));
                let broken = laws.filter(|law| verdict.laws.tally(*law).breaches > 0);
                missed.extend(broken.map(|law| law.name().to_owned()));
                let unkept = verdict.checks.iter().filter(|check| check.failure.is_some());
                missed.extend(unkept.map(|check| scenario.expectations[check.expectation].name.clone()));
            }
        }
        assert_eq!(dropped > 0, !missed.is_empty(), "{}: {dropped} are dropped", kind.label());
    }
}
