//! The scheduler: starts what device code has enqueued when it may start, and ends it when it and its children have ended.
//!
//! A [pass](Scheduler::pass) looks at all taken slots:
//!
//! | state | what is done |
//! | --- | --- |
//! | ready | when the parent's end (unless the flags say not to wait) and the wait list allow it, the kernel is enqueued: busy. An error in the wait list: done, and an error for its event |
//! | marker | ends when its wait list has; without one, when all earlier commands of the queue have |
//! | busy | nothing: the end of the kernel makes it done |
//! | done | when it has no children left: its event ends, its parent has one child less, the slot is free |
//!
//! Passes are repeated until one changes nothing. Nothing can change between two ends of kernels but by kernels that run, whose own ends
//! come; so a pass at each end of a kernel is enough.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{Ordering, fence},
    },
};

use gneiss_fatbin::ValueKind;
use gneiss_hsa_api::{HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS, hsa_kernel_dispatch_packet_t};

use super::layout::{
    BUSY, DONE, EventSlot, Events, MARKER, NO_WAIT, READY, ROOTS, Roots, Slots, Wrap,
};
use crate::{Arguments, Device, Error, Event, Kernel, Launch, Program, Result, Status};

const CL_COMPLETE: u32 = 0;

/// A kernel that the host has launched.
#[derive(Debug)]
pub(super) struct Root {
    /// Keeps the blocks' kernels loaded.
    pub(super) program: Option<Arc<Program>>,
    /// What its family finds as default queue.
    pub(super) default_queue: u64,
    /// Ends with the last child.
    pub(super) done: Event,
    failed: Option<Status>,
}

/// A kernel that has ended: its wrap's address, how, and when it had started and ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) wrap: u64,
    pub(super) status: Status,
    pub(super) times: [u64; 2],
}

/// A kernel to enqueue for a slot.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) wrap: u64,
    pub(super) default_queue: u64,
    kernel: Arc<Kernel>,
    packet: hsa_kernel_dispatch_packet_t,
    /// All of them, with the hidden ones as device code has filled them in.
    pub(super) arguments: Vec<u8>,
    pub(super) offset: [u64; 3],
}

impl Start {
    /// The launch that the packet asks for.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for less local memory than the kernel has itself.
    pub(super) fn launch(&self) -> Result<Launch<'_>> {
        let packet = &self.packet;
        let fixed = self.kernel.metadata().group_segment_fixed_size;
        let Some(dynamic_shared) = packet.group_segment_size.checked_sub(fixed) else {
            return Err(Error::InvalidValue(format!(
                "kernel {}: enqueued with {} bytes of local memory",
                self.kernel.name(),
                packet.group_segment_size
            )));
        };
        Ok(Launch {
            kernel: &self.kernel,
            grid: [packet.grid_size_x, packet.grid_size_y, packet.grid_size_z],
            block: [
                packet.workgroup_size_x.into(),
                packet.workgroup_size_y.into(),
                packet.workgroup_size_z.into(),
            ],
            dynamic_shared,
            arguments: Arguments::Packed(&self.arguments),
            cooperative: false,
            any_order: false,
        })
    }

    /// Dimensions of the grid, as device code has noted them in its packet.
    pub(super) fn dimensions(&self) -> u8 {
        let noted = self.packet.setup >> HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
        (noted as u8).clamp(1, 3)
    }

    /// A grid without work-items: nothing runs.
    pub(super) fn is_empty(&self) -> bool {
        let packet = &self.packet;
        [packet.grid_size_x, packet.grid_size_y, packet.grid_size_z].contains(&0)
    }
}

/// What a pass leaves to be done without the lock.
#[derive(Debug, Default)]
pub(super) struct Work {
    pub(super) starts: Vec<Start>,
    /// Events of kernels of the host, with the status of their families.
    pub(super) finished: Vec<(Event, Status)>,
}

/// How a wait list stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    Yes,
    No,
    Failed,
}

#[derive(Debug)]
pub(super) struct Scheduler {
    device: Arc<Device>,
    events: Arc<Events>,
    queues: Vec<Arc<Slots>>,
    wraps: Vec<Roots>,
    spare: Vec<u64>,
    roots: HashMap<u64, Root>,
    /// Those that have ended themselves.
    with_children: Vec<u64>,
}

impl Scheduler {
    pub(super) fn new(device: &Arc<Device>, events: &Arc<Events>) -> Self {
        Self {
            device: device.clone(),
            events: events.clone(),
            queues: Vec::new(),
            wraps: Vec::new(),
            spare: Vec::new(),
            roots: HashMap::new(),
            with_children: Vec::new(),
        }
    }

    pub(super) fn add_queue(&mut self, slots: &Arc<Slots>) {
        self.queues.push(slots.clone());
    }

    /// Makes what stands for a kernel that the host launches; gives the address of its wrap.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn add_root(
        &mut self,
        program: Option<Arc<Program>>,
        default_queue: u64,
        done: Event,
    ) -> Result<u64> {
        let address = match self.spare.pop() {
            Some(address) => address,
            None => {
                let more = Roots::new(&self.device)?;
                let first = more.address_of(0);
                self.spare.extend((1..ROOTS).map(|at| more.address_of(at)));
                self.wraps.push(more);
                first
            }
        };
        if let Some(wrap) = self.root(address) {
            wrap.reset();
        }
        let root = Root {
            program,
            default_queue,
            done,
            failed: None,
        };
        self.roots.insert(address, root);
        Ok(address)
    }

    /// Takes a root back whose kernel could not be enqueued.
    pub(super) fn remove_root(&mut self, address: u64) {
        if self.roots.remove(&address).is_some() {
            self.spare.push(address);
        }
    }

    fn root(&self, address: u64) -> Option<&Wrap> {
        self.wraps.iter().find_map(|some| some.get(address))
    }

    fn slot(&self, address: u64) -> Option<(&Arc<Slots>, u32)> {
        self.queues
            .iter()
            .find_map(|queue| Some((queue, queue.find(address)?)))
    }

    fn wrap(&self, address: u64) -> Option<&Wrap> {
        match self.slot(address) {
            Some((queue, slot)) => Some(queue.wrap(slot)),
            None => self.root(address),
        }
    }

    /// The kernel of the host whose child, or child's child, a wrap is.
    fn root_of(&self, mut address: u64) -> Option<u64> {
        let most: u32 = self.queues.iter().map(|queue| queue.count()).sum();
        for _ in 0..=most {
            if self.roots.contains_key(&address) {
                return Some(address);
            }
            address = self.wrap(address)?.parent.load(Ordering::Relaxed);
        }
        None
    }

    fn fail(&mut self, wrap: u64, status: Status) {
        if let Some(root) = self.root_of(wrap)
            && let Some(root) = self.roots.get_mut(&root)
        {
            root.failed.get_or_insert(status);
        }
    }

    /// Takes note of ends, and does all that can be done now.
    pub(super) fn pass(&mut self, ended: Vec<Ended>) -> Work {
        let mut work = Work::default();
        for end in ended {
            self.kernel_ended(end);
        }
        while self.look(&mut work) {}
        if self.roots.is_empty() {
            // Released queues, which nobody can enqueue to any more.
            self.queues.retain(|queue| !queue.is_released());
        }
        work
    }

    fn kernel_ended(&mut self, end: Ended) {
        let Some(wrap) = self.wrap(end.wrap) else {
            return;
        };
        let event = wrap.event.load(Ordering::Relaxed);
        wrap.state.store(DONE, Ordering::Release);
        if self.roots.contains_key(&end.wrap) {
            self.with_children.push(end.wrap);
        } else if let Some(event) = self.events.get(event) {
            event.times[0].store(end.times[0], Ordering::Relaxed);
            event.times[1].store(end.times[1], Ordering::Relaxed);
            if end.status.is_error() {
                event.state.store(end.status.0 as u32, Ordering::Release);
            }
        }
        if end.status.is_error() {
            self.fail(end.wrap, end.status);
        }
    }

    /// Looks at all slots once; true: something has changed.
    fn look(&mut self, work: &mut Work) -> bool {
        let mut changed = false;
        for index in 0..self.queues.len() {
            let queue = self.queues[index].clone();
            for slot in queue.taken() {
                // Acquire: pairs with the device's release; what it wrote into the slot is visible.
                match queue.wrap(slot).state.load(Ordering::Acquire) {
                    READY => changed |= self.ready(&queue, slot, work),
                    MARKER => changed |= self.marker(&queue, slot),
                    DONE => changed |= self.done(&queue, slot),
                    _ => {}
                }
            }
        }
        let mut at = 0;
        while let Some(address) = self.with_children.get(at).copied() {
            if !self.family_ended(address) {
                at += 1;
                continue;
            }
            self.with_children.swap_remove(at);
            if self.has_failed(address) {
                self.drop_family(address);
            }
            if let Some(root) = self.roots.remove(&address) {
                self.spare.push(address);
                let status = root.failed.unwrap_or(Status::COMPLETE);
                work.finished.push((root.done, status));
            }
        }
        changed
    }

    /// Whether a kernel of the host that has ended has no children left; one that failed does not wait for those that have not started.
    fn family_ended(&self, address: u64) -> bool {
        let none = |wrap: &Wrap| wrap.children.load(Ordering::Acquire) == 0;
        self.root(address).is_none_or(none) || self.is_dead(address)
    }

    fn has_failed(&self, root: u64) -> bool {
        let root = self.roots.get(&root);
        root.is_some_and(|root| root.failed.is_some())
    }

    /// Whether a family has failed and nothing of it runs.
    fn is_dead(&self, root: u64) -> bool {
        let runs = |wrap: &Wrap| wrap.state.load(Ordering::Acquire) == BUSY;
        self.has_failed(root) && self.family(root, runs).next().is_none()
    }

    /// Frees the slots that a family has left: those of one that failed.
    fn drop_family(&self, root: u64) {
        // All of them are found before one is freed: a slot leads to its root by way of others.
        let left: Vec<_> = self.family(root, Wrap::is_written).collect();
        for (queue, slot) in left {
            self.events
                .fail(queue.wrap(slot).event.load(Ordering::Relaxed));
            queue.free(slot);
        }
    }

    /// The taken slots whose wraps are as `wanted`, of the children, and theirs, of a kernel of the host.
    fn family(
        &self,
        root: u64,
        wanted: impl Fn(&Wrap) -> bool + Copy,
    ) -> impl Iterator<Item = (&Arc<Slots>, u32)> {
        self.queues.iter().flat_map(move |queue| {
            let of_family = move |slot: &u32| {
                wanted(queue.wrap(*slot)) && self.root_of(queue.address_of(*slot)) == Some(root)
            };
            queue
                .taken()
                .filter(of_family)
                .map(move |slot| (queue, slot))
        })
    }

    fn ready(&mut self, queue: &Arc<Slots>, slot: u32, work: &mut Work) -> bool {
        let wrap = queue.wrap(slot);
        let parent = wrap.parent.load(Ordering::Relaxed);
        let after = wrap.flags.load(Ordering::Relaxed) != NO_WAIT;
        let running = |parent: &Wrap| parent.state.load(Ordering::Acquire) != DONE;
        if after && self.wrap(parent).is_some_and(running) {
            return false;
        }
        let address = queue.address_of(slot);
        let waiting = self.waiting(queue, slot);
        let started = match waiting {
            Waiting::Yes => return false,
            Waiting::Failed => Err(None),
            Waiting::No => self.start(queue, slot).map_err(Some),
        };
        match started {
            Ok(start) => {
                wrap.state.store(BUSY, Ordering::Relaxed);
                work.starts.push(start);
            }
            Err(error) => {
                self.events.fail(wrap.event.load(Ordering::Relaxed));
                wrap.state.store(DONE, Ordering::Relaxed);
                if let Some(error) = error {
                    tracing::error!("device queue: {error}");
                    self.fail(address, Status::INVALID_OPERATION);
                }
            }
        }
        self.release_wait_list(queue, slot);
        true
    }

    fn start(&self, queue: &Slots, slot: u32) -> Result<Start> {
        let wrap = queue.address_of(slot);
        let packet = queue.wrap(slot).packet();
        let root = (self.root_of(wrap)).and_then(|address| self.roots.get(&address));
        let Some(root) = root else {
            return Err(Error::InvalidValue(
                "a kernel was enqueued by no kernel that runs".into(),
            ));
        };
        let kernels = root.program.as_ref().map_or(&[][..], |it| it.kernels());
        let kernel = (kernels.iter()).find(|kernel| kernel.object() == packet.kernel_object);
        let Some(kernel) = kernel else {
            return Err(Error::InvalidValue(format!(
                "device code enqueues a kernel at {:#x}: its program has none there",
                packet.kernel_object
            )));
        };
        let size = kernel.metadata().kernarg_segment_size as usize;
        let explicit = kernel.explicit_end() as usize;
        let Some(arguments) = queue.arguments(slot, size.max(explicit)) else {
            return Err(Error::InvalidValue(format!(
                "kernel {}: {size} bytes of arguments in a device queue",
                kernel.name()
            )));
        };
        let mut offset = [0; 3];
        for argument in kernel.hidden_arguments() {
            let axis = match argument.value_kind {
                ValueKind::HiddenGlobalOffsetX => 0,
                ValueKind::HiddenGlobalOffsetY => 1,
                ValueKind::HiddenGlobalOffsetZ => 2,
                _ => continue,
            };
            let start = argument.offset as usize;
            if let Some(bytes) = arguments.get(start..start + 8) {
                offset[axis] = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
            }
        }
        Ok(Start {
            wrap,
            default_queue: root.default_queue,
            kernel: kernel.clone(),
            packet,
            arguments,
            offset,
        })
    }

    fn marker(&mut self, queue: &Arc<Slots>, slot: u32) -> bool {
        let wrap = queue.wrap(slot);
        let waiting = if wrap.waits.load(Ordering::Relaxed) > 0 {
            self.waiting(queue, slot)
        } else if is_first(queue, slot) {
            Waiting::No
        } else {
            Waiting::Yes
        };
        if waiting == Waiting::Yes {
            return false;
        }
        self.release_wait_list(queue, slot);
        let event = wrap.event.load(Ordering::Relaxed);
        if let Some(state) = self.events.get(event) {
            let now = self.device.hsa().timestamp();
            for time in &state.times {
                time.store(now, Ordering::Relaxed);
            }
            if waiting == Waiting::Failed {
                self.events.fail(event);
            }
        }
        self.end(queue, slot);
        true
    }

    fn done(&mut self, queue: &Arc<Slots>, slot: u32) -> bool {
        if queue.wrap(slot).children.load(Ordering::Acquire) != 0 {
            return false;
        }
        self.end(queue, slot);
        true
    }

    /// Ends a command that has no children left.
    fn end(&self, queue: &Slots, slot: u32) {
        let wrap = queue.wrap(slot);
        let address = wrap.event.load(Ordering::Relaxed);
        if let Some(event) = self.events.get(address) {
            let now = self.device.hsa().timestamp();
            event.times[2].store(now, Ordering::Relaxed);
            if (event.state.load(Ordering::Relaxed) as i32) > 0 {
                event.state.store(CL_COMPLETE, Ordering::Release);
            }
            // Device code stores where it wants the times and looks at the state; here it is the other way round: one sees the other.
            fence(Ordering::SeqCst);
            self.capture(event);
            self.events.release(address);
        }
        let parent = self.wrap(wrap.parent.load(Ordering::Relaxed));
        queue.free(slot);
        if let Some(parent) = parent {
            parent.children.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// `CLK_PROFILING_COMMAND_EXEC_TIME`: from the start to the end, and to the end with all children.
    fn capture(&self, event: &EventSlot) {
        let place = event.capture.load(Ordering::Acquire);
        if place == 0 {
            return;
        }
        let [start, end, complete] =
            std::array::from_fn(|at| event.times[at].load(Ordering::Relaxed));
        let times = [end.saturating_sub(start), complete.saturating_sub(start)];
        // SAFETY: the device code's pointer, which it may write to; the library finds out where that is.
        let copied = unsafe { self.device.hsa().copy_now(place, times.as_ptr().cast(), 16) };
        if let Err(error) = copied {
            tracing::error!("capture_event_profiling_info: {error}");
        }
    }

    fn waiting(&self, queue: &Slots, slot: u32) -> Waiting {
        let mut all = Waiting::No;
        for address in queue.wait_list(slot) {
            let state = (self.events.get(address)).map_or(-1, |event| {
                // Acquire: what was before the end is visible to what waits for it.
                event.state.load(Ordering::Acquire) as i32
            });
            if state < 0 {
                return Waiting::Failed;
            }
            if state > 0 {
                all = Waiting::Yes;
            }
        }
        all
    }

    fn release_wait_list(&self, queue: &Slots, slot: u32) {
        for event in queue.wait_list(slot) {
            self.events.release(event);
        }
    }
}

/// Whether no command of a queue that was enqueued before a slot's is left. A slot that is being written may be one.
fn is_first(queue: &Slots, slot: u32) -> bool {
    let command = |slot: u32| queue.wrap(slot).command.load(Ordering::Relaxed);
    let own = command(slot);
    queue.taken().all(|other| {
        // Commands are counted with 32 bits: those before it are in the half behind it.
        other == slot
            || queue.wrap(other).is_written() && command(other).wrapping_sub(own) as i32 > 0
    })
}
