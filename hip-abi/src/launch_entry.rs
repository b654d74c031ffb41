//! The launch functions of the runtime API and of modules.

use std::ffi::c_void;

use gneiss_hip_abi_macros::hip_api;

use crate::{
    enums::*,
    error::*,
    event, fail,
    launch::{Api, Request, launch_function, launch_registered},
    types::*,
};

/// Launches a registered kernel.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLaunchKernel(
    function_address: *const c_void,
    numBlocks: dim3,
    dimBlocks: dim3,
    args: *mut *mut c_void,
    sharedMemBytes: usize,
    stream: hipStream_t,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        launch_registered(
            function_address,
            stream,
            &Request::new(numBlocks, dimBlocks, sharedMemBytes, args),
        )
    }
}

/// Launches a registered kernel, with events around it.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipExtLaunchKernel(
    function_address: *const c_void,
    numBlocks: dim3,
    dimBlocks: dim3,
    args: *mut *mut c_void,
    sharedMemBytes: usize,
    stream: hipStream_t,
    startEvent: hipEvent_t,
    stopEvent: hipEvent_t,
    flags: i32,
) -> hipError_t {
    for event in [startEvent, stopEvent] {
        if !event.is_null() && event::find(event).is_err() {
            return fail!(hipErrorInvalidValue, "{event:p} is not a live event");
        }
    }
    let request = Request {
        start_event: startEvent,
        stop_event: stopEvent,
        any_order: flags.cast_unsigned() & hipExtAnyOrderLaunch != 0,
        ..Request::new(numBlocks, dimBlocks, sharedMemBytes, args)
    };
    // SAFETY: as the caller promises.
    unsafe { launch_registered(function_address, stream, &request) }
}

/// Launches a registered kernel whose blocks all run at once, so that they may wait for each other.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLaunchCooperativeKernel(
    f: *const c_void,
    gridDim: dim3,
    blockDimX: dim3,
    kernelParams: *mut *mut c_void,
    sharedMemBytes: u32,
    stream: hipStream_t,
) -> hipError_t {
    let request = Request {
        cooperative: true,
        ..Request::new(gridDim, blockDimX, sharedMemBytes as usize, kernelParams)
    };
    // SAFETY: as the caller promises.
    unsafe { launch_registered(f, stream, &request) }
}

/// Launches a kernel of a module; the grid is in blocks.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLaunchKernel(
    f: hipFunction_t,
    gridDimX: u32,
    gridDimY: u32,
    gridDimZ: u32,
    blockDimX: u32,
    blockDimY: u32,
    blockDimZ: u32,
    sharedMemBytes: u32,
    stream: hipStream_t,
    kernelParams: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> hipError_t {
    let (grid, block) = (
        [gridDimX, gridDimY, gridDimZ].into(),
        [blockDimX, blockDimY, blockDimZ].into(),
    );
    let request = Request {
        api: Api::Module,
        extra,
        ..Request::new(grid, block, sharedMemBytes as usize, kernelParams)
    };
    // SAFETY: as the caller promises.
    unsafe { launch_function(f, stream, &request) }
}

/// Launches a kernel of a module whose blocks all run at once.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLaunchCooperativeKernel(
    f: hipFunction_t,
    gridDimX: u32,
    gridDimY: u32,
    gridDimZ: u32,
    blockDimX: u32,
    blockDimY: u32,
    blockDimZ: u32,
    sharedMemBytes: u32,
    stream: hipStream_t,
    kernelParams: *mut *mut c_void,
) -> hipError_t {
    let (grid, block) = (
        [gridDimX, gridDimY, gridDimZ].into(),
        [blockDimX, blockDimY, blockDimZ].into(),
    );
    let request = Request {
        api: Api::Module,
        cooperative: true,
        ..Request::new(grid, block, sharedMemBytes as usize, kernelParams)
    };
    // SAFETY: as the caller promises.
    unsafe { launch_function(f, stream, &request) }
}

/// Launches a kernel of a module with events around it; the grid is in work-items.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipExtModuleLaunchKernel(
    f: hipFunction_t,
    globalWorkSizeX: u32,
    globalWorkSizeY: u32,
    globalWorkSizeZ: u32,
    localWorkSizeX: u32,
    localWorkSizeY: u32,
    localWorkSizeZ: u32,
    sharedMemBytes: usize,
    hStream: hipStream_t,
    kernelParams: *mut *mut c_void,
    extra: *mut *mut c_void,
    startEvent: hipEvent_t,
    stopEvent: hipEvent_t,
    flags: u32,
) -> hipError_t {
    let grid = [globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ].into();
    let block = [localWorkSizeX, localWorkSizeY, localWorkSizeZ].into();
    let request = Request {
        api: Api::Extended,
        extra,
        start_event: startEvent,
        stop_event: stopEvent,
        any_order: flags & hipExtAnyOrderLaunch != 0,
        ..Request::new(grid, block, sharedMemBytes, kernelParams)
    };
    // SAFETY: as the caller promises.
    unsafe { launch_function(f, hStream, &request) }
}

/// `hipExtModuleLaunchKernel` under the C++ name that HIP 5 exports.
///
/// # Safety
/// As for `hipExtModuleLaunchKernel`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j(
    f: hipFunction_t,
    globalWorkSizeX: u32,
    globalWorkSizeY: u32,
    globalWorkSizeZ: u32,
    localWorkSizeX: u32,
    localWorkSizeY: u32,
    localWorkSizeZ: u32,
    sharedMemBytes: usize,
    hStream: hipStream_t,
    kernelParams: *mut *mut c_void,
    extra: *mut *mut c_void,
    startEvent: hipEvent_t,
    stopEvent: hipEvent_t,
    flags: u32,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        hipExtModuleLaunchKernel(
            f,
            globalWorkSizeX,
            globalWorkSizeY,
            globalWorkSizeZ,
            localWorkSizeX,
            localWorkSizeY,
            localWorkSizeZ,
            sharedMemBytes,
            hStream,
            kernelParams,
            extra,
            startEvent,
            stopEvent,
            flags,
        )
    }
}

/// The older name of `hipExtModuleLaunchKernel`, without flags.
///
/// # Safety
/// As for `hipExtModuleLaunchKernel`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHccModuleLaunchKernel(
    f: hipFunction_t,
    globalWorkSizeX: u32,
    globalWorkSizeY: u32,
    globalWorkSizeZ: u32,
    localWorkSizeX: u32,
    localWorkSizeY: u32,
    localWorkSizeZ: u32,
    sharedMemBytes: usize,
    hStream: hipStream_t,
    kernelParams: *mut *mut c_void,
    extra: *mut *mut c_void,
    startEvent: hipEvent_t,
    stopEvent: hipEvent_t,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        hipExtModuleLaunchKernel(
            f,
            globalWorkSizeX,
            globalWorkSizeY,
            globalWorkSizeZ,
            localWorkSizeX,
            localWorkSizeY,
            localWorkSizeZ,
            sharedMemBytes,
            hStream,
            kernelParams,
            extra,
            startEvent,
            stopEvent,
            0,
        )
    }
}

/// `hipHccModuleLaunchKernel` under the C++ name that HIP 5 exports.
///
/// # Safety
/// As for `hipExtModuleLaunchKernel`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_(
    f: hipFunction_t,
    globalWorkSizeX: u32,
    globalWorkSizeY: u32,
    globalWorkSizeZ: u32,
    localWorkSizeX: u32,
    localWorkSizeY: u32,
    localWorkSizeZ: u32,
    sharedMemBytes: usize,
    hStream: hipStream_t,
    kernelParams: *mut *mut c_void,
    extra: *mut *mut c_void,
    startEvent: hipEvent_t,
    stopEvent: hipEvent_t,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        hipHccModuleLaunchKernel(
            f,
            globalWorkSizeX,
            globalWorkSizeY,
            globalWorkSizeZ,
            localWorkSizeX,
            localWorkSizeY,
            localWorkSizeZ,
            sharedMemBytes,
            hStream,
            kernelParams,
            extra,
            startEvent,
            stopEvent,
        )
    }
}
