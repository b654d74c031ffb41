//! Commands as they wait in a queue: what is to be done, with its event and wait list.

use std::sync::Arc;

use gneiss_fatbin::ValueKind;
use gneiss_hsa_api::hsa_agent_t;

use crate::{
    CopyRect, Event, FillRect, HostFunction, Kernel, MultiGrid, ValueCondition, ValueWidth,
    event::State,
    kernel::Printf,
    queue::{EnqueuesTo, ReadyFunction, Staged},
    trace::format::{BlockReason, CommandKind},
};

/// A command in a queue.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) event: Arc<State>,
    pub(crate) wait_list: Vec<Event>,
    pub(crate) operation: Operation,
    pub(crate) kind: CommandKind,
    /// Why it could not go on, as last recorded.
    pub(crate) blocked: Option<BlockReason>,
    /// How far a copy through staging memory has come.
    pub(crate) staged: Option<Box<Staged>>,
}

/// The bytes of a kernel's explicit arguments: in place if they are few, which is the rule.
#[derive(Clone, Debug)]
pub(crate) enum ArgumentBlock {
    /// Up to 31 bytes.
    Inline(u8, [u8; 31]),
    /// More.
    Heap(Vec<u8>),
}

impl ArgumentBlock {
    pub(crate) fn new(bytes: Vec<u8>) -> (Self, Option<Vec<u8>>) {
        let mut place = [0; 31];
        match place.get_mut(..bytes.len()) {
            Some(start) => {
                start.copy_from_slice(&bytes);
                (Self::Inline(bytes.len() as u8, place), Some(bytes))
            }
            None => (Self::Heap(bytes), None),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Inline(len, place) => &place[..usize::from(*len)],
            Self::Heap(bytes) => bytes,
        }
    }
}

/// What a command does.
pub(crate) enum Operation {
    Kernel(KernelCommand),
    /// Kernels that follow each other without anything in between; those before `next` are submitted.
    Kernels {
        list: Arc<[KernelCommand]>,
        next: usize,
    },
    Copy(CopyCommand),
    CopyRect(CopyRect),
    Fill {
        dst: u64,
        pattern: Pattern,
        size: usize,
    },
    FillRect {
        fill: FillRect,
        pattern: Pattern,
    },
    Marker,
    Host {
        function: Option<HostFunction>,
        run_on_error: bool,
    },
    WaitValue {
        address: u64,
        width: ValueWidth,
        value: u64,
        mask: u64,
        condition: ValueCondition,
    },
    WriteValue {
        address: u64,
        width: ValueWidth,
        value: u64,
    },
    /// Waits until a function says that something outside has happened.
    Acquire(ReadyFunction),
    /// For simulations: the host is busy with something, known by a number, for some nanoseconds.
    Busy {
        mark: u64,
        nanoseconds: u64,
    },
}

impl std::fmt::Debug for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Kernel(_) => "Kernel",
            Self::Kernels { .. } => "Kernels",
            Self::Copy(_) => "Copy",
            Self::CopyRect(_) => "CopyRect",
            Self::Fill { .. } => "Fill",
            Self::FillRect { .. } => "FillRect",
            Self::Marker => "Marker",
            Self::Host { .. } => "Host",
            Self::WaitValue { .. } => "WaitValue",
            Self::WriteValue { .. } => "WriteValue",
            Self::Acquire(_) => "Acquire",
            Self::Busy { .. } => "Busy",
        })
    }
}

/// A kernel launch with its arguments copied.
#[derive(Clone, Debug)]
pub(crate) struct KernelCommand {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u16; 3],
    pub(crate) dynamic_lds: u32,
    /// The start of the kernarg segment: the explicit arguments.
    pub(crate) arguments: ArgumentBlock,
    /// First work-item of the grid (OpenCL); none: all 0.
    pub(crate) offset: Option<Box<[u64; 3]>>,
    /// Dimensions of the grid.
    pub(crate) dimensions: u8,
    /// Where it may enqueue kernels to; zeros: nowhere.
    pub(crate) enqueues_to: EnqueuesTo,
    pub(crate) cooperative: bool,
    /// Its part of a launch on several devices.
    pub(crate) multigrid: Option<Box<MultiGrid>>,
    pub(crate) any_order: bool,
    /// It has a hidden hostcall argument.
    pub(crate) wants_hostcall: bool,
    /// Address of the buffer that it prints to; 0: it does not print that way.
    pub(crate) printf: u64,
    /// It has a hidden argument for the heap of device malloc.
    pub(crate) wants_heap: bool,
}

impl KernelCommand {
    /// It prints to a buffer, as OpenCL's kernels do.
    pub(crate) fn prints(&self) -> bool {
        matches!(self.kernel.printf(), Printf::Formats(_))
            && (self.kernel.hidden_arguments().iter())
                .any(|argument| argument.value_kind == ValueKind::HiddenPrintfBuffer)
    }
}

/// A linear copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopyCommand {
    pub(crate) dst: u64,
    pub(crate) src: u64,
    pub(crate) size: usize,
    /// The agents that own the ends; `None`: one end is pageable host memory, so no engine may do it.
    pub(crate) agents: Option<(hsa_agent_t, hsa_agent_t)>,
    /// The host can do it: both ends are accessible to it.
    pub(crate) host_accessible: bool,
}

/// A fill pattern of 1 to 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    bytes: [u8; 16],
    len: u8,
}

impl Pattern {
    /// `None` for an empty pattern, or one of more than 16 bytes.
    pub(crate) fn new(pattern: &[u8]) -> Option<Self> {
        let mut bytes = [0; 16];
        bytes.get_mut(..pattern.len())?.copy_from_slice(pattern);
        (!pattern.is_empty()).then_some(Self {
            bytes,
            len: pattern.len() as u8,
        })
    }

    pub(crate) fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Fills memory with the pattern, from its first byte.
    ///
    /// # Safety
    /// `size` bytes at `dst` must be writable.
    pub(crate) unsafe fn fill(&self, dst: *mut u8, size: usize) {
        let pattern = &self.bytes[..self.len()];
        if pattern.iter().all(|byte| *byte == pattern[0]) {
            // SAFETY: the caller's.
            unsafe { std::ptr::write_bytes(dst, pattern[0], size) };
            return;
        }
        // The pattern once, then what is there is doubled.
        let first = pattern.len().min(size);
        // SAFETY: source and destination are inside of the filled and the whole range, and do not overlap.
        unsafe {
            std::ptr::copy_nonoverlapping(pattern.as_ptr(), dst, first);
            let mut filled = first;
            while filled < size {
                let more = filled.min(size - filled);
                std::ptr::copy_nonoverlapping(dst, dst.add(filled), more);
                filled += more;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn patterns_repeat_from_the_first_byte_at_any_size() {
        for len in 1..=16_u8 {
            let pattern: Vec<u8> = (1..=len).collect();
            let fill = Pattern::new(&pattern).expect("1 to 16 bytes");
            for size in [0_usize, 1, 7, 16, 33, 70] {
                let mut memory = [0xee_u8; 80];
                // SAFETY: the array is larger.
                unsafe { fill.fill(memory.as_mut_ptr().add(1), size) };
                assert_eq!((memory[0], memory[size + 1]), (0xee, 0xee));
                for (index, byte) in memory[1..=size].iter().enumerate() {
                    assert_eq!(*byte, pattern[index % pattern.len()]);
                }
            }
        }
        assert_eq!(Pattern::new(&[]), None);
        assert_eq!(Pattern::new(&[0; 17]), None);
    }
}
