//! Fills of two and three dimensions.

use std::ffi::c_void;

use gneiss_clr::FillRect;
use gneiss_hip_abi_macros::hip_api;

use crate::{
    copy::{Host, captured},
    copy_rect::{NULL_STREAM, Plane, pitch_as_value},
    error::*,
    fail,
    graph::{
        operation::{FillNode, Operation},
        types::hipMemsetParams,
    },
    runtime::hip_error,
    stream::{Resolved, resolve},
    types::*,
};

/// Fills `extent` bytes, rows and slices with a pattern.
pub(crate) fn fill(
    dst: Plane,
    pattern: &[u8],
    extent: [usize; 3],
    stream: hipStream_t,
    host: Host,
) -> HipResult {
    if extent.contains(&0) {
        return Ok(());
    }
    if let Some(capturing) = captured(host, stream)? {
        let mut value = [0; 4];
        value[..pattern.len()].copy_from_slice(pattern);
        return capturing.add(Operation::Fill(FillNode {
            params: hipMemsetParams {
                dst: dst.base,
                elementSize: pattern.len() as u32,
                height: extent[1],
                pitch: dst.pitch,
                value: u32::from_le_bytes(value),
                width: extent[0] / pattern.len(),
            },
            slices: (dst.rows, extent[2]),
        }));
    }
    let (side, dst) = dst.side("destination", extent).map_err(pitch_as_value)?;
    if side.is_pageable() {
        return fail!(
            hipErrorInvalidValue,
            "{:#x} is not in memory that HIP knows",
            side.address
        );
    }
    let Resolved { stream, wait } = resolve(stream)?;
    // SAFETY: the range was checked; keeping it until the command has ended is the program's duty.
    let command = unsafe {
        stream
            .queue
            .enqueue_fill_rect(&FillRect { dst, extent }, pattern, &wait)
    }
    .map_err(hip_error)?;
    if host == Host::Waits {
        command.wait().map_err(hip_error)?;
    }
    Ok(())
}

/// Fills rows.
pub(crate) fn fill_2d(
    dst: *mut c_void,
    pitch: usize,
    pattern: &[u8],
    width: usize,
    height: usize,
    stream: hipStream_t,
    host: Host,
) -> HipResult {
    let Some(width) = width.checked_mul(pattern.len()) else {
        return Err(hipErrorInvalidValue);
    };
    fill(
        Plane::new(dst, pitch, height),
        pattern,
        [width, height, 1],
        stream,
        host,
    )
}

/// Fills slices of rows.
pub(crate) fn fill_3d(
    p: hipPitchedPtr,
    value: i32,
    extent: hipExtent,
    stream: hipStream_t,
    host: Host,
) -> HipResult {
    fill(
        Plane::new(p.ptr, p.pitch, p.ysize.max(1)),
        &[value as u8],
        [extent.width, extent.height, extent.depth],
        stream,
        host,
    )
}

/// Fills rows of bytes.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemset2D(
    dst: *mut c_void,
    pitch: usize,
    value: i32,
    width: usize,
    height: usize,
) -> hipError_t {
    fill_2d(
        dst,
        pitch,
        &[value as u8],
        width,
        height,
        NULL_STREAM,
        Host::Waits,
    )
}

/// Fills rows of bytes in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemset2DAsync(
    dst: *mut c_void,
    pitch: usize,
    value: i32,
    width: usize,
    height: usize,
    stream: hipStream_t,
) -> hipError_t {
    fill_2d(
        dst,
        pitch,
        &[value as u8],
        width,
        height,
        stream,
        Host::GoesOn,
    )
}

/// Fills slices of rows of bytes.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemset3D(
    pitchedDevPtr: hipPitchedPtr,
    value: i32,
    extent: hipExtent,
) -> hipError_t {
    fill_3d(pitchedDevPtr, value, extent, NULL_STREAM, Host::Waits)
}

/// Fills slices of rows of bytes in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemset3DAsync(
    pitchedDevPtr: hipPitchedPtr,
    value: i32,
    extent: hipExtent,
    stream: hipStream_t,
) -> hipError_t {
    fill_3d(pitchedDevPtr, value, extent, stream, Host::GoesOn)
}

/// Fills rows of bytes; the width is in elements.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetD2D8(
    dst: hipDeviceptr_t,
    dstPitch: usize,
    value: u8,
    width: usize,
    height: usize,
) -> hipError_t {
    fill_2d(
        dst,
        dstPitch,
        &[value],
        width,
        height,
        NULL_STREAM,
        Host::Waits,
    )
}

/// Fills rows of bytes in stream order; the width is in elements.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetD2D8Async(
    dst: hipDeviceptr_t,
    dstPitch: usize,
    value: u8,
    width: usize,
    height: usize,
    stream: hipStream_t,
) -> hipError_t {
    fill_2d(dst, dstPitch, &[value], width, height, stream, Host::GoesOn)
}

/// Fills rows of 16-bit elements; the width is in elements.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetD2D16(
    dst: hipDeviceptr_t,
    dstPitch: usize,
    value: u16,
    width: usize,
    height: usize,
) -> hipError_t {
    fill_2d(
        dst,
        dstPitch,
        &value.to_le_bytes(),
        width,
        height,
        NULL_STREAM,
        Host::Waits,
    )
}

/// Fills rows of 16-bit elements in stream order; the width is in elements.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetD2D16Async(
    dst: hipDeviceptr_t,
    dstPitch: usize,
    value: u16,
    width: usize,
    height: usize,
    stream: hipStream_t,
) -> hipError_t {
    fill_2d(
        dst,
        dstPitch,
        &value.to_le_bytes(),
        width,
        height,
        stream,
        Host::GoesOn,
    )
}

/// Fills rows of 32-bit elements; the width is in elements.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetD2D32(
    dst: hipDeviceptr_t,
    dstPitch: usize,
    value: u32,
    width: usize,
    height: usize,
) -> hipError_t {
    fill_2d(
        dst,
        dstPitch,
        &value.to_le_bytes(),
        width,
        height,
        NULL_STREAM,
        Host::Waits,
    )
}

/// Fills rows of 32-bit elements in stream order; the width is in elements.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetD2D32Async(
    dst: hipDeviceptr_t,
    dstPitch: usize,
    value: u32,
    width: usize,
    height: usize,
    stream: hipStream_t,
) -> hipError_t {
    fill_2d(
        dst,
        dstPitch,
        &value.to_le_bytes(),
        width,
        height,
        stream,
        Host::GoesOn,
    )
}
