//! Kernels that are prepared once and enqueued often: their arguments are copied when they are prepared.

use std::sync::Arc;

use super::{Arguments, HostQueue, Launch};
use crate::{Device, Error, Event, Kernel, Result};

/// A launch with its arguments.
#[derive(Debug)]
struct Prepared {
    kernel: Arc<Kernel>,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared: u32,
    arguments: Box<[u8]>,
    cooperative: bool,
}

/// Kernels of one device that are enqueued together, in their order; clones are the same kernels.
#[derive(Clone, Debug)]
pub struct PreparedKernels(Arc<[Prepared]>);

impl PreparedKernels {
    /// Prepares launches for a device; their arguments must be packed.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for kernels of another device, and for arguments that are not packed.
    pub fn new(device: &Arc<Device>, launches: &[Launch<'_>]) -> Result<Self> {
        let prepare = |launch: &Launch<'_>| {
            if !Arc::ptr_eq(launch.kernel.device(), device) {
                return Err(Error::InvalidValue(format!(
                    "kernel {} is loaded on another device",
                    launch.kernel.name()
                )));
            }
            let Arguments::Packed(bytes) = launch.arguments else {
                return Err(Error::InvalidValue(format!(
                    "the arguments of kernel {} are not packed",
                    launch.kernel.name()
                )));
            };
            Ok(Prepared {
                kernel: launch.kernel.clone(),
                grid: launch.grid,
                block: launch.block,
                dynamic_shared: launch.dynamic_shared,
                arguments: bytes.into(),
                cooperative: launch.cooperative,
            })
        };
        launches
            .iter()
            .map(prepare)
            .collect::<Result<Arc<[_]>>>()
            .map(Self)
    }
}

impl HostQueue {
    /// Enqueues prepared kernels; the first waits for the list, and the event is the last one's. Without kernels it is a marker's.
    ///
    /// # Errors
    /// As [`enqueue_kernel`](Self::enqueue_kernel).
    ///
    /// # Safety
    /// What the kernels do with memory is the caller's.
    pub unsafe fn enqueue_prepared(
        &self,
        kernels: &PreparedKernels,
        wait_list: &[Event],
    ) -> Result<Event> {
        let mut last = None;
        for prepared in kernels.0.iter() {
            let launch = Launch {
                kernel: &prepared.kernel,
                grid: prepared.grid,
                block: prepared.block,
                dynamic_shared: prepared.dynamic_shared,
                arguments: Arguments::Packed(&prepared.arguments),
                cooperative: prepared.cooperative,
                any_order: false,
            };
            let wait = if last.is_none() { wait_list } else { &[] };
            // SAFETY: packed arguments are our own bytes; the rest is the caller's.
            last = Some(unsafe { self.enqueue_kernel(&launch, wait) }?);
        }
        last.map_or_else(|| self.enqueue_marker(wait_list), Ok)
    }
}
