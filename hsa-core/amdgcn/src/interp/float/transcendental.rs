//! Reciprocals, roots, powers and logarithms of two, sine and cosine.

use crate::interp::round::{round_even_f32, round_even_f64};

use super::{flush, nan::Nan, scale::power};

/// 1/x. Denormals in and out are flushed whatever MODE says (the hardware's `v_rcp_f32` does not support them).
#[inline(always)]
pub fn rcp_f32(x: f32) -> f32 {
    flush(1.0 / flush(x))
}

/// Square root; denormals flushed.
#[inline(always)]
pub fn sqrt_f32(x: f32) -> f32 {
    flush(x).sqrt()
}

/// 1/√x; denormals flushed. Two third-order steps from an integer estimate; the error stays below 1 ulp.
#[inline(always)]
pub fn rsq_f32(x: f32) -> f32 {
    let x = flush(x);
    let mut y = f32::from_bits(0x5f37_5a86u32.wrapping_sub(x.to_bits() >> 1));
    for _ in 0..2 {
        let e = (x * y).mul_add(-y, 1.0);
        let step = e.mul_add(0.375, 0.5) * e;
        y = step.mul_add(y, y);
    }
    let e = (x * y).mul_add(-y, 1.0);
    y = (e * 0.5).mul_add(y, y);
    let zero = x == 0.0;
    let infinite = x.to_bits() == 0x7f80_0000;
    let special = if zero {
        f32::from_bits(0x7f80_0000 | (x.to_bits() & 0x8000_0000))
    } else {
        0.0
    };
    let y = if zero || infinite { special } else { y };
    if x < 0.0 || x.is_nan() { f32::NAN } else { y }
}

/// 2^x; denormals flushed.
#[inline(always)]
pub fn exp_f32(x: f32) -> f32 {
    let clamped = x.clamp(-200.0, 200.0);
    let whole = round_even_f32(clamped);
    let t = f64::from(clamped - whole);
    // Taylor series of 2^t on [-1/2, 1/2]; the first term left out is below 2^-32.
    let mut p = 1.01780860092397e-07;
    for c in [
        1.321548679014431e-06,
        1.5252733804059841e-05,
        0.0001540353039338161,
        0.0013333558146428443,
        0.009618129107628477,
        0.05550410866482158,
        0.24022650695910072,
        std::f64::consts::LN_2,
        1.0,
    ] {
        p = f64::mul_add(p, t, c);
    }
    let scaled = (p * power(whole as i32)) as f32;
    let result = if scaled < f32::MIN_POSITIVE {
        0.0
    } else {
        scaled
    };
    if x.is_nan() { x.quiet() } else { result }
}

/// log2(x); denormals flushed.
#[inline(always)]
pub fn log_f32(x: f32) -> f32 {
    let x = flush(x);
    let bits = x.to_bits();
    // x = m · 2^e with m in [√½, √2).
    let shifted = bits.wrapping_sub(0x3f35_04f3);
    let exponent = shifted.cast_signed() >> 23;
    let mantissa = f32::from_bits((shifted & 0x007f_ffff).wrapping_add(0x3f35_04f3));
    let m = f64::from(mantissa);
    let s = (m - 1.0) / (m + 1.0);
    let s2 = s * s;
    // 2/ln 2 · (s + s³/3 + s⁵/5 + …), |s| < 0.172.
    let mut p = 0.19235933878519512;
    for c in [
        0.22195308321368667,
        0.2623081892525388,
        0.3205988979753252,
        0.4121985831111324,
        0.5770780163555853,
        0.9617966939259756,
        2.8853900817779268,
    ] {
        p = f64::mul_add(p, s2, c);
    }
    let result = f64::mul_add(p, s, f64::from(exponent)) as f32;
    let result = if bits == 0x7f80_0000 { x } else { result };
    let result = if x == 0.0 { f32::NEG_INFINITY } else { result };
    if x < 0.0 || x.is_nan() {
        f32::NAN
    } else {
        result
    }
}

/// sin(2π·x) for x in f64, |x| small enough that its fraction is exact.
#[inline(always)]
fn sin_turns(x: f64) -> f64 {
    let r = x - round_even_f64(x);
    // Fold into a quarter turn either side of 0.
    let r = if r > 0.25 {
        0.5 - r
    } else if r < -0.25 {
        -0.5 - r
    } else {
        r
    };
    let t = r * std::f64::consts::TAU;
    let t2 = t * t;
    let mut p = 2.8114572543455206e-15;
    for c in [
        -7.647163731819816e-13,
        1.6059043836821613e-10,
        -2.505210838544172e-08,
        2.7557319223985893e-06,
        -0.0001984126984126984,
        0.008333333333333333,
        -0.16666666666666666,
        1.0,
    ] {
        p = f64::mul_add(p, t2, c);
    }
    p * t
}

/// sin(2π·x); 0 outside of ±256.
#[inline(always)]
pub fn sin_f32(x: f32) -> f32 {
    let result = sin_turns(f64::from(x)) as f32;
    let result = if x.abs() > 256.0 { 0.0 } else { result };
    if x.is_infinite() { f32::NAN } else { result }
}

/// cos(2π·x); 1 outside of ±256.
#[inline(always)]
pub fn cos_f32(x: f32) -> f32 {
    let result = sin_turns(f64::from(x) + 0.25) as f32;
    let result = if x.abs() > 256.0 { 1.0 } else { result };
    if x.is_infinite() { f32::NAN } else { result }
}
