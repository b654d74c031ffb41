//! Floating point of 32 and 64 bits.

use crate::{
    interp::{
        float::{
            cos_f32, div_fixup_f32, div_fixup_f64, div_fmas_f32, div_fmas_f64, div_scale_f32,
            div_scale_f64, exp_f32, flush, fract_f32, fract_f64, frexp_exp_f32, frexp_exp_f64,
            frexp_mant_f32, frexp_mant_f64, input, input_f64, ldexp_f32, ldexp_f64, log_f32, mad,
            max_f32, max_f64, max_num_f32, max_num_f64, max3_f32, maximum_f32, maximum_f64,
            med3_f32, med3_num_f32, min_f32, min_f64, min_num_f32, min_num_f64, min3_f32,
            minimum_f32, minimum_f64, mul_legacy, rcp_f32, rsq_f32, sin_f32, sqrt_f32, trig_preop,
        },
        round::{round_even_f32, round_even_f64},
        vector::{VectorOp, a1, a2, a3, ae1, am3, e1, e2, e3, hae1, he2, he3, k2, k3, y3},
    },
    isa::op::Op as M,
};

use super::then;

fn fma_legacy(a: f32, b: f32, c: f32) -> f32 {
    if a == 0.0 || b == 0.0 {
        c
    } else {
        a.mul_add(b, c)
    }
}

pub(super) fn float32(op: M) -> Option<VectorOp> {
    Some(match op {
        M::v_add_f32 => a2(|a: f32, b: f32| a + b),
        M::v_sub_f32 => a2(|a: f32, b: f32| a - b),
        M::v_subrev_f32 => a2(|a: f32, b: f32| b - a),
        M::v_mul_f32 => a2(|a: f32, b: f32| a * b),
        M::v_mul_legacy_f32 | M::v_mul_dx9_zero_f32 => a2(mul_legacy),
        M::v_fma_f32 | M::v_fmac_f32 | M::v_fmamk_f32 | M::v_fmaak_f32 => {
            a3(|a: f32, b: f32, c: f32| a.mul_add(b, c))
        }
        M::v_fma_legacy_f32
        | M::v_fma_dx9_zero_f32
        | M::v_fmac_legacy_f32
        | M::v_fmac_dx9_zero_f32 => a3(fma_legacy),
        M::v_mad_f32 | M::v_mac_f32 | M::v_madmk_f32 | M::v_madak_f32 => a3(mad),
        M::v_mad_legacy_f32 | M::v_mac_legacy_f32 => a3(|a: f32, b: f32, c: f32| {
            if flush(a) == 0.0 || flush(b) == 0.0 {
                flush(c)
            } else {
                mad(a, b, c)
            }
        }),
        M::v_min_f32 => he2(min_f32),
        M::v_max_f32 => he2(max_f32),
        M::v_min3_f32 => he3(min3_f32),
        M::v_max3_f32 => he3(max3_f32),
        M::v_med3_f32 => he3(med3_f32),
        M::v_maxmin_f32 => e3(then(max_f32, min_f32)),
        M::v_minmax_f32 => e3(then(min_f32, max_f32)),
        M::v_min_num_f32 => he2(min_num_f32),
        M::v_max_num_f32 => he2(max_num_f32),
        M::v_med3_num_f32 => e3(med3_num_f32),
        M::v_min3_num_f32 => e3(then(min_num_f32, min_num_f32)),
        M::v_max3_num_f32 => e3(then(max_num_f32, max_num_f32)),
        M::v_maxmin_num_f32 => e3(then(max_num_f32, min_num_f32)),
        M::v_minmax_num_f32 => e3(then(min_num_f32, max_num_f32)),
        M::v_minimum_f32 => e2(minimum_f32),
        M::v_maximum_f32 => e2(maximum_f32),
        M::v_minimum3_f32 => e3(then(minimum_f32, minimum_f32)),
        M::v_maximum3_f32 => e3(then(maximum_f32, maximum_f32)),
        M::v_minimummaximum_f32 => e3(then(minimum_f32, maximum_f32)),
        M::v_maximumminimum_f32 => e3(then(maximum_f32, minimum_f32)),
        M::v_rcp_f32 | M::v_rcp_iflag_f32 => a1(rcp_f32),
        M::v_rsq_f32 => a1(rsq_f32),
        M::v_sqrt_f32 => a1(sqrt_f32),
        M::v_exp_f32 | M::v_exp_legacy_f32 => a1(exp_f32),
        M::v_log_f32 | M::v_log_legacy_f32 => a1(log_f32),
        M::v_sin_f32 => a1(sin_f32),
        M::v_cos_f32 => a1(cos_f32),
        M::v_floor_f32 => hae1(|e, a: f32| input(e, a).floor()),
        M::v_ceil_f32 => hae1(|e, a: f32| input(e, a).ceil()),
        M::v_trunc_f32 => hae1(|e, a: f32| input(e, a).trunc()),
        M::v_rndne_f32 => hae1(|e, a: f32| round_even_f32(input(e, a))),
        M::v_fract_f32 => hae1(|e, a: f32| fract_f32(input(e, a))),
        M::v_frexp_mant_f32 => ae1(|e, a: f32| frexp_mant_f32(input(e, a))),
        M::v_frexp_exp_i32_f32 => e1(|e, a: f32| frexp_exp_f32(input(e, a))),
        M::v_ldexp_f32 => a2(ldexp_f32),
        M::v_div_scale_f32 => y3(div_scale_f32),
        M::v_div_fmas_f32 => am3(div_fmas_f32),
        M::v_div_fixup_f32 => k3(div_fixup_f32),
        M::v_cubeid_f32 => k3(|x: f32, y: f32, z: f32| -> f32 {
            let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
            let negative = |v: f32| if v < 0.0 { 1.0 } else { 0.0 };
            if az >= ax && az >= ay {
                4.0 + negative(z)
            } else if ay >= ax {
                2.0 + negative(y)
            } else {
                negative(x)
            }
        }),
        M::v_cubesc_f32 => k3(|x: f32, y: f32, z: f32| {
            let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
            if az >= ax && az >= ay {
                if z < 0.0 { -x } else { x }
            } else if ay >= ax {
                x
            } else if x < 0.0 {
                z
            } else {
                -z
            }
        }),
        M::v_cubetc_f32 => k3(|x: f32, y: f32, z: f32| {
            let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
            if az >= ax && az >= ay {
                -y
            } else if ay >= ax {
                if y < 0.0 { -z } else { z }
            } else {
                -y
            }
        }),
        M::v_cubema_f32 => k3(|x: f32, y: f32, z: f32| {
            let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
            2.0 * if az >= ax && az >= ay {
                z
            } else if ay >= ax {
                y
            } else {
                x
            }
        }),
        M::v_mullit_f32 => k3(|a: f32, b: f32, c: f32| {
            if b == f32::MIN || b == f32::NEG_INFINITY || b.is_nan() || c <= 0.0 || c.is_nan() {
                f32::MIN
            } else {
                a * b
            }
        }),
        _ => return None,
    })
}

pub(super) fn float64(op: M) -> Option<VectorOp> {
    Some(match op {
        M::v_add_f64 => a2(|a: f64, b: f64| a + b),
        M::v_mul_f64 => a2(|a: f64, b: f64| a * b),
        M::v_fma_f64 | M::v_fmac_f64 => a3(|a: f64, b: f64, c: f64| a.mul_add(b, c)),
        M::v_min_f64 => e2(min_f64),
        M::v_min_num_f64 => e2(min_num_f64),
        M::v_max_f64 => e2(max_f64),
        M::v_max_num_f64 => e2(max_num_f64),
        M::v_minimum_f64 => e2(minimum_f64),
        M::v_maximum_f64 => e2(maximum_f64),
        M::v_rcp_f64 => a1(|a: f64| 1.0 / a),
        M::v_rsq_f64 => a1(|a: f64| 1.0 / a.sqrt()),
        M::v_sqrt_f64 => a1(|a: f64| a.sqrt()),
        M::v_floor_f64 => hae1(|e, a: f64| input_f64(e, a).floor()),
        M::v_ceil_f64 => hae1(|e, a: f64| input_f64(e, a).ceil()),
        M::v_trunc_f64 => hae1(|e, a: f64| input_f64(e, a).trunc()),
        M::v_rndne_f64 => hae1(|e, a: f64| round_even_f64(input_f64(e, a))),
        M::v_fract_f64 => hae1(|e, a: f64| fract_f64(input_f64(e, a))),
        M::v_frexp_mant_f64 => ae1(|e, a: f64| frexp_mant_f64(input_f64(e, a))),
        M::v_frexp_exp_i32_f64 => e1(|e, a: f64| frexp_exp_f64(input_f64(e, a))),
        M::v_ldexp_f64 => a2(ldexp_f64),
        M::v_div_scale_f64 => y3(div_scale_f64),
        M::v_div_fmas_f64 => am3(div_fmas_f64),
        M::v_div_fixup_f64 => k3(div_fixup_f64),
        M::v_trig_preop_f64 => k2(trig_preop),
        _ => return None,
    })
}
