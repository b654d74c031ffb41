//! The virtual GPU of a host queue: turns commands into packets and engine copies, and keeps what is in flight.
//!
//! Belongs to the queue's state and is only used under its lock; nothing here waits. What cannot be done now says so with
//! [`Full`], and the queue decides how to wait.
//!
//! In flight are *batches*: runs of commands whose last packet carries a completion signal. The commands after the last batch's end
//! form the open batch; it is closed before the drainer leaves. The barrier bit of every packet keeps the commands of a queue in order on
//! a hardware queue; what runs elsewhere (engine copies, cooperative launches) is tied in with signals.

mod dispatch;
mod hidden;
mod hw_queue;
mod in_flight;
mod kernarg;

use std::{collections::VecDeque, sync::Arc};

use gneiss_hsa_api::*;

pub(crate) use dispatch::Dispatched;
pub(crate) use hw_queue::HwQueues;
pub(crate) use in_flight::{Batch, Engine, Full, InFlight, Times};
pub(crate) use kernarg::KernargPool;

use hw_queue::{Header, HwQueueUse, Packet};
use kernarg::Kernarg;

use crate::{
    Device, Error, QueueOptions, Result, Status,
    signal::HwSignal,
    trace::{
        self,
        format::{EngineKind, FlushReason},
    },
};

/// Slots that are left free so that an open batch can always be closed.
const RESERVE: u64 = 8;
/// Batches and commands that a queue may have in flight: they bound its signals.
const MAX_BATCHES: usize = 4096;
const MAX_IN_FLIGHT: usize = 65_536;

/// See the module text.
#[derive(Debug)]
pub(crate) struct VirtualGpu {
    device: Arc<Device>,
    hw: Option<HwQueueUse>,
    pub(crate) inflight: VecDeque<InFlight>,
    pub(crate) batches: VecDeque<Batch>,
    /// Commands at the end of `inflight` that are in no closed batch.
    pub(crate) open: usize,
    signals: Vec<Arc<HwSignal>>,
    /// Signals that packets of the open batch wait for.
    awaited: Vec<Arc<HwSignal>>,
    kernarg: Kernarg,
    /// Commands ever put into `inflight`, and ever taken out.
    submitted: u64,
    retired: u64,
    /// The next packet must see what the host or a copy engine wrote.
    acquire_system: bool,
    /// The host queue's number, for traces.
    queue_id: u64,
}

impl VirtualGpu {
    pub(crate) fn new(device: Arc<Device>, queue_id: u64) -> Self {
        Self {
            queue_id,
            device,
            hw: None,
            inflight: VecDeque::new(),
            batches: VecDeque::new(),
            open: 0,
            signals: Vec::new(),
            awaited: Vec::new(),
            kernarg: Kernarg::default(),
            submitted: 0,
            retired: 0,
            acquire_system: true,
        }
    }

    /// The hardware queue; acquired at the first use, and anew after a fault.
    fn hw(&mut self, options: &QueueOptions) -> Result<&HwQueueUse> {
        if self.hw.as_ref().is_some_and(|hw| hw.is_dead()) {
            self.hw = None;
            self.kernarg.abandon();
        }
        if self.hw.is_none() {
            let hw = self.device.hw_queues().acquire(
                &self.device,
                options.priority,
                &options.cu_mask,
            )?;
            // After the acquiring: queues are buried after the fault is noted, so a queue made since is noticed here.
            if let Some(fault) = self.device.fault() {
                return Err(Error::Fault(fault));
            }
            self.hw = Some(hw);
        }
        self.hw.as_ref().ok_or(Error::Gone("no hardware queue"))
    }

    /// The signal of the last batch, if that has not ended.
    pub(crate) fn last_pending(&self) -> Option<&Batch> {
        let batch = self.batches.back()?;
        batch
            .signal
            .as_ref()
            .is_some_and(|signal| !signal.is_done())
            .then_some(batch)
    }

    fn push_in_flight(&mut self, command: InFlight) {
        self.submitted += 1;
        self.inflight.push_back(command);
    }

    /// A signal for a packet; not if the queue has too much in flight.
    fn take_signal(&mut self) -> Result<Arc<HwSignal>, Full> {
        if self.batches.len() >= MAX_BATCHES || self.inflight.len() >= MAX_IN_FLIGHT {
            return Err(Full::Later);
        }
        Ok(self.device.signals().take(&mut self.signals)?)
    }

    /// The hardware queue's number in traces; 0: none yet.
    pub(crate) fn hw_queue_id(&self) -> u32 {
        self.hw.as_ref().map_or(0, |hw| hw.id)
    }

    /// Makes sure that packets that wait for signals stand in no other queue's way: the hardware queue must be this queue's alone. The open
    /// batch must be closed. False: no such queue is to be had.
    pub(crate) fn unshare(&mut self, options: &QueueOptions) -> Result<bool> {
        debug_assert_eq!(self.open, 0);
        let device = self.device.clone();
        self.hw(options)?;
        let Some(hw) = &self.hw else {
            return Ok(false);
        };
        if hw.is_exclusive() {
            return Ok(true);
        }
        match device.hw_queues().unshare(&device, options.priority, hw) {
            Ok(None) => Ok(true),
            Ok(Some(own)) => {
                // What is in flight stays where it is; what follows waits for it by its signal.
                for batch in &mut self.batches {
                    if batch.engine == Engine::Compute {
                        batch.engine = Engine::Other;
                    }
                }
                self.hw = Some(own);
                Ok(true)
            }
            Err(()) => Ok(false),
        }
    }

    /// Whether the hardware queue is this queue's alone, or none is in use yet.
    pub(crate) fn is_unshared(&self) -> bool {
        self.hw.as_ref().is_some_and(|hw| hw.is_exclusive())
    }

    /// Ends the open batch with this signal, and tells its commands' events.
    fn close(&mut self, signal: Arc<HwSignal>, engine: Engine, reason: FlushReason) {
        if trace::on() {
            trace::record::batch(
                reason,
                self.open,
                self.queue_id,
                signal.raw().handle,
                self.hw_queue_id(),
            );
        }
        let start = self.inflight.len() - self.open;
        for command in self.inflight.range(start..) {
            command.event.publish(Some(signal.clone()));
        }
        self.batches.push_back(Batch {
            count: self.open,
            signal: Some(signal),
            engine,
            _dependencies: std::mem::take(&mut self.awaited),
        });
        self.open = 0;
    }

    /// Ends the open batch with a barrier packet; true if there is no open batch any more.
    pub(crate) fn close_with_barrier(
        &mut self,
        options: &QueueOptions,
        reason: FlushReason,
    ) -> Result<bool, Full> {
        if self.open == 0 {
            return Ok(true);
        }
        // Not through `take_signal`: closing must always be possible.
        let signal = self.device.signals().take(&mut self.signals)?;
        let packet = Packet::barrier_and(SYSTEM_BARRIER, &[], signal.raw());
        if self.hw(options)?.push(&[packet], true).is_none() {
            self.device.signals().give(&mut self.signals, signal);
            return Err(Full::Later);
        }
        self.close(signal, Engine::Compute, reason);
        Ok(true)
    }

    /// The device has faulted: the open batch ends with what it has.
    pub(crate) fn close_failed(&mut self) {
        if self.open > 0 {
            let start = self.inflight.len() - self.open;
            for command in self.inflight.range_mut(start..) {
                command.forced = Some(Status::DEVICE_FAULT);
            }
            self.batches.push_back(Batch {
                count: self.open,
                signal: None,
                engine: Engine::Compute,
                _dependencies: std::mem::take(&mut self.awaited),
            });
            self.open = 0;
        }
        self.kernarg.abandon();
    }

    /// A command without a packet of its own: it ends when everything before it has. The open batch must be closed.
    pub(crate) fn append(&mut self, mut command: InFlight) {
        debug_assert_eq!(self.open, 0);
        let event = command.event.clone();
        if let Some(batch) = self.batches.back_mut() {
            if command.times == Times::Signal {
                command.times = Times::SignalEnd;
            }
            batch.count += 1;
            let signal = batch.signal.clone();
            self.push_in_flight(command);
            event.publish(signal);
        } else {
            if command.times == Times::Signal {
                command.times = Times::Host;
            }
            self.push_in_flight(command);
            self.batches.push_back(Batch {
                count: 1,
                signal: None,
                engine: Engine::Compute,
                _dependencies: Vec::new(),
            });
            event.publish(None);
        }
    }

    /// Barrier packets that wait for signals, the last with a completion signal: a marker with dependencies.
    pub(crate) fn barrier(
        &mut self,
        options: &QueueOptions,
        dependencies: &[Arc<HwSignal>],
        command: InFlight,
    ) -> Result<(), Box<(Full, InFlight)>> {
        debug_assert_eq!(self.open, 0);
        let signal = match self.take_signal() {
            Ok(signal) => signal,
            Err(full) => return Err(Box::new((full, command))),
        };
        let mut packets = Vec::new();
        self.dependency_packets(dependencies, SYSTEM_BARRIER, signal.raw(), &mut packets);
        let pushed = self.hw(options).map(|hw| hw.push(&packets, true));
        match pushed {
            Ok(Some(packet)) => {
                if trace::on() {
                    trace::record::submit(
                        command.event.trace_id(),
                        EngineKind::Compute as u8,
                        self.hw_queue_id(),
                        packet,
                        signal.raw().handle,
                    );
                }
                self.await_signals(dependencies);
            }
            Ok(None) => {
                self.device.signals().give(&mut self.signals, signal);
                return Err(Box::new((Full::Later, command)));
            }
            Err(error) => return Err(Box::new((error.into(), command))),
        }
        self.push_in_flight(command);
        self.open = 1;
        self.close(signal, Engine::Compute, FlushReason::WaitList);
        Ok(())
    }

    /// Whether the last batch that has not ended is on another engine.
    pub(crate) fn last_foreign(&self) -> bool {
        self.last_pending()
            .is_some_and(|batch| batch.engine != Engine::Compute)
    }

    /// Keeps the signals that packets of the open batch wait for: the dependencies, and this queue's own last one.
    fn await_signals(&mut self, dependencies: &[Arc<HwSignal>]) {
        // Whether that one has completed by now does not matter: the packet names it.
        let own = self.batches.back().and_then(|batch| batch.signal.clone());
        self.awaited.extend(dependencies.iter().cloned().chain(own));
    }

    /// Five dependencies to a barrier packet; `completion` goes to the last. Also adds this queue's own last signal if that belongs to another
    /// engine.
    fn dependency_packets(
        &self,
        dependencies: &[Arc<HwSignal>],
        header: Header,
        completion: hsa_signal_t,
        packets: &mut Vec<Packet>,
    ) {
        let own = self
            .last_pending()
            .filter(|batch| batch.engine != Engine::Compute)
            .and_then(|batch| batch.signal.as_ref());
        let all: Vec<hsa_signal_t> = dependencies
            .iter()
            .chain(own)
            .map(|signal| signal.raw())
            .collect();
        let count = all.len().div_ceil(5).max(1);
        for index in 0..count {
            let part = &all[(5 * index).min(all.len())..(5 * index + 5).min(all.len())];
            let last = index + 1 == count;
            let signal = if last {
                completion
            } else {
                hsa_signal_t::default()
            };
            packets.push(Packet::barrier_and(header, part, signal));
        }
    }

    /// Why a kernel that is submitted now should end its batch: for its size, or for want of room.
    pub(crate) fn must_close(
        &mut self,
        options: &QueueOptions,
        max_batch: usize,
    ) -> Option<FlushReason> {
        if self.open + 1 >= max_batch {
            return Some(FlushReason::Size);
        }
        self.hw(options)
            .map_or(true, |hw| hw.free_slots() < RESERVE + 2)
            .then_some(FlushReason::RingFull)
    }

    /// Notes a kernel that [`kernel`](Self::kernel) has submitted.
    pub(crate) fn submitted(
        &mut self,
        mut command: InFlight,
        dispatched: Dispatched,
        reason: FlushReason,
    ) {
        if trace::on() {
            let engine = if dispatched.other {
                EngineKind::Cooperative
            } else {
                EngineKind::Compute
            };
            trace::record::submit(
                command.event.trace_id(),
                engine as u8,
                dispatched.hw_queue,
                dispatched.packet,
                dispatched
                    .signal
                    .as_ref()
                    .map_or(0, |signal| signal.raw().handle),
            );
        }
        let mut closing = None;
        if dispatched.close {
            closing = dispatched.signal;
        } else {
            command.signal = dispatched.signal;
        }
        self.push_in_flight(command);
        self.open += 1;
        if let Some(signal) = closing {
            let engine = if dispatched.other {
                Engine::Other
            } else {
                Engine::Compute
            };
            self.close(signal, engine, reason);
        }
    }

    /// Gives a copy to the library's engines, after everything that is in flight and after `dependencies`.
    pub(crate) fn copy(
        &mut self,
        dst: (u64, hsa_agent_t),
        src: (u64, hsa_agent_t),
        size: usize,
        dependencies: &[Arc<HwSignal>],
    ) -> Result<Arc<HwSignal>, Full> {
        debug_assert_eq!(self.open, 0);
        let signal = self.take_signal()?;
        let own = self.last_pending().and_then(|batch| batch.signal.as_ref());
        let mut list = [hsa_signal_t::default(); 8];
        let mut long = Vec::new();
        let count = dependencies.len() + usize::from(own.is_some());
        let raw = dependencies.iter().chain(own).map(|signal| signal.raw());
        let list: &[hsa_signal_t] = if count <= list.len() {
            for (place, signal) in list.iter_mut().zip(raw) {
                *place = signal;
            }
            &list[..count]
        } else {
            long.extend(raw);
            &long
        };
        // SAFETY: the command's ranges are valid until it ends (the enqueuer's promise); signals live in batches until then.
        unsafe {
            self.device
                .hsa()
                .async_copy(dst.0, dst.1, src.0, src.1, size, list, signal.raw())
        }?;
        self.await_signals(dependencies);
        self.acquire_system = true;
        Ok(signal)
    }

    /// Notes a copy that [`copy`](Self::copy) has started.
    pub(crate) fn copy_submitted(&mut self, command: InFlight, signal: Arc<HwSignal>) {
        if trace::on() {
            trace::record::submit(
                command.event.trace_id(),
                EngineKind::Copy as u8,
                0,
                0,
                signal.raw().handle,
            );
        }
        self.push_in_flight(command);
        self.open = 1;
        self.close(signal, Engine::Copy, FlushReason::Copy);
    }

    /// Gives one piece of a staged command to the engines. Nothing else of the queue is in flight.
    pub(crate) fn piece(
        &mut self,
        dst: (u64, hsa_agent_t),
        src: (u64, hsa_agent_t),
        size: usize,
    ) -> Result<Arc<HwSignal>, Full> {
        let signal = self.device.signals().take(&mut self.signals)?;
        // SAFETY: as in `copy`; the staged command holds the signal until it is done.
        unsafe {
            self.device
                .hsa()
                .async_copy(dst.0, dst.1, src.0, src.1, size, &[], signal.raw())
        }?;
        Ok(signal)
    }

    /// The host has written memory that later packets may read.
    pub(crate) fn host_wrote(&mut self) {
        self.acquire_system = true;
    }

    /// Takes the first command out, which has ended.
    pub(crate) fn pop_ended(&mut self) -> Option<InFlight> {
        let mut command = self.inflight.pop_front()?;
        self.retired += 1;
        if let Some(signal) = command.signal.take() {
            self.device.signals().give(&mut self.signals, signal);
        }
        if let Some(batch) = self.batches.front_mut() {
            batch.count -= 1;
            if batch.count == 0
                && let Some(batch) = self.batches.pop_front()
                && let Some(signal) = batch.signal
            {
                self.device.signals().give(&mut self.signals, signal);
            }
        }
        Some(command)
    }

    /// Recycles memory of commands that have ended.
    pub(crate) fn recycle(&mut self) {
        self.kernarg
            .retire(&self.device, self.retired, self.inflight.is_empty());
        if self.inflight.is_empty()
            && let Some(hw) = &self.hw
        {
            hw.share();
        }
    }

    /// Start and end of a command on the device's clock, translated by the library: by its own signal, else by its batch's.
    pub(crate) fn times_of(&self, command: &InFlight, batch: &Batch) -> Option<(u64, u64)> {
        let signal = command.signal.as_ref().or(batch.signal.as_ref())?;
        let api = &self.device.hsa().api;
        if batch.engine == Engine::Copy {
            let mut time = hsa_amd_profiling_async_copy_time_t::default();
            // SAFETY: the signal is alive and completed; the result has a valid place.
            let status =
                unsafe { (api.hsa_amd_profiling_get_async_copy_time)(signal.raw(), &raw mut time) };
            (status == HSA_STATUS_SUCCESS).then_some((time.start, time.end))
        } else {
            let mut time = hsa_amd_profiling_dispatch_time_t::default();
            // SAFETY: as above.
            let status = unsafe {
                (api.hsa_amd_profiling_get_dispatch_time)(
                    self.device.agent(),
                    signal.raw(),
                    &raw mut time,
                )
            };
            (status == HSA_STATUS_SUCCESS).then_some((time.start, time.end))
        }
    }

    /// Rings the doorbell for packets that were written without.
    pub(crate) fn ring(&self) {
        if let Some(hw) = &self.hw
            && self.open > 0
        {
            hw.ring();
        }
    }

    /// Wakes all that wait for batches in flight.
    pub(crate) fn poison(&self) {
        let own = self
            .inflight
            .iter()
            .filter_map(|command| command.signal.as_ref());
        let of_batches = self
            .batches
            .iter()
            .filter_map(|batch| batch.signal.as_ref());
        for signal in of_batches.chain(own) {
            signal.poison();
        }
    }
}

impl Drop for VirtualGpu {
    fn drop(&mut self) {
        if self.inflight.is_empty() {
            self.kernarg.release(&self.device);
        } else {
            self.kernarg.abandon();
        }
    }
}

/// Ends a batch: everything before it is visible to all.
const SYSTEM_BARRIER: Header = Header {
    kind: HSA_PACKET_TYPE_BARRIER_AND,
    barrier: true,
    acquire: HSA_FENCE_SCOPE_SYSTEM,
    release: HSA_FENCE_SCOPE_SYSTEM,
};
