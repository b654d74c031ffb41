//! The HSAIL finalizer: HSAIL is not supported, as in every ROCr of today.

use std::ffi::{c_char, c_void};

use gneiss_hsa_api::*;

use crate::entry::unsupported;

pub unsafe extern "C" fn hsa_ext_program_add_module(
    _program: hsa_ext_program_t,
    _module: hsa_ext_module_t,
) -> hsa_status_t {
    unsupported(
        "hsa_ext_program_add_module",
        HSA_EXT_STATUS_ERROR_INVALID_PROGRAM,
    )
}

pub unsafe extern "C" fn hsa_ext_program_create(
    _machine_model: hsa_machine_model_t,
    _profile: hsa_profile_t,
    _default_float_rounding_mode: hsa_default_float_rounding_mode_t,
    _options: *const c_char,
    _program: *mut hsa_ext_program_t,
) -> hsa_status_t {
    unsupported("hsa_ext_program_create", HSA_STATUS_ERROR)
}

pub unsafe extern "C" fn hsa_ext_program_destroy(_program: hsa_ext_program_t) -> hsa_status_t {
    unsupported(
        "hsa_ext_program_destroy",
        HSA_EXT_STATUS_ERROR_INVALID_PROGRAM,
    )
}

pub unsafe extern "C" fn hsa_ext_program_finalize(
    _program: hsa_ext_program_t,
    _isa: hsa_isa_t,
    _call_convention: i32,
    _control_directives: hsa_ext_control_directives_t,
    _options: *const c_char,
    _code_object_type: hsa_code_object_type_t,
    _code_object: *mut hsa_code_object_t,
) -> hsa_status_t {
    unsupported(
        "hsa_ext_program_finalize",
        HSA_EXT_STATUS_ERROR_INVALID_PROGRAM,
    )
}

pub unsafe extern "C" fn hsa_ext_program_get_info(
    _program: hsa_ext_program_t,
    _attribute: hsa_ext_program_info_t,
    _value: *mut c_void,
) -> hsa_status_t {
    unsupported(
        "hsa_ext_program_get_info",
        HSA_EXT_STATUS_ERROR_INVALID_PROGRAM,
    )
}

pub unsafe extern "C" fn hsa_ext_program_iterate_modules(
    _program: hsa_ext_program_t,
    _callback: Option<
        unsafe extern "C" fn(
            program: hsa_ext_program_t,
            module: hsa_ext_module_t,
            data: *mut c_void,
        ) -> hsa_status_t,
    >,
    _data: *mut c_void,
) -> hsa_status_t {
    unsupported(
        "hsa_ext_program_iterate_modules",
        HSA_EXT_STATUS_ERROR_INVALID_PROGRAM,
    )
}
