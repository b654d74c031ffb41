//! SIMD levels of the lane loops, and the instantiation of handlers at each of them.

use crate::ir::Op;

use super::{
    super::{run::Handler, wave::Wave},
    GROUP, Products,
};

/// The few things that differ between levels beyond what the compiler makes of a lane loop.
pub trait Simd: 'static {
    /// Eight f32.
    type Floats: Products<f32>;
    /// Eight i32.
    type Integers: Products<i32>;
    /// Bit n is the top bit of lane n.
    ///
    /// # Safety
    /// The host has the level's features.
    unsafe fn movemask(lanes: &[u32; GROUP]) -> u32;
    /// Whether any lane is NaN.
    ///
    /// # Safety
    /// The host has the level's features.
    unsafe fn any_nan_f32(lanes: &[f32; GROUP]) -> bool;
    /// Whether any lane is NaN.
    ///
    /// # Safety
    /// The host has the level's features.
    unsafe fn any_nan_f64(lanes: &[f64; GROUP]) -> bool;
}

/// Baseline.
#[derive(Debug)]
pub struct Portable;
/// AVX2, FMA, F16C, BMI.
#[derive(Debug)]
pub struct Avx2;
/// AVX-512 F, BW, DQ, VL.
#[derive(Debug)]
pub struct Avx512;

impl Simd for Portable {
    type Floats = [f32; 8];
    type Integers = [i32; 8];
    #[inline(always)]
    unsafe fn movemask(lanes: &[u32; GROUP]) -> u32 {
        let mut mask = 0;
        for (lane, value) in lanes.iter().enumerate() {
            mask |= (value >> 31) << lane;
        }
        mask
    }
    #[inline(always)]
    unsafe fn any_nan_f32(lanes: &[f32; GROUP]) -> bool {
        lanes.iter().fold(false, |any, value| any | value.is_nan())
    }
    #[inline(always)]
    unsafe fn any_nan_f64(lanes: &[f64; GROUP]) -> bool {
        lanes.iter().fold(false, |any, value| any | value.is_nan())
    }
}

/// `vmovmskps`, as itself: the compiler makes a longer sequence of packs from the intrinsic of two compare results.
#[inline]
#[target_feature(enable = "avx2")]
fn sign_bits(lanes: core::arch::x86_64::__m256) -> u32 {
    let bits: u32;
    // SAFETY: reads one register and writes another.
    unsafe {
        core::arch::asm!("vmovmskps {bits:e}, {lanes}", lanes = in(ymm_reg) lanes, bits = lateout(reg) bits,
            options(pure, nomem, nostack, preserves_flags));
    }
    bits
}

impl Simd for Avx2 {
    type Floats = core::arch::x86_64::__m256;
    type Integers = core::arch::x86_64::__m256i;
    #[inline(always)]
    unsafe fn movemask(lanes: &[u32; GROUP]) -> u32 {
        use core::arch::x86_64::_mm256_loadu_ps;
        // SAFETY: AVX by the caller; both halves are inside the array.
        unsafe {
            let low = sign_bits(_mm256_loadu_ps(lanes.as_ptr().cast()));
            let high = sign_bits(_mm256_loadu_ps(lanes.as_ptr().add(8).cast()));
            low | (high << 8)
        }
    }
    #[inline(always)]
    unsafe fn any_nan_f32(lanes: &[f32; GROUP]) -> bool {
        use core::arch::x86_64::{
            _CMP_UNORD_Q, _mm256_cmp_ps, _mm256_loadu_ps, _mm256_movemask_ps,
        };
        // SAFETY: AVX by the caller; both halves are inside the array.
        unsafe {
            let low = _mm256_loadu_ps(lanes.as_ptr());
            let high = _mm256_loadu_ps(lanes.as_ptr().add(8));
            _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_UNORD_Q>(low, high)) != 0
        }
    }
    #[inline(always)]
    unsafe fn any_nan_f64(lanes: &[f64; GROUP]) -> bool {
        use core::arch::x86_64::{
            _CMP_UNORD_Q, _mm256_cmp_pd, _mm256_loadu_pd, _mm256_movemask_pd, _mm256_or_pd,
        };
        // SAFETY: AVX by the caller; all quarters are inside the array.
        unsafe {
            let at = |index: usize| _mm256_loadu_pd(lanes.as_ptr().add(4 * index));
            let low = _mm256_cmp_pd::<_CMP_UNORD_Q>(at(0), at(1));
            let high = _mm256_cmp_pd::<_CMP_UNORD_Q>(at(2), at(3));
            _mm256_movemask_pd(_mm256_or_pd(low, high)) != 0
        }
    }
}

impl Simd for Avx512 {
    type Floats = core::arch::x86_64::__m256;
    type Integers = core::arch::x86_64::__m256i;
    #[inline(always)]
    unsafe fn movemask(lanes: &[u32; GROUP]) -> u32 {
        use core::arch::x86_64::{_mm512_loadu_si512, _mm512_movepi32_mask};
        // SAFETY: AVX-512 DQ by the caller; the array is 64 bytes.
        unsafe {
            u32::from(_mm512_movepi32_mask(_mm512_loadu_si512(
                lanes.as_ptr().cast(),
            )))
        }
    }
    #[inline(always)]
    unsafe fn any_nan_f32(lanes: &[f32; GROUP]) -> bool {
        use core::arch::x86_64::{_CMP_UNORD_Q, _mm512_cmp_ps_mask, _mm512_loadu_ps};
        // SAFETY: AVX-512 F by the caller; the array is 64 bytes.
        unsafe {
            let all = _mm512_loadu_ps(lanes.as_ptr());
            _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(all, all) != 0
        }
    }
    #[inline(always)]
    unsafe fn any_nan_f64(lanes: &[f64; GROUP]) -> bool {
        use core::arch::x86_64::{_CMP_UNORD_Q, _mm512_cmp_pd_mask, _mm512_loadu_pd};
        // SAFETY: AVX-512 F by the caller; the array is 128 bytes.
        unsafe {
            _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(
                _mm512_loadu_pd(lanes.as_ptr()),
                _mm512_loadu_pd(lanes.as_ptr().add(8)),
            ) != 0
        }
    }
}

/// Something that runs as a handler: at a SIMD level, or lane by lane.
pub trait Body: 'static {
    /// The handler.
    ///
    /// # Safety
    /// As for all handlers; and the host has the level's features.
    unsafe fn run<L: Simd>(w: &mut Wave, op: *const Op) -> *const Op;

    /// The handler, for the portable level and for rare operations; what has a smaller form, one lane after the other, has it here.
    ///
    /// # Safety
    /// As for all handlers.
    unsafe fn run_lanes(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: by the caller; no features are needed for this instantiation.
        unsafe { Self::run::<Portable>(w, op) }
    }
}

unsafe fn portable<B: Body>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: by the caller; no features needed.
    unsafe { B::run_lanes(w, op) }
}

#[cfg(not(debug_assertions))]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn avx2<B: Body>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: by the caller.
    unsafe { B::run::<Avx2>(w, op) }
}

/// Instantiations of a body: lane by lane for the portable level, AVX2 for the others. Builds with debug assertions have the
/// portable ones alone: the others are what takes long to compile.
pub fn hot<B: Body>() -> [Handler; 3] {
    #[cfg(not(debug_assertions))]
    {
        [portable::<B>, avx2::<B>, avx2::<B>]
    }
    #[cfg(debug_assertions)]
    {
        rare::<B>()
    }
}

/// A body that runs lane by lane at every level: rare operations.
pub fn rare<B: Body>() -> [Handler; 3] {
    [portable::<B>; 3]
}
