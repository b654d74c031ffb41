//! Allocation, access, pinning, pointer queries, synchronous copy and fill.

use std::ffi::c_void;

use gneiss_hsa_api::*;

use crate::{
    agent::AgentId,
    entry::{HsaResult, entry, require, unsupported, write_out},
    memory::{GpuSet, Origin, members},
    pool::{PoolId, PoolKind},
    runtime::{self, Runtime},
};

/// `hsa_amd_memory_pool_allocate`: all flags that exist.
const ALLOCATION_FLAGS: u32 = 0xf;

pub unsafe extern "C" fn hsa_amd_memory_pool_allocate(
    memory_pool: hsa_amd_memory_pool_t,
    size: usize,
    flags: u32,
    ptr: *mut *mut c_void,
) -> hsa_status_t {
    entry!(hsa_amd_memory_pool_allocate, {
        let runtime = runtime::get()?;
        require(size != 0 && !ptr.is_null() && flags & !ALLOCATION_FLAGS == 0)?;
        let pool = runtime.agents.pool(memory_pool)?;
        if !pool.allocatable() {
            return Err(HSA_STATUS_ERROR_INVALID_ALLOCATION);
        }
        let allocation = runtime.memory.allocate(&runtime.agents, pool, size, 0)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(ptr, allocation.base as *mut c_void) }
    })
}

pub unsafe extern "C" fn hsa_amd_memory_pool_free(ptr: *mut c_void) -> hsa_status_t {
    entry!(hsa_amd_memory_pool_free, { free(ptr) })
}

pub unsafe extern "C" fn hsa_memory_free(ptr: *mut c_void) -> hsa_status_t {
    entry!(hsa_memory_free, { free(ptr) })
}

/// Frees an allocation; null is none.
fn free(pointer: *mut c_void) -> HsaResult {
    let runtime = runtime::get()?;
    if pointer.is_null() {
        return Ok(());
    }
    runtime.memory.free(&runtime.agents, pointer as u64)
}

pub unsafe extern "C" fn hsa_memory_allocate(
    region: hsa_region_t,
    size: usize,
    ptr: *mut *mut c_void,
) -> hsa_status_t {
    entry!(hsa_memory_allocate, {
        let runtime = runtime::get()?;
        require(size != 0 && !ptr.is_null())?;
        let region = runtime.agents.region(region)?;
        if !region.allocatable() {
            return Err(HSA_STATUS_ERROR_INVALID_ALLOCATION);
        }
        // System memory of this interface is every agent's.
        let access = if region.gpu().is_none() {
            runtime.agents.all_gpus()
        } else {
            0
        };
        let allocation = runtime
            .memory
            .allocate(&runtime.agents, region, size, access)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(ptr, allocation.base as *mut c_void) }
    })
}

pub unsafe extern "C" fn hsa_amd_agents_allow_access(
    num_agents: u32,
    agents: *const hsa_agent_t,
    flags: *const u32,
    ptr: *const c_void,
) -> hsa_status_t {
    entry!(hsa_amd_agents_allow_access, {
        let runtime = runtime::get()?;
        require(num_agents != 0 && !agents.is_null() && flags.is_null() && !ptr.is_null())?;
        // SAFETY: the caller's list has `num_agents` handles.
        let access = unsafe { runtime.agents.gpu_set(agents, num_agents as usize) }?;
        let address = ptr as u64;
        if let Some(allocation) = runtime.memory.find(address) {
            return allocation.set_access(&runtime.agents, access);
        }
        match runtime
            .memory
            .pins
            .set_access(&runtime.agents, address, access)?
        {
            true => Ok(()),
            false => Err(HSA_STATUS_ERROR_INVALID_ALLOCATION),
        }
    })
}

pub unsafe extern "C" fn hsa_memory_copy(
    dst: *mut c_void,
    src: *const c_void,
    size: usize,
) -> hsa_status_t {
    entry!(hsa_memory_copy, {
        let runtime = runtime::get()?;
        require(!dst.is_null() && !src.is_null())?;
        if size == 0 {
            return Ok(());
        }
        let destination = runtime.memory.host_address(dst as u64, size)?;
        let source = runtime.memory.host_address(src as u64, size)?;
        // SAFETY: known allocations were checked; other memory is the caller's, who says that it is valid. `copy` allows overlap.
        unsafe { std::ptr::copy(source.cast_const(), destination, size) };
        Ok(())
    })
}

pub unsafe extern "C" fn hsa_amd_memory_fill(
    ptr: *mut c_void,
    value: u32,
    count: usize,
) -> hsa_status_t {
    entry!(hsa_amd_memory_fill, {
        let runtime = runtime::get()?;
        require(!ptr.is_null() && (ptr as usize).is_multiple_of(4))?;
        if count == 0 {
            return Ok(());
        }
        let bytes = count
            .checked_mul(4)
            .ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        let target = runtime
            .memory
            .host_address(ptr as u64, bytes)?
            .cast::<u32>();
        for at in 0..count {
            // SAFETY: as in `hsa_memory_copy`; unaligned, for an alias keeps only the offset in its page.
            unsafe { target.add(at).write_unaligned(value) };
        }
        Ok(())
    })
}

/// Memory is registered by being the program's: there is nothing to do.
pub unsafe extern "C" fn hsa_memory_register(ptr: *mut c_void, size: usize) -> hsa_status_t {
    entry!(hsa_memory_register, {
        runtime::get()?;
        require(!ptr.is_null() && size != 0)
    })
}

pub unsafe extern "C" fn hsa_memory_deregister(_ptr: *mut c_void, _size: usize) -> hsa_status_t {
    entry!(hsa_memory_deregister, { runtime::get().map(drop) })
}

/// Ownership has no effect: memory is coherent.
pub unsafe extern "C" fn hsa_memory_assign_agent(
    ptr: *mut c_void,
    agent: hsa_agent_t,
    access: hsa_access_permission_t,
) -> hsa_status_t {
    entry!(hsa_memory_assign_agent, {
        let runtime = runtime::get()?;
        runtime.agents.id(agent)?;
        require(
            !ptr.is_null()
                && (HSA_ACCESS_PERMISSION_RO..=HSA_ACCESS_PERMISSION_RW).contains(&access),
        )
    })
}

pub unsafe extern "C" fn hsa_amd_memory_migrate(
    _ptr: *const c_void,
    _memory_pool: hsa_amd_memory_pool_t,
    _flags: u32,
) -> hsa_status_t {
    unsupported("hsa_amd_memory_migrate", HSA_STATUS_ERROR_OUT_OF_RESOURCES)
}

pub unsafe extern "C" fn hsa_amd_memory_lock(
    host_ptr: *mut c_void,
    size: usize,
    agents: *mut hsa_agent_t,
    num_agent: i32,
    agent_ptr: *mut *mut c_void,
) -> hsa_status_t {
    entry!(hsa_amd_memory_lock, {
        let runtime = runtime::get()?;
        // SAFETY: the caller's arguments.
        unsafe { lock(&runtime, host_ptr, size, agents, num_agent, agent_ptr, true) }
    })
}

pub unsafe extern "C" fn hsa_amd_memory_lock_to_pool(
    host_ptr: *mut c_void,
    size: usize,
    agents: *mut hsa_agent_t,
    num_agent: i32,
    pool: hsa_amd_memory_pool_t,
    flags: u32,
    agent_ptr: *mut *mut c_void,
) -> hsa_status_t {
    entry!(hsa_amd_memory_lock_to_pool, {
        let runtime = runtime::get()?;
        require(flags == 0)?;
        let pool = runtime.agents.pool(pool)?;
        if pool.gpu().is_some() {
            return Err(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
        }
        let fine = pool.fine();
        // SAFETY: the caller's arguments.
        unsafe { lock(&runtime, host_ptr, size, agents, num_agent, agent_ptr, fine) }
    })
}

/// Pins a range for some agents; no list means all GPUs.
unsafe fn lock(
    runtime: &Runtime,
    host: *mut c_void,
    size: usize,
    agents: *const hsa_agent_t,
    count: i32,
    agent_pointer: *mut *mut c_void,
    fine: bool,
) -> HsaResult {
    require(size != 0 && !host.is_null() && !agent_pointer.is_null())?;
    require(count >= 0 && (count == 0) == agents.is_null())?;
    let access = match count {
        0 => runtime.agents.all_gpus(),
        // SAFETY: the caller's list has `count` handles.
        _ => unsafe { runtime.agents.gpu_set(agents, count as usize) }?,
    };
    // SAFETY: the caller keeps the range until it unlocks it, and gives an out-parameter.
    unsafe {
        let alias =
            runtime
                .memory
                .pins
                .lock(&runtime.agents, host as u64, size as u64, access, fine)?;
        write_out(agent_pointer, alias as *mut c_void)
    }
}

pub unsafe extern "C" fn hsa_amd_memory_unlock(host_ptr: *mut c_void) -> hsa_status_t {
    entry!(hsa_amd_memory_unlock, {
        let runtime = runtime::get()?;
        require(!host_ptr.is_null())?;
        runtime.memory.pins.unlock(&runtime.agents, host_ptr as u64)
    })
}

/// What is known of an address.
struct Known {
    kind: hsa_amd_pointer_type_t,
    agent_base: u64,
    host_base: u64,
    size: u64,
    user_data: *mut c_void,
    owner: hsa_agent_t,
    flags: u32,
    access: GpuSet,
    /// The CPU has access, too.
    cpu: bool,
}

fn know(runtime: &Runtime, address: u64) -> Option<Known> {
    if let Some(allocation) = runtime.memory.find(address) {
        return Some(Known {
            kind: if allocation.origin == Origin::Import {
                HSA_EXT_POINTER_TYPE_IPC
            } else {
                HSA_EXT_POINTER_TYPE_HSA
            },
            agent_base: allocation.base,
            host_base: allocation.base,
            size: allocation.size,
            user_data: allocation.user_data(),
            owner: allocation.pool.agent.handle(),
            flags: allocation.pool.flags(),
            access: allocation.access(),
            cpu: allocation.pool.gpu().is_none(),
        });
    }
    if let Some(found) = runtime.memory.vmem.find(address) {
        return Some(Known {
            kind: match found.pool {
                Some(_) => HSA_EXT_POINTER_TYPE_HSA_VMEM,
                None => HSA_EXT_POINTER_TYPE_RESERVED_ADDR,
            },
            agent_base: found.base,
            host_base: found.base,
            size: found.bytes,
            user_data: std::ptr::null_mut(),
            owner: found
                .pool
                .map(|pool| pool.agent.handle())
                .unwrap_or_default(),
            flags: found.pool.map_or(0, PoolId::flags),
            access: found.access,
            cpu: found.cpu,
        });
    }
    let pins = &runtime.memory.pins;
    let pin = pins
        .find_alias(address)
        .or_else(|| pins.find_host(address))?;
    Some(Known {
        kind: HSA_EXT_POINTER_TYPE_LOCKED,
        agent_base: pin.alias,
        host_base: pin.host,
        size: pin.size,
        user_data: std::ptr::null_mut(),
        owner: AgentId::CPU.handle(),
        flags: PoolId {
            agent: AgentId::CPU,
            kind: PoolKind::Fine,
        }
        .flags(),
        access: pin.access,
        cpu: true,
    })
}

pub unsafe extern "C" fn hsa_amd_pointer_info(
    ptr: *const c_void,
    info: *mut hsa_amd_pointer_info_t,
    alloc: Option<unsafe extern "C" fn(size: usize) -> *mut c_void>,
    num_agents_accessible: *mut u32,
    accessible: *mut *mut hsa_agent_t,
) -> hsa_status_t {
    entry!(hsa_amd_pointer_info, {
        let runtime = runtime::get()?;
        require(!ptr.is_null() && !info.is_null())?;
        // SAFETY: the caller's structure has at least its size field.
        let size = unsafe { (&raw const (*info).size).read_unaligned() } as usize;
        require(size != 0)?;
        let known = know(&runtime, ptr as u64);
        let length = size.min(size_of::<hsa_amd_pointer_info_t>());
        let mut result = hsa_amd_pointer_info_t {
            size: length as u32,
            r#type: HSA_EXT_POINTER_TYPE_UNKNOWN,
            agentBaseAddress: std::ptr::null_mut(),
            hostBaseAddress: std::ptr::null_mut(),
            sizeInBytes: 0,
            userData: std::ptr::null_mut(),
            agentOwner: hsa_agent_t::default(),
            global_flags: 0,
        };
        if let Some(known) = &known {
            result.r#type = known.kind;
            result.agentBaseAddress = known.agent_base as *mut c_void;
            result.hostBaseAddress = known.host_base as *mut c_void;
            result.sizeInBytes = known.size as usize;
            result.userData = known.user_data;
            result.agentOwner = known.owner;
            result.global_flags = known.flags;
        }
        // SAFETY: the caller's structure has `size` bytes, ours has `length`.
        unsafe {
            std::ptr::copy_nonoverlapping((&raw const result).cast::<u8>(), info.cast(), length)
        };
        if num_agents_accessible.is_null() || accessible.is_null() {
            return Ok(());
        }
        let Some(alloc) = alloc else { return Ok(()) };
        let agents: Vec<hsa_agent_t> = known
            .iter()
            .flat_map(|known| {
                let nodes = known.cpu.then(|| runtime.agents.node_ids());
                nodes
                    .into_iter()
                    .flatten()
                    .chain(members(known.access).map(AgentId::of_gpu))
                    .map(AgentId::handle)
            })
            .collect();
        // SAFETY: the caller's allocator gives memory for the list, or null; the pointers are out-parameters of the caller.
        unsafe {
            write_out(num_agents_accessible, agents.len() as u32)?;
            if agents.is_empty() {
                return write_out(accessible, std::ptr::null_mut());
            }
            let list = alloc(size_of_val(agents.as_slice())).cast::<hsa_agent_t>();
            if list.is_null() {
                return Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES);
            }
            std::ptr::copy_nonoverlapping(agents.as_ptr(), list, agents.len());
            write_out(accessible, list)
        }
    })
}

pub unsafe extern "C" fn hsa_amd_pointer_info_set_userdata(
    ptr: *const c_void,
    userdata: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_amd_pointer_info_set_userdata, {
        let allocation = runtime::get()?
            .memory
            .find(ptr as u64)
            .ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        allocation.set_user_data(userdata);
        Ok(())
    })
}

pub unsafe extern "C" fn hsa_amd_register_deallocation_callback(
    ptr: *mut c_void,
    callback: hsa_amd_deallocation_callback_t,
    user_data: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_amd_register_deallocation_callback, {
        let runtime = runtime::get()?;
        let callback = callback.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        require(!ptr.is_null())?;
        let allocation = runtime
            .memory
            .find(ptr as u64)
            .ok_or(HSA_STATUS_ERROR_INVALID_ALLOCATION)?;
        allocation.add_callback(ptr as u64, callback, user_data);
        Ok(())
    })
}

pub unsafe extern "C" fn hsa_amd_deregister_deallocation_callback(
    ptr: *mut c_void,
    callback: hsa_amd_deallocation_callback_t,
) -> hsa_status_t {
    entry!(hsa_amd_deregister_deallocation_callback, {
        let runtime = runtime::get()?;
        let callback = callback.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        require(!ptr.is_null())?;
        let allocation = runtime
            .memory
            .find(ptr as u64)
            .ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        require(allocation.remove_callback(ptr as u64, callback))
    })
}
