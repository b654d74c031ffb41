//! Kernels that are prepared once and enqueued often: their launches are checked, and their arguments copied, when they are prepared.

use std::sync::Arc;

use super::{
    Arguments, HostQueue, Launch,
    host_queue::{check_device, kernel_command},
};
use crate::{
    Device, Error, Event, Result,
    command::{KernelCommand, Operation},
    trace::format::CommandKind,
};

/// Kernels of one device that are enqueued together; clones are the same kernels.
#[derive(Clone, Debug)]
pub struct PreparedKernels {
    list: Arc<[KernelCommand]>,
    /// They can be one command: none of them needs a hardware queue of its own.
    together: bool,
}

impl PreparedKernels {
    /// Prepares launches for a device; their arguments must be packed.
    ///
    /// # Errors
    /// As [`enqueue_kernel`](HostQueue::enqueue_kernel), and [`Error::InvalidValue`] for arguments that are not packed.
    pub fn new(device: &Arc<Device>, launches: &[Launch<'_>]) -> Result<Self> {
        let prepare = |launch: &Launch<'_>| {
            if !matches!(launch.arguments, Arguments::Packed(_)) {
                return Err(Error::InvalidValue(format!(
                    "the arguments of kernel {} are not packed",
                    launch.kernel.name()
                )));
            }
            // SAFETY: packed arguments are a slice.
            unsafe { kernel_command(device, launch, Vec::new()) }.map(|(command, _)| command)
        };
        let list = launches
            .iter()
            .map(prepare)
            .collect::<Result<Arc<[KernelCommand]>>>()?;
        let together = list.len() > 1 && list.iter().all(|kernel| !kernel.cooperative);
        Ok(Self { list, together })
    }
}

impl HostQueue {
    /// Enqueues prepared kernels; the first waits for the list, and the event is that of all. They run in their order, save that those
    /// with `any_order` may overlap with the ones before them. Without kernels it is a marker's.
    ///
    /// They are one command, which costs the enqueuer no more than one launch; where each kernel is recorded, timed or serialised they
    /// are a command each.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if they were prepared for another device; the device's fault.
    ///
    /// # Safety
    /// What the kernels do with memory is the caller's.
    pub unsafe fn enqueue_prepared(
        &self,
        kernels: &PreparedKernels,
        wait_list: &[Event],
    ) -> Result<Event> {
        let Some((first, rest)) = kernels.list.split_first() else {
            return self.enqueue_marker(wait_list);
        };
        check_device(self.device(), &first.kernel)?;
        let each = kernels.list.iter().any(KernelCommand::prints)
            || self.core.sees_each()
            || self.device().shared().config.serialize_kernel != 0;
        if kernels.together && !each {
            let operation = Operation::Kernels {
                list: kernels.list.clone(),
                next: 0,
            };
            return self.core.enqueue(CommandKind::Kernel, operation, wait_list);
        }
        let mut last = self.enqueue_command(first.clone(), wait_list)?;
        for kernel in rest {
            last = self.enqueue_command(kernel.clone(), &[])?;
        }
        Ok(last)
    }
}
