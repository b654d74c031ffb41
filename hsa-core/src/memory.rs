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
pub(crate) mod share;
pub(crate) mod svm;
pub(crate) mod vmem;

use std::{
    collections::BTreeMap,
    ffi::c_void,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
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
    fault,
    ipc::Handle,
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

/// Name of the memfds of exported allocations of a pool.
fn shared_name(pool: u32) -> String {
    format!("memory:{pool:x}")
}

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
    /// Bytes that device code may touch: what was asked for if the client wants bad accesses found to the byte, else whole granules.
    length: u64,
    number: u64,
    block: Block,
    /// Comes from another process: its pool is not charged, and it is detached, not freed.
    pub(crate) imported: bool,
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
        self.charge(agents, pool, size as u64)?;
        let block = self.arena(pool).allocate(size).map_err(|error| {
            self.discharge(agents, pool, size as u64);
            tracing::warn!(size, %error, "the host has no memory for an allocation");
            HSA_STATUS_ERROR_OUT_OF_RESOURCES
        })?;
        self.add(agents, pool, block, size as u64, access, false)
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
        imported: bool,
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
            imported,
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

    /// Moves an allocation to a memfd, at the first call, and does something with the descriptor.
    fn share<R>(
        &self,
        allocation: &Allocation,
        with: impl FnOnce(&OwnedFd) -> std::io::Result<R>,
    ) -> HsaResult<R> {
        let mut shared = allocation.shared.lock();
        if allocation.imported || allocation.state.lock().dead {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        let failed = |error: std::io::Error| {
            tracing::warn!(base = allocation.base, %error, "an allocation cannot be shared");
            HSA_STATUS_ERROR_OUT_OF_RESOURCES
        };
        if shared.is_none() {
            let bytes = allocation.size.next_multiple_of(PAGE as u64) as usize;
            let name = shared_name(allocation.pool.handle() as u32);
            // SAFETY: the block is whole pages of a private mapping of the arena.
            let file = unsafe { share::move_to_file(allocation.block.base, bytes, &name) };
            *shared = Some(file.map_err(failed)?);
        }
        with(shared.as_ref().ok_or(HSA_STATUS_ERROR)?).map_err(failed)
    }

    /// A handle of the allocation that starts at `base`, for other processes.
    pub(crate) fn export(&self, base: u64, size: u64) -> HsaResult<Handle> {
        let allocation = self.at(base).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        if size != allocation.size && size != allocation.size.next_multiple_of(PAGE as u64) {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        let pool = allocation.pool.handle() as u32;
        self.share(&allocation, |file| {
            Handle::new(file.as_fd(), allocation.size, pool)
        })
    }

    /// A descriptor of the allocation that holds a range, which the caller owns, and the offset of the range in it.
    pub(crate) fn export_file(&self, address: u64, size: u64) -> HsaResult<(OwnedFd, u64)> {
        let allocation = self
            .find(address)
            .ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        let offset = address - allocation.base;
        if size > allocation.length - offset {
            return Err(HSA_STATUS_ERROR_INVALID_ALLOCATION);
        }
        Ok((self.share(&allocation, OwnedFd::try_clone)?, offset))
    }

    /// Maps memory that another process has exported by handle; returns its address here.
    pub(crate) fn import(
        &self,
        agents: &Agents,
        handle: Handle,
        size: u64,
        access: GpuSet,
    ) -> HsaResult<u64> {
        let file = handle.open(&shared_name(handle.pool))?;
        if size != handle.bytes && size != handle.bytes.next_multiple_of(PAGE as u64) {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        self.map_file(
            agents,
            file.as_fd(),
            handle.bytes,
            handle.pool.into(),
            access,
        )
    }

    /// Maps an allocation that was exported as a descriptor; returns its address here and its bytes.
    pub(crate) fn import_file(
        &self,
        agents: &Agents,
        file: BorrowedFd<'_>,
        access: GpuSet,
    ) -> HsaResult<(u64, u64)> {
        let (name, bytes) = share::identify(file).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        let pool = name
            .strip_prefix("memory:")
            .and_then(|pool| u64::from_str_radix(pool, 16).ok())
            .ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        Ok((self.map_file(agents, file, bytes, pool, access)?, bytes))
    }

    fn map_file(
        &self,
        agents: &Agents,
        file: BorrowedFd<'_>,
        size: u64,
        pool: u64,
        access: GpuSet,
    ) -> HsaResult<u64> {
        let bytes = size.next_multiple_of(PAGE as u64) as usize;
        // A GPU that this process does not have: the memory is there all the same.
        let pool = PoolId::from_handle(agents, pool).unwrap_or(PoolId {
            agent: crate::agent::AgentId::CPU,
            kind: crate::pool::PoolKind::Fine,
        });
        // A page more, so that running past it is a fault.
        let length = bytes + PAGE;
        let start =
            arena::reserve_addresses(length).map_err(|_| HSA_STATUS_ERROR_OUT_OF_RESOURCES)?;
        // SAFETY: the reservation is fresh; the block owns it from here on.
        let block = unsafe {
            if let Err(error) = share::map_over(file, 0, bytes, start) {
                tracing::warn!(%error, "memory of another process cannot be mapped");
                arena::unreserve(start, length);
                return Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES);
            }
            Arena::adopt(start, length)
        };
        self.add(agents, pool, block, size, access, true)
            .map(|allocation| allocation.base)
    }

    /// Unmaps memory of another process.
    pub(crate) fn detach(&self, agents: &Agents, base: u64) -> HsaResult {
        let allocation = self
            .at(base)
            .filter(|allocation| allocation.imported)
            .ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        self.release(agents, &allocation)
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
        let allocation = self
            .at(base)
            .filter(|allocation| !allocation.imported)
            .ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
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
            unsafe { (callback.function)(base as *mut c_void, callback.data as *mut c_void) };
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
        if !allocation.imported {
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
    fn mapping(&self) -> Mapping {
        Mapping {
            base: self.base,
            len: self.length,
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
