//! Host queues.

use std::{ffi::c_void, sync::Arc};

use crate::{Device, Event, Kernel, Result, Status};

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

/// A function that runs on a thread of the worker pool when the earlier commands of its queue have ended; later commands wait for its
/// return. It gets `COMPLETE`, or the error of its wait list or device (then the command ends with that error, too).
pub type HostFunction = Box<dyn FnOnce(Status) + Send + 'static>;

/// An in-order queue of commands for one device.
#[derive(Debug)]
pub struct HostQueue {}

impl HostQueue {
    /// Makes a queue. Costs no thread and no hardware queue until the first command.
    pub fn new(_device: &Arc<Device>, _options: QueueOptions) -> Result<Arc<Self>> {
        todo!()
    }

    /// Its device.
    pub fn device(&self) -> &Arc<Device> {
        todo!()
    }

    /// Number, unique in the process.
    pub fn id(&self) -> u64 {
        todo!()
    }

    /// How it was made.
    pub fn options(&self) -> &QueueOptions {
        todo!()
    }

    /// The last command enqueued; none if it has ended (as far as is known without blocking).
    pub fn last_command(&self) -> Option<Event> {
        todo!()
    }

    /// Whether all commands have ended. Looks at the device; never blocks.
    pub fn query(&self) -> bool {
        todo!()
    }

    /// Makes sure that everything enqueued will be given to the device without further calls.
    pub fn flush(&self) {
        todo!()
    }

    /// Waits for everything enqueued before the call; the calling thread helps. An error is that of the device's fault, or of the first
    /// command that failed since the last call.
    pub fn finish(&self) -> Result<()> {
        todo!()
    }

    /// Waits for all commands and refuses new ones. Dropping the last reference does the same without waiting: what is enqueued still runs.
    pub fn terminate(&self) -> Result<()> {
        todo!()
    }

    /// Enqueues a kernel.
    ///
    /// # Safety
    /// Pointers in `launch.arguments` must be readable for the sizes of the kernel's arguments. What the kernel does with memory is the caller's.
    pub unsafe fn enqueue_kernel(
        &self,
        _launch: &Launch<'_>,
        _wait_list: &[Event],
    ) -> Result<Event> {
        todo!()
    }

    /// Enqueues a copy. Addresses are device addresses, or host addresses of pinned or of pageable memory; which is found out by the
    /// memory map. The ranges must not overlap.
    ///
    /// # Safety
    /// Both ranges must stay valid until the command has ended.
    pub unsafe fn enqueue_copy(
        &self,
        _dst: u64,
        _src: u64,
        _size: usize,
        _wait_list: &[Event],
    ) -> Result<Event> {
        todo!()
    }

    /// Enqueues a 2D or 3D copy.
    ///
    /// # Safety
    /// As for [`enqueue_copy`](Self::enqueue_copy).
    pub unsafe fn enqueue_copy_rect(
        &self,
        _copy: &CopyRect,
        _wait_list: &[Event],
    ) -> Result<Event> {
        todo!()
    }

    /// Enqueues a fill of `size` bytes with a pattern of 1 to 16 bytes; the size must be a multiple of the pattern's.
    ///
    /// # Safety
    /// The range must stay valid until the command has ended.
    pub unsafe fn enqueue_fill(
        &self,
        _dst: u64,
        _pattern: &[u8],
        _size: usize,
        _wait_list: &[Event],
    ) -> Result<Event> {
        todo!()
    }

    /// Enqueues a 2D or 3D fill.
    ///
    /// # Safety
    /// As for [`enqueue_fill`](Self::enqueue_fill).
    pub unsafe fn enqueue_fill_rect(
        &self,
        _fill: &FillRect,
        _pattern: &[u8],
        _wait_list: &[Event],
    ) -> Result<Event> {
        todo!()
    }

    /// Enqueues a marker: it ends when all earlier commands of this queue and its wait list have ended; later commands wait for it.
    /// Its end time is what HIP's events show.
    pub fn enqueue_marker(&self, _wait_list: &[Event]) -> Result<Event> {
        todo!()
    }

    /// Enqueues a host function. `run_on_error`: call it even if the device or the wait list has failed.
    pub fn enqueue_host_function(
        &self,
        _function: HostFunction,
        _run_on_error: bool,
        _wait_list: &[Event],
    ) -> Result<Event> {
        todo!()
    }

    /// Enqueues a wait until memory fulfils a condition. It occupies no hardware queue.
    ///
    /// # Safety
    /// The address must stay valid until the command has ended.
    pub unsafe fn enqueue_wait_value(
        &self,
        _address: u64,
        _width: ValueWidth,
        _value: u64,
        _mask: u64,
        _condition: ValueCondition,
        _wait_list: &[Event],
    ) -> Result<Event> {
        todo!()
    }

    /// Enqueues a write of a value.
    ///
    /// # Safety
    /// The address must stay valid until the command has ended.
    pub unsafe fn enqueue_write_value(
        &self,
        _address: u64,
        _width: ValueWidth,
        _value: u64,
        _wait_list: &[Event],
    ) -> Result<Event> {
        todo!()
    }
}
