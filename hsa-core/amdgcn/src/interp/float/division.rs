//! The steps of division sequences, and the bits of 2/π for argument reduction.

use super::{
    half::Half,
    nan::Nan,
    scale::{frexp_exp_f64, frexp_mant_f64, ldexp_f32, ldexp_f64, power},
};

/// `v_div_scale_f32`: (scaled operand, VCC bit). `s0` is the denominator `s1` or the numerator `s2`, bit for bit.
///
/// The scalings keep the refinement of the quotient away from overflow and denormals; `v_div_fmas_f32` undoes the one that
/// VCC announces.
#[inline(always)]
pub fn div_scale_f32(s0: f32, s1: f32, s2: f32) -> (f32, bool) {
    let exponent = |x: f32| (x.to_bits() >> 23 & 0xff) as i32;
    let denormal = |x: f32| exponent(x) == 0 && x.to_bits() & 0x007f_ffff != 0;
    let is_zero = |x: f32| x.to_bits() << 1 == 0;
    let same = |a: f32, b: f32| a.to_bits() == b.to_bits();
    let up = ldexp_f32(s0, 64);
    let down = ldexp_f32(s0, -64);
    if is_zero(s2) || is_zero(s1) {
        return (f32::NAN, false);
    }
    let tiny_reciprocal =
        exponent(s1) >= 253 && exponent(s1) < 255 && s1.to_bits() & 0x7fff_ffff > 0x7e80_0000;
    let quotient = f64::from(s2.abs()) / f64::from(s1.abs());
    let tiny_quotient = quotient < f64::from(f32::MIN_POSITIVE);
    if exponent(s2) - exponent(s1) >= 96 {
        (if same(s0, s1) { up } else { s0 }, true)
    } else if denormal(s1) {
        (up, false)
    } else if tiny_reciprocal && tiny_quotient {
        (if same(s0, s1) { down } else { s0 }, true)
    } else if tiny_reciprocal {
        (down, false)
    } else if tiny_quotient {
        (if same(s0, s2) { up } else { s0 }, true)
    } else if exponent(s2) <= 23 {
        (up, false)
    } else {
        (s0, false)
    }
}

/// `v_div_scale_f64`, as [`div_scale_f32`].
#[inline(always)]
pub fn div_scale_f64(s0: f64, s1: f64, s2: f64) -> (f64, bool) {
    let exponent = |x: f64| (x.to_bits() >> 52 & 0x7ff) as i32;
    let denormal = |x: f64| exponent(x) == 0 && x.to_bits() << 12 != 0;
    let is_zero = |x: f64| x.to_bits() << 1 == 0;
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits();
    let up = ldexp_f64(s0, 128);
    let down = ldexp_f64(s0, -128);
    if is_zero(s2) || is_zero(s1) {
        return (f64::NAN, false);
    }
    let magnitude = s1.to_bits() & !(1 << 63);
    let tiny_reciprocal = magnitude > 0x7fd0_0000_0000_0000 && exponent(s1) < 2047;
    // |s2/s1| < 2^-1022, by exponents and mantissas.
    let (e1, e2) = (frexp_exp_f64(s1), frexp_exp_f64(s2));
    let (m1, m2) = (frexp_mant_f64(s1).abs(), frexp_mant_f64(s2).abs());
    let finite = exponent(s1) < 2047 && exponent(s2) < 2047;
    let tiny_quotient = finite && e2 - e1 - i32::from(m2 < m1) < -1022
        || exponent(s1) == 2047 && exponent(s2) < 2047;
    if exponent(s2) - exponent(s1) >= 768 {
        (if same(s0, s1) { up } else { s0 }, true)
    } else if denormal(s1) {
        (up, false)
    } else if tiny_reciprocal && tiny_quotient {
        (if same(s0, s1) { down } else { s0 }, true)
    } else if tiny_reciprocal {
        (down, false)
    } else if tiny_quotient {
        (if same(s0, s2) { up } else { s0 }, true)
    } else if exponent(s2) <= 53 {
        (up, false)
    } else {
        (s0, false)
    }
}

/// `v_div_fmas_f32`: fused multiply-add, then undoes the scaling of `v_div_scale_f32` if `scaled`, rounding once.
#[inline(always)]
pub fn div_fmas_f32(a: f32, b: f32, c: f32, scaled: bool) -> f32 {
    let plain = a.mul_add(b, c);
    let up = c.to_bits() >> 23 & 0xff > 127;
    let scale = if up {
        f32::from_bits(0x5f80_0000)
    } else {
        f32::from_bits(0x1f80_0000)
    };
    let rounded = plain * scale;
    // A second rounding went wrong only if the first result is just half way between two denormals.
    let back = rounded * f32::from_bits(0x5f80_0000);
    let lost = plain - back;
    let rest = f64::from(a) * f64::from(b) + f64::from(c - plain);
    let half = f32::from_bits(0x1480_0000); // half of the smallest denormal, times 2^64
    let tie = !up && lost.abs() == half && rest != 0.0;
    // The exact value lies on the side of `rest`; `rounded` must be the neighbour of the tie on that side.
    let wrong = tie && (rest > 0.0) == (lost > 0.0);
    let toward_zero_bits = rounded.to_bits();
    let fixed = if (lost > 0.0) == (rounded.to_bits() >> 31 == 0) {
        toward_zero_bits.wrapping_add(1)
    } else {
        toward_zero_bits.wrapping_sub(1)
    };
    let result = if wrong {
        f32::from_bits(fixed)
    } else {
        rounded
    };
    if scaled { result } else { plain }
}

/// `v_div_fmas_f64`, as [`div_fmas_f32`].
#[inline(always)]
pub fn div_fmas_f64(a: f64, b: f64, c: f64, scaled: bool) -> f64 {
    let plain = a.mul_add(b, c);
    let up = c.to_bits() >> 52 & 0x7ff > 1023;
    let rounded = plain * if up { power(128) } else { power(-128) };
    let lost = plain - rounded * power(128);
    let rest = a.mul_add(b, c - plain);
    let half = power(-1022 - 53 + 128);
    let tie = !up && lost.abs() == half && rest != 0.0;
    let wrong = tie && (rest > 0.0) == (lost > 0.0);
    let bits = rounded.to_bits();
    let fixed = if (lost > 0.0) == (bits >> 63 == 0) {
        bits.wrapping_add(1)
    } else {
        bits.wrapping_sub(1)
    };
    let result = if wrong {
        f64::from_bits(fixed)
    } else {
        rounded
    };
    if scaled { result } else { plain }
}

macro_rules! div_fixup {
    ($name:ident, $ty:ty, $int:ty, $exp_shift:literal, $exp_mask:literal, $underflow:literal, $quiet:expr, $nan:expr, $nan_estimate:expr) => {
        /// Last step of a division: special cases by denominator `s1` and numerator `s2`, else the quotient `s0` with its sign.
        #[inline(always)]
        pub fn $name(s0: $ty, s1: $ty, s2: $ty) -> $ty {
            let sign_bit: $int = !(<$int>::MAX >> 1);
            let sign = (s1.to_bits() ^ s2.to_bits()) & sign_bit;
            let signed = |x: $ty| <$ty>::from_bits((x.to_bits() & !sign_bit) | sign);
            let exponent = |x: $ty| (x.to_bits() >> $exp_shift & $exp_mask) as i32;
            if s2.is_nan() {
                <$ty>::from_bits(s2.to_bits() | $quiet)
            } else if s1.is_nan() {
                <$ty>::from_bits(s1.to_bits() | $quiet)
            } else if (s1 == 0.0 && s2 == 0.0) || (s1.is_infinite() && s2.is_infinite()) {
                <$ty>::from_bits($nan)
            } else if s1 == 0.0 || s2.is_infinite() {
                signed(<$ty>::INFINITY)
            } else if s1.is_infinite() || s2 == 0.0 {
                signed(0.0)
            } else if exponent(s2) - exponent(s1) < $underflow {
                signed(0.0)
            } else if s0.is_nan() && $nan_estimate {
                signed(<$ty>::INFINITY)
            } else {
                signed(s0)
            }
        }
    };
}

div_fixup!(
    div_fixup_f32,
    f32,
    u32,
    23,
    0xff,
    -150,
    0x0040_0000u32,
    0xffc0_0000,
    true
);
div_fixup!(
    div_fixup_f64,
    f64,
    u64,
    52,
    0x7ff,
    -1075,
    1u64 << 51,
    0xfff8_0000_0000_0000,
    true
);

/// `v_div_fixup_f16`, as [`div_fixup_f32`].
#[inline(always)]
pub fn div_fixup_f16(s0: Half, s1: Half, s2: Half) -> Half {
    let sign = (s1.0 ^ s2.0) & 0x8000;
    let (d, n) = (s1.0 & 0x7fff, s2.0 & 0x7fff);
    if s2.is_nan() {
        s2.quiet()
    } else if s1.is_nan() {
        s1.quiet()
    } else if d == 0 && n == 0 || d == 0x7c00 && n == 0x7c00 {
        Half(0xfe00)
    } else if d == 0 || n == 0x7c00 {
        Half(0x7c00 | sign)
    } else if d == 0x7c00 || n == 0 {
        Half(sign)
    } else {
        Half(s0.0 & 0x7fff | sign)
    }
}

/// The first 1216 bits of the fraction of 2/π, the highest first.
const TWO_OVER_PI: [u64; 19] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
];

/// 53 bits of 2/π from bit `1200 - shift` down, as an integer (bit 1200 is the first of 1201 fraction bits).
fn two_over_pi(shift: u32) -> u64 {
    let mut out = 0u64;
    for bit in 0..53 {
        let at = (shift + bit) as usize;
        let value = TWO_OVER_PI
            .get(at / 64)
            .map_or(0, |word| word >> (63 - at % 64) & 1);
        out = out << 1 | if at < 1201 { value } else { 0 };
    }
    out
}

/// `v_trig_preop_f64`: segment `segment` of 2/π for the argument reduction of `x`.
pub fn trig_preop(x: f64, segment: u32) -> f64 {
    let exponent = (x.to_bits() >> 52 & 0x7ff) as i32;
    let mut shift = (segment & 31) as i32 * 53;
    if exponent > 1077 {
        shift += exponent - 1077;
    }
    let mut scale = -53 - shift;
    if exponent >= 1968 {
        scale += 128;
    }
    ldexp_f64(two_over_pi(shift.cast_unsigned()) as f64, scale)
}
