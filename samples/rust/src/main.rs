//! Samples that use the crates as Rust libraries.

fn main() {}
