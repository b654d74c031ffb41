//! What interpolation needs beside arithmetic: values of one lane of a quad, loads of one dword of LDS for all lanes.

use super::{
    memory::space::{Lds, Space},
    run::Exit,
    wave::{Wave, mode, slot},
};
use crate::ir::{Op, lower::control::change_mode};

/// Temporary vectors for the two sources that come from one lane of each quad, and the one that keeps MODE.
pub const QUAD_TEMP: [u32; 2] = [8, 10];
const MODE_TEMP: usize = 12;

/// Gives all lanes of a quad the value that lane `aux[0]` of it has in `s[0]`, in temporary vector `aux[1]`.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn quad(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: a register of the file, by the lowering; all lanes of the wave are there.
    unsafe {
        let from: *const u32 = w.base[0].add((*op).s[0].offset() as usize).cast();
        let [lane, to, _] = (*op).aux.map(|word| word as usize);
        for at in 0..w.lanes() {
            w.temps[to].0[at] = *from.add(at & !3 | lane);
        }
        op.add(1)
    }
}

/// Rounds towards zero until [`round_as_before`].
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn round_to_zero(w: &mut Wave, op: *const Op) -> *const Op {
    w.temps[MODE_TEMP].0[0] = w.mode;
    change_mode(w, w.mode | 15 << mode::ROUND_SHIFT);
    // SAFETY: followed by an operation of its instruction.
    unsafe { op.add(1) }
}

/// See [`round_to_zero`].
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn round_as_before(w: &mut Wave, op: *const Op) -> *const Op {
    let before = w.temps[MODE_TEMP].0[0];
    change_mode(w, before);
    // SAFETY: followed by an operation of its segment.
    unsafe { op.add(1) }
}

/// The dword of LDS that M0 names: M0 15:0 is its address, M0 18:16 the type (0 and 1 are bytes and halves without a sign, 4 and 5 with
/// one, 2 is a dword).
unsafe fn lds_direct(w: &Wave) -> Result<u32, Exit> {
    let m0 = w.sgpr[w.m0];
    let (kind, address) = (m0 >> 16 & 7, u64::from(m0 & 0xffff));
    let bytes = match kind {
        0 | 4 => 1,
        1 | 5 => 2,
        _ => 4,
    };
    // SAFETY: by the caller: the wave runs inside a slice; as many bytes as were resolved are read.
    unsafe {
        let at =
            Lds::resolve::<false>(w, 0, address, bytes).map_err(|fault| Lds::exit(fault, 0))?;
        Ok(match kind {
            0 => u32::from(at.read()),
            4 => i32::from(at.cast::<i8>().read()).cast_unsigned(),
            1 => u32::from(at.cast::<u16>().read_unaligned()),
            5 => i32::from(at.cast::<i16>().read_unaligned()).cast_unsigned(),
            _ => at.cast::<u32>().read_unaligned(),
        })
    }
}

/// `lds_direct_load`: one dword of LDS for all lanes of the quads that have an active one.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn lds_direct_load(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: the register was checked by the lowering.
    unsafe {
        let exec = w.exec();
        if exec == 0 {
            return op.add(1);
        }
        let value = match lds_direct(w) {
            Ok(value) => value,
            Err(exit) => return w.stop(op, exit),
        };
        let to: *mut u32 = w.base[0].add((*op).d as usize).cast();
        for lane in 0..w.lanes() {
            if exec >> (lane & !3) & 15 != 0 {
                *to.add(lane) = value;
            }
        }
        op.add(1)
    }
}

/// Brings the slot of `src_lds_direct` up to date.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn read_lds_direct(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: it stands before the operation that reads the slot.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        match lds_direct(w) {
            Ok(value) => {
                w.sgpr[slot::LDS_DIRECT] = value;
                op.add(1)
            }
            Err(exit) => w.stop(op, exit),
        }
    }
}
