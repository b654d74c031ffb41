//! Host queues: in-order queues of commands.
//!
//! [`HostQueue`] is the public side, with the checks of arguments: kernels in [`host_queue`], copies and fills in [`transfer`], the other
//! commands in [`other`]. [`core`] is the inside, which lives on until the queue's commands have ended; [`host`] does what the host does
//! itself; [`device_queue`] takes what kernels enqueue.

mod core;
mod device_queue;
mod host;
mod host_queue;
mod other;
mod prepared;
mod transfer;

use std::{ffi::c_void, sync::Arc};

pub(crate) use self::core::{QueueCore, Staged, StagingPool};
pub use device_queue::{DeviceQueue, DeviceQueues, Parent};
pub(crate) use device_queue::{EnqueuesTo, RuntimeHandle};
pub use host_queue::HostQueue;
pub use other::MigrateTarget;
pub use prepared::PreparedKernels;
pub use transfer::{MapAccess, Mapping};

use crate::{Event, Kernel, Status, signal::HwSignal};

/// Who drains a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A thread of the pool: may run user code.
    Worker,
    /// A thread that waits or asks, or that enqueues with direct dispatch.
    Helper,
}

/// Why a drainer stopped.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Everything is submitted.
    Idle,
    /// The head command waits for this signal.
    WaitSignal(Arc<HwSignal>),
    /// The head command waits for room, which there will be when this signal is done.
    WaitRoom(Arc<HwSignal>),
    /// The head command waits for an event that is not submitted; the queue is parked there.
    WaitEvent(Event),
    /// The head command waits for a value in memory, or for room that other queues take.
    Poll,
    /// User code is to run, and this thread must not.
    NeedWorker,
    /// Another thread drains.
    Busy,
    /// What the helper waits for is submitted or has ended.
    Reached,
}

/// Priority of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Priority {
    /// HIP's 1.
    Low,
    /// HIP's 0.
    #[default]
    Normal,
    /// HIP's -1.
    High,
}

/// How a queue is made.
#[derive(Clone, Debug, Default)]
pub struct QueueOptions {
    /// Priority.
    pub priority: Priority,
    /// It does not synchronise with the null stream. Kept for the caller's rules; the queue itself does not use it.
    pub non_blocking: bool,
    /// Compute units it may use, 32 to a word; empty: all.
    pub cu_mask: Vec<u32>,
    /// Device times for every command.
    pub profiling: bool,
    /// Commands wait only for their wait lists, not for each other (OpenCL). A command whose wait list is not met is passed by later ones.
    pub out_of_order: bool,
    /// Whoever enqueues waits at once, for every command, and drains the queue by that: no worker is woken.
    pub awaited: bool,
}

/// Where the arguments of a launch come from. They are copied before the call returns.
#[derive(Clone, Copy, Debug)]
pub enum Arguments<'a> {
    /// One pointer for each of [`Kernel::explicit_arguments`].
    Pointers(&'a [*const c_void]),
    /// The start of the kernarg segment, laid out as the metadata says. Shorter than the explicit arguments is an error.
    Packed(&'a [u8]),
}

/// A kernel launch.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The kernel.
    pub kernel: &'a Arc<Kernel>,
    /// Grid in work-items.
    pub grid: [u32; 3],
    /// Work-group in work-items.
    pub block: [u32; 3],
    /// Dynamic LDS in bytes.
    pub dynamic_shared: u32,
    /// Arguments.
    pub arguments: Arguments<'a>,
    /// All groups must be resident at once.
    pub cooperative: bool,
    /// It may overlap with earlier commands of its queue (`hipExtAnyOrderLaunch`).
    pub any_order: bool,
}

/// What OpenCL says of a grid beside its size: what `get_global_offset` and `get_work_dim` give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NdRange {
    /// The first work-item.
    pub offset: [u64; 3],
    /// Dimensions, from 1 to 3.
    pub dimensions: u8,
}

impl Default for NdRange {
    /// From 0 on, in three dimensions, as all grids of HIP.
    fn default() -> Self {
        Self {
            offset: [0; 3],
            dimensions: 3,
        }
    }
}

/// The part that a cooperative launch is of a launch on several devices: what `multi_grid_group` of the device libraries works with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiGrid {
    /// Device address of 8 bytes of host memory, 0 at the start, that the kernels synchronise on.
    pub sync: u64,
    /// Which of the launches it is, from 0.
    pub index: u32,
    /// How many there are.
    pub count: u32,
    /// Work-items of the launches before it.
    pub before: u64,
    /// Work-items of all of them.
    pub all: u64,
}

/// One side of a rectangle copy, and of a rectangle fill. Bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// Address of the first byte.
    pub address: u64,
    /// Bytes from row to row.
    pub row_pitch: usize,
    /// Bytes from slice to slice.
    pub slice_pitch: usize,
}

/// A 2D or 3D copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyRect {
    /// Destination.
    pub dst: Rect,
    /// Source.
    pub src: Rect,
    /// Bytes of a row, rows, slices.
    pub extent: [usize; 3],
}

/// A 2D or 3D fill with a byte pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillRect {
    /// Destination.
    pub dst: Rect,
    /// Bytes of a row (a multiple of the pattern), rows, slices.
    pub extent: [usize; 3],
}

/// Conditions of a value wait. `AND`: `memory & value & mask` is not 0; `NOR`: `!(memory | value) & mask` is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueCondition {
    /// `memory & mask >= value`, unsigned.
    GreaterOrEqual,
    /// `memory & mask == value`.
    Equal,
    /// See above.
    And,
    /// See above.
    Nor,
}

/// Width of a value operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueWidth {
    /// 32 bits.
    Bits32,
    /// 64 bits.
    Bits64,
}

impl ValueWidth {
    /// Size of the value, and what its address must be a multiple of.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Bits32 => 4,
            Self::Bits64 => 8,
        }
    }
}

/// A function that runs on a thread of the worker pool when the earlier commands of its queue have ended; later commands wait for its
/// return. It gets `COMPLETE`, or the error of its wait list or device (then the command ends with that error, too).
pub type HostFunction = Box<dyn FnOnce(Status) + Send + 'static>;

/// A function that says whether something outside of the runtime has happened. It is called again and again, must not block and must not
/// call the runtime.
pub type ReadyFunction = Box<dyn FnMut() -> bool + Send + 'static>;
