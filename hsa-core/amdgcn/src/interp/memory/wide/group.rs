//! Copies of the dwords of sixteen lanes between memory and registers.

use core::arch::x86_64::*;

use super::{
    super::element::{Dwords, Load, Store},
    pattern::{put, splat, vector},
};

/// Exchanges rows and columns of the 4 × 4 dwords in each half of four vectors.
#[inline(always)]
pub(super) unsafe fn transpose(r: [__m256i; 4]) -> [__m256i; 4] {
    // SAFETY: AVX2 by the caller.
    unsafe {
        let (a, b) = (
            _mm256_unpacklo_epi32(r[0], r[1]),
            _mm256_unpackhi_epi32(r[0], r[1]),
        );
        let (c, d) = (
            _mm256_unpacklo_epi32(r[2], r[3]),
            _mm256_unpackhi_epi32(r[2], r[3]),
        );
        [
            _mm256_unpacklo_epi64(a, c),
            _mm256_unpackhi_epi64(a, c),
            _mm256_unpacklo_epi64(b, d),
            _mm256_unpackhi_epi64(b, d),
        ]
    }
}

/// Loads sixteen consecutive elements.
#[inline(always)]
pub(super) unsafe fn load_group<const N: usize>(src: *const u8, dst: *mut u32, stride: usize) {
    // SAFETY: by the caller, as for `Load::group`; AVX2.
    unsafe {
        let src: *const u32 = src.cast();
        match N {
            1 => {
                let (a, b) = (vector(src, 0), vector(src, 1));
                put(dst, 0, a);
                put(dst, 1, b);
            }
            2 => {
                for half in 0..2 {
                    let a = _mm256_castsi256_ps(vector(src, 2 * half));
                    let b = _mm256_castsi256_ps(vector(src, 2 * half + 1));
                    let low = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(a, b));
                    let high = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(a, b));
                    put(dst, half, _mm256_permute4x64_epi64::<0b11_01_10_00>(low));
                    put(
                        dst.add(stride),
                        half,
                        _mm256_permute4x64_epi64::<0b11_01_10_00>(high),
                    );
                }
            }
            4 => {
                for half in 0..2 {
                    let lane =
                        |index: usize| _mm_loadu_si128(src.add(32 * half + 4 * index).cast());
                    let pair = |index: usize| _mm256_set_m128i(lane(index + 4), lane(index));
                    let rows = transpose([pair(0), pair(1), pair(2), pair(3)]);
                    for (r, row) in rows.into_iter().enumerate() {
                        put(dst.add(r * stride), half, row);
                    }
                }
            }
            _ => <Dwords<N> as Load>::group(src.cast(), dst, stride),
        }
    }
}

/// Stores the elements of sixteen lanes one after the other.
#[inline(always)]
pub(super) unsafe fn store_group<const N: usize>(src: *const u32, stride: usize, dst: *mut u8) {
    // SAFETY: by the caller, as for `Store::group`; AVX2.
    unsafe {
        let dst: *mut u32 = dst.cast();
        match N {
            1 => {
                put(dst, 0, vector(src, 0));
                put(dst, 1, vector(src, 1));
            }
            2 => {
                for half in 0..2 {
                    let (a, b) = (vector(src, half), vector(src.add(stride), half));
                    let (low, high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
                    put(dst, 2 * half, _mm256_permute2x128_si256::<0x20>(low, high));
                    put(
                        dst,
                        2 * half + 1,
                        _mm256_permute2x128_si256::<0x31>(low, high),
                    );
                }
            }
            4 => {
                for half in 0..2 {
                    let row = |r: usize| vector(src.add(r * stride), half);
                    let lanes = transpose([row(0), row(1), row(2), row(3)]);
                    for (index, pair) in lanes.into_iter().enumerate() {
                        let at = dst.add(32 * half + 4 * index);
                        _mm_storeu_si128(at.cast(), _mm256_castsi256_si128(pair));
                        _mm_storeu_si128(at.add(16).cast(), _mm256_extracti128_si256::<1>(pair));
                    }
                }
            }
            _ => <Dwords<N> as Store>::group(src, stride, dst.cast()),
        }
    }
}

/// Writes a value to the active lanes of a group.
#[inline(always)]
pub(super) unsafe fn splat_group(dst: *mut u32, value: u32, mask: [__m256i; 2]) {
    // SAFETY: by the caller: sixteen lanes at `dst`; AVX2.
    unsafe {
        for (half, mask) in mask.into_iter().enumerate() {
            put(
                dst,
                half,
                _mm256_blendv_epi8(vector(dst, half), splat(value), mask),
            );
        }
    }
}
