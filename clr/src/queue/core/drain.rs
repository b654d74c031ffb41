//! Draining: taking commands from the FIFO, resolving wait lists, giving them to the device or doing them.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, atomic::Ordering},
};

use parking_lot::MutexGuard;

use super::{QueueCore, QueueState, SPARE};
use crate::{
    Error, Status,
    command::{Command, KernelCommand, Operation},
    event::State,
    queue::{
        Outcome, Role,
        host::{self, Performed},
    },
    virtual_gpu::{Full, InFlight, Times},
};

/// What became of the head command.
enum Step {
    Done,
    Blocked(Command, Outcome),
}

impl QueueCore {
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
            Error::Fault(_) => Status::DEVICE_FAULT,
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
            _kernel: kernel,
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
        let forced = match host::perform(&command.operation, &self.device) {
            Performed::Done => None,
            Performed::NotYet => return Step::Blocked(command, Outcome::Poll),
            Performed::Unsupported(reason) => {
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
    pub(super) fn user_code(&self, state: &mut MutexGuard<'_, QueueState>, f: impl FnOnce()) {
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
}
