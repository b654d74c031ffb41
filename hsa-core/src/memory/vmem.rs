//! The virtual memory interface: reserved addresses, physical memory by handle, and mappings of the one to the other.
//!
//! Physical memory is a memfd, so that a handle can go to another process and be mapped more than once. A mapping is readable and
//! writable for the host from the start, as all memory of the software GPU is; GPUs have the access that was set, and none before.
//!
//! A handle lives until it is released and no mapping uses it. Lock: one for all tables, taken for each call; GPUs' maps change
//! under it.

use std::{
    collections::{BTreeMap, HashMap},
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    ptr::NonNull,
    sync::atomic::{AtomicUsize, Ordering},
};

use gneiss_amdgcn::memory::{Mapping as GuestMapping, Rights};
use gneiss_hsa_api::*;
use parking_lot::Mutex;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use super::{Memory, next_number, share};
use crate::{
    agent::Agents,
    entry::{HsaResult, require},
    memory::{arena::PAGE, pageable::RESERVED},
    pool::PoolId,
};

const PAGES: u64 = PAGE as u64;

/// Physical memory.
struct Physical {
    file: OwnedFd,
    bytes: u64,
    pool: PoolId,
    kind: hsa_amd_memory_type_t,
    /// Handles that were given out and not released.
    handles: usize,
    mappings: usize,
    /// Made here, so the pool is charged.
    charged: bool,
}

/// A part of a physical memory at an address.
struct Mapping {
    bytes: u64,
    physical: u64,
    number: u64,
    /// `HSA_ACCESS_PERMISSION_*` of each GPU that has any.
    access: HashMap<usize, hsa_access_permission_t>,
    /// Of the CPU; 0: not set.
    cpu: hsa_access_permission_t,
}

#[derive(Default)]
struct Tables {
    /// Base to bytes.
    reservations: BTreeMap<u64, u64>,
    mappings: BTreeMap<u64, Mapping>,
    physical: HashMap<u64, Physical>,
    next: u64,
}

/// All of a runtime.
#[derive(Default)]
pub(crate) struct Vmem {
    tables: Mutex<Tables>,
    /// Reservations, so that addresses need no lock to be looked up when there are none.
    count: AtomicUsize,
}

/// What is known of an address.
pub(crate) struct Found {
    /// First byte of the mapping, or of the reservation if nothing is mapped there.
    pub(crate) base: u64,
    /// Bytes.
    pub(crate) bytes: u64,
    /// The pool of the memory that is mapped there.
    pub(crate) pool: Option<PoolId>,
    /// GPUs with access.
    pub(crate) access: u64,
    /// The CPU was given access.
    pub(crate) cpu: bool,
}

impl Tables {
    fn reservation(&self, address: u64, bytes: u64) -> Option<(u64, u64)> {
        let (&base, &length) = self.reservations.range(..=address).next_back()?;
        let inside = address.checked_add(bytes)? <= base + length;
        inside.then_some((base, length))
    }

    fn overlaps(&self, address: u64, bytes: u64) -> bool {
        self.mappings
            .range(..address + bytes)
            .next_back()
            .is_some_and(|(base, mapping)| base + mapping.bytes > address)
    }

    /// First addresses of the mappings that make up a range exactly.
    fn exact(&self, address: u64, bytes: u64) -> Option<Vec<u64>> {
        let mut bases = Vec::new();
        let end = address.checked_add(bytes)?;
        let mut at = address;
        while at < end {
            bases.push(at);
            at += self.mappings.get(&at)?.bytes;
        }
        (at == end && !bases.is_empty()).then_some(bases)
    }
}

fn address(base: u64) -> HsaResult<NonNull<u8>> {
    NonNull::new(base as *mut u8).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)
}

fn no_resources(error: io::Error) -> hsa_status_t {
    tracing::warn!(%error, "the host refuses a mapping");
    HSA_STATUS_ERROR_OUT_OF_RESOURCES
}

/// Reserves addresses with an alignment, near a wish if the system can.
fn reserve(bytes: usize, wish: u64, alignment: usize) -> io::Result<NonNull<u8>> {
    let length = bytes
        .checked_add(alignment)
        .ok_or(io::ErrorKind::OutOfMemory)?;
    // SAFETY: a new mapping; the wish is a hint, which the system ignores if something is there.
    let start = unsafe {
        mmap_anonymous(
            wish as *mut _,
            length,
            ProtFlags::empty(),
            MapFlags::PRIVATE | MapFlags::NORESERVE,
        )
    }? as usize;
    let base = start.next_multiple_of(alignment);
    // SAFETY: the parts of the new mapping before and after the aligned range, which nobody uses.
    unsafe {
        if base != start {
            munmap(start as *mut _, base - start)?;
        }
        let end = base + bytes;
        if end != start + length {
            munmap(end as *mut _, start + length - end)?;
        }
    }
    RESERVED.add(base as u64, bytes);
    NonNull::new(base as *mut u8).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

impl Vmem {
    /// Reserves `bytes` of address space.
    pub(crate) fn reserve(&self, bytes: usize, wish: u64, alignment: u64) -> HsaResult<u64> {
        let alignment = if alignment == 0 { PAGES } else { alignment };
        require(
            bytes != 0
                && bytes.is_multiple_of(PAGE)
                && alignment.is_power_of_two()
                && alignment >= PAGES
                && wish.is_multiple_of(PAGES),
        )?;
        let base = reserve(bytes, wish, alignment as usize)
            .map_err(no_resources)?
            .as_ptr() as u64;
        self.tables.lock().reservations.insert(base, bytes as u64);
        self.count.fetch_add(1, Ordering::Release);
        Ok(base)
    }

    /// Gives a reservation back; nothing may be mapped in it.
    pub(crate) fn unreserve(&self, base: u64, bytes: u64) -> HsaResult {
        let mut tables = self.tables.lock();
        match tables.reservations.get(&base) {
            None => return Err(HSA_STATUS_ERROR_INVALID_ALLOCATION),
            Some(&length) => require(length == bytes)?,
        }
        if tables.overlaps(base, bytes) {
            return Err(HSA_STATUS_ERROR_RESOURCE_FREE);
        }
        tables.reservations.remove(&base);
        self.count.fetch_sub(1, Ordering::Release);
        RESERVED.remove(base);
        // SAFETY: the reservation was ours, is in no table any more, and nothing is mapped in it.
        unsafe { munmap(base as *mut _, bytes as usize) }
            .map_err(|error| no_resources(error.into()))
    }

    /// Makes physical memory.
    pub(crate) fn create(
        &self,
        memory: &Memory,
        agents: &Agents,
        pool: PoolId,
        bytes: u64,
        kind: hsa_amd_memory_type_t,
    ) -> HsaResult<u64> {
        require(bytes != 0 && bytes.is_multiple_of(PAGES))?;
        memory.charge(agents, pool, bytes)?;
        let name = format!("vmem:{:x}", pool.handle());
        let file = share::file(&name, bytes).map_err(|error| {
            memory.discharge(agents, pool, bytes);
            no_resources(error)
        })?;
        Ok(self.add(Physical {
            file,
            bytes,
            pool,
            kind,
            handles: 1,
            mappings: 0,
            charged: true,
        }))
    }

    fn add(&self, physical: Physical) -> u64 {
        let mut tables = self.tables.lock();
        tables.next += 1;
        let handle = 0x4756_0000_0000_0000 | tables.next;
        tables.physical.insert(handle, physical);
        handle
    }

    /// Takes one handle back.
    pub(crate) fn release(&self, memory: &Memory, agents: &Agents, handle: u64) -> HsaResult {
        let mut tables = self.tables.lock();
        let physical = tables
            .physical
            .get_mut(&handle)
            .filter(|physical| physical.handles > 0)
            .ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        physical.handles -= 1;
        Self::drop_unused(&mut tables, memory, agents, handle);
        Ok(())
    }

    fn drop_unused(tables: &mut Tables, memory: &Memory, agents: &Agents, handle: u64) {
        if let Some(physical) = tables.physical.get(&handle)
            && physical.handles == 0
            && physical.mappings == 0
        {
            if physical.charged {
                memory.discharge(agents, physical.pool, physical.bytes);
            }
            tables.physical.remove(&handle);
        }
    }

    /// Maps a part of a physical memory at an address of a reservation.
    pub(crate) fn map(&self, at: u64, bytes: u64, offset: u64, handle: u64) -> HsaResult {
        require(
            at != 0
                && bytes != 0
                && [at, bytes, offset]
                    .iter()
                    .all(|value| value.is_multiple_of(PAGES)),
        )?;
        let mut tables = self.tables.lock();
        let physical = tables
            .physical
            .get(&handle)
            .filter(|physical| physical.handles > 0)
            .ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        let fits = offset
            .checked_add(bytes)
            .is_some_and(|end| end <= physical.bytes);
        require(fits)?;
        tables
            .reservation(at, bytes)
            .ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        require(!tables.overlaps(at, bytes))?;
        // SAFETY: the range lies in a reservation of ours in which nothing is mapped.
        unsafe { share::map_over(physical.file.as_fd(), offset, bytes as usize, address(at)?) }
            .map_err(no_resources)?;
        if let Some(physical) = tables.physical.get_mut(&handle) {
            physical.mappings += 1;
        }
        let mapping = Mapping {
            bytes,
            physical: handle,
            number: next_number(),
            access: HashMap::new(),
            cpu: 0,
        };
        tables.mappings.insert(at, mapping);
        Ok(())
    }

    /// Takes the mappings that make up a range away.
    pub(crate) fn unmap(&self, memory: &Memory, agents: &Agents, at: u64, bytes: u64) -> HsaResult {
        let mut tables = self.tables.lock();
        let bases = tables
            .exact(at, bytes)
            .ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        for base in bases {
            let Some(mapping) = tables.mappings.remove(&base) else {
                continue;
            };
            for &gpu in mapping.access.keys() {
                if let Some(gpu) = agents.gpus.get(gpu) {
                    gpu.engine.map.remove(base);
                }
            }
            // SAFETY: no GPU maps it any more, and the range is ours.
            unsafe { share::unshare(address(base)?, mapping.bytes as usize, false) }
                .map_err(no_resources)?;
            if let Some(physical) = tables.physical.get_mut(&mapping.physical) {
                physical.mappings -= 1;
            }
            Self::drop_unused(&mut tables, memory, agents, mapping.physical);
        }
        Ok(())
    }

    /// Sets what agents may do with the mappings that make up a range. Agents that are not named keep what they have.
    pub(crate) fn set_access(
        &self,
        agents: &Agents,
        at: u64,
        bytes: u64,
        access: &[(hsa_agent_t, hsa_access_permission_t)],
    ) -> HsaResult {
        let mut wanted = Vec::new();
        for &(agent, permission) in access {
            require(permission <= HSA_ACCESS_PERMISSION_RW)?;
            wanted.push((agents.id(agent)?, permission));
        }
        let mut tables = self.tables.lock();
        let bases = tables
            .exact(at, bytes)
            .ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        for base in bases {
            let Some(mapping) = tables.mappings.get_mut(&base) else {
                continue;
            };
            for &(agent, permission) in &wanted {
                let Some(index) = agent.gpu() else {
                    mapping.cpu = permission;
                    continue;
                };
                let gpu = &agents.gpus[index];
                let mut rights = Rights::empty();
                rights.set(Rights::READ, permission & HSA_ACCESS_PERMISSION_RO != 0);
                rights.set(Rights::WRITE, permission & HSA_ACCESS_PERMISSION_WO != 0);
                if rights.is_empty() {
                    if mapping.access.remove(&index).is_some() {
                        gpu.engine.map.remove(base);
                    }
                    continue;
                }
                if mapping.access.insert(index, permission).is_some() {
                    gpu.engine.map.set_rights(base, rights);
                    continue;
                }
                let guest = GuestMapping {
                    base,
                    len: mapping.bytes,
                    host: base as *mut u8,
                    rights,
                    allocation: mapping.number,
                };
                // SAFETY: the memory stays mapped until `unmap`, which takes it out of the GPUs' maps first.
                if let Err(status) = unsafe { super::map(gpu, guest) } {
                    mapping.access.remove(&index);
                    return Err(status);
                }
            }
        }
        Ok(())
    }

    /// What an agent may do at an address.
    pub(crate) fn access(
        &self,
        agents: &Agents,
        at: u64,
        agent: hsa_agent_t,
    ) -> HsaResult<hsa_access_permission_t> {
        let agent = agents.id(agent)?;
        let tables = self.tables.lock();
        let (_, mapping) = tables
            .mappings
            .range(..=at)
            .next_back()
            .filter(|(base, mapping)| at - **base < mapping.bytes)
            .ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        Ok(match agent.gpu() {
            None => mapping.cpu,
            Some(gpu) => mapping.access.get(&gpu).copied().unwrap_or(0),
        })
    }

    /// Another handle of the memory that is mapped at an address.
    pub(crate) fn retain(&self, at: u64) -> HsaResult<u64> {
        let mut tables = self.tables.lock();
        let handle = tables
            .mappings
            .range(..=at)
            .next_back()
            .filter(|(base, mapping)| at - **base < mapping.bytes)
            .map(|(_, mapping)| mapping.physical)
            .ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        let physical = tables
            .physical
            .get_mut(&handle)
            .ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        physical.handles += 1;
        Ok(handle)
    }

    /// Pool and kind of a physical memory.
    pub(crate) fn properties(&self, handle: u64) -> HsaResult<(PoolId, hsa_amd_memory_type_t)> {
        let tables = self.tables.lock();
        let physical = tables
            .physical
            .get(&handle)
            .ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        Ok((physical.pool, physical.kind))
    }

    /// A descriptor of a physical memory for another process; the caller owns it.
    pub(crate) fn export(&self, handle: u64) -> HsaResult<OwnedFd> {
        let tables = self.tables.lock();
        let physical = tables
            .physical
            .get(&handle)
            .ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        physical
            .file
            .try_clone()
            .map_err(|_| HSA_STATUS_ERROR_OUT_OF_RESOURCES)
    }

    /// A handle of a physical memory that another process has exported.
    pub(crate) fn import(&self, agents: &Agents, file: BorrowedFd<'_>) -> HsaResult<u64> {
        let (name, bytes) = share::identify(file).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        let pool = name
            .strip_prefix("vmem:")
            .and_then(|pool| u64::from_str_radix(pool, 16).ok())
            .and_then(|pool| PoolId::from_handle(agents, pool))
            // A GPU that this process does not have: the memory is there all the same.
            .or_else(|| agents.pools(crate::agent::AgentId::of_gpu(0)).next())
            .ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        require(name.starts_with("vmem:") && bytes.is_multiple_of(PAGES) && bytes != 0)?;
        let file = file
            .try_clone_to_owned()
            .map_err(|_| HSA_STATUS_ERROR_OUT_OF_RESOURCES)?;
        Ok(self.add(Physical {
            file,
            bytes,
            pool,
            kind: MEMORY_TYPE_NONE,
            handles: 1,
            mappings: 0,
            charged: false,
        }))
    }

    /// What is known of an address; `None` if it is not one of a reservation.
    pub(crate) fn find(&self, at: u64) -> Option<Found> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let tables = self.tables.lock();
        let (base, bytes) = tables.reservation(at, 1)?;
        let mapped = tables
            .mappings
            .range(..=at)
            .next_back()
            .filter(|(base, mapping)| at - **base < mapping.bytes);
        Some(match mapped {
            None => Found {
                base,
                bytes,
                pool: None,
                access: 0,
                cpu: false,
            },
            Some((&base, mapping)) => Found {
                base,
                bytes: mapping.bytes,
                pool: tables
                    .physical
                    .get(&mapping.physical)
                    .map(|physical| physical.pool),
                access: mapping.access.keys().fold(0, |set, gpu| set | 1 << gpu),
                cpu: mapping.cpu != 0,
            },
        })
    }

    /// Whether every byte of a range is mapped; `None` if it is in no reservation.
    pub(crate) fn mapped(&self, at: u64, bytes: u64) -> Option<bool> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let tables = self.tables.lock();
        tables.reservation(at, 1)?;
        let end = at.checked_add(bytes)?;
        let mut next = at;
        while next < end {
            match tables.mappings.range(..=next).next_back() {
                Some((base, mapping)) if next - base < mapping.bytes => next = base + mapping.bytes,
                _ => return Some(false),
            }
        }
        Some(true)
    }

    /// Number of live handles and reservations.
    pub(crate) fn live(&self) -> usize {
        let tables = self.tables.lock();
        tables.reservations.len() + tables.physical.len()
    }

    /// Gives everything back, at shutdown.
    pub(crate) fn clear(&self, agents: &Agents) {
        let tables = std::mem::take(&mut *self.tables.lock());
        self.count.store(0, Ordering::Release);
        for (base, mapping) in &tables.mappings {
            for gpu in mapping
                .access
                .keys()
                .filter_map(|&gpu| agents.gpus.get(gpu))
            {
                gpu.engine.map.remove(*base);
            }
        }
        for (base, bytes) in tables.reservations {
            RESERVED.remove(base);
            // SAFETY: the reservation was ours, and no GPU maps any of it.
            if let Err(error) = unsafe { munmap(base as *mut _, bytes as usize) } {
                tracing::warn!(%error, "munmap failed");
            }
        }
    }
}
