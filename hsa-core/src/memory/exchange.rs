//! Allocations between processes: exported by handle or as a descriptor, and mapped from either.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use gneiss_hsa_api::*;

use super::{Allocation, GpuSet, Memory, Origin, arena, arena::Arena, arena::PAGE, share};
use crate::{
    agent::{AgentId, Agents},
    entry::HsaResult,
    ipc::Handle,
    pool::{PoolId, PoolKind},
};

/// Name of the memfds of exported allocations of a pool.
fn shared_name(pool: u32) -> String {
    format!("memory:{pool:x}")
}

impl Memory {
    /// Moves an allocation to a memfd, at the first call, and does something with the descriptor.
    fn share<R>(
        &self,
        allocation: &Allocation,
        with: impl FnOnce(&OwnedFd) -> std::io::Result<R>,
    ) -> HsaResult<R> {
        let mut shared = allocation.shared.lock();
        if allocation.origin != Origin::Program || allocation.state.lock().dead {
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
            agent: AgentId::CPU,
            kind: PoolKind::Fine,
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
        self.add(agents, pool, block, size, access, Origin::Import)
            .map(|allocation| allocation.base)
    }

    /// Unmaps memory of another process.
    pub(crate) fn detach(&self, agents: &Agents, base: u64) -> HsaResult {
        let allocation = self
            .at(base)
            .filter(|allocation| allocation.origin == Origin::Import)
            .ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        self.release(agents, &allocation)
    }
}
