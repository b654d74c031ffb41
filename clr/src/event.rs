//! Events: the state that every command has, and waiting for it.
//!
//! The status goes through one function, [`State::advance`]. It is an atomic that only goes down. Everything else that changes with it (the batch's signal, callbacks, parked queues) is under one small lock per event, which
//! is never held while anything waits or while foreign code runs.
//!
//! Who waits for an event sleeps on its `progress` word, which goes up when the event gets a signal and when it ends; with a signal, the
//! waiter waits for the signal instead, where the HSA library lets it run device work.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;

use crate::{
    Error, HostQueue, Result, futex,
    lockfree::{status::StatusCell, wakeup::Wakeup},
    queue::{Outcome, QueueCore, Role},
    runtime::forked,
    signal::HwSignal,
    trace, watch,
};

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
    /// Something that the command needs could not be had.
    pub const OUT_OF_RESOURCES: Self = Self(-5);
    /// A command in its wait list failed.
    pub const DEPENDENCY_FAILED: Self = Self(-14);
    /// The device cannot do it.
    pub const INVALID_OPERATION: Self = Self(-59);
    /// The device faulted ([`Device::fault`](crate::Device::fault) says how).
    pub const DEVICE_FAULT: Self = Self(-9999);

    /// Complete or failed.
    pub fn is_terminal(self) -> bool {
        self.0 <= 0
    }

    /// Failed.
    pub fn is_error(self) -> bool {
        self.0 < 0
    }
}

/// Times of a command in nanoseconds of the HSA system clock; 0: not known.
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

/// A callback for the end of an event.
type Callback = Box<dyn FnOnce(Status) + Send>;

/// What changes together, under the event's lock. Most events have neither callbacks nor parked queues, and a program may have a million
/// events: those two are in a box.
#[derive(Default)]
struct Inner {
    /// The signal whose completion means that the command has ended, once it is with the device.
    signal: Option<Arc<HwSignal>>,
    rare: Option<Box<Rare>>,
}

#[derive(Default)]
struct Rare {
    callbacks: Vec<Callback>,
    /// Queues whose head command waits until this event is submitted or has ended.
    parked: Vec<Arc<QueueCore>>,
}

impl Inner {
    fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    fn take_parked(&mut self) -> Vec<Arc<QueueCore>> {
        self.rare
            .as_mut()
            .map(|rare| std::mem::take(&mut rare.parked))
            .unwrap_or_default()
    }

    fn has_callbacks(&self) -> bool {
        self.rare
            .as_ref()
            .is_some_and(|rare| !rare.callbacks.is_empty())
    }
}

/// The state of an event.
pub(crate) struct State {
    status: StatusCell,
    progress: Wakeup,
    inner: Mutex<Inner>,
    /// The queue; none for user events.
    core: Weak<QueueCore>,
    queued: AtomicU64,
    submitted: AtomicU64,
    start: AtomicU64,
    end: AtomicU64,
    /// Number in a trace; 0: not recorded.
    trace: AtomicU64,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

impl State {
    pub(crate) fn new(core: Weak<QueueCore>, status: Status) -> Self {
        Self {
            status: StatusCell::new(status.0),
            progress: Wakeup::new(),
            inner: Mutex::new(Inner::default()),
            core,
            queued: AtomicU64::new(0),
            submitted: AtomicU64::new(0),
            start: AtomicU64::new(0),
            end: AtomicU64::new(0),
            trace: AtomicU64::new(if trace::on() {
                trace::record::new_id()
            } else {
                0
            }),
        }
    }

    /// Number in a trace; 0 if nothing is recorded.
    pub(crate) fn trace_id(&self) -> u64 {
        self.trace.load(Ordering::Relaxed)
    }

    /// Makes an ended event new again, for the next command of the same queue.
    pub(crate) fn recycle(&mut self) {
        debug_assert!(self.status().is_terminal());
        self.status.reset(Status::CREATED.0);
        *self.queued.get_mut() = 0;
        *self.submitted.get_mut() = 0;
        *self.start.get_mut() = 0;
        *self.end.get_mut() = 0;
        *self.trace.get_mut() = if trace::on() {
            trace::record::new_id()
        } else {
            0
        };
    }

    pub(crate) fn status(&self) -> Status {
        Status(self.status.get())
    }

    pub(crate) fn core(&self) -> Option<Arc<QueueCore>> {
        self.core.upgrade()
    }

    pub(crate) fn is_of(&self, core: &QueueCore) -> bool {
        std::ptr::eq(self.core.as_ptr(), core)
    }

    /// Moves the status down. False, and no change, if it is there already, below, or terminal. Every change of every status passes here.
    pub(crate) fn advance(&self, to: Status) -> bool {
        self.status.advance(to.0)
    }

    pub(crate) fn signal(&self) -> Option<Arc<HwSignal>> {
        self.inner.lock().signal.clone()
    }

    pub(crate) fn set_queued(&self, now: u64) {
        self.queued.store(now, Ordering::Relaxed);
    }

    pub(crate) fn set_submitted(&self, now: u64) {
        self.submitted.store(now, Ordering::Relaxed);
    }

    pub(crate) fn set_times(&self, start: u64, end: u64) {
        self.start.store(start, Ordering::Relaxed);
        self.end.store(end, Ordering::Relaxed);
    }

    pub(crate) fn times(&self) -> (u64, u64) {
        (
            self.start.load(Ordering::Relaxed),
            self.end.load(Ordering::Relaxed),
        )
    }

    fn wake_sleepers(&self) {
        self.progress.notify(futex::wake_all);
    }

    /// The command is with the device; `signal` ends it.
    pub(crate) fn publish(&self, signal: Option<Arc<HwSignal>>) {
        let parked = {
            let mut inner = self.inner.lock();
            inner.signal = signal;
            self.advance(Status::SUBMITTED);
            inner.take_parked()
        };
        self.wake_sleepers();
        for core in parked {
            core.schedule();
        }
    }

    /// Ends the event, unless it has callbacks that did not run yet (then false).
    pub(crate) fn try_finish(&self, status: Status) -> bool {
        let parked = {
            let mut inner = self.inner.lock();
            if inner.has_callbacks() {
                return false;
            }
            inner.signal = None;
            self.advance(Status::RUNNING);
            self.advance(status);
            inner.take_parked()
        };
        self.wake_sleepers();
        for core in parked {
            core.schedule();
        }
        true
    }

    /// Adds a callback to a command that is not enqueued yet.
    pub(crate) fn add_callback(&self, callback: Callback) {
        self.inner.lock().rare().callbacks.push(callback);
    }

    pub(crate) fn has_callbacks(&self) -> bool {
        self.inner.lock().has_callbacks()
    }

    /// Takes the callbacks that are to run before [`try_finish`](Self::try_finish).
    pub(crate) fn take_callbacks(&self) -> Vec<Callback> {
        self.inner
            .lock()
            .rare
            .as_mut()
            .map(|rare| std::mem::take(&mut rare.callbacks))
            .unwrap_or_default()
    }

    /// Parks a queue until the event is submitted or has ended; false if it is already.
    pub(crate) fn park(&self, core: &Arc<QueueCore>) -> bool {
        let mut inner = self.inner.lock();
        if self.status().is_terminal() || inner.signal.is_some() {
            return false;
        }
        let parked = &mut inner.rare().parked;
        if !parked.iter().any(|other| Arc::ptr_eq(other, core)) {
            parked.push(core.clone());
        }
        true
    }

    fn sleep(&self, seen: u32, timeout: Option<Duration>) {
        self.progress.sleep(
            seen,
            || self.status().is_terminal(),
            |word, seen| futex::wait(word, seen, timeout),
        );
    }

    /// Waits for the end; the thread helps (see the module text).
    pub(crate) fn wait(self: &Arc<Self>) -> Status {
        let status = self.status();
        if status.is_terminal() {
            return status;
        }
        let _watched = watch::Waiting::new(self);
        if !trace::on() {
            return self.wait_quietly();
        }
        trace::record::wait_begin(0, self.trace_id());
        let status = self.wait_quietly();
        trace::record::wait_end(0, self.trace_id());
        status
    }

    fn wait_quietly(&self) -> Status {
        let Some(core) = self.core() else {
            loop {
                let seen = self.progress.seen();
                let status = self.status();
                if status.is_terminal() {
                    return status;
                }
                self.sleep(seen, watch::look_again());
            }
        };
        loop {
            let seen = self.progress.seen();
            let outcome = core.run(Role::Helper, Some(self));
            let status = self.status();
            if status.is_terminal() {
                break;
            }
            if core.is_abandoned() {
                return Status::DEVICE_FAULT;
            }
            if let Some(signal) = self.signal() {
                if !signal.is_done() {
                    core.hand_over();
                    signal.wait();
                    continue;
                }
                // Done, but somebody else holds the queue, or callbacks must run: they will end the event.
                if !matches!(outcome, Outcome::Busy | Outcome::NeedWorker) {
                    continue;
                }
            }
            match outcome {
                // In an out-of-order queue that signal may have nothing to do with this event.
                Outcome::WaitSignal(_) if core.is_out_of_order() => {
                    core.schedule();
                    self.sleep(seen, watch::look_again());
                }
                Outcome::WaitSignal(signal) | Outcome::WaitRoom(signal) => signal.wait(),
                Outcome::Poll => {
                    core.schedule();
                    self.sleep(seen, Some(Duration::from_micros(50)));
                }
                Outcome::WaitEvent(other) => {
                    if let Some(other_core) = other.0.core() {
                        other_core.run(Role::Helper, Some(&other.0));
                        other_core.hand_over();
                    }
                    self.sleep(seen, watch::look_again());
                }
                Outcome::NeedWorker => {
                    core.schedule();
                    self.sleep(seen, watch::look_again());
                }
                Outcome::Busy => self.sleep(seen, watch::look_again()),
                Outcome::Idle | Outcome::Reached => {
                    // Submitted by now, or submitted and about to be: look again.
                    std::hint::spin_loop();
                }
            }
        }
        core.hand_over();
        self.status()
    }
}

/// A handle of a command, or of a user event. Clones are the same event. It outlives its queue.
#[derive(Clone)]
pub struct Event(pub(crate) Arc<State>);

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Event").field(&self.status()).finish()
    }
}

impl Event {
    /// A user event: submitted until [`set_user_status`](Self::set_user_status).
    pub fn user() -> Self {
        Self(Arc::new(State::new(Weak::new(), Status::SUBMITTED)))
    }

    /// Ends a user event with `COMPLETE` or a negative status. False if it has ended already, is no user event, or the status is positive.
    /// Its callbacks run in the calling thread first.
    pub fn set_user_status(&self, status: Status) -> bool {
        if !status.is_terminal()
            || self.0.core.strong_count() != 0
            || self.0.core.as_ptr() != Weak::<QueueCore>::new().as_ptr()
        {
            return false;
        }
        loop {
            if self.status().is_terminal() {
                return false;
            }
            if self.0.try_finish(status) {
                if trace::on() && self.status() == status {
                    trace::record::user_event(self.0.trace_id(), status.0);
                }
                return self.status() == status;
            }
            for callback in self.0.take_callbacks() {
                callback(status);
            }
        }
    }

    /// The status as last seen, without looking at the device.
    pub fn status(&self) -> Status {
        self.0.status()
    }

    /// The status now: looks at the device, walks what has completed, enqueues nothing and waits neither for the device nor for user code.
    pub fn query(&self) -> Status {
        let status = self.status();
        if status.is_terminal() {
            return status;
        }
        if let Some(core) = self.0.core()
            && self.0.signal().is_some_and(|signal| signal.is_done())
        {
            core.observe();
        }
        self.status()
    }

    /// Waits until the event has ended. The calling thread helps: it drains the event's queue up to the event and runs device work.
    ///
    /// # Errors
    /// [`Error::Fault`] or [`Error::CommandFailed`] if the command failed; [`Error::Gone`] in a forked child.
    pub fn wait(&self) -> Result<()> {
        if forked() {
            return Err(Error::Gone(
                "the process has forked since the runtime started",
            ));
        }
        let status = self.0.wait();
        if !status.is_error() {
            return Ok(());
        }
        if status == Status::DEVICE_FAULT
            && let Some(fault) = self.0.core().and_then(|core| core.device().fault())
        {
            return Err(Error::Fault(fault));
        }
        Err(Error::CommandFailed(status))
    }

    /// Calls `callback` once, with the terminal status, from a thread of the worker pool with no lock held, before the terminal status
    /// becomes visible to waiters; several callbacks of an event run in the order of registration. If the event has ended, the
    /// callback runs at once in the calling thread.
    pub fn on_complete(&self, callback: impl FnOnce(Status) + Send + 'static) {
        {
            let mut inner = self.0.inner.lock();
            if !self.status().is_terminal() {
                inner.rare().callbacks.push(Box::new(callback));
                drop(inner);
                if let Some(core) = self.0.core() {
                    core.watch_callbacks();
                }
                return;
            }
        }
        callback(self.status());
    }

    /// Times of the command. `start` and `end` are 0 until it has ended. Markers, and all commands of queues with profiling on, have
    /// times; other commands have none.
    pub fn profiling(&self) -> ProfilingTimes {
        let start = self.0.start.load(Ordering::Relaxed);
        let submitted = self.0.submitted.load(Ordering::Relaxed);
        ProfilingTimes {
            queued: self.0.queued.load(Ordering::Relaxed),
            // The device may have begun before the submitter looked at the clock.
            submitted: if start == 0 {
                submitted
            } else {
                submitted.min(start)
            },
            start,
            end: self.0.end.load(Ordering::Relaxed),
        }
    }

    /// The queue of the command; none for user events, and when the queue is gone.
    pub fn queue(&self) -> Option<Arc<HostQueue>> {
        self.0.core()?.handle()
    }

    /// Whether both are the same event.
    pub fn same(&self, other: &Event) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
