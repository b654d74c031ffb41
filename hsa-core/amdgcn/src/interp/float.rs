//! Scalar float functions that kernels use: conversions of f16, min and max, classes, scaling, the division helpers, and the
//! transcendental functions.
//!
//! Everything here is straight-line code on plain Rust floats, so that the lane loops around it become vector code, and its bits
//! do not depend on the SIMD level: fused multiply-add, division and square root are IEEE operations; the functions that
//! the ISA allows an error for are computed in f64 by polynomials and rounded once.
//!
//! Sources: AMD's ISA documents (pseudo-code), LLVM's lowering of divisions and of `exp2`, `log2`, `sqrt` for which operations
//! flush denormals even when MODE keeps them.

mod class;
mod division;
mod half;
mod nan;
mod order;
mod scale;
mod transcendental;

pub use class::{class_f16, class_f32, class_f64};
pub use division::{
    div_fixup_f16, div_fixup_f32, div_fixup_f64, div_fmas_f32, div_fmas_f64, div_scale_f32,
    div_scale_f64, trig_preop,
};
pub use half::{
    HALF_NAN, Half, half_fma, half_mad, half_nan, half1, half2, narrow, narrow_f64, narrow_to_zero,
};
pub use nan::Nan;
pub use order::{
    max_f16, max_f32, max_f64, max_num_f16, max_num_f32, max_num_f64, max3_f16, max3_f32, max3_f64,
    maximum_f16, maximum_f32, maximum_f64, med3_f16, med3_f32, med3_f64, med3_num_f16,
    med3_num_f32, med3_num_f64, min_f16, min_f32, min_f64, min_num_f16, min_num_f32, min_num_f64,
    min3_f16, min3_f32, min3_f64, minimum_f16, minimum_f32, minimum_f64, ordered,
};
pub use scale::{
    fract_f32, fract_f64, frexp_exp_f32, frexp_exp_f64, frexp_mant_f32, frexp_mant_f64, ldexp_f32,
    ldexp_f64, power,
};
pub use transcendental::{cos_f32, exp_f32, log_f32, rcp_f32, rsq_f32, sin_f32, sqrt_f32};

use super::vector::Env;

/// Zero of the same sign if `x` is a denormal.
#[inline(always)]
pub fn flush(x: f32) -> f32 {
    let bits = x.to_bits();
    f32::from_bits(if bits & 0x7f80_0000 == 0 {
        bits & 0x8000_0000
    } else {
        bits
    })
}

/// Input of an f32 operation that is not done by host arithmetic: flushed if MODE says so.
#[inline(always)]
pub fn input(e: Env, x: f32) -> f32 {
    if e.daz_f32() { flush(x) } else { x }
}

/// Zero of the same sign if `x` is a denormal.
#[inline(always)]
pub fn flush_f64(x: f64) -> f64 {
    let bits = x.to_bits();
    f64::from_bits(if bits & 0x7ff0_0000_0000_0000 == 0 {
        bits & 1 << 63
    } else {
        bits
    })
}

/// Input of an f64 operation that is not done by host arithmetic.
#[inline(always)]
pub fn input_f64(e: Env, x: f64) -> f64 {
    if e.daz_f16() { flush_f64(x) } else { x }
}

/// Input of an f16 operation that is not done by arithmetic.
#[inline(always)]
pub fn input_half(e: Env, x: Half) -> Half {
    if e.daz_f16() { x.flush() } else { x }
}

/// `v_mad_f32`, `v_mac_f32`: product rounded, then sum; denormals are flushed whatever MODE says (LLVM: these do not support
/// them).
#[inline(always)]
pub fn mad(a: f32, b: f32, c: f32) -> f32 {
    flush(flush(flush(a) * flush(b)) + flush(c))
}

/// DX9 rule: zero times anything is zero.
#[inline(always)]
pub fn mul_legacy(a: f32, b: f32) -> f32 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}
