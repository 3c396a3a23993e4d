//! Nothing that can open a socket is linked: neither a crate whose business that is, not even for tests, nor a call of
//! the C library.
//!
//! What can be said honestly: crates that wrap the whole system (`libc`, `windows-sys`, `rustix`) are there, and could be
//! asked for a socket. So the imports of the finished binary are read too, and the guard denies whatever is left.

use std::path::Path;

/// Crates whose business is the network, or that bring one along.
const CRATES: [&str; 38] = [
    "actix-rt",
    "async-io",
    "async-net",
    "async-std",
    "attohttpc",
    "awc",
    "curl",
    "curl-sys",
    "h2",
    "h3",
    "hickory-proto",
    "hickory-resolver",
    "hyper",
    "hyper-util",
    "isahc",
    "mio",
    "minreq",
    "monoio",
    "native-tls",
    "openssl",
    "openssl-sys",
    "polling",
    "quinn",
    "quinn-udp",
    "reqwest",
    "rustls",
    "smol",
    "smoltcp",
    "socket2",
    "ssh2",
    "surf",
    "tiny_http",
    "tokio",
    "tonic",
    "trust-dns-resolver",
    "tungstenite",
    "ureq",
    "zmq",
];

#[test]
fn no_crate_is_locked_that_opens_a_socket() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    assert!(packages(&lock).count() > 50, "the lock file is read");
    assert_eq!(sockets(&lock), [""; 0]);
}

#[test]
fn a_crate_that_opens_a_socket_is_told() {
    let lock = |name: &str| format!("[[package]]\nname = \"{name}\"\nversion = \"1\"\n");
    assert_eq!(sockets(&lock("mio")), ["mio"]);
    assert_eq!(sockets(&lock("miow")), [""; 0]);
}

fn sockets(lock: &str) -> Vec<&str> {
    packages(lock).filter(|name| CRATES.contains(name)).collect()
}

fn packages(lock: &str) -> impl Iterator<Item = &str> {
    lock.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
mod imports {
    use std::io::Write;
    use std::path::{Path, PathBuf};

    /// The binary under test, and the release binary if there is one.
    #[test]
    fn the_binary_imports_no_call_that_reaches_out() {
        let tested = PathBuf::from(env!("CARGO_BIN_EXE_faultlab"));
        let release = tested.parent().and_then(Path::parent).map(|target| target.join("release/faultlab"));
        for path in std::iter::once(tested).chain(release).filter(|path| path.exists()) {
            let imports = imports(&std::fs::read(&path).unwrap());
            if imports.is_empty() {
                let text = format!("SKIPPED, NOT PASSED: {} imports nothing: it is static\n", path.display());
                std::io::stderr().write_all(text.as_bytes()).unwrap();
                continue;
            }
            let reaching: Vec<&String> =
                imports.iter().filter(|name| REACHING.contains(&name.as_str())).collect();
            assert_eq!(reaching, [""; 0], "{}", path.display());
            let near: Vec<&String> =
                imports.iter().filter(|name| NETWORK.iter().any(|word| name.contains(word))).collect();
            assert!(near.iter().all(|name| KNOWN.iter().any(|known| known.0 == name.as_str())), "{near:?}");
        }
    }

    /// What a program that reaches out must call.
    const REACHING: [&str; 15] = [
        "connect",
        "bind",
        "listen",
        "accept",
        "accept4",
        "send",
        "sendto",
        "sendmmsg",
        "recvfrom",
        "recvmmsg",
        "getaddrinfo",
        "gethostbyname",
        "getnameinfo",
        "res_query",
        "setsockopt",
    ];

    /// Parts of the names of the network's calls.
    const NETWORK: [&str; 8] = ["sock", "connect", "send", "recv", "addrinfo", "gethost", "res_", "accept"];

    /// What is there all the same, and why.
    const KNOWN: [(&str, &str); 6] = [
        ("socket", "the guard's own probes: each must be denied"),
        ("getsockname", "the guard asks what the descriptors are that it was started with"),
        (
            "socketpair",
            "how the standard library starts a program: a pair of Unix sockets, to nobody outside",
        ),
        ("sendmsg", "over that pair"),
        ("recvmsg", "over that pair"),
        ("recv", "over that pair"),
    ];

    /// The names that an ELF file leaves to others.
    fn imports(file: &[u8]) -> Vec<String> {
        const SYMBOLS: u64 = 11;
        assert_eq!(file[..4], *b"\x7fELF");
        let number = |at: usize, bytes: usize| {
            file[at..at + bytes].iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
        };
        let place = |at: usize| usize::try_from(number(at, 8)).unwrap();
        let (sections, size, count) = (place(0x28), number(0x3a, 2), number(0x3c, 2));
        let section = |index: u64| sections + usize::try_from(index * size).unwrap();
        let mut found = Vec::new();
        for header in (0..count).map(section).filter(|header| number(header + 4, 4) == SYMBOLS) {
            let names = place(section(number(header + 0x28, 4)) + 0x18);
            let (start, length) = (place(header + 0x18), place(header + 0x20));
            for symbol in (start..start + length).step_by(24) {
                let name = names + usize::try_from(number(symbol, 4)).unwrap();
                let bytes = file[name..].split(|byte| *byte == 0).next().unwrap_or_default();
                if number(symbol + 6, 2) == 0 && !bytes.is_empty() {
                    found.push(String::from_utf8_lossy(bytes).into_owned());
                }
            }
        }
        found
    }
}
