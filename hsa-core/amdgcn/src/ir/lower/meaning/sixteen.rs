//! Operations of 16 bits.

use crate::{
    interp::{
        float::{
            Half, cos_f32, div_fixup_f16, exp_f32, frexp_exp_f32, frexp_mant_f32, half_fma,
            half_mad, half_nan, half1, half2, ldexp_f32, log_f32, max_f16, max_num_f16, max3_f16,
            maximum_f16, med3_f16, med3_num_f16, min_f16, min_num_f16, min3_f16, minimum_f16,
            narrow, sin_f32,
        },
        round::round_even_f32,
        small_float::to_bf16,
        vector::{Env, VectorOp, e1, e2, e3, he2, he3, k1, k2, k3, m2},
    },
    isa::op::Op as M,
};

use super::{integer::med, then};

/// f16 function through f32 whose result needs one rounding.
fn through_f32(e: Env, a: Half, f: impl Fn(f32) -> f32) -> Half {
    half1(e, a, f)
}

pub(super) fn sixteen(op: M) -> Option<VectorOp> {
    Some(match op {
        M::v_add_f16 => he2(|e, a: Half, b: Half| half2(e, a, b, |x, y| x + y)),
        M::v_sub_f16 => he2(|e, a: Half, b: Half| half2(e, a, b, |x, y| x - y)),
        M::v_subrev_f16 => e2(|e, a: Half, b: Half| half2(e, a, b, |x, y| y - x)),
        M::v_mul_f16 => he2(|e, a: Half, b: Half| half2(e, a, b, |x, y| x * y)),
        M::v_fma_f16 | M::v_fmac_f16 | M::v_fmamk_f16 | M::v_fmaak_f16 | M::v_fma_legacy_f16 => {
            he3(half_fma)
        }
        M::v_mad_f16 | M::v_mac_f16 | M::v_madmk_f16 | M::v_madak_f16 | M::v_mad_legacy_f16 => {
            e3(half_mad)
        }
        M::v_min_f16 => e2(min_f16),
        M::v_max_f16 => e2(max_f16),
        M::v_min3_f16 => e3(min3_f16),
        M::v_max3_f16 => e3(max3_f16),
        M::v_med3_f16 => e3(med3_f16),
        M::v_maxmin_f16 => e3(then(max_f16, min_f16)),
        M::v_minmax_f16 => e3(then(min_f16, max_f16)),
        M::v_min_num_f16 => e2(min_num_f16),
        M::v_max_num_f16 => e2(max_num_f16),
        M::v_med3_num_f16 => e3(med3_num_f16),
        M::v_min3_num_f16 => e3(then(min_num_f16, min_num_f16)),
        M::v_max3_num_f16 => e3(then(max_num_f16, max_num_f16)),
        M::v_maxmin_num_f16 => e3(then(max_num_f16, min_num_f16)),
        M::v_minmax_num_f16 => e3(then(min_num_f16, max_num_f16)),
        M::v_minimum_f16 => e2(minimum_f16),
        M::v_maximum_f16 => e2(maximum_f16),
        M::v_minimum3_f16 => e3(then(minimum_f16, minimum_f16)),
        M::v_maximum3_f16 => e3(then(maximum_f16, maximum_f16)),
        M::v_minimummaximum_f16 => e3(then(minimum_f16, maximum_f16)),
        M::v_maximumminimum_f16 => e3(then(maximum_f16, minimum_f16)),
        M::v_rcp_f16 => e1(|e, a: Half| through_f32(e, a, |x| 1.0 / x)),
        M::v_sqrt_f16 => e1(|e, a: Half| through_f32(e, a, f32::sqrt)),
        M::v_rsq_f16 => e1(|e, a: Half| through_f32(e, a, |x| 1.0 / x.sqrt())),
        M::v_exp_f16 => e1(|e, a: Half| through_f32(e, a, exp_f32)),
        M::v_log_f16 => e1(|e, a: Half| through_f32(e, a, log_f32)),
        M::v_sin_f16 => e1(|e, a: Half| through_f32(e, a, sin_f32)),
        M::v_cos_f16 => e1(|e, a: Half| through_f32(e, a, cos_f32)),
        M::v_floor_f16 => e1(|e, a: Half| through_f32(e, a, f32::floor)),
        M::v_ceil_f16 => e1(|e, a: Half| through_f32(e, a, f32::ceil)),
        M::v_trunc_f16 => e1(|e, a: Half| through_f32(e, a, f32::trunc)),
        M::v_rndne_f16 => e1(|e, a: Half| through_f32(e, a, round_even_f32)),
        M::v_fract_f16 => e1(|e, a: Half| {
            // Below 1, in f16.
            let fraction = |x: f32| (x - x.floor()).min(f32::from_bits(0x3f7f_e000));
            through_f32(e, a, |x| if x.is_finite() { fraction(x) } else { f32::NAN })
        }),
        M::v_frexp_mant_f16 => e1(|e, a: Half| through_f32(e, a, frexp_mant_f32)),
        M::v_frexp_exp_i16_f16 => k1(|a: Half| frexp_exp_f32(a.widen()) as i16),
        M::v_ldexp_f16 => e2(|e, a: Half, b: i16| {
            half_nan(narrow(e, ldexp_f32(a.widen(), i32::from(b))), [a, a, a])
        }),
        M::v_div_fixup_f16 | M::v_div_fixup_legacy_f16 => k3(div_fixup_f16),
        M::v_add_u16 | M::v_add_nc_u16 | M::v_add_i16 | M::v_add_nc_i16 => {
            k2(|a: u16, b: u16| a.wrapping_add(b))
        }
        M::v_sub_u16 | M::v_sub_nc_u16 | M::v_sub_i16 | M::v_sub_nc_i16 => {
            k2(|a: u16, b: u16| a.wrapping_sub(b))
        }
        M::v_subrev_u16 => k2(|a: u16, b: u16| b.wrapping_sub(a)),
        M::v_mul_lo_u16 => k2(|a: u16, b: u16| a.wrapping_mul(b)),
        M::v_mad_u16 | M::v_mad_legacy_u16 | M::v_mad_i16 | M::v_mad_legacy_i16 => {
            k3(|a: u16, b: u16, c: u16| a.wrapping_mul(b).wrapping_add(c))
        }
        M::v_mad_u32_u16 => {
            k3(|a: u16, b: u16, c: u32| (u32::from(a) * u32::from(b)).wrapping_add(c))
        }
        M::v_mad_i32_i16 => {
            k3(|a: i16, b: i16, c: i32| (i32::from(a) * i32::from(b)).wrapping_add(c))
        }
        M::v_lshlrev_b16 => k2(|a: u16, b: u16| b << (a & 15)),
        M::v_lshrrev_b16 => k2(|a: u16, b: u16| b >> (a & 15)),
        M::v_ashrrev_i16 => k2(|a: u16, b: i16| b >> (a & 15)),
        M::v_and_b16 => k2(|a: u16, b: u16| a & b),
        M::v_or_b16 => k2(|a: u16, b: u16| a | b),
        M::v_xor_b16 => k2(|a: u16, b: u16| a ^ b),
        M::v_not_b16 => k1(|a: u16| !a),
        M::v_mov_b16 => k1(|a: u16| a),
        // From the low product up, each added with one rounding.
        M::v_dot2_f16_f16 => e3(|e, a: u32, b: u32, c: Half| {
            let low = |x: u32| Half(x as u16);
            let high = |x: u32| Half((x >> 16) as u16);
            half_fma(e, high(a), high(b), half_fma(e, low(a), low(b), c))
        }),
        M::v_dot2_bf16_bf16 => k3(|a: u32, b: u32, c: u16| {
            let low = |x: u32| f32::from_bits(x << 16);
            let high = |x: u32| f32::from_bits(x & 0xffff_0000);
            let sum = low(a).mul_add(low(b), f32::from_bits(u32::from(c) << 16));
            to_bf16(high(a).mul_add(high(b), sum))
        }),
        M::v_cndmask_b16 => m2(|a: u16, b: u16, m: bool| if m { b } else { a }),
        M::v_min_u16 => k2(|a: u16, b: u16| a.min(b)),
        M::v_min_i16 => k2(|a: i16, b: i16| a.min(b)),
        M::v_max_u16 => k2(|a: u16, b: u16| a.max(b)),
        M::v_max_i16 => k2(|a: i16, b: i16| a.max(b)),
        M::v_min3_u16 => k3(|a: u16, b: u16, c: u16| a.min(b).min(c)),
        M::v_min3_i16 => k3(|a: i16, b: i16, c: i16| a.min(b).min(c)),
        M::v_max3_u16 => k3(|a: u16, b: u16, c: u16| a.max(b).max(c)),
        M::v_max3_i16 => k3(|a: i16, b: i16, c: i16| a.max(b).max(c)),
        M::v_med3_u16 => k3(|a: u16, b: u16, c: u16| med(a, b, c)),
        M::v_med3_i16 => k3(|a: i16, b: i16, c: i16| med(a, b, c)),
        _ => return None,
    })
}
