//! What the waves of a stopped dispatch hold: for a core dump.
//!
//! Copied only while [`keep`] says so: registers of a wave are up to 128 KiB. Waves stand where their last slice left them, at an
//! instruction's start; what the engine has not begun has no state.

use std::sync::atomic::{AtomicBool, Ordering};

static KEEP: AtomicBool = AtomicBool::new(false);

/// Groups whose state is kept at most: the one that faulted and others that had begun.
pub const MAX_GROUPS: usize = 256;

/// Asks for the state of waves in faults from here on, or no longer.
pub fn keep(wanted: bool) {
    KEEP.store(wanted, Ordering::Relaxed);
}

/// Whether states are kept.
pub(crate) fn kept() -> bool {
    KEEP.load(Ordering::Relaxed)
}

/// A work-group that had begun and not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupState {
    /// Its id in the grid.
    pub workgroup: [u32; 3],
    /// Its LDS.
    pub lds: Vec<u8>,
    /// Its waves that had not ended.
    pub waves: Vec<WaveState>,
}

/// A wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaveState {
    /// Number in its group.
    pub wave: u32,
    /// It waits at a barrier.
    pub at_barrier: bool,
    /// Lanes: 32 or 64.
    pub lanes: u32,
    /// Address of the next instruction; of the wave that faulted, of that instruction.
    pub pc: u64,
    /// EXEC.
    pub exec: u64,
    /// VCC.
    pub vcc: u64,
    /// SCC.
    pub scc: bool,
    /// M0.
    pub m0: u32,
    /// MODE register.
    pub mode: u32,
    /// STATUS register, beyond what the fields above say.
    pub status: u32,
    /// TRAPSTS register.
    pub trap_status: u32,
    /// FLAT_SCRATCH register of GFX10 and later.
    pub flat_scratch: u64,
    /// Compute unit, SIMD and slot that the wave was told it runs on.
    pub place: [u32; 3],
    /// `s0` and up.
    pub sgprs: Vec<u32>,
    /// `ttmp0` to `ttmp15`.
    pub ttmps: Vec<u32>,
    /// VGPRs: the lanes of `v0`, then those of `v1`, and so on.
    pub vgprs: Vec<u32>,
    /// AGPRs, in the same way.
    pub agprs: Vec<u32>,
    /// Scratch: dword `i` of lane `l` at byte `4 * (i * lanes + l)`.
    pub scratch: Vec<u8>,
}
