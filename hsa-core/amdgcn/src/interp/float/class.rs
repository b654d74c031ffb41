//! Float classes, as `v_cmp_class_*` has them.

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
