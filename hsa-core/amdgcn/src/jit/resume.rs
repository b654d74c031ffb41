//! From native code back to the interpreter.

use crate::{
    interp::{
        run::Handler,
        wave::{Wave, slot},
    },
    ir::{Op, program::handler_of},
};

use super::Run;

/// Does what is left of a run: the lanes from group `group` of eight on, for which native code has stored nothing. `masks` are the bits
/// that native code has collected for the run's lane masks: those of the last group are the top ones of the wave's lanes.
///
/// Called by native code only.
///
/// # Safety
/// `op` is the first operation of `run`, of the program that the wave runs; `masks` has as many elements as the run has masks.
pub unsafe extern "sysv64" fn resume(
    wave: *mut Wave,
    op: *const Op,
    run: *const Run,
    group: u64,
    masks: *const u64,
) -> *const Op {
    // SAFETY: by the caller.
    unsafe {
        let (wave, run) = (&mut *wave, &*run);
        let exec = wave.pair(slot::EXEC);
        let done = group as u32 * 8;
        let lanes = wave.lanes() as u32;
        wave.set_pair(slot::EXEC, exec & u64::MAX.checked_shl(done).unwrap_or(0));
        let end = op.add(run.length);
        let first: Handler = run.first;
        let mut at = first(wave, op);
        // A handler may do the operation behind its own as well.
        while !at.is_null() && at < end {
            at = handler_of(at)(wave, at);
        }
        for (index, &mask) in run.masks.iter().enumerate() {
            if done > 0 {
                let collected = *masks.add(index) >> (lanes - done);
                let rest = wave.mask(mask as usize);
                wave.set_mask(mask as usize, rest | collected);
            }
        }
        wave.set_pair(slot::EXEC, exec);
        at
    }
}

/// Brings the wave's mask lanes up to date with EXEC.
///
/// Called by native code only.
///
/// # Safety
/// The wave runs on this thread.
pub unsafe extern "sysv64" fn refresh_mask(wave: *mut Wave) {
    // SAFETY: by the caller.
    unsafe { (*wave).refresh_mask() }
}
