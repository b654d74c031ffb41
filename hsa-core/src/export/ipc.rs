//! Memory and signals shared between processes.

use std::ffi::c_void;

use gneiss_hsa_api::*;

use crate::{
    entry::{entry, require, write_out},
    ipc::Handle,
    runtime, signal,
};

/// `ptr` is the start of an allocation, and `len` its length, which may be rounded up to the granule.
pub unsafe extern "C" fn hsa_amd_ipc_memory_create(
    ptr: *mut c_void,
    len: usize,
    handle: *mut hsa_amd_ipc_memory_t,
) -> hsa_status_t {
    entry!(hsa_amd_ipc_memory_create, {
        let runtime = runtime::get()?;
        require(!ptr.is_null() && !handle.is_null())?;
        let made = runtime.memory.export(ptr as u64, len as u64)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(handle, made.encode()) }
    })
}

pub unsafe extern "C" fn hsa_amd_ipc_memory_attach(
    handle: *const hsa_amd_ipc_memory_t,
    len: usize,
    num_agents: u32,
    mapping_agents: *const hsa_agent_t,
    mapped_ptr: *mut *mut c_void,
) -> hsa_status_t {
    entry!(hsa_amd_ipc_memory_attach, {
        let runtime = runtime::get()?;
        require(!handle.is_null() && !mapped_ptr.is_null())?;
        require(num_agents == 0 || !mapping_agents.is_null())?;
        let agents = &runtime.agents;
        let access = match num_agents {
            0 => agents.all_gpus(),
            // SAFETY: the caller's list has `num_agents` handles.
            count => unsafe { agents.gpu_set(mapping_agents, count as usize) }?,
        };
        // SAFETY: the caller's handle.
        let handle = Handle::decode(&unsafe { handle.read_unaligned() })?;
        let base = runtime.memory.import(agents, handle, len as u64, access)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(mapped_ptr, base as *mut c_void) }
    })
}

pub unsafe extern "C" fn hsa_amd_ipc_memory_detach(mapped_ptr: *mut c_void) -> hsa_status_t {
    entry!(hsa_amd_ipc_memory_detach, {
        let runtime = runtime::get()?;
        require(!mapped_ptr.is_null())?;
        runtime.memory.detach(&runtime.agents, mapped_ptr as u64)
    })
}

pub unsafe extern "C" fn hsa_amd_ipc_signal_create(
    signal: hsa_signal_t,
    handle: *mut hsa_amd_ipc_signal_t,
) -> hsa_status_t {
    entry!(hsa_amd_ipc_signal_create, {
        runtime::get()?;
        require(!handle.is_null())?;
        let made = signal::ipc::export(signal)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(handle, made.encode()) }
    })
}

pub unsafe extern "C" fn hsa_amd_ipc_signal_attach(
    handle: *const hsa_amd_ipc_signal_t,
    signal: *mut hsa_signal_t,
) -> hsa_status_t {
    entry!(hsa_amd_ipc_signal_attach, {
        runtime::get()?;
        require(!handle.is_null() && !signal.is_null())?;
        // SAFETY: the caller's handle.
        let handle = Handle::decode(&unsafe { handle.read_unaligned() })?;
        let attached = signal::ipc::attach(handle)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(signal, attached) }
    })
}
