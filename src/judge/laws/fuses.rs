//! Laws about fuses: what blows stays blown, and it blows only where it must.

use super::calls::unapproved;
use super::{Begun, Ruling};
use crate::gateway::{FuseKind, FuseScope, StopReason};
use crate::judge::book::{Book, Fuse, RequestPage, TaskPage};
use crate::policy::fuse::Repeats;
use crate::policy::taxonomy::Class;
use crate::sim::Limits;
use crate::units::RequestId;
use std::num::NonZeroU64;

pub(super) fn calls_within_fuse(book: &Book<'_>, begun: &Begun<'_>) -> Ruling {
    let limits = &book.facts.limits;
    let is_fused = limits.calls_per_task.is_some() || limits.repeats != Repeats::default();
    let task =
        begun.page.filter(|_| is_fused).and_then(|page| book.task(&page.payer).map(|task| (page, task)));
    if task.is_none() && limits.calls_per_run.is_none() {
        return Ruling::Silent;
    }
    let over = task
        .and_then(|(page, task)| overdrawn(limits, task, page.content))
        .map(|(fuse, made, most)| (fuse, task.map(|(_, task)| task.name), made, most));
    let run_over = limits
        .calls_per_run
        .filter(|most| book.run.calls >= *most || book.run.fuse == Fuse::Blown)
        .map(|most| (FuseKind::CallsPerRun, None, book.run.calls, most));
    let Some((fuse, whose, made, most)) = over.or(run_over) else { return Ruling::Held };
    Ruling::broken(move || {
        let (who, route) = (book.request_name(begun.request), book.route_name(begun.route));
        let whose = whose.map_or_else(|| "the run".to_owned(), |name| book.task_name(name));
        let row = match fuse {
            FuseKind::IdenticalPerTask => " that asks the same",
            FuseKind::FailingPerTask => " after one failure on the other",
            FuseKind::CallsPerTask | FuseKind::CallsPerRun | FuseKind::Terminal => "",
        };
        format!("{who} calls {route}: call {}{row} of {whose}, whose fuse allows {most}", made + 1)
    })
}

/// The fuse of a task that one more call that asks this would blow, or that is blown; what it counts, and how many
/// it allows.
fn overdrawn(limits: &Limits, task: &TaskPage, content: Option<NonZeroU64>) -> Option<(FuseKind, u64, u64)> {
    let row = &task.row;
    let fuses = [
        (FuseKind::FailingPerTask, limits.repeats.failing, row.failing),
        (FuseKind::IdenticalPerTask, limits.repeats.identical, row.with(content) - 1),
        (FuseKind::CallsPerTask, limits.calls_per_task, task.calls),
    ];
    fuses.into_iter().find_map(|(fuse, most, made)| {
        let most = most?;
        (made >= most || task.blown == Some(fuse)).then_some((fuse, made, most))
    })
}

/// Whether one more call of a request would blow a fuse, or meets one that is blown.
pub(super) fn would_blow(book: &Book<'_>, page: &RequestPage) -> bool {
    book.run.terminal.is_some() || would_blow_a_count(book, page)
}

/// The same of fuses that count.
pub(super) fn would_blow_a_count(book: &Book<'_>, page: &RequestPage) -> bool {
    let limits = &book.facts.limits;
    limits.calls_per_run.is_some_and(|most| book.run.calls >= most)
        || book.task(&page.payer).is_some_and(|task| overdrawn(limits, task, page.content).is_some())
}

/// Whether nobody waits for another call of this request: a fuse that counts is blown, as was told. Where the fault that
/// stopped the run is one for which something is approved, who may go on by that waits on.
pub(super) fn stops_waiting(book: &Book<'_>, page: &RequestPage) -> bool {
    let is_blown =
        book.run.fuse == Fuse::Blown || book.task(&page.payer).is_some_and(|task| task.blown.is_some());
    is_blown && !book.run.terminal.is_some_and(|fault| book.is_approved_for(fault.class))
}

/// A fuse blows at its limit and not before; a terminal one at a true terminal fault.
pub(super) fn blows_rightly(book: &Book<'_>, fuse: FuseKind, id: RequestId, calls: u64) -> Ruling {
    let (limits, page) = (&book.facts.limits, book.request(id));
    let task = page.and_then(|page| book.task(&page.payer));
    let made = match fuse {
        FuseKind::CallsPerTask => task.map_or(0, |task| task.calls),
        FuseKind::IdenticalPerTask => {
            page.zip(task).map_or(0, |(page, task)| task.row.with(page.content) - 1)
        }
        FuseKind::FailingPerTask => task.map_or(0, |task| task.row.failing),
        FuseKind::CallsPerRun | FuseKind::Terminal => book.run.calls,
    };
    let is_due = match fuse {
        FuseKind::CallsPerTask => limits.calls_per_task == Some(made),
        FuseKind::IdenticalPerTask => limits.repeats.identical == Some(made),
        // Calls in flight may have failed too before the next one was wanted.
        FuseKind::FailingPerTask => limits.repeats.failing.is_some_and(|most| made >= most),
        FuseKind::CallsPerRun => limits.calls_per_run == Some(made),
        FuseKind::Terminal => {
            limits.terminal_scope != FuseScope::Request && page.is_some_and(|page| page.terminal.is_some())
        }
    };
    Ruling::unless((!is_due || calls != made).then_some(move || {
        let (who, what) = (book.request_name(id), fuse.label());
        format!("{who} blows the fuse {what} after {made} calls, told as {calls}, and it is not due")
    }))
}

/// The law is put to the test by every true terminal fault that stops more than its request.
pub(super) fn meets_terminal(book: &Book<'_>, truth: Option<Class>) -> Ruling {
    let stops_more = book.facts.limits.terminal_scope != FuseScope::Request;
    if stops_more && truth.is_some_and(Class::is_terminal) { Ruling::Held } else { Ruling::Silent }
}

pub(super) fn terminal_fuse_holds(book: &Book<'_>, begun: &Begun<'_>) -> Ruling {
    let fault = match book.facts.limits.terminal_scope {
        FuseScope::Request => return Ruling::Silent,
        FuseScope::Account => book.closed(begun.credential),
        FuseScope::Run => book.run.terminal,
    };
    let Some(fault) = fault else { return Ruling::Silent };
    let why = match book.facts.limits.terminal_scope {
        FuseScope::Run => unapproved(book, begun, fault),
        FuseScope::Account | FuseScope::Request => Some(String::new()),
    };
    let Some(why) = why else { return Ruling::Held };
    Ruling::broken(move || {
        format!(
            "{} calls {} with {} after {} from {} at {} (entry {}){why}",
            book.request_name(begun.request),
            book.route_name(begun.route),
            book.credential_name(begun.credential),
            fault.class.label(),
            book.route_name(fault.route),
            fault.at,
            fault.seq,
        )
    })
}

/// Whether a request may be told that a fuse stops it.
pub(in crate::judge) fn is_stopped(book: &Book<'_>, id: RequestId, reason: StopReason) -> bool {
    let (limits, page) = (&book.facts.limits, book.request(id));
    match reason {
        StopReason::CallsPerTask => {
            let task = page.and_then(|page| book.task(&page.payer));
            limits.calls_per_task.zip(task).is_some_and(|(most, task)| task.calls >= most)
        }
        // That it was due was judged when it blew; a row may have ended since.
        StopReason::IdenticalPerTask | StopReason::FailingPerTask => {
            page.and_then(|page| book.task(&page.payer)).is_some_and(|task| task.blown == Some(reason.fuse()))
        }
        StopReason::CallsPerRun => limits.calls_per_run.is_some_and(|most| book.run.calls >= most),
        StopReason::Terminal(failure) => {
            book.run.terminal.is_some_and(|fault| fault.is_named(failure))
                || book.any_closed().any(|fault| fault.is_named(failure))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gateway::{
        Approval, Decision, Delivery, FuseKind, FuseScope, Outcome, StopReason, Task, Wait,
    };
    use crate::judge::Law;
    use crate::judge::play::*;
    use crate::policy::ledger::Amount;
    use crate::policy::taxonomy::Class;
    use crate::sim::{Catalog, TaskEnd, TaskFact, TaskName, What};
    use crate::units::{ProjectId, RequestId, RouteId, TaskId};

    /// Two calls a task, three in all.
    fn fused() -> Catalog {
        let mut catalog = catalog();
        let name = catalog.names.intern("turn");
        catalog.tasks.push(TaskFact { name, cap: Amount::MAX });
        (catalog.limits.calls_per_task, catalog.limits.calls_per_run) = (Some(2), Some(3));
        catalog
    }

    /// So many requests of a task, one after the other; before each of `turns` another task begins.
    fn turns(turns: &[u64]) -> impl Fn(&mut Play<'_>) {
        move |play| {
            for (ordinal, turn) in (0..).zip(turns) {
                let (task, name) = (TaskId(1), TaskName { kind: 0, ordinal: Some(ordinal) });
                play.say(What::TaskBegan { task, name });
                for _ in 0..*turn {
                    play.arrive_as(R, |request| request.payer.task = Some(Task { id: task, kind: 0 }));
                    let call = play.call(R, A);
                    play.end(call, None, 16).reply(R, Outcome::Answered { route: A }).close(R);
                }
                play.say(What::TaskEnded { task, end: TaskEnd::Answered });
            }
        }
    }

    fn check_fuse(broken: impl Fn(&mut Play<'_>), says: &str) {
        check_in(&fused(), Law::CallsWithinFuse, turns(&[2, 1]), broken, says);
    }

    #[test]
    fn no_call_is_made_above_a_fuse() {
        check_fuse(turns(&[3]), "req/3 calls alpha: call 3 of turn/1, whose fuse allows 2");
        check_fuse(turns(&[2, 2]), "req/4 calls alpha: call 4 of the run, whose fuse allows 3");
    }

    #[test]
    fn nobody_waits_on_for_a_call_that_a_blown_fuse_stops() {
        let waits = |fault: Option<Class>, blown: Option<FuseKind>| {
            move |play: &mut Play<'_>| {
                let task = TaskId(1);
                play.say(What::TaskBegan { task, name: TaskName { kind: 0, ordinal: Some(0) } });
                play.arrive_as(R, |request| request.payer.task = Some(Task { id: task, kind: 0 }));
                let call = play.call(R, A);
                play.at(80).end(call, Some(Class::RateLimit), 0);
                let (delay, hint, amount) = (MS(100), MS(0), WORST.money);
                play.decide(Decision::RetryScheduled {
                    request: R,
                    at: at(180),
                    delay,
                    hint,
                    route: A,
                    amount,
                });
                if let Some(class) = fault {
                    let other = RequestId(1);
                    play.arrive_with(other, envelope(), Delivery::Whole);
                    let call = play.call(other, A);
                    play.at(100).end(call, Some(class), 0);
                }
                if let Some(fuse) = blown {
                    play.decide(Decision::Blew { fuse, request: R, calls: 1 });
                }
                play.at(180).say(What::Woke { wait: Wait::Retry(R) });
            }
        };
        let says = "the retry of req/1 is not waited for and fires at 180 ms";
        for fuse in [FuseKind::CallsPerTask, FuseKind::CallsPerRun] {
            check_in(&fused(), Law::Caused, waits(None, None), waits(None, Some(fuse)), says);
        }
        let mut approved = fused();
        approved.limits.terminal_scope = FuseScope::Run;
        approved.approvals.push(Approval { on: Class::Funds, route: B, cost_max: WORST.money });
        let blown = Some(FuseKind::CallsPerTask);
        for other in [None, Some(Class::Auth)] {
            let goes_on = waits(Some(Class::Funds), blown);
            check_in(&approved, Law::Caused, goes_on, waits(other, blown), says);
        }
    }

    #[test]
    fn a_fuse_blows_at_its_limit_and_stays_blown() {
        let blown = |after: u64, told: u64, fuse: FuseKind| {
            move |play: &mut Play<'_>| {
                turns(&[after])(play);
                let task = Some(Task { id: TaskId(1), kind: 0 });
                play.arrive_as(R, |request| request.payer.task = task);
                play.decide(Decision::Blew { fuse, request: R, calls: told });
            }
        };
        let says = "req/2 blows the fuse calls_per_task after 1 calls, told as 1, and it is not due";
        check_in(
            &fused(),
            Law::CallsWithinFuse,
            blown(2, 2, FuseKind::CallsPerTask),
            blown(1, 1, FuseKind::CallsPerTask),
            says,
        );
        check_fuse(blown(2, 1, FuseKind::CallsPerTask), "after 2 calls, told as 1");
        check_fuse(blown(2, 2, FuseKind::CallsPerRun), "blows the fuse calls_per_run after 2 calls");
        let goes_on = |play: &mut Play<'_>| {
            blown(1, 1, FuseKind::CallsPerTask)(play);
            play.call(R, A);
        };
        check_fuse(goes_on, "req/2 calls alpha: call 2 of turn/1, whose fuse allows 2");
        let stopped = |made: u64, reason: StopReason| {
            move |play: &mut Play<'_>| {
                blown(made, made, FuseKind::CallsPerTask)(play);
                play.reply(R, Outcome::Stopped { reason, last: None }).close(R);
            }
        };
        let says = "is answered CALL_BUDGET_EXCEEDED by the fuse calls_per_run, which is not blown";
        let right = stopped(2, StopReason::CallsPerTask);
        check_in(&fused(), Law::OutcomeIsTrue, right, stopped(2, StopReason::CallsPerRun), says);
    }

    #[test]
    fn a_terminal_fault_stops_as_much_as_is_promised() {
        let then = |called: Option<RouteId>| {
            move |play: &mut Play<'_>| {
                play.arrive(Delivery::Whole);
                let call = play.call(R, A);
                play.at(80).end(call, Some(Class::Funds), 0);
                let other = RequestId(1);
                play.arrive_with(other, envelope(), Delivery::Whole);
                if let Some(route) = called {
                    play.call(other, route);
                }
            }
        };
        let mut account = catalog();
        account.limits.terminal_scope = FuseScope::Account;
        let says = "req/2 calls alpha with alpha after funds from alpha at 80 ms";
        check_in(&account, Law::TerminalFuseHolds, then(Some(B)), then(Some(A)), says);
        let mut shared = account.clone();
        shared.credentials[1].project = ProjectId(0);
        check_in(
            &shared,
            Law::TerminalFuseHolds,
            then(None),
            then(Some(B)),
            "req/2 calls beta with beta after funds",
        );
        let mut run = catalog();
        run.limits.terminal_scope = FuseScope::Run;
        check_in(
            &run,
            Law::TerminalFuseHolds,
            then(None),
            then(Some(B)),
            "req/2 calls beta with beta after funds",
        );
        let blows = |play: &mut Play<'_>| {
            play.arrive(Delivery::Whole);
            play.decide(Decision::Blew { fuse: FuseKind::Terminal, request: R, calls: 0 });
        };
        check_in(
            &run,
            Law::TerminalFuseHolds,
            then(None),
            blows,
            "req/1 blows the fuse terminal after 0 calls",
        );
    }
}
