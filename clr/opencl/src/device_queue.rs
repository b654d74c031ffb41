//! Queues on devices: what a context has of them on each of its devices. What they do is the runtime's below.

use std::sync::{Arc, Weak};

use gneiss_clr::{DeviceQueue, DeviceQueues, Error};
use parking_lot::Mutex;

use crate::{
    constants::*,
    device::Device,
    error::{Result, code},
    fail,
    queue::Queue,
    types::*,
};

/// Bytes of a queue that is made without a size, and what `CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE` says.
pub const PREFERRED_SIZE: u32 = 256 << 10;
/// What `CL_DEVICE_MAX_ON_DEVICE_QUEUES` says; more are made while there is memory.
pub const MAX_QUEUES: u32 = 16;

/// The device queues of a context on one device.
#[derive(Debug, Default)]
pub struct OnDevice {
    /// Made with the first queue, or the first kernel that may enqueue kernels.
    shared: Mutex<Option<Arc<DeviceQueues>>>,
    default: Mutex<Weak<Queue>>,
}

impl OnDevice {
    /// What the queues share.
    ///
    /// # Errors
    /// `CL_OUT_OF_RESOURCES`.
    pub fn shared(&self, device: &Device) -> Result<Arc<DeviceQueues>> {
        let mut shared = self.shared.lock();
        if let Some(shared) = &*shared {
            return Ok(Arc::clone(shared));
        }
        let made = DeviceQueues::new(&device.clr).map_err(code)?;
        *shared = Some(Arc::clone(&made));
        Ok(made)
    }

    /// Makes a queue.
    ///
    /// # Errors
    /// `CL_INVALID_QUEUE_PROPERTIES` for a size that is too large, `CL_OUT_OF_RESOURCES`.
    pub fn queue(&self, device: &Device, size: cl_uint) -> Result<DeviceQueue> {
        match self.shared(device)?.queue(size) {
            Err(Error::InvalidValue(reason)) => fail!(CL_INVALID_QUEUE_PROPERTIES, "{reason}"),
            made => made.map_err(code),
        }
    }

    /// The queue that kernels enqueue to by default.
    pub fn default_queue(&self) -> Option<Arc<Queue>> {
        self.default.lock().upgrade()
    }

    /// Changes it.
    pub fn set_default(&self, queue: &Arc<Queue>) {
        *self.default.lock() = Arc::downgrade(queue);
    }
}
