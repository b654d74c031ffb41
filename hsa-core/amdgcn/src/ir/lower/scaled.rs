//! `v_cvt_scalef32_*`: conversions with a scale, whose names say everything but which part of a register is meant.

use crate::{
    interp::{
        scaled::{Element, Scaled, convert_scaled},
        small_float::{BF6, BF8_OCP, FP4, FP6, FP8_OCP},
    },
    ir::{Op, Ref},
    isa::inst::{Inst, Operand, OperandSlot},
};

use super::{LowerContext, Unsupported};

fn element(name: &str) -> Option<Element> {
    Some(match name {
        "f32" => Element::F32,
        "f16" => Element::F16,
        "bf16" => Element::Bf16,
        "fp8" => Element::Small(FP8_OCP),
        "bf8" => Element::Small(BF8_OCP),
        "fp6" => Element::Small(FP6),
        "bf6" => Element::Small(BF6),
        "fp4" => Element::Small(FP4),
        _ => return None,
    })
}

/// A source of `count` dwords; lists of values are in vector registers.
fn source(
    inst: &Inst,
    cx: &mut LowerContext,
    slot: OperandSlot,
    count: u32,
) -> Result<Ref, Unsupported> {
    let constant = matches!(slot.operand, Operand::Int(_) | Operand::Float(_));
    if constant && count > 1 {
        return Err(Unsupported::form(inst, "a constant as several values"));
    }
    cx.source(slot, count)
}

/// Lowers a conversion with a scale. Says whether it was one.
pub fn lower_scaled(inst: &Inst, cx: &mut LowerContext) -> Result<bool, Unsupported> {
    let Some(name) = inst.op.name().strip_prefix("v_cvt_scalef32_") else {
        return Ok(false);
    };
    let (name, stochastic) = match name.strip_prefix("sr_") {
        Some(rest) => (rest, true),
        None => (name, false),
    };
    let (count, name) = match name.split_once('_') {
        Some(("pk", rest)) => (2, rest),
        Some(("pk32" | "2xpk16", rest)) => (32, rest),
        _ => (1, name),
    };
    let types = name.split_once('_');
    let (Some(to), Some(from)) = (
        types.and_then(|(to, _)| element(to)),
        types.and_then(|(_, from)| element(from)),
    ) else {
        return Err(Unsupported::op(inst));
    };
    // f32 pairs for rounding to nearest, and the lists of two times sixteen, come from two sources.
    let two =
        inst.op.name().contains("2xpk16") || count == 2 && from == Element::F32 && !stochastic;
    let [a, b, c, _] = inst.src;
    let (random, scale) = match (stochastic, two) {
        (true, _) => (Some(b), c),
        (false, true) => (None, c),
        (false, false) => (None, b),
    };
    let small_source = matches!(from, Element::Small(_));
    let of_each = if two { count / 2 } else { count };
    // Parts of a register are one register.
    let dwords = (of_each * from.bits()).div_ceil(32);
    let bf16_constant = from == Element::Bf16 && matches!(a.operand, Operand::Float(_));
    if bf16_constant {
        return Err(Unsupported::form(inst, "a constant as bf16"));
    }
    let first = source(inst, cx, a, dwords)?;
    let second = match two {
        true => Some(source(inst, cx, b, dwords)?),
        false => None,
    };
    let select = u32::from(inst.alu.op_sel);
    // The part that is read: a byte, or a half for two 8-bit values or one of 16 bits.
    let from_bits = count * from.bits();
    let read = match (small_source, from_bits) {
        (true, 8) => 8 * (select & 3),
        (_, 16) => 16 * (select & 1),
        _ => 0,
    };
    // The part that is written, by the high bits.
    let total = count * to.bits();
    let at = match total {
        8 => 8 * (select >> 2 & 3),
        16 => 16 * (select >> 3 & 1),
        _ => 0,
    };
    let bit = |mask: u8, index: u8| mask >> index & 1 != 0;
    let plan = Scaled {
        from,
        to,
        count: count as usize,
        sources: [Some(first), second],
        first: read,
        absolute: [0, 1].map(|index| !small_source && bit(inst.alu.abs, index)),
        negative: [0, 1].map(|index| !small_source && bit(inst.alu.neg, index)),
        random: match random {
            Some(slot) => Some(cx.source(slot, 1)?),
            None => None,
        },
        scale: cx.source(scale, 1)?,
        d: cx.vgpr_range(inst.dst.operand, total.div_ceil(32))?,
        at,
    };
    let mut op = Op::new(convert_scaled);
    op.imm = cx.side(plan);
    cx.push(op);
    Ok(true)
}
