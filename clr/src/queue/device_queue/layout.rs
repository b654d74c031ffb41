//! The memory of device queues, as the device libraries' `enqueue_kernel`, `enqueue_marker` and event functions read and write it
//! (ROCm-Device-Libs, `opencl/src/devenq/devenq.h`: `AmdVQueueHeader`, `AmdAqlWrap`, `AmdEvent`; `enqueue.cl`: `struct rtinfo`).
//!
//! Device code and the scheduler share it: what both touch is atomic here. A slot or an event belongs to who has set its bit in the mask; a
//! slot's other words belong to the enqueuing work-item until its state is [`READY`] or [`MARKER`], stored with release, and to the
//! scheduler from then on, except for the counter of children.

use std::{
    cell::UnsafeCell,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
};

use gneiss_hsa_api::hsa_kernel_dispatch_packet_t;

use crate::{Device, Error, HostFlags, Memory, Result};

/// Slot states.
pub(super) const FREE: u32 = 0;
/// A kernel to start.
pub(super) const READY: u32 = 2;
/// A marker.
pub(super) const MARKER: u32 = 3;
/// The kernel was started.
pub(super) const BUSY: u32 = 4;
/// The kernel has ended; its children may not have.
pub(super) const DONE: u32 = 5;

/// `CLK_ENQUEUE_FLAGS_NO_WAIT`; the others wait for the end of the parent, of which its work-group's end is a part.
pub(super) const NO_WAIT: u32 = 0;

/// Bytes for the arguments of a slot's kernel: OpenCL's least largest size of all arguments, which here goes for what a block captures,
/// and the hidden ones.
pub(super) const ARGUMENTS: usize = 1024 + 64;
/// Events in the wait list of a slot.
pub(super) const WAITS: usize = 32;
/// Events that there are at a time, over all queues that share them.
pub(super) const EVENTS: u32 = 4096;
/// Slots and events come in words of masks.
pub(super) const MASK_BITS: u32 = 32;

/// `AmdVQueueHeader`: what a `queue_t` points to. Slots follow it.
#[repr(C)]
pub(super) struct Header {
    slots: u32,
    events: u32,
    event_mask: u64,
    event_table: u64,
    slot_mask: u64,
    commands: AtomicU32,
    waits: u32,
    arguments: u32,
    mask_groups: u32,
    kernels: u64,
    reserved: [u32; 2],
}

/// `AmdAqlWrap`: a slot of a queue, or what stands for a kernel that the host has launched.
#[repr(C)]
pub(super) struct Wrap {
    pub(super) state: AtomicU32,
    pub(super) flags: AtomicU32,
    pub(super) command: AtomicU32,
    /// Children that have not ended.
    pub(super) children: AtomicU32,
    /// Address of the event that ends with it; 0: none.
    pub(super) event: AtomicU64,
    /// Address of the parent's [`Wrap`].
    pub(super) parent: AtomicU64,
    wait_list: AtomicU64,
    pub(super) waits: AtomicU32,
    reserved: [u32; 5],
    packet: UnsafeCell<hsa_kernel_dispatch_packet_t>,
}

impl Wrap {
    /// The packet that device code has made.
    pub(super) fn packet(&self) -> hsa_kernel_dispatch_packet_t {
        // SAFETY: called by the scheduler for slots whose state it has read as `READY` or later, with acquire: nobody writes it.
        unsafe { *self.packet.get() }
    }

    /// Whether its command is written: the slot is the scheduler's.
    pub(super) fn is_written(&self) -> bool {
        // Acquire: pairs with the device's release.
        (READY..=DONE).contains(&self.state.load(Ordering::Acquire))
    }

    /// Makes it what a new kernel of the host needs: no children.
    pub(super) fn reset(&self) {
        self.children.store(0, Ordering::Relaxed);
        self.state.store(BUSY, Ordering::Release);
    }
}

/// `AmdEvent`: what a `clk_event_t` points to.
#[repr(C)]
pub(super) struct EventSlot {
    /// As of an OpenCL event: `CL_SUBMITTED`, `CL_COMPLETE` or an error.
    pub(super) state: AtomicU32,
    /// References; at 0 it is free.
    pub(super) references: AtomicU32,
    /// When its command started, ended, and ended with all children.
    pub(super) times: [AtomicU64; 3],
    /// Where `capture_event_profiling_info` wants the times; 0: nowhere.
    pub(super) capture: AtomicU64,
}

/// `struct rtinfo`: what the address of a block's kernel in device code points to.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuntimeHandle {
    /// Address of the kernel's descriptor.
    pub(crate) kernel_object: u64,
    pub(crate) private_segment_size: u32,
    pub(crate) group_segment_size: u32,
}

const _: () = assert!(size_of::<Header>() == 64);
const _: () = assert!(size_of::<Wrap>() == 128);
const _: () = assert!(size_of::<EventSlot>() == 40);
const _: () = assert!(size_of::<RuntimeHandle>() == 16);

/// Memory that device code reads and writes, freed with this.
#[derive(Debug)]
pub(super) struct Shared(Arc<Memory>);

impl Shared {
    /// Zeroed memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn new(device: &Arc<Device>, size: usize) -> Result<Self> {
        let runtime = device
            .runtime()
            .ok_or(Error::Gone("the runtime has ended"))?;
        let memory = runtime.allocate_host(device, size, HostFlags::COHERENT)?;
        let shared = Self(memory);
        // SAFETY: the allocation is that large, and nobody else knows it.
        unsafe { std::ptr::write_bytes(shared.host() as *mut u8, 0, size) };
        Ok(shared)
    }

    /// Its address for the device.
    pub(super) fn address(&self) -> u64 {
        self.0.device_address()
    }

    fn host(&self) -> usize {
        self.0.host_address().unwrap_or_default()
    }

    /// What lies at an offset.
    ///
    /// # Safety
    /// The type must be one of this file's or an atomic, fit into the memory there, and be aligned.
    unsafe fn at<T>(&self, offset: usize) -> &T {
        debug_assert!(offset + size_of::<T>() <= self.0.size());
        // SAFETY: the caller's; the memory is initialised, lives as long as `self`, and changes through atomics.
        unsafe { &*((self.host() + offset) as *const T) }
    }

    /// The element of an array at `offset` that has this device address.
    fn index(&self, offset: usize, size: usize, count: u32, address: u64) -> Option<u32> {
        let inside = address.checked_sub(self.address() + offset as u64)?;
        let index = inside / size as u64;
        (inside % size as u64 == 0 && index < u64::from(count)).then_some(index as u32)
    }

    /// The words of a mask of `count` bits.
    ///
    /// # Safety
    /// As [`at`](Self::at).
    unsafe fn mask(&self, offset: usize, count: u32) -> &[AtomicU32] {
        // SAFETY: the caller's.
        let first: &AtomicU32 = unsafe { self.at(offset) };
        // SAFETY: as `at`, for all words.
        unsafe { std::slice::from_raw_parts(first, (count / MASK_BITS) as usize) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.device.runtime()
            && let Err(error) = runtime.free(self.0.device_address() as usize)
        {
            tracing::error!("{error}");
        }
    }
}

/// The events of all queues that share them, and a queue without room for kernels that takes events only.
#[derive(Debug)]
pub(super) struct Events {
    memory: Shared,
}

const EVENT_MASK: usize = size_of::<Header>();
const FULL_MASK: usize = EVENT_MASK + (EVENTS / 8) as usize;
const EVENT_TABLE: usize = FULL_MASK + 8;

impl Events {
    pub(super) fn new(device: &Arc<Device>) -> Result<Self> {
        let size = EVENT_TABLE + EVENTS as usize * size_of::<EventSlot>();
        let events = Self {
            memory: Shared::new(device, size)?,
        };
        // All slots of the queue without room are taken.
        // SAFETY: in the memory, aligned.
        let full: &AtomicU32 = unsafe { events.memory.at(FULL_MASK) };
        full.store(u32::MAX, Ordering::Relaxed);
        let header = events.header(MASK_BITS, events.memory.address() + FULL_MASK as u64);
        // SAFETY: at the start of the memory, which nobody knows.
        unsafe { (events.memory.host() as *mut Header).write(header) };
        Ok(events)
    }

    /// The queue without room.
    pub(super) fn address(&self) -> u64 {
        self.memory.address()
    }

    fn header(&self, slots: u32, slot_mask: u64) -> Header {
        Header {
            slots,
            events: EVENTS,
            event_mask: self.memory.address() + EVENT_MASK as u64,
            event_table: self.memory.address() + EVENT_TABLE as u64,
            slot_mask,
            commands: AtomicU32::new(0),
            waits: WAITS as u32,
            arguments: ARGUMENTS as u32,
            mask_groups: 1,
            kernels: 0,
            reserved: [0; 2],
        }
    }

    /// The event at an address; none: there is none there.
    pub(super) fn get(&self, address: u64) -> Option<&EventSlot> {
        let size = size_of::<EventSlot>();
        let index = self.memory.index(EVENT_TABLE, size, EVENTS, address)?;
        // SAFETY: in the table.
        Some(unsafe { self.memory.at(EVENT_TABLE + index as usize * size) })
    }

    /// Ends an event with an error.
    pub(super) fn fail(&self, address: u64) {
        if let Some(event) = self.get(address) {
            event.state.store(-1_i32 as u32, Ordering::Release);
        }
    }

    /// Takes one reference from an event; the last one frees it.
    pub(super) fn release(&self, address: u64) {
        let Some(event) = self.get(address) else {
            return;
        };
        // Acquire and release: whoever frees it has seen what the others did with it.
        if event.references.fetch_sub(1, Ordering::AcqRel) == 1 {
            let size = size_of::<EventSlot>();
            let index = self.memory.index(EVENT_TABLE, size, EVENTS, address);
            // SAFETY: the mask is in the memory.
            let mask = unsafe { self.memory.mask(EVENT_MASK, EVENTS) };
            clear(mask, index.unwrap_or_default());
        }
    }
}

/// A queue's memory: header, slots, mask of the taken ones, wait lists, arguments.
#[derive(Debug)]
pub(super) struct Slots {
    memory: Shared,
    count: u32,
    /// Its handle is gone.
    released: AtomicBool,
}

const WRAPS: usize = size_of::<Header>();

/// Offsets of the parts of a queue's memory that follow its slots.
struct Parts {
    mask: usize,
    waits: usize,
    arguments: usize,
}

impl Parts {
    fn of(count: u32) -> Self {
        let all = count as usize;
        let mask = WRAPS + all * size_of::<Wrap>();
        let waits = (mask + all / 8).next_multiple_of(8);
        Self {
            mask,
            waits,
            arguments: (waits + all * WAITS * 8).next_multiple_of(64),
        }
    }
}

impl Slots {
    /// A queue with that many slots, a multiple of [`MASK_BITS`].
    pub(super) fn new(device: &Arc<Device>, count: u32, events: &Events) -> Result<Self> {
        let all = count as usize;
        let Parts {
            mask,
            waits,
            arguments,
        } = Parts::of(count);
        let slots = Self {
            memory: Shared::new(device, arguments + all * ARGUMENTS)?,
            count,
            released: AtomicBool::new(false),
        };
        let base = slots.memory.address();
        let header = events.header(count, base + mask as u64);
        // SAFETY: at the start of the memory, which nobody knows.
        unsafe { (slots.memory.host() as *mut Header).write(header) };
        for slot in 0..all {
            let wrap = slots.wrap(slot as u32);
            let list = base + (waits + slot * WAITS * 8) as u64;
            wrap.wait_list.store(list, Ordering::Relaxed);
            let place = base + (arguments + slot * ARGUMENTS) as u64;
            // SAFETY: nobody knows the memory.
            unsafe { (*wrap.packet.get()).kernarg_address = place as *mut _ };
        }
        Ok(slots)
    }

    pub(super) fn address(&self) -> u64 {
        self.memory.address()
    }

    pub(super) fn release(&self) {
        self.released.store(true, Ordering::Release);
    }

    pub(super) fn is_released(&self) -> bool {
        self.released.load(Ordering::Acquire)
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    pub(super) fn wrap(&self, slot: u32) -> &Wrap {
        assert!(slot < self.count, "a slot of the queue");
        // SAFETY: checked.
        unsafe { self.memory.at(WRAPS + slot as usize * size_of::<Wrap>()) }
    }

    /// Address of a slot's wrap.
    pub(super) fn address_of(&self, slot: u32) -> u64 {
        self.address() + (WRAPS + slot as usize * size_of::<Wrap>()) as u64
    }

    /// The slot whose wrap has this address.
    pub(super) fn find(&self, address: u64) -> Option<u32> {
        self.memory
            .index(WRAPS, size_of::<Wrap>(), self.count, address)
    }

    fn mask(&self) -> &[AtomicU32] {
        // SAFETY: the mask is in the memory.
        unsafe { self.memory.mask(Parts::of(self.count).mask, self.count) }
    }

    /// The slots that are taken.
    pub(super) fn taken(&self) -> impl Iterator<Item = u32> {
        self.mask().iter().enumerate().flat_map(|(word, bits)| {
            let bits = bits.load(Ordering::Acquire);
            (0..MASK_BITS)
                .filter(move |bit| bits >> bit & 1 != 0)
                .map(move |bit| word as u32 * MASK_BITS + bit)
        })
    }

    /// Frees a slot.
    pub(super) fn free(&self, slot: u32) {
        self.wrap(slot).state.store(FREE, Ordering::Relaxed);
        clear(self.mask(), slot);
    }

    /// The events that a slot's command waits for.
    pub(super) fn wait_list(&self, slot: u32) -> impl Iterator<Item = u64> {
        let offset = Parts::of(self.count).waits;
        let count = self.wrap(slot).waits.load(Ordering::Relaxed) as usize;
        (0..count.min(WAITS)).map(move |index| {
            let place = offset + (slot as usize * WAITS + index) * 8;
            // SAFETY: in the slot's list.
            let event: &AtomicU64 = unsafe { self.memory.at(place) };
            event.load(Ordering::Relaxed)
        })
    }

    /// Copies the start of a slot's arguments; none: there are not as many.
    pub(super) fn arguments(&self, slot: u32, size: usize) -> Option<Vec<u8>> {
        if size > ARGUMENTS {
            return None;
        }
        let start = Parts::of(self.count).arguments + slot as usize * ARGUMENTS;
        let mut bytes = vec![0; size];
        // SAFETY: in the slot's arguments, whose writer has given the slot away.
        unsafe {
            let source = (self.memory.host() + start) as *const u8;
            std::ptr::copy_nonoverlapping(source, bytes.as_mut_ptr(), size);
        }
        Some(bytes)
    }
}

/// Wraps for kernels of the host; a piece of memory for some of them.
#[derive(Debug)]
pub(super) struct Roots(Shared);

/// Wraps in a [`Roots`].
pub(super) const ROOTS: u32 = 64;

impl Roots {
    pub(super) fn new(device: &Arc<Device>) -> Result<Self> {
        Shared::new(device, ROOTS as usize * size_of::<Wrap>()).map(Self)
    }

    /// Address of one.
    pub(super) fn address_of(&self, index: u32) -> u64 {
        self.0.address() + u64::from(index) * size_of::<Wrap>() as u64
    }

    /// The wrap at an address.
    pub(super) fn get(&self, address: u64) -> Option<&Wrap> {
        let size = size_of::<Wrap>();
        let index = self.0.index(0, size, ROOTS, address)?;
        // SAFETY: in the memory.
        Some(unsafe { self.0.at(index as usize * size) })
    }
}

/// Release: whoever takes the bit next sees what its last owner has done.
fn clear(mask: &[AtomicU32], index: u32) {
    if let Some(word) = mask.get((index / MASK_BITS) as usize) {
        word.fetch_and(!(1 << (index % MASK_BITS)), Ordering::Release);
    }
}
