//! Where an address leads.
//!
//! A space turns an address and a size into a host pointer, or into the exit of a fault. Scratch is different: its dwords are interleaved
//! by lane, so that one offset in all lanes is one vector; it has functions of its own.

use super::{cache, fault_exit};
use crate::{
    interp::{run::Exit, wave::Wave},
    ir::Op,
    launch::{PRIVATE_APERTURE_HI, SHARED_APERTURE_HI},
    memory::MemoryFault,
};

/// A space with contiguous memory.
pub trait Space {
    /// Host address of `size` bytes. `site` numbers the instruction.
    ///
    /// # Safety
    /// The wave runs inside a slice.
    unsafe fn resolve<const WRITE: bool>(
        w: &Wave,
        site: usize,
        address: u64,
        size: u64,
    ) -> Result<*mut u8, MemoryFault>;

    /// As [`resolve`](Self::resolve), without a fault, and only if that is known at once.
    ///
    /// # Safety
    /// The wave runs inside a slice.
    #[inline(always)]
    unsafe fn known<const WRITE: bool>(
        w: &Wave,
        site: usize,
        address: u64,
        size: u64,
    ) -> Option<*mut u8> {
        // SAFETY: passed on.
        unsafe { Self::resolve::<WRITE>(w, site, address, size) }.ok()
    }

    /// The exit of a fault.
    fn exit(fault: MemoryFault, lane: usize) -> Exit;
}

/// Number of an instruction for the map cache.
#[inline(always)]
pub fn site(op: *const Op) -> usize {
    op.addr() / size_of::<Op>()
}

/// Global memory, through the guest map.
#[derive(Debug)]
pub struct Global;

impl Space for Global {
    #[inline(always)]
    unsafe fn resolve<const WRITE: bool>(
        w: &Wave,
        site: usize,
        address: u64,
        size: u64,
    ) -> Result<*mut u8, MemoryFault> {
        // SAFETY: by the caller.
        let cache = unsafe { cache(w) };
        if WRITE {
            cache.write(site, address, size)
        } else {
            cache.read(site, address, size).map(<*const u8>::cast_mut)
        }
    }

    #[inline(always)]
    unsafe fn known<const WRITE: bool>(
        w: &Wave,
        site: usize,
        address: u64,
        size: u64,
    ) -> Option<*mut u8> {
        // SAFETY: by the caller.
        unsafe { cache(w) }.known::<WRITE>(site, address, size)
    }

    fn exit(fault: MemoryFault, lane: usize) -> Exit {
        fault_exit(fault, Some(lane))
    }
}

/// LDS of the work-group.
#[derive(Debug)]
pub struct Lds;

impl Space for Lds {
    #[inline(always)]
    unsafe fn resolve<const WRITE: bool>(
        w: &Wave,
        _: usize,
        address: u64,
        size: u64,
    ) -> Result<*mut u8, MemoryFault> {
        // The sum of register and offset has 32 bits: compilers add a positive offset to a negative register.
        let address = address & 0xffff_ffff;
        if address
            .checked_add(size)
            .is_some_and(|end| end <= u64::from(w.lds_size))
        {
            // SAFETY: within the group's LDS.
            Ok(unsafe { w.lds.add(address as usize) })
        } else {
            Err(MemoryFault {
                address,
                size,
                write: WRITE,
            })
        }
    }

    fn exit(fault: MemoryFault, lane: usize) -> Exit {
        Exit::Aperture {
            address: fault.address,
            write: fault.write,
            lane: Some(lane as u8),
        }
    }
}

/// A flat address's space, by its high dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aperture {
    /// Global memory.
    Global,
    /// LDS, at this offset.
    Shared(u32),
    /// Scratch, at this offset.
    Private(u32),
}

/// The space of a flat address.
#[inline(always)]
pub fn aperture(address: u64) -> Aperture {
    match (address >> 32) as u32 {
        SHARED_APERTURE_HI => Aperture::Shared(address as u32),
        PRIVATE_APERTURE_HI => Aperture::Private(address as u32),
        _ => Aperture::Global,
    }
}

/// Host address of byte `offset` of a lane's scratch.
///
/// # Safety
/// `offset` is below the wave's scratch size.
#[inline(always)]
pub unsafe fn scratch_byte(w: &Wave, lane: usize, offset: u32) -> *mut u8 {
    let row = (offset >> 2) as usize * w.chunks * 64;
    // SAFETY: by the caller; the storage has one row of lanes for each dword.
    unsafe { w.scratch.add(row + lane * 4 + (offset & 3) as usize) }
}

/// Checks a scratch access.
#[inline(always)]
pub fn check_scratch(
    w: &Wave,
    offset: u32,
    size: u32,
    write: bool,
    lane: usize,
) -> Result<(), Exit> {
    if offset
        .checked_add(size)
        .is_some_and(|end| end <= w.scratch_size)
    {
        Ok(())
    } else {
        Err(Exit::Aperture {
            address: u64::from(offset),
            write,
            lane: Some(lane as u8),
        })
    }
}
