//! Retiring: ending the commands whose batches are done, in order, and recycling what they leave.

use std::sync::{Arc, atomic::Ordering};

use parking_lot::MutexGuard;

use super::{QueueCore, QueueState, SPARE};
use crate::{Event, Status, queue::Role, trace, virtual_gpu::Times, watch};

impl QueueCore {
    /// Ends the commands whose batches are done, in order. True: there are callbacks to run, and this thread must not.
    pub(super) fn retire(
        self: &Arc<Self>,
        state: &mut MutexGuard<'_, QueueState>,
        role: Role,
    ) -> bool {
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
                            .times_of(command, batch)
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
            if trace::on() && !command.event.has_callbacks() {
                let times = command.event.times();
                trace::record::done(command.event.trace_id(), status.0, times.0, times.1);
            }
            if !command.event.try_finish(status) {
                if role != Role::Worker {
                    need_worker = true;
                    break;
                }
                let event = command.event.clone();
                state.user_code_of = Some((command.kind, event.clone()));
                self.user_code(state, || {
                    for callback in event.take_callbacks() {
                        callback(status);
                    }
                });
                state.user_code_of = None;
                continue;
            }
            watch::progress();
            self.ended_count.fetch_add(1, Ordering::Relaxed);
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
        let idle =
            state.vgpu.inflight.is_empty() && state.current.is_none() && state.held.is_empty();
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
            if self.options.out_of_order {
                fifo.unordered.retain(|event| !event.status().is_terminal());
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
}
