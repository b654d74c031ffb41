//! `hipHostRegister` and `hipHostUnregister`: pinning the program's own memory.
//!
//! Programs register ranges that overlap, a range twice, or one that they freed without unregistering it and that the allocator gave out
//! again. AMD's runtime has an entry for each start (`ihipHostRegister` of ROCm/clr) and takes all of them, and so does this library. Memory
//! that HIP allocated is pinned as it is. The log names all of these as mistakes.

use std::{collections::BTreeMap, ffi::c_void, sync::Arc};

use gneiss_clr::{HostFlags, Memory, MemoryKind};
use gneiss_hip_abi_macros::hip_api;
use parking_lot::Mutex;

use crate::{
    enums::*,
    error::*,
    fail, host_range, log_error,
    runtime::{self, hip_error},
};

/// What is registered, by start: one range, or several of growing size.
static RANGES: Mutex<BTreeMap<usize, Vec<Arc<Memory>>>> = Mutex::new(BTreeMap::new());

fn flags_of(flags: u32) -> HipResult<HostFlags> {
    if flags & !0xf != 0 || flags & hipHostRegisterIoMemory != 0 {
        return fail!(
            hipErrorInvalidValue,
            "registration flags {flags:#x} are not all known"
        );
    }
    let mut host = HostFlags::MAPPED;
    host.set(HostFlags::PORTABLE, flags & hipHostRegisterPortable != 0);
    host.set(
        HostFlags::COHERENT,
        flags & hipExtHostRegisterCoarseGrained == 0,
    );
    Ok(host)
}

/// Pins the program's own memory. Memory that is registered already, or that HIP allocated, is no error, as in AMD's runtime; the log names it.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostRegister(
    hostPtr: *mut c_void,
    sizeBytes: usize,
    flags: u32,
) -> hipError_t {
    if hostPtr.is_null() || sizeBytes == 0 {
        return fail!(hipErrorInvalidValue, "nothing to register");
    }
    let flags = flags_of(flags)?;
    let (start, size) = (hostPtr.expose_provenance(), sizeBytes);
    host_range::check_mapped("range to register", start, size)?;
    let (device, runtime) = (runtime::current()?, runtime::get()?);
    let mut ranges = RANGES.lock();
    let known = runtime.clr.memory_in(start, size);
    let allocated = known
        .iter()
        .find(|memory| memory.kind() != MemoryKind::Registered);
    if let Some(memory) = allocated {
        let from = crate::memory::address_of(memory);
        if from <= start && start + size <= from + memory.size() {
            log_error!("{hostPtr:p} is in memory that HIP allocated: there is nothing to register");
            return Ok(());
        }
        return fail!(
            hipErrorHostMemoryAlreadyRegistered,
            "a part of the {size} bytes at {hostPtr:p} is memory that HIP allocated"
        );
    }
    if !known.is_empty() {
        log_error!(
            "of the {size} bytes at {hostPtr:p} some are registered already: hipHostUnregister did not end that"
        );
    }
    let same_start = ranges.entry(start).or_default();
    if same_start.iter().any(|memory| memory.size() >= size) {
        return Ok(());
    }
    // SAFETY: the caller of hipHostRegister promises that the range stays mapped until hipHostUnregister.
    let memory = unsafe {
        runtime
            .clr
            .register_host_again(&device.clr, start, size, flags)
    };
    match memory {
        Ok(memory) => {
            same_start.push(memory);
            Ok(())
        }
        Err(error) => {
            if same_start.is_empty() {
                ranges.remove(&start);
            }
            Err(hip_error(error))
        }
    }
}

/// Undoes `hipHostRegister`. Memory that HIP allocated stays what it is, and the log says so.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostUnregister(hostPtr: *mut c_void) -> hipError_t {
    if hostPtr.is_null() {
        return fail!(hipErrorInvalidValue, "null pointer");
    }
    let runtime = runtime::get()?;
    let device = RANGES
        .lock()
        .get(&hostPtr.addr())
        .and_then(|registered| Some(registered.first()?.device().clone()));
    if let Some(device) = device {
        // A failure of the device's work belongs to the next synchronising call, not to this one. The wait is outside of the lock.
        let _ = device.synchronize();
        let mut ranges = RANGES.lock();
        for memory in ranges.remove(&hostPtr.addr()).unwrap_or_default() {
            runtime.clr.unregister(&memory).map_err(hip_error)?;
        }
        return Ok(());
    }
    let allocated = runtime
        .clr
        .find_memory(hostPtr.addr())
        .is_some_and(|(memory, offset)| {
            offset == 0
                && matches!(
                    memory.kind(),
                    MemoryKind::Host | MemoryKind::Device | MemoryKind::Managed
                )
        });
    if !allocated {
        return fail!(
            hipErrorHostMemoryNotRegistered,
            "{hostPtr:p} is not the start of registered memory"
        );
    }
    log_error!(
        "{hostPtr:p} was allocated by HIP, not registered: it stays until it is freed (AMD's library frees it here)"
    );
    Ok(())
}
