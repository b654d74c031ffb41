//! Floats of eight, six and four bits, and bf16.
//!
//! FP8 has four exponent and three mantissa bits, BF8 five and two. GFX940 has the "FNUZ" kind of both: no infinities, one zero, the
//! bit pattern 0x80 is the only NaN, and the exponent bias is one larger than IEEE's would be. GFX12 and later have the kind of the
//! Open Compute Project: BF8 as IEEE would have it, FP8 without infinities and with NaN at the two greatest magnitudes.
//!
//! GFX950 has the Open Compute Project's kind too, and its FP6 (two exponent and three mantissa bits), BF6 (three and two) and FP4 (two and
//! one), which have neither infinities nor NaN: what does not fit, and NaN, becomes the greatest magnitude.
//!
//! Decoding is exact. Encoding rounds once, to nearest even ([`encode`]) or with random bits ([`encode_random`]).

/// A float format of at most eight bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format8 {
    /// Bits, the sign included: 8, 6 or 4.
    pub width: u32,
    /// Bits of the mantissa: 3, 2 or 1.
    mantissa: u32,
    /// Exponent bias.
    bias: i32,
    /// Greatest finite magnitude.
    largest: u8,
    /// Infinity, where there is one.
    infinity: Option<u8>,
    /// NaN as conversions give it; without NaN the greatest magnitude.
    nan: u8,
    /// FNUZ: 0x80 is NaN, not −0.
    unsigned_zero: bool,
}

/// E4M3 of GFX940.
pub const FP8_FNUZ: Format8 = Format8 {
    width: 8,
    mantissa: 3,
    bias: 8,
    largest: 0x7f,
    infinity: None,
    nan: 0x80,
    unsigned_zero: true,
};

/// E5M2 of GFX940.
pub const BF8_FNUZ: Format8 = Format8 {
    width: 8,
    mantissa: 2,
    bias: 16,
    largest: 0x7f,
    infinity: None,
    nan: 0x80,
    unsigned_zero: true,
};

/// E4M3 of the Open Compute Project.
pub const FP8_OCP: Format8 = Format8 {
    width: 8,
    mantissa: 3,
    bias: 7,
    largest: 0x7e,
    infinity: None,
    nan: 0x7f,
    unsigned_zero: false,
};

/// E5M2 of the Open Compute Project.
pub const BF8_OCP: Format8 = Format8 {
    width: 8,
    mantissa: 2,
    bias: 15,
    largest: 0x7b,
    infinity: Some(0x7c),
    nan: 0x7f,
    unsigned_zero: false,
};

/// E2M3 of the Open Compute Project.
pub const FP6: Format8 = Format8 {
    width: 6,
    mantissa: 3,
    bias: 1,
    largest: 0x1f,
    infinity: None,
    nan: 0x1f,
    unsigned_zero: false,
};

/// E3M2 of the Open Compute Project.
pub const BF6: Format8 = Format8 {
    width: 6,
    mantissa: 2,
    bias: 3,
    largest: 0x1f,
    infinity: None,
    nan: 0x1f,
    unsigned_zero: false,
};

/// E2M1 of the Open Compute Project.
pub const FP4: Format8 = Format8 {
    width: 4,
    mantissa: 1,
    bias: 1,
    largest: 7,
    infinity: None,
    nan: 7,
    unsigned_zero: false,
};

impl Format8 {
    /// The bit of the sign.
    const fn sign(self) -> u8 {
        1 << (self.width - 1)
    }

    /// Whether NaN is a value of it.
    const fn has_nan(self) -> bool {
        self.unsigned_zero || self.nan > self.largest
    }
}

/// 2^`exponent`, for exponents of normal f32.
const fn power(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

/// The value of a float of the lowest bits. Choices are between values and not between ways, so that a loop over lanes becomes vector code.
#[inline(always)]
pub const fn decode(format: Format8, bits: u8) -> f32 {
    let sign = bits & format.sign();
    let magnitude = (bits & (format.sign() - 1)) as i32;
    // The exponent's bias becomes that of f32; denormals have no hidden bit and are so many of the least one.
    let normal = (magnitude << (23 - format.mantissa)) + ((127 - format.bias) << 23);
    let denormal = magnitude as f32 * power(1 - format.bias - format.mantissa as i32);
    let finite = if magnitude < 1 << format.mantissa {
        denormal.to_bits()
    } else {
        normal.cast_unsigned()
    };
    let infinity = match format.infinity {
        Some(infinity) => magnitude == infinity as i32,
        None => false,
    };
    let nan = if format.unsigned_zero {
        magnitude == 0 && sign != 0
    } else {
        magnitude > format.largest as i32 && !infinity
    };
    let value = if infinity { 0x7f80_0000 } else { finite } | (sign as u32) << (32 - format.width);
    f32::from_bits(if nan { 0x7fc0_0000 } else { value })
}

/// What does not fit and NaN. `saturate`: MODE's FP16_OVFL, finite values that are too large become the largest one.
const fn special(format: Format8, x: f32, saturate: bool) -> u8 {
    let sign = if x.is_sign_negative() {
        format.sign()
    } else {
        0
    };
    if !format.has_nan() {
        return sign | format.largest;
    }
    if x.is_nan() {
        return format.nan;
    }
    if saturate && x.is_finite() {
        return sign | format.largest;
    }
    match format.infinity {
        Some(infinity) => sign | infinity,
        None if format.unsigned_zero => format.nan,
        None => sign | format.nan,
    }
}

/// Puts a magnitude of `units` times the format's least denormal, whose precision is already that of the format, together with the sign.
fn pack(format: Format8, x: f32, magnitude: u32, saturate: bool) -> u8 {
    if magnitude > u32::from(format.largest) {
        return special(format, x, saturate);
    }
    let magnitude = magnitude as u8;
    if x.is_sign_negative() && (magnitude != 0 || !format.unsigned_zero) {
        magnitude | format.sign()
    } else {
        magnitude
    }
}

/// The f32's magnitude with the format's exponent bias and `mantissa` bits plus 23 − `mantissa` bits below, as one integer whose bits from
/// 23 − `mantissa` up are the format's encoding, truncated.
fn rebased(format: Format8, x: f32) -> u64 {
    let magnitude = x.to_bits() & 0x7fff_ffff;
    let exponent = (magnitude >> 23) as i32 - 127 + format.bias;
    let fraction = u64::from(magnitude & 0x007f_ffff) | 1 << 23;
    if magnitude >> 23 == 0 {
        // f32 denormals are far below the least 8-bit float.
        0
    } else if exponent >= 1 {
        ((exponent as u64) << 23) + (fraction & 0x007f_ffff)
    } else {
        // A bit that is shifted out stays as the lowest one, for the rounding.
        let shift = (1 - exponent).min(40) as u32;
        fraction >> shift | u64::from(fraction & ((1 << shift) - 1) != 0)
    }
}

/// Rounds to nearest even. Too large: NaN or infinity, as the format has it, or the largest value if `saturate`.
pub fn encode(format: Format8, x: f32, saturate: bool) -> u8 {
    if !x.is_finite() {
        return special(format, x, false);
    }
    let dropped = 23 - format.mantissa;
    let bits = rebased(format, x);
    let half = (1u64 << (dropped - 1)) - 1 + (bits >> dropped & 1);
    pack(format, x, ((bits + half) >> dropped) as u32, saturate)
}

/// Rounds away from zero with the probability that the dropped part says: the highest bits of `random` are added to it.
pub fn encode_random(format: Format8, x: f32, random: u32, saturate: bool) -> u8 {
    if !x.is_finite() {
        return special(format, x, false);
    }
    let dropped = 23 - format.mantissa;
    let bits = rebased(format, x) + u64::from(random >> (32 - dropped));
    pack(format, x, (bits >> dropped) as u32, saturate)
}

/// An f32 as an IEEE float of 16 bits of which `mantissa` are the mantissa, rounded away from zero with the probability that the dropped part
/// says: the highest bits of `random` are added to it. A NaN becomes quiet.
pub fn to_16_random(mantissa: u32, x: f32, random: u32) -> u16 {
    let sign = (x.to_bits() >> 16 & 0x8000) as u16;
    let infinity = (1u64 << 15) - (1 << mantissa);
    if x.is_nan() {
        return sign | (infinity | 1 << (mantissa - 1)) as u16;
    }
    let bias = (1 << (14 - mantissa)) - 1;
    let dropped = 23 - mantissa;
    let magnitude = x.to_bits() & 0x7fff_ffff;
    let exponent = (magnitude >> 23) as i32 - 127 + bias;
    let hidden = u64::from(magnitude & 0x007f_ffff) | 1 << 23;
    let rebased = if x.is_infinite() {
        return sign | infinity as u16;
    } else if bias == 127 {
        u64::from(magnitude)
    } else if magnitude >> 23 == 0 {
        0
    } else if exponent >= 1 {
        ((exponent as u64) << 23) + (hidden & 0x007f_ffff)
    } else {
        hidden >> (1 - exponent).min(40)
    };
    let rounded = (rebased + u64::from(random >> (32 - dropped))) >> dropped;
    sign | rounded.min(infinity) as u16
}

/// An f32 as bf16, to nearest even; a NaN becomes quiet.
pub fn to_bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    if x.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

/// An f32 with the ten mantissa bits that XF32 operands have; the others are dropped.
pub fn to_xf32(x: f32) -> f32 {
    if x.is_nan() {
        x
    } else {
        f32::from_bits(x.to_bits() & 0xffff_e000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Format8; 4] = [FP8_FNUZ, BF8_FNUZ, FP8_OCP, BF8_OCP];

    #[test]
    fn the_greatest_and_least_values_are_those_of_the_formats() {
        let value = |format, bits| decode(format, bits);
        assert_eq!(value(FP8_FNUZ, 0x7f), 240.0);
        assert_eq!(value(BF8_FNUZ, 0x7f), 57344.0);
        assert_eq!(value(FP8_OCP, 0x7e), 448.0);
        assert_eq!(value(BF8_OCP, 0x7b), 57344.0);
        assert_eq!(value(FP8_FNUZ, 1), 2f32.powi(-10));
        assert_eq!(value(BF8_FNUZ, 1), 2f32.powi(-17));
        assert_eq!(value(FP8_OCP, 1), 2f32.powi(-9));
        assert_eq!(value(BF8_OCP, 1), 2f32.powi(-16));
        assert_eq!(value(FP8_FNUZ, 0x40), 1.0);
        assert_eq!(value(BF8_OCP, 0xfc), f32::NEG_INFINITY);
        assert_eq!(value(FP8_OCP, 0x80).to_bits(), 1 << 31);
        assert!(value(FP8_FNUZ, 0x80).is_nan() && value(BF8_FNUZ, 0x80).is_nan());
        assert!(value(FP8_OCP, 0xff).is_nan() && value(BF8_OCP, 0x7d).is_nan());
    }

    #[test]
    fn every_value_encodes_to_itself() {
        for format in ALL {
            for bits in 0..=255u8 {
                let value = decode(format, bits);
                let back = encode(format, value, false);
                if value.is_nan() {
                    assert_eq!(back, format.nan);
                } else {
                    assert_eq!(back, bits, "{format:?} {bits:#x}");
                    assert_eq!(encode_random(format, value, u32::MAX, false), bits);
                }
            }
        }
    }

    #[test]
    fn encoding_rounds_to_the_nearest_value_and_ties_to_even() {
        for format in ALL {
            let last = format.largest;
            for bits in 0..last {
                let (low, high) = (decode(format, bits), decode(format, bits + 1));
                let middle = (low + high) / 2.0;
                let even = if bits & 1 == 0 { bits } else { bits + 1 };
                assert_eq!(encode(format, middle, false), even, "{format:?} {bits:#x}");
                assert_eq!(encode(format, middle.next_down(), false), bits);
                assert_eq!(encode(format, middle.next_up(), false), bits + 1);
                // Random bits: none keeps the lower value, all go up from whatever is above it.
                assert_eq!(encode_random(format, middle, 0, false), bits);
                assert_eq!(encode_random(format, middle, u32::MAX, false), bits + 1);
                assert_eq!(encode_random(format, middle, 0x7fff_ffff, false), bits);
                assert_eq!(encode_random(format, middle, 0x8000_0000, false), bits + 1);
            }
        }
    }

    #[test]
    fn values_out_of_range_become_what_the_format_has() {
        assert_eq!(encode(FP8_FNUZ, 247.9, false), 0x7f);
        assert_eq!(encode(FP8_FNUZ, 248.0, false), 0x80);
        assert_eq!(encode(FP8_FNUZ, -1e30, true), 0xff);
        assert_eq!(encode(FP8_FNUZ, f32::INFINITY, true), 0x80);
        assert_eq!(encode(BF8_FNUZ, 61440.0, false), 0x80);
        assert_eq!(encode(FP8_OCP, 463.9, false), 0x7e);
        assert_eq!(encode(FP8_OCP, -464.1, false), 0xff);
        assert_eq!(encode(BF8_OCP, 61440.0, false), 0x7c);
        assert_eq!(encode(BF8_OCP, f32::NEG_INFINITY, false), 0xfc);
        assert_eq!(encode(BF8_OCP, f32::NAN, false), 0x7f);
        assert_eq!(encode(FP8_FNUZ, -0.0, false), 0);
        assert_eq!(encode(FP8_OCP, -0.0, false), 0x80);
        assert_eq!(encode(FP8_FNUZ, -1e-30, false), 0);
        assert_eq!(encode(FP8_FNUZ, f32::from_bits(1), false), 0);
    }

    #[test]
    fn bf16_rounds_to_nearest_even() {
        assert_eq!(to_bf16(1.0), 0x3f80);
        assert_eq!(to_bf16(f32::from_bits(0x3f80_8000)), 0x3f80);
        assert_eq!(to_bf16(f32::from_bits(0x3f81_8000)), 0x3f82);
        assert_eq!(to_bf16(f32::MAX), 0x7f80);
        assert_eq!(to_bf16(f32::from_bits(0xff80_0001)), 0xffc0);
        assert_eq!(to_xf32(f32::from_bits(0x3f80_1fff)), 1.0);
    }
}
