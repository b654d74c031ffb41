//! The other commands: markers and barriers, host and native functions, value operations, migrations, external objects, shared virtual memory.

use super::{HostFunction, HostQueue, ReadyFunction, ValueCondition, ValueWidth};
use crate::{Error, Event, Result, Status, command::Operation, trace::format::CommandKind};

/// Where memory is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigrateTarget {
    /// On the queue's device.
    Device,
    /// In host memory.
    Host,
}

impl HostQueue {
    /// Enqueues a marker: it ends when all earlier commands of this queue and its wait list have ended; later commands wait for it.
    /// Its end time is what HIP's events show.
    ///
    /// # Errors
    /// The device's fault.
    pub fn enqueue_marker(&self, wait_list: &[Event]) -> Result<Event> {
        self.core
            .enqueue(CommandKind::Marker, Operation::Marker, wait_list)
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
            CommandKind::HostFunction,
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
            CommandKind::WaitValue,
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
            CommandKind::WriteValue,
            Operation::WriteValue {
                address,
                width,
                value,
            },
            wait_list,
        )
    }

    fn check_value(&self, address: u64, width: ValueWidth) -> Result<()> {
        let size = width.bytes();
        if address == 0 || !address.is_multiple_of(size as u64) {
            return Err(Error::InvalidValue(format!(
                "address {address:#x} of a value is null or not aligned to {size} bytes"
            )));
        }
        self.classify(address, size).map(drop)
    }

    /// For simulations: a command that keeps the host busy.
    pub(crate) fn enqueue_busy(
        &self,
        kind: CommandKind,
        mark: u64,
        nanoseconds: u64,
        wait_list: &[Event],
    ) -> Result<Event> {
        self.core
            .enqueue(kind, Operation::Busy { mark, nanoseconds }, wait_list)
    }

    /// For simulations: a marker of any kind.
    pub(crate) fn enqueue_nothing(&self, kind: CommandKind, wait_list: &[Event]) -> Result<Event> {
        self.core.enqueue(kind, Operation::Marker, wait_list)
    }

    /// Enqueues a barrier: as a marker, and in an out-of-order queue later commands wait for it, too.
    ///
    /// # Errors
    /// The device's fault.
    pub fn enqueue_barrier(&self, wait_list: &[Event]) -> Result<Event> {
        self.core
            .enqueue(CommandKind::Barrier, Operation::Marker, wait_list)
    }

    /// Enqueues a function of an OpenCL program. It is not called if the device or the wait list has failed.
    ///
    /// # Errors
    /// The device's fault.
    pub fn enqueue_native(
        &self,
        function: impl FnOnce() + Send + 'static,
        wait_list: &[Event],
    ) -> Result<Event> {
        self.core.enqueue(
            CommandKind::NativeFunction,
            Operation::Host {
                function: Some(Box::new(move |_| function())),
                run_on_error: false,
            },
            wait_list,
        )
    }

    /// Enqueues a migration of allocations. On every device of this runtime memory can be used where it is, so it only takes its place in
    /// the queue's order.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for an address that is in no allocation; the device's fault.
    pub fn enqueue_migrate(
        &self,
        addresses: &[u64],
        _target: MigrateTarget,
        wait_list: &[Event],
    ) -> Result<Event> {
        self.check_known(addresses)?;
        self.core
            .enqueue(CommandKind::Migrate, Operation::Marker, wait_list)
    }

    /// Enqueues the take-over of objects of another API: it ends when `ready` says so. The function is called again and again by whoever
    /// drains the queue; it must not block and must not call this runtime.
    ///
    /// # Errors
    /// The device's fault.
    pub fn enqueue_acquire_external(
        &self,
        ready: ReadyFunction,
        wait_list: &[Event],
    ) -> Result<Event> {
        self.core.enqueue(
            CommandKind::AcquireExternal,
            Operation::Acquire(ready),
            wait_list,
        )
    }

    /// Enqueues the giving back of objects: `release` is called, on a worker, when all earlier commands have ended and what they wrote is
    /// visible.
    ///
    /// # Errors
    /// The device's fault.
    pub fn enqueue_release_external(
        &self,
        release: impl FnOnce(Status) + Send + 'static,
        wait_list: &[Event],
    ) -> Result<Event> {
        self.core.enqueue(
            CommandKind::ReleaseExternal,
            Operation::Host {
                function: Some(Box::new(release)),
                run_on_error: true,
            },
            wait_list,
        )
    }

    /// Enqueues a copy of shared virtual memory.
    ///
    /// # Errors
    /// As [`enqueue_copy`](Self::enqueue_copy).
    ///
    /// # Safety
    /// As [`enqueue_copy`](Self::enqueue_copy).
    pub unsafe fn enqueue_svm_copy(
        &self,
        dst: u64,
        src: u64,
        size: usize,
        wait_list: &[Event],
    ) -> Result<Event> {
        // SAFETY: the caller's.
        unsafe { self.enqueue_copy_as(Some(CommandKind::SvmCopy), dst, src, size, wait_list) }
    }

    /// Enqueues a fill of shared virtual memory.
    ///
    /// # Errors
    /// As [`enqueue_fill`](Self::enqueue_fill).
    ///
    /// # Safety
    /// As [`enqueue_fill`](Self::enqueue_fill).
    pub unsafe fn enqueue_svm_fill(
        &self,
        dst: u64,
        pattern: &[u8],
        size: usize,
        wait_list: &[Event],
    ) -> Result<Event> {
        // SAFETY: the caller's.
        unsafe { self.enqueue_fill_as(CommandKind::SvmFill, dst, pattern, size, wait_list) }
    }

    /// Enqueues a map of shared virtual memory, which the host can access anyway: it takes its place in the queue's order.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for an address that is in no allocation, or that the host cannot access; the device's fault.
    pub fn enqueue_svm_map(&self, address: u64, wait_list: &[Event]) -> Result<Event> {
        self.check_svm(address)?;
        self.core
            .enqueue(CommandKind::SvmMap, Operation::Marker, wait_list)
    }

    /// Enqueues the end of such a map.
    ///
    /// # Errors
    /// As [`enqueue_svm_map`](Self::enqueue_svm_map).
    pub fn enqueue_svm_unmap(&self, address: u64, wait_list: &[Event]) -> Result<Event> {
        self.check_svm(address)?;
        self.core
            .enqueue(CommandKind::SvmUnmap, Operation::Marker, wait_list)
    }

    /// Enqueues the freeing of allocations, by their base addresses, when all earlier commands have ended.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for an address that is in no allocation; the device's fault.
    pub fn enqueue_svm_free(&self, addresses: &[u64], wait_list: &[Event]) -> Result<Event> {
        self.check_known(addresses)?;
        let addresses = addresses.to_vec();
        let runtime = self.device().runtime();
        self.core.enqueue(
            CommandKind::SvmFree,
            Operation::Host {
                function: Some(Box::new(move |_| {
                    for address in addresses {
                        let freed = runtime
                            .as_ref()
                            .map(|runtime| runtime.free(address as usize));
                        if let Some(Err(error)) = freed {
                            tracing::error!("{error}");
                        }
                    }
                })),
                run_on_error: true,
            },
            wait_list,
        )
    }

    /// Enqueues a prefetch of shared virtual memory; see [`enqueue_migrate`](Self::enqueue_migrate).
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for an address that is in no allocation; the device's fault.
    pub fn enqueue_svm_prefetch(
        &self,
        addresses: &[u64],
        _target: MigrateTarget,
        wait_list: &[Event],
    ) -> Result<Event> {
        self.check_known(addresses)?;
        self.core
            .enqueue(CommandKind::SvmPrefetch, Operation::Marker, wait_list)
    }

    fn check_known(&self, addresses: &[u64]) -> Result<()> {
        let map = &self.device().shared().map;
        match addresses
            .iter()
            .find(|address| map.find(**address as usize).is_none())
        {
            Some(address) => Err(Error::InvalidValue(format!(
                "{address:#x} is in no allocation of this runtime"
            ))),
            None => Ok(()),
        }
    }

    fn check_svm(&self, address: u64) -> Result<()> {
        self.check_known(&[address])?;
        let found = self.device().shared().map.find(address as usize);
        match found {
            Some((memory, _)) if memory.host_address().is_some() => Ok(()),
            _ => Err(Error::InvalidValue(format!(
                "the host cannot access {address:#x}"
            ))),
        }
    }
}
