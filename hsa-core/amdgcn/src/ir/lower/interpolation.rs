//! Parameter interpolation from registers (GFX11 and later), and loads of one dword of LDS for all lanes.
//!
//! RDNA 3 ISA, 16.13 and 12.4: an interpolation is a fused multiply-add whose parameters come from one lane of each quad, active or not.
//! Older interpolation reads its parameters from LDS, where the hardware of the graphics pipeline puts them, and so does `lds_param_load`;
//! there is nothing of that in a dispatch.

use crate::{
    interp::{
        interpolation,
        prepare::{Part, Scale, temp},
        vector::a3,
    },
    ir::{Op, Ref},
    isa::{
        inst::{Inst, Type},
        op::Op as M,
    },
    jit::form::Form,
};

use super::{
    LowerContext, Unsupported,
    vector::{Job, plain_source, sign_modifiers, whole_result},
};

/// Lowers a VINTERP or LDSDIR instruction.
pub(super) fn lower_interpolation(inst: &Inst, cx: &mut LowerContext) -> Result<(), Unsupported> {
    // The lanes of the quad that sources 0 and 2 come from, which sources are f16, and whether the result is.
    let (first, third, halves, narrow) = match inst.op {
        M::lds_direct_load | M::ds_direct_load => {
            let mut op = Op::new(interpolation::lds_direct_load);
            op.d = cx.vgpr(inst.dst.operand)?;
            cx.push(op);
            return Ok(());
        }
        M::v_interp_p10_f32 => (1, Some(0), [false; 3], false),
        // The older operation of this name has one source.
        M::v_interp_p2_f32 if cx.config.target.major >= 11 => (2, None, [false; 3], false),
        M::v_interp_p10_f16_f32 | M::v_interp_p10_rtz_f16_f32 => {
            (1, Some(0), [true, false, true], false)
        }
        M::v_interp_p2_f16_f32 | M::v_interp_p2_rtz_f16_f32 => {
            (2, None, [true, false, false], true)
        }
        _ => return Err(Unsupported::op(inst)),
    };
    let to_zero = matches!(
        inst.op,
        M::v_interp_p10_rtz_f16_f32 | M::v_interp_p2_rtz_f16_f32
    );
    let mut job = Job::new(cx, inst, a3(|a: f32, b: f32, c: f32| a.mul_add(b, c)));
    job.form = Form::None;
    for (index, lane) in [Some(first), None, third].into_iter().enumerate() {
        let mut from = cx.source(inst.src[index], 1)?;
        if let Some(lane) = lane {
            from = quad(cx, from, lane, interpolation::QUAD_TEMP[index / 2]);
        }
        job.op.s[index] = from;
        let mut plan = plain_source(from, 1, index);
        if halves[index] {
            plan.part = Part::Widen {
                high: inst.alu.op_sel >> index & 1 != 0,
            };
        }
        sign_modifiers(
            &mut plan,
            Type::F(32),
            false,
            inst.alu.neg >> index & 1 != 0,
        );
        if plan.part != Part::Whole || plan.xor != [0; 2] {
            job.prepare(index, plan);
        }
    }
    job.op.d = cx.vgpr(inst.dst.operand)?;
    if narrow || inst.alu.clamp {
        let mut plan = whole_result(1, job.op.d);
        plan.scale = Scale::F32;
        plan.clamp = inst.alu.clamp;
        if narrow {
            plan.narrow = true;
            let high = inst.alu.op_sel & 8 != 0;
            plan.shift = if high { 16 } else { 0 };
            plan.mask = 0xffff << plan.shift;
        }
        job.result = Some(plan);
    }
    if to_zero {
        cx.push(Op::new(interpolation::round_to_zero));
    }
    job.finish(cx)?;
    if to_zero {
        cx.push(Op::new(interpolation::round_as_before));
    }
    Ok(())
}

/// Pushes an operation that gives all lanes of a quad the value of one of them.
fn quad(cx: &mut LowerContext, from: Ref, lane: u32, to: u32) -> Ref {
    let mut op = Op::new(interpolation::quad);
    op.s[0] = from;
    op.aux = [lane, to, 0];
    cx.push(op);
    temp(to)
}
