//! The gneiss command.

fn main() {}
