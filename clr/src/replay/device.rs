//! The simulated device: an HSA library in virtual time.
//!
//! All state belongs to the thread that replays ([`Sim`], reached through a thread-local pointer, as HSA's functions have no argument for
//! it). Kernels and copies are recognised by a number: a kernel's is its first argument, a copy's is the offset of its device address.

mod hsa;

use std::{
    cell::Cell,
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
    marker::PhantomData,
};

use gneiss_hsa_api::*;

use super::{Span, Workload, WorkloadCommand};

pub(super) use hsa::{address_of, host_work, table};

/// The first GPU's handle.
const GPU: u64 = 16;
const CPU_POOL: u64 = 1;
const GPU_POOL: u64 = 2;
/// Where the device's memory seems to be: above all addresses of a process; nobody touches it.
pub(super) const DEVICE_BASE: u64 = 1 << 60;
/// Bytes of one device's memory.
pub(super) const DEVICE_SIZE: u64 = 1 << 42;

/// What happens at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Happening {
    /// A thread goes on.
    Thread(usize),
    /// A worker looks at a queue.
    Worker(usize),
    /// A kernel has ended on a hardware queue.
    Kernel(usize),
    /// A copy has ended.
    Copy(usize),
    /// A hardware queue looks at its next packet.
    Pump(usize),
}

/// Who waits for a signal.
#[derive(Clone, Copy, Debug)]
pub(super) enum Waiter {
    /// A hardware queue's barrier packet.
    Hardware(usize),
    /// A copy that has not begun.
    Copy(usize),
    /// A worker, on behalf of a host queue.
    Queue(usize),
}

#[repr(C)]
struct SimSignal {
    amd: amd_signal_t,
    waiters: Vec<Waiter>,
}

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Slot([u32; 16]);

#[repr(C)]
struct SimQueue {
    amd: amd_queue_t,
    ring: Vec<Slot>,
    device: usize,
    read: u64,
    write: u64,
    rung: u64,
    /// Kernels that run: start, completion signal, command.
    running: VecDeque<(u64, hsa_signal_t, u64)>,
}

struct SimCopy {
    device: usize,
    duration: u64,
    host: bool,
    dependencies: Vec<hsa_signal_t>,
    completion: hsa_signal_t,
    start: u64,
    command: u64,
}

/// The state of a simulation.
pub(super) struct Sim {
    pub(super) now: u64,
    sequence: u64,
    happenings: BinaryHeap<Reverse<(u64, u64, Happening)>>,
    #[expect(clippy::vec_box, reason = "the queues' addresses are given out")]
    queues: Vec<Box<SimQueue>>,
    copies: Vec<SimCopy>,
    free_copies: Vec<usize>,
    /// When each copy engine of each device is free.
    engines: Vec<Vec<u64>>,
    running: Vec<usize>,
    stalled: VecDeque<usize>,
    concurrent: usize,
    devices: usize,
    /// The commands that are replayed.
    commands: *const [WorkloadCommand],
    /// When the device had each of them at work.
    pub(super) times: Vec<Span>,
    /// Host queues whose signal is done.
    pub(super) woken: Vec<usize>,
}

thread_local! {
    static SIM: Cell<*mut Sim> = const { Cell::new(std::ptr::null_mut()) };
}

/// The running simulation of this thread.
///
/// Callers hold the result for a few lines in which no HSA function is called; everything is on one thread.
pub(super) fn sim<R>(f: impl FnOnce(&mut Sim) -> R) -> R {
    let sim = SIM.with(Cell::get);
    assert!(
        !sim.is_null(),
        "a simulated HSA function outside of a replay"
    );
    // SAFETY: set by `enter` to a live Sim of this thread, and no caller calls back into this function from `f`.
    f(unsafe { &mut *sim })
}

/// The virtual time, for the recorder.
pub(crate) fn now() -> u64 {
    let sim = SIM.with(Cell::get);
    if sim.is_null() {
        return 0;
    }
    // SAFETY: as in `sim`; a plain field.
    unsafe { (*sim).now }
}

/// Makes a simulation the thread's own, until the result is dropped.
pub(super) struct Entered<'a>(*mut Sim, PhantomData<&'a Workload>);

pub(super) fn enter(
    workload: &Workload,
    devices: usize,
    copy_engines: usize,
    concurrent: usize,
) -> Entered<'_> {
    let sim = Box::into_raw(Box::new(Sim {
        now: 0,
        sequence: 0,
        happenings: BinaryHeap::new(),
        queues: Vec::new(),
        copies: Vec::new(),
        free_copies: Vec::new(),
        engines: vec![vec![0; copy_engines.max(1)]; devices],
        running: vec![0; devices],
        stalled: VecDeque::new(),
        concurrent,
        devices,
        commands: workload.commands.as_slice(),
        times: vec![Span::default(); workload.commands.len()],
        woken: Vec::new(),
    }));
    SIM.with(|place| place.set(sim));
    Entered(sim, PhantomData)
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        SIM.with(|place| place.set(std::ptr::null_mut()));
        // SAFETY: from `enter`, dropped once; the runtime over it is gone.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

impl Sim {
    pub(super) fn at(&mut self, time: u64, what: Happening) {
        self.sequence += 1;
        self.happenings
            .push(Reverse((time.max(self.now), self.sequence, what)));
    }

    /// Goes to the next happening. What is the device's own is done here; the driver gets the rest.
    pub(super) fn next(&mut self) -> Option<Happening> {
        let Reverse((time, _, what)) = self.happenings.pop()?;
        self.now = time;
        match what {
            Happening::Kernel(queue) => self.kernel_done(queue),
            Happening::Copy(copy) => self.copy_done(copy),
            Happening::Pump(queue) => self.pump(queue),
            Happening::Thread(_) | Happening::Worker(_) => {}
        }
        Some(what)
    }

    /// Hardware queues made.
    pub(super) fn queue_count(&self) -> usize {
        self.queues.len()
    }

    /// Registers a wait for a signal; false if it is done.
    pub(super) fn wait_for(&mut self, signal: hsa_signal_t, waiter: Waiter) -> bool {
        let place = signal_of(signal);
        if place.amd.value < 1 {
            return false;
        }
        place.waiters.push(waiter);
        true
    }

    fn complete(&mut self, signal: hsa_signal_t, start: u64) {
        if signal.handle == 0 {
            return;
        }
        let place = signal_of(signal);
        place.amd.start_ts = start;
        place.amd.end_ts = self.now;
        place.amd.value -= 1;
        if place.amd.value < 1 {
            for waiter in std::mem::take(&mut place.waiters) {
                match waiter {
                    Waiter::Hardware(queue) => self.at(self.now, Happening::Pump(queue)),
                    Waiter::Copy(copy) => self.try_copy(copy),
                    Waiter::Queue(queue) => self.woken.push(queue),
                }
            }
        }
    }

    /// How long a command takes.
    fn duration(&self, command: u64) -> u64 {
        // SAFETY: the workload is borrowed for as long as the simulation lives, see `Entered`.
        let commands = unsafe { &*self.commands };
        commands
            .get(command as usize)
            .map_or(0, |command| command.duration)
    }

    fn note(&mut self, command: u64, start: u64, end: u64) {
        if let Some(times) = self.times.get_mut(command as usize) {
            *times = Span { start, end };
        }
    }

    fn kernel_done(&mut self, index: usize) {
        let device = self.queues[index].device;
        let Some((start, completion, command)) = self.queues[index].running.pop_front() else {
            return;
        };
        self.running[device] -= 1;
        self.note(command, start, self.now);
        self.complete(completion, start);
        self.pump(index);
        for _ in 0..self.stalled.len() {
            if let Some(other) = self.stalled.pop_front() {
                self.pump(other);
            }
        }
    }

    /// The packet processor of a queue: goes on until it must wait.
    fn pump(&mut self, index: usize) {
        loop {
            let queue = &mut self.queues[index];
            if queue.read >= queue.rung {
                return;
            }
            let slot = (queue.read % queue.ring.len() as u64) as usize;
            let words = queue.ring[slot].0;
            let header = words[0];
            let kind = header & 0xff;
            let barrier = header >> 8 & 1 != 0;
            if barrier && !queue.running.is_empty() {
                return;
            }
            let word64 = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
            let completion = hsa_signal_t { handle: word64(14) };
            if kind == HSA_PACKET_TYPE_BARRIER_AND {
                for place in 0..5 {
                    let handle = word64(2 + 2 * place);
                    if handle != 0
                        && self.wait_for(hsa_signal_t { handle }, Waiter::Hardware(index))
                    {
                        return;
                    }
                }
                self.queues[index].read += 1;
                self.complete(completion, self.now);
                continue;
            }
            let device = queue.device;
            if self.running[device] >= self.concurrent {
                self.stalled.push_back(index);
                return;
            }
            // SAFETY: the kernarg block of a replayed kernel holds the command's number.
            let command = unsafe { (word64(10) as *const u64).read() };
            let duration = self.duration(command);
            let queue = &mut self.queues[index];
            queue.read += 1;
            queue.running.push_back((self.now, completion, command));
            self.running[device] += 1;
            let end = self.now.saturating_add(duration);
            self.at(end, Happening::Kernel(index));
        }
    }

    fn try_copy(&mut self, index: usize) {
        while let Some(signal) = self.copies[index].dependencies.last().copied() {
            if self.wait_for(signal, Waiter::Copy(index)) {
                return;
            }
            self.copies[index].dependencies.pop();
        }
        let copy = &mut self.copies[index];
        if copy.host {
            copy.start = self.now;
            if copy.duration == 0 {
                // Nothing to do but to have waited: nobody needs to be woken for that.
                return self.copy_done(index);
            }
            let end = self.now.saturating_add(copy.duration);
            self.at(end, Happening::Copy(index));
            return;
        }
        let (device, duration) = (copy.device, copy.duration);
        let Some(engine) = self.engines[device].iter_mut().min() else {
            return;
        };
        let start = (*engine).max(self.now);
        *engine = start.saturating_add(duration);
        self.copies[index].start = start;
        self.at(start.saturating_add(duration), Happening::Copy(index));
    }

    fn copy_done(&mut self, index: usize) {
        let copy = &self.copies[index];
        let (start, completion, command) = (copy.start, copy.completion, copy.command);
        self.note(command, start, self.now);
        self.free_copies.push(index);
        self.complete(completion, start);
    }
}

fn signal_of(signal: hsa_signal_t) -> &'static mut SimSignal {
    // SAFETY: from `signal_create`, alive while the runtime uses it; one thread, and no two of these live at a time.
    unsafe { &mut *(signal.handle as *mut SimSignal) }
}
