//! Allocations of virtual memory management between processes, by file descriptor.

use std::ffi::c_void;

use gneiss_hip_abi_macros::hip_api;
use gneiss_hsa_api::hsa_amd_vmem_alloc_handle_t;

use crate::{
    enums::*,
    error::*,
    fail, runtime,
    virtual_memory::{Allocation, api, check, find, give, hipMemGenericAllocationHandle_t, need},
};

fn descriptor_only(kind: hipMemAllocationHandleType, flags: u64) -> HipResult {
    if kind != hipMemHandleTypePosixFileDescriptor || flags != 0 {
        return fail!(
            hipErrorInvalidValue,
            "handle type {kind} with flags {flags:#x}: must be a POSIX file descriptor (1) and 0"
        );
    }
    Ok(())
}

/// Gives a file descriptor that other processes can import an allocation by.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemExportToShareableHandle(
    shareableHandle: *mut c_void,
    handle: hipMemGenericAllocationHandle_t,
    handleType: hipMemAllocationHandleType,
    flags: u64,
) -> hipError_t {
    if shareableHandle.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the descriptor");
    }
    descriptor_only(handleType, flags)?;
    let allocation = find(handle)?;
    let mut descriptor = -1;
    // SAFETY: the handle is live, the place is valid.
    let status = unsafe {
        (need(
            "hsa_amd_vmem_export_shareable_handle",
            api()?.hsa_amd_vmem_export_shareable_handle,
        )?)(&raw mut descriptor, allocation.handle, 0)
    };
    check("hsa_amd_vmem_export_shareable_handle", status)?;
    // SAFETY: not null; the caller promises a place for a descriptor.
    unsafe { shareableHandle.cast::<i32>().write(descriptor) };
    Ok(())
}

/// Opens an allocation of another process by its file descriptor.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemImportFromShareableHandle(
    handle: *mut hipMemGenericAllocationHandle_t,
    osHandle: *mut c_void,
    shHandleType: hipMemAllocationHandleType,
) -> hipError_t {
    if handle.is_null() || osHandle.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    descriptor_only(shHandleType, 0)?;
    // SAFETY: not null; AMD's interface passes the address of the descriptor.
    let descriptor = unsafe { osHandle.cast::<i32>().read() };
    // SAFETY: a zeroed record is valid; the call only fills it.
    let size = unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        if libc::fstat(descriptor, &raw mut status) != 0 {
            return fail!(
                hipErrorInvalidValue,
                "{descriptor} is not an open file descriptor"
            );
        }
        usize::try_from(status.st_size).unwrap_or(0)
    };
    let mut made = hsa_amd_vmem_alloc_handle_t::default();
    // SAFETY: the place is valid; the library checks the descriptor.
    let status = unsafe {
        (need(
            "hsa_amd_vmem_import_shareable_handle",
            api()?.hsa_amd_vmem_import_shareable_handle,
        )?)(descriptor, &raw mut made)
    };
    check("hsa_amd_vmem_import_shareable_handle", status)?;
    let allocation = Allocation {
        handle: made,
        size,
        device: runtime::current()?.ordinal,
        handle_type: hipMemHandleTypePosixFileDescriptor,
        flags: 0,
    };
    // SAFETY: not null; the caller promises a valid place.
    unsafe { give(handle, allocation) }
}
