//! Shared virtual memory attributes.

use std::ffi::c_void;

use gneiss_hsa_api::*;

use crate::{
    copy::{self, Signals},
    entry::{entry, require},
    runtime,
};

/// Checks a list of attributes and gives it as a slice.
///
/// # Safety
/// `list` is null or valid for `count` pairs.
unsafe fn pairs<'a>(
    list: *mut hsa_amd_svm_attribute_pair_t,
    count: usize,
) -> crate::entry::HsaResult<&'a mut [hsa_amd_svm_attribute_pair_t]> {
    require(count != 0 && !list.is_null() && list.is_aligned())?;
    // SAFETY: the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts_mut(list, count) })
}

pub unsafe extern "C" fn hsa_amd_svm_attributes_get(
    ptr: *mut c_void,
    size: usize,
    attribute_list: *mut hsa_amd_svm_attribute_pair_t,
    attribute_count: usize,
) -> hsa_status_t {
    entry!(hsa_amd_svm_attributes_get, {
        let runtime = runtime::get()?;
        // SAFETY: the caller's list has `attribute_count` pairs.
        let pairs = unsafe { pairs(attribute_list, attribute_count) }?;
        runtime
            .memory
            .svm
            .get(&runtime.agents, ptr as u64, size as u64, pairs)
    })
}

pub unsafe extern "C" fn hsa_amd_svm_attributes_set(
    ptr: *mut c_void,
    size: usize,
    attribute_list: *mut hsa_amd_svm_attribute_pair_t,
    attribute_count: usize,
) -> hsa_status_t {
    entry!(hsa_amd_svm_attributes_set, {
        let runtime = runtime::get()?;
        // SAFETY: the caller's list has `attribute_count` pairs.
        let pairs = unsafe { pairs(attribute_list, attribute_count) }?;
        // Allocations of this runtime have access rights of their own.
        require(runtime.memory.find(ptr as u64).is_none())?;
        runtime
            .memory
            .svm
            .set(&runtime.agents, ptr as u64, size as u64, pairs)
    })
}

/// Memory stays where it is, so a prefetch has only an order: after its dependencies it completes its signal.
pub unsafe extern "C" fn hsa_amd_svm_prefetch_async(
    ptr: *mut c_void,
    size: usize,
    agent: hsa_agent_t,
    num_dep_signals: u32,
    dep_signals: *const hsa_signal_t,
    completion_signal: hsa_signal_t,
) -> hsa_status_t {
    entry!(hsa_amd_svm_prefetch_async, {
        let runtime = runtime::get()?;
        let id = runtime.agents.id(agent)?;
        require((num_dep_signals == 0) == dep_signals.is_null())?;
        // Without a signal nobody can tell whether the dependencies were waited for.
        let signals = if completion_signal.handle == 0 {
            None
        } else {
            // SAFETY: the caller's list has `num_dep_signals` handles.
            Some(unsafe { Signals::check(num_dep_signals, dep_signals, completion_signal) }?)
        };
        runtime.memory.svm.prefetched(ptr as u64, size as u64, id)?;
        if let Some(signals) = signals {
            copy::nothing(&runtime, signals);
        }
        Ok(())
    })
}
