//! What tools look up by name: callbacks around scratch memory, which the software GPU never makes.

use std::ffi::c_void;

use gneiss_hsa_api::{HSA_STATUS_ERROR, hsa_status_t};

use crate::entry::unsupported;

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
