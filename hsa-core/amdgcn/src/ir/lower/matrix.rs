//! MFMA: matrix operations of CDNA.

use crate::{
    interp::{
        matrix::{Element, Matrix, MatrixPlan},
        vector::hot,
    },
    ir::Op,
    isa::{
        inst::{Inst, OperandSlot, Type},
        op::Op as M,
    },
};

use super::{LowerContext, Unsupported};

/// Element, size of a block, depth, blocks, elements in a lane.
fn shape(op: M) -> Option<(Element, usize, usize, usize, usize)> {
    use Element::{Bf16, F16, F32, F64, I8};
    Some(match op {
        M::v_mfma_f32_32x32x1f32 | M::v_mfma_f32_32x32x1_2b_f32 => (F32, 32, 1, 2, 1),
        M::v_mfma_f32_16x16x1f32 | M::v_mfma_f32_16x16x1_4b_f32 => (F32, 16, 1, 4, 1),
        M::v_mfma_f32_4x4x1f32 | M::v_mfma_f32_4x4x1_16b_f32 => (F32, 4, 1, 16, 1),
        M::v_mfma_f32_32x32x2f32 | M::v_mfma_f32_32x32x2_f32 => (F32, 32, 2, 1, 1),
        M::v_mfma_f32_16x16x4f32 | M::v_mfma_f32_16x16x4_f32 => (F32, 16, 4, 1, 1),
        M::v_mfma_f32_32x32x4f16 | M::v_mfma_f32_32x32x4_2b_f16 => (F16, 32, 4, 2, 4),
        M::v_mfma_f32_16x16x4f16 | M::v_mfma_f32_16x16x4_4b_f16 => (F16, 16, 4, 4, 4),
        M::v_mfma_f32_4x4x4f16 | M::v_mfma_f32_4x4x4_16b_f16 => (F16, 4, 4, 16, 4),
        M::v_mfma_f32_32x32x8f16 | M::v_mfma_f32_32x32x8_f16 => (F16, 32, 8, 1, 4),
        M::v_mfma_f32_16x16x16f16 | M::v_mfma_f32_16x16x16_f16 => (F16, 16, 16, 1, 4),
        M::v_mfma_i32_32x32x4i8 | M::v_mfma_i32_32x32x4_2b_i8 => (I8, 32, 4, 2, 4),
        M::v_mfma_i32_16x16x4i8 | M::v_mfma_i32_16x16x4_4b_i8 => (I8, 16, 4, 4, 4),
        M::v_mfma_i32_4x4x4i8 | M::v_mfma_i32_4x4x4_16b_i8 => (I8, 4, 4, 16, 4),
        M::v_mfma_i32_32x32x8i8 => (I8, 32, 8, 1, 4),
        M::v_mfma_i32_16x16x16i8 => (I8, 16, 16, 1, 4),
        M::v_mfma_i32_32x32x16_i8 => (I8, 32, 16, 1, 8),
        M::v_mfma_i32_16x16x32_i8 => (I8, 16, 32, 1, 8),
        M::v_mfma_f32_32x32x2bf16 => (Bf16, 32, 2, 2, 2),
        M::v_mfma_f32_16x16x2bf16 => (Bf16, 16, 2, 4, 2),
        M::v_mfma_f32_4x4x2bf16 => (Bf16, 4, 2, 16, 2),
        M::v_mfma_f32_32x32x4bf16 => (Bf16, 32, 4, 1, 2),
        M::v_mfma_f32_16x16x8bf16 => (Bf16, 16, 8, 1, 2),
        M::v_mfma_f32_32x32x4bf16_1k | M::v_mfma_f32_32x32x4_2b_bf16 => (Bf16, 32, 4, 2, 4),
        M::v_mfma_f32_16x16x4bf16_1k | M::v_mfma_f32_16x16x4_4b_bf16 => (Bf16, 16, 4, 4, 4),
        M::v_mfma_f32_4x4x4bf16_1k | M::v_mfma_f32_4x4x4_16b_bf16 => (Bf16, 4, 4, 16, 4),
        M::v_mfma_f32_32x32x8bf16_1k | M::v_mfma_f32_32x32x8_bf16 => (Bf16, 32, 8, 1, 4),
        M::v_mfma_f32_16x16x16bf16_1k | M::v_mfma_f32_16x16x16_bf16 => (Bf16, 16, 16, 1, 4),
        M::v_mfma_f64_16x16x4f64 | M::v_mfma_f64_16x16x4_f64 => (F64, 16, 4, 1, 1),
        _ => return None,
    })
}

/// Lowers a matrix operation. Says whether it was one.
pub fn lower_matrix(inst: &Inst, cx: &mut LowerContext) -> Result<bool, Unsupported> {
    let Some((element, size, depth, blocks, per_lane)) = shape(inst.op) else {
        return Ok(false);
    };
    if !cx.config.wave64 {
        return Err(Unsupported::form(inst, "wave32"));
    }
    let bytes = match element {
        Element::I8 => 1,
        Element::F16 | Element::Bf16 => 2,
        Element::F32 => 4,
        Element::F64 => 8,
    };
    let ab_registers = (per_lane * bytes / 4) as u32;
    let wide = if element == Element::F64 { 2 } else { 1 };
    let d_registers = (size * size * blocks / 64 * wide) as u32;
    let [a, b, c, _] = inst.src;
    let ty = match element {
        Element::F64 => Type::F(64),
        Element::I8 => Type::I(32),
        _ => Type::F(32),
    };
    let gfx90a = (
        cx.config.target.major,
        cx.config.target.minor,
        cx.config.target.stepping,
    ) == (9, 0, 10);
    let plan = MatrixPlan {
        element,
        size,
        depth,
        blocks,
        per_lane,
        ab: [
            cx.vgpr_range(a.operand, ab_registers)?,
            cx.vgpr_range(b.operand, ab_registers)?,
        ],
        c: cx.source(
            OperandSlot { ty, ..c },
            match c.operand {
                crate::isa::inst::Operand::Vgpr(_) | crate::isa::inst::Operand::Agpr(_) => {
                    d_registers
                }
                _ => wide as u32,
            },
        )?,
        d: cx.vgpr_range(inst.dst.operand, d_registers)?,
        cbsz: u32::from(inst.alu.cbsz),
        abid: u32::from(inst.alu.abid),
        blgp: u32::from(inst.alu.blgp),
        flush: gfx90a && matches!(element, Element::F16 | Element::Bf16),
    };
    if plan.cbsz != 0 && (1 << plan.cbsz) > blocks {
        return Err(Unsupported::form(
            inst,
            "a broadcast over more blocks than there are",
        ));
    }
    let mut op = Op::new(cx.pick(hot::<Matrix>()));
    op.imm = cx.side(plan);
    cx.push(op);
    Ok(true)
}
