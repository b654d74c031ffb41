//! Managed memory: hints and their queries.
//!
//! Managed memory has one copy that host and devices share, so nothing ever migrates: advice is checked and kept, prefetches
//! are checked and become a marker of their stream.

use std::{collections::BTreeMap, ffi::c_void, ops::Range};

use gneiss_clr::{HostFlags, MemoryKind};
use gneiss_hip_abi_macros::hip_api;
use parking_lot::Mutex;

use crate::{
    advice::{Advice, Pages},
    enums::*,
    error::*,
    fail, memory,
    runtime::{self, hip_error},
    stream::{Resolved, resolve},
    types::*,
};

/// By number of the allocation, which is never used again.
static ADVICE: Mutex<BTreeMap<u64, Pages>> = Mutex::new(BTreeMap::new());

/// The number that stands for all memory that HIP was not told of; allocations have others.
const PAGEABLE: u64 = 0;

/// Number of the managed allocation that holds a range, and the range's bytes in it. Where kernels reach all memory of the program, memory
/// that HIP was not told of is as managed: its bytes are counted from address 0.
fn managed(address: *const c_void, count: usize) -> HipResult<(u64, Range<usize>)> {
    let end = address.addr().checked_add(count);
    let (false, Some(end)) = (address.is_null() || count == 0, end) else {
        return fail!(hipErrorInvalidValue, "an empty range");
    };
    match memory::find(address)? {
        None if runtime::current()?.clr.properties().pageable => {
            Ok((PAGEABLE, address.addr()..end))
        }
        Some((memory, offset))
            if memory.kind() == MemoryKind::Managed && memory.size() - offset >= count =>
        {
            Ok((memory.id(), offset..offset + count))
        }
        _ => fail!(
            hipErrorInvalidValue,
            "{count} bytes from {address:p} are not in one managed allocation"
        ),
    }
}

/// A device ordinal, or the host.
fn location(device: i32) -> HipResult<i32> {
    if device != hipCpuDeviceId {
        runtime::device(device)?;
    }
    Ok(device)
}

/// Moves managed memory to a device ahead of its use: a marker in the stream, as there is one copy.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemPrefetchAsync(
    dev_ptr: *const c_void,
    count: usize,
    device: i32,
    stream: hipStream_t,
) -> hipError_t {
    prefetch(dev_ptr, count, device, stream)
}

/// The ordinal of a place: a device, or the host in any of its forms.
fn ordinal(location: hipMemLocation) -> HipResult<i32> {
    match location.r#type {
        hipMemLocationTypeDevice => Ok(location.id),
        hipMemLocationTypeHost | hipMemLocationTypeHostNuma | hipMemLocationTypeHostNumaCurrent => {
            Ok(hipCpuDeviceId)
        }
        other => fail!(
            hipErrorInvalidValue,
            "memory location {other} does not exist"
        ),
    }
}

/// Moves managed memory to a place ahead of its use.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemPrefetchAsync_v2(
    dev_ptr: *const c_void,
    count: usize,
    location: hipMemLocation,
    flags: u32,
    stream: hipStream_t,
) -> hipError_t {
    if flags != 0 {
        return fail!(hipErrorInvalidValue, "flags {flags:#x}: must be 0");
    }
    prefetch(dev_ptr, count, ordinal(location)?, stream)
}

/// Says how managed memory will be used, and where.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemAdvise_v2(
    dev_ptr: *const c_void,
    count: usize,
    advice: hipMemoryAdvise,
    location: hipMemLocation,
) -> hipError_t {
    advise(dev_ptr, count, advice, ordinal(location)?)
}

/// Moves several ranges of managed memory ahead of their use: each range to the place whose index list starts last at or before it.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemPrefetchBatchAsync(
    dev_ptrs: *mut *mut c_void,
    sizes: *mut usize,
    count: usize,
    prefetch_locs: *mut hipMemLocation,
    prefetch_loc_idxs: *mut usize,
    num_prefetch_locs: usize,
    flags: u64,
    stream: hipStream_t,
) -> hipError_t {
    if dev_ptrs.is_null()
        || sizes.is_null()
        || prefetch_locs.is_null()
        || prefetch_loc_idxs.is_null()
        || count == 0
        || num_prefetch_locs == 0
        || num_prefetch_locs > count
        || flags != 0
    {
        return fail!(
            hipErrorInvalidValue,
            "{count} ranges for {num_prefetch_locs} places, flags {flags:#x}"
        );
    }
    // SAFETY: not null; the caller promises arrays of these lengths.
    let (ptrs, sizes, places, starts) = unsafe {
        (
            std::slice::from_raw_parts(dev_ptrs, count),
            std::slice::from_raw_parts(sizes, count),
            std::slice::from_raw_parts(prefetch_locs, num_prefetch_locs),
            std::slice::from_raw_parts(prefetch_loc_idxs, num_prefetch_locs),
        )
    };
    if starts[0] != 0 || starts.windows(2).any(|pair| pair[0] >= pair[1]) {
        return fail!(
            hipErrorInvalidValue,
            "the places' first ranges must start with 0 and go up"
        );
    }
    for (index, (ptr, size)) in ptrs.iter().zip(sizes).enumerate() {
        let place = starts.partition_point(|start| *start <= index) - 1;
        prefetch(*ptr, *size, ordinal(places[place])?, stream)?;
    }
    Ok(())
}

fn prefetch(dev_ptr: *const c_void, count: usize, device: i32, stream: hipStream_t) -> HipResult {
    if dev_ptr.is_null() || count == 0 {
        return fail!(hipErrorInvalidValue, "an empty range");
    }
    let Resolved { stream, wait } = resolve(stream)?;
    let device = location(device)?;
    let (id, bytes) = managed(dev_ptr, count)?;
    stream.queue.enqueue_marker(&wait).map_err(hip_error)?;
    let mut all = ADVICE.lock();
    let pages = all.entry(id).or_default();
    pages.change(bytes, |advice| advice.last_prefetch = device);
    Ok(())
}

/// Says how managed memory will be used.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemAdvise(
    dev_ptr: *const c_void,
    count: usize,
    advice: hipMemoryAdvise,
    device: i32,
) -> hipError_t {
    advise(dev_ptr, count, advice, device)
}

fn advise(dev_ptr: *const c_void, count: usize, advice: hipMemoryAdvise, device: i32) -> HipResult {
    let (id, bytes) = managed(dev_ptr, count)?;
    let needs_device = matches!(
        advice,
        hipMemAdviseSetPreferredLocation | hipMemAdviseSetAccessedBy | hipMemAdviseUnsetAccessedBy
    );
    let device = if needs_device {
        location(device)?
    } else {
        device
    };
    let change: &dyn Fn(&mut Advice) = match advice {
        hipMemAdviseSetReadMostly => &|page| page.read_mostly = true,
        hipMemAdviseUnsetReadMostly => &|page| page.read_mostly = false,
        hipMemAdviseSetPreferredLocation => &|page| page.preferred = device,
        hipMemAdviseUnsetPreferredLocation => &|page| page.preferred = hipInvalidDeviceId,
        hipMemAdviseSetAccessedBy => &|page| {
            if !page.accessed_by.contains(&device) {
                page.accessed_by.push(device);
            }
        },
        hipMemAdviseUnsetAccessedBy => &|page| page.accessed_by.retain(|other| *other != device),
        hipMemAdviseSetCoarseGrain => &|page| page.coarse = true,
        hipMemAdviseUnsetCoarseGrain => &|page| page.coarse = false,
        _ => return fail!(hipErrorInvalidValue, "advice {advice} does not exist"),
    };
    ADVICE.lock().entry(id).or_default().change(bytes, change);
    Ok(())
}

/// # Safety
/// `data` must be null or hold `size` bytes.
unsafe fn range_attribute(
    data: *mut c_void,
    size: usize,
    attribute: hipMemRangeAttribute,
    address: *const c_void,
    count: usize,
) -> HipResult {
    let several = attribute == hipMemRangeAttributeAccessedBy;
    if data.is_null() || size < 4 || !size.is_multiple_of(4) || (size > 4 && !several) {
        return fail!(
            hipErrorInvalidValue,
            "a place of {size} bytes for the attribute"
        );
    }
    if attribute == hipMemRangeAttributeCoherencyMode
        && let Some((memory, _)) = memory::find(address)?
        && memory.kind() != MemoryKind::Managed
    {
        let fine = match memory.kind() {
            MemoryKind::Host | MemoryKind::Registered => {
                memory.host_flags().contains(HostFlags::COHERENT)
            }
            _ => memory.user_flags() & hipDeviceMallocFinegrained != 0,
        };
        let mode = if fine {
            hipMemRangeCoherencyModeFineGrain
        } else {
            hipMemRangeCoherencyModeCoarseGrain
        };
        // SAFETY: not null; the caller promises at least four bytes.
        unsafe { data.cast::<u32>().write(mode) };
        return Ok(());
    }
    let (id, bytes) = managed(address, count)?;
    let all = ADVICE.lock();
    let advice = all
        .get(&id)
        .map(|pages| pages.common(bytes))
        .unwrap_or_default();
    drop(all);
    // SAFETY: not null; the caller promises `size` bytes.
    let places = unsafe { std::slice::from_raw_parts_mut(data.cast::<i32>(), size / 4) };
    match attribute {
        hipMemRangeAttributeReadMostly => places[0] = i32::from(advice.read_mostly),
        hipMemRangeAttributePreferredLocation => places[0] = advice.preferred,
        hipMemRangeAttributeAccessedBy => {
            places.fill(hipInvalidDeviceId);
            for (place, device) in places.iter_mut().zip(advice.accessed_by) {
                *place = device;
            }
        }
        hipMemRangeAttributeLastPrefetchLocation => places[0] = advice.last_prefetch,
        hipMemRangeAttributeCoherencyMode => {
            let mode = if advice.coarse {
                hipMemRangeCoherencyModeCoarseGrain
            } else {
                hipMemRangeCoherencyModeFineGrain
            };
            places[0] = mode as i32;
        }
        _ => {
            return fail!(
                hipErrorInvalidValue,
                "range attribute {attribute} does not exist"
            );
        }
    }
    Ok(())
}

/// Tells one thing about managed memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemRangeGetAttribute(
    data: *mut c_void,
    data_size: usize,
    attribute: hipMemRangeAttribute,
    dev_ptr: *const c_void,
    count: usize,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { range_attribute(data, data_size, attribute, dev_ptr, count) }
}

/// Tells several things about managed memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemRangeGetAttributes(
    data: *mut *mut c_void,
    data_sizes: *mut usize,
    attributes: *mut hipMemRangeAttribute,
    num_attributes: usize,
    dev_ptr: *const c_void,
    count: usize,
) -> hipError_t {
    if data.is_null()
        || data_sizes.is_null()
        || attributes.is_null()
        || num_attributes == 0
        || num_attributes > 1024
    {
        return fail!(hipErrorInvalidValue, "no attributes");
    }
    for index in 0..num_attributes {
        // SAFETY: the caller promises `num_attributes` of each, and places of the stated sizes.
        unsafe {
            range_attribute(
                data.add(index).read(),
                data_sizes.add(index).read(),
                attributes.add(index).read(),
                dev_ptr,
                count,
            )?
        };
    }
    Ok(())
}

/// Ties managed memory to a stream. There is one copy that all may use at any time, so that a valid call changes nothing.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamAttachMemAsync(
    stream: hipStream_t,
    dev_ptr: *mut c_void,
    length: usize,
    flags: u32,
) -> hipError_t {
    if !matches!(
        flags,
        hipMemAttachGlobal | hipMemAttachHost | hipMemAttachSingle
    ) {
        return fail!(
            hipErrorInvalidValue,
            "flags {flags:#x} of hipStreamAttachMemAsync"
        );
    }
    let Resolved { .. } = resolve(stream)?;
    managed(dev_ptr, length.max(1))?;
    // Of memory that HIP was not told of nobody knows where it ends: any length but 0 is right.
    let whole = memory::find(dev_ptr)?.is_none_or(|(memory, _)| length == memory.size());
    if length != 0 && !whole {
        return fail!(
            hipErrorInvalidValue,
            "{length} bytes are not the whole allocation"
        );
    }
    if flags == hipMemAttachSingle && stream.is_null() {
        return fail!(
            hipErrorInvalidValue,
            "memory can't be attached to the null stream alone"
        );
    }
    Ok(())
}
