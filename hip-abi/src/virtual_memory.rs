//! Virtual memory management: address ranges, allocations without an address, and mapping the one to the other.
//!
//! All of it is the HSA library's (`hsa_amd_vmem_…`). What is kept here: the properties of allocations, and which ranges are mapped, so
//! that copies and pointer queries know mapped memory as device memory. A mapped range can be used once access is set.
//!
//! Ranges and allocations are in multiples of the granularity. Neither is freed while mapped.

use std::{collections::BTreeMap, ffi::c_void, sync::Arc};

use gneiss_hip_abi_macros::hip_api;
use gneiss_hsa_api::*;
use parking_lot::Mutex;

use crate::{
    enums::*,
    error::*,
    fail,
    handle::{Kind, Table},
    runtime::{self, Device},
    types::*,
    version::{Major, presented},
};

/// Properties of an allocation, in the layout of HIP 6 and 7.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipMemAllocationProp {
    /// Must be pinned.
    pub r#type: hipMemAllocationType,
    /// Handles that it can be exported as.
    pub requestedHandleType: hipMemAllocationHandleType,
    /// Where it lives.
    pub location: hipMemLocation,
    /// Unused on Linux.
    pub win32HandleMetaData: *mut c_void,
    /// Flags; kept for queries.
    pub allocFlags: u64,
}

/// The same in HIP 5, whose fields have another order.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct FormerProp {
    compression: u8,
    location: hipMemLocation,
    handle_type: hipMemAllocationHandleType,
    r#type: hipMemAllocationType,
    usage: u16,
    win32: *mut c_void,
}

const _: () = {
    assert!(size_of::<hipMemAllocationProp>() == 32);
    assert!(size_of::<FormerProp>() == 32);
    assert!(std::mem::offset_of!(FormerProp, location) == 4);
    assert!(std::mem::offset_of!(FormerProp, r#type) == 16);
};

/// A handle of an allocation.
pub type hipMemGenericAllocationHandle_t = *mut c_void;

/// An allocation.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub(crate) handle: hsa_amd_vmem_alloc_handle_t,
    pub(crate) size: usize,
    pub(crate) device: usize,
    pub(crate) handle_type: hipMemAllocationHandleType,
    pub(crate) flags: u64,
}

static ALLOCATIONS: Table<Allocation> = Table::new(Kind::VirtualMemory);

/// A mapped range, by its start.
#[derive(Debug)]
struct Mapping {
    size: usize,
    allocation: Arc<Allocation>,
    /// Number of the range in the map of known memory, once access was set.
    access: Vec<(usize, hipMemAccessFlags)>,
}

static MAPPINGS: Mutex<BTreeMap<usize, Mapping>> = Mutex::new(BTreeMap::new());
/// Reserved ranges: start and size.
static RESERVED: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

pub(crate) fn api() -> HipResult<&'static HsaApi> {
    Ok(runtime::get()?.clr.hsa_api())
}

/// A function that older HSA libraries do not have.
pub(crate) fn need<F>(name: &str, function: Option<F>) -> HipResult<F> {
    match function {
        Some(function) => Ok(function),
        None => fail!(hipErrorNotSupported, "the HSA library has no {name}"),
    }
}

pub(crate) fn check(call: &str, status: hsa_status_t) -> HipResult {
    match status {
        HSA_STATUS_SUCCESS => Ok(()),
        HSA_STATUS_ERROR_OUT_OF_RESOURCES => {
            fail!(hipErrorOutOfMemory, "{call} failed: out of resources")
        }
        _ => fail!(hipErrorInvalidValue, "{call} failed: {status}"),
    }
}

/// Properties, read in the presented version's layout and checked.
///
/// # Safety
/// `prop` must be null or a valid record of that layout.
unsafe fn read_prop(
    prop: *const hipMemAllocationProp,
) -> HipResult<(&'static Device, hipMemAllocationProp)> {
    if prop.is_null() {
        return fail!(hipErrorInvalidValue, "no properties");
    }
    // SAFETY: not null; as the caller promises.
    let prop = unsafe {
        if presented() == Major::Five {
            let former = prop.cast::<FormerProp>().read();
            hipMemAllocationProp {
                r#type: former.r#type,
                requestedHandleType: former.handle_type,
                location: former.location,
                win32HandleMetaData: former.win32,
                allocFlags: 0,
            }
        } else {
            prop.read()
        }
    };
    if prop.r#type != hipMemAllocationTypePinned || prop.location.r#type != hipMemLocationTypeDevice
    {
        return fail!(
            hipErrorInvalidValue,
            "an allocation is pinned memory of a device"
        );
    }
    let device = runtime::device(prop.location.id).map_err(|_| hipErrorInvalidValue)?;
    Ok((device, prop))
}

/// Bytes of which ranges and allocations are multiples.
fn granularity(device: &Device) -> HipResult<usize> {
    let mut granule = 0_usize;
    // SAFETY: the pool is the device's; the place has the attribute's size.
    let status = unsafe {
        (api()?.hsa_amd_memory_pool_get_info)(
            device.clr.pool(),
            HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE,
            (&raw mut granule).cast(),
        )
    };
    check("hsa_amd_memory_pool_get_info", status)?;
    Ok(granule.max(1))
}

fn check_size(what: &str, size: usize, granule: usize) -> HipResult {
    if size == 0 || !size.is_multiple_of(granule) {
        return fail!(
            hipErrorInvalidValue,
            "{what} of {size} bytes: must be a multiple of the granularity {granule}"
        );
    }
    Ok(())
}

pub(crate) fn find(handle: hipMemGenericAllocationHandle_t) -> HipResult<Arc<Allocation>> {
    match ALLOCATIONS.get(handle.addr()) {
        Some(allocation) => Ok(allocation),
        None => fail!(
            hipErrorInvalidValue,
            "{handle:p} is not a live allocation handle"
        ),
    }
}

/// Writes a handle for an allocation.
///
/// # Safety
/// The place must be valid.
pub(crate) unsafe fn give(
    place: *mut hipMemGenericAllocationHandle_t,
    allocation: Allocation,
) -> HipResult {
    let Some(handle) = ALLOCATIONS.insert(Arc::new(allocation)) else {
        return fail!(hipErrorOutOfMemory, "too many allocations");
    };
    // SAFETY: as the caller promises.
    unsafe { place.write(std::ptr::without_provenance_mut(handle)) };
    Ok(())
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if let Some(release) = api().ok().and_then(|api| api.hsa_amd_vmem_handle_release) {
            // SAFETY: the handle is ours, and released once. Mappings hold the memory on.
            let _ = unsafe { release(self.handle) };
        }
    }
}

/// Gives the granularity of allocations; the least and the recommended one are the same.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemGetAllocationGranularity(
    granularity: *mut usize,
    prop: *const hipMemAllocationProp,
    option: hipMemAllocationGranularity_flags,
) -> hipError_t {
    if granularity.is_null() || option > hipMemAllocationGranularityRecommended {
        return fail!(
            hipErrorInvalidValue,
            "no place for the granularity, or option {option} that does not exist"
        );
    }
    // SAFETY: as the caller promises.
    let (device, _) = unsafe { read_prop(prop)? };
    let bytes = self::granularity(device)?;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { granularity.write(bytes) };
    Ok(())
}

/// Reserves a range of addresses.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemAddressReserve(
    ptr: *mut *mut c_void,
    size: usize,
    alignment: usize,
    addr: *mut c_void,
    flags: u64,
) -> hipError_t {
    if ptr.is_null() || flags != 0 {
        return fail!(
            hipErrorInvalidValue,
            "no place for the address, or flags {flags:#x} that are not 0"
        );
    }
    // AMD's runtime has another error for sizes and alignments than for the rest.
    if alignment != 0 && !alignment.is_power_of_two() {
        return fail!(
            hipErrorOutOfMemory,
            "alignment {alignment} is no power of two"
        );
    }
    check_size("a range", size, granularity(runtime::current()?)?)
        .map_err(|_| hipErrorOutOfMemory)?;
    let mut address = std::ptr::null_mut();
    // SAFETY: the place is valid.
    let status = unsafe {
        (need(
            "hsa_amd_vmem_address_reserve_align",
            api()?.hsa_amd_vmem_address_reserve_align,
        )?)(
            &raw mut address,
            size,
            addr.addr() as u64,
            alignment as u64,
            0,
        )
    };
    check("hsa_amd_vmem_address_reserve_align", status)?;
    RESERVED.lock().insert(address.expose_provenance(), size);
    // SAFETY: not null; the caller promises a valid place.
    unsafe { ptr.write(address) };
    Ok(())
}

/// Gives a reserved range back; nothing may be mapped in it.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemAddressFree(devPtr: *mut c_void, size: usize) -> hipError_t {
    {
        let mut reserved = RESERVED.lock();
        if reserved.get(&devPtr.addr()) != Some(&size) {
            return fail!(
                hipErrorInvalidValue,
                "{size} bytes from {devPtr:p} are not a reserved range"
            );
        }
        let end = devPtr.addr() + size;
        if MAPPINGS.lock().range(devPtr.addr()..end).next().is_some() {
            return fail!(hipErrorInvalidValue, "the range is mapped");
        }
        reserved.remove(&devPtr.addr());
    }
    // SAFETY: a reserved range, given back once.
    let status = unsafe {
        (need(
            "hsa_amd_vmem_address_free",
            api()?.hsa_amd_vmem_address_free,
        )?)(devPtr, size)
    };
    check("hsa_amd_vmem_address_free", status)
}

/// Allocates memory without an address.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemCreate(
    handle: *mut hipMemGenericAllocationHandle_t,
    size: usize,
    prop: *const hipMemAllocationProp,
    flags: u64,
) -> hipError_t {
    if handle.is_null() || flags != 0 {
        return fail!(
            hipErrorInvalidValue,
            "no place for the handle, or flags {flags:#x} that are not 0"
        );
    }
    // SAFETY: as the caller promises.
    let (device, prop) = unsafe { read_prop(prop)? };
    check_size("an allocation", size, granularity(device)?)?;
    let mut made = hsa_amd_vmem_alloc_handle_t::default();
    // SAFETY: the pool is the device's, the place is valid.
    let status = unsafe {
        (need(
            "hsa_amd_vmem_handle_create",
            api()?.hsa_amd_vmem_handle_create,
        )?)(
            device.clr.pool(),
            size,
            MEMORY_TYPE_PINNED,
            0,
            &raw mut made,
        )
    };
    check("hsa_amd_vmem_handle_create", status)?;
    let allocation = Allocation {
        handle: made,
        size,
        device: device.ordinal,
        handle_type: prop.requestedHandleType,
        flags: prop.allocFlags,
    };
    // SAFETY: not null; the caller promises a valid place.
    unsafe { give(handle, allocation) }
}

/// Lets go of an allocation; mappings keep its memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemRelease(handle: hipMemGenericAllocationHandle_t) -> hipError_t {
    match ALLOCATIONS.remove(handle.addr()) {
        Some(_) => Ok(()),
        None => fail!(
            hipErrorInvalidValue,
            "{handle:p} is not a live allocation handle"
        ),
    }
}

/// Gives a new handle of the allocation that is mapped at an address.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemRetainAllocationHandle(
    handle: *mut hipMemGenericAllocationHandle_t,
    addr: *mut c_void,
) -> hipError_t {
    if handle.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the handle");
    }
    let allocation = {
        let mappings = MAPPINGS.lock();
        let mapping = mappings
            .range(..=addr.addr())
            .next_back()
            .filter(|(start, mapping)| addr.addr() - **start < mapping.size);
        match mapping {
            Some((_, mapping)) => Arc::clone(&mapping.allocation),
            None => return fail!(hipErrorInvalidValue, "nothing is mapped at {addr:p}"),
        }
    };
    let Some(new) = ALLOCATIONS.insert(allocation) else {
        return fail!(hipErrorOutOfMemory, "too many allocations");
    };
    // SAFETY: not null; the caller promises a valid place.
    unsafe { handle.write(std::ptr::without_provenance_mut(new)) };
    Ok(())
}

/// Gives the properties of an allocation.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemGetAllocationPropertiesFromHandle(
    prop: *mut hipMemAllocationProp,
    handle: hipMemGenericAllocationHandle_t,
) -> hipError_t {
    if prop.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the properties");
    }
    let allocation = find(handle)?;
    let location = hipMemLocation {
        r#type: hipMemLocationTypeDevice,
        id: allocation.device as i32,
    };
    // SAFETY: not null; the caller promises a place in the presented version's layout; both have the same size.
    unsafe {
        if presented() == Major::Five {
            prop.cast::<FormerProp>().write(FormerProp {
                compression: 0,
                location,
                handle_type: allocation.handle_type,
                r#type: hipMemAllocationTypePinned,
                usage: 0,
                win32: std::ptr::null_mut(),
            });
        } else {
            prop.write(hipMemAllocationProp {
                r#type: hipMemAllocationTypePinned,
                requestedHandleType: allocation.handle_type,
                location,
                win32HandleMetaData: std::ptr::null_mut(),
                allocFlags: allocation.flags,
            });
        }
    }
    Ok(())
}

/// Maps an allocation into a reserved range.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemMap(
    ptr: *mut c_void,
    size: usize,
    offset: usize,
    handle: hipMemGenericAllocationHandle_t,
    flags: u64,
) -> hipError_t {
    if ptr.is_null() || offset != 0 || flags != 0 {
        return fail!(
            hipErrorInvalidValue,
            "a null address, offset {offset} or flags {flags:#x} that are not 0"
        );
    }
    let allocation = find(handle)?;
    if size == 0 || size > allocation.size {
        return fail!(
            hipErrorInvalidValue,
            "{size} bytes of an allocation of {}",
            allocation.size
        );
    }
    // SAFETY: the library checks that the range is reserved and free.
    let status = unsafe {
        (need("hsa_amd_vmem_map", api()?.hsa_amd_vmem_map)?)(ptr, size, 0, allocation.handle, 0)
    };
    check("hsa_amd_vmem_map", status)?;
    let device = runtime::device(allocation.device as i32)?;
    runtime::get()?
        .clr
        .add_mapping(&device.clr, ptr.expose_provenance(), size);
    MAPPINGS.lock().insert(
        ptr.addr(),
        Mapping {
            size,
            allocation,
            access: Vec::new(),
        },
    );
    Ok(())
}

/// Undoes a mapping, after the device's work has ended.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemUnmap(ptr: *mut c_void, size: usize) -> hipError_t {
    let mapping = {
        let mut mappings = MAPPINGS.lock();
        if mappings.get(&ptr.addr()).map(|mapping| mapping.size) != Some(size) {
            return fail!(
                hipErrorInvalidValue,
                "{size} bytes from {ptr:p} are not a mapping"
            );
        }
        mappings.remove(&ptr.addr())
    };
    let runtime = runtime::get()?;
    runtime.synchronize();
    runtime.clr.remove_mapping(ptr.addr());
    // SAFETY: a mapping, undone once.
    let status = unsafe { (need("hsa_amd_vmem_unmap", api()?.hsa_amd_vmem_unmap)?)(ptr, size) };
    drop(mapping);
    check("hsa_amd_vmem_unmap", status)
}

/// Sets which devices may access a mapped range, and how.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemSetAccess(
    ptr: *mut c_void,
    size: usize,
    desc: *const hipMemAccessDesc,
    count: usize,
) -> hipError_t {
    if ptr.is_null() || desc.is_null() || count == 0 || count > 1024 {
        return fail!(hipErrorInvalidValue, "access for {count} places at {ptr:p}");
    }
    // SAFETY: not null; the caller promises `count` records.
    let wanted = unsafe { std::slice::from_raw_parts(desc, count) };
    let mut list = Vec::new();
    for one in wanted {
        if one.location.r#type != hipMemLocationTypeDevice {
            return fail!(hipErrorInvalidValue, "access is set for devices");
        }
        let device = runtime::device(one.location.id).map_err(|_| hipErrorInvalidValue)?;
        let permissions = match one.flags {
            hipMemAccessFlagsProtNone => 0,
            hipMemAccessFlagsProtRead => HSA_ACCESS_PERMISSION_RO,
            hipMemAccessFlagsProtReadWrite => HSA_ACCESS_PERMISSION_RW,
            other => {
                return fail!(hipErrorInvalidValue, "access flags {other} do not exist");
            }
        };
        list.push(hsa_amd_memory_access_desc_t {
            permissions,
            agent_handle: device.clr.agent(),
        });
    }
    // SAFETY: the list is valid for the call; the library checks that the range is mapped.
    let status = unsafe {
        (need("hsa_amd_vmem_set_access", api()?.hsa_amd_vmem_set_access)?)(
            ptr,
            size,
            list.as_ptr(),
            list.len(),
        )
    };
    check("hsa_amd_vmem_set_access", status)?;
    let end = ptr.addr().saturating_add(size);
    for (_, mapping) in MAPPINGS.lock().range_mut(ptr.addr()..end) {
        for one in wanted {
            let device = one.location.id as usize;
            mapping.access.retain(|(other, _)| *other != device);
            mapping.access.push((device, one.flags));
        }
    }
    Ok(())
}

/// Gives how a device may access a mapped address.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemGetAccess(
    flags: *mut u64,
    location: *const hipMemLocation,
    ptr: *mut c_void,
) -> hipError_t {
    if flags.is_null() || location.is_null() || ptr.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    // SAFETY: not null; the caller promises a valid record.
    let location = unsafe { location.read() };
    if location.r#type != hipMemLocationTypeDevice {
        return fail!(hipErrorInvalidValue, "access is that of a device");
    }
    let device = runtime::device(location.id).map_err(|_| hipErrorInvalidValue)?;
    let access = {
        let mappings = MAPPINGS.lock();
        match mappings.get(&ptr.addr()) {
            Some(mapping) => mapping
                .access
                .iter()
                .find(|(other, _)| *other == device.ordinal)
                .map_or(hipMemAccessFlagsProtNone, |(_, flags)| *flags),
            None => {
                return fail!(
                    hipErrorInvalidValue,
                    "{ptr:p} is not the start of a mapping"
                );
            }
        }
    };
    // SAFETY: not null; the caller promises a valid place.
    unsafe { flags.write(access.into()) };
    Ok(())
}
