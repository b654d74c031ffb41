//! The deprecated interface to code objects: use readers and `hsa_executable_load_agent_code_object`.

use std::ffi::{c_char, c_void};

use gneiss_hsa_api::*;

use crate::entry::unsupported;

pub unsafe extern "C" fn hsa_code_object_deserialize(
    _serialized_code_object: *mut c_void,
    _serialized_code_object_size: usize,
    _options: *const c_char,
    _code_object: *mut hsa_code_object_t,
) -> hsa_status_t {
    unsupported(
        "hsa_code_object_deserialize",
        HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
    )
}

pub unsafe extern "C" fn hsa_code_object_destroy(_code_object: hsa_code_object_t) -> hsa_status_t {
    unsupported(
        "hsa_code_object_destroy",
        HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
    )
}

pub unsafe extern "C" fn hsa_code_object_get_info(
    _code_object: hsa_code_object_t,
    _attribute: hsa_code_object_info_t,
    _value: *mut c_void,
) -> hsa_status_t {
    unsupported(
        "hsa_code_object_get_info",
        HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
    )
}

pub unsafe extern "C" fn hsa_code_object_get_symbol(
    _code_object: hsa_code_object_t,
    _symbol_name: *const c_char,
    _symbol: *mut hsa_code_symbol_t,
) -> hsa_status_t {
    unsupported(
        "hsa_code_object_get_symbol",
        HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
    )
}

pub unsafe extern "C" fn hsa_code_object_get_symbol_from_name(
    _code_object: hsa_code_object_t,
    _module_name: *const c_char,
    _symbol_name: *const c_char,
    _symbol: *mut hsa_code_symbol_t,
) -> hsa_status_t {
    unsupported(
        "hsa_code_object_get_symbol_from_name",
        HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
    )
}

pub unsafe extern "C" fn hsa_code_object_iterate_symbols(
    _code_object: hsa_code_object_t,
    _callback: Option<
        unsafe extern "C" fn(
            code_object: hsa_code_object_t,
            symbol: hsa_code_symbol_t,
            data: *mut c_void,
        ) -> hsa_status_t,
    >,
    _data: *mut c_void,
) -> hsa_status_t {
    unsupported(
        "hsa_code_object_iterate_symbols",
        HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
    )
}

pub unsafe extern "C" fn hsa_code_object_serialize(
    _code_object: hsa_code_object_t,
    _alloc_callback: Option<
        unsafe extern "C" fn(
            size: usize,
            data: hsa_callback_data_t,
            address: *mut *mut c_void,
        ) -> hsa_status_t,
    >,
    _callback_data: hsa_callback_data_t,
    _options: *const c_char,
    _serialized_code_object: *mut *mut c_void,
    _serialized_code_object_size: *mut usize,
) -> hsa_status_t {
    unsupported(
        "hsa_code_object_serialize",
        HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
    )
}

pub unsafe extern "C" fn hsa_code_symbol_get_info(
    _code_symbol: hsa_code_symbol_t,
    _attribute: hsa_code_symbol_info_t,
    _value: *mut c_void,
) -> hsa_status_t {
    unsupported(
        "hsa_code_symbol_get_info",
        HSA_STATUS_ERROR_INVALID_CODE_SYMBOL,
    )
}

pub unsafe extern "C" fn hsa_executable_load_code_object(
    _executable: hsa_executable_t,
    _agent: hsa_agent_t,
    _code_object: hsa_code_object_t,
    _options: *const c_char,
) -> hsa_status_t {
    unsupported(
        "hsa_executable_load_code_object",
        HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
    )
}
