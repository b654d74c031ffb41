//! Stream capture, as far as it can be answered without graphs: no stream is ever capturing, because a capture can't begin yet.

use std::{cell::Cell, ffi::c_void};

use gneiss_hip_abi_macros::hip_api;

use crate::{enums::*, error::*, fail, stream, types::*};

thread_local! {
    static MODE: Cell<hipStreamCaptureMode> = const { Cell::new(hipStreamCaptureModeGlobal) };
}

/// Writes that a stream is not capturing.
fn not_capturing(
    handle: hipStream_t,
    status: *mut hipStreamCaptureStatus,
    id: *mut u64,
) -> HipResult {
    if status.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the status");
    }
    stream::find(handle)?;
    // SAFETY: each is null or a valid place, as the caller promises.
    unsafe {
        status.write(hipStreamCaptureStatusNone);
        if !id.is_null() {
            id.write(0);
        }
    }
    Ok(())
}

/// Whether a stream is capturing: never.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamIsCapturing(
    stream: hipStream_t,
    pCaptureStatus: *mut hipStreamCaptureStatus,
) -> hipError_t {
    not_capturing(stream, pCaptureStatus, std::ptr::null_mut())
}

/// Whether a stream is capturing: never.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamIsCapturing_spt(
    stream: hipStream_t,
    pCaptureStatus: *mut hipStreamCaptureStatus,
) -> hipError_t {
    not_capturing(stream, pCaptureStatus, std::ptr::null_mut())
}

/// Tells about a stream's capture: there is none.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetCaptureInfo(
    stream: hipStream_t,
    pCaptureStatus: *mut hipStreamCaptureStatus,
    pId: *mut u64,
) -> hipError_t {
    not_capturing(stream, pCaptureStatus, pId)
}

/// Tells about a stream's capture: there is none.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetCaptureInfo_spt(
    stream: hipStream_t,
    pCaptureStatus: *mut hipStreamCaptureStatus,
    pId: *mut u64,
) -> hipError_t {
    not_capturing(stream, pCaptureStatus, pId)
}

/// Tells about a stream's capture: there is none; the graph and its nodes are left alone.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetCaptureInfo_v2(
    stream: hipStream_t,
    captureStatus_out: *mut hipStreamCaptureStatus,
    id_out: *mut u64,
    graph_out: *mut *mut c_void,
    dependencies_out: *mut *const *mut c_void,
    numDependencies_out: *mut usize,
) -> hipError_t {
    let _ = (graph_out, dependencies_out, numDependencies_out);
    not_capturing(stream, captureStatus_out, id_out)
}

/// Tells about a stream's capture: there is none; the graph and its nodes are left alone.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetCaptureInfo_v2_spt(
    stream: hipStream_t,
    captureStatus_out: *mut hipStreamCaptureStatus,
    id_out: *mut u64,
    graph_out: *mut *mut c_void,
    dependencies_out: *mut *const *mut c_void,
    numDependencies_out: *mut usize,
) -> hipError_t {
    let _ = (graph_out, dependencies_out, numDependencies_out);
    not_capturing(stream, captureStatus_out, id_out)
}

/// Exchanges the calling thread's capture mode.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipThreadExchangeStreamCaptureMode(
    mode: *mut hipStreamCaptureMode,
) -> hipError_t {
    if mode.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the mode");
    }
    // SAFETY: not null; the caller promises a valid place.
    let wanted = unsafe { mode.read() };
    if wanted > hipStreamCaptureModeRelaxed {
        return fail!(hipErrorInvalidValue, "capture mode {wanted} does not exist");
    }
    // SAFETY: as above.
    unsafe { mode.write(MODE.replace(wanted)) };
    Ok(())
}
