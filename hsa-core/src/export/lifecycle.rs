//! Init, shutdown, status texts.

use std::ffi::c_char;

use gneiss_hsa_api::*;

use crate::{
    entry::{entry, write_out},
    runtime, status,
};

pub unsafe extern "C" fn hsa_init() -> hsa_status_t {
    entry!(hsa_init, { runtime::init() })
}

pub unsafe extern "C" fn hsa_shut_down() -> hsa_status_t {
    entry!(hsa_shut_down, { runtime::shut_down() })
}

pub unsafe extern "C" fn hsa_status_string(
    status: hsa_status_t,
    status_string: *mut *const c_char,
) -> hsa_status_t {
    entry!(hsa_status_string, {
        let text = status::c_text(status).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(status_string, text.as_ptr()) }
    })
}
