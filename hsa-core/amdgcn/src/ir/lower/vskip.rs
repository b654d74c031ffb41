//! VSKIP, a mode of GFX9 (Vega ISA, MODE bit 28 and `S_SETVSKIP`): while it is on, vector instructions are not executed – those of the
//! vector ALU, of vector memory, LDS and exports. Scalar instructions and branches are.
//!
//! Hardly any program uses it. In those that could, each vector instruction has an operation before it that looks; the others do not
//! know of the mode. Outstanding vector operations, which a program has to wait for before it changes the mode, do not exist here.

use crate::{
    interp::{
        lane,
        wave::{Wave, mode},
    },
    ir::Op,
    isa::{
        inst::{Format, Inst},
        op::Op as M,
    },
    target::Target,
};

use super::{LowerContext, Unsupported};

/// Whether the instruction could turn the mode on.
pub fn may_turn_on(inst: &Inst, target: Target) -> bool {
    match inst.op {
        M::s_setvskip => true,
        M::s_setreg_b32 | M::s_setreg_imm32_b32 if target.major == 9 => {
            // The register in bits 5:0, the first bit of the field in 10:6, its width less one in 15:11.
            let field = u32::from(inst.simm16.cast_unsigned());
            let (register, first, last) = (
                field & 63,
                field >> 6 & 31,
                (field >> 6 & 31) + (field >> 11),
            );
            const MODE: u32 = 1;
            let bit = mode::VSKIP.trailing_zeros();
            register == MODE && (first..=last).contains(&bit)
        }
        _ => false,
    }
}

/// Whether the mode skips the instruction.
pub fn is_skipped(inst: &Inst) -> bool {
    match inst.format {
        Format::Sop1 | Format::Sop2 | Format::Sopc | Format::Sopk | Format::Sopp | Format::Smem => {
            false
        }
        Format::Vop1
        | Format::Vop2
        | Format::Vopc
        | Format::Vop3
        | Format::Vop3b
        | Format::Vop3p
        | Format::Vopd
        | Format::Vintrp
        | Format::Ds
        | Format::Flat
        | Format::Global
        | Format::Scratch
        | Format::Mubuf
        | Format::Mtbuf
        | Format::Mimg
        | Format::Exp => true,
    }
}

/// Lowers `s_setvskip`: the mode is bit S1 of S0.
pub(super) fn lower_set(inst: &Inst, cx: &mut LowerContext) -> Result<(), Unsupported> {
    let mut op = Op::new(set);
    op.s[0] = cx.scalar_src(inst.src[0], 1)?;
    op.s[1] = cx.scalar_src(inst.src[1], 1)?;
    cx.push(op);
    Ok(())
}

unsafe fn set(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering; followed by an operation of its segment.
    unsafe {
        let bit = lane::scalar(w, (*op).s[0]) >> (lane::scalar(w, (*op).s[1]) & 31) & 1;
        w.mode = w.mode & !mode::VSKIP | bit << mode::VSKIP.trailing_zeros();
        op.add(1)
    }
}

/// Goes past the operations of the vector instruction that follows if the mode is on; `imm` is the distance.
pub(in super::super) unsafe fn look(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: the distance leads to the operation after the instruction, which is in the same segment.
    unsafe {
        if w.mode & mode::VSKIP != 0 {
            op.add((*op).imm as usize)
        } else {
            op.add(1)
        }
    }
}
