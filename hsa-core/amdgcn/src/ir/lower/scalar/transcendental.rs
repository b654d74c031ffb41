//! Reciprocals, roots, powers and logarithms of scalars in vector encodings (`v_s_exp_f32` and its like, GFX12), with the modifiers of those.

use crate::{
    interp::{
        float::{Half, exp_f32, half1, log_f32, rcp_f32, rsq_f32, sqrt_f32},
        prepare::{scale_f16, scale_f32},
        vector::{Env, nan_result},
    },
    ir::Op,
    isa::{inst::Inst, op::Op as M},
};

use super::{
    super::{LowerContext, Unsupported},
    half::of,
};

/// Modifiers of the source and the result: a constant, the second source.
mod modifier {
    pub(super) const ABS: u32 = 1;
    pub(super) const NEG: u32 = 1 << 1;
    pub(super) const HIGH: u32 = 1 << 2;
    pub(super) const CLAMP: u32 = 1 << 3;
    pub(super) const OMOD: u32 = 4;
}

/// A value after abs and neg; `sign` is its sign bit.
fn modified(value: u32, modifiers: u32, sign: u32) -> u32 {
    let value = if modifiers & modifier::ABS != 0 {
        value & !sign
    } else {
        value
    };
    if modifiers & modifier::NEG != 0 {
        value ^ sign
    } else {
        value
    }
}

fn output(modifiers: u32) -> (u8, bool) {
    (
        (modifiers >> modifier::OMOD & 3) as u8,
        modifiers & modifier::CLAMP != 0,
    )
}

macro_rules! single {
    ($f:expr) => {
        of(|e: Env, value: u32, modifiers: u32, _| {
            let (omod, clamp) = output(modifiers);
            let input = f32::from_bits(modified(value, modifiers, 1 << 31));
            let result = nan_result($f(input), [Some(input), None, None]);
            scale_f32(e, result, omod, clamp).to_bits()
        })
    };
}

macro_rules! half {
    ($f:expr) => {
        of(|e: Env, value: u32, modifiers: u32, _| {
            let (omod, clamp) = output(modifiers);
            let high = modifiers & modifier::HIGH != 0;
            let value = if high { value >> 16 } else { value & 0xffff };
            let value = Half(modified(value, modifiers, 1 << 15) as u16);
            scale_f16(e, u32::from(half1(e, value, $f).0), omod, clamp)
        })
    };
}

/// Lowers the operation if it is one of these.
pub(in super::super) fn lower(inst: &Inst, cx: &mut LowerContext) -> Result<bool, Unsupported> {
    let run = match inst.op {
        M::v_s_exp_f32 => single!(exp_f32),
        M::v_s_log_f32 => single!(log_f32),
        M::v_s_rcp_f32 => single!(rcp_f32),
        M::v_s_rsq_f32 => single!(rsq_f32),
        M::v_s_sqrt_f32 => single!(sqrt_f32),
        M::v_s_exp_f16 => half!(exp_f32),
        M::v_s_log_f16 => half!(log_f32),
        M::v_s_rcp_f16 => half!(|x| 1.0 / x),
        M::v_s_rsq_f16 => half!(|x| 1.0 / x.sqrt()),
        M::v_s_sqrt_f16 => half!(f32::sqrt),
        _ => return Ok(false),
    };
    if inst.alu.op_sel & 8 != 0 {
        return Err(Unsupported::form(inst, "the high half of a scalar result"));
    }
    let flag = |on: bool, bit: u32| if on { bit } else { 0 };
    let modifiers = flag(inst.alu.abs & 1 != 0, modifier::ABS)
        | flag(inst.alu.neg & 1 != 0, modifier::NEG)
        | flag(inst.alu.op_sel & 1 != 0, modifier::HIGH)
        | flag(inst.alu.clamp, modifier::CLAMP)
        | u32::from(inst.alu.omod) << modifier::OMOD;
    let mut op = Op::new(run);
    let source = cx.scalar_src(inst.src[0], 1)?;
    let modifiers = cx.constant(&[modifiers]);
    op.s = [source, modifiers, modifiers, modifiers];
    op.d = cx.scalar_dst(inst.dst.operand, 1)?;
    cx.push(op);
    Ok(true)
}
