//! The worker pool: few threads that drain the queues of all devices.
//!
//! A queue that has something to do is *scheduled* once: it is put on the ready list, and a sleeping worker is woken. Workers run user
//! code (host functions, callbacks) and wait for signals on behalf of queues; while one does, it does not count as active, and another
//! thread takes its place if there is work. So a host function that blocks stops its own queue and no other.
//!
//! Threads start with the first command, block all signals, and are never joined: at exit they simply end with the process. All but one
//! end after a while without work; the last one sleeps without a timeout.
//!
//! | field | who |
//! | --- | --- |
//! | `ready`, `overflow` | pushed by `schedule`, popped by workers |
//! | `idle`, `threads`, `busy` | changed under `lock`; `idle` is also read without it (see `schedule`) |
//! | `polled` | queues whose head waits for a value in memory; looked at after short sleeps |

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering, fence},
    },
    time::Duration,
};

use crossbeam_queue::ArrayQueue;
use parking_lot::{Condvar, Mutex};

use crate::queue::{Outcome, QueueCore, Role};

/// How long a spare worker waits for work before it ends.
const SPARE_LIFETIME: Duration = Duration::from_secs(2);
/// Sleep between looks at memory values: first and longest.
const POLL_SLEEP: (Duration, Duration) = (Duration::from_micros(20), Duration::from_micros(500));

#[derive(Debug, Default)]
struct Counts {
    threads: usize,
    /// Threads that run user code or wait for a signal.
    blocked: usize,
}

/// The pool.
#[derive(Debug)]
pub(crate) struct Pool {
    ready: ArrayQueue<Arc<QueueCore>>,
    overflow: Mutex<VecDeque<Arc<QueueCore>>>,
    overflowed: AtomicUsize,
    idle: AtomicUsize,
    counts: Mutex<Counts>,
    wake: Condvar,
    polled: Mutex<Vec<Arc<QueueCore>>>,
    has_polled: AtomicUsize,
    max_active: usize,
    /// No threads: somebody takes the ready queues with [`Pool::take_ready`].
    manual: bool,
}

impl Pool {
    pub(crate) fn new(manual: bool) -> Arc<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Arc::new(Self {
            ready: ArrayQueue::new(1024),
            overflow: Mutex::new(VecDeque::new()),
            overflowed: AtomicUsize::new(0),
            idle: AtomicUsize::new(0),
            counts: Mutex::new(Counts::default()),
            wake: Condvar::new(),
            polled: Mutex::new(Vec::new()),
            has_polled: AtomicUsize::new(0),
            max_active: cores.clamp(1, 4),
            manual,
        })
    }

    /// Puts a queue on the ready list and sees that a thread will come for it.
    pub(crate) fn push(self: &Arc<Self>, core: Arc<QueueCore>) {
        if let Err(core) = self.ready.push(core) {
            self.overflowed.fetch_add(1, Ordering::Relaxed);
            self.overflow.lock().push_back(core);
        }
        self.attend();
    }

    /// Wakes or starts a worker if there is none that will look at the ready list anyway.
    fn attend(self: &Arc<Self>) {
        if self.manual {
            return;
        }
        // SeqCst fence: pairs with the one in `next`. Either the worker going to sleep sees the list, or we see it idle.
        fence(Ordering::SeqCst);
        if self.idle.load(Ordering::Relaxed) > 0 {
            // Taking the lock means that the worker is in its wait, or has looked again after our push.
            drop(self.counts.lock());
            self.wake.notify_one();
            return;
        }
        let mut counts = self.counts.lock();
        if counts.threads - counts.blocked < self.max_active
            && self.idle.load(Ordering::Relaxed) == 0
        {
            counts.threads += 1;
            drop(counts);
            self.spawn();
        }
    }

    fn spawn(self: &Arc<Self>) {
        let pool = self.clone();
        let spawned = with_signals_blocked(|| {
            std::thread::Builder::new()
                .name("gneiss-clr".into())
                .spawn(move || pool.work())
        });
        if let Err(error) = spawned {
            // Waiters still drain their own queues; host functions wait for a thread to get free.
            tracing::error!("cannot start a worker thread: {error}");
            self.counts.lock().threads -= 1;
        }
    }

    fn pop(&self) -> Option<Arc<QueueCore>> {
        if let Some(core) = self.ready.pop() {
            return Some(core);
        }
        if self.overflowed.load(Ordering::Relaxed) > 0
            && let Some(core) = self.overflow.lock().pop_front()
        {
            self.overflowed.fetch_sub(1, Ordering::Relaxed);
            return Some(core);
        }
        None
    }

    /// For pools without threads: the next ready queue.
    pub(crate) fn take_ready(&self) -> Option<Arc<QueueCore>> {
        self.pop()
    }

    #[cfg(test)]
    pub(crate) fn threads(&self) -> usize {
        self.counts.lock().threads
    }

    /// Looks at a queue again after a short sleep.
    fn poll_later(&self, core: Arc<QueueCore>) {
        let mut polled = self.polled.lock();
        if !polled.iter().any(|other| Arc::ptr_eq(other, &core)) {
            polled.push(core);
            self.has_polled.store(polled.len(), Ordering::Release);
        }
    }

    fn take_polled(&self) -> Vec<Arc<QueueCore>> {
        let mut polled = self.polled.lock();
        self.has_polled.store(0, Ordering::Release);
        std::mem::take(&mut *polled)
    }

    /// The next ready queue; `None`: the thread is to end.
    fn next(&self, poll_sleep: &mut Duration) -> Option<Arc<QueueCore>> {
        if let Some(core) = self.pop() {
            return Some(core);
        }
        let mut counts = self.counts.lock();
        loop {
            self.idle.fetch_add(1, Ordering::Relaxed);
            // SeqCst fence: pairs with the one in `attend`.
            fence(Ordering::SeqCst);
            let mut found = self.pop();
            let mut timed_out = false;
            if found.is_none() {
                let polling = self.has_polled.load(Ordering::Acquire) > 0;
                if polling {
                    let sleep = *poll_sleep;
                    timed_out = self.wake.wait_for(&mut counts, sleep).timed_out();
                    *poll_sleep = (sleep * 2).min(POLL_SLEEP.1);
                } else {
                    *poll_sleep = POLL_SLEEP.0;
                    if counts.threads - counts.blocked > 1 {
                        timed_out = self.wake.wait_for(&mut counts, SPARE_LIFETIME).timed_out();
                    } else {
                        self.wake.wait(&mut counts);
                    }
                }
                found = self.pop();
                if found.is_none() && polling {
                    let mut polled = self.take_polled().into_iter();
                    found = polled.next();
                    for core in polled {
                        if let Err(core) = self.ready.push(core) {
                            self.overflowed.fetch_add(1, Ordering::Relaxed);
                            self.overflow.lock().push_back(core);
                        }
                    }
                    timed_out = false;
                }
            }
            self.idle.fetch_sub(1, Ordering::Relaxed);
            if let Some(core) = found {
                return Some(core);
            }
            if timed_out && counts.threads - counts.blocked > 1 {
                counts.threads -= 1;
                return None;
            }
        }
    }

    /// Runs something that may block for long; other queues go on meanwhile.
    pub(crate) fn blocking<R>(self: &Arc<Self>, f: impl FnOnce() -> R) -> R {
        self.counts.lock().blocked += 1;
        // Also on unwinding.
        struct Unblock<'a>(&'a Pool);
        impl Drop for Unblock<'_> {
            fn drop(&mut self) {
                self.0.counts.lock().blocked -= 1;
            }
        }
        let _unblock = Unblock(self);
        if !self.ready.is_empty()
            || self.overflowed.load(Ordering::Relaxed) > 0
            || self.has_polled.load(Ordering::Acquire) > 0
        {
            self.attend();
        }
        f()
    }

    fn work(self: Arc<Self>) {
        let mut poll_sleep = POLL_SLEEP.0;
        while let Some(core) = self.next(&mut poll_sleep) {
            self.serve(core);
        }
    }

    /// Drains a queue until it is idle, parked, or somebody else's.
    fn serve(self: &Arc<Self>, core: Arc<QueueCore>) {
        core.unschedule();
        loop {
            let signal = match core.run(Role::Worker, None) {
                // The event may be ended by a callback of an earlier command.
                Outcome::Idle | Outcome::WaitEvent(_) => match core.signal_to_watch() {
                    Some(signal) => signal,
                    None => return,
                },
                Outcome::WaitSignal(signal) | Outcome::WaitRoom(signal) => signal,
                Outcome::Poll => {
                    self.poll_later(core);
                    return;
                }
                Outcome::Busy => return,
                Outcome::NeedWorker | Outcome::Reached => continue,
            };
            if !core.begin_watch() {
                return;
            }
            if !signal.is_done() {
                self.blocking(|| signal.wait());
            }
            core.end_watch();
        }
    }
}

/// Calls `f` with all signals blocked, so that a thread it starts has them blocked from its first instruction.
pub(crate) fn with_signals_blocked<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: plain calls on initialised sets of this frame.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut old: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        // Synchronous signals stay deliverable: a blocked SIGSEGV would kill the process without its handler.
        for signal in [
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGFPE,
            libc::SIGILL,
            libc::SIGTRAP,
        ] {
            libc::sigdelset(&raw mut all, signal);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut old);
        let result = f();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const old, std::ptr::null_mut());
        result
    }
}
