//! The public side of a host queue: every argument is checked before a command is enqueued. Kernels are here.

use std::sync::Arc;

use gneiss_fatbin::ValueKind;

use super::{Arguments, EnqueuesTo, Launch, MultiGrid, NdRange, QueueCore, QueueOptions};
use crate::{
    Device, Error, Event, Kernel, Result,
    command::{ArgumentBlock, KernelCommand, Operation},
    error::LaunchLimit,
    kernel::Printf,
    trace::{self, format::CommandKind},
};

/// A queue of commands for one device, in order unless made otherwise. Dropping the last reference refuses nothing that is enqueued: it still runs.
#[derive(Debug)]
pub struct HostQueue {
    pub(super) core: Arc<QueueCore>,
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

    pub(crate) fn core(&self) -> &Arc<QueueCore> {
        &self.core
    }

    /// Its device.
    pub fn device(&self) -> &Arc<Device> {
        self.core.device()
    }

    /// Number, unique in the process.
    pub fn id(&self) -> u64 {
        self.core.id()
    }

    /// Names it, for reports and traces. The first name stays.
    pub fn set_name(&self, name: &str) {
        self.core.set_name(name);
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
        if trace::on() {
            trace::record::flush(self.core.id());
        }
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
        // SAFETY: the caller's.
        unsafe { self.enqueue_kernel_at(launch, NdRange::default(), wait_list) }
    }

    /// As [`enqueue_kernel`](Self::enqueue_kernel), with OpenCL's offset and dimensions of the grid.
    ///
    /// # Errors
    /// As [`enqueue_kernel`](Self::enqueue_kernel).
    ///
    /// # Safety
    /// As [`enqueue_kernel`](Self::enqueue_kernel).
    pub unsafe fn enqueue_kernel_at(
        &self,
        launch: &Launch<'_>,
        range: NdRange,
        wait_list: &[Event],
    ) -> Result<Event> {
        // SAFETY: the caller's.
        unsafe { self.enqueue_kernel_with(launch, range, EnqueuesTo::default(), None, wait_list) }
    }

    /// As [`enqueue_kernel`](Self::enqueue_kernel), for a cooperative launch that is one of several on different devices. All of them must be
    /// enqueued, and nothing that they wait for behind one of them: each waits for the others.
    ///
    /// # Errors
    /// As [`enqueue_kernel`](Self::enqueue_kernel).
    ///
    /// # Safety
    /// As [`enqueue_kernel`](Self::enqueue_kernel); the memory to synchronise on must live until the launches have ended.
    pub unsafe fn enqueue_kernel_of_several(
        &self,
        launch: &Launch<'_>,
        grid: MultiGrid,
        wait_list: &[Event],
    ) -> Result<Event> {
        // SAFETY: the caller's.
        unsafe {
            self.enqueue_kernel_with(
                launch,
                NdRange::default(),
                EnqueuesTo::default(),
                Some(Box::new(grid)),
                wait_list,
            )
        }
    }

    /// # Safety
    /// As [`enqueue_kernel`](Self::enqueue_kernel).
    pub(super) unsafe fn enqueue_kernel_with(
        &self,
        launch: &Launch<'_>,
        range: NdRange,
        enqueues_to: EnqueuesTo,
        multigrid: Option<Box<MultiGrid>>,
        wait_list: &[Event],
    ) -> Result<Event> {
        // SAFETY: the caller's.
        let (mut command, spare) =
            unsafe { kernel_command(self.device(), launch, self.core.argument_buffer()) }?;
        if let Some(spare) = spare {
            self.core.keep_argument_buffer(spare);
        }
        command.offset = (range.offset != [0; 3]).then(|| Box::new(range.offset));
        command.dimensions = range.dimensions;
        command.enqueues_to = enqueues_to;
        command.multigrid = multigrid;
        self.enqueue_command(command, wait_list)
    }

    /// Enqueues a launch that is checked, and waits before and after it where launches are serialised.
    pub(super) fn enqueue_command(
        &self,
        mut command: KernelCommand,
        wait_list: &[Event],
    ) -> Result<Event> {
        let printing = match command.kernel.printf() {
            Printf::Formats(formats) if command.prints() => {
                let buffer = self.device().take_printf_buffer()?;
                command.printf = buffer.address();
                Some((formats.clone(), buffer))
            }
            _ => None,
        };
        let serialize = self.device().shared().config.serialize_kernel;
        if serialize & 1 != 0 {
            self.finish()?;
        }
        let event =
            self.core
                .enqueue(CommandKind::Kernel, Operation::Kernel(command), wait_list)?;
        if let Some((formats, buffer)) = printing {
            let device = self.device().clone();
            event.on_complete(move |_| {
                buffer.print(&formats);
                device.give_printf_buffer(buffer);
            });
        }
        if serialize & 2 != 0 {
            event.wait()?;
        }
        Ok(event)
    }
}

impl Drop for HostQueue {
    fn drop(&mut self) {
        self.core.release();
    }
}

/// Refuses a kernel of another device.
pub(super) fn check_device(device: &Arc<Device>, kernel: &Kernel) -> Result<()> {
    if Arc::ptr_eq(kernel.device(), device) {
        return Ok(());
    }
    Err(Error::InvalidValue(format!(
        "kernel {} is loaded on another device than the queue's",
        kernel.name()
    )))
}

/// Checks a launch against the limits of a device and of the kernel; gives the block.
fn check_launch(device: &Arc<Device>, launch: &Launch<'_>) -> Result<[u16; 3]> {
    let kernel = launch.kernel;
    check_device(device, kernel)?;
    let properties = device.properties();
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

/// Checks a launch and copies its arguments into the buffer, which comes back if it is not needed.
///
/// # Safety
/// Pointers in `launch.arguments` must be readable for the sizes of the kernel's arguments.
pub(super) unsafe fn kernel_command(
    device: &Arc<Device>,
    launch: &Launch<'_>,
    mut buffer: Vec<u8>,
) -> Result<(KernelCommand, Option<Vec<u8>>)> {
    let block = check_launch(device, launch)?;
    let kernel = launch.kernel;
    // SAFETY: the caller's.
    unsafe { copy_arguments(kernel, &launch.arguments, &mut buffer) }?;
    let wants = |kind| {
        kernel
            .hidden_arguments()
            .iter()
            .any(|argument| argument.value_kind == kind)
    };
    if wants(ValueKind::HiddenPrintfBuffer) && matches!(kernel.printf(), Printf::Unknown) {
        return Err(Error::Unsupported(format!(
            "kernel {}: printf through a buffer in a form that is not OpenCL's (compiled with -mprintf-kind=buffered)",
            kernel.name()
        )));
    }
    let (arguments, spare) = ArgumentBlock::new(buffer);
    let command = KernelCommand {
        offset: None,
        dimensions: NdRange::default().dimensions,
        enqueues_to: EnqueuesTo::default(),
        kernel: kernel.clone(),
        grid: launch.grid,
        block,
        dynamic_lds: launch.dynamic_shared,
        arguments,
        cooperative: launch.cooperative,
        multigrid: None,
        any_order: launch.any_order,
        wants_hostcall: wants(ValueKind::HiddenHostcallBuffer),
        printf: 0,
        wants_heap: wants(ValueKind::HiddenHeapV1),
    };
    Ok((command, spare))
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
                return Err(Error::InvalidValue(kernel.too_short(bytes.len())));
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
                        "{} of kernel {} is a null pointer",
                        kernel.argument_name(index),
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
