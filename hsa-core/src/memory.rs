//! Allocations: what memory there is, who owns it, and which GPUs may touch it.
//!
//! A device address is the host address, so the host may dereference device pointers (large BAR). The one exception are pinned host
//! ranges ([`pin`]), whose device address is an alias that only the GPUs' maps translate. Each GPU that has access to an
//! allocation has a mapping of its exact size in its [`GuestMap`](gneiss_amdgcn::memory::GuestMap); the map is what device code is
//! checked against.
//!
//! Locks: the table of allocations, then nothing. An allocation's own state is a lock that is taken with the table unlocked. No
//! user callback runs under either.

pub(crate) mod arena;
mod exchange;
pub(crate) mod pageable;
pub(crate) mod pin;
pub(crate) mod share;
pub(crate) mod svm;
pub(crate) mod vmem;

use std::{
    collections::BTreeMap,
    ffi::c_void,
    os::fd::OwnedFd,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use gneiss_amdgcn::memory::Mapping;
use gneiss_hsa_api::*;
use parking_lot::{Mutex, RwLock};

use crate::{
    agent::{AgentId, Agents, GpuAgent},
    entry::HsaResult,
    fault,
    memory::{
        arena::{Arena, Block, PAGE},
        pin::Pins,
        svm::Svm,
        vmem::Vmem,
    },
    pool::PoolId,
};

/// A set of GPUs, by index.
pub(crate) type GpuSet = u64;

/// Source of allocation numbers; unique in the process, for fault reports.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// A number for an allocation.
pub(crate) fn next_number() -> u64 {
    NUMBERS.fetch_add(1, Ordering::Relaxed)
}

/// A deallocation callback, the address that it was registered for, and its data.
#[derive(Clone, Copy)]
struct Callback {
    address: u64,
    function: unsafe extern "C" fn(*mut c_void, *mut c_void),
    data: usize,
}

/// Whose an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The program's: it may free it.
    Program,
    /// A queue's, of this agent: it goes with the queue.
    Queue(AgentId),
    /// Another process's: its pool is not charged, and it is detached, not freed.
    Import,
}

#[derive(Default)]
struct State {
    /// GPUs whose map has it.
    access: GpuSet,
    /// Set once it is being freed.
    dead: bool,
    user_data: usize,
    callbacks: Vec<Callback>,
}

/// One live allocation.
pub(crate) struct Allocation {
    /// Address on host and devices.
    pub(crate) base: u64,
    /// Bytes that the user asked for.
    pub(crate) size: u64,
    /// Where it comes from.
    pub(crate) pool: PoolId,
    /// Bytes that device code may touch: what was asked for if the client wants bad accesses found to the byte, else whole granules.
    length: u64,
    number: u64,
    block: Block,
    /// Whose it is.
    pub(crate) origin: Origin,
    /// The memfd that it was moved to when it was exported first.
    shared: Mutex<Option<OwnedFd>>,
    state: Mutex<State>,
    claimed: AtomicBool,
}

/// All allocations of a runtime.
pub(crate) struct Memory {
    table: RwLock<BTreeMap<u64, Arc<Allocation>>>,
    host: Arena,
    device: Arena,
    /// Bytes in use in system memory.
    system_used: AtomicU64,
    /// Bytes that system memory has.
    pub(crate) system_size: u64,
    pub(crate) pins: Pins,
    pub(crate) svm: Svm,
    pub(crate) vmem: Vmem,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory")
            .field("allocations", &self.table.read().len())
            .finish_non_exhaustive()
    }
}

/// The indexes in a set.
pub(crate) fn members(set: GpuSet) -> impl Iterator<Item = usize> {
    (0..64).filter(move |index| set >> index & 1 == 1)
}

/// Adds a mapping to a GPU's map.
///
/// # Safety
/// As [`GuestMap::insert`](gneiss_amdgcn::memory::GuestMap::insert).
pub(crate) unsafe fn map(gpu: &GpuAgent, mapping: Mapping) -> HsaResult {
    loop {
        // SAFETY: the caller's promise.
        let Err(other) = (unsafe { gpu.engine.map.insert(mapping) }) else {
            return Ok(());
        };
        if other.allocation & svm::NUMBER != 0 && other != mapping {
            // The system gave the addresses out again, so the program has unmapped its shared virtual memory.
            gpu.engine.map.remove(other.base);
            continue;
        }
        tracing::error!(
            ?other,
            base = mapping.base,
            len = mapping.len,
            "a bug: mappings overlap"
        );
        return Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    }
}

impl Memory {
    /// No allocations yet.
    pub(crate) fn new(system_size: u64) -> Self {
        Self {
            table: RwLock::default(),
            host: Arena::new(false),
            device: Arena::new(true),
            system_used: AtomicU64::new(0),
            system_size,
            pins: Pins::default(),
            svm: Svm::default(),
            vmem: Vmem::default(),
        }
    }

    fn arena(&self, pool: PoolId) -> &Arena {
        if pool.gpu().is_some() {
            &self.device
        } else {
            &self.host
        }
    }

    fn used<'a>(&'a self, agents: &'a Agents, pool: PoolId) -> (&'a AtomicU64, u64) {
        match pool.gpu().and_then(|gpu| agents.gpus.get(gpu)) {
            Some(gpu) => (&gpu.used, gpu.memory),
            None => (&self.system_used, self.system_size),
        }
    }

    /// Allocates `size` bytes (not 0) from a pool and maps them on the GPUs of `access`; the owner always has access.
    pub(crate) fn allocate(
        &self,
        agents: &Agents,
        pool: PoolId,
        size: usize,
        access: GpuSet,
    ) -> HsaResult<Arc<Allocation>> {
        self.allocate_for(agents, pool, size, access, Origin::Program)
    }

    /// Likewise, for a program or for a queue.
    pub(crate) fn allocate_for(
        &self,
        agents: &Agents,
        pool: PoolId,
        size: usize,
        access: GpuSet,
        origin: Origin,
    ) -> HsaResult<Arc<Allocation>> {
        self.charge(agents, pool, size as u64)?;
        let block = self.arena(pool).allocate(size).map_err(|error| {
            self.discharge(agents, pool, size as u64);
            tracing::warn!(size, %error, "the host has no memory for an allocation");
            HSA_STATUS_ERROR_OUT_OF_RESOURCES
        })?;
        self.add(agents, pool, block, size as u64, access, origin)
    }

    /// Takes bytes from a pool's size.
    pub(crate) fn charge(&self, agents: &Agents, pool: PoolId, size: u64) -> HsaResult {
        let (used, limit) = self.used(agents, pool);
        if size > limit {
            return Err(HSA_STATUS_ERROR_INVALID_ALLOCATION);
        }
        let charge = size.next_multiple_of(PAGE as u64);
        used.try_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(charge).filter(|&used| used <= limit)
        })
        .map(drop)
        .map_err(|_| HSA_STATUS_ERROR_OUT_OF_RESOURCES)
    }

    /// Gives them back.
    pub(crate) fn discharge(&self, agents: &Agents, pool: PoolId, size: u64) {
        let (used, _) = self.used(agents, pool);
        used.fetch_sub(size.next_multiple_of(PAGE as u64), Ordering::Relaxed);
    }

    /// Makes an allocation of a block and maps it.
    fn add(
        &self,
        agents: &Agents,
        pool: PoolId,
        block: Block,
        size: u64,
        access: GpuSet,
        origin: Origin,
    ) -> HsaResult<Arc<Allocation>> {
        let allocation = Arc::new(Allocation {
            base: block.base.as_ptr() as u64,
            size,
            pool,
            length: if fault::exact() {
                size
            } else {
                size.next_multiple_of(PAGE as u64)
            },
            number: next_number(),
            block,
            origin,
            shared: Mutex::new(None),
            state: Mutex::default(),
            claimed: AtomicBool::new(false),
        });
        let access = access | pool.gpu().map_or(0, |gpu| 1 << gpu);
        let mapped = allocation.set_access(agents, access);
        self.table
            .write()
            .insert(allocation.base, Arc::clone(&allocation));
        match mapped {
            Ok(()) => Ok(allocation),
            Err(status) => {
                self.release(agents, &allocation)?;
                Err(status)
            }
        }
    }

    /// The allocation that holds an address.
    pub(crate) fn find(&self, address: u64) -> Option<Arc<Allocation>> {
        let table = self.table.read();
        let (_, allocation) = table.range(..=address).next_back()?;
        (address - allocation.base < allocation.size).then(|| Arc::clone(allocation))
    }

    /// The allocation that starts at an address.
    pub(crate) fn at(&self, base: u64) -> Option<Arc<Allocation>> {
        self.table.read().get(&base).cloned()
    }

    /// Frees the allocation that starts at `base`, after its callbacks.
    pub(crate) fn free(&self, agents: &Agents, base: u64) -> HsaResult {
        let allocation = self.at(base).ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        match allocation.origin {
            Origin::Program => self.release(agents, &allocation),
            Origin::Queue(agent) => {
                fault::memory_in_use(agent, base);
                Err(HSA_STATUS_ERROR_RESOURCE_FREE)
            }
            Origin::Import => Err(HSA_STATUS_ERROR_INVALID_ALLOCATION),
        }
    }

    /// Frees memory of a queue that is no more.
    pub(crate) fn free_of_queue(&self, agents: &Agents, base: u64) -> HsaResult {
        let allocation = self.at(base).ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        self.release(agents, &allocation)
    }

    /// Takes an allocation out of everything.
    fn release(&self, agents: &Agents, allocation: &Allocation) -> HsaResult {
        let base = allocation.base;
        if allocation.claimed.swap(true, Ordering::AcqRel) {
            return Err(HSA_STATUS_ERROR_INVALID_ALLOCATION);
        }
        let callbacks = std::mem::take(&mut allocation.state.lock().callbacks);
        for callback in callbacks {
            // SAFETY: the user registered this function for this allocation, with this data.
            unsafe {
                (callback.function)(
                    callback.address as *mut c_void,
                    callback.data as *mut c_void,
                )
            };
        }
        self.table.write().remove(&base);
        {
            let mut state = allocation.state.lock();
            state.dead = true;
            allocation.unmap(agents, state.access);
            state.access = 0;
        }
        let bytes = allocation.size.next_multiple_of(PAGE as u64);
        if allocation.shared.lock().take().is_some() {
            // Who imported it keeps it; the next allocation here must not be theirs.
            // SAFETY: as below.
            let private = unsafe { share::unshare(allocation.block.base, bytes as usize, true) };
            if let Err(error) = private {
                tracing::error!(base, %error, "shared memory cannot be taken back: it is not used again");
                return Ok(());
            }
        }
        // SAFETY: it is in no table and in no map any more, and this is the one thread that claimed it.
        unsafe { self.arena(allocation.pool).free(allocation.block) };
        if allocation.origin != Origin::Import {
            self.discharge(agents, allocation.pool, allocation.size);
        }
        Ok(())
    }

    /// Frees everything, at shutdown.
    pub(crate) fn free_all(&self, agents: &Agents) {
        self.pins.clear(agents);
        self.svm.clear(agents);
        self.vmem.clear(agents);
        let all: Vec<_> = self.table.read().values().cloned().collect();
        for allocation in all {
            if let Err(status) = self.release(agents, &allocation) {
                tracing::warn!(base = allocation.base, %status, "an allocation was freed by somebody else during shutdown");
            }
        }
    }

    /// Number of live allocations.
    pub(crate) fn live(&self) -> usize {
        self.table.read().len() + self.vmem.live()
    }

    /// The host address of a range that a copy or fill names: an alias is translated, anything else is a host address.
    pub(crate) fn host_address(&self, address: u64, size: usize) -> HsaResult<*mut u8> {
        if let Some(host) = self.pins.translate(address, size as u64)? {
            return Ok(host);
        }
        if let Some(allocation) = self.find(address)
            && size as u64 > allocation.length - (address - allocation.base)
        {
            tracing::warn!(
                address,
                size,
                base = allocation.base,
                length = allocation.length,
                "a copy leaves its allocation"
            );
            return Err(HSA_STATUS_ERROR_INVALID_ALLOCATION);
        }
        if self.vmem.mapped(address, size as u64) == Some(false) {
            tracing::warn!(
                address,
                size,
                "a copy leaves what is mapped of a reservation"
            );
            return Err(HSA_STATUS_ERROR_INVALID_ALLOCATION);
        }
        if address == 0 {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        Ok(address as *mut u8)
    }
}

impl Allocation {
    fn mapping(&self, gpu: &GpuAgent) -> Mapping {
        Mapping {
            base: self.base,
            len: self.length,
            host: self.block.base.as_ptr(),
            rights: gpu.rights(self.pool.fine()),
            allocation: self.number,
        }
    }

    fn unmap(&self, agents: &Agents, set: GpuSet) {
        for gpu in members(set).filter_map(|index| agents.gpus.get(index)) {
            gpu.engine.map.remove(self.base);
        }
    }

    /// Makes `access` (and the owner) the GPUs that may touch it.
    pub(crate) fn set_access(&self, agents: &Agents, access: GpuSet) -> HsaResult {
        let access = access | self.pool.gpu().map_or(0, |gpu| 1 << gpu);
        let mut state = self.state.lock();
        if state.dead {
            return Err(HSA_STATUS_ERROR_INVALID_ALLOCATION);
        }
        for index in members(access & !state.access) {
            let gpu = agents
                .gpus
                .get(index)
                .ok_or(HSA_STATUS_ERROR_INVALID_AGENT)?;
            // SAFETY: the block is valid until `free`, which removes every mapping first.
            unsafe { map(gpu, self.mapping(gpu)) }?;
            state.access |= 1 << index;
        }
        let lost = state.access & !access;
        self.unmap(agents, lost);
        state.access &= access;
        Ok(())
    }

    /// GPUs that may touch it.
    pub(crate) fn access(&self) -> GpuSet {
        self.state.lock().access
    }

    /// What the user stored with it.
    pub(crate) fn user_data(&self) -> *mut c_void {
        self.state.lock().user_data as *mut c_void
    }

    /// Stores something with it.
    pub(crate) fn set_user_data(&self, data: *mut c_void) {
        self.state.lock().user_data = data as usize;
    }

    /// Adds a callback for when it is freed.
    pub(crate) fn add_callback(
        &self,
        address: u64,
        function: unsafe extern "C" fn(*mut c_void, *mut c_void),
        data: *mut c_void,
    ) {
        self.state.lock().callbacks.push(Callback {
            address,
            function,
            data: data as usize,
        });
    }

    /// Removes the callbacks with this function for this address; whether there were any.
    pub(crate) fn remove_callback(
        &self,
        address: u64,
        function: unsafe extern "C" fn(*mut c_void, *mut c_void),
    ) -> bool {
        let mut state = self.state.lock();
        let before = state.callbacks.len();
        state.callbacks.retain(|callback| {
            callback.address != address || callback.function as usize != function as usize
        });
        state.callbacks.len() != before
    }
}
