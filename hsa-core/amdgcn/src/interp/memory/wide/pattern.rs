//! Patterns in the addresses of waves and of groups of sixteen lanes.

use core::arch::x86_64::*;

use super::super::lanes::Addresses;
use crate::interp::wave::Wave;

/// The pattern in a set of addresses.
pub(super) enum Pattern {
    Consecutive,
    Uniform,
    /// Low halves between these, high halves equal.
    Near {
        min: u32,
        max: u32,
    },
    Far,
}

#[inline(always)]
pub(super) unsafe fn vector(at: *const u32, index: usize) -> __m256i {
    // SAFETY: by the caller: AVX, and eight dwords at `at + 8 * index`.
    unsafe { _mm256_loadu_si256(at.cast::<__m256i>().add(index)) }
}

#[inline(always)]
pub(super) unsafe fn put(at: *mut u32, index: usize, value: __m256i) {
    // SAFETY: as in `vector`.
    unsafe { _mm256_storeu_si256(at.cast::<__m256i>().add(index), value) }
}

#[inline(always)]
pub(super) unsafe fn splat(value: u32) -> __m256i {
    // SAFETY: AVX by the caller.
    unsafe { _mm256_set1_epi32(value.cast_signed()) }
}

/// 0, step, 2 × step …
#[inline(always)]
pub(super) unsafe fn ramp(step: u32) -> __m256i {
    let s = step.cast_signed();
    // SAFETY: AVX by the caller.
    unsafe { _mm256_setr_epi32(0, s, 2 * s, 3 * s, 4 * s, 5 * s, 6 * s, 7 * s) }
}

/// The pattern of a wave whose lanes are all active: consecutive, uniform, or far for everything else.
#[inline(always)]
pub(super) unsafe fn whole(w: &Wave, at: &Addresses, step: u32) -> Pattern {
    // SAFETY: the lowering checked the address registers; AVX2 by the caller.
    unsafe {
        let lo0 = *at.lo;
        let between = (*at.lo.add(1)).wrapping_sub(lo0);
        let last = *at.lo.add(w.chunks * 16 - 1);
        if (between != step && between != 0)
            || last.wrapping_sub(lo0) != between * (w.chunks as u32 * 16 - 1)
        {
            return Pattern::Far;
        }
        let mut expected = splat(lo0);
        if between != 0 {
            expected = _mm256_add_epi32(expected, ramp(step));
        }
        let next = splat(between.wrapping_mul(8));
        let mut wrong = _mm256_setzero_si256();
        for index in 0..w.chunks * 2 {
            wrong = _mm256_or_si256(wrong, _mm256_xor_si256(vector(at.lo, index), expected));
            expected = _mm256_add_epi32(expected, next);
        }
        if !at.hi.is_null() {
            let hi0 = splat(*at.hi);
            for index in 0..w.chunks * 2 {
                wrong = _mm256_or_si256(wrong, _mm256_xor_si256(vector(at.hi, index), hi0));
            }
        }
        // The low half must not wrap around.
        let last = lo0.checked_add(between * (w.chunks as u32 * 16 - 1));
        match _mm256_testz_si256(wrong, wrong) != 0 && last.is_some() {
            true if between != 0 => Pattern::Consecutive,
            true => Pattern::Uniform,
            false => Pattern::Far,
        }
    }
}

/// The masks of a group's lanes.
#[inline(always)]
pub(super) unsafe fn masks(w: &Wave, group: usize, bits: u64) -> [__m256i; 2] {
    // SAFETY: AVX by the caller; `mask_lanes` was brought up to date with EXEC.
    unsafe {
        if bits == 0xffff {
            return [_mm256_set1_epi32(-1); 2];
        }
        let lanes = w.mask_lanes.0.as_ptr().add(group * 16);
        [vector(lanes, 0), vector(lanes, 1)]
    }
}

/// The pattern of the active lanes of a group; `lo` and `hi` are the group's, `first` its first active lane.
#[inline(always)]
pub(super) unsafe fn of_group(
    lo: *const u32,
    hi: *const u32,
    first: usize,
    bits: u64,
    mask: [__m256i; 2],
    step: u32,
) -> Pattern {
    // SAFETY: sixteen lanes at `lo`, and at `hi` if it is not null; AVX2 by the caller.
    unsafe {
        let lo0 = *lo.add(first);
        if !hi.is_null() {
            let hi0 = splat(*hi.add(first));
            let wrong =
                |half: usize| _mm256_and_si256(_mm256_xor_si256(vector(hi, half), hi0), mask[half]);
            let wrong = _mm256_or_si256(wrong(0), wrong(1));
            if _mm256_testz_si256(wrong, wrong) == 0 {
                return Pattern::Far;
            }
        }
        let (a, b) = (vector(lo, 0), vector(lo, 1));
        let start = splat(lo0.wrapping_sub(first as u32 * step));
        let expected = _mm256_add_epi32(start, ramp(step));
        let wrong_a = _mm256_and_si256(_mm256_xor_si256(a, expected), mask[0]);
        let expected = _mm256_add_epi32(expected, splat(8 * step));
        let wrong_b = _mm256_and_si256(_mm256_xor_si256(b, expected), mask[1]);
        let wrong = _mm256_or_si256(wrong_a, wrong_b);
        if _mm256_testz_si256(wrong, wrong) != 0 {
            let last = 63 - bits.leading_zeros() as usize;
            if lo0.checked_add((last - first) as u32 * step).is_some() {
                return Pattern::Consecutive;
            }
        }
        let same = splat(lo0);
        let (a, b) = (
            _mm256_blendv_epi8(same, a, mask[0]),
            _mm256_blendv_epi8(same, b, mask[1]),
        );
        let wrong = _mm256_or_si256(_mm256_xor_si256(a, same), _mm256_xor_si256(b, same));
        if _mm256_testz_si256(wrong, wrong) != 0 {
            return Pattern::Uniform;
        }
        let (min, max) = (_mm256_min_epu32(a, b), _mm256_max_epu32(a, b));
        let min = _mm_min_epu32(
            _mm256_castsi256_si128(min),
            _mm256_extracti128_si256::<1>(min),
        );
        let max = _mm_max_epu32(
            _mm256_castsi256_si128(max),
            _mm256_extracti128_si256::<1>(max),
        );
        let min = _mm_min_epu32(min, _mm_shuffle_epi32::<0b01_00_11_10>(min));
        let max = _mm_max_epu32(max, _mm_shuffle_epi32::<0b01_00_11_10>(max));
        let min = _mm_min_epu32(min, _mm_shuffle_epi32::<0b10_11_00_01>(min));
        let max = _mm_max_epu32(max, _mm_shuffle_epi32::<0b10_11_00_01>(max));
        Pattern::Near {
            min: _mm_cvtsi128_si32(min).cast_unsigned(),
            max: _mm_cvtsi128_si32(max).cast_unsigned(),
        }
    }
}
