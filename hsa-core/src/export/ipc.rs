//! Memory and signals shared between processes: not supported yet.

use std::ffi::c_void;

use gneiss_hsa_api::*;

use crate::entry::unsupported;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_ipc_memory_attach(
    _handle: *const hsa_amd_ipc_memory_t,
    _len: usize,
    _num_agents: u32,
    _mapping_agents: *const hsa_agent_t,
    _mapped_ptr: *mut *mut c_void,
) -> hsa_status_t {
    unsupported(
        "hsa_amd_ipc_memory_attach",
        HSA_STATUS_ERROR_OUT_OF_RESOURCES,
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_ipc_memory_create(
    _ptr: *mut c_void,
    _len: usize,
    _handle: *mut hsa_amd_ipc_memory_t,
) -> hsa_status_t {
    unsupported(
        "hsa_amd_ipc_memory_create",
        HSA_STATUS_ERROR_OUT_OF_RESOURCES,
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_ipc_memory_detach(_mapped_ptr: *mut c_void) -> hsa_status_t {
    unsupported(
        "hsa_amd_ipc_memory_detach",
        HSA_STATUS_ERROR_INVALID_ARGUMENT,
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_ipc_signal_attach(
    _handle: *const hsa_amd_ipc_signal_t,
    _signal: *mut hsa_signal_t,
) -> hsa_status_t {
    unsupported(
        "hsa_amd_ipc_signal_attach",
        HSA_STATUS_ERROR_OUT_OF_RESOURCES,
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_ipc_signal_create(
    _signal: hsa_signal_t,
    _handle: *mut hsa_amd_ipc_signal_t,
) -> hsa_status_t {
    unsupported(
        "hsa_amd_ipc_signal_create",
        HSA_STATUS_ERROR_OUT_OF_RESOURCES,
    )
}
