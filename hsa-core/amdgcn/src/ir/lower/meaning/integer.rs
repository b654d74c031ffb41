//! Integer operations of 32 and 64 bits, and saturating forms.

use crate::{
    interp::{
        lane::masked_sad,
        scaled::next_random,
        vector::{
            VectorOp, h1, h2, h3, hy3, k1, k2, k3, m2, masked_bit_count, shift_left_64,
            truth_table, y2, ym2,
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

/// Vega ISA, `V_SCREEN_PARTITION_4SE_B32`: the mask of shader engines for each code of a rectangle, as hexadecimal digits.
const SCREEN_PARTITION: &[u8; 256] = b"\
    137f5fff7fffffff\
    f26efafffbffffff\
    df4cff5fffdfffff\
    9bf8fffafffeffff\
    ffff4cdf6fffefff\
    fffff89bf99ffdff\
    ffff7f13ff9fffbf\
    ffff6ef26ff6fff7\
    bfffffff23bfafff\
    f7fffffff19df5ff\
    ffefffffef8cffaf\
    fffdffff67f4fff5\
    9fffdfffffff8cef\
    f66ffefffffff467\
    ff6fff7fffffbf23\
    9ff9fffbffff9df1\
";

fn screen_partition(x: u32) -> u32 {
    let digit = u32::from(SCREEN_PARTITION[x as usize & 255]);
    if digit < u32::from(b'a') {
        digit - u32::from(b'0')
    } else {
        digit - u32::from(b'a') + 10
    }
}

pub(super) fn byte(x: u32, n: u32) -> u32 {
    x >> (8 * n) & 0xff
}

fn sad_u8(a: u32, b: u32, c: u32) -> u32 {
    (0..4).fold(c, |sum, n| {
        sum.wrapping_add(byte(a, n).abs_diff(byte(b, n)))
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

pub(super) fn med<T: Ord>(a: T, b: T, c: T) -> T {
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

pub(super) fn integer(op: M) -> Option<VectorOp> {
    Some(match op {
        M::v_mov_b32 | M::v_accvgpr_read_b32 | M::v_accvgpr_write_b32 | M::v_accvgpr_mov_b32 => {
            h1(|a: u32| a)
        }
        M::v_mov_b64 => h1(|a: u64| a),
        M::v_not_b32 => h1(|a: u32| !a),
        M::v_screen_partition_4se_b32 => h1(screen_partition),
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
        M::v_prng_b32 => k1(next_random),
        M::v_bitop3_b32 => truth_table(k3(|a: u32, _: u32, _: u32| a)),
        M::v_bitop3_b16 => truth_table(k3(|a: u16, _: u16, _: u16| a)),
        M::v_ashr_pk_i8_i32 => k3(|a: i32, b: i32, c: u32| {
            let byte = |x: i32| (x >> (c & 31)).clamp(-128, 127) as u8;
            u16::from_le_bytes([byte(a), byte(b)])
        }),
        M::v_ashr_pk_u8_i32 => k3(|a: i32, b: i32, c: u32| {
            let byte = |x: i32| (x >> (c & 31)).clamp(0, 255) as u8;
            u16::from_le_bytes([byte(a), byte(b)])
        }),
        M::v_lshl_add_u64 => h3(|a: u64, b: u32, c: u64| (a << (b & 7)).wrapping_add(c)),
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
            hy3(|a: u32, b: u32, c: u64| (u64::from(a) * u64::from(b)).overflowing_add(c))
        }
        M::v_mad_i64_i32 | M::v_mad_co_i64_i32 => {
            hy3(|a: i32, b: i32, c: i64| (i64::from(a) * i64::from(b)).overflowing_add(c))
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
        M::v_msad_u8 => k3(masked_sad),
        M::v_qsad_pk_u16_u8 => k3(|a: u64, b: u32, c: u64| quad_sad(a, b, c, sad_u8)),
        M::v_mqsad_pk_u16_u8 => k3(|a: u64, b: u32, c: u64| quad_sad(a, b, c, masked_sad)),
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
        M::v_add_co_u32 => y2(|a: u32, b: u32| at_most(a.overflowing_add(b))),
        M::v_sub_co_u32 => y2(|a: u32, b: u32| at_least(a.overflowing_sub(b))),
        M::v_subrev_co_u32 => y2(|a: u32, b: u32| at_least(b.overflowing_sub(a))),
        M::v_addc_co_u32 | M::v_add_co_ci_u32 => {
            ym2(|a: u32, b: u32, m: bool| at_most(add_carry(a, b, m)))
        }
        M::v_subb_co_u32 | M::v_sub_co_ci_u32 => {
            ym2(|a: u32, b: u32, m: bool| at_least(sub_borrow(a, b, m)))
        }
        M::v_subbrev_co_u32 | M::v_subrev_co_ci_u32 => {
            ym2(|a: u32, b: u32, m: bool| at_least(sub_borrow(b, a, m)))
        }
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

/// A sum that saturates; the carry stays.
fn at_most((sum, carry): (u32, bool)) -> (u32, bool) {
    (if carry { u32::MAX } else { sum }, carry)
}

/// A difference that saturates; the borrow stays.
fn at_least((difference, borrow): (u32, bool)) -> (u32, bool) {
    (if borrow { 0 } else { difference }, borrow)
}
