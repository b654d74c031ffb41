//! Devices: count, choice, properties, limits, synchronisation, versions.

use std::{
    ffi::{CStr, c_char},
    sync::atomic::{AtomicUsize, Ordering},
};

use gneiss_clr::DeviceProperties;
use gneiss_hip_abi_macros::hip_api;

use crate::{
    device_facts::{attribute, properties_r0000, properties_r0600},
    enums::*,
    error::*,
    fail, pool,
    properties::{hipDeviceProp_tR0000, hipDeviceProp_tR0600},
    registration,
    runtime::{self, Device, hip_error},
    stream,
    types::*,
    version,
};

/// Writes a value to a place that must not be null.
fn give<T>(place: *mut T, value: T) -> HipResult {
    if place.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer for the result");
    }
    // SAFETY: not null; the C caller promises a valid place.
    unsafe { place.write(value) };
    Ok(())
}

/// Starts HIP; flags must be 0.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipInit(flags: u32) -> hipError_t {
    if flags != 0 {
        fail!(
            hipErrorInvalidValue,
            "flags {flags:#x} of hipInit: must be 0"
        )
    } else {
        Ok(())
    }
}

/// Gives the presented HIP version as a number.
#[hip_api(no_init)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDriverGetVersion(driverVersion: *mut i32) -> hipError_t {
    give(driverVersion, version::presented().version_number())
}

/// Gives the presented HIP version as a number.
#[hip_api(no_init)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipRuntimeGetVersion(runtimeVersion: *mut i32) -> hipError_t {
    give(runtimeVersion, version::presented().version_number())
}

/// Counts the devices; `hipErrorNoDevice` and 0 if there are none.
#[hip_api(no_init)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceCount(count: *mut i32) -> hipError_t {
    if count.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the number");
    }
    match runtime::get() {
        Ok(runtime) => give(count, runtime.devices.len() as i32),
        Err(error) => {
            give(count, 0)?;
            Err(error)
        }
    }
}

/// Sets the calling thread's device.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipSetDevice(deviceId: i32) -> hipError_t {
    runtime::set_current(runtime::device(deviceId)?.ordinal);
    Ok(())
}

/// Gives the calling thread's device.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevice(deviceId: *mut i32) -> hipError_t {
    give(deviceId, runtime::current_ordinal() as i32)
}

/// Restricts the devices that a thread may get by default. All devices stay valid; only unknown ones are refused.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipSetValidDevices(device_arr: *mut i32, len: i32) -> hipError_t {
    let count = usize::try_from(len).unwrap_or(usize::MAX);
    if count > runtime::get()?.devices.len() || (count > 0 && device_arr.is_null()) {
        return fail!(hipErrorInvalidValue, "a list of {len} devices");
    }
    for index in 0..count {
        // SAFETY: the caller promises `len` ordinals.
        runtime::device(unsafe { device_arr.add(index).read() })?;
    }
    Ok(())
}

/// Gives the handle of a device, which is its ordinal.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGet(device: *mut hipDevice_t, ordinal: i32) -> hipError_t {
    give(device, runtime::device(ordinal)?.ordinal as i32)
}

/// Gives a device's properties in the layout of HIP 5.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceProperties(
    prop: *mut hipDeviceProp_tR0000,
    deviceId: i32,
) -> hipError_t {
    give(prop, properties_r0000(runtime::device(deviceId)?))
}

/// Gives a device's properties in the layout of HIP 5.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevicePropertiesR0000(
    prop: *mut hipDeviceProp_tR0000,
    deviceId: i32,
) -> hipError_t {
    give(prop, properties_r0000(runtime::device(deviceId)?))
}

/// Gives a device's properties in the layout of HIP 6 and 7.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevicePropertiesR0600(
    prop: *mut hipDeviceProp_tR0600,
    deviceId: i32,
) -> hipError_t {
    give(prop, properties_r0600(runtime::device(deviceId)?))
}

/// Gives one attribute of a device.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetAttribute(
    pi: *mut i32,
    attr: hipDeviceAttribute_t,
    deviceId: i32,
) -> hipError_t {
    if pi.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the attribute");
    }
    let device = runtime::device(deviceId)?;
    if matches!(
        attr,
        hipDeviceAttributeHdpMemFlushCntl | hipDeviceAttributeHdpRegFlushCntl
    ) {
        // Addresses, unlike all others: programs pass the place of a pointer. There is no such register here.
        // SAFETY: not null; as the header says of these two, the place is that of a pointer.
        unsafe { pi.cast::<*mut u32>().write_unaligned(std::ptr::null_mut()) };
        return Ok(());
    }
    give(pi, attribute(device, attr)?)
}

/// What a wanted device must have: (wanted, has) pairs; a device is better the more of them it fulfils.
fn choose(wanted: impl Fn(&Device) -> usize) -> HipResult<i32> {
    let devices = &runtime::get()?.devices;
    let best = devices.iter().rev().max_by_key(|device| wanted(device));
    Ok(best.map_or(0, |device| device.ordinal as i32))
}

macro_rules! matching {
    ($wanted:expr, $has:expr, $($field:ident),*) => {
        [$( $wanted.$field != Default::default() && $has.$field >= $wanted.$field ),*].into_iter().filter(|fits| *fits).count()
    };
}

/// Gives the device that fits wanted properties best.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipChooseDevice(
    device: *mut i32,
    prop: *const hipDeviceProp_tR0000,
) -> hipError_t {
    if prop.is_null() {
        return fail!(hipErrorInvalidValue, "no properties");
    }
    // SAFETY: not null; the caller promises a valid record.
    let wanted = unsafe { prop.read() };
    give(
        device,
        choose(|device| {
            matching!(
                wanted,
                properties_r0000(device),
                major,
                minor,
                totalGlobalMem,
                sharedMemPerBlock,
                maxThreadsPerBlock,
                totalConstMem,
                multiProcessorCount,
                maxThreadsPerMultiProcessor,
                memoryClockRate
            )
        })?,
    )
}

/// Gives the device that fits wanted properties best (layout of HIP 5).
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipChooseDeviceR0000(
    device: *mut i32,
    prop: *const hipDeviceProp_tR0000,
) -> hipError_t {
    // SAFETY: as the caller promises.
    match unsafe { hipChooseDevice(device, prop) } {
        hipSuccess => Ok(()),
        error => Err(error),
    }
}

/// Gives the device that fits wanted properties best (layout of HIP 6 and 7).
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipChooseDeviceR0600(
    device: *mut i32,
    prop: *const hipDeviceProp_tR0600,
) -> hipError_t {
    if prop.is_null() {
        return fail!(hipErrorInvalidValue, "no properties");
    }
    // SAFETY: not null; the caller promises a valid record.
    let wanted = unsafe { prop.read() };
    give(
        device,
        choose(|device| {
            matching!(
                wanted,
                properties_r0600(device),
                major,
                minor,
                totalGlobalMem,
                sharedMemPerBlock,
                maxThreadsPerBlock,
                totalConstMem,
                multiProcessorCount,
                maxThreadsPerMultiProcessor,
                memoryClockRate
            )
        })?,
    )
}

/// Gives the target's major and minor version.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceComputeCapability(
    major: *mut i32,
    minor: *mut i32,
    device: hipDevice_t,
) -> hipError_t {
    let version = runtime::device(device)?.clr.properties().gfx_version;
    give(major, version.0 as i32)?;
    give(minor, version.1 as i32)
}

/// Writes a text with its terminator to a buffer; a longer text is cut.
///
/// # Safety
/// `place` must be null or hold `len` bytes.
unsafe fn give_text(place: *mut c_char, len: i32, text: &str) -> HipResult {
    let Ok(len @ 1..) = usize::try_from(len) else {
        return fail!(hipErrorInvalidValue, "a buffer of {len} bytes");
    };
    if place.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the text");
    }
    let count = text.len().min(len - 1);
    // SAFETY: not null; the caller promises `len` bytes.
    unsafe {
        place
            .cast::<u8>()
            .copy_from_nonoverlapping(text.as_ptr(), count);
        place.add(count).write(0);
    }
    Ok(())
}

/// Gives a device's name.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetName(
    name: *mut c_char,
    len: i32,
    device: hipDevice_t,
) -> hipError_t {
    let properties = runtime::device(device)?.clr.properties();
    // SAFETY: as the caller promises.
    unsafe { give_text(name, len, &properties.product_name) }
}

/// Gives a device's UUID.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetUuid(uuid: *mut hipUUID, device: hipDevice_t) -> hipError_t {
    let value = crate::device_facts::uuid(runtime::device(device)?.clr.properties());
    give(uuid, value)
}

/// Gives a device's memory in bytes.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceTotalMem(bytes: *mut usize, device: hipDevice_t) -> hipError_t {
    give(
        bytes,
        runtime::device(device)?.clr.properties().global_memory_size,
    )
}

fn pci_address(properties: &DeviceProperties) -> String {
    format!(
        "{:04x}:{:02x}:{:02x}.{:01x}",
        properties.pci_domain, properties.pci_bus, properties.pci_device, properties.pci_function
    )
}

/// Gives a device's PCI address: `0000:43:00.0`.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetPCIBusId(
    pciBusId: *mut c_char,
    len: i32,
    device: i32,
) -> hipError_t {
    let text = pci_address(runtime::device(device)?.clr.properties());
    // SAFETY: as the caller promises.
    unsafe { give_text(pciBusId, len, &text) }?;
    if len <= text.len() as i32 {
        return fail!(hipErrorInvalidValue, "{len} bytes are too few for {text}");
    }
    Ok(())
}

/// Finds a device by PCI address; the domain and the function may be left out.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetByPCIBusId(
    device: *mut i32,
    pciBusId: *const c_char,
) -> hipError_t {
    if device.is_null() || pciBusId.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    // SAFETY: not null; the caller promises a terminated string.
    let text = unsafe { CStr::from_ptr(pciBusId) }.to_string_lossy();
    let address = text.split('.').next().unwrap_or("");
    let mut parts = address
        .rsplit(':')
        .map(|part| u32::from_str_radix(part, 16).ok());
    let (slot, bus, domain) = (
        parts.next().flatten(),
        parts.next().flatten(),
        parts.next().unwrap_or(Some(0)),
    );
    let found = runtime::get()?.devices.iter().find(|device| {
        let p = device.clr.properties();
        slot == Some(p.pci_device) && bus == Some(p.pci_bus) && domain == Some(p.pci_domain)
    });
    match found {
        Some(found) => give(device, found.ordinal as i32),
        None => fail!(hipErrorInvalidValue, "no device at {text}"),
    }
}

/// Waits for all work of the current device.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceSynchronize() -> hipError_t {
    synchronize()
}

pub(crate) fn synchronize() -> HipResult {
    crate::capture::refuse_device_wait()?;
    let result = runtime::current()?.clr.synchronize().map_err(hip_error);
    pool::trim_all();
    result
}

/// Ends the current device's streams, forgets its loaded code, and clears a fault. Allocations stay.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceReset() -> hipError_t {
    let device = runtime::current()?;
    let _ = device.clr.synchronize();
    stream::destroy_all(device.ordinal);
    pool::trim_all();
    registration::forget_programs();
    device.clr.reset();
    device.flags.store(0, Ordering::Relaxed);
    // Failures of earlier work end with the reset: nobody is to hear of them afterwards.
    if let Some(null) = device.existing_null_stream() {
        let _ = null.queue.finish();
    }
    Ok(())
}

/// Sets how the host waits for the current device.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipSetDeviceFlags(flags: u32) -> hipError_t {
    let schedule = flags & hipDeviceScheduleMask;
    if flags & !(hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax) != 0
        || schedule.count_ones() > 1
    {
        return fail!(
            hipErrorInvalidValue,
            "device flags {flags:#x} are not all known or exclude each other"
        );
    }
    // The other flags are what every device has.
    runtime::current()?.flags.store(schedule, Ordering::Relaxed);
    Ok(())
}

/// Gives the current device's flags.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceFlags(flags: *mut u32) -> hipError_t {
    give(flags, runtime::current()?.flags.load(Ordering::Relaxed))
}

/// Sets the device's cache preference, which AMD devices do not have.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceSetCacheConfig(cacheConfig: hipFuncCache_t) -> hipError_t {
    if cacheConfig > hipFuncCachePreferEqual {
        return fail!(
            hipErrorInvalidValue,
            "cache preference {cacheConfig} does not exist"
        );
    }
    Ok(())
}

/// Gives the device's cache preference: none.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetCacheConfig(cacheConfig: *mut hipFuncCache_t) -> hipError_t {
    give(cacheConfig, hipFuncCachePreferNone)
}

/// Sets the LDS bank size, which is fixed on AMD devices.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceSetSharedMemConfig(config: hipSharedMemConfig) -> hipError_t {
    if config > hipSharedMemBankSizeEightByte {
        return fail!(hipErrorInvalidValue, "bank size {config} does not exist");
    }
    Ok(())
}

/// Gives the LDS bank size: four bytes.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetSharedMemConfig(
    pConfig: *mut hipSharedMemConfig,
) -> hipError_t {
    give(pConfig, hipSharedMemBankSizeFourByte)
}

/// Heap of `malloc` in kernels, as set or by default.
static HEAP_LIMIT: AtomicUsize = AtomicUsize::new(8 << 20);

/// Gives a limit of the current device.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetLimit(pValue: *mut usize, limit: u32) -> hipError_t {
    match limit {
        hipLimitStackSize => give(pValue, runtime::current()?.clr.stack_size() as usize),
        hipLimitMallocHeapSize => give(pValue, HEAP_LIMIT.load(Ordering::Relaxed)),
        _ => fail!(hipErrorUnsupportedLimit, "limit {limit} is not supported"),
    }
}

/// Sets a limit of the current device. The heap grows as kernels ask for it, whatever its limit says.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceSetLimit(limit: hipLimit_t, value: usize) -> hipError_t {
    match limit {
        hipLimitStackSize => runtime::current()?
            .clr
            .set_stack_size(value.min(16 << 10) as u32),
        hipLimitMallocHeapSize => HEAP_LIMIT.store(value, Ordering::Relaxed),
        _ => {
            let known = matches!(limit, hipLimitPrintfFifoSize);
            let error = if known || version::presented() == version::Major::Five {
                hipErrorUnsupportedLimit
            } else {
                hipErrorInvalidValue
            };
            return fail!(error, "limit {limit} is not supported");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_and_terminated() {
        let mut place = [1; 4];
        crate::device_facts::fill_text(&mut place, "abcdef");
        assert_eq!(place, [b'a', b'b', b'c', 1].map(|byte| byte as c_char));
        let mut buffer = [1_i8; 4];
        // SAFETY: the buffer has 4 bytes.
        unsafe {
            give_text(buffer.as_mut_ptr(), 4, "abcdef").unwrap();
            assert_eq!(
                give_text(buffer.as_mut_ptr(), 0, "a"),
                Err(hipErrorInvalidValue)
            );
        }
        assert_eq!(buffer, [97, 98, 99, 0]);
    }

    #[test]
    fn pci_addresses() {
        let properties = DeviceProperties {
            pci_bus: 0x43,
            ..DeviceProperties::default()
        };
        assert_eq!(pci_address(&properties), "0000:43:00.0");
    }
}
