//! PC sampling: there is no hardware to sample.

use std::ffi::c_void;

use gneiss_hsa_api::*;

use crate::entry::unsupported;

pub unsafe extern "C" fn hsa_ven_amd_pcs_create(
    _agent: hsa_agent_t,
    _method: hsa_ven_amd_pcs_method_kind_t,
    _units: hsa_ven_amd_pcs_units_t,
    _interval: usize,
    _latency: usize,
    _buffer_size: usize,
    _data_ready_callback: hsa_ven_amd_pcs_data_ready_callback_t,
    _client_callback_data: *mut c_void,
    _pc_sampling: *mut hsa_ven_amd_pcs_t,
) -> hsa_status_t {
    unsupported("hsa_ven_amd_pcs_create", HSA_STATUS_ERROR)
}

pub unsafe extern "C" fn hsa_ven_amd_pcs_create_from_id(
    _pcs_id: u32,
    _agent: hsa_agent_t,
    _method: hsa_ven_amd_pcs_method_kind_t,
    _units: hsa_ven_amd_pcs_units_t,
    _interval: usize,
    _latency: usize,
    _buffer_size: usize,
    _data_ready_callback: hsa_ven_amd_pcs_data_ready_callback_t,
    _client_callback_data: *mut c_void,
    _pc_sampling: *mut hsa_ven_amd_pcs_t,
) -> hsa_status_t {
    unsupported("hsa_ven_amd_pcs_create_from_id", HSA_STATUS_ERROR)
}

pub unsafe extern "C" fn hsa_ven_amd_pcs_destroy(_pc_sampling: hsa_ven_amd_pcs_t) -> hsa_status_t {
    unsupported("hsa_ven_amd_pcs_destroy", HSA_STATUS_ERROR)
}

pub unsafe extern "C" fn hsa_ven_amd_pcs_flush(_pc_sampling: hsa_ven_amd_pcs_t) -> hsa_status_t {
    unsupported("hsa_ven_amd_pcs_flush", HSA_STATUS_ERROR)
}

pub unsafe extern "C" fn hsa_ven_amd_pcs_iterate_configuration(
    _agent: hsa_agent_t,
    _configuration_callback: hsa_ven_amd_pcs_iterate_configuration_callback_t,
    _callback_data: *mut c_void,
) -> hsa_status_t {
    unsupported("hsa_ven_amd_pcs_iterate_configuration", HSA_STATUS_ERROR)
}

pub unsafe extern "C" fn hsa_ven_amd_pcs_start(_pc_sampling: hsa_ven_amd_pcs_t) -> hsa_status_t {
    unsupported("hsa_ven_amd_pcs_start", HSA_STATUS_ERROR)
}

pub unsafe extern "C" fn hsa_ven_amd_pcs_stop(_pc_sampling: hsa_ven_amd_pcs_t) -> hsa_status_t {
    unsupported("hsa_ven_amd_pcs_stop", HSA_STATUS_ERROR)
}
