//! Memory as a descriptor. It is a memfd, which every process of this runtime can map (and any program can `mmap`); it is no dma-buf of
//! the kernel, so other drivers refuse it, and `HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED` says no.

use std::{
    ffi::c_void,
    os::fd::{BorrowedFd, FromRawFd, IntoRawFd, OwnedFd},
};

use gneiss_hsa_api::*;

use crate::{
    entry::{HsaResult, entry, require, write_out},
    memory::share,
    runtime,
};

/// Maps what another process, or this one, has exported.
pub unsafe extern "C" fn hsa_amd_interop_map_buffer(
    num_agents: u32,
    agents: *mut hsa_agent_t,
    interop_handle: i32,
    flags: u32,
    size: *mut usize,
    ptr: *mut *mut c_void,
    metadata_size: *mut usize,
    metadata: *mut *const c_void,
) -> hsa_status_t {
    entry!(hsa_amd_interop_map_buffer, {
        let runtime = runtime::get()?;
        require(num_agents != 0 && !agents.is_null() && flags == 0 && interop_handle >= 0)?;
        require(!size.is_null() && !ptr.is_null())?;
        // SAFETY: the caller's list has `num_agents` handles.
        let access = unsafe { runtime.agents.gpu_set(agents, num_agents as usize) }?;
        // SAFETY: the caller's descriptor stays open for the call.
        let file = unsafe { BorrowedFd::borrow_raw(interop_handle) };
        let (base, bytes) = runtime.memory.import_file(&runtime.agents, file, access)?;
        // SAFETY: out-parameters of the caller; those for metadata may be null, and there is none.
        unsafe {
            write_out(size, bytes as usize)?;
            write_out(ptr, base as *mut c_void)?;
            if !metadata_size.is_null() {
                metadata_size.write_unaligned(0);
            }
            if !metadata.is_null() {
                metadata.write_unaligned(std::ptr::null());
            }
        }
        Ok(())
    })
}

/// Unmaps it.
pub unsafe extern "C" fn hsa_amd_interop_unmap_buffer(ptr: *mut c_void) -> hsa_status_t {
    entry!(hsa_amd_interop_unmap_buffer, {
        let runtime = runtime::get()?;
        require(!ptr.is_null())?;
        runtime.memory.detach(&runtime.agents, ptr as u64)
    })
}

/// Closes a descriptor that was exported; no other one.
pub unsafe extern "C" fn hsa_amd_portable_close_dmabuf(dmabuf: i32) -> hsa_status_t {
    entry!(hsa_amd_portable_close_dmabuf, {
        runtime::get()?;
        require(dmabuf >= 0)?;
        // SAFETY: the caller's descriptor; it is the caller's to close, which this call is asked to do.
        unsafe {
            share::identify(BorrowedFd::borrow_raw(dmabuf))
                .ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
            drop(OwnedFd::from_raw_fd(dmabuf));
        }
        Ok(())
    })
}

unsafe fn export(
    pointer: *const c_void,
    size: usize,
    descriptor: *mut i32,
    offset: *mut u64,
) -> HsaResult {
    let runtime = runtime::get()?;
    require(!pointer.is_null() && size != 0 && !descriptor.is_null() && !offset.is_null())?;
    let (file, at) = runtime.memory.export_file(pointer as u64, size as u64)?;
    // SAFETY: out-parameters of the caller, who closes the descriptor.
    unsafe {
        write_out(offset, at)?;
        write_out(descriptor, file.into_raw_fd())
    }
}

/// Exports the allocation that holds a range.
pub unsafe extern "C" fn hsa_amd_portable_export_dmabuf(
    ptr: *const c_void,
    size: usize,
    dmabuf: *mut i32,
    offset: *mut u64,
) -> hsa_status_t {
    entry!(hsa_amd_portable_export_dmabuf, {
        // SAFETY: the caller's arguments.
        unsafe { export(ptr, size, dmabuf, offset) }
    })
}

/// Most flags of an export: which bus it is for, which makes no difference here.
const EXPORT_FLAGS: u64 = 1;

/// Likewise, with flags.
pub unsafe extern "C" fn hsa_amd_portable_export_dmabuf_v2(
    ptr: *const c_void,
    size: usize,
    dmabuf: *mut i32,
    offset: *mut u64,
    flags: u64,
) -> hsa_status_t {
    entry!(hsa_amd_portable_export_dmabuf_v2, {
        require(flags & !EXPORT_FLAGS == 0)?;
        // SAFETY: the caller's arguments.
        unsafe { export(ptr, size, dmabuf, offset) }
    })
}
