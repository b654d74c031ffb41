//! Matrix operations of all families, in assembly, against matrices multiplied here. Elements are small integers, so that sums are exact in
//! any order. Where an element lies is AMD's matrix instruction calculator's formula, written here from the element to the register.

#[path = "../support/mod.rs"]
mod support;

mod case;
mod double;
mod gfx950;
mod kinds;
mod mfma;
mod wmma;
