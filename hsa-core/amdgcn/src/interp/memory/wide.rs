//! Loads and stores of dwords with AVX2.
//!
//! The addresses of a full wave are looked at once: consecutive elements are copied as vectors, one common address is splatted. Otherwise
//! each group of sixteen lanes is served by its own pattern: rows of a tile sixteen lanes wide are consecutive or uniform in each group,
//! though not in the wave. What has no pattern goes lane by lane after one range check for the group, or, if the range is not all
//! accessible, with a check for each lane.
//!
//! Results and faults are those of the plain functions in [`vector`](super::vector) and [`lds`](super::lds). Groups are served in
//! ascending order, so that of several lanes that store to one address the highest wins. A group's addresses are read before its
//! destination is written, since one register may be both.

mod active;
mod group;
mod pattern;

use core::arch::x86_64::*;
use std::sync::atomic::{Ordering, fence};

use group::*;
use pattern::*;

use super::{
    element::{Dwords, Load, Store},
    flag,
    lanes::{Addresses, each_lane},
    space::{Lds, Space, site},
    vector::finish,
};
use crate::{
    interp::{
        run::Exit,
        wave::{Wave, slot},
    },
    ir::Op,
};

/// Host addresses of `size` bytes at the K addresses, or nothing if one of them is out of bounds.
#[inline(always)]
unsafe fn resolve<const WRITE: bool, const K: usize, S: Space>(
    w: &Wave,
    op: *const Op,
    address: u64,
    offsets: [u64; K],
    size: u64,
) -> Option<[*mut u8; K]> {
    let mut found = [std::ptr::null_mut(); K];
    for (found, offset) in found.iter_mut().zip(offsets) {
        // SAFETY: passed on: the wave runs inside a slice.
        *found =
            unsafe { S::resolve::<WRITE>(w, site(op), address.wrapping_add(offset), size) }.ok()?;
    }
    Some(found)
}

/// Bytes from the first to the last of these lanes' elements.
#[inline(always)]
fn span(bits: u64, bytes: usize) -> u64 {
    u64::from(64 - bits.leading_zeros() - bits.trailing_zeros()) * bytes as u64
}

/// Loads K elements of N dwords each per lane, at the lane's address plus each offset, into K × N registers.
#[inline(always)]
unsafe fn load_at<const N: usize, const K: usize, S: Space>(
    w: &mut Wave,
    op: *const Op,
    at: Addresses,
    offsets: [u64; K],
) -> Result<(), Exit> {
    // SAFETY: registers were checked by the lowering; memory is resolved before it is read; AVX2 by the caller.
    unsafe {
        let exec = w.exec();
        let stride = w.chunks * 16;
        let dst: *mut u32 = w.base[0].add((*op).d as usize).cast();
        let step = 4 * N as u32;
        let size = u64::from(step);
        let full = exec == w.full_mask;
        if full {
            match whole(w, &at, step) {
                Pattern::Consecutive => {
                    if let Some(src) =
                        resolve::<false, K, S>(w, op, at.of_first(), offsets, size * stride as u64)
                    {
                        for (k, src) in src.into_iter().enumerate() {
                            let dst = dst.add(k * N * stride);
                            for group in 0..w.chunks {
                                load_group::<N>(
                                    src.add(group * 64 * N),
                                    dst.add(group * 16),
                                    stride,
                                );
                            }
                        }
                        return Ok(());
                    }
                }
                Pattern::Uniform => {
                    if let Some(src) = resolve::<false, K, S>(w, op, at.of_first(), offsets, size) {
                        for (k, src) in src.into_iter().enumerate() {
                            for r in 0..N {
                                let dst = dst.add((k * N + r) * stride);
                                let value = splat(src.cast::<u32>().add(r).read_unaligned());
                                for index in 0..w.chunks * 2 {
                                    put(dst, index, value);
                                }
                            }
                        }
                        return Ok(());
                    }
                }
                _ => {}
            }
        } else {
            w.refresh_mask();
        }
        for group in 0..w.chunks {
            let bits = exec >> (group * 16) & 0xffff;
            if bits == 0 {
                continue;
            }
            let lo = at.lo.add(group * 16);
            let hi = if at.hi.is_null() {
                at.hi
            } else {
                at.hi.add(group * 16)
            };
            let dst = dst.add(group * 16);
            let first = bits.trailing_zeros() as usize;
            let mask = masks(w, group, bits);
            let address = at.lane(group * 16 + first);
            match of_group(lo, hi, first, bits, mask, step) {
                Pattern::Consecutive => {
                    if let Some(src) =
                        resolve::<false, K, S>(w, op, address, offsets, span(bits, 4 * N))
                    {
                        for (k, src) in src.into_iter().enumerate() {
                            let src = src.wrapping_sub(first * 4 * N);
                            let dst = dst.add(k * N * stride);
                            if bits == 0xffff {
                                load_group::<N>(src, dst, stride);
                            } else if N == 1 {
                                for (half, mask) in mask.into_iter().enumerate() {
                                    let new = _mm256_maskload_epi32(
                                        src.wrapping_add(32 * half).cast(),
                                        mask,
                                    );
                                    put(
                                        dst,
                                        half,
                                        _mm256_blendv_epi8(vector(dst, half), new, mask),
                                    );
                                }
                            } else {
                                each_lane(bits, |i| {
                                    <Dwords<N> as Load>::lane(
                                        src.wrapping_add(i * 4 * N),
                                        dst.add(i),
                                        stride,
                                    )
                                });
                            }
                        }
                        continue;
                    }
                }
                Pattern::Uniform => {
                    if let Some(src) = resolve::<false, K, S>(w, op, address, offsets, size) {
                        for (k, src) in src.into_iter().enumerate() {
                            for r in 0..N {
                                let value = src.cast::<u32>().add(r).read_unaligned();
                                splat_group(dst.add((k * N + r) * stride), value, mask);
                            }
                        }
                        continue;
                    }
                }
                Pattern::Near { min, max } => {
                    let start = address.wrapping_sub(u64::from(*lo.add(first) - min));
                    let range = u64::from(max - min) + size;
                    if let Some(src) = resolve::<false, K, S>(w, op, start, offsets, range) {
                        let lane = |i: usize| {
                            let offset = (*lo.add(i) - min) as usize;
                            for (k, src) in src.into_iter().enumerate() {
                                <Dwords<N> as Load>::lane(
                                    src.add(offset),
                                    dst.add(k * N * stride + i),
                                    stride,
                                );
                            }
                        };
                        if bits == 0xffff {
                            (0..16).for_each(lane);
                        } else {
                            each_lane(bits, lane);
                        }
                        continue;
                    }
                }
                Pattern::Far => {}
            }
            let mut rest = bits;
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let address = at.lane(group * 16 + lane);
                let mut src = [std::ptr::null_mut(); K];
                for (src, offset) in src.iter_mut().zip(offsets) {
                    *src = S::resolve::<false>(w, site(op), address.wrapping_add(offset), size)
                        .map_err(|fault| S::exit(fault, group * 16 + lane))?;
                }
                for (k, src) in src.into_iter().enumerate() {
                    <Dwords<N> as Load>::lane(src, dst.add(k * N * stride + lane), stride);
                }
            }
        }
        Ok(())
    }
}

/// Stores K elements of N dwords each per lane, from the registers of `s[1]` and `s[2]`.
#[inline(always)]
unsafe fn store_at<const N: usize, const K: usize, S: Space>(
    w: &mut Wave,
    op: *const Op,
    at: Addresses,
    offsets: [u64; K],
) -> Result<(), Exit> {
    // SAFETY: registers were checked by the lowering; memory is resolved before it is written; AVX2 by the caller.
    unsafe {
        let exec = w.exec();
        let stride = w.chunks * 16;
        let data: [*const u32; K] = std::array::from_fn(|k| {
            w.base[0]
                .add((*op).s[1 + k].offset() as usize)
                .cast::<u32>()
                .cast_const()
        });
        let step = 4 * N as u32;
        let size = u64::from(step);
        // Vectors of two elements that overlap would be stored in another order than lane by lane.
        let apart = |bytes: u64| K == 1 || offsets[0].abs_diff(offsets[K - 1]) >= bytes;
        if exec == w.full_mask {
            let bytes = size * stride as u64;
            if apart(bytes)
                && matches!(whole(w, &at, step), Pattern::Consecutive)
                && let Some(dst) = resolve::<true, K, S>(w, op, at.of_first(), offsets, bytes)
            {
                for (dst, data) in dst.into_iter().zip(data) {
                    for group in 0..w.chunks {
                        store_group::<N>(data.add(group * 16), stride, dst.add(group * 64 * N));
                    }
                }
                return Ok(());
            }
        } else {
            w.refresh_mask();
        }
        for group in 0..w.chunks {
            let bits = exec >> (group * 16) & 0xffff;
            if bits == 0 {
                continue;
            }
            let lo = at.lo.add(group * 16);
            let hi = if at.hi.is_null() {
                at.hi
            } else {
                at.hi.add(group * 16)
            };
            let data = data.map(|data| data.add(group * 16));
            let first = bits.trailing_zeros() as usize;
            let mask = masks(w, group, bits);
            let address = at.lane(group * 16 + first);
            match of_group(lo, hi, first, bits, mask, step) {
                Pattern::Consecutive if (bits == 0xffff || N == 1) && apart(64 * N as u64) => {
                    if let Some(dst) =
                        resolve::<true, K, S>(w, op, address, offsets, span(bits, 4 * N))
                    {
                        for (dst, data) in dst.into_iter().zip(data) {
                            if bits == 0xffff {
                                store_group::<N>(data, stride, dst);
                                continue;
                            }
                            let dst = dst.wrapping_sub(first * 4);
                            for (half, mask) in mask.into_iter().enumerate() {
                                _mm256_maskstore_epi32(
                                    dst.wrapping_add(32 * half).cast(),
                                    mask,
                                    vector(data, half),
                                );
                            }
                        }
                        continue;
                    }
                }
                pattern @ (Pattern::Consecutive | Pattern::Uniform | Pattern::Near { .. }) => {
                    let (min, range) = match pattern {
                        Pattern::Near { min, max } => (min, u64::from(max - min) + size),
                        Pattern::Consecutive => (*lo.add(first), span(bits, 4 * N)),
                        _ => (*lo.add(first), size),
                    };
                    let start = address.wrapping_sub(u64::from(*lo.add(first) - min));
                    if let Some(dst) = resolve::<true, K, S>(w, op, start, offsets, range) {
                        let lane = |i: usize| {
                            let offset = (*lo.add(i) - min) as usize;
                            for (dst, data) in dst.into_iter().zip(data) {
                                <Dwords<N> as Store>::lane(data.add(i), stride, dst.add(offset));
                            }
                        };
                        if bits == 0xffff {
                            (0..16).for_each(lane);
                        } else {
                            each_lane(bits, lane);
                        }
                        continue;
                    }
                }
                Pattern::Far => {}
            }
            let mut rest = bits;
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let address = at.lane(group * 16 + lane);
                for (data, offset) in data.into_iter().zip(offsets) {
                    let dst = S::resolve::<true>(w, site(op), address.wrapping_add(offset), size)
                        .map_err(|fault| S::exit(fault, group * 16 + lane))?;
                    <Dwords<N> as Store>::lane(data.add(lane), stride, dst);
                }
            }
        }
        Ok(())
    }
}

/// Address of the first lane, if all 64 lanes are active and access consecutive elements of `step` bytes, without order: the shape
/// of most accesses, looked at without a branch for each group.
#[inline(always)]
unsafe fn consecutive_64(w: &Wave, op: *const Op, step: u32) -> Option<u64> {
    // SAFETY: the lowering checked the address registers; AVX2 by the caller.
    unsafe {
        let flags = (*op).aux[0];
        let plain = w.chunks == 4 && w.pair(slot::EXEC) == u64::MAX;
        if !plain || flags & (flag::VADDR | flag::GLC) != flag::VADDR {
            return None;
        }
        let at = Addresses::of(w, op);
        let first = *at.lo;
        let last = first.checked_add(63 * step)?;
        if *at.lo.add(63) != last || *at.lo.add(1) != first + step {
            return None;
        }
        let mut expected = _mm256_add_epi32(splat(first), ramp(step));
        let next = splat(8 * step);
        let mut wrong = _mm256_xor_si256(vector(at.lo, 0), expected);
        for index in 1..8 {
            expected = _mm256_add_epi32(expected, next);
            let other = _mm256_xor_si256(vector(at.lo, index), expected);
            wrong = _mm256_or_si256(wrong, other);
        }
        let mut address = u64::from(first);
        if flags & flag::WIDE != 0 {
            let high = *at.hi;
            let expected = splat(high);
            for index in 0..8 {
                let other = _mm256_xor_si256(vector(at.hi, index), expected);
                wrong = _mm256_or_si256(wrong, other);
            }
            address |= u64::from(high) << 32;
        }
        (_mm256_testz_si256(wrong, wrong) != 0).then_some(at.base.wrapping_add(address))
    }
}

/// A load of N dwords; the address has a vector part.
///
/// # Safety
/// A [handler](crate::interp::run::Handler); the host has AVX2.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub unsafe fn load<const N: usize, S: Space>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: passed on; memory is resolved before it is read.
    unsafe {
        let step = 4 * N as u32;
        if let Some(address) = consecutive_64(w, op, step)
            && let Some(src) = S::known::<false>(w, site(op), address, u64::from(64 * step))
        {
            let dst: *mut u32 = w.base[0].add((*op).d as usize).cast();
            for group in 0..4 {
                load_group::<N>(src.add(group * 64 * N), dst.add(group * 16), 64);
            }
            return op.add(1);
        }
        load_any::<N, S>(w, op)
    }
}

/// As [`load`], whatever the addresses are.
///
/// # Safety
/// As [`load`].
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn load_any<const N: usize, S: Space>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: passed on.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        if (*op).aux[0] & flag::GLC != 0 {
            fence(Ordering::SeqCst);
        }
        let at = Addresses::of(w, op);
        if N == 1 && w.exec() != w.full_mask && active::load::<S>(w, op, &at) {
            return op.add(1);
        }
        let result = load_at::<N, 1, S>(w, op, at, [0]);
        finish(w, op, result)
    }
}

/// A store of N dwords; the address has a vector part.
///
/// # Safety
/// As [`load`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub unsafe fn store<const N: usize, S: Space>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: passed on; memory is resolved before it is written.
    unsafe {
        let step = 4 * N as u32;
        if let Some(address) = consecutive_64(w, op, step)
            && let Some(dst) = S::known::<true>(w, site(op), address, u64::from(64 * step))
        {
            let data: *const u32 = w.base[0].add((*op).s[1].offset() as usize).cast();
            for group in 0..4 {
                store_group::<N>(data.add(group * 16), 64, dst.add(group * 64 * N));
            }
            return op.add(1);
        }
        store_any::<N, S>(w, op)
    }
}

/// As [`store`], whatever the addresses are.
///
/// # Safety
/// As [`load`].
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn store_any<const N: usize, S: Space>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: passed on.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        let at = Addresses::of(w, op);
        if N == 1 && w.exec() != w.full_mask && active::store::<S>(w, op, &at) {
            return op.add(1);
        }
        let result = store_at::<N, 1, S>(w, op, at, [0]);
        finish(w, op, result)
    }
}

/// The address and the two offsets of the two-address forms.
#[inline(always)]
unsafe fn two(w: &Wave, op: *const Op) -> (Addresses, [u64; 2]) {
    // SAFETY: passed on.
    unsafe {
        let imm = (*op).imm;
        (
            Addresses {
                base: 0,
                ..Addresses::of(w, op)
            },
            [imm & 0xffff_ffff, imm >> 32],
        )
    }
}

/// `ds_read2*` of elements of N dwords.
///
/// # Safety
/// As [`load`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub unsafe fn read2<const N: usize>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: passed on.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        let (at, offsets) = two(w, op);
        let result = load_at::<N, 2, Lds>(w, op, at, offsets);
        finish(w, op, result)
    }
}

/// `ds_write2*` of elements of N dwords.
///
/// # Safety
/// As [`load`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub unsafe fn write2<const N: usize>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: passed on.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        let (at, offsets) = two(w, op);
        let result = store_at::<N, 2, Lds>(w, op, at, offsets);
        finish(w, op, result)
    }
}

#[cfg(test)]
mod tests;
