//! Memory pools and regions.

use std::ffi::c_void;

use gneiss_hsa_api::*;

use crate::{
    entry::{entry, require, write_out},
    runtime,
};

pub unsafe extern "C" fn hsa_amd_memory_pool_get_info(
    memory_pool: hsa_amd_memory_pool_t,
    attribute: hsa_amd_memory_pool_info_t,
    value: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_amd_memory_pool_get_info, {
        let runtime = runtime::get()?;
        require(!value.is_null())?;
        // SAFETY: the caller's buffer has the size of the attribute.
        unsafe {
            runtime
                .agents
                .pool(memory_pool)?
                .pool_info(&runtime.agents, attribute, value)
        }
    })
}

pub unsafe extern "C" fn hsa_amd_agent_iterate_memory_pools(
    agent: hsa_agent_t,
    callback: Option<
        unsafe extern "C" fn(memory_pool: hsa_amd_memory_pool_t, data: *mut c_void) -> hsa_status_t,
    >,
    data: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_amd_agent_iterate_memory_pools, {
        let runtime = runtime::get()?;
        let callback = callback.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        for pool in runtime.agents.pools(runtime.agents.id(agent)?) {
            // SAFETY: the user's callback with the user's data.
            unsafe {
                callback(
                    hsa_amd_memory_pool_t {
                        handle: pool.handle(),
                    },
                    data,
                )
            }
            .ok()?;
        }
        Ok(())
    })
}

pub unsafe extern "C" fn hsa_amd_agent_memory_pool_get_info(
    agent: hsa_agent_t,
    memory_pool: hsa_amd_memory_pool_t,
    attribute: hsa_amd_agent_memory_pool_info_t,
    value: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_amd_agent_memory_pool_get_info, {
        let runtime = runtime::get()?;
        require(!value.is_null())?;
        let id = runtime.agents.id(agent)?;
        // SAFETY: the caller's buffer has the size of the attribute.
        unsafe {
            runtime
                .agents
                .pool(memory_pool)?
                .agent_info(&runtime.agents, id, attribute, value)
        }
    })
}

pub unsafe extern "C" fn hsa_region_get_info(
    region: hsa_region_t,
    attribute: hsa_region_info_t,
    value: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_region_get_info, {
        let runtime = runtime::get()?;
        require(!value.is_null())?;
        // SAFETY: the caller's buffer has the size of the attribute.
        unsafe {
            runtime
                .agents
                .region(region)?
                .region_info(&runtime.agents, attribute, value)
        }
    })
}

/// The regions of an agent; those of a GPU include system memory, which it can reach.
pub unsafe extern "C" fn hsa_agent_iterate_regions(
    agent: hsa_agent_t,
    callback: Option<unsafe extern "C" fn(region: hsa_region_t, data: *mut c_void) -> hsa_status_t>,
    data: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_agent_iterate_regions, {
        let runtime = runtime::get()?;
        let callback = callback.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        let id = runtime.agents.id(agent)?;
        let system = id.gpu().map(|_| runtime.agents.node_ids());
        for agent in std::iter::once(id).chain(system.into_iter().flatten()) {
            for region in runtime.agents.pools(agent) {
                // SAFETY: the user's callback with the user's data.
                unsafe {
                    callback(
                        hsa_region_t {
                            handle: region.handle(),
                        },
                        data,
                    )
                }
                .ok()?;
            }
        }
        Ok(())
    })
}

pub unsafe extern "C" fn hsa_amd_memory_pool_can_migrate(
    src_memory_pool: hsa_amd_memory_pool_t,
    dst_memory_pool: hsa_amd_memory_pool_t,
    result: *mut bool,
) -> hsa_status_t {
    entry!(hsa_amd_memory_pool_can_migrate, {
        let runtime = runtime::get()?;
        runtime.agents.pool(src_memory_pool)?;
        runtime.agents.pool(dst_memory_pool)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(result, false) }
    })
}
