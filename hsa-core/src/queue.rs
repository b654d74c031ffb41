//! Queues: the public `amd_queue_t`, the ring of packets, and the table that leads from a doorbell to its queue.
//!
//! A queue's memory is two allocations that all GPUs can address: the control block (the `amd_queue_t`, the doorbell's word, and copies
//! of the dispatch packets that are running) and the ring. The processing of packets is in [`crate::processor`].
//!
//! Destroying a queue: (1) it leaves the table, so that no doorbell finds it; (2) it is made inactive, and a poll that is under way
//! ends; (3) what runs is cancelled and awaited; (4) its memory and signals go.

pub(crate) mod intercept;
mod share;
mod soft;
mod structure;

use std::{
    collections::HashMap,
    ffi::{CString, c_void},
    ptr::NonNull,
    sync::{
        Arc, LazyLock, OnceLock, Weak,
        atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use gneiss_amdgcn::engine::{DispatchClient, Engine, Gpu, Task, TaskState};
use gneiss_hsa_api::*;
use parking_lot::Mutex;

use crate::{
    agent::AgentId,
    entry::{HsaResult, require},
    memory::Origin,
    pool::{PoolId, PoolKind},
    processor::{MAX_IN_FLIGHT, Processor, Running},
    protocol::places::Places,
    runtime::Runtime,
    signal, sys,
};

use intercept::Intercept;
use share::full_mask;
pub(crate) use soft::create_soft;

/// Fewest packets of a ring.
pub(crate) const MIN_SIZE: u32 = 64;
/// Most packets of a ring.
pub(crate) const MAX_SIZE: u32 = 0x2_0000;
/// Most scratch of a work-item in bytes.
pub(crate) const MAX_PRIVATE_SEGMENT: u32 = 262_128;

/// Most queues of a process.
const SLOTS: usize = 4096;
/// Offset of the doorbell's word in the control block.
const DOORBELL_OFFSET: usize = 256;
/// Offset of the packet copies in the control block.
const COPIES_OFFSET: usize = 4096;
const CONTROL_BYTES: usize = COPIES_OFFSET + MAX_IN_FLIGHT * 64;

/// A hardware queue.
pub(crate) struct Queue {
    /// The pool's state of the packet processor.
    pub(crate) task: TaskState,
    /// The GPU.
    pub(crate) gpu: Arc<Gpu>,
    /// The GPU's agent.
    pub(crate) agent: AgentId,
    /// For the loader, when a kernel is seen for the first time.
    pub(crate) runtime: Weak<Runtime>,
    /// Itself, for calls that come without a count.
    weak: Weak<Queue>,
    slot: u32,
    control: NonNull<u8>,
    ring: NonNull<u8>,
    size: u32,
    doorbell: hsa_signal_t,
    inactive_signal: hsa_signal_t,
    /// What is called, once, when the queue fails; none: print and abort.
    pub(crate) callback: hsa_queue_callback_t,
    /// The callback's data.
    pub(crate) data: usize,
    /// Packets are processed.
    pub(crate) active: AtomicBool,
    /// The queue has failed.
    pub(crate) failed: AtomicBool,
    /// The packet processor, which one thread runs at a time.
    pub(crate) processor: Mutex<Processor>,
    /// The dispatches that run.
    pub(crate) running: [Mutex<Option<Running>>; MAX_IN_FLIGHT],
    /// Which places of `running` are free.
    pub(crate) places: Places,
    /// Bumped when a dispatch ends while somebody waits for all of them.
    pub(crate) ended: AtomicU32,
    /// Report of the fault that stopped the queue.
    pub(crate) report: Mutex<Option<CString>>,
    cu_mask: Mutex<Vec<u32>>,
    priority: AtomicU32,
    /// The doorbell's value that the processor was last woken for.
    heard: AtomicU64,
    /// For a queue whose packets tools see before another queue gets them.
    intercept: OnceLock<Intercept>,
    /// For that other queue: address of the queue that the program knows.
    facade: AtomicUsize,
}

// SAFETY: the pointers are to the queue's own memory, whose shared words are accessed as atomics; the callback's data is the user's.
unsafe impl Send for Queue {}
// SAFETY: as above.
unsafe impl Sync for Queue {}

const _: () = assert!(MAX_IN_FLIGHT == 64, "`Places` has a bit for each");

/// Slots that have been used.
static USED: AtomicU32 = AtomicU32::new(0);

/// Queues by slot. A slot's lock is the queue's own: no doorbell takes a lock that another queue's takes.
static TABLE: [Mutex<Option<Arc<Queue>>>; SLOTS] = [const { Mutex::new(None) }; SLOTS];

#[derive(Default)]
struct Slots {
    free: Vec<u32>,
    next: u32,
    live: usize,
    next_id: u64,
    /// The cooperative queue of each GPU, and how many share it.
    cooperative: HashMap<usize, (usize, usize)>,
    /// Soft queues: address of the structure, address of the ring.
    soft: HashMap<usize, usize>,
}

static FREE: LazyLock<Mutex<Slots>> = LazyLock::new(Mutex::default);

/// Number of live queues.
pub(crate) fn live() -> usize {
    FREE.lock().live
}

/// What `hsa_queue_create` is asked for.
pub(crate) struct Request {
    pub(crate) size: u32,
    pub(crate) kind: u32,
    pub(crate) callback: hsa_queue_callback_t,
    pub(crate) data: *mut c_void,
    pub(crate) private_segment_size: u32,
}

/// `hsa_queue_create`.
pub(crate) fn create(
    runtime: &Arc<Runtime>,
    agent: hsa_agent_t,
    request: &Request,
) -> HsaResult<*mut hsa_queue_t> {
    require(
        request.size.is_power_of_two()
            && request.size >= MIN_SIZE
            && request.kind <= HSA_QUEUE_TYPE_COOPERATIVE,
    )?;
    let id = runtime.agents.id(agent)?;
    let gpu = id.gpu().ok_or(HSA_STATUS_ERROR_INVALID_QUEUE_CREATION)?;
    if request.size > MAX_SIZE
        || (request.private_segment_size != u32::MAX
            && request.private_segment_size > MAX_PRIVATE_SEGMENT)
    {
        return Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    }
    if request.kind == HSA_QUEUE_TYPE_COOPERATIVE
        && let Some((queue, users)) = FREE.lock().cooperative.get_mut(&gpu)
    {
        *users += 1;
        return Ok(*queue as *mut hsa_queue_t);
    }
    let queue = Queue::new(runtime, gpu, request)?;
    let pointer = queue.public();
    publish(queue);
    if request.kind == HSA_QUEUE_TYPE_COOPERATIVE {
        let mut slots = FREE.lock();
        slots.cooperative.insert(gpu, (pointer as usize, 1));
    }
    Ok(pointer)
}

/// Puts a queue into the table.
fn publish(queue: Arc<Queue>) {
    let slot = queue.slot as usize;
    *TABLE[slot].lock() = Some(queue);
    FREE.lock().live += 1;
}

/// Looks for doorbells that device code has rung: it stores to the word, and nobody hears of it. Called while and after dispatches run.
pub(crate) fn listen() {
    for place in &TABLE[..USED.load(Ordering::Relaxed) as usize] {
        // A queue that is being made or destroyed has no doorbell to look at; whoever holds the lock does not need this one.
        let rung = place.try_lock().and_then(|place| {
            let queue = place.as_ref()?;
            let value = queue.doorbell_word().load(Ordering::Acquire);
            let rung = queue.heard.load(Ordering::Relaxed) != value;
            rung.then(|| {
                queue.heard.store(value, Ordering::Relaxed);
                Arc::clone(queue)
            })
        });
        if let Some(queue) = rung {
            queue.wake();
        }
    }
}

/// The queue of a slot.
fn in_slot(slot: u32) -> Option<Arc<Queue>> {
    TABLE.get(slot as usize)?.lock().clone()
}

/// The queue of a pointer that a user passes.
///
/// # Safety
/// `queue` is null or points to a readable `hsa_queue_t`.
pub(crate) unsafe fn find(queue: *const hsa_queue_t) -> HsaResult<Arc<Queue>> {
    require(!queue.is_null() && queue.is_aligned())?;
    // SAFETY: the caller's promise.
    let doorbell = unsafe { (*queue).doorbell_signal };
    let (_, address, slot) = signal::cell(doorbell)
        .and_then(signal::Cell::doorbell)
        .ok_or(HSA_STATUS_ERROR_INVALID_QUEUE)?;
    in_slot(slot)
        .filter(|found| address == queue as u64 && found.public().cast_const() == queue)
        .ok_or(HSA_STATUS_ERROR_INVALID_QUEUE)
}

/// A store to a doorbell: the word is written and the packet processor woken.
pub(crate) fn ring(cell: &signal::Cell, value: i64) {
    let Some((_, address, slot)) = cell.doorbell() else {
        tracing::error!(signal = ?cell.handle(), "store to an invalid signal");
        return;
    };
    if let Some(queue) = in_slot(slot).filter(|queue| queue.public() as u64 == address) {
        queue.heard.store(value.cast_unsigned(), Ordering::Relaxed);
        queue
            .doorbell_word()
            .store(value.cast_unsigned(), Ordering::Release);
        match queue.intercept.get() {
            None => queue.wake(),
            Some(intercept) => intercept.run(&queue),
        }
    }
}

/// `hsa_queue_destroy`.
///
/// # Safety
/// As [`find`].
pub(crate) unsafe fn destroy(runtime: &Runtime, queue: *mut hsa_queue_t) -> HsaResult {
    require(!queue.is_null())?;
    if let Some(ring) = FREE.lock().soft.remove(&(queue as usize)) {
        runtime.memory.free(&runtime.agents, ring as u64)?;
        return runtime.memory.free(&runtime.agents, queue as u64);
    }
    // SAFETY: the caller's promise.
    let found = unsafe { find(queue) }?;
    {
        let mut slots = FREE.lock();
        if let Some(gpu) = found.agent.gpu()
            && let Some((shared, users)) = slots.cooperative.get_mut(&gpu)
            && *shared == queue as usize
        {
            *users -= 1;
            if *users > 0 {
                return Ok(());
            }
            slots.cooperative.remove(&gpu);
        }
    }
    take_down(runtime, found)
}

/// Destroys all queues, at shutdown.
pub(crate) fn destroy_all(runtime: &Runtime) {
    let used = {
        let mut slots = FREE.lock();
        slots.cooperative.clear();
        slots.soft.clear();
        slots.next
    };
    for slot in 0..used {
        if let Some(queue) = in_slot(slot)
            && let Err(status) = take_down(runtime, queue)
        {
            tracing::warn!(%status, "a queue was destroyed by somebody else during shutdown");
        }
    }
}

fn take_down(runtime: &Runtime, queue: Arc<Queue>) -> HsaResult {
    let taken = {
        let mut place = TABLE[queue.slot as usize].lock();
        if place
            .as_ref()
            .is_some_and(|there| Arc::ptr_eq(there, &queue))
        {
            place.take()
        } else {
            None
        }
    };
    taken.ok_or(HSA_STATUS_ERROR_INVALID_QUEUE)?;
    queue.active.store(false, Ordering::SeqCst);
    if let Some(intercept) = queue.intercept.get() {
        intercept.close(runtime)?;
    }
    // Ends a poll that is under way, and what the queue waits for.
    queue.processor.lock().forget();
    let client: Arc<dyn DispatchClient> = queue.clone();
    for (token, running) in queue.running.iter().enumerate() {
        let there = running.lock().is_some();
        if there {
            Engine::global().cancel(&client, token as u64);
        }
    }
    queue.wait_until_idle();
    signal::destroy_doorbell(queue.doorbell);
    signal::destroy(queue.inactive_signal)?;
    let agents = &runtime.agents;
    runtime
        .memory
        .free_of_queue(agents, queue.control.as_ptr() as u64)?;
    runtime
        .memory
        .free_of_queue(agents, queue.ring.as_ptr() as u64)?;
    let mut slots = FREE.lock();
    slots.live -= 1;
    slots.free.push(queue.slot);
    Ok(())
}

impl Queue {
    /// What tools do with the packets of this queue, if they do.
    pub(crate) fn intercept(&self) -> Option<&Intercept> {
        self.intercept.get()
    }

    fn new(runtime: &Arc<Runtime>, gpu: usize, request: &Request) -> HsaResult<Arc<Queue>> {
        let agents = &runtime.agents;
        let memory = &runtime.memory;
        let pool = PoolId {
            agent: AgentId::CPU,
            kind: PoolKind::Fine,
        };
        let everywhere = agents.all_gpus();
        let owner = Origin::Queue(AgentId::of_gpu(gpu));
        let control = memory.allocate_for(agents, pool, CONTROL_BYTES, everywhere, owner)?;
        let undo = |status: hsa_status_t, bases: &[u64]| {
            for &base in bases {
                if let Err(error) = memory.free_of_queue(agents, base) {
                    tracing::warn!(%error, "memory of a queue that could not be made was freed by somebody else");
                }
            }
            status
        };
        let ring = memory
            .allocate_for(agents, pool, request.size as usize * 64, everywhere, owner)
            .map_err(|status| undo(status, &[control.base]))?;
        let both = [control.base, ring.base];
        let (slot, id) = {
            let mut slots = FREE.lock();
            let slot = match slots.free.pop() {
                Some(slot) => slot,
                None if (slots.next as usize) < SLOTS => {
                    slots.next += 1;
                    USED.store(slots.next, Ordering::Relaxed);
                    slots.next - 1
                }
                None => return Err(undo(HSA_STATUS_ERROR_OUT_OF_RESOURCES, &both)),
            };
            slots.next_id += 1;
            (slot, slots.next_id - 1)
        };
        let signals =
            signal::create_doorbell(control.base + DOORBELL_OFFSET as u64, control.base, slot)
                .and_then(|doorbell| Ok((doorbell, signal::create(0, true)?)));
        let (doorbell, inactive_signal) = signals.map_err(|status| {
            FREE.lock().free.push(slot);
            undo(status, &both)
        })?;
        let as_pointer =
            |base: u64| NonNull::new(base as *mut u8).ok_or(HSA_STATUS_ERROR_OUT_OF_RESOURCES);
        let (control, ring) = (as_pointer(control.base)?, as_pointer(ring.base)?);
        let queue = Arc::new_cyclic(|weak| Queue {
            weak: weak.clone(),
            task: TaskState::default(),
            gpu: Arc::clone(&agents.gpus[gpu].engine),
            agent: AgentId::of_gpu(gpu),
            runtime: Arc::downgrade(runtime),
            slot,
            control,
            ring,
            size: request.size,
            doorbell,
            inactive_signal,
            callback: request.callback,
            data: request.data as usize,
            active: AtomicBool::new(true),
            failed: AtomicBool::new(false),
            processor: Mutex::default(),
            running: [const { Mutex::new(None) }; MAX_IN_FLIGHT],
            places: Places::new(),
            ended: AtomicU32::new(0),
            report: Mutex::new(None),
            cu_mask: Mutex::new(full_mask(agents, gpu)),
            priority: AtomicU32::new(HSA_AMD_QUEUE_PRIORITY_NORMAL),
            heard: AtomicU64::new(u64::MAX),
            intercept: OnceLock::new(),
            facade: AtomicUsize::new(0),
        });
        queue.write_structure(agents, gpu, request, id);
        Ok(queue)
    }

    /// The public structure.
    pub(crate) fn public(&self) -> *mut hsa_queue_t {
        self.control.as_ptr().cast()
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        debug_assert!(offset.is_multiple_of(8) && offset < COPIES_OFFSET);
        // SAFETY: inside the control block, aligned, and accessed as an atomic by everybody.
        unsafe { AtomicU64::from_ptr(self.control.as_ptr().add(offset).cast()) }
    }

    /// Packets that the ring holds.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// `write_dispatch_id`.
    pub(crate) fn write_index(&self) -> &AtomicU64 {
        self.word(std::mem::offset_of!(amd_queue_t, write_dispatch_id))
    }

    /// `read_dispatch_id`.
    pub(crate) fn read_index(&self) -> &AtomicU64 {
        self.word(std::mem::offset_of!(amd_queue_t, read_dispatch_id))
    }

    fn doorbell_word(&self) -> &AtomicU64 {
        self.word(DOORBELL_OFFSET)
    }

    fn properties(&self) -> &AtomicU32 {
        // SAFETY: as in `word`.
        unsafe {
            let field = self
                .control
                .as_ptr()
                .add(std::mem::offset_of!(amd_queue_t, queue_properties));
            AtomicU32::from_ptr(field.cast())
        }
    }

    /// Address of packet `index` in the ring.
    pub(crate) fn packet(&self, index: u64) -> NonNull<u8> {
        // SAFETY: the masked index is below the number of packets in the ring.
        unsafe {
            self.ring
                .add((index & u64::from(self.size - 1)) as usize * 64)
        }
    }

    /// The header of packet `index`.
    pub(crate) fn header(&self, index: u64) -> &AtomicU16 {
        // SAFETY: the first two bytes of a packet in the ring, which everybody accesses as an atomic.
        unsafe { AtomicU16::from_ptr(self.packet(index).as_ptr().cast()) }
    }

    /// Where the copy of a running dispatch's packet lies.
    pub(crate) fn copy_of(&self, place: usize) -> NonNull<u8> {
        debug_assert!(place < MAX_IN_FLIGHT);
        // SAFETY: inside the control block.
        unsafe { self.control.add(COPIES_OFFSET + place * 64) }
    }

    /// Whether times are to be written to completion signals.
    pub(crate) fn profiling(&self) -> bool {
        self.properties().load(Ordering::Relaxed) & AMD_QUEUE_PROPERTIES_ENABLE_PROFILING != 0
    }

    /// Turns that on or off.
    pub(crate) fn set_profiling(&self, enable: bool) {
        if let Some(intercept) = self.intercept.get() {
            intercept.target().set_profiling(enable);
        }
        if enable {
            self.properties()
                .fetch_or(AMD_QUEUE_PROPERTIES_ENABLE_PROFILING, Ordering::Relaxed);
        } else {
            self.properties()
                .fetch_and(!AMD_QUEUE_PROPERTIES_ENABLE_PROFILING, Ordering::Relaxed);
        }
    }

    /// The queue that the program knows: this one, or the one whose packets come here.
    pub(crate) fn known(&self) -> *mut hsa_queue_t {
        match self.facade.load(Ordering::Relaxed) {
            0 => self.public(),
            address => address as *mut hsa_queue_t,
        }
    }

    /// Makes the packet processor run.
    pub(crate) fn wake(self: &Arc<Self>) {
        let task: Arc<dyn Task> = self.clone();
        Engine::global().wake(&task);
    }

    /// Itself, with a count; `None` while it goes.
    pub(crate) fn itself(&self) -> Option<Arc<Queue>> {
        self.weak.upgrade()
    }

    /// Whether it has not been destroyed.
    pub(crate) fn in_table(&self) -> bool {
        in_slot(self.slot).is_some_and(|queue| std::ptr::eq(&*queue, self))
    }

    /// Whether no dispatch runs.
    pub(crate) fn idle(&self) -> bool {
        self.places.idle()
    }

    /// Waits until no dispatch runs.
    fn wait_until_idle(&self) {
        loop {
            Engine::global().help(&mut || self.idle());
            let word = self.ended.load(Ordering::SeqCst);
            if self.idle() {
                return;
            }
            sys::futex_wait(&self.ended, word, Some(Duration::from_millis(1)));
        }
    }

    /// The signal that says why the queue has stopped.
    pub(crate) fn inactive_signal(&self) -> hsa_signal_t {
        self.inactive_signal
    }

    /// The doorbell's signal.
    pub(crate) fn doorbell(&self) -> hsa_signal_t {
        self.doorbell
    }
}
