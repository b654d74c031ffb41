//! IEEE halves: conversions, and operations that round once.

use super::nan::Nan;
use crate::interp::vector::{Env, Value};

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
