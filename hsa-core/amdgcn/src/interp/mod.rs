//! Handlers that run wave IR over whole waves, and the loop that calls them.
//!
//! * [`wave`]: the state of one wave: scalar file, vector file, EXEC, MODE.
//! * [`run`]: the dispatch loop and why it stops.
//! * [`vector`]: the shapes of vector handlers: load sixteen lanes of each source, compute, store under EXEC.
//! * [`level`]: SIMD levels (portable, AVX2, AVX-512), chosen once per process.
//! * [`memory`]: memory and LDS handlers.
//!
//! A handler is `unsafe fn(&mut Wave, *const Op) -> *const Op`: it gets the wave and its own operation record and gives the
//! record that runs next (usually `op.add(1)`), or null to leave the loop, after it has set [`wave::Wave::exit`] and
//! [`wave::Wave::next`] (use [`wave::Wave::stop`]).
//!
//! # How a memory operation is added
//!
//! 1. `ir::lower::memory::lower_memory` matches the instruction, validates its register operands through
//!    [`LowerContext`](crate::ir::lower::LowerContext) (`vgpr`, `vgpr_range`, `scalar`, …), fills an
//!    [`Op`](crate::ir::Op) and pushes it with `cx.push`. An instruction without effect on values pushes nothing.
//! 2. The handler reads VGPRs with [`wave::Wave::vgpr`] (a pointer to the register's lanes; lane stride 4 bytes), writes those
//!    lanes whose bit in [`wave::Wave::exec`] is set, and gives `op.add(1)`.
//! 3. On a fault it gives `w.stop(op, Exit::Fault(..))`: `next` then points at the faulting operation. When it must wait
//!    (hostcall, `s_sleep`) it gives `w.stop(op.add(1), ..)`.

pub mod barrier;
pub mod exceptions;
pub mod float;
pub mod interpolation;
pub mod lane;
pub mod level;
pub mod matrix;
pub mod memory;
pub mod prepare;
pub mod round;
pub mod run;
pub mod scalar;
pub mod scaled;
pub mod small_float;
#[cfg(test)]
pub mod testing;
pub mod vector;
pub mod wave;
