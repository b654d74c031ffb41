//! Linking device code (HIP 6.4 and later): the linker of hiprtc under the runtime's names and codes.

use std::ffi::{c_char, c_void};

use gneiss_hip_abi_macros::hip_api;
use gneiss_hiprtc::{
    HIPRTC_ERROR_INVALID_INPUT, HIPRTC_ERROR_INVALID_OPTION, HIPRTC_ERROR_PROGRAM_CREATION_FAILURE,
    HIPRTC_SUCCESS, hiprtcLinkAddData, hiprtcLinkAddFile, hiprtcLinkComplete, hiprtcLinkCreate,
    hiprtcLinkDestroy, hiprtcResult,
};

use crate::{error::*, fail};

/// A link state.
pub type hipLinkState_t = *mut c_void;

fn result(call: &str, result: hiprtcResult) -> HipResult {
    match result {
        HIPRTC_SUCCESS => Ok(()),
        HIPRTC_ERROR_INVALID_INPUT
        | HIPRTC_ERROR_INVALID_OPTION
        | HIPRTC_ERROR_PROGRAM_CREATION_FAILURE => {
            fail!(
                hipErrorInvalidValue,
                "{call}: {}",
                gneiss_hiprtc::result::name(result).to_string_lossy()
            )
        }
        _ => fail!(
            hipErrorInvalidConfiguration,
            "{call}: {}",
            gneiss_hiprtc::result::name(result).to_string_lossy()
        ),
    }
}

/// Creates a link state.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLinkCreate(
    numOptions: u32,
    options: *mut u32,
    optionValues: *mut *mut c_void,
    stateOut: *mut hipLinkState_t,
) -> hipError_t {
    // SAFETY: as the caller promises.
    result("hipLinkCreate", unsafe {
        hiprtcLinkCreate(numOptions, options, optionValues, stateOut)
    })
}

/// Adds bitcode from memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLinkAddData(
    state: hipLinkState_t,
    r#type: u32,
    data: *mut c_void,
    size: usize,
    name: *const c_char,
    numOptions: u32,
    options: *mut u32,
    optionValues: *mut *mut c_void,
) -> hipError_t {
    // SAFETY: as the caller promises.
    result("hipLinkAddData", unsafe {
        hiprtcLinkAddData(
            state,
            r#type,
            data,
            size,
            name,
            numOptions,
            options,
            optionValues,
        )
    })
}

/// Adds bitcode from a file.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLinkAddFile(
    state: hipLinkState_t,
    r#type: u32,
    path: *const c_char,
    numOptions: u32,
    options: *mut u32,
    optionValues: *mut *mut c_void,
) -> hipError_t {
    // SAFETY: as the caller promises.
    result("hipLinkAddFile", unsafe {
        hiprtcLinkAddFile(state, r#type, path, numOptions, options, optionValues)
    })
}

/// Links; the code object lives as long as the link state.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLinkComplete(
    state: hipLinkState_t,
    hipBinOut: *mut *mut c_void,
    sizeOut: *mut usize,
) -> hipError_t {
    // SAFETY: as the caller promises.
    result("hipLinkComplete", unsafe {
        hiprtcLinkComplete(state, hipBinOut, sizeOut)
    })
}

/// Ends a link state.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLinkDestroy(state: hipLinkState_t) -> hipError_t {
    // SAFETY: as the caller promises.
    result("hipLinkDestroy", unsafe { hiprtcLinkDestroy(state) })
}
