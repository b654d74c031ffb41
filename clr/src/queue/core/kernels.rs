//! Kernels that are one command: submitted one after the other, as many as there is room for.
//!
//! The command's event is that of the last kernel. Where the ring is short of room, what is submitted so far ends a batch under an event
//! of its own, which nobody sees, so that its memory for arguments is waited for and its failures are noticed.

use std::sync::Arc;

use parking_lot::MutexGuard;

use super::{QueueCore, QueueState, drain::Step};
use crate::{
    Status,
    command::{Command, Operation},
    event::State,
    trace::format::FlushReason,
    virtual_gpu::{Dispatched, Full, InFlight, Times},
};

impl QueueCore {
    /// Submits the kernels of an [`Operation::Kernels`]. Their times are not wanted: else each would be a command.
    pub(super) fn kernels(
        self: &Arc<Self>,
        state: &mut MutexGuard<'_, QueueState>,
        mut command: Command,
    ) -> Step {
        let kind = command.kind;
        let Operation::Kernels { list, next } = &mut command.operation else {
            return self.append(state, command, Some(Status::INVALID_OPERATION));
        };
        let list = list.clone();
        let part = || {
            let event = Arc::new(State::new(self.this.clone(), Status::QUEUED));
            InFlight::new(event, kind, Vec::new(), None, Times::None).with_kernels(list.clone())
        };
        let max_batch = self.device.shared().config.max_batch_size;
        let first = *next;
        while let Some(kernel) = list.get(*next) {
            let QueueState {
                vgpu, dependencies, ..
            } = &mut **state;
            let last = *next + 1 == list.len();
            let mut reason = vgpu.must_close(&self.options, max_batch);
            if last {
                reason = self.next_interrupts().or(reason);
            }
            // As for single kernels: one that may run before earlier ones says nothing about their end.
            let close = reason.is_some() && !kernel.any_order;
            // The kernels after the first are ordered by it.
            let dependencies: &[_] = if *next == 0 { dependencies } else { &[] };
            match vgpu.kernel(&self.options, kernel, dependencies, close, false) {
                Ok(dispatched) if last => {
                    let in_flight = self.in_flight(command, Times::None).with_kernels(list);
                    let reason = reason.unwrap_or(FlushReason::RanDry);
                    state.vgpu.submitted(in_flight, dispatched, reason);
                    return Step::Done;
                }
                Ok(dispatched) => {
                    *next += 1;
                    if dispatched.close {
                        let reason = reason.unwrap_or(FlushReason::RingFull);
                        vgpu.submitted(part(), dispatched, reason);
                    }
                }
                Err(full) => {
                    if *next > first {
                        vgpu.submitted(part(), Dispatched::open(), FlushReason::RingFull);
                    }
                    return match full {
                        Full::Later => self.wait_for_room(state, command),
                        Full::Failed(error) => self.fail(state, command, &error),
                    };
                }
            }
        }
        self.append(state, command, None)
    }
}
