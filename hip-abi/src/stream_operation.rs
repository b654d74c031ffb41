//! What streams do besides kernels and copies: call host functions, wait for values in memory and write them.

use std::{ffi::c_void, sync::Arc};

use gneiss_clr::{Status, ValueCondition, ValueWidth};
use gneiss_hip_abi_macros::hip_api;

use crate::{
    capture,
    enums::*,
    error::*,
    fail,
    graph::{
        operation::{HostNode, Operation, ValueOperation},
        types::hipStreamBatchMemOpParams,
    },
    runtime::{self, hip_error, status_error},
    stream::{Resolved, resolve, resolve_or},
    types::*,
};

/// Calls a host function when the stream's earlier work has ended; later work waits for its return.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamAddCallback(
    stream: hipStream_t,
    callback: hipStreamCallback_t,
    userData: *mut c_void,
    flags: u32,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { add_callback(stream, callback, userData, flags) }
}

/// An address that goes to another thread with a callback; what it points at is the program's business.
pub(crate) struct UserData(pub(crate) *mut c_void);
// SAFETY: the program asked for the call on another thread with this value.
unsafe impl Send for UserData {}

/// # Safety
/// The callback must be callable with these arguments on another thread.
pub(crate) unsafe fn add_callback(
    handle: hipStream_t,
    callback: hipStreamCallback_t,
    user_data: *mut c_void,
    flags: u32,
) -> HipResult {
    let Some(callback) = callback else {
        return fail!(hipErrorInvalidValue, "no callback");
    };
    if flags != 0 {
        return fail!(
            hipErrorInvalidValue,
            "flags {flags:#x} of hipStreamAddCallback: must be 0"
        );
    }
    if let Some(capturing) = capture::of(handle)? {
        return capturing.refuse("hipStreamAddCallback");
    }
    let Resolved { stream, wait } = resolve(handle)?;
    let (handle, user_data) = (handle.addr(), UserData(user_data));
    let function = move |status: Status| {
        let user_data = user_data;
        // SAFETY: the caller of hipStreamAddCallback promises that the callback can be called so.
        unsafe {
            callback(
                std::ptr::without_provenance_mut(handle),
                status_error(status),
                user_data.0,
            )
        };
    };
    stream
        .queue
        .enqueue_host_function(Box::new(function), true, &wait)
        .map_err(hip_error)?;
    Ok(())
}

/// Calls a host function when the stream's earlier work has ended without failure; later work waits for its return.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLaunchHostFunc(
    stream: hipStream_t,
    r#fn: hipHostFn_t,
    userData: *mut c_void,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { launch_host_function(stream, r#fn, userData) }
}

/// # Safety
/// The function must be callable with this argument on another thread.
pub(crate) unsafe fn launch_host_function(
    handle: hipStream_t,
    function: hipHostFn_t,
    user_data: *mut c_void,
) -> HipResult {
    let Some(function) = function else {
        return fail!(hipErrorInvalidValue, "no host function");
    };
    if let Some(capturing) = capture::of(handle)? {
        return capturing.add(Operation::Host(HostNode {
            function,
            data: user_data.expose_provenance(),
        }));
    }
    let Resolved { stream, wait } = resolve_or(handle, hipErrorInvalidValue)?;
    let user_data = UserData(user_data);
    let call = move |_: Status| {
        let user_data = user_data;
        // SAFETY: the caller of hipLaunchHostFunc promises that the function can be called so.
        unsafe { function(user_data.0) };
    };
    stream
        .queue
        .enqueue_host_function(Box::new(call), false, &wait)
        .map_err(hip_error)?;
    Ok(())
}

fn condition(flags: u32) -> HipResult<ValueCondition> {
    Ok(match flags {
        hipStreamWaitValueGte => ValueCondition::GreaterOrEqual,
        hipStreamWaitValueEq => ValueCondition::Equal,
        hipStreamWaitValueAnd => ValueCondition::And,
        hipStreamWaitValueNor => ValueCondition::Nor,
        _ => {
            return fail!(
                hipErrorInvalidValue,
                "wait condition {flags:#x} does not exist"
            );
        }
    })
}

/// Address of a value operation, checked against the allocation that holds it.
fn value_address(address: *mut c_void, width: ValueWidth) -> HipResult<u64> {
    let bytes = width.bytes();
    let value = address.addr();
    if value == 0 || !value.is_multiple_of(bytes) {
        return fail!(
            hipErrorInvalidValue,
            "address {value:#x} of a stream value operation is null or not aligned to {bytes}"
        );
    }
    match runtime::get()?.clr.find_memory(value) {
        Some((memory, offset)) if memory.size() - offset >= bytes => Ok(value as u64),
        _ => fail!(
            hipErrorInvalidValue,
            "address {value:#x} of a stream value operation is not in memory that HIP knows"
        ),
    }
}

/// Enqueues operations on values, or captures them.
fn enqueue(handle: hipStream_t, values: &[ValueOperation]) -> HipResult {
    if let Some(capturing) = capture::of(handle)? {
        return capturing.add(Operation::Values(values.into()));
    }
    let Resolved { stream, wait } = resolve(handle)?;
    for (index, value) in values.iter().enumerate() {
        value.enqueue(&stream.queue, if index == 0 { &wait } else { &[] })?;
    }
    Ok(())
}

/// The operations of a batch.
///
/// # Errors
/// `hipErrorInvalidValue`.
///
/// # Safety
/// `params` must be null or hold `count` records.
pub(crate) unsafe fn batch(
    params: *const hipStreamBatchMemOpParams,
    count: u32,
    flags: u32,
) -> HipResult<Arc<[ValueOperation]>> {
    const MOST: u32 = 256;
    if params.is_null() || count == 0 || count > MOST || flags != 0 {
        return fail!(
            hipErrorInvalidValue,
            "a batch of {count} value operations (1 to {MOST}) with flags {flags:#x} (must be 0)"
        );
    }
    // SAFETY: not null; as the caller promises.
    let records = unsafe { std::slice::from_raw_parts(params, count as usize) };
    let mut values = Vec::new();
    for record in records {
        let (width, wait) = match record.operation {
            hipStreamMemOpWaitValue32 => (ValueWidth::Bits32, true),
            hipStreamMemOpWriteValue32 => (ValueWidth::Bits32, false),
            hipStreamMemOpWaitValue64 => (ValueWidth::Bits64, true),
            hipStreamMemOpWriteValue64 => (ValueWidth::Bits64, false),
            // Streams are in order, and writes of others are visible at once.
            hipStreamMemOpBarrier | hipStreamMemOpFlushRemoteWrites => continue,
            other => {
                return fail!(
                    hipErrorInvalidValue,
                    "value operation {other} does not exist"
                );
            }
        };
        values.push(ValueOperation {
            address: value_address(record.address, width)?,
            width,
            value: if width == ValueWidth::Bits32 {
                record.value & u64::from(u32::MAX)
            } else {
                record.value
            },
            wait: if wait {
                Some((u64::MAX, condition(record.flags)?))
            } else {
                None
            },
        });
    }
    Ok(values.into())
}

/// Runs a batch of operations on values in memory, in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamBatchMemOp(
    stream: hipStream_t,
    count: u32,
    paramArray: *mut hipStreamBatchMemOpParams,
    flags: u32,
) -> hipError_t {
    // SAFETY: as the caller promises.
    let values = unsafe { batch(paramArray, count, flags)? };
    enqueue(stream, &values)
}

fn wait_value(
    handle: hipStream_t,
    address: *mut c_void,
    width: ValueWidth,
    value: u64,
    flags: u32,
    mask: u64,
) -> HipResult {
    let condition = condition(flags)?;
    let address = value_address(address, width)?;
    enqueue(
        handle,
        &[ValueOperation {
            address,
            width,
            value,
            wait: Some((mask, condition)),
        }],
    )
}

fn write_value(
    handle: hipStream_t,
    address: *mut c_void,
    width: ValueWidth,
    value: u64,
) -> HipResult {
    let address = value_address(address, width)?;
    enqueue(
        handle,
        &[ValueOperation {
            address,
            width,
            value,
            wait: None,
        }],
    )
}

/// Makes a stream wait until 32 bits in memory fulfil a condition.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamWaitValue32(
    stream: hipStream_t,
    ptr: *mut c_void,
    value: u32,
    flags: u32,
    mask: u32,
) -> hipError_t {
    wait_value(
        stream,
        ptr,
        ValueWidth::Bits32,
        value.into(),
        flags,
        mask.into(),
    )
}

/// Makes a stream wait until 64 bits in memory fulfil a condition.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamWaitValue64(
    stream: hipStream_t,
    ptr: *mut c_void,
    value: u64,
    flags: u32,
    mask: u64,
) -> hipError_t {
    wait_value(stream, ptr, ValueWidth::Bits64, value, flags, mask)
}

/// Writes 32 bits to memory in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamWriteValue32(
    stream: hipStream_t,
    ptr: *mut c_void,
    value: u32,
    flags: u32,
) -> hipError_t {
    let _ = flags;
    write_value(stream, ptr, ValueWidth::Bits32, value.into())
}

/// Writes 64 bits to memory in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamWriteValue64(
    stream: hipStream_t,
    ptr: *mut c_void,
    value: u64,
    flags: u32,
) -> hipError_t {
    let _ = flags;
    write_value(stream, ptr, ValueWidth::Bits64, value)
}
