//! VOP3P: packed 16-bit and f32 operations, mixed-precision multiply-add, dot products.
//!
//! `op_sel` and `op_sel_hi` say which half of a source the low and the high result take; `neg` and `abs` are the negations of the
//! low and the high half (for the mixed operations: negation and absolute value of the whole source).

use crate::{
    interp::{
        float::{
            Half, half_fma, half2, mad, max_f16, max_num_f16, maximum_f16, min_f16, min_num_f16,
            minimum_f16,
        },
        prepare::{Part, RESULT_TEMP, Scale, SourcePlan, temp, temp_dst},
        small_float::{BF8_OCP, FP8_OCP, Format8, decode},
        vector::{Env, Value, VectorOp, a2, a3, e2, e3, k2, k3},
    },
    ir::{Op, Ref},
    isa::{
        inst::{Inst, Operand, OperandSlot, Type},
        op::Op as M,
    },
};

use super::{
    LowerContext, Unsupported, meaning,
    vector::{Job, plain_source, sign_modifiers, whole_result},
};

/// Two f16 in a register.
#[derive(Clone, Copy, Debug, Default)]
struct Halves(u32);

impl Value for Halves {
    const DWORDS: u32 = 1;
    const F64: bool = true;
    #[inline(always)]
    fn from_dwords(low: u32, _high: u32) -> Self {
        Halves(low)
    }
    #[inline(always)]
    fn to_dwords(self) -> (u32, u32) {
        (self.0, 0)
    }
}

impl Halves {
    #[inline(always)]
    fn split(self) -> (Half, Half) {
        (Half(self.0 as u16), Half((self.0 >> 16) as u16))
    }
    #[inline(always)]
    fn join(low: Half, high: Half) -> Self {
        Halves(u32::from(low.0) | u32::from(high.0) << 16)
    }
}

#[inline(always)]
fn both(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

#[inline(always)]
fn both_signed(a: u32, b: u32, f: impl Fn(i16, i16) -> i16) -> u32 {
    both(a, b, |x, y| {
        f(x.cast_signed(), y.cast_signed()).cast_unsigned()
    })
}

#[inline(always)]
fn three(a: u32, b: u32, c: u32, f: impl Fn(u16, u16, u16) -> u16) -> u32 {
    let at = |x: u32| (x >> 16) as u16;
    u32::from(f(a as u16, b as u16, c as u16)) | u32::from(f(at(a), at(b), at(c))) << 16
}

#[inline(always)]
fn halves2(e: Env, a: Halves, b: Halves, f: impl Fn(Env, Half, Half) -> Half) -> Halves {
    let ((a0, a1), (b0, b1)) = (a.split(), b.split());
    Halves::join(f(e, a0, b0), f(e, a1, b1))
}

/// Signed field `n` of `bits` bits.
#[inline(always)]
fn signed(x: u32, n: u32, bits: u32) -> i32 {
    (x << (32 - bits - n * bits)).cast_signed() >> (32 - bits)
}

#[inline(always)]
fn unsigned(x: u32, n: u32, bits: u32) -> u32 {
    x >> (n * bits) & ((1 << bits) - 1)
}

#[inline(always)]
fn dot_signed(a: u32, b: u32, c: i32, bits: u32) -> i32 {
    (0..32 / bits).fold(c, |sum, n| {
        sum.wrapping_add(signed(a, n, bits).wrapping_mul(signed(b, n, bits)))
    })
}

#[inline(always)]
fn dot_unsigned(a: u32, b: u32, c: u32, bits: u32) -> u32 {
    (0..32 / bits).fold(c, |sum, n| {
        sum.wrapping_add(unsigned(a, n, bits).wrapping_mul(unsigned(b, n, bits)))
    })
}

/// Exact sum of a dot product, clamped to the result's range.
#[inline(always)]
fn dot_signed_clamped(a: u32, b: u32, c: i32, bits: u32) -> i32 {
    let sum = (0..32 / bits).fold(i64::from(c), |sum, n| {
        sum + i64::from(signed(a, n, bits)) * i64::from(signed(b, n, bits))
    });
    sum.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

#[inline(always)]
fn dot_unsigned_clamped(a: u32, b: u32, c: u32, bits: u32) -> u32 {
    let sum = (0..32 / bits).fold(u64::from(c), |sum, n| {
        sum + u64::from(unsigned(a, n, bits)) * u64::from(unsigned(b, n, bits))
    });
    sum.min(0xffff_ffff) as u32
}

/// Products of f16 are exact in f32; each is added with one rounding.
#[inline(always)]
fn dot2_f16(a: Halves, b: Halves, c: f32) -> f32 {
    let ((a0, a1), (b0, b1)) = (a.split(), b.split());
    let sum = a0.widen().mul_add(b0.widen(), c);
    a1.widen().mul_add(b1.widen(), sum)
}

#[inline(always)]
fn dot2_bf16(a: u32, b: u32, c: f32) -> f32 {
    let low = |x: u32| f32::from_bits(x << 16);
    let high = |x: u32| f32::from_bits(x & 0xffff_0000);
    high(a).mul_add(high(b), low(a).mul_add(low(b), c))
}

/// Four products of 8-bit floats, added from the lowest up.
fn dot4(of_a: Format8, of_b: Format8, a: u32, b: u32, c: f32) -> f32 {
    let pairs = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
    pairs.fold(c, |sum, (x, y)| {
        decode(of_a, x).mul_add(decode(of_b, y), sum)
    })
}

/// Dot products with a VOP2 encoding, whose accumulator is the destination.
fn accumulates(op: M) -> bool {
    matches!(
        op,
        M::v_dot2c_f32_f16
            | M::v_dot2c_i32_i16
            | M::v_dot4c_i32_i8
            | M::v_dot8c_i32_i4
            | M::v_dot2acc_f32_f16
            | M::v_dot2c_f32_bf16
            | M::v_dot2acc_f32_bf16
    )
}

/// A dot product that accumulates, as an operation on its sources and the destination.
pub fn accumulating(op: M) -> Option<VectorOp> {
    accumulates(op).then(|| packed(op, false)).flatten()
}

/// Packed operations outside of VOP3P: the VOP2 dot products.
pub fn is_packed(op: M) -> bool {
    accumulates(op) || matches!(op, M::v_pk_fmac_f16)
}

fn packed(op: M, clamp: bool) -> Option<VectorOp> {
    Some(match (op, clamp) {
        (M::v_pk_add_f16, _) => {
            e2(|e, a: Halves, b: Halves| halves2(e, a, b, |e, x, y| half2(e, x, y, |x, y| x + y)))
        }
        (M::v_pk_mul_f16, _) => {
            e2(|e, a: Halves, b: Halves| halves2(e, a, b, |e, x, y| half2(e, x, y, |x, y| x * y)))
        }
        (M::v_pk_min_f16, _) => e2(|e, a: Halves, b: Halves| halves2(e, a, b, min_f16)),
        (M::v_pk_min_num_f16, _) => e2(|e, a: Halves, b: Halves| halves2(e, a, b, min_num_f16)),
        (M::v_pk_max_f16, _) => e2(|e, a: Halves, b: Halves| halves2(e, a, b, max_f16)),
        (M::v_pk_max_num_f16, _) => e2(|e, a: Halves, b: Halves| halves2(e, a, b, max_num_f16)),
        (M::v_pk_minimum_f16, _) => e2(|e, a: Halves, b: Halves| halves2(e, a, b, minimum_f16)),
        (M::v_pk_maximum_f16, _) => e2(|e, a: Halves, b: Halves| halves2(e, a, b, maximum_f16)),
        (M::v_pk_minimum3_f16, _) => e3(|e, a: Halves, b: Halves, c: Halves| {
            halves2(e, halves2(e, a, b, minimum_f16), c, minimum_f16)
        }),
        (M::v_pk_maximum3_f16, _) => e3(|e, a: Halves, b: Halves, c: Halves| {
            halves2(e, halves2(e, a, b, maximum_f16), c, maximum_f16)
        }),
        (M::v_dot4_f32_fp8_fp8, _) => k3(|a: u32, b: u32, c: f32| dot4(FP8_OCP, FP8_OCP, a, b, c)),
        (M::v_dot4_f32_fp8_bf8, _) => k3(|a: u32, b: u32, c: f32| dot4(FP8_OCP, BF8_OCP, a, b, c)),
        (M::v_dot4_f32_bf8_fp8, _) => k3(|a: u32, b: u32, c: f32| dot4(BF8_OCP, FP8_OCP, a, b, c)),
        (M::v_dot4_f32_bf8_bf8, _) => k3(|a: u32, b: u32, c: f32| dot4(BF8_OCP, BF8_OCP, a, b, c)),
        (M::v_pk_fma_f16 | M::v_pk_fmac_f16, _) => e3(|e, a: Halves, b: Halves, c: Halves| {
            let ((a0, a1), (b0, b1), (c0, c1)) = (a.split(), b.split(), c.split());
            Halves::join(half_fma(e, a0, b0, c0), half_fma(e, a1, b1, c1))
        }),
        (M::v_pk_add_u16, false) | (M::v_pk_add_i16, false) => {
            k2(|a: u32, b: u32| both(a, b, u16::wrapping_add))
        }
        (M::v_pk_sub_u16, false) | (M::v_pk_sub_i16, false) => {
            k2(|a: u32, b: u32| both(a, b, u16::wrapping_sub))
        }
        (M::v_pk_add_u16, true) => k2(|a: u32, b: u32| both(a, b, u16::saturating_add)),
        (M::v_pk_sub_u16, true) => k2(|a: u32, b: u32| both(a, b, u16::saturating_sub)),
        (M::v_pk_add_i16, true) => k2(|a: u32, b: u32| both_signed(a, b, i16::saturating_add)),
        (M::v_pk_sub_i16, true) => k2(|a: u32, b: u32| both_signed(a, b, i16::saturating_sub)),
        (M::v_pk_mul_lo_u16, _) => k2(|a: u32, b: u32| both(a, b, u16::wrapping_mul)),
        (M::v_pk_min_u16, _) => k2(|a: u32, b: u32| both(a, b, u16::min)),
        (M::v_pk_max_u16, _) => k2(|a: u32, b: u32| both(a, b, u16::max)),
        (M::v_pk_min_i16, _) => k2(|a: u32, b: u32| both_signed(a, b, i16::min)),
        (M::v_pk_max_i16, _) => k2(|a: u32, b: u32| both_signed(a, b, i16::max)),
        (M::v_pk_lshlrev_b16, _) => k2(|a: u32, b: u32| both(a, b, |x, y| y << (x & 15))),
        (M::v_pk_lshrrev_b16, _) => k2(|a: u32, b: u32| both(a, b, |x, y| y >> (x & 15))),
        (M::v_pk_ashrrev_i16, _) => k2(|a: u32, b: u32| both_signed(a, b, |x, y| y >> (x & 15))),
        (M::v_pk_mad_u16, false) | (M::v_pk_mad_i16, false) => {
            k3(
                |a: u32, b: u32, c: u32| {
                    three(a, b, c, |x, y, z| x.wrapping_mul(y).wrapping_add(z))
                },
            )
        }
        (M::v_pk_mad_u16, true) => k3(|a: u32, b: u32, c: u32| {
            three(a, b, c, |x, y, z| {
                (u64::from(x) * u64::from(y) + u64::from(z)).min(0xffff) as u16
            })
        }),
        (M::v_pk_mad_i16, true) => k3(|a: u32, b: u32, c: u32| {
            three(a, b, c, |x, y, z| {
                let wide = |v: u16| i64::from(v.cast_signed());
                ((wide(x) * wide(y) + wide(z)).clamp(-32768, 32767) as i16).cast_unsigned()
            })
        }),
        (M::v_dot2_f32_f16 | M::v_dot2c_f32_f16 | M::v_dot2acc_f32_f16, _) => k3(dot2_f16),
        (M::v_dot2_f32_bf16 | M::v_dot2c_f32_bf16 | M::v_dot2acc_f32_bf16, _) => k3(dot2_bf16),
        (M::v_dot2_i32_i16 | M::v_dot2c_i32_i16, false) => {
            k3(|a: u32, b: u32, c: i32| dot_signed(a, b, c, 16))
        }
        (M::v_dot2_u32_u16, false) => k3(|a: u32, b: u32, c: u32| dot_unsigned(a, b, c, 16)),
        (M::v_dot4_i32_i8 | M::v_dot4c_i32_i8, false) => {
            k3(|a: u32, b: u32, c: i32| dot_signed(a, b, c, 8))
        }
        (M::v_dot4_u32_u8, false) => k3(|a: u32, b: u32, c: u32| dot_unsigned(a, b, c, 8)),
        (M::v_dot8_i32_i4 | M::v_dot8c_i32_i4, false) => {
            k3(|a: u32, b: u32, c: i32| dot_signed(a, b, c, 4))
        }
        (M::v_dot8_u32_u4, false) => k3(|a: u32, b: u32, c: u32| dot_unsigned(a, b, c, 4)),
        (M::v_dot2_i32_i16 | M::v_dot2c_i32_i16, true) => {
            k3(|a: u32, b: u32, c: i32| dot_signed_clamped(a, b, c, 16))
        }
        (M::v_dot2_u32_u16, true) => k3(|a: u32, b: u32, c: u32| dot_unsigned_clamped(a, b, c, 16)),
        (M::v_dot4_i32_i8 | M::v_dot4c_i32_i8, true) => {
            k3(|a: u32, b: u32, c: i32| dot_signed_clamped(a, b, c, 8))
        }
        (M::v_dot4_u32_u8, true) => k3(|a: u32, b: u32, c: u32| dot_unsigned_clamped(a, b, c, 8)),
        (M::v_dot8_i32_i4 | M::v_dot8c_i32_i4, true) => {
            k3(|a: u32, b: u32, c: i32| dot_signed_clamped(a, b, c, 4))
        }
        (M::v_dot8_u32_u4, true) => k3(|a: u32, b: u32, c: u32| dot_unsigned_clamped(a, b, c, 4)),
        _ => return None,
    })
}

/// `v_dot4_i32_iu8`, `v_dot8_i32_iu4`: the negation bits say which sources are signed.
fn mixed_signs(op: M, neg: u8, clamp: bool) -> Option<VectorOp> {
    macro_rules! mixed {
        ($bits:literal, $a:ident, $b:ident) => {
            if clamp {
                k3(|a: u32, b: u32, c: i32| {
                    let sum = (0..32 / $bits).fold(i64::from(c), |sum, n| {
                        sum + i64::from($a(a, n, $bits)) * i64::from($b(b, n, $bits))
                    });
                    sum.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
                })
            } else {
                k3(|a: u32, b: u32, c: i32| {
                    (0..32 / $bits).fold(c, |sum, n| {
                        sum.wrapping_add(
                            ($a(a, n, $bits) as i32).wrapping_mul($b(b, n, $bits) as i32),
                        )
                    })
                })
            }
        };
    }
    Some(match (op, neg & 3) {
        (M::v_dot4_i32_iu8, 0) => mixed!(8, unsigned, unsigned),
        (M::v_dot4_i32_iu8, 1) => mixed!(8, signed, unsigned),
        (M::v_dot4_i32_iu8, 2) => mixed!(8, unsigned, signed),
        (M::v_dot4_i32_iu8, _) => mixed!(8, signed, signed),
        (M::v_dot8_i32_iu4, 0) => mixed!(4, unsigned, unsigned),
        (M::v_dot8_i32_iu4, 1) => mixed!(4, signed, unsigned),
        (M::v_dot8_i32_iu4, 2) => mixed!(4, unsigned, signed),
        (M::v_dot8_i32_iu4, _) => mixed!(4, signed, signed),
        _ => return None,
    })
}

/// Lowers a packed operation.
pub fn lower_packed(inst: &Inst, cx: &mut LowerContext) -> Result<(), Unsupported> {
    match inst.op {
        M::v_fma_mix_f32 | M::v_mad_mix_f32 => return lower_mix(inst, cx, None),
        M::v_fma_mixlo_f16 | M::v_mad_mixlo_f16 => return lower_mix(inst, cx, Some(false)),
        M::v_fma_mixhi_f16 | M::v_mad_mixhi_f16 => return lower_mix(inst, cx, Some(true)),
        M::v_pk_fma_f32 | M::v_pk_mul_f32 | M::v_pk_add_f32 | M::v_pk_mov_b32 => {
            return lower_packed_f32(inst, cx);
        }
        _ => {}
    }
    let signs = mixed_signs(inst.op, inst.alu.neg, inst.alu.clamp);
    let kind = signs
        .or_else(|| packed(inst.op, inst.alu.clamp))
        .ok_or_else(|| Unsupported::op(inst))?;
    let mut job = Job::new(cx, inst, kind);
    let sources = if accumulates(inst.op) || inst.op == M::v_pk_fmac_f16 {
        [inst.src[0], inst.src[1], inst.dst]
    } else {
        [inst.src[0], inst.src[1], inst.src[2]]
    };
    let vop3p = inst.format == crate::isa::inst::Format::Vop3p;
    let pairs = [inst.src[0].ty, inst.src[1].ty].contains(&Type::Packed(32));
    if !vop3p && pairs && (inst.alu.neg | inst.alu.abs | inst.alu.omod) != 0 {
        return Err(Unsupported::form(inst, "modifiers of a packed source"));
    }
    for (index, source) in sources.into_iter().enumerate().take(kind.arity) {
        let from = cx.source(source, 1)?;
        job.op.s[index] = from;
        let mut plan = plain_source(from, 1, index);
        plan.shuffle = index == 0 && job.shuffle.is_some();
        let bit = |mask: u8| mask >> index & 1 != 0;
        match source.ty {
            Type::Packed(32) if vop3p => {
                plan.part = halves_part(bit(inst.alu.op_sel), bit(inst.alu.op_sel_hi));
                if signs.is_none() {
                    plan.xor[0] = if bit(inst.alu.neg) { 0x8000 } else { 0 }
                        | if bit(inst.alu.abs) { 0x8000_0000 } else { 0 };
                }
            }
            Type::F(32) => {
                sign_modifiers(&mut plan, source.ty, bit(inst.alu.abs), bit(inst.alu.neg))
            }
            _ => {}
        }
        if plan.shuffle
            || plan.part != Part::Whole
            || plan.xor != [0; 2]
            || plan.and != [u32::MAX; 2]
        {
            job.prepare(index, plan);
        }
    }
    job.op.d = cx.vgpr(inst.dst.operand)?;
    let scale = match inst.op {
        M::v_pk_add_f16
        | M::v_pk_mul_f16
        | M::v_pk_min_f16
        | M::v_pk_max_f16
        | M::v_pk_fma_f16
        | M::v_pk_fmac_f16
        | M::v_pk_minimum3_f16
        | M::v_pk_maximum3_f16 => Scale::PackedF16,
        M::v_dot2_f32_f16 | M::v_dot2_f32_bf16 | M::v_dot2c_f32_f16 | M::v_dot2c_f32_bf16 => {
            Scale::F32
        }
        _ => Scale::None,
    };
    if inst.alu.clamp && scale != Scale::None {
        let mut plan = whole_result(1, job.op.d);
        plan.scale = scale;
        plan.clamp = true;
        job.result = Some(plan);
    }
    job.finish(cx)
}

fn halves_part(low_from_high: bool, high_from_high: bool) -> Part {
    if !low_from_high && high_from_high {
        Part::Whole
    } else {
        Part::Halves {
            low_from_high,
            high_from_high,
        }
    }
}

/// f32 multiply-add whose sources are f32 or f16 halves; `narrow` says which half of the destination gets the result as f16.
fn lower_mix(inst: &Inst, cx: &mut LowerContext, narrow: Option<bool>) -> Result<(), Unsupported> {
    let fused = matches!(
        inst.op,
        M::v_fma_mix_f32 | M::v_fma_mixlo_f16 | M::v_fma_mixhi_f16
    );
    let kind = if fused {
        a3(|a: f32, b: f32, c: f32| a.mul_add(b, c))
    } else {
        a3(mad)
    };
    let mut job = Job::new(cx, inst, kind);
    for index in 0..3 {
        let bit = |mask: u8| mask >> index & 1 != 0;
        let half = bit(inst.alu.op_sel_hi);
        // An inline constant of a half source is an f16.
        let ty = if half { Type::F(16) } else { Type::F(32) };
        let from = cx.source(
            OperandSlot {
                ty,
                ..inst.src[index]
            },
            1,
        )?;
        job.op.s[index] = from;
        let mut plan = plain_source(from, 1, index);
        if half {
            plan.part = Part::Widen {
                high: bit(inst.alu.op_sel),
            };
        }
        sign_modifiers(&mut plan, Type::F(32), bit(inst.alu.abs), bit(inst.alu.neg));
        if plan.part != Part::Whole || plan.xor != [0; 2] || plan.and != [u32::MAX; 2] {
            job.prepare(index, plan);
        }
    }
    job.op.d = cx.vgpr(inst.dst.operand)?;
    if narrow.is_some() || inst.alu.clamp {
        let mut plan = whole_result(1, job.op.d);
        plan.scale = Scale::F32;
        plan.clamp = inst.alu.clamp;
        if let Some(high) = narrow {
            plan.narrow = true;
            plan.shift = if high { 16 } else { 0 };
            plan.mask = if high { 0xffff_0000 } else { 0xffff };
        }
        job.result = Some(plan);
    }
    job.finish(cx)
}

/// Operations on two f32 in two registers: two plain operations, in an order in which neither overwrites what the other reads.
fn lower_packed_f32(inst: &Inst, cx: &mut LowerContext) -> Result<(), Unsupported> {
    let kind = match inst.op {
        M::v_pk_fma_f32 => a3(|a: f32, b: f32, c: f32| a.mul_add(b, c)),
        M::v_pk_mul_f32 => a2(|a: f32, b: f32| a * b),
        M::v_pk_add_f32 => a2(|a: f32, b: f32| a + b),
        _ => meaning::meaning(M::v_mov_b32).ok_or_else(|| Unsupported::op(inst))?,
    };
    let stride = cx.config.stride();
    let d = cx.vgpr_range(inst.dst.operand, 2)?;
    let moves = inst.op == M::v_pk_mov_b32;
    let half = |cx: &mut LowerContext, high: bool| -> Result<(Job, Vec<u32>), Unsupported> {
        let mut job = Job::new(cx, inst, kind);
        let mut reads = Vec::new();
        for index in 0..kind.arity {
            // v_pk_mov_b32: the low result is source 0's, the high result source 1's, both selected by op_sel.
            let which = if moves { usize::from(high) } else { index };
            let source = inst.src[which];
            let select = if high && !moves {
                inst.alu.op_sel_hi
            } else {
                inst.alu.op_sel
            };
            let second = select >> which & 1 != 0;
            let from = packed_f32_source(cx, source, second, stride)?;
            if from.selector() == Ref::FILE {
                reads.push(from.offset());
            }
            job.op.s[index] = from;
            let negative = if high { inst.alu.abs } else { inst.alu.neg } >> which & 1 != 0;
            if negative && !moves {
                let mut plan: SourcePlan = plain_source(from, 1, index);
                plan.xor[0] = 1 << 31;
                job.prepare(index, plan);
            }
        }
        job.op.d = if high { d + stride } else { d };
        if inst.alu.clamp {
            let mut plan = whole_result(1, job.op.d);
            plan.scale = Scale::F32;
            plan.clamp = true;
            job.result = Some(plan);
        }
        Ok((job, reads))
    };
    let (mut low, low_reads) = half(cx, false)?;
    let (high, high_reads) = half(cx, true)?;
    if !high_reads.contains(&d) {
        low.finish(cx)?;
        high.finish(cx)
    } else if !low_reads.contains(&(d + stride)) {
        high.finish(cx)?;
        low.finish(cx)
    } else {
        let parked = RESULT_TEMP + 2;
        match &mut low.result {
            // The result plan writes a register; park after it by swapping through the other order is impossible: refuse.
            Some(_) => return Err(Unsupported::form(inst, "clamp with overlapping registers")),
            None => low.op.d = temp_dst(parked),
        }
        low.finish(cx)?;
        high.finish(cx)?;
        let moved = meaning::meaning(M::v_mov_b32).ok_or_else(|| Unsupported::op(inst))?;
        let mut back = Op::new(cx.pick(moved.run));
        back.s[0] = temp(parked);
        back.d = d;
        cx.push(back);
        Ok(())
    }
}

/// One f32 of a pair.
fn packed_f32_source(
    cx: &mut LowerContext,
    source: OperandSlot,
    second: bool,
    stride: u32,
) -> Result<Ref, Unsupported> {
    match source.operand {
        Operand::Vgpr(_) | Operand::Agpr(_) => {
            let first = cx.vgpr_range(source.operand, 2)?;
            Ok(Ref::new(
                Ref::FILE,
                if second { first + stride } else { first },
            ))
        }
        Operand::Scalar(code) if cx.config.null() != Some(code) => cx.scalar_src(
            OperandSlot {
                operand: Operand::Scalar(code + u8::from(second)),
                ty: Type::F(32),
            },
            1,
        ),
        // A constant stands for both halves.
        _ => cx.scalar_src(
            OperandSlot {
                ty: Type::F(32),
                ..source
            },
            1,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{dot_signed, dot_signed_clamped, dot_unsigned};

    #[test]
    fn dot_products_extend_their_fields() {
        assert_eq!(
            dot_signed(0xff80_7f01, 0x0102_ff02, 10, 8),
            10 + 2 - 127 - 256 - 1
        );
        assert_eq!(
            dot_unsigned(0xff80_7f01, 0x0102_ff02, 10, 8),
            10 + 2 + 127 * 255 + 256 + 255
        );
        assert_eq!(
            dot_signed_clamped(0x7f7f_7f7f, 0x7f7f_7f7f, i32::MAX, 8),
            i32::MAX
        );
        assert_eq!(
            dot_signed(0x8000_7fff, 0x8000_7fff, 0, 16),
            0x4000_0000 + 0x3fff_0001
        );
    }
}
