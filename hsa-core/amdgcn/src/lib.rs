//! The software AMD GPU: bytes → decoded instruction → wave IR → interpreter.
//!
//! * [`target`]: the gfx targets and what they have.
//! * [`isa`]: tables, decoder, disassembler, coverage.
//! * `ir`: the wave IR and the lowering to it: the one place where an instruction's meaning is written.
//! * `interp`: handlers that run IR over whole waves.
//! * `memory`: the guest memory map.
//! * `engine`: the worker pool, dispatches, work-groups, faults: what the HSA runtime above calls.

pub mod engine;
pub mod interp;
pub mod ir;
pub mod image;
pub mod isa;
pub mod memory;
pub mod target;
