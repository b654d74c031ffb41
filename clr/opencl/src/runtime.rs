//! The process's runtime: started by the first call that needs a device, never torn down.

use std::sync::{Arc, OnceLock};

use gneiss_clr::{Config, Error, log};

use crate::{
    constants::{CL_DEVICE_NOT_AVAILABLE, CL_DEVICE_NOT_FOUND},
    device::Device,
    error::Result,
    fail,
    handle::Object as _,
};

/// The started runtime.
#[derive(Debug)]
pub struct Runtime {
    /// The command-queue runtime.
    pub clr: Arc<gneiss_clr::Runtime>,
    /// All devices.
    pub devices: Vec<Arc<Device>>,
}

static RUNTIME: OnceLock<Result<Runtime>> = OnceLock::new();

/// The runtime; started if it is not.
///
/// # Errors
/// `CL_DEVICE_NOT_FOUND` if there is no device or no HSA library, or if a variable of ours has a value that is not accepted.
pub fn get() -> Result<&'static Runtime> {
    RUNTIME.get_or_init(create).as_ref().map_err(|code| *code)
}

fn create() -> Result<Runtime> {
    if !gneiss_settings::accepted() {
        return fail!(
            CL_DEVICE_NOT_FOUND,
            "the environment has values that are not accepted"
        );
    }
    let mut config = Config::from_env();
    // HIP's list is not OpenCL's; this is AMD's variable for it.
    config.visible_devices = gneiss_settings::text("GPU_DEVICE_ORDINAL");
    let clr = gneiss_clr::Runtime::load(config).map_err(|error| {
        log::line(
            log::Level::Error,
            file!(),
            line!(),
            format_args!("the runtime can't start: {error}"),
        );
        if let Error::NoRuntime(_) = error {
            eprintln!("gneiss: {error}");
        }
        CL_DEVICE_NOT_FOUND
    })?;
    let devices: Vec<_> = clr
        .devices()
        .iter()
        .filter_map(|device| {
            Device::table().insert(|handle| Device::new(handle, Arc::clone(device)))
        })
        .collect();
    if devices.is_empty() {
        return fail!(
            CL_DEVICE_NOT_FOUND,
            "no GPU (GPU_DEVICE_ORDINAL or GNEISS_GPUS may hide them all)"
        );
    }
    crate::leaks::watch();
    Ok(Runtime { clr, devices })
}

/// The runtime, for objects that exist only when it has started.
///
/// # Errors
/// `CL_DEVICE_NOT_AVAILABLE` if it has not.
pub fn started() -> Result<&'static Runtime> {
    match RUNTIME.get() {
        Some(Ok(runtime)) => Ok(runtime),
        _ => Err(CL_DEVICE_NOT_AVAILABLE),
    }
}
