//! Vectors that sums of products are made in: arrays would be taken apart into scalars where loops over them are unrolled.

use core::arch::x86_64::{
    __m256, __m256i, _mm256_add_epi32, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_loadu_si256,
    _mm256_mullo_epi32, _mm256_set1_epi32, _mm256_set1_ps,
};

/// A vector of sums.
pub trait Products<T>: Copy {
    /// Sums in it.
    const LANES: usize;
    /// `value` in every lane.
    ///
    /// # Safety
    /// The host has the features of the level whose vector it is.
    unsafe fn splat(value: T) -> Self;
    /// From memory.
    ///
    /// # Safety
    /// As [`Products::splat`]; the lanes are readable.
    unsafe fn load(from: *const T) -> Self;
    /// This and `a` times `b`: floats are rounded once, integers wrap around.
    ///
    /// # Safety
    /// As [`Products::splat`].
    unsafe fn add_product(self, a: Self, b: Self) -> Self;
}

macro_rules! array {
    ($ty:ty, |$sum:ident, $a:ident, $b:ident| $value:expr) => {
        impl<const N: usize> Products<$ty> for [$ty; N] {
            const LANES: usize = N;
            #[inline(always)]
            unsafe fn splat(value: $ty) -> Self {
                [value; N]
            }
            #[inline(always)]
            unsafe fn load(from: *const $ty) -> Self {
                // SAFETY: by the caller.
                unsafe { from.cast::<Self>().read_unaligned() }
            }
            #[inline(always)]
            unsafe fn add_product(mut self, a: Self, b: Self) -> Self {
                for (sum, (a, b)) in self.iter_mut().zip(a.into_iter().zip(b)) {
                    let ($sum, $a, $b) = (*sum, a, b);
                    *sum = $value;
                }
                self
            }
        }
    };
}

array!(f32, |sum, a, b| a.mul_add(b, sum));
array!(i32, |sum, a, b| sum.wrapping_add(a.wrapping_mul(b)));

impl Products<f32> for __m256 {
    const LANES: usize = 8;
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        // SAFETY: AVX by the caller.
        unsafe { _mm256_set1_ps(value) }
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: AVX and the lanes by the caller.
        unsafe { _mm256_loadu_ps(from) }
    }
    #[inline(always)]
    unsafe fn add_product(self, a: Self, b: Self) -> Self {
        // SAFETY: FMA by the caller.
        unsafe { _mm256_fmadd_ps(a, b, self) }
    }
}

impl Products<i32> for __m256i {
    const LANES: usize = 8;
    #[inline(always)]
    unsafe fn splat(value: i32) -> Self {
        // SAFETY: AVX by the caller.
        unsafe { _mm256_set1_epi32(value) }
    }
    #[inline(always)]
    unsafe fn load(from: *const i32) -> Self {
        // SAFETY: AVX and the lanes by the caller.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }
    #[inline(always)]
    unsafe fn add_product(self, a: Self, b: Self) -> Self {
        // SAFETY: AVX2 by the caller.
        unsafe { _mm256_add_epi32(self, _mm256_mullo_epi32(a, b)) }
    }
}
