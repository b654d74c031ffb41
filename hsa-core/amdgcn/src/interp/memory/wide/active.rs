//! Consecutive dwords of the active lanes of a wave: what a branch or a bounds check leaves of most accesses. The addresses are looked at
//! once for the wave, and memory is resolved once.

use core::arch::x86_64::*;

use super::{
    super::{
        lanes::Addresses,
        space::{Space, site},
    },
    pattern::{put, ramp, splat, vector},
};
use crate::{interp::wave::Wave, ir::Op};

/// Where the dword of lane 0 is, or would be if it is not active; or nothing, if the active lanes' dwords are not consecutive, or not known
/// to be accessible. Brings `mask_lanes` up to date. At least one lane is active.
#[inline(always)]
unsafe fn find<const WRITE: bool, S: Space>(
    w: &mut Wave,
    op: *const Op,
    at: &Addresses,
) -> Option<*mut u8> {
    // SAFETY: the lowering checked the address registers; AVX2 by the caller.
    unsafe {
        if at.lo.is_null() {
            return None;
        }
        w.refresh_mask();
        let (first, last) = (at.first, 63 - w.exec().leading_zeros() as usize);
        let low = *at.lo.add(first);
        // The low half must not wrap around.
        low.checked_add(4 * (last - first) as u32)?;
        let mask = w.mask_lanes.0.as_ptr();
        let group_0 = _mm256_add_epi32(splat(low.wrapping_sub(4 * first as u32)), ramp(4));
        let mut wrong = _mm256_setzero_si256();
        for index in first / 8..last / 8 + 1 {
            let expected = _mm256_add_epi32(group_0, splat(32 * index as u32));
            let other = _mm256_xor_si256(vector(at.lo, index), expected);
            wrong = _mm256_or_si256(wrong, _mm256_and_si256(other, vector(mask, index)));
        }
        if !at.hi.is_null() {
            let expected = splat(*at.hi.add(first));
            for index in first / 8..last / 8 + 1 {
                let other = _mm256_xor_si256(vector(at.hi, index), expected);
                wrong = _mm256_or_si256(wrong, _mm256_and_si256(other, vector(mask, index)));
            }
        }
        if _mm256_testz_si256(wrong, wrong) == 0 {
            return None;
        }
        let bytes = 4 * (last - first + 1) as u64;
        let found = S::known::<WRITE>(w, site(op), at.of_first(), bytes)?;
        Some(found.wrapping_sub(4 * first))
    }
}

/// Loads them; whether they are such.
///
/// # Safety
/// As a handler of a load of dwords; some lane is active; the host has AVX2.
#[inline(always)]
pub(super) unsafe fn load<S: Space>(w: &mut Wave, op: *const Op, at: &Addresses) -> bool {
    // SAFETY: registers were checked by the lowering. Memory is resolved from the first active lane to the last; others are not touched.
    unsafe {
        let Some(src) = find::<false, S>(w, op, at) else {
            return false;
        };
        let src: *const u32 = src.cast();
        let dst: *mut u32 = w.base[0].add((*op).d as usize).cast();
        let mask = w.mask_lanes.0.as_ptr();
        let exec = w.exec();
        for index in 0..w.chunks * 2 {
            match exec >> (8 * index) & 0xff {
                0 => {}
                0xff => put(dst, index, vector(src.wrapping_add(8 * index), 0)),
                _ => {
                    let mask = vector(mask, index);
                    let new = _mm256_maskload_epi32(src.wrapping_add(8 * index).cast(), mask);
                    let new = _mm256_blendv_epi8(vector(dst, index), new, mask);
                    put(dst, index, new);
                }
            }
        }
        true
    }
}

/// Stores them; whether they are such.
///
/// # Safety
/// As a handler of a store of dwords; some lane is active; the host has AVX2.
#[inline(always)]
pub(super) unsafe fn store<S: Space>(w: &mut Wave, op: *const Op, at: &Addresses) -> bool {
    // SAFETY: as in `load`.
    unsafe {
        let Some(dst) = find::<true, S>(w, op, at) else {
            return false;
        };
        let dst: *mut u32 = dst.cast();
        let data: *const u32 = w.base[0].add((*op).s[1].offset() as usize).cast();
        let mask = w.mask_lanes.0.as_ptr();
        let exec = w.exec();
        for index in 0..w.chunks * 2 {
            match exec >> (8 * index) & 0xff {
                0 => {}
                0xff => put(dst.wrapping_add(8 * index), 0, vector(data, index)),
                _ => {
                    let to = dst.wrapping_add(8 * index).cast();
                    _mm256_maskstore_epi32(to, vector(mask, index), vector(data, index));
                }
            }
        }
        true
    }
}
