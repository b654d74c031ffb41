//! What kernels are and need: handles of registered ones, names, attributes.
//!
//! HIP 5 sets no attributes: AMD's libamdhip64 5.2.3 answers `hipSuccess` to whatever it is asked for. From HIP 6 on the most dynamic LDS that a
//! program sets for a registered kernel is told by `hipFuncGetAttributes`; every launch may use all LDS all the same.

use std::{
    collections::HashMap,
    ffi::{c_char, c_void},
    sync::LazyLock,
};

use gneiss_clr::Kernel;
use gneiss_hip_abi_macros::hip_api;
use parking_lot::Mutex;

use crate::{
    entry,
    enums::*,
    error::*,
    fail,
    module::{function, handle_for},
    registration,
    runtime::{self, Device},
    types::*,
    version::{self, Major},
};

/// Gives the handle of a registered kernel on the current device.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetFuncBySymbol(
    functionPtr: *mut hipFunction_t,
    symbolPtr: *const c_void,
) -> hipError_t {
    if functionPtr.is_null() || symbolPtr.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    let device = runtime::current()?;
    let kernel = registration::kernel(symbolPtr, device)?;
    static KNOWN: Mutex<Vec<(u64, usize)>> = Mutex::new(Vec::new());
    let object = kernel.object();
    let mut known = KNOWN.lock();
    let handle = match known.iter().find(|(of, _)| *of == object) {
        Some((_, handle)) => *handle,
        None => {
            let handle = handle_for(kernel)?;
            known.push((object, handle));
            handle
        }
    };
    // SAFETY: not null; the caller promises a valid place.
    unsafe { functionPtr.write(std::ptr::without_provenance_mut(handle)) };
    Ok(())
}

/// Gives a registered kernel's name, or null.
///
/// # Safety
/// The address is checked. The string lives as long as the program's binary.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipKernelNameRefByPtr(
    hostFunction: *const c_void,
    stream: hipStream_t,
) -> *const c_char {
    let _ = stream;
    entry::run("hipKernelNameRefByPtr", std::ptr::null(), || {
        registration::function(hostFunction).map_or(std::ptr::null(), |function| function.name())
    })
}

/// Tells what a registered kernel needs.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFuncGetAttributes(
    attr: *mut hipFuncAttributes,
    func: *const c_void,
) -> hipError_t {
    if attr.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the attributes");
    }
    if func.is_null() {
        let error = match version::presented() {
            Major::Five => hipErrorInvalidValue,
            Major::Six | Major::Seven => hipErrorInvalidDeviceFunction,
        };
        return fail!(error, "no kernel");
    }
    let device = runtime::current()?;
    let mut value = attributes(&*registration::kernel(func, device)?);
    if let Some(bytes) = dynamic_lds(func, device) {
        value.maxDynamicSharedSizeBytes = bytes;
    }
    // SAFETY: not null; the caller promises a valid place.
    unsafe { attr.write(value) };
    Ok(())
}

fn attributes(kernel: &Kernel) -> hipFuncAttributes {
    let (metadata, properties) = (kernel.metadata(), kernel.device().properties());
    let target = (properties.gfx_version.0 * 10 + properties.gfx_version.1) as i32;
    // HIP 5 has numbers of its own.
    let (binary, ptx, constant) = match version::presented() {
        Major::Five => (2, 30, 0),
        Major::Six | Major::Seven => (target, target, crate::device_facts::CONSTANT_MEMORY - 1),
    };
    hipFuncAttributes {
        binaryVersion: binary,
        cacheModeCA: 0,
        constSizeBytes: constant,
        localSizeBytes: metadata.private_segment_fixed_size as usize,
        maxDynamicSharedSizeBytes: properties
            .lds_size
            .saturating_sub(metadata.group_segment_fixed_size as usize)
            as i32,
        maxThreadsPerBlock: metadata.max_flat_workgroup_size as i32,
        numRegs: metadata.vgpr_count as i32,
        preferredShmemCarveout: 0,
        ptxVersion: ptx,
        sharedSizeBytes: metadata.group_segment_fixed_size as usize,
    }
}

/// Tells one thing that a kernel of a module needs.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFuncGetAttribute(
    value: *mut i32,
    attrib: hipFunction_attribute,
    hfunc: hipFunction_t,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { get_attribute(value, attrib, hfunc) }
}

/// # Safety
/// `value` must be null or a valid place.
pub(crate) unsafe fn get_attribute(
    value: *mut i32,
    attrib: hipFunction_attribute,
    hfunc: hipFunction_t,
) -> HipResult {
    if value.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the attribute");
    }
    let attributes = attributes(&*function(hfunc)?);
    let number = match attrib {
        HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => attributes.maxThreadsPerBlock,
        HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => attributes.sharedSizeBytes as i32,
        HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES => attributes.constSizeBytes as i32,
        HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => attributes.localSizeBytes as i32,
        HIP_FUNC_ATTRIBUTE_NUM_REGS => attributes.numRegs,
        HIP_FUNC_ATTRIBUTE_PTX_VERSION => attributes.ptxVersion,
        HIP_FUNC_ATTRIBUTE_BINARY_VERSION => attributes.binaryVersion,
        HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA => attributes.cacheModeCA,
        HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => attributes.maxDynamicSharedSizeBytes,
        HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => attributes.preferredShmemCarveout,
        _ => {
            return fail!(
                hipErrorInvalidValue,
                "kernel attribute {attrib} does not exist"
            );
        }
    };
    // SAFETY: not null; the caller promises a valid place.
    unsafe { value.write(number) };
    Ok(())
}

/// A kernel's address and a device's number.
type Place = (usize, usize);

/// The most dynamic LDS that a program has set for a registered kernel, in bytes, with the generation that the kernel was of.
static DYNAMIC_LDS: LazyLock<Mutex<HashMap<Place, (u64, i32)>>> = LazyLock::new(Mutex::default);

fn dynamic_lds(kernel: *const c_void, device: &Device) -> Option<i32> {
    let set = DYNAMIC_LDS.lock();
    let (generation, bytes) = set.get(&(kernel.addr(), device.ordinal))?;
    (*generation == registration::generation()).then_some(*bytes)
}

/// Sets a limit of a registered kernel.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFuncSetAttribute(
    func: *const c_void,
    attr: hipFuncAttribute,
    value: i32,
) -> hipError_t {
    let device = runtime::current()?;
    if version::presented() == Major::Five {
        return Ok(());
    }
    let attributes = attributes(&*registration::kernel(func, device)?);
    let in_range = match attr {
        hipFuncAttributeMaxDynamicSharedMemorySize => {
            (0..=attributes.maxDynamicSharedSizeBytes).contains(&value)
        }
        hipFuncAttributePreferredSharedMemoryCarveout => (-1..=100).contains(&value),
        _ => return fail!(hipErrorInvalidValue, "kernel attribute {attr} can't be set"),
    };
    if !in_range {
        return fail!(
            hipErrorInvalidValue,
            "{value} is out of range for kernel attribute {attr}"
        );
    }
    if attr == hipFuncAttributeMaxDynamicSharedMemorySize {
        DYNAMIC_LDS.lock().insert(
            (func.addr(), device.ordinal),
            (registration::generation(), value),
        );
    }
    Ok(())
}

/// A preference that AMD devices do not have: checked from HIP 6 on.
fn preference(kernel: *const c_void, exists: bool) -> HipResult {
    if version::presented() == Major::Five {
        return Ok(());
    }
    registration::function(kernel)?;
    if exists {
        Ok(())
    } else {
        fail!(hipErrorInvalidValue, "this preference does not exist")
    }
}

/// Sets a registered kernel's cache preference, which AMD devices do not have.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFuncSetCacheConfig(
    func: *const c_void,
    config: hipFuncCache_t,
) -> hipError_t {
    preference(func, config <= hipFuncCachePreferEqual)
}

/// Sets a registered kernel's LDS bank size, which AMD devices do not have.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFuncSetSharedMemConfig(
    func: *const c_void,
    config: hipSharedMemConfig,
) -> hipError_t {
    preference(func, config <= hipSharedMemBankSizeEightByte)
}
