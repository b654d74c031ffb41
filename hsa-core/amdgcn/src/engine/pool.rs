//! The worker pool: threads, sleeping and waking.
//!
//! Workers are daemons: they start at the first wake, block all signals, and are never joined. A worker without work spins
//! briefly and then sleeps on a futex; an idle process burns no processor time. Host threads that wait for the device run items
//! too ([`super::Engine::help`]).
//!
//! The sleep and wake protocol. [`Idlers`] packs two counts into one word: *searching* (awake, looking for an item) and
//! *sleeping*. A waker pushes its item, then, if nobody searches and somebody sleeps, moves one from sleeping to searching and posts
//! one permit. A worker that found nothing moves itself from searching to sleeping, then looks into the queue once more, then waits for a
//! permit. Push-then-read-counts against write-counts-then-read-queue, both `SeqCst`: one of the two sees the other. The number of
//! permits always equals the number of sleepers that a waker has claimed, so a worker that wants to cancel its sleep and finds itself
//! claimed takes its permit, which is there or about to come.
//!
//! A searcher that finds an item and was the last searcher passes the search on if more items wait. So a burst of wakes costs one futex
//! call, and further workers are woken one by one as long as there is work.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU32, AtomicU64, Ordering, fence},
};

use crossbeam_utils::{Backoff, CachePadded};
use gneiss_settings::parse;

use super::run_queue::{Item, Priority, RunQueue, Turn};

/// Threads that look for work and threads that sleep: searching in the low half, sleeping in the high half.
#[derive(Default)]
struct Idlers(AtomicU64);

const SEARCHING: u64 = 1;
const SLEEPING: u64 = 1 << 32;

impl Idlers {
    fn start_search(&self) {
        self.0.fetch_add(SEARCHING, Ordering::SeqCst);
    }

    /// Ends a search with success; true if it was the last one.
    fn end_search(&self) -> bool {
        self.0.fetch_sub(SEARCHING, Ordering::SeqCst) as u32 == 1
    }

    fn sleep(&self) {
        self.0
            .fetch_add(SLEEPING.wrapping_sub(SEARCHING), Ordering::SeqCst);
    }

    /// Turns one sleeper into a searcher; `only_if_none_searches` for a waker, not for a sleeper that cancels its own sleep.
    fn claim_sleeper(&self, only_if_none_searches: bool) -> bool {
        self.0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |counts| {
                let blocked = only_if_none_searches && counts as u32 != 0;
                (!blocked && counts >= SLEEPING)
                    .then(|| counts.wrapping_sub(SLEEPING).wrapping_add(SEARCHING))
            })
            .is_ok()
    }
}

/// The pool's shared state.
pub(crate) struct Pool {
    queue: RunQueue,
    idlers: CachePadded<Idlers>,
    /// Wake-ups that claimed sleepers have not yet taken; the futex word.
    permits: CachePadded<AtomicU32>,
    started: OnceLock<usize>,
    threads: usize,
}

/// Turns of a worker that looks for work before it sleeps.
const SPINS: u32 = 100;

impl Pool {
    pub(crate) fn new() -> Self {
        Self {
            queue: RunQueue::new(),
            idlers: CachePadded::default(),
            permits: CachePadded::default(),
            started: OnceLock::new(),
            threads: thread_count(),
        }
    }

    /// Worker threads that the pool has, or will have once it is started.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Whether an item waits.
    pub(crate) fn has_work(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Whether an item waits that is more urgent than this.
    pub(crate) fn has_work_above(&self, priority: Priority) -> bool {
        self.queue.has_above(priority)
    }

    /// Adds an item; `run` is what a worker does with one. `wake` says whether a sleeping worker may be woken for it (not, if the
    /// calling thread is about to look into the queue itself).
    pub(crate) fn push(self: &Arc<Self>, item: Item, wake: bool, run: fn(Item)) {
        self.queue.push(item);
        if wake {
            self.wake_one(run);
        }
    }

    /// Wakes a worker unless one is looking for work already. Starts the threads at the first call.
    pub(crate) fn wake_one(self: &Arc<Self>, run: fn(Item)) {
        if self.started.get().is_none() {
            self.start(run);
        }
        // Pairs with the fence in `sleep`: either the sleeper sees the pushed item or this sees the sleeper.
        fence(Ordering::SeqCst);
        if self.idlers.claim_sleeper(true) {
            self.permits.fetch_add(1, Ordering::SeqCst);
            futex_wake_one(&self.permits);
        }
    }

    /// Takes an item for a thread that is not counted as searching (a helper).
    pub(crate) fn pop(&self, turn: &mut Turn) -> Option<Item> {
        self.queue.pop(turn)
    }

    #[cold]
    fn start(self: &Arc<Self>, run: fn(Item)) {
        self.started.get_or_init(|| {
            let mask = super::signals::block_all();
            let mut started = 0;
            for n in 0..self.threads {
                let pool = self.clone();
                // Counted as searching from now on, so that a wake before the thread runs is not lost and not doubled.
                self.idlers.start_search();
                let name = format!("gneiss-{n}");
                match std::thread::Builder::new()
                    .name(name)
                    .spawn(move || pool.work(run))
                {
                    Ok(_) => started += 1,
                    Err(error) => {
                        self.idlers.end_search();
                        tracing::error!(%error, "cannot start a worker thread");
                    }
                }
            }
            super::signals::restore(&mask);
            started
        });
    }

    /// A worker's life.
    fn work(self: Arc<Self>, run: fn(Item)) {
        let mut searching = true;
        let mut turn = Turn::default();
        loop {
            let item = self.queue.pop(&mut turn).or_else(|| {
                if !searching {
                    self.idlers.start_search();
                    searching = true;
                }
                self.search(&mut turn)
            });
            let Some(item) = item else {
                self.sleep();
                continue;
            };
            if std::mem::take(&mut searching) && self.idlers.end_search() && self.has_work() {
                self.wake_one(run);
            }
            run(item);
        }
    }

    /// Looks for an item for a short while.
    fn search(&self, turn: &mut Turn) -> Option<Item> {
        let backoff = Backoff::new();
        for _ in 0..SPINS {
            if let Some(item) = self.queue.pop(turn) {
                return Some(item);
            }
            backoff.spin();
        }
        None
    }

    /// Sleeps until a waker claims this worker or an item is there. The worker counts as searching before and after.
    fn sleep(&self) {
        self.idlers.sleep();
        // Pairs with the fence in `wake_one`.
        fence(Ordering::SeqCst);
        if !self.queue.is_empty() && self.idlers.claim_sleeper(false) {
            return;
        }
        // Either nothing is there, or a waker has claimed all sleepers, this one among them: a permit comes.
        loop {
            let permits = self.permits.load(Ordering::SeqCst);
            if permits == 0 {
                futex_wait(&self.permits, 0);
            } else if self
                .permits
                .compare_exchange(permits, permits - 1, Ordering::SeqCst, Ordering::SeqCst)
                .is_ok()
            {
                return;
            }
        }
    }
}

/// `GNEISS_THREADS`, or the processors that the affinity mask and the cgroup leave us.
fn thread_count() -> usize {
    let wanted = gneiss_settings::text("GNEISS_THREADS").and_then(|text| parse::threads(&text));
    wanted.unwrap_or_else(|| {
        std::thread::available_parallelism()
            .map_or(1, std::num::NonZero::get)
            .min(parse::MOST_THREADS)
    })
}

fn futex_wait(word: &AtomicU32, expected: u32) {
    // Returns at once if the word has changed, and may return early; the caller looks again.
    let _ =
        rustix::thread::futex::wait(word, rustix::thread::futex::Flags::PRIVATE, expected, None);
}

fn futex_wake_one(word: &AtomicU32) {
    let _ = rustix::thread::futex::wake(word, rustix::thread::futex::Flags::PRIVATE, 1);
}
