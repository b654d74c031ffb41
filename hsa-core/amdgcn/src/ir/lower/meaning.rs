//! What each vector operation computes in a lane: a closure next to its name.
//!
//! `k` closures are plain, `h` ones are hot, `e` ones get MODE, `a` ones are float arithmetic with explicit NaN results, `m` ones get a
//! lane-mask bit, `y` ones also give one, `c` ones are compares.

#![expect(
    clippy::double_comparisons,
    reason = "less or greater is not the same as unequal when a NaN is compared"
)]

use crate::{
    interp::{
        float::{
            Half, class_f16, class_f32, class_f64, cos_f32, div_fixup_f16, div_fixup_f32,
            div_fixup_f64, div_fmas_f32, div_fmas_f64, div_scale_f32, div_scale_f64, exp_f32,
            flush, fract_f32, fract_f64, frexp_exp_f32, frexp_exp_f64, frexp_mant_f32,
            frexp_mant_f64, half_fma, half_mad, half_nan, half1, half2, input, input_f64,
            input_half, ldexp_f32, ldexp_f64, log_f32, mad, max_f16, max_f32, max_f64, max3_f16,
            max3_f32, med3_f16, med3_f32, min_f16, min_f32, min_f64, min3_f16, min3_f32,
            mul_legacy, narrow, narrow_to_zero, ordered, rcp_f32, rsq_f32, sin_f32, sqrt_f32,
            trig_preop,
        },
        round::{round_even_f32, round_even_f64},
        vector::{
            Env, VectorOp, a1, a2, a3, ae1, am3, c2, ce2, e1, e2, e3, h1, h2, h3, hae1, he1, he2,
            he3, k1, k2, k3, m2, masked_bit_count, shift_left_64, y2, y3, ym2,
        },
    },
    isa::op::Op as M,
};

fn i24(x: u32) -> i32 {
    (x << 8).cast_signed() >> 8
}

fn u24(x: u32) -> u32 {
    x & 0x00ff_ffff
}

fn byte(x: u32, n: u32) -> u32 {
    x >> (8 * n) & 0xff
}

fn sad_u8(a: u32, b: u32, c: u32) -> u32 {
    (0..4).fold(c, |sum, n| {
        sum.wrapping_add(byte(a, n).abs_diff(byte(b, n)))
    })
}

fn msad_u8(a: u32, b: u32, c: u32) -> u32 {
    (0..4).fold(c, |sum, n| {
        if byte(b, n) == 0 {
            sum
        } else {
            sum.wrapping_add(byte(a, n).abs_diff(byte(b, n)))
        }
    })
}

/// Four sums of absolute differences over a sliding window, 16 bits each.
fn quad_sad(a: u64, b: u32, c: u64, sad: impl Fn(u32, u32, u32) -> u32) -> u64 {
    (0..4).fold(0, |out, n| {
        let sum = sad((a >> (8 * n)) as u32, b, (c >> (16 * n)) as u32 & 0xffff);
        out | u64::from(sum & 0xffff) << (16 * n)
    })
}

fn lerp(a: u32, b: u32, c: u32) -> u32 {
    (0..4).fold(0, |out, n| {
        out | ((byte(a, n) + byte(b, n) + (byte(c, n) & 1)) >> 1) << (8 * n)
    })
}

/// `v_perm_b32`: byte `selector` of {a, b}; 8 to 11 the sign of byte 1, 3, 5, 7; 12 zero; above ones.
fn permute_byte(a: u32, b: u32, selector: u32) -> u32 {
    let data = u64::from(a) << 32 | u64::from(b);
    let plain = (data >> (8 * (selector & 7))) as u32 & 0xff;
    let sign = if (data >> (16 * (selector & 3) + 15)) & 1 != 0 {
        0xff
    } else {
        0
    };
    if selector >= 13 {
        0xff
    } else if selector == 12 {
        0
    } else if selector >= 8 {
        sign
    } else {
        plain
    }
}

fn permute(a: u32, b: u32, selectors: u32) -> u32 {
    (0..4).fold(0, |out, n| {
        out | permute_byte(a, b, byte(selectors, n)) << (8 * n)
    })
}

fn first_unlike_sign(x: i32) -> u32 {
    let flipped = (x ^ (x >> 31)).cast_unsigned();
    if flipped == 0 {
        u32::MAX
    } else {
        flipped.leading_zeros()
    }
}

fn bfe_u32(x: u32, offset: u32, width: u32) -> u32 {
    (x >> (offset & 31)) & ((1u32 << (width & 31)) - 1)
}

fn bfe_i32(x: i32, offset: u32, width: u32) -> i32 {
    let width = width & 31;
    let field = (x >> (offset & 31)).cast_unsigned() & ((1u32 << width) - 1);
    if width == 0 {
        0
    } else {
        (field << (32 - width)).cast_signed() >> (32 - width)
    }
}

fn med<T: Ord>(a: T, b: T, c: T) -> T {
    if a <= b {
        if b <= c {
            b
        } else if a <= c {
            c
        } else {
            a
        }
    } else if a <= c {
        a
    } else if b <= c {
        c
    } else {
        b
    }
}

fn snorm16(x: f32) -> u32 {
    let scaled = round_even_f32(x.clamp(-1.0, 1.0) * 32767.0);
    u32::from((if x.is_nan() { 0 } else { scaled as i32 } as i16).cast_unsigned())
}

fn unorm16(x: f32) -> u32 {
    let scaled = round_even_f32(x.clamp(0.0, 1.0) * 65535.0);
    if x.is_nan() { 0 } else { scaled as u32 }
}

fn sat_i16(x: i32) -> u32 {
    u32::from((x.clamp(-32768, 32767) as i16).cast_unsigned())
}

/// An f32 to 0..=255, to nearest even.
fn to_u8(x: f32) -> u32 {
    round_even_f32(x) as u8 as u32
}

fn quiet_f32(x: f32) -> f32 {
    if x.is_nan() {
        f32::from_bits(x.to_bits() | 0x0040_0000)
    } else {
        x
    }
}

/// f16 function through f32 whose result needs one rounding.
fn through_f32(e: Env, a: Half, f: impl Fn(f32) -> f32) -> Half {
    half1(e, a, f)
}

/// Carry out of a + b + carry.
fn add_carry(a: u32, b: u32, carry: bool) -> (u32, bool) {
    let (first, c1) = a.overflowing_add(b);
    let (sum, c2) = first.overflowing_add(u32::from(carry));
    (sum, c1 | c2)
}

/// Borrow out of a − b − borrow.
fn sub_borrow(a: u32, b: u32, borrow: bool) -> (u32, bool) {
    let (first, b1) = a.overflowing_sub(b);
    let (difference, b2) = first.overflowing_sub(u32::from(borrow));
    (difference, b1 | b2)
}

fn fma_legacy(a: f32, b: f32, c: f32) -> f32 {
    if a == 0.0 || b == 0.0 {
        c
    } else {
        a.mul_add(b, c)
    }
}

/// Operations that are neither compares nor packed.
pub fn meaning(op: M) -> Option<VectorOp> {
    integer(op)
        .or_else(|| float32(op))
        .or_else(|| convert(op))
        .or_else(|| float64(op))
        .or_else(|| sixteen(op))
}

fn integer(op: M) -> Option<VectorOp> {
    Some(match op {
        M::v_mov_b32 | M::v_accvgpr_read_b32 | M::v_accvgpr_write_b32 | M::v_accvgpr_mov_b32 => {
            h1(|a: u32| a)
        }
        M::v_mov_b64 => h1(|a: u64| a),
        M::v_not_b32 => h1(|a: u32| !a),
        M::v_bfrev_b32 => h1(|a: u32| a.reverse_bits()),
        M::v_ffbh_u32 | M::v_clz_i32_u32 => {
            k1(|a: u32| if a == 0 { u32::MAX } else { a.leading_zeros() })
        }
        M::v_ffbl_b32 | M::v_ctz_i32_b32 => {
            k1(|a: u32| if a == 0 { u32::MAX } else { a.trailing_zeros() })
        }
        M::v_ffbh_i32 | M::v_cls_i32 => k1(first_unlike_sign),
        M::v_sat_pk_u8_i16 => k1(|a: u32| {
            let sat = |x: u32| i32::from(x as i16).clamp(0, 255).cast_unsigned();
            (sat(a) | sat(a >> 16) << 8) as u16
        }),
        M::v_and_b32 => h2(|a: u32, b: u32| a & b),
        M::v_or_b32 => h2(|a: u32, b: u32| a | b),
        M::v_xor_b32 => h2(|a: u32, b: u32| a ^ b),
        M::v_xnor_b32 => h2(|a: u32, b: u32| !(a ^ b)),
        M::v_and_or_b32 => h3(|a: u32, b: u32, c: u32| (a & b) | c),
        M::v_or3_b32 => h3(|a: u32, b: u32, c: u32| a | b | c),
        M::v_xor3_b32 => h3(|a: u32, b: u32, c: u32| a ^ b ^ c),
        M::v_bfi_b32 => h3(|a: u32, b: u32, c: u32| (a & b) | (!a & c)),
        M::v_lshlrev_b32 => h2(|a: u32, b: u32| b << (a & 31)),
        M::v_lshrrev_b32 => h2(|a: u32, b: u32| b >> (a & 31)),
        M::v_ashrrev_i32 => h2(|a: u32, b: i32| b >> (a & 31)),
        M::v_lshlrev_b64 => shift_left_64(),
        M::v_lshrrev_b64 => h2(|a: u32, b: u64| b >> (a & 63)),
        M::v_ashrrev_i64 => h2(|a: u32, b: i64| b >> (a & 63)),
        M::v_lshl_add_u32 => h3(|a: u32, b: u32, c: u32| (a << (b & 31)).wrapping_add(c)),
        M::v_add_lshl_u32 => h3(|a: u32, b: u32, c: u32| a.wrapping_add(b) << (c & 31)),
        M::v_lshl_or_b32 => h3(|a: u32, b: u32, c: u32| (a << (b & 31)) | c),
        M::v_lshl_add_u64 => h3(|a: u64, b: u32, c: u64| (a << (b & 63)).wrapping_add(c)),
        M::v_xad_u32 => h3(|a: u32, b: u32, c: u32| (a ^ b).wrapping_add(c)),
        M::v_bfe_u32 => h3(bfe_u32),
        M::v_bfe_i32 => h3(bfe_i32),
        M::v_bfm_b32 => k2(|a: u32, b: u32| ((1u32 << (a & 31)) - 1) << (b & 31)),
        M::v_alignbit_b32 => {
            h3(|a: u32, b: u32, c: u32| ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32)
        }
        M::v_alignbyte_b32 => k3(|a: u32, b: u32, c: u32| {
            ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32
        }),
        M::v_perm_b32 => h3(permute),
        M::v_bcnt_u32_b32 => h2(|a: u32, b: u32| a.count_ones().wrapping_add(b)),
        M::v_mbcnt_lo_u32_b32 => masked_bit_count::<false>(),
        M::v_mbcnt_hi_u32_b32 => masked_bit_count::<true>(),
        M::v_add_u32 | M::v_add_nc_u32 | M::v_add_i32 | M::v_add_nc_i32 => {
            h2(|a: u32, b: u32| a.wrapping_add(b))
        }
        M::v_sub_u32 | M::v_sub_nc_u32 | M::v_sub_i32 | M::v_sub_nc_i32 => {
            h2(|a: u32, b: u32| a.wrapping_sub(b))
        }
        M::v_subrev_u32 | M::v_subrev_nc_u32 => h2(|a: u32, b: u32| b.wrapping_sub(a)),
        M::v_add3_u32 => h3(|a: u32, b: u32, c: u32| a.wrapping_add(b).wrapping_add(c)),
        M::v_add_co_u32 => y2(|a: u32, b: u32| a.overflowing_add(b)),
        M::v_sub_co_u32 => y2(|a: u32, b: u32| a.overflowing_sub(b)),
        M::v_subrev_co_u32 => y2(|a: u32, b: u32| b.overflowing_sub(a)),
        M::v_addc_co_u32 | M::v_add_co_ci_u32 => ym2(add_carry),
        M::v_subb_co_u32 | M::v_sub_co_ci_u32 => ym2(sub_borrow),
        M::v_subbrev_co_u32 | M::v_subrev_co_ci_u32 => {
            ym2(|a: u32, b: u32, m: bool| sub_borrow(b, a, m))
        }
        M::v_mul_lo_u32 | M::v_mul_lo_i32 => h2(|a: u32, b: u32| a.wrapping_mul(b)),
        M::v_mul_hi_u32 => h2(|a: u32, b: u32| ((u64::from(a) * u64::from(b)) >> 32) as u32),
        M::v_mul_hi_i32 => h2(|a: i32, b: i32| ((i64::from(a) * i64::from(b)) >> 32) as i32),
        M::v_mul_i32_i24 => h2(|a: u32, b: u32| i24(a).wrapping_mul(i24(b))),
        M::v_mul_u32_u24 => h2(|a: u32, b: u32| u24(a).wrapping_mul(u24(b))),
        M::v_mul_hi_i32_i24 => {
            k2(|a: u32, b: u32| ((i64::from(i24(a)) * i64::from(i24(b))) >> 32) as i32)
        }
        M::v_mul_hi_u32_u24 => {
            k2(|a: u32, b: u32| ((u64::from(u24(a)) * u64::from(u24(b))) >> 32) as u32)
        }
        M::v_mad_i32_i24 => {
            h3(
                |a: u32, b: u32, c: u32| {
                    i24(a).wrapping_mul(i24(b)).cast_unsigned().wrapping_add(c)
                },
            )
        }
        M::v_mad_u32_u24 => {
            h3(|a: u32, b: u32, c: u32| u24(a).wrapping_mul(u24(b)).wrapping_add(c))
        }
        M::v_mad_u64_u32 | M::v_mad_co_u64_u32 => {
            y3(|a: u32, b: u32, c: u64| (u64::from(a) * u64::from(b)).overflowing_add(c))
        }
        M::v_mad_i64_i32 | M::v_mad_co_i64_i32 => {
            y3(|a: i32, b: i32, c: i64| (i64::from(a) * i64::from(b)).overflowing_add(c))
        }
        M::v_min_i32 => h2(|a: i32, b: i32| a.min(b)),
        M::v_min_u32 => h2(|a: u32, b: u32| a.min(b)),
        M::v_max_i32 => h2(|a: i32, b: i32| a.max(b)),
        M::v_max_u32 => h2(|a: u32, b: u32| a.max(b)),
        M::v_min3_i32 => k3(|a: i32, b: i32, c: i32| a.min(b).min(c)),
        M::v_min3_u32 => h3(|a: u32, b: u32, c: u32| a.min(b).min(c)),
        M::v_max3_i32 => k3(|a: i32, b: i32, c: i32| a.max(b).max(c)),
        M::v_max3_u32 => h3(|a: u32, b: u32, c: u32| a.max(b).max(c)),
        M::v_med3_i32 => k3(|a: i32, b: i32, c: i32| med(a, b, c)),
        M::v_med3_u32 => h3(|a: u32, b: u32, c: u32| med(a, b, c)),
        M::v_maxmin_i32 => k3(|a: i32, b: i32, c: i32| a.max(b).min(c)),
        M::v_maxmin_u32 => k3(|a: u32, b: u32, c: u32| a.max(b).min(c)),
        M::v_minmax_i32 => k3(|a: i32, b: i32, c: i32| a.min(b).max(c)),
        M::v_minmax_u32 => k3(|a: u32, b: u32, c: u32| a.min(b).max(c)),
        M::v_cndmask_b32 => m2(|a: u32, b: u32, m: bool| if m { b } else { a }),
        M::v_sad_u8 => k3(sad_u8),
        M::v_sad_hi_u8 => k3(|a: u32, b: u32, c: u32| (sad_u8(a, b, 0) << 16).wrapping_add(c)),
        M::v_sad_u16 => k3(|a: u32, b: u32, c: u32| {
            c.wrapping_add((a & 0xffff).abs_diff(b & 0xffff))
                .wrapping_add((a >> 16).abs_diff(b >> 16))
        }),
        M::v_sad_u32 => k3(|a: u32, b: u32, c: u32| a.abs_diff(b).wrapping_add(c)),
        M::v_msad_u8 => k3(msad_u8),
        M::v_qsad_pk_u16_u8 => k3(|a: u64, b: u32, c: u64| quad_sad(a, b, c, sad_u8)),
        M::v_mqsad_pk_u16_u8 => k3(|a: u64, b: u32, c: u64| quad_sad(a, b, c, msad_u8)),
        M::v_lerp_u8 => k3(lerp),
        _ => return None,
    })
}

/// Saturating forms of integer operations with the clamp bit.
pub fn saturating(op: M) -> Option<VectorOp> {
    Some(match op {
        M::v_add_u32 | M::v_add_nc_u32 => k2(|a: u32, b: u32| a.saturating_add(b)),
        M::v_sub_u32 | M::v_sub_nc_u32 => k2(|a: u32, b: u32| a.saturating_sub(b)),
        M::v_subrev_u32 | M::v_subrev_nc_u32 => k2(|a: u32, b: u32| b.saturating_sub(a)),
        M::v_add_i32 | M::v_add_nc_i32 => k2(|a: i32, b: i32| a.saturating_add(b)),
        M::v_sub_i32 | M::v_sub_nc_i32 => k2(|a: i32, b: i32| a.saturating_sub(b)),
        M::v_add_u16 | M::v_add_nc_u16 => k2(|a: u16, b: u16| a.saturating_add(b)),
        M::v_sub_u16 | M::v_sub_nc_u16 => k2(|a: u16, b: u16| a.saturating_sub(b)),
        M::v_subrev_u16 => k2(|a: u16, b: u16| b.saturating_sub(a)),
        M::v_add_i16 | M::v_add_nc_i16 => k2(|a: i16, b: i16| a.saturating_add(b)),
        M::v_sub_i16 | M::v_sub_nc_i16 => k2(|a: i16, b: i16| a.saturating_sub(b)),
        M::v_mad_u16 | M::v_mad_legacy_u16 => h3(|a: u16, b: u16, c: u16| {
            (u64::from(a) * u64::from(b) + u64::from(c)).min(0xffff) as u16
        }),
        M::v_mad_i16 | M::v_mad_legacy_i16 => k3(|a: i16, b: i16, c: i16| {
            (i64::from(a) * i64::from(b) + i64::from(c)).clamp(-32768, 32767) as i16
        }),
        M::v_mad_u32_u24 => k3(|a: u32, b: u32, c: u32| {
            (u64::from(u24(a)) * u64::from(u24(b)) + u64::from(c)).min(0xffff_ffff) as u32
        }),
        M::v_mad_i32_i24 => k3(|a: u32, b: u32, c: i32| {
            (i64::from(i24(a)) * i64::from(i24(b)) + i64::from(c))
                .clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
        }),
        _ => return None,
    })
}

fn float32(op: M) -> Option<VectorOp> {
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
        M::v_min_f32 | M::v_min_num_f32 => he2(min_f32),
        M::v_max_f32 | M::v_max_num_f32 => he2(max_f32),
        M::v_min3_f32 | M::v_min3_num_f32 => he3(min3_f32),
        M::v_max3_f32 | M::v_max3_num_f32 => he3(max3_f32),
        M::v_med3_f32 | M::v_med3_num_f32 => he3(med3_f32),
        M::v_maxmin_f32 | M::v_maxmin_num_f32 => {
            e3(|e, a: f32, b: f32, c: f32| min_f32(e, max_f32(e, a, b), c))
        }
        M::v_minmax_f32 | M::v_minmax_num_f32 => {
            e3(|e, a: f32, b: f32, c: f32| max_f32(e, min_f32(e, a, b), c))
        }
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
        M::v_cubeid_f32 => k3(|x: f32, y: f32, z: f32| {
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

fn convert(op: M) -> Option<VectorOp> {
    Some(match op {
        M::v_cvt_f32_i32 => h1(|a: i32| a as f32),
        M::v_cvt_f32_u32 => h1(|a: u32| a as f32),
        M::v_cvt_i32_f32 => h1(|a: f32| a as i32),
        M::v_cvt_u32_f32 => h1(|a: f32| a as u32),
        M::v_cvt_f32_ubyte0 => h1(|a: u32| byte(a, 0) as f32),
        M::v_cvt_f32_ubyte1 => h1(|a: u32| byte(a, 1) as f32),
        M::v_cvt_f32_ubyte2 => h1(|a: u32| byte(a, 2) as f32),
        M::v_cvt_f32_ubyte3 => h1(|a: u32| byte(a, 3) as f32),
        M::v_cvt_f16_f32 => he1(narrow),
        M::v_cvt_f32_f16 => h1(|a: Half| quiet_f32(a.widen())),
        M::v_cvt_f64_f32 => he1(|e, a: f32| f64::from(input(e, a))),
        M::v_cvt_f32_f64 => he1(|e, a: f64| {
            if e.ftz_f32() {
                flush(a as f32)
            } else {
                a as f32
            }
        }),
        M::v_cvt_f64_i32 => h1(|a: i32| f64::from(a)),
        M::v_cvt_f64_u32 => h1(|a: u32| f64::from(a)),
        M::v_cvt_i32_f64 => h1(|a: f64| a as i32),
        M::v_cvt_u32_f64 => k1(|a: f64| a as u32),
        M::v_cvt_rpi_i32_f32 | M::v_cvt_nearest_i32_f32 => {
            k1(|a: f32| (f64::from(a) + 0.5).floor() as i32)
        }
        M::v_cvt_flr_i32_f32 | M::v_cvt_floor_i32_f32 => k1(|a: f32| a.floor() as i32),
        // −0.5 to 0.4375 in steps of 1/16.
        M::v_cvt_off_f32_i4 => k1(|a: u32| ((a << 28).cast_signed() >> 28) as f32 * 0.0625),
        M::v_cvt_f16_u16 => e1(|e, a: u16| narrow(e, f32::from(a))),
        M::v_cvt_f16_i16 => e1(|e, a: i16| narrow(e, f32::from(a))),
        M::v_cvt_u16_f16 => k1(|a: Half| a.widen() as u16),
        M::v_cvt_i16_f16 => k1(|a: Half| a.widen() as i16),
        M::v_cvt_norm_i16_f16 => k1(|a: Half| snorm16(a.widen()) as u16),
        M::v_cvt_norm_u16_f16 => k1(|a: Half| unorm16(a.widen()) as u16),
        M::v_cvt_i32_i16 => k1(|a: i16| i32::from(a)),
        M::v_cvt_u32_u16 => k1(|a: u16| u32::from(a)),
        M::v_cvt_pkrtz_f16_f32 | M::v_cvt_pk_rtz_f16_f32 => {
            k2(|a: f32, b: f32| u32::from(narrow_to_zero(a)) | u32::from(narrow_to_zero(b)) << 16)
        }
        M::v_cvt_pknorm_i16_f32 | M::v_cvt_pk_norm_i16_f32 => {
            k2(|a: f32, b: f32| snorm16(a) | snorm16(b) << 16)
        }
        M::v_cvt_pknorm_u16_f32 | M::v_cvt_pk_norm_u16_f32 => {
            k2(|a: f32, b: f32| unorm16(a) | unorm16(b) << 16)
        }
        M::v_cvt_pknorm_i16_f16 | M::v_cvt_pk_norm_i16_f16 => {
            k2(|a: Half, b: Half| snorm16(a.widen()) | snorm16(b.widen()) << 16)
        }
        M::v_cvt_pknorm_u16_f16 | M::v_cvt_pk_norm_u16_f16 => {
            k2(|a: Half, b: Half| unorm16(a.widen()) | unorm16(b.widen()) << 16)
        }
        M::v_cvt_pk_u16_u32 => k2(|a: u32, b: u32| a.min(0xffff) | b.min(0xffff) << 16),
        M::v_cvt_pk_i16_i32 => k2(|a: i32, b: i32| sat_i16(a) | sat_i16(b) << 16),
        M::v_cvt_pk_u8_f32 | M::v_cvt_pkaccum_u8_f32 => k3(|a: f32, b: u32, c: u32| {
            let shift = 8 * (b & 3);
            (c & !(0xff << shift)) | to_u8(a) << shift
        }),
        M::v_pack_b32_f16 => e2(|e, a: Half, b: Half| {
            u32::from(input_half(e, a).0) | u32::from(input_half(e, b).0) << 16
        }),
        _ => return None,
    })
}

fn float64(op: M) -> Option<VectorOp> {
    Some(match op {
        M::v_add_f64 => a2(|a: f64, b: f64| a + b),
        M::v_mul_f64 => a2(|a: f64, b: f64| a * b),
        M::v_fma_f64 | M::v_fmac_f64 => a3(|a: f64, b: f64, c: f64| a.mul_add(b, c)),
        M::v_min_f64 | M::v_min_num_f64 => e2(min_f64),
        M::v_max_f64 | M::v_max_num_f64 => e2(max_f64),
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

fn sixteen(op: M) -> Option<VectorOp> {
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
        M::v_min_f16 | M::v_min_num_f16 => e2(min_f16),
        M::v_max_f16 | M::v_max_num_f16 => e2(max_f16),
        M::v_min3_f16 | M::v_min3_num_f16 => e3(min3_f16),
        M::v_max3_f16 | M::v_max3_num_f16 => e3(max3_f16),
        M::v_med3_f16 | M::v_med3_num_f16 => e3(med3_f16),
        M::v_maxmin_f16 | M::v_maxmin_num_f16 => {
            e3(|e, a: Half, b: Half, c: Half| min_f16(e, max_f16(e, a, b), c))
        }
        M::v_minmax_f16 | M::v_minmax_num_f16 => {
            e3(|e, a: Half, b: Half, c: Half| max_f16(e, min_f16(e, a, b), c))
        }
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

macro_rules! compares {
    ($op:expr; $($int:ty: $f:ident $lt:ident $eq:ident $le:ident $gt:ident $ne:ident $ge:ident $t:ident,
        $xf:ident $xlt:ident $xeq:ident $xle:ident $xgt:ident $xne:ident $xge:ident $xt:ident;)*) => {
        match $op {
            $(
                M::$f | M::$xf => Some(never()),
                M::$lt | M::$xlt => Some(c2(|a: $int, b: $int| a < b)),
                M::$eq | M::$xeq => Some(c2(|a: $int, b: $int| a == b)),
                M::$le | M::$xle => Some(c2(|a: $int, b: $int| a < b).swapped().inverted()),
                M::$gt | M::$xgt => Some(c2(|a: $int, b: $int| a < b).swapped()),
                M::$ne | M::$xne => Some(c2(|a: $int, b: $int| a == b).inverted()),
                M::$ge | M::$xge => Some(c2(|a: $int, b: $int| a < b).inverted()),
                M::$t | M::$xt => Some(never().inverted()),
            )*
            _ => None,
        }
    };
}

/// A compare that is never true; its sources do not matter.
fn never() -> VectorOp {
    VectorOp {
        arity: 0,
        ..c2(|_: u32, _: u32| false)
    }
}

macro_rules! float_compares {
    ($op:expr; $($less:expr, $less_equal:expr, $equal:expr, $unordered:expr => $f:ident $lt:ident $eq:ident $le:ident $gt:ident $lg:ident $ge:ident
        $o:ident $u:ident $nge:ident $nlg:ident
        $ngt:ident $nle:ident $neq:ident $nlt:ident $tru:ident $t:ident, $xf:ident $xlt:ident $xeq:ident $xle:ident $xgt:ident $xlg:ident $xge:ident
        $xo:ident $xu:ident $xnge:ident $xnlg:ident $xngt:ident $xnle:ident $xneq:ident $xnlt:ident $xtru:ident $xt:ident;)*) => {
        match $op {
            $(
                M::$f | M::$xf => Some(never()),
                M::$lt | M::$xlt => Some($less),
                M::$eq | M::$xeq => Some($equal.0),
                M::$le | M::$xle => Some($less_equal),
                M::$gt | M::$xgt => Some($less.swapped()),
                M::$lg | M::$xlg => Some($equal.1),
                M::$ge | M::$xge => Some($less_equal.swapped()),
                M::$o | M::$xo => Some($unordered.inverted()),
                M::$u | M::$xu => Some($unordered),
                M::$nge | M::$xnge => Some($less_equal.swapped().inverted()),
                M::$nlg | M::$xnlg => Some($equal.1.inverted()),
                M::$ngt | M::$xngt => Some($less.swapped().inverted()),
                M::$nle | M::$xnle => Some($less_equal.inverted()),
                M::$neq | M::$xneq => Some($equal.0.inverted()),
                M::$nlt | M::$xnlt => Some($less.inverted()),
                M::$tru | M::$xtru | M::$t | M::$xt => Some(never().inverted()),
            )*
            _ => None,
        }
    };
}

fn less_f32() -> VectorOp {
    c2(|a: f32, b: f32| a < b)
}

fn less_equal_f32() -> VectorOp {
    c2(|a: f32, b: f32| a <= b)
}

/// Equal; and less or greater.
fn equal_f32() -> (VectorOp, VectorOp) {
    (
        c2(|a: f32, b: f32| a == b),
        c2(|a: f32, b: f32| a < b || a > b),
    )
}

fn unordered_f32() -> VectorOp {
    c2(|a: f32, b: f32| a.is_nan() || b.is_nan())
}

fn less_f64() -> VectorOp {
    c2(|a: f64, b: f64| a < b)
}

fn less_equal_f64() -> VectorOp {
    c2(|a: f64, b: f64| a <= b)
}

fn equal_f64() -> (VectorOp, VectorOp) {
    (
        c2(|a: f64, b: f64| a == b),
        c2(|a: f64, b: f64| a < b || a > b),
    )
}

fn unordered_f64() -> VectorOp {
    c2(|a: f64, b: f64| a.is_nan() || b.is_nan())
}

fn less_f16() -> VectorOp {
    ce2(|e, a: Half, b: Half| half_order(e, a) < half_order(e, b))
}

fn less_equal_f16() -> VectorOp {
    ce2(|e, a: Half, b: Half| half_order(e, a) <= half_order(e, b))
}

fn equal_f16() -> (VectorOp, VectorOp) {
    let differ = ce2(|e, a: Half, b: Half| {
        let (a, b) = (half_order(e, a), half_order(e, b));
        a < b || a > b
    });
    (
        ce2(|e, a: Half, b: Half| half_order(e, a) == half_order(e, b)),
        differ,
    )
}

fn unordered_f16() -> VectorOp {
    c2(|a: Half, b: Half| a.is_nan() || b.is_nan())
}

/// An f16 as an f32 of the same order, for compares: NaN stays NaN.
fn half_order(e: Env, x: Half) -> f32 {
    if x.is_nan() {
        f32::NAN
    } else {
        ordered(input_half(e, x)) as f32
    }
}

/// Compares.
pub fn compare(op: M) -> Option<VectorOp> {
    let class = match op {
        M::v_cmp_class_f32 | M::v_cmpx_class_f32 => {
            Some(c2(|a: u32, b: u32| class_f32(a) & b != 0))
        }
        M::v_cmp_class_f64 | M::v_cmpx_class_f64 => {
            Some(c2(|a: u64, b: u32| class_f64(a) & b != 0))
        }
        M::v_cmp_class_f16 | M::v_cmpx_class_f16 => {
            Some(c2(|a: u16, b: u32| class_f16(a) & b != 0))
        }
        _ => None,
    };
    class
        .or_else(|| compares! { op;
            i16: v_cmp_f_i16 v_cmp_lt_i16 v_cmp_eq_i16 v_cmp_le_i16 v_cmp_gt_i16 v_cmp_ne_i16 v_cmp_ge_i16 v_cmp_t_i16,
                v_cmpx_f_i16 v_cmpx_lt_i16 v_cmpx_eq_i16 v_cmpx_le_i16 v_cmpx_gt_i16 v_cmpx_ne_i16 v_cmpx_ge_i16 v_cmpx_t_i16;
            i32: v_cmp_f_i32 v_cmp_lt_i32 v_cmp_eq_i32 v_cmp_le_i32 v_cmp_gt_i32 v_cmp_ne_i32 v_cmp_ge_i32 v_cmp_t_i32,
                v_cmpx_f_i32 v_cmpx_lt_i32 v_cmpx_eq_i32 v_cmpx_le_i32 v_cmpx_gt_i32 v_cmpx_ne_i32 v_cmpx_ge_i32 v_cmpx_t_i32;
            i64: v_cmp_f_i64 v_cmp_lt_i64 v_cmp_eq_i64 v_cmp_le_i64 v_cmp_gt_i64 v_cmp_ne_i64 v_cmp_ge_i64 v_cmp_t_i64,
                v_cmpx_f_i64 v_cmpx_lt_i64 v_cmpx_eq_i64 v_cmpx_le_i64 v_cmpx_gt_i64 v_cmpx_ne_i64 v_cmpx_ge_i64 v_cmpx_t_i64;
            u16: v_cmp_f_u16 v_cmp_lt_u16 v_cmp_eq_u16 v_cmp_le_u16 v_cmp_gt_u16 v_cmp_ne_u16 v_cmp_ge_u16 v_cmp_t_u16,
                v_cmpx_f_u16 v_cmpx_lt_u16 v_cmpx_eq_u16 v_cmpx_le_u16 v_cmpx_gt_u16 v_cmpx_ne_u16 v_cmpx_ge_u16 v_cmpx_t_u16;
            u32: v_cmp_f_u32 v_cmp_lt_u32 v_cmp_eq_u32 v_cmp_le_u32 v_cmp_gt_u32 v_cmp_ne_u32 v_cmp_ge_u32 v_cmp_t_u32,
                v_cmpx_f_u32 v_cmpx_lt_u32 v_cmpx_eq_u32 v_cmpx_le_u32 v_cmpx_gt_u32 v_cmpx_ne_u32 v_cmpx_ge_u32 v_cmpx_t_u32;
            u64: v_cmp_f_u64 v_cmp_lt_u64 v_cmp_eq_u64 v_cmp_le_u64 v_cmp_gt_u64 v_cmp_ne_u64 v_cmp_ge_u64 v_cmp_t_u64,
                v_cmpx_f_u64 v_cmpx_lt_u64 v_cmpx_eq_u64 v_cmpx_le_u64 v_cmpx_gt_u64 v_cmpx_ne_u64 v_cmpx_ge_u64 v_cmpx_t_u64;
        })
        .or_else(|| float_compares! { op;
            less_f16(), less_equal_f16(), equal_f16(), unordered_f16() => v_cmp_f_f16 v_cmp_lt_f16 v_cmp_eq_f16 v_cmp_le_f16 v_cmp_gt_f16 v_cmp_lg_f16 v_cmp_ge_f16 v_cmp_o_f16 v_cmp_u_f16 v_cmp_nge_f16 v_cmp_nlg_f16 v_cmp_ngt_f16 v_cmp_nle_f16 v_cmp_neq_f16 v_cmp_nlt_f16 v_cmp_tru_f16 v_cmp_t_f16,
                v_cmpx_f_f16 v_cmpx_lt_f16 v_cmpx_eq_f16 v_cmpx_le_f16 v_cmpx_gt_f16 v_cmpx_lg_f16 v_cmpx_ge_f16 v_cmpx_o_f16 v_cmpx_u_f16 v_cmpx_nge_f16 v_cmpx_nlg_f16 v_cmpx_ngt_f16 v_cmpx_nle_f16 v_cmpx_neq_f16 v_cmpx_nlt_f16 v_cmpx_tru_f16 v_cmpx_t_f16;
            less_f32(), less_equal_f32(), equal_f32(), unordered_f32() => v_cmp_f_f32 v_cmp_lt_f32 v_cmp_eq_f32 v_cmp_le_f32 v_cmp_gt_f32 v_cmp_lg_f32 v_cmp_ge_f32 v_cmp_o_f32 v_cmp_u_f32 v_cmp_nge_f32 v_cmp_nlg_f32 v_cmp_ngt_f32 v_cmp_nle_f32 v_cmp_neq_f32 v_cmp_nlt_f32 v_cmp_tru_f32 v_cmp_t_f32,
                v_cmpx_f_f32 v_cmpx_lt_f32 v_cmpx_eq_f32 v_cmpx_le_f32 v_cmpx_gt_f32 v_cmpx_lg_f32 v_cmpx_ge_f32 v_cmpx_o_f32 v_cmpx_u_f32 v_cmpx_nge_f32 v_cmpx_nlg_f32 v_cmpx_ngt_f32 v_cmpx_nle_f32 v_cmpx_neq_f32 v_cmpx_nlt_f32 v_cmpx_tru_f32 v_cmpx_t_f32;
            less_f64(), less_equal_f64(), equal_f64(), unordered_f64() => v_cmp_f_f64 v_cmp_lt_f64 v_cmp_eq_f64 v_cmp_le_f64 v_cmp_gt_f64 v_cmp_lg_f64 v_cmp_ge_f64 v_cmp_o_f64 v_cmp_u_f64 v_cmp_nge_f64 v_cmp_nlg_f64 v_cmp_ngt_f64 v_cmp_nle_f64 v_cmp_neq_f64 v_cmp_nlt_f64 v_cmp_tru_f64 v_cmp_t_f64,
                v_cmpx_f_f64 v_cmpx_lt_f64 v_cmpx_eq_f64 v_cmpx_le_f64 v_cmpx_gt_f64 v_cmpx_lg_f64 v_cmpx_ge_f64 v_cmpx_o_f64 v_cmpx_u_f64 v_cmpx_nge_f64 v_cmpx_nlg_f64 v_cmpx_ngt_f64 v_cmpx_nle_f64 v_cmpx_neq_f64 v_cmpx_nlt_f64 v_cmpx_tru_f64 v_cmpx_t_f64;
        })
}
