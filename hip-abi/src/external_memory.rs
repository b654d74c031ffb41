//! Memory of other interfaces and processes, by file descriptor.
//!
//! Descriptors that this runtime has exported (`hipMemExportToShareableHandle`, `hipMemGetHandleForAddressRange`) become device memory
//! again, through the HSA library. Any other one that can be mapped shared, as software Vulkan drivers export, is mapped here and pinned: host memory
//! under an address for devices. The program keeps its descriptor, and closes it.
//!
//! Semaphores of other interfaces do not exist here, as they do not on AMD's HSA runtime: those calls answer `hipErrorNotSupported`.

use std::{
    collections::BTreeMap,
    ffi::c_void,
    fs::File,
    os::fd::{BorrowedFd, RawFd},
    sync::Arc,
};

use gneiss_clr::HostFlags;
use gneiss_hip_abi_macros::hip_api;
use gneiss_hsa_api::HSA_STATUS_SUCCESS;
use memmap2::{MmapOptions, MmapRaw};
use parking_lot::Mutex;

use crate::{
    error::*,
    fail,
    handle::{Kind, Table},
    runtime::{self, Device, hip_error},
    virtual_memory::need,
};

/// A handle of imported memory.
pub type hipExternalMemory_t = *mut c_void;

/// What to import. HIP 6 has reserved words behind this.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipExternalMemoryHandleDesc {
    /// Sort of handle: 1 is a file descriptor, 2 to 7 are handles of Windows.
    pub r#type: u32,
    /// The descriptor in its low half, or the handle of Windows.
    pub handle: *mut c_void,
    /// Name of the handle of Windows.
    pub name: *const c_void,
    /// Bytes.
    pub size: u64,
    /// 1: the memory belongs to one resource.
    pub flags: u32,
}

/// The part of imported memory to get an address of. HIP 6 has reserved words behind this.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipExternalMemoryBufferDesc {
    /// Bytes from its start.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// Must be 0.
    pub flags: u32,
}

const _: () = {
    assert!(size_of::<hipExternalMemoryHandleDesc>() == 40);
    assert!(size_of::<hipExternalMemoryBufferDesc>() == 24);
};

const OPAQUE_FD: u32 = 1;
const LAST_TYPE: u32 = 7;
const DEDICATED: u32 = 1;

/// How the memory is there.
#[derive(Debug)]
enum Backing {
    /// Device memory that the HSA library has mapped.
    Library,
    /// A mapping of our own, pinned.
    Mapped(MmapRaw),
}

/// Imported memory; it ends with its handle and the last address that was given.
#[derive(Debug)]
struct External {
    /// Where devices find it.
    address: usize,
    size: usize,
    backing: Backing,
}

static EXTERNALS: Table<External> = Table::new(Kind::ExternalMemory);

/// Addresses that programs were given, with how often.
static BUFFERS: Mutex<BTreeMap<usize, (Arc<External>, usize)>> = Mutex::new(BTreeMap::new());

impl External {
    fn import(device: &Device, descriptor: RawFd, size: usize) -> HipResult<Self> {
        match Self::from_library(device, descriptor, size)? {
            Some(external) => Ok(external),
            None => Self::map(device, descriptor, size),
        }
    }

    /// Memory that an HSA runtime has exported; `None` for other descriptors.
    fn from_library(device: &Device, descriptor: RawFd, size: usize) -> HipResult<Option<Self>> {
        let clr = &runtime::get()?.clr;
        let api = clr.hsa_api();
        let mut agent = device.clr.agent();
        let (mut bytes, mut address, mut metadata_size) = (0, std::ptr::null_mut(), 0);
        let mut metadata = std::ptr::null();
        // SAFETY: one agent, and valid places for the results.
        let status = unsafe {
            (api.hsa_amd_interop_map_buffer)(
                1,
                &raw mut agent,
                descriptor,
                0,
                &raw mut bytes,
                &raw mut address,
                &raw mut metadata_size,
                &raw mut metadata,
            )
        };
        if status != HSA_STATUS_SUCCESS {
            return Ok(None);
        }
        if bytes < size {
            // SAFETY: mapped above, and known to nobody.
            let _ = unsafe { (api.hsa_amd_interop_unmap_buffer)(address) };
            return fail!(
                hipErrorInvalidValue,
                "the external memory has {bytes} bytes, not {size}"
            );
        }
        let address = address.expose_provenance();
        clr.add_mapping(&device.clr, address, size);
        Ok(Some(External {
            address,
            size,
            backing: Backing::Library,
        }))
    }

    /// A mapping of any file that can be mapped shared.
    fn map(device: &Device, descriptor: RawFd, size: usize) -> HipResult<Self> {
        // SAFETY: the caller promises that the descriptor stays open for the call.
        let file = unsafe { BorrowedFd::borrow_raw(descriptor) };
        let file = match file.try_clone_to_owned().map(File::from) {
            Ok(file) => file,
            Err(error) => {
                return fail!(
                    hipErrorInvalidValue,
                    "descriptor {descriptor} of external memory: {error}"
                );
            }
        };
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        if length < size as u64 {
            return fail!(
                hipErrorInvalidValue,
                "the external memory has {length} bytes, not {size}"
            );
        }
        let mapping = match MmapOptions::new().len(size).map_raw(&file) {
            Ok(mapping) => mapping,
            Err(error) => {
                return fail!(
                    hipErrorOutOfMemory,
                    "descriptor {descriptor} of external memory can't be mapped: {error}"
                );
            }
        };
        // SAFETY: the mapping lives until `drop` has unregistered it.
        let memory = unsafe {
            runtime::get()?.clr.register_host(
                &device.clr,
                mapping.as_mut_ptr().expose_provenance(),
                size,
                HostFlags::MAPPED | HostFlags::COHERENT,
            )
        }
        .map_err(hip_error)?;
        Ok(External {
            address: memory.device_address() as usize,
            size,
            backing: Backing::Mapped(mapping),
        })
    }
}

impl Drop for External {
    fn drop(&mut self) {
        let Ok(runtime) = runtime::get() else {
            return;
        };
        runtime.synchronize();
        match &self.backing {
            Backing::Library => {
                runtime.clr.remove_mapping(self.address);
                let address = std::ptr::with_exposed_provenance_mut(self.address);
                // SAFETY: mapped at the import, and no work that uses it is left.
                let _ = unsafe { (runtime.clr.hsa_api().hsa_amd_interop_unmap_buffer)(address) };
            }
            Backing::Mapped(mapping) => {
                let host = mapping.as_mut_ptr().addr();
                if let Err(error) = runtime.clr.unregister_host(host) {
                    crate::log_error!("external memory: {error}");
                }
            }
        }
    }
}

/// Gives back an address of imported memory; `None` for any other.
pub(crate) fn free(address: usize) -> Option<()> {
    // The memory itself ends outside of the lock.
    let _ended = {
        let mut buffers = BUFFERS.lock();
        let (_, count) = buffers.get_mut(&address)?;
        *count -= 1;
        if *count == 0 {
            buffers.remove(&address)
        } else {
            None
        }
    };
    Some(())
}

/// Gives a file descriptor of a range of device memory, which [`hipImportExternalMemory`] and HIP of other processes take. It is not a
/// dma-buf of the kernel: other drivers refuse it.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemGetHandleForAddressRange(
    handle: *mut c_void,
    dptr: *mut c_void,
    size: usize,
    handleType: u32,
    flags: u64,
) -> hipError_t {
    const DMA_BUF: u32 = 1;
    if handle.is_null() || dptr.is_null() || size == 0 || handleType != DMA_BUF || flags != 0 {
        return fail!(
            hipErrorInvalidValue,
            "{size} bytes at {dptr:p} as a handle of type {handleType} with flags {flags:#x}"
        );
    }
    let clr = &runtime::get()?.clr;
    let export = need(
        "hsa_amd_portable_export_dmabuf",
        clr.hsa_api().hsa_amd_portable_export_dmabuf,
    )?;
    let known = clr.find_memory(dptr.addr());
    if known.is_none_or(|(memory, offset)| size > memory.size() - offset) {
        return fail!(
            hipErrorInvalidValue,
            "{size} bytes at {dptr:p} are not in one allocation of HIP"
        );
    }
    let (mut descriptor, mut offset) = (-1, 0);
    // SAFETY: the range is allocated, the results have valid places.
    let status = unsafe { export(dptr, size, &raw mut descriptor, &raw mut offset) };
    if status != HSA_STATUS_SUCCESS {
        return fail!(
            hipErrorInvalidValue,
            "hsa_amd_portable_export_dmabuf failed: {status}"
        );
    }
    // SAFETY: not null; the caller promises room for a descriptor.
    unsafe { handle.cast::<RawFd>().write(descriptor) };
    Ok(())
}

/// Takes over memory of another interface.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipImportExternalMemory(
    extMem_out: *mut hipExternalMemory_t,
    memHandleDesc: *const hipExternalMemoryHandleDesc,
) -> hipError_t {
    if extMem_out.is_null() || memHandleDesc.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    // SAFETY: not null; the caller promises a valid record.
    let wanted = unsafe { memHandleDesc.read() };
    if wanted.flags & !DEDICATED != 0 || wanted.size == 0 {
        return fail!(
            hipErrorInvalidValue,
            "flags {:#x} of external memory, {} bytes",
            wanted.flags,
            wanted.size
        );
    }
    match wanted.r#type {
        OPAQUE_FD => {}
        other @ 2..=LAST_TYPE => {
            return fail!(
                hipErrorNotSupported,
                "external memory type {other} is of Windows: only file descriptors (1) are supported"
            );
        }
        other => {
            return fail!(
                hipErrorInvalidValue,
                "external memory type {other} does not exist"
            );
        }
    }
    let descriptor = wanted.handle.addr() as u32 as RawFd;
    let external = External::import(runtime::current()?, descriptor, wanted.size as usize)?;
    match EXTERNALS.insert(Arc::new(external)) {
        Some(handle) => {
            // SAFETY: not null; the caller promises a valid place.
            unsafe { extMem_out.write(std::ptr::without_provenance_mut(handle)) };
            Ok(())
        }
        None => fail!(hipErrorOutOfMemory, "too many imports of external memory"),
    }
}

/// Gives a device address of a part of imported memory. It lives until `hipFree`, also longer than the handle.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipExternalMemoryGetMappedBuffer(
    devPtr: *mut *mut c_void,
    extMem: hipExternalMemory_t,
    bufferDesc: *const hipExternalMemoryBufferDesc,
) -> hipError_t {
    if devPtr.is_null() || bufferDesc.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    let Some(external) = EXTERNALS.get(extMem.addr()) else {
        return fail!(hipErrorInvalidValue, "{extMem:p} is no external memory");
    };
    // SAFETY: not null; the caller promises a valid record.
    let part = unsafe { bufferDesc.read() };
    let inside = part
        .offset
        .checked_add(part.size)
        .is_some_and(|end| end <= external.size as u64);
    if part.flags != 0 || !inside {
        return fail!(
            hipErrorInvalidValue,
            "{} bytes at offset {} of {} bytes of external memory, flags {:#x}",
            part.size,
            part.offset,
            external.size,
            part.flags
        );
    }
    let address = external.address + part.offset as usize;
    BUFFERS
        .lock()
        .entry(address)
        .or_insert_with(|| (external, 0))
        .1 += 1;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { devPtr.write(std::ptr::with_exposed_provenance_mut(address)) };
    Ok(())
}

/// Ends the handle of imported memory; addresses that were given stay until they are freed.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDestroyExternalMemory(extMem: hipExternalMemory_t) -> hipError_t {
    match EXTERNALS.remove(extMem.addr()) {
        Some(_) => Ok(()),
        None => fail!(hipErrorInvalidValue, "{extMem:p} is no external memory"),
    }
}
