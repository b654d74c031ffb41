//! Scalar ALU: SOP1, SOP2, SOPC, SOPK. Operations that do more than compute are in `special`, `hwreg` and `half`. The meaning of each
//! operation is the closure next to its name; the first argument is SCC.

#![expect(
    clippy::double_comparisons,
    clippy::neg_cmp_op_on_partial_ord,
    reason = "with a NaN these are different compares, each an operation of its own"
)]

mod half;
mod hwreg;
mod special;
pub(super) mod transcendental;

pub(super) use special::set_index_mode;

use crate::{
    interp::{
        float::Nan,
        round::round_even_f32,
        scalar::{Plain, ScalarOp, Scc, WithScc, s1, s1d, s2, s2d, s2d as s3},
    },
    ir::{Op, Ref},
    isa::{
        inst::{Format, Inst, Operand, OperandSlot, Type},
        op::Op as M,
    },
};

use super::{LowerContext, Unsupported};

/// Lowers a SOP1, SOP2, SOPC or SOPK instruction.
pub fn lower_scalar(inst: &Inst, cx: &mut LowerContext) -> Result<(), Unsupported> {
    if special::lower_special(inst, cx)? || half::lower(inst, cx)? {
        return Ok(());
    }
    if let (Some(constant), M::s_fmaak_f32 | M::s_fmamk_f32) = (inst.imm32, inst.op) {
        let mut out = Op::new(s3(|_, a: f32, b: f32, c: f32| Plain(a.mul_add(b, c))).run);
        let constant = cx.constant(&[constant]);
        out.s[0] = cx.scalar_src(inst.src[0], 1)?;
        let other = cx.scalar_src(inst.src[1], 1)?;
        (out.s[1], out.s[2]) = if inst.op == M::s_fmaak_f32 {
            (other, constant)
        } else {
            (constant, other)
        };
        out.d = cx.scalar_dst(inst.dst.operand, 1)?;
        cx.push(out);
        return Ok(());
    }
    let (op, sources) = match inst.format {
        Format::Sopk => {
            let op = sopk(inst.op).ok_or_else(|| Unsupported::op(inst))?;
            (op, [register(inst), immediate(inst, op), OperandSlot::NONE])
        }
        _ => {
            let op = meaning(inst.op).ok_or_else(|| Unsupported::op(inst))?;
            let [a, b, c, _] = inst.src;
            let last = if op.reads_d { inst.dst } else { c };
            match (op.s, op.reads_d) {
                ([_, 0, _], _) => (op, [a, OperandSlot::NONE, OperandSlot::NONE]),
                ([_, _, 0], true) => (op, [a, last, OperandSlot::NONE]),
                _ => (op, [a, b, last]),
            }
        }
    };
    let mut out = Op::new(op.run);
    for (index, source) in sources.into_iter().enumerate() {
        if op.s[index] != 0 {
            out.s[index] = scalar_or_literal(cx, source, op.s[index])?;
        }
    }
    if op.d != 0 {
        out.d = cx.scalar_dst(inst.dst.operand, op.d)?;
    }
    cx.push(out);
    Ok(())
}

fn scalar_or_literal(
    cx: &mut LowerContext,
    source: OperandSlot,
    dwords: u32,
) -> Result<Ref, Unsupported> {
    if let (Operand::Literal(value), 2) = (source.operand, dwords) {
        // Scalar 64-bit operations zero-extend a literal, signed ones sign-extend it.
        let high = if matches!(source.ty, Type::I(_)) && value >> 31 != 0 {
            u32::MAX
        } else {
            0
        };
        return Ok(cx.constant(&[value, high]));
    }
    cx.scalar_src(source, dwords)
}

/// The register of a SOPK instruction: destination or source.
fn register(inst: &Inst) -> OperandSlot {
    match inst.src[0].operand {
        Operand::Scalar(_) => inst.src[0],
        _ => inst.dst,
    }
}

/// The immediate of a SOPK instruction, extended as the operation wants it.
fn immediate(inst: &Inst, _op: ScalarOp) -> OperandSlot {
    let unsigned = matches!(
        inst.op,
        M::s_cmpk_eq_u32
            | M::s_cmpk_lg_u32
            | M::s_cmpk_gt_u32
            | M::s_cmpk_ge_u32
            | M::s_cmpk_lt_u32
            | M::s_cmpk_le_u32
    );
    let value = if unsigned {
        u32::from(inst.simm16.cast_unsigned())
    } else {
        i32::from(inst.simm16).cast_unsigned()
    };
    OperandSlot {
        operand: Operand::Literal(value),
        ty: Type::B(32),
    }
}

/// SOPK: the closure gets the register (destination or source) and the immediate.
fn sopk(op: M) -> Option<ScalarOp> {
    Some(match op {
        M::s_movk_i32 => s2(|_, _d: u32, k: u32| Plain(k)),
        M::s_cmovk_i32 => s2(|scc, d: u32, k: u32| Plain(if scc { k } else { d })),
        M::s_addk_i32 | M::s_addk_co_i32 => s2(|_, d: i32, k: i32| {
            let (sum, overflow) = d.overflowing_add(k);
            WithScc(sum, overflow)
        }),
        M::s_mulk_i32 => s2(|_, d: i32, k: i32| Plain(d.wrapping_mul(k))),
        M::s_cmpk_eq_i32 | M::s_cmpk_eq_u32 => s2(|_, d: u32, k: u32| Scc(d == k)),
        M::s_cmpk_lg_i32 | M::s_cmpk_lg_u32 => s2(|_, d: u32, k: u32| Scc(d != k)),
        M::s_cmpk_gt_i32 => s2(|_, d: i32, k: i32| Scc(d > k)),
        M::s_cmpk_ge_i32 => s2(|_, d: i32, k: i32| Scc(d >= k)),
        M::s_cmpk_lt_i32 => s2(|_, d: i32, k: i32| Scc(d < k)),
        M::s_cmpk_le_i32 => s2(|_, d: i32, k: i32| Scc(d <= k)),
        M::s_cmpk_gt_u32 => s2(|_, d: u32, k: u32| Scc(d > k)),
        M::s_cmpk_ge_u32 => s2(|_, d: u32, k: u32| Scc(d >= k)),
        M::s_cmpk_lt_u32 => s2(|_, d: u32, k: u32| Scc(d < k)),
        M::s_cmpk_le_u32 => s2(|_, d: u32, k: u32| Scc(d <= k)),
        _ => return None,
    })
}

fn nonzero32(x: u32) -> WithScc<u32> {
    WithScc(x, x != 0)
}

fn nonzero64(x: u64) -> WithScc<u64> {
    WithScc(x, x != 0)
}

/// Position of the first bit from the top that differs from the sign; −1 if none does.
fn first_unlike_sign(x: i64, bits: u32) -> i32 {
    let aligned = x << (64 - bits);
    let run = (aligned ^ (aligned << 1)).cast_unsigned().leading_zeros() + 1;
    if run >= bits { -1 } else { run.cast_signed() }
}

fn quad_mask(x: u64) -> u64 {
    (0..16).fold(0, |mask, quad| {
        mask | u64::from(x >> (4 * quad) & 15 != 0) << quad
    })
}

fn whole_quads(x: u64) -> u64 {
    (0..16).fold(0, |mask, quad| {
        if x >> (4 * quad) & 15 != 0 {
            mask | 15 << (4 * quad)
        } else {
            mask
        }
    })
}

/// Bit field: offset in bits 5:0 (4:0), width in bits 22:16.
fn bfe_u64(x: u64, field: u32) -> u64 {
    let (offset, width) = (field & 63, field >> 16 & 127);
    let shifted = x >> offset;
    if width >= 64 {
        shifted
    } else {
        shifted & ((1 << width) - 1)
    }
}

fn bfe_i64(x: i64, field: u32) -> i64 {
    let (offset, width) = (field & 63, field >> 16 & 127);
    if width == 0 {
        return 0;
    }
    let end = (offset + width).min(64);
    if offset >= end {
        return 0;
    }
    (x << (64 - end)) >> (64 - end + offset)
}

fn bfe_u32(x: u32, field: u32) -> u32 {
    let (offset, width) = (field & 31, field >> 16 & 127);
    let shifted = x >> offset;
    if width >= 32 {
        shifted
    } else {
        shifted & ((1 << width) - 1)
    }
}

fn bfe_i32(x: i32, field: u32) -> i32 {
    let (offset, width) = (field & 31, field >> 16 & 127);
    if width == 0 {
        return 0;
    }
    let end = (offset + width).min(32);
    (x << (32 - end)) >> (32 - end + offset)
}

fn shifted_add(a: u32, b: u32, by: u32) -> WithScc<u32> {
    let sum = (u64::from(a) << by) + u64::from(b);
    WithScc(sum as u32, sum >> 32 != 0)
}

/// SOP1, SOP2, SOPC.
fn meaning(op: M) -> Option<ScalarOp> {
    Some(match op {
        // Moves.
        M::s_mov_b32 => s1(|_, a: u32| Plain(a)),
        M::s_mov_b64 => s1(|_, a: u64| Plain(a)),
        M::s_cmov_b32 => s1d(|scc, a: u32, d: u32| Plain(if scc { a } else { d })),
        M::s_cmov_b64 => s1d(|scc, a: u64, d: u64| Plain(if scc { a } else { d })),
        M::s_cselect_b32 => s2(|scc, a: u32, b: u32| Plain(if scc { a } else { b })),
        M::s_cselect_b64 => s2(|scc, a: u64, b: u64| Plain(if scc { a } else { b })),
        M::s_sext_i32_i8 => s1(|_, a: u32| Plain(i32::from(a as i8))),
        M::s_sext_i32_i16 => s1(|_, a: u32| Plain(i32::from(a as i16))),
        // Logic.
        M::s_not_b32 => s1(|_, a: u32| nonzero32(!a)),
        M::s_not_b64 => s1(|_, a: u64| nonzero64(!a)),
        M::s_and_b32 => s2(|_, a: u32, b: u32| nonzero32(a & b)),
        M::s_and_b64 => s2(|_, a: u64, b: u64| nonzero64(a & b)),
        M::s_or_b32 => s2(|_, a: u32, b: u32| nonzero32(a | b)),
        M::s_or_b64 => s2(|_, a: u64, b: u64| nonzero64(a | b)),
        M::s_xor_b32 => s2(|_, a: u32, b: u32| nonzero32(a ^ b)),
        M::s_xor_b64 => s2(|_, a: u64, b: u64| nonzero64(a ^ b)),
        M::s_andn2_b32 | M::s_and_not1_b32 => s2(|_, a: u32, b: u32| nonzero32(a & !b)),
        M::s_andn2_b64 | M::s_and_not1_b64 => s2(|_, a: u64, b: u64| nonzero64(a & !b)),
        M::s_orn2_b32 | M::s_or_not1_b32 => s2(|_, a: u32, b: u32| nonzero32(a | !b)),
        M::s_orn2_b64 | M::s_or_not1_b64 => s2(|_, a: u64, b: u64| nonzero64(a | !b)),
        M::s_nand_b32 => s2(|_, a: u32, b: u32| nonzero32(!(a & b))),
        M::s_nand_b64 => s2(|_, a: u64, b: u64| nonzero64(!(a & b))),
        M::s_nor_b32 => s2(|_, a: u32, b: u32| nonzero32(!(a | b))),
        M::s_nor_b64 => s2(|_, a: u64, b: u64| nonzero64(!(a | b))),
        M::s_xnor_b32 => s2(|_, a: u32, b: u32| nonzero32(!(a ^ b))),
        M::s_xnor_b64 => s2(|_, a: u64, b: u64| nonzero64(!(a ^ b))),
        // Shifts and fields.
        M::s_lshl_b32 => s2(|_, a: u32, b: u32| nonzero32(a << (b & 31))),
        M::s_lshl_b64 => s2(|_, a: u64, b: u32| nonzero64(a << (b & 63))),
        M::s_lshr_b32 => s2(|_, a: u32, b: u32| nonzero32(a >> (b & 31))),
        M::s_lshr_b64 => s2(|_, a: u64, b: u32| nonzero64(a >> (b & 63))),
        M::s_ashr_i32 => s2(|_, a: i32, b: u32| nonzero32((a >> (b & 31)).cast_unsigned())),
        M::s_ashr_i64 => s2(|_, a: i64, b: u32| nonzero64((a >> (b & 63)).cast_unsigned())),
        M::s_bfm_b32 => s2(|_, a: u32, b: u32| Plain(((1u32 << (a & 31)) - 1) << (b & 31))),
        M::s_bfm_b64 => s2(|_, a: u32, b: u32| Plain(((1u64 << (a & 63)) - 1) << (b & 63))),
        M::s_bfe_u32 => s2(|_, a: u32, b: u32| nonzero32(bfe_u32(a, b))),
        M::s_bfe_i32 => s2(|_, a: i32, b: u32| nonzero32(bfe_i32(a, b).cast_unsigned())),
        M::s_bfe_u64 => s2(|_, a: u64, b: u32| nonzero64(bfe_u64(a, b))),
        M::s_bfe_i64 => s2(|_, a: i64, b: u32| nonzero64(bfe_i64(a, b).cast_unsigned())),
        M::s_brev_b32 => s1(|_, a: u32| Plain(a.reverse_bits())),
        M::s_brev_b64 => s1(|_, a: u64| Plain(a.reverse_bits())),
        M::s_bitset0_b32 => s1d(|_, a: u32, d: u32| Plain(d & !(1 << (a & 31)))),
        M::s_bitset1_b32 => s1d(|_, a: u32, d: u32| Plain(d | 1 << (a & 31))),
        M::s_bitset0_b64 => s1d(|_, a: u32, d: u64| Plain(d & !(1 << (a & 63)))),
        M::s_bitset1_b64 => s1d(|_, a: u32, d: u64| Plain(d | 1 << (a & 63))),
        M::s_bitreplicate_b64_b32 => s1(|_, a: u32| {
            Plain((0..32).fold(0u64, |out, bit| {
                out | (u64::from(a >> bit & 1) * (3 << (2 * bit)))
            }))
        }),
        M::s_quadmask_b32 => s1(|_, a: u32| nonzero32(quad_mask(u64::from(a)) as u32)),
        M::s_quadmask_b64 => s1(|_, a: u64| nonzero64(quad_mask(a))),
        M::s_wqm_b32 => s1(|_, a: u32| nonzero32(whole_quads(u64::from(a)) as u32)),
        M::s_wqm_b64 => s1(|_, a: u64| nonzero64(whole_quads(a))),
        M::s_pack_ll_b32_b16 => s2(|_, a: u32, b: u32| Plain((a & 0xffff) | b << 16)),
        M::s_pack_lh_b32_b16 => s2(|_, a: u32, b: u32| Plain((a & 0xffff) | (b & 0xffff_0000))),
        M::s_pack_hh_b32_b16 => s2(|_, a: u32, b: u32| Plain(a >> 16 | (b & 0xffff_0000))),
        M::s_pack_hl_b32_b16 => s2(|_, a: u32, b: u32| Plain(a >> 16 | b << 16)),
        // Counts.
        M::s_bcnt0_i32_b32 => s1(|_, a: u32| nonzero32(a.count_zeros())),
        M::s_bcnt0_i32_b64 => s1(|_, a: u64| nonzero32(a.count_zeros())),
        M::s_bcnt1_i32_b32 => s1(|_, a: u32| nonzero32(a.count_ones())),
        M::s_bcnt1_i32_b64 => s1(|_, a: u64| nonzero32(a.count_ones())),
        M::s_ff0_i32_b32 => s1(|_, a: u32| {
            Plain(if a == u32::MAX {
                u32::MAX
            } else {
                a.trailing_ones()
            })
        }),
        M::s_ff0_i32_b64 => s1(|_, a: u64| {
            Plain(if a == u64::MAX {
                u32::MAX
            } else {
                a.trailing_ones()
            })
        }),
        M::s_ff1_i32_b32 | M::s_ctz_i32_b32 => {
            s1(|_, a: u32| Plain(if a == 0 { u32::MAX } else { a.trailing_zeros() }))
        }
        M::s_ff1_i32_b64 | M::s_ctz_i32_b64 => {
            s1(|_, a: u64| Plain(if a == 0 { u32::MAX } else { a.trailing_zeros() }))
        }
        M::s_flbit_i32_b32 | M::s_clz_i32_u32 => {
            s1(|_, a: u32| Plain(if a == 0 { u32::MAX } else { a.leading_zeros() }))
        }
        M::s_flbit_i32_b64 | M::s_clz_i32_u64 => {
            s1(|_, a: u64| Plain(if a == 0 { u32::MAX } else { a.leading_zeros() }))
        }
        M::s_flbit_i32 | M::s_cls_i32 => s1(|_, a: i32| Plain(first_unlike_sign(i64::from(a), 32))),
        M::s_flbit_i32_i64 | M::s_cls_i32_i64 => s1(|_, a: i64| Plain(first_unlike_sign(a, 64))),
        // Arithmetic.
        M::s_add_u32 | M::s_add_co_u32 => s2(|_, a: u32, b: u32| {
            let (sum, carry) = a.overflowing_add(b);
            WithScc(sum, carry)
        }),
        M::s_sub_u32 | M::s_sub_co_u32 => s2(|_, a: u32, b: u32| {
            let (difference, borrow) = a.overflowing_sub(b);
            WithScc(difference, borrow)
        }),
        M::s_add_i32 | M::s_add_co_i32 => s2(|_, a: i32, b: i32| {
            let (sum, overflow) = a.overflowing_add(b);
            WithScc(sum, overflow)
        }),
        M::s_sub_i32 | M::s_sub_co_i32 => s2(|_, a: i32, b: i32| {
            let (difference, overflow) = a.overflowing_sub(b);
            WithScc(difference, overflow)
        }),
        M::s_addc_u32 | M::s_add_co_ci_u32 => s2(|scc, a: u32, b: u32| {
            let sum = u64::from(a) + u64::from(b) + u64::from(scc);
            WithScc(sum as u32, sum >> 32 != 0)
        }),
        M::s_subb_u32 | M::s_sub_co_ci_u32 => s2(|scc, a: u32, b: u32| {
            let take = u64::from(b) + u64::from(scc);
            WithScc(a.wrapping_sub(take as u32), take > u64::from(a))
        }),
        M::s_add_nc_u64 => s2(|_, a: u64, b: u64| Plain(a.wrapping_add(b))),
        M::s_sub_nc_u64 => s2(|_, a: u64, b: u64| Plain(a.wrapping_sub(b))),
        M::s_mul_i32 => s2(|_, a: u32, b: u32| Plain(a.wrapping_mul(b))),
        M::s_mul_u64 => s2(|_, a: u64, b: u64| Plain(a.wrapping_mul(b))),
        M::s_mul_hi_u32 => {
            s2(|_, a: u32, b: u32| Plain(((u64::from(a) * u64::from(b)) >> 32) as u32))
        }
        M::s_mul_hi_i32 => {
            s2(|_, a: i32, b: i32| Plain(((i64::from(a) * i64::from(b)) >> 32) as i32))
        }
        M::s_lshl1_add_u32 => s2(|_, a: u32, b: u32| shifted_add(a, b, 1)),
        M::s_lshl2_add_u32 => s2(|_, a: u32, b: u32| shifted_add(a, b, 2)),
        M::s_lshl3_add_u32 => s2(|_, a: u32, b: u32| shifted_add(a, b, 3)),
        M::s_lshl4_add_u32 => s2(|_, a: u32, b: u32| shifted_add(a, b, 4)),
        M::s_abs_i32 => s1(|_, a: i32| nonzero32(a.wrapping_abs().cast_unsigned())),
        M::s_absdiff_i32 => {
            s2(|_, a: i32, b: i32| nonzero32(a.wrapping_sub(b).wrapping_abs().cast_unsigned()))
        }
        M::s_min_i32 => s2(|_, a: i32, b: i32| WithScc(a.min(b), a < b)),
        M::s_min_u32 => s2(|_, a: u32, b: u32| WithScc(a.min(b), a < b)),
        M::s_max_i32 => s2(|_, a: i32, b: i32| WithScc(a.max(b), a >= b)),
        M::s_max_u32 => s2(|_, a: u32, b: u32| WithScc(a.max(b), a >= b)),
        // Compares.
        M::s_cmp_eq_i32 | M::s_cmp_eq_u32 => s2(|_, a: u32, b: u32| Scc(a == b)),
        M::s_cmp_lg_i32 | M::s_cmp_lg_u32 => s2(|_, a: u32, b: u32| Scc(a != b)),
        M::s_cmp_gt_i32 => s2(|_, a: i32, b: i32| Scc(a > b)),
        M::s_cmp_ge_i32 => s2(|_, a: i32, b: i32| Scc(a >= b)),
        M::s_cmp_lt_i32 => s2(|_, a: i32, b: i32| Scc(a < b)),
        M::s_cmp_le_i32 => s2(|_, a: i32, b: i32| Scc(a <= b)),
        M::s_cmp_gt_u32 => s2(|_, a: u32, b: u32| Scc(a > b)),
        M::s_cmp_ge_u32 => s2(|_, a: u32, b: u32| Scc(a >= b)),
        M::s_cmp_lt_u32 => s2(|_, a: u32, b: u32| Scc(a < b)),
        M::s_cmp_le_u32 => s2(|_, a: u32, b: u32| Scc(a <= b)),
        M::s_cmp_eq_u64 => s2(|_, a: u64, b: u64| Scc(a == b)),
        M::s_cmp_lg_u64 => s2(|_, a: u64, b: u64| Scc(a != b)),
        M::s_bitcmp0_b32 => s2(|_, a: u32, b: u32| Scc(a >> (b & 31) & 1 == 0)),
        M::s_bitcmp1_b32 => s2(|_, a: u32, b: u32| Scc(a >> (b & 31) & 1 == 1)),
        M::s_bitcmp0_b64 => s2(|_, a: u64, b: u32| Scc(a >> (b & 63) & 1 == 0)),
        M::s_bitcmp1_b64 => s2(|_, a: u64, b: u32| Scc(a >> (b & 63) & 1 == 1)),
        // Scalar float (GFX11.5, GFX12).
        M::s_add_f32 => s2(|_, a: f32, b: f32| Plain(a + b)),
        M::s_sub_f32 => s2(|_, a: f32, b: f32| Plain(a - b)),
        M::s_mul_f32 => s2(|_, a: f32, b: f32| Plain(a * b)),
        M::s_fmac_f32 => s2d(|_, a: f32, b: f32, d: f32| Plain(a.mul_add(b, d))),
        // The host's roundings may give a signalling NaN back.
        M::s_ceil_f32 => s1(|_, a: f32| Plain(a.ceil().quieted())),
        M::s_floor_f32 => s1(|_, a: f32| Plain(a.floor().quieted())),
        M::s_trunc_f32 => s1(|_, a: f32| Plain(a.trunc().quieted())),
        M::s_rndne_f32 => s1(|_, a: f32| Plain(round_even_f32(a).quieted())),
        M::s_cvt_f32_i32 => s1(|_, a: i32| Plain(a as f32)),
        M::s_cvt_f32_u32 => s1(|_, a: u32| Plain(a as f32)),
        M::s_cvt_i32_f32 => s1(|_, a: f32| Plain(a as i32)),
        M::s_cvt_u32_f32 => s1(|_, a: f32| Plain(a as u32)),
        M::s_cmp_eq_f32 => s2(|_, a: f32, b: f32| Scc(a == b)),
        M::s_cmp_lg_f32 => s2(|_, a: f32, b: f32| Scc(a < b || a > b)),
        M::s_cmp_lt_f32 => s2(|_, a: f32, b: f32| Scc(a < b)),
        M::s_cmp_le_f32 => s2(|_, a: f32, b: f32| Scc(a <= b)),
        M::s_cmp_gt_f32 => s2(|_, a: f32, b: f32| Scc(a > b)),
        M::s_cmp_ge_f32 => s2(|_, a: f32, b: f32| Scc(a >= b)),
        M::s_cmp_o_f32 => s2(|_, a: f32, b: f32| Scc(!a.is_nan() && !b.is_nan())),
        M::s_cmp_u_f32 => s2(|_, a: f32, b: f32| Scc(a.is_nan() || b.is_nan())),
        M::s_cmp_neq_f32 => s2(|_, a: f32, b: f32| Scc(a != b)),
        M::s_cmp_nlg_f32 => s2(|_, a: f32, b: f32| Scc(!(a < b || a > b))),
        M::s_cmp_nlt_f32 => s2(|_, a: f32, b: f32| Scc(!(a < b))),
        M::s_cmp_nle_f32 => s2(|_, a: f32, b: f32| Scc(!(a <= b))),
        M::s_cmp_ngt_f32 => s2(|_, a: f32, b: f32| Scc(!(a > b))),
        M::s_cmp_nge_f32 => s2(|_, a: f32, b: f32| Scc(!(a >= b))),
        _ => return None,
    })
}
