//! Shared virtual memory attributes: not supported, as the system attribute says. Every allocation is shared anyway.

use std::ffi::c_void;

use gneiss_hsa_api::*;

use crate::entry::unsupported;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_svm_attributes_get(
    _ptr: *mut c_void,
    _size: usize,
    _attribute_list: *mut hsa_amd_svm_attribute_pair_t,
    _attribute_count: usize,
) -> hsa_status_t {
    unsupported("hsa_amd_svm_attributes_get", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_svm_attributes_set(
    _ptr: *mut c_void,
    _size: usize,
    _attribute_list: *mut hsa_amd_svm_attribute_pair_t,
    _attribute_count: usize,
) -> hsa_status_t {
    unsupported("hsa_amd_svm_attributes_set", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_svm_prefetch_async(
    _ptr: *mut c_void,
    _size: usize,
    _agent: hsa_agent_t,
    _num_dep_signals: u32,
    _dep_signals: *const hsa_signal_t,
    _completion_signal: hsa_signal_t,
) -> hsa_status_t {
    unsupported("hsa_amd_svm_prefetch_async", HSA_STATUS_ERROR)
}
