//! Queues: life, priority, compute units, and the report of a fault.

use std::{
    ffi::{c_char, c_void},
    sync::atomic::Ordering,
};

use gneiss_hsa_api::*;

use crate::{
    entry::{entry, require, write_out, write_value},
    fault, queue, runtime,
};

pub unsafe extern "C" fn hsa_queue_create(
    agent: hsa_agent_t,
    size: u32,
    r#type: hsa_queue_type32_t,
    callback: Option<
        unsafe extern "C" fn(status: hsa_status_t, source: *mut hsa_queue_t, data: *mut c_void),
    >,
    data: *mut c_void,
    private_segment_size: u32,
    _group_segment_size: u32,
    queue: *mut *mut hsa_queue_t,
) -> hsa_status_t {
    entry!(hsa_queue_create, {
        let runtime = runtime::get()?;
        require(!queue.is_null())?;
        let request = queue::Request {
            size,
            kind: r#type,
            callback,
            data,
            private_segment_size,
        };
        let made = queue::create(&runtime, agent, &request)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(queue, made) }
    })
}

/// Makes a queue whose packets tools see. Tools get this function in their table; it is not exported.
pub(crate) unsafe extern "C" fn hsa_amd_queue_intercept_create(
    agent: hsa_agent_t,
    size: u32,
    r#type: hsa_queue_type32_t,
    callback: hsa_queue_callback_t,
    data: *mut c_void,
    private_segment_size: u32,
    _group_segment_size: u32,
    queue: *mut *mut hsa_queue_t,
) -> hsa_status_t {
    entry!(hsa_amd_queue_intercept_create, {
        let runtime = runtime::get()?;
        require(!queue.is_null())?;
        let request = queue::Request {
            size,
            kind: r#type,
            callback,
            data,
            private_segment_size,
        };
        let made = queue::intercept::create(&runtime, agent, &request)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(queue, made) }
    })
}

/// Adds a handler of packets to a queue that was made for it.
pub(crate) unsafe extern "C" fn hsa_amd_queue_intercept_register(
    queue: *mut hsa_queue_t,
    callback: Option<queue::intercept::Handler>,
    user_data: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_amd_queue_intercept_register, {
        runtime::get()?;
        let callback = callback.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        // SAFETY: the caller's queue.
        let queue = unsafe { queue::find(queue) }?;
        let intercept = queue.intercept().ok_or(HSA_STATUS_ERROR_INVALID_QUEUE)?;
        intercept.register(callback, user_data);
        Ok(())
    })
}

/// Asks to be told of queues that the runtime makes for itself: it makes none.
pub(crate) unsafe extern "C" fn hsa_amd_runtime_queue_create_register(
    callback: Option<
        unsafe extern "C" fn(queue: *const hsa_queue_t, agent: hsa_agent_t, data: *mut c_void),
    >,
    _user_data: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_amd_runtime_queue_create_register, {
        runtime::get()?;
        require(callback.is_some())
    })
}

pub unsafe extern "C" fn hsa_soft_queue_create(
    region: hsa_region_t,
    size: u32,
    r#type: hsa_queue_type32_t,
    features: u32,
    doorbell_signal: hsa_signal_t,
    queue: *mut *mut hsa_queue_t,
) -> hsa_status_t {
    entry!(hsa_soft_queue_create, {
        let runtime = runtime::get()?;
        require(!queue.is_null())?;
        let region = runtime.agents.region(region)?;
        let made = queue::create_soft(&runtime, region, size, r#type, features, doorbell_signal)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(queue, made) }
    })
}

pub unsafe extern "C" fn hsa_queue_destroy(queue: *mut hsa_queue_t) -> hsa_status_t {
    entry!(hsa_queue_destroy, {
        let runtime = runtime::get()?;
        // SAFETY: the caller's queue.
        unsafe { queue::destroy(&runtime, queue) }
    })
}

pub unsafe extern "C" fn hsa_queue_inactivate(queue: *mut hsa_queue_t) -> hsa_status_t {
    entry!(hsa_queue_inactivate, {
        runtime::get()?;
        // SAFETY: the caller's queue.
        unsafe { queue::find(queue) }?
            .active
            .store(false, Ordering::SeqCst);
        Ok(())
    })
}

pub unsafe extern "C" fn hsa_amd_queue_set_priority(
    queue: *mut hsa_queue_t,
    priority: hsa_amd_queue_priority_t,
) -> hsa_status_t {
    entry!(hsa_amd_queue_set_priority, {
        runtime::get()?;
        // SAFETY: the caller's queue.
        unsafe { queue::find(queue) }?.set_priority(priority)
    })
}

pub unsafe extern "C" fn hsa_amd_queue_cu_set_mask(
    queue: *const hsa_queue_t,
    num_cu_mask_count: u32,
    cu_mask: *const u32,
) -> hsa_status_t {
    entry!(hsa_amd_queue_cu_set_mask, {
        let runtime = runtime::get()?;
        require(
            num_cu_mask_count.is_multiple_of(32) && (num_cu_mask_count == 0 || !cu_mask.is_null()),
        )?;
        // SAFETY: the caller's queue.
        let queue = unsafe { queue::find(queue) }?;
        let words = num_cu_mask_count as usize / 32;
        // SAFETY: the caller's mask has this many words.
        let word = |at| unsafe { cu_mask.add(at).read_unaligned() };
        let mask = (words != 0).then(|| (0..words).map(word).collect());
        queue.set_cu_mask(&runtime.agents, mask)
    })
}

pub unsafe extern "C" fn hsa_amd_queue_cu_get_mask(
    queue: *const hsa_queue_t,
    num_cu_mask_count: u32,
    cu_mask: *mut u32,
) -> hsa_status_t {
    entry!(hsa_amd_queue_cu_get_mask, {
        runtime::get()?;
        require(
            num_cu_mask_count != 0 && num_cu_mask_count.is_multiple_of(32) && !cu_mask.is_null(),
        )?;
        // SAFETY: the caller's queue.
        let mask = unsafe { queue::find(queue) }?.cu_mask();
        for at in 0..num_cu_mask_count as usize / 32 {
            // SAFETY: the caller's mask has this many words.
            unsafe {
                cu_mask
                    .add(at)
                    .write_unaligned(mask.get(at).copied().unwrap_or(0))
            };
        }
        Ok(())
    })
}

pub unsafe extern "C" fn hsa_amd_queue_get_info(
    queue: *mut hsa_queue_t,
    attribute: hsa_queue_info_attribute_t,
    value: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_amd_queue_get_info, {
        runtime::get()?;
        // SAFETY: the caller's queue.
        let queue = unsafe { queue::find(queue) }?;
        // SAFETY: the caller's buffer has the size of the attribute.
        unsafe {
            match attribute {
                HSA_AMD_QUEUE_INFO_AGENT => write_value(value, queue.agent.handle()),
                HSA_AMD_QUEUE_INFO_DOORBELL_ID => write_value(value, queue.doorbell().handle),
                _ => Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
            }
        }
    })
}

/// The report of the fault that stopped a queue: text for a person, or null if it has not failed. It stays valid until the queue is
/// destroyed. A call, with a null queue too, says that the client prints reports itself: the runtime no longer does.
///
/// An extension of this runtime.
pub unsafe extern "C" fn gneiss_hsa_last_fault(queue: *const hsa_queue_t) -> *const c_char {
    fault::client_reports();
    // SAFETY: the caller's queue, or null.
    let Ok(queue) = (unsafe { queue::find(queue) }) else {
        return std::ptr::null();
    };
    queue
        .report
        .lock()
        .as_ref()
        .map_or(std::ptr::null(), |report| report.as_ptr())
}
