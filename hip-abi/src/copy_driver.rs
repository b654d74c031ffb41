//! Copies of two and three dimensions as the records of the driver API say, in the layouts of HIP 5 and of HIP 6 and 7.

use std::ffi::c_void;

use gneiss_hip_abi_macros::hip_api;

use crate::{
    array,
    copy::Host,
    copy_rect::{NULL_STREAM, Plane, copy, pitch_as_value},
    enums::*,
    error::*,
    fail,
    graph::operation::{CopyRectNode, Operation},
    memory,
    types::*,
    version::{self, Major, MemoryType},
};

/// One side of a driver API copy: the memory that its type names.
fn typed(
    value: u32,
    host: *mut c_void,
    device: *mut c_void,
    array: hipArray_t,
    pitch: usize,
    rows: usize,
) -> HipResult<Plane> {
    match MemoryType::from_value(value, version::presented()) {
        Some(MemoryType::Host | MemoryType::Unregistered) => Ok(Plane::new(host, pitch, rows)),
        Some(MemoryType::Device | MemoryType::Unified | MemoryType::Managed) => {
            Ok(Plane::new(device, pitch, rows))
        }
        Some(MemoryType::Array) if array.is_null() => fail!(hipErrorInvalidValue, "no array"),
        Some(MemoryType::Array) => array::plane(array),
        None => fail!(hipErrorInvalidValue, "memory type {value} does not exist"),
    }
}

/// Refuses memory that HIP does not know where a record says that it is a device's.
fn check_type(value: u32, plane: &Plane, extent: [usize; 3]) -> HipResult {
    let of_device = MemoryType::from_value(value, version::presented()) == Some(MemoryType::Device);
    if of_device && plane.side("memory", extent)?.0.is_pageable() {
        return fail!(
            hipErrorInvalidValue,
            "{:p} (row {}, byte {}) is said to be a device's, and is not in memory that HIP knows",
            plane.base,
            plane.y,
            plane.x
        );
    }
    Ok(())
}

/// # Safety
/// A pointer that is not null must point at a record.
unsafe fn copy_param_2d(
    copy_record: *const hip_Memcpy2D,
    stream: hipStream_t,
    host: Host,
) -> HipResult {
    if copy_record.is_null() {
        return fail!(hipErrorInvalidValue, "no description of the copy");
    }
    // SAFETY: not null; the caller promises a valid record.
    let c = unsafe { copy_record.read() };
    if c.WidthInBytes == 0 || c.Height == 0 {
        return Ok(());
    }
    if [c.srcPitch, c.dstPitch]
        .into_iter()
        .any(|pitch| pitch != 0 && pitch < c.WidthInBytes)
    {
        return fail!(
            hipErrorInvalidValue,
            "a row of {} bytes is wider than a pitch",
            c.WidthInBytes
        );
    }
    let pitch = |pitch: usize| if pitch == 0 { c.WidthInBytes } else { pitch };
    let mut dst = typed(
        c.dstMemoryType,
        c.dstHost,
        c.dstDevice,
        c.dstArray,
        pitch(c.dstPitch),
        c.Height,
    )?;
    let mut src = typed(
        c.srcMemoryType,
        c.srcHost.cast_mut(),
        c.srcDevice,
        c.srcArray,
        pitch(c.srcPitch),
        c.Height,
    )?;
    (dst.x, dst.y) = (c.dstXInBytes, c.dstY);
    (src.x, src.y) = (c.srcXInBytes, c.srcY);
    let extent = [c.WidthInBytes, c.Height, 1];
    check_type(c.dstMemoryType, &dst, extent)?;
    check_type(c.srcMemoryType, &src, extent)?;
    copy(dst, src, extent, hipMemcpyDefault, stream, host)
}

/// Copies rows as a record of the driver API says.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyParam2D(pCopy: *const hip_Memcpy2D) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { copy_param_2d(pCopy, NULL_STREAM, Host::Waits) }
}

/// Copies rows as a record of the driver API says, in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyParam2DAsync(
    pCopy: *const hip_Memcpy2D,
    stream: hipStream_t,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { copy_param_2d(pCopy, stream, Host::GoesOn) }
}

/// Copies rows as a record of the driver API says; pitches need no alignment.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDrvMemcpy2DUnaligned(pCopy: *const hip_Memcpy2D) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { copy_param_2d(pCopy, NULL_STREAM, Host::Waits) }
}

/// # Safety
/// A pointer that is not null must point at a record of the presented version's layout.
unsafe fn copy_drv_3d(record: *const HIP_MEMCPY3D, stream: hipStream_t, host: Host) -> HipResult {
    // SAFETY: as the caller promises.
    let (dst, src, extent) = unsafe { driver_planes(record)? };
    copy(dst, src, extent, hipMemcpyDefault, stream, host).map_err(pitch_as_value)
}

/// A copy node from the driver API's record.
///
/// # Errors
/// `hipErrorInvalidValue`.
///
/// # Safety
/// As [`copy_drv_3d`].
pub(crate) unsafe fn driver_operation(record: *const HIP_MEMCPY3D) -> HipResult<Operation> {
    // SAFETY: as the caller promises.
    let (dst, src, extent) = unsafe { driver_planes(record)? };
    let node = CopyRectNode::from_planes(dst, src, extent, hipMemcpyDefault);
    Ok(Operation::CopyRect(Box::new(node)))
}

/// The driver API's record of a copy node between linear memory.
pub(crate) fn driver_record(copy: &CopyRectNode) -> HIP_MEMCPY3D {
    let major = version::presented();
    let kind = |plane: &Plane| match memory::find(plane.base) {
        Ok(Some((found, _))) => memory::memory_type(&found).value(major),
        _ => MemoryType::Host.value(major),
    };
    let (dst, src) = (&copy.dst, &copy.src);
    HIP_MEMCPY3D {
        srcXInBytes: src.x,
        srcY: src.y,
        srcZ: src.z,
        srcLOD: 0,
        srcMemoryType: kind(src),
        srcHost: src.base,
        srcDevice: src.base,
        srcArray: std::ptr::null_mut(),
        srcPitch: src.pitch,
        srcHeight: src.rows,
        dstXInBytes: dst.x,
        dstY: dst.y,
        dstZ: dst.z,
        dstLOD: 0,
        dstMemoryType: kind(dst),
        dstHost: dst.base,
        dstDevice: dst.base,
        dstArray: std::ptr::null_mut(),
        dstPitch: dst.pitch,
        dstHeight: dst.rows,
        WidthInBytes: copy.extent[0],
        Height: copy.extent[1],
        Depth: copy.extent[2],
    }
}

/// # Safety
/// As [`copy_drv_3d`].
unsafe fn driver_planes(record: *const HIP_MEMCPY3D) -> HipResult<(Plane, Plane, [usize; 3])> {
    if record.is_null() {
        return fail!(hipErrorInvalidValue, "no description of the copy");
    }
    macro_rules! planes {
        ($c:expr) => {{
            let c = $c;
            let mut dst = typed(
                c.dstMemoryType,
                c.dstHost,
                c.dstDevice,
                c.dstArray,
                c.dstPitch as usize,
                c.dstHeight as usize,
            )?;
            let mut src = typed(
                c.srcMemoryType,
                c.srcHost.cast_mut(),
                c.srcDevice,
                c.srcArray,
                c.srcPitch as usize,
                c.srcHeight as usize,
            )?;
            (dst.x, dst.y, dst.z) = (c.dstXInBytes as usize, c.dstY as usize, c.dstZ as usize);
            (src.x, src.y, src.z) = (c.srcXInBytes as usize, c.srcY as usize, c.srcZ as usize);
            (
                (dst, c.dstMemoryType),
                (src, c.srcMemoryType),
                [c.WidthInBytes as usize, c.Height as usize, c.Depth as usize],
            )
        }};
    }
    // SAFETY: not null; the caller promises a valid record of the version that the process was built for.
    let (mut dst, mut src, extent) = unsafe {
        match version::presented() {
            Major::Five => planes!(record.cast::<HIP_MEMCPY3D_R0000>().read()),
            Major::Six | Major::Seven => planes!(record.read()),
        }
    };
    for (plane, kind) in [&mut dst, &mut src] {
        if plane.pitch == 0 {
            plane.pitch = extent[0];
        }
        if plane.rows == 0 {
            plane.rows = extent[1];
        }
        if !extent.contains(&0) {
            check_type(*kind, plane, extent).map_err(pitch_as_value)?;
        }
    }
    Ok((dst.0, src.0, extent))
}

/// Copies slices of rows as a record of the driver API says.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDrvMemcpy3D(pCopy: *const HIP_MEMCPY3D) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { copy_drv_3d(pCopy, NULL_STREAM, Host::Waits) }
}

/// Copies slices of rows as a record of the driver API says, in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDrvMemcpy3DAsync(
    pCopy: *const HIP_MEMCPY3D,
    stream: hipStream_t,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { copy_drv_3d(pCopy, stream, Host::GoesOn) }
}
