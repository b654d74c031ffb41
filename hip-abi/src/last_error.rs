//! The thread's last error, and names and texts of errors.

use std::ffi::c_char;

use gneiss_hip_abi_macros::hip_api;

use crate::{
    entry,
    error::{self, *},
    fail, version,
};

/// Gives the thread's last error and resets it to success.
#[hip_api(no_init, no_record)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetLastError() -> hipError_t {
    match entry::take_last_error() {
        hipSuccess => Ok(()),
        error => Err(error),
    }
}

/// Gives the thread's last error and leaves it.
#[hip_api(no_init, no_record)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipPeekAtLastError() -> hipError_t {
    match entry::peek_last_error() {
        hipSuccess => Ok(()),
        error => Err(error),
    }
}

/// Gives the status of the thread's last call, and resets it to success.
#[hip_api(no_init, no_record)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipExtGetLastError() -> hipError_t {
    match entry::take_last_status() {
        hipSuccess => Ok(()),
        error => Err(error),
    }
}

/// Gives an error's name; `hipErrorUnknown` for a code that does not exist.
///
/// # Safety
/// None. The text is constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetErrorName(hip_error: u32) -> *const c_char {
    error::name(hip_error, version::presented()).as_ptr()
}

/// Gives an error's text: its name for HIP 5, words for HIP 6 and later.
///
/// # Safety
/// None. The text is constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetErrorString(hipError: u32) -> *const c_char {
    error::text(hipError, version::presented()).as_ptr()
}

/// Gives an error's name; `hipErrorInvalidValue` for a code that does not exist.
#[hip_api(no_init)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDrvGetErrorName(
    hipError: u32,
    errorString: *mut *const c_char,
) -> hipError_t {
    if errorString.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the name");
    }
    let major = version::presented();
    // SAFETY: not null; the caller promises a valid place.
    unsafe { errorString.write(error::name(hipError, major).as_ptr()) };
    if error::is_known(hipError, major) {
        Ok(())
    } else {
        fail!(hipErrorInvalidValue, "error code {hipError} does not exist")
    }
}

/// Gives an error's text; `hipErrorInvalidValue` for a code that does not exist.
#[hip_api(no_init)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDrvGetErrorString(
    hipError: u32,
    errorString: *mut *const c_char,
) -> hipError_t {
    if errorString.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the text");
    }
    let major = version::presented();
    // SAFETY: not null; the caller promises a valid place.
    unsafe { errorString.write(error::text(hipError, major).as_ptr()) };
    if error::is_known(hipError, major) {
        Ok(())
    } else {
        fail!(hipErrorInvalidValue, "error code {hipError} does not exist")
    }
}
