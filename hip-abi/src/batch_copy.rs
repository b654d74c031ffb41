//! Copies of HIP 7: between devices in three dimensions, and in batches.

use std::ffi::c_void;

use gneiss_hip_abi_macros::hip_api;

use crate::{
    array,
    copy::{self, Host},
    copy_rect::{self, NULL_STREAM, Plane, planes_of},
    enums::*,
    error::*,
    fail, runtime,
    types::*,
};

/// A copy of three dimensions between devices.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipMemcpy3DPeerParms {
    /// Source array, or null.
    pub srcArray: hipArray_t,
    /// Source position.
    pub srcPos: hipPos,
    /// Source memory, if there is no source array.
    pub srcPtr: hipPitchedPtr,
    /// Source device.
    pub srcDevice: i32,
    /// Destination array, or null.
    pub dstArray: hipArray_t,
    /// Destination position.
    pub dstPos: hipPos,
    /// Destination memory, if there is no destination array.
    pub dstPtr: hipPitchedPtr,
    /// Destination device.
    pub dstDevice: i32,
    /// Size.
    pub extent: hipExtent,
}

/// Hints for copies of a batch.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipMemcpyAttributes {
    /// When the source may change: 1 in stream order, 2 when the call has returned, 3 at any time.
    pub srcAccessOrder: u32,
    /// Where the source is.
    pub srcLocHint: hipMemLocation,
    /// Where the destination is.
    pub dstLocHint: hipMemLocation,
    /// Flags.
    pub flags: u32,
}

/// One side of a copy of a batch; the union's members both have four words.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipMemcpy3DOperand {
    /// 1 memory, 2 an array.
    pub r#type: u32,
    /// Padding.
    pub pad: u32,
    /// Memory: address, elements of a row, rows of a slice, place. Array: handle, x, y, z.
    pub words: [usize; 4],
}

/// A copy of a batch.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipMemcpy3DBatchOp {
    /// Source.
    pub src: hipMemcpy3DOperand,
    /// Destination.
    pub dst: hipMemcpy3DOperand,
    /// Size.
    pub extent: hipExtent,
    /// As in [`hipMemcpyAttributes`].
    pub srcAccessOrder: u32,
    /// Flags.
    pub flags: u32,
}

const _: () = {
    assert!(size_of::<hipMemcpy3DPeerParms>() == 168);
    assert!(size_of::<hipMemcpyAttributes>() == 24);
    assert!(size_of::<hipMemcpy3DBatchOp>() == 112);
};

/// # Safety
/// `params` must be null or a valid record.
unsafe fn peer(params: *const hipMemcpy3DPeerParms, stream: hipStream_t, host: Host) -> HipResult {
    if params.is_null() {
        return fail!(hipErrorInvalidValue, "no description of the copy");
    }
    // SAFETY: not null; as the caller promises.
    let p = unsafe { params.read() };
    runtime::device(p.srcDevice)?;
    runtime::device(p.dstDevice)?;
    let (dst, src, extent) = planes_of(&hipMemcpy3DParms {
        srcArray: p.srcArray,
        srcPos: p.srcPos,
        srcPtr: p.srcPtr,
        dstArray: p.dstArray,
        dstPos: p.dstPos,
        dstPtr: p.dstPtr,
        extent: p.extent,
        kind: hipMemcpyDefault,
    })?;
    copy_rect::copy(dst, src, extent, hipMemcpyDefault, stream, host)
}

/// Copies slices of rows between devices.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy3DPeer(p: *mut hipMemcpy3DPeerParms) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { peer(p, NULL_STREAM, Host::Waits) }
}

/// Copies slices of rows between devices in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy3DPeerAsync(
    p: *mut hipMemcpy3DPeerParms,
    stream: hipStream_t,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { peer(p, stream, Host::GoesOn) }
}

/// Runs copies one after the other; says which failed.
///
/// # Safety
/// `failed` must be null or a valid place.
unsafe fn run(count: usize, failed: *mut usize, one: impl Fn(usize) -> HipResult) -> HipResult {
    for index in 0..count {
        if let Err(error) = one(index) {
            if !failed.is_null() {
                // SAFETY: not null; as the caller promises.
                unsafe { failed.write(index) };
            }
            return Err(error);
        }
    }
    Ok(())
}

/// Copies several ranges in stream order. The attributes are hints.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyBatchAsync(
    dsts: *mut *mut c_void,
    srcs: *mut *mut c_void,
    sizes: *mut usize,
    count: usize,
    attrs: *mut hipMemcpyAttributes,
    attrsIdxs: *mut usize,
    numAttrs: usize,
    failIdx: *mut usize,
    stream: hipStream_t,
) -> hipError_t {
    if dsts.is_null()
        || srcs.is_null()
        || sizes.is_null()
        || count == 0
        || numAttrs > count
        || (numAttrs > 0 && (attrs.is_null() || attrsIdxs.is_null()))
    {
        return fail!(
            hipErrorInvalidValue,
            "{count} copies with {numAttrs} attributes"
        );
    }
    // SAFETY: not null; the caller promises arrays of these lengths and a valid place.
    unsafe {
        run(count, failIdx, |index| {
            copy::copy(
                dsts.add(index).read(),
                srcs.add(index).read(),
                sizes.add(index).read(),
                hipMemcpyDefault,
                stream,
                Host::GoesOn,
            )
        })
    }
}

/// The plane of an operand, and the bytes of its elements if it is an array.
fn operand(side: &hipMemcpy3DOperand, extent: hipExtent) -> HipResult<(Plane, Option<usize>)> {
    const MEMORY: u32 = 1;
    const ARRAY: u32 = 2;
    let [address, first, second, third] = side.words;
    match side.r#type {
        MEMORY => {
            let row = if first == 0 { extent.width } else { first };
            let rows = if second == 0 { extent.height } else { second };
            let base = std::ptr::with_exposed_provenance_mut(address);
            Ok((Plane::new(base, row, rows), None))
        }
        ARRAY => {
            let handle = std::ptr::with_exposed_provenance_mut(address);
            let element = array::element_size(handle)?;
            let mut plane = array::plane(handle)?;
            let Some(x) = first.checked_mul(element) else {
                return Err(hipErrorInvalidValue);
            };
            (plane.x, plane.y, plane.z) = (x, second, third);
            Ok((plane, Some(element)))
        }
        other => fail!(hipErrorInvalidValue, "operand type {other} does not exist"),
    }
}

/// Copies several boxes in stream order. Access order and flags are hints.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy3DBatchAsync(
    numOps: usize,
    opList: *mut hipMemcpy3DBatchOp,
    failIdx: *mut usize,
    flags: u64,
    stream: hipStream_t,
) -> hipError_t {
    if numOps == 0 || opList.is_null() || flags != 0 {
        return fail!(
            hipErrorInvalidValue,
            "{numOps} copies, or flags {flags:#x} that are not 0"
        );
    }
    // SAFETY: not null; the caller promises `numOps` records and a valid place.
    unsafe {
        run(numOps, failIdx, |index| {
            let op = opList.add(index).read();
            let ((mut dst, to), (mut src, from)) =
                (operand(&op.dst, op.extent)?, operand(&op.src, op.extent)?);
            // Widths and rows are in elements, of a byte unless an array says otherwise.
            let element = to.or(from).unwrap_or(1);
            let bytes = |count: usize| count.checked_mul(element).ok_or(hipErrorInvalidValue);
            for (plane, own) in [(&mut dst, to), (&mut src, from)] {
                if own.is_none() {
                    plane.pitch = bytes(plane.pitch)?;
                }
            }
            let extent = [bytes(op.extent.width)?, op.extent.height, op.extent.depth];
            copy_rect::copy(dst, src, extent, hipMemcpyDefault, stream, Host::GoesOn)
        })
    }
}
