//! The virtual memory interface: not supported yet, as the system attribute says.

use std::ffi::c_void;

use gneiss_hsa_api::*;

use crate::entry::unsupported;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_vmem_address_free(_va: *mut c_void, _size: usize) -> hsa_status_t {
    unsupported("hsa_amd_vmem_address_free", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_vmem_address_reserve(
    _va: *mut *mut c_void,
    _size: usize,
    _address: u64,
    _flags: u64,
) -> hsa_status_t {
    unsupported("hsa_amd_vmem_address_reserve", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_vmem_address_reserve_align(
    _va: *mut *mut c_void,
    _size: usize,
    _address: u64,
    _alignment: u64,
    _flags: u64,
) -> hsa_status_t {
    unsupported("hsa_amd_vmem_address_reserve_align", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_vmem_export_shareable_handle(
    _dmabuf_fd: *mut i32,
    _handle: hsa_amd_vmem_alloc_handle_t,
    _flags: u64,
) -> hsa_status_t {
    unsupported("hsa_amd_vmem_export_shareable_handle", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_vmem_get_access(
    _va: *mut c_void,
    _perms: *mut hsa_access_permission_t,
    _agent_handle: hsa_agent_t,
) -> hsa_status_t {
    unsupported("hsa_amd_vmem_get_access", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_vmem_get_alloc_properties_from_handle(
    _memory_handle: hsa_amd_vmem_alloc_handle_t,
    _pool: *mut hsa_amd_memory_pool_t,
    _kind: *mut hsa_amd_memory_type_t,
) -> hsa_status_t {
    unsupported(
        "hsa_amd_vmem_get_alloc_properties_from_handle",
        HSA_STATUS_ERROR,
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_vmem_handle_create(
    _pool: hsa_amd_memory_pool_t,
    _size: usize,
    _memory_type: hsa_amd_memory_type_t,
    _flags: u64,
    _memory_handle: *mut hsa_amd_vmem_alloc_handle_t,
) -> hsa_status_t {
    unsupported("hsa_amd_vmem_handle_create", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_vmem_handle_release(
    _memory_handle: hsa_amd_vmem_alloc_handle_t,
) -> hsa_status_t {
    unsupported("hsa_amd_vmem_handle_release", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_vmem_import_shareable_handle(
    _dmabuf_fd: i32,
    _handle: *mut hsa_amd_vmem_alloc_handle_t,
) -> hsa_status_t {
    unsupported("hsa_amd_vmem_import_shareable_handle", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_vmem_map(
    _va: *mut c_void,
    _size: usize,
    _in_offset: usize,
    _memory_handle: hsa_amd_vmem_alloc_handle_t,
    _flags: u64,
) -> hsa_status_t {
    unsupported("hsa_amd_vmem_map", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_vmem_retain_alloc_handle(
    _memory_handle: *mut hsa_amd_vmem_alloc_handle_t,
    _addr: *mut c_void,
) -> hsa_status_t {
    unsupported("hsa_amd_vmem_retain_alloc_handle", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_vmem_set_access(
    _va: *mut c_void,
    _size: usize,
    _desc: *const hsa_amd_memory_access_desc_t,
    _desc_cnt: usize,
) -> hsa_status_t {
    unsupported("hsa_amd_vmem_set_access", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_vmem_unmap(_va: *mut c_void, _size: usize) -> hsa_status_t {
    unsupported("hsa_amd_vmem_unmap", HSA_STATUS_ERROR)
}
