//! Windows: nothing can be denied from inside a process, so the guard audits. Every way to a socket leads through
//! one of four modules; none of them is loaded when the guard is armed, and none when it is finished.

#![expect(unsafe_code, reason = "asks the loader whether a module is there")]

use super::{GuardError, Mechanism, Report, SelfTest, Strength};
use std::ffi::{CStr, c_char, c_void};

/// The audit between its two looks.
#[derive(Debug)]
pub(super) struct Watch;

/// Audits for the first time. Modules found mean no guard at all.
pub(super) fn arm(report: &mut Report) -> Result<Option<Watch>, GuardError> {
    if let Some(found) = loaded() {
        report.pass_over(Mechanism::ModuleAudit, found);
        return Ok(None);
    }
    // The control of the audit: a module that every process has must be seen, or not seeing the others is no news.
    let seen = is_loaded(c"kernel32.dll");
    report.self_test = SelfTest { probes: 1, denied: u32::from(seen), counted: None };
    if !seen {
        report.pass_over(Mechanism::ModuleAudit, "the loader does not even know kernel32.dll");
        return Ok(None);
    }
    report.strength = Strength::Audited;
    report.mechanism = Mechanism::ModuleAudit;
    report.not_covered = vec![
        "a network module loaded and freed again between the two audits",
        "code that talks to the network driver itself, below the modules audited",
        "programs started from here, and other processes asked over a file or a pipe",
        "handles this process was started with",
    ];
    Ok(Some(Watch))
}

impl Watch {
    /// Audits again.
    pub(super) fn finish(self, report: &mut Report) {
        if let Some(found) = loaded() {
            report.pass_over(Mechanism::ModuleAudit, found);
            report.strength = Strength::None;
            report.mechanism = Mechanism::None;
        }
    }
}

const AUDITED: [(&CStr, &str); 4] = [
    (c"ws2_32.dll", "ws2_32.dll is loaded"),
    (c"winhttp.dll", "winhttp.dll is loaded"),
    (c"wininet.dll", "wininet.dll is loaded"),
    (c"dnsapi.dll", "dnsapi.dll is loaded"),
];

fn loaded() -> Option<&'static str> {
    AUDITED.iter().find(|(name, _)| is_loaded(name)).map(|(_, finding)| *finding)
}

fn is_loaded(name: &CStr) -> bool {
    // SAFETY: the name ends in a zero byte, and the call neither keeps it nor takes a reference to the module.
    unsafe { !GetModuleHandleA(name.as_ptr()).is_null() }
}

#[link(name = "kernel32")]
unsafe extern "system" {
    fn GetModuleHandleA(name: *const c_char) -> *mut c_void;
}
