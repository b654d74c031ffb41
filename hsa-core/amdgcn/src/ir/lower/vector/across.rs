//! Operations between lanes and scalars, and between registers by M0.

use crate::{
    interp::{exceptions, lane, run::Handler},
    ir::{Op, Ref},
    isa::{
        inst::{Inst, Operand},
        op::Op as M,
    },
};

use super::super::{LowerContext, Unsupported, control, scalar::transcendental};

/// Operations between lanes and scalars. Says whether it was one.
pub(super) fn across_lanes(inst: &Inst, cx: &mut LowerContext) -> Result<bool, Unsupported> {
    let [a, b, c, _] = inst.src;
    match inst.op {
        M::v_nop | M::v_pipeflush => {}
        M::v_clrexcp => cx.push(Op::new(exceptions::clear)),
        M::v_illegal => cx.push(Op::new(control::illegal)),
        M::v_readfirstlane_b32 => {
            let from = cx.source(a, 1)?;
            let run: Handler = if from.selector() == Ref::FILE {
                lane::read_first_lane
            } else {
                lane::read_scalar
            };
            let mut op = Op::new(run);
            op.s[0] = from;
            op.d = cx.scalar_dst(inst.dst.operand, 1)?;
            cx.push(op);
        }
        M::v_readlane_b32 => {
            let from = cx.source(a, 1)?;
            let run: Handler = if from.selector() == Ref::FILE {
                lane::read_lane
            } else {
                lane::read_scalar
            };
            let mut op = Op::new(run);
            op.s[0] = from;
            op.s[1] = cx.scalar_src(b, 1)?;
            op.d = cx.scalar_dst(inst.dst.operand, 1)?;
            cx.push(op);
        }
        M::v_writelane_b32 => {
            let mut op = Op::new(lane::write_lane);
            op.s[0] = cx.scalar_src(a, 1)?;
            op.s[1] = cx.scalar_src(b, 1)?;
            op.d = cx.vgpr(inst.dst.operand)?;
            cx.push(op);
        }
        M::v_swap_b32 => {
            let mut op = Op::new(lane::swap);
            op.s[0] = Ref::new(Ref::FILE, cx.vgpr(a.operand)?);
            op.d = cx.vgpr(inst.dst.operand)?;
            cx.push(op);
        }
        M::v_swap_b16 => {
            let half = |bit: u8| u32::from(inst.alu.op_sel >> bit & 1);
            let mut op = Op::new(lane::swap_halves);
            op.s[0] = Ref::new(Ref::FILE, cx.vgpr(a.operand)?);
            op.d = cx.vgpr(inst.dst.operand)?;
            op.aux = [half(3), half(0), 0];
            cx.push(op);
        }
        M::v_swaprel_b32 => {
            let mut op = Op::new(lane::swap_relative);
            op.s[0] = Ref::new(Ref::FILE, cx.vgpr(a.operand)?);
            op.d = cx.vgpr(inst.dst.operand)?;
            cx.push(op);
        }
        M::v_mqsad_u32_u8 => {
            let mut op = Op::new(lane::masked_quad_sad);
            op.s[0] = cx.source(a, 2)?;
            op.s[1] = cx.source(b, 1)?;
            op.s[2] = match c.operand {
                Operand::Vgpr(_) => Ref::new(Ref::FILE, cx.vgpr_range(c.operand, 4)?),
                Operand::Scalar(_) => cx.scalar_src(c, 4)?,
                _ => return Err(Unsupported::form(inst, "a constant of 128 bits")),
            };
            op.d = cx.vgpr_range(inst.dst.operand, 4)?;
            cx.push(op);
        }
        M::v_permlane16_b32 | M::v_permlanex16_b32 => {
            let mut op = Op::new(lane::permute_rows);
            op.s[0] = Ref::new(Ref::FILE, cx.vgpr(a.operand)?);
            op.s[1] = cx.scalar_src(b, 1)?;
            op.s[2] = cx.scalar_src(c, 1)?;
            op.d = cx.vgpr(inst.dst.operand)?;
            op.aux = [
                u32::from(inst.op == M::v_permlanex16_b32),
                u32::from(inst.alu.op_sel & 3),
                0,
            ];
            cx.push(op);
        }
        M::v_permlane16_var_b32 | M::v_permlanex16_var_b32 => {
            let mut op = Op::new(lane::permute_rows_by_lane);
            op.s[0] = Ref::new(Ref::FILE, cx.vgpr(a.operand)?);
            op.s[1] = Ref::new(Ref::FILE, cx.vgpr(b.operand)?);
            op.d = cx.vgpr(inst.dst.operand)?;
            op.aux = [
                u32::from(inst.op == M::v_permlanex16_var_b32),
                u32::from(inst.alu.op_sel & 3),
                0,
            ];
            cx.push(op);
        }
        M::v_permlane16_swap_b32 | M::v_permlane32_swap_b32 => {
            let mut op = Op::new(lane::swap_rows);
            op.s[0] = Ref::new(Ref::FILE, cx.vgpr(a.operand)?);
            op.d = cx.vgpr(inst.dst.operand)?;
            let distance = if inst.op == M::v_permlane16_swap_b32 {
                16
            } else {
                32
            };
            op.aux = [distance, u32::from(inst.alu.op_sel & 3), 0];
            cx.push(op);
        }
        M::v_permlane64_b32 => {
            let mut op = Op::new(lane::permute_64);
            op.s[0] = Ref::new(Ref::FILE, cx.vgpr(a.operand)?);
            op.d = cx.vgpr(inst.dst.operand)?;
            cx.push(op);
        }
        M::v_movrels_b32 | M::v_movreld_b32 | M::v_movrelsd_b32 | M::v_movrelsd_2_b32 => {
            let mut op = Op::new(lane::move_relative);
            op.s[0] = cx.source(a, 1)?;
            op.d = cx.vgpr(inst.dst.operand)?;
            op.aux[1] = u32::MAX;
            op.aux[0] = match inst.op {
                M::v_movrels_b32 => 1,
                M::v_movreld_b32 => 2,
                M::v_movrelsd_2_b32 => 7,
                _ => 3,
            };
            if inst.op == M::v_movrelsd_2_b32 {
                op.aux[1] = 0x3ff;
            }
            cx.push(op);
        }
        _ => return transcendental::lower(inst, cx),
    }
    Ok(true)
}
