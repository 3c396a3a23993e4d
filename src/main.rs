//! The `faultlab` binary.

fn main() {}
