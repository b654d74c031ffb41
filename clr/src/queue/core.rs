//! The inside of a host queue: FIFO, drain, retire.
//!
//! | field | who may touch it when |
//! | --- | --- |
//! | `fifo` | enqueuers and the drainer, for a moment each |
//! | `state` | the *drainer*: whoever gets the lock with `try_lock`. It never waits for the device, another queue or user code with it |
//! | `attention` | set by who wants the queue looked at; the drainer looks until it is clear, also after it has let go of `state` |
//! | `scheduled` | the queue is on the worker pool's ready list |
//! | `watched` | a worker waits for a signal on behalf of the queue |
//! | `pending` | commands that are not with the device: in the FIFO, or taken and blocked |
//!
//! Lock order: `state`, then `fifo`, then an event's lock or the device's active set. User code runs with `state` unlocked and
//! `in_user_code` set, which keeps other threads from draining.
//!
//! Ending: a released queue (its handle is dropped) is watched by a worker until all its commands have ended; the active set holds it until then.

use std::{
    collections::VecDeque,
    panic::AssertUnwindSafe,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering},
    },
};

use parking_lot::{Mutex, MutexGuard};

use super::{HostQueue, Outcome, QueueOptions, Role};
use crate::{
    Device, Error, Event, Result, Status,
    command::{Command, KernelCommand, Operation},
    event::State,
    runtime::forked,
    signal::HwSignal,
    virtual_gpu::{Full, InFlight, Times, VirtualGpu},
};

/// Commands in the FIFO from which on an enqueuer helps before it adds more.
const BACKLOG: usize = 8192;
/// Objects that a queue keeps for its next commands.
const SPARE: usize = 1024;

/// The commands that wait, and what is kept for the next ones.
#[derive(Debug, Default)]
struct Fifo {
    commands: VecDeque<Command>,
    /// The last command enqueued, until it is seen to have ended.
    last: Option<Arc<State>>,
    active: bool,
    terminated: bool,
    spare_events: Vec<Arc<State>>,
    spare_arguments: Vec<Vec<u8>>,
    spare_lists: Vec<Vec<Event>>,
}

/// The drainer's state.
#[derive(Debug)]
pub(super) struct QueueState {
    pub(super) vgpu: VirtualGpu,
    /// The head command, if it was taken and could not go on.
    current: Option<Command>,
    in_user_code: bool,
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
    attention: AtomicBool,
    scheduled: AtomicBool,
    watched: AtomicBool,
    released: AtomicBool,
    callbacks_wanted: AtomicBool,
    pending: AtomicUsize,
    first_error: AtomicI32,
    active_slot: AtomicUsize,
}

/// What became of the head command.
enum Step {
    Done,
    Blocked(Command, Outcome),
}

impl QueueCore {
    pub(super) fn new(device: &Arc<Device>, options: QueueOptions) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            this: this.clone(),
            device: device.clone(),
            options,
            id: device.shared().new_id(),
            handle: OnceLock::new(),
            fifo: Mutex::new(Fifo::default()),
            state: Mutex::new(QueueState {
                vgpu: VirtualGpu::new(device.clone()),
                current: None,
                in_user_code: false,
                dependencies: Vec::new(),
                ended: Vec::new(),
            }),
            attention: AtomicBool::new(false),
            scheduled: AtomicBool::new(false),
            watched: AtomicBool::new(false),
            released: AtomicBool::new(false),
            callbacks_wanted: AtomicBool::new(false),
            pending: AtomicUsize::new(0),
            first_error: AtomicI32::new(0),
            active_slot: AtomicUsize::new(0),
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

    pub(super) fn options(&self) -> &QueueOptions {
        &self.options
    }

    pub(super) fn id(&self) -> u64 {
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

    /// Puts a command at the end of the queue.
    pub(super) fn enqueue(
        self: &Arc<Self>,
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
            fifo.last = Some(state.clone());
            fifo.commands.push_back(Command {
                event: state.clone(),
                wait_list: list,
                operation,
            });
            self.pending.fetch_add(1, Ordering::Relaxed);
            if !fifo.active {
                fifo.active = true;
                self.device.activate(self);
            }
            (Event(state), fifo.commands.len())
        };
        if self.device.shared().config.direct_dispatch {
            self.drain_direct();
        } else {
            self.schedule();
            if backlog > BACKLOG {
                self.help_with_backlog();
            }
        }
        Ok(event)
    }

    fn profiles(&self) -> bool {
        self.options.profiling || self.device.shared().config.profile_all
    }

    /// Direct dispatch: the enqueuer submits; what must wait or needs a pool thread goes to the pool.
    fn drain_direct(self: &Arc<Self>) {
        match self.run(Role::Helper, None) {
            Outcome::WaitSignal(_) | Outcome::NeedWorker | Outcome::Poll => self.schedule(),
            Outcome::Idle | Outcome::Busy | Outcome::WaitEvent(_) | Outcome::Reached => {}
        }
    }

    /// The FIFO is long: lets the device catch up, if it is the device that is behind.
    fn help_with_backlog(self: &Arc<Self>) {
        while self.pending.load(Ordering::Relaxed) > BACKLOG / 2 {
            match self.run(Role::Helper, None) {
                Outcome::WaitSignal(signal) => signal.wait(),
                _ => break,
            }
        }
        self.hand_over();
    }

    /// The last command, if it has not ended.
    pub(crate) fn last(&self) -> Option<Event> {
        let last = self.fifo.lock().last.clone()?;
        (!last.status().is_terminal()).then_some(Event(last))
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
        for batch in &vgpu.batches {
            let end = first + batch.count;
            let watched = vgpu
                .inflight
                .range(first..end)
                .any(|command| command.event.has_callbacks());
            first = end;
            if watched {
                self.callbacks_wanted.store(true, Ordering::Release);
                return batch.signal.clone();
            }
        }
        if released {
            vgpu.batches.back().and_then(|batch| batch.signal.clone())
        } else {
            None
        }
    }

    // ---- Draining ----

    /// Looks at the queue in a role: submits what can be submitted, ends what has ended. At once `Busy` if another thread does.
    pub(crate) fn run(self: &Arc<Self>, role: Role, until: Option<&State>) -> Outcome {
        if role == Role::Observer {
            // Only looks at what has ended; whoever asked for more meanwhile is served by the pool.
            let Some(mut state) = self.state.try_lock() else {
                return Outcome::Busy;
            };
            if state.in_user_code {
                return Outcome::Busy;
            }
            let need_worker = self.retire(&mut state, role);
            drop(state);
            if need_worker || self.attention.load(Ordering::SeqCst) {
                self.schedule();
            }
            return if need_worker {
                Outcome::NeedWorker
            } else {
                Outcome::Idle
            };
        }
        let mut outcome = Outcome::Busy;
        // SeqCst: the store comes before the try_lock, and the holder's load after its unlock: one of the two sees the other.
        self.attention.store(true, Ordering::SeqCst);
        loop {
            let Some(mut state) = self.state.try_lock() else {
                return outcome;
            };
            if state.in_user_code {
                return Outcome::Busy;
            }
            while self.attention.swap(false, Ordering::SeqCst) {
                outcome = self.drain(&mut state, role, until);
            }
            drop(state);
            if !self.attention.load(Ordering::SeqCst) {
                return outcome;
            }
        }
    }

    fn drain(
        self: &Arc<Self>,
        state: &mut MutexGuard<'_, QueueState>,
        role: Role,
        until: Option<&State>,
    ) -> Outcome {
        loop {
            if self.retire(state, role) {
                state.vgpu.ring();
                return Outcome::NeedWorker;
            }
            if until.is_some_and(|event| event.status() <= Status::SUBMITTED) {
                state.vgpu.ring();
                if self.close_before_leaving(state) {
                    return Outcome::Reached;
                }
                return Outcome::Poll;
            }
            let command = match state.current.take() {
                Some(command) => Some(command),
                None => self.fifo.lock().commands.pop_front(),
            };
            let Some(command) = command else {
                if !self.close_before_leaving(state) {
                    return Outcome::Poll;
                }
                return Outcome::Idle;
            };
            match self.step(state, command, role) {
                Step::Done => {
                    state.dependencies.clear();
                    self.pending.fetch_sub(1, Ordering::Release);
                }
                // Something has ended meanwhile: retire it and try again.
                Step::Blocked(command, Outcome::Reached) => state.current = Some(command),
                Step::Blocked(command, outcome) => {
                    state.current = Some(command);
                    state.vgpu.ring();
                    return outcome;
                }
            }
        }
    }

    /// A batch is only open while a drainer is at it, save when the ring is full (then false).
    fn close_before_leaving(&self, state: &mut QueueState) -> bool {
        if self.device.is_faulted() {
            state.vgpu.close_failed();
            return true;
        }
        match state.vgpu.close_with_barrier(&self.options) {
            Ok(closed) => closed,
            Err(Full::Later) => false,
            Err(Full::Failed(error)) => {
                tracing::error!("cannot close a batch: {error}");
                false
            }
        }
    }

    /// Whether the command after the head ends the batch: there is none, or it is no plain kernel.
    fn next_interrupts(&self) -> bool {
        let fifo = self.fifo.lock();
        fifo.commands.front().is_none_or(|command| {
            !command.wait_list.is_empty()
                || !matches!(
                    command.operation,
                    Operation::Kernel(KernelCommand {
                        cooperative: false,
                        ..
                    })
                )
        })
    }

    /// Processes one command as far as it goes.
    fn step(
        self: &Arc<Self>,
        state: &mut MutexGuard<'_, QueueState>,
        mut command: Command,
        role: Role,
    ) -> Step {
        let failed = if self.device.is_faulted() {
            state.dependencies.clear();
            Some(Status::DEVICE_FAULT)
        } else {
            match self.resolve(state, &command) {
                Ok(status) => status,
                Err(outcome) => return Step::Blocked(command, outcome),
            }
        };
        if let Some(status) = failed {
            if let Operation::Host {
                run_on_error: true, ..
            } = command.operation
            {
                return self.host_function(state, command, role, status);
            }
            tracing::debug!("command not run: {:?} {}", command.operation, status.0);
            return self.append(state, command, Some(status));
        }
        let state_ref = &mut **state;
        match &mut command.operation {
            Operation::Kernel(kernel) => {
                let vgpu = &mut state_ref.vgpu;
                let close = self.profiles()
                    || self.next_interrupts()
                    || vgpu.must_close(&self.options, self.device.shared().config.max_batch_size);
                match vgpu.kernel(&self.options, kernel, &state_ref.dependencies, close) {
                    Ok(signal) => {
                        let other =
                            kernel.cooperative && self.device.properties().cooperative_queues;
                        let times = if self.profiles() {
                            Times::Signal
                        } else {
                            Times::None
                        };
                        let in_flight = self.in_flight(command, times);
                        state.vgpu.submitted(in_flight, signal, other);
                        Step::Done
                    }
                    Err(Full::Later) => self.wait_for_room(state, command),
                    Err(Full::Failed(error)) => self.fail(state, command, &error),
                }
            }
            Operation::Marker => {
                if let Some(step) = self.must_be_closed(state) {
                    return Step::Blocked(command, step);
                }
                let state_ref = &mut **state;
                if state_ref.dependencies.is_empty() {
                    return self.append(state, command, None);
                }
                let in_flight = self.in_flight(command, Times::Signal);
                match state_ref
                    .vgpu
                    .barrier(&self.options, &state_ref.dependencies, in_flight)
                {
                    Ok(()) => Step::Done,
                    Err((full, in_flight)) => {
                        let command = Command {
                            event: in_flight.event,
                            wait_list: in_flight.wait_list,
                            operation: Operation::Marker,
                        };
                        match full {
                            Full::Later => self.wait_for_room(state, command),
                            Full::Failed(error) => self.fail(state, command, &error),
                        }
                    }
                }
            }
            Operation::Copy(copy) => {
                let copy = *copy;
                if let Some(step) = self.must_be_closed(state) {
                    return Step::Blocked(command, step);
                }
                let state_ref = &mut **state;
                let idle = state_ref.vgpu.inflight.is_empty() && state_ref.dependencies.is_empty();
                match copy.agents {
                    Some((dst_agent, src_agent))
                        if !(copy.host_accessible && idle && copy.is_small()) =>
                    {
                        match state_ref.vgpu.copy(
                            (copy.dst, dst_agent),
                            (copy.src, src_agent),
                            copy.size,
                            &state_ref.dependencies,
                        ) {
                            Ok(signal) => {
                                let times = if self.profiles() {
                                    Times::Signal
                                } else {
                                    Times::None
                                };
                                let in_flight = self.in_flight(command, times);
                                state.vgpu.copy_submitted(in_flight, signal);
                                Step::Done
                            }
                            Err(error) => self.fail(state, command, &error),
                        }
                    }
                    _ => self.host_operation(state, command),
                }
            }
            Operation::Host { .. } => self.host_function(state, command, role, Status::COMPLETE),
            _ => self.host_operation(state, command),
        }
    }

    /// Looks at the wait list. `Ok(Some)`: the command fails. `Err`: it must wait. Else the signals that the device is to wait for are in
    /// `dependencies`.
    fn resolve(
        self: &Arc<Self>,
        state: &mut QueueState,
        command: &Command,
    ) -> std::result::Result<Option<Status>, Outcome> {
        state.dependencies.clear();
        let mut failed = None;
        for dependency in &command.wait_list {
            loop {
                let status = dependency.status();
                if status.is_terminal() {
                    if status.is_error() {
                        failed = Some(Status::DEPENDENCY_FAILED);
                    }
                    break;
                }
                if dependency.0.is_of(self) {
                    // In order anyway; a failure is seen when this command ends.
                    break;
                }
                if let Some(signal) = dependency.0.signal() {
                    if signal.is_done() {
                        break;
                    }
                    if self.device.shared().config.cpu_wait {
                        return Err(Outcome::WaitSignal(signal));
                    }
                    state.dependencies.push(signal);
                    break;
                }
                if dependency.0.park(self) {
                    return Err(Outcome::WaitEvent(dependency.clone()));
                }
            }
        }
        Ok(failed)
    }

    /// Commands that are no plain packets need the open batch closed; `Some`: not possible now.
    fn must_be_closed(&self, state: &mut QueueState) -> Option<Outcome> {
        (!self.close_before_leaving(state)).then_some(Outcome::Poll)
    }

    /// The device must catch up before this command can be submitted.
    fn wait_for_room(&self, state: &mut QueueState, command: Command) -> Step {
        let _ = state.vgpu.close_with_barrier(&self.options);
        let outcome = state
            .vgpu
            .batches
            .iter()
            .filter_map(|batch| batch.signal.clone())
            .find(|signal| !signal.is_done())
            .map_or(Outcome::Poll, Outcome::WaitSignal);
        Step::Blocked(command, outcome)
    }

    fn fail(
        &self,
        state: &mut MutexGuard<'_, QueueState>,
        command: Command,
        error: &Error,
    ) -> Step {
        tracing::error!("{:?} command failed: {error}", command.operation);
        let status = match error {
            Error::OutOfMemory { .. } | Error::Hsa { .. } => Status::OUT_OF_RESOURCES,
            _ => Status::INVALID_OPERATION,
        };
        self.append(state, command, Some(status))
    }

    /// A command that needs no packet: it ends, with the status if there is one, when the earlier ones have.
    fn append(
        &self,
        state: &mut MutexGuard<'_, QueueState>,
        command: Command,
        forced: Option<Status>,
    ) -> Step {
        if let Some(outcome) = self.must_be_closed(state) {
            return Step::Blocked(command, outcome);
        }
        let profiled = matches!(command.operation, Operation::Marker) || self.profiles();
        let times = if profiled { Times::Signal } else { Times::None };
        let mut in_flight = self.in_flight(command, times);
        in_flight.forced = forced;
        state.vgpu.append(in_flight);
        Step::Done
    }

    fn in_flight(&self, command: Command, times: Times) -> InFlight {
        if times != Times::None {
            command.event.set_submitted(self.device.hsa().timestamp());
        }
        let kernel = match command.operation {
            Operation::Kernel(kernel) => {
                let mut fifo = self.fifo.lock();
                if fifo.spare_arguments.len() < SPARE {
                    let mut arguments = kernel.arguments;
                    arguments.clear();
                    fifo.spare_arguments.push(arguments);
                }
                Some(kernel.kernel)
            }
            _ => None,
        };
        InFlight {
            event: command.event,
            wait_list: command.wait_list,
            kernel,
            forced: None,
            times,
        }
    }

    /// Whether all that is before the head command has ended; `Err`: what to wait for.
    fn all_before_ended(&self, state: &mut QueueState) -> std::result::Result<(), Outcome> {
        if let Some(outcome) = self.must_be_closed(state) {
            return Err(outcome);
        }
        if let Some(signal) = state.dependencies.iter().find(|signal| !signal.is_done()) {
            return Err(Outcome::WaitSignal(signal.clone()));
        }
        if state.vgpu.batches.is_empty() {
            return Ok(());
        }
        let signals = state
            .vgpu
            .batches
            .iter()
            .filter_map(|batch| batch.signal.as_ref());
        let unfinished = signals.into_iter().find(|signal| !signal.is_done());
        Err(unfinished.map_or(Outcome::Reached, |signal| {
            Outcome::WaitSignal(signal.clone())
        }))
    }

    /// An operation that the drainer does itself, when everything before it has ended.
    fn host_operation(
        self: &Arc<Self>,
        state: &mut MutexGuard<'_, QueueState>,
        command: Command,
    ) -> Step {
        if let Err(outcome) = self.all_before_ended(state) {
            return Step::Blocked(command, outcome);
        }
        let start = if self.profiles() {
            self.device.hsa().timestamp()
        } else {
            0
        };
        let forced = match super::host::perform(&command.operation, &self.device) {
            super::host::Performed::Done => None,
            super::host::Performed::NotYet => return Step::Blocked(command, Outcome::Poll),
            super::host::Performed::Unsupported(reason) => {
                tracing::error!("{:?}: {reason}", command.operation);
                Some(Status::INVALID_OPERATION)
            }
        };
        if self.profiles() {
            command
                .event
                .set_times(start, self.device.hsa().timestamp());
        }
        state.vgpu.host_wrote();
        self.append(state, command, forced)
    }

    /// A host function: on a worker, unlocked, when everything before it has ended.
    fn host_function(
        self: &Arc<Self>,
        state: &mut MutexGuard<'_, QueueState>,
        mut command: Command,
        role: Role,
        status: Status,
    ) -> Step {
        if let Err(outcome) = self.all_before_ended(state) {
            return Step::Blocked(command, outcome);
        }
        if role != Role::Worker {
            return Step::Blocked(command, Outcome::NeedWorker);
        }
        if let Operation::Host { function, .. } = &mut command.operation
            && let Some(function) = function.take()
        {
            self.user_code(state, || function(status));
        }
        state.vgpu.host_wrote();
        let forced = status.is_error().then_some(status);
        self.append(state, command, forced)
    }

    /// Runs foreign code without the queue's lock; nobody drains meanwhile.
    fn user_code(&self, state: &mut MutexGuard<'_, QueueState>, f: impl FnOnce()) {
        state.in_user_code = true;
        let pool = self.device.shared().pool.clone();
        let result = MutexGuard::unlocked(state, || {
            pool.blocking(|| std::panic::catch_unwind(AssertUnwindSafe(f)))
        });
        state.in_user_code = false;
        if result.is_err() {
            tracing::error!("a host function or callback panicked");
        }
    }

    // ---- Retiring ----

    /// Ends the commands whose batches are done, in order. True: there are callbacks to run, and this thread must not.
    fn retire(self: &Arc<Self>, state: &mut MutexGuard<'_, QueueState>, role: Role) -> bool {
        if state.vgpu.inflight.is_empty() {
            return false;
        }
        if self.device.is_faulted() && state.vgpu.open > 0 {
            state.vgpu.close_failed();
        }
        let mut need_worker = false;
        let mut ended_any = false;
        loop {
            let vgpu = &state.vgpu;
            let Some(batch) = vgpu.batches.front() else {
                break;
            };
            let value = batch.signal.as_ref().map_or(0, |signal| signal.value());
            if value >= 1 {
                break;
            }
            let Some(command) = vgpu.inflight.front() else {
                break;
            };
            let status = if let Some(forced) = command.forced {
                forced
            } else if value < 0 {
                Status::DEVICE_FAULT
            } else if command
                .wait_list
                .iter()
                .any(|event| event.status().is_error())
            {
                Status::DEPENDENCY_FAILED
            } else {
                Status::COMPLETE
            };
            match command.times {
                Times::None => {}
                Times::Host => {
                    let now = self.device.hsa().timestamp();
                    if Event(command.event.clone()).profiling().end == 0 {
                        command.event.set_times(now, now);
                    }
                }
                Times::Signal | Times::SignalEnd => {
                    if Event(command.event.clone()).profiling().end == 0 {
                        let (start, end) = vgpu
                            .batch_times(batch)
                            .filter(|(_, end)| *end != 0)
                            .unwrap_or_else(|| {
                                let now = self.device.hsa().timestamp();
                                (now, now)
                            });
                        let start = if command.times == Times::SignalEnd {
                            end
                        } else {
                            start
                        };
                        command.event.set_times(start, end);
                    }
                }
            }
            if !command.event.try_finish(status) {
                if role != Role::Worker {
                    need_worker = true;
                    break;
                }
                let event = command.event.clone();
                self.user_code(state, || {
                    for callback in event.take_callbacks() {
                        callback(status);
                    }
                });
                continue;
            }
            if status.is_error() {
                let _ = self.first_error.compare_exchange(
                    0,
                    status.0,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                );
            }
            if let Some(command) = state.vgpu.pop_ended() {
                state.ended.push(command);
                ended_any = true;
            }
        }
        if ended_any {
            state.vgpu.recycle();
            self.give_back(state);
        }
        if need_worker {
            self.schedule();
        }
        need_worker
    }

    /// Keeps what ended commands leave for the next ones; leaves the active set if nothing is left.
    fn give_back(self: &Arc<Self>, state: &mut QueueState) {
        let idle = state.vgpu.inflight.is_empty() && state.current.is_none();
        let mut deactivate = false;
        {
            let mut fifo = self.fifo.lock();
            if fifo
                .last
                .as_ref()
                .is_some_and(|last| last.status().is_terminal())
            {
                fifo.last = None;
            }
            for mut command in state.ended.drain(..) {
                if fifo.spare_events.len() < SPARE {
                    fifo.spare_events.push(command.event);
                }
                command.wait_list.clear();
                if command.wait_list.capacity() > 0 && fifo.spare_lists.len() < SPARE {
                    fifo.spare_lists.push(command.wait_list);
                }
            }
            if idle && fifo.commands.is_empty() && fifo.active {
                fifo.active = false;
                deactivate = true;
                self.device.deactivate(self);
            }
        }
        if deactivate {
            tracing::trace!("queue {} idle", self.id);
        }
    }

    /// The device has faulted: wakes all that wait for this queue's signals, and has the pool end its commands.
    pub(crate) fn release_signals(&self) {
        {
            let mut state = self.state.lock();
            state.vgpu.poison();
            state.vgpu.close_failed();
        }
        self.schedule();
    }

    // ---- Ending ----

    /// Waits for everything enqueued so far.
    pub(crate) fn finish(&self) -> Result<()> {
        let last = self.fifo.lock().last.clone();
        if let Some(last) = last {
            if forked() {
                return Err(Error::Gone(
                    "the process has forked since the runtime started",
                ));
            }
            last.wait();
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
        self.terminate();
        self.released.store(true, Ordering::Release);
        if self.fifo.lock().active {
            self.schedule();
        }
    }

    /// Whether everything has ended, looking at the device.
    pub(super) fn is_idle(self: &Arc<Self>) -> bool {
        if self.last().is_none() {
            return true;
        }
        self.run(Role::Observer, None);
        self.last().is_none()
    }
}

impl Fifo {
    /// An event for a new command: a spare one that nobody else holds, or a new one.
    fn new_event(&mut self, core: &Weak<QueueCore>) -> Arc<State> {
        while let Some(mut event) = self.spare_events.pop() {
            if let Some(state) = Arc::get_mut(&mut event) {
                state.recycle();
                return event;
            }
        }
        Arc::new(State::new(core.clone(), Status::CREATED))
    }
}
