//! Draining: taking commands from the FIFO and resolving wait lists; [`submit`](super::submit) does the rest.
//!
//! In an out-of-order queue a command that cannot go on is *held*, and later ones pass it, save for a barrier.

use std::sync::{Arc, atomic::Ordering};

use parking_lot::MutexGuard;

use super::{QueueCore, QueueState};
use crate::{
    Event, Status,
    command::{Command, KernelCommand, Operation},
    event::State,
    queue::{Outcome, Role},
    trace::{
        self,
        format::{BlockReason, CommandKind, FlushReason},
    },
    virtual_gpu::Full,
};

/// What became of the head command.
pub(super) enum Step {
    Done,
    Blocked(Command, Outcome),
}

/// Records why a command cannot go on, once for each reason.
pub(super) fn note_block(command: &mut Command, reason: BlockReason, on: u64) {
    if command.blocked != Some(reason) {
        command.blocked = Some(reason);
        if trace::on() {
            trace::record::blocked(reason, command.event.trace_id(), on);
        }
    }
}

/// Whether later commands of an out-of-order queue may pass a command that cannot go on.
fn may_be_passed(command: &Command, outcome: &Outcome) -> bool {
    if command.kind == CommandKind::Barrier {
        return false;
    }
    match outcome {
        Outcome::WaitEvent(_) => true,
        Outcome::WaitSignal(_) | Outcome::Poll | Outcome::NeedWorker => {
            // For want of a closed batch nobody passes.
            command.blocked.is_some()
        }
        _ => false,
    }
}

/// Of two reasons to stop, the one that a thread can do most about.
fn more_urgent(held: Option<Outcome>, head: Outcome) -> Outcome {
    let rank = |outcome: &Outcome| match outcome {
        Outcome::NeedWorker => 4,
        Outcome::WaitRoom(_) => 3,
        Outcome::Poll => 2,
        Outcome::WaitSignal(_) => 1,
        _ => 0,
    };
    match held {
        Some(held) if rank(&held) > rank(&head) => held,
        _ => head,
    }
}

impl QueueCore {
    /// Looks at the queue in a role: submits what can be submitted, ends what has ended. At once `Busy` if another thread does.
    pub(crate) fn run(self: &Arc<Self>, role: Role, until: Option<&State>) -> Outcome {
        let mut outcome = Outcome::Busy;
        self.attention.serve(
            || {
                let state = self.state.try_lock()?;
                // Whoever runs user code looks at the queue again when that has returned.
                (!state.in_user_code).then_some(state)
            },
            |state| outcome = self.drain(state, role, until),
        );
        // A worker that came for the callbacks while this thread was at the queue has gone again: another one must watch for them.
        if role == Role::Helper
            && !matches!(outcome, Outcome::Busy)
            && self.callbacks_wanted.load(Ordering::Acquire)
        {
            self.schedule();
        }
        outcome
    }

    /// Ends what has ended, and submits nothing. Waits for the thread that is at the queue, which is a matter of moments, but not for user
    /// code: who knows that the device is done with a command must not be told that it is not.
    pub(crate) fn observe(self: &Arc<Self>) {
        let mut state = self.state.lock();
        if !state.in_user_code {
            self.retire(&mut state, Role::Helper);
        }
        self.let_go(state);
    }

    fn drain(
        self: &Arc<Self>,
        state: &mut MutexGuard<'_, QueueState>,
        role: Role,
        until: Option<&State>,
    ) -> Outcome {
        let mut held_outcome = None;
        loop {
            if self.retire(state, role) {
                state.vgpu.ring();
                return Outcome::NeedWorker;
            }
            if until.is_some_and(|event| event.status() <= Status::SUBMITTED) {
                state.vgpu.ring();
                if self.close_before_leaving(state, FlushReason::Waiter) {
                    return Outcome::Reached;
                }
                return Outcome::Poll;
            }
            if !state.held.is_empty() {
                held_outcome = self.look_at_held(state, role);
            }
            let command = match state.current.take() {
                Some(command) => Some(command),
                None => self.fifo.lock().commands.pop_front(),
            };
            let Some(command) = command else {
                if !self.close_before_leaving(state, FlushReason::RanDry) {
                    return Outcome::Poll;
                }
                return held_outcome.unwrap_or(Outcome::Idle);
            };
            match self.step(state, command, role) {
                Step::Done => {
                    state.dependencies.clear();
                    self.pending.fetch_sub(1, Ordering::Release);
                }
                // Something has ended meanwhile: retire it and try again.
                Step::Blocked(command, Outcome::Reached) => state.current = Some(command),
                Step::Blocked(command, outcome)
                    if self.options.out_of_order && may_be_passed(&command, &outcome) =>
                {
                    held_outcome = Some(outcome);
                    state.held.push_back(command);
                }
                Step::Blocked(command, outcome) => {
                    state.current = Some(command);
                    state.vgpu.ring();
                    return more_urgent(held_outcome, outcome);
                }
            }
        }
    }

    /// Out of order: tries the commands that were passed, as long as one of them goes on. Gives the most urgent reason why those that are
    /// left do not.
    fn look_at_held(
        self: &Arc<Self>,
        state: &mut MutexGuard<'_, QueueState>,
        role: Role,
    ) -> Option<Outcome> {
        loop {
            let mut outcome = None;
            let mut went_on = false;
            for _ in 0..state.held.len() {
                let Some(command) = state.held.pop_front() else {
                    break;
                };
                match self.step(state, command, role) {
                    Step::Done => {
                        state.dependencies.clear();
                        self.pending.fetch_sub(1, Ordering::Release);
                        went_on = true;
                    }
                    Step::Blocked(command, other) => {
                        state.held.push_back(command);
                        outcome = Some(match outcome {
                            None => other,
                            held => more_urgent(held, other),
                        });
                    }
                }
            }
            if !went_on {
                return outcome;
            }
            self.retire(state, role);
        }
    }

    /// A batch is only open while a drainer is at it, save when the ring is full (then false).
    pub(super) fn close_before_leaving(&self, state: &mut QueueState, reason: FlushReason) -> bool {
        if self.device.is_faulted() {
            state.vgpu.close_failed();
            return true;
        }
        match state.vgpu.close_with_barrier(&self.options, reason) {
            Ok(closed) => closed,
            Err(Full::Later) => false,
            Err(Full::Failed(error)) => {
                tracing::error!("cannot close a batch: {error}");
                false
            }
        }
    }

    /// Why the command after the head ends the batch: there is none, or it is no plain kernel. None: it does not.
    pub(super) fn next_interrupts(&self) -> Option<FlushReason> {
        let fifo = self.fifo.lock();
        let Some(command) = fifo.commands.front() else {
            return Some(FlushReason::RanDry);
        };
        if !command.wait_list.is_empty() {
            return Some(FlushReason::WaitList);
        }
        match &command.operation {
            Operation::Kernel(KernelCommand {
                cooperative: false, ..
            })
            | Operation::Kernels { .. } => None,
            Operation::Kernel(_) => Some(FlushReason::Cooperative),
            Operation::Marker => Some(FlushReason::Marker),
            Operation::Copy(_) => Some(FlushReason::Copy),
            _ => Some(FlushReason::HostOperation),
        }
    }

    /// Looks at the wait list. `Ok(Some)`: the command fails. `Err`: it must wait. Else the signals that the device is to wait for are in
    /// `dependencies`.
    pub(super) fn resolve(
        self: &Arc<Self>,
        state: &mut QueueState,
        command: &mut Command,
    ) -> std::result::Result<Option<Status>, Outcome> {
        state.dependencies.clear();
        let out_of_order = self.options.out_of_order;
        if out_of_order
            && command.wait_list.is_empty()
            && matches!(command.operation, Operation::Marker)
        {
            // Without a wait list a marker stands for all that is before it: what is submitted, and what waits still.
            let held = state.held.iter().map(|held| Event(held.event.clone()));
            command.wait_list.extend(held);
        }
        let mut failed = None;
        let mut blocked = None;
        for dependency in &command.wait_list {
            loop {
                let status = dependency.status();
                if status.is_terminal() {
                    if status.is_error() {
                        failed = Some(Status::DEPENDENCY_FAILED);
                    }
                    break;
                }
                if dependency.0.is_of(self) && !out_of_order {
                    // In order anyway; a failure is seen when this command ends.
                    break;
                }
                if let Some(signal) = dependency.0.signal() {
                    if signal.is_done() {
                        break;
                    }
                    if self.device.shared().config.cpu_wait {
                        blocked = Some((
                            BlockReason::CpuWait,
                            dependency.0.trace_id(),
                            Outcome::WaitSignal(signal),
                        ));
                        break;
                    }
                    state.dependencies.push(signal);
                    break;
                }
                if dependency.0.park(self) {
                    blocked = Some((
                        BlockReason::Unsubmitted,
                        dependency.0.trace_id(),
                        Outcome::WaitEvent(dependency.clone()),
                    ));
                    break;
                }
            }
            if blocked.is_some() {
                break;
            }
        }
        if let Some((reason, on, outcome)) = blocked {
            // What is before this command is on its way: nobody waits for a batch that stays open.
            if !self.close_before_leaving(state, FlushReason::WaitList) {
                return Err(Outcome::Poll);
            }
            note_block(command, reason, on);
            return Err(outcome);
        }
        Ok(failed)
    }

    /// Commands that are no plain packets need the open batch closed; `Some`: not possible now.
    pub(super) fn must_be_closed(
        &self,
        state: &mut QueueState,
        reason: FlushReason,
    ) -> Option<Outcome> {
        (!self.close_before_leaving(state, reason)).then_some(Outcome::Poll)
    }
}
