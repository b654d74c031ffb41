//! The guest memory map: which host memory a device address means, for one GPU.
//!
//! A device pointer is the host address (delta 0), save for lock aliases. The map is read on every memory access of every
//! wave, through a small cache of the worker; it is written only at allocation, freeing and access changes. Writers publish a new
//! immutable snapshot and bump [`GuestMap::generation`]; workers notice at slice ends and before a dispatch's first wave.

use bitflags::bitflags;

bitflags! {
    /// What the device may do with a mapping.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Rights: u8 {
        /// Loads.
        const READ = 1;
        /// Stores and atomics.
        const WRITE = 2;
        /// Instruction fetch.
        const EXECUTE = 4;
    }
}

/// One mapping of a guest range to host memory.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// First guest address.
    pub base: u64,
    /// Length in bytes: the exact size that the user asked for, so that an access past it is a fault.
    pub len: u64,
    /// Host address of the first byte.
    pub host: *mut u8,
    /// Rights.
    pub rights: Rights,
    /// Number of the allocation, unique in the process, for fault reports.
    pub allocation: u64,
}

/// The memory map of one GPU.
#[derive(Debug, Default)]
pub struct GuestMap {}

impl GuestMap {
    /// Adds a mapping; fails if it overlaps one that is there.
    ///
    /// # Safety
    /// `mapping.host` must be valid for `mapping.len` bytes, with the stated rights, until the mapping is removed.
    pub unsafe fn insert(&self, mapping: Mapping) -> Result<(), Mapping> {
        todo!("{mapping:?}")
    }

    /// Removes the mapping that starts at `base`, and waits until no worker can still use it.
    pub fn remove(&self, base: u64) -> Option<Mapping> {
        todo!("{base}")
    }

    /// The mapping that holds `address`, if any.
    pub fn find(&self, address: u64) -> Option<Mapping> {
        todo!("{address}")
    }
}
