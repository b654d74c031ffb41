//! Loads and stores of a whole wave.

use std::sync::atomic::{Ordering, fence};

use super::{
    element::{Load, Store},
    flag,
    lanes::{Addresses, Pattern, each_lane},
    space::{Space, check_scratch, scratch_byte, site},
};
use crate::{
    interp::{run::Exit, wave::Wave},
    ir::Op,
};

/// Bytes from the first to the last active lane's element, inclusive, of consecutive elements.
#[inline(always)]
fn span(exec: u64, bytes: usize) -> u64 {
    let lanes = 64 - exec.leading_zeros() - exec.trailing_zeros();
    u64::from(lanes) * bytes as u64
}

/// Loads into the destination of `op` from contiguous memory.
///
/// # Safety
/// Called for a load of the running wave, with some lane active.
#[inline(never)]
pub unsafe fn load_from<E: Load, S: Space>(
    w: &mut Wave,
    op: *const Op,
    at: Addresses,
) -> Result<(), Exit> {
    // SAFETY: registers were checked by the lowering; memory is resolved before it is read.
    unsafe {
        let exec = w.exec();
        let stride = w.chunks * 16;
        let dst: *mut u32 = w.base[0].add((*op).d as usize).cast();
        let size = E::BYTES as u64;
        match at.pattern(w, E::BYTES as u32) {
            Pattern::Consecutive => {
                if let Ok(src) =
                    S::resolve::<false>(w, site(op), at.of_first(), span(exec, E::BYTES))
                {
                    let src = src.wrapping_sub(at.first * E::BYTES);
                    for chunk in 0..w.chunks {
                        let bits = exec >> (chunk * 16) & 0xffff;
                        let (src, dst) =
                            (src.wrapping_add(chunk * 16 * E::BYTES), dst.add(chunk * 16));
                        if bits == 0xffff {
                            E::group(src, dst, stride);
                        } else {
                            each_lane(bits, |i| E::lane(src.add(i * E::BYTES), dst.add(i), stride));
                        }
                    }
                    return Ok(());
                }
            }
            Pattern::Uniform if !E::MERGES => {
                let src = S::resolve::<false>(w, site(op), at.of_first(), size)
                    .map_err(|f| S::exit(f, at.first))?;
                let mut value = [0u32; 16];
                E::lane(src, value.as_mut_ptr(), 1);
                for (r, &value) in value[..E::DWORDS].iter().enumerate() {
                    splat(w, dst.add(r * stride), value);
                }
                return Ok(());
            }
            Pattern::Near { min, max } => {
                let base = at.of_first().wrapping_sub(u64::from(*at.lo.add(at.first)));
                let start = base.wrapping_add(u64::from(min));
                if let Ok(src) =
                    S::resolve::<false>(w, site(op), start, u64::from(max - min) + size)
                {
                    if exec == w.full_mask {
                        for lane in 0..stride {
                            E::lane(
                                src.add((*at.lo.add(lane) - min) as usize),
                                dst.add(lane),
                                stride,
                            );
                        }
                    } else {
                        each_lane(exec, |lane| {
                            E::lane(
                                src.add((*at.lo.add(lane) - min) as usize),
                                dst.add(lane),
                                stride,
                            );
                        });
                    }
                    return Ok(());
                }
            }
            Pattern::Uniform | Pattern::Far => {}
        }
        let mut rest = exec;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let src = S::resolve::<false>(w, site(op), at.lane(lane), size)
                .map_err(|f| S::exit(f, lane))?;
            E::lane(src, dst.add(lane), stride);
        }
        Ok(())
    }
}

/// Writes a value into the active lanes of a register. For patterns found with a partial EXEC `mask_lanes` is up to date.
///
/// # Safety
/// `dst` is a register of the wave.
#[inline(always)]
unsafe fn splat(w: &mut Wave, dst: *mut u32, value: u32) {
    let full = w.exec() == w.full_mask;
    if !full {
        w.refresh_mask();
    }
    for chunk in 0..w.chunks {
        // SAFETY: by the caller.
        unsafe {
            let lanes = dst.add(chunk * 16);
            let mask = &w.mask_lanes.0[chunk * 16..chunk * 16 + 16];
            for i in 0..16 {
                let mask = if full { u32::MAX } else { mask[i] };
                *lanes.add(i) = *lanes.add(i) & !mask | value & mask;
            }
        }
    }
}

/// Stores the data of `op` (file offset in `s[1]`) to contiguous memory.
///
/// # Safety
/// Called for a store of the running wave, with some lane active.
#[inline(never)]
pub unsafe fn store_to<E: Store, S: Space>(
    w: &mut Wave,
    op: *const Op,
    at: Addresses,
) -> Result<(), Exit> {
    // SAFETY: registers were checked by the lowering; memory is resolved before it is written.
    unsafe {
        let exec = w.exec();
        let stride = w.chunks * 16;
        let data: *const u32 = w.base[0].add((*op).s[1].offset() as usize).cast();
        let size = E::BYTES as u64;
        match at.pattern(w, E::BYTES as u32) {
            Pattern::Consecutive => {
                if let Ok(dst) =
                    S::resolve::<true>(w, site(op), at.of_first(), span(exec, E::BYTES))
                {
                    let dst = dst.wrapping_sub(at.first * E::BYTES);
                    for chunk in 0..w.chunks {
                        let bits = exec >> (chunk * 16) & 0xffff;
                        let (dst, data) = (
                            dst.wrapping_add(chunk * 16 * E::BYTES),
                            data.add(chunk * 16),
                        );
                        if bits == 0xffff {
                            E::group(data, stride, dst);
                        } else {
                            each_lane(bits, |i| {
                                E::lane(data.add(i), stride, dst.add(i * E::BYTES))
                            });
                        }
                    }
                    return Ok(());
                }
            }
            Pattern::Uniform => {
                // The highest lane's value stays.
                let dst = S::resolve::<true>(w, site(op), at.of_first(), size)
                    .map_err(|f| S::exit(f, at.first))?;
                E::lane(data.add(63 - exec.leading_zeros() as usize), stride, dst);
                return Ok(());
            }
            Pattern::Near { min, max } => {
                let base = at.of_first().wrapping_sub(u64::from(*at.lo.add(at.first)));
                let start = base.wrapping_add(u64::from(min));
                if let Ok(dst) = S::resolve::<true>(w, site(op), start, u64::from(max - min) + size)
                {
                    each_lane(exec, |lane| {
                        E::lane(
                            data.add(lane),
                            stride,
                            dst.add((*at.lo.add(lane) - min) as usize),
                        );
                    });
                    return Ok(());
                }
            }
            Pattern::Far => {}
        }
        let mut rest = exec;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let dst = S::resolve::<true>(w, site(op), at.lane(lane), size)
                .map_err(|f| S::exit(f, lane))?;
            E::lane(data.add(lane), stride, dst);
        }
        Ok(())
    }
}

/// Copies `bytes` of a lane's scratch out of its rows.
///
/// # Safety
/// The range was checked; `to` is writable.
#[inline(never)]
pub(super) unsafe fn gather_scratch(w: &Wave, lane: usize, offset: u32, to: *mut u8, bytes: usize) {
    for i in 0..bytes {
        // SAFETY: by the caller.
        unsafe { *to.add(i) = *scratch_byte(w, lane, offset + i as u32) };
    }
}

/// Copies bytes into the rows of a lane's scratch.
///
/// # Safety
/// The range was checked.
pub(super) unsafe fn scatter_scratch(w: &Wave, lane: usize, offset: u32, bytes: &[u8]) {
    for (i, &byte) in bytes.iter().enumerate() {
        // SAFETY: by the caller.
        unsafe { *scratch_byte(w, lane, offset + i as u32) = byte };
    }
}

/// Loads one lane's element from its scratch.
///
/// # Safety
/// `dst` is the lane in the destination register.
#[inline(never)]
pub(super) unsafe fn load_scratch_lane<E: Load>(
    w: &Wave,
    lane: usize,
    offset: u32,
    dst: *mut u32,
) -> Result<(), Exit> {
    check_scratch(w, offset, E::BYTES as u32, false, lane)?;
    let mut bytes = [0u8; 64];
    // SAFETY: checked.
    unsafe {
        gather_scratch(w, lane, offset, bytes.as_mut_ptr(), E::BYTES);
        E::lane(bytes.as_ptr(), dst, w.chunks * 16);
    }
    Ok(())
}

/// Stores one lane's element to its scratch.
///
/// # Safety
/// `data` is the lane in the data register.
#[inline(never)]
pub(super) unsafe fn store_scratch_lane<E: Store>(
    w: &Wave,
    lane: usize,
    offset: u32,
    data: *const u32,
) -> Result<(), Exit> {
    check_scratch(w, offset, E::BYTES as u32, true, lane)?;
    let mut bytes = [0u8; 64];
    // SAFETY: checked.
    unsafe {
        E::lane(data, w.chunks * 16, bytes.as_mut_ptr());
        scatter_scratch(w, lane, offset, &bytes[..E::BYTES]);
    }
    Ok(())
}

/// Loads from scratch; addresses are offsets of 32 bits.
///
/// # Safety
/// As [`load_from`].
#[inline(never)]
pub unsafe fn load_scratch<E: Load>(
    w: &mut Wave,
    op: *const Op,
    at: Addresses,
) -> Result<(), Exit> {
    // SAFETY: registers were checked by the lowering; offsets are checked against the wave's scratch.
    unsafe {
        let exec = w.exec();
        let stride = w.chunks * 16;
        let dst: *mut u32 = w.base[0].add((*op).d as usize).cast();
        if !E::MERGES && E::BYTES.is_multiple_of(4) && at.pattern(w, 0) == Pattern::Consecutive {
            let offset = at.of_first() as u32;
            if offset.is_multiple_of(4) {
                check_scratch(w, offset, E::BYTES as u32, false, at.first)?;
                let src: *const u32 = scratch_byte(w, 0, offset).cast();
                copy_rows(w, src, dst, E::DWORDS);
                return Ok(());
            }
        }
        let mut rest = exec;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let offset = at.lane(lane) as u32;
            let dst = dst.add(lane);
            if offset as usize % 4 + E::BYTES <= 4 {
                check_scratch(w, offset, E::BYTES as u32, false, lane)?;
                E::lane(scratch_byte(w, lane, offset), dst, stride);
            } else {
                load_scratch_lane::<E>(w, lane, offset, dst)?;
            }
        }
        Ok(())
    }
}

/// Copies rows of lanes under EXEC.
///
/// # Safety
/// Both sides hold `rows` rows of the wave's lanes.
#[inline(never)]
unsafe fn copy_rows(w: &mut Wave, src: *const u32, dst: *mut u32, rows: usize) {
    // SAFETY: by the caller.
    unsafe {
        if w.exec() == w.full_mask {
            for chunk in 0..w.chunks * rows {
                let at = chunk * 16;
                dst.add(at)
                    .cast::<[u32; 16]>()
                    .write_unaligned(src.add(at).cast::<[u32; 16]>().read_unaligned());
            }
            return;
        }
        w.refresh_mask();
        for row in 0..rows {
            for chunk in 0..w.chunks {
                let mask = &w.mask_lanes.0[chunk * 16..chunk * 16 + 16];
                let at = (row * w.chunks + chunk) * 16;
                for (i, mask) in mask.iter().enumerate() {
                    let new = *src.add(at + i);
                    *dst.add(at + i) = *dst.add(at + i) & !mask | new & mask;
                }
            }
        }
    }
}

/// Stores to scratch.
///
/// # Safety
/// As [`store_to`].
#[inline(never)]
pub unsafe fn store_scratch<E: Store>(
    w: &mut Wave,
    op: *const Op,
    at: Addresses,
) -> Result<(), Exit> {
    // SAFETY: registers were checked by the lowering; offsets are checked against the wave's scratch.
    unsafe {
        let exec = w.exec();
        let stride = w.chunks * 16;
        let data: *const u32 = w.base[0].add((*op).s[1].offset() as usize).cast();
        if E::BYTES.is_multiple_of(4) && at.pattern(w, 0) == Pattern::Consecutive {
            let offset = at.of_first() as u32;
            if offset.is_multiple_of(4) {
                check_scratch(w, offset, E::BYTES as u32, true, at.first)?;
                let dst: *mut u32 = scratch_byte(w, 0, offset).cast();
                copy_rows(w, data, dst, E::DWORDS);
                return Ok(());
            }
        }
        let mut rest = exec;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let offset = at.lane(lane) as u32;
            let data = data.add(lane);
            if offset as usize % 4 + E::BYTES <= 4 {
                check_scratch(w, offset, E::BYTES as u32, true, lane)?;
                E::lane(data, stride, scratch_byte(w, lane, offset));
            } else {
                store_scratch_lane::<E>(w, lane, offset, data)?;
            }
        }
        Ok(())
    }
}

/// Goes on after an operation, or leaves the loop with its fault.
///
/// # Safety
/// The operation is followed by another of its segment.
#[inline(always)]
pub(super) unsafe fn finish(w: &mut Wave, op: *const Op, result: Result<(), Exit>) -> *const Op {
    match result {
        // SAFETY: by the caller.
        Ok(()) => unsafe { op.add(1) },
        Err(exit) => w.stop(op, exit),
    }
}

/// A load in a space with contiguous memory.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
#[inline(always)]
pub unsafe fn load<E: Load, S: Space>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: passed on.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        if (*op).aux[0] & flag::GLC != 0 {
            fence(Ordering::SeqCst);
        }
        {
            let result = load_from::<E, S>(w, op, Addresses::of(w, op));
            finish(w, op, result)
        }
    }
}

/// A store in a space with contiguous memory.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
#[inline(always)]
pub unsafe fn store<E: Store, S: Space>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: passed on.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        {
            let result = store_to::<E, S>(w, op, Addresses::of(w, op));
            finish(w, op, result)
        }
    }
}

/// A scratch load.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
#[inline(always)]
pub unsafe fn scratch_load<E: Load>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: passed on.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        {
            let result = load_scratch::<E>(w, op, Addresses::of(w, op));
            finish(w, op, result)
        }
    }
}

/// A scratch store.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
#[inline(always)]
pub unsafe fn scratch_store<E: Store>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: passed on.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        {
            let result = store_scratch::<E>(w, op, Addresses::of(w, op));
            finish(w, op, result)
        }
    }
}
