//! Pinned host ranges (`hsa_amd_memory_lock`): host memory that GPUs reach under another address.
//!
//! The device address is in address space that is reserved and holds nothing, so it can never be the address of anything else; AMD's
//! CLR keeps both addresses as keys of one table and fails if they are equal. The sub-page offset is kept.
//!
//! Locks nest: a range that is locked again has the same address, and is released with the last unlock.

use std::{
    collections::BTreeMap,
    ptr::NonNull,
    sync::atomic::{AtomicUsize, Ordering},
};

use gneiss_amdgcn::memory::Mapping;
use gneiss_hsa_api::*;
use parking_lot::Mutex;

use crate::{
    agent::Agents,
    entry::HsaResult,
    memory::{GpuSet, arena, members, next_number},
    segv,
};

/// One pinned range.
#[derive(Clone, Debug)]
pub(crate) struct Pin {
    /// Address of the program.
    pub(crate) host: u64,
    /// Bytes.
    pub(crate) size: u64,
    /// Address for GPUs.
    pub(crate) alias: u64,
    /// GPUs that may touch it.
    pub(crate) access: GpuSet,
    /// Fine-grained, as seen by GPUs.
    fine: bool,
    number: u64,
    reserved: (NonNull<u8>, usize),
    count: usize,
}

// SAFETY: the pointer is to reserved address space; nobody dereferences it.
unsafe impl Send for Pin {}

#[derive(Default)]
struct Table {
    by_alias: BTreeMap<u64, Pin>,
    /// Host address and size to alias.
    by_host: BTreeMap<(u64, u64), u64>,
}

/// All pinned ranges.
#[derive(Default)]
pub(crate) struct Pins {
    table: Mutex<Table>,
    /// Number of ranges, so that addresses need no lock to be looked up when there are none.
    count: AtomicUsize,
}

impl Pins {
    /// Pins a range for a set of GPUs and returns the address for them. A range that is pinned again stays as fine-grained as it was.
    ///
    /// # Safety
    /// The program keeps the range mapped until it is unlocked.
    pub(crate) unsafe fn lock(
        &self,
        agents: &Agents,
        host: u64,
        size: u64,
        access: GpuSet,
        fine: bool,
    ) -> HsaResult<u64> {
        // The range is the program's: it may go while a kernel runs.
        segv::install();
        let mut table = self.table.lock();
        if let Some(alias) = table.by_host.get(&(host, size)).copied()
            && let Some(pin) = table.by_alias.get_mut(&alias)
        {
            pin.count += 1;
            let missing = access & !pin.access;
            pin.map(agents, missing)?;
            return Ok(alias);
        }
        let offset = host % arena::PAGE as u64;
        let bytes = offset
            .checked_add(size)
            .and_then(|bytes| bytes.checked_next_multiple_of(arena::PAGE as u64))
            // A page between two ranges, so that running past one is a fault.
            .and_then(|bytes| bytes.checked_add(arena::PAGE as u64))
            .and_then(|bytes| usize::try_from(bytes).ok())
            .ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        let base =
            arena::reserve_addresses(bytes).map_err(|_| HSA_STATUS_ERROR_OUT_OF_RESOURCES)?;
        let mut pin = Pin {
            host,
            size,
            alias: base.as_ptr() as u64 + offset,
            access: 0,
            fine,
            number: next_number(),
            reserved: (base, bytes),
            count: 1,
        };
        if let Err(status) = pin.map(agents, access) {
            pin.release(agents);
            return Err(status);
        }
        let alias = pin.alias;
        table.by_host.insert((host, size), alias);
        table.by_alias.insert(alias, pin);
        self.count.fetch_add(1, Ordering::Release);
        Ok(alias)
    }

    /// Takes one lock of the range that starts at a host address back.
    pub(crate) fn unlock(&self, agents: &Agents, host: u64) -> HsaResult {
        let pin = {
            let mut table = self.table.lock();
            let (&key, &alias) = table
                .by_host
                .range((host, 0)..=(host, u64::MAX))
                .next_back()
                .ok_or(HSA_STATUS_ERROR)?;
            let pin = table.by_alias.get_mut(&alias).ok_or(HSA_STATUS_ERROR)?;
            pin.count -= 1;
            if pin.count > 0 {
                return Ok(());
            }
            table.by_host.remove(&key);
            self.count.fetch_sub(1, Ordering::Release);
            table.by_alias.remove(&alias).ok_or(HSA_STATUS_ERROR)?
        };
        pin.release(agents);
        Ok(())
    }

    /// The host address of a range of aliases; `None` if it is no alias, an error if it leaves its pinned range.
    pub(crate) fn translate(&self, address: u64, size: u64) -> HsaResult<Option<*mut u8>> {
        Ok(match self.find_alias(address) {
            None => None,
            Some(pin) if size <= pin.size - (address - pin.alias) => {
                Some((pin.host + (address - pin.alias)) as *mut u8)
            }
            Some(_) => return Err(HSA_STATUS_ERROR_INVALID_ALLOCATION),
        })
    }

    /// The pinned range whose alias range holds an address.
    pub(crate) fn find_alias(&self, address: u64) -> Option<Pin> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let table = self.table.lock();
        let (_, pin) = table.by_alias.range(..=address).next_back()?;
        (address - pin.alias < pin.size).then(|| pin.clone())
    }

    /// The pinned range whose host range holds an address.
    pub(crate) fn find_host(&self, address: u64) -> Option<Pin> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let table = self.table.lock();
        // Ranges may overlap: the nearest start need not be the one that holds the address.
        table
            .by_host
            .range(..=(address, u64::MAX))
            .rev()
            .find(|((host, size), _)| address - host < *size)
            .and_then(|(_, alias)| table.by_alias.get(alias).cloned())
    }

    /// Makes `access` the GPUs that may touch the pinned range that holds an alias; false if there is none.
    pub(crate) fn set_access(
        &self,
        agents: &Agents,
        alias: u64,
        access: GpuSet,
    ) -> HsaResult<bool> {
        let mut table = self.table.lock();
        let Some((_, pin)) = table
            .by_alias
            .range_mut(..=alias)
            .next_back()
            .filter(|(_, pin)| alias - pin.alias < pin.size)
        else {
            return Ok(false);
        };
        let lost = pin.access & !access;
        pin.unmap(agents, lost);
        pin.access &= access;
        let missing = access & !pin.access;
        pin.map(agents, missing)?;
        Ok(true)
    }

    /// Releases all ranges.
    pub(crate) fn clear(&self, agents: &Agents) {
        let table = std::mem::take(&mut *self.table.lock());
        self.count.store(0, Ordering::Release);
        for (_, pin) in table.by_alias {
            pin.release(agents);
        }
    }
}

impl Pin {
    fn map(&mut self, agents: &Agents, set: GpuSet) -> HsaResult {
        for index in members(set) {
            let gpu = agents
                .gpus
                .get(index)
                .ok_or(HSA_STATUS_ERROR_INVALID_AGENT)?;
            let mapping = Mapping {
                base: self.alias,
                len: self.size,
                host: self.host as *mut u8,
                rights: gpu.rights(self.fine),
                allocation: self.number,
            };
            // SAFETY: the program keeps the range until it unlocks it, which removes the mapping.
            unsafe { super::map(gpu, mapping) }?;
            self.access |= 1 << index;
        }
        Ok(())
    }

    fn unmap(&self, agents: &Agents, set: GpuSet) {
        for gpu in members(set).filter_map(|index| agents.gpus.get(index)) {
            gpu.engine.map.remove(self.alias);
        }
    }

    fn release(self, agents: &Agents) {
        self.unmap(agents, self.access);
        // SAFETY: the reservation is this range's own, and no GPU maps it any more.
        unsafe { arena::unreserve(self.reserved.0, self.reserved.1) };
    }
}
