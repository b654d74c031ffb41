//! Stream-ordered memory: `hipMallocAsync`, `hipFreeAsync` and their pools.
//!
//! An allocation takes device memory at once. A free leaves the block in its pool with a marker of its stream: the same stream
//! may take it again at once (stream order keeps that safe), so may a stream that waits for an event recorded after the free
//! (`hipMemPoolReuseFollowEventDependencies`), anybody may once the marker has ended. Blocks whose marker has ended go back to the device at
//! every synchronising call, as far as the pool holds more than its release threshold (0 unless set).

use std::{
    ffi::c_void,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use gneiss_clr::Event;
use gneiss_hip_abi_macros::hip_api;
use parking_lot::Mutex;

use crate::{
    capture::{self, Capturing},
    enums::*,
    error::*,
    fail,
    graph::{
        allocation::{self, Allocation},
        operation::Operation,
        types::hipMemAllocNodeParams,
    },
    handle::{Kind, Table},
    runtime::{self, hip_error},
    stream::{self, Resolved, resolve_or},
    types::*,
};

/// A memory pool.
#[derive(Debug)]
pub struct Pool {
    /// Ordinal of the device that its memory lives on.
    pub(crate) device: usize,
    /// Opened from another process: it allocates nothing itself.
    pub(crate) imported: bool,
    /// Handles that it can be exported as.
    pub(crate) handle_types: hipMemAllocationHandleType,
    pub(crate) state: Mutex<State>,
}

#[derive(Debug)]
pub(crate) struct State {
    /// Blocks in use: address and size.
    used: Vec<(usize, usize)>,
    /// Freed blocks, oldest first.
    freed: Vec<Freed>,
    pub(crate) used_bytes: u64,
    pub(crate) used_high: u64,
    pub(crate) reserved_bytes: u64,
    pub(crate) reserved_high: u64,
    pub(crate) release_threshold: u64,
    /// The three `hipMemPoolReuse…` attributes.
    pub(crate) reuse: [bool; 3],
    /// Bytes of the pool at most; 0: no bound.
    pub(crate) max_size: usize,
    /// Ordinals of other devices that were given access.
    pub(crate) visitors: Vec<usize>,
}

#[derive(Debug)]
struct Freed {
    address: usize,
    size: usize,
    marker: Event,
    /// The queue that freed it.
    owner: Reached,
    /// Queues that wait, directly or through others, for an event recorded after the free.
    followers: Vec<Reached>,
}

/// From which point on commands of a queue come after a free.
#[derive(Clone, Copy, Debug)]
struct Reached {
    queue: u64,
    /// A recording in the queue whose [`order`] is above this comes after the free.
    order: u64,
}

impl Freed {
    fn reached(&self) -> impl Iterator<Item = &Reached> {
        std::iter::once(&self.owner).chain(&self.followers)
    }

    /// Lets a queue that waits for a recording in another one have the block, if that comes after the free.
    fn follow(&mut self, recorded: Reached, waiter: u64) {
        let after = |place: &Reached| place.queue == recorded.queue && recorded.order > place.order;
        if self.reached().any(after) && self.reached().all(|place| place.queue != waiter) {
            self.followers.push(Reached {
                queue: waiter,
                order: next_order(),
            });
        }
    }
}

/// All pools.
pub(crate) static POOLS: Table<Pool> = Table::new(Kind::MemoryPool);
/// Freed blocks in all pools: while it is 0, synchronising calls have nothing to trim.
static FREED_BLOCKS: AtomicUsize = AtomicUsize::new(0);
/// Goes up after each free and each wait that follows one has been enqueued.
static ORDER: AtomicU64 = AtomicU64::new(1);

/// To be asked right before an event is recorded: above the number of every free that was enqueued before.
pub(crate) fn order() -> u64 {
    ORDER.load(Ordering::Acquire)
}

/// The number of a free or of a wait that was just enqueued.
fn next_order() -> u64 {
    ORDER.fetch_add(1, Ordering::AcqRel)
}

impl Pool {
    pub(crate) fn new(device: usize, max_size: usize) -> Self {
        Pool {
            device,
            imported: false,
            handle_types: hipMemHandleTypeNone,
            state: Mutex::new(State {
                used: Vec::new(),
                freed: Vec::new(),
                used_bytes: 0,
                used_high: 0,
                reserved_bytes: 0,
                reserved_high: 0,
                release_threshold: 0,
                reuse: [true; 3],
                max_size,
                visitors: Vec::new(),
            }),
        }
    }

    fn allocate(&self, size: usize, queue: u64) -> HipResult<usize> {
        if self.imported {
            return fail!(
                hipErrorInvalidValue,
                "the pool is of another process: its memory comes by hipMemPoolImportPointer"
            );
        }
        let device = runtime::device(self.device as i32)?;
        {
            let mut state = self.state.lock();
            let [follow, opportunistic, _] = state.reuse;
            let fits = |freed: &Freed| {
                freed.size >= size
                    && freed.size <= size + size / 8
                    && (freed.owner.queue == queue
                        || (follow && freed.followers.iter().any(|place| place.queue == queue))
                        || (opportunistic && freed.marker.query().is_terminal()))
            };
            if let Some(place) = state.freed.iter().position(fits) {
                let freed = state.freed.swap_remove(place);
                FREED_BLOCKS.fetch_sub(1, Ordering::Relaxed);
                state.take(freed.address, freed.size);
                return Ok(freed.address);
            }
            if state.max_size != 0 && state.reserved_bytes as usize + size > state.max_size {
                return fail!(
                    hipErrorOutOfMemory,
                    "the pool may hold {} bytes",
                    state.max_size
                );
            }
        }
        let clr = &runtime::get()?.clr;
        let memory = match clr.allocate_device(&device.clr, size, false) {
            Ok(memory) => memory,
            Err(_) => {
                trim_all();
                clr.allocate_device(&device.clr, size, false)
                    .map_err(hip_error)?
            }
        };
        let address = memory.device_address() as usize;
        let mut state = self.state.lock();
        state.reserved_bytes += size as u64;
        state.reserved_high = state.reserved_high.max(state.reserved_bytes);
        state.take(address, size);
        Ok(address)
    }

    /// Gives ended blocks back to the device until the pool holds no more than `keep` bytes.
    pub(crate) fn trim(&self, keep: u64) {
        let ended: Vec<usize> = {
            let mut state = self.state.lock();
            let mut ended = Vec::new();
            let mut index = 0;
            while index < state.freed.len() && state.reserved_bytes > keep {
                if state.freed[index].marker.query().is_terminal() {
                    let freed = state.freed.remove(index);
                    state.reserved_bytes -= freed.size as u64;
                    ended.push(freed.address);
                } else {
                    index += 1;
                }
            }
            ended
        };
        FREED_BLOCKS.fetch_sub(ended.len(), Ordering::Relaxed);
        if let Some(runtime) = runtime::started() {
            for address in ended {
                if let Err(error) = runtime.clr.free(address) {
                    crate::log_error!("pool block {address:#x}: {error}");
                }
            }
        }
    }

    /// Takes a block out of use; gives its size.
    fn end_use(&self, address: usize) -> Option<usize> {
        let mut state = self.state.lock();
        let place = state.used.iter().position(|&(used, _)| used == address)?;
        let (_, size) = state.used.swap_remove(place);
        state.used_bytes -= size as u64;
        Some(size)
    }
}

impl State {
    fn take(&mut self, address: usize, size: usize) {
        self.used.push((address, size));
        self.used_bytes += size as u64;
        self.used_high = self.used_high.max(self.used_bytes);
    }
}

/// Handles of each device's default pool and current pool.
#[derive(Debug)]
pub(crate) struct DevicePools {
    pub(crate) default: usize,
    pub(crate) current: Mutex<usize>,
}

pub(crate) fn device_pools(ordinal: usize) -> HipResult<&'static DevicePools> {
    static ALL: OnceLock<Vec<OnceLock<DevicePools>>> = OnceLock::new();
    let count = runtime::get()?.devices.len();
    let all = ALL.get_or_init(|| (0..count).map(|_| OnceLock::new()).collect());
    let Some(place) = all.get(ordinal) else {
        return Err(hipErrorInvalidDevice);
    };
    Ok(place.get_or_init(|| {
        let default = POOLS.insert(Arc::new(Pool::new(ordinal, 0))).unwrap_or(0);
        DevicePools {
            default,
            current: Mutex::new(default),
        }
    }))
}

pub(crate) fn find(handle: hipMemPool_t) -> HipResult<Arc<Pool>> {
    match POOLS.get(handle.addr()) {
        Some(pool) => Ok(pool),
        None => fail!(
            hipErrorInvalidValue,
            "{:#x} is not a live memory pool",
            handle.addr()
        ),
    }
}

/// Gives ended blocks of all pools back, down to their release thresholds. Cheap while nothing is freed.
pub fn trim_all() {
    if FREED_BLOCKS.load(Ordering::Relaxed) == 0 {
        return;
    }
    for (_, pool) in POOLS.live() {
        let keep = pool.state.lock().release_threshold;
        pool.trim(keep);
    }
}

/// A queue waits for an event recorded in another one, after [`order`] gave the number: it may have what was freed before that. Cheap while nothing
/// is freed.
pub(crate) fn follow(queue: u64, order: u64, waiter: u64) {
    if FREED_BLOCKS.load(Ordering::Relaxed) == 0 {
        return;
    }
    for (_, pool) in POOLS.live() {
        for freed in &mut pool.state.lock().freed {
            freed.follow(Reached { queue, order }, waiter);
        }
    }
}

/// The pool that a block in use belongs to.
fn owner(address: usize) -> Option<(usize, Arc<Pool>)> {
    POOLS.live().into_iter().find(|(_, pool)| {
        pool.state
            .lock()
            .used
            .iter()
            .any(|&(used, _)| used == address)
    })
}

/// Whether the address is a block that was freed and that its pool still holds.
pub fn holds_freed(address: usize) -> bool {
    FREED_BLOCKS.load(Ordering::Relaxed) != 0
        && POOLS.live().iter().any(|(_, pool)| {
            pool.state
                .lock()
                .freed
                .iter()
                .any(|freed| freed.address == address)
        })
}

/// Whether a live block of a pool starts at the address.
pub fn owns(address: usize) -> bool {
    owner(address).is_some()
}

/// Handle of the pool that a block belongs to; 0 if none.
pub fn handle_of(address: usize) -> usize {
    owner(address).map_or(0, |(handle, _)| handle)
}

/// `hipFree` of a pool's block: after the device's work, back to the device.
pub fn free_now(address: usize) -> HipResult {
    let Some((_, pool)) = owner(address) else {
        return Err(hipErrorInvalidValue);
    };
    let device = runtime::device(pool.device as i32)?;
    let _ = device.clr.synchronize();
    if let Some(size) = pool.end_use(address) {
        pool.state.lock().reserved_bytes -= size as u64;
        runtime::get()?.clr.free(address).map_err(hip_error)?;
    }
    Ok(())
}

fn allocate(
    place: *mut *mut c_void,
    size: usize,
    pool: Option<hipMemPool_t>,
    stream: hipStream_t,
) -> HipResult {
    if place.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the pointer");
    }
    if let Some(capturing) = capture::of(stream)? {
        if size == 0 {
            return fail!(
                hipErrorInvalidValue,
                "an allocation of no bytes in a capture"
            );
        }
        // SAFETY: not null; the caller promises a valid place.
        return unsafe {
            capture_allocation(&capturing, place, size, stream::find(stream)?.device)
        };
    }
    let Resolved { stream, .. } = resolve_or(stream, hipErrorInvalidHandle)?;
    let address = if size == 0 {
        0
    } else {
        let pool = match pool {
            Some(handle) => find(handle)?,
            None => {
                let current = *device_pools(stream.device)?.current.lock();
                POOLS.get(current).ok_or(hipErrorInvalidValue)?
            }
        };
        pool.allocate(size, stream.queue.id())?
    };
    // SAFETY: not null; the caller promises a valid place. Device addresses are exposed ones.
    unsafe { place.write(std::ptr::with_exposed_provenance_mut(address)) };
    Ok(())
}

/// An allocation in a capture: a node, whose memory exists from now on.
///
/// # Safety
/// `place` must be valid.
unsafe fn capture_allocation(
    capturing: &Capturing,
    place: *mut *mut c_void,
    size: usize,
    device: usize,
) -> HipResult {
    let allocation = Allocation::new(hipMemAllocNodeParams {
        poolProps: hipMemPoolProps {
            allocType: hipMemAllocationTypePinned,
            handleTypes: hipMemHandleTypeNone,
            location: hipMemLocation {
                r#type: hipMemLocationTypeDevice,
                id: device as i32,
            },
            win32SecurityAttributes: std::ptr::null_mut(),
            maxSize: 0,
            reserved: [0; 56],
        },
        accessDescs: std::ptr::null(),
        accessDescCount: 0,
        bytesize: size,
        dptr: std::ptr::null_mut(),
    })?;
    let address = allocation.address;
    capturing.add(Operation::Allocate(allocation))?;
    // SAFETY: as the caller promises.
    unsafe { place.write(std::ptr::with_exposed_provenance_mut(address)) };
    Ok(())
}

/// Allocates from the pool of the stream's device, in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMallocAsync(
    dev_ptr: *mut *mut c_void,
    size: usize,
    stream: hipStream_t,
) -> hipError_t {
    allocate(dev_ptr, size, None, stream)
}

/// Allocates from a pool, in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMallocFromPoolAsync(
    dev_ptr: *mut *mut c_void,
    size: usize,
    mem_pool: hipMemPool_t,
    stream: hipStream_t,
) -> hipError_t {
    allocate(dev_ptr, size, Some(mem_pool), stream)
}

/// Frees in stream order: the memory may be used until the stream gets there. Null is an error before HIP 7.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFreeAsync(dev_ptr: *mut c_void, stream: hipStream_t) -> hipError_t {
    if dev_ptr.is_null() {
        if crate::version::presented() >= crate::version::Major::Seven {
            return Ok(());
        }
        return fail!(hipErrorInvalidValue, "null pointer");
    }
    let address = dev_ptr.addr();
    let found = runtime::get()?.clr.find_memory(address);
    if found
        .as_ref()
        .is_some_and(|(memory, _)| memory.kind() == gneiss_clr::MemoryKind::Ipc)
    {
        return crate::ipc::close(address);
    }
    if let Some(capturing) = capture::of(stream)? {
        return capturing.add(Operation::Free(address));
    }
    if let Some(freed) = allocation::free(address) {
        return freed;
    }
    let Resolved { stream, wait } = resolve_or(stream, hipErrorInvalidHandle)?;
    let address = match found {
        Some((_, offset)) if offset != 0 => crate::memory::start_to_free(address)?,
        _ => address,
    };
    if holds_freed(address) {
        return fail!(hipErrorInvalidValue, "{dev_ptr:p} is freed already");
    }
    let Some((_, pool)) = owner(address) else {
        // What the other functions allocate may be freed so, too: then at once, after the device's work.
        return crate::memory::free(std::ptr::without_provenance_mut(address), false);
    };
    let marker = stream.queue.enqueue_marker(&wait).map_err(hip_error)?;
    if let Some(size) = pool.end_use(address) {
        pool.state.lock().freed.push(Freed {
            address,
            size,
            marker,
            owner: Reached {
                queue: stream.queue.id(),
                order: next_order(),
            },
            followers: Vec::new(),
        });
        FREED_BLOCKS.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}
