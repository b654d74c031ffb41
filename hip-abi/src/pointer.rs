//! What HIP knows of a pointer.

use std::ffi::c_void;

use gneiss_clr::MemoryKind;
use gneiss_hip_abi_macros::hip_api;

use crate::{
    array,
    enums::*,
    error::*,
    fail,
    memory::{SYNC_MEMOPS, address_of, allocation_flags, find, memory_type},
    types::*,
    variable,
    version::{self, Major, MemoryType},
};

/// Tells what HIP knows of a pointer. Since HIP 6 memory that HIP does not know is `hipMemoryTypeUnregistered`.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipPointerGetAttributes(
    attributes: *mut hipPointerAttribute_t,
    ptr: *const c_void,
) -> hipError_t {
    let major = version::presented();
    if attributes.is_null() || (ptr.is_null() && major < Major::Seven) {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    let value = match find(ptr)? {
        Some((memory, offset)) => {
            let device_address = memory.device_address() as usize + offset;
            let host_address = match memory.kind() {
                MemoryKind::Host | MemoryKind::Registered | MemoryKind::Managed => {
                    memory.host_address().map_or(0, |base| base + offset)
                }
                MemoryKind::Device | MemoryKind::Signal | MemoryKind::Ipc | MemoryKind::Mapped => 0,
            };
            hipPointerAttribute_t {
                r#type: memory_type(&memory).value(major),
                device: memory.device().index() as i32,
                devicePointer: std::ptr::with_exposed_provenance_mut(device_address),
                hostPointer: std::ptr::with_exposed_provenance_mut(host_address),
                isManaged: i32::from(memory.kind() == MemoryKind::Managed),
                allocationFlags: allocation_flags(&memory),
            }
        }
        None if variable::find(ptr.addr()).is_some() => {
            let device = variable::find(ptr.addr()).map_or(0, |variable| variable.device);
            hipPointerAttribute_t {
                r#type: MemoryType::Device.value(major),
                device: device as i32,
                devicePointer: ptr.cast_mut(),
                hostPointer: std::ptr::null_mut(),
                isManaged: 0,
                allocationFlags: 0,
            }
        }
        None if major >= Major::Six => hipPointerAttribute_t {
            r#type: MemoryType::Unregistered.value(major),
            device: hipInvalidDeviceId,
            devicePointer: std::ptr::null_mut(),
            hostPointer: std::ptr::null_mut(),
            isManaged: 0,
            allocationFlags: 0,
        },
        None => {
            return fail!(
                hipErrorInvalidValue,
                "{ptr:p} is not in memory that HIP knows"
            );
        }
    };
    // SAFETY: not null; the caller promises a valid place.
    unsafe { attributes.write(value) };
    Ok(())
}

/// Writes one attribute of a pointer to a caller's place; the place's type follows from the attribute.
///
/// # Safety
/// `data` must be a valid place for the attribute's type.
unsafe fn pointer_attribute(
    data: *mut c_void,
    attribute: hipPointer_attribute,
    ptr: *const c_void,
) -> HipResult {
    if data.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the attribute");
    }
    let major = version::presented();
    if matches!(
        attribute,
        HIP_POINTER_ATTRIBUTE_CONTEXT
            | HIP_POINTER_ATTRIBUTE_P2P_TOKENS
            | HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE
            | HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES
            | HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE
    ) {
        return fail!(
            hipErrorNotSupported,
            "pointer attribute {attribute} is not supported, nor is it by AMD's runtime"
        );
    }
    let Some((memory, offset)) = find(ptr)? else {
        // The handle of an array is no address, and has a type all the same.
        if attribute == HIP_POINTER_ATTRIBUTE_MEMORY_TYPE
            && array::shape(ptr.cast_mut().cast()).is_ok()
        {
            // SAFETY: the caller promises an unsigned int.
            unsafe { data.cast::<u32>().write(MemoryType::Array.value(major)) };
            return Ok(());
        }
        // HIP 7 answers for memory that it does not know, as the plural form does since HIP 6.
        if attribute == HIP_POINTER_ATTRIBUTE_MEMORY_TYPE && major >= Major::Seven {
            // SAFETY: the caller promises an unsigned int.
            unsafe {
                data.cast::<u32>()
                    .write(MemoryType::Unregistered.value(major))
            };
            return Ok(());
        }
        return fail!(
            hipErrorInvalidValue,
            "{ptr:p} is not in memory that HIP knows"
        );
    };
    let device_address = memory.device_address() as usize;
    // SAFETY: the caller promises that `data` fits the attribute's type.
    unsafe {
        match attribute {
            HIP_POINTER_ATTRIBUTE_MEMORY_TYPE => {
                data.cast::<u32>().write(memory_type(&memory).value(major))
            }
            HIP_POINTER_ATTRIBUTE_DEVICE_POINTER => {
                data.cast::<usize>().write(device_address + offset)
            }
            HIP_POINTER_ATTRIBUTE_HOST_POINTER => match memory.host_address() {
                Some(base) if memory.kind() != MemoryKind::Device => {
                    data.cast::<usize>().write(base + offset)
                }
                _ => {
                    return fail!(
                        hipErrorInvalidValue,
                        "{ptr:p} is device memory: it has no host address"
                    );
                }
            },
            // These three are `bool`, of one byte, in AMD's runtime and in programs for it.
            HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS => data
                .cast::<bool>()
                .write(memory.user_flags() & SYNC_MEMOPS != 0),
            HIP_POINTER_ATTRIBUTE_BUFFER_ID => data.cast::<u64>().write(memory.id()),
            HIP_POINTER_ATTRIBUTE_IS_MANAGED => data
                .cast::<bool>()
                .write(memory.kind() == MemoryKind::Managed),
            HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL => {
                data.cast::<i32>().write(memory.device().index() as i32)
            }
            HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR => {
                data.cast::<usize>().write(address_of(&memory))
            }
            HIP_POINTER_ATTRIBUTE_RANGE_SIZE => data.cast::<u32>().write(memory.size() as u32),
            HIP_POINTER_ATTRIBUTE_MAPPED => data.cast::<bool>().write(true),
            HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS => {
                data.cast::<u32>().write(hipMemAccessFlagsProtReadWrite)
            }
            HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => data
                .cast::<usize>()
                .write(crate::pool::handle_of(address_of(&memory))),
            _ => {
                return fail!(
                    hipErrorInvalidValue,
                    "pointer attribute {attribute} is not known or not supported"
                );
            }
        }
    }
    Ok(())
}

/// Sets an attribute of an allocation: whether synchronous copies inside the device wait for their end.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipPointerSetAttribute(
    value: *const c_void,
    attribute: hipPointer_attribute,
    ptr: hipDeviceptr_t,
) -> hipError_t {
    if value.is_null() || ptr.is_null() || attribute != HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS {
        return fail!(
            hipErrorInvalidValue,
            "no value, no pointer, or attribute {attribute} that can't be set: only HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS (6) can"
        );
    }
    let Some((memory, _)) = find(ptr)?.filter(|(memory, _)| memory.kind() == MemoryKind::Device)
    else {
        return fail!(
            hipErrorInvalidDevicePointer,
            "{ptr:p} is not in device memory"
        );
    };
    // SAFETY: not null; the caller promises an unsigned int.
    let wanted = unsafe { value.cast::<u32>().read() } != 0;
    let flags = memory.user_flags() & !SYNC_MEMOPS;
    memory.set_user_flags(if wanted { flags | SYNC_MEMOPS } else { flags });
    Ok(())
}

/// Tells one thing that HIP knows of a pointer. Since HIP 7 memory that HIP does not know is of the type `hipMemoryTypeUnregistered`.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipPointerGetAttribute(
    data: *mut c_void,
    attribute: hipPointer_attribute,
    ptr: hipDeviceptr_t,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { pointer_attribute(data, attribute, ptr) }
}

/// The device of memory that HIP does not know, as AMD's `hipDrvPointerGetAttributes` writes it.
const NO_DEVICE: i32 = -2;

/// Tells several things that HIP knows of a pointer; an attribute that a pointer does not have is null, the device -2.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDrvPointerGetAttributes(
    numAttributes: u32,
    attributes: *mut hipPointer_attribute,
    data: *mut *mut c_void,
    ptr: hipDeviceptr_t,
) -> hipError_t {
    if numAttributes == 0 || attributes.is_null() || data.is_null() || ptr.is_null() {
        return fail!(
            hipErrorInvalidValue,
            "no attributes, no places, or a null pointer"
        );
    }
    for index in 0..numAttributes as usize {
        // SAFETY: the caller promises `numAttributes` of both, and places that fit.
        unsafe {
            let (attribute, place) = (attributes.add(index).read(), data.add(index).read());
            if pointer_attribute(place, attribute, ptr).is_err() && !place.is_null() {
                match attribute {
                    HIP_POINTER_ATTRIBUTE_CONTEXT
                    | HIP_POINTER_ATTRIBUTE_DEVICE_POINTER
                    | HIP_POINTER_ATTRIBUTE_HOST_POINTER
                    | HIP_POINTER_ATTRIBUTE_BUFFER_ID
                    | HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR
                    | HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => place.cast::<u64>().write(0),
                    HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL => place.cast::<i32>().write(NO_DEVICE),
                    HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS
                    | HIP_POINTER_ATTRIBUTE_IS_MANAGED
                    | HIP_POINTER_ATTRIBUTE_MAPPED => place.cast::<bool>().write(false),
                    _ => place.cast::<u32>().write(0),
                }
            }
        }
    }
    Ok(())
}
