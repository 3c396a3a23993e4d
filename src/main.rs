//! The `faultlab` binary: parse, do, exit code.

fn main() -> std::process::ExitCode {
    faultlab::cli::main()
}
