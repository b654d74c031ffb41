//! Memory and events for other processes.
//!
//! A memory handle is the HSA library's, with the size of the allocation, the offset of the pointer in it, and the process that made it:
//! opening it there is an error, as the memory would have two addresses. An event handle names the shared page of the event
//! ([`crate::shared_event`]). Handles of other processes are not trusted: what they name is checked before it is used.

use std::{collections::BTreeMap, ffi::c_void, sync::LazyLock};

use gneiss_clr::MemoryKind;
use gneiss_hip_abi_macros::hip_api;
use gneiss_hsa_api::{HSA_STATUS_SUCCESS, hsa_amd_ipc_memory_t};
use parking_lot::Mutex;

use crate::{
    capture,
    error::*,
    event, fail,
    runtime::{self, hip_error},
    shared_event::SharedEvent,
    types::*,
};

/// What a memory handle holds.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryHandle {
    /// The library's handle.
    handle: hsa_amd_ipc_memory_t,
    /// Bytes of the allocation.
    size: u64,
    /// Bytes from its start to the pointer.
    offset: u64,
    magic: u32,
    process: u32,
    /// Who the process is, apart from its number.
    maker: u64,
}

/// A number that no other process has, whatever PID namespace it is in; those that it forks have it too, under other process numbers.
pub(crate) fn process_token() -> u64 {
    static TOKEN: LazyLock<u64> = LazyLock::new(|| {
        let mut token = 0u64;
        // SAFETY: the buffer has the length that is given. Should there be no random numbers, process numbers have to do.
        unsafe { libc::getrandom((&raw mut token).cast(), size_of::<u64>(), 0) };
        token
    });
    *TOKEN
}

/// Whether a handle with these was made by this process.
pub(crate) fn is_own(process: u32, maker: u64) -> bool {
    process == std::process::id() && maker == process_token()
}

const MAGIC: u32 = 0x4850_4947;

const _: () = assert!(size_of::<MemoryHandle>() == size_of::<hipIpcMemHandle_t>());

/// Opened memory: the address that the program got, and the start of the mapping.
static OPENED: Mutex<BTreeMap<usize, Vec<usize>>> = Mutex::new(BTreeMap::new());

impl MemoryHandle {
    /// A handle of device memory.
    ///
    /// # Errors
    /// `hipErrorInvalidValue` for other memory.
    pub(crate) fn new(pointer: *const c_void) -> HipResult<Self> {
        let runtime = runtime::get()?;
        let found = runtime.clr.find_memory(pointer.addr());
        let Some((memory, offset)) =
            found.filter(|(memory, _)| memory.kind() == MemoryKind::Device)
        else {
            return fail!(
                hipErrorInvalidValue,
                "{pointer:p} is not in device memory of this process"
            );
        };
        let mut handle = hsa_amd_ipc_memory_t::default();
        // SAFETY: the allocation is live; the result has a valid place.
        let status = unsafe {
            (runtime.clr.hsa_api().hsa_amd_ipc_memory_create)(
                std::ptr::with_exposed_provenance_mut(memory.device_address() as usize),
                memory.size(),
                &raw mut handle,
            )
        };
        if status != HSA_STATUS_SUCCESS {
            return fail!(
                hipErrorInvalidValue,
                "hsa_amd_ipc_memory_create failed: {status}"
            );
        }
        Ok(MemoryHandle {
            handle,
            size: memory.size() as u64,
            offset: offset as u64,
            magic: MAGIC,
            process: std::process::id(),
            maker: process_token(),
        })
    }

    /// Opens it on the current device; gives the address.
    ///
    /// # Errors
    /// `hipErrorInvalidContext` in the process that made it, `hipErrorInvalidValue` for anything that is no handle.
    pub(crate) fn open(&self) -> HipResult<usize> {
        if self.magic != MAGIC || self.size == 0 || self.offset >= self.size {
            return fail!(hipErrorInvalidValue, "this is no memory handle");
        }
        if is_own(self.process, self.maker) {
            return fail!(
                hipErrorInvalidContext,
                "the memory handle is of this process: use the pointer itself"
            );
        }
        let device = runtime::current()?;
        let memory = runtime::get()?
            .clr
            .import_ipc(&device.clr, &self.handle, self.size as usize)
            .map_err(|error| {
                hip_error(error);
                hipErrorInvalidValue
            })?;
        let base = memory.device_address() as usize;
        let address = base + self.offset as usize;
        OPENED.lock().entry(address).or_default().push(base);
        Ok(address)
    }
}

/// Whether memory was opened at that address.
pub(crate) fn is_open(address: usize) -> bool {
    OPENED.lock().contains_key(&address)
}

/// Closes opened memory.
///
/// # Errors
/// `hipErrorInvalidValue` for an address that was not opened.
pub(crate) fn close(address: usize) -> HipResult {
    let base = {
        let mut opened = OPENED.lock();
        let base = opened.get_mut(&address).and_then(Vec::pop);
        opened.retain(|_, bases| !bases.is_empty());
        base
    };
    let Some(base) = base else {
        return fail!(
            hipErrorInvalidValue,
            "{address:#x} is not opened memory of another process"
        );
    };
    let runtime = runtime::get()?;
    runtime.synchronize();
    runtime.clr.free(base).map_err(hip_error)?;
    Ok(())
}

/// Makes a handle with which another process can open device memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipIpcGetMemHandle(
    handle: *mut hipIpcMemHandle_t,
    devPtr: *mut c_void,
) -> hipError_t {
    if handle.is_null() || devPtr.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    let made = MemoryHandle::new(devPtr)?;
    // SAFETY: not null; the caller promises a valid place of the same size.
    unsafe { handle.cast::<MemoryHandle>().write_unaligned(made) };
    Ok(())
}

/// Opens device memory of another process.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipIpcOpenMemHandle(
    devPtr: *mut *mut c_void,
    handle: hipIpcMemHandle_t,
    flags: u32,
) -> hipError_t {
    // The only flag is 0 in HIP 5 and 1 later.
    if devPtr.is_null() || flags > 1 {
        return fail!(
            hipErrorInvalidValue,
            "no place for the pointer, or flags {flags:#x} that are not hipIpcMemLazyEnablePeerAccess"
        );
    }
    capture::refuse_unsafe("hipIpcOpenMemHandle")?;
    // SAFETY: every bit pattern is a record; the sizes are the same.
    let handle = unsafe { (&raw const handle).cast::<MemoryHandle>().read_unaligned() };
    let address = handle.open()?;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { devPtr.write(std::ptr::with_exposed_provenance_mut(address)) };
    Ok(())
}

/// Closes memory of another process.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipIpcCloseMemHandle(devPtr: *mut c_void) -> hipError_t {
    if devPtr.is_null() {
        return fail!(hipErrorInvalidValue, "null pointer");
    }
    close(devPtr.addr())
}

/// Makes a handle with which another process can open an event.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipIpcGetEventHandle(
    handle: *mut hipIpcEventHandle_t,
    event: hipEvent_t,
) -> hipError_t {
    if handle.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the handle");
    }
    let event = event::find(event).map_err(|_| hipErrorInvalidValue)?;
    let Some(shared) = event.shared() else {
        return fail!(
            hipErrorInvalidConfiguration,
            "the event was made without hipEventInterprocess"
        );
    };
    // SAFETY: not null; the caller promises a valid place.
    unsafe { handle.write(shared.handle()) };
    Ok(())
}

/// Opens an event of another process.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipIpcOpenEventHandle(
    event: *mut hipEvent_t,
    handle: hipIpcEventHandle_t,
) -> hipError_t {
    if event.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the event");
    }
    let opened = event::open(SharedEvent::open(&handle)?)?;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { event.write(opened) };
    Ok(())
}
