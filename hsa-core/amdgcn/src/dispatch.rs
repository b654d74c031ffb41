//! A dispatch: the grid of a kernel launch, its groups taken in order by the threads that take part.
//!
//! A dispatch stands in the run queue at most once (`queued`). A thread that pops it takes a *seat* and runs groups: first those
//! that other seats have left behind (`parked`), then new ones by the counter `next`. Once a seat knows that there is enough left
//! to pay for another thread, it puts the dispatch into the queue again. A group that waits (for a lock that another group holds,
//! for the host) goes behind the seat's other groups, and new groups start up to the occupancy of the GPU. So
//! every resident group makes progress, as on a GPU. A seat gives way to other items of the queue at the end of a slice.
//!
//! Life: [`Dispatches::start`] fills a closed object of the pool and opens it (no allocation after warm-up). Whoever ends the last
//! group, or leaves the last seat after a stop, tells the client (`finished` makes that once). When the last seat of a finished
//! dispatch is left, the object is closed and goes back to the pool. Nobody takes a seat of a closed object, so filling is
//! exclusive. A queue item may outlive its dispatch; it then finds a closed object, or helps the next dispatch in it.
//!
//! | field | who may touch it |
//! | --- | --- |
//! | `seats` | number of seats, or [`CLOSED`] |
//! | `job` | whoever fills or empties the closed object; read by holders of a seat |
//! | `next`, `done`, `resident` | holders of a seat; the last increment of `done` sees everything before (AcqRel) |
//! | `stop` | set once by whoever stops the dispatch, after `fault`; seats look at it before every slice |
//! | `parked` | holders of a seat, under its lock, when they leave or have nothing to run |

mod pool;
mod seat;

use std::{
    cell::UnsafeCell,
    collections::VecDeque,
    fmt,
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    },
    time::Instant,
};

use crossbeam_utils::CachePadded;
use parking_lot::Mutex;

use crate::{
    engine::{DispatchClient, DispatchInfo, Engine, Item, Priority},
    fault::{Fault, FaultKind, state},
    launch::LaunchPlan,
    wave_sync::{self, GridBarrier},
    workgroup::{Group, Worker},
};

pub(crate) use pool::Dispatches;
use seat::Seat;

/// What a dispatch runs.
pub(crate) struct Job {
    pub(crate) info: DispatchInfo,
    pub(crate) plan: LaunchPlan,
    pub(crate) grid_barriers: [GridBarrier; wave_sync::RESOURCES],
    pub(crate) client: Arc<dyn DispatchClient>,
    token: u64,
    /// Wave instructions of all groups.
    #[cfg(feature = "counters")]
    instructions: AtomicU64,
    /// When `GNEISS_KERNEL_TIMEOUT` stops it.
    deadline: Option<Instant>,
}

#[cfg(feature = "counters")]
impl Job {
    /// Counts wave instructions.
    pub(crate) fn count(&self, instructions: u64) {
        self.instructions.fetch_add(instructions, Ordering::Relaxed);
    }

    /// Appends a line to the file that `GNEISS_COUNTERS` names: kernel, groups, wave size, wave instructions.
    fn report(&self, engine: &Engine) {
        use std::io::Write;
        let Some(path) = std::env::var_os("GNEISS_COUNTERS") else {
            return;
        };
        let name = crate::fault::report::kernel_name(engine, &self.info);
        let (groups, lanes) = (self.plan.groups_total, self.plan.wave_size());
        let line = format!(
            "{name}\t{groups}\t{lanes}\t{}\n",
            self.instructions.load(Ordering::Relaxed)
        );
        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path);
        if let Err(error) = file.and_then(|mut file| file.write_all(line.as_bytes())) {
            tracing::warn!(%error, "cannot write GNEISS_COUNTERS");
        }
    }
}

impl Job {
    /// Tells the client of `s_sendmsg MSG_INTERRUPT`.
    pub(crate) fn interrupt(&self, event_id: u32) {
        self.client.interrupt(event_id);
    }

    /// Tells the client that a long group gave way.
    fn slice_ended(&self) {
        self.client.slice_ended();
    }
}

/// In `seats`: the object is not in use.
const CLOSED: u32 = 1 << 31;

/// See the module's documentation.
pub(crate) struct Dispatch {
    job: UnsafeCell<Option<Job>>,
    seats: AtomicU32,
    next: CachePadded<AtomicU64>,
    done: CachePadded<AtomicU64>,
    resident: AtomicU64,
    queued: AtomicBool,
    stop: AtomicBool,
    finished: AtomicBool,
    parked: Mutex<VecDeque<Box<Group>>>,
    /// Length of `parked`, written under its lock; a look at it saves taking the lock for each group.
    parked_count: AtomicUsize,
    fault: Mutex<Option<Box<Fault>>>,
}

// SAFETY: `job` is the only field without its own synchronisation; it changes only while the object is closed, by the one thread
// that took it from the pool or closed it, and is shared otherwise. `Job` is Send and Sync.
unsafe impl Sync for Dispatch {}
// SAFETY: all contents are Send.
unsafe impl Send for Dispatch {}

impl fmt::Debug for Dispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dispatch")
            .field("next", &self.next)
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}

impl Dispatch {
    /// A closed object.
    fn closed() -> Self {
        Self {
            job: UnsafeCell::new(None),
            seats: AtomicU32::new(CLOSED),
            next: CachePadded::default(),
            done: CachePadded::default(),
            resident: AtomicU64::new(0),
            queued: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            finished: AtomicBool::new(false),
            parked: Mutex::default(),
            parked_count: AtomicUsize::new(0),
            fault: Mutex::default(),
        }
    }

    /// Fills the object and opens it with one seat, which the caller holds.
    ///
    /// # Safety
    /// The object is closed and the caller has taken it from the pool.
    unsafe fn open(&self, job: Job) {
        // SAFETY: closed, and owned by the caller: nobody else looks at the job.
        unsafe { *self.job.get() = Some(job) };
        for counter in [&*self.next, &*self.done, &self.resident] {
            counter.store(0, Ordering::Relaxed);
        }
        for flag in [&self.queued, &self.stop, &self.finished] {
            flag.store(false, Ordering::Relaxed);
        }
        // Release pairs with the Acquire in `enter`: who takes a seat sees the job.
        self.seats.store(1, Ordering::Release);
    }

    /// Takes a seat, unless the object is closed.
    fn enter(&self) -> bool {
        self.seats
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |seats| {
                (seats & CLOSED == 0).then_some(seats + 1)
            })
            .is_ok()
    }

    /// Leaves a seat. The last one to leave does what is left to do.
    fn leave(self: &Arc<Self>, engine: &Arc<Engine>) {
        while self.seats.fetch_sub(1, Ordering::AcqRel) == 1 {
            if self.finished.load(Ordering::Acquire) {
                if self
                    .seats
                    .compare_exchange(0, CLOSED, Ordering::AcqRel, Ordering::Relaxed)
                    .is_ok()
                {
                    // SAFETY: this thread closed the object; nobody takes a seat until it is opened again.
                    unsafe { *self.job.get() = None };
                    engine.recycle(self.clone());
                }
                return;
            }
            // A stopped dispatch ends when nobody runs its groups any more.
            if !self.stop.load(Ordering::Acquire) || !self.enter() {
                return;
            }
            self.finish(engine);
        }
    }

    /// The job. Only for holders of a seat.
    fn job(&self) -> &Job {
        debug_assert_ne!(self.seats.load(Ordering::Relaxed) & !CLOSED, 0);
        // SAFETY: a seat is held, so the object is open and the job does not change.
        unsafe { (*self.job.get()).as_ref() }.expect("an open dispatch has a job")
    }

    /// How urgent it is. Only for holders of a seat.
    pub(crate) fn priority(&self) -> Priority {
        self.job().info.priority
    }

    /// Puts the dispatch into the run queue unless it is there. Only for holders of a seat.
    pub(crate) fn enqueue(self: &Arc<Self>, engine: &Engine) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            engine.push(Item::Dispatch(self.clone()));
        }
    }

    /// Stops the dispatch with a fault; the first one counts.
    fn stop(&self, fault: Box<Fault>) {
        self.fault.lock().get_or_insert(fault);
        // Release pairs with the Acquire in `take_part`: who sees the stop sees the fault.
        self.stop.store(true, Ordering::Release);
    }

    /// Takes a seat and runs groups until there is nothing to run, others should have the thread, or `leave` says true.
    pub(crate) fn take_part(
        self: Arc<Self>,
        engine: &Arc<Engine>,
        leave: &mut dyn FnMut() -> bool,
    ) {
        self.queued.store(false, Ordering::Release);
        if !self.enter() {
            return;
        }
        if !self.finished.load(Ordering::Acquire) {
            let run = AssertUnwindSafe(|| {
                if self.job().plan.program.is_some() {
                    Worker::with(|worker| {
                        let mut seat = Seat::take(&self, engine, worker);
                        seat.run(leave);
                        seat.leave();
                    });
                }
            });
            if let Err(panic) = catch_unwind(run) {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text
                    .or_else(|| panic.downcast_ref::<&str>().map(|&s| s.to_owned()))
                    .unwrap_or_default();
                self.stop(Fault::of_dispatch(
                    FaultKind::Internal,
                    format!("panic: {text}"),
                ));
            }
            let total = self.job().plan.groups_total;
            if self.stop.load(Ordering::Acquire) {
                // The last to leave finishes it.
            } else if self.done.load(Ordering::Acquire) == total {
                self.finish(engine);
            } else if self.next.load(Ordering::Relaxed) < total || !self.parked.lock().is_empty() {
                self.enqueue(engine);
            }
        }
        self.leave(engine);
    }

    /// Tells the client, once. The caller holds a seat.
    fn finish(&self, engine: &Arc<Engine>) {
        if self.finished.load(Ordering::Acquire) {
            return;
        }
        let outcome = match self.fault.lock().take() {
            Some(mut fault) => {
                if state::kept() {
                    let room = state::MAX_GROUPS.saturating_sub(fault.groups.len());
                    self.with_parked(|parked| {
                        let others = parked.iter_mut().take(room);
                        fault
                            .groups
                            .extend(others.map(|group| group.state(self.job())));
                    });
                }
                Err(fault)
            }
            None => Ok(()),
        };
        self.with_parked(|parked| {
            for mut group in parked.drain(..) {
                group.abandon(self.job());
            }
        });
        if self.finished.swap(true, Ordering::AcqRel) {
            return;
        }
        let job = self.job();
        #[cfg(feature = "counters")]
        job.report(engine);
        if catch_unwind(AssertUnwindSafe(|| {
            engine.looking_again(|| job.client.finished(job.token, outcome))
        }))
        .is_err()
        {
            tracing::error!("a dispatch's client panicked");
        }
    }

    /// Does something with the parked groups and keeps their count.
    fn with_parked<R>(&self, change: impl FnOnce(&mut VecDeque<Box<Group>>) -> R) -> R {
        let mut parked = self.parked.lock();
        let result = change(&mut parked);
        self.parked_count.store(parked.len(), Ordering::Relaxed);
        result
    }

    /// Claims up to `count` groups that nobody has started yet, as many as the GPU has room for. Each of them will be started.
    fn claim(&self, count: u64) -> Range<u64> {
        let plan = &self.job().plan;
        let total = plan.groups_total;
        if self.next.load(Ordering::Relaxed) >= total {
            return 0..0;
        }
        let before = self.resident.fetch_add(count, Ordering::Relaxed);
        let room = plan.resident_limit.saturating_sub(before).min(count);
        let first = if room == 0 {
            total
        } else {
            self.next.fetch_add(room, Ordering::Relaxed)
        };
        let end = total.min(first.saturating_add(room));
        let claimed = end.saturating_sub(first);
        if claimed < count {
            self.resident.fetch_sub(count - claimed, Ordering::Relaxed);
        }
        first..first + claimed
    }

    /// Tells of groups that have ended. Whether they were the last.
    fn end_groups(&self, ended: &mut u64) -> bool {
        let ended = std::mem::take(ended);
        if ended == 0 {
            return false;
        }
        self.resident.fetch_sub(ended, Ordering::Relaxed);
        self.done.fetch_add(ended, Ordering::AcqRel) + ended == self.job().plan.groups_total
    }
}
