//! Laws about fuses: what blows stays blown, and it blows only where it must.

use super::{Begun, Ruling};
use crate::gateway::{FuseKind, FuseScope, StopReason};
use crate::judge::book::{Book, Fuse};
use crate::policy::taxonomy::Class;
use crate::units::RequestId;

pub(super) fn calls_within_fuse(book: &Book<'_>, begun: &Begun<'_>) -> Ruling {
    let limits = &book.facts.limits;
    if limits.calls_per_task.is_none() && limits.calls_per_run.is_none() {
        return Ruling::Silent;
    }
    let task = begun.page.and_then(|page| book.task(&page.payer));
    let of_task = limits.calls_per_task.zip(task);
    let is_over = |made: u64, most: u64, fuse: Fuse| made >= most || fuse == Fuse::Blown;
    let task_over = of_task.filter(|(most, task)| is_over(task.calls, *most, task.fuse));
    let run_over = limits.calls_per_run.filter(|most| is_over(book.run.calls, *most, book.run.fuse));
    if task_over.is_none() && run_over.is_none() {
        return if of_task.is_some() || limits.calls_per_run.is_some() {
            Ruling::Held
        } else {
            Ruling::Silent
        };
    }
    Ruling::broken(move || {
        let (who, route) = (book.request_name(begun.request), book.route_name(begun.route));
        let (whose, made, most) = match task_over {
            Some((most, task)) => (book.task_name(task.name), task.calls, most),
            None => ("the run".to_owned(), book.run.calls, run_over.unwrap_or_default()),
        };
        format!("{who} calls {route}: call {} of {whose}, whose fuse allows {most}", made + 1)
    })
}

/// A fuse blows at its limit and not before; a terminal one at a true terminal fault.
pub(super) fn blows_rightly(book: &Book<'_>, fuse: FuseKind, id: RequestId, calls: u64) -> Ruling {
    let (limits, page) = (&book.facts.limits, book.request(id));
    let made = match fuse {
        FuseKind::CallsPerTask => page.and_then(|page| book.task(&page.payer)).map_or(0, |task| task.calls),
        FuseKind::CallsPerRun | FuseKind::Terminal => book.run.calls,
    };
    let is_due = match fuse {
        FuseKind::CallsPerTask => limits.calls_per_task == Some(made),
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
    Ruling::broken(move || {
        format!(
            "{} calls {} with {} after {} from {} at {} (entry {})",
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
        StopReason::CallsPerRun => limits.calls_per_run.is_some_and(|most| book.run.calls >= most),
        StopReason::Terminal(failure) => {
            let is_named = |class: Class| class == failure.class;
            book.run.terminal.is_some_and(|fault| is_named(fault.class))
                || book.any_closed().any(|fault| is_named(fault.class))
        }
    }
}
