//! Submitting: one command becomes packets, an engine copy, or an operation of the host.

use std::{panic::AssertUnwindSafe, sync::Arc};

use parking_lot::MutexGuard;

use super::{
    QueueCore, QueueState, SPARE, Staged,
    drain::{Step, note_block},
};
use crate::{
    Error, Status,
    command::{ArgumentBlock, Command, Operation},
    queue::{
        Outcome, Role,
        host::{self, Performed},
    },
    trace::{
        self,
        format::{BlockReason, EngineKind, FlushReason},
    },
    virtual_gpu::{Full, InFlight, Times},
};

impl QueueCore {
    /// Processes one command as far as it goes.
    pub(super) fn step(
        self: &Arc<Self>,
        state: &mut MutexGuard<'_, QueueState>,
        mut command: Command,
        role: Role,
    ) -> Step {
        let failed = if self.device.is_faulted() {
            state.dependencies.clear();
            Some(Status::DEVICE_FAULT)
        } else {
            match self.resolve(state, &mut command) {
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
            // An engine may still be at a piece of it: its memory is left alone.
            std::mem::forget(command.staged.take());
            return self.append(state, command, Some(status));
        }
        if let Some(outcome) = self.stand_alone(state, &mut command) {
            return Step::Blocked(command, outcome);
        }
        let timed = self.times_each();
        let state_ref = &mut **state;
        match &mut command.operation {
            Operation::Kernel(kernel) => {
                let vgpu = &mut state_ref.vgpu;
                let max_batch = self.device.shared().config.max_batch_size;
                let reason = self
                    .next_interrupts()
                    .or_else(|| vgpu.must_close(&self.options, max_batch));
                // A kernel that may run before earlier ones says nothing about their end.
                let close = reason.is_some() && !kernel.any_order;
                match vgpu.kernel(&self.options, kernel, &state_ref.dependencies, close, timed) {
                    Ok(dispatched) => {
                        let times = if timed { Times::Signal } else { Times::None };
                        let in_flight = self.in_flight(command, times);
                        let reason = reason.unwrap_or(FlushReason::Cooperative);
                        state.vgpu.submitted(in_flight, dispatched, reason);
                        Step::Done
                    }
                    Err(Full::Later) => self.wait_for_room(state, command),
                    Err(Full::Failed(error)) => self.fail(state, command, &error),
                }
            }
            Operation::Kernels { .. } => self.kernels(state, command),
            Operation::Marker => {
                if let Some(step) = self.must_be_closed(state, FlushReason::Marker) {
                    return Step::Blocked(command, step);
                }
                let state_ref = &mut **state;
                if state_ref.dependencies.is_empty() {
                    return self.append(state, command, None);
                }
                let kind = command.kind;
                let in_flight = self.in_flight(command, Times::Signal);
                match state_ref
                    .vgpu
                    .barrier(&self.options, &state_ref.dependencies, in_flight)
                {
                    Ok(()) => Step::Done,
                    Err(refused) => {
                        let (full, in_flight) = *refused;
                        let command = Command {
                            event: in_flight.event,
                            wait_list: in_flight.wait_list,
                            operation: Operation::Marker,
                            kind,
                            blocked: None,
                            staged: None,
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
                if let Some(step) = self.must_be_closed(state, FlushReason::Copy) {
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
                                let times = if timed { Times::Signal } else { Times::None };
                                let in_flight = self.in_flight(command, times);
                                state.vgpu.copy_submitted(in_flight, signal);
                                Step::Done
                            }
                            Err(Full::Later) => self.wait_for_room(state, command),
                            Err(Full::Failed(error)) => self.fail(state, command, &error),
                        }
                    }
                    _ => self.host_operation(state, command),
                }
            }
            Operation::Host { .. } => self.host_function(state, command, role, Status::COMPLETE),
            _ => self.host_operation(state, command),
        }
    }

    /// Packets that wait for signals must not stand in the way of other queues' packets: this makes sure that they do not, or gives what
    /// the host has to wait for instead.
    fn stand_alone(
        self: &Arc<Self>,
        state: &mut MutexGuard<'_, QueueState>,
        command: &mut Command,
    ) -> Option<Outcome> {
        let cooperative = match &command.operation {
            Operation::Kernel(kernel) => {
                kernel.cooperative && self.device.properties().cooperative_queues
            }
            // Cooperative ones are commands of their own.
            Operation::Kernels { .. } | Operation::Marker => false,
            _ => return None,
        };
        let waits = !state.dependencies.is_empty() || state.vgpu.last_foreign();
        if !waits && !cooperative {
            return None;
        }
        if !cooperative {
            if state.vgpu.is_unshared() {
                return None;
            }
            if let Some(outcome) = self.must_be_closed(state, FlushReason::Move) {
                return Some(outcome);
            }
            match state.vgpu.unshare(&self.options) {
                Ok(true) => return None,
                Ok(false) => {}
                // The submission will meet the error again, and fail with it.
                Err(_) => return None,
            }
        } else if let Some(outcome) = self.must_be_closed(state, FlushReason::Cooperative) {
            return Some(outcome);
        }
        // All cooperative launches of a device share a queue, and there are not endless others: the host waits.
        let own = state
            .vgpu
            .last_pending()
            .and_then(|batch| batch.signal.clone());
        let signal = state
            .dependencies
            .iter()
            .cloned()
            .chain(own)
            .find(|signal| !signal.is_done());
        match signal {
            Some(signal) => {
                note_block(command, BlockReason::CpuWait, 0);
                Some(Outcome::WaitSignal(signal))
            }
            None => {
                state.dependencies.clear();
                None
            }
        }
    }

    /// The device must catch up before this command can be submitted.
    pub(super) fn wait_for_room(&self, state: &mut QueueState, mut command: Command) -> Step {
        let _ = state
            .vgpu
            .close_with_barrier(&self.options, FlushReason::RingFull);
        note_block(&mut command, BlockReason::Room, 0);
        let outcome = state
            .vgpu
            .batches
            .iter()
            .filter_map(|batch| batch.signal.clone())
            .find(|signal| !signal.is_done())
            .map_or(Outcome::Poll, Outcome::WaitRoom);
        Step::Blocked(command, outcome)
    }

    pub(super) fn fail(
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
    pub(super) fn append(
        &self,
        state: &mut MutexGuard<'_, QueueState>,
        command: Command,
        forced: Option<Status>,
    ) -> Step {
        if let Some(outcome) = self.must_be_closed(state, FlushReason::HostOperation) {
            return Step::Blocked(command, outcome);
        }
        let profiled = matches!(command.operation, Operation::Marker) || self.times_each();
        if trace::on() {
            trace::record::submit(
                command.event.trace_id(),
                EngineKind::Host as u8,
                state.vgpu.hw_queue_id(),
                0,
                0,
            );
        }
        let times = if profiled { Times::Signal } else { Times::None };
        let mut in_flight = self.in_flight(command, times);
        in_flight.forced = forced;
        state.vgpu.append(in_flight);
        Step::Done
    }

    pub(super) fn in_flight(&self, command: Command, times: Times) -> InFlight {
        if self.profiles() || matches!(command.operation, Operation::Marker) {
            command.event.set_submitted(self.device.hsa().timestamp());
        }
        let kernel = match command.operation {
            Operation::Kernel(kernel) => {
                if let ArgumentBlock::Heap(mut arguments) = kernel.arguments {
                    let mut fifo = self.fifo.lock();
                    if fifo.spare_arguments.len() < SPARE {
                        arguments.clear();
                        fifo.spare_arguments.push(arguments);
                    }
                }
                Some(kernel.kernel)
            }
            _ => None,
        };
        InFlight::new(
            command.event,
            command.kind,
            command.wait_list,
            kernel,
            times,
        )
    }

    /// Whether all that is before the head command has ended; `Err`: what to wait for.
    pub(super) fn all_before_ended(
        &self,
        state: &mut QueueState,
        command: &mut Command,
    ) -> std::result::Result<(), Outcome> {
        if let Some(outcome) = self.must_be_closed(state, FlushReason::HostOperation) {
            return Err(outcome);
        }
        if let Some(signal) = state.dependencies.iter().find(|signal| !signal.is_done()) {
            note_block(command, BlockReason::CpuWait, 0);
            return Err(Outcome::WaitSignal(signal.clone()));
        }
        if self.options.out_of_order {
            // Only the wait list counts; the end of the queue's earlier packets is no business of this command.
            return Ok(());
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
        if unfinished.is_some() {
            note_block(command, BlockReason::Earlier, 0);
        }
        Err(unfinished.map_or(Outcome::Reached, |signal| {
            Outcome::WaitSignal(signal.clone())
        }))
    }

    /// An operation that the drainer does itself, when everything before it has ended.
    fn host_operation(
        self: &Arc<Self>,
        state: &mut MutexGuard<'_, QueueState>,
        mut command: Command,
    ) -> Step {
        if command.staged.is_some() {
            return self.staged(state, command);
        }
        if let Err(outcome) = self.all_before_ended(state, &mut command) {
            return Step::Blocked(command, outcome);
        }
        let timed = self.times_each();
        let start = if timed {
            self.device.hsa().timestamp()
        } else {
            0
        };
        let forced = match host::perform(&mut command.operation, &self.device) {
            Performed::Done => None,
            Performed::NotYet => {
                note_block(&mut command, BlockReason::Value, 0);
                return Step::Blocked(command, Outcome::Poll);
            }
            Performed::NeedsStaging => {
                command.staged = Some(Box::new(Staged::new(start)));
                return self.staged(state, command);
            }
            Performed::Unsupported(reason) => {
                tracing::error!("{:?}: {reason}", command.operation);
                Some(Status::INVALID_OPERATION)
            }
        };
        if timed {
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
        if let Err(outcome) = self.all_before_ended(state, &mut command) {
            return Step::Blocked(command, outcome);
        }
        if role != Role::Worker {
            note_block(&mut command, BlockReason::Thread, 0);
            return Step::Blocked(command, Outcome::NeedWorker);
        }
        if let Operation::Host { function, .. } = &mut command.operation
            && let Some(function) = function.take()
        {
            state.user_code_of = Some((command.kind, command.event.clone()));
            let timed = self.times_each();
            let start = if timed {
                self.device.hsa().timestamp()
            } else {
                0
            };
            self.user_code(state, || function(status));
            if timed {
                command
                    .event
                    .set_times(start, self.device.hsa().timestamp());
            }
            state.user_code_of = None;
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
