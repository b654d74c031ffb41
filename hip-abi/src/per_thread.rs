//! The `_spt` entries: programs built with `-fgpu-default-stream=per-thread` call these. They take the null stream for the calling
//! thread's own stream, and do else what their plain names do.

use std::ffi::c_void;

use gneiss_hip_abi_macros::hip_api;

use crate::{
    array_copy::{self, Rows},
    copy::{self, Host},
    copy_rect::{self, Copy2D},
    enums::*,
    error::*,
    event, fill_rect,
    launch::{self, Request},
    stream, stream_operation,
    symbol::{self, Part},
    types::*,
};

const PER_THREAD: hipStream_t = std::ptr::without_provenance_mut(HIP_STREAM_PER_THREAD);

/// The null stream means the thread's own one here.
pub(crate) fn own(stream: hipStream_t) -> hipStream_t {
    if matches!(stream.addr(), 0 | HIP_STREAM_LEGACY) {
        PER_THREAD
    } else {
        stream
    }
}

/// `hipMemcpy` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy_spt(
    dst: *mut c_void,
    src: *const c_void,
    sizeBytes: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    copy::copy(dst, src, sizeBytes, kind, PER_THREAD, Host::Waits)
}

/// `hipMemcpyAsync` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyAsync_spt(
    dst: *mut c_void,
    src: *const c_void,
    sizeBytes: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    copy::copy(dst, src, sizeBytes, kind, own(stream), Host::GoesOn)
}

/// `hipMemcpyToSymbol` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyToSymbol_spt(
    symbol: *const c_void,
    src: *const c_void,
    sizeBytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    symbol::to(
        &Part {
            symbol,
            size: sizeBytes,
            offset,
        },
        src,
        kind,
        PER_THREAD,
        Host::Waits,
    )
}

/// `hipMemcpyToSymbolAsync` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyToSymbolAsync_spt(
    symbol: *const c_void,
    src: *const c_void,
    sizeBytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    symbol::to(
        &Part {
            symbol,
            size: sizeBytes,
            offset,
        },
        src,
        kind,
        own(stream),
        Host::GoesOn,
    )
}

/// `hipMemcpyFromSymbol` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyFromSymbol_spt(
    dst: *mut c_void,
    symbol: *const c_void,
    sizeBytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    symbol::from(
        dst,
        &Part {
            symbol,
            size: sizeBytes,
            offset,
        },
        kind,
        PER_THREAD,
        Host::Waits,
    )
}

/// `hipMemcpyFromSymbolAsync` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyFromSymbolAsync_spt(
    dst: *mut c_void,
    symbol: *const c_void,
    sizeBytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    symbol::from(
        dst,
        &Part {
            symbol,
            size: sizeBytes,
            offset,
        },
        kind,
        own(stream),
        Host::GoesOn,
    )
}

/// `hipMemcpy2D` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy2D_spt(
    dst: *mut c_void,
    dpitch: usize,
    src: *const c_void,
    spitch: usize,
    width: usize,
    height: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    copy_rect::copy_2d(
        &Copy2D {
            dst,
            dpitch,
            src,
            spitch,
            width,
            height,
        },
        kind,
        PER_THREAD,
        Host::Waits,
    )
}

/// `hipMemcpy2DAsync` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy2DAsync_spt(
    dst: *mut c_void,
    dpitch: usize,
    src: *const c_void,
    spitch: usize,
    width: usize,
    height: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    copy_rect::copy_2d(
        &Copy2D {
            dst,
            dpitch,
            src,
            spitch,
            width,
            height,
        },
        kind,
        own(stream),
        Host::GoesOn,
    )
}

/// `hipMemcpy2DToArray` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy2DToArray_spt(
    dst: hipArray_t,
    wOffset: usize,
    hOffset: usize,
    src: *const c_void,
    spitch: usize,
    width: usize,
    height: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    array_copy::to_array(
        dst,
        wOffset,
        hOffset,
        &Rows {
            memory: src.cast_mut(),
            pitch: spitch,
            width,
            height,
        },
        kind,
        PER_THREAD,
        Host::Waits,
    )
}

/// `hipMemcpy2DToArrayAsync` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy2DToArrayAsync_spt(
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
    array_copy::to_array(
        dst,
        wOffset,
        hOffset,
        &Rows {
            memory: src.cast_mut(),
            pitch: spitch,
            width,
            height,
        },
        kind,
        own(stream),
        Host::GoesOn,
    )
    .map_err(copy_rect::gone_as_value)
}

/// `hipMemcpy2DFromArray` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy2DFromArray_spt(
    dst: *mut c_void,
    dpitch: usize,
    src: hipArray_t,
    wOffset: usize,
    hOffset: usize,
    width: usize,
    height: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    array_copy::from_array(
        &Rows {
            memory: dst,
            pitch: dpitch,
            width,
            height,
        },
        src,
        wOffset,
        hOffset,
        kind,
        PER_THREAD,
        Host::Waits,
    )
}

/// `hipMemcpy2DFromArrayAsync` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy2DFromArrayAsync_spt(
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
    array_copy::from_array(
        &Rows {
            memory: dst,
            pitch: dpitch,
            width,
            height,
        },
        src,
        wOffset,
        hOffset,
        kind,
        own(stream),
        Host::GoesOn,
    )
    .map_err(copy_rect::gone_as_value)
}

/// `hipMemcpyFromArray` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyFromArray_spt(
    dst: *mut c_void,
    srcArray: hipArray_t,
    wOffset: usize,
    hOffset: usize,
    count: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    array_copy::copy_linear(
        srcArray, wOffset, hOffset, dst, count, kind, PER_THREAD, false,
    )
}

/// `hipMemcpy3D` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy3D_spt(p: *const hipMemcpy3DParms) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { copy_rect::copy_3d(p, PER_THREAD, Host::Waits) }
}

/// `hipMemcpy3DAsync` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy3DAsync_spt(
    p: *const hipMemcpy3DParms,
    stream: hipStream_t,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { copy_rect::copy_3d(p, own(stream), Host::GoesOn) }
}

/// `hipMemset` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemset_spt(
    dst: *mut c_void,
    value: i32,
    sizeBytes: usize,
) -> hipError_t {
    copy::fill(dst, &[value as u8], sizeBytes, PER_THREAD, Host::Waits)
}

/// `hipMemsetAsync` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetAsync_spt(
    dst: *mut c_void,
    value: i32,
    sizeBytes: usize,
    stream: hipStream_t,
) -> hipError_t {
    copy::fill(dst, &[value as u8], sizeBytes, own(stream), Host::GoesOn)
}

/// `hipMemset2D` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemset2D_spt(
    dst: *mut c_void,
    pitch: usize,
    value: i32,
    width: usize,
    height: usize,
) -> hipError_t {
    fill_rect::fill_2d(
        dst,
        pitch,
        &[value as u8],
        width,
        height,
        PER_THREAD,
        Host::Waits,
    )
}

/// `hipMemset2DAsync` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemset2DAsync_spt(
    dst: *mut c_void,
    pitch: usize,
    value: i32,
    width: usize,
    height: usize,
    stream: hipStream_t,
) -> hipError_t {
    fill_rect::fill_2d(
        dst,
        pitch,
        &[value as u8],
        width,
        height,
        own(stream),
        Host::GoesOn,
    )
}

/// `hipMemset3D` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemset3D_spt(
    pitchedDevPtr: hipPitchedPtr,
    value: i32,
    extent: hipExtent,
) -> hipError_t {
    fill_rect::fill_3d(pitchedDevPtr, value, extent, PER_THREAD, Host::Waits)
}

/// `hipMemset3DAsync` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemset3DAsync_spt(
    pitchedDevPtr: hipPitchedPtr,
    value: i32,
    extent: hipExtent,
    stream: hipStream_t,
) -> hipError_t {
    fill_rect::fill_3d(pitchedDevPtr, value, extent, own(stream), Host::GoesOn)
}

/// `hipStreamQuery` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamQuery_spt(stream: hipStream_t) -> hipError_t {
    stream::query(own(stream))
}

/// `hipStreamSynchronize` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamSynchronize_spt(stream: hipStream_t) -> hipError_t {
    stream::synchronize(&stream::resolve(own(stream))?)
}

/// `hipStreamGetFlags` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetFlags_spt(stream: hipStream_t, flags: *mut u32) -> hipError_t {
    stream::get_flags(own(stream), flags)
}

/// `hipStreamGetPriority` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetPriority_spt(
    stream: hipStream_t,
    priority: *mut i32,
) -> hipError_t {
    stream::get_priority(own(stream), priority)
}

/// `hipStreamWaitEvent` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamWaitEvent_spt(
    stream: hipStream_t,
    event: hipEvent_t,
    flags: u32,
) -> hipError_t {
    stream::wait_event(own(stream), event, flags)
}

/// `hipStreamAddCallback` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamAddCallback_spt(
    stream: hipStream_t,
    callback: hipStreamCallback_t,
    userData: *mut c_void,
    flags: u32,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { stream_operation::add_callback(own(stream), callback, userData, flags) }
}

/// `hipLaunchHostFunc` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLaunchHostFunc_spt(
    stream: hipStream_t,
    r#fn: hipHostFn_t,
    userData: *mut c_void,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { stream_operation::launch_host_function(own(stream), r#fn, userData) }
}

/// `hipEventRecord` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventRecord_spt(event: hipEvent_t, stream: hipStream_t) -> hipError_t {
    event::record(event, own(stream), false)
}

/// `hipLaunchKernel` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLaunchKernel_spt(
    function_address: *const c_void,
    numBlocks: dim3,
    dimBlocks: dim3,
    args: *mut *mut c_void,
    sharedMemBytes: usize,
    stream: hipStream_t,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        launch::launch_registered(
            function_address,
            own(stream),
            &Request::new(numBlocks, dimBlocks, sharedMemBytes, args),
        )
    }
}

/// `hipLaunchCooperativeKernel` with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLaunchCooperativeKernel_spt(
    f: *const c_void,
    gridDim: dim3,
    blockDim: dim3,
    kernelParams: *mut *mut c_void,
    sharedMemBytes: u32,
    hStream: hipStream_t,
) -> hipError_t {
    let request = Request {
        cooperative: true,
        ..Request::new(gridDim, blockDim, sharedMemBytes as usize, kernelParams)
    };
    // SAFETY: as the caller promises.
    unsafe { launch::launch_registered(f, own(hStream), &request) }
}
