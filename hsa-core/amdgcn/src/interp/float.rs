//! Scalar float functions that kernels use: conversions of f16, min and max, classes, scaling, the division helpers, and the
//! transcendental functions.
//!
//! Everything here is straight-line code on plain Rust floats, so that the lane loops around it become vector code, and its bits
//! do not depend on the SIMD level: fused multiply-add, division and square root are IEEE operations; the functions that
//! the ISA allows an error for are computed in f64 by polynomials and rounded once.
//!
//! Sources: AMD's ISA documents (pseudo-code), LLVM's lowering of divisions and of `exp2`, `log2`, `sqrt` for which operations
//! flush denormals even when MODE keeps them.

use super::{
    round::{round_even_f32, round_even_f64},
    vector::{Env, Value},
};

/// An IEEE half by its bits. Loading one looks at the low half of a register; storing one clears the high half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Half(pub u16);

impl Value for Half {
    const DWORDS: u32 = 1;
    const F64: bool = true;
    const BITS16: bool = true;
    #[inline(always)]
    fn from_dwords(low: u32, _high: u32) -> Self {
        Half(low as u16)
    }
    #[inline(always)]
    fn to_dwords(self) -> (u32, u32) {
        (u32::from(self.0), 0)
    }
}

impl Half {
    /// Value as f32, exactly. A signalling NaN stays signalling. Needs MODE's f16 environment: denormals vanish if it flushes them.
    #[inline(always)]
    pub fn widen(self) -> f32 {
        let bits = u32::from(self.0);
        let magnitude = (bits & 0x7fff) << 13;
        let scaled = (f32::from_bits(magnitude) * f32::from_bits(0x7780_0000)).to_bits();
        let special = magnitude | 0x7f80_0000;
        let value = if bits & 0x7c00 == 0x7c00 {
            special
        } else {
            scaled
        };
        f32::from_bits(value | (bits & 0x8000) << 16)
    }

    /// Is a NaN.
    #[inline(always)]
    pub fn is_nan(self) -> bool {
        self.0 & 0x7fff > 0x7c00
    }

    /// Is a signalling NaN.
    #[inline(always)]
    pub fn is_signalling(self) -> bool {
        self.is_nan() && self.0 & 0x200 == 0
    }

    /// The NaN, quiet.
    #[inline(always)]
    pub fn quiet(self) -> Half {
        Half(self.0 | 0x200)
    }

    /// Zero of the same sign if it is a denormal.
    #[inline(always)]
    pub fn flush(self) -> Half {
        if self.0 & 0x7c00 == 0 {
            Half(self.0 & 0x8000)
        } else {
            self
        }
    }
}

/// The NaN of an invalid f16 operation.
pub const HALF_NAN: Half = Half(0x7e00);

/// Rounds an f32 to f16 under MODE's f16 rounding, once. MXCSR must hold MODE's f64/f16 environment.
#[inline(always)]
pub fn narrow(e: Env, x: f32) -> Half {
    let bits = x.to_bits();
    let sign = bits & 0x8000_0000;
    let magnitude = bits & 0x7fff_ffff;
    // Adding and subtracting 2^13 times the leading bit leaves eleven bits of the value, rounded, in units of 2^-24 at least.
    let exponent = (magnitude & 0x7f80_0000).clamp(0x3880_0000, 0x4780_0000);
    let anchor = f32::from_bits((exponent + (13 << 23)) | sign);
    let rounded = (x + anchor) - anchor;
    let result = pack_half(
        e,
        rounded.to_bits() & 0x7fff_ffff,
        rounded.abs(),
        magnitude == 0x7f80_0000,
        sign >> 16,
    );
    let nan = (sign >> 16) as u16 | 0x7e00 | (magnitude >> 13 & 0x3ff) as u16;
    flush_result(
        e,
        if magnitude > 0x7f80_0000 {
            Half(nan)
        } else {
            result
        },
    )
}

/// Packs a magnitude that is exact in f16 (or too large).
#[inline(always)]
fn pack_half(e: Env, rounded: u32, value: f32, infinite: bool, sign: u32) -> Half {
    let normal = rounded.wrapping_sub(0x3800_0000) >> 13;
    let denormal = (value * 16_777_216.0) as i32;
    let finite = if rounded >= 0x3880_0000 {
        normal
    } else {
        denormal.cast_unsigned()
    };
    // Too large: infinity, or the largest finite value when rounding goes the other way.
    let away = match e.round_f16() {
        0 => true,
        1 => sign == 0,
        2 => sign != 0,
        _ => false,
    };
    let overflow = if away || infinite { 0x7c00 } else { 0x7bff };
    let magnitude = if rounded >= 0x4780_0000 {
        overflow
    } else {
        finite
    };
    Half((magnitude | sign) as u16)
}

#[inline(always)]
fn flush_result(e: Env, x: Half) -> Half {
    if e.ftz_f16() { x.flush() } else { x }
}

/// Rounds an f64 to f16 once, as [`narrow`].
#[inline(always)]
pub fn narrow_f64(e: Env, x: f64) -> Half {
    let bits = x.to_bits();
    let sign = bits & 1 << 63;
    let magnitude = bits & !(1 << 63);
    let exponent =
        (magnitude & 0x7ff0_0000_0000_0000).clamp(0x3f10_0000_0000_0000, 0x40f0_0000_0000_0000);
    let anchor = f64::from_bits((exponent + (42 << 52)) | sign);
    // 65536 stands for everything that is too large, so that the way through f32 is exact.
    let rounded = ((x + anchor) - anchor).abs().min(65536.0) as f32;
    let sign = (sign >> 48) as u32;
    let result = pack_half(
        e,
        rounded.to_bits(),
        rounded,
        magnitude == 0x7ff0_0000_0000_0000,
        sign,
    );
    flush_result(
        e,
        if x.is_nan() {
            Half(0x7e00 | sign as u16)
        } else {
            result
        },
    )
}

/// Rounds towards zero to f16, whatever MODE says.
#[inline(always)]
pub fn narrow_to_zero(x: f32) -> u16 {
    let bits = x.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    let normal = (magnitude.wrapping_sub(0x3800_0000) >> 13).min(0x7bff);
    // Below 2^-14: shift the mantissa, hidden bit included, down to units of 2^-24.
    let shift = (126u32.wrapping_sub(magnitude >> 23)).min(31);
    let denormal = ((magnitude & 0x007f_ffff) | 0x0080_0000) >> shift;
    let finite = if magnitude >= 0x3880_0000 {
        normal
    } else if magnitude < 0x3380_0000 {
        0
    } else {
        denormal
    };
    let special = if magnitude > 0x7f80_0000 {
        0x7e00 | (magnitude >> 13 & 0x3ff)
    } else {
        0x7c00
    };
    sign | (if magnitude >= 0x7f80_0000 {
        special
    } else {
        finite
    }) as u16
}

/// An f16 operation on widened values whose exact result, rounded to f32 or f64, rounds to f16 as the exact one does. A NaN result is
/// the first NaN source, quiet, or the default NaN.
#[inline(always)]
pub fn half_nan(result: Half, sources: [Half; 3]) -> Half {
    if !result.is_nan() {
        return result;
    }
    if sources[0].is_nan() {
        sources[0].quiet()
    } else if sources[1].is_nan() {
        sources[1].quiet()
    } else if sources[2].is_nan() {
        sources[2].quiet()
    } else {
        HALF_NAN
    }
}

/// One-source f16 operation through f32.
#[inline(always)]
pub fn half1(e: Env, a: Half, f: impl Fn(f32) -> f32) -> Half {
    half_nan(narrow(e, f(a.widen())), [a, a, a])
}

/// Two-source f16 operation through f32.
#[inline(always)]
pub fn half2(e: Env, a: Half, b: Half, f: impl Fn(f32, f32) -> f32) -> Half {
    half_nan(narrow(e, f(a.widen(), b.widen())), [a, b, b])
}

/// f16 fused multiply-add: the product is exact in f64, and the sum's rounding to f64 does not disturb that to f16.
#[inline(always)]
pub fn half_fma(e: Env, a: Half, b: Half, c: Half) -> Half {
    let sum = f64::from(a.widen()) * f64::from(b.widen()) + f64::from(c.widen());
    half_nan(narrow_f64(e, sum), [a, b, c])
}

/// f16 multiply, round, add, round.
#[inline(always)]
pub fn half_mad(e: Env, a: Half, b: Half, c: Half) -> Half {
    let product = narrow(e, a.widen() * b.widen());
    half_nan(narrow(e, product.widen() + c.widen()), [a, b, c])
}

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

macro_rules! min_max {
    ($min:ident, $max:ident, $min3:ident, $max3:ident, $med3:ident, $ty:ty, $int:ty, $input:ident, $quiet_bit:expr, |$v:ident| $bits:expr, |$w:ident| $from:expr,
     |$l:ident, $r:ident| $less:expr, |$n:ident| $nan:expr) => {
        /// The smaller; −0 is smaller than +0; of a NaN and a number the number; in IEEE mode a signalling NaN gives itself, quiet.
        #[inline(always)]
        pub fn $min(e: Env, a: $ty, b: $ty) -> $ty {
            select_extreme!(
                e,
                a,
                b,
                $ty,
                $int,
                $input,
                $quiet_bit,
                |$v| $bits,
                |$w| $from,
                |$l, $r| $less,
                |$n| $nan,
                min
            )
        }
        /// The larger, by the same rules.
        #[inline(always)]
        pub fn $max(e: Env, a: $ty, b: $ty) -> $ty {
            select_extreme!(
                e,
                a,
                b,
                $ty,
                $int,
                $input,
                $quiet_bit,
                |$v| $bits,
                |$w| $from,
                |$l, $r| $less,
                |$n| $nan,
                max
            )
        }
        /// Smallest of three.
        #[inline(always)]
        pub fn $min3(e: Env, a: $ty, b: $ty, c: $ty) -> $ty {
            $min(e, $min(e, a, b), c)
        }
        /// Largest of three.
        #[inline(always)]
        pub fn $max3(e: Env, a: $ty, b: $ty, c: $ty) -> $ty {
            $max(e, $max(e, a, b), c)
        }
        /// Median; with a NaN source the smallest.
        #[inline(always)]
        pub fn $med3(e: Env, a: $ty, b: $ty, c: $ty) -> $ty {
            let is_nan = |$n: $ty| $nan;
            if is_nan(a) || is_nan(b) || is_nan(c) {
                return $min3(e, a, b, c);
            }
            let low = $min(e, a, b);
            let high = $max(e, a, b);
            $max(e, low, $min(e, high, c))
        }
    };
}

macro_rules! select_extreme {
    ($e:ident, $a:ident, $b:ident, $ty:ty, $int:ty, $input:ident, $quiet_bit:expr, |$v:ident| $bits:expr, |$w:ident| $from:expr,
     |$l:ident, $r:ident| $less:expr, |$n:ident| $nan:expr, $which:ident) => {{
        let bits = |$v: $ty| -> $int { $bits };
        let from = |$w: $int| -> $ty { $from };
        let less = |$l: $ty, $r: $ty| -> bool { $less };
        let is_nan = |$n: $ty| -> bool { $nan };
        let (a, b) = ($input($e, $a), $input($e, $b));
        let a_first = select_extreme!(@less $which, less, a, b);
        let b_first = select_extreme!(@less $which, less, b, a);
        // Equal values differ in the sign of zero at most.
        let equal = from(select_extreme!(@sign $which, bits(a), bits(b)));
        let number = if a_first { a } else if b_first { b } else { equal };
        let (a_nan, b_nan) = (is_nan(a), is_nan(b));
        let picked = if a_nan { b } else if b_nan { a } else { number };
        let ieee = $e.ieee();
        let a_signalling = ieee && a_nan && bits(a) & $quiet_bit == 0;
        let b_signalling = ieee && b_nan && bits(b) & $quiet_bit == 0;
        if a_signalling {
            from(bits(a) | $quiet_bit)
        } else if b_signalling {
            from(bits(b) | $quiet_bit)
        } else {
            picked
        }
    }};
    (@less min, $less:ident, $a:ident, $b:ident) => { $less($a, $b) };
    (@less max, $less:ident, $a:ident, $b:ident) => { $less($b, $a) };
    (@sign min, $a:expr, $b:expr) => { $a | $b };
    (@sign max, $a:expr, $b:expr) => { $a & $b };
}

min_max!(
    min_f32,
    max_f32,
    min3_f32,
    max3_f32,
    med3_f32,
    f32,
    u32,
    input,
    0x0040_0000,
    |v| v.to_bits(),
    |w| f32::from_bits(w),
    |l, r| l < r,
    |n| n.is_nan()
);
min_max!(
    min_f64,
    max_f64,
    min3_f64,
    max3_f64,
    med3_f64,
    f64,
    u64,
    input_f64,
    1u64 << 51,
    |v| v.to_bits(),
    |w| f64::from_bits(w),
    |l, r| l < r,
    |n| n.is_nan()
);
min_max!(
    min_f16,
    max_f16,
    min3_f16,
    max3_f16,
    med3_f16,
    Half,
    u16,
    input_half,
    0x200,
    |v| v.0,
    |w| Half(w),
    |l, r| ordered(l) < ordered(r),
    |n| n.is_nan()
);

/// Integer that orders f16 numbers: zeros are equal.
#[inline(always)]
pub fn ordered(x: Half) -> i32 {
    let magnitude = i32::from(x.0 & 0x7fff);
    if x.0 & 0x8000 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// Class bit of a float by its sign, exponent and mantissa; see `v_cmp_class_f32`.
#[inline(always)]
fn class(
    negative: bool,
    max_exponent: bool,
    zero_exponent: bool,
    zero_mantissa: bool,
    quiet: bool,
) -> u32 {
    if max_exponent && !zero_mantissa {
        return if quiet { 2 } else { 1 };
    }
    let (minus, plus) = if max_exponent {
        (1 << 2, 1 << 9)
    } else if !zero_exponent {
        (1 << 3, 1 << 8)
    } else if !zero_mantissa {
        (1 << 4, 1 << 7)
    } else {
        (1 << 5, 1 << 6)
    };
    if negative { minus } else { plus }
}

/// Class bit of an f32.
#[inline(always)]
pub fn class_f32(bits: u32) -> u32 {
    let exponent = bits >> 23 & 0xff;
    class(
        bits >> 31 != 0,
        exponent == 0xff,
        exponent == 0,
        bits & 0x007f_ffff == 0,
        bits & 0x0040_0000 != 0,
    )
}

/// Class bit of an f64.
#[inline(always)]
pub fn class_f64(bits: u64) -> u32 {
    let exponent = bits >> 52 & 0x7ff;
    class(
        bits >> 63 != 0,
        exponent == 0x7ff,
        exponent == 0,
        bits & 0x000f_ffff_ffff_ffff == 0,
        bits & 1 << 51 != 0,
    )
}

/// Class bit of an f16.
#[inline(always)]
pub fn class_f16(bits: u16) -> u32 {
    let exponent = bits >> 10 & 0x1f;
    class(
        bits >> 15 != 0,
        exponent == 0x1f,
        exponent == 0,
        bits & 0x03ff == 0,
        bits & 0x200 != 0,
    )
}

/// 2 to an integer power, as f64; −1022 to 1023.
#[inline(always)]
fn power(exponent: i32) -> f64 {
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
    if x.is_nan() { x } else { result }
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
