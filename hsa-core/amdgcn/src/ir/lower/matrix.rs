//! Matrix operations: MFMA and SMFMAC of CDNA, WMMA of GFX11 and GFX12.

use crate::{
    interp::{
        matrix::{Element, Layout, Matrix, MatrixPlan, Scales, Sparse, Sum},
        vector::hot,
    },
    ir::{Op, Ref},
    isa::{
        inst::{Inst, Operand, OperandSlot, Type},
        op::Op as M,
    },
    target::Family,
};

use super::{LowerContext, Unsupported};

/// What a mnemonic says: elements of A and B, sums, rows and columns of a block, depth, blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    a: Element,
    b: Element,
    sum: Sum,
    size: usize,
    depth: usize,
    blocks: usize,
}

impl Shape {
    const fn of(element: Element, size: usize, depth: usize, blocks: usize) -> Self {
        let sum = match element {
            Element::I8 | Element::U8 | Element::I4 | Element::U4 => Sum::I32,
            Element::F64 => Sum::F64,
            _ => Sum::F32,
        };
        Self {
            a: element,
            b: element,
            sum,
            size,
            depth,
            blocks,
        }
    }

    const fn mixed(a: Element, b: Element, size: usize, depth: usize) -> Self {
        Self {
            b,
            ..Self::of(a, size, depth, 1)
        }
    }
}

/// FP8 and BF8 of MFMA: GFX950 has those of the Open Compute Project.
fn eight_bits(ocp: bool) -> (Element, Element) {
    if ocp {
        (Element::Fp8, Element::Bf8)
    } else {
        (Element::Fp8Fnuz, Element::Bf8Fnuz)
    }
}

/// The format that a field of `*_f8f6f4` names.
fn format(code: u8) -> Element {
    match code {
        0 => Element::Fp8,
        1 => Element::Bf8,
        2 => Element::Fp6,
        3 => Element::Bf6,
        _ => Element::Fp4,
    }
}

/// Operations whose operands have formats of their own.
fn formatted(inst: &Inst) -> Option<Shape> {
    let (size, depth) = match inst.op {
        M::v_mfma_f32_16x16x128_f8f6f4 | M::v_mfma_scale_f32_16x16x128_f8f6f4 => (16, 128),
        M::v_mfma_f32_32x32x64_f8f6f4 | M::v_mfma_scale_f32_32x32x64_f8f6f4 => (32, 64),
        _ => return None,
    };
    let (a, b) = (format(inst.alu.cbsz), format(inst.alu.blgp));
    Some(Shape::mixed(a, b, size, depth))
}

fn mfma(op: M, ocp: bool) -> Option<Shape> {
    use Element::{Bf16, F16, F32, F64, I8, Xf32};
    #[expect(non_snake_case, reason = "as the other elements")]
    let (FP8, BF8) = eight_bits(ocp);
    let of = Shape::of;
    Some(match op {
        M::v_mfma_f32_32x32x1f32 | M::v_mfma_f32_32x32x1_2b_f32 => of(F32, 32, 1, 2),
        M::v_mfma_f32_16x16x1f32 | M::v_mfma_f32_16x16x1_4b_f32 => of(F32, 16, 1, 4),
        M::v_mfma_f32_4x4x1f32 | M::v_mfma_f32_4x4x1_16b_f32 => of(F32, 4, 1, 16),
        M::v_mfma_f32_32x32x2f32 | M::v_mfma_f32_32x32x2_f32 => of(F32, 32, 2, 1),
        M::v_mfma_f32_16x16x4f32 | M::v_mfma_f32_16x16x4_f32 => of(F32, 16, 4, 1),
        M::v_mfma_f32_32x32x4f16 | M::v_mfma_f32_32x32x4_2b_f16 => of(F16, 32, 4, 2),
        M::v_mfma_f32_16x16x4f16 | M::v_mfma_f32_16x16x4_4b_f16 => of(F16, 16, 4, 4),
        M::v_mfma_f32_4x4x4f16 | M::v_mfma_f32_4x4x4_16b_f16 => of(F16, 4, 4, 16),
        M::v_mfma_f32_32x32x8f16 | M::v_mfma_f32_32x32x8_f16 => of(F16, 32, 8, 1),
        M::v_mfma_f32_16x16x16f16 | M::v_mfma_f32_16x16x16_f16 => of(F16, 16, 16, 1),
        M::v_mfma_i32_32x32x4i8 | M::v_mfma_i32_32x32x4_2b_i8 => of(I8, 32, 4, 2),
        M::v_mfma_i32_16x16x4i8 | M::v_mfma_i32_16x16x4_4b_i8 => of(I8, 16, 4, 4),
        M::v_mfma_i32_4x4x4i8 | M::v_mfma_i32_4x4x4_16b_i8 => of(I8, 4, 4, 16),
        M::v_mfma_i32_32x32x8i8 => of(I8, 32, 8, 1),
        M::v_mfma_i32_16x16x16i8 => of(I8, 16, 16, 1),
        M::v_mfma_i32_32x32x16_i8 => of(I8, 32, 16, 1),
        M::v_mfma_i32_16x16x32_i8 => of(I8, 16, 32, 1),
        M::v_mfma_f32_32x32x2bf16 => of(Bf16, 32, 2, 2),
        M::v_mfma_f32_16x16x2bf16 => of(Bf16, 16, 2, 4),
        M::v_mfma_f32_4x4x2bf16 => of(Bf16, 4, 2, 16),
        M::v_mfma_f32_32x32x4bf16 => of(Bf16, 32, 4, 1),
        M::v_mfma_f32_16x16x8bf16 => of(Bf16, 16, 8, 1),
        M::v_mfma_f32_32x32x4bf16_1k | M::v_mfma_f32_32x32x4_2b_bf16 => of(Bf16, 32, 4, 2),
        M::v_mfma_f32_16x16x4bf16_1k | M::v_mfma_f32_16x16x4_4b_bf16 => of(Bf16, 16, 4, 4),
        M::v_mfma_f32_4x4x4bf16_1k | M::v_mfma_f32_4x4x4_16b_bf16 => of(Bf16, 4, 4, 16),
        M::v_mfma_f32_32x32x8bf16_1k | M::v_mfma_f32_32x32x8_bf16 => of(Bf16, 32, 8, 1),
        M::v_mfma_f32_16x16x16bf16_1k | M::v_mfma_f32_16x16x16_bf16 => of(Bf16, 16, 16, 1),
        M::v_mfma_f64_16x16x4f64 | M::v_mfma_f64_16x16x4_f64 => of(F64, 16, 4, 1),
        M::v_mfma_f64_4x4x4f64 | M::v_mfma_f64_4x4x4_4b_f64 => of(F64, 4, 4, 4),
        M::v_mfma_f32_16x16x32_f16 => of(F16, 16, 32, 1),
        M::v_mfma_f32_32x32x16_f16 => of(F16, 32, 16, 1),
        M::v_mfma_f32_16x16x32_bf16 => of(Bf16, 16, 32, 1),
        M::v_mfma_f32_32x32x16_bf16 => of(Bf16, 32, 16, 1),
        M::v_mfma_i32_16x16x64_i8 => of(I8, 16, 64, 1),
        M::v_mfma_i32_32x32x32_i8 => of(I8, 32, 32, 1),
        M::v_mfma_f32_16x16x8_xf32 => of(Xf32, 16, 8, 1),
        M::v_mfma_f32_32x32x4_xf32 => of(Xf32, 32, 4, 1),
        M::v_mfma_f32_16x16x32_bf8_bf8 => of(BF8, 16, 32, 1),
        M::v_mfma_f32_16x16x32_bf8_fp8 => Shape::mixed(BF8, FP8, 16, 32),
        M::v_mfma_f32_16x16x32_fp8_bf8 => Shape::mixed(FP8, BF8, 16, 32),
        M::v_mfma_f32_16x16x32_fp8_fp8 => of(FP8, 16, 32, 1),
        M::v_mfma_f32_32x32x16_bf8_bf8 => of(BF8, 32, 16, 1),
        M::v_mfma_f32_32x32x16_bf8_fp8 => Shape::mixed(BF8, FP8, 32, 16),
        M::v_mfma_f32_32x32x16_fp8_bf8 => Shape::mixed(FP8, BF8, 32, 16),
        M::v_mfma_f32_32x32x16_fp8_fp8 => of(FP8, 32, 16, 1),
        _ => return None,
    })
}

fn smfmac(op: M, ocp: bool) -> Option<Shape> {
    use Element::{Bf16, F16, I8};
    #[expect(non_snake_case, reason = "as the other elements")]
    let (FP8, BF8) = eight_bits(ocp);
    let of = Shape::of;
    Some(match op {
        M::v_smfmac_f32_16x16x64_f16 => of(F16, 16, 64, 1),
        M::v_smfmac_f32_32x32x32_f16 => of(F16, 32, 32, 1),
        M::v_smfmac_f32_16x16x64_bf16 => of(Bf16, 16, 64, 1),
        M::v_smfmac_f32_32x32x32_bf16 => of(Bf16, 32, 32, 1),
        M::v_smfmac_i32_16x16x128_i8 => of(I8, 16, 128, 1),
        M::v_smfmac_i32_32x32x64_i8 => of(I8, 32, 64, 1),
        M::v_smfmac_f32_16x16x128_bf8_bf8 => of(BF8, 16, 128, 1),
        M::v_smfmac_f32_16x16x128_bf8_fp8 => Shape::mixed(BF8, FP8, 16, 128),
        M::v_smfmac_f32_16x16x128_fp8_bf8 => Shape::mixed(FP8, BF8, 16, 128),
        M::v_smfmac_f32_16x16x128_fp8_fp8 => of(FP8, 16, 128, 1),
        M::v_smfmac_f32_32x32x64_bf8_bf8 => of(BF8, 32, 64, 1),
        M::v_smfmac_f32_32x32x64_bf8_fp8 => Shape::mixed(BF8, FP8, 32, 64),
        M::v_smfmac_f32_32x32x64_fp8_bf8 => Shape::mixed(FP8, BF8, 32, 64),
        M::v_smfmac_f32_32x32x64_fp8_fp8 => of(FP8, 32, 64, 1),
        M::v_smfmac_f32_16x16x32_f16 => of(F16, 16, 32, 1),
        M::v_smfmac_f32_32x32x16_f16 => of(F16, 32, 16, 1),
        M::v_smfmac_f32_16x16x32_bf16 => of(Bf16, 16, 32, 1),
        M::v_smfmac_f32_32x32x16_bf16 => of(Bf16, 32, 16, 1),
        M::v_smfmac_i32_16x16x64_i8 => of(I8, 16, 64, 1),
        M::v_smfmac_i32_32x32x32_i8 => of(I8, 32, 32, 1),
        M::v_smfmac_f32_16x16x64_bf8_bf8 => of(BF8, 16, 64, 1),
        M::v_smfmac_f32_16x16x64_bf8_fp8 => Shape::mixed(BF8, FP8, 16, 64),
        M::v_smfmac_f32_16x16x64_fp8_bf8 => Shape::mixed(FP8, BF8, 16, 64),
        M::v_smfmac_f32_16x16x64_fp8_fp8 => of(FP8, 16, 64, 1),
        M::v_smfmac_f32_32x32x32_bf8_bf8 => of(BF8, 32, 32, 1),
        M::v_smfmac_f32_32x32x32_bf8_fp8 => Shape::mixed(BF8, FP8, 32, 32),
        M::v_smfmac_f32_32x32x32_fp8_bf8 => Shape::mixed(FP8, BF8, 32, 32),
        M::v_smfmac_f32_32x32x32_fp8_fp8 => of(FP8, 32, 32, 1),
        _ => return None,
    })
}

/// Sparse ones; `neg` as for [`wmma`].
fn swmmac(op: M, neg: u8) -> Option<Shape> {
    use Element::{Bf8 as BF8, Bf16, F16, Fp8 as FP8, I4, I8, U4, U8};
    let of = Shape::of;
    let signed = |signed: Element, unsigned: Element, depth: usize| {
        let pick = |bit: u8| if neg & bit != 0 { signed } else { unsigned };
        Shape::mixed(pick(1), pick(2), 16, depth)
    };
    Some(match op {
        M::v_swmmac_f32_16x16x32_f16 => of(F16, 16, 32, 1),
        M::v_swmmac_f32_16x16x32_bf16 => of(Bf16, 16, 32, 1),
        M::v_swmmac_f16_16x16x32_f16 => Shape {
            sum: Sum::F16,
            ..of(F16, 16, 32, 1)
        },
        M::v_swmmac_bf16_16x16x32_bf16 => Shape {
            sum: Sum::Bf16,
            ..of(Bf16, 16, 32, 1)
        },
        M::v_swmmac_i32_16x16x32_iu8 => signed(I8, U8, 32),
        M::v_swmmac_i32_16x16x32_iu4 => signed(I4, U4, 32),
        M::v_swmmac_i32_16x16x64_iu4 => signed(I4, U4, 64),
        M::v_swmmac_f32_16x16x32_fp8_fp8 => of(FP8, 16, 32, 1),
        M::v_swmmac_f32_16x16x32_fp8_bf8 => Shape::mixed(FP8, BF8, 16, 32),
        M::v_swmmac_f32_16x16x32_bf8_fp8 => Shape::mixed(BF8, FP8, 16, 32),
        M::v_swmmac_f32_16x16x32_bf8_bf8 => of(BF8, 16, 32, 1),
        _ => return None,
    })
}

/// `neg`: for integers the bits say which operands are signed.
fn wmma(op: M, neg: u8) -> Option<Shape> {
    use Element::{Bf8 as BF8, Bf16, F16, Fp8 as FP8, I4, I8, U4, U8};
    let of = Shape::of;
    let signed = |signed: Element, unsigned: Element, depth: usize| {
        let pick = |bit: u8| if neg & bit != 0 { signed } else { unsigned };
        Shape::mixed(pick(1), pick(2), 16, depth)
    };
    Some(match op {
        M::v_wmma_f32_16x16x16_f16 => of(F16, 16, 16, 1),
        M::v_wmma_f32_16x16x16_bf16 => of(Bf16, 16, 16, 1),
        M::v_wmma_f16_16x16x16_f16 => Shape {
            sum: Sum::F16,
            ..of(F16, 16, 16, 1)
        },
        M::v_wmma_bf16_16x16x16_bf16 => Shape {
            sum: Sum::Bf16,
            ..of(Bf16, 16, 16, 1)
        },
        M::v_wmma_i32_16x16x16_iu8 => signed(I8, U8, 16),
        M::v_wmma_i32_16x16x16_iu4 => signed(I4, U4, 16),
        M::v_wmma_i32_16x16x32_iu4 => signed(I4, U4, 32),
        M::v_wmma_f32_16x16x16_fp8_fp8 => of(FP8, 16, 16, 1),
        M::v_wmma_f32_16x16x16_fp8_bf8 => Shape::mixed(FP8, BF8, 16, 16),
        M::v_wmma_f32_16x16x16_bf8_fp8 => Shape::mixed(BF8, FP8, 16, 16),
        M::v_wmma_f32_16x16x16_bf8_bf8 => of(BF8, 16, 16, 1),
        _ => return None,
    })
}

/// Bits of the dwords of a packed operand that neg_lo and neg_hi flip.
fn flipped(inst: &Inst, element: Element, source: usize) -> u32 {
    let bit = |mask: u8| u32::from(mask >> source & 1);
    match element {
        Element::F16 | Element::Bf16 => bit(inst.alu.neg) << 15 | bit(inst.alu.abs) << 31,
        _ => 0,
    }
}

/// The plan but for registers.
fn plan(inst: &Inst, cx: &LowerContext, shape: Shape, layout: Layout) -> MatrixPlan {
    let double = shape.a == Element::F64;
    let float = shape.sum != Sum::I32;
    let wmma = layout != Layout::Mfma;
    let c_bit = |mask: u8| wmma && float && mask & 4 != 0;
    MatrixPlan {
        a: shape.a,
        b: shape.b,
        sum: shape.sum,
        layout,
        lanes: cx.config.lanes(),
        size: shape.size,
        depth: shape.depth,
        blocks: shape.blocks,
        ab: [0; 2],
        c: Ref(0),
        d: 0,
        sparse: None,
        split: [false; 2],
        scales: None,
        // f64 operations have neither broadcasts nor lane patterns.
        cbsz: if double { 0 } else { u32::from(inst.alu.cbsz) },
        abid: u32::from(inst.alu.abid),
        blgp: u32::from(inst.alu.blgp),
        flip: if wmma {
            [flipped(inst, shape.a, 0), flipped(inst, shape.b, 1)]
        } else {
            [0; 2]
        },
        c_signs: [c_bit(inst.alu.abs), c_bit(inst.alu.neg)],
        flush: cx.config.target.family() == Family::Gfx90a
            && matches!(shape.a, Element::F16 | Element::Bf16),
        high: layout == Layout::Wmma11
            && matches!(shape.sum, Sum::F16 | Sum::Bf16)
            && inst.alu.op_sel & 4 != 0,
        clamp: wmma && !float && inst.alu.clamp,
    }
}

/// Registers of A (`stored` of k) or B in a lane.
fn operand_registers(plan: &MatrixPlan, element: Element, stored: usize) -> u32 {
    ((plan.per_lane(stored) * element.bits()).div_ceil(32)) as u32
}

/// Lowers a matrix operation. Says whether it was one.
pub fn lower_matrix(inst: &Inst, cx: &mut LowerContext) -> Result<bool, Unsupported> {
    let ocp = cx.config.target.is_gfx950();
    let of_mfma = smfmac(inst.op, ocp);
    let of_formats = formatted(inst);
    let sparse = of_mfma.or_else(|| swmmac(inst.op, inst.alu.neg));
    let wmma_layout = match cx.config.target.family() {
        Family::Gfx11 => Layout::Wmma11,
        _ => Layout::Wmma12,
    };
    let shape = mfma(inst.op, ocp)
        .or(of_mfma)
        .or(of_formats)
        .map(|shape| (shape, Layout::Mfma))
        .or(sparse.map(|shape| (shape, wmma_layout)));
    let Some((shape, layout)) =
        shape.or_else(|| wmma(inst.op, inst.alu.neg).map(|shape| (shape, wmma_layout)))
    else {
        return Ok(false);
    };
    if layout == Layout::Mfma && !cx.config.wave64 {
        return Err(Unsupported::form(inst, "wave32"));
    }
    let mut plan = plan(inst, cx, shape, layout);
    let [a, b, c, _] = inst.src;
    if sparse.is_some() {
        // One of the sets of indices that fit the register, two bits for each stored element of a lane.
        plan.sparse = Some(Sparse {
            index: cx.vgpr(c.operand)?,
            shift: 0,
        });
        let width = 2 * plan.per_lane(plan.stored_depth()) as u32;
        let set = match layout {
            Layout::Mfma if plan.cbsz == 0 => plan.abid,
            Layout::Mfma => 0,
            _ => u32::from(inst.alu.op_sel),
        };
        if let Some(sparse) = &mut plan.sparse {
            sparse.shift = set % (32 / width) * width;
        }
        plan.cbsz = 0;
        plan.blgp = 0;
        // B of the products that GFX950 added.
        let b_bytes = plan.per_lane(plan.depth) * shape.b.bits() / 8;
        plan.split[1] = of_mfma.is_some() && b_bytes > 16;
    } else if of_formats.is_some() {
        plan.cbsz = 0;
        plan.blgp = 0;
        plan.split = [shape.a, shape.b].map(|element| element.bits() == 8);
        if let Some(load) = &inst.vopd {
            let byte = |which: usize| {
                let bit = |mask: u8| u32::from(mask >> which & 1);
                8 * (bit(load.alu.op_sel) | bit(load.alu.op_sel_hi) << 1)
            };
            plan.scales = Some(Scales {
                registers: [cx.vgpr(load.src[0].operand)?, cx.vgpr(load.src[1].operand)?],
                shifts: [byte(0), byte(1)],
            });
        }
    } else if plan.cbsz != 0 && (1 << plan.cbsz) > shape.blocks {
        return Err(Unsupported::form(
            inst,
            "a broadcast over more blocks than there are",
        ));
    }
    let stored = plan.stored_depth();
    plan.ab = [
        cx.vgpr_range(a.operand, operand_registers(&plan, shape.a, stored))?,
        cx.vgpr_range(b.operand, operand_registers(&plan, shape.b, shape.depth))?,
    ];
    let registers = plan.sum_registers() as u32;
    plan.d = cx.vgpr_range(inst.dst.operand, registers)?;
    plan.c = if sparse.is_some() {
        Ref::new(Ref::FILE, plan.d)
    } else {
        let (ty, dwords) = match shape.sum {
            Sum::F64 => (Type::F(64), 2),
            Sum::I32 => (Type::I(32), 1),
            Sum::F16 => (Type::F(16), 1),
            Sum::F32 | Sum::Bf16 => (Type::F(32), 1),
        };
        let in_file = matches!(c.operand, Operand::Vgpr(_) | Operand::Agpr(_));
        cx.source(
            OperandSlot { ty, ..c },
            if in_file { registers } else { dwords },
        )?
    };
    if shape.sum == Sum::Bf16 && plan.c.selector() != Ref::FILE {
        // The inline constants have no bf16 form that is documented.
        if !matches!(c.operand, Operand::Int(0)) {
            return Err(Unsupported::form(inst, "a constant as bf16"));
        }
    }
    let mut op = Op::new(cx.pick(hot::<Matrix>()));
    op.imm = cx.side(plan);
    cx.push(op);
    Ok(true)
}
