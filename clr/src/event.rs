//! Events: the state that every command has.

use std::sync::Arc;

use crate::{HostQueue, Result};

/// State of a command: queued 3, submitted 2, running 1, complete 0, or a negative error. It only goes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Status(pub i32);

impl Status {
    /// Made, not in a queue.
    pub const CREATED: Self = Self(i32::MAX);
    /// In its queue's FIFO.
    pub const QUEUED: Self = Self(3);
    /// Given to the device.
    pub const SUBMITTED: Self = Self(2);
    /// The device works on it.
    pub const RUNNING: Self = Self(1);
    /// Done.
    pub const COMPLETE: Self = Self(0);
    /// The device faulted ([`Device::fault`](crate::Device::fault) says how).
    pub const DEVICE_FAULT: Self = Self(-9999);
    /// Something that the command needs could not be had.
    pub const OUT_OF_RESOURCES: Self = Self(-5);
    /// A command in its wait list failed.
    pub const DEPENDENCY_FAILED: Self = Self(-14);
    /// The device cannot do it.
    pub const INVALID_OPERATION: Self = Self(-59);
    /// The queue was terminated before the command ran.
    pub const CANCELLED: Self = Self(-9998);

    /// Complete or failed.
    pub fn is_terminal(self) -> bool {
        self.0 <= 0
    }

    /// Failed.
    pub fn is_error(self) -> bool {
        self.0 < 0
    }
}

/// Times of a command in nanoseconds of the HSA system clock; 0: not yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProfilingTimes {
    /// Enqueued.
    pub queued: u64,
    /// Submitted to the device.
    pub submitted: u64,
    /// Started.
    pub start: u64,
    /// Ended.
    pub end: u64,
}

/// A handle of a command, or of a user event. Clones are the same event. It outlives its queue.
#[derive(Clone)]
pub struct Event(#[expect(dead_code)] pub(crate) Arc<()>);

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Event").field(&self.status()).finish()
    }
}

impl Event {
    /// A user event: submitted until [`set_user_status`](Self::set_user_status).
    pub fn user() -> Self {
        todo!()
    }

    /// Ends a user event with `COMPLETE` or a negative status. False if it has ended already or is no user event.
    pub fn set_user_status(&self, _status: Status) -> bool {
        todo!()
    }

    /// The status as last seen, without looking at the device.
    pub fn status(&self) -> Status {
        todo!()
    }

    /// The status now: looks at the device, walks what has completed, never blocks and enqueues nothing.
    pub fn query(&self) -> Status {
        todo!()
    }

    /// Waits until the event has ended. The calling thread helps: it drains the event's queue up to the event and runs device work.
    /// Returns [`Error::Fault`](crate::Error::Fault) or [`Error::CommandFailed`](crate::Error::CommandFailed) if it failed.
    pub fn wait(&self) -> Result<()> {
        todo!()
    }

    /// Calls `callback` once, with the terminal status, from a thread of the worker pool with no lock held, before the terminal status
    /// becomes visible to waiters; several callbacks of an event run in the order of registration. If the event has ended, the
    /// callback runs at once in the calling thread.
    pub fn on_complete(&self, _callback: impl FnOnce(Status) + Send + 'static) {
        todo!()
    }

    /// Times of the command. `start` and `end` are 0 until it has ended. Markers, and all commands of queues with profiling on, have
    /// device times; other commands have none.
    pub fn profiling(&self) -> ProfilingTimes {
        todo!()
    }

    /// The queue of the command; none for user events, and when the queue is gone.
    pub fn queue(&self) -> Option<Arc<HostQueue>> {
        todo!()
    }

    /// Whether both are the same event.
    pub fn same(&self, _other: &Event) -> bool {
        todo!()
    }
}
