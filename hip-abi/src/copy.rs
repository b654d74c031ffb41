//! One-dimensional copies and fills.
//!
//! What a copy does follows from its pointers, not from its kind: memory that HIP knows is used directly, other memory is the
//! program's pageable memory. When the host waits: always for synchronous copies, except device to device on one device; for
//! asynchronous ones from pageable memory only until the source may change (small ones are staged), to pageable memory to the end.

use std::ffi::c_void;

use gneiss_clr::{Event, MemoryKind};
use gneiss_hip_abi_macros::hip_api;

use crate::{
    capture::{self, Capturing},
    copy_place::Place,
    enums::*,
    error::*,
    fail,
    graph::{
        operation::{CopyForm, CopyNode, FillNode, Operation},
        types::hipMemsetParams,
    },
    host_range::{self, Access},
    memory::{SYNC_MEMOPS, find},
    runtime::{self, hip_error},
    stream::{Resolved, resolve},
    types::*,
    variable,
};

/// Largest copy from pageable memory that is staged, so that the call returns at once.
pub(crate) const STAGING_LIMIT: usize = 1 << 20;

/// Whether the caller waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// The call returns when the work is done, where HIP says so.
    Waits,
    /// The call returns at once.
    GoesOn,
    /// The call returns at once; what comes later in the null stream of the destination's device waits.
    OrdersNullStreams,
}

/// One side of a copy or fill.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// Its address.
    pub address: usize,
    known: Option<Known>,
}

/// Memory that HIP knows.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Ordinal of the device whose memory it is; none for host and managed memory.
    device: Option<usize>,
    /// Bytes from the start of its allocation or variable.
    offset: usize,
    /// Synchronous copies wait for their end.
    synchronous: bool,
}

impl Side {
    /// Looks an address up and checks that `size` bytes from it are inside their allocation.
    pub fn new(what: &str, address: *const c_void, size: usize) -> HipResult<Side> {
        if address.is_null() {
            return fail!(hipErrorInvalidValue, "the {what} is null");
        }
        let found = match find(address)? {
            Some((memory, offset)) => {
                let of_device = matches!(
                    memory.kind(),
                    MemoryKind::Device | MemoryKind::Ipc | MemoryKind::Mapped
                );
                Some((
                    of_device.then(|| memory.device().index()),
                    offset,
                    memory.size(),
                    memory.user_flags() & SYNC_MEMOPS != 0,
                ))
            }
            None => variable::find(address.addr()).map(|variable| {
                (
                    Some(variable.device),
                    address.addr() - variable.base,
                    variable.size,
                    false,
                )
            }),
        };
        if let Some((_, offset, length, _)) = found
            && length - offset < size
        {
            return fail!(
                hipErrorInvalidValue,
                "{size} bytes from {address:p} go past the end of the {what}: it has {length} bytes, and this is offset {offset}"
            );
        }
        let known = found.map(|(device, offset, _, synchronous)| Known {
            device,
            offset,
            synchronous,
        });
        Ok(Side {
            address: address.expose_provenance(),
            known,
        })
    }

    /// Memory that HIP does not know, at an address.
    #[cfg(test)]
    pub(crate) fn pageable(address: usize) -> Side {
        Side {
            address,
            known: None,
        }
    }

    /// Memory that HIP does not know.
    pub fn is_pageable(&self) -> bool {
        self.known.is_none()
    }

    /// Ordinal of the device whose memory it is; none for host and managed memory.
    pub(crate) fn device(&self) -> Option<usize> {
        self.known?.device
    }

    /// It starts where its allocation does.
    fn is_start(&self) -> bool {
        self.known.is_some_and(|known| known.offset == 0)
    }
}

/// Checks a copy's kind; `is_host_only` when neither side is memory that HIP knows.
pub fn check_kind(kind: hipMemcpyKind, host_only: bool) -> HipResult {
    match kind {
        hipMemcpyHostToHost | hipMemcpyDefault => Ok(()),
        hipMemcpyHostToDevice
        | hipMemcpyDeviceToHost
        | hipMemcpyDeviceToDevice
        | hipMemcpyDeviceToDeviceNoCU => {
            if host_only {
                return fail!(
                    hipErrorInvalidValue,
                    "the copy's kind {kind} names a device, but neither pointer is memory of HIP"
                );
            }
            Ok(())
        }
        _ => fail!(
            hipErrorInvalidMemcpyDirection,
            "copy kind {kind} does not exist"
        ),
    }
}

/// Whether the host waits for a copy between these sides.
pub fn waits(host: Host, destination: &Side, source: &Side) -> bool {
    match host {
        Host::Waits => {
            let synchronous = |side: &Side| side.known.is_some_and(|known| known.synchronous);
            destination.device().is_none()
                || destination.device() != source.device()
                || (synchronous(destination) && synchronous(source))
        }
        Host::GoesOn => destination.is_pageable(),
        Host::OrdersNullStreams => destination.is_pageable() || source.is_pageable(),
    }
}

/// Whether a copy whose call does not wait for its end reads memory that may change once the call is back. Up to [`STAGING_LIMIT`] bytes of that
/// are staged.
pub(crate) fn from_pageable(destination: &Side, source: &Side, host: Host) -> bool {
    source.is_pageable() && !destination.is_pageable() && host == Host::GoesOn
}

/// Keeps the bytes that a command reads until it has ended.
pub(crate) fn keep_until_end(command: &Event, staged: Box<[u8]>) {
    command.on_complete(move |_| drop(staged));
}

/// The capture that a copy or fill becomes a node of. Those that the host waits for cannot be captured.
pub(crate) fn captured(host: Host, stream: hipStream_t) -> HipResult<Option<Capturing>> {
    match host {
        Host::Waits | Host::OrdersNullStreams => capture::refuse_synchronous().map(|()| None),
        Host::GoesOn => capture::of(stream),
    }
}

/// Copies bytes.
pub(crate) fn copy(
    dst: *mut c_void,
    src: *const c_void,
    size: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
    host: Host,
) -> HipResult {
    if size == 0 {
        return Ok(());
    }
    if dst.cast_const() == src && kind == hipMemcpyDefault && !dst.is_null() {
        return Ok(());
    }
    let (destination, source) = (
        Side::new("destination", dst, size)?,
        Side::new("source", src, size)?,
    );
    check_kind(kind, destination.is_pageable() && source.is_pageable())?;
    if let Some(capturing) = captured(host, stream)? {
        return capturing.add(Operation::Copy(CopyNode {
            dst: destination.address,
            src: source.address,
            size,
            kind,
            form: CopyForm::Linear,
        }));
    }
    host_range::check_side("destination", &destination, size, Access::Write)?;
    host_range::check_side("source", &source, size, Access::Read)?;
    let place = Place::of(stream, &destination, &source)?;
    let Resolved { stream, wait } = place.runs_in();
    let from_pageable = from_pageable(&destination, &source, host);
    if from_pageable && size <= STAGING_LIMIT {
        // SAFETY: `size` readable bytes at `src` were checked; that they stay is the caller's.
        let staged: Box<[u8]> =
            unsafe { std::slice::from_raw_parts(src.cast::<u8>(), size) }.into();
        // SAFETY: the destination was checked; the staged bytes live until the command has ended.
        let command = unsafe {
            stream.queue.enqueue_copy(
                destination.address as u64,
                staged.as_ptr().expose_provenance() as u64,
                size,
                wait,
            )
        }
        .map_err(hip_error)?;
        keep_until_end(&command, staged);
        return place.go_on_after(&command);
    }
    // SAFETY: known memory was checked; keeping both sides until the command has ended is the program's duty, and for pageable
    // memory this call waits.
    let command = unsafe {
        stream.queue.enqueue_copy(
            destination.address as u64,
            source.address as u64,
            size,
            wait,
        )
    };
    let command = command.map_err(hip_error)?;
    if from_pageable || waits(host, &destination, &source) {
        command.wait().map_err(hip_error)?;
        crate::pool::trim_all();
        return Ok(());
    }
    place.go_on_after(&command)?;
    if host == Host::OrdersNullStreams
        && let Some(device) = destination
            .device()
            .filter(|&device| device != stream.device)
    {
        let null = runtime::device(device as i32)?.null_stream()?;
        null.queue.enqueue_marker(&[command]).map_err(hip_error)?;
    }
    Ok(())
}

/// Fills memory with a pattern, `count` times.
pub(crate) fn fill(
    dst: *mut c_void,
    pattern: &[u8],
    count: usize,
    stream: hipStream_t,
    host: Host,
) -> HipResult {
    let Some(size) = count.checked_mul(pattern.len()) else {
        return fail!(
            hipErrorInvalidValue,
            "{count} elements of {} bytes are too many",
            pattern.len()
        );
    };
    if size == 0 {
        return Ok(());
    }
    let side = Side::new("destination", dst, size)?;
    if side.is_pageable() {
        return fail!(
            hipErrorInvalidValue,
            "{dst:p} is not in memory that HIP knows"
        );
    }
    if let Some(capturing) = captured(host, stream)? {
        let mut value = [0; 4];
        value[..pattern.len()].copy_from_slice(pattern);
        return capturing.add(Operation::Fill(FillNode {
            params: hipMemsetParams {
                dst,
                elementSize: pattern.len() as u32,
                height: 1,
                pitch: 0,
                value: u32::from_le_bytes(value),
                width: count,
            },
            slices: (1, 1),
        }));
    }
    let Resolved { stream, wait } = resolve(stream)?;
    // SAFETY: the range was checked; keeping it until the command has ended is the program's duty.
    let command = unsafe {
        stream
            .queue
            .enqueue_fill(side.address as u64, pattern, size, &wait)
    }
    .map_err(hip_error)?;
    if host == Host::Waits && !(side.device().is_some() && side.is_start()) {
        command.wait().map_err(hip_error)?;
    }
    Ok(())
}

const NULL_STREAM: hipStream_t = std::ptr::null_mut();

/// Copies bytes; returns when they are there.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy(
    dst: *mut c_void,
    src: *const c_void,
    sizeBytes: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    copy(dst, src, sizeBytes, kind, NULL_STREAM, Host::Waits)
}

/// Copies bytes in a stream; returns when they are there.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyWithStream(
    dst: *mut c_void,
    src: *const c_void,
    sizeBytes: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    copy(dst, src, sizeBytes, kind, stream, Host::Waits)
}

/// Copies bytes in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyAsync(
    dst: *mut c_void,
    src: *const c_void,
    sizeBytes: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    copy(dst, src, sizeBytes, kind, stream, Host::GoesOn)
}

/// Copies from host to device memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyHtoD(
    dst: hipDeviceptr_t,
    src: *mut c_void,
    sizeBytes: usize,
) -> hipError_t {
    copy(
        dst,
        src,
        sizeBytes,
        hipMemcpyHostToDevice,
        NULL_STREAM,
        Host::Waits,
    )
}

/// Copies from device to host memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyDtoH(
    dst: *mut c_void,
    src: hipDeviceptr_t,
    sizeBytes: usize,
) -> hipError_t {
    copy(
        dst,
        src,
        sizeBytes,
        hipMemcpyDeviceToHost,
        NULL_STREAM,
        Host::Waits,
    )
}

/// Copies from device to device memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyDtoD(
    dst: hipDeviceptr_t,
    src: hipDeviceptr_t,
    sizeBytes: usize,
) -> hipError_t {
    copy(
        dst,
        src,
        sizeBytes,
        hipMemcpyDeviceToDevice,
        NULL_STREAM,
        Host::Waits,
    )
}

/// Copies from host to device memory in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyHtoDAsync(
    dst: hipDeviceptr_t,
    src: *mut c_void,
    sizeBytes: usize,
    stream: hipStream_t,
) -> hipError_t {
    copy(
        dst,
        src,
        sizeBytes,
        hipMemcpyHostToDevice,
        stream,
        Host::GoesOn,
    )
}

/// Copies from device to host memory in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyDtoHAsync(
    dst: *mut c_void,
    src: hipDeviceptr_t,
    sizeBytes: usize,
    stream: hipStream_t,
) -> hipError_t {
    copy(
        dst,
        src,
        sizeBytes,
        hipMemcpyDeviceToHost,
        stream,
        Host::GoesOn,
    )
}

/// Copies from device to device memory in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyDtoDAsync(
    dst: hipDeviceptr_t,
    src: hipDeviceptr_t,
    sizeBytes: usize,
    stream: hipStream_t,
) -> hipError_t {
    copy(
        dst,
        src,
        sizeBytes,
        hipMemcpyDeviceToDevice,
        stream,
        Host::GoesOn,
    )
}

/// Fills bytes.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemset(dst: *mut c_void, value: i32, sizeBytes: usize) -> hipError_t {
    fill(dst, &[value as u8], sizeBytes, NULL_STREAM, Host::Waits)
}

/// Fills bytes in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetAsync(
    dst: *mut c_void,
    value: i32,
    sizeBytes: usize,
    stream: hipStream_t,
) -> hipError_t {
    fill(dst, &[value as u8], sizeBytes, stream, Host::GoesOn)
}

/// Fills bytes.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetD8(dest: hipDeviceptr_t, value: u8, count: usize) -> hipError_t {
    fill(dest, &[value], count, NULL_STREAM, Host::Waits)
}

/// Fills bytes in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetD8Async(
    dest: hipDeviceptr_t,
    value: u8,
    count: usize,
    stream: hipStream_t,
) -> hipError_t {
    fill(dest, &[value], count, stream, Host::GoesOn)
}

/// Fills 16-bit elements.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetD16(
    dest: hipDeviceptr_t,
    value: u16,
    count: usize,
) -> hipError_t {
    fill(dest, &value.to_le_bytes(), count, NULL_STREAM, Host::Waits)
}

/// Fills 16-bit elements in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetD16Async(
    dest: hipDeviceptr_t,
    value: u16,
    count: usize,
    stream: hipStream_t,
) -> hipError_t {
    fill(dest, &value.to_le_bytes(), count, stream, Host::GoesOn)
}

/// Fills 32-bit elements.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetD32(
    dest: hipDeviceptr_t,
    value: i32,
    count: usize,
) -> hipError_t {
    fill(dest, &value.to_le_bytes(), count, NULL_STREAM, Host::Waits)
}

/// Fills 32-bit elements in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetD32Async(
    dst: hipDeviceptr_t,
    value: i32,
    count: usize,
    stream: hipStream_t,
) -> hipError_t {
    fill(dst, &value.to_le_bytes(), count, stream, Host::GoesOn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        assert_eq!(check_kind(hipMemcpyHostToHost, true), Ok(()));
        assert_eq!(check_kind(hipMemcpyDefault, true), Ok(()));
        assert_eq!(
            check_kind(hipMemcpyHostToDevice, true),
            Err(hipErrorInvalidValue)
        );
        assert_eq!(check_kind(hipMemcpyHostToDevice, false), Ok(()));
        assert_eq!(check_kind(5, false), Err(hipErrorInvalidMemcpyDirection));
        assert_eq!(
            check_kind(u32::MAX, false),
            Err(hipErrorInvalidMemcpyDirection)
        );
    }

    #[test]
    fn no_bytes_are_no_work() {
        assert_eq!(
            copy(
                std::ptr::null_mut(),
                std::ptr::null(),
                0,
                99,
                NULL_STREAM,
                Host::Waits
            ),
            Ok(())
        );
    }
}
