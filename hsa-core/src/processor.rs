//! The packet processor of a queue: an engine task that takes packets in order and never waits on a thread.
//!
//! A packet is taken when its header is valid: it is copied, its header made invalid and the read index advanced, in this order, so that
//! the producer may use the slot again. Then
//! * a kernel dispatch is checked and started; it runs beside later packets unless these have the barrier bit;
//! * a barrier stays the current packet until its condition holds; the processor is told when one of its signals changes;
//! * what cannot be done fails the queue: it stops, and the callback hears of it once.
//!
//! Memory is coherent, so an acquire or release fence of a packet is a fence of the thread.

use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering, atomic::fence},
};

use gneiss_amdgcn::engine::{
    DispatchClient, DispatchInfo, Engine, FaultKind, Outcome, Poll, Priority, Task, TaskState,
};
use gneiss_fatbin::kernel_descriptor::KernelDescriptor;
use gneiss_hsa_api::*;

use crate::{
    fault, pm4,
    protocol::handoff,
    queue::{self, MAX_PRIVATE_SEGMENT, Queue},
    signal::{self, Held, met},
    sys,
    watch::{self, Watch, Watcher},
};

/// Most dispatches of a queue that run at a time.
pub(crate) const MAX_IN_FLIGHT: usize = 64;

/// Packets that one poll takes before other work has its turn.
const BUDGET: usize = 32;

/// AMD's format of a vendor packet that jumps to a PM4 indirect buffer.
const PACKET_TYPE_PM4_IB: u32 = 1;

/// Most work-items of a work-group.
const MAX_WORKGROUP: u32 = 1024;

/// A dispatch that runs.
pub(crate) struct Running {
    completion: Option<Held>,
    start: u64,
}

/// What only the polling thread changes.
#[derive(Default)]
pub(crate) struct Processor {
    /// The barrier that is waited for.
    waiting: Option<Barrier>,
    /// Kernels that were dispatched before, valid for `generation` of the loader.
    kernels: HashMap<u64, KernelDescriptor>,
    generation: u64,
}

/// A barrier packet that was taken.
struct Barrier {
    condition: Condition,
    completion: Option<Held>,
    start: u64,
    watches: Vec<Watch>,
    poller: Option<watch::Poller>,
}

/// What a barrier waits for.
enum Condition {
    /// All are 0.
    And(Vec<Held>),
    /// One is 0; an empty list holds.
    Or(Vec<Held>),
    /// `(signal & mask) condition value`.
    Value {
        signal: Held,
        mask: i64,
        condition: u32,
        value: i64,
    },
}

/// Why the processor stops taking packets for now.
enum Stop {
    /// The next packet is not there yet, or a signal or dispatch must come first: somebody wakes the task.
    Idle,
    /// The queue has failed.
    Failed(hsa_status_t, String),
}

/// 64 bytes of a packet, read once: what the checks see is what is used.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Packet([u8; 64]);

impl Packet {
    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.0[at], self.0[at + 1]])
    }
    fn u32(&self, at: usize) -> u32 {
        u32::from(self.u16(at)) | u32::from(self.u16(at + 2)) << 16
    }
    fn u64(&self, at: usize) -> u64 {
        u64::from(self.u32(at)) | u64::from(self.u32(at + 4)) << 32
    }
}

impl Condition {
    fn holds(&self) -> bool {
        let zero = |signal: &Held| signal.load(Ordering::SeqCst) == 0;
        match self {
            Condition::And(signals) => signals.iter().all(zero),
            Condition::Or(signals) => signals.is_empty() || signals.iter().any(zero),
            Condition::Value {
                signal,
                mask,
                condition,
                value,
            } => {
                signal.destroyed()
                    || met(*condition, signal.load(Ordering::SeqCst) & mask, *value).unwrap_or(true)
            }
        }
    }

    fn signals(&self) -> &[Held] {
        match self {
            Condition::And(signals) | Condition::Or(signals) => signals,
            Condition::Value { signal, .. } => std::slice::from_ref(signal),
        }
    }
}

impl Barrier {
    fn stop_watching(&mut self) {
        self.watches.drain(..).for_each(watch::remove);
        self.poller = None;
    }
}

impl Processor {
    /// Drops the barrier that is waited for, when the queue goes.
    pub(crate) fn forget(&mut self) {
        if let Some(mut barrier) = self.waiting.take() {
            barrier.stop_watching();
        }
    }
}

/// The completion signal of a packet: 0 is none.
fn completion(handle: u64) -> Result<Option<Held>, Stop> {
    if handle == 0 {
        return Ok(None);
    }
    hold(handle, "completion signal").map(Some)
}

fn hold(handle: u64, what: &str) -> Result<Held, Stop> {
    let cell = signal::user(hsa_signal_t { handle }).map_err(|_| {
        Stop::Failed(
            HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
            format!("{what} {handle:#x} of a packet is no signal"),
        )
    })?;
    Ok(cell.hold())
}

/// Ends a packet: times, then the signal.
fn finish(completion: Option<&Held>, start: u64) {
    // The packet's release fence: all that it did comes before the signal.
    fence(Ordering::SeqCst);
    if let Some(signal) = completion {
        if start != 0 {
            signal.start_ts.store(start, Ordering::Relaxed);
            signal
                .end_ts
                .store(sys::now().max(start + 1), Ordering::Relaxed);
        }
        signal.complete();
    }
}

impl Task for Queue {
    fn state(&self) -> &TaskState {
        &self.task
    }

    fn priority(&self) -> Priority {
        self.engine_priority()
    }

    fn poll(self: Arc<Self>, engine: &Arc<Engine>) -> Poll {
        if let Some(intercept) = self.intercept() {
            intercept.run(&self);
            return Poll::Idle;
        }
        let mut processor = self.processor.lock();
        for _ in 0..BUDGET {
            if !self.active.load(Ordering::SeqCst) {
                return Poll::Idle;
            }
            match self.step(&mut processor, engine) {
                Ok(()) => {}
                Err(Stop::Idle) => return Poll::Idle,
                Err(Stop::Failed(status, reason)) => {
                    fault::fail(&self, status, reason);
                    return Poll::Idle;
                }
            }
        }
        Poll::Again
    }
}

impl Queue {
    /// Takes one step: ends the barrier that is waited for, or takes a packet.
    fn step(self: &Arc<Self>, processor: &mut Processor, engine: &Arc<Engine>) -> Result<(), Stop> {
        if let Some(barrier) = &mut processor.waiting {
            self.look_at(barrier)?;
            if let Some(barrier) = processor.waiting.take() {
                finish(barrier.completion.as_ref(), barrier.start);
            }
            return Ok(());
        }
        let index = self.read_index().load(Ordering::Relaxed);
        let header = handoff::valid(self.header(index)).ok_or(Stop::Idle)?;
        let kind = u32::from(header & 0xff);
        if header >> HSA_PACKET_HEADER_BARRIER & 1 == 1 {
            self.stall_unless(|free| free == u64::MAX)?;
        }
        match kind {
            HSA_PACKET_TYPE_KERNEL_DISPATCH => {
                self.stall_unless(|free| free != 0)?;
                let packet = self.take(index);
                self.start(processor, engine, &packet, index)
            }
            HSA_PACKET_TYPE_BARRIER_AND | HSA_PACKET_TYPE_BARRIER_OR => {
                let packet = self.take(index);
                let mut signals = Vec::new();
                for at in (8..48).step_by(8) {
                    if packet.u64(at) != 0 {
                        signals.push(hold(packet.u64(at), "dependency")?);
                    }
                }
                let condition = if kind == HSA_PACKET_TYPE_BARRIER_AND {
                    Condition::And(signals)
                } else {
                    Condition::Or(signals)
                };
                self.begin(processor, condition, &packet)
            }
            HSA_PACKET_TYPE_VENDOR_SPECIFIC => {
                let packet = self.take(index);
                match u32::from(packet.0[2]) {
                    HSA_AMD_PACKET_TYPE_BARRIER_VALUE => {}
                    PACKET_TYPE_PM4_IB => return self.run_pm4(&packet),
                    format => {
                        return Err(Stop::Failed(
                            HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
                            format!("vendor packet of AMD format {format} is not supported"),
                        ));
                    }
                }
                let condition = Condition::Value {
                    signal: hold(packet.u64(8), "signal")?,
                    value: packet.u64(16).cast_signed(),
                    mask: packet.u64(24).cast_signed(),
                    condition: packet.u32(32),
                };
                if packet.u32(32) > HSA_SIGNAL_CONDITION_GTE {
                    return Err(Stop::Failed(
                        HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
                        format!("barrier-value packet with condition {}", packet.u32(32)),
                    ));
                }
                self.begin(processor, condition, &packet)
            }
            HSA_PACKET_TYPE_AGENT_DISPATCH => Err(Stop::Failed(
                HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
                "agent dispatch packets are not supported by GPU queues".to_owned(),
            )),
            _ => Err(Stop::Failed(
                HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
                format!("packet {index} has the unknown type {kind}"),
            )),
        }
    }

    /// Executes a PM4 indirect buffer and completes its packet.
    fn run_pm4(&self, packet: &Packet) -> Result<(), Stop> {
        let start = self.time();
        let completion = completion(packet.u64(56))?;
        pm4::run(&self.gpu.map, [4, 8, 12, 16].map(|at| packet.u32(at)))
            .map_err(|reason| Stop::Failed(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, reason))?;
        finish(completion.as_ref(), start);
        Ok(())
    }

    /// Goes on if the free places are as wanted; else the task is idle, and the next dispatch that ends wakes it.
    fn stall_unless(&self, ready: impl Fn(u64) -> bool) -> Result<(), Stop> {
        if self.places.ready_or_stalled(ready) {
            return Ok(());
        }
        Err(Stop::Idle)
    }

    /// Copies a packet and gives its slot back to the producer.
    fn take(&self, index: u64) -> Packet {
        // SAFETY: the packet lies in the ring, and the producer that wrote the valid header leaves it alone until it is invalid
        // again. Device code could still write to it: a volatile read is no worse than a torn packet, which the checks find.
        let packet = unsafe { self.packet(index).cast::<Packet>().as_ptr().read_volatile() };
        // The packet's acquire fence.
        fence(Ordering::SeqCst);
        handoff::give_back(self.header(index), self.read_index(), index);
        packet
    }

    /// Takes the valid packets at the head of the ring, for tools.
    pub(crate) fn take_valid(&self) -> Vec<[u8; 64]> {
        let mut packets = Vec::new();
        while packets.len() < BUDGET {
            let index = self.read_index().load(Ordering::Relaxed);
            if handoff::valid(self.header(index)).is_none() {
                break;
            }
            packets.push(self.take(index).0);
        }
        packets
    }

    /// Appends a packet as a producer does; false if there is no room. One thread at a time does so.
    pub(crate) fn append(&self, packet: &[u8; 64]) -> bool {
        let index = self.write_index().load(Ordering::Relaxed);
        if !handoff::room(self.read_index(), index, self.size().into()) {
            return false;
        }
        self.write_index().store(index + 1, Ordering::Relaxed);
        let slot = self.packet(index);
        // SAFETY: the slot is free, and this is the ring's one producer; the header follows.
        unsafe {
            std::ptr::copy_nonoverlapping(packet[2..].as_ptr(), slot.as_ptr().add(2), 62);
        }
        let header = u16::from_le_bytes([packet[0], packet[1]]);
        handoff::publish(self.header(index), header);
        true
    }

    fn time(&self) -> u64 {
        if self.profiling() { sys::now() } else { 0 }
    }

    /// Makes a barrier the current packet; the next step looks at its condition.
    fn begin(
        &self,
        processor: &mut Processor,
        condition: Condition,
        packet: &Packet,
    ) -> Result<(), Stop> {
        processor.waiting = Some(Barrier {
            condition,
            completion: completion(packet.u64(56))?,
            start: self.time(),
            watches: Vec::new(),
            poller: None,
        });
        Ok(())
    }

    /// Goes on if the barrier's condition holds; else watches its signals.
    fn look_at(self: &Arc<Self>, barrier: &mut Barrier) -> Result<(), Stop> {
        barrier.stop_watching();
        if barrier.condition.holds() {
            return Ok(());
        }
        for signal in barrier.condition.signals() {
            let task: Arc<dyn Task> = self.clone();
            barrier
                .watches
                .extend(watch::add(signal.handle(), Watcher::Task(task)));
            if signal.polled() && barrier.poller.is_none() {
                let task: Arc<dyn Task> = self.clone();
                barrier.poller = Some(watch::poll(task));
            }
        }
        // Waiter's half of the protocol in `signal`: watch, then look.
        if barrier.condition.holds() {
            barrier.stop_watching();
            return Ok(());
        }
        Err(Stop::Idle)
    }

    /// Checks and starts a kernel dispatch.
    fn start(
        self: &Arc<Self>,
        processor: &mut Processor,
        engine: &Arc<Engine>,
        packet: &Packet,
        index: u64,
    ) -> Result<(), Stop> {
        let fail =
            |status, reason: String| Err(Stop::Failed(status, format!("packet {index}: {reason}")));
        let dimensions = packet.u16(2) & 3;
        let mut workgroup = [packet.u16(4), packet.u16(6), packet.u16(8)];
        let mut grid = [packet.u32(12), packet.u32(16), packet.u32(20)];
        if dimensions == 0 {
            return fail(
                HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
                "a dispatch has 1 to 3 dimensions".to_owned(),
            );
        }
        for dimension in usize::from(dimensions)..3 {
            (workgroup[dimension], grid[dimension]) = (1, 1);
        }
        if grid.contains(&0) || workgroup.contains(&0) {
            return fail(
                HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
                format!("grid {grid:?} in work-groups of {workgroup:?} work-items"),
            );
        }
        let items = workgroup
            .iter()
            .fold(1u64, |items, &size| items * u64::from(size));
        if items > MAX_WORKGROUP.into() {
            return fail(
                HSA_STATUS_ERROR_INVALID_ARGUMENT,
                format!("a work-group of {items} work-items; at most {MAX_WORKGROUP} are possible"),
            );
        }
        let (private_segment, group_segment) = (packet.u32(24), packet.u32(28));
        if private_segment > MAX_PRIVATE_SEGMENT {
            return fail(
                HSA_STATUS_ERROR_OUT_OF_RESOURCES,
                format!(
                    "{private_segment} bytes of scratch for a work-item; at most {MAX_PRIVATE_SEGMENT} are possible"
                ),
            );
        }
        let lds = self.gpu.target.lds_size();
        if group_segment > lds {
            return fail(
                HSA_STATUS_ERROR_INVALID_ALLOCATION,
                format!(
                    "{group_segment} bytes of LDS for a work-group; at most {lds} are possible"
                ),
            );
        }
        let kernel_object = packet.u64(32);
        let Some(descriptor) = self.descriptor(processor, kernel_object) else {
            return fail(
                HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
                format!(
                    "kernel object {kernel_object:#x} is no kernel that is loaded on this agent"
                ),
            );
        };
        let running = Running {
            completion: completion(packet.u64(56))?,
            start: self.time(),
        };
        let place = self.places.first();
        *self.running[place].lock() = Some(running);
        self.places.take(place);
        let copy = self.copy_of(place);
        // SAFETY: the place was free, so no device code reads its copy.
        unsafe { copy.cast::<Packet>().write(*packet) };
        let info = DispatchInfo {
            gpu: Arc::clone(&self.gpu),
            kernel_object,
            descriptor,
            grid,
            workgroup,
            group_segment,
            private_segment,
            kernarg: packet.u64(40),
            dispatch_ptr: copy.as_ptr() as u64,
            queue_ptr: self.public() as u64,
            dispatch_id: index,
            priority: self.engine_priority(),
        };
        let client: Arc<dyn DispatchClient> = self.clone();
        engine.dispatch(info, &client, place as u64);
        Ok(())
    }

    /// The descriptor of a kernel that is loaded on this queue's agent.
    fn descriptor(
        &self,
        processor: &mut Processor,
        kernel_object: u64,
    ) -> Option<KernelDescriptor> {
        let runtime = self.runtime.upgrade()?;
        let generation = runtime.loader.generation();
        if processor.generation != generation {
            processor.kernels.clear();
            processor.generation = generation;
        }
        if let Some(descriptor) = processor.kernels.get(&kernel_object) {
            return Some(*descriptor);
        }
        let descriptor = runtime
            .loader
            .kernel_descriptor(self.agent, kernel_object)?;
        processor.kernels.insert(kernel_object, descriptor);
        Some(descriptor)
    }
}

impl DispatchClient for Queue {
    fn finished(&self, token: u64, outcome: Outcome) {
        let place = token as usize;
        let Some(running) = self
            .running
            .get(place)
            .and_then(|running| running.lock().take())
        else {
            tracing::error!(token, "a bug: a dispatch ended that does not run");
            return;
        };
        match outcome {
            Ok(()) => finish(running.completion.as_ref(), running.start),
            Err(error) if error.kind == FaultKind::Cancelled => {}
            Err(error) => {
                if let Some(queue) = self.itself() {
                    fault::fail_by_fault(&queue, *error);
                }
            }
        }
        drop(running);
        if self.places.give(place)
            && let Some(queue) = self.itself()
        {
            queue.wake();
        }
        if !self.active.load(Ordering::SeqCst) {
            self.ended.fetch_add(1, Ordering::SeqCst);
            sys::futex_wake(&self.ended);
        }
        queue::listen();
        watch::wake_pollers();
    }

    fn slice_ended(&self) {
        queue::listen();
    }

    fn warn(&self, text: &str) {
        crate::log::complain(text);
    }

    fn interrupt(&self, event_id: u32) {
        if let Some(cell) = signal::of_event(event_id) {
            cell.changed();
        }
    }
}
