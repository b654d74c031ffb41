//! Scalar memory: loads, stores, atomics, clocks.

use crate::{
    interp::{
        memory::{atomic, flag, scalar},
        run::Handler,
    },
    ir::Op,
    isa::{
        inst::{Inst, Operand},
        op::Op as M,
    },
    jit::form::Form,
};

use super::{
    super::{LowerContext, Unsupported},
    immediate,
    names::{self, Rmw},
    scalar_offset, slot,
};

pub(super) fn smem(inst: &Inst, cx: &mut LowerContext) -> Result<(), Unsupported> {
    use M::*;
    let (run, dwords): (Handler, u32) = match inst.op {
        s_load_dword | s_load_b32 => (scalar::load::<1>, 1),
        s_load_dwordx2 | s_load_b64 => (scalar::load::<2>, 2),
        s_load_b96 => (scalar::load::<3>, 3),
        s_load_dwordx4 | s_load_b128 => (scalar::load::<4>, 4),
        s_load_dwordx8 | s_load_b256 => (scalar::load::<8>, 8),
        s_load_dwordx16 | s_load_b512 => (scalar::load::<16>, 16),
        s_buffer_load_dword | s_buffer_load_b32 => (scalar::buffer_load::<1>, 1),
        s_buffer_load_dwordx2 | s_buffer_load_b64 => (scalar::buffer_load::<2>, 2),
        s_buffer_load_b96 => (scalar::buffer_load::<3>, 3),
        s_buffer_load_dwordx4 | s_buffer_load_b128 => (scalar::buffer_load::<4>, 4),
        s_buffer_load_dwordx8 | s_buffer_load_b256 => (scalar::buffer_load::<8>, 8),
        s_buffer_load_dwordx16 | s_buffer_load_b512 => (scalar::buffer_load::<16>, 16),
        s_store_dword => (scalar::store::<1>, 1),
        s_store_dwordx2 => (scalar::store::<2>, 2),
        s_store_dwordx4 => (scalar::store::<4>, 4),
        s_scratch_load_dword => (scalar::scratch_load::<1>, 1),
        s_scratch_load_dwordx2 => (scalar::scratch_load::<2>, 2),
        s_scratch_load_dwordx4 => (scalar::scratch_load::<4>, 4),
        s_scratch_store_dword => (scalar::scratch_store::<1>, 1),
        s_scratch_store_dwordx2 => (scalar::scratch_store::<2>, 2),
        s_scratch_store_dwordx4 => (scalar::scratch_store::<4>, 4),
        s_load_u8 => (scalar::load_small::<u8, false>, 1),
        s_load_i8 => (scalar::load_small::<i8, false>, 1),
        s_load_u16 => (scalar::load_small::<u16, false>, 1),
        s_load_i16 => (scalar::load_small::<i16, false>, 1),
        s_buffer_load_u8 => (scalar::load_small::<u8, true>, 1),
        s_buffer_load_i8 => (scalar::load_small::<i8, true>, 1),
        s_buffer_load_u16 => (scalar::load_small::<u16, true>, 1),
        s_buffer_load_i16 => (scalar::load_small::<i16, true>, 1),
        s_buffer_store_dword => (scalar::buffer_store::<1>, 1),
        s_buffer_store_dwordx2 => (scalar::buffer_store::<2>, 2),
        s_buffer_store_dwordx4 => (scalar::buffer_store::<4>, 4),
        s_get_waveid_in_workgroup => (scalar::wave_id, 1),
        s_memtime => (scalar::memtime, 2),
        s_memrealtime => (scalar::memrealtime, 2),
        op => match names::atomic(op) {
            Some(rmw) => scalar_atomic(inst, rmw),
            None => return Err(Unsupported::op(inst)),
        },
    };
    let mut op = Op::new(run);
    if matches!(
        inst.op,
        s_memtime | s_memrealtime | s_get_waveid_in_workgroup
    ) {
        op.d = cx.scalar_dst(inst.dst.operand, dwords)?;
        cx.push(op);
        return Ok(());
    }
    if inst.src[1].operand != Operand::None {
        // Stores, and atomics, whose result comes back in place of the data.
        op.d = slot(cx, inst, inst.src[1].operand, dwords)?;
        op.aux[0] |= if inst.mem.glc { flag::GLC } else { 0 };
    } else {
        op.d = cx.scalar_dst(inst.dst.operand, dwords)?;
    }
    let base_dwords = if inst.op.name().starts_with("s_buffer") {
        4
    } else {
        2
    };
    op.d2 = slot(cx, inst, inst.src[0].operand, base_dwords)?;
    op.imm = immediate(inst);
    scalar_offset(&mut op, cx, inst, inst.src[3].operand)?;
    op.imm = op.imm.wrapping_add(u64::from(op.aux[2]));
    // Of a run with vector loads; one that shall see what other groups write is none of those.
    let is_plain = matches!(inst.op, s_load_dword | s_load_b32) && !inst.mem.glc;
    let form = if is_plain {
        Form::LoadScalar
    } else {
        Form::None
    };
    cx.push_form(op, form);
    Ok(())
}

/// Handler and data slots of a scalar atomic.
fn scalar_atomic(inst: &Inst, rmw: Rmw) -> (Handler, u32) {
    let buffer = inst.op.name().starts_with("s_buffer");
    let run: Handler = with_rmw!(rmw, R => if buffer {
        scalar::atomic::<R, true>
    } else {
        scalar::atomic::<R, false>
    });
    let operands = if rmw.has_two() { 2 } else { 1 };
    (run, rmw.dwords() * operands)
}
