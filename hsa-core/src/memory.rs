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
pub(crate) mod pin;

use std::{
    collections::BTreeMap,
    ffi::c_void,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use gneiss_amdgcn::memory::{Mapping, Rights};
use gneiss_hsa_api::*;
use parking_lot::{Mutex, RwLock};

use crate::{
    agent::{Agents, GpuAgent},
    entry::HsaResult,
    memory::{
        arena::{Arena, Block},
        pin::Pins,
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

/// A deallocation callback and its data.
#[derive(Clone, Copy)]
struct Callback {
    function: unsafe extern "C" fn(*mut c_void, *mut c_void),
    data: usize,
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
    number: u64,
    block: Block,
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
    // SAFETY: the caller's promise.
    unsafe { gpu.engine.map.insert(mapping) }.map_err(|other| {
        tracing::error!(
            ?other,
            base = mapping.base,
            len = mapping.len,
            "a bug: mappings overlap"
        );
        HSA_STATUS_ERROR_OUT_OF_RESOURCES
    })
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
        let charge = (size as u64).next_multiple_of(arena::PAGE as u64);
        let (used, limit) = self.used(agents, pool);
        if size as u64 > limit {
            return Err(HSA_STATUS_ERROR_INVALID_ALLOCATION);
        }
        used.try_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(charge).filter(|&used| used <= limit)
        })
        .map_err(|_| HSA_STATUS_ERROR_OUT_OF_RESOURCES)?;
        let block = self.arena(pool).allocate(size).map_err(|error| {
            used.fetch_sub(charge, Ordering::Relaxed);
            tracing::warn!(size, %error, "the host has no memory for an allocation");
            HSA_STATUS_ERROR_OUT_OF_RESOURCES
        })?;
        let allocation = Arc::new(Allocation {
            base: block.base.as_ptr() as u64,
            size: size as u64,
            pool,
            number: next_number(),
            block,
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
                self.free(agents, allocation.base)?;
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
        if allocation.claimed.swap(true, Ordering::AcqRel) {
            return Err(HSA_STATUS_ERROR_INVALID_ALLOCATION);
        }
        let callbacks = std::mem::take(&mut allocation.state.lock().callbacks);
        for callback in callbacks {
            // SAFETY: the user registered this function for this allocation, with this data.
            unsafe { (callback.function)(base as *mut c_void, callback.data as *mut c_void) };
        }
        self.table.write().remove(&base);
        {
            let mut state = allocation.state.lock();
            state.dead = true;
            allocation.unmap(agents, state.access);
            state.access = 0;
        }
        // SAFETY: it is in no table and in no map any more, and this is the one thread that claimed it.
        unsafe { self.arena(allocation.pool).free(allocation.block) };
        let (used, _) = self.used(agents, allocation.pool);
        used.fetch_sub(
            allocation.size.next_multiple_of(arena::PAGE as u64),
            Ordering::Relaxed,
        );
        Ok(())
    }

    /// Frees everything, at shutdown.
    pub(crate) fn free_all(&self, agents: &Agents) {
        self.pins.clear(agents);
        let bases: Vec<_> = self.table.read().keys().copied().collect();
        for base in bases {
            if let Err(status) = self.free(agents, base) {
                tracing::warn!(base, %status, "an allocation was freed by somebody else during shutdown");
            }
        }
    }

    /// Number of live allocations.
    pub(crate) fn live(&self) -> usize {
        self.table.read().len()
    }

    /// The host address of a range that a copy or fill names: an alias is translated, anything else is a host address.
    pub(crate) fn host_address(&self, address: u64, size: usize) -> HsaResult<*mut u8> {
        if let Some(host) = self.pins.translate(address, size as u64)? {
            return Ok(host);
        }
        if let Some(allocation) = self.find(address)
            && size as u64 > allocation.size - (address - allocation.base)
        {
            tracing::warn!(
                address,
                size,
                base = allocation.base,
                length = allocation.size,
                "a copy leaves its allocation"
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
    fn mapping(&self) -> Mapping {
        Mapping {
            base: self.base,
            len: self.size,
            host: self.block.base.as_ptr(),
            rights: Rights::READ | Rights::WRITE,
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
            unsafe { map(gpu, self.mapping()) }?;
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
        function: unsafe extern "C" fn(*mut c_void, *mut c_void),
        data: *mut c_void,
    ) {
        self.state.lock().callbacks.push(Callback {
            function,
            data: data as usize,
        });
    }

    /// Removes the callbacks with this function; whether there were any.
    pub(crate) fn remove_callback(
        &self,
        function: unsafe extern "C" fn(*mut c_void, *mut c_void),
    ) -> bool {
        let mut state = self.state.lock();
        let before = state.callbacks.len();
        state
            .callbacks
            .retain(|callback| callback.function as usize != function as usize);
        state.callbacks.len() != before
    }
}
