//! What nobody reads after a run: lane masks that are overwritten, and all registers where the program ends.
//!
//! Address arithmetic leaves carries in VCC that the next addition overwrites. Looking ahead over straight code finds them.

use std::collections::BTreeMap;

use crate::{
    ir::{
        lower::{self, Flow},
        program::FetchError,
    },
    isa::{
        inst::{Format, Inst, Operand, OperandSlot, Type},
        op::Op as M,
    },
};

/// Instructions looked at.
const LOOK_AHEAD: usize = 48;

/// Decoded instructions by their address.
pub type Decoded = BTreeMap<u64, Result<Inst, FetchError>>;

/// Whether the lane mask in a scalar slot is overwritten before anything can read it, on the way from `pc` on.
pub fn is_dead(decoded: &Decoded, mut pc: u64, slot: u32, wave_size: u32) -> bool {
    for _ in 0..LOOK_AHEAD {
        let Some(Ok(inst)) = decoded.get(&pc) else {
            return false;
        };
        if inst.op == M::s_endpgm {
            return true;
        }
        if lower::flow(inst, pc) != Flow::Next || may_read(inst, slot, wave_size) {
            return false;
        }
        if overwrites(inst, slot) {
            return true;
        }
        pc = pc.wrapping_add(u64::from(inst.len));
    }
    false
}

/// Whether the program ends at `pc`, with nothing but waits before that.
pub fn is_end(decoded: &Decoded, mut pc: u64) -> bool {
    /// `s_sendmsg` that frees the vector registers.
    const DEALLOC_VGPRS: i16 = 3;
    for _ in 0..LOOK_AHEAD {
        let Some(Ok(inst)) = decoded.get(&pc) else {
            return false;
        };
        match inst.op {
            M::s_endpgm => return true,
            M::s_nop | M::s_waitcnt => {}
            M::s_sendmsg if inst.simm16 == DEALLOC_VGPRS => {}
            _ => return false,
        }
        pc = pc.wrapping_add(u64::from(inst.len));
    }
    false
}

fn may_read(inst: &Inst, slot: u32, wave_size: u32) -> bool {
    let known = matches!(
        inst.format,
        Format::Vop1
            | Format::Vop2
            | Format::Vopc
            | Format::Vop3
            | Format::Vop3b
            | Format::Vop3p
            | Format::Sop1
            | Format::Sop2
            | Format::Sopc
            | Format::Sopp
            | Format::Sopk
            | Format::Smem
            | Format::Ds
            | Format::Flat
            | Format::Global
            | Format::Scratch
    );
    let lanes = Type::Mask.dwords(wave_size);
    let overlaps = |operand: &OperandSlot| match operand.operand {
        Operand::Scalar(code) => {
            let (first, count) = (u32::from(code), operand.ty.dwords(wave_size));
            first < slot + lanes && slot < first + count
        }
        // `src_vccz` and its like.
        Operand::Source(_) => true,
        _ => false,
    };
    // `s_getreg_b32` can read STATUS, which has VCCZ; others of the format read what they write.
    let reads_more = inst.format == Format::Sopk
        && (inst.op == M::s_getreg_b32 || inst.op != M::s_movk_i32 && overlaps(&inst.dst));
    !known || reads_more || inst.vopd.is_some() || inst.src.iter().any(overlaps)
}

/// Whether a vector instruction writes all of the mask.
fn overwrites(inst: &Inst, slot: u32) -> bool {
    let vector = matches!(
        inst.format,
        Format::Vop2 | Format::Vopc | Format::Vop3 | Format::Vop3b
    );
    vector
        && [inst.dst, inst.dst2].iter().any(|destination| {
            destination.ty == Type::Mask
                && matches!(destination.operand, Operand::Scalar(code) if u32::from(code) == slot)
        })
}
