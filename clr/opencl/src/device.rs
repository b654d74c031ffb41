//! Devices: one for each GPU of the runtime below.

use std::{ffi::c_void, sync::Arc};

use crate::{
    cl_api,
    constants::*,
    device_info,
    error::Result,
    fail,
    handle::{Handle, get, object},
    image,
    info::Query,
    platform, runtime,
    types::*,
};

/// A GPU.
#[derive(Debug)]
pub struct Device {
    handle: Handle<Device>,
    /// The device of the command-queue runtime.
    pub clr: Arc<gneiss_clr::Device>,
}

object!(Device, CL_INVALID_DEVICE);

impl Device {
    /// A device over one of the runtime below.
    pub fn new(handle: Handle<Device>, clr: Arc<gneiss_clr::Device>) -> Self {
        Self { handle, clr }
    }

    /// The target that programs are compiled for: `gfx90a:sramecc+:xnack-`.
    pub fn target(&self) -> &str {
        let isa = &self.clr.properties().isa;
        isa.rsplit_once("--").map_or(isa, |(_, target)| target)
    }

    /// Whether programs can use images on it.
    pub fn images(&self) -> bool {
        image::SUPPORTED && self.clr.properties().images
    }
}

const TYPES: cl_bitfield = CL_DEVICE_TYPE_DEFAULT
    | CL_DEVICE_TYPE_CPU
    | CL_DEVICE_TYPE_GPU
    | CL_DEVICE_TYPE_ACCELERATOR
    | CL_DEVICE_TYPE_CUSTOM;

/// The devices of the given types.
///
/// # Errors
/// `CL_INVALID_DEVICE_TYPE`; `CL_DEVICE_NOT_FOUND` if there are none.
pub fn of_type(device_type: cl_bitfield) -> Result<Vec<Arc<Device>>> {
    if device_type != CL_DEVICE_TYPE_ALL && (device_type == 0 || device_type & !TYPES != 0) {
        return Err(CL_INVALID_DEVICE_TYPE);
    }
    if device_type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT) == 0 {
        return Err(CL_DEVICE_NOT_FOUND);
    }
    let devices = &runtime::get()?.devices;
    // The default is one device.
    let count = if device_type & CL_DEVICE_TYPE_GPU == 0 {
        1
    } else {
        devices.len()
    };
    Ok(devices[..count].to_vec())
}

cl_api! {
    /// Lists the devices of some types.
    fn clGetDeviceIDs(
        platform: cl_platform_id, device_type: cl_bitfield, num_entries: cl_uint, devices: Out<cl_device_id>,
        num_devices: Out<cl_uint>,
    ) {
        platform::check(platform)?;
        if (num_entries == 0 && !devices.is_null()) || (devices.is_null() && num_devices.is_null()) {
            return fail!(CL_INVALID_VALUE, "no place for devices and none for their number");
        }
        let found = of_type(device_type)?;
        for (index, device) in found.iter().take(num_entries as usize).enumerate() {
            devices.put(index, device.handle.raw());
        }
        num_devices.set(found.len() as cl_uint);
        Ok(())
    }

    /// Says what a device is.
    fn clGetDeviceInfo(
        device: cl_device_id, param_name: cl_name, param_value_size: usize, param_value: *mut c_void,
        param_value_size_ret: Out<usize>,
    ) {
        let device = get(device)?;
        let query = Query { size: param_value_size, value: param_value, needed: param_value_size_ret };
        device_info::answer(&device, param_name, &query)
    }

    /// Refuses to part a device: none can be.
    fn clCreateSubDevices(
        in_device: cl_device_id, properties: In<cl_pointer_property>, _num_devices: cl_uint,
        _out_devices: Out<cl_device_id>, _num_devices_ret: Out<cl_uint>,
    ) {
        get(in_device)?;
        fail!(CL_INVALID_VALUE, "devices cannot be partitioned (properties at {:?})", properties.pointer())
    }

    /// Does nothing: a device is no sub-device, and those are not counted.
    fn clRetainDevice(device: cl_device_id) {
        get(device).map(drop)
    }

    /// Does nothing, as `clRetainDevice`.
    fn clReleaseDevice(device: cl_device_id) {
        get(device).map(drop)
    }

    /// The time of a device and of the host, by one clock.
    fn clGetDeviceAndHostTimer(device: cl_device_id, device_timestamp: Out<cl_ulong>, host_timestamp: Out<cl_ulong>) {
        get(device)?;
        if device_timestamp.is_null() || host_timestamp.is_null() {
            return Err(CL_INVALID_VALUE);
        }
        let now = runtime::started()?.clr.timestamp();
        device_timestamp.set(now);
        host_timestamp.set(now);
        Ok(())
    }

    /// The host's time.
    fn clGetHostTimer(device: cl_device_id, host_timestamp: Out<cl_ulong>) {
        get(device)?;
        if host_timestamp.is_null() {
            return Err(CL_INVALID_VALUE);
        }
        host_timestamp.set(runtime::started()?.clr.timestamp());
        Ok(())
    }
}
