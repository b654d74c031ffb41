//! Device variables by the address of their host shadow.

use std::ffi::c_void;

use gneiss_hip_abi_macros::hip_api;

use crate::{
    copy::{self, Host},
    copy_rect::NULL_STREAM,
    enums::*,
    error::*,
    fail, registration, runtime, stream,
    types::*,
};

/// Address of `size` bytes at `offset` in a variable, on the device of a stream.
fn place(
    symbol: *const c_void,
    size: usize,
    offset: usize,
    handle: hipStream_t,
) -> HipResult<*mut c_void> {
    let device = stream::find(handle)?.device()?;
    let (address, length) = registration::variable(symbol, device)?;
    if offset.checked_add(size).is_none_or(|end| end > length) {
        return fail!(
            hipErrorInvalidValue,
            "{size} bytes at offset {offset} go past the variable's {length}"
        );
    }
    Ok(std::ptr::with_exposed_provenance_mut(
        address as usize + offset,
    ))
}

pub(crate) struct Part {
    pub symbol: *const c_void,
    pub size: usize,
    pub offset: usize,
}

/// Copies to a variable.
pub(crate) fn to(
    part: &Part,
    src: *const c_void,
    kind: hipMemcpyKind,
    stream: hipStream_t,
    host: Host,
) -> HipResult {
    if !matches!(
        kind,
        hipMemcpyHostToDevice | hipMemcpyDeviceToDevice | hipMemcpyDefault
    ) {
        return fail!(
            hipErrorInvalidMemcpyDirection,
            "copy kind {kind} does not lead to a device variable"
        );
    }
    copy::copy(
        place(part.symbol, part.size, part.offset, stream)?,
        src,
        part.size,
        kind,
        stream,
        host,
    )
}

/// Copies from a variable.
pub(crate) fn from(
    dst: *mut c_void,
    part: &Part,
    kind: hipMemcpyKind,
    stream: hipStream_t,
    host: Host,
) -> HipResult {
    if !matches!(
        kind,
        hipMemcpyDeviceToHost | hipMemcpyDeviceToDevice | hipMemcpyDefault
    ) {
        return fail!(
            hipErrorInvalidMemcpyDirection,
            "copy kind {kind} does not start at a device variable"
        );
    }
    copy::copy(
        dst,
        place(part.symbol, part.size, part.offset, stream)?,
        part.size,
        kind,
        stream,
        host,
    )
}

/// Gives a variable's address on the current device.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetSymbolAddress(
    devPtr: *mut *mut c_void,
    symbol: *const c_void,
) -> hipError_t {
    if devPtr.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the address");
    }
    let (address, _) = registration::variable(symbol, runtime::current()?)?;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { devPtr.write(std::ptr::with_exposed_provenance_mut(address as usize)) };
    Ok(())
}

/// Gives a variable's size.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetSymbolSize(size: *mut usize, symbol: *const c_void) -> hipError_t {
    if size.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the size");
    }
    let (_, length) = registration::variable(symbol, runtime::current()?)?;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { size.write(length) };
    Ok(())
}

/// Copies to a variable.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyToSymbol(
    symbol: *const c_void,
    src: *const c_void,
    sizeBytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    to(
        &Part {
            symbol,
            size: sizeBytes,
            offset,
        },
        src,
        kind,
        NULL_STREAM,
        Host::Waits,
    )
}

/// Copies to a variable in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyToSymbolAsync(
    symbol: *const c_void,
    src: *const c_void,
    sizeBytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    to(
        &Part {
            symbol,
            size: sizeBytes,
            offset,
        },
        src,
        kind,
        stream,
        Host::GoesOn,
    )
}

/// Copies from a variable.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyFromSymbol(
    dst: *mut c_void,
    symbol: *const c_void,
    sizeBytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    from(
        dst,
        &Part {
            symbol,
            size: sizeBytes,
            offset,
        },
        kind,
        NULL_STREAM,
        Host::Waits,
    )
}

/// Copies from a variable in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyFromSymbolAsync(
    dst: *mut c_void,
    symbol: *const c_void,
    sizeBytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    from(
        dst,
        &Part {
            symbol,
            size: sizeBytes,
            offset,
        },
        kind,
        stream,
        Host::GoesOn,
    )
}
