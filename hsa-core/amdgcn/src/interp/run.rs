//! The dispatch loop, and why it stops.

use crate::{
    ir::{Op, program::handler_of},
    wave_sync::Request,
};

use super::wave::Wave;

/// What a handler is. See the [module docs](super) for the protocol.
///
/// A handler may be called only by the run loop (or by another handler), with the wave's bases set, a program that is alive, and an
/// operation of that program whose operands the lowering has made.
pub type Handler = unsafe fn(&mut Wave, *const Op) -> *const Op;

/// Why the loop stopped. `Wave::next` is where the wave goes on, except after `EndProgram`; after a fault it is the operation
/// that faulted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// At a barrier: go on when its phase ends.
    Barrier(super::barrier::Kind),
    /// `s_endpgm`.
    EndProgram,
    /// `s_sleep` with this argument, or a wait for the host: let others run.
    Sleep(u16),
    /// The budget is spent: a safe point.
    BudgetSpent,
    /// `s_trap` with this id.
    Trap(u8),
    /// A lane raised floating-point exceptions that are enabled.
    Float {
        /// Which: bits of [`flag`](super::exceptions::flag).
        raised: u8,
        /// First lane that did.
        lane: u8,
    },
    /// `s_sethalt 1`.
    Halt,
    /// `s_sendmsg MSG_INTERRUPT` with this value in m0.
    Interrupt(u32),
    /// Another `s_sendmsg`: the immediate, and m0.
    Message {
        /// The 16-bit immediate.
        message: u16,
        /// m0 at that time.
        m0: u32,
    },
    /// A memory fault.
    Memory {
        /// Guest address.
        address: u64,
        /// A write.
        write: bool,
        /// First lane that faulted; `None` for scalar accesses.
        lane: Option<u8>,
    },
    /// LDS or scratch access out of range.
    Aperture {
        /// Address, or offset in the segment.
        address: u64,
        /// A write.
        write: bool,
        /// First lane that faulted.
        lane: Option<u8>,
    },
    /// The bytes at the PC are no instruction, or cannot be fetched.
    IllegalInstruction,
    /// A known instruction that the lowering does not do; [`Program::why`](crate::ir::program::Program::why) has the text.
    Unsupported,
    /// `ds_gws_*`: the engine does it.
    WaveSync {
        /// The resource.
        resource: u8,
        /// What is asked of it.
        request: Request,
    },
    /// A memory handler's own reason, defined there.
    Other(u32),
}

/// Runs the wave until something stops it. `budget` is the number of back edges and calls that it may take.
///
/// MXCSR is loaded from the wave's MODE, and restored.
///
/// # Safety
/// The wave was [reset](Wave::reset) for a program that is still alive, and has not ended. Its `context`, `lds` and `scratch`
/// are what the memory handlers of that program expect.
pub unsafe fn run(wave: &mut Wave, budget: i64) -> Exit {
    let mut environment = Environment::enter();
    // SAFETY: passed on.
    unsafe { advance(wave, budget, &mut environment) };
    wave.exit
}

/// The floating-point environment of a thread that runs waves: restores the thread's own when it is dropped. Reading and loading MXCSR is
/// slow, and all waves of a dispatch mostly want the same.
#[derive(Debug)]
pub struct Environment {
    /// MXCSR of the thread.
    saved: u32,
    /// MXCSR as it is now, but for the exception flags.
    now: u32,
}

impl Environment {
    /// Remembers the thread's environment.
    pub fn enter() -> Self {
        let saved = get_mxcsr();
        Self { saved, now: saved }
    }
}

impl Drop for Environment {
    fn drop(&mut self) {
        if (self.saved ^ self.now) & !MXCSR_FLAGS != 0 {
            // SAFETY: the thread's own value.
            unsafe { set_mxcsr(self.saved) };
        }
    }
}

/// As [`run`], in an environment that lasts longer; the reason is in the wave. Reading its kind there first is quicker than copying all of it right after it was written.
///
/// # Safety
/// As [`run`].
pub unsafe fn advance(wave: &mut Wave, budget: i64, environment: &mut Environment) {
    wave.budget = budget;
    wave.base[0] = wave.file.as_mut_ptr();
    wave.base[2] = wave.temps.as_mut_ptr().cast();
    wave.base[3] = wave.sgpr.as_mut_ptr().cast();
    // SAFETY: the program is alive and `next` points into it.
    unsafe {
        if (environment.now ^ wave.mxcsr) & !MXCSR_FLAGS != 0 {
            set_mxcsr(wave.mxcsr);
        }
        let mut op = wave.next;
        #[cfg(feature = "counters")]
        let mut last_pc = 0;
        while !op.is_null() {
            #[cfg(feature = "counters")]
            if (*op).pc != last_pc {
                last_pc = (*op).pc;
                wave.instructions += 1;
            }
            op = handler_of(op)(wave, op);
        }
        // What `s_setreg` has changed it to, if it has.
        environment.now = wave.mxcsr;
    }
}

/// Does the operations from where the wave stands up to `end`, which are scalar ones in a row. Whether it got there; otherwise the wave
/// is of no use any more.
///
/// # Safety
/// As [`run`].
pub unsafe fn advance_to(wave: &mut Wave, end: *const Op) -> bool {
    wave.base[3] = wave.sgpr.as_mut_ptr().cast();
    let mut op = wave.next;
    while !op.is_null() && op != end {
        // SAFETY: passed on.
        op = unsafe { handler_of(op)(wave, op) };
    }
    !op.is_null()
}

/// Exception flags of MXCSR: set by operations, read by nobody.
const MXCSR_FLAGS: u32 = 0x3f;

/// Reads MXCSR.
#[inline]
pub fn get_mxcsr() -> u32 {
    let mut value = 0u32;
    // SAFETY: stmxcsr stores four bytes to a valid address.
    unsafe {
        core::arch::asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack, preserves_flags))
    };
    value
}

/// Sets MXCSR.
///
/// # Safety
/// The caller restores it before code that relies on the default environment runs.
#[inline]
pub unsafe fn set_mxcsr(value: u32) {
    // SAFETY: ldmxcsr loads four bytes from a valid address; reserved bits are zero in all values that we make.
    unsafe {
        core::arch::asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, preserves_flags))
    };
}
