//! Memory pools as objects: making and ending them, their attributes, access to them, other processes.

use std::{
    ffi::c_void,
    fs::File,
    os::{
        fd::{AsRawFd as _, FromRawFd as _, IntoRawFd as _, OwnedFd},
        unix::fs::FileExt as _,
    },
    sync::Arc,
};

use gneiss_hip_abi_macros::hip_api;

use crate::{
    enums::*,
    error::*,
    fail,
    ipc::MemoryHandle,
    pool::{POOLS, Pool, device_pools, find, owns},
    runtime,
    types::*,
};

fn give(place: *mut hipMemPool_t, handle: usize) -> HipResult {
    if place.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the pool");
    }
    // SAFETY: not null; the caller promises a valid place.
    unsafe { place.write(std::ptr::without_provenance_mut(handle)) };
    Ok(())
}

/// Gives a device's default pool.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetDefaultMemPool(
    mem_pool: *mut hipMemPool_t,
    device: i32,
) -> hipError_t {
    give(
        mem_pool,
        device_pools(runtime::device(device)?.ordinal)?.default,
    )
}

/// A device's ordinal; these calls have another error than most for a device that does not exist.
fn ordinal(device: i32) -> HipResult<usize> {
    runtime::device(device)
        .map(|device| device.ordinal)
        .map_err(|_| hipErrorInvalidValue)
}

/// Gives the pool that `hipMallocAsync` uses on a device.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetMemPool(
    mem_pool: *mut hipMemPool_t,
    device: i32,
) -> hipError_t {
    let ordinal = ordinal(device)?;
    let current = *device_pools(ordinal)?.current.lock();
    give(mem_pool, current)
}

/// Sets the pool that `hipMallocAsync` uses on a device.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceSetMemPool(device: i32, mem_pool: hipMemPool_t) -> hipError_t {
    let ordinal = ordinal(device)?;
    if find(mem_pool)?.device != ordinal {
        return fail!(hipErrorInvalidDevice, "the pool is of another device");
    }
    *device_pools(ordinal)?.current.lock() = mem_pool.addr();
    Ok(())
}

/// Creates a pool of pinned memory on a device.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemPoolCreate(
    mem_pool: *mut hipMemPool_t,
    pool_props: *const hipMemPoolProps,
) -> hipError_t {
    if mem_pool.is_null() || pool_props.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    // SAFETY: not null; the caller promises a valid record.
    let props = unsafe { pool_props.read() };
    if props.allocType != hipMemAllocationTypePinned
        || props.location.r#type != hipMemLocationTypeDevice
    {
        return fail!(hipErrorInvalidValue, "pools hold pinned memory of a device");
    }
    if !matches!(
        props.handleTypes,
        hipMemHandleTypeNone | hipMemHandleTypePosixFileDescriptor
    ) {
        return fail!(
            hipErrorInvalidValue,
            "pools can be exported as POSIX file descriptors only"
        );
    }
    let device = runtime::device(props.location.id).map_err(|_| hipErrorInvalidValue)?;
    match POOLS.insert(Arc::new(Pool {
        handle_types: props.handleTypes,
        ..Pool::new(device.ordinal, props.maxSize)
    })) {
        Some(handle) => give(mem_pool, handle),
        None => fail!(hipErrorOutOfMemory, "too many pools"),
    }
}

/// Ends a pool that `hipMemPoolCreate` made.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemPoolDestroy(mem_pool: hipMemPool_t) -> hipError_t {
    let pool = find(mem_pool)?;
    let pools = device_pools(pool.device)?;
    if pools.default == mem_pool.addr() {
        return fail!(hipErrorInvalidValue, "a default pool can't be destroyed");
    }
    {
        let mut current = pools.current.lock();
        if *current == mem_pool.addr() {
            *current = pools.default;
        }
    }
    let _ = runtime::device(pool.device as i32)?.clr.synchronize();
    pool.trim(0);
    POOLS.remove(mem_pool.addr());
    Ok(())
}

/// Gives ended blocks back until the pool holds no more than that many bytes.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemPoolTrimTo(
    mem_pool: hipMemPool_t,
    min_bytes_to_hold: usize,
) -> hipError_t {
    find(mem_pool)?.trim(min_bytes_to_hold as u64);
    Ok(())
}

/// Sets an attribute of a pool; the value is an `int` for the reuse attributes, else 64 bits.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemPoolSetAttribute(
    mem_pool: hipMemPool_t,
    attr: hipMemPoolAttr,
    value: *mut c_void,
) -> hipError_t {
    let pool = find(mem_pool)?;
    if value.is_null() {
        return fail!(hipErrorInvalidValue, "no value");
    }
    let mut state = pool.state.lock();
    // SAFETY: not null; the caller promises a value of the attribute's type.
    let (flag, number) = unsafe {
        match attr {
            hipMemPoolReuseFollowEventDependencies..=hipMemPoolReuseAllowInternalDependencies => {
                (value.cast::<i32>().read() != 0, 0)
            }
            _ => (false, value.cast::<u64>().read()),
        }
    };
    match attr {
        hipMemPoolReuseFollowEventDependencies..=hipMemPoolReuseAllowInternalDependencies => {
            state.reuse[attr as usize - 1] = flag
        }
        hipMemPoolAttrReleaseThreshold => state.release_threshold = number,
        hipMemPoolAttrReservedMemHigh if number == 0 => state.reserved_high = state.reserved_bytes,
        hipMemPoolAttrUsedMemHigh if number == 0 => state.used_high = state.used_bytes,
        _ => {
            return fail!(
                hipErrorInvalidValue,
                "pool attribute {attr} can't be set to that"
            );
        }
    }
    Ok(())
}

/// Reads an attribute of a pool.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemPoolGetAttribute(
    mem_pool: hipMemPool_t,
    attr: hipMemPoolAttr,
    value: *mut c_void,
) -> hipError_t {
    let pool = find(mem_pool)?;
    if value.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the value");
    }
    let state = pool.state.lock();
    let number = match attr {
        hipMemPoolReuseFollowEventDependencies..=hipMemPoolReuseAllowInternalDependencies => {
            // SAFETY: not null; the caller promises a place for an int.
            unsafe {
                value
                    .cast::<i32>()
                    .write(i32::from(state.reuse[attr as usize - 1]))
            };
            return Ok(());
        }
        hipMemPoolAttrReleaseThreshold => state.release_threshold,
        hipMemPoolAttrReservedMemCurrent => state.reserved_bytes,
        hipMemPoolAttrReservedMemHigh => state.reserved_high,
        hipMemPoolAttrUsedMemCurrent => state.used_bytes,
        hipMemPoolAttrUsedMemHigh => state.used_high,
        _ => return fail!(hipErrorInvalidValue, "pool attribute {attr} does not exist"),
    };
    // SAFETY: not null; the caller promises a place for 64 bits.
    unsafe { value.cast::<u64>().write(number) };
    Ok(())
}

/// Lets devices access a pool's memory. Taking access away again is not supported, and the owner always keeps its own.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemPoolSetAccess(
    mem_pool: hipMemPool_t,
    desc_list: *const hipMemAccessDesc,
    count: usize,
) -> hipError_t {
    let pool = find(mem_pool)?;
    if desc_list.is_null() || count == 0 || count > 1024 {
        return fail!(hipErrorInvalidValue, "no descriptions");
    }
    let devices = runtime::get()?.devices.len();
    if count > devices {
        return fail!(
            hipErrorInvalidDevice,
            "{count} descriptions for {devices} devices"
        );
    }
    // SAFETY: not null; the caller promises `count` records.
    for desc in unsafe { std::slice::from_raw_parts(desc_list, count) } {
        if desc.location.r#type != hipMemLocationTypeDevice {
            return fail!(hipErrorInvalidValue, "the location is not a device");
        }
        let device = runtime::device(desc.location.id).map_err(|_| hipErrorInvalidDevice)?;
        match desc.flags {
            // All memory of the pool's device, so that what the pool gets later is among it.
            hipMemAccessFlagsProtReadWrite if device.ordinal != pool.device => {
                let owner = runtime::device(pool.device as i32)?;
                device
                    .clr
                    .set_peer_access(&owner.clr, true)
                    .map_err(runtime::hip_error)?;
                let mut state = pool.state.lock();
                if !state.visitors.contains(&device.ordinal) {
                    state.visitors.push(device.ordinal);
                }
            }
            hipMemAccessFlagsProtReadWrite => {}
            hipMemAccessFlagsProtNone | hipMemAccessFlagsProtRead
                if device.ordinal == pool.device =>
            {
                return fail!(
                    hipErrorInvalidDevice,
                    "a pool's own device keeps its access"
                );
            }
            hipMemAccessFlagsProtNone | hipMemAccessFlagsProtRead => {
                return fail!(
                    hipErrorNotSupported,
                    "access {} of a peer to a pool is not supported yet",
                    desc.flags
                );
            }
            other => return fail!(hipErrorInvalidValue, "access {other} does not exist"),
        }
    }
    Ok(())
}

/// Tells what access a device has to a pool's memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemPoolGetAccess(
    flags: *mut hipMemAccessFlags,
    mem_pool: hipMemPool_t,
    location: *mut hipMemLocation,
) -> hipError_t {
    let pool = find(mem_pool)?;
    if flags.is_null() || location.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    // SAFETY: not null; the caller promises a valid record.
    let location = unsafe { location.read() };
    if location.r#type != hipMemLocationTypeDevice {
        return fail!(hipErrorInvalidValue, "the location is not a device");
    }
    let device = runtime::device(location.id).map_err(|_| hipErrorInvalidValue)?;
    let allowed =
        device.ordinal == pool.device || pool.state.lock().visitors.contains(&device.ordinal);
    let access = if allowed {
        hipMemAccessFlagsProtReadWrite
    } else {
        hipMemAccessFlagsProtNone
    };
    // SAFETY: not null; the caller promises a valid place.
    unsafe { flags.write(access) };
    Ok(())
}

/// A block of a pool for another process: a memory handle in 64 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipMemPoolPtrExportData {
    /// Bytes without meaning to the caller.
    pub reserved: [u8; 64],
}

/// What the file of an exported pool holds.
const POOL_FILE: &[u8; 16] = b"gneiss pool 1 \0\0";

/// Gives a file descriptor that another process can open a pool by.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemPoolExportToShareableHandle(
    shared_handle: *mut c_void,
    mem_pool: hipMemPool_t,
    handle_type: hipMemAllocationHandleType,
    flags: u32,
) -> hipError_t {
    if shared_handle.is_null() || flags != 0 {
        return fail!(
            hipErrorInvalidValue,
            "no place for the descriptor, or flags {flags:#x} that are not 0"
        );
    }
    let pool = find(mem_pool)?;
    if handle_type != hipMemHandleTypePosixFileDescriptor || pool.handle_types != handle_type {
        return fail!(
            hipErrorInvalidValue,
            "handle type {handle_type}: the pool was made for {}",
            pool.handle_types
        );
    }
    // SAFETY: the name is terminated; the result is checked.
    let descriptor = unsafe { libc::memfd_create(c"gneiss-pool".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return fail!(
            hipErrorOutOfMemory,
            "memfd_create: {}",
            std::io::Error::last_os_error()
        );
    }
    // SAFETY: just opened, and owned by nobody else.
    let file = File::from(unsafe { OwnedFd::from_raw_fd(descriptor) });
    if let Err(error) = file.write_all_at(POOL_FILE, 0) {
        return fail!(hipErrorOutOfMemory, "the pool's file: {error}");
    }
    // SAFETY: not null; the caller promises a place for a descriptor, and closes it.
    unsafe { shared_handle.cast::<i32>().write(file.into_raw_fd()) };
    Ok(())
}

/// Opens a pool of another process by its file descriptor.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemPoolImportFromShareableHandle(
    mem_pool: *mut hipMemPool_t,
    shared_handle: *mut c_void,
    handle_type: hipMemAllocationHandleType,
    flags: u32,
) -> hipError_t {
    if mem_pool.is_null()
        || shared_handle.is_null()
        || handle_type != hipMemHandleTypePosixFileDescriptor
        || flags != 0
    {
        return fail!(
            hipErrorInvalidValue,
            "a null pointer, handle type {handle_type} that is no POSIX file descriptor (1), or flags {flags:#x} that are not 0"
        );
    }
    // As AMD's code takes it, and CUDA's: the descriptor itself in place of the pointer. Programs leave anything above its 32 bits.
    let descriptor = shared_handle.addr() as i32;
    let mut found = [0; POOL_FILE.len()];
    // SAFETY: the descriptor is the caller's; it is only read, and not closed here.
    let file = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
    if descriptor < 0 || file.read_exact_at(&mut found, 0).is_err() || &found != POOL_FILE {
        return fail!(
            hipErrorInvalidValue,
            "descriptor {} is not of a pool",
            file.as_raw_fd()
        );
    }
    let pool = Pool {
        imported: true,
        ..Pool::new(runtime::current()?.ordinal, 0)
    };
    match POOLS.insert(Arc::new(pool)) {
        Some(handle) => give(mem_pool, handle),
        None => fail!(hipErrorOutOfMemory, "too many pools"),
    }
}

/// Makes a record with which another process can open a block of a pool.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemPoolExportPointer(
    export_data: *mut hipMemPoolPtrExportData,
    dev_ptr: *mut c_void,
) -> hipError_t {
    if export_data.is_null() || !owns(dev_ptr.addr()) {
        return fail!(
            hipErrorInvalidValue,
            "no place for the record, or {dev_ptr:p} is no block of a pool"
        );
    }
    let handle = MemoryHandle::new(dev_ptr)?;
    // SAFETY: not null; the caller promises a valid place of the same size.
    unsafe { export_data.cast::<MemoryHandle>().write_unaligned(handle) };
    Ok(())
}

/// Opens a block of a pool of another process; `hipFree` and `hipFreeAsync` close it.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemPoolImportPointer(
    dev_ptr: *mut *mut c_void,
    mem_pool: hipMemPool_t,
    export_data: *mut hipMemPoolPtrExportData,
) -> hipError_t {
    if dev_ptr.is_null() || export_data.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    if !find(mem_pool)?.imported {
        return fail!(hipErrorInvalidValue, "the pool is of this process");
    }
    // SAFETY: not null; the caller promises a valid record of the same size; every bit pattern is one.
    let handle = unsafe { export_data.cast::<MemoryHandle>().read_unaligned() };
    let address = handle.open()?;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { dev_ptr.write(std::ptr::with_exposed_provenance_mut(address)) };
    Ok(())
}

/// The device of a place; pools are of devices.
fn place(location: *const hipMemLocation, kind: hipMemAllocationType) -> HipResult<usize> {
    if location.is_null() || kind != hipMemAllocationTypePinned {
        return fail!(
            hipErrorInvalidValue,
            "no place, or memory of another kind than pinned"
        );
    }
    // SAFETY: not null; the callers of the C functions promise a valid record.
    let location = unsafe { location.read() };
    if location.r#type != hipMemLocationTypeDevice {
        return fail!(hipErrorInvalidValue, "pools hold memory of a device");
    }
    Ok(runtime::device(location.id)
        .map_err(|_| hipErrorInvalidValue)?
        .ordinal)
}

/// Gives the default pool of a place.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemGetDefaultMemPool(
    memPool: *mut hipMemPool_t,
    location: *mut hipMemLocation,
    r#type: hipMemAllocationType,
) -> hipError_t {
    give(memPool, device_pools(place(location, r#type)?)?.default)
}

/// Gives the pool that `hipMallocAsync` uses in a place.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemGetMemPool(
    memPool: *mut hipMemPool_t,
    location: *mut hipMemLocation,
    r#type: hipMemAllocationType,
) -> hipError_t {
    let current = *device_pools(place(location, r#type)?)?.current.lock();
    give(memPool, current)
}

/// Sets the pool that `hipMallocAsync` uses in a place.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemSetMemPool(
    location: *mut hipMemLocation,
    r#type: hipMemAllocationType,
    pool: hipMemPool_t,
) -> hipError_t {
    let ordinal = place(location, r#type)?;
    if find(pool)?.device != ordinal {
        return fail!(hipErrorInvalidDevice, "the pool is of another device");
    }
    *device_pools(ordinal)?.current.lock() = pool.addr();
    Ok(())
}
