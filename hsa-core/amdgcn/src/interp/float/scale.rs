//! Exponents, mantissas and fractions.

/// 2 to an integer power, as f64; −1022 to 1023.
#[inline(always)]
pub fn power(exponent: i32) -> f64 {
    f64::from_bits(((1023 + i64::from(exponent)) << 52).cast_unsigned())
}

/// `x` · 2^n, rounded once.
#[inline(always)]
pub fn ldexp_f32(x: f32, n: i32) -> f32 {
    (f64::from(x) * power(n.clamp(-300, 300))) as f32
}

/// `x` · 2^n, rounded once.
#[inline(always)]
pub fn ldexp_f64(x: f64, n: i32) -> f64 {
    let mut n = n.clamp(-2200, 2200);
    let mut x = x;
    // Steps that stay exact: large powers up, and down by no more than keeps 53 bits.
    for _ in 0..2 {
        if n > 1023 {
            x *= power(1023);
            n -= 1023;
        } else if n < -1022 {
            x *= power(-969);
            n += 969;
        }
    }
    x * power(n.clamp(-1022, 1023))
}

/// Exponent e of x = m · 2^e with m in [0.5, 1); 0 for zero, infinity and NaN.
#[inline(always)]
pub fn frexp_exp_f32(x: f32) -> i32 {
    let wide = f64::from(x).to_bits();
    let special = x == 0.0 || !x.is_finite();
    if special {
        0
    } else {
        (wide >> 52 & 0x7ff) as i32 - 1022
    }
}

/// Mantissa in [0.5, 1) with the sign of x; zero, infinity and NaN give themselves.
#[inline(always)]
pub fn frexp_mant_f32(x: f32) -> f32 {
    let wide = f64::from(x).to_bits();
    let special = x == 0.0 || !x.is_finite();
    let mantissa = f64::from_bits((wide & 0x800f_ffff_ffff_ffff) | 0x3fe0_0000_0000_0000) as f32;
    if special { x } else { mantissa }
}

/// As [`frexp_exp_f32`].
#[inline(always)]
pub fn frexp_exp_f64(x: f64) -> i32 {
    if x == 0.0 || !x.is_finite() {
        return 0;
    }
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    if exponent == 0 {
        -1010 - (bits << 12).leading_zeros() as i32 - 12
    } else {
        exponent - 1022
    }
}

/// As [`frexp_mant_f32`].
#[inline(always)]
pub fn frexp_mant_f64(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let bits = x.to_bits();
    let sign = bits & 1 << 63;
    let fraction = if bits >> 52 & 0x7ff == 0 {
        let shift = (bits << 12).leading_zeros() + 1;
        bits << shift
    } else {
        bits
    } & 0x000f_ffff_ffff_ffff;
    f64::from_bits(sign | 0x3fe0_0000_0000_0000 | fraction)
}

/// x − floor(x), below 1.
#[inline(always)]
pub fn fract_f32(x: f32) -> f32 {
    let fraction = x - x.floor();
    if fraction >= 1.0 {
        f32::from_bits(0x3f7f_ffff)
    } else {
        fraction
    }
}

/// x − floor(x), below 1.
#[inline(always)]
pub fn fract_f64(x: f64) -> f64 {
    let fraction = x - x.floor();
    if fraction >= 1.0 {
        f64::from_bits(0x3fef_ffff_ffff_ffff)
    } else {
        fraction
    }
}
