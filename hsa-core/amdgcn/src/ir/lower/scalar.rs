//! Scalar ALU: SOP1, SOP2, SOPC, SOPK. The meaning of each operation is the closure next to its name; the first argument is SCC.

#![expect(
    clippy::double_comparisons,
    clippy::neg_cmp_op_on_partial_ord,
    reason = "with a NaN these are different compares, each an operation of its own"
)]

use crate::{
    interp::{
        lane,
        round::round_even_f32,
        run::get_mxcsr,
        scalar::{Plain, ScalarOp, Scc, WithScc, s1, s1d, s2, s2d, save_exec},
        wave::{Wave, mode, slot},
    },
    ir::{Op, Ref},
    isa::{
        inst::{Format, Inst, Operand, OperandSlot, Type},
        op::Op as M,
    },
};

use super::{LowerContext, Unsupported, control};

/// Lowers a SOP1, SOP2, SOPC or SOPK instruction.
pub fn lower_scalar(inst: &Inst, cx: &mut LowerContext) -> Result<(), Unsupported> {
    if special(inst, cx)? {
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
        M::s_ceil_f32 => s1(|_, a: f32| Plain(a.ceil())),
        M::s_floor_f32 => s1(|_, a: f32| Plain(a.floor())),
        M::s_trunc_f32 => s1(|_, a: f32| Plain(a.trunc())),
        M::s_rndne_f32 => s1(|_, a: f32| Plain(round_even_f32(a))),
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

/// Operations that are more than a closure on their operands. Says whether it was one.
fn special(inst: &Inst, cx: &mut LowerContext) -> Result<bool, Unsupported> {
    let [a, ..] = inst.src;
    match inst.op {
        M::s_and_saveexec_b64 => save(inst, cx, |s, exec| s & exec, true, 0)?,
        M::s_and_saveexec_b32 => save(inst, cx, |s, exec| s & exec, false, 0)?,
        M::s_or_saveexec_b64 => save(inst, cx, |s, exec| s | exec, true, 0)?,
        M::s_or_saveexec_b32 => save(inst, cx, |s, exec| s | exec, false, 0)?,
        M::s_xor_saveexec_b64 => save(inst, cx, |s, exec| s ^ exec, true, 0)?,
        M::s_xor_saveexec_b32 => save(inst, cx, |s, exec| s ^ exec, false, 0)?,
        M::s_andn2_saveexec_b64 | M::s_and_not1_saveexec_b64 => {
            save(inst, cx, |s, exec| s & !exec, true, 0)?
        }
        M::s_andn2_saveexec_b32 | M::s_and_not1_saveexec_b32 => {
            save(inst, cx, |s, exec| s & !exec, false, 0)?
        }
        M::s_orn2_saveexec_b64 | M::s_or_not1_saveexec_b64 => {
            save(inst, cx, |s, exec| s | !exec, true, 0)?
        }
        M::s_orn2_saveexec_b32 | M::s_or_not1_saveexec_b32 => {
            save(inst, cx, |s, exec| s | !exec, false, 0)?
        }
        M::s_andn1_saveexec_b64 | M::s_and_not0_saveexec_b64 => {
            save(inst, cx, |s, exec| !s & exec, true, 0)?
        }
        M::s_andn1_saveexec_b32 | M::s_and_not0_saveexec_b32 => {
            save(inst, cx, |s, exec| !s & exec, false, 0)?
        }
        M::s_orn1_saveexec_b64 | M::s_or_not0_saveexec_b64 => {
            save(inst, cx, |s, exec| !s | exec, true, 0)?
        }
        M::s_orn1_saveexec_b32 | M::s_or_not0_saveexec_b32 => {
            save(inst, cx, |s, exec| !s | exec, false, 0)?
        }
        M::s_nand_saveexec_b64 => save(inst, cx, |s, exec| !(s & exec), true, 0)?,
        M::s_nand_saveexec_b32 => save(inst, cx, |s, exec| !(s & exec), false, 0)?,
        M::s_nor_saveexec_b64 => save(inst, cx, |s, exec| !(s | exec), true, 0)?,
        M::s_nor_saveexec_b32 => save(inst, cx, |s, exec| !(s | exec), false, 0)?,
        M::s_xnor_saveexec_b64 => save(inst, cx, |s, exec| !(s ^ exec), true, 0)?,
        M::s_xnor_saveexec_b32 => save(inst, cx, |s, exec| !(s ^ exec), false, 0)?,
        M::s_andn1_wrexec_b64 | M::s_and_not0_wrexec_b64 => {
            save(inst, cx, |s, exec| !s & exec, true, 1)?
        }
        M::s_andn1_wrexec_b32 | M::s_and_not0_wrexec_b32 => {
            save(inst, cx, |s, exec| !s & exec, false, 1)?
        }
        M::s_andn2_wrexec_b64 | M::s_and_not1_wrexec_b64 => {
            save(inst, cx, |s, exec| s & !exec, true, 1)?
        }
        M::s_andn2_wrexec_b32 | M::s_and_not1_wrexec_b32 => {
            save(inst, cx, |s, exec| s & !exec, false, 1)?
        }
        M::s_getpc_b64 => {
            let pc = cx.next_pc();
            let mut op = Op::new(s1(|_, x: u64| Plain(x)).run);
            op.s[0] = cx.constant(&[pc as u32, (pc >> 32) as u32]);
            op.d = cx.scalar_dst(inst.dst.operand, 2)?;
            cx.push(op);
        }
        M::s_setpc_b64 => {
            let mut op = Op::new(set_pc);
            op.s[0] = cx.scalar_src(a, 2)?;
            cx.push(op);
        }
        M::s_swappc_b64 => {
            let mut op = Op::new(swap_pc);
            op.s[0] = cx.scalar_src(a, 2)?;
            op.d = cx.scalar_dst(inst.dst.operand, 2)?;
            op.imm = cx.next_pc();
            cx.push(op);
        }
        M::s_call_b64 => {
            let mut link = Op::new(s1(|_, x: u64| Plain(x)).run);
            let pc = cx.next_pc();
            link.s[0] = cx.constant(&[pc as u32, (pc >> 32) as u32]);
            link.d = cx.scalar_dst(inst.dst.operand, 2)?;
            cx.push(link);
            let mut jump = Op::new(control::jump);
            jump.aux[0] = u32::from(control::ALWAYS);
            let target = pc.wrapping_add_signed(i64::from(inst.simm16) * 4);
            cx.branch(jump, target);
        }
        M::s_movrels_b32 | M::s_movrels_b64 | M::s_movreld_b32 | M::s_movreld_b64 => {
            let wide = matches!(inst.op, M::s_movrels_b64 | M::s_movreld_b64);
            let mut op = Op::new(scalar_move_relative);
            op.s[0] = cx.scalar_src(a, if wide { 2 } else { 1 })?;
            op.d = cx.scalar_dst(inst.dst.operand, if wide { 2 } else { 1 })?;
            op.aux = [
                u32::from(wide),
                u32::from(matches!(inst.op, M::s_movreld_b32 | M::s_movreld_b64)),
                0,
            ];
            if op.s[0].selector() != Ref::SCALAR {
                return Err(Unsupported::form(inst, "a constant source"));
            }
            cx.push(op);
        }
        M::s_getreg_b32 => {
            let mut op = Op::new(get_register);
            op.d = cx.scalar_dst(inst.dst.operand, 1)?;
            op.imm = u64::from(inst.simm16.cast_unsigned());
            check_hardware_register(inst, false)?;
            cx.push(op);
        }
        M::s_setreg_b32 | M::s_setreg_imm32_b32 => {
            let mut op = Op::new(set_register);
            op.s[0] = match inst.imm32 {
                Some(value) if inst.op == M::s_setreg_imm32_b32 => cx.constant(&[value]),
                _ => cx.scalar_src(register(inst), 1)?,
            };
            op.imm = u64::from(inst.simm16.cast_unsigned());
            check_hardware_register(inst, true)?;
            cx.push(op);
        }
        M::s_sendmsg_rtn_b32 | M::s_sendmsg_rtn_b64 => return Err(Unsupported::op(inst)),
        // Counters that operations wait for are always reached here.
        M::s_waitcnt_vscnt
        | M::s_waitcnt_vmcnt
        | M::s_waitcnt_expcnt
        | M::s_waitcnt_lgkmcnt
        | M::s_version => {}
        // GFX9 VGPR indexing: M0 7:0 is the index, M0 15:12 says which operands it moves (bit 0 to 2 source 0 to 2, bit 3 the
        // destination). The compiler encloses single moves with on and off in straight-line code; the lowering follows that.
        M::s_set_gpr_idx_on => {
            let mode = u32::from(inst.simm16.cast_unsigned()) & 15;
            let mut op = Op::new(set_index);
            op.s[0] = cx.scalar_src(a, 1)?;
            op.aux[0] = mode;
            cx.push(op);
            cx.gpr_index = Some(mode);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn save<F: Fn(u64, u64) -> u64 + Copy + 'static>(
    inst: &Inst,
    cx: &mut LowerContext,
    f: F,
    wide: bool,
    write_new: u32,
) -> Result<(), Unsupported> {
    let dwords = if wide { 2 } else { 1 };
    let mut op = Op::new(save_exec(f, wide));
    op.s[0] = cx.scalar_src(inst.src[0], dwords)?;
    op.d = cx.scalar_dst(inst.dst.operand, dwords)?;
    op.aux[0] = write_new;
    cx.push(op);
    Ok(())
}

unsafe fn pair(w: &Wave, reference: Ref) -> u64 {
    // SAFETY: the lowering made a scalar reference of two dwords.
    unsafe {
        let at: *const u32 = w.base[reference.selector() as usize]
            .add(reference.offset() as usize)
            .cast();
        let step = if reference.selector() == Ref::POOL {
            16
        } else {
            1
        };
        u64::from(*at) | u64::from(*at.add(step)) << 32
    }
}

unsafe fn set_pc(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: the program is alive; operands by the lowering.
    unsafe {
        let to = pair(w, (*op).s[0]) & !3;
        control::indirect(w, to)
    }
}

unsafe fn swap_pc(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: as above.
    unsafe {
        let to = pair(w, (*op).s[0]) & !3;
        w.set_pair((*op).d as usize, (*op).imm);
        control::indirect(w, to)
    }
}

/// `aux[0]`: 64 bits; `aux[1]`: the destination is moved by M0 rather than the source.
unsafe fn scalar_move_relative(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: followed by an operation; indices are checked.
    unsafe {
        let by = w.sgpr[w.m0] as usize;
        let (wide, moves_d) = ((*op).aux[0] != 0, (*op).aux[1] != 0);
        let mut from = (*op).s[0].offset() as usize / 4;
        let mut to = (*op).d as usize;
        *(if moves_d { &mut to } else { &mut from }) += by;
        if from + usize::from(wide) >= 128 || to + usize::from(wide) >= 128 {
            return w.stop(
                op,
                crate::interp::run::Exit::Aperture {
                    address: by as u64,
                    write: moves_d,
                    lane: None,
                },
            );
        }
        if wide {
            let value = w.pair(from);
            w.set_pair(to, value);
        } else {
            w.sgpr[to] = w.sgpr[from];
        }
        op.add(1)
    }
}

/// `s_set_gpr_idx_on`: index and mode into M0; the lowering has made the moves that follow indexed ones.
unsafe fn set_index(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering.
    unsafe {
        let index = lane::scalar(w, (*op).s[0]) & 0xff;
        w.sgpr[w.m0] = (w.sgpr[w.m0] & 0xffff_0f00) | index | (*op).aux[0] << 12;
        op.add(1)
    }
}

/// Hardware registers by number (LLVM `SIDefines`).
mod hwreg {
    pub const MODE: u32 = 1;
    pub const STATUS: u32 = 2;
    pub const TRAPSTS: u32 = 3;
    pub const HW_ID: u32 = 4;
    pub const GPR_ALLOC: u32 = 5;
    pub const LDS_ALLOC: u32 = 6;
    pub const IB_STS: u32 = 7;
    pub const SH_MEM_BASES: u32 = 15;
    pub const FLAT_SCR_LO: u32 = 20;
    pub const FLAT_SCR_HI: u32 = 21;
    pub const HW_ID1: u32 = 23;
    pub const HW_ID2: u32 = 24;
    pub const SHADER_CYCLES: u32 = 29;
}

/// Refuses registers that the engine does not have.
fn check_hardware_register(inst: &Inst, write: bool) -> Result<(), Unsupported> {
    let id = u32::from(inst.simm16.cast_unsigned()) & 63;
    let known = if write {
        matches!(
            id,
            hwreg::MODE | hwreg::STATUS | hwreg::TRAPSTS | hwreg::FLAT_SCR_LO | hwreg::FLAT_SCR_HI
        )
    } else {
        matches!(
            id,
            hwreg::MODE
                | hwreg::STATUS
                | hwreg::TRAPSTS
                | hwreg::HW_ID
                | hwreg::GPR_ALLOC
                | hwreg::LDS_ALLOC
                | hwreg::IB_STS
                | hwreg::SH_MEM_BASES
                | hwreg::FLAT_SCR_LO
                | hwreg::FLAT_SCR_HI
                | hwreg::HW_ID1
                | hwreg::HW_ID2
                | hwreg::SHADER_CYCLES
        )
    };
    if known {
        Ok(())
    } else {
        Err(Unsupported(format!(
            "{}: hardware register {id}",
            inst.op.name()
        )))
    }
}

/// Splits the immediate of `s_getreg`/`s_setreg`: register, offset, mask of the field's width.
fn field(imm: u64) -> (u32, u32, u32) {
    let imm = imm as u32;
    let width = (imm >> 11 & 31) + 1;
    (
        imm & 63,
        imm >> 6 & 31,
        if width == 32 {
            u32::MAX
        } else {
            (1 << width) - 1
        },
    )
}

fn hardware_register(w: &Wave, id: u32) -> u32 {
    match id {
        hwreg::MODE => w.mode,
        hwreg::STATUS => {
            (w.status & !0x601)
                | w.sgpr[slot::SCC] & 1
                | u32::from(w.exec() == 0) << 9
                | u32::from(w.vcc() == 0) << 10
        }
        hwreg::TRAPSTS => w.trap_status,
        // GFX9: wave 3:0, SIMD 5:4, CU 11:8, SH 12, SE 14:13, VM 23:20, queue 26:24.
        hwreg::HW_ID => {
            let id = w.hardware_id;
            (id.slot & 15)
                | (id.simd & 3) << 4
                | (id.compute_unit & 15) << 8
                | (id.compute_unit >> 4 & 7) << 12
                | (id.vmid & 15) << 20
                | (id.queue & 7) << 24
        }
        // GFX10: wave 4:0, SIMD 9:8, WGP 13:10, SE 18:16.
        hwreg::HW_ID1 => {
            let id = w.hardware_id;
            (id.slot & 31)
                | (id.simd & 3) << 8
                | (id.compute_unit & 15) << 10
                | (id.compute_unit >> 4 & 7) << 16
        }
        hwreg::HW_ID2 => (w.hardware_id.queue & 15) | (w.hardware_id.vmid & 15) << 24,
        hwreg::GPR_ALLOC => (w.vgpr_count / 4).saturating_sub(1) << 8,
        hwreg::LDS_ALLOC => (w.lds_size / 512) << 12,
        // Apertures: private base in bits 15:0, shared base in bits 31:16 of their addresses' top 16 bits.
        hwreg::SH_MEM_BASES => {
            w.sgpr[slot::PRIVATE_BASE + 1] >> 16 | (w.sgpr[slot::SHARED_BASE + 1] & 0xffff_0000)
        }
        hwreg::FLAT_SCR_LO => w.flat_scratch as u32,
        hwreg::FLAT_SCR_HI => (w.flat_scratch >> 32) as u32,
        hwreg::SHADER_CYCLES => (cycles() & 0xf_ffff) as u32,
        _ => 0,
    }
}

/// The host's time stamp counter, standing in for the shader clock.
pub fn cycles() -> u64 {
    // SAFETY: rdtsc has no preconditions.
    unsafe { core::arch::x86_64::_rdtsc() }
}

unsafe fn get_register(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering.
    unsafe {
        let (id, offset, mask) = field((*op).imm);
        w.sgpr[(*op).d as usize] = hardware_register(w, id) >> offset & mask;
        op.add(1)
    }
}

unsafe fn set_register(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering.
    unsafe {
        let (id, offset, mask) = field((*op).imm);
        let value = lane::scalar(w, (*op).s[0]);
        let merge = |old: u32| old & !(mask << offset) | (value & mask) << offset;
        match id {
            hwreg::MODE => {
                let mode = merge(w.mode);
                control::change_mode(w, mode);
                debug_assert!(get_mxcsr() & 0x6000 == w.mxcsr & 0x6000);
                debug_assert!(w.mode & mode::GPR_IDX_EN == mode & mode::GPR_IDX_EN);
            }
            hwreg::STATUS => {
                w.status = merge(hardware_register(w, id));
                w.sgpr[slot::SCC] = w.status & 1;
            }
            hwreg::TRAPSTS => w.trap_status = merge(w.trap_status),
            hwreg::FLAT_SCR_LO => {
                w.flat_scratch =
                    (w.flat_scratch & !0xffff_ffff) | u64::from(merge(w.flat_scratch as u32))
            }
            hwreg::FLAT_SCR_HI => {
                let high = merge((w.flat_scratch >> 32) as u32);
                w.flat_scratch = (w.flat_scratch & 0xffff_ffff) | u64::from(high) << 32;
            }
            _ => {}
        }
        op.add(1)
    }
}
