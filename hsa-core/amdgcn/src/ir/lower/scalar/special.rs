//! Scalar operations that are more than a closure on their operands: saving EXEC, jumps, moves by M0, VGPR indexing, fork and join.

use crate::{
    interp::{
        barrier, lane,
        memory::scalar::realtime,
        run::Exit,
        scalar::{Plain, s1, save_exec},
        wave::{Wave, slot},
    },
    ir::{Op, Ref},
    isa::{
        inst::{Inst, Operand},
        op::Op as M,
    },
};

use super::{
    super::{LowerContext, Unsupported, control, vskip},
    hwreg, register,
};

/// Operations that are more than a closure on their operands. Says whether it was one.
pub(super) fn lower_special(inst: &Inst, cx: &mut LowerContext) -> Result<bool, Unsupported> {
    let [a, b, ..] = inst.src;
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
        M::s_getreg_b32 | M::s_setreg_b32 | M::s_setreg_imm32_b32 => hwreg::lower(inst, cx)?,
        M::s_sendmsg_rtn_b32 | M::s_sendmsg_rtn_b64 => {
            if inst.simm16.cast_unsigned() & 0xff != MESSAGE_GET_REALTIME {
                return Err(Unsupported::form(inst, "a message other than GET_REALTIME"));
            }
            let wide = inst.op == M::s_sendmsg_rtn_b64;
            let mut op = Op::new(get_realtime);
            op.d = cx.scalar_dst(inst.dst.operand, if wide { 2 } else { 1 })?;
            op.aux[0] = u32::from(wide);
            cx.push(op);
        }
        M::s_barrier_signal
        | M::s_barrier_signal_isfirst
        | M::s_barrier_init
        | M::s_barrier_join
        | M::s_get_barrier_state => {
            let mut op = Op::new(match inst.op {
                M::s_barrier_init => barrier::init,
                M::s_barrier_join => barrier::join,
                M::s_get_barrier_state => barrier::get_state,
                _ => barrier::signal,
            });
            op.s[0] = cx.scalar_src(a, 1)?;
            op.aux = [
                u32::from(a.operand == Operand::Scalar(124)),
                u32::from(inst.op == M::s_barrier_signal_isfirst),
                0,
            ];
            if inst.op == M::s_get_barrier_state {
                op.d = cx.scalar_dst(inst.dst.operand, 1)?;
            }
            cx.push(op);
        }
        // A hint for waves that sleep.
        M::s_wakeup_barrier => {}
        M::s_alloc_vgpr => {
            let mut op = Op::new(allocate_vgprs);
            op.s[0] = cx.scalar_src(a, 1)?;
            op.aux[0] = cx.config.vgprs;
            cx.push(op);
        }
        M::s_sleep_var => {
            let mut op = Op::new(sleep_for);
            op.s[0] = cx.scalar_src(a, 1)?;
            cx.push(op);
        }
        M::s_cbranch_g_fork | M::s_cbranch_i_fork => {
            let mut op = Op::new(fork);
            if inst.op == M::s_cbranch_g_fork {
                op.s[0] = cx.scalar_src(a, 2)?;
                op.s[1] = cx.scalar_src(b, 2)?;
            } else {
                op.s[0] = cx.scalar_src(register(inst), 2)?;
                let target = cx.next_pc().wrapping_add_signed(i64::from(inst.simm16) * 4);
                op.s[1] = cx.constant(&[target as u32, (target >> 32) as u32]);
            }
            cx.push(op);
        }
        M::s_cbranch_join => {
            let mut op = Op::new(join);
            op.s[0] = cx.scalar_src(a, 1)?;
            cx.push(op);
        }
        M::s_subvector_loop_begin | M::s_subvector_loop_end => {
            // A wave32 has no second half: the loop's body runs once.
            if cx.config.wave64 {
                let begins = inst.op == M::s_subvector_loop_begin;
                let mut op = Op::new(if begins { loop_begin } else { loop_end });
                op.d = cx.scalar_dst(register(inst).operand, 1)?;
                let target = cx.next_pc().wrapping_add_signed(i64::from(inst.simm16) * 4);
                cx.branch(op, target);
            }
        }
        M::s_movrelsd_2_b32 => {
            let mut op = Op::new(scalar_move_relative);
            op.s[0] = cx.scalar_src(a, 1)?;
            op.d = cx.scalar_dst(inst.dst.operand, 1)?;
            op.aux = [0, 2, 0];
            if op.s[0].selector() != Ref::SCALAR {
                return Err(Unsupported::form(inst, "a constant source"));
            }
            cx.push(op);
        }
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
        M::s_setvskip => vskip::lower_set(inst, cx)?,
        M::s_set_gpr_idx_idx => {
            let mut op = Op::new(set_index_alone);
            op.s[0] = cx.scalar_src(a, 1)?;
            cx.push(op);
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

/// `aux[0]`: 64 bits; `aux[1]`: M0 moves the source (0), the destination (1), or its two halves move both (2).
unsafe fn scalar_move_relative(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: followed by an operation; indices are checked.
    unsafe {
        let m0 = w.sgpr[w.m0] as usize;
        let wide = (*op).aux[0] != 0;
        let (by_from, by_to) = match (*op).aux[1] {
            0 => (m0, 0),
            1 => (0, m0),
            _ => (m0 & 0x3ff, m0 >> 16 & 0x3ff),
        };
        let from = (*op).s[0].offset() as usize / 4 + by_from;
        let to = (*op).d as usize + by_to;
        let last = usize::from(wide);
        if from + last >= 128 || to + last >= 128 {
            return w.stop(
                op,
                Exit::Aperture {
                    address: m0 as u64,
                    write: to + last >= 128,
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

/// The message of `s_sendmsg_rtn_*` that asks for the constant clock (LLVM `SIDefines`).
const MESSAGE_GET_REALTIME: u16 = 131;

unsafe fn get_realtime(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering.
    unsafe {
        let now = realtime();
        if (*op).aux[0] != 0 {
            w.set_pair((*op).d as usize, now);
        } else {
            w.sgpr[(*op).d as usize] = now as u32;
        }
        op.add(1)
    }
}

/// `s_alloc_vgpr`: SCC says whether the wave has that many VGPRs now. A kernel with this instruction has room for all that can be named from
/// the start (`aux[0]`); code that such an instruction is only called from has what its kernel's descriptor asks for, and that a wave does not
/// get more is an answer that programs have to expect. Registers that are given back keep their values.
unsafe fn allocate_vgprs(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering; followed by an operation of its segment.
    unsafe {
        let wanted = lane::scalar(w, (*op).s[0]) & 0x1ff;
        w.sgpr[slot::SCC] = u32::from(wanted <= (*op).aux[0]);
        op.add(1)
    }
}

unsafe fn sleep_for(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering; followed by an operation of its segment.
    unsafe {
        let time = lane::scalar(w, (*op).s[0]) & 0x7f;
        w.stop(op.add(1), Exit::Sleep(time as u16))
    }
}

/// Position of the conditional stack pointer in MODE.
const STACK_POINTER_SHIFT: u32 = 29;

fn set_stack_pointer(w: &mut Wave, pointer: u32) {
    w.mode = w.mode & !(7 << STACK_POINTER_SHIFT) | (pointer & 7) << STACK_POINTER_SHIFT;
}

/// `s_cbranch_g_fork`, `s_cbranch_i_fork`: lanes of the mask `s[0]` go to `s[1]`, the others on. When both have lanes, the smaller part runs
/// first and the larger one waits on the stack: four SGPRs for each level, the mask and then the address.
unsafe fn fork(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering; a stack level is below SGPR 32.
    unsafe {
        let (exec, mask) = (w.exec(), pair(w, (*op).s[0]));
        let target = pair(w, (*op).s[1]) & !3;
        let (pass, fail) = (mask & exec, !mask & exec);
        if pass == exec {
            return control::indirect(w, target);
        }
        if fail == exec {
            return op.add(1);
        }
        let pointer = w.mode >> STACK_POINTER_SHIFT;
        let level = 4 * pointer as usize;
        set_stack_pointer(w, pointer + 1);
        if fail.count_ones() < pass.count_ones() {
            w.set_pair(level, pass);
            w.set_pair(level + 2, target);
            w.set_exec(fail);
            op.add(1)
        } else {
            w.set_pair(level, fail);
            w.set_pair(level + 2, (*op).pc.wrapping_add(u64::from((*op).len)));
            w.set_exec(pass);
            control::indirect(w, target)
        }
    }
}

/// `s_cbranch_join`: goes on if the stack is down to `s[0]`, else runs the part that waits on its top.
unsafe fn join(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: as for `fork`.
    unsafe {
        let pointer = w.mode >> STACK_POINTER_SHIFT;
        if pointer == lane::scalar(w, (*op).s[0]) {
            return op.add(1);
        }
        let pointer = pointer.wrapping_sub(1) & 7;
        set_stack_pointer(w, pointer);
        let level = 4 * pointer as usize;
        let (exec, target) = (w.pair(level), w.pair(level + 2) & !3);
        w.set_exec(exec);
        control::indirect(w, target)
    }
}

/// `s_subvector_loop_begin`: the halves of a wave64 one after the other, the low one first; `d` keeps the other's EXEC.
unsafe fn loop_begin(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: both successors are operations of the segment.
    unsafe {
        let (low, high) = (w.sgpr[slot::EXEC], w.sgpr[slot::EXEC + 1]);
        if low == 0 && high == 0 {
            return op.offset((*op).imm.cast_signed() as isize);
        }
        if low == 0 {
            w.sgpr[(*op).d as usize] = low;
        } else {
            w.sgpr[(*op).d as usize] = high;
            w.set_pair(slot::EXEC, u64::from(low));
        }
        op.add(1)
    }
}

/// `s_subvector_loop_end`: goes back for the high half, or restores the low one.
unsafe fn loop_end(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: both successors are operations of the segment.
    unsafe {
        let d = (*op).d as usize;
        let (low, high, kept) = (w.sgpr[slot::EXEC], w.sgpr[slot::EXEC + 1], w.sgpr[d]);
        if high != 0 {
            w.set_pair(slot::EXEC, u64::from(kept) | u64::from(high) << 32);
            op.add(1)
        } else if kept == 0 {
            op.add(1)
        } else {
            w.set_pair(slot::EXEC, u64::from(kept) << 32);
            w.sgpr[d] = low;
            op.offset((*op).imm.cast_signed() as isize)
        }
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

/// `s_set_gpr_idx_idx`: the index alone.
unsafe fn set_index_alone(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering.
    unsafe {
        let index = lane::scalar(w, (*op).s[0]) & 0xff;
        w.sgpr[w.m0] = w.sgpr[w.m0] & !0xff | index;
        op.add(1)
    }
}

/// `s_set_gpr_idx_mode`: the mode bits alone; `imm` has them.
pub(in super::super) unsafe fn set_index_mode(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: followed by an operation of its segment.
    unsafe {
        w.sgpr[w.m0] = w.sgpr[w.m0] & !0xf000 | ((*op).imm as u32 & 15) << 12;
        op.add(1)
    }
}
