//! Memory objects and the map from addresses to them.
//!
//! The map has one entry for each range of addresses, host or device, of an allocation. It is written at allocation and freeing, and read
//! for every copy and pointer query: a read lock and a search of a tree.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

use bitflags::bitflags;
use gneiss_hsa_api::hsa_signal_t;
use parking_lot::RwLock;

use crate::Device;

/// What kind of memory an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// Memory of a device.
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
    /// A range that memory of a device is mapped into (virtual memory management).
    Mapped,
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
pub struct Memory {
    pub(crate) kind: MemoryKind,
    pub(crate) device_address: u64,
    pub(crate) host_address: Option<usize>,
    pub(crate) size: usize,
    pub(crate) device: Arc<Device>,
    pub(crate) host_flags: HostFlags,
    pub(crate) id: u64,
    /// Of signal memory.
    pub(crate) signal: hsa_signal_t,
    pub(crate) user_flags: AtomicU32,
}

impl Memory {
    /// Its kind.
    pub fn kind(&self) -> MemoryKind {
        self.kind
    }

    /// Device address of the first byte.
    pub fn device_address(&self) -> u64 {
        self.device_address
    }

    /// Host address of the first byte; for device memory, if the host can access it.
    pub fn host_address(&self) -> Option<usize> {
        self.host_address
    }

    /// Bytes, as asked for.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The device it lives on, or that was current when host memory was allocated.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Flags of host memory.
    pub fn host_flags(&self) -> HostFlags {
        self.host_flags
    }

    /// A number that the caller keeps with the allocation; 0 at first.
    pub fn user_flags(&self) -> u32 {
        self.user_flags.load(Ordering::Relaxed)
    }

    /// Changes that number.
    pub fn set_user_flags(&self, flags: u32) {
        self.user_flags.store(flags, Ordering::Relaxed);
    }

    /// Number of the allocation, unique in the process and never used again.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The addresses at which the map knows it: device, and host where that is another one.
    fn bases(&self) -> impl Iterator<Item = usize> {
        let device = self.device_address as usize;
        let host = self.host_address.filter(|host| *host != device);
        std::iter::once(device).chain(host)
    }
}

/// From addresses to allocations.
#[derive(Debug, Default)]
pub(crate) struct MemoryMap {
    ranges: RwLock<BTreeMap<usize, Arc<Memory>>>,
    /// Whether registered ranges have ever overlapped, so that the nearest start need not be the one that holds an address. Written under
    /// the lock, which orders it with the entries.
    overlapping: AtomicBool,
}

impl MemoryMap {
    /// Adds an allocation. Ranges of live allocations never overlap: the library hands them out. Those of the program's own memory may, and
    /// the newest of the same start is the one that is found there.
    pub(crate) fn insert(&self, memory: &Arc<Memory>) {
        let mut ranges = self.ranges.write();
        if memory.kind == MemoryKind::Registered {
            let overlaps = memory
                .bases()
                .any(|base| Self::nearest(&ranges, base, memory.size).is_some());
            if overlaps {
                self.overlapping.store(true, Ordering::Relaxed);
            }
        }
        for base in memory.bases() {
            ranges.insert(base, memory.clone());
        }
    }

    /// The last range that starts before the end of another one, if it reaches into it.
    fn nearest(
        ranges: &BTreeMap<usize, Arc<Memory>>,
        address: usize,
        size: usize,
    ) -> Option<(usize, &Arc<Memory>)> {
        ranges
            .range(..address.saturating_add(size))
            .next_back()
            .filter(|(base, memory)| base.saturating_add(memory.size) > address)
            .map(|(base, memory)| (*base, memory))
    }

    /// Takes out the allocation with that base (host or device) if `accept` agrees.
    pub(crate) fn remove(
        &self,
        address: usize,
        accept: impl FnOnce(&Memory) -> bool,
    ) -> Option<Arc<Memory>> {
        let mut ranges = self.ranges.write();
        let memory = ranges.get(&address)?.clone();
        if !accept(&memory) {
            return None;
        }
        for base in memory.bases() {
            ranges.remove(&base);
        }
        Some(memory)
    }

    /// Takes an allocation out, at whichever of its addresses it is known.
    pub(crate) fn take_out(&self, memory: &Arc<Memory>) {
        let mut ranges = self.ranges.write();
        for base in memory.bases() {
            if ranges
                .get(&base)
                .is_some_and(|known| Arc::ptr_eq(known, memory))
            {
                ranges.remove(&base);
            }
        }
    }

    /// Takes the host address of an allocation out.
    pub(crate) fn hide_host(&self, memory: &Arc<Memory>) {
        let mut ranges = self.ranges.write();
        if let Some(host) = memory.host_address
            && ranges
                .get(&host)
                .is_some_and(|known| Arc::ptr_eq(known, memory))
        {
            ranges.remove(&host);
        }
    }

    /// The allocation that holds the address, and the offset in it. Address 1 past the end is outside.
    pub(crate) fn find(&self, address: usize) -> Option<(Arc<Memory>, usize)> {
        let ranges = self.ranges.read();
        if let Some((base, memory)) = Self::nearest(&ranges, address, 1) {
            return Some((memory.clone(), address - base));
        }
        if !self.overlapping.load(Ordering::Relaxed) {
            return None;
        }
        ranges
            .range(..=address)
            .rev()
            .find(|(base, memory)| address - **base < memory.size)
            .map(|(base, memory)| (memory.clone(), address - base))
    }

    /// The allocations whose ranges overlap with this one, the last of them first.
    pub(crate) fn overlapping(&self, address: usize, size: usize) -> Vec<Arc<Memory>> {
        let end = address.saturating_add(size);
        let ranges = self.ranges.read();
        let all = self.overlapping.load(Ordering::Relaxed);
        let reaches = |base: usize, memory: &Memory| base.saturating_add(memory.size) > address;
        ranges
            .range(..end)
            .rev()
            .take_while(|(base, memory)| all || reaches(**base, memory))
            .filter(|(base, memory)| reaches(**base, memory))
            .map(|(_, memory)| memory.clone())
            .collect()
    }

    /// All allocations that `accept` agrees to.
    pub(crate) fn filter(&self, accept: impl Fn(&Memory) -> bool) -> Vec<Arc<Memory>> {
        let ranges = self.ranges.read();
        let mut found: Vec<_> = ranges
            .iter()
            .filter(|(base, memory)| **base == memory.device_address as usize && accept(memory))
            .map(|(_, memory)| memory.clone())
            .collect();
        found.sort_by_key(|memory| memory.id);
        found
    }
}
