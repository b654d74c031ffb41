//! Tasks: units of work that the pool runs in slices.
//!
//! State of a task, in one atomic byte that only the pool changes:
//!
//! ```text
//! idle ──wake──► queued ──pop──► running ──Idle──► idle
//!                  ▲                │ │
//!                  └──────Again─────┘ └─wake─► running and woken ──Idle/Again──► queued
//! ```
//!
//! So a task stands in the run queue at most once, is polled by one thread at a time, and a wake is never lost.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

use super::{Engine, Priority};

/// What a task says at the end of its slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// Nothing to do until the next [`Engine::wake`].
    Idle,
    /// More to do: put it at the end of the run queue.
    Again,
}

/// A unit of work of the pool: for example a hardware queue's packet processor. `poll` is never called by two threads at once
/// for one task; a wake during a poll makes it run once more.
pub trait Task: Send + Sync {
    /// The pool's own state of this task: a field that is made with `TaskState::default()` and otherwise left alone.
    fn state(&self) -> &TaskState;

    /// How urgent it is; asked each time it becomes ready.
    fn priority(&self) -> Priority {
        Priority::Normal
    }

    /// Runs one slice. Must not block.
    fn poll(self: Arc<Self>, engine: &Arc<Engine>) -> Poll;
}

const IDLE: u8 = 0;
const QUEUED: u8 = 1;
const RUNNING: u8 = 2;
const WOKEN: u8 = 3;

/// Where a task stands. Every task holds one.
#[derive(Debug, Default)]
pub struct TaskState(AtomicU8);

impl TaskState {
    /// Notes a wake; true if the caller is to put the task into the run queue.
    pub(super) fn wake(&self) -> bool {
        // AcqRel on success: what the waker did before is seen by the poll (Acquire in `start`); a failing wake still
        // publishes through the read-modify-write on the same byte.
        let mut state = self.0.load(Ordering::Relaxed);
        loop {
            let next = match state {
                IDLE => QUEUED,
                RUNNING => WOKEN,
                // Even when nothing changes, write: the Release makes the waker's stores visible to the coming poll.
                other => other,
            };
            match self
                .0
                .compare_exchange_weak(state, next, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => return state == IDLE,
                Err(now) => state = now,
            }
        }
    }

    /// Begins a poll: queued to running.
    pub(super) fn start(&self) {
        let was = self.0.swap(RUNNING, Ordering::AcqRel);
        debug_assert_eq!(was, QUEUED);
    }

    /// Ends a poll; true if the caller is to put the task into the run queue again.
    pub(super) fn finish(&self, poll: Poll) -> bool {
        let next = if poll == Poll::Again { QUEUED } else { IDLE };
        match self
            .0
            .compare_exchange(RUNNING, next, Ordering::AcqRel, Ordering::Relaxed)
        {
            Ok(_) => next == QUEUED,
            Err(_) => {
                self.0.store(QUEUED, Ordering::Release);
                true
            }
        }
    }
}
