//! The software AMD GPU: bytes → decoded instruction → wave IR → interpreter or native code.
//!
//! * [`target`]: the gfx targets and what they have.
//! * [`isa`]: tables, decoder, disassembler, coverage.
//! * `ir`: the wave IR and the lowering to it: the one place where an instruction's meaning is written.
//! * `interp`: handlers that run IR over whole waves.
//! * `jit`: native code for straight runs of vector operations.
//! * `memory`: the guest memory map.
//! * `wave_sync`: barriers and semaphores for waves of different groups.
//! * `engine`: the worker pool, dispatches, work-groups, faults: what the HSA runtime above calls.

pub(crate) mod dispatch;
pub mod engine;
pub mod fault;
pub mod image;
pub mod interp;
pub mod ir;
pub mod isa;
pub mod jit;
pub mod launch;
pub mod memory;
pub mod target;
#[cfg(test)]
mod testing;
pub mod wave_sync;
pub(crate) mod workgroup;
