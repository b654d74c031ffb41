//! What debuggers and tools look up by name.

use std::ffi::c_void;

use gneiss_hsa_api::{HSA_STATUS_ERROR, hsa_status_t, link_map};

use crate::entry::unsupported;

/// The list of loaded code for a debugger (`r_debug` of `link.h`).
#[repr(C)]
#[derive(Debug)]
pub struct DebugList {
    r_version: i32,
    r_map: *mut link_map,
    r_brk: u64,
    r_state: i32,
    r_ldbase: u64,
}

// SAFETY: a debugger reads it from outside the process; the process itself does not change it.
unsafe impl Sync for DebugList {}

/// Version of the list's layout in ROCr.
const DEBUG_VERSION: i32 = 9;

/// A debugger finds the loaded code here. The list is empty: the software GPU has no interface for debuggers yet.
#[unsafe(no_mangle)]
pub static _amdgpu_r_debug: DebugList = DebugList {
    r_version: DEBUG_VERSION,
    r_map: std::ptr::null_mut(),
    r_brk: 0,
    r_state: 0,
    r_ldbase: 0,
};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_tools_scratch_event_alloc_start(
    _event: *const c_void,
) -> hsa_status_t {
    unsupported("hsa_tools_scratch_event_alloc_start", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_tools_scratch_event_alloc_end(_event: *const c_void) -> hsa_status_t {
    unsupported("hsa_tools_scratch_event_alloc_end", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_tools_scratch_event_async_reclaim_start(
    _event: *const c_void,
) -> hsa_status_t {
    unsupported(
        "hsa_tools_scratch_event_async_reclaim_start",
        HSA_STATUS_ERROR,
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_tools_scratch_event_async_reclaim_end(
    _event: *const c_void,
) -> hsa_status_t {
    unsupported(
        "hsa_tools_scratch_event_async_reclaim_end",
        HSA_STATUS_ERROR,
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_tools_scratch_event_free_start(_event: *const c_void) -> hsa_status_t {
    unsupported("hsa_tools_scratch_event_free_start", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_tools_scratch_event_free_end(_event: *const c_void) -> hsa_status_t {
    unsupported("hsa_tools_scratch_event_free_end", HSA_STATUS_ERROR)
}
