//! Launches on several devices with one call: plain ones, and cooperative ones whose kernels can wait for each other.
//!
//! Each launch has a stream of its own, each on a device of its own. Unless the flags say otherwise, none begins before the earlier work of
//! all the streams has ended, and the call returns when all of them have. The kernels of a cooperative launch share a word in
//! host memory that the device libraries' `multi_grid_group` synchronises on; it lives until the last of them has ended.

use std::sync::Arc;

use gneiss_clr::{HostFlags, MultiGrid};
use gneiss_hip_abi_macros::hip_api;

use crate::{
    capture,
    error::*,
    fail,
    launch::{self, Api, Request},
    module, registration,
    runtime::{self, hip_error},
    stream::{Resolved, resolve_or},
    types::*,
};

const NO_PRE_SYNC: u32 = 1;
const NO_POST_SYNC: u32 = 2;
/// Bytes of the words that the kernels synchronise on.
const SYNC_SIZE: usize = 64;

/// Which kernel a launch is of.
#[derive(Clone, Copy)]
enum Function {
    /// By its host address.
    Registered(*const std::ffi::c_void),
    /// Of a module.
    Module(hipFunction_t),
}

/// One of the launches.
struct One {
    function: Function,
    stream: hipStream_t,
    request: Request,
}

impl One {
    fn runtime(params: &hipLaunchParams) -> Self {
        One {
            function: Function::Registered(params.func),
            stream: params.stream,
            request: Request {
                api: Api::Several,
                ..Request::new(
                    params.gridDim,
                    params.blockDim,
                    params.sharedMem,
                    params.args,
                )
            },
        }
    }

    fn module(params: &hipFunctionLaunchParams) -> Self {
        let grid = [params.gridDimX, params.gridDimY, params.gridDimZ].into();
        let block = [params.blockDimX, params.blockDimY, params.blockDimZ].into();
        One {
            function: Function::Module(params.function),
            stream: params.hStream,
            request: Request {
                api: Api::Several,
                ..Request::new(
                    grid,
                    block,
                    params.sharedMemBytes as usize,
                    params.kernelParams,
                )
            },
        }
    }

    /// Work-items of its grid.
    fn items(&self) -> u64 {
        let sizes = self.request.grid.iter().chain(&self.request.block);
        sizes.map(|size| u64::from(*size)).product()
    }
}

/// The streams of the launches, each of another device.
fn streams(launches: &[One]) -> HipResult<Vec<Resolved>> {
    let mut all: Vec<Resolved> = Vec::with_capacity(launches.len());
    for one in launches {
        if one.request.block.contains(&0) {
            return fail!(hipErrorInvalidConfiguration, "an empty block");
        }
        if one.stream.is_null() {
            return fail!(
                hipErrorInvalidHandle,
                "a launch on several devices needs a stream for each"
            );
        }
        if capture::of(one.stream)?.is_some() {
            return fail!(
                hipErrorStreamCaptureUnsupported,
                "launches on several devices cannot be captured"
            );
        }
        let resolved = resolve_or(one.stream, hipErrorInvalidValue)?;
        if all
            .iter()
            .any(|other| other.stream.device == resolved.stream.device)
        {
            return fail!(
                hipErrorInvalidDevice,
                "two of the streams are of device {}",
                resolved.stream.device
            );
        }
        all.push(resolved);
    }
    Ok(all)
}

/// Host memory for the kernels to synchronise on. Each launch holds it until it has ended.
struct SyncMemory {
    address: u64,
}

impl SyncMemory {
    fn new(resolved: &Resolved) -> HipResult<Self> {
        let memory = runtime::get()?
            .clr
            .allocate_host(
                &resolved.stream.device()?.clr,
                SYNC_SIZE,
                HostFlags::COHERENT | HostFlags::MAPPED,
            )
            .map_err(hip_error)?;
        let address = memory.device_address();
        // SAFETY: fresh memory of that size, which the host can access.
        unsafe {
            std::ptr::with_exposed_provenance_mut::<u8>(address as usize).write_bytes(0, SYNC_SIZE)
        };
        Ok(SyncMemory { address })
    }
}

impl Drop for SyncMemory {
    fn drop(&mut self) {
        if let Ok(runtime) = runtime::get()
            && let Err(error) = runtime.clr.free(self.address as usize)
        {
            crate::log_error!("memory of a cooperative launch: {error}");
        }
    }
}

/// # Safety
/// As for a launch, for each of them.
unsafe fn launch_all(launches: &[One], flags: u32, cooperative: bool) -> HipResult {
    if flags > NO_PRE_SYNC | NO_POST_SYNC {
        return fail!(
            hipErrorInvalidValue,
            "flags {flags:#x} of a launch on several devices are not all known"
        );
    }
    let resolved = streams(launches)?;
    let mut kernels = Vec::with_capacity(launches.len());
    for (one, resolved) in launches.iter().zip(&resolved) {
        let device = resolved.stream.device()?;
        let kernel = match one.function {
            Function::Registered(address) => registration::kernel(address, device)?,
            Function::Module(function) => module::function(function)?,
        };
        if kernel.device().index() != device.ordinal {
            return fail!(
                hipErrorInvalidHandle,
                "kernel {} is loaded on another device than its stream's",
                kernel.name()
            );
        }
        // All are checked before the first begins: it would wait for the others for ever.
        let request = Request {
            cooperative,
            ..one.request
        };
        launch::check(&kernel, device, &request)?;
        kernels.push(kernel);
    }
    if flags & NO_PRE_SYNC == 0 {
        for resolved in &resolved {
            resolved.stream.queue.finish().map_err(hip_error)?;
        }
    }
    let sync = match (cooperative, resolved.first()) {
        (true, Some(first)) => Some(Arc::new(SyncMemory::new(first)?)),
        _ => None,
    };
    let all: u64 = launches.iter().map(One::items).sum();
    let mut before = 0;
    for (index, (one, resolved)) in launches.iter().zip(&resolved).enumerate() {
        let request = Request {
            cooperative,
            multigrid: sync.as_ref().map(|sync| MultiGrid {
                sync: sync.address,
                index: index as u32,
                count: launches.len() as u32,
                before,
                all,
            }),
            ..one.request
        };
        before += one.items();
        // SAFETY: as the caller promises.
        let command = unsafe {
            launch::launch(
                &kernels[index],
                resolved.stream.device()?,
                resolved,
                &request,
            )?
        };
        if let Some(sync) = &sync {
            let held = Arc::clone(sync);
            command.on_complete(move |_| drop(held));
        }
    }
    if flags & NO_POST_SYNC == 0 {
        for resolved in &resolved {
            resolved.stream.queue.finish().map_err(hip_error)?;
        }
    }
    Ok(())
}

/// The launches of a list that has a record for each of at most all devices.
///
/// # Safety
/// `list` must be null or hold `count` records.
unsafe fn listed<T>(list: *mut T, count: i64, one: fn(&T) -> One) -> HipResult<Vec<One>> {
    let devices = runtime::get()?.devices.len();
    match usize::try_from(count) {
        Ok(count) if !list.is_null() && count > 0 && count <= devices => {
            // SAFETY: not null; as the caller promises.
            let records = unsafe { std::slice::from_raw_parts(list, count) };
            Ok(records.iter().map(one).collect())
        }
        _ => fail!(
            hipErrorInvalidValue,
            "launches on {count} of {devices} devices, described at {list:p}"
        ),
    }
}

/// Launches a kernel on each of several devices.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipExtLaunchMultiKernelMultiDevice(
    launchParamsList: *mut hipLaunchParams,
    numDevices: i32,
    flags: u32,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        let launches = listed(launchParamsList, numDevices.into(), One::runtime)?;
        launch_all(&launches, flags, false)
    }
}

/// Launches kernels on several devices that can wait for each other.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLaunchCooperativeKernelMultiDevice(
    launchParamsList: *mut hipLaunchParams,
    numDevices: i32,
    flags: u32,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        let launches = listed(launchParamsList, numDevices.into(), One::runtime)?;
        launch_all(&launches, flags, true)
    }
}

/// Launches kernels of modules on several devices that can wait for each other.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLaunchCooperativeKernelMultiDevice(
    launchParamsList: *mut hipFunctionLaunchParams,
    numDevices: u32,
    flags: u32,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        let launches = listed(launchParamsList, numDevices.into(), One::module)?;
        launch_all(&launches, flags, true)
    }
}
