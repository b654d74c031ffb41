//! VOPD: two operations in one.

use crate::{
    interp::prepare::{SOURCE_TEMP, temp, temp_dst},
    ir::Op,
    isa::{
        inst::{Inst, Operand, OperandSlot},
        op::Op as M,
    },
};

use super::{
    super::{LowerContext, Unsupported, meaning, packed},
    Job, lower_plain, mask_source, ordered_sources,
};

/// Two operations that both read their sources before either writes.
pub(super) fn lower_pair(
    first: &Inst,
    second: &Inst,
    cx: &mut LowerContext,
) -> Result<(), Unsupported> {
    let mut first = first.clone();
    first.vopd = None;
    let reads = |inst: &Inst, register: Operand| {
        pair_sources(inst)
            .iter()
            .any(|source| source.operand == register)
    };
    if !reads(second, first.dst.operand) {
        lower_half(&first, cx)?;
        return lower_half(second, cx);
    }
    if !reads(&first, second.dst.operand) {
        lower_half(second, cx)?;
        return lower_half(&first, cx);
    }
    // Each reads what the other writes: the first result waits in a temporary.
    let kind = meaning::meaning(first.op)
        .or_else(|| packed::accumulating(first.op))
        .ok_or_else(|| Unsupported::op(&first))?;
    let mut job = Job::new(cx, &first, kind);
    for (index, source) in pair_sources(&first)
        .into_iter()
        .enumerate()
        .take(kind.arity)
    {
        job.source(cx, index, source)?;
    }
    if kind.bit {
        job.op.s[3] = mask_source(&first, cx)?;
    }
    let parked = SOURCE_TEMP[0] + 8;
    job.op.d = temp_dst(parked);
    job.guard(cx);
    cx.push(job.op);
    lower_half(second, cx)?;
    let moved = meaning::meaning(M::v_mov_b32).ok_or_else(|| Unsupported::op(&first))?;
    let mut back = Op::new(cx.pick(moved.run));
    back.s[0] = temp(parked);
    back.d = cx.vgpr(first.dst.operand)?;
    cx.push(back);
    Ok(())
}

/// Sources of one of a pair, the accumulator included.
fn pair_sources(inst: &Inst) -> [OperandSlot; 3] {
    if packed::is_packed(inst.op) {
        [inst.src[0], inst.src[1], inst.dst]
    } else {
        ordered_sources(inst)
    }
}

fn lower_half(inst: &Inst, cx: &mut LowerContext) -> Result<(), Unsupported> {
    if packed::is_packed(inst.op) {
        packed::lower_packed(inst, cx)
    } else {
        lower_plain(inst, cx)
    }
}
