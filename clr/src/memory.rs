//! Memory objects and the map from addresses to them.

use std::sync::Arc;

use bitflags::bitflags;

use crate::Device;

/// What kind of memory an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// Coarse-grained memory of a device.
    Device,
    /// Pinned host memory, from this runtime.
    Host,
    /// Managed memory: one address for host and devices.
    Managed,
    /// The user's own host memory, registered.
    Registered,
    /// Signal memory: one 64-bit value that stream value operations may use.
    Signal,
    /// Memory of another process, opened through an IPC handle.
    Ipc,
}

bitflags! {
    /// Flags of pinned and registered host memory.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct HostFlags: u32 {
        /// Coherent with running kernels (fine-grained); else coarse-grained.
        const COHERENT = 1;
        /// All devices may access it.
        const PORTABLE = 2;
        /// It has a device address.
        const MAPPED = 4;
        /// Write-combined: a hint, kept for queries.
        const WRITE_COMBINED = 8;
        /// Read-only for devices: a hint, kept for queries.
        const READ_ONLY = 16;
    }
}

/// One allocation. Freed by [`Runtime::free`](crate::Runtime::free), not by dropping references: the last reference only releases the record.
#[derive(Debug)]
pub struct Memory {}

impl Memory {
    /// Its kind.
    pub fn kind(&self) -> MemoryKind {
        todo!()
    }
    /// Device address of the first byte.
    pub fn device_address(&self) -> u64 {
        todo!()
    }
    /// Host address of the first byte; for device memory, if the host can access it.
    pub fn host_address(&self) -> Option<usize> {
        todo!()
    }
    /// Bytes, as asked for.
    pub fn size(&self) -> usize {
        todo!()
    }
    /// The device it lives on, or that was current when host memory was allocated.
    pub fn device(&self) -> &Arc<Device> {
        todo!()
    }
    /// Flags of host memory.
    pub fn host_flags(&self) -> HostFlags {
        todo!()
    }
    /// Number of the allocation, unique in the process and never used again.
    pub fn id(&self) -> u64 {
        todo!()
    }
}
