//! Memory to LDS and back without registers: buffer loads with `lds`, `global_load_lds_*`, `buffer_store_lds_dword`. And what addresses by
//! the number of the lane (`addtid`).
//!
//! In LDS, lane n's dword is at M0 + immediate + 4 × n; loads of less than a dword fill one, extended. Three and four dwords of GFX950 are at
//! M0 + immediate + 12 × n and 16 × n.

use super::{
    buffer::{Resource, Table, addresses, scratch_addresses},
    element::{Dwords, Load},
    flag,
    lanes::{Addresses, try_each_lane},
    other,
    space::{Global, Lds, Space, check_scratch, scratch_byte, site},
    vector::finish,
};
use crate::{
    interp::{run::Exit, wave::Wave},
    ir::Op,
};

/// Address in LDS of lane 0's dword.
///
/// # Safety
/// An operation of the wave's program.
#[inline(always)]
pub(super) unsafe fn lds_base(w: &Wave, op: *const Op) -> u64 {
    // SAFETY: by the caller: an operation of the wave's program.
    unsafe {
        let m0 = w.sgpr[w.m0];
        let mask = if (*op).aux[0] & flag::WIDE_M0 != 0 {
            u32::MAX
        } else {
            0xffff
        };
        u64::from(m0 & mask).wrapping_add((*op).imm)
    }
}

/// Writes a lane's dwords to LDS.
///
/// # Safety
/// The wave runs inside a slice.
#[inline(always)]
pub(super) unsafe fn put(w: &Wave, base: u64, lane: usize, values: &[u32]) -> Result<(), Exit> {
    let bytes = 4 * values.len() as u64;
    let address = base.wrapping_add(bytes * lane as u64);
    // SAFETY: by the caller: the wave runs inside a slice; what is resolved is as long as the values.
    unsafe {
        let host =
            Lds::resolve::<true>(w, 0, address, bytes).map_err(|fault| Lds::exit(fault, lane))?;
        std::ptr::copy_nonoverlapping(values.as_ptr().cast(), host, values.len() * 4);
    }
    Ok(())
}

/// Host address of a lane's dword in LDS.
#[inline(always)]
unsafe fn lds_dword<const WRITE: bool>(w: &Wave, base: u64, lane: usize) -> Result<*mut u32, Exit> {
    let address = base.wrapping_add(4 * lane as u64);
    // SAFETY: by the caller: the wave runs inside a slice.
    let host = unsafe { Lds::resolve::<WRITE>(w, 0, address, 4) };
    host.map(<*mut u8>::cast)
        .map_err(|fault| Lds::exit(fault, lane))
}

/// A global load to LDS.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn global_load<E: Load>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: registers were checked by the lowering; memory is resolved before it is touched.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        let at = Addresses::of(w, op);
        let base = lds_base(w, op);
        let result = try_each_lane(w, |w, lane| {
            let mut values = [0u32; 4];
            let source = Global::resolve::<false>(w, site(op), at.lane(lane), E::BYTES as u64)
                .map_err(|fault| Global::exit(fault, lane))?;
            E::lane(source, values.as_mut_ptr(), 1);
            put(w, base, lane, &values[..E::DWORDS])
        });
        finish(w, op, result)
    }
}

/// A load from the lane's scratch to LDS; elements do not cross dwords.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn scratch_load<E: Load>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: registers were checked by the lowering; memory is checked before it is touched.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        let at = Addresses::of(w, op);
        let base = lds_base(w, op);
        let result = try_each_lane(w, |w, lane| {
            let value = scratch_element::<E>(w, at.lane(lane) as u32, lane)?;
            lds_dword::<true>(w, base, lane)?.write_unaligned(value);
            Ok(())
        });
        finish(w, op, result)
    }
}

/// An element of a lane's scratch, extended to a dword.
unsafe fn scratch_element<E: Load>(w: &Wave, offset: u32, lane: usize) -> Result<u32, Exit> {
    check_scratch(w, offset, E::BYTES as u32, false, lane)?;
    if offset as usize % 4 + E::BYTES > 4 {
        return Err(Exit::Other(other::RESOURCE));
    }
    let mut value = 0u32;
    // SAFETY: checked; within one dword of the lane.
    unsafe { E::lane(scratch_byte(w, lane, offset), &raw mut value, 1) };
    Ok(value)
}

/// A buffer load to LDS. Lanes out of range load 0.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn buffer_load<E: Load>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: registers were checked by the lowering; memory is resolved before it is touched.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        let resource = Resource::of(w, op);
        let base = lds_base(w, op);
        let mut table = Table::new();
        let scratch = resource
            .is_scratch()
            .then(|| scratch_addresses(w, op, &resource));
        if scratch.is_none() {
            addresses(w, op, &resource, E::BYTES, &mut table);
        }
        let result = try_each_lane(w, |w, lane| {
            let mut values = [0u32; 4];
            if let Some(at) = &scratch {
                for (dword, value) in values.iter_mut().enumerate().take(E::DWORDS) {
                    let offset = at.lane(lane) as u32 + 4 * dword as u32;
                    *value = if E::DWORDS == 1 {
                        scratch_element::<E>(w, offset, lane)?
                    } else {
                        scratch_element::<Dwords<1>>(w, offset, lane)?
                    };
                }
            } else if table.in_range >> lane & 1 != 0 {
                let address = u64::from(table.lo[lane]) | u64::from(table.hi[lane]) << 32;
                let source = Global::resolve::<false>(w, site(op), address, E::BYTES as u64)
                    .map_err(|fault| Global::exit(fault, lane))?;
                E::lane(source, values.as_mut_ptr(), 1);
            }
            put(w, base, lane, &values[..E::DWORDS])
        });
        finish(w, op, result)
    }
}

/// `buffer_store_lds_dword`: from LDS to a buffer. Lanes out of range store nothing.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn buffer_store(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: registers were checked by the lowering; memory is resolved before it is touched.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        let resource = Resource::of(w, op);
        if resource.is_scratch() {
            return w.stop(op, Exit::Other(other::RESOURCE));
        }
        let base = lds_base(w, op);
        let mut table = Table::new();
        addresses(w, op, &resource, 4, &mut table);
        let result = try_each_lane(w, |w, lane| {
            if table.in_range >> lane & 1 == 0 {
                return Ok(());
            }
            let value = lds_dword::<false>(w, base, lane)?.read_unaligned();
            let address = u64::from(table.lo[lane]) | u64::from(table.hi[lane]) << 32;
            let target = Global::resolve::<true>(w, site(op), address, 4)
                .map_err(|fault| Global::exit(fault, lane))?;
            target.cast::<u32>().write_unaligned(value);
            Ok(())
        });
        finish(w, op, result)
    }
}

/// A dword of each lane by its number: LDS at M0 + immediate + 4 × n, or (`flag::SADDR` or not, in memory) scalar base + immediate + 4 × n.
/// `STORE`: from the register `s[1]`; otherwise into `d`.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn by_lane<const STORE: bool, const IN_LDS: bool>(
    w: &mut Wave,
    op: *const Op,
) -> *const Op {
    // SAFETY: registers were checked by the lowering; memory is resolved before it is touched.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        let base = if IN_LDS {
            lds_base(w, op)
        } else {
            debug_assert!((*op).aux[0] & flag::VADDR == 0);
            Addresses::of(w, op).lane(0)
        };
        let result = try_each_lane(w, |w, lane| {
            let memory: *mut u32 = if IN_LDS {
                lds_dword::<STORE>(w, base, lane)?
            } else {
                let address = base.wrapping_add(4 * lane as u64);
                Global::resolve::<STORE>(w, site(op), address, Dwords::<1>::BYTES as u64)
                    .map_err(|fault| Global::exit(fault, lane))?
                    .cast()
            };
            if STORE {
                let data: *const u32 = w.base[0].add((*op).s[1].offset() as usize).cast();
                memory.write_unaligned(*data.add(lane));
            } else {
                let data: *mut u32 = w.base[0].add((*op).d as usize).cast();
                *data.add(lane) = memory.read_unaligned();
            }
            Ok(())
        });
        finish(w, op, result)
    }
}
