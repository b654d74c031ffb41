//! Memory: device, pinned host, managed and registered allocations, and what HIP knows of a pointer.

use std::{ffi::c_void, sync::Arc};

use gneiss_clr::{HostFlags, Memory, MemoryKind};
use gneiss_hip_abi_macros::hip_api;

use crate::{
    capture,
    enums::*,
    error::*,
    fail, graph, log_error,
    runtime::{self, hip_error},
    types::*,
    version::MemoryType,
};

/// Writes an address to a caller's place.
fn give(place: *mut *mut c_void, address: usize) {
    // SAFETY: callers have checked that it is not null; the C caller promises a valid place. Device addresses are exposed ones.
    unsafe { place.write(std::ptr::with_exposed_provenance_mut(address)) };
}

/// The address that a program gets for an allocation.
pub(crate) fn address_of(memory: &Memory) -> usize {
    match memory.kind() {
        MemoryKind::Host | MemoryKind::Managed | MemoryKind::Registered => memory
            .host_address()
            .unwrap_or(memory.device_address() as usize),
        MemoryKind::Device | MemoryKind::Signal | MemoryKind::Ipc | MemoryKind::Mapped => {
            memory.device_address() as usize
        }
    }
}

/// Allocates device memory; no bytes give a null pointer.
pub(crate) fn allocate(place: *mut *mut c_void, size: usize, fine_grained: bool) -> HipResult {
    if place.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the pointer");
    }
    capture::refuse_unsafe("an allocation")?;
    if size == 0 {
        give(place, 0);
        return Ok(());
    }
    let device = runtime::current()?;
    let memory = runtime::get()?
        .clr
        .allocate_device(&device.clr, size, fine_grained)
        .map_err(hip_error)?;
    if fine_grained {
        memory.set_user_flags(hipDeviceMallocFinegrained);
    }
    give(place, address_of(&memory));
    Ok(())
}

/// The flags of `hipHostMalloc` that mean something.
const HOST_FLAGS: u32 = hipHostMallocPortable
    | hipHostMallocMapped
    | hipHostMallocWriteCombined
    | hipHostMallocNumaUser
    | hipHostMallocCoherent
    | hipHostMallocNonCoherent
    | hipHostMallocUncached;

/// Flags that are not known mean nothing, as in AMD's runtime (`ihipHostMalloc` of ROCm/clr).
fn host_flags(flags: u32) -> HipResult<HostFlags> {
    if flags & !HOST_FLAGS != 0 {
        log_error!("host allocation flags {flags:#x} are not all known: the others do not count");
    }
    if flags & hipHostMallocCoherent != 0 && flags & hipHostMallocNonCoherent != 0 {
        return fail!(
            hipErrorInvalidValue,
            "host memory can't be coherent and non-coherent"
        );
    }
    let mut result = HostFlags::MAPPED;
    result.set(HostFlags::COHERENT, flags & hipHostMallocNonCoherent == 0);
    result.set(HostFlags::PORTABLE, flags & hipHostMallocPortable != 0);
    result.set(
        HostFlags::WRITE_COMBINED,
        flags & hipHostMallocWriteCombined != 0,
    );
    Ok(result)
}

fn allocate_host(place: *mut *mut c_void, size: usize, flags: u32) -> HipResult {
    if place.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the pointer");
    }
    let asked = flags;
    let flags = host_flags(flags)?;
    capture::refuse_unsafe("an allocation")?;
    if size == 0 {
        give(place, 0);
        return Ok(());
    }
    let device = runtime::current()?;
    let memory = runtime::get()?
        .clr
        .allocate_host(&device.clr, size, flags)
        .map_err(hip_error)?;
    memory.set_user_flags(asked);
    give(place, address_of(&memory));
    Ok(())
}

/// The start of the allocation that holds an address, for the calls that free it: as in AMD's runtime (`ihipFree` and `Device::svmFree` of
/// ROCm/clr) an address inside of it frees all of it. The log names the mistake.
pub(crate) fn start_to_free(address: usize) -> HipResult<usize> {
    match runtime::get()?.clr.find_memory(address) {
        Some((memory, offset)) if offset != 0 && is_freed_here(memory.kind()) => {
            log_error!(
                "{address:#x} is {offset} bytes into an allocation of {} bytes: all of it is freed",
                memory.size()
            );
            Ok(address - offset)
        }
        _ => Ok(address),
    }
}

/// Whether `hipFree` and its like end an allocation: what other calls make, others end.
fn is_freed_here(kind: MemoryKind) -> bool {
    match kind {
        MemoryKind::Registered | MemoryKind::Ipc | MemoryKind::Mapped => false,
        MemoryKind::Host | MemoryKind::Device | MemoryKind::Managed | MemoryKind::Signal => true,
    }
}

/// Frees what an allocation function of HIP gave, after the work of its device has ended. Which of them is the same to AMD's runtime: the
/// log names a call that is meant for other memory.
pub(crate) fn free(address: *mut c_void, host: bool) -> HipResult {
    if address.is_null() {
        return Ok(());
    }
    if let Some(freed) = graph::allocation::free(address.addr()) {
        return freed;
    }
    if crate::external_memory::free(address.addr()).is_some() {
        return Ok(());
    }
    let runtime = runtime::get()?;
    let Some((memory, offset)) = runtime.clr.find_memory(address.addr()) else {
        return fail!(
            hipErrorInvalidValue,
            "{address:p} was not allocated by HIP, or is freed"
        );
    };
    if memory.kind() == MemoryKind::Ipc && crate::ipc::is_open(address.addr()) {
        return crate::ipc::close(address.addr());
    }
    if !is_freed_here(memory.kind()) {
        return fail!(
            hipErrorInvalidValue,
            "{address:p} is not in an allocation that this call frees"
        );
    }
    if offset != 0 {
        let start = start_to_free(address.addr())?;
        return free(std::ptr::without_provenance_mut(start), host);
    }
    if crate::pool::holds_freed(address.addr()) {
        return fail!(hipErrorInvalidValue, "{address:p} is freed already");
    }
    if host && memory.kind() != MemoryKind::Host {
        log_error!(
            "{address:p} is {:?} memory, not host memory: it is freed all the same",
            memory.kind()
        );
    }
    if crate::pool::owns(address.addr()) {
        return crate::pool::free_now(address.addr());
    }
    // A failure of the device's work belongs to the next synchronising call, not to this one.
    let _ = memory.device().synchronize();
    runtime.clr.free(address.addr()).map_err(hip_error)?;
    Ok(())
}

/// The allocation that holds an address, and the offset in it.
pub fn find(address: *const c_void) -> HipResult<Option<(Arc<Memory>, usize)>> {
    Ok(runtime::get()?.clr.find_memory(address.addr()))
}

/// Allocates device memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMalloc(ptr: *mut *mut c_void, size: usize) -> hipError_t {
    allocate(ptr, size, false)
}

/// Allocates device memory: fine-grained, or for stream value operations.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipExtMallocWithFlags(
    ptr: *mut *mut c_void,
    sizeBytes: usize,
    flags: u32,
) -> hipError_t {
    match flags {
        // There are no caches.
        hipDeviceMallocDefault | hipDeviceMallocUncached => allocate(ptr, sizeBytes, false),
        hipDeviceMallocFinegrained => allocate(ptr, sizeBytes, true),
        hipMallocSignalMemory => {
            if ptr.is_null() || sizeBytes != 8 {
                return fail!(
                    hipErrorInvalidValue,
                    "signal memory is 8 bytes, not {sizeBytes}"
                );
            }
            let device = runtime::current()?;
            let memory = runtime::get()?
                .clr
                .allocate_signal(&device.clr)
                .map_err(hip_error)?;
            give(ptr, address_of(&memory));
            Ok(())
        }
        _ => fail!(
            hipErrorInvalidValue,
            "device allocation flags {flags:#x} are not known"
        ),
    }
}

/// Allocates pinned host memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostMalloc(
    ptr: *mut *mut c_void,
    size: usize,
    flags: u32,
) -> hipError_t {
    allocate_host(ptr, size, flags)
}

/// Allocates pinned host memory (as `hipHostMalloc`).
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipExtHostAlloc(
    ptr: *mut *mut c_void,
    sizeBytes: usize,
    flags: u32,
) -> hipError_t {
    allocate_host(ptr, sizeBytes, flags)
}

/// Allocates pinned host memory, as `hipHostMalloc`, which ignores flags that it does not know; this one refuses them.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostAlloc(
    ptr: *mut *mut c_void,
    size: usize,
    flags: u32,
) -> hipError_t {
    if flags & !HOST_FLAGS != 0 {
        return fail!(
            hipErrorInvalidValue,
            "host allocation flags {flags:#x} are not all known"
        );
    }
    allocate_host(ptr, size, flags)
}

/// Allocates pinned host memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMallocHost(ptr: *mut *mut c_void, size: usize) -> hipError_t {
    allocate_host(ptr, size, hipHostMallocDefault)
}

/// Allocates pinned host memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemAllocHost(ptr: *mut *mut c_void, size: usize) -> hipError_t {
    allocate_host(ptr, size, hipHostMallocDefault)
}

/// Frees device or host memory after the device's work has ended. Null is no error, and as in AMD's runtime an address inside an allocation
/// frees all of it, which the log names as a mistake.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFree(ptr: *mut c_void) -> hipError_t {
    free(ptr, false)
}

/// Frees pinned host memory after the device's work has ended. As in AMD's runtime it frees what `hipFree` does, too; the log names that.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostFree(ptr: *mut c_void) -> hipError_t {
    free(ptr, true)
}

/// Frees pinned host memory after the device's work has ended (as `hipHostFree`).
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFreeHost(ptr: *mut c_void) -> hipError_t {
    free(ptr, true)
}

/// Gives the device address of pinned host memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostGetDevicePointer(
    devPtr: *mut *mut c_void,
    hstPtr: *mut c_void,
    flags: u32,
) -> hipError_t {
    if devPtr.is_null() || hstPtr.is_null() || flags != 0 {
        return fail!(
            hipErrorInvalidValue,
            "a null pointer, or flags {flags:#x} that are not 0"
        );
    }
    match find(hstPtr)? {
        Some((memory, offset)) => {
            give(devPtr, memory.device_address() as usize + offset);
            Ok(())
        }
        None => fail!(hipErrorInvalidValue, "{hstPtr:p} is not pinned host memory"),
    }
}

/// Gives the flags that pinned host memory was allocated with.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostGetFlags(flagsPtr: *mut u32, hostPtr: *mut c_void) -> hipError_t {
    if flagsPtr.is_null() || hostPtr.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    match find(hostPtr)? {
        Some((memory, _)) if memory.kind() == MemoryKind::Host => {
            // SAFETY: not null; the caller promises a valid place.
            unsafe { flagsPtr.write(allocation_flags(&memory)) };
            Ok(())
        }
        _ => fail!(
            hipErrorInvalidValue,
            "{hostPtr:p} is not pinned host memory"
        ),
    }
}

/// Bit among the flags kept with an allocation: synchronous copies inside the device wait for their end.
pub(crate) const SYNC_MEMOPS: u32 = 1 << 27;

pub(crate) fn allocation_flags(memory: &Memory) -> u32 {
    // Host memory has the flags that the program gave, as AMD's runtime keeps them.
    let mut flags = memory.user_flags() & !SYNC_MEMOPS;
    match memory.kind() {
        MemoryKind::Managed => flags = hipMemAttachGlobal,
        MemoryKind::Signal => flags = hipMallocSignalMemory,
        MemoryKind::Host
        | MemoryKind::Device
        | MemoryKind::Registered
        | MemoryKind::Ipc
        | MemoryKind::Mapped => {}
    }
    flags
}

/// The meaning of an allocation as `hipMemoryType`.
pub(crate) fn memory_type(memory: &Memory) -> MemoryType {
    match memory.kind() {
        MemoryKind::Host | MemoryKind::Registered => MemoryType::Host,
        MemoryKind::Managed => MemoryType::Managed,
        MemoryKind::Device | MemoryKind::Signal | MemoryKind::Ipc | MemoryKind::Mapped => {
            MemoryType::Device
        }
    }
}

/// Allocates managed memory: one address for the host and all devices.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMallocManaged(
    dev_ptr: *mut *mut c_void,
    size: usize,
    flags: u32,
) -> hipError_t {
    if dev_ptr.is_null() || size == 0 {
        return fail!(
            hipErrorInvalidValue,
            "no place for the pointer, or no bytes"
        );
    }
    if flags != hipMemAttachGlobal && flags != hipMemAttachHost {
        return fail!(
            hipErrorInvalidValue,
            "managed memory flags {flags:#x}: must be hipMemAttachGlobal or hipMemAttachHost"
        );
    }
    let device = runtime::current()?;
    // Managed memory lies in host memory, but AMD's runtime gives no more of it at once than the device has.
    let (_, total) = device.clr.memory_info();
    if size > total {
        return fail!(
            hipErrorOutOfMemory,
            "{size} bytes of managed memory are more than the device's {total}"
        );
    }
    let memory = runtime::get()?
        .clr
        .allocate_managed(&device.clr, size)
        .map_err(hip_error)?;
    give(dev_ptr, address_of(&memory));
    Ok(())
}

/// Gives free and total memory of the current device, wherever there is a place for it; `HIP_HIDDEN_FREE_MEM` says how much does not count as
/// free.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> hipError_t {
    if free.is_null() && total.is_null() {
        return Ok(());
    }
    crate::pool::trim_all();
    let (free_bytes, total_bytes) = runtime::current()?.clr.memory_info();
    let hidden = runtime::get()?.clr.config().hidden_memory;
    for (place, value) in [
        (free, free_bytes.saturating_sub(hidden)),
        (total, total_bytes),
    ] {
        if !place.is_null() {
            // SAFETY: not null; the caller promises a valid place.
            unsafe { place.write(value) };
        }
    }
    Ok(())
}

/// Gives the size of the allocation that starts at a pointer.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemPtrGetInfo(ptr: *mut c_void, size: *mut usize) -> hipError_t {
    if ptr.is_null() || size.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    match find(ptr)? {
        Some((memory, _)) => {
            // SAFETY: not null; the caller promises a valid place.
            unsafe { size.write(memory.size()) };
            Ok(())
        }
        None => fail!(
            hipErrorInvalidValue,
            "{ptr:p} is not in an allocation of HIP"
        ),
    }
}

/// Gives start and size of the allocation that holds an address.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemGetAddressRange(
    pbase: *mut hipDeviceptr_t,
    psize: *mut usize,
    dptr: hipDeviceptr_t,
) -> hipError_t {
    let (base, size) = match find(dptr)? {
        Some((memory, _)) => (address_of(&memory), memory.size()),
        None => match crate::variable::find(dptr.addr()) {
            Some(variable) => (variable.base, variable.size),
            None => return fail!(hipErrorNotFound, "{dptr:p} is not in memory of HIP"),
        },
    };
    if !pbase.is_null() {
        give(pbase, base);
    }
    if !psize.is_null() {
        // SAFETY: not null; the caller promises a valid place.
        unsafe { psize.write(size) };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_memory_is_coherent_unless_asked() {
        assert!(
            host_flags(hipHostMallocDefault)
                .unwrap()
                .contains(HostFlags::COHERENT)
        );
        assert!(
            !host_flags(hipHostMallocNonCoherent)
                .unwrap()
                .contains(HostFlags::COHERENT)
        );
        assert_eq!(
            host_flags(hipHostMallocCoherent | hipHostMallocNonCoherent),
            Err(hipErrorInvalidValue)
        );
        // Flags that are not known do not count.
        assert_eq!(host_flags(0x100), host_flags(hipHostMallocDefault));
    }
}
