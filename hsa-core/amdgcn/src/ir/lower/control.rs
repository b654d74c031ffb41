//! Program control: branches, calls, barriers, messages, sleep, traps, hardware registers; and the operations that stop a wave.
//!
//! Branches whose target lies at or before them are safe points: they count against the budget. Indirect jumps look the
//! target up in the program and count as well.

#![expect(
    clippy::missing_safety_doc,
    reason = "handlers share one contract, that of `interp::run::Handler`"
)]

use crate::{
    interp::{
        barrier,
        run::{Exit, Handler, get_mxcsr, set_mxcsr},
        wave::{Wave, slot},
    },
    ir::Op,
    isa::{inst::Inst, op::Op as M},
};

use super::{Flow, LowerContext, Unsupported, scalar::set_index_mode};

/// Target of a SOPP or SOPK branch at `pc`.
fn target(inst: &Inst, pc: u64) -> u64 {
    pc.wrapping_add(4)
        .wrapping_add_signed(i64::from(inst.simm16) * 4)
}

/// See [`super::flow`].
pub fn flow(inst: &Inst, pc: u64) -> Flow {
    match inst.op {
        M::s_branch => Flow::Jump(target(inst, pc)),
        M::s_cbranch_scc0
        | M::s_cbranch_scc1
        | M::s_cbranch_vccz
        | M::s_cbranch_vccnz
        | M::s_cbranch_execz
        | M::s_cbranch_execnz
        | M::s_cbranch_cdbgsys
        | M::s_cbranch_cdbguser
        | M::s_cbranch_cdbgsys_or_user
        | M::s_cbranch_cdbgsys_and_user
        | M::s_call_b64
        | M::s_cbranch_i_fork
        | M::s_subvector_loop_begin
        | M::s_subvector_loop_end => Flow::Branch(target(inst, pc)),
        M::s_setpc_b64
        | M::s_endpgm
        | M::s_endpgm_saved
        | M::s_endpgm_ordered_ps_done
        | M::s_rfe_b64
        | M::s_rfe_restore_b64
        | M::s_code_end => Flow::Stop,
        _ => Flow::Next,
    }
}

/// Lowers a SOPP instruction.
pub fn lower_sopp(inst: &Inst, cx: &mut LowerContext) -> Result<(), Unsupported> {
    let mut op = |run: Handler, imm: u64| {
        let mut op = Op::new(run);
        op.imm = imm;
        cx.push(op);
    };
    let imm = u64::from(inst.simm16.cast_unsigned());
    match inst.op {
        // Timing, prefetch and counters: no effect on values in an engine that completes each operation in order.
        M::s_nop
        | M::s_waitcnt
        | M::s_waitcnt_depctr
        | M::s_wait_idle
        | M::s_wait_event
        | M::s_wait_alu
        | M::s_wait_loadcnt
        | M::s_wait_storecnt
        | M::s_wait_samplecnt
        | M::s_wait_bvhcnt
        | M::s_wait_expcnt
        | M::s_wait_dscnt
        | M::s_wait_kmcnt
        | M::s_wait_loadcnt_dscnt
        | M::s_wait_storecnt_dscnt
        | M::s_clause
        | M::s_delay_alu
        | M::s_inst_prefetch
        | M::s_set_inst_prefetch_distance
        | M::s_icache_inv
        | M::s_incperflevel
        | M::s_decperflevel
        | M::s_ttracedata
        | M::s_ttracedata_imm
        | M::s_wakeup
        | M::s_singleuse_vdst => {}
        M::s_code_end => op(illegal, 0),
        M::s_endpgm => op(end_program, 0),
        // The KILL bit ends the wave.
        M::s_setkill if imm & 1 != 0 => op(end_program, 0),
        M::s_setkill => {}
        M::s_barrier => op(barrier::whole, 0),
        // −1 is the barrier of the group, below it those of trap handlers.
        M::s_barrier_wait if inst.simm16 >= -1 => {
            op(barrier::wait, u64::from(inst.simm16 == -1));
        }
        M::s_barrier_leave => op(barrier::leave, 0),
        M::s_sleep => op(sleep, imm & 0x7f),
        M::s_trap => op(trap, imm & 0xff),
        M::s_sethalt => op(set_halt, imm & 1),
        M::s_setprio => op(set_priority, imm & 3),
        M::s_sendmsg => op(send_message, imm),
        M::s_sendmsghalt => op(send_message, imm),
        M::s_denorm_mode => op(set_mode_bits, 4 << 8 | (imm & 15)),
        M::s_round_mode => op(set_mode_bits, imm & 15),
        M::s_set_gpr_idx_off => cx.gpr_index = None,
        M::s_set_gpr_idx_mode => {
            op(set_index_mode, imm);
            if let Some(mode) = &mut cx.gpr_index {
                *mode = imm as u32 & 15;
            }
        }
        // The lowering follows VGPR indexing through straight-line code only.
        _ if cx.gpr_index.is_some() && flow(inst, cx.pc()) != Flow::Next => {
            return Err(Unsupported::form(inst, "with VGPR indexing on"));
        }
        M::s_branch => branch(inst, cx, u32::from(ALWAYS), jump, jump_back),
        M::s_cbranch_scc0 => branch(inst, cx, 0, forward::<0>, back::<0>),
        M::s_cbranch_scc1 => branch(inst, cx, 1, forward::<1>, back::<1>),
        M::s_cbranch_vccz => branch(inst, cx, 2, forward::<2>, back::<2>),
        M::s_cbranch_vccnz => branch(inst, cx, 3, forward::<3>, back::<3>),
        M::s_cbranch_execz => branch(inst, cx, 4, forward::<4>, back::<4>),
        M::s_cbranch_execnz => branch(inst, cx, 5, forward::<5>, back::<5>),
        // No debugger is attached: the conditional-debug flags are 0.
        M::s_cbranch_cdbgsys
        | M::s_cbranch_cdbguser
        | M::s_cbranch_cdbgsys_or_user
        | M::s_cbranch_cdbgsys_and_user => {}
        _ => return Err(Unsupported::op(inst)),
    }
    Ok(())
}

/// `condition` of a branch that is always taken.
pub const ALWAYS: u8 = 6;

fn branch(inst: &Inst, cx: &mut LowerContext, which: u32, forward: Handler, back: Handler) {
    let to = target(inst, cx.pc());
    let run = if to <= cx.pc() { back } else { forward };
    let mut op = Op::new(run);
    op.aux[0] = which;
    cx.branch(op, to);
}

/// Stops the wave: no instruction here.
pub unsafe fn illegal(w: &mut Wave, op: *const Op) -> *const Op {
    w.stop(op, Exit::IllegalInstruction)
}

/// Stops the wave: the lowering refused the instruction.
pub unsafe fn unsupported(w: &mut Wave, op: *const Op) -> *const Op {
    w.stop(op, Exit::Unsupported)
}

unsafe fn end_program(w: &mut Wave, op: *const Op) -> *const Op {
    w.stop(op, Exit::EndProgram)
}

unsafe fn sleep(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: followed by an operation of its segment.
    unsafe { w.stop(op.add(1), Exit::Sleep((*op).imm as u16)) }
}

unsafe fn trap(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: followed by an operation of its segment.
    unsafe { w.stop(op.add(1), Exit::Trap((*op).imm as u8)) }
}

unsafe fn set_halt(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: followed by an operation of its segment.
    unsafe {
        if (*op).imm == 0 {
            op.add(1)
        } else {
            w.stop(op.add(1), Exit::Halt)
        }
    }
}

unsafe fn set_priority(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: followed by an operation of its segment.
    unsafe {
        w.priority = (*op).imm as u8;
        op.add(1)
    }
}

/// Messages, by the low four bits of the immediate (AMDGPUUsage and LLVM's `SIDefines`): 1 is MSG_INTERRUPT. GFX11 has
/// MSG_DEALLOC_VGPRS as 3 (a hint at the end of a program).
unsafe fn send_message(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: followed by an operation of its segment; the program is alive.
    unsafe {
        let message = (*op).imm as u16;
        let m0 = w.sgpr[w.m0];
        let gfx11 = (*w.program).config().target.major >= 11;
        match message & if gfx11 { 0xff } else { 0xf } {
            1 => w.stop(op.add(1), Exit::Interrupt(m0)),
            3 if gfx11 => op.add(1),
            _ => w.stop(op.add(1), Exit::Message { message, m0 }),
        }
    }
}

/// Sets four bits of MODE: the shift is in bits 15:8 of the immediate, the value in bits 3:0.
unsafe fn set_mode_bits(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: followed by an operation of its segment.
    unsafe {
        let imm = (*op).imm as u32;
        let shift = imm >> 8;
        change_mode(w, w.mode & !(15 << shift) | (imm & 15) << shift);
        op.add(1)
    }
}

/// Changes MODE of the running wave, and MXCSR with it.
pub fn change_mode(w: &mut Wave, mode: u32) {
    w.set_mode(mode);
    if get_mxcsr() & 0xffc0 != w.mxcsr & 0xffc0 {
        // SAFETY: called by handlers inside the run loop, which restores MXCSR.
        unsafe { set_mxcsr(w.mxcsr) }
    }
}

/// Goes to the target.
pub unsafe fn jump(_w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: the distance was resolved to an operation of the segment.
    unsafe { op.offset((*op).imm.cast_signed() as isize) }
}

unsafe fn jump_back(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: as above.
    unsafe { safe_point(w, op.offset((*op).imm.cast_signed() as isize)) }
}

/// Goes on at `to`, or stops there when the budget is spent.
#[inline(always)]
fn safe_point(w: &mut Wave, to: *const Op) -> *const Op {
    w.budget -= 1;
    if w.budget < 0 {
        w.stop(to, Exit::BudgetSpent)
    } else {
        to
    }
}

#[inline(always)]
fn condition<const WHICH: u8>(w: &Wave) -> bool {
    match WHICH {
        0 => w.sgpr[slot::SCC] == 0,
        1 => w.sgpr[slot::SCC] != 0,
        2 => w.vcc() == 0,
        3 => w.vcc() != 0,
        4 => w.exec() == 0,
        _ => w.exec() != 0,
    }
}

unsafe fn forward<const WHICH: u8>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: both successors are operations of the segment.
    unsafe {
        if condition::<WHICH>(w) {
            op.offset((*op).imm.cast_signed() as isize)
        } else {
            op.add(1)
        }
    }
}

unsafe fn back<const WHICH: u8>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: both successors are operations of the segment.
    unsafe {
        if condition::<WHICH>(w) {
            safe_point(w, op.offset((*op).imm.cast_signed() as isize))
        } else {
            op.add(1)
        }
    }
}

/// The form of a branch whose target is not in its segment: `imm` is the target's PC. `which` is the branch's `aux[0]`.
pub fn far(which: u32) -> Handler {
    match which {
        0 => far_branch::<0>,
        1 => far_branch::<1>,
        2 => far_branch::<2>,
        3 => far_branch::<3>,
        4 => far_branch::<4>,
        5 => far_branch::<5>,
        _ => far_branch::<ALWAYS>,
    }
}

unsafe fn far_branch<const WHICH: u8>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: a conditional branch is followed by an operation of its segment.
    unsafe {
        if WHICH == ALWAYS || condition::<WHICH>(w) {
            indirect(w, (*op).imm)
        } else {
            op.add(1)
        }
    }
}

/// Goes to the instruction at `pc`, lowering it if need be. A safe point.
///
/// # Safety
/// The wave's program is alive.
pub unsafe fn indirect(w: &mut Wave, pc: u64) -> *const Op {
    // SAFETY: by the caller.
    let place = unsafe { (*w.program).enter(pc) };
    w.base[1] = place.pool.cast_mut();
    safe_point(w, place.op)
}

/// Brings the slots of `src_vccz` and `src_execz` up to date.
pub unsafe fn zero_flags(w: &mut Wave, op: *const Op) -> *const Op {
    w.sgpr[slot::VCCZ] = u32::from(w.vcc() == 0);
    w.sgpr[slot::EXECZ] = u32::from(w.exec() == 0);
    // SAFETY: it stands before the operation that reads the slots.
    unsafe { op.add(1) }
}
