//! Launches described by records (HIP 7), and the launch function of older compilers.

use std::ffi::c_void;

use gneiss_hip_abi_macros::hip_api;

use crate::{
    error::*,
    fail,
    launch::{Api, Request, launch_function, launch_registered},
    log_error,
    types::*,
};

const ATTRIBUTE_COOPERATIVE: u32 = 2;
const ATTRIBUTE_PRIORITY: u32 = 8;

/// Whether a list of launch attributes asks for a cooperative launch.
///
/// # Safety
/// The list must be null or hold `count` records.
unsafe fn cooperative(attributes: *const hipLaunchAttribute, count: u32) -> HipResult<bool> {
    if count == 0 {
        return Ok(false);
    }
    if attributes.is_null() || count > 1024 {
        return fail!(
            hipErrorInvalidValue,
            "{count} launch attributes at {attributes:p}"
        );
    }
    let mut cooperative = false;
    // SAFETY: not null; the caller promises `count` records.
    for attribute in unsafe { std::slice::from_raw_parts(attributes, count as usize) } {
        match attribute.id {
            ATTRIBUTE_COOPERATIVE => cooperative = attribute.val[0] as u32 != 0,
            // The priority of a kernel is that of its stream.
            ATTRIBUTE_PRIORITY => {}
            other => {
                return fail!(
                    hipErrorInvalidValue,
                    "launch attribute {other} is not supported"
                );
            }
        }
    }
    Ok(cooperative)
}

/// Launches a registered kernel as a record says.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLaunchKernelExC(
    config: *const hipLaunchConfig_t,
    fPtr: *const c_void,
    args: *mut *mut c_void,
) -> hipError_t {
    if config.is_null() {
        return fail!(hipErrorInvalidConfiguration, "no launch configuration");
    }
    // SAFETY: not null; the caller promises a valid record, with its attributes and arguments.
    unsafe {
        let config = config.read();
        let request = Request {
            cooperative: cooperative(config.attrs, config.numAttrs)?,
            ..Request::new(
                config.gridDim,
                config.blockDim,
                config.dynamicSmemBytes,
                args,
            )
        };
        launch_registered(fPtr, config.stream, &request)
    }
}

/// Launches a kernel of a module as a record says.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDrvLaunchKernelEx(
    config: *const HIP_LAUNCH_CONFIG,
    f: hipFunction_t,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> hipError_t {
    if config.is_null() {
        return fail!(hipErrorInvalidConfiguration, "no launch configuration");
    }
    // SAFETY: not null; the caller promises a valid record, with its attributes and arguments.
    unsafe {
        let c = config.read();
        let grid = [c.gridDimX, c.gridDimY, c.gridDimZ].into();
        let block = [c.blockDimX, c.blockDimY, c.blockDimZ].into();
        let request = Request {
            api: Api::Module,
            extra,
            cooperative: cooperative(c.attrs, c.numAttrs)?,
            ..Request::new(grid, block, c.sharedMemBytes as usize, params)
        };
        launch_function(f, c.hStream, &request)
    }
}

/// The launch function of older compilers: packed arguments, no status.
///
/// # Safety
/// `extra` must be a list as for `hipModuleLaunchKernel`; the dimensions must be readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv(
    function_address: usize,
    numBlocks: *const dim3,
    dimBlocks: *const dim3,
    sharedMemBytes: u32,
    stream: hipStream_t,
    extra: *mut *mut c_void,
) {
    crate::entry::run("hipLaunchKernelGGLImpl", (), || {
        if numBlocks.is_null() || dimBlocks.is_null() {
            return;
        }
        // SAFETY: as the caller promises.
        let result = unsafe {
            let request = Request {
                extra,
                ..Request::new(
                    numBlocks.read(),
                    dimBlocks.read(),
                    sharedMemBytes as usize,
                    std::ptr::null_mut(),
                )
            };
            launch_registered(
                std::ptr::with_exposed_provenance(function_address),
                stream,
                &request,
            )
        };
        if let Err(error) = result {
            log_error!("hipLaunchKernelGGLImpl: {}", error.name());
        }
    });
}
