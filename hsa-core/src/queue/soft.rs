//! Soft queues: rings in memory that the program processes itself.

use std::ffi::c_void;

use gneiss_hsa_api::*;

use super::FREE;
use crate::{
    entry::{HsaResult, require},
    pool::PoolId,
    runtime::Runtime,
    signal,
};

/// `hsa_soft_queue_create`: the program processes the packets itself.
pub(crate) fn create_soft(
    runtime: &Runtime,
    region: PoolId,
    size: u32,
    kind: u32,
    features: u32,
    doorbell: hsa_signal_t,
) -> HsaResult<*mut hsa_queue_t> {
    let all_features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH | HSA_QUEUE_FEATURE_AGENT_DISPATCH;
    require(size != 0 && size.is_power_of_two() && kind <= HSA_QUEUE_TYPE_SINGLE)?;
    require(features != 0 && features & !all_features == 0)?;
    signal::user(doorbell)?;
    if !region.allocatable() {
        return Err(HSA_STATUS_ERROR_INVALID_REGION);
    }
    let agents = &runtime.agents;
    let bytes = (size as usize)
        .checked_mul(64)
        .ok_or(HSA_STATUS_ERROR_OUT_OF_RESOURCES)?;
    let ring = runtime
        .memory
        .allocate(agents, region, bytes, agents.all_gpus())?;
    let structure =
        match runtime
            .memory
            .allocate(agents, region, size_of::<amd_queue_t>(), agents.all_gpus())
        {
            Ok(structure) => structure,
            Err(status) => {
                runtime.memory.free(agents, ring.base)?;
                return Err(status);
            }
        };
    let id = {
        let mut slots = FREE.lock();
        slots.next_id += 1;
        slots
            .soft
            .insert(structure.base as usize, ring.base as usize);
        slots.next_id - 1
    };
    let pointer = structure.base as *mut amd_queue_t;
    // SAFETY: the allocations are of these sizes, page aligned, and nobody else knows them yet; zeros are a valid `amd_queue_t`.
    unsafe {
        pointer.write_bytes(0, 1);
        (*pointer).hsa_queue = hsa_queue_t {
            r#type: kind,
            features,
            base_address: ring.base as *mut c_void,
            doorbell_signal: doorbell,
            size,
            reserved1: 0,
            id,
        };
        (*pointer).queue_properties = AMD_QUEUE_PROPERTIES_IS_PTR64;
        (*pointer).read_dispatch_id_field_base_byte_offset =
            std::mem::offset_of!(amd_queue_t, read_dispatch_id) as u32;
        std::ptr::write_bytes(ring.base as *mut u8, 0, bytes);
        for index in 0..size as usize {
            (ring.base as *mut u16)
                .add(index * 32)
                .write(HSA_PACKET_TYPE_INVALID as u16);
        }
    }
    Ok(pointer.cast())
}
