//! Copies to and from HIP arrays.

use std::ffi::c_void;

use gneiss_hip_abi_macros::hip_api;

use crate::{
    array::{plane, shape},
    copy::Host,
    copy_rect::{self, NULL_STREAM, Plane, gone_as_value},
    enums::*,
    error::*,
    fail,
    types::*,
};

/// Checks that bytes of rows are inside of an array.
fn inside(array: hipArray_t, [x, y]: [usize; 2], [width, height]: [usize; 2]) -> HipResult {
    let shape = shape(array)?;
    let (row, rows) = (shape.width * shape.element, shape.height.max(1));
    let past = |start: usize, size: usize, end: usize| {
        start.checked_add(size).is_none_or(|last| last > end)
    };
    if past(x, width, row) || past(y, height, rows) {
        return fail!(
            hipErrorInvalidValue,
            "{width} bytes of {height} rows from byte {x} of row {y} are not in an array of {rows} rows of {row} bytes"
        );
    }
    Ok(())
}

/// A place in an array: bytes into a row, and the row.
fn at(array: hipArray_t, x: usize, y: usize) -> HipResult<Plane> {
    Ok(Plane {
        x,
        y,
        ..plane(array)?
    })
}

pub(crate) struct Rows {
    pub memory: *mut c_void,
    pub pitch: usize,
    pub width: usize,
    pub height: usize,
}

pub(crate) fn to_array(
    dst: hipArray_t,
    x: usize,
    y: usize,
    src: &Rows,
    kind: hipMemcpyKind,
    stream: hipStream_t,
    host: Host,
) -> HipResult {
    let from = Plane::new(src.memory, src.pitch, src.height);
    inside(dst, [x, y], [src.width, src.height])?;
    copy_rect::copy(
        at(dst, x, y)?,
        from,
        [src.width, src.height, 1],
        kind,
        stream,
        host,
    )
}

pub(crate) fn from_array(
    dst: &Rows,
    src: hipArray_t,
    x: usize,
    y: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
    host: Host,
) -> HipResult {
    let to = Plane::new(dst.memory, dst.pitch, dst.height);
    inside(src, [x, y], [dst.width, dst.height])?;
    copy_rect::copy(
        to,
        at(src, x, y)?,
        [dst.width, dst.height, 1],
        kind,
        stream,
        host,
    )
}

/// Copies rows to an array.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy2DToArray(
    dst: hipArray_t,
    wOffset: usize,
    hOffset: usize,
    src: *const c_void,
    spitch: usize,
    width: usize,
    height: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    let src = Rows {
        memory: src.cast_mut(),
        pitch: spitch,
        width,
        height,
    };
    to_array(dst, wOffset, hOffset, &src, kind, NULL_STREAM, Host::Waits)
}

/// Copies rows to an array in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy2DToArrayAsync(
    dst: hipArray_t,
    wOffset: usize,
    hOffset: usize,
    src: *const c_void,
    spitch: usize,
    width: usize,
    height: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    let src = Rows {
        memory: src.cast_mut(),
        pitch: spitch,
        width,
        height,
    };
    to_array(dst, wOffset, hOffset, &src, kind, stream, Host::GoesOn).map_err(gone_as_value)
}

/// Copies rows from an array.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy2DFromArray(
    dst: *mut c_void,
    dpitch: usize,
    src: hipArray_t,
    wOffset: usize,
    hOffset: usize,
    width: usize,
    height: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    let dst = Rows {
        memory: dst,
        pitch: dpitch,
        width,
        height,
    };
    from_array(&dst, src, wOffset, hOffset, kind, NULL_STREAM, Host::Waits)
}

/// Copies rows from an array in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy2DFromArrayAsync(
    dst: *mut c_void,
    dpitch: usize,
    src: hipArray_t,
    wOffset: usize,
    hOffset: usize,
    width: usize,
    height: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    let dst = Rows {
        memory: dst,
        pitch: dpitch,
        width,
        height,
    };
    from_array(&dst, src, wOffset, hOffset, kind, stream, Host::GoesOn).map_err(gone_as_value)
}

/// Copies bytes to a row of an array.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyToArray(
    dst: hipArray_t,
    wOffset: usize,
    hOffset: usize,
    src: *const c_void,
    count: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    copy_linear(
        dst,
        wOffset,
        hOffset,
        src.cast_mut(),
        count,
        kind,
        NULL_STREAM,
        true,
    )
}

/// Copies bytes from a row of an array.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyFromArray(
    dst: *mut c_void,
    srcArray: hipArray_t,
    wOffset: usize,
    hOffset: usize,
    count: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    copy_linear(
        srcArray,
        wOffset,
        hOffset,
        dst,
        count,
        kind,
        NULL_STREAM,
        false,
    )
}

/// Checks that bytes of a copy between the host and an array are in its first row, and that there is an array.
fn in_first_row(array: hipArray_t, offset: usize, count: usize) -> HipResult {
    if array.is_null() {
        return fail!(hipErrorInvalidValue, "no array");
    }
    let shape = shape(array)?;
    let row = shape.width * shape.element;
    if offset.checked_add(count).is_none_or(|end| end > row) {
        return fail!(
            hipErrorInvalidValue,
            "{count} bytes from byte {offset} go past the first row of {row} bytes"
        );
    }
    Ok(())
}

/// Copies host bytes to a one-dimensional array.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyHtoA(
    dstArray: hipArray_t,
    dstOffset: usize,
    srcHost: *const c_void,
    count: usize,
) -> hipError_t {
    in_first_row(dstArray, dstOffset, count)?;
    copy_linear(
        dstArray,
        dstOffset,
        0,
        srcHost.cast_mut(),
        count,
        hipMemcpyHostToDevice,
        NULL_STREAM,
        true,
    )
}

/// Copies bytes of a one-dimensional array to the host.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyAtoH(
    dst: *mut c_void,
    srcArray: hipArray_t,
    srcOffset: usize,
    count: usize,
) -> hipError_t {
    in_first_row(srcArray, srcOffset, count)?;
    copy_linear(
        srcArray,
        srcOffset,
        0,
        dst,
        count,
        hipMemcpyDeviceToHost,
        NULL_STREAM,
        false,
    )
}

/// Copies between one-dimensional arrays.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyAtoA(
    dstArray: hipArray_t,
    dstOffset: usize,
    srcArray: hipArray_t,
    srcOffset: usize,
    ByteCount: usize,
) -> hipError_t {
    inside(dstArray, [dstOffset, 0], [ByteCount, 1])?;
    inside(srcArray, [srcOffset, 0], [ByteCount, 1])?;
    copy_rect::copy(
        at(dstArray, dstOffset, 0)?,
        at(srcArray, srcOffset, 0)?,
        [ByteCount, 1, 1],
        hipMemcpyDeviceToDevice,
        NULL_STREAM,
        Host::Waits,
    )
}

/// Copies a one-dimensional array to device memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyAtoD(
    dstDevice: hipDeviceptr_t,
    srcArray: hipArray_t,
    srcOffset: usize,
    ByteCount: usize,
) -> hipError_t {
    copy_linear(
        srcArray,
        srcOffset,
        0,
        dstDevice,
        ByteCount,
        hipMemcpyDeviceToDevice,
        NULL_STREAM,
        false,
    )
}

/// Copies device memory to a one-dimensional array.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyDtoA(
    dstArray: hipArray_t,
    dstOffset: usize,
    srcDevice: hipDeviceptr_t,
    ByteCount: usize,
) -> hipError_t {
    copy_linear(
        dstArray,
        dstOffset,
        0,
        srcDevice,
        ByteCount,
        hipMemcpyDeviceToDevice,
        NULL_STREAM,
        true,
    )
}

/// Copies bytes of a one-dimensional array to the host in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyAtoHAsync(
    dstHost: *mut c_void,
    srcArray: hipArray_t,
    srcOffset: usize,
    ByteCount: usize,
    stream: hipStream_t,
) -> hipError_t {
    let dst = Rows {
        memory: dstHost,
        pitch: ByteCount,
        width: ByteCount,
        height: 1,
    };
    from_array(
        &dst,
        srcArray,
        srcOffset,
        0,
        hipMemcpyDeviceToHost,
        stream,
        Host::GoesOn,
    )
}

/// Copies host bytes to a one-dimensional array in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyHtoAAsync(
    dstArray: hipArray_t,
    dstOffset: usize,
    srcHost: *const c_void,
    ByteCount: usize,
    stream: hipStream_t,
) -> hipError_t {
    let src = Rows {
        memory: srcHost.cast_mut(),
        pitch: ByteCount,
        width: ByteCount,
        height: 1,
    };
    to_array(
        dstArray,
        dstOffset,
        0,
        &src,
        hipMemcpyHostToDevice,
        stream,
        Host::GoesOn,
    )
}

/// Copies rows between arrays.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy2DArrayToArray(
    dst: hipArray_t,
    wOffsetDst: usize,
    hOffsetDst: usize,
    src: hipArray_t,
    wOffsetSrc: usize,
    hOffsetSrc: usize,
    width: usize,
    height: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    inside(dst, [wOffsetDst, hOffsetDst], [width, height])?;
    inside(src, [wOffsetSrc, hOffsetSrc], [width, height])?;
    copy_rect::copy(
        at(dst, wOffsetDst, hOffsetDst)?,
        at(src, wOffsetSrc, hOffsetSrc)?,
        [width, height, 1],
        kind,
        NULL_STREAM,
        Host::Waits,
    )
}

/// Copies packed bytes to or from an array, going on at the next row where one ends.
#[expect(
    clippy::too_many_arguments,
    reason = "one argument for each of the C functions'"
)]
pub(crate) fn copy_linear(
    array: hipArray_t,
    x: usize,
    y: usize,
    memory: *mut c_void,
    count: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
    to: bool,
) -> HipResult {
    let shape = shape(array)?;
    let row = shape.width * shape.element;
    if x >= row.max(1) || y >= shape.height.max(1) || count > (shape.height.max(1) - y) * row - x {
        return fail!(
            hipErrorInvalidValue,
            "{count} bytes from byte {x} of row {y} go past the array"
        );
    }
    let (mut x, mut y, mut done) = (x, y, 0);
    while done < count {
        let part = (row - x).min(count - done);
        let rows = Rows {
            memory: memory.wrapping_byte_add(done),
            pitch: part,
            width: part,
            height: 1,
        };
        if to {
            to_array(array, x, y, &rows, kind, stream, Host::Waits)?;
        } else {
            from_array(&rows, array, x, y, kind, stream, Host::Waits)?;
        }
        (x, y, done) = (0, y + 1, done + part);
    }
    Ok(())
}
