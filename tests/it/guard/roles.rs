//! What the children play. Each arms the guard, tries to get out in one way, and ends as the binary would.

#![expect(clippy::disallowed_types, reason = "the roles try what must be denied")]

use super::outer;
use super::stage::{arm, finish, myself, say};
use faultlab::guard::Requirement::{self, BestEffort, Off, Require};
use std::fmt::Debug;
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

/// A role by its name. Behind [`TRAPPED`] it is played where the kernel cannot ask, so that the guard traps.
pub(crate) fn play(role: &str) {
    let Some(role) = role.strip_prefix(TRAPPED) else { return play_here(role) };
    outer::cannot_ask();
    play_here(role);
}

pub(crate) const TRAPPED: &str = "trapped: ";

fn play_here(role: &str) {
    match role {
        "nothing" => guarded(|| {}),
        "tcp" => guarded(|| tried(TcpStream::connect(NOWHERE))),
        "tcp6" => guarded(|| tried(TcpStream::connect("[::1]:9"))),
        "udp" => guarded(|| tried(UdpSocket::bind("0.0.0.0:0"))),
        "listener" => guarded(|| tried(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))),
        "unix" => guarded(|| tried(UnixStream::connect("/var/run/docker.sock"))),
        "look_up" => guarded(look_up),
        "swallowed" => guarded(|| drop(TcpStream::connect(NOWHERE).ok())),
        "thread" => guarded(|| join(std::thread::spawn(|| tried(TcpStream::connect(NOWHERE))))),
        "earlier_thread" => earlier_thread(),
        "eight_threads" => guarded(eight_threads),
        "fork" => guarded(fork_and_try),
        "started_program" => guarded(|| start("three_tries")),
        "three_tries" => (0..3).for_each(|_| tried(TcpStream::connect(NOWHERE))),
        "ring" => guarded(|| tried_call(ring())),
        "every_call" => guarded(every_call),
        "pair" => guarded(|| say("pair", UnixStream::pair().is_ok())),
        "opened_before" => opened_before(),
        "holds_inet" => holds(libc::AF_INET),
        "holds_inet6" => holds(libc::AF_INET6),
        "holds_netlink" => holds(libc::AF_NETLINK),
        "hands_over" => hands_over(),
        "holds_ring" => holds_ring(),
        "interrupted" => guarded(interrupted),
        "interrupted_while_asked" => {
            outer::is_interrupted_while_it_asks();
            guarded(interrupted);
        }
        "foreign_convention" => guarded(foreign_convention),
        "outlived" => guarded(|| leave_behind("outlives")),
        "outlives" => outlives(),
        "off" => under(Off, || {}),
        "best_effort" => under(BestEffort, || tried(TcpStream::connect(NOWHERE))),
        "fell" => guarded(outer::answers_for_sockets),
        "fell_after_an_attempt" => guarded(|| {
            tried(TcpStream::connect(NOWHERE));
            outer::answers_for_sockets();
        }),
        "guard_in_guard" => guarded(|| start("tcp")),
        "vsock_answered" => inside(outer::answers_for_vsock, Require),
        "cannot_count" => inside(outer::cannot_ask_nor_trap, Require),
        "cannot_count_best_effort" => inside(outer::cannot_ask_nor_trap, BestEffort),
        "cannot_filter" => inside(outer::cannot_filter, Require),
        "cannot_filter_best_effort" => inside(outer::cannot_filter, BestEffort),
        "whole_program" => whole_program(),
        "measured" => super::measured::play(),
        role => panic!("no role {role:?}"),
    }
}

/// A port of this very machine where nobody listens: were the guard to fail, still nothing would leave.
const NOWHERE: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 9);

fn guarded(tries: impl FnOnce()) {
    under(Require, tries);
}

fn under(requirement: Requirement, tries: impl FnOnce()) {
    let guard = arm(requirement);
    tries();
    finish(guard, requirement)
}

fn inside(sandbox: fn(), requirement: Requirement) {
    sandbox();
    under(requirement, || tried(TcpStream::connect(NOWHERE)));
}

/// What came of it: an error's name, or what must never be.
fn tried<T: Debug>(result: io::Result<T>) {
    match result {
        Ok(opened) => say("tried", format!("{opened:?} CAME THROUGH")),
        Err(problem) => say("tried", problem.raw_os_error().unwrap_or(-1)),
    }
}

/// The same for a call of the C library or of the kernel.
fn tried_call(result: impl Into<i64>) {
    let result: i64 = result.into();
    tried(if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) });
}

/// The resolver tries several sockets and swallows why they fail, so what is denied is counted, not predicted.
fn look_up() {
    say("found", ("faultlab.invalid", 80).to_socket_addrs().is_ok());
}

fn join(thread: std::thread::JoinHandle<()>) {
    thread.join().expect("the thread only tries");
}

fn earlier_thread() {
    let (go, wait) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        wait.recv().expect("told to go");
        tried(TcpStream::connect(NOWHERE));
    });
    guarded(|| {
        go.send(()).expect("the thread waits");
        join(thread);
    });
}

fn eight_threads() {
    std::thread::scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| {
                for _ in 0..2_000 {
                    let problem = TcpStream::connect(NOWHERE).expect_err("denied");
                    assert_eq!(problem.raw_os_error(), Some(libc::EACCES));
                }
            });
        }
    });
}

fn fork_and_try() {
    // SAFETY: the fork makes system calls and ends.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            let open = (0..5).filter(|_| libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0) >= 0).count();
            libc::_exit(open as i32);
        }
        let mut status = -1;
        assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
        say("forked", status);
    }
}

/// Starts this binary in another role, and says how it ended and what it said.
fn start(role: &str) {
    let output = myself(role).stdin(Stdio::null()).output().expect("starts");
    say("started", output.status);
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some((name, value)) = line.strip_prefix('@').and_then(|line| line.split_once('=')) {
            say(&format!("inner_{name}"), value);
        }
    }
}

/// By number and with nothing sensible in their arguments: whatever the caller meant, it is denied first.
fn every_call() {
    for number in NETWORK.into_iter().chain(BYPASS) {
        // SAFETY: no call gets as far as its arguments.
        tried_call(unsafe { libc::syscall(number, -1, 0, 0, 0, 0, 0) });
    }
}

pub(crate) const NETWORK: [i64; 13] = [
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
];

pub(crate) const BYPASS: [i64; 13] = [
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_pidfd_getfd,
    libc::SYS_ptrace,
    libc::SYS_process_vm_writev,
    libc::SYS_bpf,
    libc::SYS_request_key,
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_fsopen,
    libc::SYS_setns,
];

/// A Unix socket is let pass when the guard is armed; what is done with it afterwards is not.
fn opened_before() {
    let (ours, theirs) = UnixDatagram::pair().expect("nothing denies a pair yet");
    let unbound = UnixDatagram::unbound().expect("nothing denies a socket yet");
    guarded(|| {
        tried(theirs.recv(&mut [0; 8]));
        tried(unbound.connect("/var/run/docker.sock"));
        tried(unbound.send_to(b"out", "/var/run/docker.sock"));
        let descriptor = unbound.as_raw_fd();
        // SAFETY: no call gets as far as its arguments.
        unsafe {
            tried_call(libc::send(ours.as_raw_fd(), std::ptr::null(), 0, 0) as i64);
            tried_call(libc::sendmsg(descriptor, std::ptr::null(), 0) as i64);
            tried_call(libc::recvmsg(descriptor, std::ptr::null_mut(), 0) as i64);
            tried_call(libc::listen(descriptor, 1));
        }
    });
}

fn holds(family: i32) {
    // SAFETY: numbers only.
    let descriptor = unsafe { libc::socket(family, libc::SOCK_DGRAM, 0) };
    if descriptor < 0 {
        say("impossible", io::Error::last_os_error());
        return;
    }
    guarded(|| {});
}

/// The true case: the socket was opened by another program, which left it open for this one.
fn hands_over() {
    // SAFETY: numbers only. Without the flag that would close it on the way.
    if unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM, 0) } < 0 {
        say("impossible", io::Error::last_os_error());
        return;
    }
    start("nothing");
}

/// A ring for calls that are none; its descriptor, or less than zero.
fn ring() -> i64 {
    let mut parameters = [0_u64; 32];
    // SAFETY: the kernel writes less than is there.
    unsafe { libc::syscall(libc::SYS_io_uring_setup, 2, parameters.as_mut_ptr()) }
}

fn holds_ring() {
    if ring() < 0 {
        say("impossible", io::Error::last_os_error());
        return;
    }
    guarded(|| {});
}

/// A signal in the middle of a denied call must not make it count twice, nor not at all. A second thread sends one
/// a call, each a little later than the one before, so that some fall between the count and the answer; that takes
/// longest for the first calls, which are remembered.
fn interrupted() {
    interrupt_others();
    let (calls, begun, over) = (AtomicU64::new(0), AtomicBool::new(false), AtomicBool::new(false));
    // SAFETY: numbers only.
    let this_thread = unsafe { libc::pthread_self() };
    let denied = std::thread::scope(|threads| {
        threads.spawn(|| {
            let mut seen = 0;
            begun.store(true, SeqCst);
            while !over.load(SeqCst) {
                let call = calls.load(SeqCst);
                if call != seen {
                    seen = call;
                    (0..call * 11 % 2_000).for_each(|_| std::hint::spin_loop());
                    // SAFETY: the thread waits for this one before it ends.
                    unsafe { libc::pthread_kill(this_thread, libc::SIGUSR1) };
                }
            }
        });
        while !begun.load(SeqCst) {
            std::thread::yield_now();
        }
        let denied = (0..10_000).filter(|_| {
            calls.fetch_add(1, SeqCst);
            was_denied()
        });
        let denied = denied.count();
        over.store(true, SeqCst);
        denied
    });
    say("denied", denied);
}

/// A handler that does nothing; without SA_RESTART it interrupts whatever waits.
fn interrupt_others() {
    extern "C" fn ignore(_signal: i32) {}
    // SAFETY: zeroes are a valid action.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = ignore as *const () as usize;
        assert_eq!(libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()), 0);
    }
}

/// Whether a call was denied, and not interrupted.
fn was_denied() -> bool {
    // SAFETY: numbers only.
    let result = unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0) };
    assert_eq!(result, -1);
    match io::Error::last_os_error().raw_os_error() {
        Some(libc::EACCES) => true,
        Some(libc::EINTR) => false,
        other => panic!("{other:?}"),
    }
}

/// The 32-bit numbers of x86-64 would miss every comparison of the filter.
fn foreign_convention() {
    // SAFETY: the fork makes one system call and ends.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::syscall(0x4000_0000 | libc::SYS_socket, libc::AF_INET, libc::SOCK_STREAM, 0);
            libc::_exit(0);
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
        say("signal", libc::WTERMSIG(status));
    }
}

/// Starts a program that goes on when this process is gone.
fn leave_behind(role: &str) {
    let child = myself(role).stdin(Stdio::piped()).spawn().expect("starts");
    std::mem::forget(child); // its input closes when this process ends
}

fn outlives() {
    let waited = io::copy(&mut io::stdin(), &mut io::sink());
    assert!(waited.is_ok());
    tried(TcpStream::connect(NOWHERE));
}

/// The whole program, with a thread in it that somebody's library might have started: it tries to get out again and
/// again, and swallows every error. The folder is the current one.
/// Tries once the output folder is there: an attempt in the middle of the guard's own test would be counted with
/// the probes, and the guard would rightly be content with less.
fn whole_program() {
    std::thread::spawn(|| {
        while !Path::new("lab-output").exists() {
            std::thread::yield_now();
        }
        loop {
            drop(TcpStream::connect(NOWHERE));
            std::thread::yield_now();
        }
    });
    let args = ["faultlab", "--scenario", "all", "--events", "none", "--format", "quiet"].map(Into::into);
    std::process::exit(faultlab::cli::main_with(args) as i32)
}
