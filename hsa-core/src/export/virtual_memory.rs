//! The virtual memory interface: addresses, physical memory, mappings, access; physical memory between processes as descriptors.

use std::{
    ffi::c_void,
    os::fd::{BorrowedFd, IntoRawFd},
};

use gneiss_hsa_api::*;

use crate::{
    entry::{entry, require, write_out},
    runtime,
};

pub unsafe extern "C" fn hsa_amd_vmem_address_free(va: *mut c_void, size: usize) -> hsa_status_t {
    entry!(hsa_amd_vmem_address_free, {
        runtime::get()?
            .memory
            .vmem
            .unreserve(va as u64, size as u64)
    })
}

pub unsafe extern "C" fn hsa_amd_vmem_address_reserve(
    va: *mut *mut c_void,
    size: usize,
    address: u64,
    flags: u64,
) -> hsa_status_t {
    entry!(hsa_amd_vmem_address_reserve, {
        let runtime = runtime::get()?;
        require(!va.is_null() && flags == 0)?;
        let base = runtime.memory.vmem.reserve(size, address, 0)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(va, base as *mut c_void) }
    })
}

pub unsafe extern "C" fn hsa_amd_vmem_address_reserve_align(
    va: *mut *mut c_void,
    size: usize,
    address: u64,
    alignment: u64,
    flags: u64,
) -> hsa_status_t {
    entry!(hsa_amd_vmem_address_reserve_align, {
        let runtime = runtime::get()?;
        require(!va.is_null() && flags == 0)?;
        let base = runtime.memory.vmem.reserve(size, address, alignment)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(va, base as *mut c_void) }
    })
}

pub unsafe extern "C" fn hsa_amd_vmem_export_shareable_handle(
    dmabuf_fd: *mut i32,
    handle: hsa_amd_vmem_alloc_handle_t,
    flags: u64,
) -> hsa_status_t {
    entry!(hsa_amd_vmem_export_shareable_handle, {
        let runtime = runtime::get()?;
        require(!dmabuf_fd.is_null() && flags == 0)?;
        let file = runtime.memory.vmem.export(handle.handle)?;
        // SAFETY: an out-parameter of the caller, who closes the descriptor.
        unsafe { write_out(dmabuf_fd, file.into_raw_fd()) }
    })
}

pub unsafe extern "C" fn hsa_amd_vmem_get_access(
    va: *mut c_void,
    perms: *mut hsa_access_permission_t,
    agent_handle: hsa_agent_t,
) -> hsa_status_t {
    entry!(hsa_amd_vmem_get_access, {
        let runtime = runtime::get()?;
        require(!perms.is_null())?;
        let access = runtime
            .memory
            .vmem
            .access(&runtime.agents, va as u64, agent_handle)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(perms, access) }
    })
}

pub unsafe extern "C" fn hsa_amd_vmem_get_alloc_properties_from_handle(
    memory_handle: hsa_amd_vmem_alloc_handle_t,
    pool: *mut hsa_amd_memory_pool_t,
    kind: *mut hsa_amd_memory_type_t,
) -> hsa_status_t {
    entry!(hsa_amd_vmem_get_alloc_properties_from_handle, {
        let runtime = runtime::get()?;
        require(!pool.is_null() && !kind.is_null())?;
        let (of, what) = runtime.memory.vmem.properties(memory_handle.handle)?;
        // SAFETY: out-parameters of the caller.
        unsafe {
            write_out(
                pool,
                hsa_amd_memory_pool_t {
                    handle: of.handle(),
                },
            )?;
            write_out(kind, what)
        }
    })
}

pub unsafe extern "C" fn hsa_amd_vmem_handle_create(
    pool: hsa_amd_memory_pool_t,
    size: usize,
    memory_type: hsa_amd_memory_type_t,
    flags: u64,
    memory_handle: *mut hsa_amd_vmem_alloc_handle_t,
) -> hsa_status_t {
    entry!(hsa_amd_vmem_handle_create, {
        let runtime = runtime::get()?;
        require(!memory_handle.is_null() && memory_type <= MEMORY_TYPE_PINNED && flags == 0)?;
        let pool = runtime.agents.pool(pool)?;
        if !pool.allocatable() {
            return Err(HSA_STATUS_ERROR_INVALID_ALLOCATION);
        }
        let memory = &runtime.memory;
        let handle = memory
            .vmem
            .create(memory, &runtime.agents, pool, size as u64, memory_type)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(memory_handle, hsa_amd_vmem_alloc_handle_t { handle }) }
    })
}

pub unsafe extern "C" fn hsa_amd_vmem_handle_release(
    memory_handle: hsa_amd_vmem_alloc_handle_t,
) -> hsa_status_t {
    entry!(hsa_amd_vmem_handle_release, {
        let runtime = runtime::get()?;
        let memory = &runtime.memory;
        memory
            .vmem
            .release(memory, &runtime.agents, memory_handle.handle)
    })
}

pub unsafe extern "C" fn hsa_amd_vmem_import_shareable_handle(
    dmabuf_fd: i32,
    handle: *mut hsa_amd_vmem_alloc_handle_t,
) -> hsa_status_t {
    entry!(hsa_amd_vmem_import_shareable_handle, {
        let runtime = runtime::get()?;
        require(!handle.is_null() && dmabuf_fd >= 0)?;
        // SAFETY: the caller's descriptor stays open for the call.
        let file = unsafe { BorrowedFd::borrow_raw(dmabuf_fd) };
        let made = runtime.memory.vmem.import(&runtime.agents, file)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(handle, hsa_amd_vmem_alloc_handle_t { handle: made }) }
    })
}

pub unsafe extern "C" fn hsa_amd_vmem_map(
    va: *mut c_void,
    size: usize,
    in_offset: usize,
    memory_handle: hsa_amd_vmem_alloc_handle_t,
    flags: u64,
) -> hsa_status_t {
    entry!(hsa_amd_vmem_map, {
        let runtime = runtime::get()?;
        require(flags == 0)?;
        let vmem = &runtime.memory.vmem;
        vmem.map(
            va as u64,
            size as u64,
            in_offset as u64,
            memory_handle.handle,
        )
    })
}

pub unsafe extern "C" fn hsa_amd_vmem_retain_alloc_handle(
    memory_handle: *mut hsa_amd_vmem_alloc_handle_t,
    addr: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_amd_vmem_retain_alloc_handle, {
        let runtime = runtime::get()?;
        require(!memory_handle.is_null())?;
        let handle = runtime.memory.vmem.retain(addr as u64)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(memory_handle, hsa_amd_vmem_alloc_handle_t { handle }) }
    })
}

pub unsafe extern "C" fn hsa_amd_vmem_set_access(
    va: *mut c_void,
    size: usize,
    desc: *const hsa_amd_memory_access_desc_t,
    desc_cnt: usize,
) -> hsa_status_t {
    entry!(hsa_amd_vmem_set_access, {
        let runtime = runtime::get()?;
        require(desc_cnt != 0 && !desc.is_null())?;
        let mut access = Vec::new();
        for at in 0..desc_cnt {
            // SAFETY: the caller's list has `desc_cnt` elements.
            let desc = unsafe { desc.add(at).read_unaligned() };
            access.push((desc.agent_handle, desc.permissions));
        }
        runtime
            .memory
            .vmem
            .set_access(&runtime.agents, va as u64, size as u64, &access)
    })
}

pub unsafe extern "C" fn hsa_amd_vmem_unmap(va: *mut c_void, size: usize) -> hsa_status_t {
    entry!(hsa_amd_vmem_unmap, {
        let runtime = runtime::get()?;
        let memory = &runtime.memory;
        memory
            .vmem
            .unmap(memory, &runtime.agents, va as u64, size as u64)
    })
}
