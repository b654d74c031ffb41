//! The public side of a host queue: every argument is checked here, before a command is enqueued.

use std::sync::Arc;

use gneiss_fatbin::ValueKind;
use gneiss_hsa_api::hsa_agent_t;

use super::{
    Arguments, CopyRect, FillRect, HostFunction, Launch, QueueCore, QueueOptions, Rect,
    ValueCondition, ValueWidth,
};
use crate::{
    Device, Error, Event, Kernel, MemoryKind, Result,
    command::{CopyCommand, KernelCommand, Operation, Pattern},
    error::LaunchLimit,
};

/// An in-order queue of commands for one device. Dropping the last reference refuses nothing that is enqueued: it still runs.
#[derive(Debug)]
pub struct HostQueue {
    core: Arc<QueueCore>,
}

/// Largest copy that the host does itself if nothing is in flight before it.
const SMALL_COPY: usize = 256 * 1024;

impl CopyCommand {
    /// Not worth the way through an engine.
    pub(crate) fn is_small(&self) -> bool {
        self.size <= SMALL_COPY
    }
}

/// One end of a copy.
struct End {
    address: u64,
    /// None: pageable.
    agent: Option<hsa_agent_t>,
    host_accessible: bool,
}

impl HostQueue {
    /// Makes a queue. Costs no thread and no hardware queue until the first command.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a CU mask without a bit.
    pub fn new(device: &Arc<Device>, options: QueueOptions) -> Result<Arc<Self>> {
        if !options.cu_mask.is_empty() && options.cu_mask.iter().all(|word| *word == 0) {
            return Err(Error::InvalidValue("the CU mask has no bit".into()));
        }
        let core = QueueCore::new(device, options);
        let queue = Arc::new(Self { core: core.clone() });
        core.set_handle(Arc::downgrade(&queue));
        Ok(queue)
    }

    /// Its device.
    pub fn device(&self) -> &Arc<Device> {
        self.core.device()
    }

    /// Number, unique in the process.
    pub fn id(&self) -> u64 {
        self.core.id()
    }

    /// How it was made.
    pub fn options(&self) -> &QueueOptions {
        self.core.options()
    }

    /// The last command enqueued; none if it has ended (as far as is known without looking at the device).
    pub fn last_command(&self) -> Option<Event> {
        self.core.last()
    }

    /// Whether all commands have ended. Looks at the device; never blocks.
    pub fn query(&self) -> bool {
        self.core.is_idle()
    }

    /// Makes sure that everything enqueued will be given to the device without further calls. It always is: the worker pool has been told.
    pub fn flush(&self) {
        self.core.hand_over();
    }

    /// Waits for everything enqueued before the call; the calling thread helps.
    ///
    /// # Errors
    /// The device's fault, or [`Error::CommandFailed`] with the status of the first command that failed since the last call.
    pub fn finish(&self) -> Result<()> {
        self.core.finish()
    }

    /// Refuses new commands and waits for all that are enqueued.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn terminate(&self) -> Result<()> {
        self.core.terminate();
        self.core.finish()
    }

    /// Enqueues a kernel.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] and [`Error::LaunchLimit`] for a launch that cannot be; the device's fault.
    ///
    /// # Safety
    /// Pointers in `launch.arguments` must be readable for the sizes of the kernel's arguments. What the kernel does with memory is the caller's.
    pub unsafe fn enqueue_kernel(&self, launch: &Launch<'_>, wait_list: &[Event]) -> Result<Event> {
        let block = self.check_launch(launch)?;
        let kernel = launch.kernel;
        let mut arguments = self.core.argument_buffer();
        // SAFETY: the caller's.
        unsafe { copy_arguments(kernel, &launch.arguments, &mut arguments) }?;
        let serialize = self.device().shared().config.serialize_kernel;
        if serialize & 1 != 0 {
            self.finish()?;
        }
        let wants = |kind| {
            kernel
                .hidden_arguments()
                .iter()
                .any(|argument| argument.value_kind == kind)
        };
        if wants(ValueKind::HiddenPrintfBuffer) && kernel.has_printf_formats() {
            return Err(Error::Unsupported(format!(
                "kernel {}: printf through a buffer (compiled for OpenCL, or with -mprintf-kind=buffered)",
                kernel.name()
            )));
        }
        let event = self.core.enqueue(
            Operation::Kernel(KernelCommand {
                kernel: kernel.clone(),
                grid: launch.grid,
                block,
                dynamic_lds: launch.dynamic_shared,
                arguments,
                cooperative: launch.cooperative,
                any_order: launch.any_order,
                wants_hostcall: wants(ValueKind::HiddenHostcallBuffer),
                wants_heap: wants(ValueKind::HiddenHeapV1),
            }),
            wait_list,
        )?;
        if serialize & 2 != 0 {
            event.wait()?;
        }
        Ok(event)
    }

    fn check_launch(&self, launch: &Launch<'_>) -> Result<[u16; 3]> {
        let kernel = launch.kernel;
        if !Arc::ptr_eq(kernel.device(), self.device()) {
            return Err(Error::InvalidValue(format!(
                "kernel {} is loaded on another device than the queue's",
                kernel.name()
            )));
        }
        let properties = self.device().properties();
        let limit = |what, asked: u64, limit: u64| {
            if asked > limit {
                return Err(Error::LaunchLimit {
                    kernel: kernel.name().to_owned(),
                    what,
                    asked,
                    limit,
                });
            }
            Ok(())
        };
        if launch.grid.contains(&0) || launch.block.contains(&0) {
            return Err(Error::InvalidValue(format!(
                "kernel {}: a dimension of grid {:?} or block {:?} is 0",
                kernel.name(),
                launch.grid,
                launch.block
            )));
        }
        let size = launch.block.iter().fold(1_u64, |product, size| {
            product.saturating_mul(u64::from(*size))
        });
        limit(
            LaunchLimit::WorkgroupSize,
            size,
            properties.workgroup_max_size.into(),
        )?;
        for (asked, most) in launch.block.iter().zip(properties.workgroup_max_dim) {
            limit(LaunchLimit::WorkgroupSize, (*asked).into(), most.into())?;
        }
        let metadata = kernel.metadata();
        if metadata.max_flat_workgroup_size != 0 {
            limit(
                LaunchLimit::LaunchBounds,
                size,
                metadata.max_flat_workgroup_size.into(),
            )?;
        }
        for (asked, most) in launch.grid.iter().zip(properties.grid_max_dim) {
            limit(LaunchLimit::GridSize, (*asked).into(), most.into())?;
        }
        let group = u64::from(metadata.group_segment_fixed_size) + u64::from(launch.dynamic_shared);
        limit(LaunchLimit::GroupSegment, group, properties.lds_size as u64)?;
        // Each is at most the work-group's size, which was checked.
        Ok(launch.block.map(|size| size as u16))
    }

    /// Enqueues a copy. Addresses are device addresses, or host addresses of pinned or of pageable memory; which is found out by the
    /// memory map. The ranges must not overlap.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if a range goes over the end of its allocation; the device's fault.
    ///
    /// # Safety
    /// Both ranges must stay valid until the command has ended.
    pub unsafe fn enqueue_copy(
        &self,
        dst: u64,
        src: u64,
        size: usize,
        wait_list: &[Event],
    ) -> Result<Event> {
        let dst = self.classify(dst, size)?;
        let src = self.classify(src, size)?;
        let agents = match (dst.agent, src.agent) {
            // Engines do not copy from host to host.
            (Some(dst), Some(src)) if size > 0 && !self.are_both_host(dst, src) => Some((dst, src)),
            _ => None,
        };
        let serialize = self.device().shared().config.serialize_copy;
        if serialize & 1 != 0 {
            self.finish()?;
        }
        let event = self.core.enqueue(
            Operation::Copy(CopyCommand {
                dst: dst.address,
                src: src.address,
                size,
                agents,
                host_accessible: dst.host_accessible && src.host_accessible,
            }),
            wait_list,
        )?;
        if serialize & 2 != 0 {
            event.wait()?;
        }
        Ok(event)
    }

    fn are_both_host(&self, a: hsa_agent_t, b: hsa_agent_t) -> bool {
        let host = self.device().shared().host.agent;
        a == host && b == host
    }

    /// What an address is, and whether the range lies in one allocation. The result's address is the device's.
    fn classify(&self, address: u64, size: usize) -> Result<End> {
        let shared = self.device().shared();
        let Some((memory, offset)) = shared.map.find(address as usize) else {
            return Ok(End {
                address,
                agent: None,
                host_accessible: true,
            });
        };
        if size > memory.size() - offset {
            return Err(Error::InvalidValue(format!(
                "{size} bytes at {address:#x} go over the end of an allocation of {} bytes",
                memory.size()
            )));
        }
        let agent = match memory.kind() {
            MemoryKind::Device | MemoryKind::Ipc => memory.device().agent(),
            MemoryKind::Host
            | MemoryKind::Managed
            | MemoryKind::Registered
            | MemoryKind::Signal => shared.host.agent,
        };
        Ok(End {
            address: memory.device_address() + offset as u64,
            agent: Some(agent),
            host_accessible: memory.host_address().is_some(),
        })
    }

    /// Enqueues a 2D or 3D copy.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if a pitch is smaller than a row or a slice, or a rectangle goes over the end of its allocation; the device's fault.
    ///
    /// # Safety
    /// As for [`enqueue_copy`](Self::enqueue_copy).
    pub unsafe fn enqueue_copy_rect(&self, copy: &CopyRect, wait_list: &[Event]) -> Result<Event> {
        let dst_size = rect_size(&copy.dst, copy.extent)?;
        let src_size = rect_size(&copy.src, copy.extent)?;
        let [width, rows, slices] = copy.extent;
        let total = width.saturating_mul(rows).saturating_mul(slices);
        if dst_size == total && src_size == total {
            // Dense: a linear copy.
            // SAFETY: the caller's.
            return unsafe {
                self.enqueue_copy(copy.dst.address, copy.src.address, total, wait_list)
            };
        }
        self.classify(copy.dst.address, dst_size)?;
        self.classify(copy.src.address, src_size)?;
        let serialize = self.device().shared().config.serialize_copy;
        if serialize & 1 != 0 {
            self.finish()?;
        }
        let event = self.core.enqueue(Operation::CopyRect(*copy), wait_list)?;
        if serialize & 2 != 0 {
            event.wait()?;
        }
        Ok(event)
    }

    /// Enqueues a fill of `size` bytes with a pattern of 1 to 16 bytes; the size must be a multiple of the pattern's.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for such a pattern or size, or a range that goes over the end of its allocation; the device's fault.
    ///
    /// # Safety
    /// The range must stay valid until the command has ended.
    pub unsafe fn enqueue_fill(
        &self,
        dst: u64,
        pattern: &[u8],
        size: usize,
        wait_list: &[Event],
    ) -> Result<Event> {
        let pattern = check_pattern(pattern, size)?;
        self.classify(dst, size)?;
        self.core
            .enqueue(Operation::Fill { dst, pattern, size }, wait_list)
    }

    /// Enqueues a 2D or 3D fill.
    ///
    /// # Errors
    /// As [`enqueue_fill`](Self::enqueue_fill), and for pitches as [`enqueue_copy_rect`](Self::enqueue_copy_rect).
    ///
    /// # Safety
    /// As for [`enqueue_fill`](Self::enqueue_fill).
    pub unsafe fn enqueue_fill_rect(
        &self,
        fill: &FillRect,
        pattern: &[u8],
        wait_list: &[Event],
    ) -> Result<Event> {
        let pattern = check_pattern(pattern, fill.extent[0])?;
        let size = rect_size(&fill.dst, fill.extent)?;
        self.classify(fill.dst.address, size)?;
        self.core.enqueue(
            Operation::FillRect {
                fill: *fill,
                pattern,
            },
            wait_list,
        )
    }

    /// Enqueues a marker: it ends when all earlier commands of this queue and its wait list have ended; later commands wait for it.
    /// Its end time is what HIP's events show.
    ///
    /// # Errors
    /// The device's fault.
    pub fn enqueue_marker(&self, wait_list: &[Event]) -> Result<Event> {
        self.core.enqueue(Operation::Marker, wait_list)
    }

    /// Enqueues a host function. `run_on_error`: call it even if the device or the wait list has failed.
    ///
    /// # Errors
    /// The device's fault, unless `run_on_error`.
    pub fn enqueue_host_function(
        &self,
        function: HostFunction,
        run_on_error: bool,
        wait_list: &[Event],
    ) -> Result<Event> {
        self.core.enqueue(
            Operation::Host {
                function: Some(function),
                run_on_error,
            },
            wait_list,
        )
    }

    /// Enqueues a wait until memory fulfils a condition. It occupies no hardware queue.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for an address that is not aligned to the width; the device's fault.
    ///
    /// # Safety
    /// The address must stay valid until the command has ended.
    pub unsafe fn enqueue_wait_value(
        &self,
        address: u64,
        width: ValueWidth,
        value: u64,
        mask: u64,
        condition: ValueCondition,
        wait_list: &[Event],
    ) -> Result<Event> {
        self.check_value(address, width)?;
        self.core.enqueue(
            Operation::WaitValue {
                address,
                width,
                value,
                mask,
                condition,
            },
            wait_list,
        )
    }

    /// Enqueues a write of a value.
    ///
    /// # Errors
    /// As [`enqueue_wait_value`](Self::enqueue_wait_value).
    ///
    /// # Safety
    /// The address must stay valid until the command has ended.
    pub unsafe fn enqueue_write_value(
        &self,
        address: u64,
        width: ValueWidth,
        value: u64,
        wait_list: &[Event],
    ) -> Result<Event> {
        self.check_value(address, width)?;
        self.core.enqueue(
            Operation::WriteValue {
                address,
                width,
                value,
            },
            wait_list,
        )
    }

    fn check_value(&self, address: u64, width: ValueWidth) -> Result<()> {
        let size = match width {
            ValueWidth::Bits32 => 4,
            ValueWidth::Bits64 => 8,
        };
        if address == 0 || !address.is_multiple_of(size) {
            return Err(Error::InvalidValue(format!(
                "address {address:#x} of a value is null or not aligned to {size} bytes"
            )));
        }
        self.classify(address, size as usize).map(drop)
    }
}

impl Drop for HostQueue {
    fn drop(&mut self) {
        self.core.release();
    }
}

/// Copies the explicit arguments to the front of a kernarg block.
///
/// # Safety
/// Pointers must be readable for the sizes of the arguments.
unsafe fn copy_arguments(
    kernel: &Kernel,
    arguments: &Arguments<'_>,
    block: &mut Vec<u8>,
) -> Result<()> {
    let end = kernel.explicit_end() as usize;
    block.clear();
    match arguments {
        Arguments::Packed(bytes) => {
            if bytes.len() < end {
                return Err(Error::InvalidValue(format!(
                    "kernel {} takes {end} bytes of arguments, {} were given",
                    kernel.name(),
                    bytes.len()
                )));
            }
            block.extend_from_slice(&bytes[..end]);
        }
        Arguments::Pointers(pointers) => {
            let explicit = kernel.explicit_arguments();
            if pointers.len() < explicit.len() {
                return Err(Error::InvalidValue(format!(
                    "kernel {} takes {} arguments, {} were given",
                    kernel.name(),
                    explicit.len(),
                    pointers.len()
                )));
            }
            block.resize(end, 0);
            for (index, (argument, pointer)) in explicit.iter().zip(*pointers).enumerate() {
                if pointer.is_null() {
                    if argument.size == 0 {
                        continue;
                    }
                    return Err(Error::InvalidValue(format!(
                        "argument {index} of kernel {} is a null pointer",
                        kernel.name()
                    )));
                }
                let start = argument.offset as usize;
                let place = &mut block[start..start + argument.size as usize];
                // SAFETY: the caller's; the place has the argument's size.
                unsafe {
                    std::ptr::copy_nonoverlapping(
                        pointer.cast::<u8>(),
                        place.as_mut_ptr(),
                        place.len(),
                    );
                }
            }
        }
    }
    Ok(())
}

fn check_pattern(pattern: &[u8], size: usize) -> Result<Pattern> {
    Pattern::new(pattern)
        .filter(|pattern| size.is_multiple_of(pattern.len()))
        .ok_or_else(|| {
            Error::InvalidValue(format!(
                "{size} bytes cannot be filled with a pattern of {} bytes",
                pattern.len()
            ))
        })
}

/// Bytes from the first to the last byte of a rectangle.
fn rect_size(rect: &Rect, [width, rows, slices]: [usize; 3]) -> Result<usize> {
    if width == 0 || rows == 0 || slices == 0 {
        return Ok(0);
    }
    let overlap = (rows > 1 && rect.row_pitch < width)
        || (slices > 1
            && rect.slice_pitch
                < rect
                    .row_pitch
                    .saturating_mul(rows - 1)
                    .saturating_add(width));
    if overlap {
        return Err(Error::InvalidValue(format!(
            "rows or slices of a rectangle overlap: {width} bytes x {rows} x {slices} with pitches {} and {}",
            rect.row_pitch, rect.slice_pitch
        )));
    }
    (slices - 1)
        .checked_mul(rect.slice_pitch)
        .and_then(|size| size.checked_add((rows - 1).checked_mul(rect.row_pitch)?))
        .and_then(|size| size.checked_add(width))
        .ok_or_else(|| Error::InvalidValue("a rectangle is larger than the address space".into()))
}
