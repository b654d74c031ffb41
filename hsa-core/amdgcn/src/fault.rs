//! Why a dispatch stopped, and the report that a person reads.

pub(crate) mod report;
mod source;
pub mod state;

use std::fmt;

use crate::interp::exceptions::flag;

/// Why a dispatch stopped. The report that a person reads is its `Display`.
#[derive(Clone, Debug)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// Kernel name, if the loader said it.
    pub kernel: String,
    /// Program counter.
    pub pc: u64,
    /// Work-group that faulted.
    pub workgroup: [u32; 3],
    /// Wave in the group.
    pub wave: u32,
    /// First lane that faulted, if it was a lane.
    pub lane: Option<u32>,
    /// Text of the instruction, source line, nearest allocation and the like, one fact a line.
    pub notes: Vec<String>,
    /// Work-groups that had begun and not ended, the one that faulted first: empty unless [`state::keep`] asks for them.
    pub groups: Vec<state::GroupState>,
}

/// The kinds of stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The bytes at the PC are no instruction of this target.
    IllegalInstruction,
    /// A known instruction that this engine does not execute.
    Unsupported,
    /// No mapping at the address, or not with that right.
    Memory {
        /// Address.
        address: u64,
        /// It was a write.
        write: bool,
    },
    /// LDS or scratch access out of its aperture.
    Aperture {
        /// Address.
        address: u64,
    },
    /// `s_trap` with this id (2: abort).
    Trap(u8),
    /// Floating-point exceptions that were enabled; bits of [`flag`].
    Float(u8),
    /// The dispatch asks for what the GPU does not have: registers, LDS, group size, grid.
    InvalidDispatch,
    /// `GNEISS_KERNEL_TIMEOUT` has passed.
    Timeout,
    /// The queue or device was destroyed.
    Cancelled,
    /// A bug of ours; the text says which.
    Internal,
}

impl Fault {
    /// A fault of a dispatch as a whole, with one note.
    pub(crate) fn of_dispatch(kind: FaultKind, note: impl Into<String>) -> Box<Fault> {
        let note = note.into();
        Box::new(Fault {
            kind,
            kernel: String::new(),
            pc: 0,
            workgroup: [0; 3],
            wave: 0,
            lane: None,
            notes: if note.is_empty() {
                Vec::new()
            } else {
                vec![note]
            },
            groups: Vec::new(),
        })
    }

    /// Whether the fault is of one wave (it has a PC and a place in the grid) rather than of the whole dispatch.
    fn has_place(&self) -> bool {
        self.pc != 0
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::IllegalInstruction => f.write_str("illegal instruction"),
            FaultKind::Unsupported => f.write_str("unsupported operation"),
            FaultKind::Memory { address, write } => {
                write!(
                    f,
                    "memory fault: {} of address {address:#x}",
                    if *write { "write" } else { "read" }
                )
            }
            FaultKind::Aperture { address } => {
                write!(f, "LDS or scratch access out of range at {address:#x}")
            }
            FaultKind::Trap(2) => f.write_str("trap 2 (abort)"),
            FaultKind::Trap(id) => write!(f, "trap {id}"),
            FaultKind::Float(raised) => {
                let names = flag::NAMES.iter().enumerate();
                let names = names.filter(|(bit, _)| raised >> bit & 1 != 0);
                let names: Vec<_> = names.map(|(_, name)| *name).collect();
                write!(f, "floating-point exception: {}", names.join(", "))
            }
            FaultKind::InvalidDispatch => f.write_str("invalid dispatch"),
            FaultKind::Timeout => f.write_str("kernel stopped: GNEISS_KERNEL_TIMEOUT has passed"),
            FaultKind::Cancelled => f.write_str("kernel stopped: its queue was destroyed"),
            FaultKind::Internal => f.write_str("internal error of the software GPU"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if !self.kernel.is_empty() {
            write!(f, "\n  kernel: {}", self.kernel)?;
        }
        if self.has_place() {
            let [x, y, z] = self.workgroup;
            write!(
                f,
                "\n  pc: {:#x}, work-group ({x}, {y}, {z}), wave {}",
                self.pc, self.wave
            )?;
            if let Some(lane) = self.lane {
                write!(f, ", lane {lane}")?;
            }
        }
        for note in &self.notes {
            write!(f, "\n  {note}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}
