//! Rounding to integral values, ties to even, whatever the rounding mode is.
//!
//! The library's functions add and subtract a large number where the host has no instruction for it, which rounds as MXCSR says.

/// `x` rounded to the nearest integral value, ties to even. A NaN stays as it is.
#[inline(always)]
pub fn round_even_f32(x: f32) -> f32 {
    let whole = x.trunc();
    let rest = (x - whole).abs();
    let odd = (whole as i32) & 1 != 0;
    let up = rest > 0.5 || (rest == 0.5 && odd);
    let rounded = (whole.abs() + if up { 1.0 } else { 0.0 }).copysign(x);
    // From 2^23 on all values are integral; also keeps NaNs.
    if x.abs() < 8_388_608.0 { rounded } else { x }
}

/// As [`round_even_f32`].
#[inline(always)]
pub fn round_even_f64(x: f64) -> f64 {
    let whole = x.trunc();
    let rest = (x - whole).abs();
    let odd = (whole as i64) & 1 != 0;
    let up = rest > 0.5 || (rest == 0.5 && odd);
    let rounded = (whole.abs() + if up { 1.0 } else { 0.0 }).copysign(x);
    // From 2^52 on all values are integral; also keeps NaNs.
    if x.abs() < 4_503_599_627_370_496.0 {
        rounded
    } else {
        x
    }
}

#[cfg(test)]
mod tests {
    use super::{round_even_f32, round_even_f64};

    #[test]
    fn rounds_as_the_library_does_to_nearest() {
        for n in -4000..4000 {
            let x = n as f32 / 16.0;
            assert_eq!(round_even_f32(x).to_bits(), x.round_ties_even().to_bits());
            let x = f64::from(n) / 16.0;
            assert_eq!(round_even_f64(x).to_bits(), x.round_ties_even().to_bits());
        }
        for x in [
            8_388_607.5f32,
            8_388_608.0,
            8_388_609.0,
            3e30,
            f32::INFINITY,
            -0.3,
            1e-40,
        ] {
            assert_eq!(round_even_f32(x).to_bits(), x.round_ties_even().to_bits());
            let x = f64::from(x) * 1e9;
            assert_eq!(round_even_f64(x).to_bits(), x.round_ties_even().to_bits());
        }
        assert!(round_even_f32(f32::NAN).is_nan());
    }
}
