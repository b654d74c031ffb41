//! Memory that graphs allocate.
//!
//! The memory exists from the making of the node on, so that its address is known and stays the same at every launch; a launch marks it
//! as allocated, and the free node, `hipFree` or `hipFreeAsync` as free again. It goes back to the device with the last graph and executable graph
//! that use it, or later, when the program frees it. What other graphs hold is counted as reserved.

use std::sync::{
    Arc, Weak,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use parking_lot::Mutex;

use super::types::hipMemAllocNodeParams;
use crate::{
    enums::*,
    error::*,
    fail, log_error,
    runtime::{self, hip_error},
};

/// Memory of an allocation node.
#[derive(Debug)]
pub struct Allocation {
    /// Its address.
    pub address: usize,
    /// Its bytes.
    pub size: usize,
    /// Ordinal of its device.
    pub device: usize,
    params: Params,
    allocated: AtomicBool,
}

#[derive(Clone, Copy, Debug)]
struct Params(hipMemAllocNodeParams);

// SAFETY: addresses are values here.
unsafe impl Send for Params {}
// SAFETY: as above.
unsafe impl Sync for Params {}

/// Counters of a device: bytes used and reserved, now and at most.
#[derive(Debug, Default)]
pub struct Counters {
    used: AtomicU64,
    used_high: AtomicU64,
    reserved: AtomicU64,
    reserved_high: AtomicU64,
}

static LIVE: Mutex<Vec<(usize, Weak<Allocation>)>> = Mutex::new(Vec::new());
/// Memory whose graphs are gone, and that the program has not freed.
static LEFT: Mutex<Vec<(usize, usize, usize)>> = Mutex::new(Vec::new());

fn counters(device: usize) -> &'static Counters {
    const MOST: usize = 64;
    static ALL: [Counters; MOST] = [const {
        Counters {
            used: AtomicU64::new(0),
            used_high: AtomicU64::new(0),
            reserved: AtomicU64::new(0),
            reserved_high: AtomicU64::new(0),
        }
    }; MOST];
    &ALL[device.min(MOST - 1)]
}

impl Counters {
    fn add(now: &AtomicU64, high: &AtomicU64, size: usize) {
        let value = now.fetch_add(size as u64, Ordering::Relaxed) + size as u64;
        high.fetch_max(value, Ordering::Relaxed);
    }

    /// The counter of a `hipGraphMemAttr…`, with whether it is a high mark.
    pub fn of(device: usize, attribute: u32) -> HipResult<(&'static AtomicU64, bool)> {
        let counters = counters(device);
        Ok(match attribute {
            0 => (&counters.used, false),
            1 => (&counters.used_high, true),
            2 => (&counters.reserved, false),
            3 => (&counters.reserved_high, true),
            _ => {
                return fail!(
                    hipErrorInvalidValue,
                    "graph memory attribute {attribute} does not exist"
                );
            }
        })
    }
}

impl Allocation {
    /// Allocates.
    ///
    /// # Errors
    /// `hipErrorInvalidValue`, `hipErrorOutOfMemory`.
    pub fn new(params: hipMemAllocNodeParams) -> HipResult<Arc<Self>> {
        let props = &params.poolProps;
        if props.allocType != hipMemAllocationTypePinned
            || props.location.r#type != hipMemLocationTypeDevice
            || params.bytesize == 0
        {
            return fail!(
                hipErrorInvalidValue,
                "allocation nodes hold pinned memory of a device, and at least a byte"
            );
        }
        let device = runtime::device(props.location.id).map_err(|_| hipErrorInvalidValue)?;
        let memory = runtime::get()?
            .clr
            .allocate_device(&device.clr, params.bytesize, false)
            .map_err(hip_error)?;
        let address = memory.device_address() as usize;
        let counters = counters(device.ordinal);
        Counters::add(&counters.reserved, &counters.reserved_high, params.bytesize);
        let allocation = Arc::new(Allocation {
            address,
            size: params.bytesize,
            device: device.ordinal,
            params: Params(hipMemAllocNodeParams {
                dptr: std::ptr::with_exposed_provenance_mut(address),
                ..params
            }),
            allocated: AtomicBool::new(false),
        });
        let mut live = LIVE.lock();
        live.retain(|(_, allocation)| allocation.strong_count() > 0);
        live.push((address, Arc::downgrade(&allocation)));
        Ok(allocation)
    }

    /// The C record.
    pub fn params(&self) -> hipMemAllocNodeParams {
        self.params.0
    }

    /// Whether it is allocated and not freed.
    pub fn is_allocated(&self) -> bool {
        self.allocated.load(Ordering::Acquire)
    }

    /// A launch allocates it.
    pub fn allocate(&self) {
        if !self.allocated.swap(true, Ordering::AcqRel) {
            let counters = counters(self.device);
            Counters::add(&counters.used, &counters.used_high, self.size);
        }
    }

    fn end_use(&self) -> bool {
        let was = self.allocated.swap(false, Ordering::AcqRel);
        if was {
            counters(self.device)
                .used
                .fetch_sub(self.size as u64, Ordering::Relaxed);
        }
        was
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if self.is_allocated() {
            LEFT.lock().push((self.address, self.size, self.device));
        } else {
            give_back(self.address, self.size, self.device);
        }
    }
}

fn give_back(address: usize, size: usize, device: usize) {
    counters(device)
        .reserved
        .fetch_sub(size as u64, Ordering::Relaxed);
    if let Some(runtime) = runtime::started() {
        if let Some(device) = runtime.devices.get(device) {
            let _ = device.clr.synchronize();
        }
        if let Err(error) = runtime.clr.free(address) {
            log_error!("graph memory {address:#x}: {error}");
        }
    }
}

/// The allocation of an address.
pub fn find(address: usize) -> Option<Arc<Allocation>> {
    LIVE.lock()
        .iter()
        .find(|(start, allocation)| *start == address && allocation.strong_count() > 0)
        .and_then(|(_, allocation)| allocation.upgrade())
}

/// Frees memory of a graph outside of it (`hipFree`, `hipFreeAsync`), or at a free node; `None`: it is none.
pub fn free(address: usize) -> Option<HipResult> {
    if let Some(allocation) = find(address) {
        return Some(if allocation.end_use() {
            Ok(())
        } else {
            fail!(
                hipErrorInvalidValue,
                "{address:#x} is memory of a graph that is not allocated now"
            )
        });
    }
    let left = {
        let mut left = LEFT.lock();
        let place = left.iter().position(|(start, ..)| *start == address)?;
        left.swap_remove(place)
    };
    let (address, size, device) = left;
    counters(device)
        .used
        .fetch_sub(size as u64, Ordering::Relaxed);
    give_back(address, size, device);
    Some(Ok(()))
}
