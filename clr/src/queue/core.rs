//! The inside of a host queue: FIFO, drain, retire.
//!
//! | field | who may touch it when |
//! | --- | --- |
//! | `fifo` | enqueuers and the drainer, for a moment each |
//! | `state` | the *drainer*: whoever gets the lock with `try_lock`. It never waits for the device, another queue or user code with it, so that who asks what has ended may wait for it |
//! | `attention` | set by who wants the queue looked at; the drainer looks until it is clear, also after it has let go of `state` |
//! | `scheduled` | the queue is on the worker pool's ready list |
//! | `watched` | a worker waits for a signal on behalf of the queue |
//! | `pending` | commands that are not with the device: in the FIFO, or taken and blocked |
//!
//! Lock order: `state`, then `fifo`, then an event's lock or the device's active set. User code runs with `state` unlocked and
//! `in_user_code` set, which keeps other threads from draining.
//!
//! Ending: a released queue (its handle is dropped) is watched by a worker until all its commands have ended; the active set holds it until then.

mod describe;
mod drain;
mod fifo;
mod kernels;
mod retire;
mod staged;
mod submit;

use std::{
    collections::VecDeque,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering},
    },
};

use parking_lot::{Mutex, MutexGuard};

use super::{HostQueue, Outcome, QueueOptions, Role};
use crate::{
    Device, Error, Event, Result, Status,
    activity::{self, Observed},
    command::{Command, Operation},
    event::State,
    lockfree::attention::Attention,
    runtime::forked,
    signal::HwSignal,
    trace::{self, format::CommandKind, record::Enqueued},
    virtual_gpu::{InFlight, VirtualGpu},
};

/// Commands in the FIFO from which on an enqueuer helps before it adds more.
const BACKLOG: usize = 8192;
/// Objects that a queue keeps for its next commands.
const SPARE: usize = 1024;
/// How long an enqueuer of a long FIFO waits for the device, at most, before it adds its command all the same.
const PATIENCE_NS: u64 = 1_000_000;

pub(crate) use staged::{Staged, StagingPool};

use fifo::Fifo;

/// The drainer's state.
#[derive(Debug)]
pub(super) struct QueueState {
    pub(super) vgpu: VirtualGpu,
    /// The head command, if it was taken and could not go on.
    current: Option<Command>,
    /// Out of order: commands that could not go on and were passed.
    held: VecDeque<Command>,
    in_user_code: bool,
    /// Whose function or callback runs.
    user_code_of: Option<(CommandKind, Arc<State>)>,
    /// Signals that the head command's packets must wait for.
    dependencies: Vec<Arc<HwSignal>>,
    ended: Vec<InFlight>,
}

/// See the module text.
#[derive(Debug)]
pub(crate) struct QueueCore {
    this: Weak<QueueCore>,
    device: Arc<Device>,
    options: QueueOptions,
    id: u64,
    handle: OnceLock<Weak<HostQueue>>,
    fifo: Mutex<Fifo>,
    state: Mutex<QueueState>,
    attention: Attention,
    scheduled: AtomicBool,
    watched: AtomicBool,
    released: AtomicBool,
    callbacks_wanted: AtomicBool,
    pending: AtomicUsize,
    first_error: AtomicI32,
    active_slot: AtomicUsize,
    /// What people call it.
    name: OnceLock<String>,
    /// A hang was declared: waiters no longer wait for user code of this queue.
    abandoned: AtomicBool,
    /// Value of `ended_count` at which an enqueuer has last waited in vain for the device.
    stalled_at: AtomicUsize,
    /// Commands that have ended.
    ended_count: AtomicUsize,
}

impl QueueCore {
    pub(super) fn new(device: &Arc<Device>, options: QueueOptions) -> Arc<Self> {
        let id = device.shared().new_id();
        let flags = u16::from(options.non_blocking)
            | u16::from(options.out_of_order) << 1
            | u16::from(!options.cu_mask.is_empty()) << 2;
        trace::record::queue(id, device.index(), options.priority as u8, flags);
        Arc::new_cyclic(|this| Self {
            this: this.clone(),
            device: device.clone(),
            options,
            id,
            handle: OnceLock::new(),
            fifo: Mutex::new(Fifo::default()),
            state: Mutex::new(QueueState {
                vgpu: VirtualGpu::new(device.clone(), id),
                current: None,
                held: VecDeque::new(),
                in_user_code: false,
                user_code_of: None,
                dependencies: Vec::new(),
                ended: Vec::new(),
            }),
            attention: Attention::new(),
            scheduled: AtomicBool::new(false),
            watched: AtomicBool::new(false),
            released: AtomicBool::new(false),
            callbacks_wanted: AtomicBool::new(false),
            pending: AtomicUsize::new(0),
            first_error: AtomicI32::new(0),
            active_slot: AtomicUsize::new(0),
            name: OnceLock::new(),
            abandoned: AtomicBool::new(false),
            stalled_at: AtomicUsize::new(usize::MAX),
            ended_count: AtomicUsize::new(0),
        })
    }

    pub(super) fn set_handle(&self, handle: Weak<HostQueue>) {
        let _ = self.handle.set(handle);
    }

    /// The public handle, unless it is dropped.
    pub(crate) fn handle(&self) -> Option<Arc<HostQueue>> {
        self.handle.get()?.upgrade()
    }

    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Gives the queue a name for reports and traces; the first one stays.
    pub(super) fn set_name(&self, name: &str) {
        if self.name.set(name.to_owned()).is_ok() {
            trace::record::queue_name(self.id, name);
        }
    }

    pub(crate) fn is_out_of_order(&self) -> bool {
        self.options.out_of_order
    }

    /// A hang was declared: waiting calls return an error though user code of this queue may still run.
    pub(crate) fn abandon(&self) {
        self.abandoned.store(true, Ordering::Release);
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Acquire)
    }

    pub(super) fn options(&self) -> &QueueOptions {
        &self.options
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn active_slot(&self) -> usize {
        self.active_slot.load(Ordering::Relaxed)
    }

    pub(crate) fn set_active_slot(&self, slot: usize) {
        self.active_slot.store(slot, Ordering::Relaxed);
    }

    fn arc(&self) -> Option<Arc<Self>> {
        self.this.upgrade()
    }

    // ---- Enqueuing ----

    /// A spare buffer for kernel arguments.
    pub(super) fn argument_buffer(&self) -> Vec<u8> {
        self.fifo.lock().spare_arguments.pop().unwrap_or_default()
    }

    /// Keeps a buffer that was not needed.
    pub(super) fn keep_argument_buffer(&self, mut buffer: Vec<u8>) {
        buffer.clear();
        let mut fifo = self.fifo.lock();
        if fifo.spare_arguments.len() < SPARE {
            fifo.spare_arguments.push(buffer);
        }
    }

    /// Puts a command at the end of the queue.
    pub(super) fn enqueue(
        self: &Arc<Self>,
        kind: CommandKind,
        operation: Operation,
        wait_list: &[Event],
    ) -> Result<Event> {
        if forked() {
            return Err(Error::Gone(
                "the process has forked since the runtime started",
            ));
        }
        if let Some(fault) = self.device.fault()
            && !matches!(
                operation,
                Operation::Host {
                    run_on_error: true,
                    ..
                }
            )
        {
            return Err(Error::Fault(fault));
        }
        let observed = if activity::on() {
            Observed::new(self, &operation)
        } else {
            None
        };
        let watched = observed.is_some();
        let profiled = matches!(operation, Operation::Marker) || self.profiles();
        let now = if profiled {
            self.device.hsa().timestamp()
        } else {
            0
        };
        let (event, backlog) = {
            let mut fifo = self.fifo.lock();
            if fifo.terminated {
                return Err(Error::Gone("the queue is terminated"));
            }
            let state = fifo.new_event(&self.this);
            state.set_queued(now);
            state.advance(Status::QUEUED);
            let mut list = match wait_list {
                [] => Vec::new(),
                _ => fifo.spare_lists.pop().unwrap_or_default(),
            };
            list.extend_from_slice(wait_list);
            if trace::on() {
                trace::record::enqueue(&self.enqueued(&state, kind, &operation), wait_list);
            }
            if let Some(observed) = observed {
                state.add_callback(observed.callback(self, &state));
            }
            fifo.last = Some(state.clone());
            if self.options.out_of_order {
                fifo.unordered.push(state.clone());
            }
            fifo.commands.push_back(Command {
                event: state.clone(),
                wait_list: list,
                operation,
                kind,
                blocked: None,
                staged: None,
            });
            self.pending.fetch_add(1, Ordering::Relaxed);
            if !fifo.active {
                fifo.active = true;
                self.device.activate(self);
            }
            (Event(state), fifo.commands.len())
        };
        if watched {
            self.watch_callbacks();
        }
        if self.device.shared().config.direct_dispatch {
            self.drain_direct();
        } else if !self.options.awaited {
            self.schedule();
            if backlog > BACKLOG {
                self.help_with_backlog();
            }
        }
        Ok(event)
    }

    /// What the recorder is told of a command.
    fn enqueued(&self, state: &State, kind: CommandKind, operation: &Operation) -> Enqueued {
        let mut enqueued = Enqueued {
            queue: self.id,
            command: state.trace_id(),
            kind,
            name: 0,
            size: 0,
            grid: [0; 3],
            block: [0; 3],
        };
        match operation {
            Operation::Kernel(kernel) => {
                enqueued.name = kernel.kernel.trace_name();
                enqueued.grid = kernel.grid;
                enqueued.block = kernel.block;
                enqueued.size = kernel.grid.iter().fold(1_u64, |product, size| {
                    product.saturating_mul((*size).into())
                });
            }
            Operation::Copy(copy) => enqueued.size = copy.size as u64,
            Operation::CopyRect(copy) => {
                enqueued.size = copy.extent.iter().product::<usize>() as u64;
            }
            Operation::Fill { size, .. } => enqueued.size = *size as u64,
            Operation::FillRect { fill, .. } => {
                enqueued.size = fill.extent.iter().product::<usize>() as u64;
            }
            _ => {}
        }
        enqueued
    }

    /// Every command gets times of its own.
    fn times_each(&self) -> bool {
        self.profiles()
            || activity::on()
            || (trace::on() && self.device.shared().config.trace_times)
    }

    /// Every command is seen for itself: by a recorder, or for its times.
    pub(super) fn sees_each(&self) -> bool {
        trace::on() || self.times_each()
    }

    fn profiles(&self) -> bool {
        self.options.profiling || self.device.shared().config.profile_all
    }

    /// Direct dispatch: the enqueuer submits; what must wait or needs a pool thread goes to the pool.
    fn drain_direct(self: &Arc<Self>) {
        loop {
            match self.run(Role::Helper, None) {
                // The ring is full: the caller waits, with nothing locked, so that another thread can still open the gate.
                Outcome::WaitRoom(signal) if !self.device.shared().config.manual => signal.wait(),
                Outcome::WaitSignal(_)
                | Outcome::WaitRoom(_)
                | Outcome::NeedWorker
                | Outcome::Poll => return self.schedule(),
                Outcome::Idle | Outcome::Busy | Outcome::WaitEvent(_) | Outcome::Reached => return,
            }
        }
    }

    /// The FIFO is long: lets the device catch up, if it is the device that is behind and if it gets on. Where it does not, as behind a
    /// kernel that waits for this very thread, nobody waits and the FIFO grows.
    fn help_with_backlog(self: &Arc<Self>) {
        if self.device.shared().config.manual {
            return;
        }
        let ended = self.ended_count.load(Ordering::Relaxed);
        if self.stalled_at.load(Ordering::Relaxed) == ended {
            return;
        }
        while self.pending.load(Ordering::Relaxed) > BACKLOG / 2 {
            let before = self.ended_count.load(Ordering::Relaxed);
            match self.run(Role::Helper, None) {
                Outcome::WaitSignal(signal) | Outcome::WaitRoom(signal) => {
                    if !signal.wait_for(PATIENCE_NS)
                        && before == self.ended_count.load(Ordering::Relaxed)
                    {
                        self.stalled_at.store(before, Ordering::Relaxed);
                        break;
                    }
                }
                _ => {
                    self.stalled_at.store(before, Ordering::Relaxed);
                    break;
                }
            }
        }
        self.hand_over();
    }

    /// The last command, if it has not ended.
    pub(crate) fn last(&self) -> Option<Event> {
        let fifo = self.fifo.lock();
        let running = |state: &&Arc<State>| !state.status().is_terminal();
        if self.options.out_of_order {
            return fifo
                .unordered
                .iter()
                .rev()
                .find(running)
                .map(|state| Event(state.clone()));
        }
        fifo.last
            .as_ref()
            .filter(running)
            .map(|state| Event(state.clone()))
    }

    // ---- Scheduling ----

    /// Puts the queue on the pool's ready list, unless it is there.
    pub(crate) fn schedule(&self) {
        if !self.scheduled.swap(true, Ordering::AcqRel)
            && let Some(this) = self.arc()
        {
            self.device.shared().pool.push(this);
        }
    }

    /// A worker has taken it from the list.
    pub(crate) fn unschedule(&self) {
        self.scheduled.store(false, Ordering::Release);
    }

    /// Leaves what is not submitted to the pool.
    pub(crate) fn hand_over(&self) {
        if self.pending.load(Ordering::Acquire) > 0 {
            self.schedule();
        }
    }

    /// A worker begins to wait for a signal of this queue; false: another one does.
    pub(crate) fn begin_watch(&self) -> bool {
        !self.watched.swap(true, Ordering::AcqRel)
    }

    /// The worker has stopped waiting, and will look at the queue.
    pub(crate) fn end_watch(&self) {
        self.watched.store(false, Ordering::Release);
    }

    /// Somebody has registered a callback: a worker must see the command's end.
    pub(crate) fn watch_callbacks(&self) {
        self.callbacks_wanted.store(true, Ordering::Release);
        self.schedule();
    }

    /// The signal that a worker must wait for although nothing is pending: of a command with callbacks, or of the last one of a
    /// released queue.
    pub(crate) fn signal_to_watch(&self) -> Option<Arc<HwSignal>> {
        let released = self.released.load(Ordering::Acquire);
        if !released && !self.callbacks_wanted.swap(false, Ordering::AcqRel) {
            return None;
        }
        let state = self.state.lock();
        let vgpu = &state.vgpu;
        let mut first = 0;
        let watched = vgpu.batches.iter().find(|batch| {
            let end = first + batch.count;
            let mut commands = vgpu.inflight.range(first..end);
            first = end;
            commands.any(|command| command.event.has_callbacks())
        });
        // Those that are not with the device may have callbacks, too.
        if watched.is_some() || self.pending.load(Ordering::Acquire) > 0 {
            self.callbacks_wanted.store(true, Ordering::Release);
        }
        let last = || vgpu.batches.back().filter(|_| released);
        let signal = watched.or_else(last).and_then(|batch| batch.signal.clone());
        self.let_go(state);
        signal
    }

    /// Ends a look at the state: who has asked for the queue meanwhile has left it to the holder of the lock, who only looked.
    pub(super) fn let_go(&self, state: MutexGuard<'_, QueueState>) {
        drop(state);
        if self.attention.is_asked() {
            self.schedule();
        }
    }

    // ---- Ending ----

    /// The commands whose end means that all enqueued so far have ended.
    pub(crate) fn unfinished(&self) -> Vec<Arc<State>> {
        let fifo = self.fifo.lock();
        let unordered = fifo.unordered.iter().cloned();
        fifo.last.iter().cloned().chain(unordered).collect()
    }

    /// Waits for everything enqueued so far.
    pub(crate) fn finish(&self) -> Result<()> {
        let waited = self.unfinished();
        if !waited.is_empty() && forked() {
            return Err(Error::Gone(
                "the process has forked since the runtime started",
            ));
        }
        for event in waited {
            event.wait();
        }
        if let Some(fault) = self.device.fault() {
            return Err(Error::Fault(fault));
        }
        match self.first_error.swap(0, Ordering::Relaxed) {
            0 => Ok(()),
            error => Err(Error::CommandFailed(Status(error))),
        }
    }

    /// Refuses new commands from now on.
    pub(super) fn terminate(&self) {
        self.fifo.lock().terminated = true;
    }

    /// The handle is dropped: the pool sees the commands to their end.
    pub(super) fn release(&self) {
        trace::record::queue_end(self.id);
        self.terminate();
        self.released.store(true, Ordering::Release);
        if self.fifo.lock().active {
            self.schedule();
        }
    }

    /// Whether everything has ended, looking at the device.
    pub(super) fn is_idle(&self) -> bool {
        while let Some(last) = self.last() {
            if !last.query().is_terminal() {
                return false;
            }
        }
        true
    }

    /// Keeps other threads from draining while a function runs.
    #[cfg(test)]
    pub(crate) fn occupied<R>(&self, function: impl FnOnce() -> R) -> R {
        let state = self.state.lock();
        let result = function();
        self.let_go(state);
        result
    }
}
