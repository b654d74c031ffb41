//! Buffers of other drivers, as dma-bufs: there is no kernel driver to share them with.

use std::ffi::c_void;

use gneiss_hsa_api::*;

use crate::entry::unsupported;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_interop_map_buffer(
    _num_agents: u32,
    _agents: *mut hsa_agent_t,
    _interop_handle: i32,
    _flags: u32,
    _size: *mut usize,
    _ptr: *mut *mut c_void,
    _metadata_size: *mut usize,
    _metadata: *mut *const c_void,
) -> hsa_status_t {
    unsupported("hsa_amd_interop_map_buffer", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_interop_unmap_buffer(_ptr: *mut c_void) -> hsa_status_t {
    unsupported("hsa_amd_interop_unmap_buffer", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_portable_close_dmabuf(_dmabuf: i32) -> hsa_status_t {
    unsupported("hsa_amd_portable_close_dmabuf", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_portable_export_dmabuf(
    _ptr: *const c_void,
    _size: usize,
    _dmabuf: *mut i32,
    _offset: *mut u64,
) -> hsa_status_t {
    unsupported("hsa_amd_portable_export_dmabuf", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_portable_export_dmabuf_v2(
    _ptr: *const c_void,
    _size: usize,
    _dmabuf: *mut i32,
    _offset: *mut u64,
    _flags: u64,
) -> hsa_status_t {
    unsupported("hsa_amd_portable_export_dmabuf_v2", HSA_STATUS_ERROR)
}
