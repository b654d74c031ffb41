//! Memory and LDS handlers.
//!
//! * [`lanes`]: the addresses of a wave's lanes and the pattern in them (consecutive, uniform, scattered).
//! * [`space`]: where an address leads: global memory, LDS, scratch, or any of them by aperture (FLAT).
//! * [`element`]: what one lane loads or stores: dwords, bytes, halves.
//! * [`vector`]: loads and stores of a whole wave over these three.
//! * [`flat`]: the same for addresses that may be in any of the three spaces.
//! * [`wide`]: the same as [`vector`] for whole dwords, with AVX2.
//! * [`atomic`]: atomic operations, on global memory really atomic against every thread of the process.
//! * [`lds`]: LDS operations with two addresses, cross-lane operations, append and consume.
//! * [`through_lds`]: memory to LDS and back, addressing by the number of the lane.
//! * [`block`]: blocks of registers, and matrices that are transposed.
//! * [`scalar`]: scalar loads, stores, atomics and clocks.
//! * [`buffer`]: buffer resources and their addressing.
//! * [`bvh_stack`]: stacks of rays in LDS.
//! * [`wave_sync`]: what asks for global wave sync.
//! * [`formatted`]: buffer accesses that convert formats.
//! * [`image`]: image resources, sampling.
//!
//! A wave's `context` points to the worker's [`MapCache`] inside a slice. Operations complete in order, one
//! after the other; loads and stores of a lane are single host accesses where the address is aligned. Host order is total store order, so the
//! only fence that the memory model needs is between a store and a later atomic load: loads with `glc` begin with one.

pub mod atomic;
pub mod block;
pub mod buffer;
pub mod bvh_stack;
pub mod element;
pub mod flat;
pub mod formatted;
pub mod image;
pub mod lanes;
pub mod lds;
pub mod scalar;
pub mod space;
pub mod through_lds;
pub mod vector;
pub mod wave_sync;
pub mod wide;

use super::wave::Wave;
use crate::memory::{MapCache, MemoryFault};

/// Reasons of a memory operation for [`Exit::Other`](super::run::Exit::Other).
pub mod other {
    /// A global address in an atomic that is not aligned to its size.
    pub const MISALIGNED_ATOMIC: u32 = 2;
    /// A buffer or image format that the engine does not convert.
    pub const FORMAT: u32 = 3;
    /// A buffer resource with a layout that the engine does not address.
    pub const RESOURCE: u32 = 4;
    /// An image resource (kind, format, tiling, levels) that the engine does not read, or a sample without a sampler.
    pub const IMAGE: u32 = 5;

    /// All waves of a group wait at barriers that none of them completes.
    pub const DEADLOCK: u32 = 6;
}

/// What an [`Exit::Other`](super::run::Exit::Other) of a memory handler means.
pub fn reason(code: u32) -> &'static str {
    match code {
        other::MISALIGNED_ATOMIC => "the address of an atomic operation is not aligned to its size",
        other::FORMAT => "the buffer format is not supported",
        other::RESOURCE => "the buffer resource is not supported",
        other::IMAGE => "the image resource is not supported",
        other::DEADLOCK => "all waves of the group wait at barriers that none of them can complete",
        _ => "a memory operation could not be done",
    }
}

/// Flags in `Op::aux[0]` of memory operations.
pub mod flag {
    /// The address has a VGPR (`s[0]`).
    pub const VADDR: u32 = 1 << 0;
    /// It has 64 bits: the VGPR after it holds the high half.
    pub const WIDE: u32 = 1 << 1;
    /// The address has a scalar part: slot `aux[1]`.
    pub const SADDR: u32 = 1 << 2;
    /// The scalar part has 64 bits.
    pub const SADDR_WIDE: u32 = 1 << 3;
    /// `glc`: an atomic load, or the atomic returns the old value.
    pub const GLC: u32 = 1 << 4;
    /// Buffer: the VGPR (or the second one, with `IDXEN`) is an offset.
    pub const OFFEN: u32 = 1 << 5;
    /// Buffer: the VGPR is an index.
    pub const IDXEN: u32 = 1 << 6;
    /// Buffer: the family has GFX10's resource layout and range checks.
    pub const GFX10: u32 = 1 << 7;
    /// Buffer: the family has GFX11's format numbers.
    pub const GFX11: u32 = 1 << 8;
    /// Loads to LDS: all of M0 is an address, not its low 16 bits.
    pub const WIDE_M0: u32 = 1 << 9;
}

/// The map cache of the running slice.
///
/// # Safety
/// The wave runs inside a slice: its context was set by the engine.
#[inline(always)]
pub unsafe fn cache<'a>(w: &Wave) -> &'a mut MapCache {
    // SAFETY: by the caller; one wave at a time runs on the worker, so nothing else refers to the cache now.
    unsafe { &mut *w.context.cast::<MapCache>() }
}

/// The exit of a fault in global memory.
pub(super) fn fault_exit(fault: MemoryFault, lane: Option<usize>) -> super::run::Exit {
    super::run::Exit::Memory {
        address: fault.address,
        write: fault.write,
        lane: lane.map(|lane| lane as u8),
    }
}
