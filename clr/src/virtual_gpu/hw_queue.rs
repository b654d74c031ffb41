//! Hardware queues: AQL rings that several host queues may share.
//!
//! A packet is written in the order that the AQL rules ask for: body first, then the 32 bits that hold the header with release order, then
//! the doorbell. Producers of this process take turns under a short lock, so that a full ring is noticed before a slot is reserved and
//! nobody ever spins for room while holding anything.

use std::sync::{
    Arc, OnceLock, Weak,
    atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
};

use gneiss_hsa_api::*;
use parking_lot::Mutex;

use crate::{Device, Error, Priority, Result, hsa::Hsa, trace};

/// A packet of any type, as 16 dwords. The first holds the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Packet(pub(crate) [u32; 16]);

/// The header bits of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: u32,
    pub(crate) barrier: bool,
    pub(crate) acquire: u32,
    pub(crate) release: u32,
}

impl Header {
    fn bits(self) -> u32 {
        self.kind << HSA_PACKET_HEADER_TYPE
            | u32::from(self.barrier) << HSA_PACKET_HEADER_BARRIER
            | self.acquire << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE
            | self.release << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE
    }
}

impl Packet {
    /// A kernel dispatch.
    #[expect(clippy::too_many_arguments, reason = "the packet's fields")]
    pub(crate) fn kernel(
        header: Header,
        dimensions: u8,
        grid: [u32; 3],
        block: [u16; 3],
        private: u32,
        group: u32,
        object: u64,
        kernarg: u64,
        completion: hsa_signal_t,
    ) -> Self {
        let mut words = [0_u32; 16];
        words[0] = header.bits() | u32::from(dimensions) << 16;
        words[1] = u32::from(block[0]) | u32::from(block[1]) << 16;
        words[2] = u32::from(block[2]);
        words[3..6].copy_from_slice(&grid);
        words[6] = private;
        words[7] = group;
        put(&mut words, 8, object);
        put(&mut words, 10, kernarg);
        put(&mut words, 14, completion.handle);
        Self(words)
    }

    /// A barrier that waits until all of up to five signals are 0.
    pub(crate) fn barrier_and(
        header: Header,
        dependencies: &[hsa_signal_t],
        completion: hsa_signal_t,
    ) -> Self {
        debug_assert!(dependencies.len() <= 5);
        let mut words = [0_u32; 16];
        words[0] = header.bits();
        for (index, signal) in dependencies.iter().enumerate() {
            put(&mut words, 2 + 2 * index, signal.handle);
        }
        put(&mut words, 14, completion.handle);
        Self(words)
    }
}

fn put(words: &mut [u32; 16], at: usize, value: u64) {
    words[at] = value as u32;
    words[at + 1] = (value >> 32) as u32;
}

/// What is under the producers' lock.
#[derive(Debug)]
struct Producer {
    /// Read index as last seen; only ever behind.
    read: u64,
    /// Index of the next packet.
    write: u64,
    /// The doorbell was not rung for the last packet.
    unrung: bool,
}

/// A hardware queue.
#[derive(Debug)]
pub(crate) struct HwQueue {
    hsa: &'static Hsa,
    queue: *mut hsa_queue_t,
    base: *mut Packet,
    size: u64,
    doorbell: hsa_signal_t,
    producer: Mutex<Producer>,
    /// Host queues that use it.
    users: AtomicUsize,
    /// The device has faulted: take another one after the reset.
    dead: AtomicBool,
    /// One host queue has it for itself; changed under the lock of [`HwQueues`], save for the end of it.
    exclusive: AtomicBool,
    /// It has a CU mask of its own and is in no pool.
    masked: bool,
    /// Number in traces, unique in the process.
    pub(crate) id: u32,
    pub(crate) group_base_hi: u32,
    pub(crate) private_base_hi: u32,
    /// Address of the hostcall buffer, made at the first kernel that wants it.
    pub(crate) hostcall: OnceLock<Result<u64>>,
}

// SAFETY: the ring is only written under `producer`; the HSA functions may be called from any thread.
unsafe impl Send for HwQueue {}
// SAFETY: as above.
unsafe impl Sync for HwQueue {}

/// What an HSA error callback is given: leaked, because the library may call at any time.
struct ErrorTarget(Weak<Device>);

unsafe extern "C" fn on_error(
    status: hsa_status_t,
    source: *mut hsa_queue_t,
    data: *mut std::ffi::c_void,
) {
    // A panic must not unwind into the library.
    let _ = std::panic::catch_unwind(|| {
        // SAFETY: `data` is the leaked target that was given to hsa_queue_create.
        let target = unsafe { &*data.cast::<ErrorTarget>() };
        if status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK {
            return;
        }
        if let Some(device) = target.0.upgrade() {
            // SAFETY: the library calls with a live queue.
            let report = unsafe { device.hsa().fault_report(source) };
            device.set_fault(status, report);
        }
    });
}

impl HwQueue {
    fn create(
        device: &Device,
        kind: u32,
        priority: Priority,
        own_mask: &[u32],
    ) -> Result<Arc<Self>> {
        let hsa = device.hsa();
        let global = &device.shared().config.global_cu_mask;
        let cu_mask = effective_mask(own_mask, global);
        let own_mask = !own_mask.is_empty();
        let target = Box::leak(Box::new(ErrorTarget(device.weak())));
        let mut size = device.shared().config.aql_queue_size;
        let mut queue: *mut hsa_queue_t = std::ptr::null_mut();
        loop {
            // SAFETY: the callback's data is leaked; the result has a valid place; all-ones sizes mean the library's choice.
            let status = unsafe {
                (hsa.api.hsa_queue_create)(
                    device.agent(),
                    size,
                    kind,
                    Some(on_error),
                    std::ptr::from_mut(target).cast(),
                    u32::MAX,
                    u32::MAX,
                    &raw mut queue,
                )
            };
            match status.ok() {
                Ok(()) => break,
                Err(_) if size > 64 => size /= 2,
                Err(status) => {
                    return Err(Error::Hsa {
                        call: "hsa_queue_create",
                        status,
                    });
                }
            }
        }
        // Who has asked for a report prints it: the library need not do it, too.
        // SAFETY: just created.
        let _ = unsafe { hsa.fault_report(queue) };
        // SAFETY: just created. The core part is constant after creation, and so are the apertures.
        let (base, size, doorbell, group_base_hi, private_base_hi) = unsafe {
            let amd = queue.cast::<amd_queue_t>();
            (
                (*queue).base_address.cast::<Packet>(),
                u64::from((*queue).size),
                (*queue).doorbell_signal,
                (*amd).group_segment_aperture_base_hi,
                (*amd).private_segment_aperture_base_hi,
            )
        };
        // An agent has one cooperative queue, which whoever asks next gets with the indices where they are.
        // SAFETY: just created; adding nothing reads the write index.
        let (write, read) = unsafe {
            (
                (hsa.api.hsa_queue_add_write_index_relaxed)(queue, 0),
                (hsa.api.hsa_queue_load_read_index_scacquire)(queue),
            )
        };
        let this = Arc::new(Self {
            hsa,
            queue,
            base,
            size,
            doorbell,
            producer: Mutex::new(Producer {
                read,
                write,
                unrung: false,
            }),
            users: AtomicUsize::new(0),
            dead: AtomicBool::new(false),
            exclusive: AtomicBool::new(own_mask),
            masked: own_mask,
            id: device.shared().new_hw_queue_id(),
            group_base_hi,
            private_base_hi,
            hostcall: OnceLock::new(),
        });
        let flags =
            u16::from(kind == HSA_QUEUE_TYPE_COOPERATIVE) | u16::from(!cu_mask.is_empty()) << 1;
        trace::record::hw_queue(this.id, device.index(), priority as u8, flags, size);
        // SAFETY: the queue is alive.
        let status = unsafe { (hsa.api.hsa_amd_profiling_set_profiler_enabled)(queue, 1) };
        if status != HSA_STATUS_SUCCESS {
            tracing::warn!("profiling cannot be enabled: {status}");
        }
        if priority != Priority::Normal {
            let level = match priority {
                Priority::Low => HSA_AMD_QUEUE_PRIORITY_LOW,
                Priority::Normal => HSA_AMD_QUEUE_PRIORITY_NORMAL,
                Priority::High => HSA_AMD_QUEUE_PRIORITY_HIGH,
            };
            // SAFETY: the queue is alive.
            unsafe { (hsa.api.hsa_amd_queue_set_priority)(queue, level) }
                .ok()
                .map_err(|status| Error::Hsa {
                    call: "hsa_amd_queue_set_priority",
                    status,
                })?;
        }
        if !cu_mask.is_empty() {
            // SAFETY: the queue is alive, the mask valid for the stated number of bits.
            let status = unsafe {
                (hsa.api.hsa_amd_queue_cu_set_mask)(
                    queue,
                    cu_mask.len() as u32 * 32,
                    cu_mask.as_ptr(),
                )
            };
            if status != HSA_STATUS_SUCCESS && status != HSA_STATUS_CU_MASK_REDUCED {
                return Err(Error::Hsa {
                    call: "hsa_amd_queue_cu_set_mask",
                    status,
                });
            }
        }
        Ok(this)
    }

    /// Address of the queue, for kernels and reports.
    pub(crate) fn address(&self) -> u64 {
        self.queue as u64
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Acquire)
    }

    /// Packets that there is room for now.
    fn room(&self, producer: &mut Producer) -> u64 {
        // SAFETY: the queue is alive. Acquire: the slots are ours once the read index has passed them.
        producer.read = unsafe { (self.hsa.api.hsa_queue_load_read_index_scacquire)(self.queue) };
        self.size - (producer.write - producer.read).min(self.size)
    }

    /// Room as of now; other producers may take it.
    pub(crate) fn free_slots(&self) -> u64 {
        let mut producer = self.producer.lock();
        let used = producer.write - producer.read;
        if used + 64 <= self.size {
            return self.size - used;
        }
        self.room(&mut producer)
    }

    /// Writes packets, all or none (then none: the ring is full); gives the index of the last. `ring`: ring the doorbell, too.
    pub(crate) fn push(&self, packets: &[Packet], ring: bool) -> Option<u64> {
        let mut producer = self.producer.lock();
        let count = packets.len() as u64;
        if producer.write + count - producer.read > self.size && self.room(&mut producer) < count {
            return None;
        }
        // SAFETY: the queue is alive; all producers of this queue take turns under the lock.
        let first = unsafe { (self.hsa.api.hsa_queue_add_write_index_relaxed)(self.queue, count) };
        debug_assert_eq!(first, producer.write);
        for (index, packet) in (first..).zip(packets) {
            // SAFETY: the slot is below the ring's size, and the packet processor has let go of it (read index passed). The processor
            // reads it only after it has seen the header, which is stored last with release.
            unsafe {
                let slot = self
                    .base
                    .add((index & (self.size - 1)) as usize)
                    .cast::<u32>();
                std::ptr::copy_nonoverlapping(packet.0.as_ptr().add(1), slot.add(1), 15);
                AtomicU32::from_ptr(slot).store(packet.0[0], Ordering::Release);
            }
        }
        producer.write = first + count;
        producer.unrung = !ring;
        if ring {
            self.ring_doorbell(first + count - 1);
        }
        Some(first + count - 1)
    }

    /// Rings the doorbell if packets were written without.
    pub(crate) fn ring(&self) {
        let mut producer = self.producer.lock();
        if std::mem::take(&mut producer.unrung) {
            self.ring_doorbell(producer.write - 1);
        }
    }

    fn ring_doorbell(&self, index: u64) {
        // SAFETY: the doorbell lives as long as the queue.
        unsafe { self.hsa.signal_store(self.doorbell, index as i64) };
    }
}

impl Drop for HwQueue {
    fn drop(&mut self) {
        // SAFETY: the last reference; users have none of their packets in flight, or the device has faulted.
        let status = unsafe { (self.hsa.api.hsa_queue_destroy)(self.queue) };
        if status != HSA_STATUS_SUCCESS {
            tracing::error!("hsa_queue_destroy failed: {status}");
        }
    }
}

/// A host queue's share of a hardware queue.
#[derive(Debug)]
pub(crate) struct HwQueueUse(Arc<HwQueue>);

impl std::ops::Deref for HwQueueUse {
    type Target = HwQueue;
    fn deref(&self) -> &HwQueue {
        &self.0
    }
}

impl HwQueueUse {
    pub(crate) fn is_exclusive(&self) -> bool {
        self.0.exclusive.load(Ordering::Relaxed)
    }

    /// Others may have a share again.
    pub(crate) fn share(&self) {
        if self.0.exclusive.load(Ordering::Relaxed) && !self.0.masked {
            self.0.exclusive.store(false, Ordering::Release);
        }
    }
}

impl Drop for HwQueueUse {
    fn drop(&mut self) {
        self.share();
        self.0.users.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a queue's own mask and the mask for all queues leave; the latter alone if they have no unit in common. Empty: all units.
fn effective_mask(own: &[u32], global: &[u32]) -> Vec<u32> {
    if own.is_empty() || global.is_empty() {
        return if own.is_empty() { global } else { own }.to_vec();
    }
    let both: Vec<u32> = own
        .iter()
        .zip(global.iter().chain(std::iter::repeat(&0)))
        .map(|(own, global)| own & global)
        .collect();
    if both.iter().any(|word| *word != 0) {
        both
    } else {
        global.to_vec()
    }
}

/// Hardware queues that a device makes beyond the shared ones, for host queues that must not stand in another one's way.
const UNSHARED_LIMIT: usize = 28;

/// The hardware queues of a device: at most `GPU_MAX_HW_QUEUES` that are shared for each priority, kept once made; up to
/// [`UNSHARED_LIMIT`] more that one host queue each has for itself for a while; one for cooperative launches. A queue with a CU mask of
/// its own is in no pool and goes with its host queue.
#[derive(Debug, Default)]
pub(crate) struct HwQueues {
    pool: Mutex<[Vec<Arc<HwQueue>>; 3]>,
    cooperative: Mutex<Option<Arc<HwQueue>>>,
}

impl HwQueues {
    /// A share: of an unused queue, else of a new one, else of the one with the fewest users.
    pub(crate) fn acquire(
        &self,
        device: &Device,
        priority: Priority,
        cu_mask: &[u32],
    ) -> Result<HwQueueUse> {
        if !cu_mask.is_empty() {
            let queue = HwQueue::create(device, HSA_QUEUE_TYPE_MULTI, priority, cu_mask)?;
            queue.users.fetch_add(1, Ordering::Relaxed);
            return Ok(HwQueueUse(queue));
        }
        let mut pool = self.pool.lock();
        let class = &mut pool[priority as usize];
        // Acquire: pairs with the release in `share`.
        let sharable = |queue: &&Arc<HwQueue>| !queue.exclusive.load(Ordering::Acquire);
        let count = class.iter().filter(sharable).count();
        let least = class
            .iter()
            .filter(sharable)
            .min_by_key(|queue| queue.users.load(Ordering::Relaxed))
            .cloned();
        let queue = match least {
            Some(queue)
                if queue.users.load(Ordering::Relaxed) == 0
                    || count >= device.shared().config.max_hw_queues =>
            {
                queue
            }
            least => match HwQueue::create(device, HSA_QUEUE_TYPE_MULTI, priority, &[]) {
                Ok(queue) => {
                    class.push(queue.clone());
                    queue
                }
                // No more to be had: share.
                Err(error) => least.ok_or(error)?,
            },
        };
        queue.users.fetch_add(1, Ordering::Relaxed);
        Ok(HwQueueUse(queue))
    }

    /// Gives a host queue a hardware queue of its own, so that packets that wait stand in nobody's way. `Ok(None)`: the one it has is its
    /// own now; `Ok(Some)`: it gets this one; `Err`: there is none to be had.
    pub(crate) fn unshare(
        &self,
        device: &Device,
        priority: Priority,
        held: &HwQueueUse,
    ) -> std::result::Result<Option<HwQueueUse>, ()> {
        let mut pool = self.pool.lock();
        if held.0.users.load(Ordering::Relaxed) == 1 {
            held.0.exclusive.store(true, Ordering::Relaxed);
            return Ok(None);
        }
        let total: usize = pool.iter().map(Vec::len).sum();
        let class = &mut pool[priority as usize];
        let unused = class
            .iter()
            .find(|queue| queue.users.load(Ordering::Relaxed) == 0)
            .cloned();
        let queue = match unused {
            Some(queue) => queue,
            None if total >= device.shared().config.max_hw_queues + UNSHARED_LIMIT => {
                return Err(());
            }
            None => {
                let queue = HwQueue::create(device, HSA_QUEUE_TYPE_MULTI, priority, &[])
                    .map_err(|error| tracing::debug!("no unshared hardware queue: {error}"))?;
                class.push(queue.clone());
                queue
            }
        };
        queue.users.fetch_add(1, Ordering::Relaxed);
        queue.exclusive.store(true, Ordering::Relaxed);
        Ok(Some(HwQueueUse(queue)))
    }

    /// The queue for cooperative launches. All cooperative launches of a device go through it, one after the other.
    pub(crate) fn cooperative(&self, device: &Device) -> Result<Arc<HwQueue>> {
        let mut cooperative = self.cooperative.lock();
        if let Some(queue) = &*cooperative {
            return Ok(queue.clone());
        }
        let queue = HwQueue::create(device, HSA_QUEUE_TYPE_COOPERATIVE, Priority::Normal, &[])?;
        *cooperative = Some(queue.clone());
        Ok(queue)
    }

    /// Marks all queues as dead and forgets them.
    pub(crate) fn bury(&self) {
        let mut pool = self.pool.lock();
        for queue in pool.iter_mut().flat_map(|class| class.drain(..)) {
            queue.dead.store(true, Ordering::Release);
        }
        if let Some(queue) = self.cooperative.lock().take() {
            queue.dead.store(true, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::effective_mask;

    #[test]
    fn a_queues_mask_is_cut_by_the_mask_for_all() {
        assert_eq!(effective_mask(&[], &[]), [0_u32; 0]);
        assert_eq!(effective_mask(&[0xf0], &[]), [0xf0]);
        assert_eq!(effective_mask(&[], &[0xff]), [0xff]);
        assert_eq!(effective_mask(&[0xff0, 1], &[0xff]), [0xf0, 0]);
        assert_eq!(effective_mask(&[0xf00], &[0xff]), [0xff]);
    }
}
