//! Operations that GFX950 has and the older CDNA targets do not, in assembly: values, parts of registers, EXEC.

#[path = "../support/mod.rs"]
mod support;

mod alu;
mod lanes;
mod memory;
mod scaled;
